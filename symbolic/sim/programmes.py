"""The Att-SVM, hard and soft: X_soft in the limit of descent, and the exact price of slack.

X^mm is the least X with <A_j, X> >= 1 (`symbolic.least_points`), with multipliers w_j. The
objective of X_soft is f_C(V), ||V|| plus C times the sum of slacks. The proofs use inner products
alone, so that they hold for any number of inputs and tokens and in any dimension.

`symbolic.sim.programme_facts` has the linked proofs. docs/proofs/soft_margin.md has the arguments.
"""

import sympy as sp

from attsvm.primitives.hypotheses import SEVERAL_TOKENS
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import expanded, factored, suppose, supposed_number
from properties._support.suppositions import SOLUTION
from properties.sim import figure_1
from properties.sim.definition_4_1.conclusion import worth
from symbolic import least_points
from symbolic.basins import ensure_from_basin
from symbolic.inner_products import INNER, inner, vector
from symbolic.least_points import MORE, A, V, X
from symbolic.textbook import CAUCHY_SCHWARZ, DUALITY, LINEAR

XX = inner("X", "X")
WEIGHT = sp.Symbol("w", nonnegative=True)
"""A multiplier w_j."""
PRICE, SLACK = sp.symbols("C xi", nonnegative=True)


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


def ensure_price() -> str:
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
    ensure_price()
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


def ensure_shared_price() -> str:
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
    ensure_shared_price()
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
