"""Commands start at once, and every error has its exit code and no traceback."""

import re
import time
from importlib.metadata import version

import pytest
from commands import in_a_process

from attsvm import cli
from attsvm.errors import AttsvmError, UsageError

HEAVY = ["numpy", "scipy", "numba", "matplotlib", "torch", "cvxpy", "sympy"]
HEAVY += ["hypothesis", "rich", "flint", "jaxtyping"]


@pytest.mark.parametrize("words", [[], ["--help"], ["verify", "--help"], ["nonsense"]])
def test_starting_imports_nothing_heavy(words):
    code = f"""
import sys
import attsvm, attsvm.cli
try:
    {words!r} and attsvm.cli.main({words!r})
except SystemExit:
    pass
print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = in_a_process("-c", code)
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_names_every_command_and_the_exit_codes(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "Exit codes: 0 as hoped for, 1 not, 2 usage or bad input, 3 internal error, " in text
    assert re.search(r"130\s+interrupted\.", text)
    for command in ("claims", "verify", "hunt", "replay", "gate", "solve", "reproduce"):
        assert re.search(rf"^ +{command}\s", text, re.MULTILINE)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["verify", "--profile", "fast"],
        ["verify", "--seed", "x"],
        ["verify", "-n", "0"],
        ["verify", "-n", "two"],
        ["verify", "--unheard-of"],
        ["hunt"],
        ["hunt", "toy/true", "--seconds", "0"],
        ["hunt", "toy/true", "--seconds", "nan"],
        ["hunt", "toy/true", "--seconds", "inf"],
        ["hunt", "toy/true", "--seconds", "1e9"],
        ["hunt", "toy/true", "--searchers", ""],
        ["hunt", "toy/true", "--searchers", "drawn,"],
        ["replay"],
        ["solve"],
        ["solve", "a.npz", "--norm", "l7"],
        ["claims", "--pack", "nowhere.py"],
        ["claims", "--pack", "no.such.module"],
        ["gate", "--ledger", "nowhere.jsonl"],
        ["verify", "tf/lemma-2", "--seed"],
    ],
)
def test_a_usage_error_exits_with_two_and_one_line(attsvm, words):
    code, out, error = attsvm(*words)
    assert (code, out) == (2, "")
    assert error.startswith("attsvm: ")
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("command", ["verify", "hunt"])
def test_an_unknown_id_names_the_nearest(attsvm, command):
    code, _, error = attsvm(command, "sim/lema-3.12:sharp")
    assert code == 2
    assert "sim/lemma-3.12:sharp" in error.partition("Nearest:")[2]


def test_the_package_tells_its_version_and_lists_its_names():
    import attsvm

    assert attsvm.__version__ == version("attsvm")
    assert set(attsvm.__all__) <= set(dir(attsvm))


# errors


def breaks(*_):
    raise ZeroDivisionError("a slip of ours")


def test_an_internal_error_exits_with_three_and_points_to_debug(attsvm, monkeypatch):
    monkeypatch.setitem(cli._COMMANDS, "claims", breaks)
    code, out, error = attsvm("claims")
    assert (code, out) == (3, "")
    assert error == (
        "attsvm: internal error (ZeroDivisionError: a slip of ours). "
        "Run again with --debug and report it.\n"
    )


def test_debug_lets_every_error_through(monkeypatch):
    with pytest.raises(UsageError):
        cli.main(["verify", "--profile", "fast", "--debug"])
    with pytest.raises(AttsvmError):
        cli.main(["solve", "none.npz", "--debug"])
    monkeypatch.setitem(cli._COMMANDS, "claims", breaks)
    with pytest.raises(ZeroDivisionError):
        cli.main(["claims", "--debug"])


def test_the_traceback_is_shown_with_debug_and_never_without(tmp_path):
    words = ["-m", "attsvm.cli", "solve", "none.npz"]
    plain, debug = in_a_process(*words), in_a_process(*words, "--debug")
    assert (plain.returncode, plain.stdout) == (2, "")
    assert plain.stderr == "attsvm: there is no file none.npz. Check the path.\n"
    assert "Traceback (most recent call last)" in debug.stderr


def test_an_interrupt_exits_with_130(attsvm, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    for command, said in (("claims", ""), ("verify", "; the ledger holds what was done")):
        monkeypatch.setitem(cli._COMMANDS, command, interrupted)
        code, _, error = attsvm(command)
        assert (code, error) == (130, f"attsvm: interrupted{said}\n")


def test_a_reader_that_leaves_early_is_no_error():
    done = in_a_process(
        "-c",
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-m', 'attsvm.cli', 'claims', '--json', '-'],"
        " stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "p.stdout.close()\n"
        "print(p.stderr.read().decode(), p.wait())",
    )
    assert "Traceback" not in done.stdout
    assert "internal error" not in done.stdout


def test_a_cluster_that_is_not_there_is_told_of_in_one_line_at_once():
    started = time.monotonic()
    done = in_a_process("-m", "attsvm.cli", "verify", "sim/lemma-3.12", "--cluster", "garbage")
    assert done.returncode == 2
    assert re.fullmatch(r"attsvm: no dask scheduler answers .*\(got garbage\).*\n", done.stderr)
    assert time.monotonic() - started < 9  # saying goodbye to nobody took ten seconds
