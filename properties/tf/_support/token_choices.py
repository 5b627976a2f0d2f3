"""Choices of one token an input, their Local-SVM, and what makes them locally optimal."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactData, dot, rational
from attsvm.strategies import arrays, sizes
from attsvm.theory import Slack
from properties._support.programmes import (
    EPS,
    OPEN,
    Solution,
    anything,
    best_margin,
    exactly,
    first_optimal,
    flat,
    optimum,
    solve,
    without,
)
from properties._support.separable_data import crowd, preferring, separated, separated_larger


@dataclass(frozen=True, slots=True)
class Choice:
    """A data set and the token alpha_i that each input selects."""

    data: AttentionData
    alpha: Array


@st.composite
def separable(draw: st.DrawFn) -> AttentionData:
    """Data whose optimal tokens are unique and separable."""
    X, Z, chosen, _ = draw(separated())
    return AttentionData(X, Z, scores=preferring(chosen, draw(arrays(*X.shape[:2]))))


def separable_larger(generator: np.random.Generator) -> AttentionData:
    """The same at larger sizes."""
    X, Z, chosen, _ = separated_larger(generator)
    scores = generator.integers(-8, 9, size=X.shape[:2]) / 4
    return AttentionData(X, Z, scores=preferring(chosen, scores))


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    """Separable choices with rivals at the margin and beyond it."""
    X, Z, alpha, _ = draw(separated())
    n, T = X.shape[:2]
    scores, by = draw(arrays(n, T + 1)), draw(sizes(1, T - 1))
    if draw(st.booleans()):
        scores[:, :T] = preferring(alpha, scores[:, :T])
    factor = np.full(n, draw(st.sampled_from([2.0, 1.0, 1.5])))
    return _rivalled(X, Z, alpha, by, factor, scores)


def choices_larger(generator: np.random.Generator) -> Choice:
    """The same at larger sizes."""
    X, Z, alpha, _ = separated_larger(generator)
    n, T = X.shape[:2]
    scores = generator.integers(-8, 9, size=(n, T + 1)) / 4
    if generator.random() < 0.5:
        scores[:, :T] = preferring(alpha, scores[:, :T])
    return _rivalled(X, Z, alpha, 1, generator.choice([2.0, 1.0], size=n), scores)


def _rivalled(X: Array, Z: Array, alpha: Array, by: int, factor: Array, scores: Array) -> Choice:
    """One token more an input, in the first a rival."""
    wide = crowd(X, alpha, (alpha + by) % X.shape[1], factor, np.ones(len(X)))
    scores[0, -1] = scores[0, alpha[0]] + 1.0
    return Choice(AttentionData(wide, np.pad(Z, ((0, 0), (0, 1))), scores=scores), alpha)


def unique(data: AttentionData) -> bool:
    """Optimal tokens are unique."""
    return ExactData.of(data).unique


def feasible(data: AttentionData) -> bool:
    """Att-SVM has a solution."""
    return exactly(data) is not None


def separates(case: Choice) -> bool:
    """Local-SVM has a solution for alpha."""
    return exactly(case.data, case.alpha) is not None


def has_rival(case: Choice) -> bool:
    """Some token has at least the score of the chosen one of its input."""
    return bool(rivals(case).any())


def rivals(case: Choice) -> Array:
    """The tokens (n, T) of at least the score of the chosen one, as given."""
    rows = np.arange(case.data.n)
    scores = present(case.data.scores, "the scores")
    mask: Array = scores >= scores[rows, case.alpha][:, None]
    mask[rows, case.alpha] = False
    return mask & case.data.present


def locally_optimal(data: AttentionData, over: str, worst: bool) -> Slack:
    """The least of 1/||W^mm|| and of what the definition compares, 1 where that is nothing.

    `all`: gamma_opt - gamma_it for all t. `support`: the margin less 1 of every t with a score that
    is not below, since t is in T_i where its margin is 1. `each`, no part of the definition: 1 less
    the least margin of every input, negative where it has no support index.
    """
    chosen, open_ = optimum(data), Slack(0.0, math.inf, "strict")
    if worst and chosen is not None:
        chosen = np.where(data.present, data.gamma, np.inf).argmin(axis=1)
    if chosen is None:
        return open_
    low, high = best_margin(data, chosen) if anything(data) else (1.0, 1.0)
    parts, error = [(low + high) / 2, 1.0], (high - low) / 2 + 4 * EPS * high
    own = data.gamma[np.arange(data.n), chosen][:, None]
    others = data.present & (np.arange(data.T) != chosen[:, None])
    if over == "all":
        parts += list((own - data.gamma)[others])
        sizes_ = np.abs(data.gamma) if data.v is None else np.abs(data.X) @ np.abs(data.v)
        error += 2 * EPS * (data.d + 2) * float(sizes_.max())
    elif low > 0.0 and anything(data):
        found = solve(data, chosen)
        if found is None or found.answer is None:
            return open_
        margins, e = found.answer.margins, _margin_error(found)
        if over == "each":
            least = margins.min(axis=1)
            return Slack(float(1 - least[np.isfinite(least)].max()), e)
        parts += list(margins[others & (data.gamma >= own)] - 1)
        error += e
    return Slack(float(min(parts)), error, "strict") if math.isfinite(error) else open_


def _margin_error(found: Solution) -> float:
    """Bound of the error of all margins."""
    if found.answer is None:
        return 0.0
    size = found.error + 8 * EPS * (len(found.W) + 4) * float(np.linalg.norm(found.W))
    return float(found.answer.programme.norms.max()) * size


def exactly_locally_optimal(data: AttentionData, over: str, worst: bool) -> arb:
    """The same, in rationals but for the root; 0 in place of 1/||W^mm|| where there is none."""
    exact = ExactData.of(data)
    rows = [g.index(min(g)) for g in exact.gamma] if worst else first_optimal(exact)
    chosen = np.array([kept[r] for kept, r in zip(exact.kept, rows, strict=True)])
    gaps = {
        (i, kept[t]): scores[row] - score
        for i, (kept, scores, row) in enumerate(zip(exact.kept, exact.gamma, rows, strict=True))
        for t, score in enumerate(scores)
        if t != row
    }
    found = exactly(data, chosen)
    if over == "each" and found is not None and found.A:
        inputs = {i for i, _ in found.A}
        least = [min(m for (k, _), m in found.margins.items() if k == i) for i in inputs]
        return arb(1 - max(least))
    parts = [fmpq(1)]
    if over == "all":
        parts += gaps.values()
    elif found is not None:
        parts += [found.margins[t] - 1 for t, gap in gaps.items() if gap <= 0]
    compared = min(parts)
    if found is None:
        return arb(min(compared, fmpq(0)))
    lesser = compared <= 0 or compared * compared * found.square <= 1
    return arb(compared) if lesser else 1 / arb(found.square).sqrt()


def least_rival_margin(case: Choice, floor: float, thin: bool, greatest: bool) -> Slack:
    """The least margin of rivals under W^mm(alpha), against max(1, that without rivals)."""
    mask = rivals(case)
    whole = solve(case.data, case.alpha)
    rest = solve(without(case.data, mask), case.alpha)
    if whole is None or rest is None or whole.answer is None or not mask.any():
        return OPEN
    programme = whole.answer.programme
    named = mask[programme.input, programme.token]
    least = float(whole.answer.reached[named].min())
    under = programme.margins(rest.W)[named]
    size = rest.error + 8 * EPS * (case.data.d + 4) * float(np.linalg.norm(rest.W))
    error = _margin_error(whole) + float(programme.norms.max()) * size
    other = float(under.max() if greatest else under.min()) if thin else floor
    return Slack.equal(least - max(floor, other), error)


def exactly_least_rival_margin(
    case: Choice, floor: float, thin: bool, greatest: bool
) -> arb | None:
    """Minus the distance of the two, in rationals."""
    mask = rivals(case)
    whole = exactly(case.data, case.alpha)
    rest = exactly(without(case.data, mask), case.alpha)
    if whole is None or rest is None or not mask.any():
        return None
    named = [t for t in whole.A if mask[t]]
    under = [dot(whole.A[t], flat(rest.W)) for t in named]
    other = (max(under) if greatest else min(under)) if thin else rational(floor)
    return arb(-abs(min(whole.margins[t] for t in named) - max(rational(floor), other)))
