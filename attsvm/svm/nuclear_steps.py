"""Primal-dual steps (Chambolle and Pock) for nuclear-norm programmes too large for a central path.

For unit rows A_j and bounds c_j, each step shrinks the singular values of M + tau sum_j w_j A_j by
tau, and moves w along c - A(2 M_new - M_old), cut off at 0. It needs one small singular value
decomposition and two products with the rows, whose Gram matrix is never formed. Both M and w tend
to solutions. At any time they give a bracket: c^T w / ||sum_j w_j A_j||_op from below, and from
above the norm of the multiple of M that meets all bounds.
"""

from __future__ import annotations

import math

import numpy as np

from attsvm._types import Array
from attsvm.exact.deadline import Deadline, is_over
from attsvm.svm.growing import SAFETY
from attsvm.svm.support import GramOperator

LONGEST, CHECKED = 20_000, 50
"""Maximum number of steps; number of steps between looks at the bracket."""

CLOSE = 2e-10
"""Relative width of the bracket at which steps end."""

Point = tuple[Array, Array, Array, Array]
"""Multipliers, and the singular value decomposition of M."""


def approach(
    operator: GramOperator, c: Array, w: Array, deadline: Deadline | None = None
) -> Point | None:
    """Return the multipliers and the M of the best bracket, or None if there is none.

    Args:
        operator: products with the Gram matrix of the rows.
        c: positive bounds.
        w: multipliers of the solution of least Frobenius norm, from which steps start.
        deadline: the end of the steps.
    """
    left, Z = operator.left, operator.Z

    def combined(w: Array) -> Array:
        matrix: Array = left.sums(w).T @ Z
        return matrix

    M = S = combined(w)
    top = float(np.linalg.norm(S, 2))
    if not 0.0 < top < math.inf:
        return None
    w, S = w / top, S / top
    root = math.sqrt(SAFETY * operator.largest())
    balance = float(np.linalg.norm(M) / np.linalg.norm(w))
    # tau sigma ||A||^2 < 1, A the map to the rows: then the steps converge
    tau, sigma = balance / root, 1.0 / (balance * root)
    low, high, dual, best = 0.0, math.inf, w, None
    for step in range(1, LONGEST + 1):
        U, values, V = np.linalg.svd(M + tau * S, full_matrices=False)
        values = np.maximum(values - tau, 0.0)
        fresh = (U * values) @ V
        w = np.maximum(w + sigma * (c - left.pair(Z @ (2.0 * fresh - M).T)), 0.0)
        M, S = fresh, combined(w)
        late = step % 10 == 0 and is_over(deadline)
        if step % CHECKED and not late and step > 1:
            continue
        # M / least meets all bounds, and w / top is feasible in the dual
        least = float((left.pair(Z @ M.T) / c).min())
        top = float(np.linalg.norm(S, 2))
        if top > 0.0 and float(c @ w) / top > low:
            low, dual = float(c @ w) / top, w / top
        if least > 0.0 and float(values.sum()) / least < high:
            rank = max(1, int((values > 0.0).sum()))
            high, best = float(values.sum()) / least, (U[:, :rank], values[:rank], V[:rank])
        if late or high <= low * (1.0 + CLOSE):
            break
    return None if best is None else (dual, *best)
