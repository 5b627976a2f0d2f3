"""Hypotheses on the queries of a case and on the number of its dimensions."""

import itertools
from collections.abc import Sequence

from flint import fmpq, fmpq_mat

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.exact.numbers import Vector
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import solve_exactly
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import labellings
from attsvm.theory import Hypothesis


def data_of(case: AttentionData | Descent) -> AttentionData:
    """Return the data of a record; data are returned as they are."""
    return case if isinstance(case, AttentionData) else case.data


def large(case: AttentionData | Descent) -> bool:
    """Return whether there are at least as many dimensions as tokens."""
    data = data_of(case)
    return bool(data.d >= data.n * data.T)


def queries_independent(case: AttentionData | Descent) -> bool:
    """Return whether the queries are linearly independent."""
    Z = ExactData.of(data_of(case)).Z
    return int(fmpq_mat(Z).rank()) == len(Z)


def balance(data: AttentionData, labels: Sequence[int]) -> Vector | None:
    """Return lambda_i >= 0, not all 0, with sum_i lambda_i Y_i z_i = 0, or None.

    There are such numbers exactly if no q has Y_i <z_i, q> > 0 for all i (Gordan).
    """
    sides = [[y * x for x in z] for y, z in zip(labels, ExactData.of(data).Z, strict=True)]
    answer = solve_exactly(ExactProgramme.of_rows(sides, [[fmpq(1)]] * len(sides)))
    return None if answer.status == "solved" else answer.duals


def one_side(case: AttentionData | Descent) -> bool:
    """Return whether labels and some q have Y_i <z_i, q> > 0 for all i.

    The labels Y_i are those of a linear head with these scores, or any if there is no such head.
    """
    data = data_of(case)
    labels = [*labellings(data)] or itertools.product((1, -1), repeat=data.n)
    return any(balance(data, one) is None for one in labels)


ONE_SIDE = Hypothesis(
    "some q has Y_i <z_i, q> > 0 for all i", one_side, proposition=letters.one_side
)
QUERIES = Hypothesis(
    "queries are independent", queries_independent, proposition=letters.independent_queries
)
LARGE = Hypothesis(
    "d >= n T",
    large,
    checked="fact(len(data.Z[0]) >= len(data.X) * max(len(X) for X in data.X))",
)
