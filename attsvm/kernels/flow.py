"""The curve of descent by arc length, compiled; tokens and queries as in `kernels.descent`."""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.descent import TINY, log_pull, pull

__all__ = ["follow"]


@compiled
def _direction(
    X: Array,
    rows: Array,
    Z: Array,
    gamma: Array,
    base: Array,
    W: Array,
    loss: int,
    M: Array,
    A: Array,
    sizes: Array,
    h: Array,
    c: Array,
) -> float:
    """The unit direction of descent into M, and log ||grad L||; minus infinity where it is zero."""
    square = pull(X, rows, Z, gamma, base, W, loss, M, A, h, c)
    log_scale = 0.0
    if not square > TINY:
        log_scale = log_pull(X, Z, gamma, loss, M, A, sizes)
        square = (M**2).sum()
    if not square > 0.0:
        M[:] = 0.0
        return -np.inf
    M /= np.sqrt(square)
    return log_scale + 0.5 * np.log(square)


@compiled
def follow(
    X: Array,
    rows: Array,
    Z: Array,
    gamma: Array,
    base: Array,
    start: Array,
    constant: float,
    W: Array,
    loss: int,
    norms: Array,
    unit: float,
    limit: int,
    out: Array,
    counts: Array,
    times: Array,
) -> int:
    """Normalised steps of controlled length; iterates that first pass each norm go to `out`.

    W (q, p) is what was added to a start of squared norm `constant` whose part in these
    coordinates is `start`. Returns how many norms were passed.
    """
    n, p, T = X.shape
    q = Z.shape[1]
    g, ahead_g, ahead = np.empty((q, p)), np.empty((q, p)), np.empty((q, p))
    A, sizes = np.empty((n, T)), np.empty((n, T))
    h, c = np.empty(p), np.empty(T)
    log_size = _direction(X, rows, Z, gamma, base, W, loss, g, A, sizes, h, c)
    step, ceiling, log_time, passed = unit, np.inf, -np.inf, 0
    size = np.sqrt(constant)
    first = size
    for k in range(1, limit + 1):
        if passed == len(norms) or log_size == -np.inf:
            break
        step = min(step, max(2.0 * unit, 0.01 * size))
        ahead[:] = W + step * g
        log_ahead = _direction(X, rows, Z, gamma, base, ahead, loss, ahead_g, A, sizes, h, c)
        cosine = (g * ahead_g).sum()
        if cosine < 0.99 and step > 1e-4 * unit:
            ceiling, step = 0.7 * step, 0.5 * step
            continue
        if log_ahead == -np.inf:
            break
        # dt = ds / ||grad L||, the logarithm of the norm being linear along the step
        fall = log_size - log_ahead
        spent = np.log(step) - log_size
        if fall != 0.0:
            spent += np.log(np.expm1(fall) / fall) if fall < 700.0 else fall - np.log(fall)
        top = max(log_time, spent)
        log_time = top + np.log(np.exp(log_time - top) + np.exp(spent - top))
        W[:] = ahead
        g[:] = ahead_g
        log_size = log_ahead
        ceiling *= 1.001
        if cosine > 0.999:
            step = min(1.3 * step, ceiling)
        size = np.sqrt(constant + 2.0 * (start * W).sum() + (W**2).sum())
        while passed < len(norms) and size >= norms[passed] and size > first:
            out[passed] = W
            counts[passed], times[passed] = k, log_time
            passed += 1
    return passed
