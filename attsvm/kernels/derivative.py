"""The derivative of the direction of descent, and systems with it, compiled.

With the negative gradient G = -grad L, its unit direction g and its scale s = ||G|| the derivative
of g is (I - g g^T) (S + R^T B R) / s. Rows R_j say how a logit difference to the leading token of
its input moves with the point, B is the derivative of the weights in these differences, input by
input, and S is zero for W and (dK, dQ) -> (M^T dQ, M dK) for (K, Q), M being -grad in W. Everything
is relative to the largest weight, so that nothing underflows. Rows that no longer count are left
out of this derivative, never out of the direction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, inlined
from attsvm.kernels.descent import combine, copy, factors, inner, leading
from attsvm.kernels.field import Field, Room

_MOST_ROWS = 1000
_COUNTS = 1e-9  # least effect of a row over one


class Linear(NamedTuple):
    """I - c g', factored: rows that count, what solves them, and a small dense system.

    Attributes:
        c: length of the stage over the scale of the gradient.
        E: (I - c^2 M^T M)^-1, of (K, Q).
        R: rows, each of the shape of points; last the covector (S + R^T B R) g.
        solved: (I - c S)^-1 times the rows; last times g.
        B: where row j is of an input, entries (j, k) of the derivative of its weights.
        LU, order: factors of the small system and its pivots.
    """

    c: float
    E: Array
    R: Array
    solved: Array
    B: Array
    LU: Array
    order: Array


@compiled
def _bend(loss: int, u: float) -> float:
    """l''(u) / l'(u) of the loss of that number."""
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


@inlined
def _add_product(factor: float, A: Array, B: Array, out: Array) -> None:
    """Add factor A B, summed in one order."""
    for x in range(A.shape[0]):
        for y in range(A.shape[1]):
            for k in range(B.shape[1]):
                out[x, k] += factor * A[x, y] * B[y, k]


@compiled
def _unmoved(field: Field, M: Array, c: float, E: Array, a: Array, out: Array) -> None:
    """(I - c S)^-1 a."""
    copy(a, out)
    if not field.both:
        return
    p = M.shape[1]
    _add_product(c, M.T, a[p:], out[:p])
    side = out[:p].copy()
    out[:p] = 0.0
    _add_product(1.0, E, side, out[:p])
    _add_product(c, M, out[:p], out[p:])


@compiled
def _inverse(M: Array, c: float) -> Array:
    """(I - c^2 M^T M)^-1."""
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


@compiled
def _factor(full: Array, order: Array) -> None:
    """LU factors with row pivots, in place; a singular matrix leaves infinities behind."""
    m = len(full)
    for k in range(m):
        best = k
        for j in range(k + 1, m):
            if abs(full[j, k]) > abs(full[best, k]):
                best = j
        order[k] = best
        if best != k:
            for x in range(m):
                full[k, x], full[best, x] = full[best, x], full[k, x]
        for j in range(k + 1, m):
            ratio = full[j, k] / full[k, k]
            full[j, k] = ratio
            if ratio != 0.0:
                for x in range(k + 1, m):
                    full[j, x] -= ratio * full[k, x]


@compiled
def _back(LU: Array, order: Array, b: Array) -> None:
    """Solve with the factors, in place."""
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
    """The derivative of the weights in the differences of logits, input by input.

    With s the softmax, f = -l' / n and c_t = s_t (gamma_t - <s, gamma>) the weights are f c_t and
    their derivative is f (diag(c) - s c^T - c s^T + (l''/l') c c^T), rows and columns of the
    leading token left out. All but s is over the largest effect.

    Attributes:
        lead: leading tokens (n,).
        s: softmax (n, T).
        c: f c_t (n, T).
        share: c_t l''/l' - s_t (n, T).
        reach: squared size of the rows of W (n, T).
    """

    lead: Array
    s: Array
    c: Array
    share: Array
    reach: Array


@compiled
def _weights(field: Field, room: Room) -> Weights:
    """The weights at a point whose gradient was just taken in the log domain."""
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
def _rows(field: Field, w: Weights, point: Array, inputs: Array, tokens: Array) -> Array:
    """How the differences of logits of those tokens move with the point; one row is left empty."""
    m, p, q = len(inputs), field.X.shape[1], field.Z.shape[1]
    R = np.zeros((m + 1, *point.shape))
    for j in range(m):
        i, t = inputs[j], tokens[j]
        z, own, lead = field.Z[i], field.rows[i, t], field.rows[i, w.lead[i]]
        if not field.both:
            for y in range(q):
                for x in range(p):
                    R[j, y, x] = z[y] * (own[x] - lead[x])
            continue
        for k in range(point.shape[1]):
            in_Q, in_K = 0.0, 0.0
            for y in range(q):
                in_Q += z[y] * point[p + y, k]
            for x in range(p):
                in_K += (own[x] - lead[x]) * point[x, k]
            for x in range(p):
                R[j, x, k] = (own[x] - lead[x]) * in_Q
            for y in range(q):
                R[j, p + y, k] = z[y] * in_K
    return R


@compiled
def _small(c: float, R: Array, solved: Array, B: Array, inputs: Array) -> Array:
    """The dense system of the rows' own parts of a solution; `inputs` are those of the rows."""
    m, (rows, columns) = len(B), R.shape[1:]
    turned = np.empty((rows, columns, m + 1))
    for j in range(m + 1):
        for x in range(rows):
            for y in range(columns):
                turned[x, y, j] = solved[j, x, y]
    full, products = np.zeros((m + 1, m + 1)), np.empty(m + 1)
    for j in range(m + 1):
        products[:] = 0.0
        for x in range(rows):
            for y in range(columns):
                own = c * R[j, x, y]
                for k in range(m + 1):
                    products[k] += own * turned[x, y, k]
        full[j, j] = 1.0
        full[j, m] += products[m]
        for k in range(m):
            other = k
            while other > 0 and inputs[other - 1] == inputs[k]:
                other -= 1
            while other < m and inputs[other] == inputs[k]:
                full[j, other] -= products[k] * B[k, other]
                other += 1
    return full


@compiled
def linear(field: Field, room: Room, point: Array, g: Array, step: float) -> Linear:
    """I - step g' at a point whose gradient was just taken in the log domain."""
    M, p = room.M, room.M.shape[1]
    negative, gain, E = M, 1.0, np.empty((0, 0))
    if field.both:
        negative, gain = np.empty(point.shape), inner(point, point)
        factors(M, point[:p], point[p:], negative[:p], negative[p:])
    c = step / np.sqrt(inner(negative, negative))
    if field.both:
        E = _inverse(M, c)
    w = _weights(field, room)
    n, T = w.c.shape
    inputs, tokens = np.empty(n * T, dtype=np.int64), np.empty(n * T, dtype=np.int64)
    m = 0
    for i in range(n):
        for t in range(T):
            if abs(w.c[i, t]) * w.reach[i, t] * gain * c > _COUNTS and m < _MOST_ROWS:
                inputs[m], tokens[m] = i, t
                m += 1
    R = _rows(field, w, point, inputs[:m], tokens[:m])
    solved, B, turned = np.empty(R.shape), np.zeros((m, m)), np.empty(m)
    for j in range(m):
        _unmoved(field, M, c, E, R[j], solved[j])
        turned[j] = inner(R[j], g)
        i, t = inputs[j], tokens[j]
        for k in range(m):
            if inputs[k] == i:
                u = tokens[k]
                B[j, k] = w.c[i, t] * w.share[i, u] - w.s[i, t] * w.c[i, u]
        B[j, j] += w.c[i, t]
    _unmoved(field, M, c, E, g, solved[m])
    if field.both:
        factors(M, g[:p], g[p:], R[m, :p], R[m, p:])
    for j in range(m):
        along = 0.0
        for k in range(m):
            along += B[j, k] * turned[k]
        combine(1.0, R[m], along, R[j], R[m])
    LU = _small(c, R, solved, B, inputs)
    order = np.empty(m + 1, dtype=np.int64)
    _factor(LU, order)
    return Linear(c, E, R, solved, B, LU, order)


@compiled
def solve(field: Field, M: Array, system: Linear, b: Array, out: Array) -> None:
    """(I - step g')^-1 b."""
    m = len(system.B)
    _unmoved(field, M, system.c, system.E, b, out)
    v = np.empty(m + 1)
    for j in range(m + 1):
        v[j] = inner(system.R[j], out)
    _back(system.LU, system.order, v)
    for j in range(m):
        along = 0.0
        for k in range(m):
            along += system.B[j, k] * v[k]
        combine(1.0, out, system.c * along, system.solved[j], out)
    combine(1.0, out, -system.c * v[m], system.solved[m], out)
