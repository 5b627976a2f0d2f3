"""Gradients of the risk in W, (K, Q), a prompt p and (v, p), from differences to the best score."""

from __future__ import annotations

from flint import arb, fmpq

from attsvm.exact.attention import deficit, logits, softmax
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import ExactData, Matrix, Vector, combine, dot, product, transpose

__all__ = ["as_prompt", "gradient_kq", "gradient_p", "gradient_vp", "gradient_w", "with_head"]


def as_prompt(data: ExactData) -> ExactData:
    """The data whose descent on a column W (d, 1) is descent on a prompt p with logits X_i p.

    Every query is the number 1, so W z = p, the logits are X_i p and the gradient in W is that in
    p: iterates, steps and lengths agree.
    """
    return ExactData(data.X, [[fmpq(1)] for _ in data.X], data.gamma, data.kept)


def with_head(data: ExactData, y: Vector, v: Vector) -> ExactData:
    """The data with the scores y_i <v, x_it> of another head v."""
    gamma = [[label * dot(v, x) for x in tokens] for label, tokens in zip(y, data.X, strict=True)]
    return ExactData(data.X, data.Z, gamma, data.kept)


def gradient_w(data: ExactData, W: Matrix, loss: str) -> Matrix:
    """Gradient of L(W) (d, e): sum_i l'(u_i)/n sum_t s_t (gamma_t - u_i) x_t z^T."""
    rows, columns = len(W), len(data.Z[0])
    total: Matrix = [[arb(0)] * columns for _ in range(rows)]
    n = len(data.X)
    for i, tokens in enumerate(data.X):
        z, best = data.Z[i], max(data.gamma[i])
        s = softmax(logits(tokens, W, z))
        missing = deficit(data, i, s)
        slope = loss_slope(loss, arb(best) - missing) / n
        weights = [slope * s[t] * (missing - (best - g)) for t, g in enumerate(data.gamma[i])]
        pulled = [dot(weights, [x[r] for x in tokens]) for r in range(rows)]
        for r in range(rows):
            for c in range(columns):
                total[r][c] = total[r][c] + pulled[r] * z[c]
    return total


def gradient_kq(data: ExactData, K: Matrix, Q: Matrix, loss: str) -> tuple[Matrix, Matrix]:
    """Gradients of L(K Q^T) in K and in Q: with G that in W, G Q and G^T K."""
    G = gradient_w(data, product(K, transpose(Q)), loss)
    return product(G, Q), product(transpose(G), K)


def gradient_p(data: ExactData, p: Vector, loss: str) -> Vector:
    """Gradient of the risk in a prompt p with logits X_i p (mm, ERM); queries play no part."""
    column = gradient_w(as_prompt(data), [[x] for x in p], loss)
    return [row[0] for row in column]


def gradient_vp(
    data: ExactData, y: Vector, v: Vector, p: Vector, loss: str
) -> tuple[Vector, Vector]:
    """Gradients of (1/n) sum_i l(y_i v^T X_i^T softmax(X_i p)) in v and in p (mm, ERM).

    v must be exact, as scores are compared; those of the data play no part.
    """
    scored = with_head(data, y, v)
    total: Vector = [arb(0)] * len(v)
    for label, tokens, gamma in zip(y, scored.X, scored.gamma, strict=True):
        s = softmax([dot(x, p) for x in tokens])
        slope = label * loss_slope(loss, dot(s, gamma)) / len(y)
        total = [g + slope * x for g, x in zip(total, combine(s, tokens), strict=True)]
    return total, gradient_p(scored, p, loss)
