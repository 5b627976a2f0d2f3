"""The best constant of lemma 3.13 for the loss (<f, h> - b)^2.

There are two constants: one for given osc(h) and max |h - b|, one for given ||h|| and |b|. The
proof is in docs/proofs/squared_loss.md, which also numbers the steps.

Let w = osc(h), r = max |h - b| and x = r/w - 1/2. For every number of tokens the curvature along u
in the logits is at most osc(u)^2/2 times w^2 k(x), where k(x) is the maximum over a in [0, 1] of

    j(x, a) = (1-a^2)(x a + (1-3a^2)/4).

Two tokens attain it, of probabilities (1-a)/2 and (1+a)/2. The code's value at w and r - w/2,
`attsvm.lipschitz.squared_height`, is w^2 j(x, a). Steps 1 to 5, the bound, are linked in
`symbolic.sim.lemma_3_13_l2_facts`. Steps 6 and 7 are for given ||h|| = 1 and |b|: the largest
height has w = sqrt 2 cos p and r - w/2 = |b| + sin(p)/sqrt 2 for some p in [0, pi/2].
"""

import sympy as sp

from attsvm.errors import present
from attsvm.lipschitz import normed_height, normed_slope, squared_height, squared_slope
from attsvm.theory import cite, ensure_equal, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified
from attsvm.theory.proof.linked import linked
from properties.sim._support import entry_loss
from symbolic.continuity import cite_extreme_value, ensure_smooth
from symbolic.curvature import (
    a,
)
from symbolic.sim import lemma_3_13_l2_facts as facts
from symbolic.sim.lemma_3_12 import ensure_cubic
from symbolic.sim.lemma_3_13 import SHARE, curvature_of_two, ensure_attained
from symbolic.textbook import DIFFERENTIABLE, INTERIOR, STATIONARY

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


def ensure_code() -> None:
    """Prove that the code finds the maximum over a by bisection.

    The maximiser a is at most 1/sqrt 3. It is the only critical point: the x for which a is
    critical grows with a.
    """
    w, r, m = sp.Symbol("w", positive=True), sp.Symbol("r"), sp.Symbol("m", nonnegative=True)
    ensure_equal(
        present(entry_loss.squared_constant.largest, "a height")(SYMBOLS, w, r, a),
        squared_height(w, r - w / 2, a),
        "the height that the code maximises is that of k",
    )
    ensure_zero(
        code_residuals(),
        "the code's height at w and m = x w is w^2 j(x, a), j(x, a) being that at 1 and x, "
        "and its derivative in a is w times the code's slope",
    )
    ensure_cubic()
    root = 1 / sp.sqrt(3)
    ensure_equal(
        squared_height(w, m, root) - squared_height(w, m, a),
        w * m * (2 * root / 3 - a * (1 - a**2)) + w**2 * (1 - a**2) * (3 * a**2 - 1) / 4,
        "the code's height at 1/sqrt 3 is w m (2/(3 sqrt 3) - a (1-a^2)) + w^2 (1-a^2) "
        "(3a^2-1)/4 above that at a, which is not negative for 1/sqrt 3 <= a <= 1",
    )
    slope = sp.diff(height(x, a), a)
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
    ensure_equal(
        sp.diff(critical, a),
        quartic / (1 - 3 * a**2) ** 2,
        "the derivative of a (2-3a^2)/(1-3a^2) is (9a^4 - 3a^2 + 2)/(1-3a^2)^2",
        normal=cancelled,
    )
    ensure_zero(
        sp.Poly(quartic, a).count_roots(),
        "9a^4 - 3a^2 + 2 has no real root, so that a (2-3a^2)/(1-3a^2) grows with a in [0, "
        "1/sqrt 3)",
    )


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


@linked
def prove() -> str:
    """Prove the constant for given max h - min h and max |h - b|, and that two tokens attain it."""
    ensure_code()
    ensure_attained(reached(), REACHES, entry_loss.squared_loss)
    facts.largest_change()
    return "osc(h)^2 k(x) bounds the curvature of (<f, h> - b)^2 for every n; two tokens attain it"


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


@linked
def prove_normed() -> str:
    """Prove the constant for given ||h|| and |b|, and that two tokens attain it.

    The facts bound the curvature by the largest height in two numbers. The steps show that the code
    evaluates this height.
    """
    facts.normed_change()
    p, b, u, cosine = sp.symbols("p b u c", real=True)
    m = b + sp.sin(p) / sp.sqrt(2)
    value = squared_height(sp.sqrt(2) * sp.cos(p), m, a)
    circle = {sp.sin(p): sp.sqrt(1 - cosine**2), sp.cos(p): cosine}
    ensure_equal(
        present(entry_loss.normed_constant.largest, "a height")(SYMBOLS, 1, b, a, cosine),
        value.subs(circle),
        "the height of c is that at w = sqrt 2 cos p and m = b + sin(p)/sqrt 2",
        normal=expanded,
    )
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
    ensure_attained(reached(), REACHES, entry_loss.squared_loss)
    return "||h||^2 c(|b|/||h||) bounds the curvature for every n; two tokens attain it"
