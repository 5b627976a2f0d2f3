"""A head is as near to v(alpha) as its label margin is to Gamma; and what exp(-x) makes of it."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.declaration.proof import expanded
from symbolic.least_points import MORE
from symbolic.mm.assumption_b import prove_by_means
from symbolic.textbook import CAUCHY_SCHWARZ, EXPONENTIAL


def ensure_reached(far: sp.Symbol) -> None:
    """The label margin of v(alpha) with t p(alpha) is at least 1 - ||v(alpha)|| D (T-1) exp(-t)."""
    tokens, rest, size, t = sp.symbols("T-1 rest size t", positive=True)
    own, gap, less = sp.symbols("own gap less", nonnegative=True)
    ensure_nonnegative(
        [
            rest - rest / (1 + rest),
            tokens * sp.exp(-t) - tokens * sp.exp(-t) / (1 + MORE),
        ],
        "1 - s_i,alpha_i is x/(1 + x) <= x for x the sum of exp(-m_it) over T - 1 other tokens, "
        "each at most exp(-t), as logit margins of t p(alpha) are at least t",
        normal=sp.factor,
    )
    q = tokens * sp.exp(-t) - less
    ensure_nonnegative(
        (1 + own - q * (size * far - gap)) - (1 - size * far * tokens * sp.exp(-t)) - q * gap,
        "Y_i <v(alpha), x_i^p> is at least 1 less ||v(alpha)|| D per attention to other tokens",
        normal=expanded,
    )


def prove() -> str:
    """||v|| - Gamma <v, v(alpha)> <= (||v|| - margin/Gamma) (1 + D/nu), and the limit of v_r/r."""
    prove_by_means()
    size, gamma, nu, far = sp.symbols("||v|| Gamma nu D", positive=True)
    q, w, n = sp.symbols("q w n", positive=True)
    margin, least = sp.symbols("margin least", real=True)
    cite(CAUCHY_SCHWARZ)
    ensure_nonnegative(
        w * (least + MORE) - w * least,
        "Gamma^2 <v, v(alpha)>, the mean of Y_i <v, x_i,alpha_i> with weights w, is at least the "
        "least of these, and that at least margin - ||v|| D q, q the largest 1 - s_i,alpha_i",
        normal=expanded,
    )
    loss = size * gamma - margin
    ensure_equal(
        size - (margin - size * far * q) / gamma,
        loss / gamma + size * far * q / gamma,
        "so ||v|| - Gamma <v, v(alpha)> is at most that",
        normal=sp.cancel,
    )
    ensure_equal(
        loss / gamma + far * (loss / nu) / gamma,
        (size - margin / gamma) * (1 + far / nu),
        "and ||v|| q nu is at most ||v|| Gamma - margin, by the bound of the label margin",
        normal=sp.cancel,
    )
    ensure_reached(far)
    r, R, short, tokens, p = sp.symbols("r R short T-1 ||p(alpha)||", positive=True)
    power, others = sp.Symbol("exp(-margin)", positive=True), sp.Symbol("others", nonnegative=True)
    ensure_nonnegative(
        [(power + others) / n - power / n, power - power / (1 + MORE)],
        "the risk of exp(-x) lies between exp(-margin)/n, by the term of the least margin, and "
        "exp(-margin), which no term exceeds",
        normal=sp.factor,
    )
    ensure_equal(
        sp.exp(-(margin + sp.log(n))),
        sp.exp(-margin) / n,
        "so the margin of a minimiser is at least that of the SVM directions less ln n",
        normal=sp.simplify,
    )
    cite(EXPONENTIAL)
    ensure_zero(
        sp.limit(far * tokens * sp.exp(-R / p), R, sp.oo),
        "with r and R times those directions logit margins are at least R/||p(alpha)||: the margin "
        "over r is Gamma less at most D (T - 1) exp(-R/||p(alpha)||)",
    )
    ensure_zero(sp.limit(sp.log(n) / r, r, sp.oo), "and (ln n)/r vanishes, each whatever the other")
    ensure_equal(
        r * (gamma - short) / gamma / r,
        1 - short / gamma,
        "||v_r|| is at least its margin over Gamma: ||v_r||/r tends to 1 as what is short vanishes",
        normal=sp.cancel,
    )
    return "for any number of inputs, tokens and axes, every head and prompt; r and R in any way"
