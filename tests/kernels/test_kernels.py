"""Machine code on disk is that of the sources as they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fcntl")  # of systems that fork

COPIES = """
import json, os, sys
import numba
numba.njit(lambda x: x + 1.0)(1.0)
for line in sys.stdin:
    folder, code = json.loads(line)
    if (child := os.fork()) == 0:
        sys.path.insert(0, folder)
        with open(folder + "/out", "w") as sys.stdout:
            exec(code, {})
            sys.stdout.flush()
            os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process that has imported numba, and runs code in copies of itself."""


@pytest.fixture(scope="module")
def copies():
    with subprocess.Popen(
        [sys.executable, "-c", COPIES],
        env={k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"},  # but beside sources
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run(copies, tmp_path):
    """What code prints in a process of its own, in which the package is that of `folder`."""

    def done(code="from attsvm.kernels.caller import outer\nprint(outer(1.0))"):
        copies.stdin.write(json.dumps([str(tmp_path), code]) + "\n")
        copies.stdin.flush()
        assert copies.stdout.readline() == "0\n"
        return (tmp_path / "out").read_text()

    return done


CALLEE = "from attsvm.kernels import compiled\n\n@compiled\ndef inner(x):\n    return x + {}\n"
CALLER = (
    "from attsvm.kernels import compiled\nfrom attsvm.kernels.callee import inner\n\n"
    "@compiled\ndef outer(x):\n    return inner(x)\n"
)


@pytest.fixture
def folder(tmp_path):
    """Two kernels, of which one calls the other."""
    source = Path(__file__).parents[2] / "attsvm"
    folder = tmp_path / "attsvm/kernels"
    folder.mkdir(parents=True)
    (tmp_path / "attsvm/__init__.py").write_text("")
    for name in ("_live.py", "_words.py", "kernels/__init__.py"):
        (tmp_path / "attsvm" / name).write_bytes((source / name).read_bytes())
    (folder / "callee.py").write_text(CALLEE.format("1.0"))
    (folder / "caller.py").write_text(CALLER)
    return folder


def test_a_change_of_a_callee_outdates_the_code_of_its_callers(folder, run):
    """Also where the caller's own file is the same, to the time that it was written."""
    assert run() == "2.0\n"
    assert list(folder.glob("__pycache__/*.nbi"))
    # longer than before: Python keeps its bytecode of a file of the same size and second
    (folder / "callee.py").write_text(CALLEE.format("5.25"))
    assert run() == "6.25\n"


def test_who_watches_is_told_of_a_kernel_that_is_compiled_and_not_of_one_read_from_disk(
    run, folder
):
    code = (
        "from attsvm._live import watched\nfrom attsvm.kernels.caller import outer\n"
        "with watched(lambda name, seconds: print(name, seconds is None or seconds > 0)):\n"
        "    outer(1.0)\n    outer(2.0)\nouter(1)"
    )
    assert run(code) == "caller.outer True\n" * 2  # it begins and ends; its callee is a part of it
    assert run(code) == ""


def test_kernels_run_as_python_where_nothing_is_to_be_compiled(folder, run):
    code = "from attsvm.kernels.caller import outer\nprint(outer(1.0))"
    assert run(f"import numba\nnumba.config.DISABLE_JIT = True\n{code}") == "2.0\n"
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


def test_of_processes_that_call_a_kernel_at_once_one_compiles_it(folder, run):
    """The others wait for it and read its machine code, also where sources are read-only."""
    for source in folder.glob("*.py"):
        source.chmod(0o444)
    shown = run(
        "import fcntl, os, sys\nfrom attsvm.kernels.caller import outer\nentry = outer.entry()\n"
        "with open(outer.function.__code__.co_filename, 'rb') as source:\n"
        "    fcntl.flock(source, fcntl.LOCK_EX)\n"
        "    for _ in range(3):\n"
        "        if os.fork() == 0:\n"
        "            assert outer(1.0) == 2.0\n"
        "            print(sum(entry.stats.cache_misses.values()))\n"
        "            sys.stdout.flush()\n"
        "            os._exit(0)\n"
        "    fcntl.flock(source, fcntl.LOCK_UN)\n"
        "assert [os.wait()[1] for _ in range(3)] == [0] * 3\n"
    )
    assert sorted(shown.split()) == ["0", "0", "1"]


def test_a_part_is_compiled_once_for_literals_and_values(folder, run):
    (folder / "callee.py").write_text(
        "from attsvm.kernels import compiled\n\n@compiled\ndef inner(x, k):\n    return x + k\n"
    )
    (folder / "caller.py").write_text(CALLER.replace("inner(x)", "inner(x, 2) + inner(x, int(x))"))
    code = (
        "from attsvm.kernels.caller import inner, outer\n"
        "print(outer(1.0), len(inner.part().signatures))"
    )
    assert run(code) == "5.0 1\n"


def test_building_a_programme_compiles_nothing(run):
    code = (
        "import numpy as np\nfrom attsvm import AttentionData\n"
        "from attsvm.kernels.least_norm import rows\nfrom attsvm.svm import att_svm_programme\n"
        "X = np.arange(40.0)[None, ::-1, None]\n"
        "data = AttentionData(X, np.ones((1, 1)), scores=X[:, :, 0])\n"
        "print(len(att_svm_programme(data).bound), len(rows.entry().signatures))"
    )
    assert run(code) == "39 0\n"


ARRAYS = """from attsvm.kernels import compiled
import numpy as np

@compiled
def inner(x):
    a = np.full(3, x)
    return a.sum() + np.dot(a, np.arange(3.0))
"""
OF_A_USER = """
from attsvm.kernels.caller import outer
import numba, numpy as np

def mine(x):
    a = np.full(3, x)
    return a.sum() + np.dot(a, np.arange(3.0)) + np.sort(a[::-1])[0]

print(outer(2.0), numba.njit(mine)(2.0), numba.njit(mine, parallel=True)(2.0), mine(2.0))
"""


def test_functions_of_a_user_compile_as_usual_after_ours(folder, run):
    """They call the same functions of numba, which our kernels leave without machine code."""
    (folder / "callee.py").write_text(ARRAYS)
    assert run(OF_A_USER) == "12.0 14.0 14.0 14.0\n"
