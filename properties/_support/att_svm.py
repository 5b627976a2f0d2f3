"""The Att-SVM as a primitive of formulas: its constraints, solution and margin in any arithmetic.

X^mm is the least ||X||_F with <A_j, X> >= 1, A_j = (x_opt - x_t) z^T for every token t other than
the first optimal one. 1/||X^mm||_F is the distance of the hull of the A_j from 0. Balls and traces
get the rational solution, whose conditions are checked by `attsvm.exact.svm.solve_exactly`; tensors
a projected gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attsvm.exact import ExactData
from properties._support import torch_objectives
from properties._support.programmes import Exact, exactly, first_optimal, flat
from properties._support.programmes import constraints as exact_constraints

__all__ = ["AttSVM", "att_svm", "constraints", "of_rivals"]


@dataclass(frozen=True, slots=True)
class AttSVM:
    """The Att-SVM of the optimal tokens in one arithmetic.

    Attributes:
        rows: the constraint matrices A_j, each row by row.
        vector: X^mm row by row, 0 where it does not exist.
        margin: 1/||X^mm||_F, 0 where X^mm does not exist and 1 where nothing is constrained.
        exact: the answer in rationals; None where X^mm does not exist, and in tensors.
    """

    rows: Any
    vector: Any
    margin: Any
    exact: Exact | None = None


def att_svm(m: Any, data: Any) -> AttSVM:
    """The Att-SVM in the arithmetic m."""
    rows = constraints(m, data)
    if m.name == "tensors":
        A, counted = torch_objectives.constraints(data)
        vector = torch_objectives.solution(A, counted)
        return AttSVM(rows, m.values(vector), m.values(torch_objectives.distance(A, counted)))
    found = exactly(data)
    if found is None:
        return AttSVM(rows, m.values([0] * data.d**2), m.exact(0))
    margin = m.sqrt(m.values(1 / found.square)) if found.A else m.exact(1)
    return AttSVM(rows, m.values(flat(found.W)), margin, found)


def constraints(m: Any, data: Any) -> Any:
    """The constraint matrices A_j, one a row."""
    if m.name == "tensors":
        A, counted = torch_objectives.constraints(data)
        return m.values(_counted(A, counted))
    exact = ExactData.of(data)
    return m.values(list(exact_constraints(exact, first_optimal(exact)).values()))


def of_rivals(m: Any, data: Any, values: Any) -> Any:
    """Of values (n, T), one for each token, those of the tokens that are constrained, in order."""
    if m.name == "tensors":
        _, counted = torch_objectives.constraints(data)
        return m.values(_counted(values.flatten(1)[..., None], counted)[..., 0])
    exact = ExactData.of(data)
    return m.values([values[token] for token in exact_constraints(exact, first_optimal(exact))])


def _counted(A: Any, counted: Any) -> Any:
    """The rows that count, of which all instances of a batch have the same number."""
    number = int(counted[0].sum())
    order = (~counted).long().argsort(dim=1, stable=True)[:, :number]
    return A.gather(1, order[..., None].expand(-1, -1, A.shape[2]))
