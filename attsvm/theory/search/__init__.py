"""Searchers: each proposes instances of a claim and learns how close they come to a violation.

Ordinary searchers draw from the author's own strategy: explicit instances, the seeded ensemble,
Hypothesis, and full enumeration. Guided searchers fill batches of their own, or start from the pool
of known instances.
"""

import contextlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attsvm._types import Json
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance.document import finite_leaves, integer_leaves
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.sampling import DRAWN, ENSEMBLE, EVERY, EXPLICIT
from attsvm.theory.run.tally import Elite, Pool
from attsvm.theory.search.ordinary import EVERY_AT_MOST, draw, listable
from attsvm.theory.search.scout import Found, Scout, Spent, Stop
from attsvm.theory.search.screening import counts, grows, screen

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
    "Pool",
    "Scout",
    "Spent",
    "Stop",
    "draw",
    "fits",
]


@dataclass(frozen=True, slots=True)
class Guided:
    """A searcher that makes up instances.

    Attributes:
        title: its name in reports.
        search: a function that proposes instances to a scout until the scout stops it, or until it
            has no more to propose.
        share: its share of the budget for guided searchers in a check.
        fits: whether it can work on a claim.
        there: whether the library that it needs is installed.
        quick: whether quick checks use it; they do not wait for a large library.
        moves: whether it can change any variable of an encoded instance.
        weight: the number of turns that one of its turns counts as, since it takes longer.
        fewer: the divisor of the budget of its turns in a hunt.
        library: the module of a large library that it loads; empty if there is none.
    """

    title: str
    search: Callable[[Scout, np.random.Generator], None]
    share: float
    fits: Callable[[Claim], bool]
    there: Callable[[], bool] = lambda: True
    quick: bool = True
    moves: Callable[[Json], bool] = lambda document: True
    weight: int = 1
    fewer: int = 1
    library: str = ""

    def works_on(self, claim: Claim) -> bool:
        """Return whether the searcher fits the claim and is installed."""
        return self.fits(claim) and self.there()

    def guide(self, scout: Scout, generator: np.random.Generator) -> Refuted | None:
        """Search until the scout stops it or it is done; return the refutation that it found."""
        with contextlib.suppress(Found, Spent):
            try:
                self.search(scout, generator)
            except TooLong:  # later instances of a turn are usually larger
                scout.tally.give_up(f"a batch of {self.title}")
        return scout.found


def _sizes(scout: Scout, generator: np.random.Generator) -> None:
    """Try larger sizes; the searcher is loaded only if some size can grow."""
    from attsvm.theory.search.sizes import sizes

    sizes(scout, generator)


def _integers(scout: Scout, generator: np.random.Generator) -> None:
    """Enumerate integers; the searcher is loaded only if there are integers."""
    from attsvm.theory.search.integers import integers

    integers(scout, generator)


def _gradient(scout: Scout, generator: np.random.Generator) -> None:
    """Climb the slack; quick checks do not load this searcher."""
    from attsvm.theory.search.gradient import gradient

    gradient(scout, generator)


def _solver(scout: Scout, generator: np.random.Generator) -> None:
    """Ask z3; the library is loaded only in a hunt."""
    from attsvm.theory.search.solver import solver

    solver(scout, generator)


GUIDED: dict[str, Guided] = {
    "screen": Guided(
        "screening in batches",
        screen,
        0.2,
        fits=lambda claim: claim.formula.batches,
    ),
    "sizes": Guided(
        "sizes beyond the drawn ones",
        _sizes,
        0.2,
        fits=lambda claim: not claim.formula.batches or any(grows(claim.formula)),
        weight=6,
    ),
    "integers": Guided(
        "integer enumeration",
        _integers,
        0.1,
        fits=lambda claim: not claim.formula.batches or counts(claim.formula),
        moves=lambda document: bool(integer_leaves(document)),
    ),
    "gradient": Guided(
        "L-BFGS",
        _gradient,
        0.2,
        fits=lambda claim: claim.relaxed is not None,
        there=lambda: importlib.util.find_spec("torch") is not None,
        quick=False,
        moves=lambda document: bool(finite_leaves(document)),
        weight=2,
        fewer=4,
        library="torch",
    ),
    "solver": Guided(
        "z3",
        _solver,
        0.0,
        fits=lambda claim: claim.formula.batches and claim.formula.measured is None,
        there=lambda: importlib.util.find_spec("z3") is not None,
        quick=False,
    ),
}
"""Guided searchers by short name, in the order in which a check runs them."""

DRAWING = ("explicit", "ensemble", "drawn", "every")
"""Searchers that need no initial pool, by short name."""

NEEDS = {
    "every": f"integers between two ends or choices for variables, {EVERY_AT_MOST} instances at "
    "most",
    "ensemble": "a seeded ensemble (of its Records)",
    "gradient": "a formula of real numbers",
    "screen": "variables that are drawn separately",
    "sizes": "a length or an integer that can exceed the drawn ones, or records",
    "integers": "only integers as variables, or records",
    "solver": "a formula of variables that are drawn separately",
}
"""The property that a claim must have for a searcher to fit it, unless every claim has it."""


def fits(claim: Claim, name: str) -> bool:
    """Return whether a searcher can work on the claim, if its library is installed."""
    if name == "ensemble":
        return claim.ensemble is not None
    if name == "every":
        return listable(claim.formula, claim.cost)
    return name not in GUIDED or GUIDED[name].fits(claim)
