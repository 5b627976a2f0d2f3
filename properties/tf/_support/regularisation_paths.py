"""Regularisation paths: instances, conditions, and measured rates."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import SolverError, present
from attsvm.exact import ExactData
from attsvm.exact.numbers import Matrix, remembered, subtract
from attsvm.limits import ALLOWANCE
from attsvm.losses import CUBIC, LOSSES
from attsvm.paths import FactorMinimum, path_kq, path_w
from attsvm.paths import Minimum as PathMinimum
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent_letters import falling_at_best
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.gradients import loss_slope
from attsvm.primitives.hypotheses import FEASIBLE, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.loss_hypotheses import DECREASING_LOSS, SMOOTH_LOSS, sloped
from attsvm.primitives.losses import SLOPED
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import ragged, separable_data
from attsvm.svm import att_svm, att_svm_programme
from attsvm.svm.nuclear import NuclearAnswer, distance, solve_nuclear
from attsvm.theory import Hypothesis, Slack
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Namespace, Number, Numbers, Values
from properties._support.small_runs import TIED_APART
from properties._support.token_choices import separable
from properties.tf._support.solution_ranks import Proposal, beyond_rank, nuclear_proposal

SURELY, UNSURE = 0.01, Slack.unknown("the value found is not known to be the least")
"""Maximum excess of log(L - L_*) of a minimum over its lower bound on the ball, and the slack
returned for a larger excess."""

UNFOLLOWED = Slack.unknown("no path is followed for a loss that is flat from some score on")

STARTS = "svm", "gradient"
"""Starting points of the search for minimisers, see `path_w`."""

NEAREST = 1e-4
"""C_* / R at the larger radius."""

FLAT_FROM_ONE = "squared-hinge"
"""A smooth decreasing loss that is 0 from the score 1 on; its paths are not followed."""


@dataclass(frozen=True, slots=True)
class Path:
    """A data set and a smooth decreasing loss by name."""

    data: AttentionData
    loss: str


SEPARABLE = ragged(st.one_of(separable(), separable_data()))


@composite
def turned(draw: st.DrawFn) -> AttentionData:
    """Draw data that force the sign of each entry of W, in a pattern that no matrix of rank 1 has.

    Input c has the query e_c and asks for s_rc W_rc >= 1/a_rc at all r. Solutions of least nuclear
    norm prefer low ranks, so a rank must be forced. Here the pattern is one of rank 1 with one sign
    changed: some 2 x 2 minor is then never 0, which for d = 2 means full rank.
    """
    d = draw(st.sampled_from([2, 2, 2, 3]))
    signs = np.where(np.multiply.outer(draw(arrays(d)), draw(arrays(d))) < 0.0, -1.0, 1.0)
    signs[draw(sizes(0, d - 1)), draw(sizes(0, d - 1))] *= -1.0
    entries = signs * 2.0 ** np.clip(np.round(draw(arrays(d, d))), -2.0, 2.0)
    X = np.zeros((d, d + 1, d))
    X[:, 1:] = [-np.diag(entries[:, c]) for c in range(d)]
    scores = -np.abs(draw(arrays(d, d + 1)))
    scores[:, 0] = 1.0
    return AttentionData(X, np.eye(d), scores=scores)


def of(data: st.SearchStrategy[AttentionData]) -> st.SearchStrategy[Path]:
    """Return a strategy of paths on the data, with losses whose l' < 0."""
    return st.builds(Path, data, st.sampled_from(SLOPED))


def paths(*further: st.SearchStrategy[AttentionData]) -> st.SearchStrategy[Path]:
    """Return a strategy of paths on separable and further data, with losses whose l' < 0."""
    return of(st.one_of(SEPARABLE, *further))


@composite
def flat_paths(
    draw: st.DrawFn, data: st.SearchStrategy[AttentionData] = SEPARABLE, level: bool = False
) -> Path:
    """Draw paths with l' < 0, and paths of losses that are flat at the best scores.

    The flat losses are the cubic, at its flat point, and with `level` the squared hinge, flat from
    1 on.
    """
    flat = (CUBIC.name, FLAT_FROM_ONE) if level else (CUBIC.name,)
    drawn, loss = draw(data), draw(st.sampled_from([*SLOPED, *flat]))
    if loss in flat:
        scores_of_data = present(drawn.scores, "the scores")
        shift = draw(st.sampled_from([0.0, 1.0])) * np.arange(drawn.n)[:, None]
        scores = scores_of_data - scores_of_data.max(axis=1, keepdims=True) + shift
        drawn = replace(drawn, scores=scores + (2.0 if loss == FLAT_FROM_ONE else 0.0))
    return Path(drawn, loss)


def protocol(generator: np.random.Generator) -> Path:
    """Return separable Gaussian tokens and queries of sizes up to (4, 4, 5), rounded to 1/64."""
    n, T, d = (int(generator.integers(low, top + 1)) for low, top in ((1, 4), (2, 4), (2, 5)))
    X, Z = (np.round(generator.normal(size=s) * 64) / 64 for s in ((n, T, d), (n, d)))
    scores = np.einsum("ntr,rc,nc->nt", X, np.round(generator.normal(size=(d, d)) * 8) / 8, Z)
    return Path(AttentionData(X, Z, scores=scores), str(generator.choice(SLOPED)))


def _path(X: object, Z: object, scores: object, loss: str = "log-loss") -> Path:
    tokens, queries, gamma = (np.array(part, dtype=np.float64) for part in (X, Z, scores))
    return Path(AttentionData(tokens, queries, scores=gamma), loss)


ONE_TOKEN = _path([[[1]]], [[1]], [[0]])
"""One input of one token: W^mm = 0, and every W is a minimiser."""
NO_SOLUTION = _path([[[1], [0]]], [[0]], [[1, 0]])
"""The query 0: there is no W^mm."""
_AXES = [[[1, 0], [0, 0]], [[0, 1], [0, 0]]]
FLAT_SLOPE = _path(
    [[[1, 0], [0, 0]], [[-1, 1], [-1, 0]]], [[1, 0], [1, 0]], [[1, 0], [0, -1]], "cubic"
)
"""With margins a, b of the two inputs L - L_* is like e^-a + e^-3b, so W_R / R tends to (3, 1) /
sqrt 10 instead of (1, 1) / sqrt 2."""
FLAT_ABOVE = _path([[[1], [0]]], [[1]], [[2, 0]], FLAT_FROM_ONE)
"""Every W >= 0 has least risk, also W = 0, because the attended score is then at least 1."""
FLAT_BELOW = _path(_AXES, [[1, 0], [0, 1]], [[1, -1], [1, 0]], "cubic")
"""l' < 0 at the best scores, and l' = 0 between best and worst, or at the worst score."""
OF_HEAD = Path(
    AttentionData.of([[[-0.125, 1.0], [1.0, 0.0], [0.0, 0.0]]], [[1, 0]], y=[1.0], v=[0.5, 1.0]),
    "log-loss",
)
"""Like `PUBLISHED`, but the scores 15/16, 1/2 and 0 are those of a linear head."""
UNEVEN = _path(_AXES, [[1, 0], [0, 1]], [[1, 0], [64, 0]], "correlation")
PUBLISHED = _path([[[-0.1, 1], [1, 0], [0, 0]]], [[1, 0]], [[1, 0.9, 0.9]])
SLANTED = _path(_AXES, [[1, 0], [1, 1]], [[1, 0]] * 2)
"""W_11 >= 1 and W_21 + W_22 >= 1: W^mm = (1, 0; 1/2, 1/2) has nuclear norm sqrt(5/2), and
(1, 0; 1, 0) has sqrt 2."""
TURNING = _path(
    [[[0, 0], [-1, 0], [0, -1]], [[0, 0], [1, 0], [0, -1]]], [[1, 0], [0, 1]], [[1, 0, 0]] * 2
)
"""W_11, W_21, W_22, -W_12 >= 1: every feasible W has a positive determinant, hence rank 2."""
TURNED_BY_LABELS = Path(
    AttentionData.of(
        [[[0, 0], [-1, 0], [0, -1]], [[0, 0], [1, 0], [0, 0]], [[0, 0], [0, -1], [0, 0]]],
        [[1, 0], [0, 1], [0, 1]],
        y=[1.0, -1.0, 1.0],
        v=[1.0, 1.0],
        mask=np.arange(3) < np.array([[3], [2], [2]]),
    ),
    "log-loss",
)
"""The same constraints by labels and a head, with three inputs."""


def steep(case: Path) -> bool:
    """Return whether l' is continuous, never above 0, and below 0 at the best score of every input.

    False for `FLAT_FROM_ONE`, whose paths are not followed.
    """
    return case.loss in (*SLOPED, CUBIC.name) and set(orders(case, ExactData.of(case.data))) == {1}


def falls_at_best(case: Path) -> bool:
    """Return whether l' < 0 at the best score of every input."""
    best = (max(gamma) for gamma in ExactData.of(case.data).gamma)
    return all(bool(loss_slope(BALLS, case.loss, score) < 0) for score in best)


def levels_off(case: Path, inner: int | None = None) -> bool:
    """Return whether a W of rank at most `inner` minimises the risk, so W_R/R may tend to 0.

    This is so for the squared hinge if all best scores are above 1 and W^mm has such a rank.
    Multiples of W^mm bring attended scores to 1 or more, and the risk is then 0. A W of risk 0 is a
    minimiser at every R from its norm on.
    """
    best, svm = (max(g) for g in ExactData.of(case.data).gamma), exact_att_svm(case.data)
    low = svm is not None and (inner is None or svm.rank <= inner)
    return case.loss == FLAT_FROM_ONE and low and all(x > 1 for x in best)


FALLING_AT_BEST = Hypothesis(
    "l' < 0 at the best scores", falls_at_best, proposition=falling_at_best
)
FALLING = Hypothesis(
    "l is smooth and decreasing with l' < 0 at the best scores",
    steep,
    says="the loss l is smooth and decreasing with l' < 0 at the best scores",
    implies=(SMOOTH_LOSS, DECREASING_LOSS, FALLING_AT_BEST),
)
HYPOTHESES = (UNIQUE, FEASIBLE, SEVERAL_TOKENS, FALLING)
"""The hypotheses of theorems 2 and 3."""
VIOLATING = {
    UNIQUE: [Path(TIED_APART.data, "log-loss")],
    FEASIBLE: [NO_SOLUTION],
    SEVERAL_TOKENS: [ONE_TOKEN],
    FALLING: [FLAT_SLOPE],
}
"""Paths that each violate one hypothesis of theorems 2 and 3."""


def orders(case: Path, exact: ExactData) -> list[int]:
    """Return, for each input, the power of x in l(best - x) - l(best) near x = 0."""
    return [3 if case.loss == CUBIC.name and max(g) == 0 else 1 for g in exact.gamma]


def follows(case: Path, towards: str = "optimal") -> Slack:
    """Return the slack of "the directions of W_R tend to the target".

    - Radii are R = 1e3 and 1e4 times ||W^mm||. The path has no direction yet at radii of the order
      of log(2 Gamma) ||W^mm||, so radii grow with log(2 Gamma) if it is above 10.
    - The distance of W_R to the ray of the target, plus 8 ||W^mm||, must stay bounded. Its growth
      exponent is near 0 for the right direction and tends to 1 for a wrong one.
    - The slack is 1/2 minus the exponent. It is unknown if a computed value may not be the least.
    """
    target = max_margin(case.data, towards)
    if target is None or not any(x != 0 for row in target for x in row) or levels_off(case):
        return Slack(-1.0, 0.0)
    return UNFOLLOWED if case.loss == FLAT_FROM_ONE else follows_ray(case, target)


def follows_ray(case: Path, target: Matrix) -> Slack:
    """Return the slack of `follows` for a target other than 0, if W^mm exists."""
    minima = _minima(case.data, case.loss, late(case) * length(case))
    if sloped(case) and max(m.excess for m in minima) > SURELY:
        return UNSURE
    return ray_slack(case, minima, target)


@remembered
def _minima(data: AttentionData, loss: str, unit: float) -> tuple[PathMinimum, ...]:
    return path_w(data, LOSSES[loss], [1e3 * unit, 1e4 * unit], starts=STARTS)


def length(case: Path) -> float:
    """Return ||W^mm||, if it exists."""
    return float(arb(present(exact_att_svm(case.data), "the answer of the SVM").square).sqrt())


def late(case: Path) -> float:
    """Return the factor of the radii for data whose risk terms differ: max(1, log(2 Gamma)/10)."""
    if not (sloped(case) and UNIQUE.holds(case)):
        return 1.0
    with ctx.workprec(128):
        spread: Any = log_spread(BALLS, case)
        return max(1.0, float(spread) / 10.0)


def ray_slack(case: Path, minima: Sequence[PathMinimum], target: Matrix) -> Slack:
    """Return 1/2 minus the growth exponent of two minimisers' distance to the target's ray."""
    unit = np.array([[float(arb(x)) for x in row] for row in target])
    unit /= np.linalg.norm(unit)
    size = length(case)
    away = [float(np.linalg.norm(m.W - m.radius * unit)) + 8.0 * size for m in minima]
    decades = math.log10(minima[1].radius / minima[0].radius)
    return Slack(0.5 - math.log10(away[1] / away[0]) / decades, ALLOWANCE)


@dataclass(frozen=True, slots=True)
class Input:
    """An input of several tokens, with its score gaps and slopes of the loss.

    Attributes:
        tokens, query, gamma: tokens, query and scores.
        best: the best score.
        gaps: the best score minus each other one.
        first: |l'| at the best score.
        least, most: the extreme values of |l'| between the lowest and the best score.
    """

    tokens: Numbers
    query: Numbers
    gamma: Numbers
    best: Number
    gaps: Numbers
    first: Number
    least: Number
    most: Number


def inputs(m: Namespace, case: Values) -> list[Input]:
    """Return the inputs of several tokens; optimal tokens are unique."""
    parts, exact = [], ExactData.of(case.data)
    for X, z, scores, tied in zip(exact.X, exact.Z, exact.gamma, exact.optimal, strict=True):
        if len(scores) > 1:
            gamma, best = m.values(scores), tied[0]
            gaps = gamma[best] - gamma[[t for t in range(len(gamma)) if t != best]]
            first, last = (steepness(m, case.loss, u) for u in (gamma[best], m.min(gamma)))
            peak = case.loss == "logistic-loss" and min(scores) <= 0 <= max(scores)
            ends = m.minimum(first, last), m.exact(1) / 4 if peak else m.maximum(first, last)
            parts.append(Input(m.values(X), m.values(z), gamma, gamma[best], gaps, first, *ends))
    return parts


def steepness(m: Namespace, loss: str, u: Number) -> Numbers:
    """Return -l'(u)."""
    return -loss_slope(m, loss, u)


def log_spread(m: Namespace, case: Values) -> Numbers:
    """Return log(2 Gamma) for l' < 0 and unique optimal tokens.

    Gamma is that of `properties.tf.theorem_2.near_optimal_points`: how much one part of the risk
    may outweigh another.
    """
    parts = inputs(m, case)
    whole = m.sum(m.array([own.most * m.max(own.gaps) * len(own.gaps) for own in parts]))
    return m.log(2 * whole / m.min(m.array([own.least * m.min(own.gaps) for own in parts])))


def follows_set(
    case: Path, target: str = "solutions", share: int | Fraction = 1, inner: int | None = None
) -> Slack:
    """Return the slack of "dist(K_R Q_R^T / R, target) tends to 0", from R = 1e3 and 1e4 times C_*.

    The target is W_*^mm / C_* times `share` for `solutions`, the same of the worst tokens for
    `worst`, and W^mm over its nuclear norm for `frobenius`. The distance plus C_* / R falls like
    1/R or 1/sqrt R; the slack is -1/4 minus its growth exponent. At radii ten times smaller these
    terms would hide a constant distance of a few percent.
    """
    if levels_off(case, inner):
        return Slack(-1.0, 0.0)
    find = functools.partial(_factor_minima, case.data, case.loss, inner)
    return set_slack(case, find, target, share, inner)


def set_slack(
    case: Path,
    find: Callable[[], Sequence[FactorMinimum] | None],
    target: str,
    share: int | Fraction,
    inner: int | None = None,
) -> Slack:
    """Return the slack of `follows_set` for two minimisers; unknown if these are not certain."""
    chosen = "worst" if target == "worst" else "optimal"
    if not SEVERAL_TOKENS.holds(case) or max_margin(case.data, chosen) is None:
        return Slack(-1.0, 0.0)
    if case.loss == FLAT_FROM_ONE:
        return UNFOLLOWED
    rows = zip(case.data.gamma, case.data.present, strict=True)
    if all(len(set(row[mask].tolist())) == 1 for row, mask in rows):
        return Slack.unknown("the risk is the same everywhere: every W minimises it")
    try:
        minima = find()
        goal = nuclear(case.data, target == "worst")
    except SolverError:
        return Slack.unknown("no nuclear-norm answer with a bracket was reached")
    if minima is None:
        return UNSURE
    short = (
        inner is not None and ranks_are_above(case, inner) is not None
    )  # then no W of that rank reaches the target
    if sloped(case) and not short and max(m.excess for m in minima) > SURELY:
        return UNSURE
    away, least = [], nuclear(case.data).value
    for m in minima:
        G = m.W / m.radius
        if target == "frobenius":
            W = att_svm(case.data).W
            apart = float(np.linalg.norm(G - W / np.linalg.norm(W, "nuc")))
        else:
            scale = float(share) / goal.value
            apart = distance(goal, G / scale)[1] * scale
        away.append(apart + least / m.radius)
    decades = math.log10(minima[1].radius / minima[0].radius)
    return Slack(-0.25 - math.log10(away[1] / away[0]) / decades, ALLOWANCE)


@remembered
def _factor_minima(data: AttentionData, loss: str, inner: int | None) -> tuple[FactorMinimum, ...]:
    value = nuclear(data).value
    radii = [0.1 * value / NEAREST, value / NEAREST]
    return path_kq(data, LOSSES[loss], radii, inner=inner, starts=STARTS)


@remembered
def nuclear(data: AttentionData, worst: bool = False) -> NuclearAnswer:
    """Return a solution of Att-SVM* for the first optimal tokens, or for the worst tokens."""
    sign = -1.0 if worst else 1.0
    chosen = np.where(data.present, sign * data.gamma, -np.inf).argmax(axis=1)
    return solve_nuclear(att_svm_programme(data, chosen))


@remembered
def proposal(data: AttentionData) -> Proposal | None:
    """Return a solution of Att-SVM* as floats propose it; None if the solver fails."""

    def solve() -> NuclearAnswer | None:
        try:
            return nuclear(data)
        except SolverError:
            return None

    return nuclear_proposal(data, solve)


def ranks_are_above(case: Path, inner: int) -> arb | None:
    """Return minus the distance of all solutions over C_* from matrices of rank `inner`.

    The distance is a lower bound. None if no positive one is proved.
    """
    candidate = proposal(case.data)
    least = None if candidate is None else beyond_rank(candidate, inner)
    if least is not None:
        return -least
    return arb(-1) if inner == 1 and _turns(case) else None


def _turns(case: Path) -> bool:
    """Return whether constraints on single entries keep a 2 x 2 minor of all feasible W nonzero."""
    signs = {at: sign for at, sign in single_entries(case.data) if at is not None}
    return any(
        signs.get((a, b), 0) * signs.get((c, d), 0) * signs.get((a, d), 0) * signs.get((c, b), 0)
        < 0
        for a in range(case.data.d)
        for c in range(a)
        for b in range(case.data.d)
        for d in range(b)
    )


def single_entries(data: AttentionData) -> list[tuple[tuple[int, int] | None, int]]:
    """Return, for each constraint, the single entry of W that it bounds, and its sign.

    The entry is None if the constraint has no entry or several.
    """
    exact, entries = ExactData.of(data), list[tuple[tuple[int, int] | None, int]]()
    for tokens, z, best in zip(exact.X, exact.Z, exact.optimal, strict=True):
        for x in [*tokens[: best[0]], *tokens[best[0] + 1 :]]:
            D = subtract(tokens[best[0]], x)
            rows, columns = ([k for k, e in enumerate(v) if e != 0] for v in (D, z))
            single = len(rows) == len(columns) == 1
            sign = 1 if single and D[rows[0]] * z[columns[0]] > 0 else -1
            entries.append(((rows[0], columns[0]) if single else None, sign))
    return entries
