"""Definition 3.3 on symbols: f is a probability vector, <f, h> an entry of the attention.

The claim's own functions run on symbols, for small n and d: the blocks of A1 kron A2, the package's
softmax with the largest logit taken out, the products of both sides. That nothing depends on the
sizes is said in the claim's file.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from attsvm.theory import ensure_nonzero, ensure_positive, ensure_zero
from properties.sim.attentions import Attention, block_attention
from properties.sim.definition_3_3 import products, shared, total
from symbolic.sim.formal import expressions, numerator, symbols

__all__ = ["entry_residual", "prove", "prove_vector", "sentence", "sum_residual"]

SIZES = tuple(
    (n, d, largest) for n in (1, 2, 3) for d in (1, 2) for largest in range(n if d == 1 else 1)
)
"""n, d, and the token with the largest logits: any for d = 1, the first for d = 2."""


def sentence(n: int, d: int, largest: int = 0) -> Attention:
    """A sentence of symbols in which one token has the largest logit for every query."""
    queries = [[int(c == 0) for c in range(d)] for _ in range(n)]
    keys = [[int(t == largest and c == 0) for c in range(d)] for t in range(n)]
    weights = [[int(r == c) for c in range(d)] for r in range(d)]
    return Attention(
        symbols("a", n, d, ranks=queries),
        symbols("b", n, d, ranks=keys),
        symbols("v", n, d),
        symbols("x", d, d, ranks=weights),
        symbols("y", d, d),
    )


def sum_residual(case: Attention, along: str = "rows", power: int = 1) -> list[Any]:
    """What the claim adds up, minus 1."""
    return [value - 1 for value in expressions(total(block_attention(case), along, power))]


def entry_residual(case: Attention, values: str = "A3", transposed: bool = False) -> list[Any]:
    """<f_{j0}, h_{i0}> minus the entry of the attention, as the claim computes both."""
    left, right = products(case, values, transposed)
    return [a - b for a, b in zip(expressions(left), expressions(right), strict=True)]


def prove_vector() -> str:
    """Prove that f has positive entries and sum 1; its squares and its columns have another one.

    Raises:
        ProofError: an entry may be 0 or less, a sum is not 1, or one of the others is.
    """
    for size in SIZES:
        case = sentence(*size)
        at = "for (n, d, largest) = " + str(size)
        entries = expressions(block_attention(case))
        ensure_positive(entries, f"the entries of f are positive {at}", normal=sp.together)
        ensure_zero(sum_residual(case), f"f has sum 1 {at}", normal=numerator)
    columns = sum_residual(sentence(2, 1), along="columns")
    ensure_nonzero(columns, "the columns have other sums", normal=numerator)
    squares = sum_residual(sentence(2, 1), power=2)
    ensure_nonzero(squares, "the squares have another sum", normal=numerator)
    return "f > 0 has sum 1, as the code runs on symbols for n <= 3 and d <= 2"


def prove() -> str:
    """Prove the entries of the attention, with keys for values too; as a column f is another.

    Raises:
        ProofError: a residual is not zero, or is zero for a false neighbour.
    """
    prove_vector()
    for size in SIZES:
        case = sentence(*size)
        entries = f"<f_j, A3 y_i> are the entries of the attention for (n, d, largest) = {size}"
        ensure_zero(entry_residual(case), entries, normal=numerator)
        keys = entry_residual(shared(case), "A2")
        ensure_zero(keys, f"{entries}, with keys for values", normal=numerator)
    for case, values, transposed, what in (
        (sentence(2, 1), "A3", True, "f as a column is another one"),
        (sentence(1, 1), "A2", False, "keys in place of values are another one"),
        (shared(sentence(2, 1)), "A2", True, "f as a column with keys for values is another one"),
    ):
        ensure_nonzero(entry_residual(case, values, transposed), what, normal=numerator)
    return (
        "<f_j, A3 y_i> is entry (j, i) of D^-1 exp(A1 X A2^T) A3 Y, as the code runs on symbols "
        "for n <= 3 and d <= 2"
    )
