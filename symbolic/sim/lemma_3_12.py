"""The supremum of |g''|, g the logistic function, exactly.

With u = e^x every derivative of g = u/(1+u) is a rational function of u > 0, by d/dx = u d/du.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.losses import curvature_constant, curvature_kernel, slope_kernel
from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.declaration.proof import cancelled
from properties.sim.lemma_3_12 import LEMMA
from symbolic.mean_value import ensure_bound_of_slope, ensure_no_less

u = sp.Symbol("u", positive=True)


def derivatives(order: int) -> list[Any]:
    """g, g', ..., up to the order, as rational functions of u = e^x."""
    found: list[Any] = [u / (1 + u)]
    for _ in range(order):
        found.append(cancelled(u * sp.diff(found[-1], u)))
    return found


def identities() -> list[Any]:
    """Derivatives by g alone, and the code's kernels against them: all of these are 0.

    g' = g (1 - g), g'' = g' (1 - 2 g), and the third one g' (1 - 6 g (1 - g)). Then g as the code
    evaluates it, for x >= 0, where e = exp(-|x|) is 1/u, and below, where e is u; and so its
    kernels of g' and of g'', the sign of the latter that of -x.
    """
    g, first, second, third = derivatives(3)
    found = [first - g * (1 - g), second - first * (1 - 2 * g)]
    found += [third - first * (1 - 6 * g * (1 - g))]
    found += [1 / (1 + 1 / u) - g, u / (1 + u) - g]
    found += [slope_kernel(e) - first for e in (u, 1 / u)]
    found += [-curvature_kernel(1 / u) - second, curvature_kernel(u) - second]
    return [cancelled(x) for x in found]


def ensure_cubic() -> None:
    """For a >= 0 the cubic a (1-a^2) is at most 2/(3 sqrt 3), with equality at 1/sqrt 3."""
    k, root = sp.Symbol("a", nonnegative=True), 1 / sp.sqrt(3)
    rest = (k - root) ** 2 * (k + 2 * root)
    ensure_equal(
        2 * root / 3 - k * (1 - k**2),
        rest,
        "2/(3 sqrt 3) - a (1-a^2) is (a - 1/sqrt 3)^2 (a + 2/sqrt 3)",
    )
    ensure_nonnegative(rest, CUBIC)


CUBIC = (
    "(a - 1/sqrt 3)^2 (a + 2/sqrt 3) is not negative, so that a (1-a^2) is at most 2/(3 "
    "sqrt 3), for a >= 0"
)


def ensure_curvature() -> sp.Expr:
    """The supremum of |g''|, which is the constant that the code evaluates."""
    *_, second = derivatives(2)
    c = (1 - u) / (1 + u)
    ensure_equal(second, c * (1 - c**2) / 4, "g'' = c (1-c^2)/4 for c = 1 - 2 g", normal=cancelled)
    ensure_cubic()
    constant, root = curvature_constant(sp.sqrt), 1 / sp.sqrt(3)
    ensure_equal(constant, root / 6, "so |g''| <= 1/(6 sqrt 3), the code's constant")
    reached = second.subs(u, (1 - root) / (1 + root))
    reaches = "g'' reaches 1/(6 sqrt 3) at c = 1/sqrt 3"
    ensure_equal(reached, constant, reaches, normal=lambda x: sp.expand(sp.radsimp(x)))
    ensure_no_less(reaches, (u / (1 + u) ** 2).subs(u, sp.exp(sp.Symbol("x", real=True))))
    return constant


def prove() -> str:
    """Prove the supremum, that the code's kernels are these derivatives, and both readings."""
    ensure_zero(
        identities(),
        "g' = g (1-g), g'' = g' (1-2g) and g''' = g' (1-6g(1-g)), and the code evaluates g, "
        "g' and g'' as these",
    )
    constant = ensure_curvature()
    ensure_equal(derivatives(1)[1], u / (1 + u) ** 2, "g' = u / (1 + u)^2", normal=cancelled)
    for reading, said in ("literal", sp.Integer(1)), ("sharp", constant):
        ensure_bound_of_slope(LEMMA, reading, lambda w: w / (1 + w) ** 2, said, constant)
    return (
        "g' = g (1 - g), g'' = g' (1 - 2 g), sup |g''| = 1/(6 sqrt 3) <= 1: g' is Lipschitz with "
        "it by the mean value theorem, and with nothing less"
    )
