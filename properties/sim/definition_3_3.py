"""Definition 3.3: f(x)_{j0} = u / <u, 1>, u = exp(A_{j0} x), is a row of the attention matrix.

"By using the above definitions, we formulate the attention as <f(x)_{l0,j0}, h(y)_{l0,i0}>", with
h(y)_{i0} = A_3 y_{i0} and y_{i0} the i0-th column of the value matrix (definition 3.4).

f is a probability vector, positive and of sum 1 (`literal-1`, proved). <f_{j0}, h_{i0}> is entry
(j0, i0) of D(X)^-1 exp(A1 X A2^T) A3 Y, the attention of the squared objective (`literal-2`,
proved). It is not that of the formula that introduces attention, Att(X, Y) = D(X)^-1
exp(A1 X A2^T) A2 Y: nothing says A_3 = A_2, and the data set of section 1 has no A_3 (`literal-3`;
smallest: n = d = 1, A_2 = 0, A_3 = Y = 1, where <f, h> = 1 and Att = 0). With A_3 = A_2 it is
(`amended`). Row j0 of A1 is the query and stands left of X: `sim/orientation`. No later token is
masked, as a causal model would.

The proofs run `total` and `products` on symbols for small n and d. For all sizes: softmax divides
positive numbers by their sum, so it is positive of sum 1; and sum_t f_t (sum_c V_tc y_c) is
sum_c (sum_t f_t V_tc) y_c, where f is row j0 of D(X)^-1 exp(A1 X A2^T) by the tensor trick.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm._types import Array
from attsvm.exact.numbers import Matrix, transpose
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.attentions import (
    EPS,
    Attention,
    attention,
    attentions,
    block_attention,
    distance,
    exact_attention,
    exact_distance,
    exact_values,
    rounding,
)

DEFINITION: dict[str, Any] = {"source": SOURCE, "place": "Definition 3.3 with definition 3.4"}
PROOF = "symbolic.sim.definition_3_3:prove"
OTHER_VALUES = Attention(
    np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1))
)
"""Key 0, value 1."""
TWO = Attention(
    np.array([[1.0], [0.0]]),
    np.array([[1.0], [0.0]]),
    np.array([[1.0], [0.0]]),
    np.ones((1, 1)),
    np.ones((1, 1)),
)
"""Two tokens, of which the first is a query that tells them apart."""


def total(f: Array, along: str, power: int) -> Array:
    """Sums of powers of the entries, along rows or columns; numbers and symbols alike."""
    result: Array = (f**power).sum(axis=1 if along == "rows" else 0)
    return result


def certify_sum(case: Attention, along: str = "rows", power: int = 1) -> arb:
    """Minus the largest |sum - 1|; entries are exponentials over their sum, so positive."""
    f: Matrix = exact_attention(case)
    f = f if along == "rows" else transpose(f)
    return -exact_distance([[sum((p**power for p in row), arb(0))] for row in f], [[1] for _ in f])


@claim(
    "sim/definition-3.3:literal-1",
    **DEFINITION,
    statement="f(x)_{j0} is a probability vector for every j0: no entry below 0, sum 1",
    data=attentions(),
    examples=[OTHER_VALUES, TWO],
    certify=certify_sum,
    expected="proved",
    proof="symbolic.sim.definition_3_3:prove_vector",
    siblings={
        "the weights that a token gets have sum 1": sibling(along="columns", examples=[TWO]),
        "squares have sum 1": sibling(power=2, examples=[TWO]),
    },
)
def literal_1(case: Attention, along: str = "rows", power: int = 1) -> Slack:
    """As the code computes it."""
    f = block_attention(case)
    off = float(np.abs(total(f, along, power) - 1.0).max())
    below = float(np.maximum(-f, 0.0).max())
    noise = rounding(case) if along == "columns" or power != 1 else 0.0
    return Slack.equal(off + below, len(f) * (4 * EPS + noise))


def products(case: Attention, values: str, transposed: bool) -> tuple[Array, Array]:
    """<f_{j0}, h_{i0}>, and the attention with these values; numbers and symbols alike."""
    weights = block_attention(case)
    f = weights.T if transposed else weights
    return f @ (case.A3 @ case.Y), attention(case, case.A3 if values == "A3" else case.A2)


def entry(case: Attention, values: str, transposed: bool) -> Slack:
    """<f_{j0}, h_{i0}> against entry (j0, i0) of the attention with these values."""
    other = case.A3 if values == "A3" else case.A2
    reach = sum(float((np.abs(v) @ np.abs(case.Y)).max()) for v in (case.A3, other))
    size = len(case.A3) * (rounding(case) + 8 * EPS * len(case.Y)) * reach
    return Slack.equal(distance(*products(case, values, transposed)), size + 1e-300)


def certify_entry(case: Attention, values: str = "A3", transposed: bool = False) -> arb:
    """Minus the largest difference, as a ball."""
    weights: Matrix = exact_attention(case)
    f = transpose(weights) if transposed else weights
    other = case.A3 if values == "A3" else case.A2
    return -exact_distance(exact_values(f, case.A3, case.Y), exact_values(weights, other, case.Y))


def certify_printed(case: Attention, values: str = "A2", transposed: bool = False) -> arb:
    """The same with the values of the introduction."""
    return certify_entry(case, values, transposed)


TRANSPOSED = sibling(transposed=True, examples=[TWO])


@claim(
    "sim/definition-3.3:literal-2",
    **DEFINITION,
    statement="<f_{j0}, h_{i0}> is entry (j0, i0) of D(X)^-1 exp(A1 X A2^T) A3 Y",
    data=attentions(),
    examples=[OTHER_VALUES, TWO],
    certify=certify_entry,
    expected="proved",
    proof=PROOF,
    depends_on=["sim/tensor-trick:literal"],
    siblings={"f as a column": TRANSPOSED, "values A2": sibling(values="A2")},
)
def literal_2(case: Attention, values: str = "A3", transposed: bool = False) -> Slack:
    """With the attention of the squared objective."""
    return entry(case, values, transposed)


@claim(
    "sim/definition-3.3:literal-3",
    **DEFINITION,
    statement="<f_{j0}, h_{i0}> is entry (j0, i0) of Att(X, Y) = D(X)^-1 exp(A1 X A2^T) A2 Y",
    data=attentions(),
    examples=[OTHER_VALUES],
    certify=certify_printed,
    expected="refuted",
    siblings={
        "f as a column": TRANSPOSED,
        "f as a column, values A3": sibling(values="A3", transposed=True, examples=[TWO]),
    },
)
def literal_3(case: Attention, values: str = "A2", transposed: bool = False) -> Slack:
    """With the attention that the introduction defines."""
    return entry(case, values, transposed)


def shared(case: Attention) -> Attention:
    """The same sentence with its keys for values."""
    return Attention(case.A1, case.A2, case.A2, case.X, case.Y)


@claim(
    "sim/definition-3.3:amended",
    **DEFINITION,
    statement="where A_3 = A_2, <f_{j0}, h_{i0}> is entry (j0, i0) of Att(X, Y)",
    data=attentions().map(shared),
    hypotheses={"A_3 = A_2": lambda case: bool((case.A3 == case.A2).all())},
    examples=[TWO],
    certify=certify_printed,
    expected="proved",
    proof=PROOF,
    depends_on=["sim/tensor-trick:literal"],
    siblings={
        "f as a column": TRANSPOSED,
        "other values": sibling(drop=["A_3 = A_2"], data=attentions(), examples=[OTHER_VALUES]),
    },
)
def amended(case: Attention, values: str = "A2", transposed: bool = False) -> Slack:
    """With keys for values."""
    return entry(case, values, transposed)
