"""Lagrange's identity: n sum w^2 - (sum w)^2 = sum over pairs of (w_t - w_r)^2."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_nonzero, ensure_zero
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from properties.sim._support.bounds import BLOCKS
from properties.sim.basic_2 import BOUND, lagrange, sum_bound
from symbolic.mean_value import said_by
from symbolic.sim import tensor_trick
from symbolic.sums import LENGTHS, entry, n, r, t, total
from symbolic.textbook import COORDINATES

W = "w"
CHANGES = entries([entry(W)])
"""The vector w of n changes."""

PAIRS = "n ||w||^2 - (sum w)^2 is the sum over pairs of (w_t - w_r)^2"
NOT_NEGATIVE = "this sum of squares is at least 0, so that |sum w| <= sqrt(n) ||w||"


def pairs_residual(share: int = 1) -> sp.Expr:
    """Return the difference of both sides of the claim's identity, for n a symbol."""
    identity = lagrange(LENGTHS, n, CHANGES, share)
    return sp.expand(identity.left - identity.right)


def ensure_pairs() -> None:
    """Prove the identity, and so |sum w| <= sqrt(n) ||w||."""
    ensure_zero(pairs_residual(), PAIRS)
    ensure_nonzero(
        pairs_residual(share=2),
        "n ||w||^2 - (sum w)^2 is not twice the sum over pairs of (w_t - w_r)^2",
    )
    ensure_nonnegative((entry(W, t) - entry(W, r)) ** 2, NOT_NEGATIVE)


def blocks_residual() -> list[sp.Expr]:
    """Return rows of A_1 kron A_2 by the code minus those of its first block (2 tokens in R^2)."""
    v = SimpleNamespace(A_1=symbols_of("a", 2, 2), A_2=symbols_of("b", 2, 2))
    formulas: dict[str, Any] = BLOCKS
    whole, block = (formulas[name].by(SYMBOLS, v) for name in ("whole", "A"))
    return list((whole[:2] - block).ravel())


def ensure_blocks() -> None:
    """Prove that the first block has the first n rows of the whole, whose change is no shorter."""
    tau = sp.Symbol("tau", integer=True, nonnegative=True)
    ensure_equal(
        tensor_trick.divided(tau, tensor_trick.w, tau),
        [0, tau],
        "row t < n of A_1 kron A_2 is that of row 0 of A_1 and row t of A_2, by the printed rules",
    )
    ensure_zero(
        blocks_residual(),
        "the first rows of A_1 kron A_2 are its first block, as the code evaluates both for "
        "two tokens in R^2",
    )
    A, x, y = symbols_of("A", 4, 1), symbols_of("x", 1), symbols_of("y", 1)
    v = SimpleNamespace(n=2, A=A[:2], whole=A, x=x, y=y)
    comparison = said_by(BOUND, "literal-2", v)
    change = sp.Matrix([sp.exp(a * x[0]) - sp.exp(a * y[0]) for a in A[:, 0]])
    ensure_equal(
        [comparison.left**2, comparison.right**2],
        [sum(change[:2]) ** 2, 2 * change.dot(change)],
        "literal-2 compares the sum over the block with sqrt(n) times the length of the whole",
    )
    cite(COORDINATES)


def prove() -> str:
    """Prove both forms of the identity for every n, and that the factor of the bound is sqrt n."""
    ensure_pairs()
    left = lagrange(LENGTHS, n, CHANGES, 1).left
    mean = total(entry(W)) / n
    spread = left - n * total((entry(W) - mean) ** 2)
    ensure_zero(sp.expand(spread), "n ||w||^2 - (sum w)^2 is n sum (w - mean)^2")
    bound = sum_bound(LENGTHS, n, CHANGES, CHANGES)
    gap = sp.expand(bound.right**2 - bound.left**2 - left)
    ensure_zero(
        gap, "the squares of the sides of |sum w| <= sqrt(n) ||w|| differ by n ||w||^2 - (sum w)^2"
    )
    equal = lagrange(LENGTHS, n, entries([sp.Symbol("c", real=True)]), 1)
    ensure_zero(
        [equal.left, equal.right], "both sides of the identity are 0 where all n changes are equal"
    )
    ensure_blocks()
    return "n ||w||^2 - (sum w)^2 = n sum (w - mean)^2 = sum over pairs (w_t - w_r)^2, for every n"
