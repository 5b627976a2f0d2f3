"""A fixed prediction head does not affect the analysis.

"As H is a fixed linear prediction head that does not impact our analysis, we will ignore that in
the theoretical analysis of our paper" (section 1).

The objective is logistic(Att(X) H, B) with H in R^{d x V}, B in R^{n x V}. To ignore H leaves
Att(X) itself: column v of A_3 Y scores the tokens in place of column v of A_3 Y H. Nothing
survives that in general. One value 1 and one value 0, d = V = 1 and H = -1: with the head the
second token is optimal, without it the first (`literal-2`); with keys 1, 0 and x = 0 the gradients
are opposite (`literal-1`), so that for query 1 the programme has X^mm = -1 and +1. And Att(X) in
R^{n x d} does not fit B in R^{n x V} for d = 1, V = 2 (`literal-3`). A permutation of two values
does the same as H = -1, so no positivity of H helps.

`amended-1`: the head can be absorbed, not ignored. Att(X) H with values Y is Att(X) with values
Y H, so every statement about h(y) holds with h = A_3 (Y H) e_v in its place, for column v in [V]
(proved). `amended-2`: it can be ignored for column v where H e_v = c e_v with c > 0: all scores
are multiplied by c, the optimal tokens and the Att-SVM stay. The proofs run both on symbols for
small sizes; for all, (f^T M) H = f^T (M H) and M (c e_v) = c M e_v, whatever the sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.attention import softmax
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.heads import (
    Headed,
    best_with_head,
    derivative,
    exact_best,
    exact_inner,
    exact_residual,
    gradient,
    headed,
    inner,
    noise,
    values,
)

HEAD: dict[str, Any] = {"source": SOURCE, "place": "Section 1, prediction head"}
COLUMN = np.array([[1.0], [0.0]])
FLIPPED = Headed(COLUMN, np.zeros(1), COLUMN, np.array([[-1.0]]), 1.0)
SWAPPED = Headed(COLUMN, np.zeros(1), np.eye(2), np.eye(2)[::-1], 1.0)
"""Two tokens whose values change places behind the head."""
WIDE = Headed(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)), np.ones((1, 2)), 1.0)


def certify_inner(case: Headed, positive: bool = False, least: float = 0.0) -> arb | fmpq:
    """The inner product of both gradients, as a ball."""
    return exact_inner(case, positive, least)


@claim(
    "sim/fixed-head:literal-1",
    **HEAD,
    statement="the gradient of the loss with a head has no part against that without it",
    data=headed(),
    examples=[FLIPPED],
    certify=certify_inner,
    expected="refuted",
    siblings={
        "heads of positive entries": sibling(positive=True, examples=[SWAPPED]),
        "at least half of it": sibling(least=0.5, examples=[SWAPPED]),
    },
)
def literal_1(case: Headed, positive: bool = False, least: float = 0.0) -> Slack:
    """By the way descent goes."""
    return inner(case, positive, least)


def certify_best(case: Headed, positive: bool = False, rank: int = 1) -> fmpq:
    """What the best of the chosen tokens lacks, in rationals."""
    return exact_best(case, positive, rank, each=False)


def certify_each(case: Headed, positive: bool = False, rank: int = 1) -> fmpq:
    """What the worst of the chosen tokens lacks, in rationals."""
    return exact_best(case, positive, rank, each=True)


@claim(
    "sim/fixed-head:literal-2",
    **HEAD,
    statement="some token that is optimal with a head is optimal without it",
    data=headed(),
    examples=[FLIPPED],
    certify=certify_best,
    expected="refuted",
    siblings={
        "heads of positive entries": sibling(positive=True, examples=[SWAPPED]),
        "they are among the two best": sibling(rank=2),
    },
)
def literal_2(case: Headed, positive: bool = False, rank: int = 1) -> Slack:
    """By the tokens that the programme selects."""
    return best_with_head(case, positive, rank)


def certify_columns(case: Headed, of: str = "values") -> fmpq:
    """Minus the difference of two numbers of columns."""
    sizes = {"values": case.M.shape[1], "tokens": len(case.M), "keys": case.A.shape[1]}
    return fmpq(-abs(sizes[of] - case.H.shape[1]))


@claim(
    "sim/fixed-head:literal-3",
    **HEAD,
    statement="Att(X), without H, has the size of B in R^{n x V}",
    data=headed(),
    examples=[WIDE],
    certify=certify_columns,
    expected="refuted",
    siblings={
        "A_{j0} x has": sibling(of="tokens"),
        "x has": sibling(of="keys"),
    },
)
def literal_3(case: Headed, of: str = "values") -> Slack:
    """By the sizes: a row of the output against a row of the labels."""
    logits = case.A @ case.x
    row = {"values": softmax(logits) @ case.M, "tokens": logits, "keys": case.x}[of]
    labels = case.M[0] @ case.H  # as many as Att(X) H has, which is compared with B
    return Slack.equal(float(abs(row.size - labels.size)), 0.0)


def certify_absorbed(case: Headed, taken: str = "column") -> arb:
    """Minus the largest residual, as a ball."""
    return exact_residual(case, taken)


@claim(
    "sim/fixed-head:amended-1",
    **HEAD,
    statement="the gradient of the loss with a head H is the closed form of lemma 3.11 with "
    "h = A_3 (Y H) e_v",
    data=headed(),
    examples=[FLIPPED, SWAPPED, WIDE],
    certify=certify_absorbed,
    expected="proved",
    proof="symbolic.sim.fixed_head:prove",
    depends_on=["sim/lemma-3.11:amended-2"],
    siblings={
        "the head left out": sibling(taken="ignored"),
        "the mean column of Y H": sibling(taken="mean"),
    },
)
def amended_1(case: Headed, taken: str = "column") -> Slack:
    """With the head absorbed by the values."""
    entry = values(case, taken)
    residual = float(np.abs(derivative(case) - gradient(entry)).max())
    return Slack.equal(residual, 4 * noise(case, entry) + 1e-300)


def scaled_column(case: Headed) -> Headed:
    """The same with a positive multiple of the unit vector for column 0 of the head."""
    H = case.H.copy()
    H[:, 0] = np.where(np.arange(len(H)) == 0, np.abs(H[0, 0]) + 0.5, 0.0)
    return Headed(case.A, case.x, case.M, H, case.b)


MIXED = Headed(COLUMN, np.zeros(1), np.eye(2), np.array([[1.0], [2.0]]), 1.0)


@claim(
    "sim/fixed-head:amended-2",
    **HEAD,
    statement="where H e_v = c e_v with c > 0 all optimal tokens are optimal without the head",
    data=headed().map(scaled_column),
    hypotheses={
        "H e_v is a multiple of e_v": lambda case: not case.H[1:, 0].any(),
        "its factor is positive": lambda case: bool(case.H[0, 0] > 0),
    },
    examples=[Headed(COLUMN, np.zeros(1), COLUMN, np.ones((1, 1)), 1.0)],
    certify=certify_each,
    expected="proved",
    proof="symbolic.sim.fixed_head:prove_multiple",
    siblings={
        "another direction": sibling(
            drop=["H e_v is a multiple of e_v"], data=headed(), examples=[MIXED]
        ),
        "a factor of any sign": sibling(
            drop=["its factor is positive"],
            data=headed().map(lambda case: flipped(scaled_column(case))),
            examples=[FLIPPED],
        ),
    },
)
def amended_2(case: Headed, positive: bool = False, rank: int = 1) -> Slack:
    """With a head that keeps the column."""
    return best_with_head(case, positive, rank)


def flipped(case: Headed) -> Headed:
    """The same with the head's sign turned."""
    return Headed(case.A, case.x, case.M, -case.H, case.b)
