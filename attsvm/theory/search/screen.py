"""Screening: batches of many instances in floats, of which the closest few go to the judge.

Each round fills a batch of one shape, keeps the closest instances and moves them: by differences of
others (differential evolution), by powers of two in single entries, by ties and signs. Floats
propose; what they rank first is judged from its exact values.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Array
from attsvm.errors import ClaimError
from attsvm.theory.declaration.variables import Fitted, Integer
from attsvm.theory.run.judge import glance
from attsvm.theory.search.frame import Frame
from attsvm.theory.search.gradient import alike, one_thread, relaxed_heights, started

if TYPE_CHECKING:
    from attsvm.theory.declaration.claim import Claim
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

_BATCH = 4096
"""Instances that are screened at once."""

_KEPT = 256
"""How many of them, the closest, live on."""

_GENERATIONS = 20
"""How often a batch is renewed from its closest instances."""

_JUDGED = 2
"""How many of each generation go to the judge at most."""

_RUNGS, _CLIMB = 12, 6
"""Doublings of a size at most, and generations of each."""

_LARGEST, _NUMBERS = 2**12, 2**18
"""Numbers in an instance at most, and in a batch of large ones: what a turn can evaluate."""

_RECORDS, _FEWEST_RECORDS = 4096, 1024
"""Records that are screened at once, for a claim of cost 1 and at any."""

_RECORD_GENERATIONS, _FRAMES = 12, 2
"""How often they are renewed, and how many frames a turn has."""

_PARENTS, _ASKED = 48, 48
"""Records that live on, and those of a generation whose hypotheses are decided, at most."""

_SINGLY, _MOST, _CHEAP = 48, 4096, 8
"""Where the conclusion has no form for tensors: records of a turn as a multiple of its budget, and
at most. They are evaluated one by one, for claims of this cost at most."""

_RUNS = 256
"""Records of a generation where lists of them are evaluated at once."""

_PROMISING = 1.0 - 1e-9
"""Heights from here on may be violations that rounding hides."""


def screen(scout: Scout, generator: np.random.Generator) -> None:
    """Screen batches of shapes of all sizes until the budget is spent, or for some rounds."""
    formula = scout.tally.part.formula
    for _ in range(2 + scout.budget // 20):
        shape = {name: _length(formula.variables[name], generator) for name in formula.axes}
        _evolve(scout, formula, formula.filled(generator, shape, _BATCH), shape, generator)


def sizes(scout: Scout, generator: np.random.Generator) -> None:
    """Screen lengths and counts beyond those that are drawn.

    A turn takes one of them, or all together, to twice what was drawn, then four times, and so on,
    up to instances of thousands of numbers.
    """
    formula = scout.tally.part.formula
    free = list(grows(formula))
    chosen = [free, *([name] for name in free)][int(generator.integers(1 + len(free)))]
    for rung in range(1, _RUNGS):
        shape = {name: _length(formula.variables[name], generator) for name in formula.axes}
        shape |= {name: _beyond(formula, name, rung, generator) for name in chosen if name in shape}
        small = formula.filled(generator, shape, 8)
        numbers = sum(value.size // 8 for value in small.values() if isinstance(value, np.ndarray))
        if numbers > _LARGEST:
            return
        batch = 8 * max(min(_NUMBERS // (8 * max(numbers, 1)), _BATCH // 8), 1)
        raw = formula.filled(generator, shape, batch)
        raw |= {name: _beyond(formula, name, rung, generator) for name in chosen if name in raw}
        _evolve(scout, formula, raw, shape, generator, batch=batch, generations=_CLIMB)


def grows(formula: Formula) -> Iterator[str]:
    """The lengths and counts of which larger ones than those that are drawn are instances too."""
    for name, variable in formula.variables.items():
        if not isinstance(variable, Integer) or variable.low == variable.high:
            continue
        if name in formula.axes or variable.beyond:
            yield name


def _beyond(formula: Formula, name: str, rung: int, generator: np.random.Generator) -> int:
    """A value up to 2^rung times the largest that is drawn, and above half of that."""
    high: int = formula.variables[name].high  # type: ignore[attr-defined]
    return int(generator.integers((high << rung) // 2 + 1, (high << rung) + 1))


def _length(variable: Any, generator: np.random.Generator) -> int:
    """A length of an axis, the shorter ones more often."""
    two = generator.integers(variable.low, variable.high + 1, size=2)
    return int(two.min()) if generator.random() < 0.5 else int(two[0])


def _evolve(
    scout: Scout,
    formula: Formula,
    raw: dict[str, Any],
    shape: dict[str, int],
    generator: np.random.Generator,
    batch: int = _BATCH,
    generations: int = _GENERATIONS,
) -> None:
    parameters = scout.tally.part.parameters
    raw = _spread(formula, raw, shape, parameters, generator, batch)
    if not any(isinstance(value, np.ndarray) for value in raw.values()):  # all lanes are alike
        scout.tally.seen.screened += 1
        scout.look(formula.instance_at(raw, 0))
        return
    best, known = -np.inf, 0
    for _ in range(generations):
        scout.ensure_time()
        fitted = formula.fit(raw, shape)
        height = formula.screened(fitted, shape, batch, parameters)
        scout.tally.seen.screened += batch - known
        order = _closest(height)
        for lane in order[:_JUDGED]:
            new = height[lane] > best or height[lane] >= _PROMISING
            if np.isfinite(height[lane]) and new and _usable(fitted, lane):
                scout.look(formula.instance_at(fitted, int(lane)))
        if not len(order):
            return
        best = max(best, float(height[order[0]]))
        raw, known = _renewed(formula, raw, order, shape, generator), len(order)


def _spread(
    formula: Formula,
    raw: dict[str, Any],
    shape: dict[str, int],
    parameters: Mapping[str, Any],
    generator: np.random.Generator,
    batch: int,
) -> dict[str, Any]:
    """The batch with an integer of its own for each instance, where the formula takes that.

    One that counts with an integer, as in `range(k)`, has one for the whole batch: of a lane of
    integers that is a TypeError, to look one up a LookupError, to call a method of int an
    AttributeError, and mixing it with floats a ClaimError. Other errors are faults of the formula.
    """
    numbers = {
        name: variable.spread(generator, batch)
        for name, variable in formula.variables.items()
        if isinstance(variable, Integer) and name in raw
    }
    if not numbers:
        return raw
    try:
        formula.screened(formula.fit({**raw, **numbers}, shape), shape, batch, parameters)
    except (TypeError, LookupError, AttributeError, ClaimError):
        return raw
    return {**raw, **numbers}


def _closest(height: Array) -> Array:
    """The lanes that live on, the closest first; none that meets no hypothesis."""
    kept = min(_KEPT, len(height) // 2)
    top = np.argpartition(-height, kept)[:kept]
    top = top[np.lexsort((top, -height[top]))]
    return np.asarray(top[height[top] > -np.inf])


def batches(scout: Scout, generator: np.random.Generator) -> None:
    """Screen records: rows of one frame after the other are moved and evaluated.

    They are evaluated on tensors, or one by one where the conclusion has no such form.
    """
    for documents in itertools.islice(itertools.cycle(alike(scout, generator)), _FRAMES):
        _evolve_rows(scout, Frame.of(documents[0]), documents, generator)


def screens(claim: Claim) -> bool:
    """Whether batches of records of the claim are screened."""
    if claim.formula.batches:
        return False
    return claim.relaxed is not None or claim.cost <= _CHEAP or _many(claim) is not None


def _many(claim: Claim) -> Any:
    """The form of the conclusion for lists of records, if it has one."""
    return getattr(claim.formula.measured, "many", None)


def _heights(scout: Scout, frame: Frame, rows: Array) -> Array:
    """How close each row comes to violation; NaN where that cannot be evaluated."""
    tally = scout.tally
    if tally.claim.relaxed is not None:
        with np.errstate(all="ignore"), one_thread() as torch, torch.no_grad():
            x = torch.tensor(np.ascontiguousarray(rows))
            return np.asarray(relaxed_heights(torch, tally, frame, x).double().numpy())
    height = np.full(len(rows), np.nan)
    formula, parameters = tally.part.formula, tally.part.parameters
    made = enumerate(frame.records(tally.claim.instance_type, rows))
    with np.errstate(all="ignore"):
        if many := _many(tally.claim):
            cases = {k: case for k, case in made if case is not None}
            height[list(cases)] = many(list(cases.values()), **{**formula.constants, **parameters})
            return height
        for k, case in made:
            scout.ensure_time()
            if case is not None:
                with contextlib.suppress(Exception):  # it may not meet the hypotheses
                    height[k] = glance(formula, parameters, case)
    return height


def _evolve_rows(
    scout: Scout, frame: Frame, documents: list[Any], generator: np.random.Generator
) -> None:
    """Generations of one frame; hypotheses are decided on the closest rows alone.

    A child moves in one field of its parent, or in all; fields whose moves lead out of the
    hypotheses are moved less and less.
    """
    batch, looked = max(_RECORDS // scout.tally.claim.cost, _FEWEST_RECORDS), _ASKED
    if _many(scout.tally.claim) is not None:
        batch = _RUNS
    elif scout.tally.claim.relaxed is None:
        each = min(_SINGLY * scout.budget, _MOST) // (_RECORD_GENERATIONS * _FRAMES)
        batch, looked = 8 * max(each // 8, 4), max(each // 16, 4)
    admits, start = started(scout, frame, documents, looked, generator)
    if start is None:
        return
    rows, group, free = start.rows.T, start.group.T, start.size.T > 0
    trust, best = np.ones(len(frame.fields) + 1), -np.inf
    for _ in range(_RECORD_GENERATIONS):
        family = generator.integers(0, rows.shape[1], (3, batch))
        family[0, : rows.shape[1]] = np.arange(rows.shape[1])
        field = generator.choice(len(trust), batch, p=trust / trust.sum())
        child = rows[:, family[0]]
        with np.errstate(all="ignore"):
            for k, part in enumerate(frame.fields):
                here = np.flatnonzero((field == k) | (field == len(frame.fields)))
                if part.stop > part.start:
                    here = here[generator.permutation(len(here))]  # every move in every field
                    moved = _children(rows[part], family[:, here], generator)
                    last = 7 * (len(here) // 8)  # those that stayed
                    moved[:, last:] = _rounded(moved[:, last:], generator)
                    child[part, here] = moved
        child = np.where(free[:, family[0]], child, rows[:, family[0]])
        child = np.take_along_axis(child, group[:, family[0]], axis=0)
        child[:, : rows.shape[1]] = rows
        height = _heights(scout, frame, child.T)
        height = np.where(np.isfinite(child).all(axis=0) & ~np.isnan(height), height, -np.inf)
        scout.tally.seen.screened += int((height[rows.shape[1] :] > -np.inf).sum())
        live: list[int] = []
        asked = judged = 0
        for lane in np.argsort(-height, kind="stable").tolist():
            if len(live) == looked or height[lane] == -np.inf:
                break
            old, admitted = lane < rows.shape[1], True
            if asked == looked and not old:
                continue
            if not old:
                asked, admitted = asked + 1, admits(child[:, lane])
                trust[field[lane]] *= 1.1 if admitted else 0.9
            if admitted:
                live.append(lane)
            near = height[lane] >= _PROMISING and judged < _JUDGED
            if admitted and not old and (near or height[lane] > best):
                best, judged = max(best, float(height[lane])), judged + 1
                scout.look_at(frame.filled(child[:, lane]))
        trust = np.clip(trust, 0.05, 5.0)
        if live:
            rows, group, free = child[:, live], group[:, family[0, live]], free[:, family[0, live]]


def _usable(raw: dict[str, Any], lane: int) -> bool:
    return all(
        np.isfinite(value[..., lane]).all()
        for value in raw.values()
        if isinstance(value, np.ndarray)
    )


def _renewed(
    formula: Formula,
    raw: dict[str, Any],
    parents: Array,
    shape: dict[str, int],
    generator: np.random.Generator,
) -> dict[str, Any]:
    """The next batch: the parents, their children, and an eighth of new instances."""
    batch = max(len(value.T) for value in raw.values() if isinstance(value, np.ndarray))
    fresh = formula.filled(generator, shape, batch // 8)
    family = parents[generator.integers(0, len(parents), (3, batch))]
    family[0, : len(parents)] = parents
    renewed: dict[str, Any] = {}
    for name, value in raw.items():
        variable = formula.variables[name]
        if not isinstance(value, np.ndarray):
            renewed[name] = value  # one for the whole batch
            continue
        if isinstance(variable, Integer):
            fresh[name] = variable.spread(generator, batch // 8)
        new, flat = fresh[name].reshape(-1, batch // 8), value.reshape(-1, batch)
        if isinstance(variable, Fitted) or variable.listed:
            child = flat[:, family[0]]
            some = np.flatnonzero(generator.random(batch) < 0.2)
            child[:, some] = new[:, generator.integers(0, batch // 8, len(some))]
        else:
            with np.errstate(all="ignore"):
                child = _children(flat, family, generator)
        if isinstance(variable, Integer):
            child = variable.inside(child + generator.integers(-1, 2, size=child.shape))
        child[:, -new.shape[1] :] = new
        entry, lanes = np.nonzero(~np.isfinite(child))
        child[entry, lanes] = flat[entry, family[0, lanes]]
        child[:, : len(parents)] = flat[:, parents]
        renewed[name] = child.reshape(value.shape)
    return renewed


def _children(flat: Array, family: Array, generator: np.random.Generator) -> Array:
    """Moves of each lane of an array (size, batch), an eighth of the batch by each in turn.

    Two eighths move by differences of others, three in one entry, one as a whole, one crosses with
    another, and one stays.
    """
    size, eighth = len(flat), family.shape[1] // 8
    child = flat[:, family[0]]
    moved = child[:, : 2 * eighth]
    factor = generator.integers(1, 5, size=2 * eighth) / 4
    second, third = (flat[:, lanes[: 2 * eighth]] for lanes in family[1:])
    moved += factor * (second - third)
    single = child[:, 2 * eighth : 5 * eighth]
    lanes = np.arange(3 * eighth)
    step = generator.choice([-1.0, 1.0], size=len(lanes))
    step = np.ldexp(step, -generator.integers(0, 24, size=len(lanes)))
    step *= generator.random(len(lanes)) < 0.75  # else the array stays, and others move alone
    largest = np.abs(single).max(axis=0)
    entry = generator.integers(0, size, size=len(lanes))
    single[entry, lanes] += step * np.where(largest > 0.0, largest, 1.0)
    whole = child[:, 5 * eighth : 6 * eighth]
    sign = np.where(generator.random(eighth) < 0.3, -1.0, 1.0)
    whole *= np.where(sign < 0.0, -1.0, np.exp2(generator.integers(-3, 4, size=eighth)))
    crossed = child[:, 6 * eighth : 7 * eighth]
    taken = generator.random(crossed.shape, dtype=np.float32) < 0.5
    np.copyto(crossed, flat[:, family[1, 6 * eighth : 7 * eighth]], where=taken)
    return child


def _rounded(values: Array, generator: np.random.Generator) -> Array:
    """Arrays (size, batch) rounded to one to seven bits of their largest entries."""
    largest = np.abs(values).max(axis=0)
    unit = np.exp2(np.frexp(largest)[1] - generator.integers(1, 8, size=len(largest)))
    return np.asarray(np.round(values / unit) * unit)
