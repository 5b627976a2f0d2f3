"""Proofs, as steps that computer algebra executes."""

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative


def slope_is_bounded() -> str:
    """Prove that the slope of g is at most 1/4: 1/4 - g (1 - g) is a square."""
    x = sp.Symbol("x", real=True)
    g = 1 / (1 + sp.exp(-x))
    ensure_equal(sp.diff(g, x), g * (1 - g), "g' = g (1 - g)", normal=sp.simplify)
    t = sp.Symbol("t", real=True)
    left = sp.Rational(1, 4) - t * (1 - t)
    ensure_equal(left, (t - sp.Rational(1, 2)) ** 2, "1/4 - t (1 - t) is a square")
    ensure_nonnegative((t - sp.Rational(1, 2)) ** 2, "a square is at least 0")
    return "g'(x) <= 1/4 for all real x"
