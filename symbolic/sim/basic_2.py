"""Lagrange's identity: n sum w^2 - (sum w)^2 = sum over pairs of (w_t - w_r)^2."""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonzero, ensure_zero
from properties.sim.exponentials import lagrange, sum_factor
from symbolic.sim.sums import entry, n, r, t, total

__all__ = ["mean_residual", "pairs_residual", "prove"]

W = "w"


def _left() -> Any:
    return lagrange(n, total(entry(W) ** 2), total(entry(W)))


def pairs_residual(share: Any = 1) -> Any:
    """The difference of both sides, for n a symbol; pairs are half of all (t, r)."""
    pairs = total((entry(W, t) - entry(W, r)) ** 2, t, r) / 2
    return sp.expand(_left() - share * pairs)


def mean_residual() -> Any:
    """The same with n sum (w - mean)^2 on the right."""
    mean = total(entry(W)) / n
    return sp.expand(_left() - n * total((entry(W) - mean) ** 2))


def prove() -> str:
    """Prove both forms of the identity for every n, and that the factor of the bound is sqrt n.

    Raises:
        ProofError: a residual is not zero, or is zero for another number of pairs.
    """
    ensure_zero(pairs_residual(), "n ||w||^2 - (sum w)^2 is the sum over pairs of (w_t - w_r)^2")
    ensure_nonzero(pairs_residual(share=2), "it is not twice that sum")
    ensure_zero(mean_residual(), "n ||w||^2 - (sum w)^2 is n sum (w - mean)^2")
    ensure_equal(sum_factor(n, sp.sqrt) ** 2, n, "the factor of the bound is sqrt n")
    return "n ||w||^2 - (sum w)^2 = n sum (w - mean)^2 = sum over pairs (w_t - w_r)^2, for every n"
