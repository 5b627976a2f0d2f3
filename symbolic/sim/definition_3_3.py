"""Definition 3.3: f is a probability vector, and <f, h> an entry of the attention.

For any n and d, a row of f is represented by its t-th entry, where n is a symbol (`symbolic.sums`).
For small n and d the formulas of the claims are also evaluated on symbols.
"""

from __future__ import annotations

from types import SimpleNamespace

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonzero, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.arithmetic.symbols import SYMBOLS, numerator, symbols_of
from attsvm.theory.declaration.proof import suppose
from attsvm.theory.types import Values
from properties.sim._support.attention import block_attention
from properties.sim.definition_3_3 import SHARED, entry, probability
from symbolic import sums
from symbolic.inner_products import vector
from symbolic.sim.fixed_head import absorbed_residual
from symbolic.sim.tensor_trick import structural_residual

SIZES = tuple((n, d) for n in (1, 2, 3) for d in (1, 2))


def sentence(n: int, d: int) -> SimpleNamespace:
    """Return tokens A1, A2, A3 and matrices X, Y whose entries are symbols."""
    tokens = {name: symbols_of(name, n, d) for name in ("A1", "A2", "A3")}
    return SimpleNamespace(n=n, d=d, **tokens, X=symbols_of("X", d, d), Y=symbols_of("Y", d, d))


def shared(v: Values) -> SimpleNamespace:
    """Return the instance with its keys A2 in place of the values A3."""
    return SimpleNamespace(**{**vars(v), "A3": v.A2})


def sum_residual(v: Values, along: str = "rows", power: int = 1) -> list[sp.Expr]:
    """Return the sums of weights that the claim evaluates, minus 1."""
    sums = comparisons(probability(SYMBOLS, v, along, power))[1]
    return list((sums.left - sums.right).ravel())


def entry_residual(v: Values, values: str = "A3", transposed: bool = False) -> list[sp.Expr]:
    """Return <f_{j0}, h_{i0}> minus the entry of the attention, as the claim computes both."""
    relation = entry(SYMBOLS, v, values, transposed)
    return list((relation.left - relation.right).ravel())


def ensure_all_sizes() -> None:
    """Prove that a row of f has positive entries and sum 1 for any n and d."""
    ensure_zero(structural_residual(), "block j of A vec(X) is row j of A1 X A2^T, for all sizes")
    powers = sums.vector(sp.exp(sums.entry("logit")))
    weight = (powers / powers.sum()).item()
    ensure_positive(
        weight, "exp(logit_t) over the sum of these over all n tokens is positive, for any n"
    )
    ensure_equal(sums.total(weight), 1, "these weights have sum 1 over all n tokens, for any n")


def prove_vector() -> str:
    """Prove that f has positive entries and sum 1; columns of f and squares do not have sum 1."""
    ensure_all_sizes()
    for size in SIZES:
        v, at = sentence(*size), f"for (n, d) = {size}"
        f = block_attention(SYMBOLS, v.n, v.A1, v.A2, v.X)
        ensure_positive(f, f"the entries of f are positive {at}", normal=sp.together)
        ensure_zero(sum_residual(v), f"f has sum 1 {at}", normal=numerator)
    columns = sum_residual(sentence(2, 1), along="columns")
    ensure_nonzero(columns, "columns of f do not have the sum 1", normal=numerator)
    squares = sum_residual(sentence(2, 1), power=2)
    ensure_nonzero(squares, "the squares of f do not have the sum 1", normal=numerator)
    return "f > 0 has sum 1, for any n and d; as the claim runs on symbols for n <= 3 and d <= 2"


def ensure_products() -> None:
    """Prove that <f_j, A3 y_i> is entry (j, i) of the attention, for any n, d and values A3."""
    prove_vector()
    column, h, alpha = vector("e_j"), vector("h_i"), sp.Symbol("alpha_j", positive=True)
    ensure_equal(
        (column / alpha) @ h,
        (column @ h) / alpha,
        "entry (j, i) of D^-1 (E M) is row j of E over alpha_j against column i of M, any n and d",
    )
    ensure_zero(
        absorbed_residual(),
        "(e A3) y is e (A3 y), entry by entry, both being one double sum over tokens and "
        "axes, for any n and d",
    )


_OF_ROWS = (
    "<f_j, A3 y_i> is entry (j, i) of D^-1 exp(A1 X A2^T) A3 Y, for any n and d by rows; as the "
    "claim runs on symbols for n <= 3 and d <= 2"
)


def prove() -> str:
    """Prove that <f_j, A3 y_i> is an entry of the attention D^-1 exp(A1 X A2^T) A3 Y.

    With f as a column, or with keys A2 in place of the values A3, it is not.
    """
    ensure_products()
    for size in SIZES:
        v, what = sentence(*size), f"<f_j, A3 y_i> are the entries of the attention at {size}"
        ensure_zero(entry_residual(v), what, normal=numerator)
    ensure_nonzero(
        entry_residual(sentence(2, 1), transposed=True),
        "with f as a column <f, A3 y> is not that entry of the attention",
        normal=numerator,
    )
    ensure_nonzero(
        entry_residual(sentence(1, 1), "A2"),
        "with keys in place of values <f, A2 y> is not that entry of the attention",
        normal=numerator,
    )
    return _OF_ROWS


def prove_shared() -> str:
    """Prove the statement for Att(X, Y), whose values are its keys: A_3 = A_2."""
    ensure_products()
    suppose(SHARED)
    for size in SIZES:
        ensure_zero(
            entry_residual(shared(sentence(*size)), "A2"),
            f"<f_j, A3 y_i> are the entries of the attention at {size}, with keys for values",
            normal=numerator,
        )
    ensure_nonzero(
        entry_residual(shared(sentence(2, 1)), "A2", transposed=True),
        "with f as a column, and keys for values, <f, A2 y> is not that entry of the attention",
        normal=numerator,
    )
    return f"{_OF_ROWS}; A3 is A2"
