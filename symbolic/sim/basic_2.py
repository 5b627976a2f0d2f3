"""Lagrange's identity: n sum w^2 - (sum w)^2 = sum over pairs of (w_t - w_r)^2."""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.theory import ensure_nonzero, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from properties.sim.basic_2 import lagrange, sum_bound
from symbolic.sim.sums import LENGTHS, entry, n, total

W = "w"
CHANGES = entries([entry(W)])
"""The vector w of n changes."""


def pairs_residual(share: Any = 1) -> Any:
    """The difference of both sides of the claim's identity, for n a symbol."""
    identity = lagrange(LENGTHS, n, CHANGES, share)
    return sp.expand(identity.left - identity.right)


def prove() -> str:
    """Prove both forms of the identity for every n, and that the factor of the bound is sqrt n."""
    ensure_zero(pairs_residual(), "n ||w||^2 - (sum w)^2 is the sum over pairs of (w_t - w_r)^2")
    ensure_nonzero(pairs_residual(share=2), "it is not twice that sum")
    left = lagrange(LENGTHS, n, CHANGES, 1).left
    mean = total(entry(W)) / n
    spread = left - n * total((entry(W) - mean) ** 2)
    ensure_zero(sp.expand(spread), "n ||w||^2 - (sum w)^2 is n sum (w - mean)^2")
    bound = sum_bound(LENGTHS, n, CHANGES, CHANGES)
    gap = sp.expand(bound.right**2 - bound.left**2 - left)
    ensure_zero(gap, "the squares of the bound's sides differ by the identity's left")
    return "n ||w||^2 - (sum w)^2 = n sum (w - mean)^2 = sum over pairs (w_t - w_r)^2, for every n"
