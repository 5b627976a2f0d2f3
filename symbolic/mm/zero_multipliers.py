"""The joint path for exp(-x) if some tight inputs are idle, that is have the multiplier 0.

Every choice of tokens but alpha has a label margin of at most gamma < Gamma. Notation is that of
`symbolic.mm.joint_path`. P is the set of inputs that are not idle, J that of the tight idle inputs,
and N that of the inputs that are not tight. For a head v of norm 1, `short` is Gamma minus its
label margin at a prompt. The vector u is orthogonal to e; <u, Y_i x_i,alpha_i> is at least 0 in P,
therefore 0 there, and at least 1 in J. p' is the least prompt with logit margins of 1 in P, 1/2 in
J and 0 in N. A statement about a sum over inputs is checked for one term.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified, suppose
from properties.mm._support.max_margin import P_EXISTS
from properties.mm.theorem_2.prompt_limits import ALONE, SEVERAL
from symbolic.continuity import cite_extreme_value, ensure_continuous
from symbolic.inner_products import inner, vector
from symbolic.least_points import MORE, ensure_existence_of_relaxed, ensure_pythagoras
from symbolic.mm.assumption_b import ensure_odds, ensure_tilt
from symbolic.mm.joint_path import cite_bounded_sequence, ensure_ratio
from symbolic.mm.theorem_2 import ensure_head
from symbolic.textbook import CAUCHY_SCHWARZ, EXPONENTIAL

GAMMA, w, q, r, R, size = sp.symbols("Gamma w q r R size", positive=True)
LEAD = sp.Symbol("margin - gamma", positive=True)


def ensure_bounds() -> None:
    """Prove upper bounds of q_i in P and in J by `short`, and a lower bound of s_i,alpha_i in N."""
    ensure_odds()
    k, rest = sp.symbols("k rest", positive=True)
    part = 1 / (1 + k)  # q_i, below 1
    ensure_nonnegative(
        factored(w * LEAD * part / (1 - part) - w * LEAD * part),
        "the mean of alpha's scores with multipliers as weights is Gamma <e, v>, at least margin + "
        "(margin - gamma) sum_i w_i q_i: so short is at least (margin - gamma) sum_i w_i q_i, and "
        "where the margin is gamma at most the left sides are at most 0",
        normal=factored,
    )
    e, v, short = vector("e"), vector("v"), sp.Symbol("short", nonnegative=True)
    apart = (v - e) @ (v - e)
    near = apart.subs({inner("e", "e"): 1, inner("v", "v"): 1, inner("e", "v"): 1 - short / GAMMA})
    ensure_equal(
        near,
        2 * short / GAMMA,
        "||v - e||^2 is at most 2 short/Gamma, as the mean Gamma <e, v> is at least the margin",
    )
    cite(CAUCHY_SCHWARZ)
    own = GAMMA + rest  # the score of alpha_j, rest at most ||x|| ||v - e||
    gamma = own - LEAD - MORE
    ensure_equal(
        q * (own - gamma) + ((1 - q) * own + q * gamma),
        own,
        "in J alpha scores Gamma + rest, rest <= ||x_j,alpha_j|| sqrt(2 short/Gamma), and the "
        "margin is (1 - q_j) of that and q_j gamma at most: q_j times the difference of both is at "
        "most Gamma + rest - margin = short + rest",
        normal=expanded,
    )
    ensure_nonnegative(
        q * (LEAD + MORE) - q * LEAD,
        "in J alpha scores at least the margin, so that q_j (margin - gamma) is at most "
        "short + rest as well",
        normal=expanded,
    )
    ensure_equal(
        (own - LEAD - gamma) / (own - gamma) * (own - gamma) + gamma,
        own - LEAD,
        "in N s_i,alpha_i is at least (margin - gamma) over the score of alpha_i less gamma: logit "
        "margins are bounded below",
        normal=cancelled,
    )


def ensure_shortest() -> None:
    """Prove upper bounds of `short`, for the best head at a chosen prompt and for v_r.

    The chosen prompt is R times a mean of p'/||p'|| and p(alpha)/||p(alpha)||.
    """
    ensure_tilt()
    C, e, sized = sp.symbols("C e ||p(alpha)||", positive=True)
    ensure_equal(
        (1 - e) * 1 + e * 1,
        1,
        "the mean (1 - e) p'/||p'|| + e p(alpha)/||p(alpha)|| has a norm of at most 1",
    )
    ensure_positive(
        e / sized + MORE,
        "this mean has positive logit margins in N, so that at R times it label margins "
        "there exceed Gamma for large R",
    )
    exact = (1 - e) * R / size
    ensure_equal(
        sp.exp(-exact / 2) ** 2,
        sp.exp(-exact),
        "logit margins at R times this mean are at least (1 - e) R/||p'|| in P, and half of "
        "that in J: with the head e + c q_J u over its norm what is short is at most C (q_P "
        "+ q_J^2) <= C exp(-(1 - e) R/||p'||)",
        normal=simplified,
    )
    n, far = sp.symbols("n far", positive=True)  # `far` stands for (1 - e) R/||p'||
    ensure_zero(
        sp.limit(sp.powsimp(sp.log(n) * sp.exp(-far * (1 + e)) / sp.exp(-far)), far, sp.oo),
        "what v_r is short is at most (ln n)/r more, and 1/r at most exp(-(1 - e^2) R/||p'||) for "
        "large R, as lim inf (ln r)/R >= 1/||p'||: it is short by C exp(-(1 - e) R/||p'||)",
    )
    ensure_equal(
        sp.sqrt(C * sp.exp(-exact)),
        sp.sqrt(C) * sp.exp(-exact / 2),
        "up to constants 1 - s_i,alpha_i is at most exp(-(1 - e) R/||p'||) in P, and at most "
        "its root in J",
        normal=simplified,
    )
    ensure_nonnegative(1 / (1 - q / (1 + q)) - 1, "s_it/s_i,alpha_i <= 2 q_i", normal=cancelled)


def ensure_limit() -> None:
    """Prove that p_R/R tends to p'/||p'||, and v_r/r to e."""
    e, c = sp.symbols("e c", positive=True)
    for margin, where in ((sp.Integer(1), "P"), (sp.Rational(1, 2), "J"), (sp.Integer(0), "N")):
        ensure_equal(
            sp.limit(((1 - e) * margin * R / size - c) / R, R, sp.oo),
            (1 - e) * margin / size,
            f"logit margins of p_R/R in {where} have a lower limit of {margin}/||p'||, as e is any",
        )
    cite_bounded_sequence()
    ensure_equal(size * (c / size), c, "||p'|| times a limit of p_R/R meets the constraints of p'")
    ensure_existence_of_relaxed()
    ensure_pythagoras()
    ensure_zero(
        sp.limit(sp.sqrt(2 * sp.exp(-R) / GAMMA), R, sp.oo),
        "||v_r/r - e||, at most sqrt(2 short/Gamma), tends to 0 with short",
    )


def ensure_powers() -> None:
    """Prove that the weights g_j of the minimiser u are at least a power of 1/r in J.

    Let x_i = Y_i x_i,alpha_i = Gamma e + a_i in P and J, u = c e + z with z orthogonal to e, and
    F(z) the sum over P of exp(-<a_i, z>).
    """
    least, far, number = sp.symbols("k far |P|", positive=True)
    margins = sp.symbols("<a_1,z> <a_2,z>", real=True)
    lowest = "min_i <a_i, z> is continuous, as margins are linear in z"
    ensure_continuous(sp.Min(*margins), lowest)
    cite_extreme_value(
        lowest,
        "the largest min_i <a_i, z> on the unit sphere of the span of the a_i, unless it is 0",
    )
    ensure_equal(
        ((GAMMA * vector("e") + vector("a")) @ vector("z")).subs(inner("e", "z"), 0),
        inner("a", "z"),
        "Gamma e is the sum of w_i x_i, so that sum_i w_i <a_i, z> = 0 with w_i > 0 in P: the "
        "least <a_i, z> is negative unless all are 0, so -k ||z|| at most in the span",
    )
    ensure_zero(
        sp.limit(number * sp.exp(-least * far), far, sp.oo),
        "F(z) exceeds F(0) = |P| where ||z|| is large",
    )
    powers = "F, a sum of exp(-<a_i, z>), is continuous"
    ensure_continuous(sum(sp.exp(-m) for m in margins), powers)
    cite_extreme_value(powers, "the least F on a ball of the span")
    level, L, C, size_u = sp.symbols("F_* ln_r C ||u||", positive=True)
    square, bench = inner("z", "z"), inner("b", "b")
    ensure_equal(
        sp.exp(-L),
        1 / sp.exp(L),
        "with b = z_0 + (ln r) u, F(z_0) = F_* least, exp(-<a_j, b>) is at most C/r in J, and less "
        "than that is left in N, where scores are above Gamma: the head sqrt(r^2 - <b, b>) e + b "
        "has a risk of at most exp(-Gamma sqrt(r^2 - <b, b>)) (F_* + C/r)",
        normal=simplified,
    )
    below, above = sp.sqrt(r**2 - square), sp.sqrt(r**2 - bench)
    ensure_nonnegative(
        sp.expand((r - square / (2 * r)) ** 2 - below**2),
        "sqrt(r^2 - <z, z>) is at most r - <z, z>/(2 r)",
    )
    ensure_nonnegative(
        factored((above**2 - (r - bench / r) ** 2).subs(bench, r**2 / (1 + MORE))),
        "sqrt(r^2 - <b, b>) is at least r - <b, b>/r, as <b, b> <= r^2",
        normal=factored,
    )
    cite(EXPONENTIAL)
    ensure_equal(
        2 * r * (bench / r + C / (r * GAMMA * level)),
        2 * bench + 2 * C / (GAMMA * level),
        "the risk of u is at least exp(-Gamma sqrt(r^2 - <z, z>)) F_*, and ln(1 + x) <= x: <z, z> "
        "is at most 2 <b, b> + a constant, of the order (ln r)^2",
        normal=expanded,
    )
    ensure_zero(
        sp.exp(-C * L) - sp.exp(L) ** (-C),
        "so g_j >= r^(-C) in J: -(ln g_j)/R is at most C (ln r)/R, which tends to 0 where (ln r)/R "
        "does, as it is supposed to here",
        normal=simplified,
    )
    ensure_zero(
        sp.limit(size_u * sp.log(r) / r, r, sp.oo),
        "(ln r) ||u|| over r tends to 0, and with it ||b||/r, as z_0 is one vector",
    )


def ensure_none_idle() -> None:
    """Prove that p_R/R tends to p(alpha)/||p(alpha)|| if all inputs are in P, for any r/R."""
    delta, D, other, least = sp.symbols("delta D q* g", positive=True)
    ensure_equal(
        (r * D * other) / (r * delta / 4) / least,
        4 * D * other / (delta * least),
        "r Q delta/4 <= r D q* as above, and all weights are bounded below: q_i <= (4 D/(delta min "
        "g)) q*, whatever r is, with q* that of R p(alpha)/||p(alpha)||",
        normal=cancelled,
    )
    c = sp.Symbol("c", positive=True)
    ensure_zero(
        sp.limit((R / (R / size - c)) ** 2 - size**2, R, sp.oo),
        "logit margins of p_R are R/||p(alpha)|| - c at least, and p_R over that is as near to "
        "p(alpha) as its squared norm, by the inequality above",
    )


def prove() -> str:
    """Prove the bounds, and the limit of p_R/R.

    It is p'/||p'|| if r is exponential in R, and that of sharp-2 for slower r.
    """
    suppose(ALONE, P_EXISTS, SEVERAL)
    ensure_bounds()
    ensure_head()
    ensure_shortest()
    ensure_limit()
    ensure_ratio()
    ensure_none_idle()
    ensure_powers()
    return "for any number of inputs, tokens and axes, every head and prompt; T > 1 in the limits"
