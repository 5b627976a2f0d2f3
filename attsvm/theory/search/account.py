"""The account of a hunt: the counterexample, the work of each searcher, and the blind spots."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from attsvm._files import dump, finite, write_text
from attsvm._types import JsonObject
from attsvm.errors import FileError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.instance import codec
from attsvm.theory.packs.code_digests import digest_of_claim
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record.counterexample import document, read, replay
from attsvm.theory.record.curated import file_name
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.coverage import FOR_CLAIMS, FOR_QUESTIONS, Counts, Remedies, warnings_of
from attsvm.theory.search import GUIDED, Elite, Pool
from attsvm.theory.search.shrink_moves import smallness


@dataclass(slots=True)
class Effort:
    """The work of one searcher.

    Attributes:
        turns: number of turns.
        accepted, rejected: number of instances evaluated; number that are not admissible.
        screened: number of instances evaluated in batches or to select those to examine.
        closer: number of turns that came closer to a violation than all turns before them.
        found: whether it found the counterexample.
        seconds: working time, summed over workers.
        moved: by variable, whether it took several values within one turn.
    """

    turns: int = 0
    accepted: int = 0
    rejected: int = 0
    screened: int = 0
    closer: int = 0
    found: bool = False
    seconds: float = 0.0
    moved: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """A moment at which a hunt came closer to a violation; at most one is recorded for each turn.

    Attributes:
        height: the largest ratio of left to right side so far, or minus the least slack.
        examined, screened: number of instances until then.
        seconds: wall time until then, in seconds.
    """

    height: float
    examined: int
    screened: int
    seconds: float


@dataclass(slots=True)
class Hunt:
    """The result of a hunt.

    Attributes:
        claim, part: the claim and the part that was searched; part "" is the reading.
        smallest, worst: the counterexample, shrunk and worsened; None if none was found.
        minimal: whether no move of the shrinker makes the smallest one smaller.
        rounds: number of rounds that began.
        efforts: the work by searcher.
        absent: searchers that would fit but need a library that is not installed.
        no_turn: searchers that could have worked but got no turn in time.
        nothing_to_move: searchers without a turn, because no instance has a variable that they
            change.
        done: searchers without a further turn, because they had nothing more to propose.
        repeated: number of drawn instances that were evaluated and equal an earlier one.
        seen: the counts over all instances.
        closest: the instance that came closest, with its height; `closest_by` is its searcher.
        growth: the increases of the largest height over time.
        pool: the known instances, from which another hunt may start.
        error: the first error, if any.
        idle: whether that error is that the hunt ended before it examined an instance.
        interrupted: whether it was stopped from outside.
        seconds: wall time.
    """

    claim: Claim
    part: str = ""
    smallest: Refuted | None = None
    worst: Refuted | None = None
    minimal: bool = False
    rounds: int = 0
    efforts: dict[str, Effort] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    no_turn: list[str] = field(default_factory=list)
    nothing_to_move: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    repeated: int = 0
    seen: Counts = field(default_factory=Counts)
    closest: Elite | None = None
    closest_by: str | None = None
    growth: list[Step] = field(default_factory=list)
    pool: Pool = field(default_factory=Pool)
    error: str | None = None
    idle: bool = False
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def examples(self) -> int:
        """The number of instances evaluated."""
        return sum(e.accepted for e in self.efforts.values())

    @property
    def moved(self) -> dict[str, list[str]]:
        """The searchers that tried several values of each variable in one turn."""
        names = dict.fromkeys(name for e in self.efforts.values() for name in e.moved)
        return {
            name: [who for who, e in self.efforts.items() if e.moved.get(name)] for name in names
        }

    @property
    def warnings(self) -> list[str]:
        """Warnings about the blind spots of a search that refuted nothing and settled nothing."""
        return self.warnings_with(FOR_CLAIMS)

    def warnings_with(self, remedies: Remedies) -> list[str]:
        """Return the warnings, with these remedies."""
        last = self.growth[-1] if self.growth else Step(0.0, 0, 0, 0.0)
        looked = self.examples + self.seen.screened
        growing = last.examined + last.screened > 0.5 * looked
        if self.smallest is not None or self.seen.settled:
            return []
        formula = self.claim.formula
        equal = formula.measured is None and self.seen.min_slack == 0.0  # sides that never differ
        seen = self.seen
        if remedies is FOR_QUESTIONS and seen.tightness == 0.0:  # a left side of 0 has no ratio
            seen = replace(seen, tightness=None)
        text = warnings_of(
            seen, slacks=not equal, growing=growing, stepped=formula.stepped, remedies=remedies
        )
        still = ", ".join(self._integers_of_records())
        if still:
            text.append(
                f"only drawn values of {still} were tried: no change of these integers alone meets "
                "the hypotheses, or no searcher that changes integers had a turn; draw more values"
            )
        return text

    def _integers_of_records(self) -> Iterator[str]:
        """Yield the names of integers of the closest record that no guided searcher moved."""
        formula = self.claim.formula
        if self.closest is None or not isinstance(formula, RecordFormula):
            return
        case = codec.decode(self.closest.document, self.claim.instance_type)
        moved = self.moved
        for name, text in formula.values_of(case).items():
            integer = isinstance(text, str) and text.lstrip("-").isdigit()
            if integer and not set(moved.get(name, ())) & GUIDED.keys():
                yield name

    def unfinished(self, seconds: float | None) -> str | None:
        """Return why a counterexample may not be minimal; None if it is, or if there is none."""
        if self.smallest is None or self.minimal:
            return None
        if self.interrupted:
            return "interrupted"
        # a hunt stops slightly before its time limit
        if seconds is not None and self.seconds >= 0.9 * seconds:
            return "the time ran out: run again with more seconds"
        return f"shrinking failed ({self.error or 'no reason was recorded'})"

    def json(self) -> JsonObject:
        """Return the account as plain data, schema 1."""
        busy = sum(e.seconds for e in self.efforts.values())
        result, closest = self.smallest, self.closest
        searchers = {
            n: {**asdict(e), "seconds": round(e.seconds, 3)} for n, e in self.efforts.items()
        }
        for effort in searchers.values():
            del effort["moved"]  # reported by variable
        return {
            "schema": 1,
            "claim": self.claim.id,
            "sibling": self.part or None,
            "found": result is not None,
            "found_by": result and result.found_by,
            "evidence": result and result.evidence,
            **{name: getattr(self, name) for name in _COPIED},
            **{name: getattr(self.seen, name) for name in _COPIED_COUNTS},
            "note": self.seen.undecided_note,
            "examined": self.examples,
            "rejected": sum(e.rejected for e in self.efforts.values()),
            "tightness": finite(self.seen.tightness),
            "min_slack": finite(self.seen.min_slack),
            "closest": closest
            and {
                "height": finite(closest.height),
                "ratio": finite(closest.ratio),
                "slack": finite(closest.slack),
                "by": self.closest_by,
                "instance": closest.document,
            },
            "growth": [{**asdict(s), "height": finite(s.height)} for s in self.growth],
            "searchers": searchers,
            "per_second": round(self.examples / busy, 1) if busy > 0 else None,
            "seconds": round(self.seconds, 3),
        }


_COPIED = (
    *("minimal", "rounds", "absent", "no_turn", "nothing_to_move", "done", "repeated"),
    *("moved", "warnings", "error", "interrupted"),
)
"""Fields of the hunt that the document copies unchanged."""

_COPIED_COUNTS = (
    *(
        "screened",
        "unjudged",
        "exhausted",
        "settled",
        "ordinary",
        "hypotheses",
        "undecided",
        "open",
        "unexamined",
        "given_up",
        "given_up_note",
        "solver_note",
    ),
    *("broke", "broke_note", "audited", "coverage"),
)
"""Fields of the counts that the document copies unchanged."""


def store(folder: Path, account: Hunt) -> dict[str, str]:
    """Write the smallest and the worst counterexample of a hunt; return their paths by role.

    An existing file is kept if its counterexample is no larger, was found on the same code of the
    claim, is still confirmed, and has evidence of the same kind.

    Raises:
        FileError: the folder cannot be written.
    """
    stored: dict[str, str] = {}
    name = file_name(account.claim.id, account.part)
    roles: dict[Literal["smallest", "worst"], Refuted | None] = {"smallest": account.smallest}
    if account.worst != account.smallest:
        roles["worst"] = account.worst
    for role, result in roles.items():
        if result is None:
            continue
        ending = ".json" if role == "smallest" else "--worst.json"
        path = folder / f"{name.removesuffix('.json')}{ending}"
        if role == "smallest" and _stays(path, account, result):
            stored[role] = path.as_posix()
            continue
        minimal = role == "smallest" and account.minimal
        entry = document(account.claim, result, part=account.part, role=role, minimal=minimal)
        write_text(path, dump(entry) + "\n")
        stored[role] = path.as_posix()
    return stored


def _stays(path: Path, account: Hunt, refuted: Refuted) -> bool:
    """Return whether the file holds another confirmed counterexample that is no larger."""
    claim = account.claim
    try:
        there = read(path)
    except FileError:
        return False
    about = there.get("claim"), there.get("sibling") or "", there.get("fingerprint")
    if about != (claim.id, account.part, digest_of_claim(claim)):
        return False
    replayed = replay(path, (Pack(claim.id, (claim,), path.parent),))
    stands = replayed.confirmed and replayed.evidence == refuted.evidence
    another = there["instance"] != refuted.instance  # rewrite the same counterexample
    return stands and another and smallness(there["instance"]) <= smallness(refuted.instance)
