"""Inverses of numbers that are at least beta, and how small a sum of exponentials can be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import ensure_equal, ensure_true, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from properties.sim.basic_3 import by_beta, by_radius
from symbolic.sim import basic_1, basic_2
from symbolic.sim.sums import LENGTHS, n

STEP = sp.Symbol("step", positive=True)


def ratio(formula: Any, m: Any, A: Any, at: Any, **known: Any) -> Any:
    """Limit of the claim's sides, squared, at one token or equal ones, as y -> x."""
    x, y = (entries([point]) for point in (at(0), at(STEP)))
    sides = formula(m, SimpleNamespace(A=entries([[sp.Integer(A)]]), x=x, y=y, **known))
    return sp.simplify(sp.limit(sp.simplify(sides.left**2 / sides.right**2), STEP, 0))


def prove() -> str:
    """Prove the bound and both factors.

    alpha >= n exp(m), m the mean of the logits, adds up e^s >= e^m (1 + s - m), which is the bound
    of `basic_1` on e^m - e^s for s and m in either order; m >= -R / sqrt n is the identity of
    `basic_2`.
    """
    a, b, beta, p, q, R = sp.symbols("a b beta p q R", positive=True)
    gap = sp.simplify(1 / a - 1 / b - (b - a) / (a * b))
    ensure_zero(gap, "1/a - 1/b = (b - a)/(a b)")
    spare = (beta + p) * (beta + q) - beta**2
    ensure_true(basic_1.never_negative(spare, beta, p, q), "a b >= beta^2 for a, b >= beta")
    reached = ratio(by_beta, SYMBOLS, 1, lambda step: sp.log(beta + step), beta=beta)
    ensure_equal(reached, 1, "the factor is reached at a = b = beta")
    basic_1.prove()
    basic_2.prove()
    # n equal logits -R / sqrt n, the least alpha in a ball of radius R
    lowest = ratio(by_radius, LENGTHS, -1, lambda step: R / sp.sqrt(n) - step, n=n, R=R)
    ensure_equal(lowest, 1, "the factor of the ball is reached")
    return "|1/a - 1/b| <= beta^-2 |a - b| for a, b >= beta; beta = n exp(-R / sqrt n) in the ball"
