r"""One entry of the l2 loss of section 1, L(x) = (<softmax(A x), h> - b)^2; symbols as for g."""

from __future__ import annotations

from typing import Any

from attsvm.theory import definition

__all__ = ["gradient", "gradient_change", "loss", "loss_change"]


@definition(r"L({x})", "L({x})")
def loss(m: Any, A: Any, x: Any, h: Any, b: Any) -> Any:
    """One entry of the loss."""
    return m.square(m.dot(m.softmax(A @ x), h) - b)


@definition(r"\nabla L({x})", "grad L({x})")
def gradient(m: Any, A: Any, x: Any, h: Any, b: Any) -> Any:
    """Its gradient: the chain rule through the covariance of softmax."""
    f = m.softmax(A @ x)
    return 2 * (m.dot(f, h) - b) * (A.T @ m.covariance(f, h))


def loss_change(m: Any, v: Any) -> Any:
    """|L(x) - L(y)|."""
    return m.abs(loss(m, v.A, v.x, v.h, v.b) - loss(m, v.A, v.y, v.h, v.b))


def gradient_change(m: Any, v: Any) -> Any:
    """||grad L(x) - grad L(y)||."""
    return m.norm(gradient(m, v.A, v.x, v.h, v.b) - gradient(m, v.A, v.y, v.h, v.b))
