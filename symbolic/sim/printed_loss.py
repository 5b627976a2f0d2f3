"""A step on the printed loss lowers <X, X^mm> under either part of assumption 3.10."""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.hypotheses import EITHER_PART
from attsvm.theory import ensure_equal
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import simplified, suppose
from symbolic.alternatives import SOLUTION, TWO_SCORES
from symbolic.gains import ensure_positive_gain
from symbolic.sim.self_attention import ensure_reduction
from symbolic.sim.token_separation import ensure_change


def prove() -> str:
    """Prove that every step of descent on g(u) lowers it if some input has two different scores."""
    u = sp.Symbol("u", real=True)
    slope = SYMBOLS.logistic_slope(u)  # so that -l'(u) = -g'(u) is negative
    ensure_equal(
        sp.diff(SYMBOLS.logistic(u), u),
        slope,
        "the slope of g is g', as the code evaluates it",
        normal=simplified,
    )
    ensure_reduction()
    suppose(SOLUTION, EITHER_PART)
    ensure_change()
    ensure_positive_gain(TWO_SCORES)
    return "for any number of sequences, tokens and columns, any d and any step"
