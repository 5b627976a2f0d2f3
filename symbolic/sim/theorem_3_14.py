"""The limit direction for one input of three tokens, from any start.

Letters are those of `symbolic.basins`; A_1 and A_2 are the only two A_j. A step adds a positive
multiple of p_1 A_1 + p_2 A_2 to W. This module proves point 1 of `symbolic.basins`: from
some step on s_o and u - second are above positive constants. The limit follows as from the basin.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import (
    Supposition,
    cancelled,
    executed,
    expanded,
    factored,
)
from symbolic.aligned_facts import prove_in_a_case
from symbolic.basins import LEAD, LESS, MORE, SECOND, ensure_from_kept
from symbolic.divergence import ensure_passed
from symbolic.gains import GAMMA_O
from symbolic.inner_products import inner, vector
from symbolic.textbook import CAUCHY_SCHWARZ

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
