"""A step on the decreasing loss raises <X, X^mm> under either part of assumption 3.10."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_positive
from attsvm.theory.arithmetic.symbols import SYMBOLS
from symbolic.gains import (
    ensure_gain,
    ensure_gain_of_equal_rivals,
    ensure_gain_of_support,
    ensure_positive_gain,
)


def prove_gain() -> str:
    """A step eta raises <X, X^mm> by eta (1/n) sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t)."""
    slope = SYMBOLS.logistic_slope(sp.Symbol("u", real=True))
    ensure_positive(slope, "|l'| = g'(u) is positive")
    ensure_gain()
    ensure_gain_of_support()
    ensure_gain_of_equal_rivals()
    return "at least, and exactly so in part 1, for any n, T, d and any step"


def prove_raised() -> str:
    """It is raised where some input has two different scores."""
    prove_gain()
    ensure_positive_gain()
    return "for any n, T, d and any step"
