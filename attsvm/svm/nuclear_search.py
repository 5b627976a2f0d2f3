"""Proposals for the nuclear-norm programme: a central path, then Newton steps from its end.

All computations are in coordinates of the differences and of the queries, with unit rows:

  min ||M||_*  subject to  a_j^T M b_j >= c_j,    max c^T w  subject to  ||S||_op <= 1, w >= 0

with S = sum_j w_j a_j b_j^T. The results are not trusted: the caller grades every proposal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array
from attsvm.errors import SolverError
from attsvm.exact.deadline import Deadline, is_over
from attsvm.kernels.nuclear import SOLVED, STUCK, begin, interior
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.methods import DENSE
from attsvm.svm.nuclear_steps import approach
from attsvm.svm.programme import Programme
from attsvm.svm.solution_set import pack, unpack
from attsvm.svm.support import GramOperator

NEAR, NEARER = 1e-9, 1e-12
"""Relative gaps at which proposals are taken from the central path."""

LIFTS = (1.0, 1e2, 1e4, 1e1, 1e3)
"""Factors of the initial mu that are tried in turn: narrow programmes need a larger one."""

FACTOR, SURE = 10.0, 1e-9
"""Tolerances within which a row counts as active and a singular value of S as 1. The first Newton
step uses FACTOR times the square root of the gap at the end of the path, later steps SURE."""

FLOPS = 1e10
"""Approximate number of floating-point operations on the path between checks of the deadline."""

STEPS, EXACT = 8, 1e-14
"""Maximum number of Newton steps, and the error at which they stop."""

DAMPING = 1e-11
"""Relative proximal term that makes the Newton system regular if solutions are not unique."""

Point = tuple[Array, Array, Array, Array]
"""Multipliers, and the singular value decomposition of M."""


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A programme in unit rows and few coordinates, with the shorter side second.

    Attributes:
        a, b, c: unit rows and bounds; the largest bound is 1.
        sizes: ||A_j||_F.
        scale: the largest 1/||A_j||_F, by which bounds were divided.
        left, right: orthonormal columns that map coordinates back; None for the identity.
        swapped: whether a has the queries and b the differences.
    """

    a: Array
    b: Array
    c: Array
    sizes: Array
    scale: float
    left: Array | None
    right: Array | None
    swapped: bool

    def restore(self, w: Array, left: Array, right: Array) -> tuple[Array, Array, Array]:
        """Return factors L, R of W = L R^T and the multipliers of the original programme."""
        if self.swapped:
            left, right = right, left
        root = np.sqrt(self.scale)
        L = left if self.left is None else self.left @ left
        R = right if self.right is None else self.right @ right
        return root * L, root * R, w / self.sizes


def reduce(programme: Programme) -> Reduced:
    """Return the programme in unit rows, in coordinates of their spans if these are smaller.

    Raises:
        SolverError: a row is zero, so that no W meets its bound of 1.
    """
    D, Z = programme.D, programme.Z
    lengths_D, lengths_Z = np.linalg.norm(D, axis=1), np.linalg.norm(Z, axis=1)
    sizes = lengths_D * lengths_Z
    if not (sizes > 0.0).all():
        raise _unseparable(float(sizes.min()))
    a, b = D / lengths_D[:, None], Z / lengths_Z[:, None]
    left = right = None
    if len(a) < a.shape[1]:
        left, coordinates = np.linalg.qr(a.T)
        a = coordinates.T
    fresh = np.concatenate([[True], (Z[1:] != Z[:-1]).any(axis=1)])  # rows come in runs
    if fresh.sum() < b.shape[1]:
        right = np.linalg.qr(b[fresh].T)[0]
        b = b @ right
    swapped = a.shape[1] < b.shape[1]
    if swapped:
        a, b = b, a
    c = 1.0 / sizes
    scale = float(c.max())
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return Reduced(a, b, c / scale, sizes, scale, left, right, swapped)


def propose(
    programme: Programme, deadline: Deadline | None = None
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield factors L, R of W = L R^T and multipliers, for inequalities of bound 1.

    The path stops at the deadline.

    Raises:
        SolverError: a row is zero, or the dual grows beyond float64.
    """
    reduced = reduce(programme)
    a, b, c = reduced.a, reduced.b, reduced.c
    if len(c) > DENSE:
        yield from _of_many(programme, reduced, deadline)
        return
    for factor in LIFTS:
        w, s, T = begin(a, b, c)
        w, s, T, status = _along(a, b, c, w, factor * s, factor * T, NEAR, 60, deadline)
        if status != STUCK or is_over(deadline):
            break
    if status != SOLVED and not is_over(deadline):
        raise _unseparable(float(c @ w))
    # Polished points have small residuals, but need a clear face. The raw points of the path always
    # have a bracket, so they are yielded last.
    raw = []
    for stop in (NEAR, NEARER):
        if stop != NEAR:
            w, s, T, _ = _along(a, b, c, w, s, T, stop, 20, deadline)
        M = 2.0 * (a.T * w) @ b @ T
        if not np.isfinite(M).all():
            break
        polished = polish(a, b, c, w, s, M, FACTOR * np.sqrt(stop))
        if polished is not None:
            yield reduced.restore(*_feasible(a, b, c, *polished))
        raw.append((w, M))
    for w, M in reversed(raw):
        yield reduced.restore(*_feasible(a, b, c, w, *np.linalg.svd(M, full_matrices=False)))


def _of_many(
    programme: Programme, reduced: Reduced, deadline: Deadline | None
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the proposal of primal-dual steps from the solution of least Frobenius norm.

    Raises:
        SolverError: there is no such solution, or it was not reached.
    """
    part = None if deadline is None else deadline.part(0.4)
    start = solve_programme(programme, part, rationals=False)
    if not start.solved:
        raise _unseparable(start.dual_residual)
    rows, queries = (reduced.b, reduced.a) if reduced.swapped else (reduced.a, reduced.b)
    operator = GramOperator.of(rows, queries, programme.input)
    part = None if deadline is None else deadline.part(0.8)
    with np.errstate(all="ignore"):
        w = start.weights * reduced.sizes / reduced.scale
        point = approach(operator, reduced.c, w, part)
    if point is not None:
        w, left, values, right = point
        if reduced.swapped:
            left, right = right.T, left.T
        yield reduced.restore(*_feasible(reduced.a, reduced.b, reduced.c, w, left, values, right))


def _along(
    a: Array, b: Array, c: Array, w: Array, s: Array, T: Array,
    stop: float, limit: int, deadline: Deadline | None,
) -> tuple[Array, Array, Array, int]:  # fmt: skip
    """Follow the central path for at most `limit` steps.

    With a deadline, expensive steps are taken one at a time, and the clock is checked before each.
    """
    m, q = b.shape
    part = limit if deadline is None else max(1, min(limit, int(FLOPS / (m + q) ** 3)))
    status = STUCK
    for chosen in range(0, limit, part):
        w, s, T, status, count = interior(a, b, c, w, s, T, stop, min(part, limit - chosen))
        if status != STUCK or count < part or is_over(deadline):
            break
    return w, s, T, status


def _unseparable(value: float) -> SolverError:
    return SolverError(
        "the programme has no solution, or one beyond the reach of float64",
        value=value,
        remedy="Decide separability first: solve it with the Frobenius norm.",
    )


def _feasible(
    a: Array, b: Array, c: Array, w: Array, left: Array, values: Array, right: Array
) -> tuple[Array, Array, Array]:
    """Return nonnegative multipliers, and factors of the least multiple of M that is feasible."""
    root = np.sqrt(values)
    L, R = left * root, right.T * root
    margins = ((a @ L) * (b @ R)).sum(axis=1)
    worst = float((margins / c).min())
    root_of_worst = np.sqrt(worst) if worst > 0.0 else 1.0
    return np.maximum(w, 0.0), L / root_of_worst, R / root_of_worst


@np.errstate(all="ignore")
def polish(
    a: Array, b: Array, c: Array, w: Array, s: Array, M: Array, unsure: float
) -> Point | None:
    """Return a point improved by Newton steps on M + S = Y, M the soft threshold of Y at 1.

    M is the soft threshold of Y at 1 exactly if ||S||_op <= 1 and <S, M> = ||M||_*. These are the
    conditions of optimality of M with the dual S = sum_j w_j a_j b_j^T, so one equation replaces
    them. Multipliers are zero off the active rows, and margins are tight on the active rows. The
    unknowns are the active multipliers and the symmetric part B of the move of M within the face,
    on which S has singular value 1. The rest of the move follows from the derivative of the
    threshold. None if no step gives finite numbers.
    """
    value = float(c @ w)
    active = FACTOR * w / w.max() > s  # the largest c is 1
    c, M = c / value, M / value  # now M is as large as S
    Y = M + (a.T * w) @ b
    best, least = None, np.inf
    for step in range(STEPS):
        if not np.isfinite(Y).all():
            break
        left, values, right = np.linalg.svd(Y)
        r = int((values > 1.0 - unsure).sum())
        signed = values[:r] - 1.0
        excess = np.maximum(signed, 0.0)
        xs, ys = a @ left, b @ right.T
        slack = (xs[:, :r] * ys[:, :r]) @ signed - c
        M = (left[:, :r] * signed) @ right[:r]
        off = (a.T * w) @ b + M - Y
        short = slack / c
        signs = -short.min(), -signed.min(initial=0.0), -w.min() / w.max()
        error = float(np.max([np.abs(off).max(), np.abs(short[active]).max(initial=0.0), *signs]))
        if not error < np.inf:
            break
        stalled = step > 2 and error > 0.5 * least
        if error < least:
            best, least = (w, left[:, :r], excess, right[:r]), error
        if stalled or error <= EXACT:
            break
        if step > 0:
            active = w / w.max() + SURE > slack / c.max()
        if not active.any():
            break
        parts = Parts.of(excess, np.maximum(1.0 - values[r:], unsure), len(left))
        F, C = parts.split(xs[active][:, :, None] * ys[active][:, None, :])
        away = off - (a[~active].T * w[~active]) @ b[~active]
        f, g = parts.split((left.T @ away @ right.T)[None])
        try:
            dw, B = _saddle(F, C, -slack[active] - F @ f[0], -g[0])
        except np.linalg.LinAlgError:
            break
        move = left @ parts.join(F.T @ dw + f[0], B) @ right
        w = np.where(active, w, 0.0)
        w[active] += dw
        Y = M + move + (a.T * w) @ b
        unsure = SURE
    return best


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of a matrix, in singular vectors of Y, that the soft threshold only scales.

    On each part the threshold moves by dM = phi dY with phi in [0, 1]. Since dY = dM + dS, dM = phi
    / (1 - phi) dS. Let t_a = value_a - 1 be the excess on the face and s_i < 1 the values off it.
    The weight phi / (1 - phi) is t_a / (1 - s_i) on symmetric and t_a / (1 + s_i) on antisymmetric
    parts between face and rest. It is (t_a + t_b) / 2 on antisymmetric parts within the face, and
    t_a beyond the square. On symmetric parts within the face it is infinite: there dS is given and
    dM free.
    """

    even: Array
    odd: Array
    below: Array

    @classmethod
    def of(cls, excess: Array, gaps: Array, p: int) -> Parts:
        """Return square roots of the weights, for p rows."""
        r, q = len(excess), len(excess) + len(gaps)
        even, odd = np.zeros((q, q)), np.zeros((q, q))
        across = excess[:, None]
        even[:r, r:] = across / gaps
        odd[:r, r:] = across / (2.0 - gaps)
        even[r:, :r], odd[r:, :r] = even[:r, r:].T, odd[:r, r:].T
        odd[:r, :r] = (across + excess) / 2.0
        return cls(np.sqrt(even), np.sqrt(odd), np.sqrt(np.tile(excess, (p - q, 1))))

    def split(self, stack: Array) -> tuple[Array, Array]:
        """Return weighted parts of matrices, and the entries of symmetric parts in the face."""
        k, q, r = len(stack), len(self.even), self.below.shape[1]
        square = stack[:, :q]
        turned = square.transpose(0, 2, 1)
        even, odd = 0.5 * (square + turned), 0.5 * (square - turned)
        parts = (even * self.even, odd * self.odd, stack[:, q:, :r] * self.below)
        weighted = np.hstack([part.reshape(k, -1) for part in parts])
        return weighted, pack(even[:, :r, :r])

    def join(self, weighted: Array, face: Array) -> Array:
        """Return the matrix of the move from its weighted parts and its entries in the face."""
        q, (rows, r) = len(self.even), self.below.shape
        even, odd, below = np.split(weighted, [q * q, 2 * q * q])
        move = np.zeros((rows + q, q))
        move[:q] = self.even * even.reshape(q, q) + self.odd * odd.reshape(q, q)
        move[:r, :r] += unpack(face)
        move[q:, :r] = self.below * below.reshape(rows, r)
        return move


def _saddle(F: Array, C: Array, right: Array, bottom: Array) -> tuple[Array, Array]:
    """Solve F F^T x + C y = right, C^T x = bottom, with damping so that it is never singular."""
    k, size = C.shape
    H = F @ F.T
    scale = max(float(H.trace()) / k, 1e-3) if k else 1.0
    system = np.zeros((k + size, k + size))
    system[:k, :k] = H + DAMPING * scale * np.eye(k)
    system[:k, k:], system[k:, :k] = C, C.T
    np.fill_diagonal(system[k:, k:], -DAMPING / scale)
    solution = np.linalg.solve(system, np.concatenate([right, bottom]))
    return solution[:k], solution[k:]
