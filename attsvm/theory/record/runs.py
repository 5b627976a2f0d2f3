"""Recorded runs: read from ledgers line by line, with what is damaged, edited or missing."""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from attsvm._files import error_text, parse, read_whole
from attsvm._types import Entry, JsonObject
from attsvm._words import counted
from attsvm.errors import LedgerError
from attsvm.theory.record import forms
from attsvm.theory.record.ledger import SCHEMA, chained

LARGEST = 1 << 30
"""Maximum number of bytes of a line, or of the content of a pipe."""

NOT_REPLAYED = "NOT REPLAYED"
"""Result of a curated file that a run left out."""


def read_events(path: str | os.PathLike[str]) -> list[JsonObject | None]:
    """Return all events in order, with None for a damaged line, such as a kill may leave.

    Raises:
        LedgerError: the file is missing, cannot be read, or is no ledger.
    """
    with opened_lines(path) as lines:
        events = [_event(line) for _, line in lines()]
    if not any(events):
        raise _foreign(path)
    return events


_Lines = Callable[[], Iterator[tuple[int, bytes]]]
"""A function that yields the non-blank lines of a ledger from the first, with their numbers.

Every pass ends at the size that the file had when it was opened, so later lines are left out.
"""

_TAKEN_OVER = "taken over"
"""Name of events that were not read, because an earlier run evaluated their content."""

_ENDS = re.compile(rb'"run": "(\w+)", "digest": "(\w+)"\}\s*$')
"""End of the line of an event."""

_BEGINS = re.compile(rb'"event"\s*:\s*"run"')
"""Text in the line of an event that begins a run."""


@contextmanager
def opened_lines(path: str | os.PathLike[str], most: int = LARGEST) -> Iterator[_Lines]:
    """Yield a reader of the lines of a file, which holds one line at a time in memory.

    Args:
        path: the file, a pipe or a device.
        most: maximum number of bytes of a line, or of the content of a pipe.

    Raises:
        LedgerError: the file is missing or cannot be read.
    """
    try:
        source = Path(path)
        # a pipe can be read once, and a device may have no end
        whole = None if source.is_file() else io.BytesIO(read_whole(source, most))
        with whole or source.open("rb") as opened:
            file: IO[bytes] = opened
            size = file.seek(0, os.SEEK_END)

            def lines() -> Iterator[tuple[int, bytes]]:
                left = size - file.seek(0)
                for number, line in enumerate(iter(lambda: file.readline(most), b""), 1):
                    if line[:left].strip():
                        yield number, line[:left]
                    left -= len(line)
                    if left <= 0:
                        return

            yield lines
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        raise LedgerError(
            f"the ledger {Path(path)} cannot be read: {error_text(error)}",
            remedy="`attsvm verify` writes one.",
        ) from error


def _event(line: bytes) -> JsonObject | None:
    """Return the event of a line, None if the line is damaged."""
    try:
        event = parse(line)
    except ValueError:
        return None
    good = forms.lacking(event, *_EVENT) is None and event["schema"] == SCHEMA
    return event if good else None


def _foreign(path: str | os.PathLike[str]) -> LedgerError:
    return LedgerError(f"{Path(path)} holds no event of a ledger", remedy="Check the path.")


@dataclass(frozen=True, slots=True)
class Run:
    """The last run in a ledger.

    Attributes:
        profile, seed: as started.
        claims: the ids of the claims that the run planned to check.
        verdicts: the recorded verdicts by id, in the form of `verify --json`.
        finished: whether the run came to its end.
        damaged: the number of damaged lines within the run.
        curated: the files of curated counterexamples that the run planned to replay.
        replays: the results of the replays by file, in the form of `verify --json`.
        parts: the recorded outcomes unchanged, in the order of recording.
        matched: whether all verdicts matched, as the last event says; None without that event.
        code: the digests of the code of the run, by file.
        origins: for each of `parts` the id of the earlier run that evaluated it, else "".
        bases: for each claim the digest of everything that its outcomes depend on.
        id: the id of the run.
        about: the time, machine and versions of the run, by name, if they are recorded.
        faults: reasons why the record is not that of one whole run, a sentence each.
    """

    profile: str
    seed: int
    claims: tuple[str, ...]
    verdicts: dict[str, JsonObject]
    finished: bool
    damaged: int
    curated: tuple[str, ...] = ()
    replays: dict[str, JsonObject] = field(default_factory=dict)
    parts: tuple[Any, ...] = ()
    matched: bool | None = None
    code: dict[str, str] = field(default_factory=dict)
    origins: tuple[str, ...] = ()
    bases: dict[str, str] = field(default_factory=dict)
    id: str = ""
    about: dict[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def fallen(self) -> list[tuple[str, str, str]]:
        """The curated files that were not confirmed, each with its result and the reason."""
        replays = ((f, self.replays.get(f, {})) for f in sorted({*self.curated, *self.replays}))
        results = [(f, r.get("result", NOT_REPLAYED), r.get("reason", "")) for f, r in replays]
        return [entry for entry in results if entry[1] != "CONFIRMED"]


def last_run(path: str | os.PathLike[str]) -> Run:
    """Return the run of a ledger that began last; its faults report events of other runs.

    Raises:
        LedgerError: the file cannot be read, or no run began in it.
    """
    with opened_lines(path) as lines:
        start = 0
        for number, line in lines():
            if _BEGINS.search(line) and (_event(line) or {}).get("event") == "run":
                start = number
        if not start:
            if not any(_event(line) for _, line in lines()):
                raise _foreign(path)
            raise LedgerError(f"{path} records no run", remedy="`attsvm verify` writes one.")
        own, others, damaged = _tail(lines, start)
    return _run(path, own, others, damaged)


def finished_runs(path: str | os.PathLike[str], profile: str, seed: int) -> Iterator[Run]:
    """Yield the whole runs of a ledger with this profile and seed, with their own outcomes.

    A run that was cut, damaged, edited or mixed with another run is left out. Events that a run
    took over from an earlier run are not read: a ledger soon consists of little else.

    Raises:
        LedgerError: the file cannot be read.
    """
    open_runs: dict[str, list[tuple[int, JsonObject]]] = {}
    with opened_lines(path) as lines:
        for number, line in lines():
            event = _taken_over(line) or _event(line) or {"event": "damaged"}
            name = event.get("run", "")
            if event["event"] == "run":
                asked = (event.get("profile"), event.get("seed")) == (profile, seed)
                open_runs = {name: []} if asked and name else {}
            if name not in open_runs:
                open_runs = {}  # a line that is damaged or of another run lies between
                continue
            open_runs[name].append((number, event))
            if event["event"] == "finished":
                run = _run(path, open_runs.pop(name), [], 0)
                if not run.faults:
                    yield run


def _taken_over(line: bytes) -> JsonObject | None:
    """Return run and digest of an event that was taken over from an earlier run, else None."""
    ends = _ENDS.search(line) if b'"reused": "' in line else None
    if ends is None:
        return None
    run, digest = (result.decode() for result in ends.groups())
    return {"event": _TAKEN_OVER, "run": run, "digest": digest}


def _run(path: object, own: list[tuple[int, JsonObject]], others: list[int], damaged: int) -> Run:
    """Return a run from its events, each with the number of its line.

    Args:
        path: the ledger, for messages.
        own: the events of the run; the first is its start.
        others: the numbers of lines of other runs between these events.
        damaged: the number of damaged lines between these events.
    """
    tail = [e for _, e in own]
    (head,) = _shaped(path, [tail[0]], _START)
    verdicts = _shaped(path, [e.get("verdict") for e in _of(tail, "verdict")], _VERDICT)
    replays = _shaped(path, [e.get("replay") for e in _of(tail, "replay")], _REPLAY)
    finished = _of(tail, "finished")
    return Run(
        profile=head["profile"],
        seed=head["seed"],
        claims=tuple(head["claims"]),
        verdicts={v["id"]: v for v in verdicts},
        finished=bool(finished),
        damaged=damaged,
        curated=tuple(head.get("curated", [])),
        replays={r["file"]: r for r in replays},
        parts=tuple(e.get("outcome") for e in _of(tail, "part")),
        matched=finished[-1].get("matched") is True if finished else None,
        code=head.get("code", {}),
        origins=tuple(str(e.get("reused") or "") for e in _of(tail, "part")),
        bases=head.get("bases", {}),
        id=str(tail[0].get("run") or ""),
        about=_about(head),
        faults=(*_broken(own), *_mixed(others), *_repeated(head, verdicts, replays, tail)),
    )


def joined_run(path: str | os.PathLike[str]) -> Run:
    """Return the last run, completed by earlier runs of the same code, profile and seed.

    For a claim or file that the last run did not cover, the latest earlier result counts.

    Raises:
        LedgerError: as `last_run`.
    """
    last = last_run(path)
    if not os.path.isfile(path):  # a pipe is read once
        return last
    verdicts: dict[str, JsonObject] = {}
    replays: dict[str, JsonObject] = {}
    like: set[object] = set()  # the ids of runs of the same code, profile and seed
    with opened_lines(path) as lines:
        for _, line in lines():
            event = _event(line) or {}
            if event.get("event") == "run":
                own = ("profile", "seed", "code")
                if all(event.get(name) == getattr(last, name) for name in own):
                    like.add(event.get("run"))
            elif event.get("run") in like and event.get("event") == "verdict":
                (verdict,) = _shaped(path, [event.get("verdict")], _VERDICT)
                verdicts[verdict["id"]] = verdict
            elif event.get("run") in like and event.get("event") == "replay":
                (replay,) = _shaped(path, [event.get("replay")], _REPLAY)
                replays[replay["file"]] = replay
    return replace(
        last,
        claims=tuple(sorted({*verdicts, *last.claims})),
        verdicts={**verdicts, **last.verdicts},
        curated=tuple(sorted({*replays, *last.curated})),
        replays={**replays, **last.replays},
    )


def _about(head: Entry) -> dict[str, str]:
    """Return the time, machine and versions of a run."""
    own = {"attsvm": head["version"]} if "version" in head else {}
    return {**head.get("made", {}), **own, **head.get("versions", {})}


def _tail(lines: _Lines, start: int) -> tuple[list[tuple[int, JsonObject]], list[int], int]:
    """Return the run that begins on the line `start`, and the foreign lines between its events.

    Returns:
        The run's events with the numbers of their lines; the numbers of lines with events of other
        runs, or of this run before its start; the number of damaged lines.
    """
    own: list[tuple[int, JsonObject]] = []
    others: list[int] = []
    damaged, name = 0, None
    for number, line in lines():
        if number < start:
            continue
        event = _event(line)
        if number == start:
            name = (event or {}).get("run")
        if event is None:
            damaged += 1
        elif event.get("run") == name:
            own.append((number, event))
        else:
            others.append(number)
    # An event with the id of this run before its start was copied or moved there. Most lines do not
    # contain the id, so they need not be parsed.
    if name:
        spelt = json.dumps(name).encode()
        for number, line in lines():
            if number == start:
                break
            if spelt in line and (_event(line) or {}).get("run") == name:
                others.append(number)
    return own, sorted(others), damaged


def _broken(own: Sequence[tuple[int, JsonObject]]) -> Iterator[str]:
    """Yield the first break of the chain of digests of a run, if it breaks."""
    before = ""
    for number, event in own:
        if not isinstance(event.get("digest"), str) or not event.get("run"):
            yield f"line {number} names no run or has no digest; an older attsvm wrote it"
            return
        content = {key: value for key, value in event.items() if key != "digest"}
        # of an event that was taken over, only its digest was read: it continues the chain
        if event["event"] != _TAKEN_OVER and chained(before, content) != event["digest"]:
            yield (
                f"the digest of line {number} does not fit: that line was edited, or an earlier "
                "line was removed, inserted or moved"
            )
            return
        before = event["digest"]


def _mixed(numbers: Sequence[int]) -> Iterator[str]:
    if numbers:
        yield (
            f"two runs are mixed: line {numbers[0]} "
            f"({counted(len(numbers), 'line')} in all) does not belong between the others"
        )


def _repeated(
    head: Entry,
    verdicts: Sequence[Entry],
    replays: Sequence[Entry],
    events: Sequence[Entry],
) -> Iterator[str]:
    """Yield duplicate entries, and events after the end of the run."""
    listed = {
        "claim": head["claims"],
        "verdict of": [v["id"] for v in verdicts],
        "replay of": [r["file"] for r in replays],
        "end of": ["the run"] * sum(e["event"] == "finished" for e in events),
        **{f"sibling of {v['id']}": [s["name"] for s in v["siblings"]] for v in verdicts},
    }
    for what, names in listed.items():
        for name, times in Counter(names).items():
            if times > 1:
                yield f"{what} {name}: recorded {times} times"
    ends = [k for k, e in enumerate(events) if e["event"] == "finished"]
    if ends and ends[0] < len(events) - 1:
        yield "the run goes on after its end"


def _of(events: Iterable[JsonObject | None], name: str) -> list[JsonObject]:
    return [e for e in events if e is not None and e["event"] == name]


_EVENT = {"schema": forms.count, "event": forms.text}, {"run": forms.text}
_WORDS = dict.fromkeys(("truth", "evidence", "validity"), forms.text)
_TEXTS = forms.values(forms.text)
_START = (
    {"profile": forms.text, "seed": forms.count, "claims": forms.each(forms.text)},
    {
        "curated": forms.each(forms.text),
        "version": forms.text,
        **dict.fromkeys(("code", "made", "versions", "bases"), _TEXTS),
    },
)
_SIBLING = forms.record(
    {"name": forms.text, "refuted": forms.truth},
    {"found_by": forms.maybe(forms.text), "evidence": forms.maybe(forms.text)},
)
_NEEDED = forms.record({"evidence": forms.text, "found_by": forms.text, "sibling": forms.text})
_REPLAY = (
    {"file": forms.text, "result": forms.text},
    {"reason": forms.text, **dict.fromkeys(("claim", "sibling"), forms.maybe(forms.text))},
)
_LINE = forms.record({"plain": forms.text}, {"latex": forms.text})
_VERDICT = (
    {"id": forms.text, **_WORDS, "siblings": forms.each(_SIBLING)},
    {
        **dict.fromkeys(("as_expected", "linked"), forms.truth),
        "expected": forms.record(_WORDS),
        **dict.fromkeys(("statement", "place", "reason", "broke_note", "stand_in"), forms.text),
        **dict.fromkeys(("examples", "rejected", "broke", "screened"), forms.count),
        **dict.fromkeys(("decided", "by_stand_in"), forms.count),
        **dict.fromkeys(("min_slack", "tightness"), forms.maybe(forms.number)),
        "seconds": forms.number,
        "hypotheses": forms.values(forms.count),
        "needed": forms.values(_NEEDED),
        "coverage": forms.values(forms.values(forms.count)),
        **dict.fromkeys(("warnings", "not_shown_to_be_needed", "steps"), forms.each(forms.text)),
        **dict.fromkeys(("counterexample", "proof", "reused"), forms.maybe(forms.text)),
        "formula": forms.record(
            {"conclusion": _LINE, "where": forms.each(_LINE)}, {"hypotheses": forms.values(_LINE)}
        ),
    },
)
"""Required and optional parts of a verdict, each with its form; a verdict may have more."""


def _shaped(
    path: object,
    entries: Iterable[Any],
    form: tuple[Mapping[str, forms.Form], Mapping[str, forms.Form]],
) -> list[JsonObject]:
    """Return the entries as a list if all have the form that the gate and the pages read.

    Raises:
        LedgerError: an entry has another form.
    """
    shaped: list[JsonObject] = list(entries)
    for entry in shaped:
        lacking = forms.lacking(entry, *form)
        if lacking is not None:
            raise LedgerError(
                f"{path} has an event that lacks {lacking}",
                remedy="It was cut or edited; run `attsvm verify` again.",
            )
    return shaped
