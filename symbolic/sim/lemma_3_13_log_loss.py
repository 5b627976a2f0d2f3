"""The best constant of lemma 3.13 for l(u) = log(1 + exp(-u)) in place of g, in closed form.

Let c = tanh(-u/2), so that -l' = (1+c)/2 and l'' = (1-c^2)/4 with c in (-1, 1).
With D = |b| osc(h) and y = D (1-a^2)/4 the maximum in (*) of `symbolic.curvature` is the maximum
over a in [0, 1] of the height

    y (a (1+c) + y (1-c^2)/2) = ((a + y)^2 - (a - y c)^2)/2

By adding a number to h, c takes every value in (-1, 1). The supremum of the height is

    K(D) = D/(3 sqrt 3) for D <= 2 sqrt 3,   (D/4 + 1/D)^2/2 for D > 2 sqrt 3.

- D > 2 sqrt 3. The height is at most (a + y)^2/2, and a + y = D/4 + 1/D - (D/4)(a - 2/D)^2.
  Equality holds at a = 2/D and c = a/y = 8/(D^2 - 4) < 1.
- D <= 2 sqrt 3. If a >= y, the height grows with c to 2 a y = D a (1-a^2)/2 <= D/(3 sqrt 3). If
  a < y, it is at most (a + y)^2/2. Let s be the a with a = y, so that D = 4 s/(1-s^2) and
  3 s^2 <= 1. Then a < s and a + y <= 2 s, and (2 s)^2/2 = D s (1-s^2)/2 is at most D/(3 sqrt 3)
  again. Two tokens with a = 1/sqrt 3 approach K(D) as b <f, h> tends to minus infinity; it is not
  attained.

The curvature of two tokens takes the value of the height for any a and c in (-1, 1) (`reached`), so
that no smaller constant holds.
"""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.lipschitz import log_loss_below, log_loss_beyond
from attsvm.theory import (
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_zero,
    gradient,
)
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import cancelled, expanded, factored, simplified
from attsvm.theory.types import Namespace, Numbers
from properties.sim._support import entry_loss
from properties.sim.lemma_3_13_log_loss import LEMMA
from symbolic.continuity import ensure_smooth
from symbolic.curvature import MORE, a, bound, ensure_hessian, prove_bound
from symbolic.mean_value import of_two, said_by
from symbolic.sim import basic_4
from symbolic.sim.lemma_3_12 import ensure_cubic
from symbolic.sim.lemma_3_13 import (
    ODDS,
    POWER,
    REACHES,
    SHARE,
    WIDTH,
    c,
    curvature_of_two,
    ensure_attained,
    of_power,
)
from symbolic.textbook import DIFFERENTIABLE, RISING, SIGN

D = sp.Symbol("D", positive=True)
y = D * (1 - a**2) / 4


RISES = "y (a - y c), the slope of the height in c, is not negative where y c <= y <= a"
BENDS = "|z^T Hess z| is at most the constant of sharp, ||A||^2 K, for a unit z"


def ensure_beyond() -> None:
    """Prove the supremum K(D) for D > 2 sqrt 3, which is attained."""
    parabola = D / 4 + 1 / D - D / 4 * (a - 2 / D) ** 2
    ensure_equal(a + y, parabola, "a + y is D/4 + 1/D less a square, which is 0 at a = 2/D")
    beyond = ((a + y) ** 2 / 2).subs(a, 2 / D)
    ensure_equal(
        log_loss_beyond(D), beyond, "the code's formula for D > 2 sqrt 3 is (a + y)^2/2 at a = 2/D"
    )
    level = 8 / (D**2 - 4)
    ensure_equal(
        2 / D / y.subs(a, 2 / D), level, "c = a/y is 8/(D^2 - 4) at a = 2/D", normal=cancelled
    )
    square = 12 + sp.Symbol("more", positive=True)  # D^2
    there = level.subs(D**2, square)
    ensure_positive([there, 1 - there], "8/(D^2 - 4) is in (0, 1) for D^2 > 12", normal=cancelled)


def ensure_below() -> None:
    """Prove the supremum K(D) for D <= 2 sqrt 3, which is approached as c tends to 1."""
    height = y * (a * (1 + c) + y * (1 - c**2) / 2)
    ensure_equal(sp.diff(height, c), y * (a - y * c), "the slope of the height in c is y (a - y c)")
    level, spare = sp.symbols("y 1-c", nonnegative=True)
    ensure_nonnegative(level * ((level + MORE) - level * (1 - spare)), RISES, normal=expanded)
    polynomial = "the height is a polynomial"
    ensure_smooth(height, polynomial)
    cite(RISING, met={SIGN: RISES, DIFFERENTIABLE: polynomial})
    ensure_cubic()
    free, root = D * a * (1 - a**2) / 2, 1 / sp.sqrt(3)
    ensure_equal(height.subs(c, 1), free, "the height grows with c to D a (1-a^2)/2 at c = 1")
    top = log_loss_below(D, sp.sqrt)
    ensure_equal(
        top,
        D / 2 * sp.Rational(2, 3) * root,
        "D/2 times 2/(3 sqrt 3), which no D a (1-a^2)/2 exceeds, is the code's formula for D "
        "<= 2 sqrt 3",
    )
    ensure_equal(
        free.subs(a, root),
        top,
        "D a (1-a^2)/2 is the code's formula at a = 1/sqrt 3",
        normal=simplified,
    )
    s = sp.Symbol("s", positive=True)
    width = 4 * s / (1 - s**2)
    ensure_equal(
        [y.subs({a: s, D: width}), width.subs(s, root)],
        [s, 2 * sp.sqrt(3)],
        "y = a at a = s for D = 4 s/(1-s^2), which is 2 sqrt 3 at s = 1/sqrt 3",
        normal=simplified,
    )
    ensure_positive(
        factored(sp.diff(4 * s / (1 - s**2), s) * (1 - s**2) ** 2),
        "4 s/(1-s^2) grows with s, for s < 1",
    )
    ensure_zero(
        cancelled((1 - s**2) * (a - y.subs(D, width)) - (a - s) * (1 + a * s)),
        "a - y is (a - s) (1 + a s) over 1 - s^2, so that a < y only where a < s",
    )
    gap = (s - a) * ((1 - s**2) - s * (a + s))
    ensure_zero(
        cancelled((1 - s**2) * (2 * s - (a + y.subs(D, width))) - gap),
        "2 s - (a + y) is (s - a) (1 - s^2 - s (a + s)) over 1 - s^2",
    )
    less, flat = sp.symbols("s-a 1-3s^2", nonnegative=True)
    inner = sp.expand((1 - s**2 - s * (a + s)).subs(a, s - less)) - (1 - 3 * s**2) + flat
    ensure_nonnegative(
        less * inner,
        "(s - a) (1 - s^2 - s (a + s)) is not negative for a <= s and 3 s^2 <= 1",
        normal=expanded,
    )
    ensure_zero(
        cancelled((2 * s) ** 2 / 2 - free.subs({a: s, D: width})),
        "so (a + y)^2/2 is at most 2 s^2 = D s (1-s^2)/2",
    )


def log_gradient(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: sp.Expr) -> Numbers:
    """Return the gradient of the log-loss by the rules of calculus, as the claim takes it."""
    return gradient(m, lambda m, point: entry_loss.log_loss(m, A, point, h, b), x)


def reached() -> sp.Expr:
    """Return the curvature of tokens 1 and -1 minus twice the height, for any c = (1-e)/(1+e).

    The first token has the lower value.
    """
    low = sp.Symbol("low", real=True)
    h, mean = [low, low + WIDTH], low + WIDTH / (1 + ODDS**2)
    level, spread = (1 - POWER) / (1 + POWER), WIDTH * (1 - SHARE**2) / 4
    height = spread * (SHARE * (1 + level) + spread * (1 - level**2) / 2)
    return cancelled(of_power(curvature_of_two(log_gradient, h), mean) - 2 * height)


def prove() -> str:
    """Prove the closed form of K(D), with the code's two formulas evaluated on symbols."""
    prove_bound()
    e = sp.Symbol("e", positive=True)  # exp(u), so that d/du = e d/de
    slope = e * sp.diff(sp.log(1 + 1 / e), e)
    derivatives, level = [-slope, e * sp.diff(slope, e)], (1 - e) / (1 + e)
    closed = [(1 + level) / 2, (1 - level**2) / 4]
    ensure_equal(
        derivatives,
        closed,
        "for l(u) = log(1 + exp(-u)) and c = (1-e)/(1+e), e = exp(u), -l' is (1+c)/2 and l'' "
        "is (1-c^2)/4",
        normal=cancelled,
    )
    height = bound(D * (1 + c) / 2, D**2 * (1 - c**2) / 4)
    squares = ((a + y) ** 2 - (a - y * c) ** 2) / 2
    ensure_equal(
        height,
        squares,
        "the height (1-a^2)/2 (p a + q (1-a^2)/4) is ((a + y)^2 - (a - y c)^2)/2 for p = D "
        "(1+c)/2, q = D^2 (1-c^2)/4 and y = D (1-a^2)/4",
    )
    ensure_beyond()
    ensure_below()
    edge = 2 * sp.sqrt(3)
    sides = log_loss_beyond(edge), log_loss_below(edge, sp.sqrt)
    ensure_equal(*sides, "both formulas agree at D = 2 sqrt 3", normal=simplified)
    basic_4.ensure_span()
    b, width = sp.symbols("b width", positive=True)
    v = SimpleNamespace(
        A=symbols_of("A", 2, 1),
        x=symbols_of("x", 1),
        y=symbols_of("y", 1),
        h=entries([width, 0 * width]),
        b=b,
    )
    constant = said_by(LEMMA, "sharp", v).right / SYMBOLS.norm(v.x - v.y)
    K = entry_loss.log_loss_constant(SYMBOLS, b * width)
    ensure_equal(cancelled(constant), SYMBOLS.dot(v.A[:, 0], v.A[:, 0]) * K, BENDS)
    ensure_hessian(BENDS, of_two(entry_loss.log_loss))
    ensure_attained(reached(), REACHES, entry_loss.log_loss)
    return "D/(3 sqrt 3) up to D = 2 sqrt 3, then (D/4 + 1/D)^2/2: the supremum for every n"
