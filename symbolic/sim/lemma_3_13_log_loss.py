"""The best constant of lemma 3.13 for l(u) = log(1 + exp(-u)) in place of g, in closed form.

    K(D) = D/(3 sqrt 3) for D <= 2 sqrt 3,   (D/4 + 1/D)^2/2 for D > 2 sqrt 3.

The bound is linked in `symbolic.sim.lemma_3_13_log_loss_facts`. Here are two tokens that attain it.
Let c = tanh(-u/2), so that -l' = (1+c)/2 and l'' = (1-c^2)/4 with c in (-1, 1). With D = |b| osc(h)
and y = D (1-a^2)/4 the heights are

    y (a (1+c) + y (1-c^2)/2) = ((a + y)^2 - (a - y c)^2)/2

By adding a number to h, c takes every value in (-1, 1), and the curvature of two tokens is the
height for any a and c (`reached`), so that no smaller constant holds. For D > 2 sqrt 3 K(D) is the
height at a = 2/D and c = a/y = 8/(D^2 - 4) < 1. For D <= 2 sqrt 3 it is approached by a = 1/sqrt 3
as b <f, h> tends to minus infinity; it is not attained.
"""

import sympy as sp

from attsvm.errors import present
from attsvm.lipschitz import log_loss_below, log_loss_beyond
from attsvm.theory import ensure_equal, gradient
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import cancelled, simplified
from attsvm.theory.proof.linked import linked
from attsvm.theory.types import Namespace, Numbers
from properties.sim._support import entry_loss
from symbolic.sim import lemma_3_13_log_loss_facts as facts
from symbolic.sim.lemma_3_13 import (
    ODDS,
    POWER,
    REACHES,
    SHARE,
    WIDTH,
    curvature_of_two,
    ensure_attained,
    of_power,
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


def ensure_largest() -> None:
    """Prove that the code has both formulas of K, and that heights come near them."""
    D, a, c = sp.symbols("D a c", positive=True)
    below, beyond = log_loss_below(D, sp.sqrt), log_loss_beyond(D)
    pieces = present(entry_loss.log_loss_constant.pieces, "formulas")(SYMBOLS, D)
    ensure_equal([below, beyond], [value for _, value in pieces], "the code has both formulas of K")
    y = D * (1 - a**2) / 4
    height = y * (a * (1 + c) + y * (1 - c**2) / 2)
    ensure_equal(
        [height.subs({c: 1, a: 1 / sp.sqrt(3)}), height.subs({c: 8 / (D**2 - 4), a: 2 / D})],
        [below, beyond],
        "the height at a = 1/sqrt 3 and c = 1 is the first formula, the one at a = 2/D and "
        "c = 8/(D^2 - 4) the second",
        normal=simplified,
    )


@linked
def prove() -> str:
    """Prove the bound by linked facts, and that curvatures of two tokens tend to it."""
    ensure_largest()
    ensure_attained(reached(), REACHES, entry_loss.log_loss)
    facts.largest_change()
    return "D/(3 sqrt 3) up to D = 2 sqrt 3, then (D/4 + 1/D)^2/2: the supremum for every n"
