"""The soft-margin Att-SVM with the norm itself, not its square (sim, definition 4.1).

    min ||W||_F + C sum_g xi_g   subject to   <A_j, W> >= 1 - xi_g(j),  xi >= 0,

whose dual is max sum_j w_j over w >= 0 with ||sum_j w_j A_j||_F <= 1 and group sums at most C.
All solutions lie on one ray. W = 0 is one up to a first threshold of C, and the hard-margin
solution is one from a second threshold on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.kernels.least_norm import scale_rows
from attsvm.kernels.soft import fill, follow
from attsvm.svm.frobenius import TIGHT, TOLERANCE, FrobeniusAnswer, grade, solve_programme
from attsvm.svm.programme import Programme, att_svm_programme

__all__ = ["SoftAnswer", "soft_att_svm", "soft_thresholds", "solve_soft"]

AIM = 1e-12
"""Gap from which no further attempt is made."""

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, eq=False)
class SoftAnswer:
    """min ||W||_F + C sum_g xi_g with every figure recomputed from W and from the duals.

    Attributes:
        programme: the constraints.
        C: the price of slack.
        groups: which slack each constraint has, as labels 0, 1, ...
        status: `solved`: the gap is at most 1e-9.
        kind: `zero` where W = 0, `hard` where no slack is needed, so that W is the hard-margin
            solution, `between` otherwise.
        W: a solution, the longest one where there are several.
        value: ||W||_F.
        objective: ||W||_F + C sum_g xi_g.
        slacks: the slack of each constraint, max(0, 1 - least margin of its group), by input and
            token; zero where nothing is constrained.
        margins: <A_j, W> by input and token; infinite where nothing is constrained.
        duals: multipliers w by input and token, scaled until they are feasible.
        thresholds: (C_1, C_2): W = 0 is a solution exactly for C <= C_1, the hard-margin solution
            exactly for C >= C_2; infinite where that never happens. C_2 is NaN where floats do
            not tell whether the hard programme is separable.
        segment: (a, b): the solutions are t U with a <= t <= b, U the direction of W.
        primal_residual: largest shortfall of a margin plus its slack below 1.
        dual_residual: largest of ||sum_j w_j A_j||_F - 1, the relative excess of group sums over
            C, and -w_j / C.
        gap: objective minus the dual value sum_j w_j, relative to the objective.
        bracket: bounds of the optimal objective, outward by an allowance for rounding.
    """

    programme: Programme
    C: float
    groups: Int[Array, " m"]
    status: Literal["solved"]
    kind: Literal["zero", "between", "hard"]
    W: Float[Array, "d e"]
    value: float
    objective: float
    slacks: Float[Array, "n T"]
    margins: Float[Array, "n T"]
    duals: Float[Array, "n T"]
    thresholds: tuple[float, float]
    segment: tuple[float, float]
    primal_residual: float
    dual_residual: float
    gap: float
    bracket: tuple[float, float]

    @property
    def solved(self) -> bool:
        """Whether there is a solution: there always is."""
        return self.status == "solved"

    @property
    def targets(self) -> Int[Array, " n"]:
        """The token that each input selects."""
        return self.programme.targets

    @property
    def support(self) -> tuple[tuple[int, ...], ...]:
        """Tokens whose margin is at most 1, to 1e-7: those that W may rest on, input by input."""
        return _by_input(self.margins <= 1.0 + TIGHT)

    @property
    def degenerate(self) -> tuple[tuple[int, ...], ...]:
        """Tokens of the support whose multiplier is zero, input by input."""
        idle = self.duals <= TIGHT * self.duals.max()
        return _by_input((self.margins <= 1.0 + TIGHT) & idle)

    @property
    def rank(self) -> int:
        """Number of singular values of W above 1e-9 of the largest."""
        sizes = np.linalg.svd(self.W, compute_uv=False)
        return int((sizes > TOLERANCE * sizes[0]).sum())

    def _repr_html_(self) -> str:
        """The page of `attsvm solve` for a notebook."""
        from attsvm.svm.page import html

        return html(self)

    def __repr__(self) -> str:
        """What a reader wants first."""
        n, T = self.programme.shape
        return (
            f"<soft {self.programme.name} of {n} inputs, {T} tokens, C = {self.C:.6g}: "
            f"{self.kind}, objective {self.objective:.10g}, norm {self.value:.10g}, "
            f"gap {self.gap:.1e}>"
        )


def soft_att_svm(
    data: AttentionData, C: object, targets: object = None, slack: object = "constraint"
) -> SoftAnswer:
    """Solve the soft-margin Att-SVM for the optimal tokens, or for `targets` (sim, definition 4.1).

    Args:
        data: tokens, queries and scores.
        C: the price of slack, positive.
        targets: one token an input, or None for the optimal ones.
        slack: `constraint` for one slack a constraint, `input` for one an input, or one integer a
            constraint that names its group. The definition shares xi_{l,t} among the queries of
            sequence l: its groups are the pairs (l, t).

    Raises:
        TiedTokensError, DataError: as `att_svm_programme` and `solve_soft`.
        SolverError: as `solve_soft`.
    """
    return solve_soft(att_svm_programme(data, targets), C, slack)


def solve_soft(programme: Programme, C: object, slack: object = "constraint") -> SoftAnswer:
    """Solve the soft-margin form of a programme whose constraints are margins of at least 1.

    Beyond the thresholds the answer is known; between them the dual is a quadratic programme over
    a product of simplices with one parameter, on whose faces the parameter has a closed form. No
    step is believed: the answer is graded from W and the duals alone.

    Raises:
        DataError: C not a positive number; a grouping that does not fit; equalities, or bounds
            other than 1.
        SolverError: no answer whose recomputed gap stays below 1e-9.
    """
    if programme.keys is not None:
        raise DataError(
            "the soft margin takes tokens as they are, and these rows were rounded through keys",
            value=programme.name,
            remedy="Make the keys the tokens of a data set.",
        )
    price, groups = _price(C), _groups(programme, slack)
    best: SoftAnswer | None = None
    with np.errstate(all="ignore"):  # figures that are not finite are refused
        path = _path(programme, groups)
        for direction, duals in _candidates(programme, path, price):
            answer = _grade(programme, price, groups, direction, duals, path.thresholds)
            if best is None or not _error(best) <= _error(answer):
                best = answer
            if _error(best) <= AIM:
                break
    if best is None or not _error(best) <= TOLERANCE:
        raise SolverError(
            "active-set steps from both ends of the path left a gap above 1e-9",
            value=None if best is None else best.gap,
            remedy="C times the largest constraint is beyond float64, or constraints differ too "
            "much in size or are separable or not by a hair: choose a smaller C, or rescale.",
        )
    return best


def soft_thresholds(programme: Programme, slack: object = "constraint") -> tuple[float, float]:
    """(C_1, C_2): W = 0 solves exactly for C <= C_1, the hard-margin solution for C >= C_2.

    1 / C_1 is the least norm of sum_j w_j A_j over w >= 0 with all group sums 1; C_2 is the least
    largest group sum of hard-margin duals, over ||W_hard||. They are infinite where that norm is
    zero and where no W separates.

    Raises:
        DataError: as `solve_soft`.
        SolverError: a threshold whose recomputed bounds differ by more than 1e-9.
    """
    groups = _groups(programme, slack)
    with np.errstate(all="ignore"):
        thresholds = _path(programme, groups).thresholds
    if math.isnan(sum(thresholds)):
        raise SolverError(
            "a threshold could not be proved to 1e-9",
            value=thresholds,
            remedy="Constraints differ too much in size, or are separable or not by a hair: "
            "rescale, or decide separability exactly with attsvm.exact.decide.",
        )
    return thresholds


def _price(C: object) -> float:
    if isinstance(C, bool | np.bool_) or not isinstance(C, Real) or not 0.0 < float(C) < math.inf:
        raise DataError(
            "C must be a positive finite number", value=C, remedy="Choose a price of slack."
        )
    return float(C)


def _groups(programme: Programme, slack: object) -> Array:
    """Labels 0, 1, ... of the slack of each constraint."""
    m = len(programme.D)
    if programme.equal.any() or (programme.bound != 1.0).any():
        raise DataError(
            "the soft margin is defined for constraints of margin at least 1",
            value=programme.name,
            remedy="Give an Att-SVM, p-SVM or v-SVM.",
        )
    if isinstance(slack, str):
        if slack == "constraint":
            return np.arange(m)
        if slack == "input":
            return np.unique(programme.input, return_inverse=True)[1]
        ids: Array = np.empty(0)
    else:
        ids = np.asarray(slack)
    if ids.dtype.kind not in "iu" or ids.shape != (m,):
        raise DataError(
            f'slack must be "constraint", "input" or {m} integers, one group a constraint',
            value=slack,
            remedy="Give constraints that share a slack the same integer.",
        )
    return np.unique(ids, return_inverse=True)[1]


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
class _Path:
    """The programme divided by its largest ||A_j||, with the ends of its path.

    Attributes:
        size: the largest ||A_j||.
        D, Z: factors of the A_j / size.
        gram: their inner products, and a zero row and column for what groups leave unused.
        owner: the group of each atom: the constraints, then one unused part a group.
        top: where W leaves zero.
        bottom: where W reaches the hard-margin solution; None where it never does.
        hard: that solution and its duals.
        thresholds: as `soft_thresholds`, NaN where not proved.
    """

    size: float
    D: Array
    Z: Array
    gram: Array
    owner: Array
    top: _End
    bottom: _End | None
    hard: tuple[Array, Array] | None
    thresholds: tuple[float, float]


def _path(programme: Programme, groups: Array) -> _Path:
    D, Z, norms = scale_rows(programme.D, programme.Z)
    size = float(norms.max()) or 1.0
    m, lengths = len(norms), norms / size
    gram = np.zeros((m + 1, m + 1))
    gram[:m, :m] = (D @ D.T) * (Z @ Z.T) * lengths[:, None] * lengths
    D *= lengths[:, None]
    order = np.lexsort((norms, groups))  # the shortest of each group, where a zero row ends it
    base = order[np.unique(groups[order], return_index=True)[1]]
    owner = np.append(groups, np.arange(len(base)))
    u = np.zeros(len(owner))
    u[base] = 1.0
    free = fill(gram, D, Z, owner, u, base, 10)
    S = programme.combine(u[:m])
    norm = _norm(S)
    least = _least(programme.margins(S / norm), groups) if norm > 0.0 else np.zeros(len(base))
    full = (u >= 0.0).all() and (np.abs(_sums(u[:m], groups) - 1.0) <= AIM).all()
    first = math.nan
    if full and norm <= 64 * EPS * (u[:m] @ norms):
        first = math.inf
    elif full and abs(least.sum() - norm) <= TOLERANCE * norm:
        first = float(1.0 / norm)
    top = _End(u, base, free, least.max() / size * norm / size, norm / size, S)
    try:
        hard = solve_programme(programme)
    except SolverError:
        return _Path(size, D, Z, gram, owner, top, None, None, (first, math.nan))
    if not hard.solved:
        return _Path(size, D, Z, gram, owner, top, None, None, (first, math.inf))
    duals = _shared(programme, groups, hard)
    proved = duals is not None
    weights = hard.weights if duals is None else duals
    scaled = weights * size * size
    sums = _sums(scaled, groups)
    tau = 1.0 / sums.max()
    u, base = np.append(tau * scaled, 1.0 - tau * sums), np.arange(m, len(u))
    free = np.append(scaled > 0.0, np.zeros(len(base), dtype=np.bool_))
    bottom = _End(u, base, free, tau, tau * hard.value * size, hard.W)
    last = float(_sums(weights, groups).max() / hard.value) if proved else math.nan
    return _Path(
        size, D, Z, gram, owner, top, bottom, (hard.W, weights / hard.value), (first, last)
    )


def _shared(programme: Programme, groups: Array, hard: FrobeniusAnswer) -> Array | None:
    """Among the duals of the hard solution, those whose largest group sum is least, if proved."""
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
    member = (groups[tight] == np.unique(groups[tight])[:, None]).astype(np.float64)
    # min s over z: group sums of now + null z at most s, now + null z >= 0
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
    largest = float(_sums(shared, groups).max())
    price = np.maximum(-reply.ineqlin.marginals, 0.0)
    price /= price[: len(member)].sum()
    proved = (
        abs(float(right @ price) + largest) <= TOLERANCE * largest
        and np.abs(price @ above).max() <= TOLERANCE * np.abs(above).max() * price.max()
        and grade(programme, shared * unit, solved=True).gap <= TOLERANCE
    )
    return shared * unit if proved else None


def _candidates(programme: Programme, path: _Path, C: float) -> Iterator[tuple[Array, Array]]:
    """Directions of W with duals, the likeliest first."""
    m, top, bottom = len(path.D), path.top, path.bottom
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
        # where rounding leaves their sum too long, duals a little further down the path are
        # better than all of them scaled
        for factor in (2.0, 4.0, 8.0, 16.0, 32.0):
            excess = (_norm(programme.combine(C * weights)) ** 2 - 1.0) * goal**2
            lower = np.sqrt(tau * tau - factor * excess / gain)
            if not (excess > 0.0 and lower > 0.0):
                break
            weights, tau = np.maximum(weights - (tau - lower) * rate, 0.0), lower
        yield S.T, C * weights


def _grade(
    programme: Programme,
    C: float,
    groups: Array,
    direction: Array,
    duals: Array,
    thresholds: tuple[float, float],
) -> SoftAnswer:
    """The best point on a ray, and every figure from it and from the duals made feasible."""
    size, norms = _norm(direction), programme.norms
    U = direction / size if size > 0.0 else np.zeros_like(direction)
    longest = -_least(-norms, groups)
    near, end = _ray(C, _least(programme.margins(U), groups), longest)
    W, value, margins, slacks, objective = _point(programme, C, groups, end * U)
    for _ in range(3):
        # where rounding leaves tight margins short, a longer W may cost less than their slack
        rounding = slacks[slacks <= np.minimum(AIM * (1.0 + value * longest), TOLERANCE)]
        if not C * float(rounding.sum()) > EPS * value:
            break
        longer = _point(programme, C, groups, W * (1.0 + 2.0 * rounding.max()))
        if not longer[-1] < objective:
            break
        W, value, margins, slacks, objective = longer
    weights = np.maximum(duals, 0.0)
    S = _norm(programme.combine(weights))
    scale = float(np.max([1.0, S, _sums(weights, groups).max() / C]))
    weights = weights / scale
    dual = float(weights.sum())
    unit = EPS * (len(norms) + sum(direction.shape))
    upper = objective + unit * value * (1.0 + C * float(longest.sum()))
    lower = dual * (1.0 - unit) / (1.0 + unit * float(weights @ norms))
    unused = (slacks <= np.minimum(AIM * (1.0 + value * longest), TOLERANCE)).all()
    excess = np.array([S / scale - 1.0, _sums(weights, groups).max() / C - 1.0])
    return SoftAnswer(
        programme=programme,
        C=C,
        groups=groups,
        status="solved",
        kind="zero" if value == 0.0 else "hard" if unused else "between",
        W=W,
        value=value,
        objective=objective,
        slacks=programme.table(slacks[groups], 0.0),
        margins=programme.table(margins, np.inf),
        duals=programme.table(weights, 0.0),
        thresholds=thresholds,
        segment=(value if near == end else near, value),
        primal_residual=float(np.maximum(0.0, 1.0 - slacks[groups] - margins).max()),
        dual_residual=float(np.maximum(0.0, excess).max()),
        gap=(objective - dual) / objective,
        bracket=(lower, upper),
    )


def _point(
    programme: Programme, C: float, groups: Array, W: Array
) -> tuple[Array, float, Array, Array, float]:
    """W, its norm, margins, slacks by group, and the objective."""
    value, margins = float(_norm(W)), programme.margins(W)
    slacks = np.maximum(0.0, 1.0 - _least(margins, groups))
    return W, value, margins, slacks, value + C * float(slacks.sum())


def _error(answer: SoftAnswer) -> float:
    """The largest figure that should be zero; infinite where one is not a number."""
    figures = [abs(answer.gap), answer.primal_residual, answer.dual_residual]
    worst = float(np.max(figures))
    return worst if math.isfinite(worst) and np.isfinite(answer.W).all() else math.inf


def _ray(C: float, least: Array, longest: Array) -> tuple[float, float]:
    """All t >= 0 that minimise t + C sum_g max(0, 1 - t least_g), as an interval.

    `longest` bounds ||A_j|| in each group: slopes within rounding of zero count as zero.
    """
    order = np.argsort(-least)
    ends = np.append(0.0, 1.0 / least[order[least[order] > 0.0]])
    # beyond each end, groups with a larger least margin have no slack any more
    slopes, flat = np.ones(len(ends)), np.zeros(len(ends))
    slopes[:-1] -= C * np.cumsum(least[order][::-1])[::-1][: len(ends) - 1]
    flat[:-1] = 4 * EPS * (1.0 + C * np.cumsum(longest[order][::-1])[::-1][: len(ends) - 1])
    near, far = float(ends[np.argmax(slopes >= -flat)]), float(ends[np.argmax(slopes > flat)])
    return (far, far) if far - near <= TOLERANCE * far else (near, far)


def _by_input(table: Array) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(t) for t in np.flatnonzero(row)) for row in table)


def _least(values: Array, groups: Array) -> Array:
    """The least value of each group."""
    least = np.full(int(groups.max()) + 1, np.inf)
    np.minimum.at(least, groups, values)
    return least


def _sums(values: Array, groups: Array) -> Array:
    """The sum of each group."""
    return np.bincount(groups, values)


def _norm(matrix: Array) -> np.float64:
    """The Frobenius norm without overflow or underflow; a numpy number, which never raises."""
    largest = np.float64(np.abs(matrix).max())
    if not 0.0 < largest < np.inf:
        return largest
    return largest * np.float64(np.linalg.norm(matrix / largest))
