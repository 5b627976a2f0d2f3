"""The sizes of the matrices in the formula of attention, for letters n and d.

The functions of the claim compute them. Two sizes are equal for all n and d if their difference, a
polynomial in n and d, is 0. So each fact has the normal form 0 = 0, which an empty formula has,
too. Further steps therefore show that other sizes and other formulas do not fit.
"""

from types import SimpleNamespace
from typing import Any

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonzero, ensure_zero
from attsvm.theory.arithmetic.namespace import All
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import conclude, decide
from properties.sim.attention_shape import SHAPE, attention_fits, block_fits
from symbolic.facts import formula_of

n, d = sp.symbols("n d", integer=True, positive=True)
SIZES = SimpleNamespace(n=n, d=d)


def _gaps(relation: Any) -> list[sp.Expr]:
    """Return the differences of all sizes that have to be equal."""
    if isinstance(relation, All):
        return [gap for part in relation.parts for gap in _gaps(part)]
    differences = relation.left - relation.right
    return [sp.expand(gap) for gap in getattr(differences, "flat", [differences])]


def attention_gaps(rows: str, columns: str, **spoilt: str) -> list[sp.Expr]:
    """Return the differences of sizes that must be 0 in the attention, for D(X) of a given size.

    Args:
        rows: the number of rows of D(X).
        columns: the number of columns of D(X).
        spoilt: a change of the formula that should make it fail.
    """
    return _gaps(attention_fits(SYMBOLS, SIZES, rows, columns, **spoilt))


def block_gaps(length: str, listed: str | None = None) -> list[sp.Expr]:
    """Return the differences of sizes that must be 0 in A_{j0} x, for x of a given length."""
    return _gaps(block_fits(SYMBOLS, SIZES, length, listed))


def conclude_sizes(reading: str) -> None:
    """Conclude that the sizes of each pair are equal, as polynomials in n and d."""
    sequents = conclusion_of(formula_of(SHAPE, reading)).sequents
    for sequent in sequents:
        conclude(decide(sequent.proposition, degree=1), sequent)


@linked
def prove() -> str:
    """Prove that D(X) is n x n and that the attention fits and is n x d, for all n and d."""
    conclude_sizes("amended-1")
    for rows, columns in (("d", "d"), ("n", "d"), ("d", "n")):
        gaps, size = attention_gaps(rows, columns), f"a D(X) of {rows} x {columns}"
        ensure_nonzero(gaps, f"{size} does not fit for all n and d", some=True)
        ensure_zero([gap.subs(n, d) for gap in gaps], f"{size} fits where n = d")
    of_X = attention_gaps("n", "n", of="X")
    ensure_nonzero(of_X, "D of X itself in place of the logits does not fit", some=True)
    for values in ("none", "A2^T"):
        gaps = attention_gaps("n", "n", values=values)
        ensure_nonzero(gaps, f"the product does not fit with values {values}", some=True)
    return "D(X) is n x n and D(X)^-1 exp(A1 X A2^T) A2 Y is n x d; as printed where n = d alone"


@linked
def prove_vector() -> str:
    """Prove that a block A_{j0} has d^2 columns and that vec(X) is as long."""
    conclude_sizes("amended-2")
    (gap,) = block_gaps("d")
    ensure_equal(sp.solve(gap, d), [1], "x in R^d fits where d = 1 alone")
    for length in ("n", "n d"):
        ensure_nonzero(block_gaps(length), f"x in R^{{{length}}} does not fit for all n and d")
    return "A_{j0} has d^2 columns and vec(X) is in R^{d^2}; x in R^d fits where d = 1 alone"
