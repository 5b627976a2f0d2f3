"""Answers in floats for `solve`, with residuals and gaps of these floats proved in rationals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from flint import arb, ctx, fmpq

from attsvm._types import Array, Float
from attsvm.errors import SolverError
from attsvm.exact.numbers import Vector, dot, integers, norm, rational, rationals
from attsvm.exact.optimality import norm_bracket, soft_bracket
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import ExactAnswer, nearest
from attsvm.svm.bounds import TOLERANCE, margins_about, size_up
from attsvm.svm.frobenius import FrobeniusAnswer, bracketed, unseparable
from attsvm.svm.nuclear import NuclearAnswer
from attsvm.svm.programme import Programme, Unlisted
from attsvm.svm.soft import SoftAnswer

LARGEST_EVALUATED = 400_000
"""Maximum number of entries of D and Z together for which margins are evaluated in rationals."""

LARGEST_GAP = 1e-6
"""Maximum relative gap of a matrix that was made longer to meet its margins."""

BITS = 128
"""Precision of balls in bits."""


def rounded_up(value: fmpq) -> float:
    """Return the least float that is at least the rational."""
    near = nearest(value)
    if not math.isfinite(near) or rational(near) >= value:
        return near
    return math.nextafter(near, math.inf)


def handed_out(programme: Programme, exact: ExactAnswer) -> FrobeniusAnswer:
    """Return the exact answer in floats, with the residual and the gap of these floats.

    A solution is rounded once, entry by entry. If that leaves a margin short by more than 1e-9,
    slightly longer matrices are tried. If none of them meets the margins with a small gap, the
    status is `solved in rationals`. Residuals and gaps are rounded up.
    """
    rows = ExactProgramme.of(programme)
    if exact.status == "unseparable":
        return _farkas(programme, rows, exact)
    near = replace(in_floats(programme, rows, exact, fmpq(1)), known=_least_norm(exact))
    if near.primal_residual <= TOLERANCE and near.gap <= TOLERANCE:
        return near
    for times in (1, 2, 4):
        if near.primal_residual > LARGEST_GAP:
            break
        factor = 1 + times * rational(near.primal_residual)
        longer = in_floats(programme, rows, exact, factor)
        if longer.primal_residual <= TOLERANCE and longer.gap <= LARGEST_GAP:
            return replace(longer, known=near.known)
    return replace(near, status="solved in rationals")


def _least_norm(exact: ExactAnswer) -> tuple[float, float]:
    """Return two floats, a lower and an upper bound of the exact least norm."""
    least = arb(exact.square).sqrt()
    low, high = float(least.lower()), float(least.upper())
    return math.nextafter(low, 0.0), math.nextafter(high, math.inf)


def best_bracket(
    programme: Programme, proposals: Sequence[Float[Array, " m"]], noted: Sequence[Vector]
) -> FrobeniusAnswer | None:
    """Return the tightest bracket from multipliers in floats and in rationals; None without one.

    Rationals are evaluated exactly. Negative multipliers of inequalities are set to 0.
    """
    best = bracketed(programme, proposals)
    if not noted:
        return best
    rows = ExactProgramme.of(programme)
    for weights in noted:
        duals = [
            w if free else max(w, fmpq(0)) for w, free in zip(weights, rows.equal, strict=True)
        ]
        W = np.array([[nearest(x) for x in row] for row in rows.matrix(duals)])
        if not np.isfinite(W).all():
            continue
        with ctx.workprec(BITS):
            lower, upper = norm_bracket(rows, rationals(W), duals)
            low, high = math.nextafter(float(lower.lower()), 0.0), _above(upper)
            size = float(norm([x for row in rationals(W) for x in row]))
        if not 0.0 < low <= high < math.inf or (best is not None and high >= best.value):
            continue
        feasible = W * (high / size)
        best = FrobeniusAnswer(
            programme=programme,
            status="bracketed",
            W=feasible,
            value=high,
            weights=np.array([nearest(w) for w in duals]),
            reached=programme.margins(feasible),
            primal_residual=0.0,
            dual_residual=0.0,
            gap=max(0.0, 1.0 - (low / high) ** 2),
            known=(low, high),
        )
    return best


def in_floats(
    programme: Programme, rows: ExactProgramme, exact: ExactAnswer, factor: fmpq
) -> FrobeniusAnswer:
    """Return the exact solution times a factor, rounded entry by entry, and graded in rationals."""
    W = np.array([[nearest(factor * x) for x in row] for row in exact.W])
    weights = np.array([nearest(w) for w in exact.duals])
    reached, shortfall, gap, value = np.full(len(weights), np.nan), math.inf, math.inf, math.inf
    if np.isfinite(W).all():
        margins = rows.float_margins(W)
        reached = np.array([nearest(m) for m in margins])
        shortfall = rounded_up(max(fmpq(0), *(1 - m for m in margins)))
        numer, unit = integers(W)
        square = fmpq(sum((x * x for row in numer.tolist() for x in row), 0 * unit), unit * unit)
        away = square - exact.square
        gap = rounded_up(max(away, -away) / square) if square else math.inf
        with ctx.workprec(BITS):
            value = float(arb(square).sqrt())
    return FrobeniusAnswer(programme, "solved", W, value, weights, reached, shortfall, 0.0, gap)


def _farkas(programme: Programme, rows: ExactProgramme, exact: ExactAnswer) -> FrobeniusAnswer:
    """Return the Farkas multipliers of gain 1, rounded to floats.

    The residual is ||sum_j w_j A_j|| of these floats, relative to sum_j w_j ||A_j|| and rounded up.
    """
    gain = dot(exact.duals, exact.bound)
    weights = np.array([nearest(w / gain) for w in exact.duals])
    held = [rational(w) for w in weights.tolist()]
    unit = rows.unit_left * rows.unit_right
    with ctx.workprec(BITS):
        lengths = [
            norm(x) * norm(z) / unit for x, z in zip(rows.D.tolist(), rows.Z.tolist(), strict=True)
        ]
        away = norm([x for row in rows.matrix(held) for x in row])
        total = dot(held, lengths)
        residual = 0.0 if away == 0 else _above(away / total)
    return unseparable(programme, weights, residual)


def evaluated(answer: FrobeniusAnswer | NuclearAnswer) -> FrobeniusAnswer | NuclearAnswer:
    """Return the answer with the exact margins of its W, and a residual that is rounded up.

    The figures of an answer whose rows are not written out include rounding already.
    """
    if not answer.solved:
        return answer
    if (
        isinstance(answer, FrobeniusAnswer)
        and isinstance(answer.programme, Unlisted)
        and answer.known
    ):
        return answer
    reached, least = _margins(answer.programme, answer.W)
    return replace(answer, reached=reached, primal_residual=short_of(1.0, least))


def evaluated_soft(answer: SoftAnswer) -> SoftAnswer:
    """Return the answer with margins, slacks, objective and bracket evaluated in rationals.

    Slacks are rounded up, so that W and these slacks meet the constraints. If the gap evaluated
    this way exceeds 1e-9, the status is `bracketed`.

    Raises:
        SolverError: evaluated this way, there is no bracket.
    """
    programme, groups = answer.programme, answer.groups
    reached, _ = _margins(programme, answer.W)
    rows = ExactProgramme.of(programme)
    slack = [fmpq(0)] * len(answer.prices)
    for g, margin in zip(groups.tolist(), rows.float_margins(answer.W), strict=True):
        slack[g] = max(slack[g], 1 - margin)
    slacks = np.array([rounded_up(x) for x in slack])
    prices = {g: rational(price) for g, price in enumerate(answer.prices.tolist())}
    duals = answer.duals[programme.input, programme.token]
    with ctx.workprec(BITS):
        lower, upper = soft_bracket(
            rows, groups.tolist(), prices, rationals(answer.W), rationals(duals)
        )
        low = max(0.0, math.nextafter(float(lower.lower()), 0.0))
        high = _above(upper)
        gap = 0.0 if upper == lower else _above((upper - lower) / upper)
        objective = float(upper)
    if not high < math.inf or not low > 0.0:
        raise SolverError(
            "the soft margin has no bracket when evaluated in rational arithmetic",
            value=gap,
            remedy="Constraints nearly cancel each other: rescale, or drop nearly parallel tokens.",
        )
    return replace(
        answer,
        status="solved" if gap <= TOLERANCE else "bracketed",
        margins=programme.table(reached, np.inf),
        slacks=programme.table(slacks[groups], 0.0),
        objective=objective,
        primal_residual=0.0,
        gap=gap,
        bracket=(low, high),
    )


def _above(ball: arb) -> float:
    """Return a float above all numbers of the ball."""
    return math.nextafter(float(ball.upper()), math.inf)


def _margins(
    programme: Programme, W: Float[Array, "d e"]
) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
    """Return the margins of W as floats, and lower bounds by rationals or outward rounding."""
    if programme.entries > LARGEST_EVALUATED:
        reached, noise = margins_about(programme, W, size_up(W))
        return reached, np.nextafter(reached - noise, -np.inf)
    margins = ExactProgramme.of(programme).float_margins(W)
    least = np.array([-rounded_up(-m) for m in margins])
    return np.array([nearest(m) for m in margins]), least


def short_of(bound: float, least: Float[Array, " m"]) -> float:
    """Return an upper bound of how far the least value is below the bound; NaN is kept."""
    lowest = float(np.min(least))
    return 0.0 if lowest >= bound else math.nextafter(bound - lowest, math.inf)
