"""The soft-margin Att-SVM with the norm itself, not its square.

  min ||W||_F + sum_g C_g xi_g   subject to   <A_j, W> >= 1 - xi_g(j),  xi >= 0,

whose dual is max sum_j w_j over w >= 0 with ||sum_j w_j A_j||_F <= 1 and group sums at most C_g.
The definition has one price C. All solutions lie on one ray. As all prices grow in proportion, W =
0 is a solution up to a first threshold, and the hard-margin solution is one from a second threshold
on. Repeated constraints are merged, with the sum of their prices, during the search. The result is
graded on all constraints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact.deadline import Deadline, is_over
from attsvm.svm.answered import Answered, Facts, bracket_in_words
from attsvm.svm.bounds import TIGHT, TOLERANCE
from attsvm.svm.methods import DENSE
from attsvm.svm.programme import Programme, Tokens, att_svm_programme
from attsvm.svm.soft_ascent import ascended
from attsvm.svm.soft_path import AIM, EPS, candidates, frobenius, least_of, merge, sums_of, trace


@dataclass(frozen=True, slots=True, eq=False)
class SoftAnswer(Answered):
    """min ||W||_F + sum_g C_g xi_g with every figure recomputed from W and from the duals.

    Attributes:
        programme: the constraints.
        C: the price of slack; the largest if prices differ.
        groups: the slack of each constraint, as labels 0, 1, ...
        prices: the price C_g of each slack.
        status: `solved`: the gap is at most 1e-9; or `bracketed`: it is wider.
        kind: `zero` if W = 0, `hard` if no slack is needed, so that W is the hard-margin solution,
            `between` otherwise.
        W: a solution, the longest one if there are several.
        value: ||W||_F.
        objective: ||W||_F + sum_g C_g xi_g.
        slacks: the slack of each constraint, max(0, 1 - least margin of its group), by input and
            token; zero without a constraint.
        margins: <A_j, W> by input and token; infinite without a constraint.
        duals: multipliers w by input and token, scaled until they are feasible.
        thresholds: (C_1, C_2): W = 0 is a solution exactly for C <= C_1, the hard-margin solution
            exactly for C >= C_2; infinite if that never happens. C_2 is NaN if floats cannot decide
            whether the hard programme is separable. Other prices keep their ratio to C.
        segment: (a, b): the solutions are t U with a <= t <= b, U the direction of W.
        primal_residual: largest shortfall of a margin plus its slack below 1.
        dual_residual: the largest of ||sum_j w_j A_j||_F - 1, the relative excess of group sums
            over their prices, and -w_j / C.
        gap: objective minus the dual value sum_j w_j, relative to the objective.
        bracket: bounds of the optimal objective, moved outward for rounding.
    """

    programme: Programme
    C: float
    groups: Int[Array, " m"]
    prices: Float[Array, " g"]
    status: Literal["solved", "bracketed"]
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
        """Always True: there is always a solution."""
        return True

    @property
    def support(self) -> Tokens:
        """Tokens whose margin is 1 minus their slack, to 1e-7: only these may have a multiplier."""
        return self.programme.by_input(self._tight)

    @property
    def degenerate(self) -> Tokens:
        """Tokens of the support whose multiplier is zero, input by input."""
        duals = self.duals[self.programme.input, self.programme.token]
        return self.programme.by_input(self._tight & (duals <= TIGHT * duals.max()))

    @property
    def _tight(self) -> Bool[Array, " m"]:
        """Whether margin plus slack is 1, to 1e-7 of 1 plus the slack."""
        at = self.programme.input, self.programme.token
        tight: Array = (self.margins + self.slacks <= 1.0 + TIGHT * (1.0 + self.slacks))[at]
        return tight

    @property
    def slack_per(self) -> Literal["constraint", "input", "group"]:
        """The unit that has its own slack; `input` if every input has one constraint."""
        if np.array_equal(self.groups, np.unique(self.programme.input, return_inverse=True)[1]):
            return "input"
        return "constraint" if len(self.prices) == len(self.groups) else "group"

    @property
    def rank(self) -> int:
        """Number of singular values of W above 1e-9 of the largest."""
        sizes = np.linalg.svd(self.W, compute_uv=False)
        return int((sizes > TOLERANCE * sizes[0]).sum())

    @property
    def heading(self) -> str:
        """The beginning of a heading: the quantity that is minimised."""
        return "Soft-margin"

    @property
    def grouping(self) -> str:
        """The end of a heading: the constraints that share a slack."""
        return f", slack per {self.slack_per}"

    @property
    def tight_margin(self) -> str:
        """The margin of support tokens, in words."""
        return "1 less their slack"

    @property
    def optimum(self) -> Facts:
        """Lines with the norm, the objective with its bracket, and the thresholds of the price."""
        return self.about_objective(" (not certified)")

    def about_objective(self, remark: str) -> Facts:
        """Return the lines about the objective, with a remark on the bracket."""
        bracket = bracket_in_words(self.bracket)
        facts = [
            ("norm", f"{self.value:.12g}"),
            ("objective", f"{self.objective:.12g} with C = {self.C:.6g}, {bracket}{remark}"),
            ("soft", _by_price(*self.thresholds)),
        ]
        low, high = self.segment
        if low != high:
            facts.append(("solutions", f"t W/|W|, {low:.6g} <= t <= {high:.6g}"))
        return facts

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return (
            f"<soft {self.programme.name} of {self.programme.sizes}, C = {self.C:.6g}: "
            f"{self.kind}, objective {self.objective:.10g}, norm {self.value:.10g}, "
            f"gap {self.gap:.1e}>"
        )


def _by_price(first: float, second: float) -> str:
    """Return in words how the soft margin changes with its price, from the two thresholds."""
    if first == math.inf:
        return "W = 0 for every C; there is no hard margin"
    start = f"W = 0 up to C = {first:.6g}"
    if math.isnan(first):
        start = "floats cannot decide up to which C W = 0"
    if second == math.inf:
        return f"{start}; there is no hard margin"
    if math.isnan(second):
        return f"{start}; floats cannot decide whether there is a hard margin"
    return f"{start}, the hard margin from C = {second:.6g} on"


def soft_att_svm(
    data: AttentionData, C: object, targets: object = None, slack: object = "constraint"
) -> SoftAnswer:
    """Solve the soft-margin Att-SVM for the optimal tokens, or for `targets`.

    Args:
        data: tokens, queries and scores.
        C: the positive price of slack; or one per constraint, in the order of the programme and
            equal within a shared slack. An input that stands for k equal ones has k times C.
        targets: one token per input, or None for the optimal ones.
        slack: `constraint` for one slack per constraint, `input` for one per input, or one integer
            per constraint that names its group. The definition shares xi_{l,t} among the queries of
            sequence l: its groups are the pairs (l, t).

    Raises:
        TiedTokensError, DataError: as `att_svm_programme` and `solve_soft`.
        SolverError: as `solve_soft`.
    """
    return solve_soft(att_svm_programme(data, targets), C, slack)


def solve_soft(
    programme: Programme,
    C: object,
    slack: object = "constraint",
    deadline: Deadline | None = None,
    *,
    bracketed: bool = False,
) -> SoftAnswer:
    """Solve the soft-margin form of a programme whose constraints are margins of at least 1.

    Beyond the thresholds the answer is known. Between them the dual is a quadratic programme over a
    product of simplices with one parameter, which has a closed form on each face. Steps are not
    trusted: the answer is graded from W and the duals alone. At the deadline the search for the
    hard margin and for better answers ends. With `bracketed`, an answer whose gap is above 1e-9 is
    returned rather than none.

    Raises:
        DataError: prices are not positive and finite, have the wrong shape, or differ within a
            group; a grouping does not fit; there are equalities, or bounds other than 1.
        SolverError: no answer has a recomputed gap below 1e-9.
    """
    if programme.keys is not None:
        raise DataError(
            "the soft margin takes tokens as they are, and these rows were rounded through keys",
            value=programme.name,
            remedy="Make the keys the tokens of a data set.",
        )
    groups = _groups(programme, slack)
    prices = _prices(C, groups)
    best: SoftAnswer | None = None
    with np.errstate(all="ignore"):  # figures that are not finite are rejected
        largest = float(prices.max())
        merged = merge(programme, groups, prices / largest)
        thresholds = math.nan, math.nan
        if len(merged.groups) > DENSE:
            proposals = ascended(merged.programme, merged.groups, largest * merged.prices, deadline)
        else:
            path = trace(merged.programme, merged.groups, merged.prices, deadline)
            thresholds = path.thresholds
            proposals = candidates(merged.programme, path, largest)
        for direction, result in proposals:
            duals = merged.spread(result)
            answer = _grade(programme, prices, groups, direction, duals, thresholds)
            if best is None or not _error(best) <= _error(answer):
                best = answer
            if _error(best) <= AIM or is_over(deadline):
                break
    if best is not None and bracketed and TOLERANCE < _error(best) < math.inf:
        return replace(best, status="bracketed")
    if best is None or not _error(best) <= TOLERANCE:
        raise SolverError(
            "active-set steps from both ends of the path left a gap above 1e-9",
            value=None if best is None else best.gap,
            remedy="C times the largest constraint is beyond float64, or constraints differ too "
            "much in size or are barely separable or unseparable: choose a smaller C, or rescale.",
        )
    return best


def soft_thresholds(
    programme: Programme, slack: object = "constraint", prices: object = 1.0
) -> tuple[float, float]:
    """Return (C_1, C_2): W = 0 solves exactly for C <= C_1, the hard margin for C >= C_2.

    The price of a slack is C times its entry p_g of `prices`. 1 / C_1 is the least norm of sum_j
    w_j A_j over w >= 0 with group sums p_g. C_2 is the smallest possible maximum over g of (group
    sum / p_g) over hard-margin duals, divided by ||W_hard||. They are infinite if that norm is
    zero, or if no W separates.

    Raises:
        DataError: as `solve_soft`.
        SolverError: the recomputed bounds of a threshold differ by more than 1e-9.
    """
    groups = _groups(programme, slack)
    with np.errstate(all="ignore"):
        merged = merge(programme, groups, _prices(prices, groups))
        thresholds = trace(merged.programme, merged.groups, merged.prices).thresholds
    if math.isnan(sum(thresholds)):
        raise SolverError(
            "a threshold could not be proved to 1e-9",
            value=thresholds,
            remedy="Constraints differ too much in size, or are barely separable or unseparable: "
            "rescale, or decide separability exactly with attsvm.exact.decide.",
        )
    return thresholds


def _prices(C: object, groups: Array) -> Array:
    """Return the price of each group, from one price for all or one per constraint.

    Raises:
        DataError: as `solve_soft`.
    """
    m, one = len(groups), isinstance(C, Real) and not isinstance(C, bool | np.bool_)
    try:
        inputs = np.asarray(float(C) if one else C)  # type: ignore[arg-type]
    except (ValueError, OverflowError):  # ragged rows, or an integer beyond floats
        inputs = np.empty(0)
    known = inputs.dtype.kind in "iuf" and inputs.shape == (() if one else (m,))
    values = np.broadcast_to(inputs, m).astype(np.float64) if known else np.zeros(m)
    if not ((values > 0.0) & (values < np.inf)).all():
        raise DataError(
            f"the price of slack is a positive finite number, or {m} of them, one per constraint",
            value=C,
            remedy="Choose a price of slack.",
        )
    prices = np.empty(int(groups.max()) + 1)
    prices[groups] = values
    if (prices[groups] != values).any():
        raise DataError(
            "constraints that share a slack have one price",
            value=C,
            remedy="Give the constraints of a group the same price.",
        )
    return prices


def _groups(programme: Programme, slack: object) -> Array:
    """Return a label 0, 1, ... for each constraint: constraints with one label share a slack."""
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
            f'slack must be "constraint", "input" or {m} integers, one group per constraint',
            value=slack,
            remedy="Give constraints that share a slack the same integer.",
        )
    return np.unique(ids, return_inverse=True)[1]


def _grade(
    programme: Programme,
    prices: Array,
    groups: Array,
    direction: Array,
    duals: Array,
    thresholds: tuple[float, float],
) -> SoftAnswer:
    """Return the best W on the ray of `direction`, with all figures recomputed.

    The duals are divided by a number that makes them feasible.
    """
    size, norms = frobenius(direction), programme.norms
    U = direction / size if size > 0.0 else np.zeros_like(direction)
    longest = -least_of(-norms, groups)
    near, end = _ray(prices, least_of(programme.margins(U), groups), longest)
    W, value, margins, slacks, objective = _point(programme, prices, groups, end * U)
    while True:
        # rounding may leave tight margins short; a longer W can cost less than their slack
        small = slacks <= np.minimum(AIM * (1.0 + value * longest), TOLERANCE)
        if not float(prices[small] @ slacks[small]) > EPS * value:
            break
        longer = _point(programme, prices, groups, W * (1.0 + 2.0 * slacks[small].max()))
        if not longer[-1] < objective:
            break
        W, value, margins, slacks, objective = longer
    weights = np.maximum(duals, 0.0)
    S = frobenius(programme.combine(weights))
    scale = float(np.max([1.0, S, (sums_of(weights, groups) / prices).max()]))
    weights = weights / scale
    dual = float(weights.sum())
    unit = EPS * (len(norms) + sum(direction.shape))
    upper = objective + unit * value * (1.0 + float(prices @ longest))
    lower = dual * (1.0 - unit) / (1.0 + unit * float(weights @ norms))
    unused = (slacks <= np.minimum(AIM * (1.0 + value * longest), TOLERANCE)).all()
    excess = np.array([S / scale - 1.0, (sums_of(weights, groups) / prices).max() - 1.0])
    return SoftAnswer(
        programme=programme,
        C=float(prices.max()),
        groups=groups,
        prices=prices,
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
    programme: Programme, prices: Array, groups: Array, W: Array
) -> tuple[Array, float, Array, Array, float]:
    """Return W, its norm, margins, slacks by group, and the objective."""
    value, margins = float(frobenius(W)), programme.margins(W)
    slacks = np.maximum(0.0, 1.0 - least_of(margins, groups))
    return W, value, margins, slacks, value + float(prices @ slacks)


def _error(answer: SoftAnswer) -> float:
    """Return the largest figure that should be zero; infinite if a figure is not a number."""
    figures = [abs(answer.gap), answer.primal_residual, answer.dual_residual]
    worst = float(np.max(figures))
    return worst if math.isfinite(worst) and np.isfinite(answer.W).all() else math.inf


def _ray(prices: Array, least: Array, longest: Array) -> tuple[float, float]:
    """Return all t >= 0 that minimise t + sum_g C_g max(0, 1 - t least_g), as an interval.

    `longest` bounds ||A_j|| in each group: slopes within rounding of zero count as zero.
    """
    order = np.argsort(-least)
    ends = np.append(0.0, 1.0 / least[order[least[order] > 0.0]])
    # The function is convex and piecewise linear. A group loses its slack at t = 1 / least_g, so to
    # the right of `ends[k]` the slope is 1 minus the sum of C_g least_g over groups that end later.
    slopes, flat = np.ones(len(ends)), np.zeros(len(ends))
    slopes[:-1] -= np.cumsum((prices * least)[order][::-1])[::-1][: len(ends) - 1]
    room = np.cumsum((prices * longest)[order][::-1])[::-1]
    flat[:-1] = 4 * EPS * (1.0 + room[: len(ends) - 1])
    near, far = float(ends[np.argmax(slopes >= -flat)]), float(ends[np.argmax(slopes > flat)])
    return (far, far) if far - near <= TOLERANCE * far else (near, far)
