"""The limit direction of descent from the basin, for any number of inputs and tokens.

Letters are those of `symbolic.gains`. Suppose that l' < 0, that optimal tokens are unique, that
some input has two tokens, and that descent has a constant step e of at most 1/L. The margin of
rival j is m_j = <A_j, W>, and V is the matrix of least norm N with all margins at least 1. `second`
is the second-best score of an input. The basin is the set of all W whose risk gap is below
(1/n) min_i [l(second) - l(best)]. From a start in the basin:

1. u stays above second by a constant, and s_o above another (`ensure_kept`).
2. -grad L is a sum of p_j A_j with c exp(-m_j) <= p_j <= C exp(-m_j), c > 0
   (`ensure_coefficients`).
3. <W, V> grows by e P at least, P = sum_j p_j, and ||W|| tends to infinity (`ensure_divergence`).
4. ||W|| grows by at most e P/N times a factor that tends to 1. Let S be the sum of e P/N over all
   steps so far. Then limsup ||W||/S <= 1 <= liminf <W, V>/(N S), so that the cosine of W and V
   tends to 1 (`ensure_direction`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    bound,
    direction_and_divergence,
    divergence,
    margins_diverge,
    selects,
)
from attsvm.primitives.hypotheses import SEVERAL_TOKENS
from attsvm.primitives.steps import SHORT as SHORT_STEP
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import (
    Supposition,
    expanded,
    factored,
    simplified,
    supposed_number,
)
from attsvm.theory.proof.linked import linked
from attsvm.theory.proof.rules import conclude, decide, positive
from properties._support.suppositions import (
    FALLING,
    IN_BASIN,
    SMOOTH_SLOPE,
    SOLUTION,
    UNIQUE_OPTIMUM,
)
from symbolic.basin_facts import Converged, attends_alone, converges, margins_pass
from symbolic.continuity import cite_extreme_value
from symbolic.curvature import RISK, ensure_smoothness
from symbolic.divergence import ensure_passed
from symbolic.gains import GAMMA_O, REST, P, S, ensure_gain, ensure_gain_of_support
from symbolic.inner_products import vector
from symbolic.sums import ensure_at_least_each, ensure_mean
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    DESCENT,
    DIFFERENTIABLE,
    EXPONENTIAL,
    INCREASING,
    LIPSCHITZ,
    MEAN_VALUE_ON_A_LINE,
    SHORT,
    STOLZ,
    TRIANGLE,
    UNBOUNDED,
)

LEAD, SLOPE, STEP = sp.symbols("lead slope e", positive=True)
"""The lead gamma_o - second of the optimal token, |l'|, and the step e."""
SECOND = GAMMA_O - LEAD
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""Numbers that earlier steps have shown to be at least 0."""

OF_SCORES = "|l'| on the smallest interval that holds all scores"
GROWS = "e P/N is positive, so that S increases"
FAR = (
    "where ||W|| <= radius = bound/N margins are at most a radius, and a step adds a constant to "
    "<W, V>, which is at most bound there: so W is there finitely often"
)


def ensure_kept(
    short: Supposition = SHORT_STEP,
    start: Supposition | None = IN_BASIN,
    unique: Supposition | None = None,
) -> None:
    """Prove that from the basin u stays above the second-best score, and s_o above 0, by constants.

    Args:
        short: the supposition that the step is at most 1/L.
        start: the supposition that the start is in the basin; None if a step has shown this, or
            that the run enters the basin.
        unique: the supposition that rivals score less; None if tied tokens count as one.
    """
    n, level = sp.symbols("n level", positive=True)
    left = supposed_number(start, "left", positive=True)
    slope = supposed_number(FALLING, "slope", positive=True)
    lead = supposed_number(unique, "lead", positive=True)
    ensure_smoothness()
    cite(DESCENT, met={LIPSCHITZ: RISK, SHORT: short})
    ensure_gain_of_support()
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: SMOOTH_SLOPE})
    behind = MORE  # gamma_o - gamma_t
    ensure_mean(S, GAMMA_O - behind, "u is at most gamma_o", most=GAMMA_O)
    ensure_at_least_each(
        slope * behind,
        "each input's part l(u) - l(gamma_o) = |l'| (gamma_o - u) is at most n times the risk gap, "
        "which is the mean of the parts",
    )
    ensure_nonnegative(
        n * level + MORE - (n * (level - left) - LESS) - n * left,
        "l(second) - l(u) is at least n times what the start's gap lacks to the threshold",
        normal=expanded,
    )
    ensure_positive(
        n * left / slope,
        "u - second is at least n left / max|l'|, left being what the start's gap lacks to "
        "the threshold",
    )
    ensure_mean(
        S,
        GAMMA_O - lead - MORE,
        "the rivals' sum of s_t gamma_t is at most second times 1 - s_o",
        most=GAMMA_O - lead,
    )
    ensure_equal(
        P * GAMMA_O + REST * (GAMMA_O - lead) - (GAMMA_O - lead),
        P * lead,
        "so u - second is at most s_o times the lead",
    )
    ensure_positive(
        n * left / slope / lead,
        "so s_o is at least n left/max|l'| over the lead, which is positive, as all rivals score "
        "less",
    )


def ensure_coefficients() -> tuple[Any, Any]:
    """Prove that -grad L = sum_j p_j A_j with c exp(-m_j) <= p_j <= C exp(-m_j), c > 0.

    Returns:
        c and C.
    """
    a, m = sp.symbols("a_o m", real=True)
    total, kept, gap, n = sp.symbols("total kept gap n", positive=True)
    rest, also = sp.symbols("rest also", nonnegative=True)
    top = sp.Symbol("max|l'|", positive=True)
    slope = supposed_number(FALLING, "slope", positive=True)
    low, high = slope * P * kept / n, top * gap / n
    ensure_gain()
    ensure_equal(sp.exp(a - m) / total, sp.exp(-m) * sp.exp(a) / total, "s_j = s_o exp(-m_j)")
    cite_extreme_value(SMOOTH_SLOPE, OF_SCORES)
    ensure_equal(
        slope * (P * sp.exp(-m)) * gap / n * sp.exp(m),
        slope * P * gap / n,
        "so p_j = |l'| s_j (u - gamma_j)/n has p_j exp(m_j) = |l'| s_o (u - gamma_j)/n",
        normal=simplified,
    )
    ensure_nonnegative(
        (slope + MORE) * (P + also) * (kept + LESS) / n - low,
        "|l'| s_o (u - gamma_j)/n is at least min|l'|/n times the bounds that s_o and u - "
        "second are above",
        normal=expanded,
    )
    ensure_positive(
        low, "min|l'|/n times the bounds that s_o and u - second are above is a positive constant"
    )
    ensure_nonnegative(
        high * (P + rest) - top / (1 + MORE) * P * (gap - LESS) / n,
        "|l'| s_o (u - gamma_j)/n is at most max|l'| (gamma_o - gamma_j)/n, as s_o is at most 1",
        normal=factored,
    )
    return low, high


def ensure_divergence(c: sp.Expr, exists: Supposition | None) -> None:
    """Prove that ||W_k|| tends to infinity.

    Args:
        c: the constant with p_j >= c exp(-m_j).
        exists: the supposition that V exists; None if a step has shown it.
    """
    a, N = sp.symbols("a N", positive=True)
    p = supposed_number(SEVERAL_TOKENS, "p", positive=True)  # for at least one rival
    ensure_mean(
        p,
        1 + supposed_number(exists, "more", nonnegative=True),
        "<W, V> grows by e sum_j p_j m_j(V), which is at least e P",
        least=1,
    )
    cite(CAUCHY_SCHWARZ)
    ensure_passed(
        lambda bound: STEP * c * sp.exp(-a * bound / N),
        FAR,
        elsewhere=STEP * p,
    )


def ensure_lag(c: sp.Expr, C: sp.Expr, whole: Callable[[Any], Any], what: str) -> None:
    """Prove that no p_j (m_j - least) exceeds C exp(-least), if c exp(-m_j) <= p_j <= C exp(-m_j).

    `least` is the least of the margins m_j.

    Args:
        c: the lower constant, in symbols of known sign.
        C: the upper constant, in symbols of known sign.
        whole: a function of the p_j of the least margin, with one value or several. The sum of
            p_j (m_j - least) over J rivals is at most J C/c times each value.
        what: the sentence that states this bound of the sum.

    Raises:
        ProofError: a value of `whole` is not known to be at least the p_j of the least margin, or
            c and C are not known to be positive.
    """
    x, J, lowest = sp.symbols("x J exp(-least)", positive=True)
    cite(EXPONENTIAL)  # exp(-x) <= 1/(1 + x)
    p = C * lowest / (1 + x + MORE)
    ensure_nonnegative(
        C * lowest - p * x,
        "p_j (m_j - least) <= C exp(-least) x exp(-x), x = m_j - least, is at most C exp(-least)",
        normal=factored,
    )
    lowest_terms = np.atleast_1d(whole(c * lowest + MORE))
    ensure_nonnegative(J * C / c * lowest_terms - J * C * lowest, what, normal=expanded)


def ensure_direction(c: sp.Expr, C: sp.Expr, diverges: str) -> None:
    """Prove that W_k/||W_k|| tends to V/||V||.

    Args:
        c: the constant with p_j >= c exp(-m_j).
        C: the constant with p_j <= C exp(-m_j).
        diverges: the step that has shown that ||W_k|| tends to infinity.
    """
    W, G = vector("W"), vector("G")
    a, least, y, extra = sp.symbols("a least y extra", positive=True)
    p, N = (supposed_number(SEVERAL_TOKENS, name, positive=True) for name in "pN")
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
        "over J rivals sum_j p_j (m_j - least) is at most P J C/c, P being at least the p_j "
        "of the least margin: <G, W> is at most P (||W||/N + extra)",
    )
    h = STEP * p * (y / N + extra) + (STEP * a * p) ** 2 / 2
    ensure_equal(
        (y + h / y) ** 2 - (y**2 + 2 * h),
        (h / y) ** 2,
        "||W|| = y grows by at most h/y where its square grows by at most 2 h",
    )
    excess = N * (extra + STEP * a**2 * p / 2) / y
    ensure_equal(
        h / y / (STEP * p / N),
        1 + excess,
        "h/y is e P/N times 1 + excess, excess = N (extra + e a^2 P/2)/||W||",
    )
    ensure_zero(
        sp.limit(excess, y, sp.oo),
        "this excess tends to 0 as ||W|| tends to infinity, as P is bounded",
    )
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
    cite(CAUCHY_SCHWARZ)  # nor a limit above 1


def ensure_from_kept(exists: Supposition | None) -> None:
    """Prove from point 1 that the direction converges to that of V and that the norm diverges.

    Point 1 of the list above must hold from some step on. The step size is any constant e > 0.

    Args:
        exists: the supposition that V exists; None if a step has shown it.
    """
    c, C = ensure_coefficients()
    ensure_divergence(c, exists)
    ensure_direction(c, C, FAR)


def ensure_from_basin(
    short: Supposition = SHORT_STEP,
    start: Supposition | None = IN_BASIN,
    exists: Supposition | None = SOLUTION,
) -> None:
    """Prove that from the basin the norm diverges and the direction converges to that of V.

    Args:
        short: the supposition that the step is at most 1/L.
        start: the supposition that the start is in the basin; None if a step has shown this, or
            that the run enters the basin.
        exists: the supposition that V exists; None if a step has shown it.
    """
    ensure_kept(short, start, UNIQUE_OPTIMUM)
    ensure_from_kept(exists)


def _from_basin(start: Supposition | None = IN_BASIN) -> Converged:
    """Prove the limit of a run that starts in the basin, or at the proper start."""
    ensure_smoothness()  # proves that the code's L is a Lipschitz constant
    return converges(
        *(UNIQUE_OPTIMUM, SMOOTH_SLOPE, FALLING, SHORT_STEP, start, SEVERAL_TOKENS, SOLUTION)
    )


def _conclude(run: Converged) -> None:
    """Conclude that the direction converges to that of V, and that the norm diverges."""
    some, moves, towards, diverges = present(direction_and_divergence(), "what is shown").sequents
    conclude(run.growth.V_positive, some)
    conclude(decide(moves.proposition, run.growth.far, positive(bound)), moves)
    conclude(run.turned, towards)
    conclude(run.growth.far, diverges)


@linked
def prove() -> str:
    """Prove that from the basin the direction converges to that of V, and the norm diverges."""
    _conclude(_from_basin())
    return "for every smooth loss with l' < 0 and any n, T and d"


@linked
def prove_attention() -> str:
    """Prove that from the basin every margin and the norm diverge, and each s_o tends to 1."""
    run = _from_basin()
    passed = margins_pass(run)
    for conclusion, fact in (
        (margins_diverge(), passed),
        (selects(), attends_alone(run, passed)),
        (divergence(), run.growth.far),
    ):
        conclude(fact, *present(conclusion, "what is shown").sequents)
    return (
        "for every smooth loss with l' < 0 and any n, T and d; an input without rivals attends to "
        "its optimal token alone"
    )


def ensure_gap_of_rest() -> None:
    """Prove that an input's part of the risk gap is at most max|l'| range (1 - s_o).

    `range` is the largest score of the input less the smallest.
    """
    far = sp.Symbol("range", positive=True)
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: SMOOTH_SLOPE})
    ensure_gain_of_support()
    ensure_mean(
        S,
        far - MORE,
        "l(u) - l(gamma_o) is at most max|l'| (gamma_o - u), and gamma_o - u, the sum of s_t "
        "(gamma_o - gamma_t) over rivals, at most range (1 - s_o)",
        most=far,
    )


@linked
def prove_from_proper_start() -> str:
    """Prove the limit direction from the start r p(alpha), r = R + 1, R = max(0, ln(Q/D)).

    p(alpha) is the p-SVM's solution, and Q is max|l'| sum_i (T_i - 1) range_i. D is min|l'| times
    the least lead of a best score over the second-best score of its input.
    """
    _conclude(_from_basin(None))
    return "for every smooth loss with l' < 0, any n, T and d"
