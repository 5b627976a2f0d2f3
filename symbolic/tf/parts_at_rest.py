"""Local maxima among the scores at which the parts of an input rest.

Parts, the polynomial P and the function h are those of `properties/tf/benign_landscape/parts.py`. A
part rests at a score u if its c_t = s_t (gamma_t - u) are the coefficients of an affine dependency
of its tokens: sum_t c_t = 0 and sum_t c_t x_t = 0. `symbolic.tf.where_stationary` has a linked
proof that some W is stationary exactly if, in each input, all parts rest at one score.
"""

import sympy as sp

from attsvm.primitives.query_hypotheses import QUERIES
from attsvm.theory import (
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_nonzero,
    ensure_positive,
    ensure_zero,
)
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import cancelled, expanded, suppose
from properties._support.suppositions import FALLING
from properties.tf.benign_landscape.parts import share
from symbolic.continuity import ensure_smooth
from symbolic.gains import ensure_gain
from symbolic.inner_products import inner
from symbolic.sums import ensure_nonnegative_sum, entry, total
from symbolic.textbook import (
    CONTINUOUS,
    DESCARTES,
    DIFFERENTIABLE,
    INTERMEDIATE_VALUE,
    JENSEN,
    MEAN_VALUE_ON_A_LINE,
    NOT_ALL,
    RANGE,
    RISING,
    SECOND_DERIVATIVE,
    SIGN,
    VALUES,
)
from symbolic.tf.benign_landscape import MORE, POSITIVE, ensure_own_query, ensure_second_derivative
from symbolic.tf.where_stationary import prove as prove_where_stationary


def ensure_one_root() -> None:
    """Prove that h(u) = sum_t b_t ln(b_t/(m_t (gamma_t - u))) has one root.

    u lies between the scores of the tokens with b_t > 0 and those of the tokens with b_t < 0.
    """
    u = sp.Symbol("u", real=True)
    b, gap, count = sp.symbols("b gap m", positive=True)
    smooth = "a term of h is smooth between the sides' scores, where all |gamma_t - u| are positive"
    ends = (
        "this term tends to infinity as u tends to a score above, and to -infinity at one "
        "below, while the others are bounded from there to halfway: h takes both signs"
    )
    at_ends = []
    terms = [share(SYMBOLS, sign * b, u + sign * gap, u, count) for sign in (1, -1)]
    ensure_smooth(terms, smooth)
    for sign, side in ((1, "above"), (-1, "below")):
        gamma = sp.Symbol("gamma", real=True)
        term: sp.Expr = share(SYMBOLS, sign * b, gamma, u, count)
        ensure_positive(
            sp.diff(term, u).subs(gamma, u + sign * gap),
            f"a token with b_t {'>' if sign > 0 else '<'} 0 and a score {side} u has a term of h "
            "that rises with u",
        )
        at_ends += [sp.limit(sp.exp(-sign * term.subs(gamma, u + sign * gap) / b), gap, 0, "+")]
    ensure_zero(at_ends, ends)
    slope, rises = entry("slope"), "the slope of h, the sum of those of its terms, is positive"
    ensure_nonnegative_sum(total(slope), slope, rises, slope=POSITIVE)
    cite(RISING, met={SIGN: rises, DIFFERENTIABLE: smooth})
    cite(INTERMEDIATE_VALUE, met={CONTINUOUS: smooth, VALUES: ends})


def ensure_inputs_move_alone() -> None:
    """Prove that with independent queries each input has a separate, arbitrary prompt p_i."""
    suppose(QUERIES, FALLING)
    ensure_own_query()
    margin, own, other = sp.symbols("margin own other", real=True)
    ensure_equal(
        (margin * own + other * inner("q_k", "z_i")).subs({own: 1, inner("q_k", "z_i"): 0}),
        margin,
        "W = sum_i p_i q_i^T has W z_i = p_i, whatever the others are: the gradient, a sum of g_i "
        "z_i^T, is 0 exactly where the slope of each input along all w is",
    )
    ensure_gain()


def ensure_parts_move_alone() -> None:
    """Prove that some p gives the logits of all parts if for each part some p gives its logits."""
    b, a = entry("b"), entry("a")
    shift = sp.Symbol("shift", real=True)
    ensure_equal(
        total(b * (a + shift)).subs(total(b), 0),
        total(b * a),
        "a constant that is added to a part's logits changes no sum_t b_t a_t of a dependency, and "
        "each dependency is one of each part",
        normal=expanded,
    )
    cite(RANGE)  # for the matrix of rows (x_t, 1)


def ensure_balance() -> None:
    """Prove that the term of h in the code is that of the linked proof."""
    u = sp.Symbol("u", real=True)
    b, gap, count = sp.symbols("b gap m", positive=True)
    ensure_zero(
        [
            sign * b * sp.log(b / gap / count) - share(SYMBOLS, sign * b, u + sign * gap, u, count)
            for sign in (1, -1)
        ],
        "a token adds b ln(b/(m (gamma - u))) to h",
        normal=lambda x: sp.expand_log(sp.expand(x)).expand(),
    )


def prove_where_least() -> str:
    """Prove that W is a local minimum if and only if each part has a local maximum of its score.

    A linked proof shows where W is stationary: if and only if, in each input, all parts rest at
    one score.

    Raises:
        ProofError: a step fails.
    """
    prove_where_stationary()
    ensure_inputs_move_alone()
    ensure_parts_move_alone()
    ensure_balance()
    ensure_one_root()
    ensure_maxima_of_inputs()
    ensure_maxima_of_parts()
    ensure_largest_of_one_dependency()
    ensure_largest_on_line()
    return "for every loss with l' < 0 and any n, T and d"


def ensure_maxima_of_inputs() -> None:
    """Prove that L has a local minimum if and only if each input's u_i has a local maximum."""
    steep, rise = sp.symbols("|l'| rise", positive=True)
    cite(MEAN_VALUE_ON_A_LINE, met={DIFFERENTIABLE: FALLING})
    ensure_positive(
        -(-steep * rise),
        "l falls by |l'(v)| times the rise of u_i, v between: where some near p_i has a larger "
        "u_i, L is less at a near W, which moves no other input",
    )
    ensure_nonnegative(
        -steep * -MORE,
        "where no near p_i has a larger u_i, L is at no near W less, as no l(u_i) is",
    )


def ensure_maxima_of_parts() -> None:
    """Prove that u is a local maximum at which all parts rest iff all parts' scores are maxima."""
    level, attention = entry("level"), entry("S")
    u = sp.Symbol("u", real=True)
    positive, rise = sp.symbols("S_j rise", positive=True)
    ensure_equal(
        (total(attention * level) - u).subs(u, u * total(attention)),
        total(attention * (level - u)),
        "the score of an input less u is the sum of what parts score less u, times the attention "
        "S_j > 0 to them",
        normal=expanded,
    )
    ensure_nonnegative(
        -positive * -MORE, "if near logits raise no part's score above u they raise no sum of them"
    )
    ensure_positive(
        positive * rise,
        "if near logits raise the score of one part, these logits with those of the other "
        "parts as they are raise the sum, and some near p has them",
    )


def ensure_largest_of_one_dependency() -> None:
    """Prove that u is a local maximum only if a single c_t is positive, and then the global one."""
    bent = ensure_second_derivative()
    one, other = sp.symbols("c_1 c_2", positive=True)
    ensure_zero(
        one - other * (one / other),
        "two tokens of c_t > 0 may have logits 1 and -c_1/c_2, and the others 0: sum_t c_t a_t = 0",
    )
    ensure_positive(
        bent(one, 1) + bent(other, -one / other),
        "along these logits u'' is positive, so that u is no local maximum",
    )
    c, a, gamma, size = (entry(name) for name in ("c", "a", "gamma", "|c|"))
    u, best, x = sp.symbols("u a_o x", real=True)
    ensure_equal(
        (c / (gamma - u)) * sp.exp(a) * (gamma - u),
        c * sp.exp(a),
        "logits that move by a_t have a score less u with the sign of sum_t c_t exp(a_t)",
        normal=cancelled,
    )
    ensure_zero(
        (POSITIVE * best - total(size * a)).subs(best, total(size * a) / POSITIVE),
        "if c_o alone is positive it is sum_t |c_t|, so that sum_t c_t a_t = 0 makes a_o the mean "
        "of the other a_t with weights |c_t|",
        normal=cancelled,
    )
    growing = "the second derivative of exp is above 0"
    ensure_positive(sp.diff(sp.exp(x), x, 2), growing)
    cite(JENSEN, met={SECOND_DERIVATIVE: growing})
    ensure_nonnegative(
        POSITIVE * (x + MORE) - POSITIVE * x,
        "c_o exp(a_o) is at most sum_t |c_t| exp(a_t): no logits score above u",
        normal=expanded,
    )


def ensure_largest_on_line() -> None:
    """Prove that u is a local maximum if and only if P changes from + to - at the root."""
    k, x, gamma = sp.symbols("k ln(y) gamma", real=True)
    m, other, gap, weights = sp.symbols("m_s m_t gap weights", positive=True)
    some = "not all coefficients of P are 0"
    ensure_nonzero(
        m * other * gap * sp.Symbol("lead", nonzero=True),
        some,
    )
    # the coefficient of the power k_s + k_t, t the last token and s the last one of another score:
    # the only other pairs of this power are two tokens beyond s, whose scores are both that of t
    cite(DESCARTES, met={NOT_ALL: some})  # so that P has one sign on each side of a root, near it
    smooth = "weights m exp(k ln y), sums of these, and quotients by positive ones are smooth"
    ensure_smooth([m * sp.exp(k * x), gamma / weights], smooth)
    rises = "the slope of the score along ln y, P(y)/(sum_t w_t)^2, has the sign of P"
    ensure_nonnegative(sp.Symbol("P(y)", nonnegative=True) / weights**2, rises)
    # the score rises strictly, as its derivative is 0 at single points only
    cite(RISING, met={SIGN: rises, DIFFERENTIABLE: smooth})
