"""The instance of the introduction and section 3.1: one sentence, its weights X and its values Y.

    Att(X, Y) = D(X)^-1 exp(A1 X A2^T) A3 Y,    D(X) = diag(exp(A1 X A2^T) 1_n),

in floats, exponentials taken in the log domain, and in rationals and balls.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb
from hypothesis import strategies as st
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import kron_block, log_softmax_kernel, softmax, vec
from attsvm.errors import DataError
from attsvm.exact import rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.numbers import Matrix, combine, product, transpose
from attsvm.strategies import arrays, sizes

__all__ = [
    "EPS",
    "Attention",
    "Regression",
    "attend",
    "attention",
    "attentions",
    "block_attention",
    "block_logits",
    "distance",
    "exact_attention",
    "exact_distance",
    "exact_values",
    "log_attention",
    "regressions",
    "rounding",
]

EPS = float(np.finfo(np.float64).eps)
attend: Callable[[Array], Array] = inspect.unwrap(softmax)
"""The package's softmax; tests check that it gets floats, which proofs, on symbols, do without."""


@dataclass(frozen=True, slots=True)
class Attention:
    """One sentence of n tokens in R^d, as queries A1, keys A2 and values A3, with X and Y."""

    A1: Float[Array, "n d"]
    A2: Float[Array, "n d"]
    A3: Float[Array, "n d"]
    X: Float[Array, "d d"]
    Y: Float[Array, "d d"]

    def __post_init__(self) -> None:
        n, d = self.A1.shape
        tokens = self.A2.shape == self.A3.shape == (n, d)
        if not (n and d and tokens and self.X.shape == self.Y.shape == (d, d)):
            raise DataError("tokens and weights do not fit each other", value=(n, d))


@dataclass(frozen=True, slots=True)
class Regression:
    """A sentence and the labels B that its attention is compared with."""

    attention: Attention
    B: Float[Array, "n d"]

    def __post_init__(self) -> None:
        if self.B.shape != self.attention.A1.shape:
            raise DataError("labels do not fit the tokens", value=self.B.shape)


@st.composite
def attentions(draw: st.DrawFn) -> Attention:
    """Sentences of one to three tokens in up to three dimensions."""
    n, d = draw(sizes(1, 3)), draw(sizes(1, 3))
    tokens = draw(arrays(3, n, d))
    return Attention(*tokens, *draw(arrays(2, d, d)))


@st.composite
def regressions(draw: st.DrawFn) -> Regression:
    """The same with labels."""
    case = draw(attentions())
    return Regression(case, draw(arrays(*case.A1.shape)))


def block_logits(case: Attention) -> Float[Array, "n n"]:
    """A_{j} vec(X) of the blocks A_j of A1 kron A2, row by row (definition 3.1)."""
    x = vec(case.X)
    return np.stack([kron_block(case.A1, case.A2, j) @ x for j in range(len(case.A1))])


def block_attention(case: Attention) -> Float[Array, "n n"]:
    """f_{j} = softmax(A_{j} vec(X)), row by row (definition 3.3)."""
    return attend(block_logits(case))


def log_attention(case: Attention) -> Float[Array, "n n"]:
    """Log of D(X)^-1 exp(A1 X A2^T), by matrix products."""
    return log_softmax_kernel(case.A1 @ case.X @ case.A2.T, None)


def attention(case: Attention, values: Float[Array, "n d"]) -> Float[Array, "n d"]:
    """D(X)^-1 exp(A1 X A2^T) V Y for values V."""
    result: Array = np.exp(log_attention(case)) @ values @ case.Y
    return result


def exact_attention(case: Attention) -> list[list[arb]]:
    """D(X)^-1 exp(A1 X A2^T) as balls."""
    queries = product(rationals(case.A1), rationals(case.X))
    return [exact_softmax(row) for row in product(queries, transpose(rationals(case.A2)))]


def rounding(case: Attention) -> float:
    """Bound on the rounding error of an entry of an attention matrix, relative to 1.

    Logits of size S carry an error of (d^2 + 2 d) eps S, and softmax a relative one of twice that
    plus n eps; 8 covers the operations between.
    """
    n, d = case.A1.shape
    size = float((np.abs(case.A1) @ np.abs(case.X) @ np.abs(case.A2).T).max())
    return float(8 * EPS * (n + (d * d + 2 * d) * size + 1))


def distance(left: Array, right: Array) -> float:
    """The largest difference of two arrays of one shape; NaN where there is one."""
    return float(np.abs(left - right).max())


def exact_distance(left: Matrix, right: Matrix) -> arb:
    """The same in balls or rationals."""
    worst = arb(0)
    for mine, other in zip(left, right, strict=True):
        for a, b in zip(mine, other, strict=True):
            worst = worst.max(abs(arb(a - b)))
    return worst


def exact_values(weights: Matrix, values: Array, Y: Array) -> Matrix:
    """Weights V Y."""
    mixed = product(rationals(values), rationals(Y))
    return [combine(row, mixed) for row in weights]
