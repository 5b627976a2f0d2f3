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

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from attsvm.lipschitz import attention_bend
from attsvm.theory import (
    Supposed,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_zero,
)
from attsvm.theory.declaration.proof import expanded
from symbolic.continuity import cite_extreme_value, ensure_smooth
from symbolic.curvature import RISK, ensure_hessian, ensure_smoothness
from symbolic.divergence import ensure_passed
from symbolic.gains import (
    GAMMA,
    GAMMA_O,
    REST,
    P,
    S,
    ensure_gain,
    ensure_gain_of_equal_rivals,
    ensure_gain_of_support,
)
from symbolic.inner_products import vector
from symbolic.sums import (
    ensure_at_least_each,
    ensure_mean,
    ensure_nonnegative_sum,
    entry,
    n,
    total,
)
from symbolic.suppositions import LOSS, SHORT_STEP
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    COMPOSED,
    CONTINUOUS,
    DESCENT,
    DIFFERENTIABLE,
    EXPONENTIAL,
    INCREASING,
    LIPSCHITZ,
    MEAN_VALUE_ON_A_LINE,
    RISING,
    SHORT,
    SIGN,
    STOLZ,
    TRIANGLE,
    UNBOUNDED,
)

LEAD, SLOPE, STEP, REACH = sp.symbols("lead slope e reach", positive=True)
"""gamma_o - second, |l'|, the step e and the largest ||A_t||."""
SECOND = GAMMA_O - LEAD
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""What is not negative by what has been said before."""

OF_SCORES = "|l'| on the smallest interval that holds all scores"
GROWS = "e P/N is positive, so that S increases"
POWERS = "the gradient of F is Lipschitz with the constant reach^2"
F_SMOOTH = "F has all derivatives in the margins, which are linear in W"
FAR = (
    "where ||W|| <= radius = bound/N margins are at most a radius, and a step adds a constant to "
    "<W, V>, which is at most bound there: so W is there finitely often"
)
SHORTER = (
    "s_1 (second - u) = s_2 (u - worst) - s_o (gamma_o - u) is at most s_2 (second - worst): the "
    "length of a step is at most a constant times s_2, so at most one times s_o"
)


def ensure_own_constant() -> None:
    """The Lipschitz constant L of the gradient is at least that of each input's part, L_i/n."""
    square, reach, lead, slope, bend = sp.symbols(
        "||z||^2 ||X-mean|| D sup|l'| sup|l''|", nonnegative=True
    )
    part = square * reach**2 * attention_bend(lead, slope, bend, sp.sqrt)
    ensure_at_least_each(part, "n L, the sum of the L_i, is at least each of them")


def ensure_kept(short: Supposed = SHORT_STEP) -> None:
    """From the basin u stays above the second-best score, and s_o above 0, by constants.

    Args:
        short: what says that the step is at most 1/L.
    """
    n, level, left = sp.symbols("n level left", positive=True)
    ensure_smoothness()
    cite(DESCENT, met={LIPSCHITZ: RISK, SHORT: short})
    ensure_gain_of_support()
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: LOSS})
    behind = MORE  # gamma_o - gamma_t
    ensure_mean(S, GAMMA_O - behind, "u is at most gamma_o", most=GAMMA_O)
    ensure_at_least_each(
        SLOPE * behind,
        "each input's part l(u) - l(gamma_o) = |l'| (gamma_o - u) is at most n times the risk gap, "
        "which is the mean of the parts",
    )
    ensure_nonnegative(
        n * level + MORE - (n * (level - left) - LESS) - n * left,
        "l(second) - l(u) is at least n times what the start's gap lacks to the threshold",
        normal=expanded,
    )
    ensure_positive(n * left / SLOPE, "so u - second is at least n left / max|l'|")
    ensure_mean(
        S,
        SECOND - MORE,
        "the rivals' sum of s_t gamma_t is at most second times 1 - s_o",
        most=SECOND,
    )
    ensure_equal(
        P * GAMMA_O + REST * SECOND - SECOND,
        P * LEAD,
        "so u - second is at most s_o times the lead",
    )


def ensure_coefficients() -> tuple[Any, Any]:
    """-grad L is the sum of p_j A_j with c exp(-m_j) <= p_j <= C exp(-m_j).

    Returns:
        c and C.
    """
    a, m = sp.symbols("a_o m", real=True)
    total, kept, gap, n = sp.symbols("total kept gap n", positive=True)
    rest, also = sp.symbols("rest also", nonnegative=True)
    top = sp.Symbol("max|l'|", positive=True)
    low, high = SLOPE * P * kept / n, top * gap / n
    ensure_gain()
    ensure_equal(sp.exp(a - m) / total, sp.exp(-m) * sp.exp(a) / total, "s_j = s_o exp(-m_j)")
    cite_extreme_value(LOSS, OF_SCORES)
    ensure_equal(
        SLOPE * (P * sp.exp(-m)) * gap / n * sp.exp(m),
        SLOPE * P * gap / n,
        "so p_j = |l'| s_j (u - gamma_j)/n has p_j exp(m_j) = |l'| s_o (u - gamma_j)/n",
        normal=sp.simplify,
    )
    ensure_nonnegative(
        (SLOPE + MORE) * (P + also) * (kept + LESS) / n - low,
        "which is at least min|l'|/n times the bounds that s_o and u - second are above",
        normal=expanded,
    )
    ensure_positive(low, "a positive constant")
    ensure_nonnegative(
        high * (P + rest) - top / (1 + MORE) * P * (gap - LESS) / n,
        "and at most max|l'| (gamma_o - gamma_j)/n, as s_o + rest = 1",
        normal=sp.factor,
    )
    return low, high


def ensure_divergence(c: Any) -> None:
    """The norm tends to infinity.

    Args:
        c: p_j is at least c exp(-m_j).
    """
    a, N, p = sp.symbols("a N p", positive=True)
    ensure_mean(
        p,
        1 + MORE,
        "<W, V> grows by e sum_j p_j m_j(V), which is at least e P",
        least=1,
    )
    cite(CAUCHY_SCHWARZ)
    ensure_passed(
        lambda bound: STEP * c * sp.exp(-a * bound / N),
        FAR,
        elsewhere=STEP * p,
    )


def ensure_lag(c: Any, C: Any, whole: Callable[[Any], Any], what: str) -> None:
    """Where c exp(-m_j) <= p_j <= C exp(-m_j) no p_j (m_j - least) is above C exp(-least).

    Args:
        c: that constant, in symbols of known sign.
        C: the other one.
        whole: a number, or several, of the p_j of the least margin: over J rivals the sum of these
            is at most J C/c times it.
        what: says what this makes of the sum.

    Raises:
        ProofError: `whole` is not known to be at least that p_j, or c and C to be positive.
    """
    x, J, lowest = sp.symbols("x J exp(-least)", positive=True)
    cite(EXPONENTIAL)  # exp(-x) <= 1/(1 + x)
    p = C * lowest / (1 + x + MORE)
    ensure_nonnegative(
        C * lowest - p * x,
        "p_j (m_j - least) <= C exp(-least) x exp(-x), x = m_j - least, is at most C exp(-least)",
        normal=sp.factor,
    )
    found = np.atleast_1d(whole(c * lowest + MORE))
    ensure_nonnegative(J * C / c * found - J * C * lowest, what, normal=expanded)


def ensure_direction(c: Any, C: Any, diverges: str) -> None:
    """W_k/||W_k|| tends to V/||V||.

    Args:
        c: p_j is at least c exp(-m_j).
        C: and at most C exp(-m_j).
        diverges: the step that has shown that ||W_k|| tends to infinity.
    """
    W, G = vector("W"), vector("G")
    p, a, least = sp.symbols("p a least", positive=True)
    y, N, extra = sp.symbols("y N extra", positive=True)
    ensure_equal(
        (W + STEP * G) @ (W + STEP * G),
        W @ W + 2 * STEP * (G @ W) + STEP**2 * (G @ G),
        "||W + e G||^2 = ||W||^2 + 2 e <G, W> + e^2 ||G||^2 with G = sum_j p_j A_j",
    )
    cite(TRIANGLE)
    ensure_mean(
        p,
        a / (1 + MORE),
        "||G||, at most the sum of p_j ||A_j||, is at most a P",
        most=a,
    )
    ensure_nonnegative(
        (least + MORE) / least - 1,
        "W over its least margin, if positive, has margins >= 1: the least one is at most ||W||/N",
        normal=expanded,
    )
    ensure_lag(
        c,
        C,
        lambda lowest: lowest + LESS,
        "so that over J rivals sum_j p_j (m_j - least) is at most P J C/c, P being at least the "
        "p_j of the least margin: <G, W> is at most P (||W||/N + extra)",
    )
    h = STEP * p * (y / N + extra) + (STEP * a * p) ** 2 / 2
    ensure_equal(
        (y + h / y) ** 2 - (y**2 + 2 * h), (h / y) ** 2, "so ||W|| = y grows by h/y at most"
    )
    excess = N * (extra + STEP * a**2 * p / 2) / y
    ensure_equal(h / y / (STEP * p / N), 1 + excess, "which is e P/N times 1 + excess")
    ensure_zero(sp.limit(excess, y, sp.oo), "the excess tends to 0, as P is bounded")
    ensure_positive(STEP * p / N, GROWS)
    ensure_equal(
        STEP * a * p,
        a * N * (STEP * p / N),
        "||W_k|| <= ||W_0|| + a N S_k, a the largest ||A_j||, so that S tends to infinity as it "
        "does",
    )
    cite(STOLZ, met={INCREASING: GROWS, UNBOUNDED: diverges})
    far, off = sp.symbols("S off", positive=True)
    ensure_equal(
        sp.limit((1 - off) * N * far / ((1 + off) * far * N), off, 0),
        1,
        "with S that sum, ||W||/S is at most 1 + off in the end and <W, V>/(N S) at least 1 - off, "
        "for every off > 0: the cosine <W, V>/(||W|| N) has no limit below 1",
    )
    cite(CAUCHY_SCHWARZ)  # nor one above


def ensure_from_kept() -> None:
    """Where 1 holds from some step on, whatever the step is, the direction converges to that of V.

    And the norm diverges.
    """
    c, C = ensure_coefficients()
    ensure_divergence(c)
    ensure_direction(c, C, FAR)


def ensure_from_basin(short: Supposed = SHORT_STEP) -> None:
    """From the basin the norm diverges and the direction converges to that of V.

    Args:
        short: what says that the step is at most 1/L.
    """
    ensure_kept(short)
    ensure_from_kept()


def prove() -> str:
    """From the basin the direction converges to that of V, and the norm diverges."""
    ensure_from_basin()
    return "for every smooth loss with l' < 0 and any n, T and d"


def ensure_raised_by_others() -> None:
    """What other inputs add to a margin is not negative, where inputs are aligned."""
    p, product = entry("p"), entry("product")
    ensure_nonnegative_sum(
        total(p * product),
        p * product,
        "another input adds to m_it e times the sum over its rivals u of p_ju <A_ju, A_it>",
        p=S * (P * LEAD + MORE),
        product=MORE,
    )


def ensure_log_of_powers() -> None:
    """The gradient of F is -sum_t q_t A_t, and has the Lipschitz constant reach^2."""
    m, v = sp.symbols("m_t v", real=True)
    others = sp.Symbol("others", positive=True)
    ensure_smooth(sp.log(others + sp.exp(-m)), F_SMOOTH)
    ensure_equal(
        sp.diff(sp.log(others + sp.exp(-m)), m),
        -(P * sp.exp(-m)) / (P * (others + sp.exp(-m))),
        "the derivative of F by m_t is -q_t, as s_t = s_o exp(-m_t): grad F = -sum_t q_t A_t",
        normal=sp.cancel,
    )
    Z, q, a = sp.Function("Z"), entry("q"), entry("a")
    ensure_zero(
        sp.diff(sp.log(Z(v)), v, 2) - (Z(v).diff(v, 2) / Z(v) - (Z(v).diff(v) / Z(v)) ** 2),
        "along a unit vector F'' is the mean of a_t^2 less the square of that of a_t = <A_t, .>, "
        "with weights q_t",
        normal=sp.cancel,
    )
    ensure_equal(
        total(q * (a - v) ** 2).subs(total(q * a), v).subs(total(q), 1),
        total(q * a**2) - v**2,
        "which is the mean of (a_t - v)^2, v that of a_t: so it is not negative",
    )
    cite(CAUCHY_SCHWARZ)
    reached = REACH / (1 + MORE)  # ||A_t||
    ensure_mean(S, reached**2, "and the mean of a_t^2 is at most reach^2", most=REACH**2)
    curved = "so |F''| is at most reach^2 along every unit vector"
    ensure_nonnegative(REACH**2 - (REACH**2 - MORE - v**2), curved)
    ensure_hessian(curved, sp.log(others + sp.exp(-m)), of=POWERS)


def ensure_kept_odds() -> None:
    """Where exp(F) is bounded, and rivals have one score, s_o and u less it are above constants."""
    power = sp.Symbol("exp(F)", positive=True)
    ensure_nonnegative(
        (1 / (1 + power) - 1 / (1 + power + MORE)) * LEAD,
        "so s_o = 1/(1 + exp(F)), and u less the score of rivals, s_o lead, stay above constants",
        normal=sp.factor,
    )


def ensure_raised() -> None:
    """Attention to the optimal tokens stays above a constant, with any step.

    Rivals of an input have one score, and inputs are aligned: no <A_it, A_ju> is negative. Let F be
    the logarithm of the sum over rivals of exp(-m_t), q_t = s_t/(1 - s_o), reach the largest
    ||A_t||, and small = n/(e max|l'| lead reach^2).
    """
    share = sp.Symbol("s_t", positive=True)
    top, n = sp.symbols("max|l'| n", positive=True)
    slope = top / (1 + LESS)  # |l'|, at most the largest
    ensure_gain()
    ensure_gain_of_equal_rivals()
    cite_extreme_value(LOSS, OF_SCORES)
    ensure_equal(1 / (1 + REST / P), P, "exp(F) is (1 - s_o)/s_o", normal=sp.simplify)
    ensure_equal(
        SLOPE * share * P * LEAD,
        SLOPE * LEAD * P * S * (share / S),
        "the input moves W by sum_t q_t A_t times its pace e |l'| lead s_o (1 - s_o)/n",
    )
    ensure_log_of_powers()
    small = n / (STEP * top * LEAD * REACH**2)
    short = "where s_o is at most small the pace is at most 1/reach^2"
    attended = small / (1 + MORE)
    ensure_nonnegative(
        1 / REACH**2 - STEP * slope * LEAD * attended * (1 - attended) / n,
        short,
        normal=sp.factor,
    )
    cite(DESCENT, met={LIPSCHITZ: POWERS, SHORT: short})  # then F does not increase
    attended = small * (1 + MORE)
    ensure_positive(
        1 / small - (1 - attended) / attended,
        "elsewhere exp(F) is at most 1/small",
        normal=sp.factor,
    )
    cite(TRIANGLE)
    ensure_mean(
        S,
        REACH / (1 + MORE),
        "||sum_t q_t A_t||, at most the mean of ||A_t||, is at most reach",
        most=REACH,
    )
    odds = S / P
    ensure_nonnegative(
        STEP * top * LEAD / n * REACH**2
        - STEP * slope * LEAD * odds / (1 + odds) ** 2 / n * REACH * REACH,
        "so F, of slope at most reach, grows there by at most reach times the length of the move, "
        "at most by growth = e max|l'| lead reach^2/n",
        normal=sp.factor,
    )
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: F_SMOOTH})
    ensure_raised_by_others()
    z = entry("z")
    ensure_nonnegative_sum(
        total(z) - total(z / (1 + MORE)),
        z * (1 - 1 / (1 + MORE)),
        "exp(F), the sum of exp(-m_t), falls as margins rise",
        z=sp.Symbol("exp(-m_t)", positive=True),
    )
    level = sp.Symbol("level", real=True)
    ensure_nonnegative(
        [(level + MORE) - (level + MORE - LESS), (level + MORE) - (level - LESS)],
        "with level = growth - ln(small) F, which from one step to the next does not increase or "
        "is at most level, stays at most the larger of level and F(0)",
    )
    ensure_kept_odds()


def prove_equal_rivals() -> str:
    """Aligned inputs whose rivals have one score, as one input is: any start and any step."""
    ensure_raised()
    ensure_from_kept()
    return "for every loss with continuous l' < 0, any n, T, d and start, and any constant step"


def ensure_margins() -> None:
    """From where the direction tends to V/N, and y = ||W|| to infinity, all m_j are beyond b y.

    For every b < 1/N, from some step on.
    """
    N = sp.Symbol("N", positive=True)
    linear = "<A_j, .>, a sum of products of entries, is continuous at the direction W/||W||"
    ensure_smooth(entry("A_j") * entry("W/||W||"), linear)
    cite(COMPOSED, met={CONTINUOUS: linear})
    ensure_nonnegative(
        (1 + MORE) / N - 1 / N,
        "m_j/y tends to <A_j, V>/N, which is at least 1/N: all m_j are at least b y in the end",
        normal=expanded,
    )


def prove_attention() -> str:
    """From the basin every margin passes every bound, and each s_o tends to 1."""
    ensure_from_basin()
    ensure_margins()
    b, y = sp.symbols("b y", positive=True)
    e, rest = entry("e"), sp.Symbol("R", nonnegative=True)
    ensure_nonnegative(
        rest - (1 - 1 / (1 + rest)),
        "1 - s_o, with s_o = 1/(1 + R) and R the sum of exp(-m_j) over the rivals, is at most R",
        normal=sp.cancel,
    )
    ensure_nonnegative_sum(
        n * sp.exp(-b * y) - total(e),
        sp.exp(-b * y) - e,
        "R is at most the number of rivals times exp(-b y)",
        e=sp.exp(-b * y) / (1 + MORE),
    )
    ensure_zero(sp.limit(sp.exp(-b * y), y, sp.oo), "which tends to 0 as y tends to infinity")
    return (
        "for every smooth loss with l' < 0 and any n, T and d; an input without rivals attends to "
        "its optimal token alone"
    )


def _above_tangent(gap: Any) -> Any:
    """Expanded, where exp(x) is 1 + x and more for every x that is not negative."""
    return sp.expand(
        sp.expand(gap).replace(
            lambda x: isinstance(x, sp.exp) and x.args[0].is_nonnegative,
            lambda x: 1 + x.args[0] + LESS,
        )
    )


def ensure_between_powers() -> None:
    """P is between multiples of exp(-y/N) and of exp(-b y) for every b < 1/N, y = ||W|| large."""
    y, N, C, b = sp.symbols("y N C b", positive=True)
    p, c = entry("p"), sp.Symbol("c", positive=True)
    least = y / N - MORE
    ensure_at_least_each(c * sp.exp(-least) + LESS, "P is at least the p_j of the least margin")
    cite(EXPONENTIAL)
    ensure_nonnegative(
        c * sp.exp(-least) - c * sp.exp(-y / N),
        "which is at most y/N: so P is at least c exp(-y/N)",
        normal=_above_tangent,
    )
    ensure_margins()
    ensure_nonnegative_sum(
        n * C * sp.exp(-b * y) - total(p),
        C * sp.exp(-b * y) - p,
        "so P, a sum of p_j <= C exp(-b y), is at most a multiple of exp(-b y)",
        p=C * sp.exp(-b * y) / (1 + MORE),
    )


def ensure_rate() -> None:
    """||W_k||/ln k tends to N, and the least margin over ln k to 1.

    Let f = <W, V>/N, which is at most y = ||W||, and in the end at least y/(1 + apart), for every
    apart > 0.
    """
    y, N, b, A, B, apart, f = sp.symbols("y N b A B apart f", positive=True)
    k, first = sp.symbols("k first", positive=True)
    ensure_between_powers()
    cite(EXPONENTIAL)
    ensure_nonnegative(
        A * sp.exp(-((1 + apart) * f - MORE) / N) - A * sp.exp(-(1 + apart) / N * f),
        "f grows by e P/N at least, so by A exp(-y/N), and by A exp(-b f) with b = (1 + apart)/N, "
        "as y <= (1 + apart) f in the end; y grows by e P/N times what tends to 1 at most, so by "
        "B exp(-b y) for every b below 1/N",
        normal=_above_tangent,
    )
    ensure_equal(
        sp.exp(b * y) * (b * A * sp.exp(-b * y)),
        b * A,
        "exp(b f) grows by b A at least, so f is at least (ln k)/b up to a constant",
    )
    step = B * sp.exp(-b * y)
    ensure_equal(
        sp.exp(b * y) * (b * step * sp.exp(b * step)) - b * B,
        b * B * (sp.exp(b * step) - 1),
        "exp(b y) grows by at most b B exp(b B), so y is at most (ln k)/b up to a constant",
        normal=sp.simplify,
    )
    ensure_equal(
        [
            sp.limit((sp.log(k) / b + first) / sp.log(k), k, sp.oo),
            sp.limit(N / (1 + apart), apart, 0),
            sp.limit(1 / b, b, 1 / N),
        ],
        [1 / b, N, N],
        "so y/ln k is in the end about between N/(1 + apart) and 1/b, for every apart > 0 and b < "
        "1/N: it tends to N; and as the least margin is between b y and y/N, over ln k it tends to "
        "N/N = 1",
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
    ensure_at_least_each(
        c * sp.exp(-m) + MORE,
        "the sum of all |dL/d(x_t^T X z)|, p_j of rivals and their sum for the optimal token of "
        "each input, so twice the sum of the p_j, is at least the largest p",
    )
    largest = C * sp.exp(-least)
    twice = sp.Integer(2)
    ensure_mean(twice, largest - MORE, "and at most twice their number times it", most=largest)
    ensure_rate()
    y, N, log_k = sp.symbols("y N ln(k)", positive=True)
    ensure_equal(
        ((y / N - m * y / N) / log_k).subs(y, N * log_k),
        -(m - 1),
        "over ln k that tends to -(m - 1), as least/y tends to 1/N, m_j/y to m/N and y/ln k to N",
        normal=sp.cancel,
    )
    return "for every smooth loss with l' < 0 and any n, T and d"


def ensure_gap_of_rest() -> None:
    """An input's part of the risk gap is at most max|l'| times its scores' range times 1 - s_o."""
    far = sp.Symbol("range", positive=True)
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: LOSS})
    ensure_gain_of_support()
    ensure_mean(
        S,
        far - MORE,
        "l(u) - l(gamma_o) is at most max|l'| (gamma_o - u), and gamma_o - u, the sum of s_t "
        "(gamma_o - gamma_t) over rivals, at most range (1 - s_o)",
        most=far,
    )


def ensure_aligned() -> None:
    """Aligned inputs stay above their second-best scores, and descent enters the basin.

    Aligned means that no <A_it, A_ju> is negative. A step moves W by the gradient of input i's own
    part of the risk, and then by those of the other parts.
    """
    kept, n, size, N = sp.symbols("kept n ||grad|| N", positive=True)
    m, others, second = sp.symbols("m_t others second", real=True)
    ensure_own_constant()
    ensure_smoothness()  # of part i, with L_i/n <= L
    cite(DESCENT, met={LIPSCHITZ: RISK, SHORT: SHORT_STEP})
    ensure_gain()
    ensure_raised_by_others()
    powers = sp.Symbol("powers", positive=True)
    attended = (others + GAMMA * sp.exp(-m)) / (powers + sp.exp(-m))
    ensure_equal(
        sp.diff(attended, m),
        sp.exp(-m) / (powers + sp.exp(-m)) * (attended - GAMMA),
        "the derivative of u by m_t is s_t (u - gamma_t)",
        normal=sp.simplify,
    )
    rises = "which is not negative where u is at least second, as no gamma_t is above that"
    ensure_nonnegative(S * ((second + MORE) - (second - LESS)), rises, normal=expanded)
    smooth = "u is smooth along the move by other parts, up to a first return to second"
    ensure_smooth(attended, smooth)
    cite(RISING, met={SIGN: rises, DIFFERENTIABLE: smooth})
    ensure_mean(
        S,
        (kept + LESS) * (1 + MORE),
        "-<grad L, V> is the mean of |l'| sum_t s_t (u - gamma_t) m_t, and that sum at least kept "
        "(1 - s_o), kept = u(0) - second, as margins m_t of V are at least 1",
        least=kept,
    )
    ensure_at_least_each(
        SLOPE * kept * S, "the mean of |l'| kept (1 - s_o) is at least 1/n times each of these"
    )
    cite(CAUCHY_SCHWARZ)
    cite(DESCENT, met={LIPSCHITZ: RISK, SHORT: SHORT_STEP})
    ensure_zero(
        sp.limit(n * N * size / (SLOPE * kept), size, 0),
        "so 1 - s_o, at most n N ||grad L||/(min|l'| kept), tends to 0 with the gradient",
    )
    ensure_gap_of_rest()  # so the risk gap tends to 0
    ensure_from_basin()


def prove_aligned() -> str:
    """Aligned inputs whose rivals' scores are within lead s_o/(1 - s_o)."""
    left = sp.Symbol("left", positive=True)
    ensure_equal(
        P * GAMMA_O + REST * (SECOND - (LEAD * P / REST - left)) - SECOND,
        REST * left,
        "rivals' scores within lead s_o/(1 - s_o), less something, leave u above second at first",
        normal=sp.simplify,
    )
    ensure_aligned()
    return "for every smooth loss with l' < 0, any n, T and d"


def ensure_from_margins() -> None:
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


def prove_from_proper_start() -> str:
    """From r p(alpha), r = R + 1, R = max(0, ln(Q/D)), Q = max|l'| sum_i (T_i - 1) range_i.

    D is min|l'| times the least lead of a best score.
    """
    R, (steep, lead) = sp.Symbol("R", nonnegative=True), sp.symbols("min|l'| lead", positive=True)
    ensure_positive(
        (R + 1) * (1 + MORE) - R,
        "margins of r p(alpha) are at least r, as those of p(alpha) are at least 1, so above R",
        normal=expanded,
    )
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: LOSS})
    ensure_nonnegative(
        (steep + MORE) * (lead + LESS) - steep * lead,
        "l(second) - l(best), |l'| at some score between them times their distance, is at least D",
        normal=expanded,
    )
    ensure_from_margins()
    return "for every smooth loss with l' < 0, any n, T and d"


def prove_after_step() -> str:
    """Margins after a step of length R >= 0 along U are at least m_0 + iota R, which is enough."""
    least, rate = sp.symbols("m_0 iota", real=True)
    length, more, faster = sp.symbols("R more faster", nonnegative=True)
    ensure_nonnegative(
        (least + more) + length * (rate + faster) - (least + rate * length),
        "<A, W_0 + R U> with <A, W_0> = m_0 + more and <A, U> = iota + faster",
        normal=sp.expand,
    )
    ensure_from_margins()
    return "for every smooth loss with l' < 0, any n, T and d"
