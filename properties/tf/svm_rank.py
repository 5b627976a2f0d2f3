"""The rank of the Att-SVM solutions, Frobenius and nuclear norm, against n, T and d.

The talk presents the nuclear norm as what makes (K, Q) low-rank and gives no numbered statement.
literal-1 reads it as the bound that both programmes share, rank <= min(n, d): the Frobenius
solution is sum_i e_i z_i^T with e_i the weighted differences of input i. literal-2 reads "nuclear
norm, hence low rank" as rank(nuclear) <= rank(Frobenius) on the same data; we know no proof.

`sharp-1`: only inputs and differences with a positive multiplier count, rank(W^mm) <= min(rank of
these queries, rank of these differences). `sharp-2`: a unique nuclear-norm solution U B V^T of
rank r is fixed by its tight constraints, k of them with a multiplier: the r (r + 1) / 2 entries of
a positive definite B solve k linear equations and no other symmetric matrix near B may, so that
r (r + 1) / 2 <= k.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.svm import att_svm
from attsvm.theory import Slack, claim, sibling
from properties.instances import one_input
from properties.runs import answer
from properties.strategies import separable_data
from properties.tf import SOURCE
from properties.tf.ranked import (
    at_most,
    carrying,
    nuclear_rank,
    nuclear_solution,
    protocol,
    rank_of,
    separable,
    unique,
)

RANK: dict[str, Any] = {
    "source": SOURCE,
    "place": "Connections to Core ML 3, SVM for (K,Q)-ERM",
    "hypotheses": {"optimal tokens are unique": unique, "Att-SVM is separable": separable},
    "data": separable_data(),
    "ensemble": protocol,
    "examples": [one_input()],
}


def frobenius_rank(data: AttentionData) -> tuple[int, float]:
    """In floats, and whether that is not clear."""
    return rank_of(np.linalg.svd(att_svm(data).W, compute_uv=False))


def certify_size(data: AttentionData, less: int = 0, most: float = np.inf) -> arb:
    """min(n, d, most) - less minus the exact rank."""
    solved = answer(data)
    assert solved is not None
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
    solved = answer(data)
    assert solved is not None
    return arb(carrying(data)) * arb(share) - less - solved.rank


@claim(
    "tf/svm-rank:sharp-1",
    **RANK,
    statement="the Frobenius solution has rank at most that of the queries, and that of the "
    "differences, which carry a positive multiplier",
    certify=certify_carrying,
    expected="holds",
    siblings={"one less": sibling(less=1), "three quarters of it": sibling(share=0.75)},
)
def sharp_1(data: AttentionData, less: int = 0, share: float = 1.0) -> Slack:
    """The rank against the ranks of what carries it."""
    return at_most(frobenius_rank(data), share * carrying(data) - less)


def recount(data: AttentionData, less: int, most: float, *, of_tight: bool, square: bool) -> Slack:
    """The two readings on the nuclear norm in 40 digits, and the exact rank of the other norm."""
    found, solved = nuclear_rank(data), answer(data)
    if found is None or solved is None:
        return Slack.unknown("the multipliers do not fix a solution")
    rank, tight = found
    if of_tight:
        needed = rank * rank if square else rank * (rank + 1) // 2
        return Slack(float(tight - less - needed), 0.0)
    return Slack(float(min(solved.rank - less, most) - rank), 0.0)


@claim(
    "tf/svm-rank:literal-2",
    **RANK,
    statement="some nuclear-norm solution has no larger rank than the Frobenius solution",
    rerun=partial(recount, less=0, most=np.inf, of_tight=False, square=False),
    expected="holds",
    siblings={"a smaller rank": sibling(less=1), "rank one": sibling(most=1.0)},
)
def literal_2(data: AttentionData, less: int = 0, most: float = np.inf) -> Slack:
    """Rank against rank."""
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
    "tf/svm-rank:sharp-2",
    **RANK,
    statement="a unique nuclear-norm solution of rank r has r (r + 1) / 2 tight constraints that "
    "carry a multiplier, or more",
    rerun=partial(recount, less=0, most=np.inf, of_tight=True, square=False),
    expected="holds",
    siblings={"one constraint less": sibling(less=1), "r squared": sibling(square=True)},
)
def sharp_2(data: AttentionData, less: int = 0, square: bool = False) -> Slack:
    """Entries of B against the equations that fix them."""
    found = nuclear_solution(data)
    if found is None or not found.unique:
        return Slack.unknown("the nuclear-norm solution is not one matrix")
    rank, unclear = rank_of(np.linalg.svd(found.W, compute_uv=False))
    loaded = int((found.weights > 1e-7 * found.weights.max()).sum())
    needed = rank * rank if square else rank * (rank + 1) // 2
    return Slack.at_most(float(needed), float(loaded - less), 4.0 * unclear)
