"""The tensor trick: (A1 kron A2) vec(X) = vec(A1 X A2^T) with row-major vec, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.attention import kron_block, vec

__all__ = ["prove", "residual"]


def _symbols(name: str, rows: int, columns: int) -> Any:
    return np.array(
        [[sp.Symbol(f"{name}{r}{c}") for c in range(columns)] for r in range(rows)], dtype=object
    )


def residual(n: int, d: int, *, transposed: bool = False) -> list[Any]:
    """Entries of block j of (A1 kron A2) vec(X) minus row j of A1 X A2^T, for all j.

    The code's own `vec` and `kron_block` run on symbols. With `transposed` the right-hand side
    has X^T, which is another matrix.
    """
    A1, A2, X = _symbols("a", n, d), _symbols("b", n, d), _symbols("x", d, d)
    right = A1 @ (X.T if transposed else X) @ A2.T
    found: list[Any] = []
    for j in range(n):
        block = kron_block(A1, A2, j) @ vec(X)
        found += [sp.expand(p - q) for p, q in zip(block, right[j], strict=True)]
    return found


def prove() -> str:
    """Prove the trick for n, d up to 3; entries are bilinear, so each size is a full proof.

    Raises:
        AssertionError: an entry differs, or the transposed claim turns out to be true.
    """
    for n in (1, 2, 3):
        for d in (1, 2, 3):
            assert all(entry == 0 for entry in residual(n, d))
    assert any(entry != 0 for entry in residual(2, 2, transposed=True))
    return "(A1 kron A2) vec(X) = vec(A1 X A2^T), block j giving row j, for n and d up to 3"
