"""Exponentials are Lipschitz with the largest of them: e^a - e^b <= e^a (a - b) for a >= b.

With v = e^(b - a) this reads 1 - v <= -log v, which holds for every v > 0, hence with a < b too.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import ensure_equal, ensure_true, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from properties.sim.basic_1 import bounded


def secant_gap() -> tuple[Any, Any]:
    """-log v - (1 - v) at v = 1, and its derivative in v."""
    v = sp.Symbol("v", positive=True)
    gap = -sp.log(v) - (1 - v)
    return gap.subs(v, 1), sp.factor(sp.together(sp.diff(gap, v)))


def never_negative(polynomial: Any, *variables: Any) -> bool:
    """Whether all coefficients are at least 0, so that the values at variables >= 0 are."""
    return all(c >= 0 for c in sp.Poly(sp.expand(polynomial), *variables).coeffs())


def edge_ratio() -> Any:
    """Limit of the claim's sides, squared, with ||A|| exp(R): A = a, x = R / a, y -> x."""
    a, R, step = sp.symbols("a R step", positive=True)
    x, y = entries([R / a]), entries([R / a - step])
    sides = bounded(SYMBOLS, SimpleNamespace(A=entries([[a]]), x=x, y=y, R=R), "norm")
    return sp.limit(sides.left**2 / sides.right**2, step, 0)


def ball_ratio() -> Any:
    """The same limit with R exp(R^2) where R bounds points and matrix: A = R, x = R, y -> x."""
    R, step = sp.symbols("R step", positive=True)
    v = SimpleNamespace(A=entries([[R]]), x=entries([R]), y=entries([R - step]), R=R)
    sides = bounded(SYMBOLS, v, "printed")
    return sp.limit(sides.left**2 / sides.right**2, step, 0)


def printed_over_norm() -> Any:
    """R exp(R^2) over ||A|| exp(R) for ||A|| = R: the constants of the claims by their code."""
    R = sp.Symbol("R", positive=True)
    v = SimpleNamespace(A=entries([[R]]), x=entries([sp.Integer(1)]), y=entries([0 * R]), R=R)
    return sp.simplify(bounded(SYMBOLS, v, "printed").right / bounded(SYMBOLS, v, "norm").right)


def prove() -> str:
    """Prove the secant bound, that R <= R^2 from R = 1 on, and that the constant is reached.

    The gap is 0 at v = 1; its slope is (v-1)/v, below 0 for v < 1 and above 0 for v > 1. So it is
    at least 0 for every v > 0.
    """
    v, r = sp.Symbol("v", positive=True), sp.Symbol("r", nonnegative=True)
    R = sp.Symbol("R", positive=True)
    value, slope = secant_gap()
    ensure_zero(value, "the gap -log v - (1 - v) is 0 at v = 1")
    ensure_equal(slope, (v - 1) / v, "the slope of the gap is (v-1)/v", normal=sp.simplify)
    ensure_true(never_negative((1 + r) ** 2 - (1 + r), r), "R <= R^2 for R >= 1")
    excess = sp.log(printed_over_norm())
    ensure_equal(excess, R**2 - R, "the printed constant is exp(R^2 - R) times the sharp one")
    ensure_equal(edge_ratio(), 1, "the ratio of both sides has the limit 1")
    ensure_equal(ball_ratio(), 1, "so has that with R exp(R^2) where R bounds the points")
    return "e^a - e^b <= e^a (a - b) for all a, b, with the limit 1 of their ratio as b -> a"
