"""The limit direction of descent on key and query weights, for one input of two tokens.

D = x_opt - x_t and the query z are not 0; let a = ||D|| and b = ||z||. The gradient of the risk in
W = K Q^T is -c D z^T, and x = e c a b for the step size e. Let p = K^T D / a, q = Q^T z / b,
s = p + q and r = p - q. The start must have s != 0. The vectors p and q have any dimension; the
proof uses their inner products only.
"""

import sympy as sp

from attsvm.primitives.hypotheses import ONE_PAIR
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import expanded, factored, simplified, suppose, supposed_number
from properties._support.suppositions import FALLING, SMOOTH_SLOPE, UNIQUE_OPTIMUM
from properties.sim import kq_bias as statement
from symbolic import textbook
from symbolic.continuity import cite_extreme_value
from symbolic.divergence import PULL, ensure_pull_continuous
from symbolic.gains import ensure_gain, ensure_gain_of_equal_rivals
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_multipliers_suffice

MORE = sp.Symbol("more", nonnegative=True)
P, Q = vector("p"), vector("q")
A, B, X, LEAD, SLOPE, STEP = sp.symbols("a b x lead |l'| e", positive=True)


def ensure_step() -> None:
    """Prove that a step multiplies s by 1 + x and r by 1 - x with 0 < x <= X, so ||r||/||s|| falls.

    X is a constant of the run.
    """
    suppose(ONE_PAIR)
    c, attention = sp.Symbol("c", positive=True), sp.Symbol("s_o", positive=True)
    slope = supposed_number(FALLING, "|l'|", positive=True)
    lead = supposed_number(UNIQUE_OPTIMUM, "lead", positive=True)
    ensure_positive(
        slope * attention * (1 / (1 + MORE)) * lead,
        "c = |l'| s_o s_t lead is above 0, and so is x = e c a b",
    )
    ensure_gain()
    ensure_gain_of_equal_rivals()  # u - gamma_t = s_o lead: so -grad L = |l'| s_o s_t lead D z^T
    p, q = P + STEP * c * A * B * Q, Q + STEP * c * A * B * P
    for updated, factor, start in ((p + q, 1 + X, P + Q), (p - q, 1 - X, P - Q)):
        change = updated - factor * start
        ensure_zero(
            [k.subs(X, STEP * c * A * B) for _, k in change.parts],
            "a step, to K + e c D z^T Q and Q + e c z D^T K, takes p + q to (1 + x)(p + q) and p "
            "- q to (1 - x)(p - q)",
        )
    ensure_nonnegative(
        sp.Rational(1, 4) - attention * (1 - attention),
        "c = |l'| s_o s_t lead is at most sup|l'| lead/4",
        normal=factored,
    )
    cite_extreme_value(SMOOTH_SLOPE, "|l'| on the interval between both scores")
    ensure_nonnegative(
        STEP * (SLOPE + MORE) * LEAD / 4 * A * B - STEP * SLOPE * LEAD / 4 * A * B,
        "so x > 0 is at most some X = e max|l'| lead a b/4, whatever the step is",
        normal=expanded,
    )
    rate = 2 / (1 + X + MORE) ** 2
    ensure_nonnegative(
        [(1 + X) * (1 - rate * X) - (1 - X), (1 + X) * (1 - rate * X) - (X - 1)],
        "|1 - x| <= (1 + x) (1 - k x) with k = 2/(1 + X)^2: a step takes ||r||/||s|| to 1 - k x of "
        "itself at most",
        normal=factored,
    )


def ensure_growth() -> None:
    """Prove that the length of s tends to infinity."""
    suppose(statement.LEANS)
    start, least, k = sp.symbols("||s_0|| least k", positive=True)
    s, r = P + Q, P - Q
    ensure_equal(
        (s @ s - r @ r) / 4,
        P @ Q,
        "the margin D^T K Q^T z = a b <p, q> is a b (||s||^2 - ||r||^2)/4: bounded where s is, as "
        "||r||/||s|| does not grow",
    )
    ensure_pull_continuous()
    cite_extreme_value(PULL, "the least pull on a closed interval of margins")
    cite(textbook.EXPONENTIAL)
    ensure_nonnegative(
        start * (1 + least + MORE) - start * (1 + least),
        "s keeps its direction and never shrinks; were it bounded, x would be above a constant, "
        "and s grow by a constant factor at each step",
        normal=expanded,
    )
    ensure_zero(
        sp.limit(1 / (start * (1 + k * least)), k, sp.oo),
        "(1 + least)^k >= 1 + k least is unbounded, and so is ||s||",
    )


def ensure_ratio() -> None:
    """Prove that ||r||/||s|| tends to 0: ||s||^k ||r||/||s|| does not grow for k = 2/(1 + X)^2."""
    k, start, ratio = sp.symbols("k ||s_0|| ratio", positive=True)
    cite(textbook.EXPONENTIAL)
    ensure_equal(
        sp.exp(-k * X) * sp.exp(X) ** k,
        1,
        "(1 - k x) (1 + x)^k <= exp(-k x) exp(x)^k = 1: ||r||/||s|| times ||s||^k does not grow",
        normal=simplified,
    )
    y = sp.Symbol("||s||", positive=True)
    ensure_zero(
        sp.limit((ratio * start**k * y ** (-k)).subs(k, 1 / (1 + k)), y, sp.oo),
        "so ||r||/||s|| is at most its start times (||s_0||/||s||)^k, which tends to 0 for k > 0",
    )


def ensure_direction() -> None:
    """Prove that W/||W|| tends to the direction of D z^T, that of the Frobenius solution."""
    D, square = vector("D"), sp.Symbol("a^2", positive=True)
    ensure_zero(
        (D - D * ((D @ D) / square)).parts[0][1].subs(inner("D", "D"), square),
        "steps add to K matrices D v^T, which have no part K_0 orthogonal to D: "
        "K = K_0 + D p^T/a and Q = Q_0 + z q^T/b with constant K_0 and Q_0",
    )
    y, share, far, also, cross = sp.symbols("y share far also cross", nonnegative=True)
    cite(textbook.CAUCHY_SCHWARZ)
    cite(textbook.TRIANGLE)
    K0, Q0, p, q, column, row = sp.symbols("K_0 Q_0^T p^T q D z^T", commutative=False)
    ensure_equal(
        (K0 + column * p / A) * (Q0 + q * row / B),
        K0 * Q0 + K0 * q * row / B + column * p * Q0 / A + column * (p * q) * row / (A * B),
        "W is K_0 Q_0^T + K_0 q z^T/b + D p^T Q_0^T/a + <p, q> D z^T/(a b)",
    )
    ensure_equal(
        sp.limit((y**2 - (share * y) ** 2) / 4 / y**2, share, 0),
        sp.Rational(1, 4),
        "<p, q>/y^2 tends to 1/4, y = ||s||, as share = ||r||/||s|| tends to 0",
        normal=simplified,
    )
    ensure_zero(
        sp.limit((far + also * (y + share * y) + cross * (y + share * y)) / y**2, y, sp.oo),
        "the rest of W, over y^2, tends to 0, as ||p|| and ||q|| are at most (1 + share) "
        "y/2: W/y^2 tends to D z^T/(4 a b)",
    )
    ensure_multipliers_suffice()
    margin = sp.Symbol("<A, A>", positive=True)
    ensure_positive(
        1 / margin,
        "A/<A, A> with A = D z^T has margin 1 and is a positive multiple of A: it is the Frobenius "
        "solution",
    )


def prove() -> str:
    """Prove that K Q^T converges in direction to the Frobenius solution if s_0 != 0."""
    ensure_step()
    ensure_growth()
    ensure_ratio()
    ensure_direction()
    return (
        "for every smooth loss with l' < 0, tokens of any dimension, K and Q of any width, every "
        "start with s != 0 and any constant step"
    )
