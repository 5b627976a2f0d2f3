"""The limit direction of descent from more starts, for aligned inputs.

The letters are those of `symbolic.basins`. Inputs i and j are aligned if <A_it, A_ju> >= 0 for all
rivals t of i and u of j. Then the gradient of one input's loss lowers no margin of the other.

If the rivals of each input have the same score, the limit is proved by linked facts, from any start
and with any step (`symbolic.aligned_facts`). If rivals' scores differ little, descent with a step
of at most 1/L enters the basin (`ensure_aligned`).
"""

import sympy as sp

from attsvm.primitives.aligned_inputs import INPUTS_ALIGNED
from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.primitives.steps import SHORT as SHORT_STEP
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.declaration.proof import (
    Supposition,
    expanded,
    simplified,
    supposed_number,
)
from properties._support.suppositions import FALLING
from symbolic.basins import (
    LEAD,
    LESS,
    MORE,
    SLOPE,
    ensure_from_basin,
    ensure_gap_of_rest,
)
from symbolic.continuity import ensure_smooth
from symbolic.curvature import RISK, ensure_own_constant, ensure_smoothness
from symbolic.gains import GAMMA, P, S, ensure_gain
from symbolic.sums import ensure_at_least_each, ensure_mean, ensure_nonnegative_sum, entry, total
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    DESCENT,
    DIFFERENTIABLE,
    LIPSCHITZ,
    RISING,
    SHORT,
    SIGN,
)


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
