"""The path of soft-margin solutions from W = 0 to the hard margin, and its proposals for prices.

Prices are C times `shares`. Scaled suitably, the dual is a quadratic programme over a product of
simplices, one of size share_g for each group g, with one parameter tau. On each face tau has a
closed form. The results are not trusted: `attsvm.svm.soft` recomputes all figures.

Repeated constraints are merged first: one copy, with the sum of their prices. Slacks whose groups
contain the same matrices are equal at a minimum, so their prices add up. A matrix that a group
contains twice counts once. The merged programme has the same W, and the copies share its duals in
proportion to their prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float, Int
from attsvm.errors import SolverError
from attsvm.exact.deadline import Deadline
from attsvm.kernels.least_norm import scale_rows
from attsvm.kernels.soft import fill, follow
from attsvm.svm.bounds import TOLERANCE
from attsvm.svm.frobenius import FrobeniusAnswer, grade, solve_programme
from attsvm.svm.programme import Programme, subset

AIM = 1e-12
"""Gap at which the search stops."""

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """An end of the path of solutions: u with its free and base atoms, tau, ||sum_j u_j A_j||."""

    u: Array
    base: Array
    free: Array
    tau: np.float64
    norm: np.float64
    direction: Array


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """The programme divided by its largest ||A_j||, with the ends of its path.

    Attributes:
        size: the largest ||A_j||.
        D, Z: factors of the distinct A_j / size.
        gram: their inner products, with a zero row and column for the unused part of groups.
        kind: the row of the Gram matrix of each atom.
        owner: the group of each atom: the constraints, then one unused part per group.
        top: the point at which W leaves zero.
        bottom: the point at which W reaches the hard-margin solution; None if there is none.
        hard: that solution and its duals.
        thresholds: as `soft_thresholds`, NaN if not proved.
    """

    size: float
    D: Array
    Z: Array
    gram: Array
    kind: Array
    owner: Array
    top: _End
    bottom: _End | None
    hard: tuple[Array, Array] | None
    thresholds: tuple[float, float]


def trace(
    programme: Programme, groups: Array, shares: Array, deadline: Deadline | None = None
) -> Path:
    """Return both ends of the path, with the thresholds of C that they prove."""
    kind = matrices(programme)
    first_of = np.unique(kind, return_index=True)[1]
    D, Z, norms = scale_rows(programme.D[first_of], programme.Z[first_of])
    size = float(norms.max()) or 1.0
    m, K, lengths = len(kind), len(norms), norms / size
    gram = np.zeros((K + 1, K + 1))
    gram[:K, :K] = (D @ D.T) * (Z @ Z.T) * lengths[:, None] * lengths
    D *= lengths[:, None]
    norms = norms[kind]
    order = np.lexsort(
        (norms, groups)
    )  # the shortest row of each group; if it is zero, so is the minimum
    base = order[np.unique(groups[order], return_index=True)[1]]
    owner = np.append(groups, np.arange(len(base)))
    kind = np.append(kind, np.full(len(base), K))
    u = np.zeros(len(owner))
    u[base] = shares
    free = fill(gram, D, Z, kind, owner, u, base, 10)
    S = programme.combine(u[:m])
    norm = frobenius(S)
    least = least_of(programme.margins(S / norm), groups) if norm > 0.0 else np.zeros(len(base))
    full = (u >= 0.0).all() and (np.abs(sums_of(u[:m], groups) / shares - 1.0) <= AIM).all()
    first = math.nan
    if full and norm <= 64 * EPS * (u[:m] @ norms):
        first = math.inf
    elif full and abs(shares @ least - norm) <= TOLERANCE * norm:
        first = float(1.0 / norm)
    top = _End(u, base, free, least.max() / size * norm / size, norm / size, S)
    try:
        hard = solve_programme(programme, deadline)
    except SolverError:
        return Path(size, D, Z, gram, kind, owner, top, None, None, (first, math.nan))
    if not hard.solved:
        return Path(size, D, Z, gram, kind, owner, top, None, None, (first, math.inf))
    duals = _shared(programme, groups, shares, hard)
    proved = duals is not None
    weights = hard.weights if duals is None else duals
    scaled = weights * size * size
    sums = sums_of(scaled, groups)
    tau = 1.0 / (sums / shares).max()
    u, base = np.append(tau * scaled, shares - tau * sums), np.arange(m, len(u))
    free = np.append(scaled > 0.0, np.zeros(len(base), dtype=np.bool_))
    bottom = _End(u, base, free, tau, tau * hard.value * size, hard.W)
    last = float((sums_of(weights, groups) / shares).max() / hard.value) if proved else math.nan
    return Path(
        size, D, Z, gram, kind, owner, top, bottom, (hard.W, weights / hard.value), (first, last)
    )


def _shared(
    programme: Programme, groups: Array, shares: Array, hard: FrobeniusAnswer
) -> Array | None:
    """Return hard-margin duals that minimise the largest ratio of group sum to share.

    None if the minimum is not proved to 1e-9.
    """
    weights = hard.weights
    tight = np.flatnonzero((hard.reached <= 1.0 + TOLERANCE) | (weights > 0.0))
    D, Z, norms = scale_rows(programme.D[tight], programme.Z[tight])
    block, zero = (D @ D.T) * (Z @ Z.T), 64 * len(tight) * EPS
    try:
        if np.linalg.cholesky(block).diagonal().min() ** 2 > zero:
            return weights  # independent constraints: no other duals
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(block)
    null = vectors[:, values <= zero] / norms[:, None] * norms.max()
    if null.shape[1] == 0:
        return weights
    from scipy.optimize import linprog

    unit = float(weights.max())
    now = weights[tight] / unit
    labels = np.unique(groups[tight])
    member = (groups[tight] == labels[:, None]) / shares[labels, None]
    # min s over z: group sums of now + null z, by share, at most s, now + null z >= 0
    above = np.vstack([member @ null, -null])
    right = np.append(-member @ now, now)
    reply = linprog(
        np.append(np.zeros(null.shape[1]), 1.0),
        A_ub=np.column_stack([above, np.append(-np.ones(len(member)), np.zeros(len(now)))]),
        b_ub=right,
        bounds=(None, None),
        method="highs",
    )
    if reply.x is None:
        return None
    shared = np.zeros_like(weights)
    shared[tight] = np.maximum(now + null @ reply.x[:-1], 0.0)
    largest = float((sums_of(shared, groups) / shares).max())
    # Linear-programming duality proves the minimum: prices >= 0 with sum 1 on the group rows and
    # price^T above = 0 imply s >= -price^T right for every z.
    price = np.maximum(-reply.ineqlin.marginals, 0.0)
    price /= price[: len(member)].sum()
    proved = (
        abs(float(right @ price) + largest) <= TOLERANCE * largest
        and np.abs(price @ above).max() <= TOLERANCE * np.abs(above).max() * price.max()
        and grade(programme, shared * unit, solved=True).gap <= TOLERANCE
    )
    return shared * unit if proved else None


def candidates(programme: Programme, path: Path, C: float) -> Iterator[tuple[Array, Array]]:
    """Yield directions of W with duals, the most promising first."""
    m, top, bottom = len(path.kind) - len(path.top.base), path.top, path.bottom
    if path.thresholds[0] >= C:
        yield top.direction, C * top.u[:m]
    if path.hard is not None and path.thresholds[1] <= C:
        yield path.hard
    goal = np.float64(1.0) / (C * path.size)
    ends, square = [top], (goal * top.tau / top.norm) ** 2  # of tau
    if bottom is not None:
        ends.append(bottom)
        ends.sort(key=lambda end: abs(end.norm - goal))
        square = (goal * bottom.tau / bottom.norm) ** 2
        if goal > bottom.norm:  # the squared norm is piecewise affine in tau^2
            part = (goal**2 - bottom.norm**2) / (top.norm**2 - bottom.norm**2)
            square = bottom.tau**2 + part * (top.tau**2 - bottom.tau**2)
    for end in ends:
        u, tau = end.u.copy(), float(np.sqrt(square))
        S, tau, rate, gain, _ = follow(
            path.gram,
            path.D,
            path.Z,
            path.kind,
            path.owner,
            u,
            end.base.copy(),
            end.free.copy(),
            tau,
            0.0,
            float(top.tau),
            float(goal),
            60,
        )
        weights = u[:m]
        yield S.T, C * weights
        # If rounding makes ||sum_j w_j A_j|| exceed 1, duals a little further down the path lose
        # less than dividing all of them by this norm.
        for factor in (2.0, 4.0, 8.0, 16.0, 32.0):
            excess = (frobenius(programme.combine(C * weights)) ** 2 - 1.0) * goal**2
            lower = np.sqrt(tau * tau - factor * excess / gain)
            if not (excess > 0.0 and lower > 0.0):
                break
            weights, tau = np.maximum(weights - (tau - lower) * rate, 0.0), lower
        yield S.T, C * weights


def least_of(values: Array, groups: Array) -> Array:
    """Return the least value of each group."""
    least = np.full(int(groups.max()) + 1, np.inf)
    np.minimum.at(least, groups, values)
    return least


def sums_of(values: Array, groups: Array) -> Array:
    """Return the sum of each group."""
    return np.bincount(groups, values)


def frobenius(matrix: Array) -> np.float64:
    """Return the Frobenius norm without overflow or underflow, as a numpy number."""
    largest = np.float64(np.abs(matrix).max())
    if not 0.0 < largest < np.inf:
        return largest
    return largest * np.float64(np.linalg.norm(matrix / largest))


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """A programme without repetitions, and the map from the original constraints to it.

    Attributes:
        programme: the remaining constraints, in their order.
        groups: the slack of each of them, as labels 0, 1, ...
        prices: the price of each remaining slack.
        size: number m of constraints of the original.
        copies: constraints of the original that have a dual, one per group and matrix.
        place: for each copy, the remaining constraint that it repeats.
        part: its share of the price.
    """

    programme: Programme
    groups: Int[Array, " k"]
    prices: Float[Array, " h"]
    size: int
    copies: Int[Array, " c"]
    place: Int[Array, " c"]
    part: Float[Array, " c"]

    def spread(self, duals: Float[Array, " k"]) -> Float[Array, " m"]:
        """Return the duals of the original: each copy gets its share."""
        whole = np.zeros(self.size)
        whole[self.copies] = duals[self.place] * self.part
        return whole


def merge(programme: Programme, groups: Int[Array, " m"], prices: Float[Array, " g"]) -> Merged:
    """Merge groups that contain the same matrices; `groups` are labels 0, 1, ... of the prices.

    Matrices are compared as in `matrices`.
    """
    matrix = matrices(programme)
    kinds = int(matrix.max()) + 1
    held, copies = np.unique(groups * kinds + matrix, return_index=True)
    group, matrix = np.divmod(held, kinds)  # group by group
    sets: dict[bytes, int] = {}
    cuts = np.flatnonzero(np.diff(group)) + 1
    same = np.array([sets.setdefault(part.tobytes(), len(sets)) for part in np.split(matrix, cuts)])
    total = np.bincount(same, prices)
    _, first, place = np.unique(
        same[group] * kinds + matrix, return_index=True, return_inverse=True
    )
    order = np.argsort(copies[first])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    left = np.zeros(len(groups), dtype=np.bool_)
    left[copies[first]] = True
    return Merged(
        programme=subset(programme, left),
        groups=same[group[first[order]]],
        prices=total,
        size=len(groups),
        copies=copies,
        place=rank[place],
        part=prices[group] / total[same[group]],
    )


def matrices(programme: Programme) -> Int[Array, " m"]:
    """Return labels 0, 1, ... of the matrices by first occurrence; equal factors share a label.

    Factors must be equal bit for bit, except that 0 equals -0.
    """
    known: dict[bytes, int] = {}
    sides = np.hstack([programme.D, programme.Z]) + 0.0
    return np.array([known.setdefault(row.tobytes(), len(known)) for row in sides])
