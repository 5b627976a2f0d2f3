"""The l2 objective of the introduction and its rewritten form are the same function.

"we give ... the optimization problem of l2 loss as min_X ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_2^2
... We first convert the matrix representation into a vector representation ... Then, we have the
simplified optimization problem min_x ||max(D(x)^-1 exp(A x)) A3 Y - B||_2^2" with A = A1 kron A2,
x = vec(X).

`literal-1` reads max as the largest entry, a scalar: false, n = 2, d = 1, all of A1, A2, X and B
zero, A3 = (1, 0), Y = 1: both objectives are ||(1, 0)/2||^2 and ||(1, 1)/2||^2. So max is a
misprint of mat. `literal-2` reads it so and takes D(x) for the D(X) of section 1: an n x n matrix,
or d x d as printed, that cannot multiply the n^2 entries of exp(A x) unless n = 1. `amended`: mat,
and D(x) = D(X) kron I_n, which divides entry (j, t) by the sum of row j; then the matrices inside
are equal (proved), so the objectives are, whether ||.||_2 is the Frobenius or the spectral norm.
Only the first makes it a "single regression" in a vector. The proof runs both forms on symbols for
small n and d; for all n, place (j, t) of vec is divided by the j-th sum, as n places share one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.attentions import Attention, Regression, regressions
from properties.sim.rewritten import divisor_and_entries, exact_objectives, objectives

OBJECTIVE: dict[str, Any] = {"source": SOURCE, "place": "Section 1, l2 loss", "data": regressions()}


def certify(case: Regression, read: str = "rows", divided: str = "rows") -> arb:
    """Minus the difference of the objectives, as a ball."""
    return exact_objectives(case, read, divided)


def certify_max(case: Regression, read: str = "max", divided: str = "rows") -> arb:
    """The same with another default."""
    return exact_objectives(case, read, divided)


HALVED = Regression(
    Attention(
        np.zeros((2, 1)),
        np.zeros((2, 1)),
        np.array([[1.0], [0.0]]),
        np.zeros((1, 1)),
        np.ones((1, 1)),
    ),
    np.zeros((2, 1)),
)
"""Attention is 1/2 each, the values are 1 and 0."""
TOLD = Regression(
    Attention(
        np.array([[1.0], [0.0]]),
        np.array([[1.0], [0.0]]),
        np.array([[1.0], [0.0]]),
        np.ones((1, 1)),
        np.ones((1, 1)),
    ),
    np.zeros((2, 1)),
)
"""The first query tells the tokens apart, the second does not."""
OTHER_FORMS = {
    "mat of columns": sibling(read="columns", examples=[TOLD]),
    "divided by the sum of all": sibling(divided="whole", examples=[TOLD]),
}


@claim(
    "sim/l2-objective:literal-1",
    **OBJECTIVE,
    statement="||D(X)^-1 exp(A1 X A2^T) A3 Y - B||^2 = ||max(D(x)^-1 exp(A x)) A3 Y - B||^2, max "
    "the largest entry",
    examples=[HALVED],
    certify=certify_max,
    expected="refuted",
    siblings=OTHER_FORMS,
)
def literal_1(case: Regression, read: str = "max", divided: str = "rows") -> Slack:
    """As printed."""
    return objectives(case, read, divided)


def certify_size(case: Regression, divisor: str = "formula") -> fmpq:
    """Minus the difference of the two numbers, from n and d alone."""
    n, d = case.B.shape
    return fmpq(-abs({"formula": n, "printed": d, "kron": n * d}[divisor] - n * n))


@claim(
    "sim/l2-objective:literal-2",
    **OBJECTIVE,
    statement="D(x)^-1 exp(A x) is defined for D(x) = D(X), A = A1 kron A2",
    examples=[HALVED],
    certify=certify_size,
    expected="refuted",
    siblings={
        "D(X) of the printed size d x d": sibling(divisor="printed", examples=[TOLD]),
        "D(X) kron X": sibling(divisor="kron", examples=[TOLD]),
    },
)
def literal_2(case: Regression, divisor: str = "formula") -> Slack:
    """With mat, and D as the introduction defines it."""
    columns, entries = divisor_and_entries(case, divisor)
    return Slack.equal(float(abs(columns - entries)), 0.0)


@claim(
    "sim/l2-objective:amended",
    **OBJECTIVE,
    statement="||D(X)^-1 exp(A1 X A2^T) A3 Y - B||^2 = ||mat(D(x)^-1 exp(A x)) A3 Y - B||^2 with "
    "D(x) = D(X) kron I_n",
    examples=[HALVED, TOLD],
    certify=certify,
    expected="proved",
    proof="symbolic.sim.l2_objective:prove",
    depends_on=["sim/tensor-trick:literal"],
    siblings={**OTHER_FORMS, "max": sibling(read="max", examples=[HALVED])},
)
def amended(case: Regression, read: str = "rows", divided: str = "rows") -> Slack:
    """With mat, and the sums of rows."""
    return objectives(case, read, divided)
