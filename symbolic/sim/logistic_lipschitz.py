"""The logistic function is 1/4-Lipschitz: sup g' = 1/4, and the suprema of |g'| and |g''|."""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.lipschitz import curvature_constant
from attsvm.losses import curvature_kernel, slope_kernel
from symbolic.sim.lemma_3_12 import curvature_supremum, derivatives, slope_supremum

__all__ = ["gap", "limit_ratio", "prove"]

u = sp.Symbol("u", positive=True)


def gap() -> Any:
    """1/4 - g' as a square, u = e^x; g' is the code's kernel at e^-|x|, that is u or 1/u."""
    return sp.factor(sp.Rational(1, 4) - slope_kernel(u))


def limit_ratio() -> Any:
    """Limit of |g(x) - g(-x)| / (2 x) as x -> 0."""
    x = sp.Symbol("x", positive=True)
    return sp.limit((1 / (1 + sp.exp(-x)) - 1 / (1 + sp.exp(x))) / (2 * x), x, 0)


def prove() -> str:
    """Prove sup g' = 1/4 in two ways, sup |g''| = 1/(6 sqrt 3), and that 1/4 is reached.

    Raises:
        AssertionError: one of them fails.
    """
    _, first, second = derivatives(2)
    assert sp.simplify(gap() - (1 - u) ** 2 / (4 * (1 + u) ** 2)) == 0
    assert sp.cancel(slope_kernel(1 / u) - slope_kernel(u)) == 0
    assert sp.cancel(slope_kernel(u) - first) == 0
    assert sp.cancel(curvature_kernel(u) - second) == 0
    assert sp.simplify(slope_supremum() - sp.Rational(1, 4)) == 0
    assert sp.simplify(curvature_supremum() - curvature_constant(sp.sqrt)) == 0
    assert limit_ratio() == sp.Rational(1, 4)
    return "1/4 - g' = ((1 - u)/(2 (1 + u)))^2 with u = e^x, so g is 1/4-Lipschitz, and no less"
