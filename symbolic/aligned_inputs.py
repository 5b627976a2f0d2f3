"""The limit direction of descent from more starts, for aligned inputs.

The letters are those of `symbolic.basins`. Inputs i and j are aligned if <A_it, A_ju> >= 0 for all
rivals t of i and u of j. Then the gradient of one input's loss lowers no margin of the other.

If the rivals of each input have the same score, attention to the optimal token stays above a
constant, from any start and with any step (`prove_equal_rivals`). The reason is that F, the
logarithm of the odds of the rivals, stays bounded. If rivals' scores differ little, descent with a
step of at most 1/L enters the basin (`prove_aligned`).
"""

import sympy as sp

from attsvm.primitives.aligned_inputs import INPUTS_ALIGNED
from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.primitives.steps import SHORT as SHORT_STEP
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import (
    Supposition,
    cancelled,
    expanded,
    factored,
    simplified,
    supposed_number,
)
from symbolic.alternatives import FALLING, SMOOTH_SLOPE, UNIQUE_OPTIMUM
from symbolic.basins import (
    LEAD,
    LESS,
    MORE,
    OF_SCORES,
    SLOPE,
    STEP,
    ensure_from_basin,
    ensure_from_kept,
    ensure_gap_of_rest,
)
from symbolic.continuity import cite_extreme_value, ensure_smooth
from symbolic.curvature import RISK, ensure_hessian, ensure_own_constant, ensure_smoothness
from symbolic.gains import GAMMA, REST, P, S, ensure_gain, ensure_gain_of_equal_rivals
from symbolic.sums import ensure_at_least_each, ensure_mean, ensure_nonnegative_sum, entry, total
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    DESCENT,
    DIFFERENTIABLE,
    LIPSCHITZ,
    MEAN_VALUE_ON_A_LINE,
    RISING,
    SHORT,
    SIGN,
    TRIANGLE,
)

REACH = sp.Symbol("reach", positive=True)
"""The largest ||A_t||."""
POWERS = "the gradient of F is Lipschitz with the constant reach^2"
F_SMOOTH = "F has all derivatives in the margins, which are linear in W"


def ensure_raised_by_others(aligned: Supposition | None) -> None:
    """Prove that a step's part from another input lowers no margin if inputs are aligned.

    Args:
        aligned: the hypothesis that inputs are aligned, or that there is one input; None within a
            case that assumes it.
    """
    p, product = entry("p"), entry("product")
    slope = supposed_number(FALLING, "slope", positive=True)
    ensure_nonnegative_sum(
        total(p * product),
        p * product,
        "another input j adds e times the sum over its rivals u of p_ju <A_ju, A_it> to the "
        "margin m_it",
        p=slope * S * (P * LEAD + MORE),
        product=supposed_number(aligned, "product", nonnegative=True),
    )


def ensure_log_of_powers() -> None:
    """Prove that F has the gradient -sum_t q_t A_t, with the Lipschitz constant reach^2.

    F is the logarithm of the sum over rivals t of exp(-m_t), and q_t = s_t/(1 - s_o).
    """
    m, v = sp.symbols("m_t v", real=True)
    others = sp.Symbol("others", positive=True)
    ensure_smooth(sp.log(others + sp.exp(-m)), F_SMOOTH)
    ensure_equal(
        sp.diff(sp.log(others + sp.exp(-m)), m),
        -(P * sp.exp(-m)) / (P * (others + sp.exp(-m))),
        "the derivative of F by m_t is -q_t, as s_t = s_o exp(-m_t): grad F = -sum_t q_t A_t",
        normal=cancelled,
    )
    Z, q, a = sp.Function("Z"), entry("q"), entry("a")
    ensure_zero(
        sp.diff(sp.log(Z(v)), v, 2) - (Z(v).diff(v, 2) / Z(v) - (Z(v).diff(v) / Z(v)) ** 2),
        "along a unit vector F'' is the mean of a_t^2 less the square of that of a_t = <A_t, .>, "
        "with weights q_t",
        normal=cancelled,
    )
    ensure_equal(
        total(q * (a - v) ** 2).subs(total(q * a), v).subs(total(q), 1),
        total(q * a**2) - v**2,
        "F'' is the mean of (a_t - v)^2, v being the mean of a_t, so that it is not negative",
    )
    cite(CAUCHY_SCHWARZ)
    reached = REACH / (1 + MORE)  # ||A_t||
    ensure_mean(
        S,
        reached**2,
        "the mean of a_t^2 is at most reach^2, as |a_t| is at most reach",
        most=REACH**2,
    )
    curved = "so |F''| is at most reach^2 along every unit vector"
    ensure_nonnegative(REACH**2 - (REACH**2 - MORE - v**2), curved)
    ensure_hessian(curved, sp.log(others + sp.exp(-m)), of=POWERS)


def ensure_kept_odds() -> None:
    """Prove that s_o and u less the rivals' score stay above positive constants if F is bounded.

    F has an upper bound, exp(F) = (1 - s_o)/s_o, and the rivals of an input have the same score.
    """
    power = sp.Symbol("exp(F)", positive=True)
    lead = supposed_number(UNIQUE_OPTIMUM, "lead", positive=True)
    attended = 1 / (1 + power + MORE)
    ensure_nonnegative(
        1 / (1 + power) - attended,
        "s_o = 1/(1 + exp(F)) does not fall as F does",
        normal=factored,
    )
    ensure_positive(
        [attended, attended * lead],
        "so s_o, and u less the score of rivals, s_o lead, stay above constants",
    )


def ensure_raised(aligned: Supposition | None) -> None:
    """Prove that attention to the optimal tokens stays above a constant, with any step.

    Rivals of an input have the same score, and inputs are aligned: no <A_it, A_ju> is negative. Let
    F be the logarithm of the sum over rivals of exp(-m_t), q_t = s_t/(1 - s_o), reach the largest
    ||A_t||, and small = n/(e max|l'| lead reach^2).

    Args:
        aligned: the hypothesis that inputs are aligned, or that there is one input; None within a
            case that assumes it.
    """
    share = sp.Symbol("s_t", positive=True)
    top, n = sp.symbols("max|l'| n", positive=True)
    slope = top / (1 + LESS)  # |l'|, at most the largest
    ensure_gain()
    ensure_gain_of_equal_rivals()
    cite_extreme_value(SMOOTH_SLOPE, OF_SCORES)
    ensure_equal(1 / (1 + REST / P), P, "exp(F) is (1 - s_o)/s_o", normal=simplified)
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
        normal=factored,
    )
    cite(DESCENT, met={LIPSCHITZ: POWERS, SHORT: short})  # then F does not increase
    attended = small * (1 + MORE)
    ensure_positive(
        1 / small - (1 - attended) / attended,
        "where s_o is at least small exp(F) is at most 1/small",
        normal=factored,
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
        normal=factored,
    )
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: F_SMOOTH})
    ensure_raised_by_others(aligned)
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


def ensure_equal_rivals(aligned: Supposition | None, exists: Supposition | None) -> None:
    """Prove that the direction converges to that of V if rivals have equal scores, from any start.

    Inputs are aligned. Then attention stays above constants, from which the limit follows.

    Args:
        aligned: the hypothesis that inputs are aligned, or that there is one input; None within a
            case that assumes it.
        exists: the hypothesis that V exists; None if a step has shown it.
    """
    ensure_raised(aligned)
    ensure_from_kept(exists)


def ensure_aligned() -> None:
    """Prove the limit direction for aligned inputs if each u starts above its second-best score.

    Each u stays above that score, so that the risk gap tends to 0 and descent enters the basin. A
    step is split into two moves: by the gradient of input i's own part of the risk, then by the
    gradients of the other parts.
    """
    kept, n, size, N = sp.symbols("kept n ||grad|| N", positive=True)
    m, others, second = sp.symbols("m_t others second", real=True)
    ensure_own_constant()
    ensure_smoothness()  # for part i of the risk, with L_i/n <= L
    cite(DESCENT, met={LIPSCHITZ: RISK, SHORT: SHORT_STEP})
    ensure_gain()
    ensure_raised_by_others(INPUTS_ALIGNED)
    powers = sp.Symbol("powers", positive=True)
    attended = (others + GAMMA * sp.exp(-m)) / (powers + sp.exp(-m))
    ensure_equal(
        sp.diff(attended, m),
        sp.exp(-m) / (powers + sp.exp(-m)) * (attended - GAMMA),
        "the derivative of u by m_t is s_t (u - gamma_t)",
        normal=simplified,
    )
    rises = (
        "s_t (u - gamma_t) is not negative where u is at least second, as no gamma_t is above that"
    )
    ensure_nonnegative(S * ((second + MORE) - (second - LESS)), rises, normal=expanded)
    smooth = "u is smooth along the move by other parts, up to a first return to second"
    ensure_smooth(attended, smooth)
    cite(RISING, met={SIGN: rises, DIFFERENTIABLE: smooth})
    ensure_mean(
        S,
        (kept + LESS) * (1 + supposed_number(FEASIBLE, "more", nonnegative=True)),
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
    ensure_from_basin(start=None, exists=FEASIBLE)
