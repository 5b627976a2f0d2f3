"""The Lipschitz constant of exp(A x): e^M ||A||, where M is the largest logit at x and y.

As e^a - e^b <= e^a (a - b) for all a and b, an entry of exp(A x) changes by at most e^M times the
change of its logit. So the vector changes by at most e^M ||A (x - y)||.
"""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.declaration.proof import expanded, factored, simplified, suppose
from attsvm.theory.types import Comparison
from properties.sim._support.attention import LARGE, LOGITS, MATRIX
from properties.sim.basic_1 import BOUND, POINTS_BOUNDED
from symbolic.mean_value import ensure_no_less, said_by
from symbolic.textbook import COORDINATES, EXPONENTIAL, OPERATOR_NORM

R, SIZE, LENGTH = sp.symbols("R a |x-y|", positive=True)
"""The radius, ||A|| and ||x - y||."""
MORE, LESS = sp.symbols("more less", nonnegative=True)
"""Nonnegative numbers by earlier steps."""

SECANT = "e^a - e^b <= e^a (a - b), and e^b (a - b) <= e^a - e^b with both exchanged"


def secant_gap() -> sp.Expr:
    """Return e^a (a - b) - (e^a - e^b), with e^(b-a) replaced by 1 + (b-a) and more."""
    a, b = sp.symbols("a b", real=True)
    power = sp.Symbol("e^a", positive=True)
    below = power * (1 + (b - a) + MORE)
    return power * (a - b) - (power - below)


def ensure_secant() -> None:
    """Prove that the secant of the exponential is between its slopes at the ends."""
    cite(EXPONENTIAL)
    ensure_nonnegative(secant_gap(), SECANT, normal=expanded)


def ensure_change() -> None:
    """Prove that ||exp(A x) - exp(A y)|| <= e^M ||A|| ||x - y|| if no logit exceeds M."""
    ensure_secant()
    power, change = sp.symbols("e^M |e^a-e^b|", nonnegative=True)
    moved = (change + LESS) / power
    ensure_nonnegative(
        (power * moved) ** 2 - change**2,
        "so (e^a - e^b)^2 <= e^(2 M) (a - b)^2 for each token, and for their sum",
        normal=expanded,
    )
    cite(OPERATOR_NORM)


def compared(A: sp.Expr, x: sp.Expr, y: sp.Expr, reading: str) -> Comparison:
    """Return the inequality of a reading for one token in one dimension, with the radius R."""
    v = SimpleNamespace(A=entries([[A]]), x=entries([x]), y=entries([y]), R=R)
    return said_by(BOUND, reading, v)


def constant_of(reading: str, A: sp.Expr) -> sp.Expr:
    """Return the factor of ||x - y|| in a reading, with A for ||A||."""
    return simplified(compared(A, LENGTH, 0 * LENGTH, reading).right / LENGTH)


def limit_ratio(A: sp.Expr, x: sp.Expr, reading: str) -> sp.Expr:
    """Return the limit of (left/right)^2 of a reading as y -> x from below."""
    step = sp.Symbol("step", positive=True)
    sides = compared(A, x, x - step, reading)
    return sp.limit(sides.left**2 / sides.right**2, step, 0)


def ensure_reached(reading: str, A: sp.Expr, x: sp.Expr, what: str) -> None:
    """Prove that no constant below that of a reading suffices: difference quotients tend to it."""
    ensure_equal(limit_ratio(A, x, reading), 1, what)
    ensure_no_less(what, sp.exp(SIZE * sp.Symbol("x", real=True)))


def ensure_least() -> None:
    """Prove the bound with ||A|| e^M, and that this is the constant of sharp-1 for M = R."""
    ensure_change()
    ensure_equal(
        constant_of("sharp-1", SIZE),
        SIZE * sp.exp(R),
        "the constant of sharp-1 is ||A|| e^M, M = R being the largest logit",
    )


def prove() -> str:
    """Prove the bound with the largest logit, which is at most R where ||A x||, ||A y|| are."""
    suppose(LOGITS)
    cite(COORDINATES)
    ensure_least()
    reached = (
        "the difference quotients of exp(A x) tend to the constant of sharp-1 where A x = R, "
        "for any ||A||"
    )
    ensure_reached("sharp-1", SIZE, R / SIZE, reached)
    return "||exp(A x) - exp(A y)|| <= e^M ||A|| ||x - y|| for every n, M the largest logit"


def prove_published() -> str:
    """Prove that the printed constant is at least that of sharp-1 if ||A|| <= R as well."""
    suppose(LOGITS, MATRIX)
    cite(COORDINATES)
    ensure_least()
    power = sp.exp(R)
    ensure_nonnegative(
        R * power - R / (1 + MORE) * power, "R e^M is at least ||A|| e^M", normal=factored
    )
    suppose(LARGE)
    r = sp.Symbol("r", nonnegative=True)
    for reading, least in ("amended", 1), ("literal-1", 4):
        excess = sp.expand_log(sp.log(constant_of(reading, SIZE) / (R * power)))
        ensure_nonnegative(
            excess.subs(R, least + r),
            f"the constant of {reading} is at least R e^M, M = R, for R >= {least}",
            normal=expanded,
        )
    return "||A|| e^R <= R exp(R^2) for ||A|| <= R and R >= 1"


def prove_in_ball() -> str:
    """Prove sharp-2: if ||x||, ||y|| and ||A|| are at most R, then M is at most R^2."""
    suppose(POINTS_BOUNDED, MATRIX)
    cite(COORDINATES)
    ensure_least()
    size, point = R / (1 + MORE), R / (1 + LESS)  # ||A|| and ||x||
    least = constant_of("sharp-1", SIZE).subs({SIZE: size, R: size * point}, simultaneous=True)
    printed = constant_of("sharp-2", SIZE) / least
    grown = sp.log(1 + MORE)
    y = sp.Symbol("y", real=True)
    ensure_zero(
        compared(sp.Integer(0), point, y, "sharp-2").left,
        "for R = 0 A is 0, and the left side of sharp-2 is 0",
    )
    ensure_nonnegative(
        sp.expand_log(sp.log(printed), force=True),
        "the constant of sharp-2 is at least the ||A|| e^M of sharp-1, as M = ||A|| ||x|| is "
        "at most R^2",
        normal=lambda x: grown + factored(sp.expand(x - grown)),
    )
    reached = (
        "the difference quotients of exp(A x) tend to the constant of sharp-2 at x = R, for A = R"
    )
    ensure_reached("sharp-2", R, R, reached)
    return "||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y|| where ||A||, ||x||, ||y|| <= R"
