"""Inverses of numbers that are at least beta, and how small a sum of exponentials can be."""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.theory import ensure_equal, ensure_true, ensure_zero
from properties.sim.exponentials import domain_factor, inverse_factor
from symbolic.sim import basic_1, basic_2

__all__ = ["factor", "inverse_residual", "lowest_factor", "prove"]


def inverse_residual() -> Any:
    """1/a - 1/b - (b - a)/(a b)."""
    a, b = sp.symbols("a b", positive=True)
    return sp.simplify(1 / a - 1 / b - (b - a) / (a * b))


def factor() -> Any:
    """Limit of |1/a - 1/b| / |a - b| at a = beta, b -> beta from above."""
    beta, step = sp.symbols("beta step", positive=True)
    return sp.limit((1 / beta - 1 / (beta + step)) / step, step, 0)


def lowest_factor() -> Any:
    """The same for n equal logits -R / sqrt n, the least alpha in a ball of radius R."""
    n, R, step = sp.symbols("n R step", positive=True)
    low, high = (n * sp.exp(s) for s in (-R / sp.sqrt(n), step - R / sp.sqrt(n)))
    return sp.simplify(sp.limit((1 / low - 1 / high) / (high - low), step, 0))


def prove() -> str:
    """Prove the bound and both factors.

    alpha >= n exp(m), m the mean of the logits, adds up e^s >= e^m (1 + s - m), which is the bound
    of `basic_1` on e^m - e^s for s and m in either order; m >= -R / sqrt n is the identity of
    `basic_2`.

    Raises:
        ProofError: one of them fails.
    """
    beta, p, q, n, R = sp.symbols("beta p q n R", positive=True)
    ensure_zero(inverse_residual(), "1/a - 1/b = (b - a)/(a b)")
    spare = (beta + p) * (beta + q) - beta**2
    ensure_true(basic_1.never_negative(spare, beta, p, q), "a b >= beta^2 for a, b >= beta")
    steepest = inverse_factor(beta)
    ensure_equal(factor(), steepest, "the factor is reached at a = beta", normal=sp.simplify)
    basic_1.prove()
    basic_2.prove()
    lowest = domain_factor(n, R, sp.sqrt, sp.exp)
    ensure_equal(lowest_factor(), lowest, "the factor of the ball is reached", normal=sp.simplify)
    return "|1/a - 1/b| <= beta^-2 |a - b| for a, b >= beta; beta = n exp(-R / sqrt n) in the ball"
