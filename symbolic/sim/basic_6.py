"""The diagonal matrix of the softmax weights: sqrt(2)/4 spread(A)-Lipschitz as an operator.

This is the Lipschitz constant of one weight.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import expanded, simplified
from properties.sim._support.bounds import entry_constant, softmax_constant
from properties.sim.basic_4 import sharp as fourth_bound
from properties.sim.basic_6 import BOUND, sharp
from symbolic.curvature import CUBE, ensure_cube
from symbolic.mean_value import SOFTMAX, ensure_lipschitz, ensure_no_less
from symbolic.sim import basic_4
from symbolic.sim.basic_4 import LINEAR, MORE, P
from symbolic.textbook import CONVEX_FUNCTION, CONVEX_MAXIMUM, COORDINATES, HULL, OPERATOR_NORM


def ensure_entries() -> None:
    """Prove that an entry of Df[s] is at most (max s - min s)/4 in size, for every n."""
    basic_4.ensure_linear()
    ensure_cube()
    cite(CONVEX_MAXIMUM, met={CONVEX_FUNCTION: LINEAR, HULL: CUBE})
    ensure_zero(
        basic_4.entry_residuals(),
        "for the indicator s of a set of weight P the entries of Df[s] are f_t (1 - P) in it "
        "and -f_t P elsewhere",
    )
    rest = sp.Symbol("1-P", nonnegative=True)
    ensure_nonnegative(
        [P * rest - (P - MORE) * rest, P * rest - (rest - MORE) * P],
        "f_t is at most P in the set, and 1 - P elsewhere: these entries are at most P (1 - "
        "P) in size",
        normal=expanded,
    )
    largest = entry_constant(SYMBOLS) / sp.sqrt(2)  # as for `basic_4.largest`
    square = (P - sp.Rational(1, 2)) ** 2
    ensure_equal(largest - P * (1 - P), square, "P (1 - P) is 1/4 less (P - 1/2)^2")
    ensure_nonnegative(
        square,
        "(P - 1/2)^2 is not negative, so that an entry of Df[s] is at most (max s - min s)/4",
    )


def prove() -> str:
    """Prove the largest entry of the derivative, and that two tokens reach it.

    In the Frobenius norm this is the fourth bound.
    """
    ensure_entries()
    basic_4.ensure_span()
    cite(OPERATOR_NORM)
    slope = "so an entry of Df[A z] is at most the constant of sharp-1, for a unit z"
    constant = basic_4.constant_of(sharp, "spectral", entry_constant)
    ensure_equal(constant, sp.sqrt(2) * basic_4.SPREAD / 4, slope)
    ensure_lipschitz(slope, SOFTMAX)
    limit = basic_4.limit_ratio(sharp, "spectral", entry_constant)
    reached = "the difference quotients of two tokens tend to the constant"
    ensure_equal(limit, 1, reached)
    ensure_no_less(reached, SOFTMAX)
    basic_4.prove()
    v = basic_4.opposite(sp.Integer(1))
    comparison, fourth = sharp(SYMBOLS, v, "frobenius", softmax_constant), fourth_bound(SYMBOLS, v)
    ensure_equal(
        [comparison.left, comparison.right],
        [fourth.left, fourth.right],
        "sharp-2 compares what the fourth bound does",
        normal=simplified,
    )
    return "entries of Df[s] are at most (max s - min s)/4, so sqrt(2)/4 spread(A), and no less"


def prove_published() -> str:
    """Prove the fourth bound with the readings' right side, as max |f_t - g_t| <= ||f - g||."""
    change = basic_4.WEIGHTS[0] - basic_4.WEIGHTS[1]
    cite(OPERATOR_NORM)
    cite(COORDINATES)
    basic_4.ensure_printed(BOUND, "literal-1", max(map(abs, change)))
    basic_4.ensure_printed(BOUND, "literal-2", change.norm())
    return basic_4.prove_published()
