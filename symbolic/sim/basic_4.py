"""The derivative of softmax along logits, and what attains the fourth bound.

The derivative of f along logits s is Df[s] = `covariance`(f, s). It is linear in s, and 0 if all
entries of s are equal. So a convex function of Df[s], over all s with max s - min s = 1, is largest
if s is the indicator of a set S of tokens. Let S have the weight P. Then Df[s] has the entries
f_t (1 - P) in S and -f_t P elsewhere. a and b are the sums of f_t^2 in and outside of S; they are
at most P^2 and (1 - P)^2. The code's covariance is evaluated for n tokens, where n is a symbol.
"""

from collections.abc import Callable
from types import SimpleNamespace

import sympy as sp

from attsvm.risk import covariance
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import cancelled, expanded, simplified
from attsvm.theory.types import Comparison
from properties.sim._support.bounds import softmax_constant
from properties.sim.basic_4 import sharp
from symbolic import softmax
from symbolic.mean_value import SOFTMAX, ensure_no_less
from symbolic.sums import entry, entry_of, total, vector
from symbolic.textbook import CAUCHY_SCHWARZ, OPERATOR_NORM

P, a, b = sp.symbols("P a b", positive=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""Nonnegative numbers by earlier steps."""

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


def ensure_parts() -> None:
    """Prove that the sums of squares a and b are at most P^2 and (1-P)^2."""
    part = sp.Symbol("f_t", nonnegative=True)
    ensure_nonnegative(
        part * (part + MORE) - part**2,
        "f_t^2 <= f_t P for a token of the set, as P is f_t and more: so a <= P^2, and b <= "
        "(1-P)^2",
        normal=expanded,
    )


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
