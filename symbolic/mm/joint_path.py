"""The limit of the prompt p_R/R of the joint path for the loss exp(-x).

The path minimises the risk over heads of norm at most r and prompts of norm at most R. Under
Assumption B the limit does not depend on r/R; without it, it does.

Notation:

- u is the head of norm at most r with the least risk on the selected tokens.
- u_i = Y_i u^T x_i,alpha_i, and the weights g_i are exp(-u_i) over their sum.
- G and G_p are the means of Y_i x_i,alpha_i and Y_i x_i^p with the weights g.
- L(v, p) is the risk of the head v and the prompt p, and L(u, alpha) that on the selected tokens.
- w are the multipliers of v(alpha), scaled to sum 1, and e = v(alpha)/||v(alpha)||.
- q_i = 1 - s_i,alpha_i of the pair (v_r, p_R), and Q is the mean of the q_i with the weights g.
- q*_i is 1 - s_i,alpha_i of a prompt of norm R that a proof chooses.
- D is the largest distance of a token from the selected one.
- delta > 0 is the least lead of a selected token over another one, in scores under e.

A statement about a sum over inputs or tokens is checked for one term.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified, suppose
from properties.mm._support.max_margin import P_EXISTS
from properties.mm.theorem_2.head_limits import POSITIVE
from properties.mm.theorem_2.prompt_limits import BELOW, MEETS, SEVERAL, WEIGHTED, bent
from symbolic.inner_products import INNER, inner, vector
from symbolic.least_points import (
    MORE,
    ensure_existence_of_relaxed,
    ensure_least_point,
    ensure_pythagoras,
)
from symbolic.mm.theorem_2 import ensure_head
from symbolic.sums import ensure_mean, entry, total
from symbolic.textbook import (
    ACCUMULATION,
    BOUNDED_SEQUENCE,
    CAUCHY_SCHWARZ,
    EXPONENTIAL,
    SECOND_DERIVATIVE,
    TANGENT,
    TRIANGLE,
)

GAMMA, DELTA, D, n, r, R, w = sp.symbols("Gamma delta D n r R w", positive=True)
LESS = sp.Symbol("less", nonnegative=True)
LOG_N = sp.Symbol("ln n", nonnegative=True)

_PROMPT = (
    P_EXISTS,
    SEVERAL,
)


def ensure_on_tangent() -> None:
    """Prove that L(v, p) exp(||v|| ||G_p||) >= L(u, alpha) exp(<u, G>) for all v, p and u.

    The weights g of G and G_p are those of u.
    """
    x, mean = sp.symbols("x mean", real=True)
    convex = "exp(-x) is convex"
    ensure_positive(sp.diff(sp.exp(-x), x, 2), convex)
    cite(TANGENT, met={SECOND_DERIVATIVE: convex})
    before, after = sp.symbols("before after", real=True)
    ensure_equal(
        (sp.exp(-before) * (1 + mean - after + before)).expand(),
        (sp.exp(-before) * (1 + mean) - sp.exp(-before) * (after - before)).expand(),
        "exp(-(m_i - c)) >= exp(-u_i) (1 + c - (m_i - u_i)): the tangent at u_i",
    )
    power, rise, c = entry("exp(-u)"), entry("m - u"), sp.Symbol("c", real=True)
    ensure_equal(
        total(power * (1 + c - rise)).subs(c, total(power * rise) / total(power)),
        total(power),
        "summed over i, with c the mean of m_i - u_i with weights g_i, that is sum_i exp(-u_i): "
        "L(v, p) >= L(u, alpha) exp(<u, G> - <v, G_p>)",
        normal=cancelled,
    )
    cite(CAUCHY_SCHWARZ)


def ensure_first_order() -> None:
    """Prove that <u, G> = r ||G||, as the risk of the minimiser u falls in no direction."""
    e, slope, own = sp.symbols("e slope own", real=True)
    ensure_equal(
        sp.diff(sp.exp(-(own + e * slope)), e).subs(e, 0),
        -slope * sp.exp(-own),
        "the derivative of L(u + e (v - u), alpha) at e = 0 is -<v - u, G> times L(u, alpha): for "
        "v = r G/||G|| it is not negative only where <u, G> >= r ||G||",
    )
    cite(CAUCHY_SCHWARZ)


def ensure_weights() -> None:
    """Prove that g_i >= n^(-1/w_i) if w_i > 0, and ||u - r e|| <= sqrt(2 r ln n/Gamma)."""
    ensure_equal(
        (r * GAMMA - (1 - w) * (r * GAMMA - LOG_N)) / w,
        r * GAMMA + LOG_N * (1 - w) / w,
        "L(u, alpha) <= exp(-r Gamma), so each u_j >= r Gamma - ln n; their mean with weights w is "
        "Gamma <e, u> <= r Gamma: u_i <= r Gamma + (ln n) (1 - w_i)/w_i",
        normal=expanded,
    )
    ensure_equal(
        sp.exp(-(LOG_N * (1 - w) / w) - LOG_N),
        sp.exp(-LOG_N / w),
        "g_i is at least n^(-1/w_i): it is exp(-u_i) over sum_j exp(-u_j), which is at most "
        "n exp(-r Gamma)",
        normal=simplified,
    )
    u, e = vector("u"), vector("e")
    apart = (u - r * e) @ (u - r * e)
    short = r - LOG_N / GAMMA
    bound = apart.subs({inner("e", "e"): 1, inner("u", "u"): r**2, inner("e", "u"): short})
    ensure_equal(
        bound,
        2 * r * LOG_N / GAMMA,
        "the mean Gamma <e, u> is at least r Gamma - ln n, so <e, u> >= r - (ln n)/Gamma and "
        "||u - r e||^2 <= 2 r (ln n)/Gamma, as ||u|| <= r",
        normal=expanded,
    )
    ensure_equal(
        (r * GAMMA - LOG_N) / r,
        GAMMA - LOG_N / r,
        "||G|| >= <u, G>/r, a mean of u_i/r: at least Gamma - (ln n)/r, so Gamma/2 for large r",
        normal=expanded,
    )
    ensure_zero(
        sp.limit(sp.sqrt(2 * r * LOG_N / GAMMA) / r, r, sp.oo),
        "so for large r scores under u/r lead by delta/2, and (u_i - r Gamma_i)/r vanishes",
    )


def ensure_shorter_mean() -> None:
    """Prove that ||G_p|| <= ||G|| - lead Q + D^2 Q^2/(2 ||G||) for any weights.

    `lead` bounds the leads of selected tokens in scores under G/||G|| from below. With the weights
    g for large r and small Q, ||G_p|| is at most ||G|| - Q delta/4.
    """
    a, b, c = sp.symbols("a b c", positive=True)
    ensure_nonnegative(
        factored((a - b + c) ** 2 - (a**2 - 2 * a * b + 2 * a * c)),
        "G - G_p = E with <G/||G||, E> = b >= lead Q and ||E|| <= D Q: ||G_p||^2 = a^2 - 2 a b + "
        "||E||^2, a = ||G||, and ||E||^2 = 2 a c: ||G_p|| <= a - b + c",
    )
    ensure_equal(
        2 * a * (a - b + b**2 / (2 * a)),
        (a - b) ** 2 + a**2,
        "a - b + c is positive, as c is at least b^2/(2 a) and 2 a (a - b + b^2/(2 a)) is (a "
        "- b)^2 + a^2",
        normal=expanded,
    )
    Q, lead, size = sp.symbols("Q lead ||v||", positive=True)
    ensure_mean(
        sp.Symbol("s_t", nonnegative=True),
        lead + MORE,
        "scores lead by at least lead times the attention to other tokens, and <G/||G||, E> is at "
        "least lead Q, by sums over tokens and then over inputs",
        least=lead,
    )
    cite(TRIANGLE)  # ||E|| <= D Q, term by term
    far = D**2 * Q**2 / (2 * GAMMA) / (1 + LESS)  # ||E||^2/(2 a)
    comparison = bent(
        SYMBOLS,
        size * (GAMMA - (DELTA * Q + MORE) + far),
        size * GAMMA,
        Q,
        DELTA / GAMMA,
        D**2,
        GAMMA**2,
    )
    ensure_nonnegative(
        comparison.right - comparison.left,
        "with the multipliers as weights a = Gamma, lead = delta, and a label margin is at most "
        "the mean of all, ||v|| ||G_p||: it keeps to the bound of the formula",
        normal=factored,
    )
    small = DELTA * GAMMA / (4 * D**2 * (1 + MORE))
    ensure_nonnegative(
        factored((Q * DELTA / 2 - (D * Q) * (D * small) / GAMMA) - Q * DELTA / 4),
        "with the weights g lead is delta/2 and a at least Gamma/2: ||G|| - ||G_p|| >= Q delta/4 "
        "where Q <= delta Gamma/(4 D^2)",
    )


def ensure_directed() -> None:
    """Prove that a least prompt with a required margin of 1 has a direction, as it is not 0."""
    ensure_zero(
        vector("A") @ (0 * vector("X")),
        "0 has the margin 0: with T > 1 and a margin of 1 the least prompt is not 0",
    )


def cite_bounded_sequence() -> None:
    """Cite that prompts p_R/R with ||p_R|| <= R have limits of subsequences."""
    bounded = "||p_R/R|| is at most 1, as p_R is in the ball of radius R"
    prompt, square = vector("p_R"), (R / (1 + MORE)) ** 2
    norm = INNER.norm(prompt / R).subs(inner("p_R", "p_R"), square)
    ensure_nonnegative(1 - norm, bounded, normal=factored)
    cite(ACCUMULATION, met={BOUNDED_SEQUENCE: bounded})


def ensure_prompt_nears() -> None:
    """Prove that p_R/(R/||X|| - c) tends to X as R grows.

    X is the least prompt with margins of 1. p_R has the norm R and logit margins of at least
    R/||X|| - c.
    """
    size, c = sp.symbols("size c", positive=True)
    ensure_least_point()
    ensure_pythagoras()
    ensure_zero(
        sp.limit((R / (R / size - c)) ** 2 - size**2, R, sp.oo),
        "p_R over R/size - c meets the constraints; its squared norm less that of the least prompt "
        "vanishes, and so does its squared distance from it",
    )


def prove_prompt() -> str:
    """Prove 1 - s_i,alpha_i <= C exp(-R/||p(alpha)||) for r >= r_0, and the limit of p_R/R."""
    suppose(*_PROMPT, POSITIVE)
    ensure_head()
    ensure_on_tangent()
    ensure_first_order()
    nu, q, lead = sp.symbols("nu q lead", positive=True)
    e, chosen, rival = vector("e"), vector("x_alpha"), vector("x_t")
    ensure_equal(
        (e @ (GAMMA * e - w * (chosen - rival))).subs(inner("e", "e"), 1),
        GAMMA - w * (inner("e", "x_alpha") - inner("e", "x_t")),
        "another token in place of alpha_i changes the mean with weights w, Gamma e, to one of "
        "length Gamma - nu at most: w_i times the lead of alpha_i in scores under e is at least "
        "nu, so both are positive",
    )
    cite(CAUCHY_SCHWARZ)
    ensure_weights()
    ensure_zero(
        [sp.limit(D * sp.exp(-R) / nu, R, sp.oo), sp.limit(LOG_N / (r * nu), r, sp.oo)],
        "nu q <= D q* + (ln n)/r, q the largest q_i: small for R large and r >= r_0",
    )
    ensure_shorter_mean()
    least, other = sp.symbols("least other", positive=True)
    ensure_equal(
        sp.exp(-(lead - r * D * other)) / sp.exp(-lead),
        sp.exp(r * D * other),
        "with the head u and a prompt along p(alpha) the risk is at most exp(r D q*) L(u, alpha)",
        normal=simplified,
    )
    ensure_equal(
        (r * D * other) / (r * DELTA / 4) / least,
        4 * D * other / (DELTA * least),
        "so r Q delta/4 <= r D q*, and q <= Q / min g <= (4 D/(delta min g)) q*, whatever r is",
        normal=cancelled,
    )
    ensure_nonnegative(
        1 / (1 - q / (1 + q)) - 1, "s_it/s_i,alpha_i <= q/(1 - q) <= 2 q", normal=cancelled
    )
    ensure_prompt_nears()
    ensure_directed()
    return "for any number of inputs, tokens and axes; T > 1 tokens, r >= r_0 in any way as R grows"


def prove_ratio() -> str:
    """Prove `ensure_ratio` under the suppositions of the reading."""
    suppose(*_PROMPT, BELOW, WEIGHTED, MEETS)
    ensure_ratio()
    return "for any number of inputs, tokens and axes"


def ensure_ratio() -> None:
    """Prove that p_R/R tends to p_tau/||p_tau|| if r/R tends to tau ||v(alpha)||/||p_tau||.

    p_tau is the least prompt with logit margins of max(0, 1 - tau (m_i - 1)), where m_i is the
    label margin of input i under v(alpha). If r/R tends to infinity, the margin 0 takes the place
    of this number for m_i > 1. Also ||q - p_tau||^2 <= ||q||^2 - ||p_tau||^2 for every q with these
    margins.
    """
    ensure_existence_of_relaxed()  # p_tau, and p(alpha) of the joint p-SVM
    ensure_pythagoras()
    ensure_directed()  # an input that supports v(alpha) has m_i = 1
    ensure_head()
    ensure_on_tangent()
    ensure_first_order()
    ensure_weights()
    top, over, miss = sp.symbols("top over miss", positive=True)
    # in tight inputs q_i tends to 0, and v_r/r to e, by the bound of the head for these inputs
    share = (top - miss) / (over + top)
    ensure_zero(
        share * (1 + over) + (1 - share) * (1 - top) - (1 - miss),
        "where Gamma_i = (1 + over) Gamma a label margin of (1 - miss) Gamma, miss vanishing, "
        "leaves s_i,alpha_i >= (top - miss)/(over + top), as other tokens score at most (1 - top) "
        "Gamma under e: logit margins are bounded below",
        normal=cancelled,
    )
    ensure_zero(
        sp.limit(sp.exp(-r * over + sp.sqrt(r)), r, sp.oo),
        "Q tends to 0, as g_i does where Gamma_i > Gamma",
    )
    ensure_shorter_mean()
    # r/R tends to tau ||v(alpha)|| / ||p_tau||
    size, tau, eps, sized = sp.symbols("||p_tau|| tau e ||p(alpha)||", positive=True)
    A, own, free = (vector(name) for name in ("A", "p_tau", "p(alpha)"))
    mean = sp.Symbol("1-e", nonnegative=True) / size * own + eps / sized * free
    ensure_positive(
        (A @ mean).subs({inner("A", "p_tau"): MORE, inner("A", "p(alpha)"): 1 + MORE}),
        "the mean (1 - e) p_tau/||p_tau|| + e p(alpha)/||p(alpha)|| has positive logit margins",
        normal=expanded,
    )
    cite(EXPONENTIAL)
    ensure_zero(
        sp.limit(R * sp.exp(-eps * R), R, sp.oo),
        "at R times this mean r D q*_i vanishes, so that ln sum_i g_i exp(r D q*_i) is at "
        "most a constant times r sum_i g_i q*_i: with r Q delta/4 below it, g_i q_i <= C "
        "max_j g_j q*_j",
    )
    m, bound = sp.symbols("m bound", real=True)
    rate = tau / (GAMMA * size)  # the limit of r/R, as ||v(alpha)|| = 1/Gamma
    ensure_equal(
        rate * (m * GAMMA - GAMMA),
        tau * (m - 1) / size,
        "-(ln g_j)/R tends to the limit of (r/R) (Gamma_j - Gamma), tau (m_j - 1)/||p_tau||",
        normal=cancelled,
    )
    for t in (1 / (1 + MORE), 1 + MORE):
        asked = SYMBOLS.maximum(sp.Integer(0), factored(1 - t))
        ensure_nonnegative(
            t + (1 - eps) * asked - (1 - eps),
            "t + (1 - e) max(0, 1 - t) >= 1 - e for t = tau (m_j - 1) >= 0, below 1 or not: with "
            "the logit margins of the mean that makes at least (1 - e)/||p_tau||",
            normal=factored,
        )
    ensure_equal(
        (1 - eps) / size - tau * (m - 1) / size,
        (1 - tau * (m - 1)) / size - eps / size,
        "logit margins of p_R/R in input i have lower limits of (1 - e)/||p_tau|| less the "
        "limit of (r/R) (Gamma_i - Gamma), for every e, and of 0",
        normal=expanded,
    )
    cite_bounded_sequence()
    ensure_equal(
        size * (bound / size),
        bound,
        "||p_tau|| times a limit of p_R/R meets the constraints of p_tau and is no longer than it: "
        "it is p_tau, by the inequality above",
    )
    # r/R tends to infinity
    B, x = sp.symbols("B x", nonnegative=True)
    ensure_nonnegative(
        sp.expand(x + B - (x + B / (1 + MORE))).factor(),
        "ln(exp(x) + B) = x + ln(1 + B exp(-x)) <= x + B: with x = r D q*, q* over tight inputs, B "
        "= sum of g_i exp(r D q*_i) over the others, at most exp(-c r) as q*_i vanishes",
    )
    ratio = sp.Symbol("r/R", positive=True)
    ensure_zero(
        sp.limit(sp.exp(top - over * ratio), ratio, sp.oo),
        "so tight inputs have q_i <= C (q* + exp(-c r)), and exp(-c r) is exp(-c' R) times "
        "exp(-R (c r/R - c')), which vanishes as r/R grows",
    )
