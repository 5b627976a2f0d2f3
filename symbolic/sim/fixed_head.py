"""A head after attention is a head inside the values: (f^T M) H e_v = f^T (M H e_v), M = A_3 Y.

So each entry of Att(X) H is <f, h> with h = A_3 (Y H) e_v, and lemma 3.11 (proved in
`lemma_3_11`), which knows nothing of h but its entries, gives the gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.risk import covariance

__all__ = ["absorbed_residual", "prove", "prove_multiple", "pull_residual", "structural_residual"]


def _symbols(name: str, rows: int, columns: int) -> Any:
    return np.array(
        [[sp.Symbol(f"{name}{r}{c}", real=True) for c in range(columns)] for r in range(rows)],
        dtype=object,
    )


def _factors(n: int, d: int, V: int) -> tuple[Any, Any, Any, Any]:
    f = np.array(sp.symbols(f"f0:{n}", positive=True), dtype=object)
    return f, _symbols("a", n, d), _symbols("y", d, d), _symbols("h", d, V)


def absorbed_residual(n: int, d: int, V: int, *, ignored: bool = False) -> list[Any]:
    """Entries of (f^T A3 Y) H minus those of f^T (A3 (Y H)), or with `ignored` of f^T (A3 Y)."""
    f, A3, Y, H = _factors(n, d, V)
    after = (f @ A3 @ Y) @ H
    inside = f @ (A3 @ (Y if ignored else Y @ H))
    return [sp.expand(after[v] - inside[v]) for v in range(min(V, d) if ignored else V)]


def structural_residual() -> Any:
    """The same for symbolic n and d: sums over tokens t and axes i in either order."""
    n, d = sp.symbols("n d", integer=True, positive=True)
    t, i = sp.symbols("t i", integer=True)
    f, M, H = (sp.IndexedBase(name) for name in ("f", "M", "H"))
    term = f[t] * M[t, i] * H[i]
    after = sp.Sum(term, (t, 1, n), (i, 1, d))
    inside = sp.Sum(term, (i, 1, d), (t, 1, n))
    return sp.simplify(after.reorder((t, i)) - inside)


def pull_residual(n: int, d: int) -> list[Any]:
    """The code's `covariance` of M H e_v minus the sum over i of H_iv covariances of M e_i."""
    f, A3, Y, H = _factors(n, d, 1)
    M = A3 @ Y
    parts = sum(H[i, 0] * covariance(f, M[:, i]) for i in range(d))
    return [sp.expand(x) for x in covariance(f, M @ H[:, 0]) - parts]


def prove() -> str:
    """Prove that the head can be absorbed, in the entries and in their gradients.

    Raises:
        AssertionError: an entry differs, or leaving the head out makes no difference.
    """
    for n, d, V in ((1, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 2)):
        assert all(x == 0 for x in absorbed_residual(n, d, V))
        assert all(x == 0 for x in pull_residual(n, d))
    assert structural_residual() == 0
    assert any(x != 0 for x in absorbed_residual(1, 1, 1, ignored=True))
    return (
        "(Att(X) with values Y) H = Att(X) with values Y H, and so are the gradients, for all sizes"
    )


def prove_multiple() -> str:
    """Prove that H e_v = c e_v multiplies every score by c.

    Raises:
        AssertionError: a score is not multiplied by c.
    """
    c = sp.Symbol("c", positive=True)
    for n, d in ((1, 1), (2, 2), (3, 3)):
        _, A3, Y, _ = _factors(n, d, 1)
        M = A3 @ Y
        column = np.array([c] + [sp.Integer(0)] * (d - 1), dtype=object)
        assert all(sp.expand(x) == 0 for x in M @ column - c * M[:, 0])
    return "M (c e_v) = c M e_v: a factor c > 0 leaves the order of the scores as it is"
