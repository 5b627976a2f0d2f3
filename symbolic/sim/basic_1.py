"""Exponentials are Lipschitz with the largest of them: e^a - e^b <= e^a (a - b) for a >= b.

With v = e^(b - a) this reads 1 - v <= -log v, which holds for every v > 0, hence with a < b too.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.theory import ensure_equal, ensure_true, ensure_zero
from properties.sim.basics import power

__all__ = ["edge_ratio", "never_negative", "prove", "secant_gap"]


def secant_gap() -> tuple[Any, Any]:
    """-log v - (1 - v) at v = 1, and its derivative in v."""
    v = sp.Symbol("v", positive=True)
    gap = -sp.log(v) - (1 - v)
    return gap.subs(v, 1), sp.factor(sp.together(sp.diff(gap, v)))


def never_negative(polynomial: Any, *variables: Any) -> bool:
    """Whether all coefficients are at least 0, so that the values at variables >= 0 are."""
    return all(c >= 0 for c in sp.Poly(sp.expand(polynomial), *variables).coeffs())


def edge_ratio() -> Any:
    """Limit of ||exp(A x) - exp(A y)|| / (||A|| exp(R) ||x - y||), A = a, x = R / a, y -> x."""
    a, R, step = sp.symbols("a R step", positive=True)
    change = power(R, R, sp.exp) - power(R - a * step, R, sp.exp)
    return sp.limit(change / (a * step), step, 0)


def prove() -> str:
    """Prove the secant bound, that R <= R^2 from R = 1 on, and that the constant is reached.

    The gap is 0 at v = 1; its slope is (v-1)/v, below 0 for v < 1 and above 0 for v > 1. So it is
    at least 0 for every v > 0.

    Raises:
        ProofError: one of them fails.
    """
    v, r = sp.Symbol("v", positive=True), sp.Symbol("r", nonnegative=True)
    value, slope = secant_gap()
    ensure_zero(value, "the gap -log v - (1 - v) is 0 at v = 1")
    ensure_equal(slope, (v - 1) / v, "the slope of the gap is (v-1)/v", normal=sp.simplify)
    ensure_true(never_negative((1 + r) ** 2 - (1 + r), r), "R <= R^2 for R >= 1")
    ensure_equal(edge_ratio(), 1, "the ratio of both sides has the limit 1")
    return "e^a - e^b <= e^a (a - b) for all a, b, with the limit 1 of their ratio as b -> a"
