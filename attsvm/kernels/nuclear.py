"""A primal-dual interior-point method for the nuclear-norm programme, in matrices of q columns.

    max c^T w  subject to  ||S||_op <= 1,  S = sum_j w_j a_j b_j^T,  w >= 0,

is the dual of min ||W||_* subject to a_j^T W b_j >= c_j. Written as I - S^T S >= 0 with a
multiplier T >= 0 of size q, its central path is

    a_j^T (2 S T) b_j - s_j = c_j,   w_j s_j = mu,   T (I - S^T S) = mu I,

and W = 2 S T is the primal solution. Newton steps on these equations, the last one symmetrised,
with Mehrotra's correction cost m^2 q, whatever the length of the a_j. No result is trusted:
callers recompute every figure from w and W.
"""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled
from attsvm.kernels.descent import copy
from attsvm.kernels.least_norm import largest_entry, pair, pair_all, pair_rows, solve, times_rows

SOLVED, UNBOUNDED, STUCK = 0, 1, 2

HOPELESS = 1e13
"""Upper bound of dual values: above it float64 cannot distinguish a solution from none."""

BLOCK = 48
"""Number of columns that `_factor` eliminates together, so that library products do most work."""


@compiled
def _factor(M: Array, floor: float) -> bool:
    """Replace M by its Cholesky factor, in the lower triangle; return whether M was definite.

    M counts as positive definite if all pivots exceed `floor`. A smaller pivot, of a variable that
    rounding cannot separate from earlier ones, becomes infinite: the solution is then 0 there.
    """
    m, whole = M.shape[0], True
    for start in range(0, m, BLOCK):
        stop = min(start + BLOCK, m)
        left = np.ascontiguousarray(M[start:, :start])
        panel = M[start:, start:stop] - np.dot(left, left[: stop - start].T)
        for k in range(stop - start):
            passed = panel[k, k] > floor
            panel[k, k] = np.sqrt(panel[k, k]) if passed else np.inf
            whole &= passed
            for i in range(k + 1, m - start):
                panel[i, k] = panel[i, k] / panel[k, k] if passed else 0.0
            column = panel[:, k].copy()
            for i in range(k + 1, m - start):
                for j in range(k + 1, min(i + 1, stop - start)):
                    panel[i, j] -= column[i] * column[j]
        copy(panel, M[start:, start:stop])
    return whole


@compiled
def _inverse(Z: Array) -> Array:
    """Return the inverse of a positive definite matrix, symmetric to the last bit."""
    q = Z.shape[0]
    L = Z.copy()
    _factor(L, 0.0)
    lower = np.zeros((q, q))  # inverse of L, row by row
    for i in range(q):
        for k in range(i):
            x = L[i, k]
            for j in range(k + 1):
                lower[i, j] -= x * lower[k, j]
        for j in range(i):
            lower[i, j] /= L[i, i]
        lower[i, i] = 1.0 / L[i, i]
    inverse: Array = np.dot(lower.T, lower)
    return inverse


@compiled
def _reach(Z: Array, slope: Array, bend: Array, limit: float) -> float:
    """Return a nearly maximal step t up to the limit with Z + t slope + t^2 bend > 0.

    The steps with this property are an interval from 0 on, as I - S^T S > 0 means ||S||_op < 1 and
    S is affine in t. So bisection is valid. It stops at an interval of 5% of the step.
    """
    low, high, t = 0.0, limit, limit
    for _ in range(41):
        if _factor(Z + t * slope + (t * t) * bend, 0.0):
            low = t
            if high - low <= 0.05 * low:
                break
        else:
            high = t
        t = 0.6 * high if low == 0.0 else 0.5 * (low + high)
    return low


@compiled
def _ratio(x: Array, step: Array, limit: float) -> float:
    """Return the longest step up to the limit that keeps x nonnegative."""
    for j in range(x.shape[0]):
        if step[j] < 0.0:
            limit = min(limit, -x[j] / step[j])
    return limit


@compiled
def _symmetric(A: Array) -> Array:
    return 0.5 * (A + A.T)


@compiled
def _schur(K: Array, b: Array, G: Array, T: Array, P: Array, scaling: Array) -> Array:
    """Return the matrix of the Newton step in w, in the lower triangle.

    `K` has the <a_j, a_k>, `G` the rows g_j = S^T a_j, `P` is Z^-1 for Z = I - S^T S, and `scaling`
    is s / w. The linearised equation T Z = aim gives dT = aim P - T - sym(T dZ P), with dZ =
    -sum_k dw_k (b_k g_k^T + g_k b_k^T). Put into a_j^T 2 (dS T + S dT) b_j - ds_j, the coefficient
    of dw_k is 2 <a_j, a_k> b_j^T T b_k + g_j^T (T N P + P N T) b_j with N = b_k g_k^T + g_k b_k^T.
    The last summand has four terms, each a product of two bilinear forms.
    """
    m = b.shape[0]
    bT, bP = np.dot(b, T), np.dot(b, P)
    GT, GP = np.dot(G, T), np.dot(G, P)
    across_T, across_P = np.dot(GT, b.T), np.dot(GP, b.T)
    inner_T, inner_P = np.dot(bT, b.T), np.dot(bP, b.T)
    outer_T, outer_P = np.dot(GT, G.T), np.dot(GP, G.T)
    back_T, back_P = np.ascontiguousarray(across_T.T), np.ascontiguousarray(across_P.T)
    M = np.empty((m, m))
    for j in range(m):
        for k in range(j + 1):
            M[j, k] = (
                (2.0 * K[j, k] + outer_P[j, k]) * inner_T[j, k]
                + outer_T[j, k] * inner_P[j, k]
                + across_T[j, k] * back_P[j, k]
                + back_T[j, k] * across_P[j, k]
            )
        M[j, j] += scaling[j]
    return M


@compiled
def begin(a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    """Return a starting point (w, s, T) with ||S||_op at most 0.9, all w_j s_j = mu, T Z = mu I."""
    m, q = b.shape
    w = np.ones(m)
    S = np.dot(a.T, b)
    gram = np.dot(S.T, S)
    size = max(np.trace(gram), 1e-300)
    # trace(gram^64)^(1/64) by repeated squaring: it is at least the largest eigenvalue, so that
    # ||S||_op is at most 0.9, and exceeds it by a factor of at most q^(1/64)
    power = gram / size
    logarithm, weight = np.log(size), 1.0
    for _ in range(6):
        power = np.dot(power, power)
        weight *= 0.5
        trace = np.trace(power)
        logarithm += weight * np.log(trace)
        power = power / trace
    w *= 0.9 / np.exp(0.5 * logarithm)
    S = np.dot(a.T, times_rows(w, b))
    mu = pair(c, w) / (m + q)
    return w, mu / w, mu * _inverse(np.eye(q) - np.dot(S.T, S))


@compiled
def interior(
    a: Array, b: Array, c: Array, w: Array, s: Array, T: Array, stop: float, limit: int
) -> tuple[Array, Array, Array, int, int]:
    """Follow the central path from (w, s, T) to a relative gap `stop`.

    Rows of a and b have unit length, and the largest c_j is 1.

    Returns:
        w, s, T, a status and the number of steps. SOLVED: the gap is at most `stop` times the dual
        value. UNBOUNDED: the dual value exceeds `HOPELESS`. STUCK: neither was reached, and the
        last point is returned.
    """
    m, q = b.shape
    K = np.dot(a, a.T)
    eye, none = np.eye(q), np.zeros((q, q))
    short = 0
    for count in range(limit):
        S = np.dot(a.T, times_rows(w, b))
        Z = eye - np.dot(S.T, S)
        value = pair(c, w)
        mu = (pair(w, s) + pair_all(T, Z)) / (m + q)
        G = np.dot(a, S)
        residual = c + s - 2.0 * pair_rows(np.dot(G, T), b)
        worst = largest_entry(residual)
        if mu * (m + q) <= stop * value and worst <= 1e-3:
            return w, s, T, SOLVED, count
        if value > HOPELESS:
            return w, s, T, UNBOUNDED, count
        # mu is NaN or not positive after a loss of precision; six very short steps in a row mean
        # that rounding errors dominate the Newton system
        if not mu > 0.0 or short > 5:
            return w, s, T, STUCK, count
        P = _inverse(Z)
        L = _schur(K, b, G, T, P, s / w)
        largest = -np.inf
        for j in range(m):
            largest = max(largest, L[j, j])
        _factor(L, 1e-30 * largest)
        # Stage 0 predicts: its Newton step aims at mu = 0. Stage 1 aims at mu times the square of
        # the share of mu that this step would leave, and corrects for the second-order terms of the
        # prediction (Mehrotra 1992). If its step is blocked below 0.1, the point is too near the
        # boundary. Stage 2 then aims at 3 mu without correction, which leads back to the middle.
        aim, squared, bend, bent = 0.0, np.zeros(m), none, none
        ahead, t = np.zeros(m), 0.0
        for stage in range(3):
            if stage == 2:
                if t > 0.1:
                    break
                aim, squared, bend, bent, ahead = 3.0 * mu, np.zeros(m), none, none, residual
            base = aim * P - T - _symmetric(np.dot(np.dot(T, bend), P)) - bent
            dw = residual - ahead + (aim - squared) / w - s - 2.0 * pair_rows(np.dot(G, base), b)
            solve(L, m, dw)
            dS = np.dot(a.T, times_rows(dw, b))
            slope = np.dot(dS.T, S)
            slope = -(slope + slope.T)
            dT = base - _symmetric(np.dot(np.dot(T, slope), P))
            ds = (aim - squared - s * dw) / w - s
            bend = -np.dot(dS.T, dS)
            t = min(_ratio(w, dw, 1.0 / 0.95), _ratio(s, ds, 1.0 / 0.95))
            t = _reach(T, dT, none, _reach(Z, slope, bend, t))
            if stage == 0:
                t = min(t, 1.0)
                products = pair(w + t * dw, s + t * ds)
                matrices = pair_all(T + t * dT, Z + t * slope + (t * t) * bend)
                ratio = (products + matrices) / ((m + q) * mu)
                aim = min(1.0, max(ratio**2, 1e-6)) * mu
                squared = dw * ds
                bent = _symmetric(np.dot(np.dot(dT, slope + bend), P))
                ahead = 2.0 * pair_rows(np.dot(np.dot(a, dS), dT), b)
        t *= 0.95
        short = short + 1 if t < 0.1 else 0
        w, s, T = w + t * dw, s + t * ds, T + t * dT
    return w, s, T, STUCK, limit
