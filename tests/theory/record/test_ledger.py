"""The ledger only grows, and what a kill leaves of it is read for what it is."""

import datetime
import errno
import json
import os
import threading
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import LedgerError
from attsvm.theory.gate.gate import hold
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.record.runs import joined_run, last_run, opened_lines, read_events

TODAY = datetime.date(2026, 1, 1)
VERDICT = {
    "id": "toy/a:literal",
    "truth": "holds",
    "evidence": "numeric",
    "validity": "exercised",
    "siblings": [{"name": "s", "refuted": True}],
}
START = {"event": "run", "profile": "quick", "seed": 0, "claims": []}


def write(path, *, finished=True, seed=0, **more):
    with Ledger(path) as ledger:
        ledger.append("run", profile="quick", seed=seed, claims=["toy/a:literal"])
        ledger.append("part", outcome={"claim": "toy/a:literal"})
        ledger.append("verdict", verdict=VERDICT)
        for event, content in more.items():
            ledger.append(event, **{event: content})
        if finished:
            ledger.append("finished", matched=True)
    return path


def refused(run):
    return tuple(map(str, hold(run, {}, TODAY)))


def test_events_are_read_in_the_order_in_which_they_were_written(tmp_path):
    events = read_events(write(tmp_path / "deep" / "ledger.jsonl"))
    assert [e["event"] for e in events] == ["run", "part", "verdict", "finished"]
    assert {e["schema"] for e in events} == {1}


def test_a_run_is_read_back_as_it_was_recorded(tmp_path):
    run = last_run(write(tmp_path / "l", seed=5))
    assert (run.profile, run.seed, run.claims) == ("quick", 5, ("toy/a:literal",))
    assert (run.verdicts, run.finished, run.damaged) == ({VERDICT["id"]: VERDICT}, True, 0)


def test_replays_are_read_back_by_their_files(tmp_path):
    replay = {"file": "f.json", "result": "CONFIRMED", "reason": "slack in [-1, -1]"}
    with Ledger(tmp_path / "l") as ledger:
        ledger.append("run", profile="quick", seed=0, claims=[], curated=["f.json", "g.json"])
        ledger.append("replay", replay=replay)
    run = last_run(tmp_path / "l")
    assert (run.curated, run.replays) == (("f.json", "g.json"), {"f.json": replay})
    write(tmp_path / "l")
    assert (last_run(tmp_path / "l").curated, last_run(tmp_path / "l").replays) == ((), {})


@pytest.mark.parametrize(
    "replay",
    [
        *(None, 7, [], {}, {"file": "f"}, {"result": "CONFIRMED"}),
        *({"file": x, "result": "CONFIRMED"} for x in (None, 7, {}, [])),
        *({"file": "f", "result": x} for x in (None, 7, {}, [])),
        {"file": "f", "result": "CONFIRMED", "reason": None},
    ],
)
def test_a_replay_of_another_form_is_no_ledger(tmp_path, replay):
    path = write(tmp_path / "l", replay=replay)
    with pytest.raises(LedgerError, match="has an event that lacks"):
        last_run(path)


def test_an_event_is_on_disk_before_the_next_is_written(tmp_path):
    with Ledger(tmp_path / "l") as ledger:
        for k in range(3):
            ledger.append("run", k=k)
            assert read_events(tmp_path / "l")[-1]["k"] == k


def test_the_last_run_of_several_counts(tmp_path):
    path = write(write(tmp_path / "l", seed=1), seed=2, finished=False)
    run = last_run(path)
    assert (run.seed, run.finished) == (2, False)


def test_earlier_runs_of_the_same_code_profile_and_seed_are_joined(tmp_path):
    path = tmp_path / "ledger.jsonl"
    runs = [("a", "1", 0, "holds"), ("b", "0", 0, "holds"), ("c", "1", 1, "holds")]
    runs += [("d", "1", 0, "holds"), ("a", "1", 0, "refuted"), ("e", "1", 0, "holds")]
    for name, code, seed, truth in runs:
        id = f"toy/{name}:literal"
        with Ledger(path) as ledger:
            code = {"a.py": code}
            ledger.append("run", profile="quick", seed=seed, claims=[id], code=code)
            ledger.append("replay", replay={"file": f"{name}.json", "result": "CONFIRMED"})
            ledger.append("verdict", verdict={**VERDICT, "id": id, "truth": truth})
            ledger.append("finished", matched=True)
    run = joined_run(path)
    assert {name: verdict["truth"] for name, verdict in run.verdicts.items()} == {
        "toy/a:literal": "refuted",
        "toy/d:literal": "holds",
        "toy/e:literal": "holds",
    }
    assert run.claims == ("toy/a:literal", "toy/d:literal", "toy/e:literal")
    assert run.curated == ("a.json", "d.json", "e.json")
    assert last_run(path).claims == ("toy/e:literal",)
    os.mkfifo(tmp_path / "pipe")
    content = path.read_bytes()
    threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(content)).start()
    assert joined_run(tmp_path / "pipe").claims == ("toy/e:literal",)


def test_a_last_line_cut_at_any_byte_leaves_the_earlier_events(tmp_path):
    whole = write(tmp_path / "whole").read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    path = tmp_path / "cut"
    for size in range(last, len(whole)):
        path.write_bytes(whole[:size])
        events = read_events(path)
        assert [e["event"] for e in events[:3]] == ["run", "part", "verdict"]
        run = last_run(path)
        complete = size == len(whole) - 1  # nothing but the line's end is missing
        assert run.finished is complete
        assert run.damaged == (last < size < len(whole) - 1)
        assert run.verdicts == {VERDICT["id"]: VERDICT}
        assert any("did not finish" in reason for reason in refused(run)) is not complete


def test_a_run_appended_after_a_cut_line_is_read_whole(tmp_path):
    whole = write(tmp_path / "whole").read_bytes()
    path = tmp_path / "cut"
    for size in range(1, len(whole) + 1, 7):
        path.write_bytes(whole[:size])
        write(path, seed=9)
        run = last_run(path)
        assert (run.seed, run.finished, run.damaged) == (9, True, 0)
        assert path.read_bytes().startswith(whole[:size])
        assert sum(e is None for e in read_events(path)) <= 1


def test_a_start_of_a_run_that_was_cut_is_not_taken_for_the_run_before(tmp_path):
    path = write(tmp_path / "l")
    size = len(path.read_bytes())
    write(path, seed=1)
    path.write_bytes(path.read_bytes()[: size + 20])
    run = last_run(path)
    assert (run.seed, run.damaged) == (0, 1)
    assert any("damaged" in reason for reason in refused(run))


@given(st.binary(min_size=1, max_size=60), st.integers(0, 3))
def test_any_bytes_in_place_of_a_line_are_counted_as_damage(tmp_path_factory, noise, where):
    noise = noise.replace(b"\n", b"x")
    if not noise.strip():
        noise = b"x"
    path = tmp_path_factory.getbasetemp() / "noise"
    path.unlink(missing_ok=True)
    lines = write(path).read_bytes().splitlines(keepends=True)
    lines.insert(where + 1, noise + b"\n")
    path.write_bytes(b"".join(lines))
    assert last_run(path).damaged == 1


def test_deep_nesting_and_foreign_schemas_are_damage(tmp_path):
    path = write(tmp_path / "l")
    with path.open("a") as handle:
        handle.write("[" * 100_000 + "\n" + '{"schema": 2, "event": "run"}\n{"schema": 1}\n7\n')
    assert last_run(path).damaged == 4


@pytest.mark.parametrize(
    "event",
    [
        {"event": "run"},
        {"event": "run", "profile": "quick", "seed": 0},
        *({**START, "claims": x} for x in (None, 3, "toy", {"toy": 1}, [1], [["toy"]])),
        *({**START, "curated": x} for x in (None, 3, "f.json", [1])),
        *({**START, "profile": x} for x in (None, 3, [])),
        *({**START, "seed": x} for x in (None, "0", 0.5, [])),
    ],
)
def test_a_start_that_lacks_its_parts_is_no_ledger(tmp_path, event):
    (tmp_path / "l").write_text(json.dumps({"schema": 1, **event}) + "\n")
    with pytest.raises(LedgerError, match="has an event that lacks"):
        last_run(tmp_path / "l")


@pytest.mark.parametrize(
    "verdict",
    [
        *(None, 7, [], {}, {"id": 1}, {"id": "a"}, {"id": "a", "siblings": []}),
        *({k: x for k, x in VERDICT.items() if k != gone} for gone in VERDICT),
        *({**VERDICT, "siblings": x} for x in (None, [1], {}, [{}], [{"name": "s"}])),
        *({**VERDICT, "siblings": [{"name": "s", "refuted": x}]} for x in (None, 1, "yes")),
        {**VERDICT, "siblings": [{"name": "s", "refuted": True, "found_by": 3}]},
        *({**VERDICT, "id": x} for x in ({}, None, 1, [])),
        *({**VERDICT, "truth": x} for x in (None, ["holds"], {})),
        *({**VERDICT, "examples": x} for x in ("3", None, 1.5, True, [], 10**400)),
        *({**VERDICT, "seconds": x} for x in ("1", None, {})),
        *({**VERDICT, "tightness": x} for x in ("1", [], 10**400, -(10**400))),
        *({**VERDICT, "hypotheses": x} for x in (None, 3, ["h"], {"h": None})),
        *({**VERDICT, "coverage": x} for x in (None, {"w": 3}, {"w": {"a": "b"}})),
        *({**VERDICT, "warnings": x} for x in (None, "w", [1])),
        *({**VERDICT, "expected": x} for x in ("holds", None, {"truth": 1})),
        *({**VERDICT, "reason": x} for x in (None, 1)),
        *({**VERDICT, "not_shown_to_be_needed": x} for x in (None, "h", [1])),
        *({**VERDICT, "formula": x} for x in (None, 7, [], {"conclusion": {"plain": "x"}})),
        {**VERDICT, "formula": {"conclusion": {"latex": "x"}, "where": []}},
        {**VERDICT, "formula": {"conclusion": {"plain": "x"}, "where": [{"plain": 1}]}},
    ],
)
def test_a_verdict_of_another_form_is_no_ledger(tmp_path, verdict):
    path = write(tmp_path / "l", verdict=verdict)
    with pytest.raises(LedgerError, match="has an event that lacks"):
        last_run(path)


def test_reading_the_last_run_keeps_nothing_of_those_before_it(tmp_path):
    """Not even one object a run, the least of which take 28 bytes and 8 to refer to it."""
    path = write(tmp_path / "l")
    one = path.read_bytes()
    peaks = []
    for runs in (1, 500):
        path.write_bytes(one * runs)
        write(path, seed=7)
        tracemalloc.start()
        assert (last_run(path).seed, last_run(path).faults) == (7, ())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert path.stat().st_size > 10 * peaks[0]
    assert peaks[1] < peaks[0] + 36 * 499


def test_a_ledger_is_read_as_far_as_it_went_when_reading_began(tmp_path):
    path = write(tmp_path / "l")
    with opened_lines(path) as lines:
        before = list(lines())
        write(path, seed=1)
        assert list(lines()) == before
    with opened_lines(path) as lines:
        assert len(list(lines())) == 2 * len(before)


def test_a_ledger_is_read_from_a_pipe(tmp_path):
    whole = write(write(tmp_path / "l"), seed=5).read_bytes()
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(whole,))
    writer.start()
    run = last_run(tmp_path / "pipe")
    writer.join()
    assert (run.seed, run.finished, run.faults) == (5, True, ())


def test_events_of_a_run_before_its_start_are_told_of(tmp_path):
    path = write(write(tmp_path / "l"), seed=1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[5], *lines[2:]]))
    assert any(said.startswith("two runs are mixed: line 3 ") for said in last_run(path).faults)


@pytest.mark.parametrize(
    "odd", ["NaN", "-Infinity", "1e999", '"half a pair: \\ud800"', "[" * 5000, '{"a": 1, "a": 1}']
)
def test_a_line_of_more_than_json_is_damage(tmp_path, odd):
    path = write(tmp_path / "l")
    path.write_text(path.read_text().replace('"id":', f'"probed": {odd}, "id":'))
    run = last_run(path)
    assert (run.damaged, run.verdicts) == (1, {})
    assert any("damaged" in reason for reason in refused(run))


def test_a_ledger_without_end_is_refused_as_soon_as_it_is_too_long():
    with (
        pytest.raises(LedgerError, match="cannot be read: it is larger than 1 MiB"),
        opened_lines("/dev/zero", most=1 << 20),
    ):
        pass


@pytest.mark.parametrize("name", [7, None, [], {}])
def test_a_run_is_named_by_a_text(tmp_path, name):
    event = {"schema": 1, "run": name, **START}
    (tmp_path / "l").write_text(json.dumps(event) + "\n")
    with pytest.raises(LedgerError, match="holds no event"):
        last_run(tmp_path / "l")


@pytest.mark.parametrize(
    "content", ["", "\n\n", "hello\n", "{}\n", '{"schema": 2, "event": "x"}\n']
)
def test_a_file_without_events_is_no_ledger(tmp_path, content):
    (tmp_path / "l").write_text(content)
    with pytest.raises(LedgerError, match="holds no event of a ledger"):
        read_events(tmp_path / "l")


def test_a_ledger_without_a_run_says_so(tmp_path):
    with Ledger(tmp_path / "l") as ledger:
        ledger.append("finished")
    with pytest.raises(LedgerError, match="records no run"):
        last_run(tmp_path / "l")


def test_a_missing_ledger_or_a_folder_cannot_be_read(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(LedgerError, match="cannot be read"):
            read_events(path)


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "ledger.jsonl", tmp_path):
        with pytest.raises(LedgerError, match="cannot be written"):
            Ledger(path)


def test_a_device_and_a_pipe_take_events_as_they_are(tmp_path):
    (tmp_path / "device").symlink_to("/dev/null")
    write(tmp_path / "device")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write(tmp_path / "pipe")
    taken = os.read(reader, 1 << 16).splitlines()
    assert [json.loads(line)["event"] for line in taken] == [
        event["event"] for event in read_events(write(tmp_path / "file"))
    ]
    with Ledger(tmp_path / "pipe") as ledger:
        os.close(reader)
        with pytest.raises(LedgerError, match="cannot be written: Broken pipe"):
            ledger.append("run")


def test_links_to_a_ledger_are_followed_and_those_in_a_circle_refused(tmp_path):
    for name, target in (("link", "ledger"), ("circle", "circle")):
        (tmp_path / name).symlink_to(target)
    assert write(tmp_path / "link").is_symlink()
    assert len(read_events(tmp_path / "ledger")) == 4
    with pytest.raises(LedgerError, match="cannot be written"):
        Ledger(tmp_path / "circle")


def test_an_event_is_written_whole_where_the_system_writes_some_of_it(tmp_path, monkeypatch):
    write_some = os.write
    monkeypatch.setattr(os, "write", lambda handle, text: write_some(handle, text[:10]))
    run = last_run(write(tmp_path / "l"))
    assert (run.finished, run.damaged) == (True, 0)


def test_a_second_run_is_told_that_another_holds_the_ledger(tmp_path):
    path = tmp_path / "l"
    (tmp_path / "link").symlink_to("l")
    with Ledger(path) as ledger:
        path.write_bytes(b"a line that is being writ")
        for name in ("l", "link"):
            with pytest.raises(LedgerError, match="another run is writing to the ledger"):
                Ledger(tmp_path / name)
        assert path.read_bytes() == b"a line that is being writ"
        path.write_bytes(b"")
        ledger.append("run")
    write(path)
    assert len(read_events(path)) == 5


def test_a_file_system_without_locks_does_without(tmp_path, monkeypatch):
    def unknown(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", unknown)
    with Ledger(tmp_path / "l"):
        write(tmp_path / "l")
    assert last_run(tmp_path / "l").finished


def test_a_number_that_is_no_json_is_never_written(tmp_path):
    with Ledger(tmp_path / "l") as ledger:
        with pytest.raises(ValueError, match="JSON compliant"):
            ledger.append("part", x=float("nan"))
        ledger.append("run")
    assert len(read_events(tmp_path / "l")) == 1
