"""Definition 3.3 on symbols: f is a probability vector, <f, h> an entry of the attention.

The exponentials of the logits are positive symbols u_jt, one for each entry of A1 X A2^T; that
block j0 of the tensor trick lists the logits of row j0 is proved in `tensor_trick`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from symbolic.sim import tensor_trick

__all__ = ["entry_residual", "prove", "structural_residual", "sum_residual"]


def _symbols(name: str, rows: int, columns: int) -> Any:
    return np.array(
        [
            [sp.Symbol(f"{name}{r}{c}", positive=name == "u") for c in range(columns)]
            for r in range(rows)
        ],
        dtype=object,
    )


def weights(n: int) -> Any:
    """f_{j0}, row by row: u_j / <u_j, 1> (definitions 3.1 to 3.3)."""
    u = _symbols("u", n, n)
    return np.array([row / sum(row) for row in u], dtype=object)


def sum_residual(n: int) -> list[Any]:
    """Sums of the rows f_{j0} minus 1."""
    return [sp.cancel(sum(row)) - 1 for row in weights(n)]


def entry_residual(n: int, d: int, *, transposed: bool = False) -> list[Any]:
    """<f_{j0}, A3 y_{i0}> minus entry (j0, i0) of D^-1 U A3 Y, D = diag(U 1)."""
    u, A3, Y = _symbols("u", n, n), _symbols("v", n, d), _symbols("y", d, d)
    inverse = np.diag([1 / total for total in u @ np.array([sp.Integer(1)] * n)])
    right = inverse @ u @ A3 @ Y
    f = weights(n).T if transposed else weights(n)
    return [
        sp.cancel(sp.together(sum(f[j] * (A3 @ Y[:, i])) - right[j, i]))
        for j in range(n)
        for i in range(d)
    ]


def structural_residual() -> tuple[Any, Any]:
    """The sum of f minus 1, and <f, h> minus the entry, for symbolic n and d.

    <f, h> sums over tokens t what sums over axes c; in the product (D^-1 U A3) Y it is the other
    way round. 1/alpha stands before both.
    """
    n, d = sp.symbols("n d", integer=True, positive=True)
    t, c = sp.symbols("t c", integer=True)
    u, A3, y = sp.IndexedBase("u"), sp.IndexedBase("A3"), sp.IndexedBase("y")
    alpha = sp.Sum(u[t], (t, 1, n))
    term = u[t] * A3[t, c] * y[c]
    by_token = sp.Sum(term, (c, 1, d), (t, 1, n)) / alpha
    by_axis = sp.Sum(term, (t, 1, n), (c, 1, d)).reorder((t, c)) / alpha
    return sp.simplify(alpha / alpha - 1), sp.simplify(by_token - by_axis)


def prove() -> str:
    """Prove both for all n and d, expanded for small ones; f is positive as its parts are.

    Raises:
        AssertionError: a residual is not zero, or is zero for the transposed matrix.
    """
    tensor_trick.prove()
    for n in (1, 2, 3):
        assert all(p.is_positive for p in weights(n).ravel())
        assert all(x == 0 for x in sum_residual(n))
        for d in (1, 2):
            assert all(x == 0 for x in entry_residual(n, d))
    assert structural_residual() == (0, 0)
    assert any(x != 0 for x in entry_residual(2, 1, transposed=True))
    return "f > 0 has sum 1, and <f_j, A3 y_i> is entry (j, i) of D^-1 exp(A1 X A2^T) A3 Y"
