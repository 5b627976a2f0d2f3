"""The suprema of g' and g'' of the logistic function, exactly.

With u = e^x every derivative of g = u/(1+u) is a rational function of u > 0, by d/dx = u d/du.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.losses import curvature_constant, curvature_kernel, slope_kernel
from attsvm.theory import ensure_equal, ensure_zero
from properties.sim.lemma_3_12 import LEMMA
from symbolic.mean_value import ensure_bound_of_slope

u = sp.Symbol("u", positive=True)


def derivatives(order: int) -> list[Any]:
    """g, g', ..., up to the order, as rational functions of u = e^x."""
    found: list[Any] = [u / (1 + u)]
    for _ in range(order):
        found.append(sp.cancel(u * sp.diff(found[-1], u)))
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
    return [sp.cancel(x) for x in found]


def _supremum(value: Any, derivative: Any) -> Any:
    """Sup |value| over u > 0 from its critical points and its limits at 0 and infinity.

    Raises:
        ProofError: not all critical points are found.
    """
    numerator = sp.Poly(sp.numer(sp.together(derivative / u)), u)
    roots = sp.roots(numerator)
    ensure_equal(sum(roots.values()), numerator.degree(), "no critical point is missed")
    points = [root for root in roots if root.is_positive]
    heights = [sp.radsimp(sp.Abs(value.subs(u, root))) for root in points]
    heights += [sp.Abs(sp.limit(value, u, end)) for end in (0, sp.oo)]
    return sp.Max(*[sp.sqrtdenest(sp.simplify(h)) for h in heights])


def slope_supremum() -> Any:
    """Sup g' = 1/4."""
    _, first, second = derivatives(2)
    return _supremum(first, second)


def curvature_supremum() -> Any:
    """Sup |g''| = 1/(6 sqrt 3)."""
    *_, second, third = derivatives(3)
    return _supremum(second, third)


def prove() -> str:
    """Prove both suprema, that the code's kernels are these derivatives, and both readings."""
    ensure_zero(identities(), "the derivatives by g alone are those that the code evaluates")
    ensure_equal(slope_supremum(), sp.Rational(1, 4), "sup g' = 1/4", normal=sp.simplify)
    constant = curvature_constant(sp.sqrt)
    ensure_equal(curvature_supremum(), constant, "sup |g''| = 1/(6 sqrt 3)", normal=sp.simplify)
    for reading, said in ("literal", sp.Integer(1)), ("sharp", constant):
        ensure_bound_of_slope(LEMMA, reading, lambda w: w / (1 + w) ** 2, said, constant)
    ensure_equal(derivatives(1)[1], u / (1 + u) ** 2, "g' = u / (1 + u)^2", normal=sp.cancel)
    return (
        "g' = g (1 - g), g'' = g' (1 - 2 g), sup |g''| = 1/(6 sqrt 3) <= 1: g' is Lipschitz with "
        "it by the mean value theorem"
    )
