"""Steps of descent for many data sets side by side, compiled; lanes as in `kernels.lanes`.

Tokens X are (n, p, T, L), queries Z (n, q, L), fixed logits `base`, scores `gamma` (n, T, L).
`hidden` (n, m, T, L), `outer` (m, L) and labels y (n, L) describe a ReLU head, with m = 0 a linear
one. Iterates go to `out` at the steps `kept`, or, where `goals` are given, when their norm first
passes each goal, with the step number in `taken`.
"""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.checkpoints import keep, lane, pass_goals, product_size, put
from attsvm.kernels.descent import TINY, factors
from attsvm.kernels.lanes import (
    attend,
    log_domain,
    magnify,
    project,
    raise_heights,
    relu_scores,
    shifts,
    soften,
    spread,
    weigh,
    weigh_linear,
)

__all__ = ["descend", "descend_factors"]


@compiled
def _squares(M: Array, total: Array) -> None:
    """Sums of squares over the first two axes, added to `total`."""
    rows, columns, L = M.shape
    for y in range(rows):
        for x in range(columns):
            m = M[y, x]
            for b in range(L):
                total[b] += m[b] * m[b]


@compiled
def _move(W: Array, scale: Array, M: Array) -> None:
    rows, columns, L = M.shape
    for y in range(rows):
        for x in range(columns):
            to, m = W[y, x], M[y, x]
            for b in range(L):
                to[b] += scale[b] * m[b]


@compiled
def _look(
    X: Array,
    base: Array,
    gamma: Array,
    hidden: Array,
    outer: Array,
    y: Array,
    h: Array,
    linear: bool,
    a: Array,
    s: Array,
    top: Array,
    lead: Array,
    over: Array,
    height: Array,
) -> None:
    """Logits, exponentials and scores of one input, from h = W z."""
    attend(X, h, base, a)
    if linear:
        if len(hidden) > 0:
            relu_scores(a, hidden, outer, y, over, gamma)
        return
    soften(a, top, lead, s)
    if len(hidden) > 0:
        relu_scores(s, hidden, outer, y, over, gamma)
    raise_heights(a, top, gamma, lead, height)


@compiled
def _pull(
    X: Array,
    gamma: Array,
    loss: int,
    linear: bool,
    count: int,
    a: Array,
    s: Array,
    top: Array,
    lead: Array,
    shift: Array,
    some: bool,
    large: Array,
    three: Array,
    g: Array,
) -> None:
    """The pull of one input, sum_t c_t (x_t - x_lead), into g (p, L)."""
    if linear:
        weigh_linear(a, gamma, loss, count, three[0], three[1], large)
    else:
        if some:
            magnify(a, top, shift, large)
        else:
            large[:] = s
        weigh(gamma, lead, loss, count, shift, three[0], three[1], three[2], s, large)
    spread(X, large, lead, linear, three[0], g)


@compiled
def descend(
    X: Array,
    Z: Array,
    gamma: Array,
    base: Array,
    hidden: Array,
    outer: Array,
    y: Array,
    reach: Array,
    W: Array,
    start: Array,
    constant: Array,
    loss: int,
    linear: bool,
    step: Array,
    steps: int,
    normalised: bool,
    kept: Array,
    goals: Array,
    taken: Array,
    out: Array,
) -> None:
    """Descent on W (q, p, L), in place."""
    n, p, T, L = X.shape
    q = Z.shape[1]
    M, h, g = np.empty((q, p, L)), np.empty((p, L)), np.empty((p, L))
    A, S, large = np.empty((n, T, L)), np.empty((n, T, L)), np.empty((T, L))
    top, lead, three = np.empty((n, L)), np.empty((n, L), np.int64), np.empty((3, L))
    height, shift = np.empty(L), np.zeros(L)
    scale, passed, row = np.empty(L), np.zeros(L, np.int64), 0
    lone = np.empty((q, p))
    for k in range(steps + 1):
        if len(goals) > 0:
            pass_goals(W, start, constant, goals, k, scale, passed, taken, out)
            if passed.min() == len(goals):
                break
        elif row < len(kept) and kept[row] == k:
            out[row] = W
            row += 1
        if k == steps:
            break
        height[:] = -np.inf
        for i in range(n):
            project(W, Z[i], reach[i], h)
            _look(
                X[i],
                base[i],
                gamma[i],
                hidden[i],
                outer,
                y[i],
                h,
                linear,
                A[i],
                S[i],
                top[i],
                lead[i],
                three[0],
                height,
            )
        some = not linear and shifts(height, shift)
        M[:] = 0.0
        for i in range(n):
            _pull(
                X[i],
                gamma[i],
                loss,
                linear,
                n,
                A[i],
                S[i],
                top[i],
                lead[i],
                shift,
                some,
                large,
                three,
                g,
            )
            for r in range(reach[i]):
                z = Z[i, r]
                for x in range(p):
                    to, pulled = M[r, x], g[x]
                    for b in range(L):
                        to[b] += pulled[b] * z[b]
        scale[:] = 0.0
        _squares(M, scale)
        for b in range(L):
            square, log_scale = scale[b], -shift[b]
            if not square > TINY:
                log_scale = _rescue(X, Z, gamma, A, loss, linear, b, lone)
                put(lone, M, b)
                square = (lone**2).sum()
            scale[b] = _scale(step[b], square, log_scale, normalised)
        _move(W, scale, M)


@compiled
def _rescue(
    X: Array, Z: Array, gamma: Array, A: Array, loss: int, linear: bool, b: int, M: Array
) -> float:
    """`log_domain` for one lane, where all weights left the range of numbers."""
    n, p, T, _ = X.shape
    tokens = np.empty((n, p, T))
    for i in range(n):
        for x in range(p):
            for t in range(T):
                tokens[i, x, t] = X[i, x, t, b]
    sizes = np.empty((n, T))
    return log_domain(tokens, lane(Z, b), lane(gamma, b), loss, linear, M, lane(A, b), sizes)


@compiled
def _scale(step: float, square: float, log_scale: float, normalised: bool) -> float:
    """What a pull of that squared norm, its exponent taken out, is multiplied with."""
    if normalised:
        return step / np.sqrt(square) if square > 0.0 else 0.0
    return step if log_scale == 0.0 else step * np.exp(log_scale)


@compiled
def descend_factors(
    X: Array,
    Z: Array,
    gamma: Array,
    base: Array,
    hidden: Array,
    outer: Array,
    y: Array,
    reach: Array,
    K: Array,
    Q: Array,
    rest_K: Array,
    rest_Q: Array,
    loss: int,
    linear: bool,
    step: Array,
    steps: int,
    normalised: bool,
    kept: Array,
    goals: Array,
    taken: Array,
    out: Array,
) -> None:
    """Descent on K (p, r, L) and Q (q, r, L) with W = K Q^T, in place, side by side in `out`."""
    n, p, T, L = X.shape
    q, rank = Z.shape[1], K.shape[1]
    h, g, w = np.empty((p, L)), np.empty((p, L)), np.empty((rank, L))
    A, S, large = np.empty((n, T, L)), np.empty((n, T, L)), np.empty((T, L))
    top, lead, three = np.empty((n, L)), np.empty((n, L), np.int64), np.empty((3, L))
    height, shift = np.empty(L), np.zeros(L)
    scale, pulls, passed, row = np.empty(L), np.empty(L), np.zeros(L, np.int64), 0
    sides = np.empty((n, rank, L))
    in_K, in_Q = np.empty((p, rank, L)), np.empty((q, rank, L))
    lone = np.empty((q, p))
    lone_K, lone_Q = np.empty((p, rank)), np.empty((q, rank))
    both = np.empty((p + q, rank, L))
    for k in range(steps + 1):
        if len(goals) > 0:
            both[:p] = K
            both[p:] = Q
            product_size(K, Q, rest_K, rest_Q, scale)
            keep(both, goals, k, scale, passed, taken, out)
            if passed.min() == len(goals):
                break
        elif row < len(kept) and kept[row] == k:
            out[row, :p] = K
            out[row, p:] = Q
            row += 1
        if k == steps:
            break
        height[:] = -np.inf
        for i in range(n):
            project(Q, Z[i], reach[i], sides[i])
            for x in range(p):
                to = h[x]
                for b in range(L):
                    to[b] = 0.0
                for r in range(rank):
                    key, part = K[x, r], sides[i, r]
                    for b in range(L):
                        to[b] += key[b] * part[b]
            _look(
                X[i],
                base[i],
                gamma[i],
                hidden[i],
                outer,
                y[i],
                h,
                linear,
                A[i],
                S[i],
                top[i],
                lead[i],
                three[0],
                height,
            )
        some = not linear and shifts(height, shift)
        in_K[:] = 0.0
        in_Q[:] = 0.0
        pulls[:] = 0.0
        for i in range(n):
            _pull(
                X[i],
                gamma[i],
                loss,
                linear,
                n,
                A[i],
                S[i],
                top[i],
                lead[i],
                shift,
                some,
                large,
                three,
                g,
            )
            w[:] = 0.0
            for x in range(p):
                pulled = g[x]
                for b in range(L):
                    pulls[b] += pulled[b] * pulled[b]
                for r in range(rank):
                    to, key = w[r], K[x, r]
                    for b in range(L):
                        to[b] += key[b] * pulled[b]
                for r in range(rank):
                    to, part = in_K[x, r], sides[i, r]
                    for b in range(L):
                        to[b] += pulled[b] * part[b]
            for s in range(reach[i]):
                z = Z[i, s]
                for r in range(rank):
                    to, add = in_Q[s, r], w[r]
                    for b in range(L):
                        to[b] += add[b] * z[b]
        scale[:] = 0.0
        _squares(in_K, scale)
        _squares(in_Q, scale)
        for b in range(L):
            square, log_scale = scale[b], -shift[b]
            if not pulls[b] > TINY:
                log_scale = _rescue(X, Z, gamma, A, loss, linear, b, lone)
                factors(lone, lane(K, b), lane(Q, b), lone_K, lone_Q)
                put(lone_K, in_K, b)
                put(lone_Q, in_Q, b)
                square = (lone_K**2).sum() + (lone_Q**2).sum()
            scale[b] = _scale(step[b], square, log_scale, normalised)
        _move(K, scale, in_K)
        _move(Q, scale, in_Q)
