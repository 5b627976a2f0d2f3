"""Second derivatives of the risk in W, as balls.

With s = softmax(a), m = <s, h> and c = s * (h - m), the function phi(m) of the logits a has the
Hessian phi''(m) c c^T + phi'(m) (diag(c) - s c^T - c s^T); logits are linear in W.
"""

from __future__ import annotations

from flint import arb

from attsvm.exact.attention import logits, softmax
from attsvm.exact.losses import loss_curvature, loss_slope
from attsvm.exact.numbers import ExactData, Matrix, Vector, dot, product, transpose

__all__ = ["hessian_w"]


def hessian_w(data: ExactData, W: Matrix, loss: str) -> Matrix:
    """Hessian (d e, d e) of L(W), the entries of W row by row."""
    n, size = len(data.X), len(W) * len(data.Z[0])
    total: Matrix = [[arb(0)] * size for _ in range(size)]
    for tokens, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
        s = softmax(logits(tokens, W, z))
        u = arb(dot(s, gamma))
        H = _in_logits(s, gamma, loss_slope(loss, u) / n, loss_curvature(loss, u) / n)
        A = [[x * w for x in token for w in z] for token in tokens]  # logits are A vec(W)
        pulled = product(transpose(A), product(H, A))
        total = [
            [p + q for p, q in zip(*rows, strict=True)] for rows in zip(total, pulled, strict=True)
        ]
    return total


def _in_logits(s: Vector, h: Vector, slope: arb, curvature: arb) -> Matrix:
    mean = dot(s, h)
    c = [p * (value - mean) for p, value in zip(s, h, strict=True)]
    places = range(len(s))
    return [
        [
            curvature * c[j] * c[k] + slope * ((c[j] if j == k else 0) - s[j] * c[k] - c[j] * s[k])
            for k in places
        ]
        for j in places
    ]
