"""The searchers: each proposes instances of a claim and learns how close they come to violation.

Ordinary searchers draw instances as the claim's author meant them: explicit ones, the seeded
ensemble, Hypothesis. Guided ones start from the pool of what is known, or fill their own batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Json
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance.document import finite_leaves, integer_leaves
from attsvm.theory.run.pool import Elite, Pool
from attsvm.theory.run.sampling import DRAWN, ENSEMBLE, EVERY, EXPLICIT
from attsvm.theory.search.drawn import draw
from attsvm.theory.search.enumeration import counts, integers
from attsvm.theory.search.families import families
from attsvm.theory.search.gpu import gpu_is_there, runs_there, screen_on_gpu
from attsvm.theory.search.grid import grid
from attsvm.theory.search.landscape import screens, torch_is_there
from attsvm.theory.search.optimise import (
    batches,
    cma_is_there,
    covariance,
    evolution,
    gradient,
    powell,
)
from attsvm.theory.search.relatives import relatives
from attsvm.theory.search.scout import Found, Scout, Spent, Stop
from attsvm.theory.search.screen import screen
from attsvm.theory.search.shrink import Polished, shrink
from attsvm.theory.search.sizes import grows, sizes
from attsvm.theory.search.worsen import worsen

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula

__all__ = [
    "DRAWING",
    "DRAWN",
    "ENSEMBLE",
    "EVERY",
    "EXPLICIT",
    "GUIDED",
    "NEEDS",
    "Elite",
    "Found",
    "Guided",
    "Polished",
    "Pool",
    "Scout",
    "Spent",
    "Stop",
    "draw",
    "fits",
    "listable",
    "shrink",
    "worsen",
]


def has_floats(document: Json) -> bool:
    """Whether an encoded instance has finite floats."""
    return bool(finite_leaves(document))


def has_numbers(document: Json) -> bool:
    """Whether an encoded instance has finite floats or integers."""
    return has_floats(document) or bool(integer_leaves(document))


@dataclass(frozen=True, slots=True)
class Guided:
    """A searcher that starts from the pool.

    Attributes:
        title: what it is called in reports.
        search: proposes to a scout until that stops it, or it has no more to propose.
        share: its part of the budget for guided searchers in a check.
        fits: whether it can work on a claim.
        there: whether what it needs is installed.
        without: profiles that do without it: no quick check waits for a large library, or for
            what the others find as well in so few instances.
        missed: whether an account says that it is not there, where nobody asked for it.
        moves: whether it can move anything of an encoded instance.
        weight: how many times as long as a turn of others one of its turns takes, roughly.
    """

    title: str
    search: Callable[[Scout, np.random.Generator], None]
    share: float
    fits: Callable[[Claim], bool] = lambda claim: True
    there: Callable[[], bool] = lambda: True
    without: tuple[str, ...] = ()
    missed: bool = True
    moves: Callable[[Any], bool] = lambda document: True
    weight: int = 1

    def works_on(self, claim: Claim) -> bool:
        """Whether it fits and is there."""
        return self.fits(claim) and self.there()


GUIDED: dict[str, Guided] = {
    "screen": Guided(
        "screening in batches",
        screen,
        0.2,
        fits=lambda claim: claim.formula.batches,
    ),
    "gpu": Guided(
        "screening on a GPU",
        screen_on_gpu,
        0.2,
        fits=runs_there,
        there=gpu_is_there,
        without=("quick", "deep"),  # what a run checks is the same on every machine
        missed=False,
    ),
    "sizes": Guided(
        "sizes beyond the drawn ones",
        sizes,
        0.2,
        fits=lambda claim: not claim.formula.batches or any(grows(claim.formula)),
        weight=3,
    ),
    "integers": Guided(
        "integer enumeration",
        integers,
        0.1,
        fits=lambda claim: not claim.formula.batches or counts(claim.formula),
        moves=lambda document: bool(integer_leaves(document)),
    ),
    "relatives": Guided("relatives", relatives, 0.18),
    "grid": Guided("integer grid", grid, 0.36, moves=has_numbers),
    "families": Guided("structured families", families, 0.2, moves=has_floats),
    "evolution": Guided(
        "differential evolution", evolution, 0.3, without=("quick",), moves=has_floats
    ),
    "powell": Guided("Powell's method", powell, 0.24, moves=has_floats),
    "cma": Guided(
        "CMA-ES", covariance, 0.2, there=cma_is_there, without=("quick",), moves=has_floats
    ),
    "gradient": Guided(
        "L-BFGS",
        gradient,
        0.2,
        fits=lambda claim: claim.relaxed is not None,
        there=torch_is_there,
        without=("quick",),
        moves=has_floats,
        weight=4,
    ),
    "batches": Guided(
        "differential evolution in batches",
        batches,
        0.2,
        fits=screens,
        there=torch_is_there,
        without=("quick",),
        moves=has_floats,
    ),
}
"""The guided searchers by their short names, in the order in which a check runs them."""

DRAWING = ("explicit", "ensemble", "drawn", "every")
"""The short names of the ordinary searchers, which need no pool to start from."""

EVERY_AT_MOST = 2**14
"""Instances of a claim of cost 1 that a hunt looks at one and all, at most."""


def listable(formula: Formula, cost: int) -> bool:
    """Whether a formula has so few instances that a hunt can look at all of them."""
    sides = [
        values.stop - values.start if isinstance(values, range) else len(values)
        for values in formula.domain.values()
    ]
    return bool(sides) and math.prod(sides) <= EVERY_AT_MOST // cost


NEEDS = {
    "every": f"integers between two ends or choices for variables, {EVERY_AT_MOST} instances at "
    "most",
    "ensemble": "a seeded ensemble (of its Records)",
    "gradient": "a conclusion that runs on tensors",
    "batches": "records, and a conclusion that is cheap or runs on tensors",
    "screen": "variables that are drawn one by one",
    "gpu": "real variables that are drawn one by one, and that no hypothesis moves",
    "integers": "integers alone for variables, or records",
}
"""What a claim must have for a searcher to fit it, where that is not every claim."""


def fits(claim: Claim, name: str) -> bool:
    """Whether a searcher can work on the claim, if what it needs is installed."""
    if name == "ensemble":
        return claim.ensemble is not None
    if name == "every":
        return listable(claim.formula, claim.cost)
    return name not in GUIDED or GUIDED[name].fits(claim)
