"""The effect of leaving out tokens of least score: on the attended score and on the programme."""

import numpy as np
import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import cancelled, expanded, factored, suppose, supposed_number
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, SOLUTION
from properties.sim import low_score_tokens as statement
from properties.sim.low_score_tokens.left_out import lower_scores
from symbolic.basins import ensure_kept
from symbolic.inner_products import vector
from symbolic.least_points import ensure_least_point
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


def ensure_no_lower() -> None:
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


def prove_kept() -> str:
    """Prove that a start in the basin stays in it without the tokens of least score.

    In both runs no token but an optimal one can get a weight that tends to 1. If optimal tokens are
    tied, s_o is the sum of their weights.
    """
    ensure_no_lower()
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


def prove_output() -> str:
    """Prove that leaving out N tokens moves the output at r X^mm by at most N/(N + exp(r)) diam.

    diam is the largest distance of two tokens, and r >= 0. Two tokens attain it.
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
    count, rest = sp.symbols("N rest", nonnegative=True)
    suppose(SOLUTION)
    power = sp.Symbol("exp(-r)", positive=True)
    over = supposed_number(statement.OUTWARDS, "r", nonnegative=True)
    beyond = sp.Symbol("m - 1", nonnegative=True)
    ensure_nonnegative(
        over * (1 + beyond) - over,
        "r m >= r for a margin m >= 1 and r >= 0, so that exp(-r m) <= exp(-r)",
        normal=expanded,
    )
    left = sp.Symbol("left", nonnegative=True)  # the distance of one term below exp(-r)
    ensure_nonnegative(
        count * power - count * (power - left),
        "the sum of N terms that are at most exp(-r) is at most N exp(-r)",
        normal=expanded,
    )
    sums, spare = sp.symbols("sum spare", nonnegative=True)  # of exp(-r m_t) over those left out
    ensure_nonnegative(
        (sums + spare) / (1 + sums + spare) - sums / (1 + sums + rest),
        "p = sum/(1 + sum + rest), against the optimal token's 1, is at most most/(1 + most) with "
        "most = N exp(-r), as the sum is at most that",
        normal=factored,
    )
    ensure_equal(
        count * power / (1 + count * power),
        count / (count + 1 / power),
        "most/(1 + most) is N/(N + exp(r))",
        normal=cancelled,
    )
    ensure_equal(
        power / (1 + power),
        1 / (1 + 1 / power),
        "of two tokens, of margin 1, the second has this attention: they attain it",
        normal=cancelled,
    )
    return "for every r >= 0 and any number of inputs, tokens and axes"
