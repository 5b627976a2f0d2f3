"""Steps of descent for many data sets side by side, compiled; see `kernels.lanes.Lanes`.

Iterates go to `out` at the steps `kept`, or, where `goals` are given, when their norm first passes
each goal, with the step number in `taken`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.checkpoints import keep, lane, pass_goals, product_size, put
from attsvm.kernels.descent import TINY, factors
from attsvm.kernels.lanes import (
    Lanes,
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


class _Room(NamedTuple):
    """Arrays that one step writes to: W z, the pull of an input, logits, exponentials and more."""

    h: Array
    g: Array
    A: Array
    S: Array
    large: Array
    top: Array
    lead: Array
    three: Array
    height: Array
    shift: Array


@compiled
def _room(lanes: Lanes) -> _Room:
    n, p, T, L = lanes.X.shape
    return _Room(
        np.empty((p, L)), np.empty((p, L)), np.empty((n, T, L)), np.empty((n, T, L)),
        np.empty((T, L)), np.empty((n, L)), np.empty((n, L), np.int64), np.empty((3, L)),
        np.empty(L), np.zeros(L),
    )  # fmt: skip


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
def _look(lanes: Lanes, room: _Room, i: int) -> None:
    """Logits, exponentials and scores of input i, from h = W z."""
    a, s, gamma, hidden = room.A[i], room.S[i], lanes.gamma[i], lanes.hidden[i]
    attend(lanes.X[i], room.h, lanes.base[i], a)
    if not lanes.linear:
        soften(a, room.top[i], room.lead[i], s)
    if len(hidden) > 0:
        weights = a if lanes.linear else s
        relu_scores(weights, hidden, lanes.outer, lanes.y[i], room.three[0], gamma)
    if not lanes.linear:
        raise_heights(a, room.top[i], gamma, room.lead[i], room.height)


@compiled
def _pull(lanes: Lanes, room: _Room, i: int, some: bool) -> None:
    """The pull of input i, sum_t c_t (x_t - x_lead), into g (p, L)."""
    n, large, lead, three = len(lanes.X), room.large, room.lead[i], room.three
    if lanes.linear:
        weigh_linear(room.A[i], lanes.gamma[i], lanes.loss, n, three[0], three[1], large)
    else:
        if some:
            magnify(room.A[i], room.top[i], room.shift, large)
        else:
            large[:] = room.S[i]
        weigh(
            lanes.gamma[i], lead, lanes.loss, n, room.shift, three[0], three[1], three[2],
            room.S[i], large,
        )  # fmt: skip
    spread(lanes.X[i], large, lead, lanes.linear, three[0], room.g)


@compiled
def descend(
    lanes: Lanes, W: Array, start: Array, constant: Array, taken: Array, out: Array
) -> None:
    """Descent on W (q, p, L), in place."""
    n, p, _, L = lanes.X.shape
    q, goals, kept, reach = lanes.Z.shape[1], lanes.goals, lanes.kept, lanes.reach
    room, M, lone = _room(lanes), np.empty((q, p, L)), np.empty((q, p))
    scale, passed, row = np.empty(L), np.zeros(L, np.int64), 0
    for k in range(lanes.steps + 1):
        if len(goals) > 0:
            pass_goals(W, start, constant, goals, k, scale, passed, taken, out)
            if passed.min() == len(goals):
                break
        elif row < len(kept) and kept[row] == k:
            out[row] = W
            row += 1
        if k == lanes.steps:
            break
        room.height[:] = -np.inf
        for i in range(n):
            project(W, lanes.Z[i], reach[i], room.h)
            _look(lanes, room, i)
        some = not lanes.linear and shifts(room.height, room.shift)
        M[:] = 0.0
        for i in range(n):
            _pull(lanes, room, i, some)
            for r in range(reach[i]):
                z = lanes.Z[i, r]
                for x in range(p):
                    to, pulled = M[r, x], room.g[x]
                    for b in range(L):
                        to[b] += pulled[b] * z[b]
        scale[:] = 0.0
        _squares(M, scale)
        for b in range(L):
            square, log_scale = scale[b], -room.shift[b]
            if not square > TINY:
                log_scale = _rescue(lanes, room.A, b, lone)
                put(lone, M, b)
                square = (lone**2).sum()
            scale[b] = _scale(lanes.step[b], square, log_scale, lanes.normalised)
        _move(W, scale, M)


@compiled
def _rescue(lanes: Lanes, A: Array, b: int, M: Array) -> float:
    """`log_domain` for one lane, where all weights left the range of numbers."""
    n, p, T, _ = lanes.X.shape
    tokens = np.empty((n, p, T))
    for i in range(n):
        for x in range(p):
            for t in range(T):
                tokens[i, x, t] = lanes.X[i, x, t, b]
    Z, gamma, sizes = lane(lanes.Z, b), lane(lanes.gamma, b), np.empty((n, T))
    return log_domain(tokens, Z, gamma, lanes.loss, lanes.linear, M, lane(A, b), sizes)


@compiled
def _scale(step: float, square: float, log_scale: float, normalised: bool) -> float:
    """What a pull of that squared norm, its exponent taken out, is multiplied with."""
    if normalised:
        return step / np.sqrt(square) if square > 0.0 else 0.0
    return step if log_scale == 0.0 else step * np.exp(log_scale)


@compiled
def descend_factors(
    lanes: Lanes, K: Array, Q: Array, rest_K: Array, rest_Q: Array, taken: Array, out: Array
) -> None:
    """Descent on K (p, r, L) and Q (q, r, L) with W = K Q^T, in place, side by side in `out`."""
    n, p, _, L = lanes.X.shape
    q, rank, goals, kept, reach = len(Q), K.shape[1], lanes.goals, lanes.kept, lanes.reach
    room, w, sides = _room(lanes), np.empty((rank, L)), np.empty((n, rank, L))
    scale, pulls, passed, row = np.empty(L), np.empty(L), np.zeros(L, np.int64), 0
    in_K, in_Q = np.empty((p, rank, L)), np.empty((q, rank, L))
    lone, lone_K, lone_Q = np.empty((q, p)), np.empty((p, rank)), np.empty((q, rank))
    both = np.empty((p + q, rank, L))
    for k in range(lanes.steps + 1):
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
        if k == lanes.steps:
            break
        room.height[:] = -np.inf
        for i in range(n):
            project(Q, lanes.Z[i], reach[i], sides[i])
            for x in range(p):
                to = room.h[x]
                for b in range(L):
                    to[b] = 0.0
                for r in range(rank):
                    key, part = K[x, r], sides[i, r]
                    for b in range(L):
                        to[b] += key[b] * part[b]
            _look(lanes, room, i)
        some = not lanes.linear and shifts(room.height, room.shift)
        in_K[:] = 0.0
        in_Q[:] = 0.0
        pulls[:] = 0.0
        for i in range(n):
            _pull(lanes, room, i, some)
            w[:] = 0.0
            for x in range(p):
                pulled = room.g[x]
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
                z = lanes.Z[i, s]
                for r in range(rank):
                    to, add = in_Q[s, r], w[r]
                    for b in range(L):
                        to[b] += add[b] * z[b]
        scale[:] = 0.0
        _squares(in_K, scale)
        _squares(in_Q, scale)
        for b in range(L):
            square, log_scale = scale[b], -room.shift[b]
            if not pulls[b] > TINY:
                log_scale = _rescue(lanes, room.A, b, lone)
                factors(lone, lane(K, b), lane(Q, b), lone_K, lone_Q)
                put(lone_K, in_K, b)
                put(lone_Q, in_Q, b)
                square = (lone_K**2).sum() + (lone_Q**2).sum()
            scale[b] = _scale(lanes.step[b], square, log_scale, lanes.normalised)
        _move(K, scale, in_K)
        _move(Q, scale, in_Q)
