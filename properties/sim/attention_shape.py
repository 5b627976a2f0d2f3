"""Attention shape: the stated formula and the stated dimensions of D(X) fit together.

"Given input sequences A1, A2 in R^{n x d} ... Att(X, Y) = D(X)^-1 exp(A1 X A2^T) A2 Y where X in
R^{d x d} ..., Y in R^{d x d} denotes the value matrix and D(X) := diag(exp(A1 X A2^T) 1_n) in
R^{d x d}" (section 1). To fit means: a matrix has the size that its formula gives, and in every
product the columns of one factor are as many as the rows of the next.

As printed it fits exactly where n = d: D(X) is n x n (`literal-1`, smallest: n = 2, d = 1, all
entries 0: D(X) misses its size by 2, and D(X)^-1 as a factor by 2 more). With D(X) in R^{n x n} the
whole product fits and is n x d, for all n and d (`amended-1`). A second slip of this kind is in
lemma 3.13, "x, y in R^d" beside ||A_{l0,j0} x||: the block has d^2 columns (definition 3.1), which
fits for d = 1 only (`literal-2`, n = 1, d = 2: 4 columns against 2 entries); x is in R^{d^2}
(`amended-2`). The claims run the formulas on arrays, certificates count with numbers, and the proof
runs the functions of the claims on matrices of symbolic size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import fmpq

from attsvm.attention import vec
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.attentions import Attention, attentions
from properties.sim.fitting import ARRAYS, misfit

SHAPE: dict[str, Any] = {"source": SOURCE, "data": attentions()}
INTRODUCTION = {**SHAPE, "place": "Section 1, formula of the attention"}
LEMMA = {**SHAPE, "place": "Definition 3.1 and lemma 3.13"}
COUNTS = {"n": (1, 0), "d": (0, 1), "d^2": (0, 2), "n d": (1, 1)}
"""Powers of n and d."""


def stated(case: Attention, *names: str) -> tuple[int, ...]:
    """Numbers of rows, columns or entries by their names."""
    n, d = case.A1.shape
    return tuple(n**a * d**b for a, b in (COUNTS[name] for name in names))


def parts(
    case: Attention, rows: str, columns: str, of: str = "logits", values: str = "A2"
) -> tuple[int, int]:
    """What does not fit in D(X) of that size alone, and in the product with it."""
    D = np.ones(stated(case, rows, columns))
    return misfit(case.A1, case.A2, case.X, case.Y, D, of, values, ARRAYS)


def certify(
    case: Attention, rows: str = "d", columns: str = "d", of: str = "logits", values: str = "A2"
) -> fmpq:
    """Minus the misfit, counted from n and d alone."""
    n, d = case.A1.shape
    high, wide = stated(case, rows, columns)
    summed = n if of == "logits" else d
    mixed = {"A2": [n, d], "A2^T": [d, n], "none": []}[values]
    ends = [n, wide, high, n, n, *mixed, d, d, d]  # n wanted, D^-1, exp, A2, Y, d wanted
    gaps = [abs(a - b) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return fmpq(-(abs(summed - high) + abs(summed - wide) + sum(gaps)))


def certify_square(
    case: Attention, rows: str = "n", columns: str = "n", of: str = "logits", values: str = "A2"
) -> fmpq:
    """The same with another default."""
    return certify(case, rows, columns, of, values)


WIDER = Attention(*np.zeros((3, 1, 2)), *np.zeros((2, 2, 2)))
LONGER = Attention(*np.zeros((3, 2, 1)), *np.zeros((2, 1, 1)))
OTHER_SIZES = {
    "n x d": sibling(rows="n", columns="d", examples=[LONGER]),
    "d x n": sibling(rows="d", columns="n", examples=[LONGER]),
}


@claim(
    "sim/attention-shape:literal-1",
    **INTRODUCTION,
    statement="D(X) = diag(exp(A1 X A2^T) 1_n) is d x d, and D(X)^-1 exp(A1 X A2^T) A2 Y fits, for "
    "A1, A2 in R^{n x d}",
    examples=[LONGER],
    certify=certify,
    expected="refuted",
    siblings=OTHER_SIZES,
)
def literal_1(
    case: Attention, rows: str = "d", columns: str = "d", of: str = "logits", values: str = "A2"
) -> Slack:
    """As printed."""
    return Slack.equal(float(sum(parts(case, rows, columns, of, values))), 0.0)


@claim(
    "sim/attention-shape:amended-1",
    **INTRODUCTION,
    statement="D(X) is n x n, and D(X)^-1 exp(A1 X A2^T) A2 Y fits and is n x d, for all n and d",
    examples=[WIDER, LONGER],
    certify=certify_square,
    expected="proved",
    proof="symbolic.sim.attention_shape:prove",
    siblings={
        "d x d": sibling(rows="d", columns="d"),
        **OTHER_SIZES,
        "D(X) = diag(exp(X) 1_d)": sibling(of="X"),
        "the product without A2": sibling(values="none"),
        "the product with A2^T": sibling(values="A2^T"),
    },
)
def amended_1(
    case: Attention, rows: str = "n", columns: str = "n", of: str = "logits", values: str = "A2"
) -> Slack:
    """With the size of the formula."""
    return Slack.equal(float(sum(parts(case, rows, columns, of, values))), 0.0)


def columns_of_block(case: Attention, length: str) -> int:
    """By how much the columns of A_{j0} miss the stated length of x."""
    (size,) = stated(case, length)
    return abs(int(ARRAYS.block(case.A1, case.A2).shape[1]) - size)


def entries_of_vec(case: Attention, length: str) -> int:
    """By how much the entries of vec(X) miss it."""
    (size,) = stated(case, length)
    return abs(vec(case.X).size - size)


def certify_columns(case: Attention, length: str = "d") -> fmpq:
    """Minus the misfit of the block, counted from n and d alone."""
    d = case.A1.shape[1]
    return fmpq(-abs(d * d - stated(case, length)[0]))


def certify_both(case: Attention, length: str = "d^2", listed: str = "d^2") -> fmpq:
    """Minus the misfits of the block and of vec(X)."""
    return certify_columns(case, length) + certify_columns(case, listed)


@claim(
    "sim/attention-shape:literal-2",
    **LEMMA,
    statement="A_{l0,j0} x is defined for x in R^d, as lemma 3.13 lists it",
    examples=[WIDER],
    certify=certify_columns,
    expected="refuted",
    siblings={
        "x in R^n": sibling(length="n", examples=[LONGER]),
        "x in R^{nd}": sibling(length="n d", examples=[LONGER]),
    },
)
def literal_2(case: Attention, length: str = "d") -> Slack:
    """As printed in lemma 3.13."""
    return Slack.equal(float(columns_of_block(case, length)), 0.0)


@claim(
    "sim/attention-shape:amended-2",
    **LEMMA,
    statement="A_{l0,j0} x is defined for x in R^{d^2}, and vec(X) is one, for all n and d",
    examples=[WIDER, LONGER],
    certify=certify_both,
    expected="proved",
    proof="symbolic.sim.attention_shape:prove_vector",
    siblings={
        "x in R^d": sibling(length="d", examples=[WIDER]),
        "x in R^{nd}": sibling(length="n d", examples=[LONGER]),
        "vec(X) in R^d": sibling(listed="d", examples=[WIDER]),
    },
)
def amended_2(case: Attention, length: str = "d^2", listed: str = "d^2") -> Slack:
    """With the length of definition 3.1."""
    return Slack.equal(float(columns_of_block(case, length) + entries_of_vec(case, listed)), 0.0)
