"""Sizes of the attention's formula for symbolic n and d: a matrix is the pair of its sizes.

Two sizes fit for all n and d where they are the same polynomial.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import sympy as sp

__all__ = ["attention", "block", "misfit", "normaliser", "prove"]

n, d = sp.symbols("n d", integer=True, positive=True)
Size = tuple[Any, Any]
A1 = A2 = (n, d)
X = Y = (d, d)


def product(*sizes: Size) -> Size:
    """The size of a product.

    Raises:
        AssertionError: neighbours do not fit.
    """
    for (_, columns), (rows, _) in pairwise(sizes):
        assert misfit(columns, rows) == 0
    return sizes[0][0], sizes[-1][1]


def misfit(left: Any, right: Any) -> Any:
    """The difference of two sizes."""
    return sp.expand(left - right)


def weights() -> Size:
    """exp(A1 X A2^T), entry by entry."""
    return product(A1, X, A2[::-1])


def normaliser() -> Size:
    """D(X) = diag(exp(A1 X A2^T) 1_n), square with a row for each entry of the vector."""
    rows, columns = product(weights(), (n, sp.Integer(1)))
    assert columns == 1
    return rows, rows


def attention(D: Size) -> Size:
    """D^-1 exp(A1 X A2^T) A2 Y for a D of that size.

    Raises:
        AssertionError: D is not square, or does not fit.
    """
    assert misfit(*D) == 0
    return product(D[::-1], weights(), A2, Y)


def block() -> Size:
    """A block of n rows of A1 kron A2: a row of A1 against A2."""
    return sp.Integer(1) * A2[0], A1[1] * A2[1]


def prove() -> str:
    """Prove that D(X) is n x n, the attention n x d and a block n x d^2, for all n and d.

    Raises:
        AssertionError: a size is another one, or a printed size fits elsewhere as well.
    """
    assert normaliser() == (n, n)
    assert attention(normaliser()) == (n, d)
    assert block() == (n, d**2)
    assert sp.solve(misfit(normaliser()[0], d), n) == [d]  # d x d: where n = d alone
    assert sp.solve(misfit(block()[1], d), d) == [1]  # x in R^d: where d = 1 alone
    return "D(X) is n x n, Att(X, Y) n x d, A_{j0} n x d^2; as printed where n = d, and d = 1"
