"""Softmax f(s) is 1/2-Lipschitz; also beta^2 ||f - g|| <= n exp(2 R) ||s - t|| for logits s and t.

The derivative of f along logits s is Df[s] = `covariance`(f, s). It is linear in s, and 0 if all
entries of s are equal. So a convex function of Df[s], over all s with max s - min s = 1, is largest
if s is the indicator of a set S of tokens. Let S have the weight P. Then Df[s] has the entries
f_t (1 - P) in S and -f_t P elsewhere. a and b are the sums of f_t^2 in and outside of S; they are
at most P^2 and (1 - P)^2. The code's covariance is evaluated for n tokens, where n is a symbol.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import sympy as sp

from attsvm.risk import covariance
from attsvm.theory import (
    Statement,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_nonzero,
    ensure_positive,
    ensure_zero,
)
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified, suppose
from attsvm.theory.types import Comparison
from properties.sim._support.attention import LOGITS, MATRIX
from properties.sim._support.bounds import BETA, published, softmax_constant
from properties.sim.basic_4 import BOUND, sharp
from symbolic import softmax
from symbolic.curvature import CUBE, ensure_cube, unit
from symbolic.least_points import CONVEX_NORM, ensure_norm_convex
from symbolic.mean_value import SOFTMAX, ensure_lipschitz, ensure_no_less, said_by
from symbolic.sim import basic_1, basic_3
from symbolic.sums import entry, entry_of, n, r, reduced, swapped, t, total, vector
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    CONVEX_FUNCTION,
    CONVEX_MAXIMUM,
    COORDINATES,
    EXPONENTIAL,
    FORM,
    HULL,
    OPERATOR_NORM,
    RAYLEIGH,
    SYMMETRIC,
)

P, a, b = sp.symbols("P a b", positive=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""Nonnegative numbers by earlier steps."""

RADIUS = sp.Symbol("R", nonnegative=True)

SQUARE = (1 - P) ** 2 * a + P**2 * b
"""||Df[s]||^2 for the indicator s of a set."""

LINEAR = (
    "Df[s], the derivative of the softmax weights f along logits s, is the code's "
    "covariance, linear in s, and 0 where all s are equal"
)


def along(s: sp.Expr) -> sp.Expr:
    """Return the t-th entry of Df[s], by the code's covariance, for weights f of sum 1."""
    value = entry_of(covariance(vector(entry("f")), vector(s)))
    return sp.expand(value.subs(total(entry("f")), 1))


def moved() -> sp.Expr:
    """Return the t-th entry of Df[s] for the indicator s of a set of weight P."""
    return along(entry("s")).subs(total(entry("f") * entry("s")), P)


def linear_residuals() -> list[sp.Expr]:
    """Return Df[p s + q u] - p Df[s] - q Df[u], Df[1], and Df[s] less the Jacobian times s."""
    p, q = sp.symbols("p q", real=True)
    f, s, u = (entry(name) for name in "fsu")
    mixed = along(p * s + q * u) - p * along(s) - q * along(u)
    return [sp.expand(mixed), along(sp.Integer(1)), sp.expand(along(s) - f * (s - total(f * s)))]


def ensure_linear() -> None:
    """Prove that Df[s] is the code's covariance of f and s, is linear in s, and that Df[1] = 0."""
    ensure_zero(softmax.jacobian_residual(), "the Jacobian of softmax is diag(f) - f f^T, any n")
    ensure_zero(linear_residuals(), LINEAR)


def ensure_span() -> None:
    """Prove that the entries of A z differ by at most sqrt 2 spread(A) for a unit vector z.

    Also spread(A) <= ||A||.
    """
    cite(CAUCHY_SCHWARZ)
    ensure_equal(
        sp.sqrt(2) * SPREAD,
        SYMBOLS.norm(TOKENS[0] - TOKENS[1]),
        "max A z - min A z <= max ||A_i - A_j|| = sqrt 2 spread(A) for a unit z",
    )
    cite(OPERATOR_NORM)
    ensure_equal(
        SYMBOLS.norm(entries([sp.Integer(1), sp.Integer(-1)])),
        sp.sqrt(2),
        "||A_i - A_j|| = ||A^T (e_i - e_j)|| <= sqrt 2 ||A||, so that spread(A) <= ||A||",
    )


def forms() -> dict[sp.Expr, sp.Expr]:
    """Return sums over the tokens of the indicator s: its weight P, and sums a, b of f_t^2."""
    inside = total(entry("f") ** 2 * entry("s"))
    return {P: total(entry("f") * entry("s")), a: inside, b: total(entry("f") ** 2) - inside}


def entry_residuals() -> list[sp.Expr]:
    """Return entries of Df[s] minus f_t (1 - P) for s_t = 1, and minus -f_t P for s_t = 0."""
    f, s = entry("f"), entry("s")
    return [sp.expand(moved().subs(s, 1) - f * (1 - P)), sp.expand(moved().subs(s, 0) + f * P)]


def square_residual(square: sp.Expr = SQUARE) -> sp.Expr:
    """Return ||Df[s]||^2 minus `square`, a form in P, a and b, for every n."""
    squares = total(reduced(moved() ** 2, "s"))
    return sp.expand(squares - square.subs({a: forms()[a], b: forms()[b]}))


def ensure_parts() -> None:
    """Prove that the sums of squares a and b are at most P^2 and (1-P)^2."""
    part = sp.Symbol("f_t", nonnegative=True)
    ensure_nonnegative(
        part * (part + MORE) - part**2,
        "f_t^2 <= f_t P for a token of the set, as P is f_t and more: so a <= P^2, and b <= "
        "(1-P)^2",
        normal=expanded,
    )


def of_shares(value: sp.Expr, q: sp.Expr) -> sp.Expr:
    """Return the value at q = 2 P - 1 for any P in (0, 1], factored."""
    return factored(value.subs(q, 2 * unit("p") - 1))


def largest() -> sp.Expr:
    """Return the largest ||Df[s]||^2 over max s - min s = 1 that the claim's constant allows.

    max A v - min A v is at most sqrt 2 spread(A) ||v||.
    """
    return (softmax_constant(SYMBOLS) / sp.sqrt(2)) ** 2


def opposite(x: sp.Expr, **more: object) -> SimpleNamespace:
    """Return A = (1, -1) and the points x and -x; `more` are values of further variables."""
    one = sp.Integer(1)
    return SimpleNamespace(A=entries([[one], [-one]]), x=entries([x]), y=entries([-x]), **more)


def limit_ratio(formula: Callable[..., Comparison], *constants: object, **more: object) -> sp.Expr:
    """Return the limit of (left/right)^2 of a claim, for A = (1, -1) and x = -y -> 0."""
    x = sp.Symbol("x", positive=True)
    sides = formula(SYMBOLS, opposite(x, **more), *constants)
    return sp.limit(simplified(sides.left**2) / sides.right**2, x, 0)


TOKENS = symbols_of("A", 2, 2)
SPREAD = SYMBOLS.spread(TOKENS)
"""Two tokens in R^2, and their spread as a claim evaluates it."""


def constant_of(formula: Callable[..., Comparison], *constants: object, **more: object) -> sp.Expr:
    """Return the factor of ||x - y|| on the right side of a claim, for `TOKENS`.

    `more` are values of other variables.
    """
    x, y = symbols_of("x", 2), symbols_of("y", 2)
    comparison = formula(SYMBOLS, SimpleNamespace(A=TOKENS, x=x, y=y, **more), *constants)
    return cancelled(comparison.right / SYMBOLS.norm(x - y))


def ensure_attained() -> None:
    """Prove that two tokens reach the constant, alone and beside any number of others."""
    quotients = "the difference quotients of two tokens tend to the constant"
    ensure_equal(limit_ratio(sharp), 1, quotients)
    ensure_no_less(quotients, SOFTMAX)
    # rows (1, 0), (-1, 0) and k times (0, -1) at (x, M) and (-x, M), weights exp(-M) sent to 0
    x, k, power = sp.symbols("x k exp(-M)", positive=True)
    f = sp.exp(x) / (sp.exp(x) + sp.exp(-x) + k * power)  # and the other one moves oppositely
    length = sp.sqrt(2) * sp.diff(f, x).subs(x, 0)
    reached = sp.limit(length / (softmax_constant(SYMBOLS) * sp.sqrt(2)), power, 0)
    slopes = (
        "the slopes of two tokens beside any number of others, whose weights tend to 0, tend "
        "to the constant"
    )
    ensure_equal(reached, 1, slopes)
    ensure_no_less(slopes, f)


def prove() -> str:
    """Prove the largest norm of the derivative, and that two tokens reach it."""
    q = sp.Symbol("q", real=True)
    ensure_linear()
    ensure_norm_convex()
    ensure_cube()
    cite(CONVEX_MAXIMUM, met={CONVEX_FUNCTION: CONVEX_NORM, HULL: CUBE})
    ensure_zero(
        square_residual(),
        "||Df[s]||^2 is (1-P)^2 a + P^2 b for the indicator s of a set of weight P, a and b "
        "being the sums of f_t^2 in and outside it",
    )
    exchanged = square_residual(P**2 * a + (1 - P) ** 2 * b)
    ensure_nonzero(exchanged, "||Df[s]||^2 is not P^2 a + (1-P)^2 b")
    ensure_parts()
    top = (1 - P) ** 2 * P**2 + P**2 * (1 - P) ** 2
    ensure_nonnegative(
        top - SQUARE.subs({a: P**2 - MORE, b: (1 - P) ** 2 - LESS}),
        "(1-P)^2 a + P^2 b is at most 2 P^2 (1-P)^2",
        normal=lambda gap: sp.collect(sp.expand(gap), [MORE, LESS], sp.factor),
    )
    spare = q**2 * (2 - q**2) / 8
    ensure_equal(
        largest() - top.subs(P, (1 + q) / 2),
        spare,
        "2 P^2 (1-P)^2 is 1/8 less q^2 (2 - q^2)/8, q = 2 P - 1",
    )
    ensure_nonnegative(
        of_shares(spare, q),
        "q^2 (2 - q^2)/8 is not negative, as q is in [-1, 1]: ||Df[s]|| <= (max s - min s)/sqrt 8",
    )
    ensure_span()
    slope = "so ||Df[A z]|| is at most the constant of sharp, for a unit z"
    ensure_equal(constant_of(sharp), sp.sqrt(2) * SPREAD / sp.sqrt(8), slope)
    ensure_lipschitz(slope, SOFTMAX)
    ensure_attained()
    return "||Df[s]|| <= (max s - min s) sqrt(2)/4 for every n, so f is spread(A)/2-Lipschitz"


def laplacian_residual(sign: int = -1) -> sp.Expr:
    """Return the t-th entry of alpha beta (f - g) minus the sum over r of v_r u_t - u_r v_t."""
    u, v = entry("u"), entry("v")
    alpha, beta = total(u), total(v)
    across = total(entry("v", r) * u + sign * entry("u", r) * v, r)
    return sp.expand(alpha * beta * (u / alpha - v / beta) - across)


def quadratic_residual(share: int = 1) -> sp.Expr:
    """Return m^T L m minus share times half the double sum of c (m_t - m_r)^2, c = c_tr = c_rt.

    L is the Laplacian of the weights c. Terms of the double sum are averaged with those whose
    indices are exchanged.
    """
    c = sp.Symbol("c", positive=True)
    apart = entry("m", t) - entry("m", r)
    term = entry("m", t) * c * apart - share * c * apart**2 / 2
    return sp.expand((term + swapped(term)) / 2)


def log_published(power: int) -> sp.Expr:
    """Return the logarithm of the published constant but for its powers of n and beta."""
    n, R, beta = sp.symbols("n R beta", positive=True)
    constant = published(SYMBOLS, SimpleNamespace(n=n, R=R, beta=beta), power)
    rest = {2: n, 3: 2 * n**2}[power] / beta**power
    return sp.expand_log(sp.log(simplified(constant / rest)))


WEIGHTS = sp.Matrix([3, 1]) / 4, sp.Matrix([27, 1]) / 28
"""softmax of (log 3, 0), and of three times as much."""


def ensure_printed(statement: Statement, reading: str, left: sp.Expr, factor: sp.Expr = 1) -> None:
    """Prove that the formula of a reading has both sides as printed, by evaluating it on symbols.

    A = (log 3, 0), x = 1 and y = 3, so that the weights are `WEIGHTS` and ||x - y|| = 2; n, R and
    beta are symbols. The values of the tokens are 5 and 1.

    Args:
        statement: one of the bounds four to seven.
        reading: one of its readings with a printed constant.
        left: the printed left side at these points.
        factor: the printed right side over n exp(3 R^2) / beta^2 ||x - y||.

    Raises:
        ProofError: a side is not the printed one.
    """
    R, beta = sp.symbols("R beta", positive=True)
    count = sp.Symbol("n", positive=True)
    one = sp.Integer(1)
    v = SimpleNamespace(
        A=entries([[sp.log(3)], [0 * one]]),
        x=entries([one]),
        y=entries([3 * one]),
        h=entries([5 * one, one]),
        z=entries(list(sp.symbols("z0 z1", real=True))),
        b=sp.Symbol("b", real=True),
        n=count,
        R=R,
        beta=beta,
    )
    name = f"{statement.id}:{reading}"
    comparison = said_by(statement, reading, v)
    ensure_equal(comparison.left, left, f"the left side of {name} is as printed", normal=simplified)
    right = 2 * factor * count * sp.exp(3 * R**2) / beta**2
    ensure_equal(
        comparison.right, right, f"the right side of {name} is as printed", normal=simplified
    )


SWAP = "with t and r exchanged the two exponents are exchanged, so that c_tr = c_rt"
LEVEL = (
    "n C ||m||^2 - m^T L m is C (sum m)^2 plus half the sum over t and r of (C - c_tr) "
    "(m_t - m_r)^2"
)
WITHIN = "so 0 <= m^T L m <= n C ||m||^2 for C = e^(2R)"


def level_residual(share: int = 1) -> sp.Expr:
    """Return the left side of the identity `LEVEL` minus the right one, for a symbol n.

    Both sides are linear in each c_tr, which is C - more.
    """
    c, apart = sp.Symbol("c", positive=True), entry("m", t) - entry("m", r)
    level = c + MORE
    left = n * level * total(entry("m") ** 2) - total(c * apart**2 / 2, t, r)
    right = level * total(entry("m")) ** 2 + share * total(MORE * apart**2 / 2, t, r)
    return sp.expand(left - right)


def ensure_laplacian() -> None:
    """Prove that beta^2 ||f - g|| <= n e^(2R) ||s - t|| for logits s and t.

    L is the Laplacian of the weights c_tr, slopes of secants of exp, which lie in [0, e^(2R)].
    """
    ensure_zero(laplacian_residual(), "alpha beta (f - g)_t = sum over r of v_r u_t - u_r v_t")
    ensure_nonzero(
        laplacian_residual(sign=1),
        "alpha beta (f - g)_t is not the sum over r of v_r u_t + u_r v_t",
    )
    s_r, s_t, t_r, t_t = sp.symbols("s_r s_t t_r t_t", real=True)
    first, second = t_r + s_t, s_r + t_t
    ensure_equal(
        first - second,
        (s_t - t_t) - (s_r - t_r),
        "exponents differ by the moves: the r-th part is c_tr (m_t - m_r) for m = s - t, c_tr the "
        "slope of a secant of exp",
    )
    swap = {s_r: s_t, s_t: s_r, t_r: t_t, t_t: t_r}
    ensure_equal(first.subs(swap, simultaneous=True), second, SWAP)
    basic_1.ensure_secant()
    suppose(LOGITS)
    cite(COORDINATES)
    R, c = sp.symbols("R c", nonnegative=True)
    ensure_nonnegative(
        2 * R - (R - MORE) - (R - LESS),
        "no exponent exceeds 2 R, so that c_tr, between the slopes of exp at its ends, is in "
        "[0, e^(2R)]",
    )
    ensure_zero(quadratic_residual(), "m^T L m is half the sum over t and r of c (m_t - m_r)^2")
    ensure_nonzero(
        quadratic_residual(share=2), "m^T L m is not the sum over t and r of c (m_t - m_r)^2"
    )
    ensure_zero(level_residual(), LEVEL)
    apart, mean = entry("m", t) - entry("m", r), sp.Symbol("sum m", real=True)
    ensure_nonnegative([c * apart**2, (c + MORE) * mean**2 + MORE * apart**2 / 2], WITHIN)
    cite(RAYLEIGH, met={SYMMETRIC: SWAP, FORM: WITHIN})
    suppose(BETA)
    basic_3.ensure_product()


def ensure_exceeds(power: int, rate: int) -> None:
    """Prove that R exp(rate R) is below exp(E) for every R >= 0.

    E is the exponent of the printed constant, which is exp(E) times powers of n and beta.
    """
    cite(EXPONENTIAL)
    exponent = log_published(power).subs(sp.Symbol("R", positive=True), RADIUS)
    ensure_positive(
        exponent - rate * RADIUS - (RADIUS - 1),
        f"the printed exponent exceeds {rate} R + R - 1, and R e^({rate} R) <= e^({rate} R + R - "
        "1), as R <= e^(R - 1): for every R >= 0",
        normal=_completed,
    )


def _completed(square: sp.Expr) -> sp.Expr:
    """Complete the square: return a polynomial of degree 2 in R as a square and a constant."""
    lead, middle, last = sp.Poly(square, RADIUS).all_coeffs()
    return lead * (RADIUS + middle / (2 * lead)) ** 2 + last - middle**2 / (4 * lead)


def prove_published() -> str:
    """Prove that beta^2 ||f - g|| <= n exp(3 R^2) ||x - y||, for every n and every R >= 0."""
    R = sp.Symbol("R", positive=True)
    ensure_laplacian()
    suppose(MATRIX)
    cite(OPERATOR_NORM)  # ||s - t|| <= ||A|| ||x - y||
    ensure_nonnegative(
        R * LESS - R / (1 + MORE) * LESS,
        "||A|| times a length is at most R times it, so that ||s - t|| <= R ||x - y||",
        normal=factored,
    )
    ensure_equal(log_published(2), 3 * R**2, "the printed constant is n exp(3 R^2) / beta^2")
    ensure_printed(BOUND, "literal", (WEIGHTS[0] - WEIGHTS[1]).norm())
    ensure_exceeds(2, 2)
    return "beta^2 ||f - g|| <= n R exp(2 R) ||x - y|| <= n exp(3 R^2) ||x - y||, any n and R"
