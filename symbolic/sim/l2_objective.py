"""The rewritten l2 objective: mat((D kron I_n)^-1 exp((A1 kron A2) vec(X))) A3 Y is the attention.

The two matrices of the claim run on symbols, for small n and d. Equal matrices make equal
objectives, in every norm.
"""

from __future__ import annotations

from typing import Any

from attsvm.theory import ensure_nonzero, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS, numerator
from properties.sim._support.attention import attention
from properties.sim.l2_objective import rewritten
from symbolic.sim.definition_3_3 import SIZES, sentence


def forms_residual(v: Any, read: str = "rows", divided: str = "rows") -> list[Any]:
    """Entries of the matrix of the first objective minus those of the second, before B."""
    left = attention(SYMBOLS, v.A1, v.A2, v.X, v.A3, v.Y)
    return list((left - rewritten(SYMBOLS, v, read, divided)).ravel())


def prove() -> str:
    """Prove that the matrices inside both objectives are equal."""
    for size in SIZES:
        what = f"the matrices inside both objectives are equal for (n, d) = {size}"
        ensure_zero(forms_residual(sentence(*size)), what, normal=numerator)
    columns = forms_residual(sentence(2, 1), read="columns")
    ensure_nonzero(columns, "with mat of columns they differ", normal=numerator)
    whole = forms_residual(sentence(2, 1), divided="whole")
    ensure_nonzero(whole, "with one sum for all rows they differ", normal=numerator)
    return (
        "mat((D(X) kron I_n)^-1 exp((A1 kron A2) vec(X))) A3 Y = D(X)^-1 exp(A1 X A2^T) A3 Y, on "
        "symbols for n <= 3 and d <= 2"
    )
