"""The price from which on X^mm minimises the soft margin, in rationals.

X^mm = sum_j w_j A_j with w_j >= 0, over the constraints of margin 1. For given multipliers, add the
w_j of the constraints that share a slack, and take the largest sum. Let t be the least such number
over all multipliers. As a linear programme in w and t its dual gives a matrix Y with <X^mm, Y> = t,
and mu >= 0 of sum 1. <A_j, Y> is at most mu of the slack of j.

X^mm minimises f_C exactly if C ||X^mm|| >= t. Below, f_C(X^mm - e Y) < f_C(X^mm) for small e > 0:
slack costs at most C e, and the norm decreases by e t/||X^mm|| up to a multiple of e^2.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from attsvm.exact import dot
from attsvm.exact.numbers import Matrix, Vector, combine
from attsvm.primitives.att_svm import ExactAttSVM, Token


@dataclass(frozen=True, slots=True)
class Price:
    """The price t = C ||X^mm|| from which on X^mm minimises f_C.

    Attributes:
        least: t.
        rival: Y, row by row.
        reach: X^mm - e Y meets the constraints that are not tight for e up to this number.
    """

    least: fmpq
    rival: Vector
    reach: fmpq


def price(svm: ExactAttSVM, slacks: Mapping[Token, Hashable]) -> Price:
    """Return the price for a named slack of each constraint, by the simplex method."""
    tight = [token for token, m in svm.margins.items() if m == 1]
    A, groups = [svm.A[token] for token in tight], list(dict.fromkeys(slacks[t] for t in tight))
    basis = _independent(svm, tight)
    rows, J, G = len(basis), len(tight), len(groups)
    # variables: w of tight constraints, t - sum of w for each slack, t; rows: margins, slacks
    table = [[dot(A[k], a) for a in A] + [fmpq(0)] * (G + 1) for k in basis]
    for g, group in enumerate(groups):
        rest = [fmpq(int(h == g)) for h in range(G)]
        table.append([fmpq(int(slacks[token] == group)) for token in tight] + [*rest, fmpq(-1)])
    right = [fmpq(1)] * rows + [fmpq(0)] * G
    sums = {group: fmpq(0) for group in groups}
    for token in tight:
        sums[slacks[token]] += svm.duals[token]
    fullest = groups.index(max(groups, key=lambda group: sums[group]))
    inside = [*basis, *(J + g for g in range(G) if g != fullest), J + G]
    dual = _minimise(table, right, inside)[:rows]
    Y = combine(dual, [A[k] for k in basis])
    falling = {token: dot(svm.A[token], Y) for token, m in svm.margins.items() if m > 1}
    reach = [(svm.margins[token] - 1) / fall for token, fall in falling.items() if fall > 0]
    return Price(sum(dual, fmpq(0)), Y, min(reach, default=fmpq(1)))


def _minimise(table: Matrix, right: Vector, inside: list[int]) -> Vector:
    """Return the dual solution of: minimise the last entry of x subject to table x = right, x >= 0.

    The list `inside` is a basis with x >= 0. The lowest index enters, which cannot cycle (Bland).
    """
    last = len(table[0]) - 1
    while True:
        columns = fmpq_mat([[row[k] for k in inside] for row in table])
        dual = _solved(columns.transpose(), [fmpq(int(k == last)) for k in inside])
        worth = [dot(dual, [row[k] for row in table]) for k in range(last + 1)]
        entering = next((k for k, x in enumerate(worth) if x > int(k == last)), None)
        if entering is None:
            return dual
        values, moves = (_solved(columns, b) for b in (right, [row[entering] for row in table]))
        parts = enumerate(zip(values, moves, strict=True))
        inside[min((v / x, inside[i], i) for i, (v, x) in parts if x > 0)[2]] = entering


def _solved(columns: fmpq_mat, right: Vector) -> Vector:
    return [x for (x,) in columns.solve(fmpq_mat([[b] for b in right])).tolist()]


def _independent(svm: ExactAttSVM, tight: list[Token]) -> list[int]:
    """Return places of independent tight constraints that span all, positive multipliers first."""
    places: list[int] = []
    for k in sorted(range(len(tight)), key=lambda k: svm.duals[tight[k]] == 0):
        tried = [tight[j] for j in [*places, k]]
        if svm.gram(tried).rank() == len(tried):
            places.append(k)
    return places
