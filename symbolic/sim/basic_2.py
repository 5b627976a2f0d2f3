"""Lagrange's identity: n sum w^2 - (sum w)^2 = sum over pairs of (w_t - w_r)^2."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import sympy as sp

__all__ = ["pairs_residual", "prove", "structural_residual"]


def pairs_residual(n: int) -> Any:
    """The difference of both sides, expanded."""
    w = sp.symbols(f"w1:{n + 1}", real=True)
    pairs = sum((a - b) ** 2 for a, b in combinations(w, 2))
    return sp.expand(n * sum(a**2 for a in w) - sum(w) ** 2 - pairs)


def structural_residual() -> Any:
    """The same with n sum (w - mean)^2 on the right, for a symbolic number of entries."""
    n = sp.Symbol("n", integer=True, positive=True)
    t = sp.Symbol("t", integer=True)
    total, mean = sp.symbols("total mean", real=True)
    w = sp.IndexedBase("w", real=True)

    def add(term: Any) -> Any:
        parts = sp.Add.make_args(sp.expand(term))
        return sum(_summed(part, w, t, n) for part in parts)

    def _summed(part: Any, w: Any, t: Any, n: Any) -> Any:
        factor, rest = part.as_independent(w[t])
        return factor * (n if rest == 1 else sp.Sum(rest, (t, 1, n)))

    left = n * add(w[t] ** 2) - total**2
    right = n * add((w[t] - mean) ** 2)
    found = (left - right).subs(sp.Sum(w[t], (t, 1, n)), total).subs(mean, total / n)
    return sp.simplify(sp.expand(found))


def prove() -> str:
    """Prove both forms of the identity.

    Raises:
        AssertionError: a residual is not zero.
    """
    for n in range(1, 7):
        assert pairs_residual(n) == 0
    assert structural_residual() == 0
    return "n ||w||^2 - (sum w)^2 = n sum (w - mean)^2 for every n; over pairs for n <= 6"
