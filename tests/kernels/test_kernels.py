"""Machine code on disk is that of the sources as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = """
import sys
sys.path.insert(0, {folder!r})
from attsvm.kernels import {module}
print({module}.outer(1.0))
"""


def run(folder, module="caller"):
    code = PACKAGE.format(folder=str(folder), module=module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


CALLEE = "from attsvm.kernels import compiled\n\n@compiled\ndef inner(x):\n    return x + {}\n"
CALLER = (
    "from attsvm.kernels import compiled\nfrom attsvm.kernels.callee import inner\n\n"
    "@compiled\ndef outer(x):\n    return inner(x)\n"
)


@pytest.fixture
def folder(tmp_path):
    """Two kernels, of which one calls the other."""
    source = Path(__file__).parents[2] / "attsvm/kernels/__init__.py"
    folder = tmp_path / "attsvm/kernels"
    folder.mkdir(parents=True)
    (tmp_path / "attsvm/__init__.py").write_text("")
    (folder / "__init__.py").write_bytes(source.read_bytes())
    (folder / "callee.py").write_text(CALLEE.format("1.0"))
    (folder / "caller.py").write_text(CALLER)
    return folder


def test_a_change_of_a_callee_outdates_the_code_of_its_callers(folder, tmp_path):
    """Also where the caller's own file is the same, to the time that it was written."""
    assert run(tmp_path) == 2.0
    assert run(tmp_path) == 2.0  # from disk
    assert list(folder.glob("__pycache__/*.nbi"))
    (folder / "callee.py").write_text(CALLEE.format("5.0"))
    assert run(tmp_path) == 6.0


def test_kernels_run_as_python_where_nothing_is_to_be_compiled(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert run(tmp_path) == 2.0
    assert not list(folder.glob("__pycache__/*.nbi"))


def test_many_threads_may_call_a_kernel_first(folder, tmp_path):
    """One of them hands the kernels to numba, whatever it calls; none finds half of them there."""
    code = (
        "import sys, threading\n"
        "from attsvm.kernels.callee import inner\nfrom attsvm.kernels.caller import outer\n"
        "assert 'numba' not in sys.modules\n"
        "start, found = threading.Barrier(8), []\n"
        "def call(kernel):\n    start.wait()\n    found.append(kernel(1.0))\n"
        "calls = [threading.Thread(target=call, args=[k]) for k in [inner, outer] * 4]\n"
        "[c.start() for c in calls]\n[c.join() for c in calls]\nprint(found == [2.0] * 8)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "True\n", done.stderr


def test_of_processes_that_call_a_kernel_at_once_one_compiles_it(folder, tmp_path):
    """The others wait for it and read its machine code, also where sources are read-only."""
    fcntl = pytest.importorskip("fcntl")
    for source in folder.glob("*.py"):
        source.chmod(0o444)
    code = (
        "from attsvm.kernels.caller import outer\nentry = outer.entry()\nprint(flush=True)\n"
        "assert outer(1.0) == 2.0\nprint(sum(entry.stats.cache_misses.values()))"
    )
    with open(folder / "caller.py", "rb") as source:
        fcntl.flock(source, fcntl.LOCK_EX)
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True
            )
            for _ in range(3)
        ]
        for process in processes:
            assert process.stdout.readline() == "\n"
    assert sorted(process.communicate()[0] for process in processes) == ["0\n", "0\n", "1\n"]


def test_a_part_is_compiled_once_for_literals_and_values(folder, tmp_path):
    (folder / "callee.py").write_text(
        "from attsvm.kernels import compiled\n\n@compiled\ndef inner(x, k):\n    return x + k\n"
    )
    (folder / "caller.py").write_text(CALLER.replace("inner(x)", "inner(x, 2) + inner(x, int(x))"))
    assert run(tmp_path) == 5.0
    code = (
        "from attsvm.kernels.caller import inner, outer\n"
        "outer.entry().compile('float64(float64)')\nprint(len(inner.part().signatures))"
    )
    for cached in folder.glob("__pycache__/*.nb*"):
        cached.unlink()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "1\n", done.stderr


def test_rows_are_compiled_once_whoever_made_the_arrays():
    """Data keep theirs read-only; queries in other coordinates and masks may be written to."""
    code = (
        "import numpy as np\nfrom attsvm import AttentionData\n"
        "from attsvm.kernels.least_norm import rows\nfrom attsvm.svm import att_svm_programme\n"
        "X, scores = np.array([[[1.0], [0.0]]]), np.array([[1.0, 0.0]])\n"
        "for mask in (None, np.ones((1, 2), dtype=bool)):\n"
        "    data = AttentionData(X, np.ones((1, 1)), scores=scores, mask=mask)\n"
        "    att_svm_programme(data)\nprint(len(rows.entry().signatures))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr
