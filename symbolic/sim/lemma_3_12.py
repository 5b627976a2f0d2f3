"""The suprema of g' and g'' of the logistic function, exactly.

With u = e^x every derivative of g = u/(1+u) is a rational function of u > 0, by d/dx = u d/du.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.losses import curvature_kernel, slope_kernel

__all__ = ["curvature_supremum", "derivatives", "prove", "slope_supremum"]

u = sp.Symbol("u", positive=True)


def derivatives(order: int) -> list[Any]:
    """g, g', ..., up to the order, as rational functions of u = e^x."""
    found: list[Any] = [u / (1 + u)]
    for _ in range(order):
        found.append(sp.cancel(u * sp.diff(found[-1], u)))
    return found


def _supremum(value: Any, derivative: Any) -> Any:
    """Sup |value| over u > 0 from its critical points and its limits at 0 and infinity."""
    numerator = sp.Poly(sp.numer(sp.together(derivative / u)), u)
    roots = sp.roots(numerator)
    assert sum(roots.values()) == numerator.degree()  # none was missed
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
    """Prove both suprema, and that the code's kernels are these derivatives.

    Raises:
        AssertionError: an identity fails.
    """
    _, first, second = derivatives(2)
    for e in (u, 1 / u):  # e = exp(-|x|) is 1/u for x >= 0 and u below
        assert sp.cancel(slope_kernel(e) - first) == 0
    assert sp.cancel(-curvature_kernel(1 / u) - second) == 0
    assert sp.cancel(curvature_kernel(u) - second) == 0
    assert sp.simplify(slope_supremum() - sp.Rational(1, 4)) == 0
    assert sp.simplify(curvature_supremum() - 1 / (6 * sp.sqrt(3))) == 0
    return "sup |g''| = 1/(6 sqrt 3) <= 1, so g' is Lipschitz with it by the mean value theorem"
