"""The best constant of lemma 3.13 for the loss (<f, h> - b)^2.

There are two: one for given osc(h) and max |h - b|, one for given ||h|| and |b|. The proof is in
docs/proofs/squared_loss.md; steps named here are numbered there.

Let w = osc(h), r = max |h - b| and x = r/w - 1/2. For every number of tokens the curvature along u
in the logits is at most osc(u)^2/2 times w^2 k(x), where k(x) is the maximum over a in [0, 1] of

    j(x, a) = (1-a^2)(x a + (1-3a^2)/4).

Two tokens attain it, of probabilities (1-a)/2 and (1+a)/2. The code's value at w and r - w/2,
`attsvm.lipschitz.squared_height`, is w^2 j(x, a). The residual m = <f, h> - b depends on f here, so
that (*) of `symbolic.curvature` is too weak.

Steps 1 to 5 take w = 1, t = h - min h and m = x - 1/2 + E t >= 0, with any sign of x. They bound
the curvature F = 2 m E[t (v^2 - E v^2)] + 2 (E[t v])^2 for v = u - E u and u in [0, 1]^n of
osc(u) = 1. There T = E t, a = 1 - 2 T, P = T (1-T) and B = m a + P. Steps 6 and 7 are for given
||h|| = 1 and |b|: the largest height has w = sqrt 2 cos p and r - w/2 = |b| + sin(p)/sqrt 2 for
some p in [0, pi/2].
"""

from collections.abc import Callable
from types import SimpleNamespace

import sympy as sp

from attsvm.lipschitz import normed_height, normed_slope, squared_height, squared_slope
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified
from attsvm.theory.types import Values
from properties.sim._support import entry_loss
from properties.sim.lemma_3_13_l2 import LEMMA
from symbolic.continuity import cite_extreme_value, ensure_smooth
from symbolic.curvature import (
    LESS,
    MORE,
    a,
    bound,
    ensure_hessian,
    ensure_moments,
    ensure_variances,
    nested_residual,
)
from symbolic.mean_value import of_two, said_by
from symbolic.sim import basic_4
from symbolic.sim.lemma_3_12 import ensure_cubic
from symbolic.sim.lemma_3_13 import SHARE, curvature_of_two, ensure_attained
from symbolic.textbook import DIFFERENTIABLE, INTERIOR, RISING, SIGN, STATIONARY, TRIANGLE

x = sp.Symbol("x", real=True)

REACHES = (
    "the loss of tokens 1 and -1, for which ||A||^2 is 2, has twice the code's height as "
    "its second derivative, for any w, m and a in (-1, 1)"
)


def height(x: sp.Expr, a: sp.Expr) -> sp.Expr:
    """Return j(x, a), as the code evaluates it."""
    return squared_height(1, x, a)


def code_residuals() -> list[sp.Expr]:
    """Return two differences that are 0 if the code is right at w and m = x w.

    They are the code's height minus w^2 j(x, a), and the height's derivative in a minus w times the
    code's slope.
    """
    w = sp.Symbol("w", positive=True)
    scaled = squared_height(w, x * w, a)
    return [
        sp.expand(scaled - w**2 * height(x, a)),
        sp.expand(sp.diff(scaled, a) - w * squared_slope(w, x * w, a)),
    ]


def mixture_residual() -> sp.Expr:
    """Return F, by the means and variances of step 1, minus its closed form there."""
    m1, m0, V1, V0, m, T = sp.symbols("m1 m0 V1 V0 m T", real=True)
    mean = T * m1 + (1 - T) * m0
    inside, outside = (V + (u - mean) ** 2 for V, u in ((V1, m1), (V0, m0)))
    variance = T * inside + (1 - T) * outside
    # E[t y] = T (mean of y under the first weights)
    F = 2 * m * T * (inside - variance) + 2 * (T * (m1 - mean)) ** 2
    d = m1 - m0
    closed = 2 * T * (1 - T) * (m * (V1 - V0 + (1 - 2 * T) * d**2) + T * (1 - T) * d**2)
    return sp.expand(F - closed)


def two_tokens_residual() -> sp.Expr:
    """Return the residual of step 3: the term of (*) at a minus j(x, a).

    In (*), p = 2 m, q = 2 and m = x - a/2.
    """
    return sp.expand(bound(2 * (x - a / 2), 2) - height(x, a))


def reflected_residual() -> sp.Expr:
    """Return j(x, a') - (1-a^2)(x a - (1-3a^2)/4) - (a^2 - a'^2)^2/4 for the a' of step 3."""
    other = sp.Symbol("o", real=True)  # a'
    gain = height(x, other) - (1 - a**2) * (x * a - (1 - 3 * a**2) / 4)
    claimed = (a + other) * (a - other) * (a**2 - other**2) / 4
    circle = sp.Poly(a**2 + a * other + other**2 - 1, a)
    return sp.rem(sp.Poly(sp.expand(gain - claimed), a), circle).as_expr().expand()


def shorter_residual(sign: int) -> sp.Expr:
    """Return the second bound of step 2 minus half the height of two tokens in a shorter interval.

    Their probabilities are k and 1 - k, and their values are w' apart. 1 - T (or T, for the other
    sign) is (1-k) w'. The first value is at the end x + 1/2 (or x - 1/2) of the interval.
    """
    k, width = sp.symbols("k w'", real=True)
    beside = (1 - k) * width
    middle = x + sign * (1 - width) / 2
    m = x + sign * (sp.Rational(1, 2) - beside)  # x - 1/2 + T
    curvature = 2 * k * beside * (m * (1 - 2 * k) + sign * k * beside)
    return sp.expand(curvature - sign * squared_height(width, middle, sign * (1 - 2 * k)) / 2)


def ensure_shorter() -> None:
    """Prove steps 1 and 2: F is at most P m/2, or the curvature of two tokens in an interval.

    The interval lies in the given one and may be shorter.
    """
    ensure_zero(
        mixture_residual(),
        "with T = E t, a = 1 - 2T and P = T (1-T), F = 2 m E[t (v^2 - E v^2)] + 2 (E[t v])^2 "
        "is 2 P (m (V1 - V0 + a d^2) + P d^2): u has the variances V1 and V0 under the "
        "weights f t/T and f (1-t)/(1-T), and d is the difference of its means",
    )
    P, m, V1, V0, d2 = sp.symbols("P m V1 V0 d^2", nonnegative=True)
    B = sp.Symbol("B", real=True)
    F = 2 * P * (m * (V1 - V0) + B * d2)
    ensure_nonnegative(
        [
            2 * P * (m * V1 + B * d2) - F,
            2 * P * (m * V0 - B * d2) + F,
            (2 * P * m * V1 - F).subs(B, -MORE),
            (2 * P * m * V0 + F).subs(B, MORE),
        ],
        "F <= 2 P (m V1 + B d^2) and -F <= 2 P (m V0 - B d^2), B = m a + P; where B <= 0 the "
        "first holds without d^2, where B >= 0 the second",
        normal=expanded,
    )
    ensure_variances()
    ensure_zero(
        nested_residual(),
        "T (1-T) (m w (1-w) + B w^2), B = m (1-2T) + q T (1-T), is k (1-T) (m (1-2k) + q k "
        "(1-T)) for k = T w, with q = 1 and with q = -1",
    )
    shorter = [shorter_residual(sign) for sign in (1, -1)]
    ensure_zero(
        shorter,
        "twice that bound is, but for its sign, half of the height of two tokens of weights "
        "k and 1-k whose values are w' apart, where (1-k) w' is 1-T or T",
    )
    cite(TRIANGLE)
    width, size = sp.symbols("w' |x|", nonnegative=True)
    ensure_nonnegative(
        (size + sp.Rational(1, 2)) - (size + (1 - width) / 2 - LESS + width / 2),
        "the values of these two tokens are at most |x| + 1/2 from b, as |x +- (1-w')/2| <= "
        "|x| + (1-w')/2",
        normal=expanded,
    )


def ensure_reflected() -> None:
    """Prove step 3: |F| of two tokens is at most k(|x|)/2, the maximum for some a <= 1/sqrt 3."""
    ensure_zero(
        two_tokens_residual(),
        "(1-a^2)/2 (p a + q (1-a^2)/4) is j(x, a) for p = 2 (x - a/2) and q = 2, as for two "
        "tokens with t = 0 and t = 1",
    )
    minus = (1 - a**2) * (x * a - (1 - 3 * a**2) / 4)
    flat, spare = sp.symbols("1-a^2 1-3a^2", nonnegative=True)
    ensure_equal(
        height(x, a) - minus,
        (flat * spare / 2).subs({flat: 1 - a**2, spare: 1 - 3 * a**2}),
        "j(x, a) - (1-a^2) (x a - (1-3a^2)/4) is (1-a^2) (1-3a^2)/2, which is not negative "
        "where a^2 <= 1/3",
    )
    other = (sp.sqrt(4 - 3 * a**2) - a) / 2
    ensure_equal(
        [a**2 + a * other + other**2, (4 - 3 * a**2) - a**2, 2**2 - (4 - 3 * a**2)],
        [1, 4 * (1 - a**2), 3 * a**2],
        "a' = (sqrt(4-3a^2) - a)/2 is in [0, 1] for a in [0, 1], and a^2 + a a' + a'^2 = 1",
    )
    ensure_zero(
        reflected_residual(),
        "j(x, a') - (1-a^2) (x a - (1-3a^2)/4) is (a^2 - a'^2)^2/4 where a^2 + a a' + a'^2 = 1",
    )
    ensure_cubic()
    w, m, root = sp.Symbol("w", positive=True), sp.Symbol("m", nonnegative=True), 1 / sp.sqrt(3)
    ensure_equal(
        squared_height(w, m, root) - squared_height(w, m, a),
        w * m * (2 * root / 3 - a * (1 - a**2)) + w**2 * (1 - a**2) * (3 * a**2 - 1) / 4,
        "the code's height at 1/sqrt 3 is w m (2/(3 sqrt 3) - a (1-a^2)) + w^2 (1-a^2) "
        "(3a^2-1)/4 above that at a, which is not negative for 1/sqrt 3 <= a <= 1",
    )


FIRST = "the height at w and m = r - w/2 rises with w up to w = r, for a up to 1/sqrt 3"
SECOND = "the height at w and m = r - w/2 rises with w for a up to 1/3, whatever w is"
THIRD = "the height at w and m = r - w/2 does not rise with a from a = 1/3 on, where w >= r"


def ensure_wider() -> None:
    """Prove step 5: the constant grows with the interval."""
    w, r, k = sp.symbols("w r a", nonnegative=True)
    higher = squared_height(w, MORE + LESS, k) - squared_height(w, LESS, k)
    ensure_equal(
        higher,
        w * (1 - k**2) * k * MORE,
        "the code's height at w and m rises with m, by w a (1-a^2) times as much",
    )
    rise = r * k + w * (1 + k) * (1 - 3 * k) / 2
    slope = sp.diff(squared_height(w, r - w / 2, k), w)
    ensure_equal(
        slope,
        (1 - k**2) * rise,
        "the slope in w of the height at w and m = r - w/2 is (1-a^2) (r a + w (1+a) (1-3a)/2)",
    )
    share, rest, spare = sp.symbols("w/r rest spare", nonnegative=True)
    ensure_equal(
        rise.subs(w, share * r),
        r * ((1 - share) * k + share * (1 - 3 * k**2) / 2),
        "r a + w (1+a) (1-3a)/2 is the mean of r a and r (1-3a^2)/2 with the weights 1 - w/r "
        "and w/r, for w <= r",
    )
    ensure_nonnegative(r * (rest * k + share * spare / 2), FIRST)
    ensure_nonnegative(r * k + w * (1 + k) * spare / 2, SECOND)
    polynomial = "heights are polynomials"
    ensure_smooth(squared_height(w, r - w / 2, k), polynomial)
    cite(RISING, met={SIGN: FIRST, DIFFERENTIABLE: polynomial})
    cite(RISING, met={SIGN: SECOND, DIFFERENTIABLE: polynomial})
    ensure_equal(
        sp.diff(squared_height(w, r, k), k),
        w * squared_slope(w, r, k),
        "the slope of the code's height in a is w times the slope that the code evaluates",
    )
    # r - w/2 is w/2 - less with less >= 0
    falls = -squared_slope(w, w / 2 - LESS, k)
    parts = LESS * (1 - 3 * k**2) + w * (3 * k - 1) * (1 - k) / 2 + 3 * w * k**2 * (1 - k)
    ensure_equal(
        falls,
        parts,
        "at m = w/2 - less the code's slope is the opposite of less (1-3a^2) + w (3a-1) "
        "(1-a)/2 + 3 w a^2 (1-a)",
    )
    below, beyond = sp.symbols("1-a 3a-1", nonnegative=True)
    ensure_nonnegative(parts.subs({1 - 3 * k**2: spare, 3 * k - 1: beyond, 1 - k: below}), THIRD)
    cite(RISING, met={SIGN: THIRD, DIFFERENTIABLE: polynomial})


def label(u: sp.Expr) -> sp.Expr:
    """Return B(u) of step 7, the |b|^2 for which a^2 = u is critical."""
    return u * (3 - 8 * u + 15 * u**2 - 18 * u**3) ** 2 / (2 * (1 - 3 * u) ** 2 * _circle(u))


def _circle(u: sp.Expr) -> sp.Expr:
    """Return Q(u) of step 7, which is (1-2u+3u^2)^2/cos(p)^2 at the critical p."""
    return sp.expand((1 - 2 * u + 3 * u**2) ** 2 + u * (1 - 3 * u) ** 2)


def critical_residuals() -> list[sp.Expr]:
    """Return residuals of step 7, with c = cos p; all of them are 0.

    - The height at w = sqrt 2 cos p and m = b + sin(p)/sqrt 2 minus its polynomial.
    - At the critical point: the derivatives in p and in a, |b|^2 minus B, and the height minus the
      closed form, once by definition and once by the code.
    - The code's slope minus 2 (1-3u)^2 Q (b^2 - h2 B), where h2 is ||h||^2.
    """
    b, angle, c, H, h2 = sp.symbols("b p c H h2", positive=True)
    root2, u, q, D = sp.sqrt(2), a**2, 1 - 3 * a**2, 1 - 2 * a**2 + 3 * a**4
    sine, cosine = sp.sin(angle), sp.cos(angle)
    value = squared_height(root2 * cosine, b + sine / root2, a)
    level = root2 * b * a * cosine + a * sine * cosine + q * cosine**2 / 2
    t = a * q / D
    size = c * (2 * a * (1 + q) / q - t) / root2  # |b|, from the slope in a

    def there(term: sp.Expr) -> sp.Expr:
        at = sp.expand(term.subs({sine: c * t, cosine: c}).subs(b, size))
        return cancelled(at.subs({c**4: 1 / (1 + t**2) ** 2, c**2: 1 / (1 + t**2)}))

    def root(square: sp.Expr) -> sp.Expr:
        return root2 if square == 2 else sp.sqrt(cancelled(square / (1 + t**2))) / c

    closed = (1 - u) ** 2 * (1 + 3 * u) * D**2 / (2 * q * _circle(u))
    slope = normed_slope(h2, b**2, a).replace(sp.Abs, lambda _: q)
    return [
        sp.expand(value - (1 - a**2) * level),
        there(sp.diff(value, angle)),
        there(sp.diff(value, a)),
        cancelled(there(b**2) - label(u)),
        cancelled(there(value) - closed),
        cancelled(there(normed_height(H, H * b, a, root)) - H**2 * closed),
        cancelled(slope - 2 * q**2 * _circle(u) * (b**2 - h2 * label(u))),
    ]


def ensure_bound() -> None:
    """Prove that the curvature along u is at most w^2 k(x) osc(u)^2/2, for any number of tokens."""
    ensure_moments()
    ensure_zero(
        code_residuals(),
        "the code's height at w and m = x w is w^2 j(x, a), j(x, a) being that at 1 and x, "
        "and its derivative in a is w times the code's slope",
    )
    ensure_shorter()
    ensure_reflected()
    # step 4
    slack = sp.Poly(height(x, sp.Rational(2, 5)) - x / 4 - 1 / (12 * sp.sqrt(3)), x)
    ensure_positive(slack.all_coeffs(), "x/4 + 1/(12 sqrt 3) < j(x, 2/5) for x >= 0")
    size, k = sp.symbols("|x| |a|", nonnegative=True)
    most = (1 - k**2) * (size + k / 2) / 4
    rest = size * k**2 / 4 + (sp.Rational(2, 3) / sp.sqrt(3) - k * (1 - k**2)) / 8
    ensure_equal(
        size / 4 + 1 / (12 * sp.sqrt(3)) - most,
        rest,
        "P |x - a/2|, P = (1-a^2)/4, is at most |x|/4 + 1/(12 sqrt 3), as a (1-a^2) <= 2/(3 "
        "sqrt 3) for a >= 0",
    )
    ensure_wider()


def reached() -> sp.Expr:
    """Return the curvature of tokens 1 and -1 minus twice the code's height, for any w, m and b.

    With m = r - w/2 the first token has the value b + r, r >= w/2, and the second one b + r - w.
    These values are mu +- w/2 for mu = b + m, so that m is |b| + mu if b is negative.
    """
    w = sp.Symbol("w", positive=True)
    m, b = sp.symbols("m b", real=True)
    h = [b + m + w / 2, b + m - w / 2]
    curvature = curvature_of_two(entry_loss.squared_gradient, h, b)
    return cancelled(curvature - 2 * squared_height(w, m, SHARE))


def ensure_compared(reading: str, constant: Callable[[Values], sp.Expr], slope: str) -> None:
    """Prove that a reading has the Lipschitz constant ||A||^2 times `constant`, which is attained.

    Args:
        reading: the name of the reading.
        constant: the constant of the curvature in the logits.
        slope: the sentence that ||A||^2 times it bounds |z^T Hess z| for unit z.
    """
    basic_4.ensure_span()
    v = SimpleNamespace(
        A=symbols_of("A", 2, 1),
        x=symbols_of("x", 1),
        y=symbols_of("y", 1),
        h=symbols_of("h", 2),
        b=symbols_of("b"),
    )
    ratio = said_by(LEMMA, reading, v).right / SYMBOLS.norm(v.x - v.y)
    ensure_equal(cancelled(ratio), SYMBOLS.dot(v.A[:, 0], v.A[:, 0]) * constant(v), slope)
    ensure_hessian(slope, of_two(entry_loss.squared_loss))
    ensure_attained(reached(), REACHES, entry_loss.squared_loss)


def prove() -> str:
    """Prove the constant for given max h - min h and max |h - b|, and that it is sharp.

    These are steps 1 to 5. The critical x grows with a, so that the code finds the maximum by
    bisection.
    """
    ensure_bound()

    def constant(v: Values) -> sp.Expr:
        w = SYMBOLS.oscillation(v.h)
        return entry_loss.squared_constant(SYMBOLS, w, SYMBOLS.largest(v.h - v.b))

    ensure_compared(
        "sharp", constant, "|z^T Hess z| is at most the constant of sharp, ||A||^2 k, for a unit z"
    )
    # one critical point: the critical x grows with a, so bisection finds the maximum
    slope, root = sp.diff(height(x, a), a), 1 / sp.sqrt(3)
    critical = a * (2 - 3 * a**2) / (1 - 3 * a**2)
    ensure_zero(
        slope.subs(x, critical),
        "the derivative of j(x, a) in a is 0 at x = a (2-3a^2)/(1-3a^2)",
        normal=cancelled,
    )
    ensure_equal(
        slope.subs(a, root),
        -root,
        "the derivative of j(x, a) in a is -1/sqrt 3 at a = 1/sqrt 3",
        normal=simplified,
    )
    ensure_equal(slope.subs(a, 0), x, "the derivative of j(x, a) in a is x at a = 0")
    quartic = 9 * a**4 - 3 * a**2 + 2
    rise = quartic / (1 - 3 * a**2) ** 2
    ensure_equal(
        sp.diff(critical, a),
        rise,
        "the derivative of a (2-3a^2)/(1-3a^2) is (9a^4 - 3a^2 + 2)/(1-3a^2)^2",
        normal=cancelled,
    )
    ensure_zero(
        sp.Poly(quartic, a).count_roots(),
        "9a^4 - 3a^2 + 2 has no real root, so that a (2-3a^2)/(1-3a^2) grows with a in [0, "
        "1/sqrt 3)",
    )
    return "osc(h)^2 k(x) bounds the curvature of (<f, h> - b)^2 for every n; two tokens attain it"


EDGES = (
    "at a = 0 the slope of the height in a is positive for m > 0, at a = 1/sqrt 3 "
    "negative, and at p = 0 the slope in p is positive for a > 0: the largest height is "
    "inside, or b = 0 and a = p = 0"
)


def ensure_inside(value: sp.Expr, p: sp.Expr) -> None:
    """Prove step 6: at the point of largest height both derivatives are 0.

    Args:
        value: the height in a, p and b.
        p: the letter p.
    """
    ensure_zero(
        value.subs(p, sp.pi / 2),
        "the height at w = sqrt 2 cos p and m = b + sin(p)/sqrt 2 is 0 for p = pi/2",
    )
    edge = sp.diff(value, p).subs(p, 0) - (1 - a**2) * a
    ensure_zero(sp.expand(edge), "the slope of that height in p is a (1-a^2) at p = 0")
    w, m = sp.symbols("w m", positive=True)
    k = 1 / (1 + sp.Symbol("r", positive=True))  # any a in (0, 1)
    ensure_positive(
        [
            squared_slope(w, m, sp.Integer(0)),
            -squared_slope(w, m, 1 / sp.sqrt(3)),
            factored((1 - k**2) * k),
        ],
        EDGES,
        normal=factored,
    )
    smooth = "heights are polynomials in a, cos p and sin p"
    ensure_smooth(value, smooth)
    cite_extreme_value(smooth, "the largest height on a rectangle of a and p")
    cite(STATIONARY, met={INTERIOR: EDGES, DIFFERENTIABLE: smooth})


def only_critical_residual(value: sp.Expr, p: sp.Expr, b: sp.Expr) -> sp.Expr:
    """Return the derivative in p over (1-a^2) cos(p)^2 minus (a - D t/q), if that in a is 0.

    Here t = tan p, q = 1 - 3a^2 and D = 1 - 2a^2 + 3a^4. So both derivatives are 0 only if
    t = a q/D, as step 7 says.
    """
    t = sp.Symbol("t", real=True)
    c = sp.Symbol("c", positive=True)
    q, D = 1 - 3 * a**2, 1 - 2 * a**2 + 3 * a**4
    flat = [sp.diff(value, x).subs({sp.sin(p): c * t, sp.cos(p): c}) for x in (a, p)]
    (size,) = sp.solve(flat[0], b)
    return cancelled(flat[1].subs(b, size) / ((1 - a**2) * c**2) - (a - D * t / q))


def prove_normed() -> str:
    """Prove the constant for given ||h|| and |b|: steps 1 to 7, and that it is sharp."""
    ensure_bound()
    p, b, u = sp.symbols("p b u", real=True)
    w, mu, k = sp.symbols("w mu a", nonnegative=True)
    ends = (mu + w / 2) ** 2 + (mu - w / 2) ** 2
    ensure_equal(
        ends,
        w**2 / 2 + 2 * mu**2,
        "the squares of the extreme values mu +- w/2 add up to w^2/2 + 2 mu^2",
    )
    circle = ends.subs({w: sp.sqrt(2) * sp.cos(p), mu: sp.sin(p) / sp.sqrt(2)})
    ensure_equal(
        circle,
        1,
        "w^2/2 + 2 mu^2 is ||h||^2 = 1 at w = sqrt 2 cos p and mu = sin(p)/sqrt 2",
        normal=simplified,
    )
    cite(TRIANGLE)  # r - w/2 = |mu - b| <= |mu| + |b|
    higher = squared_height(w, MORE + mu, k) - squared_height(w, mu, k)
    ensure_equal(
        higher,
        w * (1 - k**2) * k * MORE,
        "the height rises with m and so with mu, up to w^2/2 + 2 mu^2 = 1",
    )
    m = b + sp.sin(p) / sp.sqrt(2)
    value = squared_height(sp.sqrt(2) * sp.cos(p), m, a)
    ensure_inside(value, p)
    ensure_zero(
        only_critical_residual(value, p, b),
        "where the slope of the height in a is 0 that in p is (1-a^2) cos(p)^2 (a - D "
        "tan(p)/q), q = 1-3a^2 and D = 1-2a^2+3a^4",
    )
    ensure_zero(
        critical_residuals(),
        "at tan p = a q/D both slopes are 0, b^2 is B(u) = u (3-8u+15u^2-18u^3)^2/(2 "
        "(1-3u)^2 Q(u)), Q(u) = (1-2u+3u^2)^2 + u (1-3u)^2 and u = a^2, and the height is "
        "the closed form (1-u)^2 (1+3u) D^2/(2 q Q(u)) that the code evaluates",
    )
    growth = cancelled(sp.diff(label(u), u))
    roots = sp.Poly(sp.numer(growth), u).count_roots(0, sp.Rational(1, 3))
    ensure_zero(roots, "the derivative of B has no root in [0, 1/3]")
    ensure_positive(growth.subs(u, 0), "the derivative of B is positive at 0, so that B grows")
    poles = sp.Poly(_circle(u), u).count_roots(0, sp.Rational(1, 3))
    ensure_zero([poles, label(0)], "Q has no root in [0, 1/3], and B(0) = 0")
    top = (sp.denom(cancelled(label(u))) / (1 - 3 * u) ** 2).subs(u, 0)
    ensure_positive(
        [top, (label(u) * (1 - 3 * u) ** 2).subs(u, sp.Rational(1, 3))],
        "B(u) tends to infinity as u grows to 1/3, so that each b != 0 has one critical point",
    )

    def constant(v: Values) -> sp.Expr:
        return entry_loss.normed_constant(SYMBOLS, SYMBOLS.dot(v.h, v.h), SYMBOLS.abs(v.b))

    ensure_compared(
        "sharp-2", constant, "|z^T Hess z| is at most the constant of sharp-2, for a unit z"
    )
    return "||h||^2 c(|b|/||h||) bounds the curvature for every n; two tokens attain it"
