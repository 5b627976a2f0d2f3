"""The rewritten l2 objective: mat((D kron I_n)^-1 exp((A1 kron A2) vec(X))) A3 Y is the attention.

For any n and d, the proof compares the entries at row j and column t, where j and t are symbols.
For small n and d the claim's formulas for both matrices are also evaluated on symbols. Equal
matrices give equal objectives, in every norm.
"""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonzero, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS, numerator, symbols_of
from attsvm.theory.types import Values
from properties.sim._support.attention import attention
from properties.sim.l2_objective import rewritten
from symbolic.sim.tensor_trick import divided, structural_residual, w

SIZES = tuple((n, d) for n in (1, 2, 3) for d in (1, 2))


def sentence(n: int, d: int) -> SimpleNamespace:
    """Return a sentence of symbols."""
    tokens = {name: symbols_of(name, n, d) for name in ("A1", "A2", "A3")}
    return SimpleNamespace(n=n, d=d, **tokens, X=symbols_of("X", d, d), Y=symbols_of("Y", d, d))


def forms_residual(v: Values, read: str = "rows", divided: str = "rows") -> list[sp.Expr]:
    """Return the entries of the attention minus those of the rewritten form, by the claim's code.

    Args:
        v: tokens and matrices, on symbols.
        read: how mat fills a matrix, by "rows" or, as a false variant, by "columns".
        divided: which sums divide, by "rows" or, as a false variant, the "whole".
    """
    left = attention(SYMBOLS, v.A1, v.A2, v.X, v.A3, v.Y)
    return list((left - rewritten(SYMBOLS, v, read, divided)).ravel())


def ensure_all_sizes() -> None:
    """Prove that entry (j, t) of both matrices, without the factor A3 Y, is one expression.

    The printed rules of vec, mat and the Kronecker product are used.
    """
    ensure_zero(structural_residual(), "place (j, t) of A vec(X) is entry (j, t) of A1 X A2^T")
    j, t = sp.symbols("p q", integer=True, nonnegative=True)
    row, column = divided(j * w + t, w, t)  # w is n here
    ensure_equal(
        [row, column],
        [j, t],
        "place j n + t, 0 <= t < n, of a vector is read by mat as row j, column t, and D(X) kron "
        "I_n has the entry D(X)_jj I_tt there",
    )
    power, alpha = sp.IndexedBase("exp"), sp.IndexedBase("alpha")
    ensure_equal(
        power[row, column] / alpha[row],
        1 / alpha[j] * power[j, t],
        "mat(D(x)^-1 exp(A x)) and D(X)^-1 exp(A1 X A2^T) have the same entry (j, t), for "
        "any n and d; both are multiplied by A3 Y",
    )


def prove() -> str:
    """Prove that the matrices inside both objectives are equal."""
    ensure_all_sizes()
    for size in SIZES:
        what = f"the matrices inside both objectives are equal for (n, d) = {size}"
        ensure_zero(forms_residual(sentence(*size)), what, normal=numerator)
    columns = forms_residual(sentence(2, 1), read="columns")
    ensure_nonzero(columns, "with mat filled by columns these matrices differ", normal=numerator)
    whole = forms_residual(sentence(2, 1), divided="whole")
    ensure_nonzero(whole, "with one sum for all rows these matrices differ", normal=numerator)
    return (
        "mat((D(X) kron I_n)^-1 exp((A1 kron A2) vec(X))) A3 Y = D(X)^-1 exp(A1 X A2^T) A3 Y, for "
        "any n and d by the printed rules; as the claim runs on symbols for n <= 3 and d <= 2"
    )
