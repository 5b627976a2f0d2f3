"""The rewritten l2 objective: mat((D kron I_n)^-1 exp((A1 kron A2) vec(X))) A3 Y is the attention.

The claim's own two forms run on symbols, for small n and d. Equal matrices make equal
objectives, in every norm.
"""

from __future__ import annotations

from typing import Any

from attsvm.theory import ensure_nonzero, ensure_zero
from properties.sim.attentions import Attention
from properties.sim.rewritten import forms
from symbolic.sim.definition_3_3 import SIZES, sentence
from symbolic.sim.formal import expressions, numerator

__all__ = ["forms_residual", "prove"]


def forms_residual(case: Attention, read: str = "rows", divided: str = "rows") -> list[Any]:
    """Entries of the matrix of the first objective minus those of the second, before B."""
    left, right = forms(case, read, divided)
    return [a - b for a, b in zip(expressions(left), expressions(right), strict=True)]


def prove() -> str:
    """Prove that the matrices inside both objectives are equal.

    Raises:
        ProofError: an entry differs, or none does for mat of columns or one sum for all rows.
    """
    for size in SIZES:
        what = f"the matrices inside both objectives are equal for (n, d, largest) = {size}"
        ensure_zero(forms_residual(sentence(*size)), what, normal=numerator)
    columns = forms_residual(sentence(2, 1), read="columns")
    ensure_nonzero(columns, "with mat of columns they differ", normal=numerator)
    whole = forms_residual(sentence(2, 1), divided="whole")
    ensure_nonzero(whole, "with one sum for all rows they differ", normal=numerator)
    return (
        "mat((D(X) kron I_n)^-1 exp((A1 kron A2) vec(X))) A3 Y = D(X)^-1 exp(A1 X A2^T) A3 Y, as "
        "the code runs on symbols for n <= 3 and d <= 2"
    )
