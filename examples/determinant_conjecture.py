"""A conjecture on determinants that is false: det(A^k + |AB|^p) >= det(A^k + |BA|^p).

It was open until 2026 for A positive definite, B Hermitian and invertible, and |X| the root of
X^T X. Only the statement was read, not the papers on it. For even p = 2 q both sides are
polynomials in the entries: |X|^p = (X^T X)^q.
`attsvm ask examples/determinant_conjecture.py` asks it for matrices of size 2 and 3.
"""

from __future__ import annotations

import functools
import operator

from flint import fmpq, fmpq_mat

from attsvm import PSD, Integer, Symmetric, question
from attsvm.theory.types import Namespace, Numbers, Relation, Values

Rows = list[list[fmpq]]
"""A matrix by its rows."""

A = [[4, 4, 0], [4, 5, 0], [0, 0, 2]]
B = [[0, 1, 0], [1, 0, 2], [0, 2, 2]]
"""An instance is A, B / 8: the sides have the ratio 0.696 for k = 5, p = 8 and 0.196 for k = p = 8.

The search found the pair for k = 5, p = 6, up to scale, in 100 s. The published instance, with
entries up to 421, has the ratio 0.992 for k = 6, p = 8.
"""


INSTANCES: dict[tuple[int, int], tuple[list[list[int]], list[list[int]], int]] = {
    (3, 10): (
        [[907, 962, -50], [962, 1024, -80], [-50, -80, 465]],
        [[-663, 845, 243], [845, -643, 399], [243, 399, 1101]],
        1024,
    ),
    (4, 6): (
        [[47, 54, -7], [54, 64, -10], [-7, -10, 36]],
        [[27, -8, 12], [-8, 23, 19], [12, 19, 28]],
        64,
    ),
    (4, 8): (
        [[2048, 1969, 20], [1969, 2017, -304], [20, -304, 1025]],
        [[477, 392, 490], [392, 116, 527], [490, 527, 834]],
        2048,
    ),
    (6, 4): (
        [[256, 213, -36], [213, 206, -2], [-36, -2, 106]],
        [[4, 6, 11], [6, 18, 35], [11, 35, 61]],
        256,
    ),
    (7, 4): (
        [[843, 865, -88], [865, 1024, -119], [-88, -119, 405]],
        [[-5, 58, 54], [58, -1, 73], [54, 73, 165]],
        1024,
    ),
}
"""Integer matrices A and B with a common denominator for some (k, p); see `rational`.

For larger sizes add 1 on the diagonals of A and B: both sides get a factor 2.
"""


def rational(k: int, p: int) -> tuple[Rows, Rows]:
    """Return the stored A and B for k and p."""
    wide, high, below = INSTANCES[k, p]
    return [[fmpq(x, below) for x in row] for row in wide], [
        [fmpq(x, below) for x in row] for row in high
    ]


def ratio(A: Rows, B: Rows, k: int, q: int) -> fmpq:
    """Return the left side of the conjecture over its right side, exactly, for p = 2 q."""

    def power(X: fmpq_mat, k: int) -> fmpq_mat:
        return functools.reduce(operator.mul, [X] * k)

    a, b = fmpq_mat(A), fmpq_mat(B)
    sides = [power(a, k) + power(x.transpose() * x, q) for x in (a * b, b * a)]
    return sides[0].det() / sides[1].det()


def scaled(t: fmpq) -> tuple[Rows, Rows]:
    """Return A, and B times a number."""
    return [[fmpq(x) for x in row] for row in A], [[t * x for x in row] for row in B]


def even_power(m: Namespace, X: Numbers, q: int) -> Numbers:
    """Return |X|^(2q) for |X|^2 = X^T X."""
    return m.matrix_power(X.T @ X, q)


def conjectured(m: Namespace, v: Values) -> Relation:
    """Return det(A^k + |AB|^p) >= det(A^k + |BA|^p)."""
    power = m.matrix_power(v.A, v.k)
    left = m.det(power + even_power(m, v.A @ v.B, v.q))
    return m.at_least(left, m.det(power + even_power(m, v.B @ v.A, v.q)))


CONJECTURE = question(
    conjectured,
    lambda m, v: m.pd(v.A),
    lambda m, v: m.differ(m.det(v.B), 0),
    A=PSD("n"),
    B=Symmetric("n"),
    k=Integer(1, 6),
    q=Integer(1, 4),
    n=Integer(2, 3),
)

if __name__ == "__main__":
    for k in (5, 6, 8):
        for q in (3, 4):
            value = ratio(*scaled(fmpq(1, 8)), k, q)
            print(f"k = {k}, p = {2 * q}: left / right = {float(value.p) / float(value.q):.4f}")
    for k, p in INSTANCES:
        value = ratio(*rational(k, p), k, p // 2)
        print(f"k = {k}, p = {p}: left / right = {float(value.p) / float(value.q):.4f}")
