"""The limit direction for data with two rivals in all.

These are two inputs of two tokens, with descent from zero, or one input of three tokens, from any
start. Letters are those of `symbolic.basins`; A_1 and A_2 are the only two A_j. A step adds a
positive multiple of p_1 A_1 + p_2 A_2 to W. This module proves point 1 of `symbolic.basins`: from
some step on s_o and u - second are above positive constants. The limit follows as from the basin.
"""

import sympy as sp

from attsvm.primitives.hypotheses import FEASIBLE, ONE_INPUT, SECOND_SUPPORTS, ZERO_START
from attsvm.primitives.steps import SHORT
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import (
    Supposition,
    cancelled,
    executed,
    expanded,
    factored,
    simplified,
    suppose,
)
from properties._support.suppositions import TWICE_SMOOTH
from properties.sim import theorem_3_14_part_1 as single
from properties.sim.theorem_3_14_part_2.instances import PAIRS, SAME
from symbolic.aligned_facts import prove_in_a_case
from symbolic.aligned_inputs import ensure_kept_odds
from symbolic.basins import LEAD, LESS, MORE, SECOND, STEP, ensure_from_kept
from symbolic.divergence import ensure_passed
from symbolic.gains import GAMMA, GAMMA_O
from symbolic.inner_products import inner, vector
from symbolic.mean_value import ensure_no_less
from symbolic.textbook import CAUCHY_SCHWARZ, DIFFERENTIABLE, EXPONENTIAL, MEAN_VALUE_ON_A_LINE

A_1, A_2, V = vector("A_1"), vector("A_2"), vector("V")
DROP, X, Y = sp.symbols("drop x y", positive=True)
"""The second-best score less the worst, x = s_1/s_o = exp(-m_1) and y = s_2/s_o = exp(-m_2)."""
PACE, ALSO = sp.symbols("pace also", positive=True)
"""`pace` is e |l'|, which lies between two positive constants; `also` is any positive number."""

Pair = tuple[sp.Expr, sp.Expr]
Triple = tuple[sp.Expr, sp.Expr, sp.Expr]


def moves(p_1: sp.Expr, p_2: sp.Expr, squares: Triple) -> Pair:
    """Return the changes of m_1 and m_2 if p_1 A_1 + p_2 A_2 is added to W.

    Args:
        p_1: the coefficient of A_1.
        p_2: the coefficient of A_2.
        squares: <A_1, A_1>, <A_1, A_2> and <A_2, A_2>.
    """
    a, c, q = squares
    products = {inner("A_1", "A_1"): a, inner("A_1", "A_2"): c, inner("A_2", "A_2"): q}
    moved = p_1 * A_1 + p_2 * A_2
    return (moved @ A_1).subs(products), (moved @ A_2).subs(products)


def ensure_stays(rise: sp.Expr, fall: sp.Expr, jump: sp.Expr, what: str) -> None:
    """Prove that a sequence stays at least the lesser of its first number and level - jump.

    Args:
        rise: the change at a step that starts at or below some level, in symbols of known sign.
        fall: the change at a step that starts above that level, in symbols of known sign.
        jump: the maximum fall at a step that starts above that level.
        what: the sentence that says which numbers these are.

    Raises:
        ProofError: `rise` is not known to be at least 0, or `fall` to be at least -jump.
    """
    level = sp.Symbol("level", real=True)
    below, over = sp.symbols("below over", nonnegative=True)
    least = level - jump - below
    ensure_nonnegative(
        [(least + over + rise) - least, (level + over + fall) - least], what, normal=factored
    )


def ensure_independent() -> None:
    """Prove that ||A_1||^2 ||A_2||^2 > c^2 if <A_1, A_2> = -c < 0 and V has margins >= 1."""
    a, q, c, N = sp.symbols("a q c N", positive=True)
    both = q * A_1 + c * A_2
    ensure_equal(
        q * moves(q, c, (a, -c, q))[0] + c * moves(q, c, (a, -c, q))[1],
        q * (a * q - c**2),
        "with a = ||A_1||^2, q = ||A_2||^2 the square of q A_1 + c A_2 is q (a q - c^2)",
    )
    margins = {inner("A_1", "V"): 1 + MORE, inner("A_2", "V"): 1 + LESS}
    ensure_nonnegative(
        (both @ V).subs(margins) - (q + c),
        "the inner product of q A_1 + c A_2 with V is at least q + c",
        normal=expanded,
    )
    cite(CAUCHY_SCHWARZ)
    ensure_positive(
        ((q + c) ** 2 + LESS) / (N**2 * q), "so a q - c^2 is at least (q + c)^2/(N^2 q) > 0"
    )


def ensure_order(a: sp.Expr, b: sp.Expr, c: sp.Expr) -> None:
    """Prove that m_1 >= m_2 stays true for two inputs of two tokens, as it is at the start.

    Here a = ||A_1||^2 >= b = ||A_2||^2 and c = -<A_1, A_2> > 0, and the step is at most 1/L.
    """
    m = sp.Symbol("m", real=True)
    first = sp.Symbol("p(m_1)", positive=True)
    apart = sp.Symbol("m_1-m_2", nonnegative=True)
    squares = a, -c, b
    margins = moves(m * (b + c), m * (a + c), squares)
    ensure_equal(
        margins,
        [m * (a * b - c**2)] * 2,
        "a multiple of (b + c) A_1 + (a + c) A_2 has m_1 = m_2 = m, for every m",
    )
    along = moves(1, -1, squares)  # <A_1, H> and <A_2, H>
    square = along[0] - along[1]
    turned = moves(*along, squares)
    ensure_equal(
        turned[0] - turned[1],
        (square**2 + (a - b) ** 2) / 2,
        "at this multiple -grad L has the slope p'(m) (<A_1, H> A_1 + <A_2, H> A_2) along H "
        "= A_1 - A_2, and the inner product of that with H is p'(m) times (||H||^4 + (a - "
        "b)^2)/2",
    )
    cite(CAUCHY_SCHWARZ)
    half = (a + b) / 2 + c
    reached = "so along H/||H|| the length of its slope is at least |p'(m)| ((a + b)/2 + c)"
    ensure_nonnegative((square**2 + (a - b) ** 2) / 2 / square - half, reached, normal=factored)
    slope, x = sp.Function("l'"), sp.Symbol("x", real=True)
    share = 1 / (1 + sp.exp(-x))
    pull = slope(GAMMA_O * share + GAMMA * (1 - share)) * share * (1 - share)
    ensure_no_less(reached, pull, (slope, TWICE_SMOOTH))  # p, the coefficient in the gradient
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: TWICE_SMOOTH})  # p
    suppose(SHORT)
    second = first + apart / (STEP * half) - LESS
    moved = moves(first, second, squares)
    ensure_nonnegative(
        apart + STEP * (moved[0] - moved[1]),
        "as e <= 1/L p(m_2) is at most p(m_1) + (m_1 - m_2)/(e ((a + b)/2 + c)), and m_1 - m_2 "
        ">= 0, to which a step adds e (p(m_1) (a + c) - p(m_2) (b + c)), stays at least 0",
        normal=factored,
    )


def shares(odds: sp.Expr) -> sp.Expr:
    """Return s_o s_1 for two tokens, with `odds` = exp(-m)."""
    return odds / (1 + odds) ** 2


def reach(c: sp.Expr, most: sp.Expr, b: sp.Expr, least: sp.Expr, over: sp.Expr) -> sp.Expr:
    """Return the number r such that no step lowers m_2 if m_2 <= -r and m_2 < 0."""
    return sp.log(c * most / (b * least)) / over


def ensure_returns(a: sp.Expr, b: sp.Expr, c: sp.Expr) -> Triple:
    """Prove that no step lowers m_2 if m_2 is below some constant.

    Then m_1 >= -m_2 a/c is so large that input 1 hardly moves m_2.

    Returns:
        The change of m_2 at a step that starts below that constant, the change at other steps, and
        the maximum fall at other steps.
    """
    alpha, beta = sp.symbols("alpha beta", nonnegative=True)
    odds, most, least, over = sp.symbols("exp(-m) C c_p a/c-1", positive=True)
    m_1, m_2 = moves(alpha, beta, (a, -c, b))
    ensure_equal(c * m_1 + a * m_2, (a * b - c**2) * beta, "c m_1 + a m_2 is (a b - c^2) beta")
    ensure_nonnegative(
        ALSO * beta, "(a b - c^2) beta is at least 0, as a b > c^2: so m_1 is at least -m_2 a/c"
    )
    ensure_positive(a**2 - (a * b - ALSO), "a/c is above 1, as c^2 < a b <= a^2", normal=expanded)
    s_o = 1 / (1 + odds)
    ensure_equal(
        (1 - s_o) * (s_o * GAMMA_O + (1 - s_o) * SECOND - SECOND),
        shares(odds) * LEAD,
        "s_1 (u - second) is gap s_o s_1, gap being the lead, with s_o s_1 = odds/(1 + "
        "odds)^2 and odds = exp(-m): p = |l'| gap s_o s_1/2 is one function of the margin "
        "for both inputs",
        normal=cancelled,
    )
    small = 1 / (1 + MORE)
    ensure_nonnegative(
        [odds - shares(odds), shares(1 / small) - small / 4],
        "p is at most C exp(-m), and at least c_p exp(m) where m <= 0, as s_o s_1 is at most "
        "exp(-m), and then at least exp(m)/4",
        normal=factored,
    )
    low = reach(c, most, b, least, over) + MORE
    ensure_equal(
        c * most * sp.exp(-(1 + over) * low),
        b * least * sp.exp(-low) * sp.exp(-over * MORE),
        "where m_2 = -ln(c C/(b c_p))/(a/c - 1) - more, if below 0, c p(m_1) <= c C exp(m_2 a/c) "
        "is b c_p exp(m_2) exp(-(a/c - 1) more)",
        normal=simplified,
    )
    cite(EXPONENTIAL)
    rise, fall = b * least * (1 - 1 / (1 + over * MORE)), -STEP * c * shares(odds)
    ensure_nonnegative(
        rise,
        "b c_p exp(m_2) exp(-(a/c - 1) more) is at most b c_p exp(m_2) <= b p(m_2): a step, "
        "which adds e (b p(m_2) - c p(m_1)) to m_2, does not lower it",
        normal=factored,
    )
    ensure_nonnegative(
        fall + STEP * c,
        "elsewhere a step lowers m_2 by at most e c max|l'| gap",
        normal=factored,
    )
    return rise, fall, STEP * c


def prove_pair() -> str:
    """Prove the limit direction for two inputs of two tokens with the same two scores, from zero.

    Let a = ||A_1||^2 >= b = ||A_2||^2 and c = -<A_1, A_2>. If c <= 0 the inputs are aligned; let c
    be above 0. Then W = alpha A_1 + beta A_2 with alpha, beta >= 0. A step adds e p(m_1) to alpha
    and e p(m_2) to beta, where p > 0 is the same function for both inputs.
    """
    suppose(PAIRS, SAME)
    executed(prove_in_a_case)  # c <= 0
    b, c = sp.symbols("b c", positive=True)
    a = b + LESS
    ensure_independent()
    ensure_order(a, b, c)
    suppose(ZERO_START)
    moved = ensure_returns(a, b, c)
    ensure_stays(
        *moved, "from 0 on m_2 stays above a constant, and so does m_1, which is at least m_2"
    )
    ensure_kept_odds()
    ensure_from_kept(FEASIBLE)
    return "for every smooth loss with l' < 0 and any d"


def attended(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """Return s_o for three tokens."""
    return 1 / (1 + x + y)


def pulls(x: sp.Expr, y: sp.Expr) -> Pair:
    """Return p_1/s_o^2 and p_2/s_o^2 for three tokens, where p_t = s_t (u - gamma_t)."""
    return x * (LEAD - DROP * y), y * (LEAD + DROP + DROP * x)


def gains(x: sp.Expr, y: sp.Expr, squares: Triple) -> Pair:
    """Return the changes of m_1 and m_2 at a step, divided by e |l'| s_o^2."""
    return moves(*pulls(x, y), squares)


def ensure_of_three() -> None:
    """Prove the formulas for the coefficients of A_1 and A_2."""
    s_o = attended(X, Y)
    u = s_o * (GAMMA_O + X * SECOND + Y * (SECOND - DROP))
    ensure_equal(
        [X * s_o * (u - SECOND), Y * s_o * (u - (SECOND - DROP))],
        [s_o**2 * p for p in pulls(X, Y)],
        "p_1 = s_1 (u - second) and p_2 = s_2 (u - worst), with u - second = s_o (lead - drop y) "
        "and u - worst = s_o (lead + drop + drop x)",
        normal=cancelled,
    )


def ensure_no_more_than_square() -> None:
    """Prove that <A_1, A_2> <= ||A_2||^2 = q, as the second-best token is a support vector."""
    q = sp.Symbol("q", positive=True)
    products = {
        inner("A_2", "A_2"): q,
        inner("A_2", "V"): 1 + MORE,
        inner("V", "V"): 1 / q - LESS,
    }
    apart = V - A_2 / q
    ensure_nonnegative(
        -(apart @ apart).subs(products),
        "were c = <A_1, A_2> at least q, A_2/q would have margins of 1 at least, and V, "
        "which is no longer and gives the worst token a margin of 1 at least, would be "
        "A_2/q: ||V - A_2/q||^2 <= 0",
        normal=expanded,
    )
    ensure_positive(
        (A_2 / q @ A_1).subs(inner("A_1", "A_2"), q + ALSO) - 1,
        "were c above q, the margin of the second best token would be above 1: so c <= q",
        normal=expanded,
    )


def ensure_rises_above() -> None:
    """Prove that u exceeds `second` from some step on if 0 <= <A_1, A_2> = c <= q."""
    a, x_0 = sp.symbols("a x_0", positive=True)
    c = sp.Symbol("c", nonnegative=True)
    q = c + MORE
    level = LEAD / DROP
    y, y_0 = level + LESS, level + LESS + ALSO
    first, second = gains(X, y, (a, c, q))
    gained = q * (X * LEAD + y * (LEAD + DROP))
    ensure_nonnegative(
        second - gained,
        "where u <= second, so y >= lead/drop, a step adds to m_2 at least e |l'| s_o^2 q "
        "(x lead + y (lead + drop))",
        normal=expanded,
    )
    ensure_nonnegative(
        first + a * DROP * y_0 / (q * LEAD) * gained,
        "such a step lowers m_1 by at most a drop y_0/(q lead) times that, y_0 being above "
        "the first y: as m_2 is at most ln(drop/lead) there, m_1 stays above a constant, and "
        "x below x_0",
        normal=expanded,
    )
    x, least = x_0 / (1 + MORE), level * (LEAD + DROP) / (1 + x_0 + y_0) ** 2
    ensure_nonnegative(
        attended(x, y) ** 2 * (gained / q).subs(X, x) - least,
        "s_o^2 (x lead + y (lead + drop)) is at least (lead/drop) (lead + drop)/(1 + x_0 + y_0)^2",
        normal=factored,
    )
    ensure_passed(
        PACE * sp.Symbol("||A_2||^2", positive=True) * least,
        "m_2 is above ln(drop/lead) after finitely many steps",
    )
    share = 1 / (1 + LESS)
    ensure_nonnegative(
        gains(X, level * share, (a, c, q)),
        "where u is at least second no margin falls",
        normal=factored,
    )


def ensure_above(y: sp.Expr) -> None:
    """Prove that u - second and s_o stay above positive constants, if margins are bounded below.

    The margin of the worst token must stay above ln(drop/lead).

    Args:
        y: an upper bound of exp(-m_2), itself below lead/drop.
    """
    s_o, later = attended(X, y), attended(X / (1 + MORE), y / (1 + LESS))
    ahead = LEAD - DROP * y
    ensure_nonnegative(
        [later - s_o, (LEAD - DROP * y / (1 + LESS)) - ahead],
        "s_o = 1/(1 + x + y) and (u - second)/s_o = lead - drop y do not fall as margins rise",
        normal=factored,
    )
    ensure_positive(
        [s_o, ahead], "s_o = 1/(1 + x + y) and lead - drop y stay above constants", normal=factored
    )


def ensure_opposed() -> None:
    """Prove that s_o and u - second exceed constants from some step on, if <A_1, A_2> = -c < 0.

    The proof uses f = (q + c) m_1 + (a + c) m_2, the inner product of W with
    (q + c) A_1 + (a + c) A_2, where a = ||A_1||^2 and q = ||A_2||^2.
    """
    a, q, c, x_0, y_0, y_b = sp.symbols("a q c x_0 y_0 y_b", positive=True)
    f_0, bound, b = sp.symbols("f_0 bound b", real=True)
    ensure_independent()
    squares = a, -c, q
    f_1, f_2 = q + c, a + c
    first, second = gains(X, Y, squares)
    spread = LEAD + DROP
    ensure_nonnegative(
        [gain + (a + c) * spread / attended(X, Y) ** 2 for gain in (first, second)],
        "no step lowers a margin by more than J = e max|l'| (a + c) (lead + drop)",
        normal=expanded,
    )
    jump, square = (a + c) * spread, attended(X, Y) ** 2
    rise = gains(X, LEAD / DROP + LESS, squares)[1]
    ensure_nonnegative(
        rise,
        "where m_2 <= ln(drop/lead), so y >= lead/drop, a step does not lower m_2",
        normal=expanded,
    )
    ensure_stays(rise, second * square, jump, "so m_2 stays above a constant, and y below y_0")
    ensure_equal(
        f_1 * first + f_2 * second,
        (a * q - c**2) * (X * LEAD + Y * spread),
        "f grows at each step by e |l'| (a q - c^2) s_o^2 (x lead + y (lead + drop))",
    )
    small = a * LEAD / (a * DROP + c * (LEAD + 2 * DROP))
    rise = gains(1 + MORE, small / (1 + LESS), squares)[0]
    ensure_nonnegative(
        rise,
        "where m_1 <= 0 and y <= a lead/(a drop + c (lead + 2 drop)) a step does not lower m_1",
        normal=factored,
    )
    ensure_nonnegative(
        ((f_0 + MORE) - f_1 * ((f_0 - f_2 * b) / f_1 - LESS)) / f_2 - b,
        "as f is at least its first value f_0, m_2 is at least any b where m_1 is at most "
        "(f_0 - (a + c) b)/(q + c)",
        normal=factored,
    )
    ensure_stays(rise, first * square, jump, "so m_1 stays above a constant, and x below x_0")
    ensure_nonnegative(
        (bound + f_2 * sp.log(y_0)) / f_1 - (bound - MORE - f_2 * (LESS - sp.log(y_0))) / f_1,
        "where f <= bound m_1 is at most (bound + (a + c) ln y_0)/(q + c), and x above a constant",
        normal=factored,
    )
    ensure_nonnegative(
        attended(x_0 / (1 + MORE), y_0 / (1 + LESS)) - attended(x_0, y_0),
        "s_o is at least 1/(1 + x_0 + y_0)",
        normal=factored,
    )
    ensure_passed(
        PACE * ALSO * attended(x_0, y_0) ** 2 * X * LEAD,
        "f grows there by a constant, as a q > c^2, and is above any bound from some step on",
        elsewhere=PACE * ALSO * attended(X, Y) ** 2 * (X * LEAD + Y * spread),
    )
    ensure_nonnegative(
        (f_1 * bound + f_2 * b + MORE - f_2 * (b - LESS)) / f_1 - bound,
        "m_1 is at least any bound where m_2 <= b and f >= (q + c) bound + (a + c) b",
        normal=factored,
    )
    x = q * y_b * spread / (2 * c * LEAD) / (1 + MORE)
    rise = gains(x, y_b + LESS, squares)[1]
    ensure_nonnegative(
        rise - q * y_b * spread / 2,
        "where m_2 <= b, so y >= y_b = exp(-b), and x <= q y_b (lead + drop)/(2 c lead), a "
        "step adds to m_2 at least e |l'| s_o^2 q y_b (lead + drop)/2",
        normal=factored,
    )
    ensure_passed(
        PACE * attended(x_0, y_0) ** 2 * q * y_b * spread / 2,
        "so m_2 gets above b = J + ln(2 drop/lead)",
    )
    ensure_stays(
        rise, second * square, jump, "m_2 stays above ln(2 drop/lead), and y below lead/(2 drop)"
    )
    ensure_above(LEAD / (2 * DROP))


def ensure_three(second: Supposition | None = None) -> None:
    """Prove the limit direction for one input of three tokens, for any start and any step.

    The second-best token must be a support vector. A_1 belongs to it, and A_2 to the worst token.

    Args:
        second: the supposition that V exists, with the second best token a support vector; None if
            a step has shown this.
    """
    executed(prove_in_a_case)  # two tokens, or two rivals of one score
    ensure_of_three()
    ensure_no_more_than_square()
    ensure_rises_above()
    ensure_above(LEAD / (DROP * (1 + ALSO)))
    ensure_opposed()
    ensure_from_kept(second)


def prove_three() -> str:
    """Prove `ensure_three` under the suppositions of the reading."""
    suppose(single.THREE, ONE_INPUT)
    ensure_three(SECOND_SUPPORTS)
    return "for every loss with continuous l' < 0, any d and start, and any constant step"
