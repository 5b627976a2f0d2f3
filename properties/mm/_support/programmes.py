"""The three programmes in floats, every figure with a bound on its error.

For rows D_j with bounds b_j in {0, 1} let p be the least vector with <D_j, p> >= b_j, and
C = {sum_j l_j D_j : l >= 0, <b, l> = 1}. Then 1/||p|| is the distance of C from 0, the *margin* of
the programme: 0 where there is no p, infinite where nothing is demanded. Multipliers give a point
of C, which bounds the margin from above, and a vector q with <D_j, q> >= b_j bounds it from below
by 1/||q||. Such a q lies within sqrt(||q||^2 - ||p||^2) of p. So floats enclose margin and
solution by what they return, with nothing assumed of how they were found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array
from attsvm.errors import SolverError, present
from attsvm.svm import FrobeniusAnswer, Programme, joint_svm, p_svm, solve_programme, v_svm
from attsvm.svm.programme import joint_programme, p_svm_programme, subset, v_svm_programme
from attsvm.theory import Slack
from properties.mm._support.exact_programmes import Exact, essential, exact_v, select_rows
from properties.mm._support.token_selections import Selection

__all__ = [
    "UNKNOWN",
    "Found",
    "Joint",
    "find",
    "find_alone",
    "find_essential",
    "find_joint",
    "find_kept",
    "find_p",
    "find_v",
    "margins",
    "nearest_point",
    "positive",
    "pythagoras",
    "same",
    "size",
]

EPS = float(np.finfo(np.float64).eps)

UNKNOWN = Slack.unknown("floats came to no answer")


@dataclass(frozen=True, slots=True)
class Found:
    """A programme's answer in floats.

    Attributes:
        vector: the solution, zero where there is none.
        margin: 1/||vector||; 0 where there is no solution, infinite where nothing is demanded.
        low, high: bounds of the true margin.
        away: bound on the distance of the vector from the true solution, infinite where none
            is known.
        answer: what the solver returned, None where there was nothing to solve.
    """

    vector: Array
    margin: float
    low: float
    high: float
    away: float
    answer: FrobeniusAnswer | None = None

    @property
    def error(self) -> float:
        """Bound on the error of the margin."""
        if self.high == self.low:  # both infinite, say
            return 0.0
        return float(np.max([self.high - self.margin, self.margin - self.low]))


def size(vector: Array) -> float:
    """Euclidean norm."""
    return float(np.linalg.norm(vector))


def find(solve: Callable[[], FrobeniusAnswer], inside: Found | None = None) -> Found | None:
    """What the solver finds, enclosed; None where it came to no answer.

    Args:
        solve: the solver.
        inside: a vector that meets every margin with 1, where margins of 0 are demanded.

    Raises:
        SolverError: an answer whose multipliers and margins are far from proving it.
    """
    try:
        answer = solve()
    except SolverError:
        return None
    vector, programme = answer.W[:, 0], answer.programme
    if not programme.bound.any():
        return _nothing(len(vector))
    low, high, away = _enclosure(programme, answer.weights, inside)
    found = Found(vector, 0.0, 0.0, high, np.inf, answer)
    if answer.solved:
        found = Found(vector, 1.0 / answer.value, low, high, away, answer)
    longest = float(np.linalg.norm(programme.D, axis=1).max())
    proves = programme.bound.all() or not answer.solved
    if proves and found.error > 1e-6 * found.margin + 1e-8 * longest:
        raise SolverError("an answer does not prove itself", value=answer)
    return found


def _nothing(d: int) -> Found:
    return Found(np.zeros(d), np.inf, np.inf, np.inf, 0.0)


def find_p(case: Selection) -> Found | None:
    """p(alpha)."""
    if not case.constrained:
        return _nothing(case.X.shape[2])
    return find(lambda: p_svm(case.data, case.alpha, case.W))


def find_v(case: Selection) -> Found | None:
    """v(alpha)."""
    return find(lambda: v_svm(case.data, case.alpha))


@dataclass(frozen=True, slots=True)
class Joint:
    """The v-SVM, the relaxed p-SVM, the p-SVM, and which inputs support v."""

    v: Found
    p: Found
    plain: Found
    supporting: list[bool]


def find_joint(case: Selection) -> Joint | None:
    """The joint programmes; None where floats cannot tell whether there is a v, or its support.

    Without a v there is no p either.
    """
    plain, v = find_p(case), find_v(case)
    if plain is None or v is None or v.answer is None:
        return None
    exact, supporting = exact_v(case), [bool(x) for x in v.answer.is_tight]
    if exact.exists != v.answer.solved or in_doubt(supporting, exact):
        return None
    p: Found | None
    if v.margin == 0.0:
        p = Found(np.zeros_like(v.vector), 0.0, 0.0, 0.0, np.inf)
    elif not case.constrained:
        p = plain
    else:
        p = find(lambda: _relaxed(case), plain)
    return None if p is None else Joint(v, p, plain, supporting)


def in_doubt(tight: list[bool], exact: Exact) -> bool:
    """Whether floats see other tight rows, and some row is tight but for a millionth."""
    return tight != exact.tight and exact.nearly_tight


def _relaxed(case: Selection) -> FrobeniusAnswer:
    return present(joint_svm(case.data, case.alpha, case.W).p, "the answer of the relaxed p-SVM")


def find_essential(case: Selection, v: Found, inside: Found) -> Found | None:
    """p(alpha) with margin 0 for the inputs without which v(alpha) would be the same.

    None where floats came to no answer, or cannot tell which these are.
    """
    if not case.constrained:
        return _nothing(len(v.vector))
    programme, flags = v_svm_programme(case.data, case.alpha), np.ones(len(case.y), dtype=np.bool_)
    for i in range(len(flags) if len(flags) > 1 else 0):
        rest = subset(programme, np.arange(len(flags)) != i)
        without = find(lambda rest=rest: solve_programme(rest))  # type: ignore[misc]
        if without is None:
            return None
        flags[i] = without.margin > v.margin * (1 + 1e-9)
    if flags.tolist() != essential(exact_v(case)):
        return None
    part = joint_programme(case.data, flags, case.alpha, case.W)
    return find(lambda: solve_programme(part), inside)


def find_alone(case: Selection, supporting: list[bool]) -> Found | None:
    """p_S: the p-SVM of the inputs alone that support v."""
    if not case.constrained:
        return _nothing(case.X.shape[2])
    programme = p_svm_programme(case.data, case.alpha, case.W)
    part = subset(programme, np.array(supporting)[programme.input])
    return find(lambda: solve_programme(part))


def _row_error(programme: Programme) -> Array:
    """Bounds on ||D_j - the exact row||: one rounding an entry, and d more through the keys."""
    gap = np.abs(programme.kept - programme.rival)
    if programme.keys is not None:
        gap = gap @ np.abs(programme.keys).T
    error: Array = 2 * (gap.shape[1] + 2) * EPS * np.linalg.norm(gap, axis=1)
    return error


def margins(programme: Programme, q: Array) -> tuple[Array, Array]:
    """The products <D_j, q>, and bounds on their errors."""
    D = programme.D
    relative = 2 * (D.shape[1] + 2) * EPS
    return D @ q, (_row_error(programme) + relative * np.linalg.norm(D, axis=1)) * size(q)


def _enclosure(
    programme: Programme, weights: Array, inside: Found | None
) -> tuple[float, float, float]:
    """Bounds of the margin, and of the distance from sum_j weights_j D_j to the solution.

    The weights may be any that are nonnegative and gain; good ones give close bounds.
    """
    D, demanded = programme.D, programme.bound > 0.0
    m, d = D.shape
    row_error, sizes = _row_error(programme), np.linalg.norm(D, axis=1)
    point = D.T @ weights
    length = size(point)
    rounding = float(weights @ (row_error + 2 * m * EPS * sizes))
    high = (length * (1 + d * EPS) + rounding) / (float(weights[demanded].sum()) * (1 - m * EPS))
    values, errors = margins(programme, point)
    reached = values - errors
    lacking = -float(reached[~demanded].min(initial=0.0))
    moved = 0.0  # move the point inside by so much that margins of 0 are met
    if lacking > 0.0:
        if inside is None or not 0.0 < inside.low < np.inf:
            return 0.0, high, np.inf
        moved = lacking / inside.low * (1 + 8 * EPS)
    least = float(reached[demanded].min())
    if least <= 0.0:
        return 0.0, high, np.inf
    longest = (length + moved) * (1 + (d + 4) * EPS)
    low = least / longest * (1 - 4 * EPS)
    reach = np.sqrt(max(0.0, (1 / low - 1 / high) * (1 / low + 1 / high)))
    away = float(abs(1 / least - 1) * longest + moved + reach)
    return low, high, away * (1 + 16 * EPS) + 2 * rounding


def _distance(programme: Programme, inside: Found | None) -> tuple[float, float]:
    """The distance of C from 0 by nonnegative least squares, and a bound on its error."""
    from scipy.optimize import nnls

    scale = float(np.linalg.norm(programme.D, axis=1).max()) or 1.0
    target = np.zeros(programme.D.shape[1] + 1)
    target[-1] = 1.0
    try:
        weights, _ = nnls(np.vstack([programme.D.T / scale, programme.bound]), target)
    except RuntimeError:  # too many exchanges
        return np.inf, np.inf
    weights = weights / weights[programme.bound > 0.0].sum()
    low, high, _ = _enclosure(programme, weights, inside)
    value = size(programme.D.T @ weights)
    return value, max(high - value, value - low)


def positive(found: Found, share: float, above: bool = True) -> Slack:
    """The margin is above a share of the shortest row, or above 0; or at most that instead."""
    if found.answer is None:
        return Slack(np.inf, 0.0, "strict")  # nothing is demanded
    short, error = _shortest(found.answer.programme)
    value, error = found.margin - share * short, found.error + share * error
    return Slack(value, error, "strict") if above else Slack(-value, error)


def nearest_point(found: Found, share: float, of: str, inside: Found | None = None) -> Slack:
    """The margin is a share of the distance from 0, of the set C or of the nearest row."""
    if found.answer is None:
        return Slack.equal(0.0, 0.0)  # C is empty
    programme = found.answer.programme
    other = _distance(programme, inside) if of == "set" else _shortest(programme)
    longest = float(np.linalg.norm(programme.D, axis=1).max())
    residual = found.margin - share * other[0]
    return agree(residual, found.error + share * other[1] + 4 * EPS * other[0], longest)


def same(left: Found, right: Found, share: float = 1.0) -> Slack:
    """One vector is a share of the other, to a millionth at least."""
    gap = size(left.vector - share * right.vector)
    total = size(left.vector) + share * size(right.vector)
    rounding = 4 * (len(left.vector) + 4) * EPS * total
    return agree(gap, left.away + share * right.away + rounding, total)


def agree(residual: float, error: float, scale: float) -> Slack:
    """A residual is 0, provided that it is known well enough for this to mean anything."""
    if error > 1e-6 * scale:
        return Slack.unknown("floats do not enclose the two sides closely enough")
    return Slack.equal(residual, error)


def pythagoras(q: Array, p: Array, away_q: float, away_p: float, share: float) -> Slack:
    """A share of ||q - p||^2 is at most ||q||^2 - ||p||^2; q and p are known up to `away`."""
    far, long, short = size(q - p), size(q), size(p)
    away = away_q + away_p
    error = away_q * (2 * long + away_q) + away_p * (2 * short + away_p)
    error += share * away * (2 * far + away)
    error += 4 * (len(q) + 4) * EPS * (long**2 + short**2 + share * far**2)
    return Slack.at_most(share * far**2, (long - short) * (long + short), error)


def find_kept(found: Found, exact: Exact, keep: str) -> Found | None:
    """The programme of the rows that are kept; None where floats cannot tell which are tight."""
    if found.answer is None:
        return found
    tight = [bool(x) for x in found.answer.is_tight]
    if in_doubt(tight, exact):
        return None
    flags = np.array(select_rows(tight, keep))
    if not flags.any():
        return _nothing(len(found.vector))
    part = subset(found.answer.programme, flags)
    return find(lambda: solve_programme(part))


def _shortest(programme: Programme) -> tuple[float, float]:
    """The least length of a row, and a bound on its error."""
    lengths = np.linalg.norm(programme.D, axis=1)
    errors = _row_error(programme) + (programme.D.shape[1] + 4) * EPS * lengths
    return float(lengths.min()), float(errors.max())
