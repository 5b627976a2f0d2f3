"""Sizes of the attention's formula for symbolic n and d, by the functions of the claim.

`properties.sim.fitting` asks for shapes alone; here it gets matrices of symbolic size, whose
products and Kronecker products are sympy's. Two sizes fit for all n and d where their difference
is 0.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.attention import kron_block, vec
from attsvm.theory import ensure_equal, ensure_nonzero, ensure_zero
from properties.sim.fitting import Calculus, apart, misfit, normaliser
from symbolic.sim.formal import symbols

__all__ = ["MATRICES", "block", "misfits", "prove", "prove_vector"]

n, d, j = sp.symbols("n d j", integer=True, positive=True)


def _block(A1: Any, A2: Any) -> Any:
    """The n rows of A1 kron A2 from row j n on."""
    rows = A2.shape[0]
    return sp.KroneckerProduct(A1, A2)[j * rows : (j + 1) * rows, :]


MATRICES = Calculus(
    lambda M: M.applyfunc(sp.exp), lambda size: sp.OneMatrix(size, 1), sp.DiagMatrix, _block
)
A1, A2 = sp.MatrixSymbol("A1", n, d), sp.MatrixSymbol("A2", n, d)
X, Y = sp.MatrixSymbol("X", d, d), sp.MatrixSymbol("Y", d, d)


def misfits(rows: Any, columns: Any, of: str = "logits", values: str = "A2") -> tuple[Any, Any]:
    """What the claim adds up, for a D(X) of that size: of D(X), of the product."""
    alone, product = misfit(A1, A2, X, Y, sp.MatrixSymbol("D", rows, columns), of, values, MATRICES)
    return sp.sympify(alone), sp.sympify(product)


def block() -> tuple[Any, Any]:
    """The size of a block A_{j0}."""
    return tuple(map(sp.expand, MATRICES.block(A1, A2).shape))


def prove() -> str:
    """Prove that D(X) is n x n and that the attention fits and is n x d, for all n and d.

    Raises:
        ProofError: something does not fit, or a false neighbour does.
    """
    shape = normaliser(A1, A2, X, "logits", MATRICES).shape
    ensure_equal(shape, (n, n), "D(X) is n x n")
    ensure_zero(misfits(n, n), "the formula fits with D(X) of n x n")
    for rows, columns in ((d, d), (n, d), (d, n)):
        gaps, size = misfits(rows, columns), f"a D(X) of {rows} x {columns}"
        ensure_nonzero(gaps, f"{size} does not fit for all n and d")
        ensure_zero([gap.subs(n, d) for gap in gaps], f"{size} fits where n = d")
    ensure_nonzero(misfits(n, n, of="X")[0], "D of X itself in place of the logits does not fit")
    for values in ("none", "A2^T"):
        alone, product = misfits(n, n, values=values)
        ensure_zero(alone, f"D(X) fits whatever the values are, here {values}")
        ensure_nonzero(product, f"the product does not fit with values {values}")
    return "D(X) is n x n and D(X)^-1 exp(A1 X A2^T) A2 Y is n x d; as printed where n = d alone"


def prove_vector() -> str:
    """Prove that a block A_{j0} is n x d^2, as the code has it, and that vec(X) is as long.

    Raises:
        ProofError: it has another size, or fits a vector of another length.
    """
    for size in ((1, 1), (1, 2), (2, 1), (2, 3), (3, 2)):
        at = [value.subs(dict(zip((n, d), size, strict=True))) for value in (*block(), d**2)]
        found = kron_block(symbols("a", *size), symbols("b", *size), 0).shape
        ensure_equal(found, at[:2], f"the block of the code at (n, d) = {size} is n x d^2")
        found = vec(symbols("x", size[1], size[1])).shape
        ensure_equal(
            found, at[2:], f"the vec(X) that the code makes at d = {size[1]} is in R^{{d^2}}"
        )
    ensure_zero(apart(block(), (n, d**2)), "a block A_{j0} is n x d^2")
    ensure_equal(X.shape[0] * X.shape[1], block()[1], "vec(X) is as long as a block is wide")
    ensure_equal(sp.solve(block()[1] - d, d), [1], "x in R^d fits where d = 1 alone")
    ensure_nonzero(apart(block(), (n, n * d)), "a block A_{j0} is not n x n d")
    return (
        "A_{j0} is n x d^2 and vec(X) in R^{d^2}, as the code's are for n, d <= 3; x in R^d fits "
        "where d = 1 alone"
    )
