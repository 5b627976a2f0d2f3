"""Ordinary searchers: their instances come from the author's own data.

- Explicit instances, and the claim's seeded ensemble. The author writes the generator, so that its
  instances are typical, but larger and more varied than those of the strategy. An instance takes
  one function call.
- Hypothesis draws from the author's strategy. Heights steer the draws towards a violation, and
  Hypothesis shrinks what refutes the claim.
- Enumeration: if a claim has few instances, each of them is decided exactly. This settles claims
  whose variables are choices, and integers between two ends.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from typing import TYPE_CHECKING

import hypothesis
import numpy as np
from hypothesis import Phase
from hypothesis.errors import Unsatisfiable, UnsatisfiedAssumption

from attsvm._types import Case
from attsvm.errors import ClaimError, present
from attsvm.theory.declaration.judge import misses_one
from attsvm.theory.declaration.variables import Choice, Integer
from attsvm.theory.instance import codec
from attsvm.theory.record.curated import STORED, known
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.examining import examine_again, examine_case
from attsvm.theory.run.sampling import DRAWN, ENSEMBLE, EVERY, EXPLICIT, drawing, same_pool
from attsvm.theory.search.scout import Spent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.run.confirm import Refuted
    from attsvm.theory.run.tally import Tally


def ensemble(
    tally: Tally, count: int, generator: np.random.Generator, deadline: float | None = None
) -> Refuted | None:
    """Examine instances of the claim's seeded generator; return the first refutation, or None.

    Args:
        tally: the tally that counts the instances.
        count: maximum number of instances.
        generator: source of all randomness.
        deadline: wall-clock time (`time.time`) at which to stop; None for no limit.
    """
    make = present(tally.claim.ensemble, "the claim's ensemble")
    return _first(tally, (make(generator) for _ in range(count)), ENSEMBLE, deadline)


def explicit(tally: Tally, deadline: float | None = None) -> Refuted | None:
    """Examine the stored counterexample and the examples; return the first refutation, or None."""
    result = _first(tally, known(tally.claim, tally.part.name), STORED, None)
    return result or _first(tally, tally.part.examples, EXPLICIT, deadline)


def _first(
    tally: Tally, cases: Iterable[Case], title: str, deadline: float | None
) -> Refuted | None:
    for case in cases:
        if deadline is not None and time.time() > deadline:
            return None
        result = examine_case(tally, case, title)[1]
        if result:
            return result
    return None


class _FoundError(Exception):
    """An error that tells Hypothesis that an instance refutes the claim, so that it shrinks it."""


class _Broken(BaseException):
    """A carrier of a claim's exception past Hypothesis, which would otherwise shrink it."""

    def __init__(self, problem: BaseException) -> None:
        self.problem = problem


def draw(
    tally: Tally,
    examples: int,
    shrinks: int,
    seed: int,
    deadline: float | None = None,
    looks: int | None = None,
) -> Refuted | None:
    """Return a confirmed refutation among instances that Hypothesis draws and shrinks, or None.

    Only a confirmed refutation counts as a failure for Hypothesis. Exceptions of the claim pass
    through.

    Args:
        tally: the tally that counts the instances.
        examples: number of instances that the strategy draws.
        shrinks: maximum number of examinations while shrinking; with 0 the instance stays as drawn.
        seed: seed of the draws.
        deadline: wall-clock time (`time.time`) at which to stop.
        looks: maximum number of instances, admissible or not. None sets no limit: Hypothesis may
            then try many times `examples` instances if most are rejected.
    """
    last: list[Refuted] = []
    seen: dict[str, tuple[bool, Refuted | None]] = {}
    shrinking, spent, looked = False, 0, 0

    def examined(case: Case) -> tuple[bool, Refuted | None]:
        try:
            if shrinking:
                return examine_again(tally, case, DRAWN, exactly=False)
            return examine_case(tally, case, DRAWN)
        except UnsatisfiedAssumption as problem:
            cause = f"{tally.claim.id} calls `assume` or `reject` while it evaluates an instance"
            remedy = "State a hypothesis, or filter in the strategy."
            raise _Broken(ClaimError(cause, value=str(problem), remedy=remedy)) from problem
        except (Exception, SystemExit) as problem:
            raise _Broken(problem) from problem

    phases = [Phase.generate, Phase.target, *([Phase.shrink] if shrinks else [])]

    @drawing(tally.part.data, seed, examples, *phases)
    def body(case: Case) -> None:
        nonlocal shrinking, spent, looked
        if deadline is not None and time.time() > deadline:
            raise Spent
        key = ""
        if looks is not None and not shrinking:
            if looked >= looks:
                raise Spent
            looked += 1
        try:
            case = frozen(case)
        except ClaimError as problem:
            raise _Broken(problem) from problem
        if shrinking:  # cache answers, and stop exploring when the budget is spent
            key = json.dumps(codec.encode(case), sort_keys=True)
            if key not in seen and spent >= shrinks:
                return
            spent += 1
        if key in seen:
            accepted, result = seen[key]
        else:
            accepted, result = examined(case)
        if key:
            seen[key] = accepted, result
        if result:
            if not shrinking:
                shrinking = True
                seen[json.dumps(codec.encode(case), sort_keys=True)] = True, result
            last.append(result)
            raise _FoundError
        if not accepted:
            hypothesis.reject()
        if not shrinking and tally.best is not None and tally.best[1] is case:
            height = tally.best[0]
            if math.isfinite(height):
                hypothesis.target(height)

    broken: BaseException | None = None
    try:
        with same_pool():
            body()
    except _FoundError:
        return last[-1]
    except _Broken as stop:
        broken = stop.problem
    except (Unsatisfiable, Spent):
        return last[-1] if last else None
    if broken is not None:
        raise broken  # outside Hypothesis, which would replace the context of the exception
    return None


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

    If each is decided or proved to violate a hypothesis, their number is recorded as `settled`.
    """
    formula, number, open_ = tally.part.formula, 0, 0
    # a sibling may have more instances than its reading
    if not listable(formula, tally.claim.cost):
        return None
    names = list(formula.domain)
    for values in itertools.product(*formula.domain.values()):
        if deadline is not None and time.time() > deadline:
            return None
        case = formula.instance(**dict(zip(names, values, strict=True)))
        accepted, result = examine_case(tally, case, EVERY)
        if result:
            return result
        number += 1
        open_ += not accepted and not misses_one(formula, case)
    left = tally.seen.undecided + tally.seen.given_up + open_
    tally.seen.settled = 0 if left else number
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
