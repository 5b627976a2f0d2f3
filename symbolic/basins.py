"""Where descent goes from the basin of the optimal tokens, for any number of inputs and tokens.

Letters are those of `symbolic.gains`. Let l' < 0, optimal tokens be unique, V be the least matrix
with margins m_j >= 1 over all rivals j, N = ||V||, some input have two tokens, and descent have a
constant step e of at most 1/L. `second` is the second-best score of an input. The basin is where
the risk gap lies below (1/n) min_i [l(second) - l(best)]. From a start in it:

1. u stays above second by a constant, and s_o above another (`ensure_kept`).
2. -grad L is a sum of p_j A_j with c exp(-m_j) <= p_j <= C exp(-m_j), c > 0
   (`ensure_coefficients`).
3. <W, V> grows by e P at least, P = sum_j p_j, and ||W|| tends to infinity (`ensure_divergence`).
4. ||W|| grows by e P/N times a factor that tends to 1. So with S the sum of e P/N over all steps so
   far limsup ||W||/S <= 1 <= liminf <W, V>/(N S): the cosine of W and V, at most 1, tends to 1
   (`ensure_direction`).
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import expanded
from symbolic.gains import (
    GAMMA_O,
    REST,
    P,
    S,
    ensure_gain,
    ensure_gain_of_equal_rivals,
    ensure_gain_of_support,
)
from symbolic.inner_products import inner, vector
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    COMPACT,
    COMPLETE,
    CONTINUOUS,
    DESCENT,
    DIFFERENTIABLE,
    EXPONENTIAL,
    INCREASING,
    JENSEN,
    LIPSCHITZ,
    MEAN_VALUE_ON_A_LINE,
    SECOND_DERIVATIVE,
    SHORT,
    STOLZ,
    SUMMABLE,
    TRIANGLE,
    UNBOUNDED,
    WEIERSTRASS,
)

LEAD, SLOPE, STEP = sp.symbols("lead slope e", positive=True)
"""gamma_o - second, |l'| and the step e."""
SECOND = GAMMA_O - LEAD
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""What is not negative by what has been said before."""

GROWS = "e P/N is positive, so that S increases"
BEYOND = "||W_k|| <= ||W_0|| + a N S_k, a the largest ||A_j||, so that S tends to infinity"
SHORTER = (
    "s_1 (second - u) = s_2 (u - worst) - s_o (gamma_o - u) is at most s_2 (second - worst): the "
    "length of a step is at most a constant times s_2, so at most one times s_o"
)


def ensure_kept() -> None:
    """From the basin u stays above the second-best score, and s_o above 0, by constants."""
    n, level, left = sp.symbols("n level left", positive=True)
    cite(DESCENT, given={LIPSCHITZ: "L is that constant", SHORT: "as the statement has it"})
    ensure_gain_of_support()
    ensure_nonnegative(
        S * (LEAD + MORE), "so u is at most gamma_o, and no input's part of the gap is negative"
    )
    ensure_nonnegative(
        n * level + MORE - (n * (level - left) - LESS) - n * left,
        "l(second) - l(u) is at least n times what the start's gap lacks to the threshold",
        normal=expanded,
    )
    cite(MEAN_VALUE_ON_A_LINE, given={DIFFERENTIABLE: "the loss is smooth"})
    ensure_positive(n * left / SLOPE, "so u - second is at least n left / max|l'|")
    ensure_equal(
        S * SECOND - S * (SECOND - MORE), S * MORE, "second is at least the score of each rival"
    )
    ensure_equal(
        P * GAMMA_O + REST * SECOND - SECOND,
        P * LEAD,
        "so u - second is at most s_o times the lead",
    )


def ensure_coefficients() -> None:
    """-grad L is the sum of p_j A_j with c exp(-m_j) <= p_j <= C exp(-m_j)."""
    a, m = sp.symbols("a_o m", real=True)
    total, kept, gap = sp.symbols("total kept gap", positive=True)
    rest = sp.Symbol("rest", nonnegative=True)
    ensure_gain()
    ensure_equal(sp.exp(a - m) / total, sp.exp(-m) * sp.exp(a) / total, "s_j = s_o exp(-m_j)")
    interval = "the smallest interval that holds all scores"
    cite(WEIERSTRASS, given={CONTINUOUS: "|l'|, as the loss is smooth", COMPACT: interval})
    ensure_positive(SLOPE * P * kept, "p_j exp(m_j) = |l'| s_o (u - gamma_j)/n is above a constant")
    ensure_nonnegative(
        (SLOPE + MORE) * gap * (P + rest) - SLOPE * P * (gap - LESS),
        "and at most max|l'| (gamma_o - gamma_j)/n, as s_o + rest = 1",
        normal=expanded,
    )


def ensure_divergence() -> None:
    """The norm tends to infinity."""
    p, c, a, radius = sp.symbols("p c a radius", positive=True)
    ensure_nonnegative(
        STEP * p * (1 + MORE) - STEP * p, "a rival adds e p_j m_j(V) >= e p_j", normal=expanded
    )
    cite(CAUCHY_SCHWARZ)
    ensure_positive(
        STEP * c * sp.exp(-a * radius),
        "where ||W|| <= radius margins are at most a radius, and a step adds a constant to <W, V>, "
        "which is at most radius N there: so W is there finitely often",
    )


def ensure_direction() -> None:
    """W_k/||W_k|| tends to V/||V||."""
    W, G = vector("W"), vector("G")
    p, a, least, c, C, J = sp.symbols("p a least c C J", positive=True)
    y, N, extra = sp.symbols("y N extra", positive=True)
    ensure_equal(
        (W + STEP * G) @ (W + STEP * G),
        W @ W + 2 * STEP * (G @ W) + STEP**2 * (G @ G),
        "||W + e G||^2 = ||W||^2 + 2 e <G, W> + e^2 ||G||^2 with G = sum_j p_j A_j",
    )
    cite(TRIANGLE)
    ensure_nonnegative(p * a - p * (a - LESS), "||G|| <= a P, term by term", normal=expanded)
    ensure_nonnegative(
        (least + MORE) / least - 1,
        "W over its least margin, if positive, has margins >= 1: the least one is at most ||W||/N",
        normal=expanded,
    )
    cite(EXPONENTIAL)
    ensure_equal(
        J * C * sp.exp(-least) / (c * sp.exp(-least)),
        J * C / c,
        "sum_j p_j (m_j - least) <= J C exp(-least) <= P J C/c over J rivals: <G, W> is at most "
        "P (||W||/N + extra)",
    )
    h = STEP * p * (y / N + extra) + (STEP * a * p) ** 2 / 2
    ensure_equal(
        (y + h / y) ** 2 - (y**2 + 2 * h), (h / y) ** 2, "so ||W|| = y grows by h/y at most"
    )
    excess = N * (extra + STEP * a**2 * p / 2) / y
    ensure_equal(h / y / (STEP * p / N), 1 + excess, "which is e P/N times 1 + excess")
    ensure_zero(sp.limit(excess, y, sp.oo), "the excess tends to 0, as P is bounded")
    ensure_positive(STEP * p / N, GROWS)
    ensure_equal(STEP * a * p, a * N * (STEP * p / N), BEYOND)
    cite(STOLZ, met={INCREASING: GROWS, UNBOUNDED: BEYOND})
    cite(CAUCHY_SCHWARZ)


def ensure_from_basin() -> None:
    """From the basin the norm diverges and the direction converges to that of V."""
    ensure_kept()
    ensure_coefficients()
    ensure_divergence()
    ensure_direction()


def prove() -> str:
    """From the basin the direction converges to that of V, and the norm diverges."""
    ensure_from_basin()
    return "for every smooth loss with l' < 0 and any n, T and d"


def prove_equal_rivals() -> str:
    """One input whose rivals have one score is in the basin wherever it starts."""
    ensure_gain_of_equal_rivals()
    ensure_positive(P * LEAD, "u is above the rivals' score: the risk gap is below the threshold")
    ensure_from_basin()
    return "for every smooth loss with l' < 0, any T, d and start"


def ensure_rate() -> None:
    """||W_k||/ln k tends to N, and the least margin over ln k to 1.

    As m_j/||W|| tends to <A_j, V>/N, of least value 1/N, and ||W|| to <W, V>/N in proportion, y =
    ||W|| grows by steps between A exp(-b y) and B exp(-b y) for A, B > 0, with every b above 1/N
    below and every b below 1/N above.
    """
    y, b, A, B = sp.symbols("y b A B", positive=True)
    cite(EXPONENTIAL)
    ensure_equal(
        sp.exp(b * y) * (b * A * sp.exp(-b * y)),
        b * A,
        "exp(b y) grows by b A at least, so y is at least (ln k)/b up to a constant",
    )
    step = B * sp.exp(-b * y)
    ensure_equal(
        sp.exp(b * y) * (b * step * sp.exp(b * step)) - b * B,
        b * B * (sp.exp(b * step) - 1),
        "exp(b y) grows by at most b B exp(b B), so y is at most (ln k)/b up to a constant",
        normal=sp.simplify,
    )


def prove_rate() -> str:
    """From the basin the norm grows like N ln k."""
    ensure_from_basin()
    ensure_rate()
    return "for every smooth loss with l' < 0 and any n, T and d"


def prove_shares() -> str:
    """From the basin the share of a rival of margin m under V falls like k^-(m - 1)."""
    ensure_from_basin()
    m, least = sp.symbols("m least", positive=True)
    c, C = sp.symbols("c C", positive=True)
    ensure_equal(
        sp.log(C * sp.exp(-m) / (c * sp.exp(-least))),
        least - m + sp.log(C / c),
        "the logarithm of p_j over the largest p is least - m_j up to a constant",
        normal=lambda x: sp.expand(sp.expand_log(x, force=True)),
    )
    ensure_rate()
    return "for every smooth loss with l' < 0 and any n, T and d"


def ensure_gap_of_rest() -> None:
    """An input's part of the risk gap is at most max|l'| times its scores' range times 1 - s_o."""
    far = sp.Symbol("range", positive=True)
    cite(MEAN_VALUE_ON_A_LINE, given={DIFFERENTIABLE: "the loss is smooth"})
    ensure_gain_of_support()
    ensure_nonnegative(
        S * far - S * (far - MORE),
        "l(u) - l(gamma_o) is at most max|l'| (gamma_o - u), and that at most range (1 - s_o)",
        normal=expanded,
    )


def ensure_accord() -> None:
    """Inputs of which none pulls against another stay above their second-best scores, and enter.

    A step moves input i by its own pull, that of its part of the risk, and then by those of the
    others.
    """
    p, kept, n, own = sp.symbols("p kept n own", positive=True)
    ensure_nonnegative(
        (own + MORE) / n - own / n,
        "L, the mean of the L_i, is at least L_i/n, the constant of part i",
        normal=expanded,
    )
    cite(DESCENT, given={LIPSCHITZ: "for part i the constant is L_i/n", SHORT: "e <= 1/L <= n/L_i"})
    ensure_gain()
    ensure_nonnegative(p * MORE, "the pulls p A_ju of others raise margins, as <A_it, A_ju> >= 0")
    ensure_positive(
        S * (kept + MORE),
        "and u rises with a margin, at the rate s_t (u - gamma_t): it never falls",
    )
    ensure_nonnegative(
        S * (kept + MORE) - S * kept,
        "<-grad L, V> is at least the mean of |l'| (u(0) - second) (1 - s_o)",
        normal=expanded,
    )
    cite(CAUCHY_SCHWARZ)
    cite(DESCENT, given={LIPSCHITZ: "L is that constant", SHORT: "as the statement has it"})
    ensure_gap_of_rest()  # the gradient tends to 0, so 1 - s_o and the risk gap do
    ensure_from_basin()


def prove_accord() -> str:
    """Inputs in accord whose rivals' scores are within lead s_o/(1 - s_o)."""
    left = sp.Symbol("left", positive=True)
    ensure_equal(
        P * GAMMA_O + REST * (SECOND - (LEAD * P / REST - left)) - SECOND,
        REST * left,
        "rivals' scores within lead s_o/(1 - s_o), less something, leave u above second at first",
        normal=sp.simplify,
    )
    ensure_accord()
    return "for every smooth loss with l' < 0, any n, T and d"


def prove_by_margins() -> str:
    """Least margins m >= ln(Q/D) lie in the basin; Q = sum_i max|l'| (T_i - 1) range_i.

    D is the least of l(second) - l(best), or what it is at least.
    """
    weight, Q, D = sp.symbols("r Q D", positive=True)
    ensure_gap_of_rest()
    ensure_positive(
        weight - weight / (1 + weight),
        "1 - s_o = r/(1 + r) is below r = sum_t exp(-m_t), at most (T - 1) exp(-m)",
        normal=sp.factor,
    )
    ensure_equal(
        Q * sp.exp(-(sp.log(Q / D) + MORE)),
        D / sp.exp(MORE),
        "Q exp(-m) is D/exp(more) where m = ln(Q/D) + more",
    )
    cite(EXPONENTIAL)
    ensure_nonnegative(
        D - D / (1 + MORE), "which is at most D: the start is in the basin", normal=sp.factor
    )
    ensure_from_basin()
    return "for every smooth loss with l' < 0, any n, T and d"


def prove_pair() -> str:
    """Two inputs of two tokens with the same two scores, none negative: zero is on the edge."""
    u = sp.Symbol("u", real=True)
    power = sp.Symbol("power", nonnegative=True)
    ensure_zero(
        SYMBOLS.logistic_curvature(u) - sp.diff(SYMBOLS.logistic(u), u, 2),
        "the curvature of g is its second derivative",
        normal=sp.simplify,
    )
    ensure_nonnegative(
        -SYMBOLS.logistic_curvature(u).subs(sp.exp(-u), 1 / (1 + power)),
        "l = g(-.) = 1 - g has l'' >= 0 where u >= 0, that is exp(u) = 1 + power",
        normal=sp.factor,
    )
    cite(JENSEN, given={SECOND_DERIVATIVE: "no score is negative"})
    best, second = sp.symbols("l_best l_second", real=True)
    ensure_equal(
        (best + second) / 2 - best,
        (second - best) / 2,
        "l at the mean of both scores is at most their mean: at zero the risk gap is at most the "
        "threshold, half of l(second) - l(best)",
    )
    ensure_equal(
        (GAMMA_O + SECOND) / 2 - SECOND, LEAD / 2, "u is above second there: the gradient is not 0"
    )
    ensure_from_basin()
    return "for any two such inputs, any d: one step takes the risk gap below the threshold"


def prove_three() -> str:
    """One input of three tokens, the second best a support vector: the basin is reached.

    Let d_1, d_2 be the optimal token minus the second best and minus the worst, c = <d_1, d_2>,
    q = ||d_2||^2. Where u is above second the run is in the basin, as n = 1. Where it is not, a
    step moves the logit margin of the worst token by a multiple of
    s_1 (u - second) c + s_2 (u - worst) q. Were it so for ever, W would converge, to a point with
    s_o above 0, and s_o would tend to 0.
    """
    q, drop, weight, first = sp.symbols("q drop s_2 s_1", positive=True)
    short = LESS  # second - u
    more = inner("d_1", "d_2") - q
    ensure_equal(
        inner("d_1", "d_2") / q,
        1 + more / q,
        "were c above q, V = d_2/q, the least one for d_2, would leave a margin above 1 to the "
        "second best",
    )
    cite(CAUCHY_SCHWARZ)
    pulls = -first * short + weight * (drop - short)
    ensure_nonnegative(
        -first * short * (q - MORE) + weight * (drop - short) * q - q * pulls,
        "as c <= q the margin of the worst token moves by at least q times the sum over rivals of "
        "s_t (u - gamma_t)",
        normal=expanded,
    )
    ensure_gain_of_support()
    ensure_positive(P * (LEAD + short), "which is s_o (gamma_o - u) > 0: s_o/s_2 never falls")
    ensure_equal(
        P * GAMMA_O + (1 - P - weight) * SECOND + weight * (SECOND - drop) - SECOND,
        P * LEAD - weight * drop,
        "u <= second says that s_o/s_2 is at most (second - worst)/lead: the margin is bounded, "
        "and the s_o are summable",
    )
    cite(TRIANGLE)
    ensure_nonnegative(
        weight * drop - (weight * (drop - short) - P * (LEAD + short)), SHORTER, normal=expanded
    )
    cite(COMPLETE, met={SUMMABLE: SHORTER})
    ensure_from_basin()
    return "for every smooth loss with l' < 0, any d and start"
