"""Commands that are killed lose nothing that they had said; benchmarks/kills.py does more of it."""

import random
import time

import pytest

from benchmarks.kills import LEDGER, PAGE, SITE, Place, campaign, kill


def test_a_killed_command_loses_nothing_and_the_next_one_goes_through(tmp_path, monkeypatch):
    """Verify, and the report of what is then in the ledger; the command has the others, 50 times.

    A kill that comes after the end tells nothing, so that there is another one.
    """
    monkeypatch.setattr("benchmarks.kills._VERDICTS", 300)
    place = Place(tmp_path)
    for command in ("verify", "report"):
        for seed in range(6):
            (trial,), faults = campaign(place, command, 1, seed)
            assert [*trial.faults, *faults] == []
            assert trial.orphans == 0
            if trial.alive:
                break
        else:
            pytest.fail("every kill came too late")


class Planted(Place):
    """A place whose command is a script of our own."""

    def __init__(self, folder, script):
        super().__init__(folder)
        self.script = script
        (folder / ".attsvm").mkdir()

    def install(self, package):
        """Make a package of nothing but the command."""
        (package / "cli").mkdir(parents=True)
        for folder in (package, package / "cli"):
            (folder / "__init__.py").touch()

    def start(self, words):
        """Start the script; return once its lines have run and it sleeps, to be killed."""
        script, done = self.folder / SITE / "attsvm" / "cli" / "__main__.py", self.folder / "done"
        ends = f"pathlib.Path({str(done)!r}).touch()\ntime.sleep(60)\n"
        script.write_text(f"import pathlib, subprocess, sys, time\n{self.script}\n{ends}")
        process = super().start(words)
        while process.poll() is None and not done.exists():
            time.sleep(0.01)
        return process


class Late(random.Random):
    """Random numbers that never vary: a kill comes at the first possible moment."""

    def random(self):
        return 0.9

    def randrange(self, *_):
        return 0

    def uniform(self, *_):
        return 0.0


SCRIPTS = {
    "a verdict that is printed and not recorded": (
        "print('[1/6] toys/a:literal: holds, numeric, exercised', file=sys.stderr, flush=True)",
        "toys/a:literal was printed and is not in the ledger",
    ),
    "a process that is left": (
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])",
        "1 processes outlived the command",
    ),
    "a page that is half written": (
        f"pathlib.Path({PAGE!r}).write_text('<html>half')",
        "the page is neither the old one nor the new one",
    ),
    "a ledger that is written anew": (
        f"pathlib.Path({LEDGER!r}).write_text('another event\\n')",
        "the ledger does not begin with its content before the kill",
    ),
    "a counterexample that is half written": (
        "p = pathlib.Path('.attsvm/hunted'); p.mkdir(); (p / 'x.json').write_text('{')",
        "x.json is not a readable JSON file",
    ),
    "an end by itself": ("sys.exit(7)", "it ended with 7 before the kill"),
}


@pytest.mark.parametrize("planted", SCRIPTS)
def test_what_a_command_must_not_do_is_found_out(tmp_path, monkeypatch, planted):
    done, said = SCRIPTS[planted]
    monkeypatch.setattr("benchmarks.kills._ENDS", 0.2)
    place = Planted(tmp_path, done)
    if planted == "a ledger that is written anew":
        (tmp_path / LEDGER).write_text("an event\n")
    trial = kill(place, "verify", Late())
    assert any(fault.startswith(said) or said in fault for fault in trial.faults), trial.faults
