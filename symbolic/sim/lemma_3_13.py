"""The best Lipschitz constant of the gradient of g(b <softmax(A x), h>), for any number of tokens.

Letters are those of `symbolic.curvature`, whose bound (*) is attained. The function that the code
maximises, `attsvm.lipschitz.softmax_height` with `best_level`, is evaluated on symbols. Its values
are called heights.

For the loss g(b <f, h>) let D = |b| osc(h) and c = |1 - 2 g|. Then p = D (1-c^2)/4 and
q = D^2 c (1-c^2)/4 (`logistic_residuals`), and (*) becomes K(D) osc(u)^2/2. By adding a number to
h, c takes every value in [0, 1), with either sign of g'', whatever a is.

In x, with s = A x, a unit vector z moves the logits by u = A z, and
osc(u)^2 <= max ||A_j - A_k||^2 <= 2 ||A||^2. So the gradient is Lipschitz with
K(D) max ||A_j - A_k||^2/2, and with K(D) ||A||^2. For A = (1, -1)^T both are the same. The
derivative of the gradient is then twice the height at any a and c in (-1, 1) (`reached`), so that
no smaller constant holds.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import sympy as sp

from attsvm.lipschitz import best_level, softmax_height
from attsvm.losses import curvature_kernel, slope_kernel
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, numerator, symbols_of
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified, suppose
from attsvm.theory.types import Numbers
from properties.sim import lemma_3_13
from properties.sim import lemma_3_13_hessian as hessian
from properties.sim._support import entry_loss
from properties.sim._support.attention import LISTED_RADIUS, MATRIX, SIZES
from symbolic.continuity import ensure_smooth
from symbolic.curvature import MORE, P, a, bound, ensure_hessian, p, prove_bound, q, unit
from symbolic.mean_value import (
    ensure_no_less,
    of_two,
    said_by,
)
from symbolic.sim import basic_4
from symbolic.textbook import (
    COMPOSED,
    CONTINUOUS,
    EXPONENTIAL,
    SECOND_DERIVATIVE,
    TANGENT,
)

c = sp.Symbol("c", real=True)


def logistic_residuals() -> list[sp.Expr]:
    """Return g' - (1-c^2)/4 and |g''| - c (1-c^2)/4 for the code's kernels at c = (1-e)/(1+e)."""
    e = sp.Symbol("e", positive=True)
    level = (1 - e) / (1 + e)
    return [
        cancelled(slope_kernel(e) - (1 - level**2) / 4),
        cancelled(curvature_kernel(e) - level * (1 - level**2) / 4),
    ]


ODDS, POWER, WIDTH = sp.symbols("s e D", positive=True)
SHARE = (1 - ODDS**2) / (1 + ODDS**2)
"""a, which stands for any number in (-1, 1): (1-a)/2 is the softmax weight of the first of the
logits log s and -log s."""


def curvature_of_two(
    gradient: Callable[..., Numbers], h: list[sp.Expr], b: sp.Expr | None = None
) -> sp.Expr:
    """Return the second derivative at x = log s of an entry of the loss, for tokens 1 and -1.

    Args:
        gradient: the formula of the gradient that runs, of an arithmetic, A, x, h and b.
        h: the values of both tokens.
        b: the label; None means 1.
    """
    x = sp.Symbol("x", real=True)
    v = basic_4.opposite(x)
    (slope,) = gradient(SYMBOLS, v.A, v.x, entries(h), sp.Integer(1) if b is None else b)
    return sp.diff(slope, x).subs(x, sp.log(ODDS))


def of_power(curvature: sp.Expr, mean: sp.Expr) -> sp.Expr:
    """Return a curvature with the symbol e in place of exp(<f, h>).

    e may be any positive number, as adding a number to h multiplies exp(<f, h>).

    Args:
        curvature: a value of `curvature_of_two`, or a Hessian.
        mean: <f, h> for these tokens.
    """
    return curvature.replace(sp.exp, lambda y: POWER ** cancelled(y / mean))


REACHES = (
    "the loss of tokens 1 and -1, for which ||A||^2 is 2, has twice the height as its "
    "second derivative, for any a and c in (-1, 1)"
)


def reached() -> list[sp.Expr]:
    """Return numerators of the curvature of two tokens less twice the height, by the code.

    One curvature is by the Hessian and one by the gradient, for any c = (1-e)/(1+e). The first
    token has the value that is higher by D.
    """
    low = sp.Symbol("low", real=True)
    h, mean = [low + WIDTH, low], low + WIDTH * ODDS**2 / (1 + ODDS**2)
    v = basic_4.opposite(sp.log(ODDS))
    bend = entry_loss.hessian(SYMBOLS, v.A, v.x, entries(h), sp.Integer(1)).ravel()[0]
    height = softmax_height(WIDTH, WIDTH**2, SHARE, (1 - POWER) / (1 + POWER))
    curvatures = bend, curvature_of_two(entry_loss.gradient, h)
    return [numerator(of_power(each, mean) - 2 * height) for each in curvatures]


def ensure_attained(
    residuals: object, reaches: str, loss: Callable[..., sp.Expr] = entry_loss.loss
) -> None:
    """Prove that no constant below ||A||^2 times the largest height holds.

    Curvatures of two tokens tend to this number.

    Args:
        residuals: curvatures of two tokens minus twice the heights, for a in (-1, 1).
        reaches: the sentence that these are 0.
        loss: the smooth loss of these curvatures.
    """
    ensure_zero(residuals, reaches)
    v = basic_4.opposite(sp.Symbol("x", real=True))
    ensure_equal(
        [SYMBOLS.spectral(v.A) ** 2, SYMBOLS.spread(v.A) ** 2],
        [2, 2],
        "||A||^2 of these tokens is 2, and so is max ||A_j - A_k||^2/2",
    )
    heights = "heights are polynomials in a and c, on the closed square"
    ensure_smooth(softmax_height(WIDTH, WIDTH**2, a, c), heights)
    cite(COMPOSED, met={CONTINUOUS: heights})
    ensure_no_less(reaches, of_two(loss))


def ensure_constant(slope: str) -> None:
    """Prove that the readings have the constants spread(A)^2 K(D) and ||A||^2 K(D).

    D is |b| (max h - min h), and osc(A z)^2/2 is at most spread(A)^2 for a unit vector z.

    Args:
        slope: the sentence for the first constant.
    """
    basic_4.ensure_span()
    b, D = sp.symbols("b D", positive=True)
    K, h = entry_loss.K(SYMBOLS, b * D), entries([D, 0 * D])
    x, y = symbols_of("x", 2), symbols_of("y", 2)
    v = SimpleNamespace(A=basic_4.TOKENS, x=x, y=y, h=h, b=b)
    ratio = said_by(lemma_3_13.LEMMA, "sharp-2", v).right / SYMBOLS.norm(x - y)
    ensure_equal(cancelled(ratio), (sp.sqrt(2) * basic_4.SPREAD) ** 2 / 2 * K, slope)
    v = SimpleNamespace(A=symbols_of("A", 2, 1), x=x[:1], y=y[:1], h=h, b=b)
    norm = SYMBOLS.spectral(v.A) ** 2 * K
    ratio = said_by(lemma_3_13.LEMMA, "sharp", v).right / SYMBOLS.norm(v.x - v.y)
    ensure_equal(
        [cancelled(ratio), said_by(hessian.LEMMA, "sharp", v).right],
        [norm, norm],
        "the readings named sharp have the constant ||A||^2 K, and ||A|| is at least spread(A)",
    )


def prove() -> str:
    """Prove (*), and that the K(D) of the code is its maximum for the logistic loss."""
    prove_bound()
    ensure_zero(
        logistic_residuals(),
        "at e = exp(-|x|) the code's g' is (1-c^2)/4 and its |g''| is c (1-c^2)/4, for c = "
        "(1-e)/(1+e)",
    )
    D = sp.Symbol("D", positive=True)
    height = bound(D * (1 - c**2) / 4, D**2 * c * (1 - c**2) / 4)
    ensure_equal(
        height,
        softmax_height(D, D**2, a, c),
        "the height that the code maximises is (1-a^2)/2 (p a + q (1-a^2)/4) with p = D "
        "(1-c^2)/4 and q = D^2 c (1-c^2)/4",
    )
    # the floats maximise it over D (1 + D)
    x, y, scale = sp.symbols("x y scale", positive=True)
    scaled = softmax_height(scale * x, scale * y, a, c)
    once = scale * softmax_height(x, y, a, c)
    ensure_equal(
        scaled,
        once,
        "the code's height is homogeneous: with s x and s y in place of x = D and y = D^2 it "
        "is s times as large",
    )
    # the code's c for given a >= 0: the root in [0, 1] of a concave function's slope
    offset, w = x * a, y * P  # at x = D, y = D^2: D times a and D P
    shape = P * (1 - c**2) * (offset + w * c) / 2
    ensure_equal(
        softmax_height(x, y, a, c),
        shape,
        "the code's height at x and y is P (1-c^2) (x a + y P c)/2 with P = (1-a^2)/4",
    )
    start = sp.Symbol("offset", nonnegative=True)
    level = best_level(y, start, sp.sqrt(start**2 + 3 * y**2))
    slope = sp.diff((1 - c**2) * (start + y * c), c)
    ensure_zero(
        slope.subs(c, level),
        "the slope in c of that height is 0 at the c that the code's best_level gives",
        normal=simplified,
    )
    ensure_nonnegative(
        -sp.diff(slope, c).subs(c, MORE), "that height is concave in c, for c >= 0", normal=expanded
    )
    cite(TANGENT, met={SECOND_DERIVATIVE: "that height is concave in c, for c >= 0"})
    bend = "|z^T Hess L z| is at most the constant of sharp-2, K spread(A)^2, for a unit z"
    ensure_constant(bend)
    ensure_hessian(bend, of_two(entry_loss.loss))
    ensure_attained(reached(), REACHES)
    return (
        "||A||^2 K(D) bounds the curvature of g(b <softmax(A x), h>), n any; two tokens attain it"
    )


def ensure_printed() -> None:
    """Prove that both readings with the printed constant have the sides that are printed.

    The formulas are evaluated for two tokens log 3 and 0, values 5 and 1, label 1, x = 0 and y = 1.
    R and n are symbols. The left sides are compared with derivatives that sympy takes.

    Raises:
        ProofError: a side is not the printed one.
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
    for statement, left, is_what in (
        (lemma_3_13.LEMMA, change, "the change of the loss's derivative"),
        (hessian.LEMMA, bend.subs(s, 0), "the loss's second derivative"),
    ):
        name = f"{statement.id}:amended"
        comparison = said_by(statement, "amended", v)
        ensure_equal(
            comparison.left**2, left**2, f"the left side of {name} is {is_what}", normal=simplified
        )
        ensure_equal(comparison.right, constant, f"the right side of {name} is as printed")


def prove_published() -> str:
    """Prove that ||A||^2 K(D) is below the printed constant for every R >= 4 and n >= 1.

    As 1-a^2, 1-c^2, a and c are at most 1, K(D) <= D/8 + D^2/32. Also D <= 2 R^2, ||A|| <= R and
    n^3 exp(13 R^2) >= 1.
    """
    prove()
    R = sp.Symbol("R", positive=True)
    ensure_printed()
    suppose(*SIZES)
    u, v = sp.symbols("u v", real=True)
    ensure_nonnegative(
        2 * (u**2 + v**2) - (u - v) ** 2,
        "(max h - min h)^2 <= 2 ||h||^2",
        normal=factored,
    )
    label, head = R / (1 + MORE), R / (1 + sp.Symbol("less", nonnegative=True))
    ensure_nonnegative(
        (2 * R**2) ** 2 - label**2 * 2 * head**2,
        "so D = |b| (max h - min h) is at most 2 R^2, as |b| and ||h|| are at most R",
        normal=factored,
    )
    gap = p / 8 + q / 32 - softmax_height(p, q, unit("a"), unit("c"))
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
    suppose(MATRIX, LISTED_RADIUS)
    constant = sp.Symbol("K(D)", nonnegative=True)
    ensure_nonnegative(
        R**2 * constant - (R / (1 + MORE)) ** 2 * constant,
        "the constant ||A||^2 K(D) is at most R^2 K(D)",
        normal=factored,
    )
    D = 2 * R**2
    rest = 3 * R**7 - R**2 * (D / 8 + D**2 / 32)
    ensure_positive(
        rest.subs(R, 4 + sp.Symbol("r", nonnegative=True)),
        "3 R^7 exceeds R^2 (D/8 + D^2/32) for D = 2 R^2 and R >= 4",
        normal=expanded,
    )
    return "R^2 K(sqrt 2 R^2) < 3 n^3 R^7 exp(13 R^2) for R >= 4, with K as proved"
