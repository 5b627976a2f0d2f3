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


def inverse_residual() -> Any:
    """1/a - 1/b - (b - a)/(a b)."""
    a, b = sp.symbols("a b", positive=True)
    return sp.simplify(1 / a - 1 / b - (b - a) / (a * b))


def ratio() -> Any:
    """Limit of the claim's sides, squared, at alpha(x) = beta, alpha(y) -> beta from above."""
    beta, step = sp.symbols("beta step", positive=True)
    x, y = entries([sp.log(beta)]), entries([sp.log(beta + step)])
    one = entries([[sp.Integer(1)]])
    return _limit(by_beta(SYMBOLS, SimpleNamespace(A=one, x=x, y=y, beta=beta)), step)


def lowest_ratio() -> Any:
    """The same for n equal logits -R / sqrt n, the least alpha in a ball of radius R."""
    R, step = sp.symbols("R step", positive=True)
    low = R / sp.sqrt(n)
    x, y = entries([low]), entries([low - step])
    equal = entries([[sp.Integer(-1)]])
    return _limit(by_radius(LENGTHS, SimpleNamespace(A=equal, x=x, y=y, n=n, R=R)), step)


def _limit(sides: Any, step: Any) -> Any:
    return sp.simplify(sp.limit(sp.simplify(sides.left**2 / sides.right**2), step, 0))


def prove() -> str:
    """Prove the bound and both factors.

    alpha >= n exp(m), m the mean of the logits, adds up e^s >= e^m (1 + s - m), which is the bound
    of `basic_1` on e^m - e^s for s and m in either order; m >= -R / sqrt n is the identity of
    `basic_2`.
    """
    beta, p, q = sp.symbols("beta p q", positive=True)
    ensure_zero(inverse_residual(), "1/a - 1/b = (b - a)/(a b)")
    spare = (beta + p) * (beta + q) - beta**2
    ensure_true(basic_1.never_negative(spare, beta, p, q), "a b >= beta^2 for a, b >= beta")
    ensure_equal(ratio(), 1, "the factor is reached at a = b = beta")
    basic_1.prove()
    basic_2.prove()
    ensure_equal(lowest_ratio(), 1, "the factor of the ball is reached")
    return "|1/a - 1/b| <= beta^-2 |a - b| for a, b >= beta; beta = n exp(-R / sqrt n) in the ball"
