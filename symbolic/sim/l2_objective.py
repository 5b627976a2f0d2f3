"""The rewritten l2 objective: mat((D kron I_n)^-1 vec(U)) = D^-1 U with row-major mat and vec.

U = exp(A1 X A2^T) entry by entry, so vec(U) = exp((A1 kron A2) vec(X)) by the tensor trick, whose
proof is run first. Equal matrices make equal objectives, in every norm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.attention import vec
from symbolic.sim import tensor_trick

__all__ = ["inside_residual", "prove", "structural_residual"]


def inside_residual(n: int, *, read: str = "rows", swapped: bool = False) -> list[Any]:
    """Entries of mat((D kron I)^-1 vec(U)) - D^-1 U; with `swapped` I kron D, `read` as columns."""
    U = np.array(
        [[sp.Symbol(f"u{j}{t}", positive=True) for t in range(n)] for j in range(n)], dtype=object
    )
    sums = [sum(row) for row in U]
    one = np.array([sp.Integer(1)] * n, dtype=object)
    D = np.kron(one, sums) if swapped else np.kron(sums, one)  # the diagonal of D(x)
    flat = vec(U) / D
    matrix = flat.reshape(n, n) if read == "rows" else flat.reshape(n, n).T
    right = np.array([row / total for row, total in zip(U, sums, strict=True)], dtype=object)
    return [sp.cancel(x) for x in (matrix - right).ravel()]


def structural_residual() -> tuple[Any, Any]:
    """For a symbolic number n of tokens: row and column of place k = j n + t, 0 <= t < n.

    Place k of vec(U) and of mat is entry (j, t), and place k of D kron I_n is D_j.
    """
    n = sp.Symbol("n", integer=True, positive=True)
    j, t = sp.symbols("j t", integer=True, nonnegative=True)
    place = j * n + t
    column = sp.Mod(place, n).subs(sp.Mod(t, n), t)
    return sp.simplify((place - column) / n - j), sp.simplify(column - t)


def prove() -> str:
    """Prove that the matrices inside both objectives are equal.

    Raises:
        AssertionError: an entry differs, or agrees for I kron D or for mat of columns.
    """
    tensor_trick.prove()
    for n in (1, 2, 3):
        assert all(x == 0 for x in inside_residual(n))
    assert structural_residual() == (0, 0)
    assert any(x != 0 for x in inside_residual(2, swapped=True))
    assert any(x != 0 for x in inside_residual(2, read="columns"))
    return "mat((D(X) kron I_n)^-1 exp((A1 kron A2) vec(X))) = D(X)^-1 exp(A1 X A2^T), for all n, d"
