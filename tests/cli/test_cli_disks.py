"""Disks that are full or read-only, and two runs at once: what is said, and what is left."""

import contextlib
import errno
import os
import resource
import sys
import time
from pathlib import Path

import pytest
from commands import TOYS

from attsvm.theory.record import counterexample
from attsvm.theory.record.runs import last_run, read_events
from tests.forks import Forked

VERIFY = ["verify", *TOYS, "toy/false", "toy/true"]
HUNT = ["hunt", *TOYS, "toy/false", "--rounds", "2"]
LEDGER = Path(".attsvm/ledger.jsonl")
FULL = os.strerror(errno.EFBIG)


@contextlib.contextmanager
def room(size):
    """No file of this process grows beyond a size, as on a disk that is full then.

    Of bytecode Python would write a half, which no later process could import.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "dont_write_bytecode", True)
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def left():
    """All files in the current folder."""
    return sorted(p.name for p in Path().rglob("*") if p.is_file())


@pytest.mark.parametrize("events", [0, 2])
def test_a_disk_that_fills_up_ends_a_run_and_the_next_one_goes_through(attsvm, events):
    assert attsvm(*VERIFY, "--ledger", "whole")[0] == 0
    size = sum(map(len, Path("whole").read_bytes().splitlines(keepends=True)[:events])) + 100
    with room(size):
        code, out, error = attsvm(*VERIFY)
    assert (code, out) == (2, "")
    assert f"attsvm: the ledger {LEDGER} cannot be written: {FULL}" in error
    whole = LEDGER.read_bytes()
    assert (len(whole), whole.count(b"\n")) == (size, events)
    if events:
        assert (last_run(LEDGER).finished, last_run(LEDGER).faults) == (False, ())
        Path("nothing").write_text('{"schema": 1, "claims": {}}')
        code, out, _ = attsvm("gate", *TOYS, "--expect", "nothing")
        assert (code, out.startswith("the run did not finish: 0 of 2 claims")) == (1, True)
    assert attsvm(*VERIFY)[0] == 0
    assert LEDGER.read_bytes().startswith(whole + b"\n")
    assert (last_run(LEDGER).finished, last_run(LEDGER).faults) == (True, ())
    assert read_events(LEDGER)[events] is None


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ([*VERIFY, "--ledger", "/dev/null"], ".attsvm/counterexamples/toy--false--literal.json"),
        (HUNT, ".attsvm/hunted/toy--false--literal.json"),
    ],
)
def test_a_find_for_which_there_is_no_room_is_told_and_leaves_no_half(attsvm, words, file):
    with room(300):
        code, out, error = attsvm(*words)
    assert (code, f"attsvm: cannot write {file}: {FULL}" in error) == (2, True)
    assert words != HUNT or "refuted, certified: toy/false:literal" in out
    assert left() == []
    attsvm(*words)
    assert counterexample.read(file)["claim"] == f"toy/{file.split('--')[1]}:literal"


def test_a_find_is_told_where_its_account_finds_no_room(attsvm):
    code, out, error = attsvm(*HUNT, "--json", "/dev/full")
    assert (code, "attsvm: cannot write /dev/full" in error) == (2, True)
    assert "refuted, certified: toy/false:literal" in out


def test_a_page_for_which_there_is_no_room_leaves_the_old_one(attsvm):
    assert attsvm(*VERIFY)[0] == 0
    page = Path("attsvm-report.html")
    page.write_text("an earlier page")
    before = left()
    with room(1_000):
        code, _, error = attsvm("report")
    assert (code, error.startswith(f"attsvm: cannot write {page}: {FULL}")) == (2, True)
    assert (page.read_text(), left()) == ("an earlier page", before)
    assert attsvm("report")[0] == 0


def test_a_full_device_is_no_ledger(attsvm):
    code, out, error = attsvm(*VERIFY, "--ledger", "/dev/full")
    assert (code, out) == (2, "")
    full = os.strerror(errno.ENOSPC)
    assert f"the ledger /dev/full cannot be written: {full}" in error


@pytest.mark.parametrize("words", [VERIFY, HUNT, ["report"]])
def test_a_folder_that_takes_nothing_is_told_of(attsvm, words):
    """A folder below a file takes nothing from anybody, whatever the permissions of root."""
    Path("file").write_text("")
    place = {"verify": "--ledger", "hunt": "--out", "report": "--out"}[words[0]]
    if words[0] == "report":
        assert attsvm(*VERIFY)[0] == 0
    before = left()
    code, out, error = attsvm(*words, place, "file/x.html" if words == ["report"] else "file/x")
    assert (code, out) == (2, "")
    assert os.strerror(errno.ENOTDIR) in error or "file is no folder" in error
    assert words[0] != "verify" or "--ledger" in error
    assert left() == before


def test_two_runs_at_once_in_one_folder_do_not_mix(attsvm):
    first = Forked(*VERIFY, "toy/rare", "toy/tie", "toy/unequal")
    while not (LEDGER.exists() and LEDGER.stat().st_size):
        time.sleep(0.002)
    code, out, error = attsvm(*VERIFY)
    assert first.runs()
    assert attsvm(*VERIFY, "--ledger", ".attsvm/another.jsonl")[0] == 0
    assert (code, out) == (2, "")
    assert error.startswith("attsvm: another run is writing to the ledger")
    assert first.done().returncode == 0
    for file, claims in (("ledger", 5), ("another", 2)):
        run = last_run(f".attsvm/{file}.jsonl")
        assert (len(run.verdicts), run.finished, run.faults, run.damaged) == (claims, True, (), 0)
    assert counterexample.read(".attsvm/counterexamples/toy--false--literal.json")
