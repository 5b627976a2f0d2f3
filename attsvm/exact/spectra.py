"""The nuclear norm of rationals by eigenvalues, and midpoints of balls as rationals."""

from __future__ import annotations

from flint import arb, fmpq

from attsvm.exact.numbers import Matrix, eigenvalues, gram


def nuclear_norm(matrix: Matrix) -> arb:
    """Return the sum of the singular values of a rational matrix, as a ball."""
    total = arb(0)
    for value, count in eigenvalues(gram(matrix)):
        total += count * value.sqrt()
    return total


def exact_mid(ball: arb) -> fmpq:
    """Return the midpoint of a ball as a rational."""
    mantissa, exponent = ball.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)
