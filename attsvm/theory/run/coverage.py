"""Coverage: which part of the instance space a search examined, and why its result may be weak.

An instance is described by a few words: its sizes, whether entries are equal, and the words that
`words` returns for its records. Counting the words shows which kinds of instances never occurred.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from attsvm._types import Array, Case, JsonObject

_DESCRIBED = 60
"""Maximum number of ordinary instances described per search: each description solves an Att-SVM."""

_FAR = 0.01
"""Ratio of left to right side below which an instance is far from the boundary."""

_RARE = 0.05
"""A search is thin if a smaller share of the drawn instances satisfies some hypothesis."""

_ENOUGH = 20
"""Minimum number of instances for statements about how heights vary."""


@dataclass(slots=True, kw_only=True)
class Counts:
    """The counts of one search of a part.

    Attributes:
        examples: number of ordinary instances that met the hypotheses and were evaluated.
        drawn: number of these that the strategy drew.
        distinct: number of different instances of a formula that met the hypotheses and were
            decided by the judge, from any searcher except explicit instances. Joining searches
            takes the maximum.
        rejected: number of ordinary instances that violated a hypothesis.
        hypotheses: by hypothesis, the number of ordinary instances that satisfy it.
        min_slack, max_slack: smallest and largest float slack; None if there is none.
        tightness: largest ratio of left to right side.
        undecided: number of instances that could not be decided.
        undecided_note: the first reason, with its instance.
        audited: number of instances re-evaluated exactly although floats accepted them.
        decided: number of ordinary instances decided exactly, for a measured conclusion.
        probed: number of instances made by guided searchers and evaluated.
        refused: number of made-up instances that violate a hypothesis or are malformed.
        open: number of made-up instances left undecided although floats see no violation.
        unexamined: number of the open ones that were not evaluated exactly.
        given_up: number of evaluations stopped after too many steps: of records with changed
            integers, lengths or members, and of formulas, for one instance or a batch.
        given_up_note: the first instance or batch for which a formula took too many steps.
        solver_note: the shapes for which a solver found that there is no counterexample, with its
            version and its assumptions.
        screened: number of instances evaluated in batches of floats to select those to examine.
        unjudged: number of screened instances for which floats cannot rule out a violation and
            which were not judged.
        exhausted: for each integer of a formula the smallest and the largest value of the box in
            which every combination was screened.
        inner: the part of that box that earlier turns of a hunt must have screened; else empty.
        settled: the total number of instances if each was evaluated exactly and decided, else 0.
        varied: by variable of a formula, the number of values among drawn instances, up to `MANY`.
        sides: number of different values of the conclusion's sides among drawn instances, at most
            2.
        missed: for a sibling of a formula, by dropped hypothesis: 1 if its counterexample, an
            explicit instance or a plain draw violates the hypothesis, else 0.
        broke: number of made-up instances on which a hypothesis, the conclusion or the certificate
            raised, with a note on the first.
        coverage: the words that describe the first ordinary instances, counted by kind and word.
    """

    examples: int = 0
    drawn: int = 0
    distinct: int = 0
    rejected: int = 0
    hypotheses: dict[str, int] = field(default_factory=dict)
    min_slack: float | None = None
    max_slack: float | None = None
    tightness: float | None = None
    undecided: int = 0
    undecided_note: str = ""
    audited: int = 0
    decided: int = 0
    probed: int = 0
    refused: int = 0
    open: int = 0
    unexamined: int = 0
    given_up: int = 0
    given_up_note: str = ""
    solver_note: str = ""
    screened: int = 0
    unjudged: int = 0
    exhausted: dict[str, list[int]] = field(default_factory=dict)
    inner: dict[str, list[int]] = field(default_factory=dict)
    settled: int = 0
    varied: dict[str, int] = field(default_factory=dict)
    sides: int = 0
    missed: dict[str, int] = field(default_factory=dict)
    broke: int = 0
    broke_note: str = ""
    coverage: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def evaluated(self) -> int:
        """The number of instances evaluated."""
        return self.examples + self.probed

    @property
    def looked(self) -> int:
        """The number of instances handled in any way."""
        each = self.examples, self.rejected, self.probed, self.refused, self.screened, self.broke
        return sum(each)

    @property
    def ordinary(self) -> int:
        """The number of ordinary instances handled."""
        return self.examples + self.rejected

    def add(self, other: Counts) -> None:
        """Add the counts of another search."""
        if other.inner not in ({}, self.exhausted):  # the inner box was not screened
            other.exhausted = {}
        for each in fields(self):
            join = _JOINED.get(each.name, operator.add)
            setattr(self, each.name, join(getattr(self, each.name), getattr(other, each.name)))

    def record(self, slack: float, ratio: float | None) -> None:
        """Record an evaluated slack, and its ratio if there is one."""
        self.min_slack = _least(self.min_slack, slack)
        self.max_slack = _largest(self.max_slack, slack)
        self.tightness = _largest(self.tightness, ratio)

    def describe(self, case: Case) -> None:
        """Count the words that describe an ordinary instance, for the first `_DESCRIBED` ones."""
        if self.examples <= _DESCRIBED:
            for kind, word in describe_instance(case).items():
                counts = self.coverage.setdefault(kind, {})
                counts[word] = counts.get(word, 0) + 1

    def shallow(self) -> JsonObject:
        """Return the counts by name, not copied."""
        return {each.name: getattr(self, each.name) for each in fields(Counts)}


_Value = TypeVar("_Value")


def _first(one: _Value, other: _Value) -> _Value:
    return one or other


def _least(one: float | None, other: float | None) -> float | None:
    return min((x for x in (one, other) if x is not None), default=None)


def _largest(one: float | None, other: float | None) -> float | None:
    return max((x for x in (one, other) if x is not None), default=None)


def _larger(one: dict[str, list[int]], other: dict[str, list[int]]) -> dict[str, list[int]]:
    """Return the larger box of integers; the first one on a tie."""
    return max(one, other, key=box_size)


def box_size(box: Mapping[str, Sequence[int]]) -> int:
    """Return the number of integer points of a box; 0 for an empty one."""
    return math.prod(high - low + 1 for low, high in box.values()) if box else 0


_Join = Callable[[Any, Any], Any]
"""A function that joins two counts of one type; the name of a count determines the type."""


def _by_key(join: _Join) -> _Join:
    """Return a function that joins two dictionaries key by key."""
    return lambda one, other: {
        **one,
        **{key: join(one[key], x) if key in one else x for key, x in other.items()},
    }


_JOINED: dict[str, _Join] = {
    "hypotheses": _by_key(operator.add),
    **dict.fromkeys(("varied", "missed"), _by_key(max)),
    **dict.fromkeys(("max_slack", "tightness", "reading_ratio"), _largest),
    "min_slack": _least,
    **dict.fromkeys(("sides", "settled", "distinct"), max),
    "exhausted": _larger,
    "inner": lambda one, other: {},
    "coverage": _by_key(_by_key(operator.add)),
    **dict.fromkeys(("claim", "part", "refuted", "proof", "linked"), _first),
    **dict.fromkeys(("steps", "unread", "error"), _first),
    **dict.fromkeys(
        ("undecided_note", "broke_note", "given_up_note", "solver_note", "refutes_reading"), _first
    ),
}
"""How to join two counts, by name; counts that are not named here are added."""


@functools.singledispatch
def words(record: object) -> dict[str, str]:
    """Return words that describe a record, by kind; packs register functions for their own types.

    The kind `sizes` replaces the shapes of the arrays.
    """
    return {}


def describe_instance(case: Case) -> dict[str, str]:
    """Return words for an instance, by kind: sizes, equal entries, and those of its first record.

    The first record is the outermost one for which `words` returns any.
    """
    parts = list(_parts(case))
    arrays = [(name, part) for name, part in parts if isinstance(part, np.ndarray)]
    descriptions = next((description for _, part in parts if (description := words(part))), {})
    sizes = " ".join(f"{name}[{'x'.join(map(str, a.shape))}]" for name, a in arrays)
    tied = any(_tied(array) for _, array in arrays)
    return {
        "sizes": sizes or "no array",
        "equal entries": "some" if tied else "none",
        **descriptions,
    }


def _parts(case: Case, name: str = "") -> Iterator[tuple[str, Case]]:
    """Yield the arrays and records of an instance with their field names, outer records first."""
    if isinstance(case, np.ndarray):
        yield name, case
    elif isinstance(case, tuple):
        for k, item in enumerate(case):
            yield from _parts(item, f"{name}{k}")
    elif is_dataclass(case) and not isinstance(case, type):
        yield name, case
        for each in fields(case):
            yield from _parts(getattr(case, each.name), each.name)


def _tied(array: Array) -> bool:
    """Return whether two nonzero entries have the same absolute value."""
    values = np.abs(array[array != 0].ravel())
    return len(np.unique(values)) < len(values)


@dataclass(frozen=True, slots=True)
class Remedies:
    """Remedies against the blind spots of a search.

    Attributes:
        rare: if hardly any instance meets a hypothesis.
        far: if no instance comes near the bound.
        flat: if the slack is the same everywhere.
    """

    rare: str
    far: str
    flat: str


FOR_CLAIMS = Remedies(
    rare="draw more that do",
    far="state a sharp reading, or help the search by an ensemble",
    flat="return a slack that measures how far the conclusion is from failing",
)

FOR_QUESTIONS = Remedies(
    rare="give variables domains in which more do, or compute one of them by `Defined`",
    far="ask for a smaller right side, or give more seconds",
    flat="compare two sides whose difference measures how far the relation is from failing",
)


def warnings_of(
    seen: Counts,
    *,
    remedies: Remedies = FOR_CLAIMS,
    slacks: bool = True,
    growing: bool = False,
    stepped: bool = False,
    undropped: frozenset[str] = frozenset(),
) -> list[str]:
    """Return warnings about a search that refuted nothing, each with its reason and a remedy.

    Args:
        seen: the counts of the search.
        remedies: the remedies, in words for a claim or for a question.
        slacks: whether slacks measure how close an instance is to violation.
        growing: whether the largest ratio still grew in the second half of the search.
        stepped: whether all variables are integers and choices, so that the sides jump.
        undropped: hypotheses that no sibling drops.
    """
    warnings = []
    looked, tightness, least = seen.ordinary, seen.tightness, seen.min_slack
    for name, count in seen.hypotheses.items():
        if looked >= _ENOUGH and count < _RARE * looked:
            warnings.append(f"only {count} of {looked} instances satisfy {name!r}: {remedies.rare}")
        if looked >= _ENOUGH and count == looked and name in undropped:
            warnings.append(
                f"every instance satisfies {name!r} and no sibling drops it, so nothing shows that "
                "it matters: draw instances that violate it, or add a sibling without it"
            )
    far = tightness is not None and tightness < _FAR
    if seen.evaluated >= _ENOUGH and far and stepped:
        warnings.append(
            f"the largest ratio of left to right side is only {tightness:.3g}, which says little "
            "if all variables are integers or choices: the sides jump, so that instances that were "
            "not tried may violate the bound; give more time, a smaller domain, or a proof"
        )
    elif seen.evaluated >= _ENOUGH and far and growing:
        warnings.append(
            f"the largest ratio of left to right side is only {tightness:.3g}, but it still grew "
            "at the end of the search: give more time"
        )
    elif seen.evaluated >= _ENOUGH and far:
        warnings.append(
            f"the largest ratio of left to right side is only {tightness:.3g}: the bound may be "
            "far from sharp, or the search may have missed the instances with a large left side; "
            f"{remedies.far}"
        )
    alike = slacks and tightness is None and least is not None and least == seen.max_slack
    if seen.evaluated >= _ENOUGH and alike:
        warnings.append(
            f"the slack is {least:.3g} on every instance, so that a search has nothing to follow: "
            f"{remedies.flat}"
        )
    return warnings
