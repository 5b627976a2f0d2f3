"""Inputs apart, whose tokens all have a better one on their margin: every start ends at the best.

Letters are those of the statement's docstring: b the token whose score u tends to, l a token that
scores less, h one that scores more, p_t = s_t |u - gamma_t|, P_L and P_H their sums. What is said
of sums is executed for one term of each, which stands for all.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import (
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_true,
    ensure_zero,
)
from attsvm.theory.declaration.proof import expanded
from symbolic import divergence
from symbolic.basins import (
    OF_SCORES,
    ensure_direction,
    ensure_from_basin,
    ensure_lag,
)
from symbolic.continuity import cite_extreme_value
from symbolic.curvature import RISK, ensure_own_constant, ensure_smoothness
from symbolic.gains import ensure_gain, ensure_gain_of_support, ensure_positive_gain
from symbolic.inner_products import vector
from symbolic.least_points import ensure_inputs_apart, ensure_multipliers
from symbolic.sim.large_dimension import ensure_margins_of_sum
from symbolic.sim.theorem_3_14 import prove_three
from symbolic.sums import ensure_mean, ensure_nonnegative_sum, entry, n, r, swapped, t, total
from symbolic.suppositions import DIFFERENCES, LOSS, SHORT_OR_FEW
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    COMPLETE,
    DESCENT,
    DIFFERENTIABLE,
    EIGENVECTORS,
    EXPONENTIAL,
    INDEPENDENT,
    INVERSE_OF_GRAM,
    LIPSCHITZ,
    MEAN_VALUE_ON_A_LINE,
    MONOTONE,
    MONOTONE_SEQUENCE,
    SHORT,
    SYMMETRIC,
)

P_L, P_H, STEP, K, C = sp.symbols("P_L P_H e k C", positive=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)
S_T = sp.Symbol("s_t", positive=True)
RISES = "the part of the risk of an input does not rise, so u, a mean of scores, does not fall"


def ensure_apart() -> None:
    """Inputs of orthogonal queries run by themselves, with steps that are short for each."""
    ensure_inputs_apart()
    ensure_own_constant()
    ensure_smoothness()  # of part i, with L_i/n <= L
    cite(DESCENT, met={LIPSCHITZ: RISK, SHORT: SHORT_OR_FEW}, of=RISES)


def ensure_limit() -> None:
    """The attended score rises, to some score; below it for ever where that is not the best."""
    away = sp.Symbol("away", positive=True)
    s, p, gamma, u = entry("s"), entry("p"), entry("gamma"), sp.Symbol("u", real=True)
    cite_extreme_value(LOSS, OF_SCORES)
    ensure_gain()
    ensure_margins_of_sum()
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: DIFFERENCES})  # p_t is at most a constant times G
    cite(MONOTONE_SEQUENCE, met={MONOTONE: RISES})
    ensure_nonnegative_sum(
        total(p) - away * total(s),
        p - away * s,
        "the gradient and so the p_t tend to 0. Were u to tend to no score, it would stay away "
        "from all: then the sum of the p_t is at least away times that of the s_t, which is 1",
        p=away * S_T + MORE,
        s=S_T,
    )
    ensure_equal(
        total(s * (u - gamma)).subs(total(s), 1).subs(total(s * gamma), u),
        0,
        "s_b (gamma_b - u), the sum of s_t (u - gamma_t) over the others, is P_L - P_H, so that "
        "P_H is below P_L, as u < gamma_b",
    )
    ensure_gain_of_support()
    ensure_positive_gain()  # M with margins 1 exists: the gradient is never 0, and u rises strictly


def ensure_lower_tokens_outweigh() -> None:
    """P_L - P_H is at least a constant times P_L."""
    sigma, low, top, count = sp.symbols("sigma min|l'| max|l'| T", positive=True)
    p = entry("p")
    eigenvalue, along = entry("eigenvalue"), entry("along")
    symmetric = "<A_s, A_t> = <A_t, A_s>: the Gram matrix of the A_t is symmetric"
    ensure_equal(vector("A_s") @ vector("A_t"), vector("A_t") @ vector("A_s"), symmetric)
    cite(EIGENVECTORS, met={SYMMETRIC: symmetric})
    ensure_nonnegative_sum(
        total(eigenvalue * along**2) - sigma * total(along**2),
        along**2 * (eigenvalue - sigma),
        "||sum_t +-p_t A_t||^2 is at least sigma sum_t p_t^2 with the least eigenvalue sigma of "
        "the Gram matrix, by coordinates along its eigenvectors",
        eigenvalue=sigma + MORE,
        along=sp.Symbol("along", real=True),
    )
    ensure_equal(
        n * total(p**2) - total(p) ** 2,
        total((p - swapped(p)) ** 2, t, r) / 2,
        "n sum_l p_l^2 - (sum_l p_l)^2 is half the sum of all (p_l - p_m)^2: sum_l p_l^2 is at "
        "least P_L^2/T",
    )
    square = sigma * P_L**2 / count + MORE  # over |l'|^2 that of the gradient
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: LOSS})
    k = STEP * sigma * low**2 / (2 * count * top)
    ensure_nonnegative(
        STEP / 2 * (low + LESS) ** 2 * square / top - k * P_L**2,
        "u rises by the fall of l over max|l'| at least, and that is e/2 times the squared "
        "gradient: F falls by k P_L^2 with k = e sigma min|l'|^2/(2 T max|l'|)",
        normal=expanded,
    )
    grown = sp.Symbol("exp(C P_L/2)", positive=True)
    cite(CAUCHY_SCHWARZ)  # <A_s, sum_t p_t A_t> is at most a^2 sum_t p_t, a the largest ||A_t||
    ensure_mean(
        S_T,
        grown / (1 + MORE),
        "logits move by at most C P_L/2, as P_H is below P_L: the sum of all powers grows by a "
        "factor exp(C P_L/2) at most, and s_l falls by exp(-C P_L) at most, while u - gamma_l "
        "never falls",
        most=grown,
    )
    cite(EXPONENTIAL)
    y = sp.Symbol("y", nonnegative=True)
    ensure_nonnegative(
        ((1 + 2 * y) * (1 - y) - 1).subs(y, 1 / (2 + MORE)),
        "exp(y) <= 1/(1 - y) <= 1 + 2 y for 0 <= y <= 1/2, so for y = C P_L from some step on",
        normal=sp.factor,
    )
    x = K / (4 * C) - LESS
    ensure_nonnegative(
        x - K * P_L / 2 - (x - K * P_L) * (1 + 2 * C * P_L),
        "where F/P_L = x is at most k/(4C) it falls to x - k P_L/2 at most",
        normal=expanded,
    )
    divergence.prove()  # from any start, by M with margins 1
    reach, apart = sp.symbols("a P_L-P_H", positive=True)
    ensure_nonnegative(
        2 * reach * P_L - reach * (P_L + (P_L - apart)),
        "a step over e |l'| is no longer than a (P_L + P_H), so at most 2 a P_L",
        normal=expanded,
    )
    cite(COMPLETE)  # were the P_L summable W would converge
    summed = sp.Symbol("sum", positive=True)
    ensure_true(
        sp.limit(x - K / 2 * summed, summed, sp.oo) == -sp.oo,
        "the P_L add up to infinity, as W diverges: x would fall below 0, F too",
    )


def ensure_direction_of_b(diverges: str) -> None:
    """W/||W|| tends to V/||V||, V = W^mm(b).

    Args:
        diverges: the step that has shown that ||W_k|| tends to infinity.
    """
    least, C, c, J = sp.symbols("least C c J", positive=True)
    p, low, margin = entry("p"), entry("low"), entry("margin")
    gain = p * (2 * low - 1)
    for which, at in ((1, 1 + MORE), (0, sp.Integer(1))):
        ensure_nonnegative_sum(
            total(gain * margin) - total(gain),
            gain * (margin - 1),
            "<W, V> grows by |l'| e times the sum of p_l m_l(V) less that of p_h m_h(V), where "
            "m_l(V) >= 1 and m_h(V) = 1: by |l'| e (P_L - P_H) at least",
            p=S_T,
            low=sp.Integer(which),
            margin=at,
        )
    apart, times = sp.symbols("P_L-P_H times", positive=True)
    ensure_lag(
        c,
        C,
        lambda lowest: [lowest + LESS, lowest + LESS + apart],
        "of the least margin, be it that of some l or of some h, p is above c exp(-least), so that "
        "P_L is: over J rivals sum_l p_l (m_l - least) is at most P_L J C/c",
    )
    ensure_mean(
        S_T,
        least + MORE,
        "and sum_h p_h m_h is at least P_H least",
        least=least,
    )
    ensure_nonnegative(
        apart * (least + LESS + J * C / c * times)
        - (least * apart + J * C / c * (times * apart - MORE)),
        "so <G, W> is at most (P_L - P_H) (||W||/N + extra), as P_L is at most a constant times "
        "P_L - P_H and the least margin at most ||W||/N",
        normal=expanded,
    )
    ensure_direction(c, C, diverges)


def ensure_any_step() -> None:
    """With at most three tokens an input any step will do, as the second best is on the margin.

    Let d_1, d_2 be the optimal token minus the second best and minus the worst. Inputs run by
    themselves, so that each keeps its best token from some step on, and thus all do.
    """
    ensure_inputs_apart()
    to_second, to_worst = vector("d_1"), vector("d_2")
    down, up = to_worst - to_second, -to_second  # from the second best token to the others
    ensure_equal(
        down @ up - down @ down,
        to_second @ to_worst - to_worst @ to_worst,
        "were the margin of the second best token above 1 under d_2/||d_2||^2, so were that of the "
        "best one under (d_2 - d_1)/||d_2 - d_1||^2, which then solves the Local-SVM of the second "
        "best: but there the best one is on the margin",
    )
    prove_three()


def prove() -> str:
    """From every start descent converges in direction to W^mm.

    Raises:
        ProofError: a step fails.
    """
    ensure_apart()
    ensure_limit()
    ensure_lower_tokens_outweigh()
    ensure_direction_of_b(divergence.FAR)
    ensure_multipliers()
    multiplier, norm = sp.symbols("lambda_h N", positive=True)
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: DIFFERENCES})
    first, size = sp.symbols("first size", positive=True)
    fall = entry("fall")
    ensure_nonnegative_sum(
        first - (first - total(fall)),
        fall,
        "the coefficient of A_h in W, which falls at each step by a multiple of p_h, is at most "
        "the first one",
        fall=S_T,
    )
    ensure_zero(
        sp.limit(first / size, size, sp.oo),
        "so that in W/||W|| it has no limit above 0, as ||W|| tends to infinity",
    )
    direction = (multiplier * vector("A_h") + MORE * vector("A_l")) / norm
    ensure_positive(
        dict(direction.parts)["A_h"],
        "while the coefficients of W/||W|| converge to those of V/N, where that of one h is "
        "lambda_h/N > 0: so b is the best token",
    )
    ensure_from_basin(SHORT_OR_FEW)  # all u tend to the best scores, and the risk gap to 0
    ensure_any_step()
    return "for every smooth loss with l' < 0 and any n, T, d and start, and any step if T <= 3"
