"""Orthonormal tokens with one successor each: every step raises every margin."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_positive
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import suppose
from properties.sim import figure_2 as statement
from symbolic.gains import ensure_gain
from symbolic.least_points import ensure_product


def prove() -> str:
    """Prove that the margin (e_a - e_t)^T X e_q grows, a the successor of q, at every step."""
    ensure_gain()
    slope = SYMBOLS.logistic_slope(sp.Symbol("u", real=True))
    ensure_positive(slope, "|l'| = g'(u) is positive")
    s_a, s_t = sp.symbols("s_a s_t", positive=True)
    s_r = sp.Symbol("s_r", nonnegative=True)  # the rest of the vocabulary
    suppose(statement.ORTHONORMAL, statement.SUCCESSOR)
    u = s_a  # scores are <e_a, e_t>: 1 for a, 0 for the others
    total = {s_r: 1 - s_a - s_t}
    of_a, of_t = s_a * (1 - u), s_t * (0 - u)
    ensure_equal(
        of_a - of_t,
        (s_a * (s_r + 2 * s_t)).subs(total),
        "the slope of u along e_a - e_t is s_a (1 - s_a) + s_t s_a, as tokens are orthonormal",
    )
    ensure_positive(
        s_a * (s_r + 2 * s_t),
        "s_a (1 - s_a) + s_t s_a is positive, and so is its sum over repeated problems",
    )
    ensure_product()  # problems with other queries, orthogonal to this one, add 0
    return "for any vocabulary, any sentences with one successor a token, any start and step"
