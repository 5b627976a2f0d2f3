"""Coverage: which part of the instance space a search saw, and what made it blind or thin.

An instance is described by a few words: its sizes, whether entries are equal, and what `words`
says of the records in it. Counting the words shows what was looked at, and what never was.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from attsvm._types import Case, JsonObject

_DESCRIBED = 60
"""How many ordinary instances of a search are described; an Att-SVM is solved for each."""

_FAR = 0.01
"""A largest ratio of left to right side below this is far from the boundary."""

_RARE = 0.05
"""A hypothesis that fewer of the drawn instances satisfy makes a search thin."""

_ENOUGH = 20
"""Instances below which nothing is said about how heights vary."""


@dataclass(slots=True, kw_only=True)
class Counts:
    """What was seen of the instances that a search looked at.

    Attributes:
        examples: ordinary instances that met the hypotheses and were evaluated.
        drawn: those among them that the strategy drew.
        distinct: different instances of a formula that met the hypotheses and that the judge
            decided, from any searcher; explicit instances are not counted. If several searches are
            joined, the largest of their numbers.
        rejected: ordinary instances that did not meet them.
        hypotheses: how many ordinary instances satisfied each.
        min_slack, max_slack: least and largest float slack, None where there was none.
        tightness: largest ratio of left to right side.
        undecided: instances that could be settled neither way, with the first reason.
        audited: instances re-evaluated exactly although floats found no fault.
        decided: ordinary instances that exact evaluation decided, of a conclusion that is measured.
        probed: instances that guided searchers made up and that were evaluated.
        refused: those that did not meet the hypotheses, or are no instances at all.
        open: those that were left open though floats see no violation in them.
        unexamined: those among them that exact evaluation was not asked about.
        given_up: number of evaluations that took too many steps and were ended: of records with
            other integers, lengths or members, and of formulas, for one instance or a batch.
        given_up_note: the first instance or batch for which a formula took too many steps.
        screened: instances that were evaluated in batches of floats, to choose what is examined.
        unjudged: instances among them in which floats cannot rule out a violation, and which were
            not judged.
        exhausted: for each integer of a formula the least and the largest of those that were
            screened in every choice together.
        settled: how many instances there are at all, where each of them was evaluated exactly and
            none left undecided; else 0.
        varied: how many values each variable of a formula took among instances that were drawn,
            as far as `MANY`.
        sides: how many different sides of the conclusion of a formula were seen among these, 2
            for more.
        missed: of a sibling of a formula, for each hypothesis that it drops, 1 if its
            counterexample, an explicit instance or a plain draw violates it, else 0.
        broke: made-up instances on which a hypothesis, the conclusion or what confirms a violation
            raised, with the first of them and who proposed it.
        coverage: what the first ordinary instances were like, counted by kind and word.
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
    screened: int = 0
    unjudged: int = 0
    exhausted: dict[str, list[int]] = field(default_factory=dict)
    settled: int = 0
    varied: dict[str, int] = field(default_factory=dict)
    sides: int = 0
    missed: dict[str, int] = field(default_factory=dict)
    broke: int = 0
    broke_note: str = ""
    coverage: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def evaluated(self) -> int:
        """All instances that were evaluated."""
        return self.examples + self.probed

    @property
    def looked(self) -> int:
        """All instances that were looked at in any way."""
        each = self.examples, self.rejected, self.probed, self.refused, self.screened, self.broke
        return sum(each)

    @property
    def ordinary(self) -> int:
        """The ordinary instances that were looked at."""
        return self.examples + self.rejected

    def add(self, other: Counts) -> None:
        """Count what another search saw as well."""
        for each in fields(self):
            join = _JOINED.get(each.name, operator.add)
            setattr(self, each.name, join(getattr(self, each.name), getattr(other, each.name)))

    def record(self, slack: float, ratio: float | None) -> None:
        """Take in a slack that was evaluated, with its ratio where it has one."""
        self.min_slack = _least(self.min_slack, slack)
        self.max_slack = _largest(self.max_slack, slack)
        self.tightness = _largest(self.tightness, ratio)

    def describe(self, case: Case) -> None:
        """Describe an ordinary instance, unless enough were."""
        if self.examples <= _DESCRIBED:
            for kind, word in describe_instance(case).items():
                told = self.coverage.setdefault(kind, {})
                told[word] = told.get(word, 0) + 1

    def shallow(self) -> JsonObject:
        """The counts by their names, as they are."""
        return {each.name: getattr(self, each.name) for each in fields(Counts)}


def _first(one: Any, other: Any) -> Any:
    return one or other


def _least(one: float | None, other: float | None) -> float | None:
    return min((x for x in (one, other) if x is not None), default=None)


def _largest(one: float | None, other: float | None) -> float | None:
    return max((x for x in (one, other) if x is not None), default=None)


def _larger(one: dict[str, list[int]], other: dict[str, list[int]]) -> dict[str, list[int]]:
    """The box of integers that holds more, the first of two alike."""
    return max(one, other, key=box_size)


def box_size(box: Mapping[str, Sequence[int]]) -> int:
    """How many choices a box of integers holds, 0 where there is none."""
    return math.prod(high - low + 1 for low, high in box.values()) if box else 0


def _by_key(join: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Dictionaries joined key by key."""
    return lambda one, other: {
        **one,
        **{key: join(one[key], x) if key in one else x for key, x in other.items()},
    }


_JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "hypotheses": _by_key(operator.add),
    **dict.fromkeys(("varied", "missed"), _by_key(max)),
    **dict.fromkeys(("max_slack", "tightness", "reading_ratio"), _largest),
    "min_slack": _least,
    **dict.fromkeys(("sides", "settled", "distinct"), max),
    "exhausted": _larger,
    "coverage": _by_key(_by_key(operator.add)),
    **dict.fromkeys(("claim", "part", "refuted", "proof", "steps", "unread", "error"), _first),
    **dict.fromkeys(("undecided_note", "broke_note", "given_up_note", "refutes_reading"), _first),
}
"""How two counts become one where they do not add up."""


@functools.singledispatch
def words(record: object) -> dict[str, str]:
    """What a record is like, by kind; packs register functions for types of their own.

    `sizes` takes the place of the shapes of the arrays.
    """
    return {}


def describe_instance(case: Case) -> dict[str, str]:
    """An instance in words, by kind: sizes, equal entries, and what its first record says."""
    parts = list(_parts(case))
    arrays = [(name, part) for name, part in parts if isinstance(part, np.ndarray)]
    told = next((said for _, part in parts if (said := words(part))), {})
    sizes = " ".join(f"{name}[{'x'.join(map(str, a.shape))}]" for name, a in arrays)
    tied = any(_tied(array) for _, array in arrays)
    return {"sizes": sizes or "no array", "equal entries": "some" if tied else "none", **told}


def _parts(case: Case, name: str = "") -> Iterator[tuple[str, Any]]:
    """Arrays and records of an instance with the names of their fields, outer ones first."""
    if isinstance(case, np.ndarray):
        yield name, case
    elif isinstance(case, tuple):
        for k, item in enumerate(case):
            yield from _parts(item, f"{name}{k}")
    elif is_dataclass(case) and not isinstance(case, type):
        yield name, case
        for each in fields(case):
            yield from _parts(getattr(case, each.name), each.name)


def _tied(array: np.ndarray[Any, Any]) -> bool:
    """Whether two entries other than 0 are equal in size."""
    values = np.abs(array[array != 0].ravel())
    return len(np.unique(values)) < len(values)


def warnings_of(
    seen: Counts,
    *,
    slacks: bool = True,
    growing: bool = False,
    stepped: bool = False,
    undropped: frozenset[str] = frozenset(),
) -> list[str]:
    """What a search that refuted nothing was blind to, a sentence with its remedy each.

    Args:
        seen: what it saw.
        slacks: whether slacks tell how near an instance is to violation.
        growing: whether the largest ratio still grew in the second half of the search.
        stepped: whether all variables are integers and choices, so that sides go by jumps.
        undropped: hypotheses that no sibling drops.
    """
    said = []
    looked, tightness, least = seen.ordinary, seen.tightness, seen.min_slack
    for name, count in seen.hypotheses.items():
        if looked >= _ENOUGH and count < _RARE * looked:
            said.append(
                f"only {count} of {looked} instances satisfy {name!r}: draw instances that do"
            )
        if looked >= _ENOUGH and count == looked and name in undropped:
            said.append(
                f"every instance satisfies {name!r} and no sibling drops it, so nothing shows that "
                "it matters: draw instances that violate it, or add a sibling without it"
            )
    far = tightness is not None and tightness < _FAR
    if seen.evaluated >= _ENOUGH and far and stepped:
        said.append(
            f"nothing came nearer to the bound than {tightness:.3g} of it, which says little where "
            "all variables are integers or choices: the sides go by jumps, and what was not looked "
            "at may violate it; give more time, a smaller domain, or a proof"
        )
    elif seen.evaluated >= _ENOUGH and far and growing:
        said.append(
            f"nothing came nearer to the bound than {tightness:.3g} of it, but that still grew: "
            "give more time"
        )
    elif seen.evaluated >= _ENOUGH and far:
        said.append(
            f"nothing came nearer to the bound than {tightness:.3g} of it, which says little: the "
            "bound may be far above what there is, or the left side may be large only where nobody "
            "looked; state a sharp reading, or give the search a way there (an ensemble, or a form "
            "for tensors)"
        )
    alike = slacks and tightness is None and least is not None and least == seen.max_slack
    if seen.evaluated >= _ENOUGH and alike:
        said.append(
            f"the slack is {least:.3g} on every instance, so no search can tell near from far: "
            "return how far the conclusion is from failing"
        )
    return said
