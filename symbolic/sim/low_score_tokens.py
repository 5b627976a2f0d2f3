"""The effect of leaving out tokens of least score: on the attended score and on the programme."""

from __future__ import annotations

import numpy as np
import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import cancelled, expanded, factored, suppose, supposed_number
from properties.sim import low_score_tokens as statement
from properties.sim.low_score_tokens import NO_LOW_SUPPORT
from properties.sim.low_score_tokens.left_out import lower_scores
from symbolic.alternatives import FALLING, SMOOTH_SLOPE, SOLUTION
from symbolic.basins import ensure_kept
from symbolic.inner_products import vector
from symbolic.least_points import ensure_least_point, ensure_supported
from symbolic.sums import ensure_mean
from symbolic.textbook import DIFFERENTIABLE, MEAN_VALUE_ON_A_LINE, TRIANGLE

LOW, KEPT = sp.symbols("P_low P_kept", positive=True)
"""Sums of exp(logit) over the tokens that are left out, and over the others."""


def ensure_mixture() -> None:
    """Prove that the attended value is p times that of the tokens left out, 1 - p that of the rest.

    p is the attention to the tokens left out.
    """
    of_low, of_kept = sp.symbols("G_low G_kept", real=True)
    p = LOW / (LOW + KEPT)
    ensure_equal(
        attended(of_low / LOW, of_kept / KEPT),
        p * (of_low / LOW) + (1 - p) * (of_kept / KEPT),
        "sum_t f_t a_t is p times that of the tokens left out and 1 - p times that of the rest, "
        "with sums P of exp(logit) and G of exp(logit) a_t",
        normal=cancelled,
    )
    ensure_positive(p, "p, their share of attention, is positive", normal=cancelled)


def attended(of_low: sp.Expr, of_kept: sp.Expr) -> sp.Expr:
    """Return the attended value of all tokens, from that of the tokens left out and of the rest."""
    return (LOW * of_low + KEPT * of_kept) / (LOW + KEPT)


def prove_no_lower() -> str:
    """Prove that <f, gamma> is no lower without the tokens of least score."""
    ensure_mixture()
    least, more = sp.Symbol("least", real=True), sp.Symbol("more", nonnegative=True)
    rest = least + more
    ensure_mean(KEPT, rest, "u_rest is a mean of scores that are at least the least", least=least)
    ensure_nonnegative(
        rest - attended(least, rest),
        "u_rest - u = p (u_rest - u_low), and u_rest >= u_low",
        normal=factored,
    )
    return "at every X, for any number of inputs and tokens"


def prove_kept() -> str:
    """Prove that a start in the basin stays in it without the tokens of least score.

    In both runs no token but an optimal one can get a weight that tends to 1. If optimal tokens are
    tied, s_o is the sum of their weights.
    """
    prove_no_lower()
    least, more = sp.Symbol("least", real=True), sp.Symbol("more", nonnegative=True)
    rest = least + more
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: SMOOTH_SLOPE})
    ensure_nonnegative(
        supposed_number(FALLING, "slope", positive=True) * (rest - attended(least, rest)),
        "l falls, so that the gap is no larger without the tokens of least score, by |l'| (u_rest "
        "- u); the threshold is no smaller: an input of three scores keeps its second best, one of "
        "two keeps one score and has neither gap nor threshold",
        normal=factored,
    )
    ensure_kept()
    second, best, s = sp.symbols("second best s", real=True)
    above = sp.Symbol("above", positive=True)
    ensure_positive(
        sp.limit((second + above + more - (1 - s) * best) / s, s, 1) - second,
        "u stays second + above at least; where the weight s of a token tends to 1 its score, at "
        "least (u - (1 - s) best)/s, is above second in the end",
        normal=expanded,
    )
    return "for every smooth decreasing loss, any number of inputs and tokens, ties included"


def prove_as_much() -> str:
    """Prove that lowering the scores of the tokens of least score does not change the programme.

    The programme without these tokens is meant. Its A_t = (x_opt - x_t) z^T and bounds 1 contain no
    score; scores only decide which token is optimal and which tokens are left out.
    """
    suppose(statement.LOWERED)
    least, by = sp.Symbol("least", real=True), sp.Symbol("by", nonnegative=True)
    lead, ahead = sp.symbols("lead ahead", positive=True)
    scores = np.array([least + ahead + lead, least + ahead, least, least], dtype=object)
    best, other, low, also = lower_scores(scores, np.array([False, False, True, True]), by)
    ensure_positive(
        [best - low, best - other], "the token of the best score keeps it", normal=expanded
    )
    ensure_positive(
        other - low,
        "tokens of least score, which all lose as much, stay below the others",
        normal=expanded,
    )
    ensure_zero(
        low - also,
        "two tokens of least score stay tied, and no other token comes to be tied with them",
        normal=expanded,
    )
    ensure_least_point()
    return "in any dimension: of scores the programme reads only which token is optimal"


def prove_unchanged() -> str:
    """Prove that X^mm is the same without the tokens of least score if their margins exceed 1."""
    ensure_supported()
    over, w = supposed_number(NO_LOW_SUPPORT, "over", positive=True), sp.Symbol("w", positive=True)
    ensure_positive(
        w * over,
        "w_j (<A_j, X> - 1), which is 0, would be above 0 for a token of least score of positive "
        "multiplier, as its margin is above 1: what is dropped has multiplier 0",
    )
    return "in any dimension: what is left proves X least"


def prove_output() -> str:
    """Prove that leaving out N tokens moves the output at W = r X^mm by at most N exp(-r) diam.

    diam is the largest distance of two tokens.
    """
    ensure_mixture()
    p = LOW / (LOW + KEPT)
    a, b = vector("mean_low"), vector("mean_kept")
    moved = b - (p * a + (1 - p) * b)
    apart = b - a
    ensure_equal(
        moved @ moved,
        p**2 * (apart @ apart),
        "the output moves by p ||mean of the rest - mean of those left out||",
        normal=cancelled,
    )
    cite(TRIANGLE)  # two means of tokens are at most the largest distance of two tokens apart
    count, grown = sp.symbols("N grown", nonnegative=True)
    suppose(SOLUTION)
    power, rest = sp.Symbol("exp(-r)", positive=True), sp.Symbol("rest", nonnegative=True)
    ensure_nonnegative(
        power - power / (1 + grown),
        "exp(-r m) <= exp(-r) for a margin m >= 1 and r >= 0: it is exp(-r) over "
        "exp(r (m - 1)) = 1 + grown",
        normal=factored,
    )
    sums = sp.Symbol("sum", nonnegative=True)  # the sum of exp(-r m_t) over the tokens left out
    ensure_nonnegative(
        sums - sums / (1 + sums + rest),
        "p = sum/(1 + sum + rest), against the optimal token's 1, is at most the sum",
        normal=factored,
    )
    left = sp.Symbol("left", nonnegative=True)  # the distance of one term below exp(-r)
    ensure_nonnegative(
        count * power - count * (power - left),
        "the sum of N terms that are at most exp(-r) is at most N exp(-r)",
        normal=expanded,
    )
    ensure_nonnegative(
        [(1 + left) * (1 + grown) - 1, 1 - p],
        "for r < 0, where exp(-r) = 1 + grown, and N >= 1 the bound is no less than diam, and p is "
        "at most 1",
        normal=cancelled,
    )
    return "for every r and any number of inputs, tokens and axes"
