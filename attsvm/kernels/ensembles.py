"""Steps of descent for many data sets side by side, compiled; see `kernels.lanes.Lanes`.

The variable of descent is one array: W (q, p, L), K (p, r, L) above Q (q, r, L) with W = K Q^T, or
W and below it the head v as one more row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, compiled_for_many
from attsvm.kernels.descent import TINY, copy, factors, leading, log_slope, scale, sign_of_slope
from attsvm.kernels.lanes import (
    Lanes,
    add,
    add_outer,
    attend,
    exp_scaled,
    exp_shifted,
    gradient_weights,
    linear_gradient_weights,
    log_domain_gradient,
    move,
    project,
    raise_heights,
    relu_scores,
    shifts,
    spread,
    squares,
)
from attsvm.kernels.least_norm import pair_all, write

WEIGHTS, FACTORS, JOINT = 0, 1, 2
"""Code numbers of the variables of descent: W, (K, Q), or W with the head v."""


class _Room(NamedTuple):
    """Arrays that one step writes to: W z, an input's part of -grad, logits, exponentials and more.

    `sides` (n, r, L) and `w` (r, L) are Q^T z and K^T g, `seen` the squared size of -grad in W.
    """

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
    sides: Array
    w: Array
    seen: Array


@compiled
def _room(lanes: Lanes, r: int) -> _Room:
    n, p, T, L = lanes.X.shape
    return _Room(
        np.empty((p, L)), np.empty((p, L)), np.empty((n, T, L)), np.empty((n, T, L)),
        np.empty((T, L)), np.empty((n, L)), np.empty((n, L), np.int64), np.empty((3, L)),
        np.empty(L), np.zeros(L), np.empty((n, r, L)), np.empty((r, L)), np.empty(L),
    )  # fmt: skip


@compiled
def _look(lanes: Lanes, room: _Room, i: int) -> None:
    """Compute logits, exponentials and scores of input i, from h = W z."""
    a, s, gamma, hidden = room.A[i], room.S[i], lanes.gamma[i], lanes.hidden[i]
    attend(lanes.X[i], room.h, lanes.base[i], a)
    if not lanes.linear:
        exp_shifted(a, room.top[i], room.lead[i], s)
    if len(hidden) > 0:
        weights = a if lanes.linear else s
        relu_scores(weights, hidden, lanes.outer, lanes.y[i], room.three[0], gamma)
    if not lanes.linear:
        raise_heights(a, room.top[i], gamma, room.lead[i], room.height)


@compiled
def _of_input(lanes: Lanes, room: _Room, i: int, some: bool) -> None:
    """Write the part of -grad that input i adds, sum_t c_t (x_t - x_lead), to g (p, L)."""
    n, large, lead, three = len(lanes.X), room.large, room.lead[i], room.three
    if lanes.linear:
        linear_gradient_weights(room.A[i], lanes.gamma[i], lanes.loss, n, three[0], three[1], large)
    else:
        if some:
            exp_scaled(room.A[i], room.top[i], room.shift, large)
        else:
            copy(room.S[i], large)
        gradient_weights(
            lanes.gamma[i], lead, lanes.loss, n, room.shift, three[0], three[1], three[2],
            room.S[i], large,
        )  # fmt: skip
    spread(lanes.X[i], large, lead, lanes.linear, three[0], room.g)


@compiled
def _head_in_logs(X: Array, y: Array, gamma: Array, A: Array, loss: int, negative: Array) -> float:
    """Write -grad in v of one data set to `negative` (p).

    Return its largest exponent, taken out.
    """
    n, p, T = X.shape
    negative[:] = 0.0
    largest = -np.inf
    for turn in range(2):
        for i in range(n):
            top, total, mean = A[i, leading(A[i])], 0.0, 0.0
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
                        negative[x] += factor * np.exp(A[i, t] - top) * X[i, x, t]
    return largest


@compiled
def _negative_gradients(lanes: Lanes, room: _Room, kind: int, S: Array, M: Array) -> None:
    """Write minus the gradient in all variables to M, over exp(room.shift)."""
    X, Z, reach = lanes.X, lanes.Z, lanes.reach
    n, p, T, L = X.shape
    q, rank, nothing = Z.shape[1], S.shape[1], np.zeros((T, L))
    room.height[:] = -np.inf
    for i in range(n):
        if kind == JOINT:
            attend(X[i], S[q], nothing, lanes.gamma[i])
            for t in range(T):
                for b in range(L):
                    lanes.gamma[i, t, b] *= lanes.y[i, b]
        if kind == FACTORS:
            project(S[p:], Z[i], reach[i], room.sides[i])
            room.h[:] = 0.0
            for x in range(p):
                for r in range(rank):
                    add(room.h[x], S[x, r], room.sides[i, r])
        else:
            project(S, Z[i], reach[i], room.h)
        _look(lanes, room, i)
    some = not lanes.linear and kind != JOINT and shifts(room.height, room.shift)
    M[:] = 0.0
    room.seen[:] = 0.0
    for i in range(n):
        _of_input(lanes, room, i, some)
        if kind == FACTORS:
            room.w[:] = 0.0
            for x in range(p):
                add(room.seen, room.g[x], room.g[x])
                for r in range(rank):
                    add(room.w[r], S[x, r], room.g[x])
                    add(M[x, r], room.g[x], room.sides[i, r])
            add_outer(room.w, Z[i], reach[i], M[p:])
            continue
        add_outer(room.g, Z[i], reach[i], M)
        if kind == JOINT:
            factor = room.three[2]  # -l' over n and the sum of the exponentials
            factor *= lanes.y[i]
            spread(X[i], room.S[i], room.lead[i], True, room.three[0], room.h)
            for x in range(p):
                add(M[q, x], factor, room.h[x])
    if kind != FACTORS:
        squares(M[:q], room.seen)


@compiled
def _needs_log_domain(
    lanes: Lanes, room: _Room, kind: int, S: Array, b: int
) -> tuple[Array, float]:
    """Return minus the gradient of one lane by logarithms, and the largest exponent, taken out."""
    p, q = lanes.X.shape[1], lanes.Z.shape[1]
    M, moved = np.empty((q, p)), np.empty((S.shape[0], S.shape[1]))
    top = log_domain_gradient(lanes, room.A, b, M)
    if kind == FACTORS:
        side = S[:, :, b].copy()
        factors(M, side[:p], side[p:], moved[:p], moved[p:])
        return moved, top
    copy(M, moved)
    if kind == JOINT:
        X, gamma, A = lanes.X[:, :, :, b], lanes.gamma[:, :, b], room.A[:, :, b]
        log_w, log_v = top, _head_in_logs(X, lanes.y[:, b], gamma, A, lanes.loss, moved[q])
        top = max(log_w, log_v)
        if top > -np.inf:
            scale(np.exp(log_w - top), moved[:q])
            scale(np.exp(log_v - top), moved[q:])
    return moved, top


@compiled_for_many
def descend(
    lanes: Lanes, kind: int, S: Array, fixed: Array, constant: Array, taken: Array, out: Array
) -> None:
    """Run descent on S, the variables of `kind`, in place.

    Iterates go to `out` at the steps `kept`. With `goals` they go there when the norm of W first
    passes each goal, with the step number in `taken`. `fixed` and `constant` are as in `_sizes`.
    The scores y_i <v, x_it> of a trained head are computed again at every step.
    """
    L, goals, kept = S.shape[2], lanes.goals, lanes.kept
    room, M = _room(lanes, S.shape[1]), np.empty(S.shape)
    scale, passed, row = np.empty(L), np.zeros(L, np.int64), 0
    for k in range(lanes.steps + 1):
        if len(goals) > 0:
            _sizes(S, kind, lanes.X.shape[1], fixed, constant, scale)
            keep(S, goals, k, scale, passed, taken, out)
            ahead = 0
            for b in range(L):
                ahead += len(goals) - passed[b]
            if ahead == 0:
                break
        elif row < len(kept) and kept[row] == k:
            for j in range(S.shape[0]):
                copy(S[j], out[row, j])
            row += 1
        if k == lanes.steps:
            break
        _negative_gradients(lanes, room, kind, S, M)
        scale[:] = 0.0
        squares(M, scale)
        for b in range(L):
            square, log_scale = scale[b], -room.shift[b]
            if not room.seen[b] > TINY:
                moved, log_scale = _needs_log_domain(lanes, room, kind, S, b)
                copy(moved, M[:, :, b])
                square = pair_all(moved, moved)
            scale[b] = _scale(lanes.step[b], square, log_scale, lanes.normalised)
        move(S, scale, M)


@compiled
def _sizes(S: Array, kind: int, p: int, fixed: Array, constant: Array, size: Array) -> None:
    """Compute the squared norms of W in full.

    For W, `fixed` is the part of the start in these coordinates, and `constant` its squared norm in
    full. For (K, Q), `constant` is <K^T K, Q^T Q>, and `fixed` the part of other coordinates in K^T
    K and, below it, in Q^T Q.
    """
    rows, columns, L = S.shape
    write(constant, size)
    for b in range(L):
        if kind == WEIGHTS:
            for y in range(rows):
                for x in range(columns):
                    size[b] += S[y, x, b] * (S[y, x, b] + 2.0 * fixed[y, x, b])
            continue
        for s in range(columns):
            for t in range(columns):
                left, right = fixed[s, t, b], fixed[columns + s, t, b]
                for x in range(p):
                    left += S[x, s, b] * S[x, t, b]
                for y in range(p, rows):
                    right += S[y, s, b] * S[y, t, b]
                size[b] += left * right


@compiled
def keep(
    S: Array, goals: Array, k: int, size: Array, passed: Array, taken: Array, out: Array
) -> None:
    """Keep the lanes whose squared norm `size` passes their next goal."""
    for b in range(S.shape[2]):
        while passed[b] < len(goals) and size[b] >= goals[passed[b]] ** 2:
            taken[passed[b], b] = k
            copy(S[:, :, b], out[passed[b], :, :, b])
            passed[b] += 1


@compiled
def _scale(step: float, square: float, log_scale: float, normalised: bool) -> float:
    """Return the factor of a gradient of that squared norm, whose exponent was taken out."""
    if normalised:
        return step / np.sqrt(square) if square > 0.0 else 0.0
    return step if log_scale == 0.0 else step * np.exp(log_scale)
