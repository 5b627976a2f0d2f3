"""The tensor trick: with row-major vec, (A1 kron A2) vec(X) = vec(A1 X A2^T).

"We first convert the matrix representation into a vector representation by employing the
well-known tensor trick" (section 1), with vec and kron as in the notations of section 3.1 and
A = A1 kron A2 in R^{n^2 x d^2}, whose j0-th block of n rows is A_{j0} (definition 3.1).

True as printed (`literal`): entry t of block j0 is sum_{r,c} A1[j0, r] A2[t, c] X[r, c], so the
block gives row j0 of A1 X A2^T. Nothing asks for square or equal sizes (`sharp`). Rows of X are
met by A1, columns by A2; with columns stacked instead, or X transposed, it fails from d = 2 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq
from hypothesis import strategies as st
from jaxtyping import Float

from attsvm._types import Array
from attsvm.attention import kron_block, vec
from attsvm.errors import DataError
from attsvm.exact import dot, rationals
from attsvm.exact.numbers import Matrix, product, transpose
from attsvm.strategies import arrays, sizes
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE

EPS = float(np.finfo(np.float64).eps)
TRICK: dict[str, Any] = {"source": SOURCE, "place": "Section 1; notations and definition 3.1"}


@dataclass(frozen=True, slots=True)
class Product:
    """The three factors of A1 X A2^T."""

    A1: Float[Array, "m r"]
    A2: Float[Array, "n c"]
    X: Float[Array, "r c"]

    def __post_init__(self) -> None:
        if self.X.shape != (self.A1.shape[1], self.A2.shape[1]) or not self.X.size:
            raise DataError("the factors of A1 X A2^T do not fit", value=self.X.shape)


@st.composite
def products(draw: st.DrawFn, *, alike: bool) -> Product:
    """Factors of all small sizes, those of the paper (n x d, n x d, d x d) or any."""
    m, r = draw(sizes(1, 4)), draw(sizes(1, 3))
    n, c = (m, r) if alike else (draw(sizes(1, 4)), draw(sizes(1, 3)))
    return Product(draw(arrays(m, r)), draw(arrays(n, c)), draw(arrays(r, c)))


def sides(
    case: Product, stacked: str = "rows", transposed: bool = False, swapped: bool = False
) -> tuple[Array, Array]:
    """The blocks of (A1 kron A2) vec(X), and vec(A1 X A2^T); numbers and symbols alike."""
    X = case.X.T if transposed else case.X
    x = vec(case.X.T if stacked == "columns" else case.X)
    right = case.A2 @ X.T @ case.A1.T if swapped else case.A1 @ X @ case.A2.T
    blocks = np.stack([kron_block(case.A1, case.A2, j) @ x for j in range(len(case.A1))])
    return vec(blocks), vec(right)


def residual(case: Product, stacked: str, transposed: bool, swapped: bool) -> Slack:
    """Largest entry of the blocks of (A1 kron A2) vec(X) minus the rows of A1 X A2^T."""
    left, right = sides(case, stacked, transposed, swapped)
    X = case.X.T if transposed else case.X
    size = float((np.abs(case.A1) @ np.abs(X) @ np.abs(case.A2).T).max())
    terms = case.X.size + sum(case.X.shape) + 2
    return Slack.equal(float(np.abs(left - right).max()), 2 * terms * EPS * size + 1e-300)


def certify(
    case: Product, stacked: str = "rows", transposed: bool = False, swapped: bool = False
) -> fmpq:
    """Minus the largest residual, in rationals, by the printed index rules of kron and vec."""
    A1, A2, X = rationals(case.A1), rationals(case.A2), rationals(case.X)
    n, c = len(A2), len(A2[0])
    kron = [[fmpq(0)] * (len(X) * c) for _ in range(len(A1) * n)]
    for i1, row in enumerate(A1):
        for j1, a in enumerate(row):
            for i2, other in enumerate(A2):
                for j2, b in enumerate(other):
                    kron[i1 * n + i2][j1 * c + j2] = a * b
    listed = transpose(X) if stacked == "columns" else X
    x = [entry for row in listed for entry in row]
    weights = transpose(X) if transposed else X
    right: Matrix = product(product(A1, weights), transpose(A2))
    flat = [entry for row in (transpose(right) if swapped else right) for entry in row]
    gaps = [abs(dot(row, x) - entry) for row, entry in zip(kron, flat, strict=True)]
    return fmpq(-max(gaps))


TURNED = Product(np.eye(2), np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]]))
ONE = Product(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))


@claim(
    "sim/tensor-trick:literal",
    **TRICK,
    statement="block j0 of (A1 kron A2) vec(X) is row j0 of A1 X A2^T, for A1, A2 in R^{n x d}",
    data=products(alike=True),
    examples=[ONE, TURNED],
    certify=certify,
    expected="proved",
    proof="symbolic.sim.tensor_trick:prove",
    siblings={
        "X transposed": sibling(transposed=True),
        "vec of columns": sibling(stacked="columns"),
        "block j0 is column j0": sibling(swapped=True),
    },
)
def literal(
    case: Product, stacked: str = "rows", transposed: bool = False, swapped: bool = False
) -> Slack:
    """With the sizes of the paper."""
    return residual(case, stacked, transposed, swapped)


def certify_any(case: Product, stacked: str = "rows", swapped: bool = False) -> fmpq:
    """The same for any sizes."""
    return certify(case, stacked, swapped=swapped)


@claim(
    "sim/tensor-trick:sharp",
    **TRICK,
    statement="(A1 kron A2) vec(X) = vec(A1 X A2^T) for factors of any sizes that fit",
    data=products(alike=False),
    examples=[ONE, Product(np.ones((1, 1)), np.array([[1.0, 2.0]]), np.array([[1.0, 1.0]]))],
    certify=certify_any,
    expected="proved",
    proof="symbolic.sim.tensor_trick:prove",
    siblings={
        "vec of columns": sibling(stacked="columns"),
        "block j0 is column j0": sibling(swapped=True),
    },
)
def sharp(case: Product, stacked: str = "rows", swapped: bool = False) -> Slack:
    """With any sizes."""
    return residual(case, stacked, False, swapped)
