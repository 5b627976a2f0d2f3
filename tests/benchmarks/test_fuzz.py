"""Readers refuse hostile files by errors of our own, or accept and show them harmlessly.

The profiles `--profile=quick|deep` give each reader 100 or 15,000 files, from the base
seed `--claim-seed`; `python -m benchmarks.fuzz` takes any number and reads one again.
"""

import itertools
import json
import random
from collections import ChainMap

import numpy as np
import pytest

from attsvm.errors import AttsvmError, FileError
from attsvm.theory.record.runs import last_run
from benchmarks.fuzz import __main__ as command
from benchmarks.fuzz import mutation
from benchmarks.fuzz.__main__ import feed, mutated
from benchmarks.fuzz.readers import Broken, Reader, chained, readers

COUNTS = {"quick": 100, "deep": 15_000}
NAMES = [
    *("data set", "counterexample", "ledger", "expectations", "shipped counterexample"),
    *("project", "entry points"),
]
PAYLOAD = json.dumps("".join(mutation.PAYLOADS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def made(folder):
    return {reader.name: reader for reader in readers(folder)}


def test_every_reader_is_given_something(made):
    assert list(made) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_refuses_or_accepts_whatever_it_is_given(made, folder, request, name):
    count = COUNTS[request.config.getoption("--profile")]
    seed = request.config.getoption("--claim-seed")
    account = feed(made[name], seed, range(count), folder)
    assert not account.faults, "\n".join(account.line(seed))
    assert min(account.accepted, account.refused) >= count // 20  # both ways are looked at
    assert account.accepted + account.refused == count


@pytest.mark.parametrize("name", ["counterexample", "expectations"])
def test_payloads_stay_text_wherever_they_stand_in_a_document(made, folder, name):
    stored = {
        "counterexample": folder / "pack" / "counterexamples" / "fuzz--near--literal.json",
        "expectations": folder / "expectations.json",
    }
    sample = json.loads(stored[name].read_text())
    assert read_all(made[name].read, folder, mutation.everywhere(sample, PAYLOAD)) >= 10


def test_payloads_stay_text_wherever_they_stand_in_a_run(made, folder):
    """Each in a run of its own for the reader, one of every event at a time for the pages."""
    events = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    last = max(k for k, event in enumerate(events) if event["event"] == "run")
    events = events[last:]
    events[0]["code"] = {"a.py": "0"}  # of some two hundred
    first = {json.dumps(form(event)): k for k, event in reversed(list(enumerate(events)))}

    def run(changes):
        own = [changes.get(k, event) for k, event in enumerate(events)]
        return "\n".join(map(json.dumps, chained([{**event} for event in own])))

    accepted = []
    for k in first.values():
        tried = map(json.loads, mutation.everywhere(events[k], PAYLOAD))
        kept = [{k: event} for event in tried if read_all(last_run, folder, [run({k: event})])]
        accepted.append(kept[:: 1 - k % 2 * 2])  # so that no two events have it in one place
    assert sum(map(len, accepted)) >= 300
    rows = [dict(ChainMap(*row)) for row in itertools.zip_longest(*accepted, fillvalue={})]
    assert read_all(made["ledger"].read, folder, map(run, rows)) == len(rows)


def form(value):
    """The keys and the types of a document, and which texts are empty, as a reading's part is.

    What has the same is read alike.
    """
    if isinstance(value, dict):
        return {key: form(item) for key, item in value.items()}
    if isinstance(value, list):
        return [form(item) for item in value]
    return value if value == "" else type(value).__name__


def read_all(read, folder, texts):
    """How many of these are accepted; the others are refused by errors of our own."""
    accepted = 0
    for text in texts:
        (folder / "input").write_text(text)
        said = ""
        try:
            read(folder / "input")
            accepted += 1
        except AttsvmError as error:
            said = str(error)
        assert said.isprintable()
    return accepted


def spin(path):
    while True:
        pass


def raising(error):
    def read(path):
        raise error

    return read


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (raising(IndexError("out of range")), "IndexError"),
        (raising(RecursionError()), "RecursionError"),
        (raising(Broken("a page has a script")), "Broken"),
        (lambda path: np.ones(1 << 30), "MemoryError"),
        (lambda path: path.joinpath("below").read_bytes(), "NotADirectoryError"),
        (spin, "TooLong"),
    ],
)
def test_a_fault_is_told_with_the_way_to_read_the_file_again(tmp_path, read, kind):
    reader = Reader("faulty", lambda chance: chance.randbytes(4), read)
    account = feed(reader, 7, [5], tmp_path, seconds=0.2)
    assert (account.accepted, account.refused, account.errors.total()) == (0, 0, 1)
    (said,) = account.faults
    assert said.startswith(kind)
    assert "--reader 'faulty' --seed 7 --only 5" in "\n".join(account.line(7))


def test_an_error_of_our_own_that_moves_the_cursor_is_a_fault(tmp_path):
    error = FileError("fine")
    error.args = ("\x1b[2J",)
    reader = Reader("faulty", lambda chance: b"", raising(error))
    assert feed(reader, 0, [0], tmp_path).errors.total() == 1


def test_inputs_depend_on_reader_seed_and_number_alone(made):
    for name in ("data set", "ledger", "project"):
        first = [mutated(made[name], 3, k) for k in range(20)]
        assert first == [mutated(made[name], 3, k) for k in range(20)]
        assert len(set(first)) > 15
        assert first != [mutated(made[name], 4, k) for k in range(20)]


def test_mutators_reach_every_kind_of_hostile_file():
    chance = random.Random(0)
    sample = {"a": [1, {"b": "c"}], "d": None}
    texts = [mutation.json_text([sample], chance) for _ in range(4000)]
    for part in (b"1e999999999", b"NaN", b"\\ud800", b"[[[[[[", b'"a": 1, "a": 2', b"\x1b"):
        assert any(part in text or part in text.replace(b"\\u001b", b"\x1b") for text in texts)
    assert any(len(text) > 500_000 for text in texts)
    assert any(text[:2] in (b"\xff\xfe", b"\xfe\xff") for text in texts)  # UTF-16


def test_the_command_prints_what_each_reader_was_given(made, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "readers", lambda _: tuple(made.values()))
    words = ["--reader", "project", "--seed", "2"]
    assert command.main([*words, "--count", "30"]) == 0
    said = capsys.readouterr().out
    assert "project" in said
    assert "30 inputs, seed 2: 0 faults" in said
    assert command.main([*words, "--only", "4", "--write", str(tmp_path / "kept")]) == 0
    assert "1 inputs" in capsys.readouterr().out
    assert (tmp_path / "kept").exists()
