"""The probability that random data have all tokens as support vectors of all Local-SVMs.

On `tf/overparameterisation`, with instances of `properties/tf/overparameterisation`:

For any queries, and tokens on the unit sphere, `amended-2` is the theorem on nearly orthogonal data
of `sim/large-dimension`. It holds for all choices of tokens at once. `attsvm reproduce
tf/overparameterisation` counts how often both conditions hold, and what descent from zero selects.
"""

import sympy as sp

from attsvm.theory import (
    Supposed,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_zero,
)
from attsvm.theory.declaration.proof import cancelled, expanded, simplified, suppose
from properties._support.laws import SEVERAL
from properties.tf.overparameterisation import SOME, TRIANGLE, chances
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_inputs_apart
from symbolic.sim import large_dimension
from symbolic.textbook import (
    BETA,
    BOOLE,
    CHI_SQUARE,
    FIXED,
    GAUSSIAN_PROJECTION,
    SPHERICAL_CAP,
    TWO_SQUARES,
    UNIFORM,
)

T, D = 3 + sp.Symbol("T-3", nonnegative=True), sp.Symbol("d", positive=True)
RHO = T / (T - 2)
"""The variance of an entry of u over that of v."""

GENERAL_POSITION = Supposed(
    "tokens are Gaussian: where d >= T - 1 the A_j are almost surely independent",
    (chances.GAUSSIAN,),
)
GAUSSIAN = Supposed(
    "tokens are independent standard Gaussian vectors, so that x_s, x_t and the mean of others are "
    "independent of the span of the others' differences",
    (chances.GAUSSIAN,),
)
SPHERICAL = Supposed(
    "tokens and queries are independent, uniform on the unit sphere", (chances.SPHERICAL,)
)


def ensure_independent_inputs() -> None:
    """Prove that the probability is a product over inputs: queries are orthogonal.

    All tokens support all Local-SVMs if this holds within each input, and these events are
    independent.
    """
    ensure_inputs_apart()
    chance, more, also = sp.symbols("chance more also", nonnegative=True)
    ensure_nonnegative(
        (chance + more) * (chance + also) - chance * chance,
        "inputs are independent: the probability is the product of theirs, so at least the product "
        "of lower bounds that are not negative, as max(0, .) is",
        normal=expanded,
    )


def ensure_angles() -> None:
    """Prove that for d >= T - 1 a multiplier has the sign of the product of two vectors.

    h_t is the affine function that is 1 at x_t and 0 at the other tokens. The multiplier of t in
    the Local-SVM of o is -<grad h_t, grad h_o>. It has the sign of <a, b>, where a and b lead from
    the other tokens to x_o and x_t, orthogonally to these tokens' differences.
    """
    large_dimension.ensure_exactly(GENERAL_POSITION)
    w, at_o, at_t = sp.symbols("w h_o h_t", real=True)
    ensure_equal(
        (w * (at_o - at_t)).subs({at_o: 0, at_t: 1}),
        -w,
        "grad h_o has the margins h_o(x_o) - h_o(x_t) = 1, so it is W^mm = sum_t w_t (x_o - x_t), "
        "and <grad h_t, W^mm> = w_t (h_t(x_o) - h_t(x_t)) = -w_t",
    )
    a, b = vector("a"), vector("b")
    dual = sp.Matrix([[a @ a, a @ b], [a @ b, b @ b]]).inv()
    ensure_zero(
        dual[0, 1] * ((a @ a) * (b @ b) - (a @ b) ** 2) + a @ b,
        "<grad h_s, grad h_t> has the sign of -<a, b>, a = x_s - c and b = x_t - c across the "
        "other tokens, which are c there",
        normal=simplified,
    )


def ensure_two_squares() -> None:
    """Prove that <a, b> < 0, an obtuse angle, has the probability of a beta variable below q."""
    a, b = vector("a"), vector("b")
    u, v = (a + b) / 2, (a - b) / 2
    ensure_equal(a @ b, u @ u - v @ v, "<a, b> = |u|^2 - |v|^2, u = (a + b)/2, v = (a - b)/2")
    first, second, others = (vector(name) for name in ("x_s", "x_t", "c"))
    covariance = {inner("x_s", "x_s"): 1, inner("x_t", "x_t"): 1, inner("c", "c"): 1 / (T - 2)}
    covariance |= {inner("x_s", "x_t"): 0, inner("c", "x_s"): 0, inner("c", "x_t"): 0}
    u, v = (first + second) / 2 - others, (first - second) / 2
    ensure_equal(
        [(u @ u).subs(covariance), (v @ v).subs(covariance), (u @ v).subs(covariance)],
        [T / (2 * (T - 2)), sp.Rational(1, 2), 0],
        "entries of u = (x_s + x_t)/2 - c, c the mean of T - 2 others, and of v = (x_s - x_t)/2 "
        "have these variances and are not correlated, so independent",
        normal=cancelled,
    )
    ensure_equal(
        RHO,
        T / (2 * (T - 2)) / sp.Rational(1, 2),
        "rho, the variance of an entry of u over that of v, is T/(T - 2)",
        normal=cancelled,
    )
    independent = (
        "u and v across the differences of the others, which span T - 3 dimensions, are multiples "
        "of independent standard Gaussian vectors in R^m"
    )
    cite(GAUSSIAN_PROJECTION, met={FIXED: GAUSSIAN}, of=independent)
    q, m = chances.obtuse(T, D)
    ensure_equal(
        m,
        D - (T - 3),
        "the formula has m = d - (T - 3), which the differences of the others leave of d "
        "dimensions",
    )
    ensure_equal(
        q, 1 / (1 + RHO), "rho chi < chi' says chi/(chi + chi') < 1/(1 + rho) = q", normal=cancelled
    )
    cite(BETA, met={TWO_SQUARES: independent})


def prove_bound() -> str:
    """Prove that an angle is obtuse with probability at most (1 - 1/(T - 1)^2)^(m/2).

    So an input has no obtuse angle with probability at least 1 minus the sum over its angles.

    Raises:
        ProofError: a step fails.
    """
    suppose(SOME, SEVERAL)
    ensure_independent_inputs()
    ensure_angles()
    ensure_two_squares()
    cite(BOOLE)  # for the event that one of the T (T - 1)/2 angles is obtuse
    cite(CHI_SQUARE)
    best = (RHO - 1) / (2 * RHO)
    ensure_positive(cancelled(best), "y = (rho - 1)/(2 rho) is above 0")
    ensure_positive(cancelled(1 - best), "y = (rho - 1)/(2 rho) is below 1")
    ensure_zero(
        chances.base(T) * (1 - best) * (1 + RHO * best) - 1,
        "P(|u|^2 < |v|^2) <= E exp(y (|v|^2 - |u|^2)) = ((1 - y)(1 + rho y))^(-m/2), which is "
        "(1 - 1/(T - 1)^2)^(m/2)",
        normal=cancelled,
    )
    ensure_equal(
        chances.base(sp.Integer(2)), 0, "two tokens are never obtuse: each supports the other"
    )
    return "for any n of orthogonal queries that are not 0, T >= 2 and d >= T - 1"


def ensure_on_a_line() -> None:
    """Prove that for d = 1 three different tokens never support all Local-SVMs."""
    near, further = sp.symbols("near further", positive=True)
    ensure_positive(
        (near + further) / near - 1,
        "under the solution 1/near of a token at an end the other end has a margin above 1",
        normal=cancelled,
    )
    ensure_zero(
        1 - 3 * (2 / sp.pi) * sp.asin(sp.sqrt(sp.Rational(1, 4))),
        "1 - 3 I_{1/4}(1/2, 1/2) is 0, as I_q(1/2, 1/2) is 2/pi times the arcsine of sqrt q",
    )


def prove_triangle() -> str:
    """Prove the probability for three tokens: at most one angle is obtuse, so probabilities add up.

    Raises:
        ProofError: a step fails.
    """
    suppose(TRIANGLE)
    ensure_independent_inputs()
    ensure_angles()  # for d >= 2
    ensure_two_squares()
    o, s, t = vector("o"), vector("s"), vector("t")
    apart = s - t
    ensure_equal(
        (o - s) @ (t - s) + (o - t) @ (s - t),
        apart @ apart,
        "the products of two angles add up to a square: not both are negative",
    )
    ensure_equal(
        list(chances.obtuse(sp.Integer(3), D)),
        [sp.Rational(1, 4), D],
        "for T = 3 the chance of each is I_{1/4}(d/2, d/2)",
    )
    ensure_on_a_line()
    return "for any n of orthogonal queries that are not 0 and any d"


def prove_sphere() -> str:
    """Prove the bound for points of the unit sphere, which are as nearly orthogonal as signs.

    Raises:
        ProofError: a step fails.
    """
    suppose(SEVERAL)  # k >= 1
    large_dimension.ensure_incoherent()
    large_dimension.ensure_likely()
    cite(SPHERICAL_CAP, met={UNIFORM: SPHERICAL})
    return "for any n, T >= 2 and d, whichever tokens are chosen"
