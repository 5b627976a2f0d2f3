"""Lemma 3.13: the best Lipschitz constant of the gradient of g(b <softmax(A x), h>), any n.

The bounds are linked in `symbolic.sim.lemma_3_13_facts`. Here are the heights as the code evaluates
them, by `attsvm.lipschitz.softmax_height` and `best_level`, and two tokens that attain the
constant.

For A = (1, -1)^T the numbers ||A||^2 and max ||A_j - A_k||^2/2 are the same. By adding a number to
h, c = |1 - 2 g| takes every value in [0, 1), with either sign of g'', whatever a is. The derivative
of the gradient is then twice the height at any a and c in (-1, 1) (`reached`), so that no smaller
constant holds.
"""

from collections.abc import Callable

import sympy as sp

from attsvm.errors import present
from attsvm.lipschitz import best_level, softmax_height
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, numerator
from attsvm.theory.declaration.proof import cancelled, expanded, simplified
from attsvm.theory.proof.linked import linked
from attsvm.theory.types import Numbers
from properties.sim._support import entry_loss
from symbolic.continuity import ensure_smooth
from symbolic.curvature import MORE, P, a
from symbolic.mean_value import ensure_no_less, of_two
from symbolic.sim import basic_4
from symbolic.sim import lemma_3_13_facts as facts
from symbolic.textbook import COMPOSED, CONTINUOUS, SECOND_DERIVATIVE, TANGENT

c = sp.Symbol("c", real=True)


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


def ensure_code() -> None:
    """Prove that the code maximises the height of K, and how it finds the best c."""
    D = sp.Symbol("D", positive=True)
    ensure_equal(
        present(entry_loss.K.largest, "a height")(SYMBOLS, D, a, c),
        softmax_height(D, D**2, a, c),
        "the height that the code maximises is that of K",
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
    shape = P * (1 - c**2) * (x * a + y * P * c) / 2
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


@linked
def prove() -> str:
    """Prove both bounds of the change of the gradient, and that two tokens attain them."""
    ensure_code()
    ensure_attained(reached(), REACHES)
    facts.largest_change()
    return "for any n: ||A||^2 K(D), and K(D) times half of the squared diameter of A"


@linked
def prove_hessian() -> str:
    """Prove the bound of the Hessian, and that two tokens attain it."""
    ensure_attained(reached(), REACHES)
    facts.largest_hessian()
    return "||A||^2 K(D) bounds the Hessian for any n"


@linked
def prove_published() -> str:
    """Prove the printed bound of the change: the heights are at most D/8 + D^2/32, D <= 2 R^2."""
    facts.printed_change()
    return "R^4/4 + R^6/8 <= 3 R^7 <= 3 n^3 R^7 exp(13 R^2) for R >= 4"


@linked
def prove_published_hessian() -> str:
    """Prove the printed bound of the Hessian in the same way."""
    facts.printed_hessian()
    return "R^4/4 + R^6/8 <= 3 R^7 <= 3 n^3 R^7 exp(13 R^2) for R >= 4"
