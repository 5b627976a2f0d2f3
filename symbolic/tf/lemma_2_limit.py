"""How near the risk of a matrix of given norm comes to that at the optimal tokens, from both sides.

Letters are those of `properties.tf.lemma_2_limit`. Odds are weights over that of the largest
optimal token of their input.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from symbolic.least_points import ensure_least_point
from symbolic.textbook import EXPONENTIAL

K, R, POWER = sp.symbols("k r power", positive=True)
"""Optimal and other tokens of an input, and exp(x)."""
MORE, LESS = sp.symbols("more less", nonnegative=True)


def ensure_margin() -> None:
    """Some margin of W is at most ||W||/N, at most 0 where nothing separates."""
    ensure_least_point()
    norm, N, margin = sp.symbols("norm N margin", positive=True)
    ensure_nonnegative(
        (norm / margin - N).subs(norm, N * margin + MORE),
        "were all margins at least margin > 0, W/margin would meet the constraints of a choice, so "
        "be no shorter than N: margin <= ||W||/N",
        normal=sp.cancel,
    )


def ensure_below() -> None:
    """The weight off the optimal tokens is at least 1/(1 + k exp(x)) in some input."""
    odd = 1 / POWER + MORE
    ensure_nonnegative(
        odd / (K + odd) - 1 / (1 + K * POWER),
        "an odd of at least exp(-x) against k optimal tokens of odds 1 at most",
        normal=sp.factor,
    )
    gap = sp.Symbol("gap", positive=True)
    ensure_positive(
        gap / (1 + K * POWER) + LESS,
        "best - <s, gamma> is at least that times the next gap, so "
        "l grows by what it does there at least, and other inputs add no less than 0",
    )


def ensure_above() -> None:
    """The weight off the optimal tokens is at most r/(r + exp(x)) in every input at x M."""
    odds = sp.Symbol("odds", nonnegative=True)
    cite(EXPONENTIAL)
    ensure_nonnegative(
        1 / POWER * (1 - 1 / (1 + MORE)),
        "a margin of x + more has an odd of at most exp(-x)",
        normal=sp.factor,
    )
    ensure_nonnegative(
        (R / (R + POWER) - odds / (1 + LESS + odds)).subs(POWER, R / (odds + MORE)),
        "odds of sum r exp(-x) at most, against optimal tokens of odds 1 + less, have that weight",
        normal=sp.factor,
    )
    ensure_equal(
        sp.limit(R / (R + sp.exp(sp.Symbol("x"))), sp.Symbol("x"), sp.oo), 0, "which tends to 0"
    )


def prove() -> str:
    """Both bounds of L(W) - L_*."""
    ensure_margin()
    ensure_below()
    ensure_above()
    return "for every strictly decreasing loss, any n, T and d, ties included"
