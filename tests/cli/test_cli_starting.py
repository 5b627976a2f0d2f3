"""Commands start at once, and every error has its exit code and no traceback."""

import os
import re
import subprocess
import sys
import time
import tomllib
from importlib import metadata
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from commands import TOYS, in_a_process

from attsvm import _distribution, cli
from attsvm.errors import AttsvmError, UsageError
from attsvm.theory.record.ledger import Ledger
from tests.forks import in_a_fork

ROOT = Path(__file__).parents[2]
HEAVY = ["numpy", "scipy", "numba", "matplotlib", "torch", "cvxpy", "sympy"]
HEAVY += ["hypothesis", "flint", "jaxtyping", "jinja2"]
NEEDED = {"flint", "hypothesis", "numpy", "sortedcontainers", "typing_extensions"}
NEEDED |= {"attsvm", "properties", "cython_runtime"}


def test_starting_imports_nothing_heavy():
    code = f"""
import sys
import attsvm, attsvm.cli
for words in ["--help"], ["verify", "--help"], ["nonsense"]:
    try:
        attsvm.cli.main(words)
    except SystemExit:
        pass
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = in_a_process("-c", code)
    assert done.stderr.splitlines()[-1] == "[]"


def test_reading_claims_imports_nothing_but_what_declares_them(tmp_path):
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.append("run", profile="quick", seed=0, claims=[])
    (tmp_path / "none").write_text('{"schema": 1, "claims": {}}')
    gate = ["gate", *TOYS, "--ledger", str(tmp_path / "ledger")]
    gate += ["--expect", str(tmp_path / "none")]
    code = f"""
import sys
from attsvm.cli import main
print(main(["claims"]), main(["show", "sim/lemma-3.12"]), main({gate!r}), file=sys.stderr)
there = {{name.split(".")[0] for name in sys.modules}} - sys.stdlib_module_names
print(sorted(name for name in there - {NEEDED!r} if name[0] != "_"), file=sys.stderr)
"""
    done = in_a_process("-c", code)
    assert done.stderr.splitlines()[-2:] == ["0 0 1", "[]"]


def test_help_names_every_command_and_the_exit_codes(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert (
        "Exit codes: 0 success, 1 a negative result, 2 usage or bad input, 3 internal error,"
        in " ".join(text.split())
    )
    assert re.search(r"130\s+interrupted\.", text)
    for command in ("claims", "verify", "hunt", "replay", "gate", "solve", "reproduce"):
        assert re.search(rf"^ +{command}\s", text, re.MULTILINE)


def test_without_a_command_the_help_is_shown_and_the_exit_code_is_that_of_bad_usage(attsvm):
    code, out, error = attsvm()
    assert (code, out) == (2, "")
    assert error == cli.parser_of("").format_help()
    assert "To begin: attsvm verify " in error


def test_only_a_name_that_is_near_is_offered(attsvm):
    assert "Did you mean" not in attsvm("xxxxxx")[2]
    assert "Did you mean" not in attsvm("replay", "--profile", "quick", "a.json")[2]


def test_the_package_tells_its_version_and_lists_its_names():
    import attsvm

    assert attsvm.__version__ == version("attsvm")
    assert set(attsvm.__all__) <= set(dir(attsvm))


@pytest.fixture
def not_installed(monkeypatch):
    """This checkout is on the path, and no distribution of attsvm is installed."""
    find = metadata.Distribution.from_name

    def absent(name):
        if name == "attsvm":
            raise metadata.PackageNotFoundError(name)
        return find(name)

    monkeypatch.setattr(metadata.Distribution, "from_name", absent)


def test_a_checkout_that_is_not_installed_tells_its_version_and_runs(attsvm, not_installed):
    with pytest.raises(metadata.PackageNotFoundError):
        metadata.version("attsvm")
    file = Path(cli.__file__).parents[2] / "pyproject.toml"
    project = tomllib.loads(file.read_text())["project"]
    assert _distribution.version() == project["version"]
    required = {*project["dependencies"], *project["optional-dependencies"]["test"]}
    assert required <= set(_distribution.requirements())
    code, out, error = attsvm("verify", *TOYS, "toy/true")
    assert (code, "every verdict as expected" in out) == (0, True), error


def test_a_copy_without_a_project_has_no_version(tmp_path, monkeypatch, not_installed):
    monkeypatch.setattr(_distribution, "__file__", str(tmp_path / "attsvm/_distribution.py"))
    assert (_distribution.version(), _distribution.requirements()) == ("none", ())


# errors


def breaks(*_):
    raise ZeroDivisionError("a slip of ours")


def test_an_internal_error_exits_with_three_and_points_to_debug(attsvm, monkeypatch):
    monkeypatch.setattr("attsvm.cli.claims.run", breaks)
    code, out, error = attsvm("claims")
    assert (code, out) == (3, "")
    assert error == (
        "attsvm: internal error (ZeroDivisionError: a slip of ours). "
        "Report what `attsvm claims --debug` says.\n"
    )


def test_formulas_alone_need_no_compiler_and_what_does_says_so(tmp_path):
    """A process in which numba is not there checks a claim, and names numba where it solves."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['numba'] = sys.modules['llvmlite'] = None\n"
    )
    text = (ROOT / "examples/my_claim.py").read_text()
    text = text.replace("variables={", "cost=12,\n    variables={")  # few instances
    (tmp_path / "my_claim.py").write_text(text)
    data = tmp_path / "data.npz"
    numbers = np.random.default_rng(0)
    X, Z = numbers.normal(size=(12, 6, 9)), numbers.normal(size=(12, 9))
    np.savez(data, X=X, Z=Z, scores=numbers.normal(size=(12, 6)))
    code = """
from attsvm.cli import main
print(main(["verify", "--only-pack", "my_claim.py"]), main(["solve", "data.npz"]))
"""
    path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = in_a_process("-c", code, cwd=tmp_path, env=path)
    assert done.stdout.splitlines()[-1] == "0 2"
    assert done.stderr.count("Error") == 0
    assert done.stderr.endswith("needs numba, which is not installed. pip install numba\n")


def test_debug_lets_every_error_through(monkeypatch):
    with pytest.raises(UsageError):
        cli.main(["verify", "--profile", "fast", "--debug"])
    with pytest.raises(AttsvmError):
        cli.main(["solve", "none.npz", "--debug"])
    monkeypatch.setattr("attsvm.cli.claims.run", breaks)
    with pytest.raises(ZeroDivisionError):
        cli.main(["claims", "--debug"])


def test_the_traceback_is_shown_with_debug():
    done = in_a_fork("verify", "--profile", "fast", "--debug")
    assert done.returncode == 1
    assert "Traceback (most recent call last)" in done.stderr


def test_an_interrupt_exits_with_130(attsvm, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    for command, said in (("claims", ""), ("verify", "; the ledger holds what was done")):
        monkeypatch.setattr(f"attsvm.cli.{command}.run", interrupted)
        code, _, error = attsvm(command)
        assert (code, error) == (130, f"attsvm: interrupted{said}\n")


CLAIMS, VERIFY = ["claims", *TOYS], ["verify", *TOYS, "toy/true"]
NO_ROOM = (
    "attsvm: cannot write to standard output: No space left on device. "
    "Redirect it to a place that can be written.\n"
)


@pytest.mark.parametrize(
    ("words", "unbuffered"),
    [
        *((["--help"], way) for way in (False, True)),
        *((CLAIMS, way) for way in (False, True)),
        *((words, False) for words in (["--version"], ["reproduce"], [*CLAIMS, "--json", "-"])),
        (VERIFY, False),
    ],
)
def test_output_that_cannot_be_written_exits_with_two_and_says_so(words, unbuffered):
    done = in_a_fork(*words, stdout="/dev/full", unbuffered=unbuffered)
    told = [line for line in done.stderr.splitlines(True) if line.startswith("attsvm")]
    assert (done.returncode, told) == (2, [NO_ROOM])


def test_a_process_whose_output_cannot_be_written_ends_like_its_copy():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-u", "-m", "attsvm", *CLAIMS]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, NO_ROOM)


@pytest.mark.parametrize(
    ("words", "unbuffered"), [(["claims"], False), ([*CLAIMS, "--json", "-"], True)]
)
def test_output_of_which_some_fits_on_the_disk_exits_with_two(tmp_path, words, unbuffered):
    out = str(tmp_path / "out")
    done = in_a_fork(*words, stdout=out, unbuffered=unbuffered, room=1024)
    assert done.returncode == 2
    assert re.fullmatch(r"attsvm: cannot write to standard output: .*\n", done.stderr)
    assert (tmp_path / "out").stat().st_size == 1024


def test_a_closed_standard_output_exits_with_two_before_the_work(tmp_path):
    done = in_a_fork(*VERIFY, closed=[1])
    assert done.returncode == 2
    assert done.stderr.startswith("attsvm: standard output is closed.")
    assert list(tmp_path.iterdir()) == []


def test_a_closed_standard_error_hinders_nobody():
    done = in_a_fork(*VERIFY, closed=[2])
    assert (done.returncode, done.stderr) == (0, "")
    assert "every verdict as expected" in done.stdout


@pytest.mark.parametrize("words", [["--help"], CLAIMS, [*CLAIMS, "--json", "-"]])
def test_a_reader_that_left_ends_a_command_quietly_and_not_with_zero(words):
    reader, writer = os.pipe()
    os.close(reader)
    done = in_a_fork(*words, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_what_was_printed_is_not_lost_where_another_error_comes(monkeypatch):
    def prints(_):
        print("seen")
        raise ZeroDivisionError

    monkeypatch.setattr("attsvm.cli.claims.run", prints)
    done = in_a_fork("claims")
    assert (done.returncode, done.stdout) == (3, "seen\n")


def test_a_cluster_that_is_not_there_is_told_of_in_one_line_at_once(tmp_path):
    words = "verify", *TOYS, "toy/true", "--ledger", str(tmp_path / "ledger.jsonl")
    times = [time.monotonic()]
    for more in ((), ("--cluster", "garbage")):
        done = in_a_fork(*words, *more)
        times.append(time.monotonic())
    assert done.returncode == 2
    assert re.fullmatch(r"attsvm: no dask scheduler answers .*\(got garbage\).*\n", done.stderr)
    usual, taken = np.diff(times)
    assert taken < usual + 9  # closing without a scheduler took ten seconds
