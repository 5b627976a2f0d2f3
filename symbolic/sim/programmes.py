"""The Att-SVM, hard and soft: convexity, bounds of X^mm, prices of slack, tokens left out.

X^mm is the least X with <A_j, X> >= 1 (`symbolic.least_points`), with multipliers w_j. The
objective of X_soft is f_C(V), ||V|| plus C times the sum of slacks. The proofs use inner products
alone, so that they hold for any number of inputs and tokens and in any dimension.

The readings of `sim/definition-4.1` on prices of slack and those of `sim/token-sparsity` on tokens
that may be left out are in docs/proofs/soft_margin.md.
"""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.hypotheses import FEASIBLE, SEVERAL_TOKENS
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import expanded, factored, suppose, supposed_number
from properties.sim import definition_3_8, definition_4_1, figure_1
from properties.sim.definition_3_8.conclusion import shorter_mean
from properties.sim.definition_4_1.conclusion import worth
from symbolic import least_points
from symbolic.alternatives import MEETS, SOLUTION, UNIQUE_OPTIMUM
from symbolic.basins import ensure_from_basin
from symbolic.inner_products import INNER, inner, vector
from symbolic.least_points import LESS, MORE, A, U, V, X
from symbolic.textbook import CAUCHY_SCHWARZ, DUALITY, LINEAR, SINGULAR_VALUES

XX = inner("X", "X")
WEIGHT = sp.Symbol("w", nonnegative=True)
"""A multiplier w_j."""
PRICE, SLACK = sp.symbols("C xi", nonnegative=True)


def prove_nearer() -> str:
    """Prove that ||V - X^mm||^2 <= ||V||^2 - ||X^mm||^2 for feasible V, so X^mm is unique."""
    least_points.ensure_existence(MEETS)
    least_points.ensure_pythagoras()
    return "in any dimension, by <X, V - X> >= 0"


def prove_convex() -> str:
    """Prove that a mean of two feasible matrices is feasible, of at most the mean squared norm."""
    suppose(MEETS)
    t, apart = 1 / (1 + MORE), vector("V - U")
    facts = {inner("A", "U"): 1 + LESS, inner("A", "V"): 1 + SLACK}
    ensure_nonnegative(
        (A @ (t * U + (1 - t) * V)).subs(facts) - 1,
        "a mean of two matrices with margins of 1 at least has such margins",
        normal=factored,
    )
    comparison = shorter_mean(INNER, U, U + apart, t)
    ensure_nonnegative(
        comparison.right - comparison.left,
        "the squared norm of t U + (1 - t) V is t (1 - t) ||U - V||^2 less than the mean of "
        "the squared norms",
        normal=factored,
    )
    return "in any dimension, for all means of two feasible matrices, half their sum among them"


def prove_classified() -> str:
    """Prove that X^mm exists if u classifies the queries: a multiple of v u^T is feasible."""
    y = sp.Symbol("y", real=True)
    v_opt, v_t, uz = sp.symbols("v_opt v_t uz", real=True)
    margin = (v_opt - v_t) * uz
    scores = (y * v_opt - y * v_t) * (y * uz)
    ensure_zero(
        (margin * y**2 - scores),
        "the margin of v u^T, (v^T x_opt - v^T x_t) u^T z, is (gamma_opt - gamma_t) y u^T z "
        "as y^2 = 1",
    )
    suppose(UNIQUE_OPTIMUM, definition_3_8.CLASSIFIES)
    ahead, lead = sp.symbols("ahead lead", positive=True)  # gamma_opt - gamma_t, and y u^T z
    ensure_positive(
        scores.subs({v_opt: v_t + y * ahead, uz: y * lead}).subs(y, 1),
        "this margin is positive for y = 1, as gamma_opt > gamma_t and u^T z has the sign of y",
        normal=expanded,
    )
    ensure_positive(
        scores.subs({v_opt: v_t + y * ahead, uz: y * lead}).subs(y, -1),
        "and so it is for y = -1",
        normal=expanded,
    )
    a, b = sp.symbols("a b", real=True)
    ensure_equal((a * b) ** 2, a**2 * b**2, "||v u^T||_F = ||u|| ||v||, entry by entry")
    least_points.ensure_scaled_meets()
    least_points.ensure_existence(least_points.SCALED)
    return "in any dimension, by v u^T over its least margin"


def prove_hull() -> str:
    """Prove that 1/||X^mm|| is the distance of the hull of the A_j from 0."""
    suppose(definition_3_8.SHARES)
    least_points.ensure_distance_of_hull()
    return "for any number of inputs, tokens and axes, by the point of the hull nearest to 0"


def ensure_price_suffices() -> None:
    """Prove that ||V|| ||X|| + sum_j w_j xi_j >= ||X||^2 for every V with slacks xi_j, X = X^mm."""
    suppose(SOLUTION)
    least_points.ensure_multipliers()
    AV, AX = inner("A", "V"), inner("A", "X")
    ensure_equal(
        WEIGHT * AX - WEIGHT * (AX - 1),
        WEIGHT,
        "w_j <A_j, X> = w_j, as w_j (<A_j, X> - 1) = 0, so that ||X||^2 is the sum of the w_j",
    )
    ensure_nonnegative(
        (WEIGHT * (AV + SLACK) - WEIGHT).subs(AV, 1 - SLACK + MORE),
        "<X, V> + sum_j w_j xi_j is at least the sum of the w_j, as <A_j, V> + xi_j >= 1",
        normal=expanded,
    )
    cite(CAUCHY_SCHWARZ)
    norm = supposed_number(SEVERAL_TOKENS, "||X||", positive=True)
    ensure_nonnegative(
        (norm**2 + MORE) / norm - norm,
        "||V|| + C sum of xi_j is at least ||X||, as it is so times ||X||, which is not 0",
        normal=expanded,
    )


def prove_price() -> str:
    """Prove that X^mm minimises ||V|| + C sum_j xi_j if C ||X^mm|| is at least every w_j."""
    ensure_price_suffices()
    paid = sp.Symbol("paid", nonnegative=True)
    comparison = worth(INNER, X, V, paid)
    ensure_equal(
        (comparison.right - paid) ** 2 - comparison.left * (V @ V),
        sp.Integer(0),
        "the claim compares ||X||^2 with ||V|| ||X|| plus the price of slack",
    )
    ensure_nonnegative(
        (WEIGHT + MORE) * SLACK - WEIGHT * SLACK,
        "C ||X|| xi_j >= w_j xi_j where C ||X|| >= w_j",
        normal=expanded,
    )
    return "in any dimension: ||X|| f_C(V) >= ||X|| ||V|| + sum_j w_j xi_j >= ||X||^2"


def prove_soft_direction() -> str:
    """Prove that descent from the basin converges in direction to X_soft if C ||X^mm|| > max w_j.

    Then X_soft is X^mm. With equality X_soft need not be unique, and may be 0, which has no
    direction.
    """
    prove_price()
    suppose(figure_1.ENOUGH)
    beyond, slack = sp.symbols("beyond xi", positive=True)
    ensure_positive(
        (WEIGHT + beyond) * slack - WEIGHT * slack,
        "where C ||X|| > w_j a slack xi_j > 0 costs more than w_j xi_j, so that a minimiser has "
        "none: it meets the constraints, and ||V|| = ||X||",
        normal=expanded,
    )
    least_points.ensure_least_point()
    longer = sp.Symbol("||V - X||^2", positive=True)
    ensure_positive(
        longer + 2 * MORE,
        "||V||^2 - ||X||^2 = ||V - X||^2 + 2 <X, V - X> is positive unless V = X: X is X_soft",
    )
    ensure_from_basin()
    return "for any n, T, d: X^mm is the only minimiser at such prices"


def prove_shared_price() -> str:
    """Prove that X^mm minimises f_C if C ||X^mm|| is at least the sum of the w_j of each slack.

    Several constraints may share one slack.
    """
    ensure_price_suffices()
    other = sp.Symbol("w2", nonnegative=True)
    ensure_nonnegative(
        (WEIGHT + other + MORE) * SLACK - (WEIGHT * SLACK + other * SLACK),
        "C ||X|| xi is at least the sum of w_j xi over the constraints that share xi",
        normal=expanded,
    )
    return "in any dimension: the weights of constraints that share a slack add up"


def prove_exact_price() -> str:
    """Prove that X^mm minimises f_C if and only if some multipliers have small sums.

    For each slack, the sum of the w_j of its constraints must be at most C ||X^mm||.
    """
    prove_shared_price()
    paid, w = sp.Symbol("t", real=True), sp.symbols("w_1 w_2", real=True)
    linear = (
        "the least t with t - sum of w_j >= 0 and X^mm = sum of w_j A_j is a linear programme in w"
    )
    ensure_zero(list(sp.hessian(paid - sum(w), (paid, *w))), linear)
    cite(DUALITY, met={LINEAR: linear})  # X^mm has multipliers, and t >= 0
    AY, XY, YY = inner("A", "Y"), inner("X", "Y"), inner("Y", "Y")
    Y, e, mu = vector("Y"), sp.Symbol("e", positive=True), sp.Symbol("mu", nonnegative=True)
    ensure_nonnegative(
        (e * mu - (1 - A @ (X - e * Y))).subs({inner("A", "X"): 1, AY: mu - MORE}),
        "the dual has Y and mu >= 0 of sum 1 with <X, Y> = t and <A_j, Y> <= mu of the slack of j, "
        "for the A_j of margin 1: at X - e Y a slack is at most e mu, so that all cost C e at most",
        normal=expanded,
    )
    over, fall = sp.symbols("over fall", positive=True)
    beyond = (A @ (X - e * Y) - 1).subs(inner("A", "X"), 1 + over)
    ensure_nonnegative(
        [beyond.subs({AY: fall, e: over / (fall + MORE)}), beyond.subs(AY, -MORE)],
        "a margin of 1 + over stays at least 1 for e <= over/<A_j, Y>, and where <A_j, Y> <= 0",
        normal=factored,
    )
    N, short, rest = sp.symbols("N short rest", positive=True)
    moved = X - e * Y
    gap = (N - PRICE * e) ** 2 - (moved @ moved).subs({XX: N**2, XY: PRICE * N + short})
    left = 2 * short - e * YY + PRICE**2 * e
    ensure_equal(
        gap, e * left, "(||X|| - C e)^2 - ||X - e Y||^2 = e (2 (t - C ||X||) - e ||Y||^2 + C^2 e)"
    )
    ensure_positive(
        left.subs(YY, (short - rest) / e),
        "2 (t - C ||X||) - e ||Y||^2 + C^2 e is positive where e ||Y||^2 < t - C ||X||: "
        "f_C(X - e Y) < f_C(X) for small e",
        normal=expanded,
    )
    ensure_nonnegative(
        MORE * SLACK,
        "for C = -more < 0 slack costs less than for C = 0: there X - e Y is better as well",
    )
    return "in any dimension: the dual of the least price gives a better point below it"


def prove_growth() -> str:
    """Prove that f_C(V) - f_C(0) >= (1 - C ||sum_j A_j||) ||V|| for every V and C >= 0."""
    AV = inner("A", "V")
    suppose(definition_4_1.POSITIVE)
    ensure_nonnegative(
        (PRICE * SLACK - PRICE * (1 - AV)).subs(AV, 1 - SLACK + MORE),
        "C xi_j >= C - C <A_j, V> for xi_j >= 1 - <A_j, V>; f_C(0) is the sum of the C",
        normal=expanded,
    )
    cite(CAUCHY_SCHWARZ)
    norm, steep = sp.symbols("norm steep", nonnegative=True)
    ensure_equal(
        norm - PRICE * steep * norm,
        (1 - PRICE * steep) * norm,
        "||V|| - C <sum_j A_j, V> >= ||V|| - C ||sum_j A_j|| ||V||",
    )
    return "in any dimension, by 1 - <A_j, V> as a bound of the slack"


def prove_at_most_lost() -> str:
    """Prove that without the tokens J ||X^mm||^2 falls by at most ||sum_J w_j A_j||^2."""
    least_points.ensure_multipliers()
    J, K, Y = vector("J"), vector("K"), vector("Y")
    of_J, of_K = sp.symbols("w_J w_K", nonnegative=True)
    facts = {
        inner("K", "Y"): of_K + MORE,  # margins of Y are at least 1 on what is left
        inner("J", "K"): of_J - inner("J", "J"),  # <X, J> = sum over J of w_j, by margins of 1
        inner("K", "K"): of_K - of_J + inner("J", "J"),  # <X, K> = sum over K of w_j
    }
    whole = (J + K) @ (J + K)
    ensure_equal(
        whole.subs(facts),
        of_J + of_K,
        "the square of X = J + K is the sum of all w_j, by the margins of J and K",
    )
    gap = Y @ Y - (whole - J @ J) - (Y - K) @ (Y - K)
    ensure_equal(
        gap.subs(facts),
        2 * MORE,
        "||Y||^2 - (||X||^2 - ||J||^2) = ||Y - K||^2 + 2 (<K, Y> - sum over K of w_j)",
    )
    least_points.ensure_existence(FEASIBLE)
    return "in any dimension, for every matrix Y that meets the constraints that are left"


def prove_at_least_lost() -> str:
    """Prove that without token j ||X^mm||^2 falls by at least w_j^2 dist(A_j, span of others)^2."""
    least_points.ensure_multipliers()
    off = vector("R")  # A_j less its projection on the span of the others
    square = inner("R", "R")
    moved = X - WEIGHT * off
    facts = {inner("R", "X"): WEIGHT * square}  # <A_k, R> = 0, <A_j, R> = ||R||^2
    ensure_equal(
        (moved @ moved).subs(facts),
        XX - WEIGHT**2 * square,
        "X - w_j R meets the others as X does, and its square is ||X||^2 - w_j^2 ||R||^2",
    )
    least_points.ensure_existence(FEASIBLE)
    return "in any dimension, by X less w_j times the part of A_j that is orthogonal to the others"


def prove_cost_of_turning() -> str:
    """Prove that |z^T X D - D^T X z| <= ||X - X^T||_2 ||z|| ||D||, attained."""
    d = sp.Symbol("d", integer=True, positive=True)
    r, c = sp.symbols("r c", integer=True)
    entry = sp.IndexedBase("X", real=True)
    z, D = sp.IndexedBase("z", real=True), sp.IndexedBase("D", real=True)
    term = z[r] * entry[r, c] * D[c] - D[c] * entry[c, r] * z[r]
    ensure_zero(
        term - z[r] * (entry[r, c] - entry[c, r]) * D[c],
        f"entry by entry, for any {d}: z^T X D - D^T X z = z^T (X - X^T) D",
    )
    cite(SINGULAR_VALUES)
    return "in any dimension; singular vectors of X - X^T attain it"
