"""Steps of descent for many data sets side by side, compiled; see `kernels.lanes.Lanes`.

The variable of descent is one array S: the change of W since its start (q, p, L); K (p, r, L) above
Q (q, r, L) with W = K Q^T; or the change of W and below it the head v as one more row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, compiled_for_many, separate
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
    """Arrays that one step writes to.

    Attributes:
        h: W z of one input (p, L).
        g: sum_t c_t (x_t - x_lead) of one input (p, L); -grad in W is the sum of g z^T.
        A, S: logits and exponentials (n, T, L).
        large: memory for exponentials and weights of one input (T, L).
        top, lead: largest logits and leading tokens (n, L).
        three: memory (3, L).
        height, shift: see `lanes.raise_heights` and `lanes.shifts` (L,).
        sides, w: Q^T z (n, r, L) and K^T g (r, L), for (K, Q).
        seen: squared norm of -grad in W (L,); for (K, Q) the sum of ||g||^2 over inputs.
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


@separate
def _look(lanes: Lanes, room: _Room, i: int) -> None:
    """Compute logits, exponentials and scores of input i, from `room.h` = W z."""
    a, s, gamma, hidden = room.A[i], room.S[i], lanes.gamma[i], lanes.hidden[i]
    attend(lanes.X[i], room.h, lanes.base[i], a)
    if not lanes.linear:
        exp_shifted(a, room.top[i], room.lead[i], s)
    if len(hidden) > 0:
        weights = a if lanes.linear else s
        relu_scores(weights, hidden, lanes.outer, lanes.y[i], room.three[0], gamma)
    if not lanes.linear:
        raise_heights(a, room.top[i], gamma, room.lead[i], room.height)


@separate
def _of_input(lanes: Lanes, room: _Room, i: int, some: bool) -> None:
    """Write sum_t c_t (x_t - x_lead) of input i to `room.g`, times exp(room.shift) if `some`."""
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


@separate
def _head_in_logs(X: Array, y: Array, gamma: Array, A: Array, loss: int, negative: Array) -> float:
    """Write -grad in v of one data set, divided by exp(e), to `negative` (p,); return e.

    exp(e) is the largest |l'| of an input.
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


@separate
def _negative_gradients(lanes: Lanes, room: _Room, kind: int, S: Array, M: Array) -> None:
    """Write minus the gradient in all variables, times exp(room.shift), to M."""
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
            for b in range(L):
                factor[b] *= lanes.y[i, b]
            spread(X[i], room.S[i], room.lead[i], True, room.three[0], room.h)
            for x in range(p):
                add(M[q, x], factor, room.h[x])
    if kind != FACTORS:
        squares(M[:q], room.seen)


@separate
def _log_domain_negative_gradient(
    lanes: Lanes, room: _Room, kind: int, S: Array, b: int
) -> tuple[Array, float]:
    """Return M and e with -grad = exp(e) M, for one lane, evaluated by logarithms."""
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
    lanes: Lanes, kind: int, S: Array, fixed: Array, constant: Array, numbers: Array, out: Array
) -> None:
    """Run descent on S, the variables of `kind`, in place.

    The iterates of the steps `kept` are written to `out`. With `goals`, the first iterates whose
    norm of W reaches each goal are written there instead, and their step numbers to `numbers`.
    `fixed` and `constant` are as in `_sizes`. The scores y_i <v, x_it> of a trained head are
    computed again at every step.
    """
    L, goals, kept = S.shape[2], lanes.goals, lanes.kept
    room, M = _room(lanes, S.shape[1]), np.empty(S.shape)
    scale, passed, row = np.empty(L), np.zeros(L, np.int64), 0
    for k in range(lanes.steps + 1):
        if len(goals) > 0:
            _sizes(S, kind, lanes.X.shape[1], fixed, constant, scale)
            keep(S, goals, k, scale, passed, numbers, out)
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
            # also for NaN: a gradient that underflowed or overflowed is evaluated by logarithms
            if not room.seen[b] > TINY:
                moved, log_scale = _log_domain_negative_gradient(lanes, room, kind, S, b)
                copy(moved, M[:, :, b])
                square = pair_all(moved, moved)
            scale[b] = _scale(lanes.step[b], square, log_scale, lanes.normalised)
        move(S, scale, M)


@separate
def _sizes(S: Array, kind: int, p: int, fixed: Array, constant: Array, size: Array) -> None:
    """Write the squared Frobenius norms of the whole W to `size`.

    S covers only the coordinates in which descent moves. For W, ||start + S||^2 = constant + 2
    <fixed, S> + ||S||^2: `constant` is ||start||^2, and `fixed` the start in these coordinates. For
    (K, Q), ||K Q^T||^2 = <K^T K, Q^T Q>. Coordinates that do not move add `fixed` to the two Gram
    matrices, one above the other, and `constant` is 0.
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


@separate
def keep(
    S: Array, goals: Array, k: int, size: Array, passed: Array, numbers: Array, out: Array
) -> None:
    """Write to `out` the lanes whose squared norm `size` has reached their next goals."""
    for b in range(S.shape[2]):
        while passed[b] < len(goals) and size[b] >= goals[passed[b]] ** 2:
            numbers[passed[b], b] = k
            copy(S[:, :, b], out[passed[b], :, :, b])
            passed[b] += 1


@compiled
def _scale(step: float, square: float, log_scale: float, normalised: bool) -> float:
    """Return the factor of a step along M, where -grad = exp(log_scale) M and ||M||^2 = square."""
    if normalised:
        return step / np.sqrt(square) if square > 0.0 else 0.0
    return step if log_scale == 0.0 else step * np.exp(log_scale)
