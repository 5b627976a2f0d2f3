"""The Att-SVM, in rationals for the judge and as a primitive of formulas in every arithmetic.

X^mm is the matrix of least norm ||X||_F with <A_j, X> >= 1, A_j = (x_opt - x_t) z^T for every token
t other than the first optimal one of its input. Other tokens may be chosen in place of the optimal
ones. 1/||X^mm||_F is the distance of the convex hull of the A_j from 0.
`attsvm.exact.svm.solve_exactly` checks the optimality conditions of a rational solution. Balls and
traces use that solution. The words that describe data in the coverage of a search are here as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq, fmpq_mat

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import AttsvmError
from attsvm.exact import ExactData, dot, separate
from attsvm.exact.numbers import Matrix, Vector, remembered, subtract
from attsvm.theory.run.coverage import words
from attsvm.theory.types import Comparison, Namespace, Number, Numbers
from attsvm.tokens import optimal_tokens

Token = tuple[int, int]
"""An input and one of its tokens, which name a constraint."""


# in rationals


@dataclass(frozen=True, slots=True)
class ExactAttSVM:
    """X^mm in rationals.

    Attributes:
        W: the matrix, 0 if there are no constraints.
        A: the constraint matrices (x_chosen - x_t) z^T, row by row.
        duals: the multipliers.
        margins: the margins under W.
    """

    W: Matrix
    A: dict[Token, Vector]
    duals: dict[Token, fmpq]
    margins: dict[Token, fmpq]

    @property
    def square(self) -> fmpq:
        """||X^mm||_F^2."""
        square: fmpq = dot(flat(self.W), flat(self.W))
        return square

    @property
    def rank(self) -> int:
        """The rank of X^mm."""
        return int(fmpq_mat(self.W).rank())

    @property
    def all_tight(self) -> bool:
        """Whether every token that was not chosen has margin 1, so that all are support vectors."""
        return all(margin == 1 for margin in self.margins.values())

    @property
    def degenerate(self) -> bool:
        """Whether some token of margin 1 has multiplier 0."""
        return any(m == 1 and self.duals[token] == 0 for token, m in self.margins.items())

    def gram(self, tokens: Sequence[Token]) -> fmpq_mat:
        """Return the matrix of inner products of the constraints of some tokens."""
        return fmpq_mat([[dot(self.A[s], self.A[t]) for t in tokens] for s in tokens])


def exact_att_svm(
    data: AttentionData, chosen: Sequence[int] | Array | None = None
) -> ExactAttSVM | None:
    """Return X^mm for the chosen tokens, by default the first optimal ones; None if unseparable."""
    if chosen is None:
        return _of_optimal(data)
    return _of_chosen(data, tuple(map(int, chosen)))


@remembered
def _of_chosen(data: AttentionData, chosen: tuple[int, ...]) -> ExactAttSVM | None:
    exact = ExactData.of(data)
    return _solved(exact, [ts.index(c) for ts, c in zip(exact.kept, chosen, strict=True)])


@remembered
def _of_optimal(data: AttentionData) -> ExactAttSVM | None:
    exact = ExactData.of(data)
    return _solved(exact, first_optimal(exact))


def _solved(exact: ExactData, rows: list[int]) -> ExactAttSVM | None:
    result, A = separate(exact, rows), exact_constraints(exact, rows)
    if result is None:
        d = len(exact.Z[0])
        return ExactAttSVM([[fmpq(0)] * d for _ in range(d)], {}, {}, {})
    if result.status != "solved":
        return None
    duals, margins = (dict(zip(A, x, strict=True)) for x in (result.duals, result.margins))
    return ExactAttSVM(result.W, A, duals, margins)


def first_optimal(exact: ExactData) -> list[int]:
    """Return the first row of highest score of each input."""
    return [tied[0] for tied in exact.optimal]


def exact_constraints(exact: ExactData, rows: list[int] | None = None) -> dict[Token, Vector]:
    """Return (x_chosen - x_t) z^T row by row, for every token t except the chosen one of its input.

    `rows` has the chosen row of each input; by default the first optimal one.
    """
    chosen = first_optimal(exact) if rows is None else rows
    inputs = zip(exact.X, exact.Z, exact.kept, chosen, strict=True)
    return {
        (i, t): [a * c for a in subtract(tokens[row], x) for c in z]
        for i, (tokens, z, kept, row) in enumerate(inputs)
        for x, t in zip(tokens, kept, strict=True)
        if t != kept[row]
    }


def flat(W: Matrix) -> Vector:
    """Return the entries of a matrix, row by row."""
    return [x for row in W for x in row]


def without(data: AttentionData, dropped: Array) -> AttentionData:
    """Return the data set with some tokens masked, as a mask (n, T)."""
    mask = data.present & ~dropped
    return AttentionData(data.X, data.Z, data.y, data.v, data.scores, mask)


# in every arithmetic


@dataclass(frozen=True, slots=True)
class AttSVM:
    """The Att-SVM of the optimal tokens in one arithmetic.

    Attributes:
        rows: the constraint matrices A_j, each row by row.
        vector: X^mm row by row, 0 if it does not exist.
        margin: 1/||X^mm||_F; 0 if X^mm does not exist, 1 if there are no constraints.
        weights: multipliers of the rows; None if X^mm does not exist.
        exact: the solution in rationals; None if X^mm does not exist.
    """

    rows: Numbers
    vector: Numbers
    margin: Number
    weights: Numbers | None = None
    exact: ExactAttSVM | None = None


def att_svm(m: Namespace, data: AttentionData) -> AttSVM:
    """Return the Att-SVM in the arithmetic m."""
    rows = constraints(m, data)
    if m.name == "text":
        X = m.symbol("X^{mm}", "the least matrix with A_j X^mm >= 1 for all j")
        return AttSVM(rows, X, 1 / m.norm(X))
    result = exact_att_svm(data)
    if result is None:
        return AttSVM(rows, m.values([0] * data.d**2), m.exact(0))
    margin = m.sqrt(m.values(1 / result.square)) if result.A else m.exact(1)
    return AttSVM(
        rows, m.values(flat(result.W)), margin, m.values([*result.duals.values()]), result
    )


def constraints(m: Namespace, data: AttentionData) -> Numbers:
    """Return the constraint matrices A_j, one per row."""
    if m.name == "text":
        lines = "the matrix with a row (x_opt - x_t) z^T for each token but the best of its input"
        return m.symbol("A", lines, rows=True)
    return m.values(list(exact_constraints(ExactData.of(data)).values()))


def of_rivals(m: Namespace, data: AttentionData, values: Any) -> Numbers:
    """Return the values of the tokens that have a constraint, from values (n, T) of all tokens."""
    if m.name == "text":
        return values
    return m.values([values[token] for token in exact_constraints(ExactData.of(data))])


def pythagoras(
    m: Namespace, V: Numbers, X: Numbers, share: Number = 1, power: int = 2
) -> Comparison:
    """Return the comparison share * ||V - X||^2 <= ||V||^2 - ||X||^2; with power 1, of norms."""
    size = (lambda x: x @ x) if power == 2 else m.norm
    return m.at_most(share * size(V - X), size(V) - size(X))


# in words, for the coverage of a search


@words.register
def data_in_words(data: AttentionData) -> dict[str, str]:
    """Return words for sizes, ties of optimal tokens, and numbers of support tokens."""
    sizes = {"sizes": f"n={data.n} T={data.T} d={data.d}"}
    if not optimal_tokens(data).unique:
        return {**sizes, "optimal tokens": "tied", "support tokens": "no Att-SVM: tied"}
    return {**sizes, "optimal tokens": "unique", "support tokens": _support(data)}


def _support(data: AttentionData) -> str:
    from attsvm import svm  # listing claims does not need it

    try:
        answer = svm.att_svm(data)
    except AttsvmError:
        return "no answer"
    if answer.status != "solved":
        return "unseparable"
    return "+".join(map(str, sorted(len(tokens) for tokens in answer.support)))
