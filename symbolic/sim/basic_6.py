"""One weight of softmax is sqrt(2)/4-Lipschitz."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from properties.sim._support.bounds import entry_constant
from properties.sim.basic_6 import BOUND, sharp
from symbolic.sim import basic_4


def prove() -> str:
    """Prove the largest entry of the derivative, and that two tokens reach it."""
    P = basic_4.P
    ensure_zero(basic_4.entry_residuals(), "the entries of Df[s] are f_t (1 - P) and -f_t P")
    largest = entry_constant(SYMBOLS) / sp.sqrt(2)  # as for `basic_4.largest`
    square = (P - sp.Rational(1, 2)) ** 2
    ensure_equal(largest - P * (1 - P), square, "an entry of Df[s] is at most 1/4")
    limit = basic_4.limit_ratio(sharp, "spectral", entry_constant)
    ensure_equal(limit, 1, "two tokens reach the constant")
    basic_4.prove()
    return "entries of Df[s] are at most (max s - min s)/4, so sqrt(2)/4 spread(A), and no less"


def prove_published() -> str:
    """The fourth bound, as max |f_t - g_t| <= ||f - g||; the readings have its right side."""
    change = basic_4.WEIGHTS[0] - basic_4.WEIGHTS[1]
    basic_4.ensure_printed(BOUND, "literal-1", max(map(abs, change)))
    basic_4.ensure_printed(BOUND, "literal-2", change.norm())
    return basic_4.prove_published()
