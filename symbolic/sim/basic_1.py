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

R = sp.Symbol("R", positive=True)


def secant_gap() -> tuple[Any, Any]:
    """-log v - (1 - v) at v = 1, and its derivative in v."""
    v = sp.Symbol("v", positive=True)
    gap = -sp.log(v) - (1 - v)
    return gap.subs(v, 1), sp.factor(sp.together(sp.diff(gap, v)))


def never_negative(polynomial: Any, *variables: Any) -> bool:
    """Whether all coefficients are at least 0, so that the values at variables >= 0 are."""
    return all(c >= 0 for c in sp.Poly(sp.expand(polynomial), *variables).coeffs())


def compared(A: Any, x: Any, y: Any, constant: str) -> Any:
    """The sides of the claim for one token of one coordinate and the radius R."""
    v = SimpleNamespace(A=entries([[A]]), x=entries([x]), y=entries([y]), R=R)
    return bounded(SYMBOLS, v, constant)


def limit_ratio(A: Any, x: Any, constant: str) -> Any:
    """The limit of these sides, squared, as y -> x from below."""
    step = sp.Symbol("step", positive=True)
    sides = compared(A, x, x - step, constant)
    return sp.limit(sides.left**2 / sides.right**2, step, 0)


def prove() -> str:
    """Prove the secant bound, that R <= R^2 from R = 1 on, and that the constant is reached.

    The gap is 0 at v = 1; its slope is (v-1)/v, below 0 for v < 1 and above 0 for v > 1. So it is
    at least 0 for every v > 0.
    """
    v, r = sp.Symbol("v", positive=True), sp.Symbol("r", nonnegative=True)
    value, slope = secant_gap()
    ensure_zero(value, "the gap -log v - (1 - v) is 0 at v = 1")
    ensure_equal(slope, (v - 1) / v, "the slope of the gap is (v-1)/v", normal=sp.simplify)
    ensure_true(never_negative((1 + r) ** 2 - (1 + r), r), "R <= R^2 for R >= 1")
    printed, norm = (compared(R, 1 + 0 * R, 0 * R, name).right for name in ("printed", "norm"))
    excess = sp.log(sp.simplify(printed / norm))
    ensure_equal(excess, R**2 - R, "the printed constant is exp(R^2 - R) times the sharp one")
    a = sp.Symbol("a", positive=True)
    ensure_equal(limit_ratio(a, R / a, "norm"), 1, "the ratio of both sides has the limit 1")
    at_rim = limit_ratio(R, R, "printed")
    ensure_equal(at_rim, 1, "so has that with R exp(R^2) where R bounds the points")
    return "e^a - e^b <= e^a (a - b) for all a, b, with the limit 1 of their ratio as b -> a"
