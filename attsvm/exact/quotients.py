"""Lipschitz quotients ||f(x) - f(y)|| / ||x - y|| between two exact points, as balls."""

from __future__ import annotations

from flint import arb

from attsvm.errors import DataError
from attsvm.exact.attention import entry_gradient, entry_loss, risk
from attsvm.exact.gradients import gradient_w
from attsvm.exact.numbers import ExactData, Matrix, Number, Vector, norm, subtract

__all__ = ["entry_quotients", "quotient", "risk_quotients"]


def quotient(x: Vector, y: Vector, at_x: Vector, at_y: Vector) -> arb:
    """||at_x - at_y|| / ||x - y|| of two points and the values there.

    Raises:
        DataError: both points are the same.
    """
    away = subtract(x, y)
    if all(step == 0 for step in away):
        raise DataError("a quotient needs two points", value=str(x), remedy="Move one of them.")
    return norm(subtract(at_x, at_y)) / norm(away)


def entry_quotients(A: Matrix, x: Vector, y: Vector, h: Vector, b: Number) -> tuple[arb, arb]:
    """Quotients of g(b <softmax(A x), h>) and of its gradient in x (sim, lemmas 3.11 and 3.13).

    Raises:
        DataError: both points are the same.
    """
    values = [[entry_loss(A, point, h, b)] for point in (x, y)]
    slopes = [entry_gradient(A, point, h, b) for point in (x, y)]
    return quotient(x, y, *values), quotient(x, y, *slopes)


def risk_quotients(data: ExactData, W: Matrix, V: Matrix, loss: str) -> tuple[arb, arb]:
    """Quotients of the risk and of its gradient between W and V, in the Frobenius norm.

    Raises:
        DataError: both points are the same.
    """
    x, y = _flat(W), _flat(V)
    values = [[risk(data, point, loss)] for point in (W, V)]
    slopes = [_flat(gradient_w(data, point, loss)) for point in (W, V)]
    return quotient(x, y, *values), quotient(x, y, *slopes)


def _flat(matrix: Matrix) -> Vector:
    return [x for row in matrix for x in row]
