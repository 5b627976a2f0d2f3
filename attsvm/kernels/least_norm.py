"""The dual active-set method behind every least-norm programme, on a Gram matrix.

    max c^T w - 1/2 w^T G w,  w_j >= 0 where constraint j is an inequality, free where it is not,

is the dual of min 1/2 ||W||^2 subject to <A_j, W> >= c_j (or = c_j), with G_jk = <A_j, A_k> and
W = sum_j w_j A_j. Nothing here is believed: callers recompute every figure from the weights.
"""

from __future__ import annotations

import numpy as np

from attsvm._types import Array
from attsvm.kernels import compiled, inlined

SOLVED, UNBOUNDED, FAILED = 0, 1, 2

EPS = float(np.finfo(np.float64).eps)


@compiled
def rows(
    X: Array, Z: Array, targets: Array, present: Array
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Differences to the target, queries, kept and rival tokens, input and token of every row."""
    n, T, d = X.shape
    inputs, tokens = np.empty(n * T, dtype=np.int64), np.empty(n * T, dtype=np.int64)
    m = 0
    for i in range(n):
        for t in range(T):
            if present[i, t] and t != targets[i]:
                inputs[m], tokens[m] = i, t
                m += 1
    rows_Z, kept, rival = np.empty((m, Z.shape[1])), np.empty((m, d)), np.empty((m, d))
    for j in range(m):
        i = inputs[j]
        write(Z[i], rows_Z[j])
        write(X[i, targets[i]], kept[j])
        write(X[i, tokens[j]], rival[j])
    return kept - rival, rows_Z, kept, rival, inputs[:m].copy(), tokens[:m].copy()


@inlined
def write(a: Array, out: Array) -> None:
    """Write a vector into the first entries of another one, from the first on.

    A slice that is assigned to has its length compared, and numba compiles the text of an error.
    """
    for j in range(len(a)):
        out[j] = a[j]


@compiled
def scale_rows(D: Array, Z: Array) -> tuple[Array, Array, Array]:
    """Rows of unit length (zero rows stay zero) and the Frobenius norms of the A_j."""
    m = D.shape[0]
    unit_D, unit_Z, norms = np.zeros_like(D), np.zeros_like(Z), np.zeros(m)
    for j in range(m):
        largest_D, largest_Z = largest_entry(D[j]), largest_entry(Z[j])
        if largest_D == 0.0 or largest_Z == 0.0:
            continue
        norm_D, norm_Z = _unit(D[j], largest_D, unit_D[j]), _unit(Z[j], largest_Z, unit_Z[j])
        norms[j] = (largest_D * norm_D) * (largest_Z * norm_Z)
    return unit_D, unit_Z, norms


@inlined
def largest_entry(a: Array) -> float:
    """The largest absolute value in an array; NaN where one is NaN."""
    largest = 0.0
    for x in a.flat:
        if np.isnan(x):
            return np.nan
        largest = max(largest, abs(x))
    return largest


@compiled
def pair(a: Array, b: Array) -> float:
    """<a, b> of vectors, from the first entry on.

    Numba compiles a sum of an array expression anew wherever it stands; a loop is compiled once.
    """
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@compiled
def pair_rows(A: Array, B: Array) -> Array:
    """Inner products of rows."""
    products = np.empty(A.shape[0])
    for j in range(A.shape[0]):
        products[j] = pair(A[j], B[j])
    return products


@compiled
def pair_all(A: Array, B: Array) -> float:
    """<A, B> of matrices, row by row."""
    total = 0.0
    for j in range(A.shape[0]):
        for k in range(A.shape[1]):
            total += A[j, k] * B[j, k]
    return total


@compiled
def times_rows(x: Array, A: Array) -> Array:
    """The rows of a matrix, each times an entry of x."""
    scaled = np.empty((A.shape[0], A.shape[1]))
    for j in range(A.shape[0]):
        for k in range(A.shape[1]):
            scaled[j, k] = x[j] * A[j, k]
    return scaled


@inlined
def _unit(row: Array, largest: float, unit: Array) -> float:
    """The row over its length into `unit`; its length over its largest entry."""
    square = 0.0
    for k in range(len(row)):
        square += (row[k] / largest) ** 2
    norm = np.sqrt(square)
    for k in range(len(row)):
        unit[k] = row[k] / largest / norm
    return norm


@compiled
def solve(L: Array, k: int, right: Array) -> None:
    """Solve L L^T x = right in place, L being k by k."""
    forward(L, k, right)
    backward(L, k, right)


@compiled
def forward(L: Array, k: int, right: Array) -> None:
    """Solve L y = right in place."""
    for r in range(k):
        total = right[r]
        for c in range(r):
            total -= L[r, c] * right[c]
        right[r] = total / L[r, r]


@compiled
def backward(L: Array, k: int, right: Array) -> None:
    """Solve L^T x = right in place, row by row."""
    for r in range(k - 1, -1, -1):
        right[r] /= L[r, r]
        x = right[r]
        for c in range(r):
            right[c] -= L[r, c] * x


@compiled
def remove(L: Array, k: int, gone: int) -> None:
    """Drop row `gone` of the factor of a k by k block, restoring the triangle by rotations."""
    for r in range(gone + 1, k):
        for c in range(r + 1):
            L[r - 1, c] = L[r, c]
    for c in range(gone, k - 1):
        a, b = L[c, c], L[c, c + 1]
        size = np.hypot(a, b)
        cosine, sine = a / size, b / size
        L[c, c] = size
        for r in range(c + 1, k - 1):
            a, b = L[r, c], L[r, c + 1]
            L[r, c] = cosine * a + sine * b
            L[r, c + 1] = cosine * b - sine * a


@compiled
def _violations(G: Array, c: Array, active: Array, k: int, w: Array, gradient: Array) -> None:
    """C - G w from the active weights, row by row so that memory is read in order."""
    write(c, gradient)
    for r in range(k):
        row, weight = active[r], w[active[r]]
        for j in range(len(c)):
            gradient[j] -= G[row, j] * weight


@compiled
def pivot(
    G: Array, c: Array, equal: Array, active: Array, L: Array, limit: int
) -> tuple[Array, int, int]:
    """Weights, how it ended (SOLVED, UNBOUNDED with a ray as weights, FAILED) and the pivots.

    Starts on the set `active` with the Cholesky factor L of its block (both empty for a cold
    start), whose weights must be positive. The active block stays nonsingular. The most violated
    constraint enters along the direction that keeps active margins in place; one that depends on
    the active ones replaces a member, or yields a ray along which the dual grows without bound:
    Farkas multipliers. What rounding may hide is measured in the norms of the A_j, the roots of
    the diagonal of G, so constraints need no common scale.
    """
    m, k = G.shape[0], len(active)
    w = np.zeros(m)
    norms = np.empty(m)
    for j in range(m):
        norms[j] = np.sqrt(G[j, j]) if G[j, j] > 0.0 else 1.0
    inside = np.zeros(m, dtype=np.bool_)
    skip = np.zeros(m, dtype=np.bool_)
    column, weights = np.empty(m), np.empty(m)
    factor = np.zeros((m, m))
    members = np.empty(m, dtype=np.int64)
    for r in range(k):
        write(L[r], factor[r])
        members[r] = active[r]
        weights[r] = c[active[r]]
    L, active = factor, members
    solve(L, k, weights)
    for r in range(k):
        w[active[r]] = weights[r]
        inside[active[r]] = True
    gradient = np.empty(m)
    _violations(G, c, active, k, w, gradient)
    for count in range(limit):
        # which constraint enters: equalities first, then the most violated
        size = 0.0
        for r in range(k):
            size += abs(w[active[r]]) * norms[active[r]]
        entering, worst = -1, 0.0
        for j in range(m):
            if inside[j] or skip[j]:
                continue
            allowance = 16 * EPS * (abs(c[j]) + norms[j] * size)
            if equal[j]:
                entering = j
                break
            if gradient[j] > allowance and gradient[j] > worst:
                entering, worst = j, gradient[j]
        if entering < 0:
            for _ in range(2):  # refine on the final active set
                for r in range(k):
                    total = c[active[r]]
                    for q in range(k):
                        total -= G[active[r], active[q]] * w[active[q]]
                    weights[r] = total
                solve(L, k, weights)
                for r in range(k):
                    w[active[r]] += weights[r]
                    if w[active[r]] < 0.0 and not equal[active[r]]:
                        w[active[r]] = 0.0
            return w, SOLVED, count
        while True:
            for r in range(k):
                column[r] = G[active[r], entering]
            forward(L, k, column)
            curvature, slope = G[entering, entering], c[entering]
            for r in range(k):
                curvature -= column[r] ** 2
                slope -= G[entering, active[r]] * w[active[r]]
            slope -= G[entering, entering] * w[entering]
            sign = 1.0 if slope >= 0.0 else -1.0
            if sign < 0.0 and not equal[entering]:
                break  # only rounding made it look violated
            for r in range(k):
                weights[r] = -column[r]
            backward(L, k, weights)
            length = norms[entering] ** 2
            for r in range(k):
                weights[r] *= sign
                length += (weights[r] * norms[active[r]]) ** 2
            dependent = curvature <= 16 * EPS * (k + 1) * length
            if dependent and equal[entering]:
                total = abs(c[entering])
                for r in range(k):
                    total += abs(G[entering, active[r]] * w[active[r]])
                relative = np.sqrt(length) / norms[entering]
                if abs(slope) <= 64 * EPS * (k + 1) * total * relative:
                    skip[entering] = True  # an equality that the others imply
                    break
            step = np.inf if dependent else abs(slope) / curvature
            leaving = -1
            for r in range(k):
                if weights[r] < 0.0 and not equal[active[r]]:
                    ratio = w[active[r]] / -weights[r]
                    if ratio < step:
                        step, leaving = ratio, r
            if step == np.inf:
                ray = np.zeros(m)
                ray[entering] = sign
                for r in range(k):
                    ray[active[r]] = weights[r]
                return ray, UNBOUNDED, count
            w[entering] += sign * step
            for r in range(k):
                w[active[r]] += step * weights[r]
            if leaving < 0:
                write(column[:k], L[k])
                L[k, k] = np.sqrt(curvature)
                active[k] = entering
                inside[entering] = True
                k += 1
                break
            w[active[leaving]] = 0.0
            inside[active[leaving]] = False
            remove(L, k, leaving)
            write(active[leaving + 1 : k], active[leaving:])
            k -= 1
        w[entering] = w[entering] if inside[entering] else 0.0
        _violations(G, c, active, k, w, gradient)
    return w, FAILED, limit


@compiled
def least_norm(
    D: Array, Z: Array, bound: Array, equal: Array, limit: int
) -> tuple[Array, int, int]:
    """Multipliers of the programme with these rows, how the method ended, and its pivots.

    Rows are scaled to unit length first, so that constraints of very different size stay apart;
    none may be zero.
    """
    unit_D, unit_Z, norms = scale_rows(D, Z)
    G = np.dot(unit_D, unit_D.T) * np.dot(unit_Z, unit_Z.T)
    c = bound / norms
    largest = largest_entry(c)
    if largest == 0.0:
        largest = 1.0
    w, status, count = pivot(
        G, c / largest, equal, np.empty(0, dtype=np.int64), np.empty((0, 0)), limit
    )
    if status == UNBOUNDED:
        largest = 1.0
    return w / norms * largest, status, count


@compiled
def figures(
    D: Array, Z: Array, bound: Array, equal: Array, weights: Array
) -> tuple[Array, Array, float, float, float, float, float, float]:
    """W = sum_j weights_j A_j, its margins, and what its conditions come to.

    In order: ||W||^2, bound^T weights, sum_j ||weights_j A_j||, the largest shortfall of a margin
    relative to its bound (where that is 0, and the distance of an equality, relative to
    ||A_j|| ||W||), the least weight of an inequality, and the least margin, of those that must be
    positive, that rounding leaves certain: D carries one rounding, sums of k terms at most k more,
    in any order, relative to ||A_j|| ||W||.
    """
    m = D.shape[0]
    sizes = np.empty(m)
    linear, summed = pair(weights, bound), 0.0
    for j in range(m):
        sizes[j] = np.sqrt(pair(D[j], D[j])) * np.sqrt(pair(Z[j], Z[j]))
        summed += abs(weights[j]) * sizes[j]
    W = np.dot(times_rows(weights, D).T, Z)
    square = pair_all(W, W)
    norm = np.sqrt(square)
    margins = pair_rows(np.dot(D, W), Z)
    shortfall, least, certain = 0.0, np.inf, np.inf
    k = D.shape[1] + Z.shape[1] + 8
    gamma = 1.01 * k * EPS / (2.0 - k * EPS)
    for j in range(m):
        if bound[j] > 0.0 and not equal[j]:
            lower = margins[j] - gamma * sizes[j] * norm - 1e-150
            if not lower >= certain:
                certain = lower
        missing = bound[j] - margins[j]
        unit = sizes[j] * norm
        if equal[j]:
            missing = abs(missing)
        else:
            unit = bound[j] if bound[j] > 0.0 else unit
            if not weights[j] >= least:
                least = weights[j]
        if missing != 0.0 and unit > 0.0:
            missing /= unit
        if not missing <= shortfall:
            shortfall = missing
    return W, margins, square, linear, summed, shortfall, least, certain
