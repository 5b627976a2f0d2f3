"""Sizes: by how much the factors of a product, and a matrix and its stated size, do not fit.

Everything here asks its arguments for their shapes alone: arrays of numbers in the claims, and in
the proof matrices of symbolic size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import matmul
from typing import Any

import numpy as np

from attsvm._types import Array
from attsvm.attention import kron_block

__all__ = ["ARRAYS", "Calculus", "apart", "misfit", "normaliser", "sizes_of_product"]

Size = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Calculus:
    """What the formulas need beside products: exp by entries, a column of ones, diag, a block."""

    exp: Callable[[Any], Any]
    ones: Callable[[Any], Any]
    diag: Callable[[Any], Any]
    block: Callable[[Any, Any], Any]


def _exp(M: Array) -> Array:
    with np.errstate(over="ignore"):
        result: Array = np.exp(M)
    return result


def _first_block(A1: Array, A2: Array) -> Array:
    return kron_block(A1, A2, 0)


ARRAYS = Calculus(_exp, lambda n: np.ones((n, 1)), lambda v: np.diag(v[:, 0]), _first_block)


def apart(size: Size, other: Size) -> Any:
    """By how much two sizes differ, 0 where they fit."""
    return sum(abs(a - b) for a, b in zip(size, other, strict=True))


def normaliser(A1: Any, A2: Any, X: Any, of: str, calculus: Calculus) -> Any:
    """diag(exp(A1 X A2^T) 1_n), or diag(exp(X) 1_d)."""
    M = A1 @ X @ A2.T if of == "logits" else X
    return calculus.diag(calculus.exp(M) @ calculus.ones(M.shape[1]))


def sizes_of_product(factors: Sequence[Any]) -> tuple[Any, Size]:
    """By how much neighbours do not fit, and the size of the product.

    Where all fit the product is formed and has that size, else it is that of the outer factors.
    """
    gap = sum(abs(a.shape[1] - b.shape[0]) for a, b in pairwise(factors))
    if gap == 0:
        with np.errstate(over="ignore", invalid="ignore"):
            return gap, reduce(matmul, factors).shape
    return gap, (factors[0].shape[0], factors[-1].shape[1])


def misfit(
    A1: Any, A2: Any, X: Any, Y: Any, D: Any, of: str, values: str, calculus: Calculus
) -> tuple[Any, Any]:
    """What does not fit in D(X), and in D^-1 exp(A1 X A2^T) A2 Y of size n x d.

    D is a matrix of the stated size; its inverse has the size of its transpose.
    """
    alone = apart(normaliser(A1, A2, X, of, calculus).shape, D.shape)
    mixed = {"A2": [A2], "A2^T": [A2.T], "none": []}[values]
    gap, size = sizes_of_product([D.T, calculus.exp(A1 @ X @ A2.T), *mixed, Y])
    return alone, gap + apart(size, A1.shape)
