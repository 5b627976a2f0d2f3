"""The best constant of lemma 3.13 for (<f, h> - b)^2: given osc(h), max |h - b|; given norms.

Let w = osc(h) and r = max |h - b| >= w/2. The numbers h - b fill an interval of length w about
x w or -x w, x = r/w - 1/2 >= 0. For every number of tokens the curvature along u in the logits
is at most osc(u)^2/2 times

    w^2 k(x),   k(x) = max_{0 <= a <= 1} j(x, a),   j(x, a) = (1-a^2)(x a + (1-3a^2)/4),

attained by two tokens of probabilities (1-a)/2 at the end of size r and (1+a)/2 at the other one.
What the code evaluates at w and r - w/2, `attsvm.lipschitz.squared_height`, is w^2 j(x, a).
The residual m = <f, h> - b is tied to f here, so (*) of `symbolic.sim.lemma_3_13` is too weak.

Let w = 1, and t = h - min h in [0, 1]^n, so m = x - 1/2 + E t, with x of any sign from here on.
With h - b -> b - h nothing changes but the sign of m: let m >= 0. Let u in [0, 1]^n, osc(u) = 1,
v = u - E u. The curvature is F = 2 m E[t (v^2 - E v^2)] + 2 (E[t v])^2.

1. Let T = E t, a = 1 - 2 T, P = T (1-T), so m = x - a/2; T = 0 and T = 1 give F = 0. The weights
   f_i t_i/T and f_i (1-t_i)/(1-T) have means m1, m0 and variances V1, V0 of u, and
   F = 2 P (m (V1 - V0 + a d^2) + P d^2), d = m1 - m0, as for indicators (`mixture_residual`). Any
   two probability vectors may stand for these weights: f and t follow from them and T.
2. So F <= 2 P (m V1 + B d^2) and -F <= 2 P (m V0 - B d^2), B = m a + P. The second is bounded
   like the first, with -B for B and the weights exchanged. If B < 0: F <= 2 P m V1 <= P m/2. If
   B >= 0, as in step 4 of (*), F <= 2 P B, or the bound is that of weights w, 1-w on the values
   1, 0 of u (or 0, 1) and, second, all weight on the value 0 (or 1). These are two tokens, one
   with t = 1 and one with 0 <= t <= 1, of which the bound is F itself: h fills a shorter interval.
3. For two tokens with t in {0, 1}: |F| = 2 P |m a + P| = |j(x, a)|/2, a in [-1, 1]
   (`two_tokens_residual`). Of x a only the size counts: let x, a >= 0 and compare
   j(x, a) with (1-a^2)(x a - (1-3a^2)/4). Where a^2 <= 1/3 the first is the larger. For greater a
   take a' < a with a'(1-a'^2) = a (1-a^2), that is a^2 + a a' + a'^2 = 1: the second at a is less
   than the first at a' by (a + a')(a - a')(a^2 - a'^2)/4 (`reflected_residual`). So |F| is at most
   k(|x|)/2, and the maximum lies in [0, 1/sqrt 3].
4. P m <= (|x| (1-a^2) + |a| (1-a^2)/2)/4 <= |x|/4 + 1/(12 sqrt 3) < j(|x|, 2/5), so
   P m/2 < k(|x|)/2.
5. A shorter interval gives less: w'^2 k(x') <= w^2 k(x) where it lies in the longer one. k grows
   with x, so let them share the end of size r; x w = r - w/2. The derivative of w^2 j along w is
   w^2 j's at the maximum only (envelope): there j_a = 0, x = a (2-3a^2)/(1-3a^2), and it is
   w (1-a^2) N(a)/(2 (1-3a^2)), N = 1 - a - 2a^2 + 3a^3 + 3a^4 > 0 on [0, 1] (`widening_residual`).
   The maximum has a < 1/sqrt 3, as j_a < 0 there, and a = 0 only for x = 0, where j_a = 0 too.

Given ||h|| and |b| (`prove_normed`). By homogeneity of degree 2 let ||h|| = 1. With the extreme
values mu +- w/2 of h, w^2/2 + 2 mu^2 <= 1 and r - w/2 = |mu - b| <= |mu| + |b|; both are attained
by two values, where b has the sign of -mu (at the maximum 0 lies between them, and other tokens
may have it). For a in [0, 1/sqrt 3], where the maximum is, the height grows with w and with
m = r - w/2: it is largest for w = sqrt 2 cos p, m = |b| + sin(p)/sqrt 2, p in [0, pi/2].

6. Not on its edge, unless b = 0: at p = pi/2 the height is 0; at a = 1/sqrt 3, w > 0, its slope in
   a is negative; at a = 0 that is w m > 0, or else b = 0 = p; at p = 0 < a its slope in p is
   (1-a^2) a > 0.
7. Inside, the slopes in a and in p are 0 only if tan p = a (1-3a^2)/(1-2a^2+3a^4) and
   |b|^2 = B(a^2), B(u) = u (3-8u+15u^2-18u^3)^2/(2 (1-3u)^2 Q(u)); then the height is the closed
   form (`critical_residuals`). B(0) = 0, and B grows without bound on [0, 1/3): so for each b != 0
   there is one such point, and for b = 0 none, but the corner a = p = 0, where the closed form is
   the height too.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.lipschitz import normed_height, normed_slope, squared_height, squared_slope
from attsvm.theory import ensure_equal, ensure_positive, ensure_zero
from symbolic.sim.lemma_3_13 import a, bound, prove_bound

x = sp.Symbol("x", real=True)


def height(x: Any, a: Any) -> Any:
    """j(x, a), as the code evaluates it."""
    return squared_height(1, x, a)


def code_residuals() -> list[Any]:
    """The code's height at w and m = x w minus w^2 j(x, a), and its slope minus the derivative."""
    w = sp.Symbol("w", positive=True)
    found = squared_height(w, x * w, a)
    return [
        sp.expand(found - w**2 * height(x, a)),
        sp.expand(sp.diff(found, a) - w * squared_slope(w, x * w, a)),
    ]


def mixture_residual() -> Any:
    """Step 1: F of weights with means and variances minus the closed form."""
    m1, m0, V1, V0, m, T = sp.symbols("m1 m0 V1 V0 m T", real=True)
    mean = T * m1 + (1 - T) * m0
    inside, outside = (V + (u - mean) ** 2 for V, u in ((V1, m1), (V0, m0)))
    variance = T * inside + (1 - T) * outside
    # E[t y] = T (mean of y under the first weights)
    F = 2 * m * T * (inside - variance) + 2 * (T * (m1 - mean)) ** 2
    d = m1 - m0
    closed = 2 * T * (1 - T) * (m * (V1 - V0 + (1 - 2 * T) * d**2) + T * (1 - T) * d**2)
    return sp.expand(F - closed)


def two_tokens_residual() -> Any:
    """Step 3: the bound (*) at a with phi' = 2 m, phi'' = 2, m = x - a/2, minus j(x, a)."""
    return sp.expand(bound(2 * (x - a / 2), 2) - height(x, a))


def reflected_residual() -> Any:
    """Step 3: j(x, a') - (1-a^2)(x a - (1-3a^2)/4) less what is claimed, for a' of a."""
    other = sp.Symbol("o", real=True)  # a'
    gain = height(x, other) - (1 - a**2) * (x * a - (1 - 3 * a**2) / 4)
    claimed = (a + other) * (a - other) * (a**2 - other**2) / 4
    circle = sp.Poly(a**2 + a * other + other**2 - 1, a)
    return sp.rem(sp.Poly(sp.expand(gain - claimed), a), circle).as_expr().expand()


def widening_residual() -> Any:
    """Step 5: d/dw of w^2 j(r/w - 1/2, a), at w = 1 and the critical x, less the closed form."""
    width, r = sp.symbols("w r", positive=True)
    critical = a * (2 - 3 * a**2) / (1 - 3 * a**2)
    grown = sp.diff(width**2 * height(r / width - sp.Rational(1, 2), a), width)
    value = grown.subs(width, 1).subs(r, critical + sp.Rational(1, 2))
    N = 1 - a - 2 * a**2 + 3 * a**3 + 3 * a**4
    return sp.cancel(value - (1 - a**2) * N / (2 * (1 - 3 * a**2)))


def label(u: Any) -> Any:
    """B of step 7, the |b|^2 of which a^2 = u is critical."""
    return u * (3 - 8 * u + 15 * u**2 - 18 * u**3) ** 2 / (2 * (1 - 3 * u) ** 2 * _circle(u))


def _circle(u: Any) -> Any:
    """Q, which is (1-2u+3u^2)^2/cos(p)^2 at the critical p."""
    return sp.expand((1 - 2 * u + 3 * u**2) ** 2 + u * (1 - 3 * u) ** 2)


def critical_residuals() -> list[Any]:
    """Step 7, with c = cos p; all of these are 0.

    The height over the rectangle minus that of sharp-2; at the critical point its two slopes, |b|^2
    minus B, and the height, twice, minus the closed form: by definition and by the code; and the
    code's slope minus 2 (1-3u)^2 Q (b^2 - h2 B).
    """
    b, angle, c, H, h2 = sp.symbols("b p c H h2", positive=True)
    root2, u, q, D = sp.sqrt(2), a**2, 1 - 3 * a**2, 1 - 2 * a**2 + 3 * a**4
    sine, cosine = sp.sin(angle), sp.cos(angle)
    value = squared_height(root2 * cosine, b + sine / root2, a)
    level = root2 * b * a * cosine + a * sine * cosine + q * cosine**2 / 2
    t = a * q / D
    size = c * (2 * a * (1 + q) / q - t) / root2  # |b|, from the slope in a

    def there(term: Any) -> Any:
        at = sp.expand(term.subs({sine: c * t, cosine: c}).subs(b, size))
        return sp.cancel(at.subs({c**4: 1 / (1 + t**2) ** 2, c**2: 1 / (1 + t**2)}))

    def root(square: Any) -> Any:
        return root2 if square == 2 else sp.sqrt(sp.cancel(square / (1 + t**2))) / c

    closed = (1 - u) ** 2 * (1 + 3 * u) * D**2 / (2 * q * _circle(u))
    slope = normed_slope(h2, b**2, a).replace(sp.Abs, lambda _: q)
    return [
        sp.expand(value - (1 - a**2) * level),
        there(sp.diff(value, angle)),
        there(sp.diff(value, a)),
        sp.cancel(there(b**2) - label(u)),
        sp.cancel(there(value) - closed),
        sp.cancel(there(normed_height(H, H * b, a, root)) - H**2 * closed),
        sp.cancel(slope - 2 * q**2 * _circle(u) * (b**2 - h2 * label(u))),
    ]


def prove_normed() -> str:
    """Check what the proof says of given norms, on top of all of `prove`."""
    prove()
    ensure_zero(critical_residuals(), "step 7, heights and slopes at the critical point")
    p, b, u = sp.symbols("p b u", real=True)
    m = b + sp.sin(p) / sp.sqrt(2)
    value = squared_height(sp.sqrt(2) * sp.cos(p), m, a)
    ensure_zero(value.subs(p, sp.pi / 2), "step 6, the height at p = pi/2")
    edge = sp.diff(value, p).subs(p, 0) - (1 - a**2) * a
    ensure_zero(sp.expand(edge), "step 6, the slope in p at p = 0")
    growth = sp.cancel(sp.diff(label(u), u))
    roots = sp.Poly(sp.numer(growth), u).count_roots(0, sp.Rational(1, 3))
    ensure_zero(roots, "step 7, the slope of B has no root in [0, 1/3]")
    ensure_positive(growth.subs(u, 0), "step 7, the slope of B is positive at 0")
    poles = sp.Poly(_circle(u), u).count_roots(0, sp.Rational(1, 3))
    ensure_zero([poles, label(0)], "step 7, Q has no root in [0, 1/3], and B(0) = 0")
    return "||h||^2 c(|b|/||h||) bounds the curvature for every n; two tokens attain it"


def prove() -> str:
    """Check every identity and inequality between numbers of the proof."""
    prove_bound()
    ensure_zero(code_residuals(), "the code's height is w^2 j(x, a), its slope the derivative")
    ensure_zero(mixture_residual(), "step 1, F of weights with means and variances")
    ensure_zero(two_tokens_residual(), "step 3, two tokens give j(x, a)")
    ensure_zero(reflected_residual(), "step 3, the reflected bound at a is less than j(x, a')")
    # step 4
    slack = sp.Poly(height(x, sp.Rational(2, 5)) - x / 4 - 1 / (12 * sp.sqrt(3)), x)
    ensure_positive(slack.all_coeffs(), "step 4, x/4 + 1/(12 sqrt 3) < j(x, 2/5) for x >= 0")
    root, top = 1 / sp.sqrt(3), 1 / (12 * sp.sqrt(3))
    value = (a * (1 - a**2)).subs(a, root) / 8
    ensure_equal(value, top, "step 4, a (1-a^2)/8 at 1/sqrt 3", normal=sp.simplify)
    # step 5
    slope = sp.diff(height(x, a), a)
    critical = a * (2 - 3 * a**2) / (1 - 3 * a**2)
    ensure_zero(slope.subs(x, critical), "step 5, j_a = 0 at the critical x", normal=sp.cancel)
    ensure_equal(slope.subs(a, root), -root, "step 5, j_a at 1/sqrt 3", normal=sp.simplify)
    ensure_equal(slope.subs(a, 0), x, "step 5, j_a = x at a = 0")
    ensure_zero(widening_residual(), "step 5, the derivative along the width")
    N = sp.Poly(1 - a - 2 * a**2 + 3 * a**3 + 3 * a**4, a)
    ensure_zero(N.count_roots(0, 1), "step 5, N has no root in [0, 1]")
    ensure_positive(N.eval(0), "step 5, N is positive at 0")
    # one critical point: the critical x grows with a, so bisection finds the maximum
    quartic = 9 * a**4 - 3 * a**2 + 2
    rise = quartic / (1 - 3 * a**2) ** 2
    ensure_equal(sp.diff(critical, a), rise, "the derivative of the critical x", normal=sp.cancel)
    ensure_zero(sp.Poly(quartic, a).count_roots(), "the derivative of the critical x has no root")
    return "osc(h)^2 k(x) bounds the curvature of (<f, h> - b)^2 for every n; two tokens attain it"
