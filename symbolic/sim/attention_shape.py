"""Sizes of the attention's formula for symbolic n and d, by the functions of the claim.

Two sizes fit for all n and d where their difference, a polynomial in n and d, is 0.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory.arithmetic.relations import All, Comparison, Relation
from attsvm.theory.arithmetic.symbols import SYMBOLS
from properties.sim.attention_shape import attention_fits, block_fits

__all__ = ["attention_gaps", "block_gaps", "prove", "prove_vector"]

n, d = sp.symbols("n d", integer=True, positive=True)
SIZES = SimpleNamespace(n=n, d=d)


def _gaps(relation: Relation) -> list[Any]:
    """The differences of all sizes that have to be equal."""
    if isinstance(relation, All):
        return [gap for part in relation.parts for gap in _gaps(part)]
    assert isinstance(relation, Comparison)
    differences = relation.left - relation.right
    return [sp.expand(gap) for gap in getattr(differences, "flat", [differences])]


def attention_gaps(rows: str, columns: str, **spoilt: Any) -> list[Any]:
    """What does not fit in the attention, for a D(X) of that size."""
    return _gaps(attention_fits(SYMBOLS, SIZES, rows, columns, **spoilt))


def block_gaps(length: str, listed: str | None = None) -> list[Any]:
    """What does not fit in A_{j0} x, for x of that length."""
    return _gaps(block_fits(SYMBOLS, SIZES, length, listed))


def prove() -> str:
    """Prove that D(X) is n x n and that the attention fits and is n x d, for all n and d.

    Raises:
        AssertionError: something does not fit, or a false neighbour does.
    """
    assert not any(attention_gaps("n", "n"))
    for rows, columns in (("d", "d"), ("n", "d"), ("d", "n")):
        gaps = attention_gaps(rows, columns)
        assert any(gaps)
        assert not any(gap.subs(n, d) for gap in gaps)
    assert any(attention_gaps("n", "n", of="X"))
    for values in ("none", "A2^T"):
        assert any(attention_gaps("n", "n", values=values))
    return "D(X) is n x n and D(X)^-1 exp(A1 X A2^T) A2 Y is n x d; as printed where n = d alone"


def prove_vector() -> str:
    """Prove that a block A_{j0} has d^2 columns and that vec(X) is as long.

    Raises:
        AssertionError: it has another size, or fits a vector of another length.
    """
    assert not any(block_gaps("d^2", "d^2"))
    (gap,) = block_gaps("d")
    assert sp.solve(gap, d) == [1]  # x in R^d: where d = 1 alone
    for length in ("n", "n d"):
        assert any(block_gaps(length))
    return "A_{j0} has d^2 columns and vec(X) is in R^{d^2}; x in R^d fits where d = 1 alone"
