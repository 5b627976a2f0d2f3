"""The v-SVM and the p-SVM: least vectors with given margins, in every arithmetic.

For rows D_j with bounds b_j in {0, 1} let p be the least vector with <D_j, p> >= b_j for all j, and
C = {sum_j l_j D_j : l >= 0, <b, l> = 1}. Then 1/||p|| is the distance of C from 0 and is called the
margin; the margin is 0 if there is no p. If no b_j is 1, C is empty and p = 0.

Exact evaluation uses solutions in rationals, whose conditions `attsvm.exact.svm.solve_exactly`
checks. Programs of the checker get a selection with both solutions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import fmpq

from attsvm.errors import NotExpressible, SolverError
from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import Matrix, Number, Vector, combine, remembered_by, subtract
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import solve_exactly
from attsvm.primitives.losses import CHECKER
from attsvm.theory import Hypothesis, changed
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, nested
from attsvm.theory.declaration.siblings import Changed
from attsvm.theory.types import Comparison, Namespace, Numbers, Relation
from properties.mm._support import programme_letters as letters
from properties.mm._support.token_selections import Rival, Selection, chosen


@dataclass(frozen=True, slots=True)
class Programme:
    """A programme with its answer in rationals.

    Attributes:
        rows, bound: D_j and b_j.
        vector: the solution, None if Farkas multipliers prove that there is none.
        weights: multipliers, of the solution or of the Farkas certificate.
    """

    rows: Matrix
    bound: Vector
    vector: Vector | None
    weights: Vector

    @property
    def exists(self) -> bool:
        """Whether there is a solution, which is then unique as it has least norm."""
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
        """1/||p||^2, 0 if there is no p, None if nothing is demanded."""
        if self.vector is None:
            return fmpq(0)
        square = dot(self.vector, self.vector)
        return None if square == 0 else 1 / square

    @property
    def shares(self) -> Vector:
        """The multipliers divided by their sum with the bounds, which is not 0."""
        total = dot(self.weights, self.bound)
        return [w / total for w in self.weights]

    @property
    def hull_square(self) -> Number | None:
        """The squared distance of C from 0, None if C is empty.

        The multipliers name a point z of C. It is the nearest one if <z, D_j> >= b_j <z, z> for all
        j, which is checked.

        Raises:
            SolverError: z is not the nearest point.
        """
        if dot(self.weights, self.bound) == 0:
            return None
        z = combine(self.shares, self.rows)
        square = dot(z, z)
        pairs = zip(self.rows, self.bound, strict=True)
        nearest = all(dot(z, row) >= b * square for row, b in pairs)
        if not (nearest and all(w >= 0 for w in self.weights)):
            raise SolverError("the multipliers do not name the point of C that is nearest to 0")
        return square

    def kept(self, keep: str) -> Programme:
        """Return the programme of the tight rows, the loose rows, or the first tight row."""
        tight = self.tight
        if keep == "first":
            flags = [flag and not any(tight[:j]) for j, flag in enumerate(tight)]
        else:
            flags = [flag == (keep == "tight") for flag in tight]
        rows = [row for row, flag in zip(self.rows, flags, strict=True) if flag]
        bound = [b for b, flag in zip(self.bound, flags, strict=True) if flag]
        part: Programme = solve(rows, len(self.vector or self.rows[0]), bound)
        return part


def solve(rows: Any, d: int, bound: Any = None) -> Any:
    """Solve a programme in R^d; all bounds are 1 by default."""
    bounds = [fmpq(b) for b in ([1] * len(rows) if bound is None else bound)]
    return _solved(rows, bounds) if rows else Programme([], [], [fmpq(0)] * d, [])


@remembered_by(lambda rows, bounds: (tuple(map(tuple, rows)), tuple(bounds)))
def _solved(rows: Matrix, bounds: Vector) -> Programme:
    one: Matrix = [[fmpq(1)]] * len(rows)
    answer = solve_exactly(ExactProgramme.of_rows(rows, one, bounds))
    vector = [row[0] for row in answer.W] if answer.status == "solved" else None
    return Programme(rows, bounds, vector, answer.duals)


def p_rows(case: Selection) -> Matrix:
    """Return the rows W (x_i,alpha - x_it) of the p-SVM: T - 1 of the first input, and so on."""
    X, W = rationals(case.X), rationals(case.W)
    rows = []
    for tokens, best in zip(X, case.alpha.tolist(), strict=True):
        gaps = [subtract(tokens[best], token) for t, token in enumerate(tokens) if t != best]
        rows += [[dot(line, gap) for line in W] for gap in gaps]
    return rows


def p_programme(case: Selection, demanding: Any = None) -> Any:
    """Return p(alpha); inputs that are not `demanding` get bounds 0."""
    bound = None if demanding is None else of_rivals(case, demanding)
    return solve(p_rows(case), case.X.shape[-1], bound)


def of_rivals(case: Selection, values: Any) -> Any:
    """Return for each row of the p-SVM the entry of `values` that belongs to its input."""
    rivals = case.X.shape[-2] - 1
    return [value for value in values for _ in range(rivals)]


def v_rows(case: Any) -> Matrix:
    """Return the rows Y_i x_i,alpha_i of the v-SVM."""
    return [
        [rational(y) * rational(x) for x in tokens[best].tolist()]
        for y, tokens, best in zip(case.y.tolist(), case.X, case.alpha.tolist(), strict=True)
    ]


def v_programme(case: Selection) -> Any:
    """Return v(alpha), of the rows Y_i x_i,alpha_i."""
    return solve(v_rows(case), case.X.shape[-1])


# in any arithmetic


@dataclass(frozen=True, slots=True)
class Solved:
    """A programme and its answer in one arithmetic.

    Attributes:
        rows: the rows D_j.
        vector: the solution, 0 if there is none.
        margin: 1/||vector||, 0 if there is none; None if all bounds are 0.
        programme: the programme in rationals; None in text.
    """

    rows: Any
    vector: Any
    margin: Any
    programme: Any = None

    def distance(self, m: Namespace) -> Numbers:
        """Return the distance from 0 of the convex hull C of the rows."""
        if m.name == "text":
            text = "the distance from 0 of the convex hull C of the rows D_j"
            return m.symbol(r"\mathrm{dist}(0, C)", text)
        return m.sqrt(m.values(self.programme.hull_square))

    def shortest(self, m: Namespace) -> Number:
        """Return the length of the shortest row."""
        if m.name == "text":
            return m.symbol(r"\min_j \left\|D_j\right\|", "the shortest row")
        return m.min(m.array([m.norm(row) for row in self.rows]))

    def kept(self, m: Namespace, keep: str) -> Numbers:
        """Return the solution of the tight rows, the loose rows, or the first tight row."""
        if m.name == "text":
            name = self.vector.latex.replace("(", "'(")
            return m.symbol(name, f"the same with the {keep} rows alone")
        return solved(m, self.programme.kept(keep)).vector


def _written(m: Namespace, name: str, rows: str) -> Solved:
    """Return a programme in letters, as a formula shows it."""
    D = m.symbol("D", f"the matrix of the rows D_j = {rows}", rows=True)
    text = "the shortest vector with D_j x >= 1 for all j"
    x = m.symbol(rf"{name}(\alpha)", text.replace(" x ", f" {name} "))
    return Solved(D, x, 1 / m.norm(x))


def solved(m: Namespace, programme: Any) -> Solved:
    """Return a programme in the arithmetic m."""
    rows, vector, square = programme.rows, programme.vector, programme.margin_square
    solution = m.values([0] * len(rows[0]) if vector is None else vector)
    margin = None if square is None else m.sqrt(m.values(square))
    return Solved(m.values(rows) if rows else None, solution, margin, programme)


def v_svm(m: Namespace, case: Rival | Selection) -> Solved:
    """Return v(alpha): the least head with Y_i <v, x_i,alpha_i> >= 1."""
    if m.name == "text":
        return _written(m, "v", "Y_i x_i,alpha_i")
    return solved(m, v_programme(chosen(case)))


def p_svm(m: Namespace, case: Rival | Selection) -> Solved:
    """Return p(alpha): the least prompt with <p, k_i,alpha_i - k_it> >= 1."""
    if m.name == "text":
        return _written(m, "p", "k_i,alpha_i - k_it for t != alpha_i")
    return solved(m, p_programme(chosen(case)))


# in programs of the checker


def write(m: Programs, case: object) -> None:
    """Add the values of a selection to a program, with v(alpha) and p(alpha)."""
    one = chosen(case)
    for name in ("X", "y", "alpha", "W"):
        m.lines[name] = nested(getattr(one, name).tolist())
    if isinstance(case, Rival):
        m.lines["q"] = nested(case.q.tolist())
    for name, rows, programme in (
        ("v", "head_rows(X, y, alpha)", v_programme(one)),
        ("p", "prompt_rows(X, W, alpha)", p_programme(one)),
    ):
        m.lines[name] = f"least({rows}, {nested(programme.weights)}, len(W))"


def head_exists(m: Programs, case: Rival | Selection, **constants: object) -> Proposition:
    """Return the claim that v(alpha) exists, which is false, if it does not exist.

    Raises:
        NotExpressible: it exists, so that this claim would not show a refutation.
    """
    write(m, case)
    if v_programme(chosen(case)).exists:
        raise NotExpressible("a conclusion about a v(alpha) that exists")
    return Proposition("fact(v is not None)", CHECKER)


def prompt_exists(m: Programs, case: Rival | Selection, **constants: object) -> Proposition:
    """Return the claim that p(alpha) exists, which is false, if it does not exist.

    Raises:
        NotExpressible: it exists, so that this claim would not show a refutation.
    """
    write(m, case)
    if p_programme(chosen(case)).exists:
        raise NotExpressible("a conclusion about a p(alpha) that exists")
    return Proposition("fact(p is not None)", CHECKER)


# formulas


P_MEANS = "p(alpha) is the shortest p with <p, k_i,alpha_i - k_it> >= 1 for all i and t != alpha_i"
V_MEANS = "v(alpha) is the shortest v with Y_i <v, x_i,alpha_i> >= 1 for all i"
"""The definitions of the solutions, appended to a conclusion after "where"."""


def exceeds(m: Namespace, p: Solved, share: Number = 0) -> Comparison:
    """Return that the margin exceeds a share of the shortest row; with share 0: that p exists."""
    if p.margin is None:  # all bounds are 0, and p = 0
        return m.below(m.exact(0), m.exact(1))
    return m.above(p.margin, share * p.shortest(m))


def above_nearest(case: Rival | Selection) -> dict[str, Changed]:
    """Return siblings of `exceeds`, both refuted by an instance."""
    return {
        "the margin is above half of the nearest rival's": changed(share="0.5", examples=[case]),
        "the margin is above the nearest rival's": changed(share=1, examples=[case]),
    }


def is_distance(m: Namespace, p: Solved, share: Number = 1, of: str = "hull") -> Comparison:
    """Return that the margin is a share of the distance of C from 0, or of the shortest row."""
    if p.margin is None:  # C is empty, and p = 0
        return m.equal(m.exact(0), m.exact(0))
    return m.equal(p.margin, share * (p.distance(m) if of == "hull" else p.shortest(m)))


OTHER_DISTANCES = {
    "95% of the distance": changed(share="0.95"),
    "105% of the distance": changed(share="1.05"),
}
"""Siblings of `is_distance`."""


def supported(m: Namespace, p: Solved, keep: str = "tight") -> Relation:
    """Return that there is a solution, and that the kept rows alone have the same solution."""
    return m.all_of(exceeds(m, p), m.equal(p.kept(m, keep), p.vector))


LOOSE_ONES = {"the tight ones dropped instead": changed(keep="loose")}
"""A sibling of `supported`."""


V_EXISTS = Hypothesis(
    "v(alpha) exists",
    lambda case: v_programme(chosen(case)).exists,
    proposition=letters.rows_met(letters.HEAD),
)
P_EXISTS = Hypothesis(
    "p(alpha) exists",
    lambda case: p_programme(chosen(case)).exists,
    proposition=letters.rows_met(letters.PROMPT),
)


def relaxed(case: Selection) -> Programme:
    """Return p(alpha) with margins of at least 0 for inputs that are not tight under v(alpha)."""
    return p_programme(case, v_programme(case).tight)
