"""No claim pack ends a command with the exit code of a success."""

import os
import signal
import time
from pathlib import Path

import pytest
from commands import expect

from attsvm.theory.run import workers
from tests.forks import Forked, in_a_fork

HEAD = "import atexit, os, sys\nfrom toy_pack import build, square, square_ball\n"
EXITS = {
    "sys.exit": "sys.exit(0)",
    "SystemExit": "raise SystemExit",
    "GeneratorExit": "raise GeneratorExit",
    "own BaseException": "class Leave(BaseException): pass\nraise Leave",
}
COMMANDS = ["verify", "gate", "claims", "hunt", "replay", "report"]


def words_of(command, pack, folder):
    """The command on a pack, with whatever else it needs to come as far as the pack."""
    more = {
        "verify": ["toy/true"],
        "hunt": ["toy/true", "--rounds", "1"],
        "replay": [folder],
        "report": ["--source", "toy"],
    }
    return [command, "--only-pack", str(pack), *map(str, more.get(command, []))]


@pytest.fixture
def folder(ran, on_path):
    """A folder with a run of toy/true and what is expected of it beside the packs."""
    expect(ran).rename(ran / "expectations.json")
    (ran / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    return ran


@pytest.mark.parametrize(
    ("command", "way"),
    [*((command, "sys.exit") for command in COMMANDS), *(("verify", way) for way in [*EXITS][1:])],
)
def test_a_pack_that_exits_as_it_is_loaded_is_an_error_that_names_it(attsvm, folder, command, way):
    pack = folder / "left.py"
    pack.write_text(f"{HEAD}{EXITS[way]}\n")
    code, out, error = attsvm(*words_of(command, pack, folder))
    assert (code, out) == (2, "")
    assert error.startswith(f"attsvm: {pack} cannot be loaded: ")
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("place", ["__init__.py", "claims.py", "inner/__init__.py"])
def test_a_package_that_exits_in_any_module_is_an_error_that_names_it(attsvm, folder, place):
    package = f"package_{len(place)}"
    for name in ("__init__.py", "inner/__init__.py", place):
        path = folder / package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import sys\nsys.exit(0)\n" if name == place else "")
    code, out, error = attsvm("claims", "--pack", package)
    assert (code, out) == (2, "")
    assert error.startswith(f"attsvm: claim pack {package}")
    assert "cannot be imported: SystemExit: 0" in error


LAZY = f"""{HEAD}
def conclusion(x: float, shift: float = 0.0):
    import leaving
lazy = build("lazy", conclusion, square_ball)
"""


def test_a_module_that_exits_as_a_check_imports_it_is_the_error_of_the_claim(document, folder):
    (folder / "lazy.py").write_text(LAZY)
    code, found = document("verify", "--only-pack", "lazy.py", "toy/lazy")
    assert code == 1
    (claim,) = found["claims"]
    assert claim["validity"] == "error"
    assert claim["reason"] == "SystemExit: 0 (leaving.py:2)"


def test_a_module_that_exits_as_a_hunt_imports_it_is_the_error_of_the_hunt(attsvm, folder):
    (folder / "lazy.py").write_text(LAZY)
    code, _, error = attsvm("hunt", "--only-pack", "lazy.py", "toy/lazy", "--rounds", "1")
    assert code == 3
    assert "the hunt of toy/lazy:literal broke: SystemExit: 0 (leaving.py:2)" in error


@pytest.mark.usefixtures("only_named_packs")
def test_a_worker_that_a_claim_ends_is_an_error_and_the_gate_refuses_the_run(
    attsvm, folder, monkeypatch
):
    monkeypatch.setattr(workers, "ATTEMPTS", 1)
    pack = folder / "ending.py"
    pack.write_text(
        f"{HEAD}\ndef conclusion(x: float, shift: float = 0.0):\n    os._exit(0)\n"
        'ending = build("true", conclusion, square_ball)\n'
    )
    code, _, error = attsvm("verify", "--only-pack", pack, "toy/true", "-n", "2")
    assert code == 2
    assert (
        "worker processes died or were killed while running one job (got check_job toy/true:"
        in error
    )
    code, out, _ = attsvm("gate", "--only-pack", pack)
    assert code == 1
    assert "the run did not finish" in out


def test_no_function_that_a_pack_left_for_the_exit_changes_the_exit_code(tmp_path):
    (tmp_path / "late.py").write_text(
        f"{HEAD}from toy_pack import blunt\natexit.register(os._exit, 0)\n"
    )
    done = in_a_fork("verify", "--only-pack", "late.py", "toy/blunt")
    assert done.returncode == 1
    assert "weak" in done.stdout


@pytest.mark.parametrize("way", ["os._exit(0)", "os.execv('/bin/true', ['true'])"])
@pytest.mark.parametrize("place", ["loading", "checking"])
def test_a_pack_that_ends_the_process_does_not_end_it_as_a_success(folder, place, way):
    at_once, late = (way, "pass") if place == "loading" else ("", way)
    (folder / "ends.py").write_text(
        f"{HEAD}\n{at_once}\ndef conclusion(x: float, shift: float = 0.0):\n    {late}\n"
        'ends = build("ends", conclusion, square_ball)\n'
    )
    (folder / "pyproject.toml").write_text("")
    for command in ("verify", "gate", "claims") if place == "loading" else ("verify",):
        done = in_a_fork(command, "--only-pack", "ends.py")
        assert done.returncode == 2
        assert "code of a claim pack ended its process with exit code 0" in done.stderr


def test_a_pack_that_closes_standard_output_is_told_of(tmp_path):
    (tmp_path / "closes.py").write_text(f"{HEAD}from toy_pack import blunt\nsys.stdout.close()\n")
    done = in_a_fork("claims", "--only-pack", "closes.py")
    assert done.returncode == 2
    assert done.stderr.startswith("attsvm: standard output was closed by code of a claim pack")


def test_a_pack_that_leaves_the_folder_does_not_take_the_command_along(attsvm, folder, tmp_path):
    (tmp_path / "away").mkdir()
    pack = folder / "moves.py"
    pack.write_text(f"{HEAD}from toy_pack import blunt\nos.chdir({str(tmp_path / 'away')!r})\n")
    assert attsvm("verify", "--only-pack", pack, "--ledger", "kept")[0] == 1
    assert (folder / "kept").is_file()


@pytest.mark.parametrize("blow", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_command_ends_with_what_ends_its_process(tmp_path, blow):
    """The process that a command was started as stands for the one that does its work."""
    (tmp_path / "slow.py").write_text(
        "import os, time\nopen('begun', 'w').write(str(os.getpid()))\n"
        "for _ in range(6000):\n    time.sleep(0.01)\n"  # a signal shows between two of them
    )
    process = Forked("verify", "--only-pack", "slow.py")
    begun = tmp_path / "begun"
    while not begun.is_file() or not begun.read_text():
        time.sleep(0.01)
    os.kill(process.pid, blow)
    done = process.done()
    assert done.returncode == (-blow if blow == signal.SIGKILL else 130)
    assert done.stderr == (
        "" if blow == signal.SIGKILL else "attsvm: interrupted; the ledger holds what was done\n"
    )
    ended = time.monotonic() + 10
    while Path(f"/proc/{begun.read_text()}").exists() and time.monotonic() < ended:
        time.sleep(0.01)
    assert not Path(f"/proc/{begun.read_text()}").exists()


def test_a_command_that_is_left_in_its_midst_says_so(attsvm, monkeypatch):
    def leaves(_):
        raise SystemExit(0)

    monkeypatch.setattr("attsvm.cli.report.run", leaves)
    code, out, error = attsvm("report")
    assert (code, out) == (3, "")
    assert error == (
        "attsvm: report did not finish: code of a claim pack left it by SystemExit(0) in "
        f"{__file__}:{leaves.__code__.co_firstlineno + 1}\n"
    )
