"""A step on the printed loss lowers <X, X^mm> under either part of assumption 3.10."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_positive
from attsvm.theory.arithmetic.symbols import SYMBOLS
from symbolic.gains import (
    ensure_gain,
    ensure_gain_of_equal_rivals,
    ensure_gain_of_support,
    ensure_positive_gain,
)


def prove() -> str:
    """Every step of descent on g(u) lowers it where some input has two different scores.

    Raises:
        ProofError: a step fails.
    """
    u = sp.Symbol("u", real=True)
    slope = SYMBOLS.logistic_slope(u)
    ensure_equal(
        sp.diff(SYMBOLS.logistic(u), u), slope, "the slope of g", normal=lambda x: sp.simplify(x)
    )
    ensure_positive(slope, "so that -l'(u) = -g'(u) is negative")
    ensure_gain()
    ensure_gain_of_support()
    ensure_gain_of_equal_rivals()
    ensure_positive_gain()
    return "for any number of sequences, tokens and columns, any d and any step"
