"""The logistic function is 1/4-Lipschitz: sup g' = 1/4."""

from __future__ import annotations

import sympy as sp

from attsvm.losses import slope_kernel
from attsvm.theory import ensure_equal, ensure_nonnegative
from attsvm.theory.declaration.proof import cancelled, simplified
from properties.sim.logistic_lipschitz import STEP
from symbolic.mean_value import ensure_bound_of_slope, ensure_no_less
from symbolic.sim.lemma_3_12 import derivatives, u


def prove() -> str:
    """Prove that g' is at most 1/4, and that 1/4 is reached."""
    _, first = derivatives(1)
    quarter, square = sp.Rational(1, 4), (1 - u) ** 2 / (4 * (1 + u) ** 2)
    slope = slope_kernel(u)  # by the code, at e^-|x|, that is u or 1/u
    ensure_equal(slope_kernel(1 / u), slope, "the code's g' is even", normal=cancelled)
    ensure_equal(slope, first, "the code's g' is the derivative of g", normal=cancelled)
    ensure_equal(quarter - slope, square, "1/4 - g' is a square", normal=simplified)
    ensure_nonnegative([square, first], "so g' is in [0, 1/4]")
    x = sp.Symbol("x", positive=True)
    steepest = sp.limit((1 / (1 + sp.exp(-x)) - 1 / (1 + sp.exp(x))) / (2 * x), x, 0)
    reached = "the quotients of g between x and -x tend to 1/4 as x tends to 0"
    ensure_equal(steepest, quarter, reached)
    ensure_no_less(reached, 1 / (1 + sp.exp(-x)))
    for reading, said in ("literal", sp.Integer(1)), ("sharp", quarter):
        ensure_bound_of_slope(STEP, reading, lambda w: w / (1 + w), said, quarter)
    return "1/4 - g' = ((1 - u)/(2 (1 + u)))^2 with u = e^x, so g is 1/4-Lipschitz, and no less"
