"""The best Lipschitz constant of the gradient in the logits, for any number of tokens.

Let f = softmax(s), m = <f, h>, phi twice differentiable, and H the Hessian of phi(m) in s. For a
direction u write E, Var for moments under f, v = u - E u, osc(u) = max u - min u. With osc(h) = 1,
p = |phi'(m)|, q = |phi''(m)|:

    |u^T H u| <= osc(u)^2/2 max_{0 <= a <= 1} (1-a^2)/2 (p a + q (1-a^2)/4).                   (*)

1. u^T H u = phi' E[h (v^2 - E v^2)] + phi'' (E[h v])^2 (`second_derivative_residual`). The first
   bracket changes sign with h -> 1 - h, the second keeps its own: so it suffices to bound
   F(h) = p E[h (v^2 - E v^2)] + q (E[h v])^2 from above, h in [0, 1]^n (adding a number to h
   changes nothing but m). Keep p and q fixed from here on.
2. F is linear plus a square in h, so convex, so largest at a vertex of [0, 1]^n: h is 1 on a set S
   and 0 outside. Let S have probability t, a = 1 - 2 t, P = t (1 - t) = (1-a^2)/4; let u have
   mean m1 and variance V1 in S, m0 and V0 outside, and d = m1 - m0. Then (`indicator_residual`)
   F = P (p (V1 - V0 + a d^2) + q P d^2) <= P (p V1 + B d^2),  B = p a + q P.
   Where S is empty or all, F = 0. Let osc(u) = 1, and u in [0, 1]^n.
3. If B < 0 then F <= P p V1 <= P p/4 <= p/16, as no variance exceeds a quarter of the squared
   range: less than half of p/(3 sqrt 3), which (1-a^2)/2 (p a + ...) is at least at a = 1/sqrt 3.
4. If B >= 0: for given values of u in S and given m1, V1 = E_S[u^2] - m1^2 is largest if only the
   least and the greatest value have weight, since u^2 lies below its chord between them. So F is at
   most P times (p w(1-w) (u_1 - u_2)^2 + B (w u_1 + (1-w) u_2 - m0)^2), a convex function of
   (u_1, u_2, m0), largest at a vertex of [0, 1]^3. There it is 0, or B, where u_1 = u_2, or else
   p w(1-w) + B w^2, w the weight of the one of u_1, u_2 that is not m0.
   Of these P B is half of (1-a^2)/2 (p a + q (1-a^2)/4), for a < 0 less than at -a. And with
   k = t w <= t, P (p w(1-w) + B w^2) = k (1-t) (p (1-2k) + q k (1-t)) (`nested_residual`); where
   the bracket is positive, 1-t <= 1-k makes that at most k (1-k) (p (1-2k) + q k (1-k)), which is
   P B for k in place of t.

(*) is attained: two tokens of probabilities (1-a)/2 and (1+a)/2 with h = (1, 0), any u
(`two_tokens_residual`), if phi', phi'' have the signs of step 1; else with the tokens exchanged.

What the code maximises, `attsvm.lipschitz.softmax_height` with `best_level`, runs on symbols here.
For g(b <f, h>), D = |b| osc(h) and c = |1 - 2 g| give p = D (1-c^2)/4, q = D^2 c (1-c^2)/4
(`logistic_residuals`), and (*) becomes K(D) osc(u)^2/2; adding a number to h moves c to anything in
[0, 1), with either sign of g'', whatever a is.

In x, with s = A x, a unit step moves the logits by u = A e, osc(u)^2 <= max |A_j - A_k|^2 <=
2 ||A||^2. By the mean value theorem the gradient is K(D) max |A_j - A_k|^2/2-Lipschitz, and so
K(D) ||A||^2-Lipschitz. For two tokens its quotients between points near the maximiser, along
A_1 - A_2, come as near to the first as one likes; for A = (1, -1)^T both are the same.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.lipschitz import best_level, softmax_height
from attsvm.losses import curvature_kernel, slope_kernel
from attsvm.theory import ensure_equal, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from properties.sim import lemma_3_13
from properties.sim import lemma_3_13_hessian as hessian
from symbolic.mean_value import said_by

a, c = sp.symbols("a c", real=True)
p, q = sp.symbols("p q", nonnegative=True)
P = (1 - a**2) / 4
"""Variance of an indicator of probability (1-a)/2."""


def bound(slope: Any = p, curvature: Any = q) -> Any:
    """The right side of (*) at a, without the maximum, for osc(u)^2 = 2."""
    return (1 - a**2) / 2 * (slope * a + curvature * (1 - a**2) / 4)


def _moment(i: int, j: int) -> Any:
    """E[h^i u^j]."""
    return sp.Symbol(f"E{i}{j}", real=True) if i or j else sp.Integer(1)


def _along(value: Any, order: int = 4) -> Any:
    """Derivative of a polynomial in moments along u: (E y)' = E[y u] - E[y] E[u].

    That rule is the derivative of softmax, `symbolic.softmax.structural_residual`.
    """
    return sum(
        sp.diff(value, _moment(i, j)) * (_moment(i, j + 1) - _moment(i, j) * _moment(0, 1))
        for i in (0, 1)
        for j in range(order)
        if i or j
    )


def second_derivative_residual() -> Any:
    """Step 1: (phi(E h))'' along u minus phi' E[h (v^2 - E v^2)] + phi'' (E[h v])^2."""
    first, second = sp.symbols("phi1 phi2", real=True)
    rise = _along(_moment(1, 0))
    truth = first * _along(rise) + second * rise**2
    mean = _moment(0, 1)
    square = _moment(1, 2) - 2 * mean * _moment(1, 1) + mean**2 * _moment(1, 0)  # E[h v^2]
    variance = _moment(0, 2) - mean**2
    pull = _moment(1, 1) - _moment(1, 0) * mean  # E[h v]
    return sp.expand(truth - first * (square - _moment(1, 0) * variance) - second * pull**2)


def indicator_residual() -> Any:
    """Step 2: F of an indicator minus P (p (V1 - V0 + a d^2) + q P d^2)."""
    m1, m0, V1, V0 = sp.symbols("m1 m0 V1 V0", real=True)
    t = (1 - a) / 2
    mean = t * m1 + (1 - t) * m0
    inside, outside = (V + (m - mean) ** 2 for V, m in ((V1, m1), (V0, m0)))  # means of v^2
    variance = t * inside + (1 - t) * outside
    value = p * t * (inside - variance) + q * (t * (m1 - mean)) ** 2
    d = m1 - m0
    return sp.expand(value - P * (p * (V1 - V0 + a * d**2) + q * P * d**2))


def nested_residual() -> Any:
    """Step 4: P (p w(1-w) + B w^2) minus its form in k = t w."""
    w, t = sp.symbols("w t", real=True)
    B = p * (1 - 2 * t) + q * t * (1 - t)
    k = t * w
    closed = k * (1 - t) * (p * (1 - 2 * k) + q * k * (1 - t))
    return sp.expand(t * (1 - t) * (p * w * (1 - w) + B * w**2) - closed)


def two_tokens_residual() -> Any:
    """F of two tokens with h = (1, 0) and u = (y, z), minus the bound (*) at a."""
    t = (1 - a) / 2
    u = sp.symbols("y z", real=True)
    mean = t * u[0] + (1 - t) * u[1]
    v = [value - mean for value in u]
    variance = t * v[0] ** 2 + (1 - t) * v[1] ** 2
    value = p * t * (v[0] ** 2 - variance) + q * (t * v[0]) ** 2
    return sp.expand(value - (u[0] - u[1]) ** 2 / 2 * bound())


def logistic_residuals() -> list[Any]:
    """By the code's kernels, at c = (1-e)/(1+e): g' - (1-c^2)/4 and |g''| - c (1-c^2)/4."""
    e = sp.Symbol("e", positive=True)
    level = (1 - e) / (1 + e)
    return [
        sp.cancel(slope_kernel(e) - (1 - level**2) / 4),
        sp.cancel(curvature_kernel(e) - level * (1 - level**2) / 4),
    ]


def prove_bound() -> None:
    """Check every identity and inequality between numbers that (*) rests on."""
    ensure_zero(second_derivative_residual(), "step 1, the second derivative in moments")
    ensure_zero(indicator_residual(), "step 2, F of an indicator")
    ensure_zero(nested_residual(), "step 4, the bound in k = t w")
    gained = bound(1, 0).subs(a, 1 / sp.sqrt(3)) / 2 - sp.Rational(1, 16)
    ensure_positive(gained, "step 3, p/16 is less than half of the bound at a = 1/sqrt 3")
    ensure_zero(two_tokens_residual(), "two tokens attain the bound (*)")


def prove() -> str:
    """Prove (*) and that K(D), as the code maximises it, is its maximum for the logistic loss."""
    prove_bound()
    ensure_zero(logistic_residuals(), "g' and |g''| of the code at c = (1-e)/(1+e)")
    D = sp.Symbol("D", positive=True)
    height = bound(D * (1 - c**2) / 4, D**2 * c * (1 - c**2) / 4)
    ensure_equal(height, softmax_height(D, D**2, a, c), "the code's height is the bound (*)")
    # the floats maximise it over D (1 + D)
    x, y, scale = sp.symbols("x y scale", positive=True)
    scaled = softmax_height(scale * x, scale * y, a, c)
    once = scale * softmax_height(x, y, a, c)
    ensure_equal(scaled, once, "the code's height scales with its arguments")
    # the code's c for given a >= 0: the root in [0, 1] of a concave function's slope
    offset, w = x * a, y * P  # at x = D, y = D^2: D times a and D P
    shape = P * (1 - c**2) * (offset + w * c) / 2
    ensure_equal(softmax_height(x, y, a, c), shape, "the code's height in c")
    level = best_level(y, offset, sp.sqrt(offset**2 + 3 * y**2))
    slope = sp.diff((1 - c**2) * (offset + y * c), c)
    ensure_zero(slope.subs(c, level), "the height is stationary at best_level", normal=sp.simplify)
    ensure_equal(sp.diff(slope, c), -2 * offset - 6 * y * c, "the slope in c falls for c >= 0")
    return (
        "||A||^2 K(D) bounds the curvature of g(b <softmax(A x), h>), n any; two tokens attain it"
    )


def ensure_printed() -> None:
    """Check the sides of both readings with the printed constant, by the formulas that run.

    Two tokens log 3 and 0 of values 5 and 1 and label 1 (at x = 0 and y = 1, R and n symbols), and
    the derivatives of their loss by sympy.

    Raises:
        ProofError: a side is another one.
    """
    s = sp.Symbol("s", real=True)
    n, R = sp.symbols("n R", positive=True)
    mean = 1 + 4 * 3**s / (3**s + 1)
    slope = sp.diff(1 / (1 + sp.exp(-mean)), s)
    bend = sp.diff(slope, s)
    one = sp.Integer(1)
    v = SimpleNamespace(
        A=entries([[sp.log(3)], [0 * one]]),
        x=entries([0 * one]),
        y=entries([one]),
        h=entries([5 * one, one]),
        b=one,
        n=n,
        R=R,
    )
    constant = 3 * n**3 * R**7 * sp.exp(13 * R**2)
    change = slope.subs(s, 0) - slope.subs(s, 1)
    for statement, left in (lemma_3_13.LEMMA, change), (hessian.LEMMA, bend.subs(s, 0)):
        name = f"{statement.id}:amended"
        said = said_by(statement, "amended", v)
        ensure_equal(said.left**2, left**2, f"the left side of {name}", normal=sp.simplify)
        ensure_equal(said.right, constant, f"the right side of {name} is as printed")


def prove_published() -> str:
    """Prove that R^2 K(sqrt 2 R^2) is below the printed constant for every R >= 4 and n >= 1.

    K(D) <= D/8 + D^2/32 as 1-a^2, 1-c^2, a and c are at most 1, D <= 2 R^2, and
    n^3 exp(13 R^2) >= 1.
    """
    prove()
    R = sp.Symbol("R", positive=True)
    ensure_printed()
    D = 2 * R**2
    factors = (1 - a**2) * (1 - c**2) / 8
    product = factors * (p * a + q * c * (1 - a**2) / 4)
    ensure_equal(softmax_height(p, q, a, c), product, "the height as a product of its factors")
    rest = sp.Poly(3 * R**7 - R**2 * (D / 8 + D**2 / 32), R)
    ensure_zero(rest.count_roots(4, None), "3 R^7 meets the bound of R^2 K nowhere from 4 on")
    ensure_positive(rest.eval(4), "3 R^7 exceeds the bound of R^2 K at R = 4")
    return "R^2 K(sqrt 2 R^2) < 3 n^3 R^7 exp(13 R^2) for R >= 4, with K as proved"
