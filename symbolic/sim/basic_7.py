"""The outer product f f^T of the softmax weights, and its Lipschitz constants.

They are 3^(-3/4) spread(A) in the operator norm and spread(A)/2 in the Frobenius norm. Both bounds
are linked in `symbolic.sim.basic_7_facts`. The derivative of f f^T along logits s is
M = w f^T + f w^T, w = `covariance`(f, s). P, a and b are as in `basic_4`.
"""

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import cancelled, simplified
from attsvm.theory.proof.linked import linked
from properties.sim._support.bounds import f, outer_constant, softmax_constant
from properties.sim.basic_7 import sharp, spectral
from symbolic.inner_products import INNER, Vector, inner, vector
from symbolic.mean_value import SOFTMAX, ensure_no_less
from symbolic.sim import basic_4
from symbolic.sim import basic_7_facts as facts
from symbolic.sim.basic_4 import SQUARE, P, a, b
from symbolic.textbook import (
    EIGENVECTORS,
    SYMMETRIC,
)

ALONG = (1 - P) * a - P * b
"""<w, f> for the indicator of a set; ||w||^2 is `SQUARE`."""

EIGENVALUES = (
    "w f^T + f w^T has the eigenvalues <w, f> +- ||w|| ||f||, with eigenvectors in the span of w "
    "and f, and is 0 beside it: its norm is |<w, f>| + ||w|| ||f||"
)

OWN_TRANSPOSE = "<p, (u v^T + v u^T) q> = <q, (u v^T + v u^T) p>: such matrices are symmetric"


def outer(u: Vector, v: Vector, x: Vector) -> Vector:
    """Return (u v^T + v u^T) x."""
    return u.times(v @ x) + v.times(u @ x)


def coefficients(x: Vector) -> list[sp.Expr]:
    """Return the coefficients of a linear combination of vectors."""
    return [sp.expand(coefficient) for _, coefficient in x.parts]


def eigenvector_residuals(sign: int, factor: int = 1) -> list[sp.Expr]:
    """Return (w f^T + f w^T) x - (<w, f> + sign ||w|| ||f||) x for x = ||f|| w + sign ||w|| f.

    The result lists the coefficients of w and f. A `factor` other than 1 spoils the eigenvalue.
    """
    w, f = vector("w"), vector("f")
    x = INNER.norm(f) * w + sign * INNER.norm(w) * f
    value = inner("w", "f") + sign * factor * INNER.norm(w) * INNER.norm(f)
    return coefficients(outer(w, f, x) - value * x)


def ensure_norms() -> None:
    """Prove the norms of w f^T + f w^T, and the value of the claim, for vectors of any length."""
    p, q, w, f = (vector(name) for name in "pqwf")
    ensure_zero(p @ outer(w, f, q) - q @ outer(w, f, p), OWN_TRANSPOSE)
    cite(EIGENVECTORS, met={SYMMETRIC: OWN_TRANSPOSE})
    ensure_zero([eigenvector_residuals(sign) for sign in (1, -1)], EIGENVALUES)
    x = vector("x")
    change = (p @ x) * p - (q @ x) * q - outer(p - q, p + q, x) / 2
    ensure_zero(coefficients(change), "p p^T - q q^T is (c d^T + d c^T)/2, c = p - q, d = p + q")
    m = SimpleNamespace(abs=sp.Abs, dot=lambda u, v: u @ v, norm=INNER.norm)
    c, d = p - q, p + q
    norm = (sp.Abs(c @ d) + INNER.norm(c) * INNER.norm(d)) / 2
    ensure_equal(
        spectral(m, p, q),
        norm,
        "the claim evaluates (|<c, d>| + ||c|| ||d||)/2, the norm of (c d^T + d c^T)/2",
    )


def value_of(z: sp.Expr) -> sp.Expr:
    """Return <w, f> + ||w|| ||f|| for two tokens of weights (1 +- q)/2, q = (z - 1/z)/2, z > 0."""
    return (6 * z - z**3 - 1 / z) / 16


def operator_supremum() -> sp.Expr:
    """Return the largest square of <w, f> + ||w|| ||f|| for two tokens of weights (1 +- q)/2.

    The sum is (1-q^2)/4 (q + sqrt(1 + q^2)), a rational function of z = q + sqrt(1 + q^2).

    Raises:
        ProofError: one of these identities fails.
    """
    q, z = sp.Symbol("q", real=True), sp.Symbol("z", positive=True)
    values = {P: (1 + q) / 2, a: (1 + q) ** 2 / 4, b: (1 - q) ** 2 / 4}
    along, square, length = (x.subs(values) for x in (ALONG, SQUARE, a + b))
    ensure_equal(along, q * (1 - q**2) / 4, "<w, f> of two tokens is q (1-q^2)/4")
    product = (1 - q**2) ** 2 * (1 + q**2) / 16
    ensure_equal(square * length, product, "||w||^2 ||f||^2 of two tokens is (1-q^2)^2 (1+q^2)/16")
    of_z = (z - 1 / z) / 2
    ensure_equal(
        [1 + of_z**2, value_of(z)],
        [((z + 1 / z) / 2) ** 2, (1 - of_z**2) / 4 * (of_z + (z + 1 / z) / 2)],
        "with q = (z - 1/z)/2 the sum <w, f> + ||w|| ||f|| of two tokens is (6 z - z^3 - 1/z)/16",
    )
    best = sp.Symbol("best", positive=True)
    critical, number = 3 * best**4 - 6 * best**2 - 1, sp.sqrt(1 + 2 / sp.sqrt(3))
    ensure_zero(
        critical.subs(best, number), "z = sqrt(1 + 2/sqrt 3) is a root of 3 z^4 - 6 z^2 - 1"
    )
    rest = (z - best) ** 2 * (z**2 + 2 * best * z + 1 / best**2)
    gap = sp.numer(sp.together(16 * z * (value_of(best) - value_of(z)) - rest))
    ensure_zero(
        sp.rem(gap, critical, best),
        "at that root, best, the sum exceeds what it is at z by (z - best)^2 (z^2 + 2 best z "
        "+ 1/best^2)/(16 z)",
    )
    ensure_nonnegative(
        rest,
        "(z - best)^2 (z^2 + 2 best z + 1/best^2) is not negative, so that the sum is "
        "largest at best",
    )
    return simplified(value_of(number) ** 2)


def reached() -> sp.Expr:
    """Return det(S - 2 value_of(z) I), where S is the derivative of f f^T in x.

    A = (1, -1)^T, and at x the weights are (1 +- q)/2 with q = (z - 1/z)/2, |q| < 1. If the
    determinant is 0, 2 value_of(z) is an eigenvalue of S.
    """
    x = sp.Symbol("x", real=True)
    s, z = sp.symbols("s z", positive=True)
    v = basic_4.opposite(x)
    weights = f(SYMBOLS, v.A, v.x)
    slope = sp.Matrix(2, 2, lambda i, j: sp.diff(weights[i] * weights[j], x))
    q = (z - 1 / z) / 2
    slope = slope.subs(x, sp.log(s)).applyfunc(cancelled)
    slope = slope.subs(s, sp.sqrt((1 + q) / (1 - q))).applyfunc(cancelled)
    return cancelled((slope - 2 * value_of(z) * sp.eye(2)).det())


@linked
def prove() -> str:
    """Prove the bound in the operator norm by linked facts, and that two tokens attain it."""
    ensure_norms()
    best = operator_supremum()
    ensure_zero(reached(), "2 (6 z - z^3 - 1/z)/16 is an eigenvalue of the slope of f f^T")
    cite(EIGENVECTORS, met={SYMMETRIC: OWN_TRANSPOSE})
    tokens = basic_4.opposite(sp.Integer(1)).A
    reaches = "at that root 2 (6 z - z^3 - 1/z)/16 is the constant of sharp-1 for A = (1, -1)^T"
    constant = outer_constant(SYMBOLS) * SYMBOLS.spread(tokens)
    ensure_equal(4 * best, constant**2, reaches, normal=simplified)
    ensure_no_less(reaches, [f * g for f in SOFTMAX for g in SOFTMAX])
    facts.operator()
    return "f f^T is 3^(-3/4) spread(A)-Lipschitz for every n"


@linked
def prove_frobenius() -> str:
    """Prove the bound in the Frobenius norm by linked facts, and that two tokens attain it."""
    reaches = "the difference quotients of two tokens tend to the constant of sharp-2"
    ensure_equal(basic_4.limit_ratio(sharp, "frobenius", softmax_constant), 1, reaches)
    ensure_no_less(reaches, [f * g for f in SOFTMAX for g in SOFTMAX])
    facts.frobenius()
    return "f f^T is spread(A)/2-Lipschitz in the Frobenius norm, for every n"
