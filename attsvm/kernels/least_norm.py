"""The dual active-set method behind every least-norm programme, on a Gram matrix.

    max c^T w - 1/2 w^T G w,  w_j >= 0 where constraint j is an inequality, free where it is not,

is the dual of min 1/2 ||W||^2 subject to <A_j, W> >= c_j (or = c_j), with G_jk = <A_j, A_k> and
W = sum_j w_j A_j. No result is trusted: callers recompute every figure from the weights.
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
    """Return the rows of the constraints A_j = (x_target - x_t) z^T, one for each rival token t.

    They are the differences x_target - x_t, queries, target tokens, rival tokens, and the numbers
    of input and token.
    """
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
    """Write a vector into the first entries of another one, in increasing order.

    An assignment to a slice would compare lengths, and numba would compile the text of its error.
    """
    for j in range(len(a)):
        out[j] = a[j]


@compiled
def scale_rows(D: Array, Z: Array) -> tuple[Array, Array, Array]:
    """Return rows of unit length (zero rows stay zero) and the Frobenius norms of the A_j."""
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
    """Return the largest absolute value in an array; NaN if any entry is NaN."""
    largest = 0.0
    for x in a.flat:
        if np.isnan(x):
            return np.nan
        largest = max(largest, abs(x))
    return largest


@compiled
def pair(a: Array, b: Array) -> float:
    """Return <a, b> of vectors, summed in order of the entries.

    numba compiles a sum of an array expression at each occurrence; this loop is compiled once.
    """
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@compiled
def pair_rows(A: Array, B: Array) -> Array:
    """Return inner products of rows."""
    products = np.empty(A.shape[0])
    for j in range(A.shape[0]):
        products[j] = pair(A[j], B[j])
    return products


@compiled
def pair_all(A: Array, B: Array) -> float:
    """Return <A, B> of matrices, row by row."""
    total = 0.0
    for j in range(A.shape[0]):
        for k in range(A.shape[1]):
            total += A[j, k] * B[j, k]
    return total


@compiled
def times_rows(x: Array, A: Array) -> Array:
    """Return the matrix of rows x_j A_j."""
    scaled = np.empty((A.shape[0], A.shape[1]))
    for j in range(A.shape[0]):
        for k in range(A.shape[1]):
            scaled[j, k] = x[j] * A[j, k]
    return scaled


@inlined
def _unit(row: Array, largest: float, unit: Array) -> float:
    """Write the row divided by its norm to `unit`; return its norm divided by its largest entry.

    Dividing by the largest entry first avoids squares that overflow or underflow.
    """
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
    """Drop row and column `gone` of the block whose Cholesky factor is the k by k part of L.

    The rows below move up by one, which leaves one entry right of the diagonal in each. Rotations
    of two neighbouring columns remove these entries. They are orthogonal, so L L^T stays the block.
    """
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
    """Write c - G w to `gradient`; only active weights are not 0.

    G is symmetric and is read by rows, in the order of memory.
    """
    write(c, gradient)
    for r in range(k):
        row, weight = active[r], w[active[r]]
        for j in range(len(c)):
            gradient[j] -= G[row, j] * weight


@compiled
def pivot(
    G: Array, c: Array, equal: Array, active: Array, L: Array, limit: int
) -> tuple[Array, int, int]:
    """Solve the dual programme by an active-set method, in floats.

    The method starts on the set `active` with the Cholesky factor L of its block, whose weights
    must be positive; both are empty for a cold start. The active block stays nonsingular.

    1. The most violated constraint enters, along the direction that keeps active margins in place.
    2. A constraint that depends on the active ones replaces one of them, or yields a ray along
       which the dual grows without bound. Such a ray is a list of Farkas multipliers.

    Rounding errors are measured in the norms of the A_j, the roots of the diagonal of G, so that
    constraints need no common scale.

    Returns:
        Weights, the status (SOLVED, UNBOUNDED with a ray as weights, FAILED), and the number of
        pivots.
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
        # Choose the entering constraint: equalities first, as their weights may have any sign and
        # so can never block a step later; then the most violated inequality. `allowance` bounds
        # the rounding error of c_j - <G_j, w>. A smaller violation may be an error of sums alone,
        # and a constraint that enters because of it could enter and leave forever.
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
            # Optimal. Every step has added rounding errors to w, so solve G_AA w = c_A again for
            # the final set A. The residual is computed from G itself, not from the factor L.
            for _ in range(2):
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
            # With column = L^-1 G_A,e the move of unit weight on e that keeps all active margins
            # is -G_AA^-1 G_A,e = -L^-T column on A. Its squared length in the space of W is
            # `curvature`, G_ee - ||column||^2, the squared distance of A_e from the span of A.
            # `slope` is c_e - <G_e, w>, recomputed here, as an earlier pass has changed w.
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
            # G_ee - ||column||^2 cancels if A_e nearly lies in the span. Its error is of the order
            # of EPS times the squared lengths of the summands of the move. Below that the
            # curvature has no correct digit: treating it as positive would divide by noise and
            # append a meaningless pivot to L. So A_e counts as dependent.
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
            # The dual objective along the move is slope t - curvature t^2/2. Its maximum is at
            # slope/curvature. A shorter step is forced by the first active weight that reaches
            # 0 (ratio test): beyond it the dual point is infeasible. A dependent move raises the
            # dual objective without bound unless some weight blocks it. Equal ratios may cause
            # steps of length 0, so `limit` bounds the number of passes.
            step = np.inf if dependent else abs(slope) / curvature
            leaving = -1
            for r in range(k):
                if weights[r] < 0.0 and not equal[active[r]]:
                    ratio = w[active[r]] / -weights[r]
                    if ratio < step:
                        step, leaving = ratio, r
            # No weight blocks, so w + t ray is feasible for all t >= 0. The sum of ray_j A_j is 0
            # up to rounding, and <c, ray> > 0: Farkas multipliers against any W that meets the
            # constraints. Floats prove nothing, so `attsvm.exact` solves for them in rationals.
            if step == np.inf:
                ray = np.zeros(m)
                ray[entering] = sign
                for r in range(k):
                    ray[active[r]] = weights[r]
                return ray, UNBOUNDED, count
            w[entering] += sign * step
            for r in range(k):
                w[active[r]] += step * weights[r]
            # A full step makes the entering margin tight: the new row of L is `column`, its pivot
            # the root of the curvature, which is positive, as dependent moves never get here.
            # Otherwise the blocking constraint leaves with weight 0, and the same constraint e
            # tries again with one member less. The dual objective rises at every step of
            # positive length, so no set is visited twice, and a pass ends as sets shrink.
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
    """Return multipliers of the programme with these rows, the status, and the number of pivots.

    Rows are scaled to unit length first, so that a small constraint is not lost beside large ones.
    No row may be zero. If the status is UNBOUNDED, the multipliers are a Farkas ray.
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
    """Return W = sum_j weights_j A_j, its margins, and the figures of its optimality conditions.

    The figures in order:

    1. ||W||^2.
    2. bound^T weights.
    3. sum_j ||weights_j A_j||.
    4. The largest shortfall of a margin relative to its bound. For bounds 0 and for equalities it
       is relative to ||A_j|| ||W||.
    5. The least weight of an inequality.
    6. The least margin that is certain despite rounding, of margins that must be positive. D
       carries one rounding, sums of k terms at most k more, in any order, relative to ||A_j||
       ||W||.
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
    # gamma = k u / (1 - k u) with u = EPS / 2 bounds the relative error of k roundings in any order
    # (Higham 2002, Lemma 3.1). The factor 1.01 covers the rounding of sizes and norm, 1e-150
    # underflow. Comparisons are negated so that NaN makes a figure worse, never better.
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
