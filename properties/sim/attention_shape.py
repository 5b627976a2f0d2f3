"""Attention shape: the stated formula and the stated dimensions of D(X) fit together.

"Given input sequences A1, A2 in R^{n x d} ... Att(X, Y) = D(X)^-1 exp(A1 X A2^T) A2 Y where X in
R^{d x d} ..., Y in R^{d x d} denotes the value matrix and D(X) := diag(exp(A1 X A2^T) 1_n) in
R^{d x d}" (section 1). To fit means: a matrix has the size that its formula gives, and in every
product the columns of one factor are as many as the rows of the next.

As printed it fits exactly where n = d: D(X) is n x n (`literal-1`, smallest: n = 2, d = 1, all
entries 0). With D(X) in R^{n x n} everything fits for all n and d (`amended-1`). A second slip of
this kind is in lemma 3.13, "x, y in R^d" beside ||A_{l0,j0} x||: the block has d^2 columns
(definition 3.1), which fits for d = 1 only (`literal-2`, n = 1, d = 2); x is in R^{d^2}
(`amended-2`). Sizes are taken from arrays that the formula is run on, and once more from symbols
that know nothing but their sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from flint import fmpq

from attsvm.attention import kron_block, vec
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.attentions import Attention, attentions

SHAPE: dict[str, Any] = {"source": SOURCE, "data": attentions()}
INTRODUCTION = {**SHAPE, "place": "Section 1, formula of the attention"}
LEMMA = {**SHAPE, "place": "Definition 3.1 and lemma 3.13"}
COUNTS = {"n": (1, 0), "d": (0, 1), "d^2": (0, 2), "n d": (1, 1)}
"""Powers of n and d."""


def stated(case: Attention, *names: str) -> tuple[int, ...]:
    """Numbers of rows, columns or entries by their names."""
    n, d = case.A1.shape
    return tuple(n**a * d**b for a, b in (COUNTS[name] for name in names))


def apart(size: tuple[int, ...], other: tuple[int, ...]) -> int:
    """By how much two sizes differ, 0 where they fit."""
    return sum(abs(a - b) for a, b in zip(size, other, strict=True))


def misfit(case: Attention, rows: str, columns: str) -> Slack:
    """D(X) as its formula gives it, run on arrays, against the stated size; and so the product."""
    with np.errstate(over="ignore"):
        weights = np.exp(case.A1 @ case.X @ case.A2.T)
        D = np.diag(weights @ np.ones(len(case.A2)))
    size = stated(case, rows, columns)
    inner = abs(size[1] - len(weights))  # D(X)^-1 exp(A1 X A2^T)
    return Slack.equal(float(apart(D.shape, size) + inner), 0.0)


def certify(case: Attention, rows: str = "d", columns: str = "d") -> fmpq:
    """Minus the misfit, sizes alone."""
    n, d = case.A1.shape
    A1, A2, X = sp.MatrixSymbol("A1", n, d), sp.MatrixSymbol("A2", n, d), sp.MatrixSymbol("X", d, d)
    logits = A1 * X * A2.T
    D = sp.DiagMatrix(logits.applyfunc(sp.exp) * sp.OneMatrix(n, 1))
    size = stated(case, rows, columns)
    return fmpq(-(apart(tuple(map(int, D.shape)), size) + abs(size[1] - int(logits.shape[0]))))


def certify_square(case: Attention, rows: str = "n", columns: str = "n") -> fmpq:
    """The same with another default."""
    return certify(case, rows, columns)


WIDER = Attention(*np.zeros((3, 1, 2)), *np.zeros((2, 2, 2)))
LONGER = Attention(*np.zeros((3, 2, 1)), *np.zeros((2, 1, 1)))
OTHER_SIZES = {
    "n x d": sibling(rows="n", columns="d", examples=[LONGER]),
    "d x n": sibling(rows="d", columns="n", examples=[LONGER]),
}


@claim(
    "sim/attention-shape:literal-1",
    **INTRODUCTION,
    statement="D(X) = diag(exp(A1 X A2^T) 1_n) is d x d, for A1, A2 in R^{n x d}",
    examples=[LONGER],
    certify=certify,
    expected="refuted",
    siblings=OTHER_SIZES,
)
def literal_1(case: Attention, rows: str = "d", columns: str = "d") -> Slack:
    """As printed."""
    return misfit(case, rows, columns)


@claim(
    "sim/attention-shape:amended-1",
    **INTRODUCTION,
    statement="D(X) is n x n, and D(X)^-1 exp(A1 X A2^T) A2 Y fits, for all n and d",
    examples=[WIDER, LONGER],
    certify=certify_square,
    expected="proved",
    proof="symbolic.sim.attention_shape:prove",
    siblings={"d x d": sibling(rows="d", columns="d"), **OTHER_SIZES},
)
def amended_1(case: Attention, rows: str = "n", columns: str = "n") -> Slack:
    """With the size of the formula."""
    return misfit(case, rows, columns)


def unmet(case: Attention, length: str) -> Slack:
    """Columns of A_{j0} against the stated length of x, and the length of vec(X) as well."""
    block = kron_block(case.A1, case.A2, 0)
    (size,) = stated(case, length)
    return Slack.equal(float(abs(block.shape[1] - size) + abs(vec(case.X).size - size)), 0.0)


def certify_vector(case: Attention, length: str = "d") -> fmpq:
    """Minus the misfit, sizes alone."""
    n, d = case.A1.shape
    A = sp.KroneckerProduct(sp.MatrixSymbol("A1", n, d), sp.MatrixSymbol("A2", n, d))
    (size,) = stated(case, length)
    return fmpq(-(abs(int(A.shape[1]) - size) + abs(d * d - size)))


def certify_square_vector(case: Attention, length: str = "d^2") -> fmpq:
    """The same with another default."""
    return certify_vector(case, length)


@claim(
    "sim/attention-shape:literal-2",
    **LEMMA,
    statement="A_{l0,j0} x is defined for x in R^d, as lemma 3.13 lists it",
    examples=[WIDER],
    certify=certify_vector,
    expected="refuted",
    siblings={
        "x in R^n": sibling(length="n", examples=[LONGER]),
        "x in R^{nd}": sibling(length="n d", examples=[LONGER]),
    },
)
def literal_2(case: Attention, length: str = "d") -> Slack:
    """As printed in lemma 3.13."""
    return unmet(case, length)


@claim(
    "sim/attention-shape:amended-2",
    **LEMMA,
    statement="A_{l0,j0} x is defined for x = vec(X) in R^{d^2}, for all n and d",
    examples=[WIDER, LONGER],
    certify=certify_square_vector,
    expected="proved",
    proof="symbolic.sim.attention_shape:prove",
    siblings={
        "x in R^d": sibling(length="d", examples=[WIDER]),
        "x in R^{nd}": sibling(length="n d", examples=[LONGER]),
    },
)
def amended_2(case: Attention, length: str = "d^2") -> Slack:
    """With the length of definition 3.1."""
    return unmet(case, length)
