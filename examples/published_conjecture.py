"""A published conjecture that is false: the Frobenius norm of a deformed commutator.

D. Chruscinski, G. Kimura, H. Ohno and T. Singal, Bounding the Frobenius norm of a q-deformed
commutator, arXiv:2202.11520 (2022), conjecture in the abstract that

    ||A C - q C A||_F^2 <= (1 + q^2) ||A||_F^2 ||C||_F^2

for positive q if A or C is traceless; they prove it for n = 2. Of the paper only the abstract was
read. `attsvm ask examples/published_conjecture.py` refutes it, and `family` does so for all n >= 3
and all positive q but 1. At q = 1 it is the theorem of Boettcher and Wenzel.
"""

from __future__ import annotations

from fractions import Fraction

from attsvm import Integer, Matrix, Real, question
from attsvm.theory.types import Namespace, Numbers, Relation, Values

Rows = list[list[Fraction]]
"""A matrix by its rows."""


def traceless(m: Namespace, A: Numbers, n: int) -> Numbers:
    """Return A - tr(A)/n I."""
    return A - m.identity(n) * (m.trace(A) / n)


def bounded(m: Namespace, v: Values) -> Relation:
    """Return the conjectured inequality for a matrix without trace."""
    A = traceless(m, v.A, v.n)
    left = m.square(m.norm(A @ v.C - v.q * (v.C @ A)))
    return m.at_most(left, (1 + v.q**2) * m.square(m.norm(A)) * m.square(m.norm(v.C)))


CONJECTURE = question(
    bounded,
    A=Matrix("n", "n"),
    C=Matrix("n", "n"),
    q=Real(least=0),
    n=Integer(2, 4),
    expected="refuted",
)


def family(n: int, q: Fraction, t: Fraction) -> tuple[Rows, Rows]:
    """Return matrices A without trace and C of rank one; they refute the conjecture for small t.

    The difference of its sides is t^2 q^2 (n - 2)/(q^2 + 1) minus a multiple of t^4.

    Args:
        n: the size, at least 3.
        q: a positive number other than 1.
        t: a small positive number.
    """
    x = -(n * q**2 - q**2 + 1) / ((q - 1) * (q**2 + 1))
    y = (n * q + (q - 1) ** 2) / ((q - 1) * (q**2 + 1))
    rest = -t * (x + y) / (n - 2)
    A = [[rest if i == j else Fraction(0) for j in range(n)] for i in range(n)]
    A[0][0], A[0][1], A[1][1] = t * x, Fraction(1), t * y
    C = [[Fraction(0)] * n for _ in range(n)]
    C[0][0], C[1][0] = t, Fraction(1)
    return A, C


def excess(A: Rows, C: Rows, q: Fraction) -> Fraction:
    """Return the left side minus the right side of the conjecture, exactly."""

    def product(P: Rows, Q: Rows) -> Rows:
        return [
            [
                sum((a * b for a, b in zip(r, c, strict=True)), Fraction(0))
                for c in zip(*Q, strict=True)
            ]
            for r in P
        ]

    def square(P: Rows) -> Fraction:
        return sum((a * a for row in P for a in row), Fraction(0))

    AC, CA = product(A, C), product(C, A)
    gap = [[a - q * c for a, c in zip(r, s, strict=True)] for r, s in zip(AC, CA, strict=True)]
    return square(gap) - (1 + q * q) * square(A) * square(C)


INSTANCES: dict[int, tuple[list[list[int]], list[list[int]], Fraction]] = {
    3: ([[2, 13], [0, -3]], [[2, -2], [-14, -9]], Fraction(3, 8)),
    4: ([[4, 14], [-1, -6]], [[2, -1], [1, -1]], Fraction(14, 5)),
    5: ([[3, -17], [-1, 0]], [[3, 0], [4, -1]], Fraction(23, 8)),
}
"""For each size, A and C in two coordinates, and q; the excess is nearly the largest found."""


def completed(n: int, A: list[list[int]], C: list[list[int]]) -> tuple[Rows, Rows]:
    """Return n x n matrices: A is extended by a multiple of the identity to trace 0, C by zeros."""
    rest = -Fraction(A[0][0] + A[1][1], n - 2)
    wide, high = ([[Fraction(0)] * n for _ in range(n)] for _ in "AC")
    for i in range(n):
        wide[i][i] = rest
    for i in range(2):
        for j in range(2):
            wide[i][j], high[i][j] = Fraction(A[i][j]), Fraction(C[i][j])
    return wide, high


if __name__ == "__main__":
    for q in (Fraction(1, 3), Fraction(2), Fraction(10)):
        for n in (3, 4, 10):
            A, C = family(n, q, Fraction(1, 100))
            print(f"n = {n}, q = {q}: {float(excess(A, C, q)):.3g} above the bound")
