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
from symbolic.basins import ensure_direction, ensure_from_basin
from symbolic.gains import ensure_gain, ensure_gain_of_support, ensure_positive_gain
from symbolic.inner_products import vector
from symbolic.least_points import ensure_inputs_apart, ensure_multipliers
from symbolic.sim.large_dimension import ensure_margins_of_sum
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    COMPACT,
    CONTINUOUS,
    DESCENT,
    EXPONENTIAL,
    INDEPENDENT,
    INVERSE_OF_GRAM,
    LIPSCHITZ,
    MONOTONE,
    MONOTONE_SEQUENCE,
    SHORT,
    WEIERSTRASS,
)

P_L, P_H, STEP, K, C = sp.symbols("P_L P_H e k C", positive=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)
DIFFERENCES = "the A_t of an input, as its tokens are affinely independent and its query is not 0"


def ensure_apart() -> None:
    """Inputs of orthogonal queries run by themselves, with steps that are short for each."""
    n, own = sp.symbols("n own", positive=True)
    ensure_inputs_apart()
    ensure_nonnegative(
        (own + MORE) / n - own / n, "L, the mean of the L_i, is at least L_i/n", normal=expanded
    )
    cite(DESCENT, given={LIPSCHITZ: "for part i the constant is L_i/n", SHORT: "e <= 1/L <= n/L_i"})


def ensure_limit() -> None:
    """The attended score rises, to some score; below it for ever where that is not the best."""
    away, pull = sp.symbols("away p_t", positive=True)
    interval = "the smallest interval that holds all scores"
    cite(WEIERSTRASS, given={CONTINUOUS: "|l'|, as the loss is smooth", COMPACT: interval})
    ensure_gain()
    ensure_margins_of_sum()
    cite(INVERSE_OF_GRAM, given={INDEPENDENT: DIFFERENCES})
    cite(MONOTONE_SEQUENCE, given={MONOTONE: "u, a mean of scores, by the descent lemma"})
    ensure_zero(
        sp.limit(pull / away, pull, 0),
        "p_t is at most the gradient over a constant, so tends to 0: were u to tend to no score, "
        "staying away from all, all s_t <= p_t/away would tend to 0, whose sum is 1",
    )
    ensure_gain_of_support()
    ensure_positive_gain()  # M with margins 1 exists: the gradient is never 0, and u rises strictly


def ensure_pulls_stay_apart() -> None:
    """P_L - P_H is at least a constant times P_L."""
    sigma, top, count = sp.symbols("sigma max|l'| T", positive=True)
    cite(CAUCHY_SCHWARZ)
    ensure_equal(
        STEP / 2 * sigma * (P_L**2 / count) / top,
        STEP * sigma / (2 * count * top) * P_L**2,
        "u rises by e ||G||^2/(2 max|l'|) at least, ||G||^2 >= sigma sum_t p_t^2 with the least "
        "eigenvalue sigma of the Gram matrix, and sum_l p_l^2 >= P_L^2/T: F falls by k P_L^2",
    )
    ensure_positive(
        2 * P_L - (P_L + (P_L / (1 + K))),
        "P_H is below P_L, as u < gamma_b: logits move by at most a constant times P_L, s_l falls "
        "by a factor exp(-C P_L) at most, and u - gamma_l never",
        normal=sp.factor,
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
    total = sp.Symbol("sum", positive=True)
    ensure_true(
        sp.limit(x - K / 2 * total, total, sp.oo) == -sp.oo,
        "the P_L add up to infinity, as W diverges: x would fall below 0, F too",
    )


def ensure_direction_of_b() -> None:
    """W/||W|| tends to V/||V||, V = W^mm(b)."""
    p, margin, least, D, c = sp.symbols("p m least D c", positive=True)
    ensure_nonnegative(
        p * (1 + MORE) - p,
        "<W, V> grows by |l'| e times the sum of p_l m_l(V) less that of p_h m_h(V), where "
        "m_l(V) >= 1 and m_h(V) = 1: by |l'| e (P_L - P_H) at least",
        normal=expanded,
    )
    ensure_equal(
        D * sp.exp(-(least + margin)) * margin,
        D * sp.exp(-least) * margin * sp.exp(-margin),
        "p_l (m_l - least) <= D exp(-least) x exp(-x) with x = m_l - least",
        normal=sp.powsimp,
    )
    cite(EXPONENTIAL)  # x < exp(x)
    ensure_positive(
        c * sp.exp(-least),
        "of the least margin, be it that of some l or of some h, p is above c exp(-least), so that "
        "P_L is: sum_l p_l (m_l - least) is at most a constant times P_L, so times P_L - P_H",
    )
    ensure_nonnegative(
        -P_H * least + P_H * (least + MORE),
        "and - sum_h p_h m_h is at most -P_H least: so <G, W> is at most (P_L - P_H) (||W||/N + "
        "extra)",
        normal=expanded,
    )
    ensure_direction()


def prove() -> str:
    """From every start descent converges in direction to W^mm.

    Raises:
        ProofError: a step fails.
    """
    ensure_apart()
    ensure_limit()
    ensure_pulls_stay_apart()
    ensure_direction_of_b()
    ensure_multipliers()
    pull, multiplier, norm = sp.symbols("p_h lambda_h N", positive=True)
    cite(INVERSE_OF_GRAM, given={INDEPENDENT: DIFFERENCES})
    first, size = sp.symbols("first size", positive=True)
    ensure_zero(
        sp.limit((first - pull) / size, size, sp.oo),
        "the coefficient of A_h in W falls at each step by a multiple of p_h, so that in W/||W|| "
        "it has no limit above 0, as ||W|| tends to infinity",
    )
    direction = (multiplier * vector("A_h") + MORE * vector("A_l")) / norm
    ensure_positive(
        dict(direction.parts)["A_h"],
        "while the coefficients of W/||W|| converge to those of V/N, where that of one h is "
        "lambda_h/N > 0: so b is the best token",
    )
    ensure_from_basin()  # all u tend to the best scores, and the risk gap to 0
    return "for every smooth loss with l' < 0 and any n, T, d and start"
