"""The tally of one part of a claim: the counts of a search, and functions that update them.

The counts include which variables of the claim took different values. The pool holds the instances
closest to a violation and the smallest of each size.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeVar

from flint import ctx

from attsvm._types import Array, Case, Entry, Json, JsonObject
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import BALLS, ENCLOSURES
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.variables import Known
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import leaves, signature
from attsvm.theory.run.asking import in_words
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.confirm import Confirmation, Evaluation, Refuted
from attsvm.theory.run.coverage import Counts
from attsvm.theory.run.likeness import Likeness

_CLOSEST = 16
"""Maximum number of instances kept because they are close to a violation."""

_A_SIZE = 4
"""Maximum number of close instances with equal shapes."""

_TEMPLATES = 8
"""Maximum number of small instances kept, one for each combination of shapes."""

_smallness = attrgetter("smallness")


@dataclass(frozen=True, slots=True)
class Elite:
    """An accepted, encoded instance and its height: how close it came to a violation.

    Attributes:
        height: the closeness; minus infinity if unknown.
        document: the instance; it must not be changed.
        key: the document as text.
        shape: the shapes of its arrays.
        smallness: sort key: number of floats, then length of the text, then the text.
        slack: the slack of this instance; None if it is not kept.
        ratio: its ratio of left to right side, at most 1; None if there is none.
    """

    height: float
    document: Json
    key: str = field(repr=False)
    shape: tuple[tuple[int, ...], ...] = field(repr=False)
    smallness: tuple[int, int, str] = field(repr=False)
    slack: float | None = None
    ratio: float | None = None

    @classmethod
    def of(
        cls, height: float, document: Json, slack: float | None = None, ratio: float | None = None
    ) -> Elite:
        """Return an elite from an encoded instance."""
        key = json.dumps(document, sort_keys=True)
        smallness = sum(1 for _ in leaves(document)), len(key), key
        return cls(height, document, key, signature(document), smallness, slack, ratio)

    def json(self) -> list[Json]:
        """Return plain data; a height of minus infinity becomes None."""
        height = self.height if math.isfinite(self.height) else None
        return [height, self.document, self.slack, self.ratio]

    @classmethod
    def read(cls, entry: Iterable[Any]) -> Elite:
        """Return an elite from plain data."""
        height, document, slack, ratio = entry
        return cls.of(-math.inf if height is None else height, document, slack, ratio)


class Pool:
    """The instances closest to a violation, a few of each size, and the smallest one of each size.

    The smallest ones are called templates: searchers start from them.

    Among equally close instances the shortest are kept: many counterexamples are degenerate.
    """

    def __init__(self, elites: Iterable[Elite] = ()) -> None:
        self.closest: list[Elite] = []
        self._templates: dict[Hashable, Elite] = {}
        for elite in elites:
            self.add(elite)

    @property
    def height(self) -> float:
        """The largest height; minus infinity if no instance with a finite height is kept."""
        return self.closest[0].height if self.closest else -math.inf

    @property
    def templates(self) -> list[Elite]:
        """The smallest instance of each size, smallest first."""
        return sorted(self._templates.values(), key=_smallness)

    @property
    def forms(self) -> str:
        """The shapes of all instances as text, and whether any height is known."""
        return f"{sorted({e.shape for e in self.elites()})} {bool(self.closest)}"

    def offer(
        self, height: float, case: Case, slack: float | None = None, ratio: float | None = None
    ) -> bool:
        """Add an accepted instance if it ranks high enough; return whether it is the closest."""
        full = len(self.closest) >= _CLOSEST and len(self._templates) >= _TEMPLATES
        if full and not height > self.closest[-1].height:
            return False
        best = self.height
        self.add(Elite.of(height, codec.encode(case), slack, ratio))
        return self.height > best

    def add(self, elite: Elite) -> None:
        """Add an instance if it ranks high enough."""
        if math.isnan(elite.height):
            return
        kept = self._templates.get(elite.shape)
        if kept is None or elite.smallness < kept.smallness:
            self._templates[elite.shape] = elite
            if len(self._templates) > _TEMPLATES:
                del self._templates[max(self._templates.values(), key=_smallness).shape]
        if not math.isfinite(elite.height) or any(e.key == elite.key for e in self.closest):
            return
        ranked = sorted([*self.closest, elite], key=lambda e: (-e.height, len(e.key), e.key))
        counts: dict[Hashable, int] = {}
        chosen = []
        for each in ranked:
            counts[each.shape] = counts.get(each.shape, 0) + 1
            if counts[each.shape] <= _A_SIZE:
                chosen.append(each)
        self.closest = chosen[:_CLOSEST]

    def elites(self) -> list[Elite]:
        """Return all elites once; a pool made of them equals this pool."""
        unique = {e.key: e for e in (*self.closest, *self.templates)}
        return list(unique.values())

    def text(self) -> str:
        """Return the pool as text for `read`."""
        return json.dumps([e.json() for e in self.elites()])

    @classmethod
    def read(cls, text: str) -> Pool:
        """Return a pool from text.

        Texts are cached, because every turn of a round reads the same text.
        """
        return cls(_elites(text))


@functools.lru_cache(maxsize=4)
def _elites(text: str) -> tuple[Elite, ...]:
    return tuple(map(Elite.read, json.loads(text)))


_Answer = TypeVar("_Answer")

_DIGITS = 64
"""Precision in bits at which sides of a comparison are printed, to see whether they differ."""

MANY = 64
"""Maximum number of different values of a variable that are counted."""


def _key(values: Entry) -> str:
    """Return a short text that identifies the values of an instance."""
    return hashlib.blake2b(repr(values).encode(), digest_size=8).hexdigest()


class Variety:
    """A record of which variables, or fields of records, took different values in a part's search.

    Attributes:
        moved: by variable, whether its value differed among evaluated or screened instances.
        keys: a short text for each drawn instance, to recognise repetitions; None to collect none.
    """

    def __init__(self, part: Part, seen: Counts) -> None:
        self._part = part
        self._seen = seen
        self._values: dict[str, set[Hashable]] = {}
        self._sides: set[str] = set()
        self._start: JsonObject = {}
        self._alone: JsonObject = {}
        self.moved: dict[str, bool] = {}
        self.keys: list[str] | None = None

    def see_drawn(self, case: Case) -> None:
        """Count the values of each variable, and record whether the sides of the formula change."""
        formula = self._part.formula
        if formula.measured is None and len(self._sides) < 2 and self._seen.drawn <= MANY:
            self._sides.add(printed_sides(formula, case, self._part.parameters))
            self._seen.sides = len(self._sides)
        named = formula.values_of(case)
        if self.keys is not None:
            self.keys.append(_key(named))
        for name, value in named.items():
            values = self._values.setdefault(name, set())
            if len(values) < MANY:
                values.add(value)
            self._seen.varied[name] = len(values)

    def see(self, case: Case) -> None:
        """Record which variables of an instance differ from the first instance."""
        if self.moved and all(self.moved.values()):
            return
        for name, value in self._part.formula.values_of(case).items():
            other = value != self._start.setdefault(name, value)
            self.moved[name] = self.moved.get(name, False) or other

    def see_batch(self, raw: Known, met: Array) -> None:
        """Record which variables differ among the instances of a batch that meet the hypotheses.

        Args:
            raw: values by name. An array has shape (..., batch); another value holds for the whole
                batch.
            met: for each instance of the batch, whether it meets the hypotheses; shape (batch,).
        """
        if not met.any():
            return
        for name, value in raw.items():
            if not self.moved.get(name):
                lanes = value[..., met] if hasattr(value, "shape") else None
                one = self._alone.setdefault(name, value) if lanes is None else lanes[..., :1]
                self.moved[name] = bool(value != one if lanes is None else (lanes != one).any())


def printed_sides(formula: Formula, case: Case, parameters: Mapping[str, object]) -> str:
    """Return both sides of each comparison of the conclusion, to `_DIGITS` bits."""
    with ctx.workprec(_DIGITS):
        try:
            if formula.counts_beyond(case):
                relation = formula.relation(ENCLOSURES, formula.enclosed(case), parameters)
            else:
                relation = formula.relation(BALLS, formula.exact(case), parameters)
        except ZeroDivisionError:
            return "a division by 0"
        return "; ".join(f"{c.left} {c.right}" for c in comparisons(relation))


class Tally:
    """A count of the instances of one part of a claim that a search handles.

    Attributes:
        claim, part: the claim and the part that is searched.
        evaluation: the evaluator of the part.
        audits: number of instances to evaluate exactly although floats accept them.
        repeats: maximum number of accepted instances whose conclusion is evaluated again.
        seen: the counts.
        variety: which variables differed.
        likeness: the test for made-up instances.
        pool: the instances that came closest to a violation.
        best: the closest instance, with its height and slack; `best_by` names its searcher and
            `best_made_up` says whether it is made up.
        first: the first accepted instances with different slacks: instance, encoded form, slack.
        touched: by searcher, the number of made-up instances evaluated exactly although floats
            accept them.
        latest: the violation confirmed last.
    """

    def __init__(self, claim: Claim, part: Part, audits: int) -> None:
        self.claim = claim
        self.part = part
        self.evaluation = Evaluation(claim, part)
        self.audits = audits
        self.repeats = 0
        self.seen = Counts(
            hypotheses={h.name: 0 for h in part.hypotheses},
            missed={h.name: 0 for h in part.dropped},
        )
        self.variety = Variety(part, self.seen)
        self.likeness = Likeness(claim, part)
        self.pool = Pool()
        self.best: tuple[float, Case, Slack] | None = None
        self.best_by = ""
        self.best_made_up = False
        self.first: list[tuple[Case, Json, Slack]] = []
        self.touched: dict[str, int] = {}
        self.latest: Refuted | None = None
        self._known: set[str] = set()

    def knows(self, case: Case) -> bool:
        """Return whether an instance was counted as distinct before."""
        return _key(self.part.formula.values_of(case)) in self._known

    def count(self, case: Case, slack: Slack) -> None:
        """Count an instance of a formula that met the hypotheses, if it is decided and new."""
        formula = self.part.formula
        if formula.batches and slack.kind != "unknown":
            self._known.add(_key(formula.values_of(case)))
            self.seen.distinct = len(self._known)

    def record(
        self, slack: Slack, case: Case, by: str, *, refuted: bool, made_up: bool = False
    ) -> None:
        """Record the slack of an instance, and offer the instance to the pool."""
        if slack.kind == "unknown":
            return
        ratio = slack.ratio
        if ratio is not None and not refuted:
            # A ratio above 1 is a violation. It was not confirmed, so the excess is rounding, and a
            # tightness above 1 would claim what the judge did not find.
            ratio = min(ratio, 1.0)
        self.seen.record(slack.value, ratio)
        height = slack.height
        self.pool.offer(height, case, slack.value, ratio)
        if self.best is None or height > self.best[0]:
            self.best, self.best_by, self.best_made_up = (height, case, slack), by, made_up

    def refutation(
        self, document: Json, slack: Slack, answer: Confirmation, searcher: str
    ) -> Refuted:
        """Return a confirmed violation, and keep it as the latest."""
        self.latest = Refuted(
            instance=document,
            slack=slack.document,
            evidence=str(answer.evidence),
            enclosure=answer.enclosure,
            method=answer.method,
            found_by=searcher,
        )
        return self.latest

    def answer(
        self,
        ask: Callable[[Case], _Answer],
        case: Case,
        what: str,
        searcher: str,
        excused: type[Exception] | tuple[()],
    ) -> _Answer | None:
        """Return the answer of a claim's function on a made-up instance.

        None if the function raises one of the `excused` exceptions, which is counted as broken.
        Other exceptions pass through.
        """
        try:
            return ask(case)
        except ClaimError:
            raise
        except excused as problem:
            self.leave_broken(what, case, problem, searcher)
            return None

    def give_up(self, at: Case | str) -> None:
        """Count an evaluation of a formula that took too many steps: at an instance or a batch.

        Raises:
            TooLong: the claim is not a formula of variables.
        """
        if not self.part.formula.batches:
            raise TooLong
        self.seen.given_up += 1
        if not self.seen.given_up_note:
            self.seen.given_up_note = at if isinstance(at, str) else in_words(at)

    def leave_undecided(self, case: Case, slack: Slack, answer: Confirmation) -> None:
        """Count an undecided instance, or one on which floats and exact values disagree.

        The reason of the first one is kept, with the instance.
        """
        self.seen.undecided += 1
        reason = slack.note or f"slack {slack.value!r}: {answer.method}"
        if answer.refuted is False:
            reason = (
                f"the float slack {slack.value!r} with error {slack.error!r} is contradicted by "
                f"{answer.method}"
            )
        where = self._in_words(case)
        self.seen.undecided_note = self.seen.undecided_note or f"{reason}; first at {where}"

    def _in_words(self, case: Case) -> str:
        """Return an instance as text; the module that writes it is imported here, on first use."""
        from attsvm.theory.instance.letters import letters_in_words

        return letters_in_words(self.part.formula, case)

    def leave_broken(
        self, what: str, case: Case, problem: Exception, searcher: str | None = None
    ) -> None:
        """Count an exception of the claim on a made-up instance.

        `case` is None if there is no instance.
        """
        self.seen.broke += 1
        where = "" if case is None else f"; first at {self._in_words(case)}"
        where += "" if searcher is None else f", proposed by {searcher}"
        note = f"{type(problem).__name__}: {problem} in {what}{where}"
        self.seen.broke_note = self.seen.broke_note or note
