"""Consistency after `kill -9`: `python -m benchmarks.kills [--trials N] [--seed S]`.

Commands are killed at random moments, and their files are compared with their output. No event that
was on disk and no printed verdict may be missing. Every file must be whole, every process must end,
and the next run must succeed. Commands run on a copy of attsvm outside its checkout, so that they
load one small pack of their own. With --disks the commands run on full, filling and read-only disks
instead; this needs the right to mount them. The exit code is 1 if something was lost.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import attsvm
from attsvm.errors import FileError, LedgerError
from attsvm.theory.gate.expectations import UNREVIEWED
from attsvm.theory.gate.gate import hold
from attsvm.theory.packs.packs import load_packs
from attsvm.theory.record import counterexample
from attsvm.theory.record.runs import last_run

PACK = '''
"""A claim that holds and one that is refuted."""

from attsvm.theory import Reading, Real, Statement, changed


def made(name: str, factor: int, expected: str) -> Statement:
    return Statement(
        f"toys/{name}",
        source="toys",
        place="here",
        printed="2 x y <= x^2 + y^2",
        cost=12,
        variables={"x": Real(), "y": Real(), "z": Real()},
        conclusion=lambda m, v, k: m.at_most(
            k * v.x * v.y, m.square(v.x) + m.square(v.y) + m.square(v.z)
        ),
        readings={
            "literal": Reading(
                expected,
                constants={"k": factor},
                siblings={"4 x y": changed(k=4), "5 x y": changed(k=5)},
            )
        },
    )


A = made("a", 2, "holds")
B = made("b", 3, "refuted")
'''
PREY = '''
"""A claim that is refuted, with instances that take a while to make smaller."""

from attsvm.theory import Integer, Reading, Statement, Vector, changed

HUNTED = Statement(
    "hunted/sums",
    source="toys",
    place="here",
    printed="the sum of 2 x y is at most the sums of squares",
    variables={"n": Integer(4, 9), "x": Vector("n"), "y": Vector("n")},
    conclusion=lambda m, v, k: m.at_most(
        k * m.dot(v.x, v.y), m.dot(v.x, v.x) + m.dot(v.y, v.y) + 5
    ),
    readings={
        "literal": Reading(
            "refuted",
            constants={"k": 3},
            siblings={"4 <x, y>": changed(k=4)},
        )
    },
)
'''
FILE, LEDGER, PAGE = "toys.py", ".attsvm/ledger.jsonl", "attsvm-report.html"
SITE = "site-packages"
"""Folder of the copy of attsvm. With this name it counts as installed and is not parsed."""
HUNTED = "prey.py"
FINDS = (".attsvm/counterexamples", ".attsvm/hunted")
EVENTS = 10
"""Number of events in a whole run of the pack: its start, 6 parts, 2 verdicts and its end."""

_VERIFY = ("verify", "--pack", FILE, "toys/")
_HUNT = ("hunt", "--pack", HUNTED, "hunted/sums", "--fresh", "--rounds", "4", "--seed")
COMMANDS = {
    "verify": _VERIFY,
    "verify -n 2": (*_VERIFY, "-n", "2"),
    "hunt": _HUNT,
    "hunt -n 2": (*_HUNT[:-1], "-n", "2", "--seed"),
    "report": ("report",),
}
"""The commands that are killed, by name; each trial of a hunt adds a seed."""

_USUAL = {"v": 0, "h": 1, "r": 0}
"""The exit codes of the commands, by their first letters, if nothing disturbs them."""

_ENDS = 10.0
"""Time limit in seconds for the other processes of a killed command to end."""

_VERDICTS = 1500
"""Number of verdicts in the ledger for `report`, so that its page takes a while to write."""

_TOLD = re.compile(r"^\[\d+/6\] (\S+): (\w+), (\w+), (\w+)$", re.MULTILINE)
"""A verdict that `verify` prints while it runs."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one kill.

    Attributes:
        alive: whether the command was still running when it was killed.
        writing: whether it was then writing a file, so that a temporary file is left.
        orphans: number of processes of the command that did not end.
        faults: sentences on what was lost or damaged.
    """

    alive: bool
    writing: bool
    orphans: int
    faults: tuple[str, ...]


class Place:
    """A folder with the packs, in which commands run and are killed.

    Attributes:
        folder: the folder.
        pages: texts of the page that are whole.
        seconds: duration of the last undisturbed run of each command.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.install(folder / SITE / "attsvm")
        (folder / FILE).write_text(PACK)
        (folder / HUNTED).write_text(PREY)
        (folder / PAGE).write_text(OLD)
        self.pages = {OLD}
        self.seconds: dict[str, float] = {}

    def install(self, package: Path) -> None:
        """Copy attsvm to the folder of a package."""
        ignored = shutil.ignore_patterns("*.nb[ci]")  # machine code, which nothing here runs
        shutil.copytree(Path(attsvm.__file__).parent, package, ignore=ignored)

    def start(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a command in a session of its own; it writes to the files `out` and `err`."""
        with (self.folder / "out").open("wb") as out, (self.folder / "err").open("wb") as err:
            return subprocess.Popen(
                [sys.executable, "-m", "attsvm.cli", *words],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(self.folder / SITE)},
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def undisturbed(self, *words: str) -> int:
        """Run a command to its end; return its exit code."""
        begun = time.monotonic()
        code = self.start(words).wait(600)
        self.seconds[words[0]] = time.monotonic() - begun
        return code

    def lines(self) -> list[bytes]:
        """Return the lines of the ledger; the last one may be cut."""
        path = self.folder / LEDGER
        return path.read_bytes().splitlines(keepends=True) if path.is_file() else []

    def parts(self) -> list[Path]:
        """Return the temporary files of unfinished writes."""
        return [p for f in ("", *FINDS) for p in (self.folder / f).glob("*.part")]

    def finds(self) -> list[Path]:
        """Return the stored counterexamples."""
        return [p for f in FINDS for p in sorted((self.folder / f).glob("*.json"))]


OLD = "<html>an earlier page</html>"


def _session(number: int) -> Iterator[int]:
    """Yield the ids of the running processes of a session."""
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                words = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            if int(words[3]) == number and words[0] not in "ZX":
                yield int(place.name)


def _wait(
    place: Place,
    process: subprocess.Popen[bytes],
    command: str,
    before: int,
    dice: random.Random,
) -> None:
    """Wait for a random moment at which to kill a command.

    `before` is the number of lines of the ledger when the command started.
    """
    chance = dice.random()
    if chance < 0.25 or (command == "report" and chance < 0.6):  # while a file is being written
        while process.poll() is None and not place.parts():
            time.sleep(0.001)
        return
    if command.startswith("verify"):
        events = dice.randrange(EVENTS)
        delay = dice.uniform(0.0, 0.05 if events else 1.0)
        while process.poll() is None and len(place.lines()) < before + events:
            time.sleep(0.002)
    elif command.startswith("hunt") and chance < 0.75:
        delay = dice.uniform(0.0, 0.3) * place.seconds["hunt"]
        while process.poll() is None and not _output(place):  # it has not examined an instance yet
            time.sleep(0.002)
    else:
        delay = dice.uniform(0.1, 0.8) * place.seconds[command.partition(" ")[0]]
    until = time.monotonic() + delay
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)


def kill(place: Place, command: str, dice: random.Random) -> Trial:
    """Start a command, kill it at a random moment, and return what was lost."""
    for part in place.parts():
        part.unlink()
    words = COMMANDS[command]
    if command.startswith("hunt"):
        words = (*words, str(dice.randrange(1000)))
        if dice.random() < 0.5:  # otherwise the hunt must keep a smaller counterexample
            shutil.rmtree(place.folder / FINDS[1], ignore_errors=True)
    before = place.lines()
    began = len(before)
    process = place.start(words)
    _wait(place, process, command, began, dice)
    seen, there = place.lines(), place.finds()
    if seen and not seen[-1].endswith(b"\n"):
        seen.pop()
    process.kill()
    code = process.wait()
    alive, killed = code == -signal.SIGKILL, time.monotonic()
    while (left := list(_session(process.pid))) and time.monotonic() < killed + _ENDS:
        time.sleep(0.01)
    for orphan in left:
        os.kill(orphan, signal.SIGKILL)
    faults: list[str] = []
    if not alive and code != _USUAL[command[0]]:
        faults.append(f"it ended with {code} before the kill: {_output(place)}")
    after = place.lines()
    # a line that a kill has cut is completed by a line end of the next run
    kept = all(b"".join(after).startswith(b"".join(earlier)) for earlier in (before, seen))
    if not kept:
        faults.append("the ledger does not begin with its content before the kill")
    _ensure_verdicts_kept(place, after[began:], faults)
    _whole(place, there, faults)
    if alive and command.startswith("verify"):
        _unfinished(place, began, faults)
    if left:
        faults.append(f"{len(left)} processes outlived the command")
    return Trial(alive, alive and bool(place.parts()), len(left), tuple(faults))


def _ensure_verdicts_kept(place: Place, added: Sequence[bytes], faults: list[str]) -> None:
    """Add a fault for each verdict that the command printed and its events lack."""
    shown = set(_TOLD.findall((place.folder / "err").read_text()))
    results = set()
    for line in added:
        if line.endswith(b"\n") and line.strip():
            event = json.loads(line)  # a whole line is JSON
            if event["event"] == "verdict":
                v = event["verdict"]
                results.add((v["id"], v["truth"], v["evidence"], v["validity"]))
                if v["counterexample"] and not (place.folder / v["counterexample"]).is_file():
                    faults.append(f"{v['counterexample']} is in the ledger and not on disk")
    faults += (f"{v[0]} was printed and is not in the ledger" for v in shown - results)


def _whole(place: Place, there: Sequence[Path], faults: list[str]) -> None:
    """Add a fault for each file that is broken for a reader, or missing."""
    packs = load_packs(only=[str(place.folder / name) for name in (FILE, HUNTED)])
    faults += (f"{path.name} is gone" for path in there if not path.is_file())
    for path in place.finds():
        try:
            counterexample.read(path)
        except FileError as error:
            faults.append(str(error))
            continue
        replayed = counterexample.replay(path, packs)
        if not replayed.confirmed:
            faults.append(str(replayed))
    if (place.folder / PAGE).read_text() not in place.pages:
        faults.append("the page is neither the old one nor the new one")


def _unfinished(place: Place, began: int, faults: list[str]) -> None:
    """Add a fault unless the last run reads as unfinished, with an unbroken chain."""
    if len(place.lines()) <= began + 1:  # not even its start was recorded as a whole
        return
    try:
        run = last_run(place.folder / LEDGER)
    except LedgerError as error:
        faults.append(f"the ledger has events and cannot be read: {error}")
        return
    faults += run.faults
    reasons = [str(r) for r in hold(run, {}, date.min)]
    if not run.finished and not any(r.startswith("the run did not finish") for r in reasons):
        faults.append("the gate would take the run for whole")


def campaign(place: Place, command: str, trials: int, seed: int) -> tuple[list[Trial], list[str]]:
    """Kill a command at random times.

    Return the trials and the faults of the whole runs after them.
    """
    dice = random.Random(f"{command} {seed}")
    faults: list[str] = []
    if command == "report":
        _long_ledger(place)
    if not command.startswith("verify"):  # measure its duration, and keep its page
        words = COMMANDS[command]
        code = place.undisturbed(*words, *(["0"] if command.startswith("hunt") else []))
        if code != _USUAL[command[0]]:
            faults.append(f"an undisturbed {command} ended with {code}")
        place.pages.add((place.folder / PAGE).read_text())
        (place.folder / PAGE).write_text(OLD)
    kills = [kill(place, command, dice) for _ in range(trials)]
    faults += _goes_on(place, command)
    return kills, faults


def _long_ledger(place: Place) -> None:
    """Append a run of many verdicts to the ledger, so that its page takes a while to write."""
    if not place.lines() and place.undisturbed(*_VERIFY) != 0:
        raise RuntimeError((place.folder / "err").read_text())
    path = place.folder / LEDGER
    lines = path.read_text().splitlines(keepends=True)
    verdict = json.loads(next(line for line in lines if '"verdict"' in line))
    more = []
    for k in range(_VERDICTS):
        entry = {**verdict["verdict"], "id": f"toys/{k}:literal"}
        more.append(json.dumps({**verdict, "verdict": entry}) + "\n")
    path.write_text("".join([*lines[:-1], *more, lines[-1]]))


def _goes_on(place: Place, command: str) -> list[str]:
    """Return the faults of an undisturbed run in the same folder after all kills."""
    before = place.lines()
    faults = []
    words = COMMANDS[command]
    code = place.undisturbed(*words, *(["0"] if command.startswith("hunt") else []))
    if code != _USUAL[command[0]]:
        faults.append(f"{command} after the kills ended with {code}: {_output(place)}")
    if not b"".join(place.lines()).startswith(b"".join(before)):
        faults.append("the run after the kills changed earlier lines of the ledger")
    if command == "verify":
        gate = ("gate", "--only-pack", FILE)
        place.undisturbed(*gate, "--update", "--yes")
        expected = place.folder / "expectations.json"
        expected.write_text(expected.read_text().replace(UNREVIEWED, "a toy"))
        if place.undisturbed(*gate) != 0:
            faults.append(f"the gate refuses the run after the kills: {_output(place)}")
    _whole(place, place.finds(), faults)
    return faults


def _output(place: Place) -> str:
    return ((place.folder / "out").read_text() + (place.folder / "err").read_text())[-300:]


_MOUNTED = """
set -u
mount -t tmpfs -o {options} none disk && cp {files} disk && cd disk || exit 99
{before}
{command} > ../out 2> ../err
echo $? > ../code
find . -type f | sort > ../left
mount -o remount,rw,size=64m . && {command} > ../out2 2> ../err2
echo $? > ../again
cp -r . ../after
"""

DISKS = {
    "a full disk": ("16k", "head -c 16k /dev/zero > filling"),
    "a disk that fills up": ("", ":"),
    "a read-only disk": ("64m", "mount -o remount,ro ."),
}
"""By name of a disk, its size and the shell command that prepares it."""


def disks(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the faults of each command on each disk, and of the next run with room again."""
    place = Place(folder)
    if place.undisturbed(*_VERIFY) != 0:
        raise RuntimeError(_output(place))
    shutil.copy(folder / LEDGER, folder / "whole.jsonl")
    commands = {  # each with its usual exit code, and a size at which it can write only a part
        "verify": (_VERIFY, 0, "24k"),
        "hunt": ((*_HUNT, "0"), 1, "8k"),
        "report": (("report", "--ledger", "../whole.jsonl"), 0, "8k"),
    }
    for name, (size, before) in DISKS.items():
        for command, (words, usual, some) in commands.items():
            options = f"size={size or some}"
            yield name, command, _on_disk(place, options, before, words, usual)


def _on_disk(
    place: Place, options: str, before: str, words: Sequence[str], usual: int
) -> list[str]:
    run = " ".join([sys.executable, "-m", "attsvm.cli", *words])
    script = _MOUNTED.format(options=options, before=before, command=run, files=f"{FILE} {HUNTED}")
    for name in ("disk", "after"):
        shutil.rmtree(place.folder / name, ignore_errors=True)
    (place.folder / "disk").mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=place.folder,
        env={**os.environ, "PYTHONPATH": str(place.folder / SITE)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 99 or not (place.folder / "code").is_file():
        return [f"not covered, nothing can be mounted here: {done.stderr.strip()}"]
    code, again = (int((place.folder / name).read_text()) for name in ("code", "again"))
    text = (place.folder / "err").read_text()
    faults = []
    if code != 2 or "Traceback" in text or "cannot" not in text:
        faults.append(f"it ended with {code} and said {text[-300:]!r}")
    if ".part" in (place.folder / "left").read_text():
        faults.append("it left a temporary file")
    if again != usual:
        faults.append(f"with room again it ended with {again}: {_read(place, 'err2')[-300:]!r}")
    for find in (place.folder / "after").glob(".attsvm/*/*.json"):
        counterexample.read(find)
    return faults


def _read(place: Place, name: str) -> str:
    return (place.folder / name).read_text()


def main() -> int:
    """Kill and print a line for each command; return 1 if something was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(COMMANDS))
    parser.add_argument("--trials", type=int, default=50, help="kills of each (default 50)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--disks", action="store_true", help="full and read-only disks instead")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.disks:
            every = list(disks(Path(folder)))
            for disk, command, faults in every:
                print(
                    f"{command} on {disk}: {'; '.join(faults) or 'reported, and nothing is lost'}"
                )
            return 1 if any(faults for _, _, faults in every) else 0
    lost: list[str] = []
    for command in options.commands or COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            kills, faults = campaign(Place(Path(folder)), command, options.trials, options.seed)
        alive, writing = (sum(getattr(k, n) for k in kills) for n in ("alive", "writing"))
        faults += (f"trial {n}: {text}" for n, k in enumerate(kills) for text in k.faults)
        lost += (f"{command}: {text}" for text in faults)
        words = f"{alive} of {len(kills)} killed while it ran, {writing} while it wrote a file"
        print(f"{command}: {words}; {len(faults)} faults", flush=True)
    for text in lost:
        print(text)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
