"""Norms by eigenvalues: the nuclear norm of rationals, the operator norm of symmetric balls."""

from __future__ import annotations

from flint import arb, fmpq

from attsvm.exact.numbers import Matrix, eigenvalues, gram, norm


def nuclear_norm(matrix: Matrix) -> arb:
    """Sum of the singular values of a rational matrix."""
    total = arb(0)
    for value, count in eigenvalues(gram(matrix)):
        total += count * value.sqrt()
    return total


def operator_norm(matrix: Matrix) -> arb:
    """Enclosure of the largest |eigenvalue| of every symmetric matrix in a matrix of balls.

    The midpoints make one rational matrix, decided by its characteristic polynomial, with any
    multiplicities; by Weyl's inequality the others differ by no more than the Frobenius norm of
    the radii. Only the upper triangle is read. Not finite where an entry is not.
    """
    size = len(matrix)
    upper = {(j, k): arb(matrix[j][k]) for j in range(size) for k in range(j, size)}
    if not all(ball.is_finite() for ball in upper.values()):
        return arb("nan")
    middle = [[exact_mid(upper[min(j, k), max(j, k)]) for k in range(size)] for j in range(size)]
    top = arb(0)
    for value, _ in eigenvalues(middle):
        top = top.max(abs(value))
    away = norm([upper[min(j, k), max(j, k)].rad() for j in range(size) for k in range(size)])
    return top + arb(0, away)


def exact_mid(ball: arb) -> fmpq:
    """The midpoint of a ball as a rational."""
    mantissa, exponent = ball.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)
