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
   and 0 outside. Let S have probability T, a = 1 - 2 T, P = T (1 - T) = (1-a^2)/4; let u have
   mean m1 and variance V1 in S, m0 and V0 outside, and d = m1 - m0. Then (`indicator_residual`)
   F = P (p (V1 - V0 + a d^2) + q P d^2) <= P (p V1 + B d^2),  B = p a + q P.
   Where S is empty or all, F = 0. Let osc(u) = 1, and u in [0, 1]^n.
3. If B < 0 then F <= P p V1 <= P p/4 <= p/16, as no variance exceeds a quarter of the squared
   range: less than half of p/(3 sqrt 3), which (1-a^2)/2 (p a + ...) is at least at a = 1/sqrt 3.
4. If B >= 0: V1 = E_S[u^2] - m1^2 <= m1 (1-m1), as u^2 <= u, and d^2 <= w^2 for w = m1 or 1 - m1.
   So F <= P (p w(1-w) + B w^2), and with k = T w <= T that is k (1-T) (p (1-2k) + q k (1-T))
   (`nested_residual`); where the bracket is positive, 1-T <= 1-k makes that at most k (1-k)
   (p (1-2k) + q k (1-k)), half of the height in (*) at 1 - 2k, for a < 0 less than at -a.

(*) is attained: two tokens of probabilities (1-a)/2 and (1+a)/2 with h = (1, 0), any u
(`two_tokens_residual`), if phi', phi'' have the signs of step 1; else with the tokens exchanged.

What the code maximises, `attsvm.lipschitz.softmax_height` with `best_level`, runs on symbols here.
For g(b <f, h>), D = |b| osc(h) and c = |1 - 2 g| give p = D (1-c^2)/4, q = D^2 c (1-c^2)/4
(`logistic_residuals`), and (*) becomes K(D) osc(u)^2/2; adding a number to h moves c to anything in
[0, 1), with either sign of g'', whatever a is.

In x, with s = A x, a unit step moves the logits by u = A e, osc(u)^2 <= max |A_j - A_k|^2 <=
2 ||A||^2. By the mean value theorem the gradient is K(D) max |A_j - A_k|^2/2-Lipschitz, and so
K(D) ||A||^2-Lipschitz. For A = (1, -1)^T both are the same, and the derivative of the gradient is
the height at any a and c in (-1, 1) (`reached`): no smaller constant will do.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.lipschitz import best_level, softmax_height
from attsvm.losses import curvature_kernel, slope_kernel
from attsvm.risk import covariance
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import expanded
from properties.sim import lemma_3_13
from properties.sim import lemma_3_13_hessian as hessian
from properties.sim._support import entry_loss
from symbolic import softmax
from symbolic.mean_value import ensure_lipschitz, ensure_no_less, said_by
from symbolic.sim import basic_4, basic_5
from symbolic.sums import entry, entry_of, total, vector
from symbolic.textbook import (
    COMPOSED,
    CONTINUOUS,
    CONVEX_FUNCTION,
    CONVEX_MAXIMUM,
    EXPONENTIAL,
    FORM,
    HULL,
    RAYLEIGH,
    SECOND_DERIVATIVE,
    SYMMETRIC,
    TANGENT,
)

a, c = sp.symbols("a c", real=True)
p, q = sp.symbols("p q", nonnegative=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""What is not negative by what has been said before."""
P = (1 - a**2) / 4
"""Variance of an indicator of probability (1-a)/2."""

VERTEX = "F(h) is convex in h: s F(h) + r F(h') - F(s h + r h') = q s r (E[(h - h') v])^2"
CUBE = "[0, 1]^n"


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


Moments = Callable[[int, int], Any]


def brackets(E: Moments) -> tuple[Any, Any]:
    """E[h (v^2 - E v^2)] and E[h v] for v = u - E u, by the moments E[h^i u^j]."""
    mean = E(0, 1)
    square = E(1, 2) - 2 * mean * E(1, 1) + mean**2 * E(1, 0)  # E[h v^2]
    return square - E(1, 0) * (E(0, 2) - mean**2), E(1, 1) - E(1, 0) * mean


def second_derivative_residual() -> Any:
    """Step 1: (phi(E h))'' along u minus phi' E[h (v^2 - E v^2)] + phi'' (E[h v])^2."""
    first, second = sp.symbols("phi1 phi2", real=True)
    rise = _along(_moment(1, 0))
    square, moved = brackets(_moment)
    return sp.expand(first * _along(rise) + second * rise**2 - first * square - second * moved**2)


def bend_residual() -> Any:
    """u^T (diag(c) - f c^T - c f^T) u by the code's covariance c minus the first bracket, any n."""
    f, h, u = (entry(name) for name in "fhu")
    tilt = entry_of(covariance(vector(f), vector(h)))
    form = total(tilt * u**2) - 2 * total(f * u) * total(tilt * u)
    return sp.expand(form - brackets(lambda i, j: total(f * h**i * u**j))[0])


def affine_residuals() -> list[Any]:
    """Brackets of lo + w h and low + k u minus w k^2 and w k times those of h and u."""
    lo, w, low, k = sp.symbols("lo w low k", real=True)

    def of_u(i: int, j: int) -> Any:
        rise = sp.expand((low + k * sp.Symbol("u")) ** j)
        return sum(
            sp.Poly(rise, sp.Symbol("u")).coeff_monomial((m,)) * _moment(i, m) for m in range(j + 1)
        )

    def moved(i: int, j: int) -> Any:
        return lo * of_u(0, j) + w * of_u(1, j) if i else of_u(0, j)

    found, before = brackets(moved), brackets(_moment)
    return [sp.expand(found[0] - w * k**2 * before[0]), sp.expand(found[1] - w * k * before[1])]


def convex_residual(share: int = 1) -> Any:
    """The chord of F between two heads less its value there, minus q s r (E[(h - h') v])^2."""
    s = sp.Symbol("s", real=True)

    def of(name: str) -> Moments:
        return lambda i, j: sp.Symbol(f"{name}{j}", real=True) if i else _moment(0, j)

    def mixed(i: int, j: int) -> Any:
        return s * of("g")(i, j) + (1 - s) * of("h")(i, j) if i else _moment(0, j)

    def value(E: Moments) -> Any:
        square, moved = brackets(E)
        return p * square + q * moved**2

    apart = brackets(of("g"))[1] - brackets(of("h"))[1]
    chord = s * value(of("g")) + (1 - s) * value(of("h")) - value(mixed)
    return sp.expand(chord - share * q * s * (1 - s) * apart**2)


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


def ensure_moments() -> None:
    """Step 1: the second derivative by moments, for any number of tokens."""
    ensure_zero(softmax.structural_residual(), "(E y)' = E[y u] - E[y] E[u] along u, any n")
    ensure_zero(second_derivative_residual(), "step 1, the second derivative in moments")
    ensure_zero(bend_residual(), "step 1, it is that of the code's Hessian for every n")
    ensure_zero(
        affine_residuals(),
        "step 1, for h = lo + w h' and u = low + k u' the brackets are w k^2 and w k times those "
        "of h' and u': osc(h) = osc(u) = 1, and w = -1 changes the sign of the first alone",
    )


def ensure_vertex(convex: str = VERTEX) -> None:
    """Step 2: F is largest for an indicator."""
    ensure_zero(convex_residual(), convex)
    cite(CONVEX_MAXIMUM, met={CONVEX_FUNCTION: convex}, given={HULL: CUBE})
    ensure_zero(indicator_residual(), "step 2, F of an indicator")


def ensure_variances() -> None:
    """No variance in [0, 1] exceeds 1/4 or m1 (1 - m1), and no distance max(m1, 1 - m1)."""
    basic_5.ensure_quarter(sp.Rational(1, 4))
    u = basic_4.unit("u")
    ensure_nonnegative(
        sp.factor(u - u**2),
        "u^2 <= u in [0, 1], so that V1 = E u^2 - m1^2 is at most m1 - m1^2",
    )
    m0, m1 = sp.symbols("m0 m1", nonnegative=True)
    ensure_nonnegative(
        [(m1**2 - (m1 - m0) ** 2).subs(m1, m0 + MORE), (LESS + MORE) ** 2 - MORE**2],
        "(m1-m0)^2 is at most m1^2 where m1 >= m0, else at most (1-m1)^2 with 1 - m0 = less",
        normal=expanded,
    )


def ensure_nested() -> None:
    """Step 4 on."""
    ensure_zero(nested_residual(), "step 4, the bound in k = T w")
    k, beside, more, bracket = sp.symbols("k 1-T more bracket", nonnegative=True)
    slope = bracket - q * k * beside  # p (1-2k)
    ensure_nonnegative(
        k * (beside + more) * (slope + q * k * (beside + more)) - k * beside * bracket,
        "step 4, where the bracket is positive 1-k in place of 1-T makes it no smaller",
        normal=expanded,
    )
    k = (1 - a) / 2
    ensure_zero(
        sp.expand(k * (1 - k) * (p * (1 - 2 * k) + q * k * (1 - k)) - bound() / 2),
        "step 4, that is half of the height in (*) at a = 1 - 2k",
    )
    turned = sp.expand(bound() - bound().subs(a, -a))
    ensure_equal(turned, p * a * (1 - a**2), "step 4, the height at a less that at -a")
    ensure_nonnegative(
        sp.factor(turned.subs(a, basic_4.unit("a"))), "which is not negative for a in [0, 1]"
    )


def prove_bound() -> None:
    """Take every step of (*)."""
    ensure_moments()
    ensure_vertex()
    V, V0, level, d2 = sp.symbols("V1 V0 P d^2", nonnegative=True)
    found = level * (p * (V - V0 + a * d2) + q * level * d2)
    ensure_nonnegative(
        [
            found.subs(V0, 0) - found,
            (level * p * V - found.subs(V0, 0)).expand().subs(p * a, -MORE - q * level),
        ],
        "step 2, without V0 it is no smaller, and where B = -more is negative without d either",
        normal=expanded,
    )
    ensure_variances()
    ensure_nonnegative(
        p * (V + MORE) / 4 - p * (sp.Rational(1, 4) - LESS) * V,
        "step 3, P p V1 is at most p/16, as P = 1/4 - less and V1 = 1/4 - more",
        normal=expanded,
    )
    gained = bound(1, 0).subs(a, 1 / sp.sqrt(3)) / 2 - sp.Rational(1, 16)
    ensure_positive(gained, "step 3, p/16 is less than half of the bound at a = 1/sqrt 3")
    ensure_nested()
    ensure_zero(two_tokens_residual(), "two tokens attain the bound (*)")


ODDS, POWER, WIDTH = sp.symbols("s e D", positive=True)
SHARE = (1 - ODDS**2) / (1 + ODDS**2)
"""a, any number in (-1, 1): of logits log s and -log s the first has the weight (1-a)/2."""


def curvature_of_two(gradient: Any, h: Any, b: Any = None) -> Any:
    """The derivative of an entry's gradient along the line, for tokens 1 and -1 at x = log s.

    Args:
        gradient: the formula that runs, of an arithmetic, A, x, h and b.
        h: the values of both tokens.
        b: the label, or 1.
    """
    x = sp.Symbol("x", real=True)
    v = basic_4.opposite(x)
    (slope,) = gradient(SYMBOLS, v.A, v.x, entries(h), sp.Integer(1) if b is None else b)
    return sp.diff(slope, x).subs(x, sp.log(ODDS))


def of_power(curvature: Any, mean: Any) -> Any:
    """A curvature where exp(<f, h>) is e, which the level of h may make any positive number.

    Args:
        curvature: as above.
        mean: <f, h>, by that level and s.
    """
    return curvature.replace(sp.exp, lambda y: POWER ** sp.cancel(y / mean))


REACHES = (
    "tokens 1 and -1, of ||A||^2 = 2, have twice the height for any a in (-1, 1) and c in (-1, 1)"
)


def reached() -> list[Any]:
    """Numerators of the curvature of two tokens, by Hessian and gradient of the code, less (*).

    For any c = (1-e)/(1+e); the first token has the value that is D higher.
    """
    low = sp.Symbol("low", real=True)
    h, mean = [low + WIDTH, low], low + WIDTH * ODDS**2 / (1 + ODDS**2)
    v = basic_4.opposite(sp.log(ODDS))
    bend = entry_loss.hessian(SYMBOLS, v.A, v.x, entries(h), sp.Integer(1)).ravel()[0]
    height = softmax_height(WIDTH, WIDTH**2, SHARE, (1 - POWER) / (1 + POWER))
    found = bend, curvature_of_two(entry_loss.gradient, h)
    return [sp.numer(sp.together(of_power(each, mean) - 2 * height)) for each in found]


def ensure_attained(found: Any, reaches: str) -> None:
    """The least constant is the largest height: two tokens have curvatures that tend to it.

    Args:
        found: what their curvatures are minus twice the heights, for a in (-1, 1).
        reaches: this step in words.
    """
    ensure_zero(found, reaches)
    v = basic_4.opposite(sp.Symbol("x", real=True))
    ensure_equal(SYMBOLS.spectral(v.A) ** 2, 2, "||A||^2 of these tokens is 2")
    cite(COMPOSED, given={CONTINUOUS: "heights are polynomials in a and c, on the closed square"})
    ensure_no_less(reaches)


def ensure_constant(slope: str) -> None:
    """The readings compare osc(A z)^2/2 K, for a unit z, with K of |b| (max h - min h)."""
    basic_4.ensure_span()
    b, D = sp.symbols("b D", positive=True)
    K, h = entry_loss.K(SYMBOLS, b * D), entries([D, 0 * D])
    x, y = symbols_of("x", 2), symbols_of("y", 2)
    v = SimpleNamespace(A=basic_4.TOKENS, x=x, y=y, h=h, b=b)
    found = said_by(lemma_3_13.LEMMA, "sharp-2", v).right / SYMBOLS.norm(x - y)
    ensure_equal(sp.cancel(found), (sp.sqrt(2) * basic_4.SPREAD) ** 2 / 2 * K, slope)
    v = SimpleNamespace(A=symbols_of("A", 2, 1), x=x[:1], y=y[:1], h=h, b=b)
    norm = SYMBOLS.spectral(v.A) ** 2 * K
    found = said_by(lemma_3_13.LEMMA, "sharp", v).right / SYMBOLS.norm(v.x - v.y)
    ensure_equal(
        [sp.cancel(found), said_by(hessian.LEMMA, "sharp", v).right],
        [norm, norm],
        "the sharp readings have ||A||^2 K, which is at least that",
    )


def ensure_smooth(slope: str) -> None:
    """A bound of |z^T H z| for every unit z bounds the Hessian and the change of the gradient."""
    cite(RAYLEIGH, met={FORM: slope}, given={SYMMETRIC: "a Hessian is"})
    ensure_lipschitz(slope)


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
    start = sp.Symbol("offset", nonnegative=True)
    level = best_level(y, start, sp.sqrt(start**2 + 3 * y**2))
    slope = sp.diff((1 - c**2) * (start + y * c), c)
    ensure_zero(slope.subs(c, level), "the height is stationary at best_level", normal=sp.simplify)
    ensure_nonnegative(
        -sp.diff(slope, c).subs(c, MORE), "the height is concave for c >= 0", normal=expanded
    )
    cite(TANGENT, met={SECOND_DERIVATIVE: "the height is concave for c >= 0"})
    bend = "|z^T Hess L z| is at most the constant of sharp-2, K spread(A)^2, for a unit z"
    ensure_constant(bend)
    ensure_smooth(bend)
    ensure_attained(reached(), REACHES)
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
    u, v = sp.symbols("u v", real=True)
    ensure_nonnegative(
        2 * (u**2 + v**2) - (u - v) ** 2,
        "(max h - min h)^2 <= 2 ||h||^2, so that D = |b| (max h - min h) is at most 2 R^2",
        normal=sp.factor,
    )
    gap = p / 8 + q / 32 - softmax_height(p, q, basic_4.unit("a"), basic_4.unit("c"))
    over, under = sp.fraction(sp.together(gap))
    ensure_nonnegative(
        [over, under], "K(D) <= D/8 + D^2/32, as a and c are in [0, 1]", normal=expanded
    )
    cite(EXPONENTIAL)
    ensure_nonnegative(
        (1 + MORE) ** 3 * (1 + 13 * R**2) - 1,
        "n^3 exp(13 R^2) is at least n^3 (1 + 13 R^2), so at least 1, as n = 1 + more",
        normal=expanded,
    )
    D = 2 * R**2
    rest = 3 * R**7 - R**2 * (D / 8 + D**2 / 32)
    ensure_positive(
        rest.subs(R, 4 + sp.Symbol("r", nonnegative=True)),
        "3 R^7 exceeds R^2 (D/8 + D^2/32) for D = 2 R^2 and R >= 4",
        normal=expanded,
    )
    return "R^2 K(sqrt 2 R^2) < 3 n^3 R^7 exp(13 R^2) for R >= 4, with K as proved"
