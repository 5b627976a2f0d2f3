"""Steps of descent on the head v and the weights together, compiled; as in `kernels.ensembles`.

Scores are y_i <v, x_it>, made anew from v (p, L) at every step.
"""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.descent import TINY, log_slope, sign_of_slope
from attsvm.kernels.lanes import Lanes, attend, log_domain, project, soften, spread, weigh


@compiled
def _score(X: Array, v: Array, y: Array, gamma: Array) -> None:
    """Scores y <v, x_t> of one input into gamma (T, L)."""
    p, T, L = X.shape
    for t in range(T):
        for b in range(L):
            gamma[t, b] = 0.0
    for x in range(p):
        part = v[x]
        for t in range(T):
            to, token = gamma[t], X[x, t]
            for b in range(L):
                to[b] += token[b] * part[b]
    for t in range(T):
        for b in range(L):
            gamma[t, b] *= y[b]


@compiled
def _head_in_logs(X: Array, y: Array, gamma: Array, A: Array, loss: int, pull: Array) -> float:
    """-grad in v of one data set into `pull` (p), the returned largest exponent taken out."""
    n, p, T = X.shape
    pull[:] = 0.0
    largest = -np.inf
    for turn in range(2):
        for i in range(n):
            top, total, mean = A[i].max(), 0.0, 0.0
            for t in range(T):
                total += np.exp(A[i, t] - top)
                mean += np.exp(A[i, t] - top) * gamma[i, t]
            height = log_slope(loss, mean / total)
            if turn == 0:
                largest = max(largest, height)
            elif largest > -np.inf:
                factor = -sign_of_slope(loss, mean / total) * y[i]
                factor *= np.exp(height - largest) / (n * total)
                for t in range(T):
                    for x in range(p):
                        pull[x] += factor * np.exp(A[i, t] - top) * X[i, x, t]
    return largest


@compiled
def descend_jointly(lanes: Lanes, v: Array, W: Array, out_v: Array, out: Array) -> None:
    """Descent on v (p, L) and W (q, p, L) at once, in place."""
    X, Z, y, loss, step, kept = (
        lanes.X, lanes.Z, lanes.y, lanes.loss, lanes.step, lanes.kept,
    )  # fmt: skip
    n, p, T, L = X.shape
    q = Z.shape[1]
    M, A, h, g = np.empty((q, p, L)), np.empty((n, T, L)), np.empty((p, L)), np.empty((p, L))
    large, none = np.empty((T, L)), np.zeros(L)
    c, four, lead = np.empty((T, L)), np.empty((4, L)), np.empty(L, np.int64)
    gamma, mixed, in_v = np.empty((n, T, L)), np.empty((p, L)), np.empty((p, L))
    scale, row = np.empty(L), 0
    lone, lone_v, sizes = np.empty((q, p)), np.empty(p), np.empty((n, T))
    for k in range(lanes.steps + 1):
        if row < len(kept) and kept[row] == k:
            out[row] = W
            out_v[row] = v
            row += 1
        if k == lanes.steps:
            break
        M[:] = 0.0
        in_v[:] = 0.0
        for i in range(n):
            _score(X[i], v, y[i], gamma[i])
            project(W, Z[i], q, h)
            attend(X[i], h, lanes.base[i], A[i])
            soften(A[i], four[0], lead, c)
            for x in range(p):
                to = mixed[x]
                for b in range(L):
                    to[b] = 0.0
                for t in range(T):
                    token, s = X[i, x, t], c[t]
                    for b in range(L):
                        to[b] += s[b] * token[b]
            large[:] = c
            weigh(gamma[i], lead, loss, n, none, four[0], four[1], four[2], c, large)
            for x in range(p):
                for b in range(L):
                    in_v[x, b] += y[i, b] * four[2, b] * mixed[x, b]
            spread(X[i], large, lead, False, four[3], g)
            for r in range(q):
                for x in range(p):
                    for b in range(L):
                        M[r, x, b] += g[x, b] * Z[i, r, b]
        for b in range(L):
            square, moved = 0.0, 0.0
            for x in range(p):
                square += in_v[x, b] ** 2
            for r in range(q):
                for x in range(p):
                    moved += M[r, x, b] ** 2
            scale[b] = step[b]
            if not moved > TINY:
                tokens, logits = X[:, :, :, b], A[:, :, b]
                log_w = log_domain(
                    tokens, Z[:, :, b], gamma[:, :, b], loss, False, lone, logits, sizes
                )
                log_v = _head_in_logs(tokens, y[:, b], gamma[:, :, b], logits, loss, lone_v)
                top = max(log_w, log_v)
                if top > -np.inf:
                    lone *= np.exp(log_w - top)
                    lone_v *= np.exp(log_v - top)
                M[:, :, b] = lone
                in_v[:, b] = lone_v
                moved, square = (lone**2).sum(), (lone_v**2).sum()
                scale[b] = step[b] * np.exp(top)
            if lanes.normalised:
                size = np.sqrt(moved + square)
                scale[b] = step[b] / size if size > 0.0 else 0.0
        for x in range(p):
            for b in range(L):
                v[x, b] += scale[b] * in_v[x, b]
        for r in range(q):
            for x in range(p):
                for b in range(L):
                    W[r, x, b] += scale[b] * M[r, x, b]
