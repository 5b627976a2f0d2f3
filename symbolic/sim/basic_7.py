"""The outer product of the weights: 3^(-3/4) as an operator, 1/2 in the Frobenius norm.

Along s it moves by M = w f^T + f w^T, w = `covariance`(f, s). P, a and b are as in `basic_4`.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonzero, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from properties.sim._support.bounds import outer_constant, softmax_constant
from properties.sim.basic_7 import BOUND, sharp
from symbolic.sim import basic_4
from symbolic.sim.sums import entry, r, reduced, t, total

P, a, b = basic_4.P, basic_4.a, basic_4.b
ALONG = (1 - P) * a - P * b
SQUARE = (1 - P) ** 2 * a + P**2 * b
"""<w, f> and ||w||^2 for the indicator of a set."""


def norms_residuals(along: Any = ALONG) -> list[Any]:
    """<w, f> and ||M||_F^2 by the code's covariance, n a symbol, minus the forms in P, a, b."""
    w, values = basic_4.moved(), basic_4.forms()
    other = w.subs(t, r)
    values = {a: values[a], b: values[b]}
    entries = (w * entry("f", r) + entry("f", t) * other) ** 2
    found = [
        total(reduced(w * entry("f"), "s")) - along.subs(values),
        total(reduced(entries, "s"), t, r) - frobenius().subs(values),
    ]
    return [sp.expand(x) for x in found]


def frobenius() -> Any:
    """||M||_F^2 = 2 ||w||^2 ||f||^2 + 2 <w, f>^2."""
    return 2 * SQUARE * (a + b) + 2 * ALONG**2


def operator_supremum() -> Any:
    """Largest square of |<w, f>| + ||w|| ||f|| over two tokens of weights (1 +- q)/2.

    It is (1-q^2)/4 (q + sqrt(1 + q^2)), q >= 0, whose logarithm is stationary where
    2 q sqrt(1+q^2) = 1 - q^2; then its square is (1-q^2)^2 (2 + q^2) / 16.

    Raises:
        ProofError: one of these identities fails.
    """
    q = sp.Symbol("q", nonnegative=True)
    values = {P: (1 + q) / 2, a: (1 + q) ** 2 / 4, b: (1 - q) ** 2 / 4}
    along, square, length = (x.subs(values) for x in (ALONG, SQUARE, a + b))
    ensure_equal(along, q * (1 - q**2) / 4, "<w, f> of two tokens is q (1-q^2)/4")
    product = (1 - q**2) ** 2 * (1 + q**2) / 16
    ensure_equal(square * length, product, "||w||^2 ||f||^2 of two tokens is (1-q^2)^2 (1+q^2)/16")
    height = sp.log(1 - q**2) + sp.log(q + sp.sqrt(1 + q**2))
    slope = 1 / sp.sqrt(1 + q**2) - 2 * q / (1 - q**2)  # falls in q from 1: one zero
    rise = sp.diff(height, q)
    ensure_equal(rise, slope, "the slope of the logarithm of the norm", normal=sp.simplify)
    falling = -q / (1 + q**2) ** sp.Rational(3, 2) - 2 * (1 + q**2) / (1 - q**2) ** 2
    ensure_equal(sp.diff(slope, q), falling, "that slope falls with q", normal=sp.simplify)
    best = sp.sqrt(2 / sp.sqrt(3) - 1)
    ensure_zero(slope.subs(q, best), "the slope is 0 at the best q", normal=sp.simplify)
    return sp.simplify(((1 - q**2) ** 2 * (2 + q**2) / 16).subs(q, best))


def prove() -> str:
    """Prove both constants."""
    q = sp.Symbol("q", real=True)
    ensure_zero(norms_residuals(), "<w, f> and ||M||_F^2 by P, a and b")
    ensure_nonzero(norms_residuals(along=-ALONG)[0], "<w, f> has not the other sign")
    square = 4 * (1 - P) ** 2 * a**2 + 4 * P**2 * b**2 + 2 * (1 - 2 * P) ** 2 * a * b
    ensure_equal(frobenius(), square, "||M||_F^2 grows with a and b")
    root = sp.sqrt(SQUARE) * sp.sqrt(a + b)  # ||w|| ||f||
    growth = (sp.sqrt(SQUARE) - P * sp.sqrt(a + b)) ** 2 + 2 * P * root
    ensure_equal(sp.diff(SQUARE * (a + b), b), growth, "(||w|| ||f||)^2 grows with b")
    constant = outer_constant(SYMBOLS) ** 2
    ensure_equal(2 * operator_supremum(), constant, "the largest operator norm", normal=sp.simplify)
    ensure_equal(
        basic_4.limit_ratio(sharp, "frobenius", softmax_constant),
        1,
        "two tokens reach the Frobenius constant",
    )
    two = frobenius().subs({a: P**2, b: (1 - P) ** 2}).subs(P, (1 + q) / 2)
    # q^2 <= 1
    spare = q**4 * (3 - 2 * q**2) / 8
    ensure_equal(basic_4.largest() - two, spare, "||M||_F^2 of two tokens is at most 1/8")
    return "f f^T is 3^(-3/4) spread(A)-Lipschitz for every n, spread(A)/2 in the Frobenius norm"


def prove_published() -> str:
    """Prove the fourth bound and what is left: R exp(3 R) < exp(5 R^2), from log R <= R - 1."""
    R = sp.Symbol("R", positive=True)
    basic_4.prove_published()
    n, beta = sp.symbols("n beta", positive=True)
    f, g = basic_4.WEIGHTS
    change = f * f.T - g * g.T
    factor = 2 * n * sp.exp(2 * R**2) / beta  # beside n exp(3 R^2) / beta^2
    basic_4.ensure_printed(BOUND, "literal-1", max(map(abs, change.eigenvals())), factor)
    basic_4.ensure_printed(BOUND, "literal-2", change.norm(), factor)
    ensure_equal(
        basic_4.log_published(3), 5 * R**2, "the printed constant is n^2 exp(5 R^2) / beta^3"
    )
    ensure_positive(
        -sp.discriminant(5 * R**2 - 3 * R - (R - 1), R), "5 R^2 - 3 R exceeds R - 1 for every R"
    )
    return "beta^3 ||f f^T - g g^T|| <= 2 n^(3/2) R exp(3 R) ||x - y|| < 2 n^2 exp(5 R^2) ||x - y||"
