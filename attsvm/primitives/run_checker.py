"""Attention, max-margin programmes and descent for the checker of `theory.record.checker`.

Verifiers of statements about data and runs print this file after the checker, so that it uses
nothing but the standard library. It has no code in common with `attsvm.exact`, which the engine
uses. Data, programmes and starts are exact; iterates of descent are enclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction as Q

from attsvm.theory.record.checker import (
    Answer,
    Real,
    exp,
    fact,
    log,
    sqrt,
)

Vector = Sequence[Q]
Matrix = Sequence[Vector]

# losses l(u): value and slope, and bounds of |l'| and |l''| on scores from a to b


def bell(u: Real) -> Real:
    """Return g(u) (1 - g(u)) of the logistic function g, as 1 / (2 + e^u + e^-u)."""
    return 1 / (2 + exp(u) + exp(-u))


LOSSES: dict[str, tuple[Callable[[Real], Real], Callable[[Real], Real]]] = {
    "log-loss": (lambda u: log(1 + exp(-u)), lambda u: -1 / (1 + exp(u))),
    "exponential": (lambda u: exp(-u), lambda u: -exp(-u)),
    "correlation": (lambda u: -u, lambda u: Real(-1)),
    "logistic-loss": (lambda u: 1 / (1 + exp(u)), lambda u: -bell(u)),
    "cubic": (lambda u: -u * u * u, lambda u: -3 * (u * u)),
    "squared": (lambda u: (1 - u) * (1 - u), lambda u: 2 * (u - 1)),
    "logistic": (lambda u: 1 / (1 + exp(-u)), bell),
}

SLOPED = ("log-loss", "exponential", "correlation", "logistic-loss")
"""Their slopes, above, are continuous and negative everywhere."""

STEEP_EVERYWHERE = (*SLOPED, "cubic", "kinked")
"""They decrease strictly: -3 u^2 is 0 at one point only; "kinked" is max(-u, -2u)."""

FLAT_SOMEWHERE = ("hinge", "squared-hinge")
"""max(0, 1 - u) and its square decrease up to 1 and are 0 from there on."""


def strictly_decreasing(loss: str) -> Answer:
    """Return whether l(u) < l(t) for all u > t."""
    return fact(loss in STEEP_EVERYWHERE)


def decreasing(loss: str) -> Answer:
    """Return whether l(u) <= l(t) for all u > t."""
    return fact(loss in (*STEEP_EVERYWHERE, *FLAT_SOMEWHERE))


def smooth(loss: str) -> Answer:
    """Return whether l has a continuous derivative; the square of the hinge has one."""
    return fact(loss in LOSSES or loss == "squared-hinge")


def sizes(loss: str, a: Q, b: Q) -> tuple[Real, Real]:
    """Return bounds of |l'| and |l''| on scores from a to b."""
    if loss in ("logistic", "logistic-loss"):
        return Real(Q(1, 4)), 1 / (6 * sqrt(3))
    if loss == "exponential":
        return exp(-a), exp(-a)
    reach = max(abs(a), abs(b))
    known = {
        "log-loss": (Q(1), Q(1, 4)),
        "correlation": (Q(1), Q(0)),
        "squared": (2 * (reach + 1), Q(2)),
        "cubic": (3 * reach * reach, 6 * reach),
    }
    slope, bend = known[loss]
    return Real(slope), Real(bend)


# data


class Data:
    """Inputs: each has tokens, a query, and a score of each token."""

    def __init__(self, X: Sequence[Matrix], Z: Matrix, scores: Matrix) -> None:
        self.X, self.Z, self.scores = X, Z, scores
        self.best = [[t for t, g in enumerate(row) if g == max(row)] for row in scores]

    @property
    def unique(self) -> bool:
        """Whether each input has one token of highest score."""
        return all(len(tied) == 1 for tied in self.best)

    @property
    def optimal(self) -> list[int]:
        """The first token of highest score of each input."""
        return [tied[0] for tied in self.best]


def minus(x: Vector, y: Vector) -> list[Q]:
    """Return the difference of two vectors."""
    return [a - b for a, b in zip(x, y, strict=True)]


def rows(data: Data, chosen: Sequence[int]) -> list[list[Q]]:
    """Return (x_chosen - x_t) z^T, entry by entry, for every other token t of each input."""
    return [
        [a * b for a in minus(X[c], x) for b in z]
        for X, z, c in zip(data.X, data.Z, chosen, strict=True)
        for t, x in enumerate(X)
        if t != c
    ]


def least(A: Matrix, multipliers: Vector, size: int) -> list[Q] | None:
    """Return the shortest w with <a, w> >= 1 for all rows a; None if there is no such w.

    Let w be the sum of multipliers times rows, and all multipliers be at least 0. If w = 0 and some
    multiplier is positive, there is no solution: it would have a positive inner product with 0. If
    w meets all rows, and those of positive multiplier with equality, it is the shortest: each other
    solution u has <w, u> >= sum of multipliers = <w, w>.

    Raises:
        ValueError: the multipliers prove neither.
    """
    w = [Q(0)] * size
    for multiplier, row in zip(multipliers, A, strict=True):
        w = [x + multiplier * a for x, a in zip(w, row, strict=True)]
    margins = [sum((x * y for x, y in zip(a, w, strict=True)), Q(0)) for a in A]
    if min(multipliers, default=Q(0)) < 0:
        raise ValueError("a multiplier is negative")
    if not any(w) and any(multipliers):
        return None
    if all(g >= 1 and (g == 1 or not m) for g, m in zip(margins, multipliers, strict=True)):
        return w
    raise ValueError("the multipliers do not belong to the rows")
