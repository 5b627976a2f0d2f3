"""The logistic function is 1/4-Lipschitz: sup g' = 1/4, and the suprema of |g'| and |g''|."""

from __future__ import annotations

import sympy as sp

from attsvm.losses import curvature_constant, curvature_kernel, slope_kernel
from attsvm.theory import ensure_equal
from properties.sim.logistic_lipschitz import STEP
from symbolic.mean_value import ensure_bound_of_slope
from symbolic.sim.lemma_3_12 import curvature_supremum, derivatives, slope_supremum

u = sp.Symbol("u", positive=True)
"""e^x."""


def prove() -> str:
    """Prove sup g' = 1/4 in two ways, sup |g''| = 1/(6 sqrt 3), and that 1/4 is reached."""
    _, first, second = derivatives(2)
    quarter, square = sp.Rational(1, 4), (1 - u) ** 2 / (4 * (1 + u) ** 2)
    slope = slope_kernel(u)  # by the code, at e^-|x|, that is u or 1/u
    ensure_equal(quarter - slope, square, "1/4 - g' is a square", normal=sp.simplify)
    ensure_equal(slope_kernel(1 / u), slope, "the code's g' is even", normal=sp.cancel)
    ensure_equal(slope, first, "the code's g' is the derivative of g", normal=sp.cancel)
    curvature = curvature_kernel(u)
    ensure_equal(curvature, second, "the code's g'' is the derivative of g'", normal=sp.cancel)
    ensure_equal(slope_supremum(), quarter, "sup g' = 1/4", normal=sp.simplify)
    constant = curvature_constant(sp.sqrt)
    ensure_equal(curvature_supremum(), constant, "sup |g''| = 1/(6 sqrt 3)", normal=sp.simplify)
    x = sp.Symbol("x", positive=True)
    steepest = sp.limit((1 / (1 + sp.exp(-x)) - 1 / (1 + sp.exp(x))) / (2 * x), x, 0)
    ensure_equal(steepest, quarter, "g reaches the constant 1/4 at 0")
    for reading, said in ("literal", sp.Integer(1)), ("sharp", quarter):
        ensure_bound_of_slope(STEP, reading, lambda w: w / (1 + w), said, quarter)
    return "1/4 - g' = ((1 - u)/(2 (1 + u)))^2 with u = e^x, so g is 1/4-Lipschitz, and no less"
