"""Steps of descent for many data sets side by side, compiled; see `kernels.lanes.Lanes`.

Iterates go to `out` at the steps `kept`, or, where `goals` are given, when their norm first passes
each goal, with the step number in `taken`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.checkpoints import keep, pass_goals, product_size
from attsvm.kernels.descent import TINY, factors, log_slope, sign_of_slope
from attsvm.kernels.lanes import (
    Lanes,
    add,
    attend,
    magnify,
    move,
    project,
    raise_heights,
    relu_scores,
    rescue,
    shifts,
    soften,
    spread,
    spread_out,
    squares,
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
            spread_out(room.g, lanes.Z[i], reach[i], M)
        scale[:] = 0.0
        squares(M, scale)
        for b in range(L):
            square, log_scale = scale[b], -room.shift[b]
            if not square > TINY:
                log_scale = rescue(lanes, room.A, b, lone)
                M[:, :, b] = lone
                square = (lone**2).sum()
            scale[b] = _scale(lanes.step[b], square, log_scale, lanes.normalised)
        move(W, scale, M)


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
            room.h[:] = 0.0
            for x in range(p):
                for r in range(rank):
                    add(room.h[x], K[x, r], sides[i, r])
            _look(lanes, room, i)
        some = not lanes.linear and shifts(room.height, room.shift)
        in_K[:] = 0.0
        in_Q[:] = 0.0
        pulls[:] = 0.0
        for i in range(n):
            _pull(lanes, room, i, some)
            w[:] = 0.0
            for x in range(p):
                add(pulls, room.g[x], room.g[x])
                for r in range(rank):
                    add(w[r], K[x, r], room.g[x])
                    add(in_K[x, r], room.g[x], sides[i, r])
            for y in range(reach[i]):
                for r in range(rank):
                    add(in_Q[y, r], w[r], lanes.Z[i, y])
        scale[:] = 0.0
        squares(in_K, scale)
        squares(in_Q, scale)
        for b in range(L):
            square, log_scale = scale[b], -room.shift[b]
            if not pulls[b] > TINY:
                log_scale = rescue(lanes, room.A, b, lone)
                factors(lone, K[:, :, b].copy(), Q[:, :, b].copy(), lone_K, lone_Q)
                in_K[:, :, b] = lone_K
                in_Q[:, :, b] = lone_Q
                square = (lone_K**2).sum() + (lone_Q**2).sum()
            scale[b] = _scale(lanes.step[b], square, log_scale, lanes.normalised)
        move(K, scale, in_K)
        move(Q, scale, in_Q)


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
    """Descent on the head v (p, L) and W (q, p, L) at once, in place.

    Scores y_i <v, x_it> are made anew at every step.
    """
    X, Z, y, gamma, kept = lanes.X, lanes.Z, lanes.y, lanes.gamma, lanes.kept
    n, p, T, L = X.shape
    q = Z.shape[1]
    room, nothing, M, in_v = (
        _room(lanes),
        np.zeros((T, L)),
        np.empty((q, p, L)),
        np.empty((1, p, L)),
    )
    square, moved, scale, row = np.empty(L), np.empty(L), np.empty(L), 0
    lone, lone_v = np.empty((q, p)), np.empty(p)
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
            scores = gamma[i]
            attend(X[i], v, nothing, scores)
            for t in range(T):
                for b in range(L):
                    scores[t, b] *= y[i, b]
            project(W, Z[i], q, room.h)
            attend(X[i], room.h, lanes.base[i], room.A[i])
            soften(room.A[i], room.top[i], room.lead[i], room.S[i])
            _pull(lanes, room, i, False)
            spread_out(room.g, Z[i], q, M)
            factor = room.three[2]  # -l' over n and the sum of the exponentials
            factor *= y[i]
            spread(X[i], room.S[i], room.lead[i], True, room.three[0], room.h)
            for x in range(p):
                add(in_v[0, x], factor, room.h[x])
        square[:] = 0.0
        moved[:] = 0.0
        squares(in_v, square)
        squares(M, moved)
        for b in range(L):
            scale[b] = lanes.step[b]
            if not moved[b] > TINY:
                log_w, A = rescue(lanes, room.A, b, lone), room.A[:, :, b]
                log_v = _head_in_logs(X[:, :, :, b], y[:, b], gamma[:, :, b], A, lanes.loss, lone_v)
                top = max(log_w, log_v)
                if top > -np.inf:
                    lone *= np.exp(log_w - top)
                    lone_v *= np.exp(log_v - top)
                M[:, :, b] = lone
                in_v[0, :, b] = lone_v
                moved[b], square[b] = (lone**2).sum(), (lone_v**2).sum()
                scale[b] *= np.exp(top)
            if lanes.normalised:
                size = np.sqrt(moved[b] + square[b])
                scale[b] = lanes.step[b] / size if size > 0.0 else 0.0
        for x in range(p):
            add(v[x], in_v[0, x], scale)
        move(W, scale, M)
