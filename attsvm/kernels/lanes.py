"""One attention layer for many data sets side by side, compiled.

The last axis of every array is the lane: one data set. All inner loops run along it and are
vectorised as written. A lane does the same operations in the same order whatever other lanes
contain, so its numbers do not depend on them, to the last bit.

The tokens of one input are (p, T, L), its query (q, L), its logits, scores and weights (T, L).
Absent tokens have logits of minus infinity (softmax) or are zero (linear attention).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, inlined, separate
from attsvm.kernels.descent import log_negative_gradient, log_slope, sign_of_slope, slope
from attsvm.kernels.least_norm import pair, pair_rows, write


class Lanes(NamedTuple):
    """Data sets side by side and the rule of descent.

    Attributes:
        X, Z: tokens (n, p, T, L) and queries (n, q, L).
        gamma, base: scores and constant parts of the logits (n, T, L).
        hidden, outer, y: <hidden_k, x_t> of a ReLU head (n, m, T, L), its outer weights (m, L), and
            labels (n, L); m = 0 means a linear head.
        reach: number of leading coordinates of each query that may differ from zero (n,).
        loss, linear, step, steps, normalised, kept, goals: as in `attsvm.training.rule`.
    """

    X: Array
    Z: Array
    gamma: Array
    base: Array
    hidden: Array
    outer: Array
    y: Array
    reach: Array
    loss: int
    linear: bool
    step: Array
    steps: int
    normalised: bool
    kept: Array
    goals: Array


SATURATED = 250.0
"""Distance between logits beyond which weights are multiplied by a power of e; see `shifts`."""


@inlined
def add(to: Array, row: Array, factor: Array) -> None:
    """Add row * factor to `to`, lane by lane."""
    for b in range(len(to)):
        to[b] += row[b] * factor[b]


@compiled
def project(W: Array, z: Array, reach: int, h: Array) -> None:
    """Write W z to h (p, L), for W (q, p, L); coordinates of z from `reach` on are zero."""
    h[:] = 0.0
    for x in range(len(h)):
        for y in range(reach):
            add(h[x], W[y, x], z[y])


@compiled
def attend(X: Array, h: Array, base: Array, a: Array) -> None:
    """Write logits base + <x_t, h> to a."""
    for t in range(len(a)):
        write(base[t], a[t])
    for x in range(len(h)):
        for t in range(len(a)):
            add(a[t], X[x, t], h[x])


@compiled
def exp_shifted(a: Array, top: Array, lead: Array, s: Array) -> None:
    """Write exp(a - top) to s, the largest logits to `top`, and their first tokens to `lead`."""
    T, L = a.shape
    write(a[0], top)
    lead[:] = 0
    for t in range(1, T):
        row = a[t]
        for b in range(L):
            if row[b] > top[b]:
                top[b] = row[b]
                lead[b] = t
    for t in range(T):
        row, to = a[t], s[t]
        for b in range(L):
            to[b] = np.exp(row[b] - top[b])


@separate
def relu_scores(s: Array, hidden: Array, outer: Array, y: Array, over: Array, gamma: Array) -> None:
    """Write scores y <h'(sum_t s_t x_t), x_t> of h(x) = sum_k outer_k relu(<hidden_k, x>) to gamma.

    `hidden` is (m, T, L), the <hidden_k, x_t>. As h(x) = <h'(x), x>, the argument of the loss is
    <s, gamma>, as for a linear head.
    """
    m, T, L = hidden.shape
    gamma[:] = 0.0
    for k in range(m):
        over[:] = 0.0
        for t in range(T):
            add(over, s[t], hidden[k, t])
        for b in range(L):
            over[b] = y[b] * outer[k, b] if over[b] > 0.0 else 0.0
        for t in range(T):
            add(gamma[t], over, hidden[k, t])


@compiled
def raise_heights(a: Array, top: Array, gamma: Array, lead: Array, height: Array) -> None:
    """Raise `height` (L) to the largest a_t - a_lead of tokens whose score is not the lead's."""
    T, L = a.shape
    for t in range(T):
        row, score = a[t], gamma[t]
        for b in range(L):
            if score[b] != gamma[lead[b], b] and row[b] - top[b] > height[b]:
                height[b] = row[b] - top[b]


@compiled
def shifts(height: Array, shift: Array) -> bool:
    """Write the exponents that keep the weights of saturated lanes in range to `shift`.

    A lane is saturated if its `height` is below -SATURATED: all weights that move it would
    underflow. Other lanes have exponent 0. Return whether any lane is saturated.
    """
    some = False
    for b in range(len(height)):
        shift[b] = 0.0
        if height[b] < -SATURATED:
            shift[b] = -height[b] if height[b] > -np.inf else 0.0
            some = True
    return some


@compiled
def exp_scaled(a: Array, top: Array, shift: Array, s: Array) -> None:
    """Write exp(a - top + shift) to s, with exponents of at most 700.

    Tokens whose score differs from the leading one's have exponents of at most 0. The others are
    multiplied by a difference of scores 0, and only have to stay finite.
    """
    T, L = a.shape
    for t in range(T):
        row, to = a[t], s[t]
        for b in range(L):
            to[b] = np.exp(min(row[b] - top[b] + shift[b], 700.0))


@separate
def gradient_weights(
    gamma: Array, lead: Array, loss: int, count: int, shift: Array, best: Array, deficit: Array,
    factor: Array, s: Array, large: Array,
) -> None:  # fmt: skip
    """Write weights exp(shift) (1/n) (-l') s_t (gamma_t - <s, gamma>) to `large`.

    On entry `s` has the exponentials and `large` the same times exp(shift). The bracket is
    evaluated as (gamma_t - best) + deficit, from differences to the leading token's score. The
    first part is multiplied by the shifted exponential, the second part contains exp(shift)
    already: so neither underflows. `factor` receives -l' over n and over the sum of the
    exponentials.
    """
    T, L = s.shape
    factor[:] = 0.0
    deficit[:] = 0.0
    for b in range(L):
        best[b] = gamma[lead[b], b]
    for t in range(T):
        row, wide, score = s[t], large[t], gamma[t]
        for b in range(L):
            factor[b] += row[b]
            deficit[b] += wide[b] * (best[b] - score[b])
    for b in range(L):
        deficit[b] /= factor[b]
        seen = best[b] - (deficit[b] if shift[b] == 0.0 else deficit[b] * np.exp(-shift[b]))
        factor[b] = -slope(loss, seen) / (count * factor[b])
    for t in range(T):
        row, wide, score = s[t], large[t], gamma[t]
        for b in range(L):
            wide[b] = factor[b] * (wide[b] * (score[b] - best[b]) + row[b] * deficit[b])


@separate
def linear_gradient_weights(
    a: Array, gamma: Array, loss: int, count: int, seen: Array, factor: Array, c: Array
) -> None:
    """Write weights -(1/n) l'(u) gamma_t of linear attention to c, and u = <a, gamma> to `seen`."""
    T, L = a.shape
    seen[:] = 0.0
    for t in range(T):
        add(seen, a[t], gamma[t])
    for b in range(L):
        factor[b] = -slope(loss, seen[b]) / count
    c[:] = 0.0
    for t in range(T):
        add(c[t], factor, gamma[t])


@compiled
def spread(X: Array, c: Array, lead: Array, linear: bool, own: Array, g: Array) -> None:
    """Write sum_t c_t (x_t - x_lead) to g (p, L); for linear attention sum_t c_t x_t."""
    p, T, L = X.shape
    g[:] = 0.0
    for x in range(p):
        to = g[x]
        for b in range(L):
            own[b] = 0.0 if linear else X[x, lead[b], b]
        for t in range(T):
            weight, token = c[t], X[x, t]
            for b in range(L):
                to[b] += weight[b] * (token[b] - own[b])


@compiled
def add_outer(g: Array, z: Array, reach: int, M: Array) -> None:
    """Add g z^T to M (q, p, L); coordinates of z from `reach` on are zero."""
    for y in range(reach):
        for x in range(len(g)):
            add(M[y, x], g[x], z[y])


@compiled
def squares(M: Array, total: Array) -> None:
    """Add the sum of squares of each lane to `total`."""
    for y in range(len(M)):
        for x in range(M.shape[1]):
            add(total, M[y, x], M[y, x])


@compiled
def move(W: Array, scale: Array, M: Array) -> None:
    """Add scale * M to W."""
    for y in range(len(M)):
        for x in range(M.shape[1]):
            add(W[y, x], M[y, x], scale)


@separate
def log_domain_gradient(lanes: Lanes, A: Array, b: int, M: Array) -> float:
    """Write -grad L of one lane, divided by exp(e), to M (q, p); return e.

    It is for lanes whose gradient underflows.
    """
    X, Z = lanes.X[:, :, :, b].copy(), lanes.Z[:, :, b].copy()
    scores, a = lanes.gamma[:, :, b].copy(), A[:, :, b].copy()
    if lanes.linear:
        return _linear_log_negative_gradient(X, Z, scores, lanes.loss, M, a)
    return log_negative_gradient(X, Z, scores, lanes.loss, M, a, np.empty(a.shape))


@separate
def _linear_log_negative_gradient(
    X: Array, Z: Array, gamma: Array, loss: int, M: Array, A: Array
) -> float:
    """Write -grad L of linear attention, divided by exp(e), to M; return e.

    exp(e) is the largest |l'| of an input.
    """
    n, p, _ = X.shape
    M[:] = 0.0
    seen = pair_rows(A, gamma)
    largest = -np.inf
    for i in range(n):
        largest = max(largest, log_slope(loss, seen[i]))
    if largest == -np.inf:
        return largest
    for i in range(n):
        size = -sign_of_slope(loss, seen[i]) * np.exp(log_slope(loss, seen[i]) - largest) / n
        for x in range(p):
            weight = pair(gamma[i], X[i, x])
            for y in range(len(M)):
                M[y, x] += size * weight * Z[i, y]
    return largest
