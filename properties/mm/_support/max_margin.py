"""The v-SVM and the p-SVM: least vectors with given margins, in every arithmetic.

For rows D_j with bounds b_j in {0, 1} let p be the least vector with <D_j, p> >= b_j for all j, and
C = {sum_j l_j D_j : l >= 0, <b, l> = 1}. Then 1/||p|| is the distance of C from 0 and is called
the margin; it is 0 where there is no p. Where no b_j is 1 nothing is demanded: C is empty, p = 0.

The judge gets solutions in rationals, whose conditions `attsvm.exact.svm.solve_exactly` checks.
Tensors get nearly the solution of each instance of a batch, by projected gradient steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from attsvm.errors import SolverError
from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import Matrix, Number, Vector, combine, subtract
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import solve_exactly
from attsvm.primitives.torch_objectives import Tensor, distance, solution
from attsvm.theory import changed
from properties.mm._support.token_selections import Selection, chosen


@dataclass(frozen=True, slots=True)
class Programme:
    """A programme with its answer in rationals.

    Attributes:
        rows, bound: the programme.
        vector: the solution, None where Farkas multipliers prove that there is none.
        weights: multipliers, of the solution or of the Farkas certificate.
    """

    rows: Matrix
    bound: Vector
    vector: Vector | None
    weights: Vector

    @property
    def exists(self) -> bool:
        """Whether there is a solution; being of least norm it is then unique."""
        return self.vector is not None

    @property
    def tight(self) -> list[bool]:
        """The constraints that hold with equality."""
        if self.vector is None:
            return [False] * len(self.rows)
        pairs = zip(self.rows, self.bound, strict=True)
        return [bool(dot(row, self.vector) == b) for row, b in pairs]

    @property
    def margin_square(self) -> Number | None:
        """1/||p||^2, 0 where there is no p, None where nothing is demanded."""
        if self.vector is None:
            return fmpq(0)
        square = dot(self.vector, self.vector)
        return None if square == 0 else 1 / square

    @property
    def hull_square(self) -> Number | None:
        """The squared distance of C from 0, None where C is empty.

        The multipliers name a point z of C; it is the nearest one where <z, D_j> >= b_j <z, z>
        for all j, which is decided here.

        Raises:
            SolverError: it is not.
        """
        total = dot(self.weights, self.bound)
        if total == 0:
            return None
        z = combine([w / total for w in self.weights], self.rows)
        square = dot(z, z)
        pairs = zip(self.rows, self.bound, strict=True)
        nearest = all(dot(z, row) >= b * square for row, b in pairs)
        if not (nearest and all(w >= 0 for w in self.weights)):
            raise SolverError("the multipliers do not name the point of C that is nearest to 0")
        return square

    def kept(self, keep: str) -> Programme:
        """The programme of the tight rows, of the loose ones, or of the first tight one alone."""
        tight = self.tight
        if keep == "first":
            flags = [flag and not any(tight[:j]) for j, flag in enumerate(tight)]
        else:
            flags = [flag == (keep == "tight") for flag in tight]
        rows = [row for row, flag in zip(self.rows, flags, strict=True) if flag]
        bound = [b for b, flag in zip(self.bound, flags, strict=True) if flag]
        return solve(rows, len(self.vector or self.rows[0]), bound)


def solve(rows: Matrix, d: int, bound: Sequence[Number] | None = None) -> Programme:
    """Solve a programme in R^d; every margin is to be 1 where no bounds are given."""
    bounds = [fmpq(b) for b in ([1] * len(rows) if bound is None else bound)]
    if not rows:
        return Programme([], [], [fmpq(0)] * d, [])
    one: Matrix = [[fmpq(1)]] * len(rows)
    answer = solve_exactly(ExactProgramme.of_rows(rows, one, bounds))
    vector = [row[0] for row in answer.W] if answer.status == "solved" else None
    return Programme(rows, bounds, vector, answer.duals)


def p_rows(case: Selection) -> Matrix:
    """The rows W (x_i,alpha - x_it) of the p-SVM: T - 1 of the first input, and so on."""
    X, W = rationals(case.X), rationals(case.W)
    rows = []
    for tokens, best in zip(X, case.alpha.tolist(), strict=True):
        gaps = [subtract(tokens[best], token) for t, token in enumerate(tokens) if t != best]
        rows += [[dot(line, gap) for line in W] for gap in gaps]
    return rows


def p_programme(case: Selection, demanding: Sequence[bool] | None = None) -> Programme:
    """p(alpha); inputs that are not demanding are to have the margin 0 alone."""
    _, T, d = case.X.shape
    bound = None if demanding is None else np.repeat(demanding, T - 1).astype(int).tolist()
    return solve(p_rows(case), d, bound)


def v_rows(case: Selection) -> Matrix:
    """The rows Y_i x_i,alpha_i of the v-SVM."""
    return [
        [rational(y) * rational(x) for x in tokens[best].tolist()]
        for y, tokens, best in zip(case.y.tolist(), case.X, case.alpha.tolist(), strict=True)
    ]


def v_programme(case: Selection) -> Programme:
    """v(alpha), of the rows Y_i x_i,alpha_i."""
    return solve(v_rows(case), case.X.shape[2])


# in any arithmetic


@dataclass(frozen=True, slots=True)
class Solved:
    """A programme and its answer in one arithmetic.

    Attributes:
        rows: the rows D_j.
        vector: the solution, 0 where there is none.
        margin: 1/||vector||, 0 where there is none; None where nothing is demanded.
        programme: the programme in rationals, None in tensors.
    """

    rows: Any
    vector: Any
    margin: Any
    programme: Any = None


def solved(m: Any, programme: Programme) -> Solved:
    """A programme in the arithmetic m."""
    rows, vector, square = programme.rows, programme.vector, programme.margin_square
    found = m.values([0] * len(rows[0]) if vector is None else vector)
    margin = None if square is None else m.sqrt(m.values(square))
    return Solved(m.values(rows) if rows else None, found, margin, programme)


def v_svm(m: Any, case: Any) -> Solved:
    """v(alpha): the least head with Y_i <v, x_i,alpha_i> >= 1."""
    case = chosen(case)
    return _nearly(m, _selected(case)) if m.name == "tensors" else solved(m, v_programme(case))


def p_svm(m: Any, case: Any) -> Solved:
    """p(alpha): the least prompt with <p, k_i,alpha_i - k_it> >= 1."""
    case = chosen(case)
    return _nearly(m, _differences(case)) if m.name == "tensors" else solved(m, p_programme(case))


def _selected(case: Any) -> Tensor:
    """The rows of the v-SVM (batch, n, d)."""
    y = case.X.new_tensor(case.y)
    return case.X[:, range(len(case.y)), case.alpha] * y[None, :, None]


def _differences(case: Any) -> Tensor:
    """The rows of the p-SVM (batch, n (T - 1), d)."""
    keys = case.X @ case.W.mT[:, None]
    inputs, others = np.nonzero(np.arange(keys.shape[2]) != case.alpha[:, None])
    return keys[:, inputs, case.alpha[inputs]] - keys[:, inputs, others]


def _nearly(m: Any, A: Tensor) -> Solved:
    """The programmes of rows A (batch, J, d), nearly solved."""
    if A.shape[1] == 0:
        return Solved(None, m.values(0.0 * A.sum(1)), None)
    counted = A[..., 0] == A[..., 0]
    return Solved(m.values(A), m.values(solution(A, counted)), m.values(distance(A, counted)))


# formulas


def exceeds(m: Any, p: Solved, share: Any = 0) -> Any:
    """The margin is above a share of the shortest row: with a share of 0, there is a p."""
    if p.margin is None:  # nothing is demanded, and p = 0
        return m.below(m.exact(0), m.exact(1))
    return m.above(p.margin, share * _shortest(m, p.rows))


def above_nearest(half: list[Any], whole: list[Any]) -> dict[str, Any]:
    """False neighbours of `exceeds`, with explicit instances for either share."""
    return {
        "the margin is above half of the nearest rival's": changed(share="0.5", examples=half),
        "the margin is above the nearest rival's": changed(share=1, examples=whole),
    }


def is_distance(m: Any, p: Solved, share: Any = 1, of: str = "hull") -> Any:
    """The margin is a share of the distance of C from 0, or of the shortest row."""
    if p.margin is None:  # C is empty, and p = 0
        return m.equal(m.exact(0), m.exact(0))
    square = p.programme.hull_square
    other = m.sqrt(m.values(square)) if of == "hull" else _shortest(m, p.rows)
    return m.equal(p.margin, share * other)


OTHER_DISTANCES = {
    "95% of the distance": changed(share="0.95"),
    "105% of the distance": changed(share="1.05"),
}
"""False neighbours of `is_distance`."""


def supported(m: Any, p: Solved, keep: str = "tight") -> Any:
    """There is a solution, and that of the rows that are kept is the same."""
    return m.all_of(exceeds(m, p), m.equal(solved(m, p.programme.kept(keep)).vector, p.vector))


LOOSE_ONES = {"the tight ones dropped instead": changed(keep="loose")}
"""A false neighbour of `supported`."""


def _shortest(m: Any, rows: Any) -> Any:
    return m.min(m.array([m.norm(row) for row in rows]))
