"""A bound of the curvature of phi(<softmax(s), h>) in the logits s, for any number n of tokens.

Let f = softmax(s), m = <f, h>, phi twice differentiable, and H the Hessian of phi(m) in s. E and
Var are moments under the weights f. For a direction u let v = u - E u and osc(u) = max u - min u.
If osc(h) = 1, then with p = |phi'(m)| and q = |phi''(m)|:

    |u^T H u| <= osc(u)^2/2 max_{0 <= a <= 1} (1-a^2)/2 (p a + q (1-a^2)/4).                   (*)

The proof is in docs/proofs/curvature_in_logits.md; steps named here are numbered there. It bounds
F(h) = p E[h (v^2 - E v^2)] + q (E[h v])^2, which is largest at a vertex of [0, 1]^n: h is 1 on a
set S and 0 outside. Let S have the probability T, a = 1 - 2 T and P = T (1 - T) = (1-a^2)/4. Let u
have mean m1 and variance V1 in S, m0 and V0 outside, d = m1 - m0, and B = p a + q P.

(*) is attained by two tokens of probabilities (1-a)/2 and (1+a)/2 with h = (1, 0) and any u
(`two_tokens_residual`) if phi' and phi'' are not negative. With other signs, exchange the tokens.
"""

from collections.abc import Callable

import sympy as sp

from attsvm.lipschitz import attention_bend
from attsvm.risk import covariance
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import Supposition, executed, expanded, factored
from properties._support.suppositions import BENT_LOSS
from symbolic import softmax
from symbolic.mean_value import SOFTMAX, ensure_derivatives, ensure_lipschitz
from symbolic.sums import ensure_at_least_each, entry, entry_of, total, vector
from symbolic.textbook import (
    CONVEX_FUNCTION,
    CONVEX_MAXIMUM,
    FORM,
    HULL,
    MIXED_DERIVATIVES,
    RAYLEIGH,
    SYMMETRIC,
    TWICE,
)

a = sp.Symbol("a", real=True)
p, q = sp.symbols("p q", nonnegative=True)
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""Nonnegative numbers by earlier steps."""
P = (1 - a**2) / 4
"""The variance of the indicator of a set of probability (1-a)/2."""

RISK = "the gradient of the risk is Lipschitz, and so is that of the part of each input"

VERTEX = (
    "F(h) = p E[h (v^2 - E v^2)] + q (E[h v])^2, p = |phi'| and q = |phi''|, is convex "
    "in h: s F(h) + r F(h') - F(s h + r h') = q s r (E[(h - h') v])^2 for s + r = 1"
)

CUBE = (
    "a vector less its least entry, over its range, is in [0, 1]^n, whose points are "
    "means of vertices: entry by entry a point is a mean of two with 0 and 1 in its place"
)


def unit(name: str) -> sp.Expr:
    """Return share/(share + rest) in symbols of known sign: it stands for any number in (0, 1]."""
    share, rest = sp.Symbol(name, positive=True), sp.Symbol(f"{name}'", nonnegative=True)
    return share / (share + rest)


def ensure_cube() -> None:
    """Prove that the cube [0, 1]^n is the hull of its 2^n vertices."""
    own, other = unit("own"), unit("other")
    means = [(1 - own) * other + own * other, (1 - own) * 0 + own * 1]
    ensure_equal(means, [other, own], CUBE)


def ensure_quarter(quarter: sp.Expr) -> None:
    """Prove Popoviciu's inequality: a variance is at most a quarter of the squared range.

    Args:
        quarter: the factor of the squared range, 1/4 in the inequality.
    """
    M, m, first, second = sp.symbols("M m first second", real=True)  # and moments of s
    spare = (M + m) * first - second - M * m
    missed = quarter * (M - m) ** 2 - (second - first**2) - (first - (M + m) / 2) ** 2 - spare
    ensure_zero(
        sp.expand(missed),
        "(M-m)^2/4 - Var s is a square plus E (M-s)(s-m), for any numbers M and m",
    )
    s = m + MORE
    product = (M - s) * (s - m)
    ensure_nonnegative(
        product.subs(M, s + LESS),
        "(M-s)(s-m) >= 0 for m <= s <= M, so that Var s is at most (M-m)^2/4",
    )


def bound(slope: sp.Expr = p, curvature: sp.Expr = q) -> sp.Expr:
    """Return the right side of (*) at a, without the maximum, for osc(u)^2 = 2."""
    return (1 - a**2) / 2 * (slope * a + curvature * (1 - a**2) / 4)


def _moment(i: int, j: int) -> sp.Expr:
    """Return E[h^i u^j]."""
    return sp.Symbol(f"E{i}{j}", real=True) if i or j else sp.Integer(1)


def _along(value: sp.Expr, order: int = 4) -> sp.Expr:
    """Return the derivative of a polynomial in moments along logits u.

    The rule (E y)' = E[y u] - E[y] E[u] is `symbolic.softmax.structural_residual`.

    Args:
        value: the polynomial.
        order: the powers of u in its moments are below this number.
    """
    return sum(
        sp.diff(value, _moment(i, j)) * (_moment(i, j + 1) - _moment(i, j) * _moment(0, 1))
        for i in (0, 1)
        for j in range(order)
        if i or j
    )


Moments = Callable[[int, int], sp.Expr]


def brackets(E: Moments) -> tuple[sp.Expr, sp.Expr]:
    """Return E[h (v^2 - E v^2)] and E[h v] for v = u - E u, by the moments E[h^i u^j]."""
    mean = E(0, 1)
    square = E(1, 2) - 2 * mean * E(1, 1) + mean**2 * E(1, 0)  # E[h v^2]
    return square - E(1, 0) * (E(0, 2) - mean**2), E(1, 1) - E(1, 0) * mean


def second_derivative_residual() -> sp.Expr:
    """Return (phi(E h))'' along u minus its form in step 1.

    That form is phi' E[h (v^2 - E v^2)] + phi'' (E[h v])^2.
    """
    first, second = sp.symbols("phi1 phi2", real=True)
    rise = _along(_moment(1, 0))
    square, moved = brackets(_moment)
    return sp.expand(first * _along(rise) + second * rise**2 - first * square - second * moved**2)


def bend_residual() -> sp.Expr:
    """Return u^T (diag(c) - f c^T - c f^T) u minus E[h (v^2 - E v^2)], for any n.

    The first form is the code's; c is the code's covariance of f and h, c_t = f_t (h_t - <f, h>).
    """
    f, h, u = (entry(name) for name in "fhu")
    tilt = entry_of(covariance(vector(f), vector(h)))
    form = total(tilt * u**2) - 2 * total(f * u) * total(tilt * u)
    return sp.expand(form - brackets(lambda i, j: total(f * h**i * u**j))[0])


def affine_residuals() -> list[sp.Expr]:
    """Return the brackets of lo + w h and low + k u, minus w k^2 and w k times those of h and u."""
    lo, w, low, k = sp.symbols("lo w low k", real=True)

    def of_u(i: int, j: int) -> sp.Expr:
        rise = sp.expand((low + k * sp.Symbol("u")) ** j)
        return sum(
            sp.Poly(rise, sp.Symbol("u")).coeff_monomial((m,)) * _moment(i, m) for m in range(j + 1)
        )

    def moved(i: int, j: int) -> sp.Expr:
        return lo * of_u(0, j) + w * of_u(1, j) if i else of_u(0, j)

    after, before = brackets(moved), brackets(_moment)
    return [sp.expand(after[0] - w * k**2 * before[0]), sp.expand(after[1] - w * k * before[1])]


def convex_residual(share: int = 1) -> sp.Expr:
    """Return the residual of an identity: the gap of convexity of F minus its closed form.

    The gap is s F(g) + (1 - s) F(h) - F(s g + (1 - s) h), for two points g, h and a weight s. The
    closed form is q s (1 - s) (E[(g - h) v])^2.

    Args:
        share: the factor of the last term, 1 in the identity.
    """
    s = sp.Symbol("s", real=True)

    def of(name: str) -> Moments:
        return lambda i, j: sp.Symbol(f"{name}{j}", real=True) if i else _moment(0, j)

    def mixed(i: int, j: int) -> sp.Expr:
        return s * of("g")(i, j) + (1 - s) * of("h")(i, j) if i else _moment(0, j)

    def value(E: Moments) -> sp.Expr:
        square, moved = brackets(E)
        return p * square + q * moved**2

    apart = brackets(of("g"))[1] - brackets(of("h"))[1]
    chord = s * value(of("g")) + (1 - s) * value(of("h")) - value(mixed)
    return sp.expand(chord - share * q * s * (1 - s) * apart**2)


def indicator_residual() -> sp.Expr:
    """Return F of an indicator minus its form in step 2, P (p (V1 - V0 + a d^2) + q P d^2)."""
    m1, m0, V1, V0 = sp.symbols("m1 m0 V1 V0", real=True)
    t = (1 - a) / 2
    mean = t * m1 + (1 - t) * m0
    inside, outside = (V + (m - mean) ** 2 for V, m in ((V1, m1), (V0, m0)))  # means of v^2
    variance = t * inside + (1 - t) * outside
    value = p * t * (inside - variance) + q * (t * (m1 - mean)) ** 2
    d = m1 - m0
    return sp.expand(value - P * (p * (V1 - V0 + a * d**2) + q * P * d**2))


def nested_residual() -> sp.Expr:
    """Return P (p w(1-w) + B w^2) minus its form in k = T w in step 4."""
    w, t = sp.symbols("w t", real=True)
    B = p * (1 - 2 * t) + q * t * (1 - t)
    k = t * w
    closed = k * (1 - t) * (p * (1 - 2 * k) + q * k * (1 - t))
    return sp.expand(t * (1 - t) * (p * w * (1 - w) + B * w**2) - closed)


def two_tokens_residual() -> sp.Expr:
    """Return F of two tokens with h = (1, 0) and u = (y, z), minus the bound (*) at a."""
    t = (1 - a) / 2
    u = sp.symbols("y z", real=True)
    mean = t * u[0] + (1 - t) * u[1]
    v = [value - mean for value in u]
    variance = t * v[0] ** 2 + (1 - t) * v[1] ** 2
    value = p * t * (v[0] ** 2 - variance) + q * (t * v[0]) ** 2
    return sp.expand(value - (u[0] - u[1]) ** 2 / 2 * bound())


def ensure_moments() -> None:
    """Prove step 1: the second derivative by moments, for any number of tokens."""
    ensure_zero(
        softmax.structural_residual(),
        "the derivative of a softmax mean E y along logits u is E[y u] - E[y] E[u], for any n",
    )
    ensure_zero(
        second_derivative_residual(),
        "the second derivative of phi(E h) along u is phi' E[h (v^2 - E v^2)] + phi'' (E[h "
        "v])^2, v = u - E u",
    )
    ensure_zero(
        bend_residual(),
        "the first bracket, E[h (v^2 - E v^2)], is u^T (diag(c) - f c^T - c f^T) u for the "
        "code's covariance c of the weights f and h, any n",
    )
    ensure_zero(
        affine_residuals(),
        "for h = lo + w h' and u = low + k u' the brackets E[h (v^2 - E v^2)] and E[h v] are "
        "w k^2 and w k times those of h' and u': let h and u have the range 1; w = -1 turns "
        "the sign of the first bracket, not of the square of the second",
    )


def ensure_vertex() -> None:
    """Prove step 2: F is largest if h is the indicator of a set."""
    ensure_zero(convex_residual(), VERTEX)
    ensure_cube()
    cite(CONVEX_MAXIMUM, met={CONVEX_FUNCTION: VERTEX, HULL: CUBE})
    ensure_zero(
        indicator_residual(),
        "for the indicator h of a set of probability (1-a)/2, P = (1-a^2)/4, F is P (p (V1 - "
        "V0 + a d^2) + q P d^2): u has the variances V1 in the set and V0 outside, and d is "
        "the difference of its means there",
    )


def ensure_variances() -> None:
    """Prove the bounds of steps 3 and 4 for numbers in [0, 1].

    A variance is at most 1/4, and at most m1 (1 - m1) for a mean m1. The distance of two means m1
    and m0 is at most max(m1, 1 - m1).
    """
    ensure_quarter(sp.Rational(1, 4))
    u = unit("u")
    ensure_nonnegative(
        factored(u - u**2),
        "u^2 <= u in [0, 1], so that V1 = E u^2 - m1^2 is at most m1 - m1^2",
    )
    m0, m1 = sp.symbols("m0 m1", nonnegative=True)
    ensure_nonnegative(
        [(m1**2 - (m1 - m0) ** 2).subs(m1, m0 + MORE), (LESS + MORE) ** 2 - MORE**2],
        "for m0 and m1 in [0, 1] (m1-m0)^2 is at most m1^2 where m1 >= m0, and else at most "
        "(1-m1)^2",
        normal=expanded,
    )


def ensure_nested() -> None:
    """Prove the bounds in k = T w of step 4, and that the term in (*) is largest for an a >= 0."""
    ensure_zero(
        nested_residual(),
        "T (1-T) (p w (1-w) + B w^2), B = p (1-2T) + q T (1-T), is k (1-T) (p (1-2k) + q k "
        "(1-T)) for k = T w",
    )
    k, beside, more, bracket = sp.symbols("k 1-T more bracket", nonnegative=True)
    slope = bracket - q * k * beside  # p (1-2k)
    ensure_nonnegative(
        k * (beside + more) * (slope + q * k * (beside + more)) - k * beside * bracket,
        "k (1-T) (p (1-2k) + q k (1-T)) is at most k (1-k) (p (1-2k) + q k (1-k)) where its "
        "bracket is not negative and k <= T",
        normal=expanded,
    )
    k = (1 - a) / 2
    ensure_zero(
        sp.expand(k * (1 - k) * (p * (1 - 2 * k) + q * k * (1 - k)) - bound() / 2),
        "k (1-k) (p (1-2k) + q k (1-k)) is half of the height (1-a^2)/2 (p a + q (1-a^2)/4) "
        "at a = 1 - 2k",
    )
    turned = sp.expand(bound() - bound().subs(a, -a))
    ensure_equal(turned, p * a * (1 - a**2), "the height at a is p a (1-a^2) more than at -a")
    ensure_nonnegative(
        factored(turned.subs(a, unit("a"))),
        "p a (1-a^2) is not negative for a in [0, 1], so that the height is largest at some a >= 0",
    )


def prove_bound() -> None:
    """Prove all four steps, and the value of F for the two tokens that attain (*)."""
    ensure_moments()
    ensure_vertex()
    V, V0, level, d2 = sp.symbols("V1 V0 P d^2", nonnegative=True)
    curvature = level * (p * (V - V0 + a * d2) + q * level * d2)
    ensure_nonnegative(
        [
            curvature.subs(V0, 0) - curvature,
            (level * p * V - curvature.subs(V0, 0)).expand().subs(p * a, -MORE - q * level),
        ],
        "F is at most P (p V1 + B d^2) with B = p a + q P, and at most P p V1 where B is negative",
        normal=expanded,
    )
    ensure_variances()
    ensure_nonnegative(
        p * (V + MORE) / 4 - p * (sp.Rational(1, 4) - LESS) * V,
        "P p V1 is at most p/16, as P and V1 are at most 1/4",
        normal=expanded,
    )
    gained = bound(1, 0).subs(a, 1 / sp.sqrt(3)) / 2 - sp.Rational(1, 16)
    ensure_positive(
        gained,
        "1/16 is below a (1-a^2)/4 at a = 1/sqrt 3, so that p/16 is at most half of the "
        "height (1-a^2)/2 (p a + q (1-a^2)/4) there",
    )
    ensure_nested()
    ensure_zero(
        two_tokens_residual(),
        "for two tokens of weights (1-a)/2 and (1+a)/2, h = (1, 0) and u = (y, z), F is "
        "(y-z)^2/2 times the height (1-a^2)/2 (p a + q (1-a^2)/4)",
    )


def ensure_hessian(
    slope: str, function: object, *supposed: tuple[type[sp.Expr], Supposition], of: str = ""
) -> None:
    """Prove that a bound of |z^T H z| for unit z is a Lipschitz constant of the gradient.

    H is the Hessian. It is symmetric, so that the bound is one of its spectral norm.

    Args:
        slope: the step that has shown that bound.
        function: the function with Hessian H, on symbols.
        supposed: functions that may occur in it, with the hypotheses of two continuous derivatives.
        of: the name of the Lipschitz function, in a sentence that can meet hypotheses.
    """
    symmetric, bounded = f"{slope}: the Hessian is symmetric", f"{slope}: so is the Hessian's norm"
    cite(
        MIXED_DERIVATIVES, met={TWICE: ensure_derivatives(function, slope, *supposed)}, of=symmetric
    )
    cite(RAYLEIGH, met={FORM: slope, SYMMETRIC: symmetric}, of=bounded)
    ensure_lipschitz(bounded, function, *supposed, of=of)


def ensure_smoothness(loss: Supposition = BENT_LOSS) -> None:
    """Prove that the gradient of the risk is L-Lipschitz: each input's part has constant L_i/n.

    L_i is the code's constant. The proof uses (*), on the curvature of l(<softmax, gamma>) along
    any logits.

    Args:
        loss: the hypothesis that l has two continuous derivatives.
    """
    executed(prove_bound)
    slope, bend, D = sp.symbols("sup|l'| sup|l''| D", nonnegative=True)
    share, root = unit("a"), 1 / sp.sqrt(3)
    height = bound(D * slope, D**2 * bend).subs(a, share)
    first = slope * D * (share - root) ** 2 * (share + 2 * root) / 2
    second = bend * D**2 * share**2 * (2 - share**2) / 8
    ensure_equal(
        attention_bend(D, slope, bend, sp.sqrt) - height,
        first + second,
        "the code's bound of the curvature is sup|l'| D (a - 1/sqrt 3)^2 (a + 2/sqrt 3)/2 + "
        "sup|l''| D^2 a^2 (2 - a^2)/8 above the height at any a, with p = D sup|l'| and q = "
        "D^2 sup|l''|",
    )
    one, other = sp.symbols("u_t u_r", real=True)
    osc = "osc(u)^2 <= 2 ||u||^2, as 2 (u_t^2 + u_r^2) - (u_t - u_r)^2 = (u_t + u_r)^2"
    ensure_nonnegative(2 * (one**2 + other**2) - (one - other) ** 2, osc, normal=factored)
    bounded = (
        "this excess is not negative for a <= 1, and a unit step moves logits by at most "
        "||z|| ||X - mean||: along unit matrices the curvature of an input's part of the "
        "risk is at most L_i/n"
    )
    rest = sp.Symbol("1-a^2", nonnegative=True)
    ensure_nonnegative([first, second.subs(2 - share**2, 1 + rest)], bounded)
    value, (first, other) = sp.Function("l"), sp.symbols("gamma_1 gamma_2", real=True)
    ensure_hessian(bounded, value(SOFTMAX[0] * first + SOFTMAX[1] * other), (value, loss), of=RISK)


def ensure_own_constant() -> None:
    """Prove that the Lipschitz constant L of the gradient is at least that of each input's part.

    Input i's part has the constant L_i/n, and n L is the sum of the L_i.
    """
    square, reach, lead, slope, bend = sp.symbols(
        "||z||^2 ||X-mean|| D sup|l'| sup|l''|", nonnegative=True
    )
    part = square * reach**2 * attention_bend(lead, slope, bend, sp.sqrt)
    ensure_at_least_each(part, "n L, the sum of the L_i, is at least each of them")
