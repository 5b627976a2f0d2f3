"""The three programmes in rationals: solutions and Farkas certificates, every condition checked."""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb, fmpq

from attsvm.errors import SolverError
from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import Matrix, Number, Vector, combine, subtract
from attsvm.exact.svm import ExactProgramme, solve_exactly
from properties.mm._support.token_selections import Selection

__all__ = [
    "Exact",
    "essential",
    "exact_alone",
    "exact_p",
    "exact_relaxed",
    "exact_v",
    "minus_distance",
    "p_exists",
    "p_rows",
    "pythagoras",
    "root",
    "select_rows",
    "solve_rows",
    "v_exists",
]


@dataclass(frozen=True, slots=True)
class Exact:
    """A programme's answer in rationals, its conditions checked by `solve_exactly`.

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
        """Constraints that hold with equality."""
        if self.vector is None:
            return [False] * len(self.rows)
        pairs = zip(self.rows, self.bound, strict=True)
        return [bool(dot(row, self.vector) == b) for row, b in pairs]

    @property
    def nearly_tight(self) -> bool:
        """Whether some margin misses its bound by less than a millionth, but does miss it."""
        if self.vector is None:
            return False
        pairs = zip(self.rows, self.bound, strict=True)
        return any(0 < abs(dot(row, self.vector) - b) < fmpq(1, 10**6) for row, b in pairs)

    @property
    def margin_square(self) -> Number | None:
        """1/||p||^2, 0 where there is no p, None for infinity."""
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
        total = dot(self.weights, self.bound) if self.rows else fmpq(0)
        if total == 0:
            return None
        z = combine([w / total for w in self.weights], self.rows)
        square = dot(z, z)
        pairs = zip(self.rows, self.bound, strict=True)
        nearest = all(dot(z, row) >= b * square for row, b in pairs)
        if not (nearest and all(w >= 0 for w in self.weights)):
            raise SolverError("the multipliers do not name the point of C that is nearest to 0")
        return square

    def positive(self, share: float, above: bool = True) -> arb:
        """The margin less a share of the shortest row, exactly 0 where it is; or minus that."""
        if not self.rows:
            return arb("inf")
        difference = _difference(self.margin_square, self._shortest, share)
        return difference if above else -difference

    def nearest_point(self, share: float, of: str) -> arb:
        """-|margin - share distance from 0|, of the set C, or of the nearest row."""
        other = self.hull_square if of == "set" else self._shortest
        return -abs(_difference(self.margin_square, other, share))

    def kept(self, keep: str) -> Exact:
        """The programme of the tight rows, of the loose ones, or of the first tight one alone."""
        flags = select_rows(self.tight, keep)
        rows = [row for row, kept in zip(self.rows, flags, strict=True) if kept]
        bound = [b for b, kept in zip(self.bound, flags, strict=True) if kept]
        return solve_rows(rows, bound, len(self.vector or []))

    @property
    def _shortest(self) -> Number | None:
        return min((dot(row, row) for row in self.rows), default=None)


def select_rows(tight: list[bool], keep: str) -> list[bool]:
    """Which rows to keep: `tight`, `loose`, or the `first` tight one."""
    if keep == "first":
        return [flag and not any(tight[:j]) for j, flag in enumerate(tight)]
    return [flag == (keep == "tight") for flag in tight]


def _difference(left: Number | None, right: Number | None, share: float) -> arb:
    """sqrt(left) - share sqrt(right), exactly 0 where it is; None stands for infinity."""
    if left is None:
        return arb(0) if right is None else arb("inf")
    if right is not None and left == rational(share) ** 2 * right:
        return arb(0)
    return root(left) - arb(rational(share)) * root(right)


def root(square: Number | None) -> arb:
    """The root of a rational, or infinity."""
    return arb("inf") if square is None else arb(square).sqrt()


def solve_rows(rows: Matrix, bound: Vector, d: int) -> Exact:
    """The least vector of R^d with these margins, in rationals."""
    if not rows:
        return Exact([], [], [fmpq(0)] * d, [])
    one: Matrix = [[fmpq(1)]] * len(rows)
    answer = solve_exactly(ExactProgramme.of_rows(rows, one, bound))
    vector = [row[0] for row in answer.W] if answer.status == "solved" else None
    return Exact(rows, bound, vector, answer.duals)


def p_rows(case: Selection) -> tuple[Matrix, list[int]]:
    """The rows W (x_i,alpha - x_it), and the input of each."""
    X, W = rationals(case.X), rationals(case.W)
    rows, inputs = [], []
    for i, (tokens, best) in enumerate(zip(X, case.alpha.tolist(), strict=True)):
        for t, token in enumerate(tokens):
            if t != best:
                gap = subtract(tokens[best], token)
                rows.append([dot(line, gap) for line in W])
                inputs.append(i)
    return rows, inputs


def exact_p(case: Selection, relaxed: list[bool] | None = None) -> Exact:
    """p(alpha); the margin is 0 for the inputs that are relaxed."""
    rows, inputs = p_rows(case)
    bound = [fmpq(0 if relaxed and relaxed[i] else 1) for i in inputs]
    return solve_rows(rows, bound, case.X.shape[2])


def exact_v(case: Selection) -> Exact:
    """v(alpha)."""
    rows = [
        [rational(y) * rational(x) for x in tokens[best].tolist()]
        for y, tokens, best in zip(case.y.tolist(), case.X, case.alpha.tolist(), strict=True)
    ]
    return solve_rows(rows, [fmpq(1)] * len(rows), case.X.shape[2])


def exact_relaxed(case: Selection) -> Exact:
    """p(alpha) with margin 0 for the inputs whose margin under v(alpha) is not tight."""
    return exact_p(case, [not tight for tight in exact_v(case).tight])


def exact_alone(case: Selection) -> Exact:
    """p_S: the p-SVM of the inputs alone whose margin under v(alpha) is tight."""
    rows, inputs = p_rows(case)
    tight = exact_v(case).tight
    kept = [row for row, i in zip(rows, inputs, strict=True) if tight[i]]
    return solve_rows(kept, [fmpq(1)] * len(kept), case.X.shape[2])


def essential(v: Exact) -> list[bool]:
    """The rows without which the solution would be another."""
    d = len(v.rows[0])
    rest = [solve_rows(v.rows[:i] + v.rows[i + 1 :], v.bound[1:], d) for i in range(len(v.rows))]
    return [without.vector != v.vector for without in rest]


def p_exists(case: Selection) -> bool:
    """There is a p(alpha)."""
    return exact_p(case).exists


def v_exists(case: Selection) -> bool:
    """There is a v(alpha)."""
    return exact_v(case).exists


def pythagoras(q: Vector | None, p: Vector | None, share: float) -> arb:
    """||q||^2 - ||p||^2 - share ||q - p||^2, decided in rationals; -1 where one is missing."""
    if q is None or p is None:
        return arb(-1)
    gap = subtract(q, p)
    return arb(dot(q, q) - dot(p, p) - rational(share) * dot(gap, gap))


def minus_distance(left: Vector | None, right: Vector | None, share: float = 1.0) -> arb:
    """-||left - share right||, exactly 0 where it is; -1 where one is missing."""
    if left is None or right is None:
        return arb(-1)
    gap = [x - rational(share) * y for x, y in zip(left, right, strict=True)]
    return -root(dot(gap, gap))
