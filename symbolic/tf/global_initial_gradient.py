"""A first step along the gradient that is long enough ends in the basin of the optimal tokens.

Letters are those of `symbolic.basins`. Let m_0 be the least margin of W_0, iota the least margin of
the unit step direction U, and R the length of the step. Then all margins of W_1 are at least
m = m_0 + iota R. So the part of input i in L(W_1) - L_* is at most b_i G_i (T_i - 1) exp(-m)/n,
where b_i bounds |l'| and G_i is the range of the scores. The sum of these parts is below
min_i drop_i/n, and W_1 is in the basin of W^mm (`attsvm.exact.descent.basin`). A step that lowers
some margins, so that iota is not positive, suffices as well if m_0 is large.
"""

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive
from attsvm.theory.declaration.proof import cancelled, expanded, supposed_number
from properties.tf import global_initial_gradient as statement
from symbolic.basins import MORE, ensure_from_margins
from symbolic.inner_products import vector
from symbolic.least_points import SCALED, ensure_existence, ensure_scaled_meets


def prove() -> str:
    """Prove that the limit direction is that of V after a first step of length R >= 0 along U.

    Its margins are at least m_0 + iota R, which puts W_1 in the basin. V exists: with two rivals or
    more these margins are positive, and W_1 shows it. With one rival V is A/||A||^2.
    """
    least, rate = sp.symbols("m_0 iota", real=True)
    more, faster = sp.symbols("more faster", nonnegative=True)
    forward, long = (
        statement.FORWARD,
        statement.LONG,
    )
    length = supposed_number(forward, "R", nonnegative=True)
    ensure_nonnegative(
        (least + more) + length * (rate + faster) - (least + rate * length),
        "<A, W_0 + R U> is at least m_0 + iota R where <A, W_0> is at least m_0, <A, U> at "
        "least iota and R at least 0",
        normal=expanded,
    )
    level, beyond = sp.Symbol("ln(Q/D)", real=True), supposed_number(long, "over", nonnegative=True)
    ensure_nonnegative(
        least + (level - least + beyond) - level,
        "m_0 + iota R is at least ln(Q/D), as iota R is at least ln(Q/D) - m_0",
        normal=expanded,
    )
    whole, rivals, others = sp.symbols("b_iG_i rivals others", positive=True)
    ensure_positive(
        [whole * (1 + rivals) - (whole - MORE), whole + others - (whole - MORE)],
        "of two rivals or more, of one input or of several, Q is above D, as drop_i is at most "
        "b_i G_i: margins of at least ln(Q/D) are positive",
        normal=expanded,
    )
    ensure_scaled_meets()
    ensure_existence(SCALED)
    A = vector("A")
    ensure_equal(
        A @ (A / (A @ A)),
        1,
        "of one rival -grad L(W_0), which is not 0, is a multiple of A: V is A/||A||^2",
        normal=cancelled,
    )
    ensure_from_margins(None)
    return "for every smooth loss with l' < 0, any n, T and d"
