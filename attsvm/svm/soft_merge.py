"""Repeated constraints of a soft margin, merged: one copy, at the sum of their prices.

Slacks whose groups hold the same matrices are equal wherever they are least, so that their prices
add up; a matrix that a group holds twice counts once. What is left has the same W, and duals that
the copies share in proportion to their prices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from attsvm._types import Array
from attsvm.svm.programme import Programme, subset


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """A programme without repetitions, and where those of the original are in it.

    Attributes:
        programme: the constraints that are left, in their order.
        groups: the slack of each of them, as labels 0, 1, ...
        prices: the price of each slack that is left.
        size: number m of constraints of the original.
        copies: constraints of the original that carry a dual, one a group and matrix.
        place: which of those that are left each of them repeats.
        part: its part of the price.
    """

    programme: Programme
    groups: Int[Array, " k"]
    prices: Float[Array, " h"]
    size: int
    copies: Int[Array, " c"]
    place: Int[Array, " c"]
    part: Float[Array, " c"]

    def spread(self, duals: Float[Array, " k"]) -> Float[Array, " m"]:
        """Duals of the original: each copy has its part."""
        whole = np.zeros(self.size)
        whole[self.copies] = duals[self.place] * self.part
        return whole


def merge(programme: Programme, groups: Int[Array, " m"], prices: Float[Array, " g"]) -> Merged:
    """Merge groups that hold the same matrices; `groups` are labels 0, 1, ... of the prices.

    Matrices are the same as in `matrices`.
    """
    matrix = matrices(programme)
    kinds = int(matrix.max()) + 1
    held, copies = np.unique(groups * kinds + matrix, return_index=True)
    group, matrix = np.divmod(held, kinds)  # group by group
    sets: dict[bytes, int] = {}
    cuts = np.flatnonzero(np.diff(group)) + 1
    same = np.array([sets.setdefault(part.tobytes(), len(sets)) for part in np.split(matrix, cuts)])
    total = np.bincount(same, prices)
    _, first, place = np.unique(
        same[group] * kinds + matrix, return_index=True, return_inverse=True
    )
    order = np.argsort(copies[first])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    left = np.zeros(len(groups), dtype=np.bool_)
    left[copies[first]] = True
    return Merged(
        programme=subset(programme, left),
        groups=same[group[first[order]]],
        prices=total,
        size=len(groups),
        copies=copies,
        place=rank[place],
        part=prices[group] / total[same[group]],
    )


def matrices(programme: Programme) -> Int[Array, " m"]:
    """Labels 0, 1, ... of the matrices by first occurrence, the same where both factors are.

    Factors are the same to the bit; 0 and -0 are.
    """
    known: dict[bytes, int] = {}
    sides = np.hstack([programme.D, programme.Z]) + 0.0
    return np.array([known.setdefault(row.tobytes(), len(known)) for row in sides])
