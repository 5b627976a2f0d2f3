"""Optimisers from the shelf on heights: differential evolution, CMA-ES and L-BFGS.

They say where to look and decide nothing: what they ask about is proposed like any other instance.
"""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from attsvm._types import Array
from attsvm.errors import present
from attsvm.theory.arithmetic.heights import TOUCHED
from attsvm.theory.search.landscape import (
    WORST,
    Landscape,
    broken,
    landscapes,
    many,
    one_thread,
    relaxed_heights,
)
from attsvm.theory.search.scout import Scout
from attsvm.theory.search.starts import ASKED
from attsvm.theory.search.suspects import PROMISING, Doubts

_REACH = 64.0
"""How far coordinates go in differential evolution, in units of their size."""

_POPULATION, _RUNS, _GENERATIONS = 16, 24, 12
"""Vectors that are evolved at once, landscapes of a turn at most, and generations of each."""

_MUTATION, _CROSSED = (0.2, 0.9), 0.5
"""How far differences of two vectors move a third, and the share of its entries that they move."""

_TENSORS, _LIST, _SINGLY, _SCREENED = 2048, 256, 64, 3
"""Vectors of a batch on tensors, in a list, and one by one; and landscapes of a turn of those."""

_JUDGED = 2
"""Maximum number of records of a batch that are examined since they come closer."""

_SPREAD = 0.5
"""The standard deviation that CMA-ES starts with."""

_STEPS, _CLIMBS = 64, 8
"""Evaluations of a climb by L-BFGS at cost 1, and climbs in one landscape."""

_LONG, _LONGER = 1 / 8, 16
"""The share of climbs that are longer, as narrow valleys ask for, and how many times as long."""

_GRIDS = (52, 10, 4, 1)
"""What a climb arrives at is proposed rounded to multiples of 2^-k."""

_FLAT = 2.0**-40
_TANGENT = math.log(_FLAT) - 1.0
"""From where on a climb sees the logarithm of a height, and below it a straight line."""

_BOX, _HALVINGS = 8.0, 6
"""How far a climb goes, and how closely it is known where it leaves the hypotheses."""


class _Raised(Exception):
    """What a cost raises: scipy takes some of it for its own and tells of another mistake."""


def _evolve(land: Landscape, cost: Callable[..., Any], generations: int, **options: Any) -> None:
    from scipy.optimize import differential_evolution

    def told(positions: Array) -> Any:
        try:
            return cost(positions)
        except (TypeError, ValueError) as error:
            raise _Raised from error

    reach = np.maximum(2.0 * np.abs(land.known).max(axis=0), _REACH)
    try:
        differential_evolution(
            told,
            list(zip(-reach, reach, strict=True)),
            init=land.known,
            maxiter=generations,
            mutation=_MUTATION,
            recombination=_CROSSED,
            tol=0,
            polish=False,
            **options,
        )
    except _Raised as raised:
        error = present(raised.__cause__, "what a cost raises")
        raise error from error.__cause__


def evolution(scout: Scout, generator: np.random.Generator) -> None:
    """Differential evolution (scipy) of instances that are examined one by one."""
    generations = scout.budget // (4 * _POPULATION) + 2
    for land in landscapes(scout, _POPULATION, _RUNS, generator):
        _evolve(land, land.cost, generations, rng=generator)


def batches(scout: Scout, generator: np.random.Generator) -> None:
    """Differential evolution (scipy) of batches of records in floats; the best are examined.

    Hypotheses are decided on the closest of a batch alone: the others do not live on.
    """
    claim = scout.tally.claim
    count = _SINGLY if claim.relaxed is None else max(_TENSORS // claim.cost, _LIST)
    if many(claim) is not None:
        count = _LIST
    for land in landscapes(scout, count, _SCREENED, generator):
        best, asked = -np.inf, ASKED  # the first ones are admissible, if rounding spares that

        def costs(positions: Array, land: Landscape = land) -> Array:
            nonlocal best, asked
            rows = land.rounded(positions.T)
            height, judged = land.heights(rows), 0
            cost = np.full(len(rows), WORST)
            order = np.argsort(-height[:asked], kind="stable")
            asked, doubts = len(rows), Doubts(scout)
            suspected = np.flatnonzero(height >= PROMISING)
            suspected = suspected[np.argsort(-height[suspected], kind="stable")]
            doubts.leave(len(suspected[ASKED:]))
            spread = order[_spread(int(np.sum(height > best)), len(order))]
            for lane in dict.fromkeys([*suspected[:ASKED], *spread]):
                if height[lane] == -np.inf or not land.admits(rows[lane], screened=True):
                    continue
                cost[lane] = 0.0 if height[lane] == TOUCHED else -height[lane]
                closer = judged < _JUDGED and best < height[lane] < PROMISING
                if doubts.wants(height[lane]) or closer:
                    best, judged = max(best, -float(cost[lane])), judged + 1
                    land.look(rows[lane])
            return cost

        whole = {"vectorized": True, "updating": "deferred", "strategy": _generation_wise()}
        _evolve(land, costs, _GENERATIONS, rng=generator, **whole)


def _generation_wise() -> Callable[..., Array]:
    """What scipy proposes by its own strategy (best1bin), for a whole generation at once.

    It shuffles all members of a population anew for each of them, which takes longer than the rest.
    """
    proposed = np.empty((0, 0))

    def propose(member: int, population: Array, rng: np.random.Generator) -> Array:
        nonlocal proposed
        if member == 0:
            count, size = population.shape
            one, other = rng.integers(1, count, count), rng.integers(1, count - 1, count)
            own = np.arange(count)
            first, second = (own + one) % count, (own + other + (other >= one)) % count
            moved = population[0] + rng.uniform(*_MUTATION) * (
                population[first] - population[second]
            )
            crossed = rng.random(population.shape) < _CROSSED
            crossed[own, rng.integers(size, size=count)] = True
            proposed = np.where(crossed, moved, population)
        return np.asarray(proposed[member])

    return propose


def _spread(better: int, count: int) -> Array:
    """Which ranks are held against the hypotheses: the first, and some of all that come closer.

    What floats see closest often lies beyond a hypothesis; the best admissible one is farther down.
    """
    top = np.arange(min(count, ASKED))
    if better <= len(top):
        return top
    half = ASKED // 2
    return np.concatenate([top[:half], np.linspace(half, min(better, count) - 1, half, dtype=int)])


def powell(scout: Scout, generator: np.random.Generator) -> None:
    """Powell's method (scipy): lines along one coordinate after the other, then conjugate ones."""
    from scipy.optimize import minimize

    for land in landscapes(scout, 1, _RUNS, generator):
        k = land.known.shape[1]
        ways = np.diag(generator.choice([-1.0, 1.0], size=k))[generator.permutation(k)]
        options = {"maxfev": max(scout.budget // 2, 64), "xtol": 1e-9, "ftol": 1e-12, "direc": ways}
        minimize(land.cost, land.known[0], method="Powell", options=options)


def cma_is_there() -> bool:
    """Whether the library is installed; does not import it."""
    return importlib.util.find_spec("cma") is not None


def covariance(scout: Scout, generator: np.random.Generator) -> None:
    """CMA-ES (cma) of instances that are examined one by one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from cma import CMAEvolutionStrategy

    def normal(*shape: int) -> Array:
        return generator.standard_normal(shape)

    for land in landscapes(scout, _POPULATION, _RUNS, generator):
        options = {"randn": normal, "seed": math.nan, "verbose": -9, "maxfevals": scout.budget // 2}
        strategy = CMAEvolutionStrategy(land.known[0], _SPREAD, options)
        while not strategy.stop():
            positions = strategy.ask()
            strategy.tell(positions, [land.cost(position) for position in positions])


def gradient(scout: Scout, generator: np.random.Generator) -> None:
    """L-BFGS (scipy) on the conclusion's form for tensors, in coordinates or in their logarithms.

    Gradients know no hypotheses: a climb that leaves them ends where it does so. Logarithms reach
    what is far from entries of one size, from starts that are spread by factors.
    """
    steps = max(_STEPS // math.isqrt(scout.tally.claim.cost), 16)
    for land in landscapes(scout, _CLIMBS, _RUNS, generator):
        for k, start in enumerate(_ordered(land)):
            in_logarithms = k % 2 == 1
            if in_logarithms:
                spread = 2.0 ** generator.integers(-3, 3)
                start = start * np.exp(spread * generator.normal(size=len(start)))
            longer = _LONGER if generator.random() < _LONG else 1
            _climb(land, start, longer * steps, in_logarithms=in_logarithms)


def _climb(land: Landscape, start: Array, steps: int, *, in_logarithms: bool) -> None:
    """Climb from a start, and look at the end; in logarithms signs and zeros stay as they are."""
    from scipy.optimize import minimize

    def place(way: Array) -> Array:
        return start * np.exp(way) if in_logarithms else start + way

    def cost(way: Array) -> tuple[float, Array]:
        value, slope = _cost_and_slope(land, place(way))
        return value, slope * place(way) if in_logarithms else slope

    way = minimize(
        cost,
        np.zeros_like(start),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_BOX, _BOX)] * len(start),
        options={"maxfun": steps},
    ).x
    inside, outside = 0.0, 1.0
    if land.admits(land.entries(place(way))):
        inside = 1.0
    for _ in range(_HALVINGS if inside < 1.0 else 0):
        share = (inside + outside) / 2
        if land.admits(land.entries(place(share * way))):
            inside = share
        else:
            outside = share
    for bits in _GRIDS:
        land.look(_near(land.entries(place(inside * way)), bits))


def _near(entries: Array, bits: int) -> Array:
    """Entries rounded to multiples of 2^-bits."""
    with np.errstate(over="ignore"):
        return np.ldexp(np.round(np.ldexp(entries, bits)), -bits)


def _ordered(land: Landscape) -> Array:
    """The known positions where the conclusion on tensors is a number, the closest first."""
    with np.errstate(all="ignore"), one_thread() as torch:
        rows = torch.tensor(land.entries(land.known))
        values = relaxed_heights(torch, land.scout.tally, land.frame, rows).detach().double()
    if not values.isfinite().any():
        raise broken(land.scout.tally, "is no number on any instance", values.tolist()[:4])
    found = values.numpy()
    order = np.argsort(-found, kind="stable")
    return np.asarray(land.known[order[np.isfinite(found[order])]])


def _cost_and_slope(land: Landscape, position: Array) -> tuple[float, Array]:
    """Minus what grows with the height on tensors, and its gradient; none where it is no number."""
    land.scout.ensure_time()
    with np.errstate(all="ignore"), one_thread() as torch:
        x = torch.tensor(land.entries(position)[None]).requires_grad_()
        value = relaxed_heights(torch, land.scout.tally, land.frame, x).sum()
        if not value.isfinite():
            return WORST, np.zeros(len(position))
        # a ratio of the sides far below 1 is flat, its logarithm is not
        value = torch.where(value > _FLAT, value.clamp(min=_FLAT).log(), value / _FLAT + _TANGENT)
        slope = torch.zeros_like(x)
        if value.requires_grad:
            (found,) = torch.autograd.grad(value, x, allow_unused=True)
            slope = slope if found is None else found.nan_to_num(0.0, 0.0, 0.0)
    weights = slope[0].double().numpy() * land.size
    return -float(value.detach()), -np.bincount(land.coordinate, weights, len(position))
