"""Global convergence of descent to the best tokens, if the better tokens of each choice are tight.

This is `tf/global-conjecture:sharp`. The numbered steps, the counterexample `OUTRUN`, what is known
of other data and of long steps, and what was searched without success are in
docs/proofs/global_conjecture.md. `sharp-2` and `sharp-3` are proved in
`symbolic.tf.settled_attention`.

A run settles at tokens b if attention to b tends to 1 in each input. A token l of any input scores
less than its b, and a token h more. Let A_t = (x_b - x_t) z^T and w_t = |l'(gamma_b)|
|gamma_b - gamma_t|/n. P_L is the sum of w_t s_t over all tokens l, and P_H that over all tokens h.
In the end -grad L is sum_l c_l A_l - sum_h c_h A_h, where c_t/(w_t s_t) tends to 1. F is the risk
less its limit, and D = sum_l c_l - sum_h c_h. V = W^mm(b) has margins of at least 1 over all other
tokens; all tokens h have margin 1, and one of them a positive multiplier.

Suppose that some b is not optimal. W/||W|| tends to V/||V||, but the coefficient of A_h in W falls
at every step, for each h. This contradicts the positive multiplier.

A statement about sums is checked for one term of each, which stands for all.
"""

import sympy as sp

from attsvm.primitives.hypotheses import INDEPENDENT as CONSTRAINTS
from attsvm.primitives.hypotheses import SEVERAL_TOKENS
from attsvm.theory import (
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_true,
    ensure_zero,
)
from attsvm.theory.declaration.proof import (
    Supposition,
    executed,
    expanded,
    factored,
    suppose,
    supposed_number,
)
from properties._support.suppositions import SMOOTH_SLOPE
from properties.tf.global_conjecture.instances import BETTER, DIFFERENT, SHORT_OR_FEW
from symbolic import divergence
from symbolic.basins import OF_SCORES, ensure_direction, ensure_from_basin, ensure_lag
from symbolic.continuity import cite_extreme_value, ensure_continuous
from symbolic.curvature import RISK, ensure_smoothness
from symbolic.gains import ensure_gain, ensure_gain_of_support, ensure_positive_gain
from symbolic.inner_products import vector
from symbolic.least_points import ensure_inputs_apart, ensure_multipliers
from symbolic.quadratic_forms import ensure_least_eigenvalue, ensure_square_of_sum
from symbolic.sim.large_dimension import ensure_margins_of_sum
from symbolic.sim.three_facts import prove_in_a_case
from symbolic.sums import ensure_mean, ensure_nonnegative_sum, entry, total
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    COMPLETE,
    COMPOSED,
    CONTINUOUS,
    DESCENT,
    DIFFERENTIABLE,
    EXPONENTIAL,
    INDEPENDENT,
    INVERSE_OF_GRAM,
    LIPSCHITZ,
    MEAN_VALUE_ON_A_LINE,
    SHORT,
)

P_L, P_H, STEP, K, C = sp.symbols("P_L P_H e k C", positive=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)
S_T, GAIN = sp.symbols("s_t D", positive=True)
THIRD = 1 / (3 + MORE)
"""An upper bound of the distance from 1 of c_t/(w_t s_t), and of each part of F over w_t s_t.

It is at most 1/3, which holds from some step on."""
FALLS = "the risk never rises, and as it is bounded below the squared gradients are summable"
PARTS = "|l'(u)| |u - gamma_t| depends on u continuously"


def ensure_limit(independent: str | Supposition, short: Supposition) -> None:
    """Prove that the score u of each input tends to one of its scores, gamma_b, and s_b to 1.

    Args:
        independent: the hypothesis or step that the A_t of all inputs are linearly independent.
        short: the hypothesis that the step is at most 1/L.
    """
    away, apart = sp.symbols("away apart", positive=True)
    near = supposed_number(DIFFERENT, "near", positive=True)
    s, p = entry("s"), entry("p")
    ensure_smoothness()
    cite(DESCENT, met={LIPSCHITZ: RISK, SHORT: short}, of=FALLS)
    cite_extreme_value(SMOOTH_SLOPE, OF_SCORES)
    ensure_gain()
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: independent})  # p_t <= a constant times ||grad L||
    ensure_nonnegative_sum(
        total(p) - away * total(s),
        p - away * s,
        "the gradient and so the p_t = s_t |u - gamma_t| tend to 0, and so does the distance of u "
        "to the scores of its input, which is at most the sum of the p_t",
        p=away * S_T + MORE,
        s=S_T,
    )
    ensure_mean(
        S_T,
        away / (1 + MORE),
        "a step moves u by at most the range of the scores times the largest move of a logit, "
        "which tends to 0 with the gradient",
        most=away,
    )
    ensure_positive(
        (2 * near + apart) - (near / 2 - MORE) - (near / 2 - LESS) - near,
        "with scores of an input over 2 near apart, u within near/2 of one of them and a step of "
        "near/2 at most, the next u is more than near from all others: so in the end u stays with "
        "one, gamma_b, and tends to it",
        normal=expanded,
    )
    ensure_nonnegative(
        (near * S_T + MORE) / near - S_T,
        "s_t, at most p_t over near for other tokens, tends to 0, so s_b to 1, and ||W|| to "
        "infinity, as softmax is positive on bounded sets",
        normal=expanded,
    )


def ensure_parts() -> None:
    """Prove that F > 0 is a sum of terms +-w_t s_t, up to factors that tend to 1; P_H <= 2 P_L.

    The coefficients c_t of -grad L are w_t s_t up to such factors as well.
    """
    u, gamma, gamma_b = sp.symbols("u gamma_t gamma_b", real=True)
    slope = sp.Function("l'")
    part = sp.Abs(slope(u)) * sp.Abs(u - gamma)
    ensure_continuous(part, PARTS, (slope, SMOOTH_SLOPE))
    cite(COMPOSED, met={CONTINUOUS: PARTS}, of="c_t/(w_t s_t) at u, which tends to gamma_b")
    ensure_equal(
        part.subs(u, gamma_b),
        sp.Abs(slope(gamma_b)) * sp.Abs(gamma_b - gamma),
        "c_t/(w_t s_t) tends to 1, as c_t and w_t s_t are the same at u = gamma_b",
    )
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: SMOOTH_SLOPE})
    ensure_gain_of_support()  # gamma_b - u is the sum of s_t (gamma_b - gamma_t)
    part = sp.Abs(slope(u))
    of_slope = (
        "|l'| at a score between u and gamma_b, by which l(u) - l(gamma_b) is a multiple of "
        "gamma_b - u"
    )
    ensure_continuous(part, of_slope, (slope, SMOOTH_SLOPE))
    cite(COMPOSED, met={CONTINUOUS: of_slope}, of="|l'| there, which tends to |l'(gamma_b)|")
    ensure_margins_of_sum()
    # M with margins 1 exists: the gradient is never 0, and F falls strictly
    ensure_positive_gain(DIFFERENT, SEVERAL_TOKENS)
    F = sp.Symbol("F", positive=True)
    ensure_nonnegative(
        2 * P_L - ((1 + THIRD) * P_L - F) / (1 - THIRD),
        "0 < F <= (1 + 1/3) P_L - (1 - 1/3) P_H in the end, so that P_H is at most 2 P_L",
        normal=factored,
    )


def ensure_lower_tokens_outweigh() -> None:
    """Prove that D = sum_l c_l - sum_h c_h is at least a constant times P_L."""
    sigma, reach, count = sp.symbols("sigma a J", positive=True)
    ensure_least_eigenvalue(
        sigma,
        "<A_s, A_t> = <A_t, A_s>: the Gram matrix of the A_t is symmetric",
        "||sum_t +-c_t A_t||^2 is at least sigma sum_t c_t^2 with the least eigenvalue sigma of "
        "the Gram matrix, by coordinates along its eigenvectors",
    )
    ensure_square_of_sum("with p_l = w_l s_l sum_l p_l^2 is at least P_L^2/J")
    k = 2 * STEP * sigma / (9 * count)
    ensure_nonnegative(
        STEP / 2 * (sigma * (1 - THIRD) ** 2 * P_L**2 / count + MORE) - k * P_L**2,
        "F falls by e/2 times the squared gradient, and so by k P_L^2 with k = 2 e sigma/(9 J), as "
        "c_l >= (1 - 1/3) w_l s_l",
        normal=factored,
    )
    cite(CAUCHY_SCHWARZ)  # <A_s, sum_t +-c_t A_t> is at most a^2 sum_t c_t, a the largest ||A_t||
    moved = (1 + THIRD) * (P_L + (2 * P_L - LESS))  # at least sum_t c_t
    ensure_nonnegative(
        4 * reach**2 * STEP * P_L - STEP * reach**2 * moved,
        "margins move by at most C P_L/2 with C = 8 e a^2, as P_H is at most 2 P_L",
        normal=factored,
    )
    grown = sp.Symbol("exp(C P_L/2)", positive=True)
    ensure_mean(
        S_T,
        grown / (1 + MORE),
        "the sum of all exp(-m_t) grows by a factor exp(C P_L/2) at most, and s_l falls by "
        "exp(-C P_L) at most, and so does P_L",
        most=grown,
    )
    cite(EXPONENTIAL)
    y = sp.Symbol("y", nonnegative=True)
    ensure_nonnegative(
        ((1 + 2 * y) * (1 - y) - 1).subs(y, 1 / (2 + MORE)),
        "exp(y) <= 1/(1 - y) <= 1 + 2 y for 0 <= y <= 1/2, so for y = C P_L from some step on",
        normal=factored,
    )
    x = K / (4 * C) - LESS
    ensure_nonnegative(
        x - K * P_L / 2 - (x - K * P_L) * (1 + 2 * C * P_L),
        "where F/P_L = x is at most k/(4C) it falls to x - k P_L/2 at most",
        normal=expanded,
    )
    ensure_nonnegative(
        4 * STEP * reach * P_L - STEP * reach * moved,
        "a step is no longer than 4 e a P_L",
        normal=factored,
    )
    cite(COMPLETE)  # if the P_L were summable, W would converge
    summed = sp.Symbol("sum", positive=True)
    ensure_true(
        sp.limit(x - K / 2 * summed, summed, sp.oo) == -sp.oo,
        "the P_L add up to infinity, as W diverges: x would fall below 0, F too; so in the end F "
        "is at least kappa P_L, kappa = k/(4C)",
    )
    off, kappa = sp.symbols("off kappa", positive=True)
    ensure_equal(
        (1 - off) * P_L - (1 + off) * P_H - ((1 + off) * P_L - (1 - off) * P_H),
        -2 * off * (P_L + P_H),
        "D is at least (1 - off) P_L - (1 + off) P_H, and F at most (1 + off) P_L - (1 - off) P_H, "
        "for every off > 0 in the end",
    )
    ensure_nonnegative(
        (kappa * P_L + MORE - 2 * off * (P_L + (2 * P_L - LESS)) - kappa * P_L / 2).subs(
            off, kappa / (12 + MORE)
        ),
        "with off at most kappa/12, D is at least kappa P_L/2",
        normal=factored,
    )


def ensure_direction_of_b(diverges: str) -> None:
    """Prove that W/||W|| tends to V/||V|| for V = W^mm(b).

    Args:
        diverges: the step that has shown that ||W_k|| tends to infinity.
    """
    least, C, c, J = sp.symbols("least C c J", positive=True)
    p, low, margin = entry("p"), entry("low"), entry("margin")
    gain = p * (2 * low - 1)
    for which, at in ((1, 1 + MORE), (0, sp.Integer(1))):
        ensure_nonnegative_sum(
            total(gain * margin) - total(gain),
            gain * (margin - 1),
            "<W, V> grows by e times the sum of c_l m_l(V) less that of c_h m_h(V), where m_l(V) "
            ">= 1 and m_h(V) = 1: by e D at least",
            p=S_T,
            low=sp.Integer(which),
            margin=at,
        )
    times = sp.Symbol("times", positive=True)
    ensure_lag(
        c,
        C,
        lambda lowest: [lowest + LESS, lowest + LESS + GAIN],
        "c_t of the least margin, be it that of some l or of some h, is above c exp(-least), so "
        "that sum_l c_l is: over J rivals sum_l c_l (m_l - least) is at most sum_l c_l J C/c",
    )
    ensure_mean(
        S_T,
        least + MORE,
        "sum_h c_h m_h is at least least times sum_h c_h",
        least=least,
    )
    lower = times * GAIN - MORE  # sum_l c_l
    ensure_nonnegative(
        2 * times * GAIN - lower - (lower - GAIN),
        "sum_l c_l, at most 4/3 P_L, is at most a constant times D, and sum_h c_h is sum_l c_l - "
        "D: so ||G||, at most the sum of c_t ||A_t||, is at most a constant times D",
        normal=expanded,
    )
    ensure_nonnegative(
        GAIN * (least + LESS + J * C / c * times)
        - (least * GAIN + J * C / c * (times * GAIN - MORE)),
        "so <G, W> is at most D (||W||/N + extra), as the least margin is at most ||W||/N",
        normal=expanded,
    )
    ensure_direction(c, C, diverges)


def ensure_any_step() -> None:
    """Prove that any step suffices for orthogonal queries and at most three tokens per input.

    The second-best token is then a support vector. d_1 and d_2 are the optimal token minus the
    second-best one and minus the worst one. Inputs do not move each other's margins, so that the
    result for one input applies to each.
    """
    ensure_inputs_apart()
    to_second, to_worst = vector("d_1"), vector("d_2")
    down, up = to_worst - to_second, -to_second  # from the second best token to the others
    ensure_equal(
        down @ up - down @ down,
        to_second @ to_worst - to_worst @ to_worst,
        "were the margin of the second best token above 1 under d_2/||d_2||^2, so were that of the "
        "best one under (d_2 - d_1)/||d_2 - d_1||^2, which then solves the Local-SVM of the second "
        "best: but there the best one is on the margin",
    )
    executed(prove_in_a_case)


def prove() -> str:
    """Prove that from every start descent converges in direction to W^mm.

    Raises:
        ProofError: a step fails.
    """
    suppose(BETTER)
    # from any start, with an M of margins 1, which exists by `ensure_parts`
    divergence.ensure_divergence(DIFFERENT, SEVERAL_TOKENS)
    ensure_limit(CONSTRAINTS, SHORT_OR_FEW)
    ensure_parts()
    ensure_lower_tokens_outweigh()
    ensure_direction_of_b(divergence.FAR)
    ensure_multipliers()
    multiplier, norm = sp.symbols("lambda_h N", positive=True)
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: CONSTRAINTS})
    first, size = sp.symbols("first size", positive=True)
    fall = entry("fall")
    ensure_nonnegative_sum(
        first - (first - total(fall)),
        fall,
        "the coefficient of A_h in W, which falls at each step by e c_h, is at most the first one",
        fall=S_T,
    )
    ensure_zero(
        sp.limit(first / size, size, sp.oo),
        "the coefficient of A_h in W/||W|| has no limit above 0, as ||W|| tends to infinity",
    )
    direction = (multiplier * vector("A_h") + MORE * vector("A_l")) / norm
    ensure_positive(
        dict(direction.parts)["A_h"],
        "V/N has the coefficient lambda_h/N > 0 at one h, to which that of W/||W|| would "
        "converge: so there is no such h, and each b is the best token of its input",
    )
    # all u tend to the best scores, and the risk gap to 0
    ensure_from_basin(SHORT_OR_FEW, start=None, exists=None)
    ensure_any_step()
    return (
        "for every smooth loss with l' < 0 and any n, T, d and start, and any step if queries are "
        "orthogonal and T <= 3"
    )
