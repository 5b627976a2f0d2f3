"""The rank of the Att-SVM solutions, Frobenius and nuclear norm, against n, T and d.

The talk presents the nuclear norm as what makes (K, Q) low-rank and gives no numbered statement.
literal-1 reads it as a bound by the sizes, for the Frobenius solution: rank <= min(n, d), because
it is sum_i e_i z_i^T with e_i the weighted differences of input i. literal-2 reads "nuclear norm,
hence low rank" as rank(nuclear) <= rank(Frobenius) on the same data, for one of the solutions where
there are many. False: three inputs in the plane whose two solutions differ, and two mirrored pairs
of inputs (u, +-8), (v, +-8) with u^T W v >= 1 for the Frobenius solution W and not for the nuclear
one. The former stays, of rank 2; the latter needs a third direction.

`amended`: where the Frobenius solution has rank 1, so has the nuclear one. Proof: every W' that is
feasible has <W, W'> >= ||W||_F^2, and ||W'||_* >= ||W'||_F >= ||W||_F = ||W||_*; equality makes
||W'||_F = ||W||_F, so that W' = W. `sharp`: only inputs and differences with a positive multiplier
count, rank(W^mm) <= min(rank of these queries, rank of these differences).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.strategies.data import separable_data
from attsvm.svm import att_svm
from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import answer
from properties._support.published_data import one_input
from properties.tf import SOURCE
from properties.tf.svm_rank.rank_estimates import (
    MIRRORED,
    at_most,
    carrying,
    nuclear_rank,
    nuclear_solution,
    protocol,
    rank_of,
    rank_one,
    separable,
    unique,
)

HYPOTHESES = {"optimal tokens are unique": unique, "Att-SVM is separable": separable}
RANK: dict[str, Any] = {
    "source": SOURCE,
    "place": "Connections to Core ML 3, SVM for (K,Q)-ERM",
    "hypotheses": HYPOTHESES,
    "data": separable_data(),
    "ensemble": protocol,
    "examples": [one_input()],
}


def frobenius_rank(data: AttentionData) -> tuple[int, float]:
    """In floats, and whether that is not clear."""
    return rank_of(np.linalg.svd(att_svm(data).W, compute_uv=False))


def certify_size(data: AttentionData, less: int = 0, most: float = np.inf) -> arb:
    """min(n, d, most) - less minus the exact rank."""
    solved = present(answer(data), "the answer of the SVM")
    return arb(int(min(data.n, data.d, most)) - less - solved.rank)


@claim(
    "tf/svm-rank:literal-1",
    **RANK,
    statement="the Frobenius solution has rank at most min(n, d)",
    certify=certify_size,
    expected="holds",
    siblings={"one less": sibling(less=1), "rank one": sibling(most=1.0)},
)
def literal_1(data: AttentionData, less: int = 0, most: float = np.inf) -> Slack:
    """The rank against the sizes."""
    return at_most(frobenius_rank(data), min(data.n, data.d, most) - less)


def certify_carrying(data: AttentionData, less: int = 0, share: float = 1.0) -> arb:
    """The exact bound minus the exact rank."""
    solved = present(answer(data), "the answer of the SVM")
    return arb(carrying(data)) * arb(share) - less - solved.rank


@claim(
    "tf/svm-rank:sharp",
    **RANK,
    statement="the Frobenius solution has rank at most that of the queries, and that of the "
    "differences, which carry a positive multiplier",
    certify=certify_carrying,
    expected="holds",
    siblings={"one less": sibling(less=1), "three quarters of it": sibling(share=0.75)},
)
def sharp(data: AttentionData, less: int = 0, share: float = 1.0) -> Slack:
    """The rank against the ranks of what carries it."""
    return at_most(frobenius_rank(data), share * carrying(data) - less)


def recount(data: AttentionData, less: int, most: float) -> Slack:
    """The rank of the nuclear solution in 40 digits, and the exact rank of the other."""
    found, solved = nuclear_rank(data), answer(data)
    if found is None or solved is None:
        return Slack.unknown("the multipliers do not fix a solution")
    return Slack(float(min(solved.rank - less, most) - found), 0.0)


def compare(data: AttentionData, less: int, most: float) -> Slack:
    """Rank against rank, in floats."""
    found = nuclear_solution(data)
    if found is None:
        return Slack.unknown("no answer with a bracket was reached")
    own = rank_of(np.linalg.svd(found.W, compute_uv=False))
    other = frobenius_rank(data)
    slack = at_most((own[0], own[1] + other[1]), min(other[0] - less, most))
    if slack.violated and not found.unique:
        return Slack.unknown("the solution is one of many, another may have a smaller rank")
    return slack


@claim(
    "tf/svm-rank:literal-2",
    **{**RANK, "examples": [MIRRORED]},
    statement="some nuclear-norm solution has no larger rank than the Frobenius solution",
    rerun=partial(recount, less=0, most=np.inf),
    expected="refuted, numeric",
    siblings={"a smaller rank": sibling(less=1), "rank one": sibling(most=1.0)},
)
def literal_2(data: AttentionData, less: int = 0, most: float = np.inf) -> Slack:
    """Rank against rank."""
    return compare(data, less, most)


@claim(
    "tf/svm-rank:amended",
    **{**RANK, "hypotheses": {**HYPOTHESES, "the Frobenius solution has rank 1": rank_one}},
    statement="where the Frobenius solution has rank 1, so has the nuclear-norm solution",
    rerun=partial(recount, less=0, most=np.inf),
    expected="holds",
    siblings={
        "rank 0": sibling(less=1),
        "any Frobenius solution": sibling(
            drop=["the Frobenius solution has rank 1"], examples=[MIRRORED]
        ),
    },
)
def amended(data: AttentionData, less: int = 0, most: float = np.inf) -> Slack:
    """The case in which both norms agree."""
    return compare(data, less, most)
