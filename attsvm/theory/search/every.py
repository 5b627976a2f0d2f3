"""Enumeration: if a claim has few instances, each of them is decided exactly.

This settles claims whose variables are choices, and integers between two ends.
"""

from __future__ import annotations

import itertools
import math
import time
from typing import TYPE_CHECKING

from attsvm._types import Case
from attsvm.theory.declaration.judge import misses_one
from attsvm.theory.declaration.variables import Choice, Integer
from attsvm.theory.run.ordinary import examine_case
from attsvm.theory.run.sampling import EVERY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.run.confirm import Refuted
    from attsvm.theory.run.tally import Tally

EVERY_AT_MOST = 2**14
"""Maximum number of instances of a claim of cost 1 that a hunt enumerates."""

_LOOKED = 8
"""Maximum number of instances that `fill_up` looks at, as a multiple of the wanted number."""

_UNBOUNDED = 2**16
"""Number of values of an integer without an upper end that are enumerated."""


def listable(formula: Formula, cost: int) -> bool:
    """Return whether a formula has so few instances that a hunt can examine all of them."""
    sides = [
        values.stop - values.start if isinstance(values, range) else len(values)
        for values in formula.domain.values()
    ]
    return bool(sides) and math.prod(sides) <= EVERY_AT_MOST // cost


def every(tally: Tally, deadline: float | None) -> Refuted | None:
    """Examine all instances if there are few; return the first refutation, or None.

    If all are decided, their number is recorded as `settled`.
    """
    formula, number = tally.part.formula, 0
    # a sibling may have more instances than its reading
    if not listable(formula, tally.claim.cost):
        return None
    names = list(formula.domain)
    for values in itertools.product(*formula.domain.values()):
        if deadline is not None and time.time() > deadline:
            return None
        case = formula.instance(**dict(zip(names, values, strict=True)))
        result = examine_case(tally, case, EVERY)[1]
        if result:
            return result
        number += 1
    tally.seen.settled = number if tally.seen.undecided == 0 else 0
    return None


def fill_up(tally: Tally, wanted: int) -> Refuted | None:
    """Examine integers and choices in order until `wanted` different instances are accepted.

    Return the first refutation, or None.

    A strategy for integers of a short range has few instances. If all of them are examined, and
    each is decided or proved to violate a hypothesis, their number is recorded as `settled`.
    """
    formula = tally.part.formula
    if formula.axes or not formula.stepped or tally.seen.examples >= wanted:
        return None
    looked, open_ = 0, 0
    for case in _in_order(formula):
        if looked >= _LOOKED * wanted or tally.seen.examples >= wanted:
            return None
        looked += 1
        if not tally.knows(case):
            accepted, result = examine_case(tally, case, EVERY)
            if result:
                return result
            open_ += not accepted and not misses_one(formula, case)
    left = tally.seen.undecided + tally.seen.given_up + open_
    tally.seen.settled = looked if formula.domain and not left else 0
    return None


def _in_order(formula: Formula) -> Iterator[Case]:
    """Yield the instances of integers and choices, starting near the lower ends."""
    values: dict[str, Sequence[object]] = {}
    for name, variable in formula.variables.items():
        low, high = variable.ends
        if isinstance(variable, Choice):
            values[name] = list(variable.members)
        elif isinstance(variable, Integer):
            end = (low or 0) + _UNBOUNDED if high is None else high + 1
            values[name] = range(low or 0, end)
    for reach in range(max(map(len, values.values()))):
        ranges = [range(min(len(each), reach + 1)) for each in values.values()]
        for places in itertools.product(*ranges):
            if max(places) == reach:
                chosen = zip(values.items(), places, strict=True)
                yield formula.instance(**{name: each[k] for (name, each), k in chosen})
