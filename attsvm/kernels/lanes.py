"""One attention layer for many data sets side by side, compiled.

The last axis of every array is the lane: one data set. All inner loops run along it, so they are
vectorised as they are written, and a lane does the same operations in the same order whatever the
others hold: its numbers do not depend on its neighbours, to the last bit.

Of one input, tokens are (p, T, L), its query (q, L), logits, scores and weights (T, L). Absent
tokens have logits of minus infinity (softmax) or are zero (linear attention).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.descent import log_pull, log_slope, sign_of_slope, slope


class Lanes(NamedTuple):
    """Data sets side by side and the rule by which they descend.

    Attributes:
        X, Z: tokens (n, p, T, L) and queries (n, q, L).
        gamma, base: scores and fixed logits (n, T, L).
        hidden, outer, y: ReLU head (n, m, T, L) and (m, L), labels (n, L); m = 0 is a linear one.
        reach: how many coordinates of each query may be other than zero.
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
"""Beyond this distance between logits weights are magnified."""


@compiled
def project(W: Array, z: Array, reach: int, h: Array) -> None:
    """W z into h (p, L), of W (q, p, L); coordinates of z from `reach` on are zero."""
    p, L = h.shape
    for x in range(p):
        to = h[x]
        for b in range(L):
            to[b] = 0.0
        for y in range(reach):
            row, factor = W[y, x], z[y]
            for b in range(L):
                to[b] += row[b] * factor[b]


@compiled
def attend(X: Array, h: Array, base: Array, a: Array) -> None:
    """Logits base + <x_t, h> into a."""
    p, T, L = X.shape
    for t in range(T):
        to, start = a[t], base[t]
        for b in range(L):
            to[b] = start[b]
    for x in range(p):
        factor = h[x]
        for t in range(T):
            to, token = a[t], X[x, t]
            for b in range(L):
                to[b] += token[b] * factor[b]


@compiled
def soften(a: Array, top: Array, lead: Array, s: Array) -> None:
    """exp(a - its largest) into s, and the tokens where it is largest."""
    T, L = a.shape
    for b in range(L):
        top[b] = a[0, b]
        lead[b] = 0
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


@compiled
def relu_scores(s: Array, hidden: Array, outer: Array, y: Array, over: Array, gamma: Array) -> None:
    """Scores y <h'(sum_t s_t x_t), x_t> of h(x) = sum_k outer_k max(<hidden_k, x>, 0) into gamma.

    `hidden` is (m, T, L), the <hidden_k, x_t>. As h(x) = <h'(x), x>, what the loss sees is
    <s, gamma>, as of a linear head.
    """
    m, T, L = hidden.shape
    for t in range(T):
        for b in range(L):
            gamma[t, b] = 0.0
    for k in range(m):
        for b in range(L):
            over[b] = 0.0
        for t in range(T):
            row, part = s[t], hidden[k, t]
            for b in range(L):
                over[b] += row[b] * part[b]
        for b in range(L):
            over[b] = y[b] * outer[k, b] if over[b] > 0.0 else 0.0
        for t in range(T):
            to, part = gamma[t], hidden[k, t]
            for b in range(L):
                to[b] += over[b] * part[b]


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
    """Exponents that keep the weights of saturated lanes in range, 0 elsewhere; whether any is."""
    some = False
    for b in range(len(height)):
        shift[b] = 0.0
        if height[b] < -SATURATED:
            shift[b] = -height[b] if height[b] > -np.inf else 0.0
            some = True
    return some


@compiled
def magnify(a: Array, top: Array, shift: Array, s: Array) -> None:
    """exp(a - top + shift) into s, where it matters at most 1."""
    T, L = a.shape
    for t in range(T):
        row, to = a[t], s[t]
        for b in range(L):
            to[b] = np.exp(min(row[b] - top[b] + shift[b], 700.0))


@compiled
def weigh(
    gamma: Array, lead: Array, loss: int, count: int, shift: Array, best: Array, deficit: Array,
    factor: Array, s: Array, large: Array,
) -> None:  # fmt: skip
    """Weights exp(shift) (1/n) (-l') s_t (gamma_t - <s, gamma>) into `large`.

    `s` holds the exponentials and `large` the same times exp(shift). The bracket is taken as
    (gamma_t - best) + deficit, from differences to the leading token's score, and each part
    meets the exponential in which it neither cancels nor underflows. `factor` ends as -l' over
    n and the sum of the exponentials.
    """
    T, L = s.shape
    for b in range(L):
        best[b] = gamma[lead[b], b]
        factor[b] = 0.0
        deficit[b] = 0.0
    for t in range(T):
        row = s[t]
        for b in range(L):
            factor[b] += row[b]
    for t in range(T):
        row, score = large[t], gamma[t]
        for b in range(L):
            deficit[b] += row[b] * (best[b] - score[b])
    for b in range(L):
        deficit[b] /= factor[b]
        seen = best[b] - (deficit[b] if shift[b] == 0.0 else deficit[b] * np.exp(-shift[b]))
        factor[b] = -slope(loss, seen) / (count * factor[b])
    for t in range(T):
        row, wide, score = s[t], large[t], gamma[t]
        for b in range(L):
            wide[b] = factor[b] * (wide[b] * (score[b] - best[b]) + row[b] * deficit[b])


@compiled
def weigh_linear(
    a: Array, gamma: Array, loss: int, count: int, seen: Array, factor: Array, c: Array
) -> None:
    """Weights -(1/n) l'(u) gamma_t of linear attention, u = sum_t a_t gamma_t into `seen`."""
    T, L = a.shape
    for b in range(L):
        seen[b] = 0.0
    for t in range(T):
        row, score = a[t], gamma[t]
        for b in range(L):
            seen[b] += row[b] * score[b]
    for b in range(L):
        factor[b] = -slope(loss, seen[b]) / count
    for t in range(T):
        to, score = c[t], gamma[t]
        for b in range(L):
            to[b] = factor[b] * score[b]


@compiled
def spread(X: Array, c: Array, lead: Array, linear: bool, own: Array, g: Array) -> None:
    """sum_t c_t (x_t - x_lead) into g (p, L); of linear attention sum_t c_t x_t."""
    p, T, L = X.shape
    for x in range(p):
        to = g[x]
        for b in range(L):
            own[b] = 0.0 if linear else X[x, lead[b], b]
            to[b] = 0.0
        for t in range(T):
            weight, token = c[t], X[x, t]
            for b in range(L):
                to[b] += weight[b] * (token[b] - own[b])


@compiled
def log_domain(
    X: Array, Z: Array, gamma: Array, loss: int, linear: bool, M: Array, A: Array, sizes: Array
) -> float:
    """-grad L of one data set into M (q, p), the returned largest exponent taken out."""
    if not linear:
        return log_pull(X, Z, gamma, loss, M, A, sizes)
    n, p, T = X.shape
    q = Z.shape[1]
    M[:] = 0.0
    largest = -np.inf
    for i in range(n):
        largest = max(largest, log_slope(loss, (A[i] * gamma[i]).sum()))
    if largest == -np.inf:
        return largest
    for i in range(n):
        u = (A[i] * gamma[i]).sum()
        size = -sign_of_slope(loss, u) * np.exp(log_slope(loss, u) - largest) / n
        for x in range(p):
            weight = 0.0
            for t in range(T):
                weight += gamma[i, t] * X[i, x, t]
            for y in range(q):
                M[y, x] += size * weight * Z[i, y]
    return largest
