"""The joint path's head: it is as near to v(alpha) as its label margin is to Gamma.

On `mm/theorem-2:amended`; letters as in `symbolic.mm.joint_path`. The steps are in
docs/proofs/joint_path.md. So are the limits of the prompt for each growth of r and R, and what is
known of its other readings.

Under Assumption B a head v of norm at most r whose label margin is near r Gamma is near r e, with
e = v(alpha)/||v(alpha)||. The pair of v(alpha) and a long prompt along p(alpha) has a label margin
near 1. A minimiser (v_r, p_R) of the risk of exp(-x) has at least the label margin of r and R times
the two directions, less ln n. So v_r/r tends to e as r and R tend to infinity, in any way.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified, suppose
from properties.mm._support.max_margin import P_EXISTS
from properties.mm.theorem_2.head_limits import POSITIVE, short, turned
from symbolic.least_points import MORE
from symbolic.mm import mean_choices
from symbolic.sums import ensure_at_least_each, ensure_mean, ensure_nonnegative_sum, entry, n, total
from symbolic.textbook import CAUCHY_SCHWARZ, EXPONENTIAL

S = sp.Symbol("s_t", nonnegative=True)
ALSO = sp.Symbol("also", nonnegative=True)


def ensure_attended(most: sp.Expr) -> None:
    """Prove that the attended score is near the score of the selected token.

    The distance is at most `most` times the attention to other tokens.

    Args:
        most: ||v|| D, a bound of the difference of scores of two tokens of an input.
    """
    own, s, score = sp.Symbol("own", real=True), entry("s"), entry("score")
    attended = (1 - total(s)) * own + total(s * score)
    cite(CAUCHY_SCHWARZ)
    for sign, what in ((1, "no more"), (-1, "no less")):
        ensure_nonnegative_sum(
            sign * (own - attended) + most * total(s),
            s * (sign * (own - score) + most),
            f"Y_i <v, x_i^p> is {what} than the score of the selected token, up to ||v|| D per "
            "attention to other tokens, by a sum over these",
            s=S,
            score=own + sign * (most - MORE),
        )


def ensure_reached(far: sp.Symbol) -> None:
    """Prove that v(alpha) has a label margin near 1 at the prompt t p(alpha).

    It is at least 1 - ||v(alpha)|| D (T-1) exp(-t).

    Args:
        far: D, the largest distance of a token from the selected one.
    """
    others, size, t, rest = sp.symbols("T-1 size t rest", positive=True)
    own = sp.Symbol("own", nonnegative=True)
    power, least = entry("power"), sp.Symbol("exp(-t)", positive=True)
    cite(EXPONENTIAL)  # exp(-x) <= 1/(1 + x)
    ensure_nonnegative_sum(
        n * least - total(power),
        least - power,
        "the sum of exp(-m_it) over T - 1 other tokens is at most (T - 1) exp(-t), as logit "
        "margins of t p(alpha) are at least t",
        power=least / (1 + MORE),
    )
    ensure_equal(
        1 - 1 / (1 + rest),
        rest / (1 + rest),
        "1 - s_i,alpha_i is x/(1 + x) for x that sum",
        normal=cancelled,
    )
    ensure_attended(size * far)
    q = others * sp.exp(-t) / ((1 + MORE) * (1 + ALSO))  # x is at most (T - 1) exp(-t)
    comparison = short(SYMBOLS, 1 + own - size * far * q, size, far, others, t)
    ensure_nonnegative(
        comparison.right - comparison.left,
        "so Y_i <v(alpha), x_i^p>, at least 1 less ||v(alpha)|| D (1 - s_i,alpha_i), keeps to the "
        "bound of the formula",
        normal=factored,
    )


_SUPPOSED = (
    POSITIVE,
    P_EXISTS,
)


def prove() -> str:
    """Prove that v_r/r tends to e if Assumption B holds and p(alpha) exists."""
    suppose(*_SUPPOSED)
    ensure_head()
    return "for any number of inputs, tokens and axes, every head and prompt; r and R in any way"


def ensure_head() -> None:
    """Prove that ||v|| - Gamma <v, v(alpha)> <= (||v|| - margin/Gamma) (1 + D/nu) for all v.

    Here `margin` is the label margin of the head v at any prompt, and nu that of Assumption B. So
    v_r/r tends to e = Gamma v(alpha).
    """
    mean_choices.prove()
    size, gamma, nu, far = sp.symbols("||v|| Gamma nu D", positive=True)
    margin, least = sp.symbols("margin least", real=True)
    ensure_mean(
        sp.Symbol("w", nonnegative=True),
        least + MORE,
        "Gamma^2 <v, v(alpha)>, the mean of Y_i <v, x_i,alpha_i> with weights w, is at least the "
        "least of these",
        least=least,
    )
    ensure_attended(size * far)  # so that the least one is at least margin - ||v|| D q
    lost = (size * gamma - margin - MORE) / nu  # ||v|| q, by the bound of the label margin
    comparison = turned(SYMBOLS, size * gamma, margin - far * lost + ALSO, margin, far, nu)
    ensure_nonnegative(
        comparison.right - comparison.left,
        "with q the largest 1 - s_i,alpha_i, ||v|| q nu is at most ||v|| Gamma - margin, by the "
        "bound of the label margin: the head keeps to the bound of the formula",
        normal=expanded,
    )
    ensure_reached(far)
    r, R, lack, tokens, p = sp.symbols("r R lack T-1 ||p(alpha)||", positive=True)
    power, top = entry("power"), sp.Symbol("exp(-margin)", positive=True)
    ensure_nonnegative_sum(
        n * top - total(power),
        top - power,
        "the risk of exp(-x) is at most exp(-margin)",
        power=top / (1 + MORE),
    )
    ensure_at_least_each(
        sp.exp(-(margin + MORE)),
        "the risk of exp(-x) is at least exp(-margin)/n, the term of an input of least "
        "margin alone",
    )
    ensure_equal(
        sp.exp(-(margin + sp.log(n))),
        sp.exp(-margin) / n,
        "the margin of a minimiser is at least that of the SVM directions less ln n, as "
        "exp(-margin - ln n) is exp(-margin)/n",
        normal=simplified,
    )
    ensure_zero(
        [
            sp.limit(short(SYMBOLS, margin, 1 / gamma, far, tokens, R / p).right, R, sp.oo),
            sp.limit(sp.log(n) / r, r, sp.oo),
        ],
        "with r and R times those directions logit margins are at least R/||p(alpha)||: by the "
        "formula the margin over r is Gamma less what vanishes, and so does (ln n)/r, each "
        "whatever the other",
    )
    bound = turned(SYMBOLS, r * gamma, margin, r * (gamma - lack), far, nu).right
    ensure_zero(
        sp.limit(bound / r, lack, 0),
        "v_r of norm at most r and margin r (Gamma - lack) is at most lack r (1 + D/nu)/Gamma "
        "longer than its component along v(alpha): over r that vanishes with what it lacks",
    )
    ensure_zero(
        sp.limit(1 - r * (gamma - lack) / gamma / r, lack, 0),
        "||v_r||/r, where ||v_r|| is at least its margin over Gamma, tends to 1",
    )
