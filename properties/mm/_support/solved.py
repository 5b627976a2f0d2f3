"""The three programmes as primitives: least-norm vectors and margins in every arithmetic.

For rows D_j with bounds b_j in {0, 1} let p be the least vector with <D_j, p> >= b_j, and
C = {sum_j l_j D_j : l >= 0, <b, l> = 1}. Then 1/||p|| is the distance of C from 0, the margin of
the programme: 0 where there is no p. Balls and traces get the rational solution, whose conditions are
checked by `attsvm.exact.svm.solve_exactly`; tensors a projected gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from properties._support.torch_objectives import distance, solution
from properties.mm._support.exact_programmes import Exact, exact_v
from properties.mm._support.torch_objectives import labelled_rows

__all__ = ["Solved", "least", "v_svm"]


@dataclass(frozen=True, slots=True)
class Solved:
    """A programme and its answer in one arithmetic.

    Attributes:
        rows: the rows D_j; those that count, in tensors.
        vector: the solution, 0 where there is none.
        margin: 1/||vector||, 0 where there is none.
        exact: the answer in rationals, None in tensors.
    """

    rows: Any
    vector: Any
    margin: Any
    exact: Any = None


def least(m: Any, exact: Exact, d: int) -> Solved:
    """An answer in rationals in the arithmetic m, for vectors of R^d."""
    square = exact.margin_square
    vector = [0] * d if exact.vector is None else exact.vector
    return Solved(
        m.values(exact.rows),
        m.values(vector),
        m.exact(0) if square is None else m.sqrt(m.values(square)),
        exact,
    )


def v_svm(m: Any, case: Any) -> Solved:
    """v(alpha): the least head with Y_i <v, x_i,alpha_i> >= 1."""
    if m.name != "tensors":
        return least(m, exact_v(case), case.X.shape[2])
    A, counted = labelled_rows(case)
    return Solved(m.values(A), m.values(solution(A, counted)), m.values(distance(A, counted)))
