"""The tensor trick, (A1 kron A2) vec(X) = vec(A1 X A2^T) with row-major vec, block by block.

Expanded: the code's own `vec` and `kron_block` run on symbols. For every size: a block and a row
are trilinear in (A1, A2, X), so they agree for all matrices where they agree for all unit ones;
and on unit matrices E_jr, E_tc, E_pq both are 1 at entry (j, t) where p = r and q = c, and 0
elsewhere. What the sizes enter is the place r c' + c of X_rc in vec(X), c' the number of columns,
and that the same place of row (j, t) of the Kronecker product holds A1_jr A2_tc.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.attention import kron_block, vec

__all__ = ["margins_residual", "prove", "prove_orientation", "residual", "structural_residual"]

SIZES = ((1, 1, 1, 1), (2, 2, 2, 2), (3, 2, 3, 2), (3, 3, 3, 3), (2, 3, 1, 2), (1, 2, 3, 1))
"""(rows and columns of A1, rows and columns of A2) that are expanded."""


def _symbols(name: str, rows: int, columns: int) -> Any:
    return np.array(
        [[sp.Symbol(f"{name}{r}{c}") for c in range(columns)] for r in range(rows)], dtype=object
    )


def residual(
    m: int, r: int, n: int | None = None, c: int | None = None, *, transposed: bool = False
) -> list[Any]:
    """Entries of block j of (A1 kron A2) vec(X) minus row j of A1 X A2^T, for all j.

    A1 is (m, r) and A2 (n, c), or as A1. With `transposed` the right-hand side has X^T, which is
    another matrix.
    """
    n, c = m if n is None else n, r if c is None else c
    A1, A2, X = _symbols("a", m, r), _symbols("b", n, c), _symbols("x", r, c)
    right = A1 @ (X.T if transposed else X) @ A2.T
    found: list[Any] = []
    for j in range(m):
        block = kron_block(A1, A2, j) @ vec(X)
        found += [sp.expand(p - q) for p, q in zip(block, right[j], strict=True)]
    return found


def structural_residual(*, transposed: bool = False) -> Any:
    """Entry (j, t) of both sides for symbolic sizes, the flat sum over vec(X) split by rows.

    Place k = p w + q of vec(X), w columns wide, holds X_pq, and the same place of row (j, t) of
    the Kronecker product A1_jp A2_tq; the quotient and the remainder of k are taken here.
    """
    w, h = sp.symbols("w h", integer=True, positive=True)
    j, t, p, q = sp.symbols("j t p q", integer=True, nonnegative=True)
    A1, A2, X = (sp.IndexedBase(name) for name in ("A1", "A2", "X"))
    place = p * w + q
    column = sp.Mod(place, w).subs(sp.Mod(q, w), q)  # 0 <= q < w
    row = sp.cancel((place - column) / w)
    flat = A1[j, row] * A2[t, column] * X[row, column]
    entry = A1[j, p] * (X[q, p] if transposed else X[p, q]) * A2[t, q]
    return sp.simplify(sp.Sum(sp.expand(flat - entry), (q, 0, w - 1), (p, 0, h - 1)).doit())


def margins_residual(n: int, d: int, *, transposed: bool = True) -> list[Any]:
    """Logit differences of definition 3.3 at X minus the constraints of definition 4.1 at X^T.

    (A_j vec(X))_o - (A_j vec(X))_t against (a_o - a_t)^T X^T a_j for all j, o, t, with A1 = A2;
    with `transposed` false against (a_o - a_t)^T X a_j.
    """
    A, X = _symbols("a", n, d), _symbols("x", d, d)
    W = X.T if transposed else X
    found: list[Any] = []
    for j in range(n):
        logits = kron_block(A, A, j) @ vec(X)
        for o in range(n):
            for t in range(n):
                found.append(sp.expand(logits[o] - logits[t] - (A[o] - A[t]) @ W @ A[j]))
    return found


def prove() -> str:
    """Prove the trick: expanded for small sizes, by structure for all.

    Raises:
        AssertionError: an entry differs, or the transposed claim turns out to be true.
    """
    for m, r, n, c in SIZES:
        assert all(entry == 0 for entry in residual(m, r, n, c))
    assert structural_residual() == 0
    assert any(entry != 0 for entry in residual(2, 2, transposed=True))
    assert structural_residual(transposed=True) != 0
    return "(A1 kron A2) vec(X) = vec(A1 X A2^T), block j giving row j, for all sizes"


def prove_orientation() -> str:
    """Prove that the logits of definition 3.3 at X are key-query features at X^T, not at X.

    Raises:
        AssertionError: a difference is not zero, or is zero without the transposition.
    """
    prove()
    for n, d in ((2, 1), (2, 2), (3, 2), (2, 3)):
        assert all(entry == 0 for entry in margins_residual(n, d))
    assert any(entry != 0 for entry in margins_residual(2, 2, transposed=False))
    return "(A_j vec(X))_o - (A_j vec(X))_t = (a_o - a_t)^T X^T a_j, by the trick for all sizes"
