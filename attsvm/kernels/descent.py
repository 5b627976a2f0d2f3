"""The gradient of one attention layer on one data set, compiled.

Tokens are stored twice, as `X` (n, p, T) and as `rows` (n, T, p). Coordinates are chosen such that
tokens and queries have as few entries p and q as possible. W is stored as q rows of p entries.
Every inner loop runs along memory and adds to separate entries. So it is vectorised as written, and
no result depends on the place of arrays in memory. Logits are base + x^T W z; absent tokens have
base = -inf.
"""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, inlined, separate
from attsvm.kernels.least_norm import write

LOSS_NUMBERS = {
    "log-loss": 0,
    "logistic-loss": 1,
    "exponential": 2,
    "correlation": 3,
    "logistic": 4,
    "squared": 5,
    "cubic": 6,
}
"""Code numbers of the losses in compiled loops."""

TINY = 1e-250
"""Minimum squared norm of a gradient; a smaller one is evaluated again in the log domain."""


@compiled
def slope(loss: int, u: float) -> float:
    """Return l'(u) for the loss with that code number."""
    if loss == 0:  # log-loss
        return -1.0 / (1.0 + np.exp(u))
    if loss == 3:  # correlation
        return -1.0
    if loss == 2:  # exponential
        return float(-np.exp(-u))
    if loss == 5:  # squared
        return -2.0 * (1.0 - u)
    if loss == 6:  # cubic
        return -3.0 * u * u
    e = np.exp(-abs(u))
    flat = e / (1.0 + e) ** 2
    return flat if loss == 4 else -flat


@compiled
def log_slope(loss: int, u: float) -> float:
    """Return log |l'(u)| for the loss with that code number."""
    if loss == 0:
        return -np.log1p(np.exp(u)) if u < 700.0 else -u
    if loss == 3:
        return 0.0
    if loss == 2:
        return -u
    if loss == 5:
        return np.log(2.0 * abs(1.0 - u))
    if loss == 6:
        return np.log(3.0) + 2.0 * np.log(abs(u))
    return -abs(u) - 2.0 * np.log1p(np.exp(-abs(u)))


@compiled
def sign_of_slope(loss: int, u: float) -> float:
    """Return the sign of l'(u), also if l'(u) underflows."""
    if loss == 4:  # logistic, increasing
        return 1.0
    if loss == 5:
        return float(np.sign(u - 1.0))
    return -1.0


@separate
def attend(X: Array, z: Array, W: Array, base: Array, a: Array, h: Array) -> None:
    """Write the logits of one input to `a`, and W z to `h`."""
    p, T = X.shape
    h[:] = 0.0
    for y in range(len(z)):
        zy = z[y]
        for x in range(p):
            h[x] += W[y, x] * zy
    write(base, a)
    for x in range(p):
        hx = h[x]
        for t in range(T):
            a[t] += X[x, t] * hx


@inlined
def leading(a: Array) -> int:
    """Return the index of the largest logit; the first one on a tie."""
    lead = 0
    for t in range(1, len(a)):
        if a[t] > a[lead]:
            lead = t
    return lead


@separate
def inner(a: Array, b: Array) -> float:
    """Return <a, b> of matrices, as one sum over even rows and one over odd rows."""
    rows, columns = a.shape
    even, odd = 0.0, 0.0
    for j in range(0, rows - 1, 2):
        for k in range(columns):
            even += a[j, k] * b[j, k]
            odd += a[j + 1, k] * b[j + 1, k]
    if rows % 2:
        for k in range(columns):
            even += a[rows - 1, k] * b[rows - 1, k]
    return even + odd


@separate
def copy(a: Array, out: Array) -> None:
    """Write the matrix `a` into `out`.

    numba compiles an array expression at each occurrence; this loop is compiled once.
    """
    for j in range(a.shape[0]):
        for k in range(a.shape[1]):
            out[j, k] = a[j, k]


@separate
def combine(x: float, a: Array, y: float, b: Array, out: Array) -> None:
    """Write x a + y b into `out`, which may be a or b."""
    for j in range(a.shape[0]):
        for k in range(a.shape[1]):
            out[j, k] = x * a[j, k] + y * b[j, k]


@separate
def scale(factor: float, a: Array) -> None:
    """Multiply a matrix in place."""
    for j in range(a.shape[0]):
        for k in range(a.shape[1]):
            a[j, k] *= factor


@separate
def negative_gradient(
    X: Array,
    rows: Array,
    Z: Array,
    gamma: Array,
    base: Array,
    W: Array,
    loss: int,
    M: Array,
    A: Array,
    h: Array,
    c: Array,
) -> float:
    """Write -grad L to M, and the logits of every input to A; return the squared norm of M.

    `h` and `c` are memory for p and T numbers.
    """
    n, p, T = X.shape
    q = Z.shape[1]
    M[:] = 0.0
    for i in range(n):
        Xi, z, g, a = X[i], Z[i], gamma[i], A[i]
        attend(Xi, z, W, base[i], a, h)
        lead = leading(a)
        top, best = a[lead], g[lead]
        total, deficit = 0.0, 0.0
        for t in range(T):
            s = np.exp(a[t] - top)
            c[t] = s
            total += s
            deficit += s * (best - g[t])
        deficit /= total
        f = -slope(loss, best - deficit) / (n * total)
        # gamma_t - <s, gamma> from differences to the leading token's score: at large norms <s,
        # gamma> rounds to `best`, and the difference would be 0 instead of tiny. For the same
        # reason x_lead is subtracted below, which changes nothing in exact arithmetic, as the
        # weights sum to 0.
        for t in range(T):
            c[t] = f * c[t] * ((g[t] - best) + deficit)
        h[:] = 0.0
        own = rows[i, lead]
        for t in range(T):
            weight, row = c[t], rows[i, t]
            for x in range(p):
                h[x] += weight * (row[x] - own[x])
        for y in range(q):
            zy = z[y]
            for x in range(p):
                M[y, x] += h[x] * zy
    return inner(M, M)


@separate
def log_negative_gradient(
    X: Array, Z: Array, gamma: Array, loss: int, M: Array, A: Array, sizes: Array
) -> float:
    """Write -grad L divided by exp(e) to M, from the logits A; return the exponent e.

    exp(e) is the largest effect: a token's weight times ||x_t - x_lead|| ||z||. If nothing moves W,
    e is -inf and M is 0. `sizes` receives log |weight| + log ||z|| by token, -inf for no effect.
    """
    n, p, T = X.shape
    signs, lengths, apart, h = np.zeros((n, T)), np.zeros(n), np.empty(T), np.empty(p)
    largest = -np.inf
    for i in range(n):
        Xi, g, a = X[i], gamma[i], A[i]
        lead = leading(a)
        best, total, deficit, height, tied = g[lead], 0.0, 0.0, -np.inf, False
        for t in range(T):
            s = np.exp(a[t] - a[lead])
            total += s
            deficit += s * (best - g[t])
            if g[t] != best and a[t] - a[lead] > height:
                height = a[t] - a[lead]
            tied |= g[t] == best and t != lead
        deficit /= total
        # A token with the leading token's score has the bracket `deficit`, which underflows once
        # all tokens of other scores have tiny weight. So exp(height) is taken out of it, where
        # `height` is the largest logit difference of these tokens.
        scaled = 0.0
        for t in range(T):
            if tied and g[t] != best and a[t] > -np.inf:
                scaled += np.exp(a[t] - a[lead] - height) * (best - g[t])
        scaled /= total
        for y in range(Z.shape[1]):
            lengths[i] += Z[i, y] ** 2
        factor = log_slope(loss, best - deficit) - np.log(n * total) + 0.5 * np.log(lengths[i])
        sign = -sign_of_slope(loss, best - deficit)
        apart[:] = 0.0
        for x in range(p):
            own = Xi[x, lead]
            for t in range(T):
                apart[t] += (Xi[x, t] - own) ** 2
        for t in range(T):
            sizes[i, t] = -np.inf
            if t == lead or apart[t] == 0.0 or a[t] == -np.inf or lengths[i] == 0.0:
                continue
            bracket, shift = (g[t] - best) + deficit, 0.0
            if g[t] == best:
                bracket, shift = scaled, height
            if bracket == 0.0:
                continue
            size = factor + a[t] - a[lead] + np.log(abs(bracket)) + shift
            sizes[i, t] = size
            signs[i, t] = sign if bracket > 0.0 else -sign
            largest = max(largest, size + 0.5 * np.log(apart[t]))
    M[:] = 0.0
    if largest == -np.inf:
        return largest
    for i in range(n):
        Xi, lead = X[i], leading(A[i])
        h[:] = 0.0
        for t in range(T):
            if sizes[i, t] == -np.inf:
                continue
            weight = signs[i, t] * np.exp(sizes[i, t] - largest) / np.sqrt(lengths[i])
            for x in range(p):
                h[x] += weight * (Xi[x, t] - Xi[x, lead])
        for y in range(Z.shape[1]):
            z = Z[i, y]
            for x in range(p):
                M[y, x] += h[x] * z
    return largest


@separate
def product(Q: Array, K: Array, W: Array) -> None:
    """Write Q K^T to W, always summed in the same order.

    The order in which libraries sum depends on the place of the arrays in memory.
    """
    for y in range(Q.shape[0]):
        for x in range(K.shape[0]):
            total = 0.0
            for s in range(K.shape[1]):
                total += Q[y, s] * K[x, s]
            W[y, x] = total


@separate
def factors(M: Array, K: Array, Q: Array, in_K: Array, in_Q: Array) -> None:
    """Write M^T Q to `in_K` and M K to `in_Q`: -grad in K and in Q for M = -grad in W."""
    q, p = M.shape
    in_K[:] = 0.0
    in_Q[:] = 0.0
    for y in range(q):
        for x in range(p):
            for s in range(K.shape[1]):
                in_K[x, s] += M[y, x] * Q[y, s]
                in_Q[y, s] += M[y, x] * K[x, s]
