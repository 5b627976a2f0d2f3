"""The closed-form gradient, exactly: for n up to 5 expanded, for every n by structure.

Along x_i the logits move with slopes a_t = A_ti, so u_t = exp(logit_t) obeys u_t' = a_t u_t.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from attsvm.risk import covariance

__all__ = ["expanded_residual", "prove", "structural_residual"]


def expanded_residual(n: int, *, b_inside: bool = True) -> Any:
    """Derivative of g(b <f, h>) along x_i minus the closed form, as a rational function.

    The derivative is taken on the polynomial ring through u_t' = a_t u_t; the closed form runs
    the code's own `covariance` on symbols. g' enters as the value of a symbol at b <f, h>, or,
    with b_inside false, at <f, h> as printed.
    """
    u = sp.symbols(f"u1:{n + 1}", positive=True)
    a = sp.symbols(f"a1:{n + 1}", real=True)
    h = sp.symbols(f"h1:{n + 1}", real=True)
    b = sp.Symbol("b", real=True)
    slope = sp.Function("slope")
    total = sum(u)
    mean = sum(x * y for x, y in zip(u, h, strict=True)) / total
    moved = sum(
        sp.diff(mean, x) * y * x for x, y in zip(u, a, strict=True)
    )  # d<f, h>/dx_i by the chain rule
    f = np.array([x / total for x in u], dtype=object)
    pull = covariance(f, np.array(h, dtype=object))
    closed = sum(y * c for y, c in zip(a, pull, strict=True))
    if b_inside:
        return sp.cancel(sp.together(b * (moved - closed)))
    point = sp.Symbol("d", real=True)
    return sp.cancel(sp.together(b * moved)) * slope(b * point) - sp.cancel(
        sp.together(b * closed)
    ) * slope(point)


def structural_residual() -> Any:
    """The same for a symbolic number of tokens: sums are differentiated term by term."""
    n = sp.Symbol("n", integer=True, positive=True)
    t = sp.Symbol("t", integer=True)
    x = sp.Symbol("x", real=True)
    s, a, h = (sp.IndexedBase(name, real=True) for name in ("s", "a", "h"))
    power = sp.exp(s[t] + a[t] * x)

    def total(term: Any) -> Any:
        return sp.Sum(sp.expand(term * power), (t, 1, n))

    derivative = sp.diff(total(h[t]) / total(sp.Integer(1)), x)
    closed = total(a[t] * h[t]) / total(sp.Integer(1)) - (
        total(h[t]) * total(a[t]) / total(sp.Integer(1)) ** 2
    )
    return sp.simplify(sp.expand(derivative - closed))


def prove() -> str:
    """Prove the closed form with b inside g, and that the printed one is another function.

    Raises:
        AssertionError: an identity fails, or the printed formula turns out to be one.
    """
    for n in range(1, 6):
        assert expanded_residual(n) == 0
    assert structural_residual() == 0
    assert expanded_residual(2, b_inside=False) != 0
    return "dL/dx_i = g'(b d) b sum_t a_t f_t (h_t - d) for every n; expanded for n <= 5"
