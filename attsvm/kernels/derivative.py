"""The derivative of the direction of descent, and linear systems with it, compiled.

Let G = -grad L, s = ||G|| and g = G / s. The derivative of g at the point is g' = (I - g g^T) (S +
R^T B R) / s.

- Row R_j is the derivative of a logit difference to the leading token of its input.
- B is the derivative of the weights in these differences, input by input.
- S is zero for W and (dK, dQ) -> (M^T dQ, M dK) for (K, Q), M being -grad in W.

All weights are divided by the largest effect of a weight, so that nothing underflows. Negligible
rows are left out of this derivative, never out of the direction: the derivative only guides
Newton's method, which ends by a check of the direction itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, separate
from attsvm.kernels.descent import combine, copy, factors, inner, leading
from attsvm.kernels.field import Field, Room

_MOST_ROWS = 1000  # maximum number of rows of a system; the time grows with its cube
_COUNTS = 1e-9  # minimum effect of a row on I - step g', relative to the identity


class Rows(NamedTuple):
    """The rows R_j that are not negligible, sorted by input, and the vectors that make up B.

    Let delta be a token minus the leading token of its input, and z the query. For W, R_j is z
    delta^T; for (K, Q) it is delta (Q^T z)^T above z (K^T delta)^T. Within an input, B = diag(c) -
    s c^T + c share^T.

    Attributes:
        inputs: the input of each row (m,).
        delta: tokens minus leading tokens (m, p).
        u: Q^T z of every input (n, r); r = 0 for W.
        v: K^T delta of every row (m, r); r = 0 for W.
        c, s, share: entries of `Weights` by row (m,).
    """

    inputs: Array
    delta: Array
    u: Array
    v: Array
    c: Array
    s: Array
    share: Array


class Linear(NamedTuple):
    """The matrix I - step g' of a stage, prepared for solving: see `linear`.

    Attributes:
        c: step / s, the length of the stage over the norm of the gradient.
        M: -grad L in W at the point, in units of the largest effect.
        E: (I - c^2 M^T M)^-1 for (K, Q); empty for W.
        rows: the rows R_j.
        across: (S + R^T B R) g.
        along: (I - c S)^-1 g.
        LU, order: factors of the small system and its row exchanges.
    """

    c: float
    M: Array
    E: Array
    rows: Rows
    across: Array
    along: Array
    LU: Array
    order: Array


@compiled
def _bend(loss: int, u: float) -> float:
    """Return l''(u) / l'(u) for the loss with that code number."""
    if loss == 0:  # log-loss
        return -1.0 / (1.0 + np.exp(-u))
    if loss == 2:  # exponential
        return -1.0
    if loss == 3:  # correlation
        return 0.0
    if loss == 5:  # squared
        return -1.0 / (1.0 - u)
    if loss == 6:  # cubic
        return 2.0 / u
    return -np.tanh(0.5 * u)


@separate
def _turned(A: Array) -> Array:
    """Return the transpose as a new array in row order."""
    out = np.empty((A.shape[1], A.shape[0]))
    for x in range(A.shape[0]):
        for y in range(A.shape[1]):
            out[y, x] = A[x, y]
    return out


@separate
def _add_product(factor: float, A: Array, B: Array, out: Array) -> None:
    """Add factor * A B to `out`, four columns of A at a time, always summed in the same order."""
    whole = A.shape[1] // 4 * 4
    for x in range(A.shape[0]):
        for y in range(0, whole, 4):
            a, b, c, d = (
                factor * A[x, y],
                factor * A[x, y + 1],
                factor * A[x, y + 2],
                factor * A[x, y + 3],
            )
            for k in range(B.shape[1]):
                out[x, k] = (
                    out[x, k] + a * B[y, k] + b * B[y + 1, k] + c * B[y + 2, k] + d * B[y + 3, k]
                )
        for y in range(whole, A.shape[1]):
            a = factor * A[x, y]
            for k in range(B.shape[1]):
                out[x, k] += a * B[y, k]


@separate
def _unmoved(field: Field, M: Array, c: float, E: Array, a: Array, out: Array) -> None:
    """Write (I - c S)^-1 a to `out`."""
    copy(a, out)
    if not field.both:  # S = 0
        return
    # The system is x_K - c M^T x_Q = a_K, x_Q - c M x_K = a_Q. Putting the second equation into the
    # first one gives (I - c^2 M^T M) x_K = a_K + c M^T a_Q.
    p = M.shape[1]
    _add_product(c, M.T, a[p:], out[:p])
    side = out[:p].copy()
    out[:p] = 0.0
    _add_product(1.0, E, side, out[:p])
    _add_product(c, M, out[:p], out[p:])


@separate
def _inverse(M: Array, c: float) -> Array:
    """Return (I - c^2 M^T M)^-1."""
    p = M.shape[1]
    full = np.zeros((p, p))
    _add_product(-c * c, M.T, M, full)
    for x in range(p):
        full[x, x] += 1.0
    order = np.empty(p, dtype=np.int64)
    _factor(full, order)
    E = np.zeros((p, p))
    for x in range(p):
        E[x, x] = 1.0
        _back(full, order, E[x])  # symmetric: rows are columns
    return E


@separate
def _factor(full: Array, order: Array) -> None:
    """Factor into L U with row exchanges, in place.

    A singular matrix leaves infinities. The stage that uses them is then refused, and its step made
    shorter.
    """
    m, top = len(full), np.empty(len(full))
    for k in range(m):
        best = k
        for j in range(k + 1, m):
            if abs(full[j, k]) > abs(full[best, k]):
                best = j
        order[k] = best
        if best != k:
            for x in range(m):
                full[k, x], full[best, x] = full[best, x], full[k, x]
        for x in range(k + 1, m):
            top[x] = full[k, x]
        for j in range(k + 1, m):
            ratio = full[j, k] / full[k, k]
            full[j, k] = ratio
            if ratio != 0.0:
                for x in range(k + 1, m):
                    full[j, x] -= ratio * top[x]


@separate
def _back(LU: Array, order: Array, b: Array) -> None:
    """Replace b by the solution of L U x = b, with the row exchanges `order`."""
    m = len(LU)
    for k in range(m):
        best = order[k]
        b[k], b[best] = b[best], b[k]
    for k in range(m):
        for j in range(k):
            b[k] -= LU[k, j] * b[j]
    for k in range(m - 1, -1, -1):
        for j in range(k + 1, m):
            b[k] -= LU[k, j] * b[j]
        b[k] /= LU[k, k]


class Weights(NamedTuple):
    """The weights of the tokens in -grad L, and their derivative in differences of logits.

    Let s be the softmax, f = -l' / n and c_t = s_t (gamma_t - <s, gamma>). The weights are f c_t,
    and their derivative is f (diag(c) - s c^T - c s^T + (l''/l') c c^T), without the row and the
    column of the leading token.

    Attributes:
        lead: leading tokens (n,).
        s: softmax (n, T).
        c: f c_t over the largest effect of a weight (n, T).
        share: c_t l''/l' - s_t (n, T).
        reach: squared norms of the rows R_j for W (n, T).
    """

    lead: Array
    s: Array
    c: Array
    share: Array
    reach: Array


@compiled
def _weights(field: Field, room: Room) -> Weights:
    """Return the weights at the point at which `direction` was last called with `logs`."""
    n, p, T = field.X.shape
    lead = np.zeros(n, dtype=np.int64)
    zeros = np.zeros((4, n, T))
    s, c, share, reach = zeros[0], zeros[1], zeros[2], zeros[3]
    for i in range(n):
        a, g = room.A[i], field.gamma[i]
        lead[i] = leading(a)
        best, total, deficit, length = g[lead[i]], 0.0, 0.0, 0.0
        for y in range(field.Z.shape[1]):
            length += field.Z[i, y] ** 2
        for t in range(T):
            s[i, t] = np.exp(a[t] - a[lead[i]])
            total += s[i, t]
            deficit += s[i, t] * (best - g[t])
        deficit /= total
        bend = _bend(field.loss, best - deficit)
        rising = field.loss == 4 or (field.loss == 5 and best - deficit > 1.0)
        for t in range(T):
            s[i, t] /= total
            share[i, t] = bend * s[i, t] * ((g[t] - best) + deficit) - s[i, t]
            if t == lead[i] or room.sizes[i, t] == -np.inf:
                continue
            up = g[t] == best or (g[t] - best) + deficit > 0.0
            size = np.exp(room.sizes[i, t] - room.top[0]) / np.sqrt(length)
            c[i, t] = -size if up == rising else size
            for x in range(p):
                reach[i, t] += length * (field.X[i, x, t] - field.X[i, x, lead[i]]) ** 2
    return Weights(lead, s, c, share, reach)


@compiled
def _rows(field: Field, w: Weights, point: Array, size: float) -> Rows:
    """Return the rows whose effect times `size` exceeds `_COUNTS`: the first `_MOST_ROWS`."""
    n, p, T = field.X.shape
    r = point.shape[1] if field.both else 0
    inputs, tokens, m = np.empty(n * T, dtype=np.int64), np.empty(n * T, dtype=np.int64), 0
    for i in range(n):
        for t in range(T):
            if abs(w.c[i, t]) * w.reach[i, t] * size > _COUNTS and m < _MOST_ROWS:
                inputs[m], tokens[m] = i, t
                m += 1
    delta, u, v, own = np.empty((m, p)), np.zeros((n, r)), np.zeros((m, r)), np.empty((3, m))
    if field.both:
        _add_product(1.0, field.Z, point[p:], u)
    for j in range(m):
        i, t = inputs[j], tokens[j]
        token, lead = field.rows[i, t], field.rows[i, w.lead[i]]
        for x in range(p):
            delta[j, x] = token[x] - lead[x]
        own[0, j], own[1, j], own[2, j] = w.c[i, t], w.s[i, t], w.share[i, t]
    if field.both:
        _add_product(1.0, delta, point[:p], v)
    return Rows(inputs[:m], delta, u, v, own[0], own[1], own[2])


@separate
def _moves(field: Field, rows: Rows, change: Array, out: Array) -> None:
    """Write <R_j, change> to `out`: the changes of logit differences when the point changes."""
    p, at = rows.delta.shape[1], -1
    h, e = np.empty(p), np.empty(rows.v.shape[1])
    for j in range(len(rows.inputs)):
        if rows.inputs[j] != at:
            at = rows.inputs[j]
            h[:] = 0.0
            e[:] = 0.0
            for y in range(field.Z.shape[1]):
                z = field.Z[at, y]
                if field.both:
                    for k in range(len(e)):
                        e[k] += z * change[p + y, k]
                else:
                    for x in range(p):
                        h[x] += z * change[y, x]
            if field.both:
                for x in range(p):
                    for k in range(len(e)):
                        h[x] += change[x, k] * rows.u[at, k]
        moved = 0.0
        for x in range(p):
            moved += rows.delta[j, x] * h[x]
        for k in range(len(e)):
            moved += rows.v[j, k] * e[k]
        out[j] = moved


@separate
def _add_rows(field: Field, rows: Rows, weights: Array, out: Array) -> None:
    """Add sum_j weights_j R_j to `out`."""
    m, p = rows.delta.shape
    h, e, j = np.empty(p), np.empty(rows.v.shape[1]), 0
    while j < m:
        at = rows.inputs[j]
        h[:] = 0.0
        e[:] = 0.0
        while j < m and rows.inputs[j] == at:
            weight = weights[j]
            for x in range(p):
                h[x] += weight * rows.delta[j, x]
            for k in range(len(e)):
                e[k] += weight * rows.v[j, k]
            j += 1
        for y in range(field.Z.shape[1]):
            z = field.Z[at, y]
            if field.both:
                for k in range(len(e)):
                    out[p + y, k] += z * e[k]
            else:
                for x in range(p):
                    out[y, x] += z * h[x]
        if field.both:
            for x in range(p):
                for k in range(len(e)):
                    out[x, k] += h[x] * rows.u[at, k]


@separate
def _weigh(rows: Rows, moved: Array, out: Array) -> None:
    """Write B times `moved` to `out`: the changes of the weights of the rows."""
    m, j = len(rows.inputs), 0
    while j < m:
        first, by_share, by_c = j, 0.0, 0.0
        while j < m and rows.inputs[j] == rows.inputs[first]:
            by_share += rows.share[j] * moved[j]
            by_c += rows.c[j] * moved[j]
            j += 1
        for k in range(first, j):
            out[k] = rows.c[k] * (moved[k] + by_share) - rows.s[k] * by_c


@compiled
def _products(field: Field, rows: Rows, M: Array, c: float, E: Array, out: Array) -> None:
    """Write <R_j, (I - c S)^-1 R_k> to `out`.

    The rows have rank 1 or 2, so inner products of their factors suffice.
    """
    m, p = rows.delta.shape
    n = len(field.Z)
    left, us, queries = rows.delta, np.empty((n, n)), np.zeros((n, n))
    by_u, by_query = np.zeros((m, n)), np.zeros((m, n))
    first, second = np.zeros((m, m)), np.zeros((m, m))
    _add_product(1.0, field.Z, _turned(field.Z), queries)
    if field.both:
        left, us = np.zeros((m, p)), np.zeros((n, n))
        ahead, back = np.zeros((n, p)), np.zeros((n, p))
        _add_product(c, field.Z, M, ahead)
        _add_product(1.0, ahead, E, back)
        _add_product(1.0, ahead, _turned(back), queries)
        _add_product(1.0, rows.delta, _turned(back), by_query)
        _add_product(1.0, rows.delta, E, left)
        _add_product(1.0, rows.u, _turned(rows.u), us)
        _add_product(1.0, rows.v, _turned(rows.u), by_u)
        _add_product(1.0, rows.v, _turned(rows.v), second)
    _add_product(1.0, left, _turned(rows.delta), first)
    for j in range(m):
        i = rows.inputs[j]
        for k in range(m):
            o = rows.inputs[k]
            if field.both:
                crossed = by_query[j, o] * by_u[k, i] + by_query[k, i] * by_u[j, o]
                out[j, k] = first[j, k] * us[i, o] + crossed + queries[i, o] * second[j, k]
            else:
                out[j, k] = first[j, k] * queries[i, o]


@compiled
def _small(c: float, rows: Rows, products: Array, full: Array) -> None:
    """Write I - c * products B to `full`; its last column is left at that of the identity."""
    m = len(rows.inputs)
    for j in range(m + 1):
        own, first = products[j], 0
        while first < m:
            last, by_c, by_s = first, 0.0, 0.0
            while last < m and rows.inputs[last] == rows.inputs[first]:
                by_c += own[last] * rows.c[last]
                by_s += own[last] * rows.s[last]
                last += 1
            for k in range(first, last):
                full[j, k] = -c * ((own[k] - by_s) * rows.c[k] + by_c * rows.share[k])
            first = last
        full[j, m] = 0.0
        full[j, j] += 1.0


@separate
def linear(field: Field, room: Room, point: Array, g: Array, step: float) -> Linear:
    """Return the system I - step g' at the point at which `direction` was last called with `logs`.

    As B and S are symmetric, it is (I - c S) - c R^T B R + c g a^T with a = (S + R^T B R) g and c =
    step / s. This changes I - c S, which is easy to invert, by m + 1 ranks. So a solution x of the
    system with right side b follows from the m + 1 numbers y = (R x, <a, x>): x = (I - c S)^-1 (b +
    c R^T B y - c g y_m). Applying R and a to both sides gives a system of m + 1 equations for y
    (the formula of Sherman, Morrison and Woodbury).
    """
    M, p = room.M, room.M.shape[1]
    across, along, turned = np.zeros(point.shape), np.empty(point.shape), np.empty(point.shape)
    negative, gain, E = M, 1.0, np.empty((0, 0))
    if field.both:
        negative, gain = along, inner(point, point)
        factors(M, point[:p], point[p:], negative[:p], negative[p:])
    c = step / np.sqrt(inner(negative, negative))
    if field.both:
        E = _inverse(M, c)
        factors(M, g[:p], g[p:], across[:p], across[p:])
    rows = _rows(field, _weights(field, room), point, gain * c)
    m = len(rows.inputs)
    moved, weighed, order = np.empty(m), np.empty(m), np.empty(m + 1, dtype=np.int64)
    products, full = np.empty((m + 1, m)), np.empty((m + 1, m + 1))
    _moves(field, rows, g, moved)
    _weigh(rows, moved, weighed)
    _add_rows(field, rows, weighed, across)
    _unmoved(field, M, c, E, g, along)
    _unmoved(field, M, c, E, across, turned)
    _products(field, rows, M, c, E, products)
    _moves(field, rows, turned, products[m])
    _small(c, rows, products, full)
    _moves(field, rows, along, moved)
    for j in range(m):
        full[j, m] = c * moved[j]
    full[m, m] += c * inner(across, along)
    _factor(full, order)
    return Linear(c, M.copy(), E, rows, across, along, full, order)


@separate
def solve(field: Field, system: Linear, b: Array, out: Array) -> None:
    """Write (I - step g')^-1 b to `out`, as derived in `linear`."""
    c, rows = system.c, system.rows
    m, whole = len(rows.inputs), b.copy()
    moved, weighed = np.empty(m + 1), np.empty(m)
    _unmoved(field, system.M, c, system.E, b, out)
    _moves(field, rows, out, moved)
    moved[m] = inner(system.across, out)
    _back(system.LU, system.order, moved)
    _weigh(rows, moved, weighed)
    for j in range(m):
        weighed[j] *= c
    _add_rows(field, rows, weighed, whole)
    _unmoved(field, system.M, c, system.E, whole, out)
    combine(1.0, out, -c * moved[m], system.along, out)
