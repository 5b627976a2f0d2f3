"""Losses, data and max-margin programmes for the checker of `theory.record.checker`.

A verifier prints what it needs of this file after the checker, so that the file uses nothing but
the standard library. It has no code in common with `attsvm.exact`, which the engine uses. All
values are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction as Q
from math import isqrt
from typing import TypeVar

from attsvm.theory.record.checker import (
    Answer,
    Real,
    Undefined,
    all_of,
    equal,
    exp,
    fact,
    log,
    real,
    sqrt,
)

T = TypeVar("T")
Vector = Sequence[Q]
Matrix = Sequence[Vector]

# losses


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
"""Losses by name: l(u) and its derivative."""

SLOPED = ("log-loss", "exponential", "correlation", "logistic-loss")
"""Their slopes, above, are continuous and negative everywhere."""


def sizes(loss: str, a: Q, b: Q) -> tuple[Real, Real]:
    """Return bounds of |l'| and |l''| on scores from a to b."""
    reach = real(max(abs(a), abs(b)))
    return {
        "log-loss": (Real(1), Real(Q(1, 4))),
        "exponential": (exp(-a), exp(-a)),
        "correlation": (Real(1), Real(0)),
        "logistic-loss": (Real(Q(1, 4)), 1 / (6 * sqrt(3))),
        "cubic": (3 * (reach * reach), 6 * reach),
        "squared": (Real(2 * max(abs(a - 1), abs(b - 1))), Real(2)),
        "logistic": (Real(Q(1, 4)), 1 / (6 * sqrt(3))),
    }[loss]


# data


class Data:
    """Inputs, each with tokens, a query, and a score of each token; n of them share the mean."""

    def __init__(self, X: Sequence[Matrix], Z: Matrix, scores: Matrix, n: int = 0) -> None:
        self.X, self.Z, self.scores, self.n = X, Z, scores, n or len(X)
        self.optimal = [row.index(max(row)) for row in scores]
        self.worst = [row.index(min(row)) for row in scores]

    @property
    def moving(self) -> Data:
        """The inputs with two different scores: the others have no gradient."""
        kept = [i for i, row in enumerate(self.scores) if len(set(row)) > 1]
        X, Z = [self.X[i] for i in kept], [self.Z[i] for i in kept]
        return Data(X, Z, [self.scores[i] for i in kept], self.n)

    @property
    def opposed(self) -> Data:
        """The data with the opposite scores: descent on l(u) is that on l(-u) for these."""
        return Data(self.X, self.Z, [[-g for g in row] for row in self.scores], self.n)


def inner(x: Vector, y: Vector) -> Q:
    """Return the inner product of rational vectors."""
    return sum((a * b for a, b in zip(x, y, strict=True)), Q(0))


def minus(x: Vector, y: Vector) -> list[Q]:
    """Return the difference of two vectors."""
    return [a - b for a, b in zip(x, y, strict=True)]


def outer(x: Sequence[T], z: Vector) -> list[T]:
    """Return the matrix x z^T, row by row."""
    return [a * b for a in x for b in z]  # type: ignore[operator]


def flat(W: Sequence[Sequence[T]]) -> list[T]:
    """Return the entries of a matrix, row by row."""
    return [x for row in W for x in row]


# max-margin programmes


def rows(data: Data, chosen: Sequence[int]) -> list[list[Q]]:
    """Return (x_chosen - x_t) z^T, entry by entry, for every other token t of each input."""
    return [
        outer(minus(X[c], x), z)
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
    """
    w = [Q(0)] * size
    for multiplier, row in zip(multipliers, A, strict=True):
        w = [x + multiplier * a for x, a in zip(w, row, strict=True)]
    if min(multipliers, default=Q(0)) < 0:
        raise Undefined("a multiplier is negative")
    if not any(w) and any(multipliers):
        return None
    margins = [inner(a, w) for a in A]
    if all(g >= 1 and (g == 1 or not m) for g, m in zip(margins, multipliers, strict=True)):
        return w
    raise Undefined("the multipliers do not belong to the rows")


def unique(data: Data) -> bool:
    """Return whether each input has one token of highest score."""
    return all(row.count(max(row)) == 1 for row in data.scores)


def matrix(w: Sequence[T]) -> list[Sequence[T]]:
    """Return the square matrix with these entries, row by row."""
    d = isqrt(len(w))
    return [w[k : k + d] for k in range(0, len(w), d)]


def along(w: Vector, target: Vector | None) -> Answer:
    """Return whether w is a positive multiple of the target: |<w, t>| = |w| |t| for these alone."""
    if target is None:
        return fact(False)
    product = inner(w, target)
    squares = inner(w, w) * inner(target, target)
    return all_of(fact(product > 0), equal(product * product, squares))


def has_direction(target: Vector | None) -> bool:
    """Return whether there is a solution, and it is not 0."""
    return target is not None and any(target)
