"""Conclusions on tokens of low score: X^mm, training and attention when they are left out."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.exact import ExactData, rational, rationals
from attsvm.exact.attention import logits
from attsvm.exact.numbers import Matrix, Vector
from attsvm.exact.traps import is_stationary_start
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives import programme_letters as letters
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm, without
from attsvm.primitives.descent import Descent
from attsvm.primitives.growth_rates import ProvedLimit, proved_limit
from attsvm.primitives.hypotheses import feasible
from attsvm.primitives.limit_certificates import agreement
from attsvm.primitives.steps import FLOW, X_K, along, by_gradient_flow, tends
from attsvm.strategies import arrays, composite, numbers
from attsvm.strategies.data import separable_data
from attsvm.theory import Measured, Slack, concludes, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.types import Comparison, Namespace, Numbers, Relation
from attsvm.training import follow_w
from properties.sim import LOSS_NAMES
from properties.sim._support.redundant_tokens import redundant_data, redundant_larger

FAR, SETTLED = 1e4, 0.999
"""Minimum norm at which floats read the selected tokens, and minimum attention to them there."""
LEFT_OUT = {
    "low": "the tokens of least score",
    "best": "the tokens of best score",
    "second": "the tokens of scores in between",
}
DROPPED = "$which of inputs whose scores differ"
"""The tokens that are left out; if the scores of an input agree, it loses none."""
OWN_STEPS = "both with the same multiple of one over their own Lipschitz constant as a step"


@dataclass(frozen=True, slots=True)
class Scaled:
    """A data set and a number: a factor of X^mm, or the amount that least scores are lowered by."""

    data: AttentionData
    size: float


def low(data: AttentionData, which: str = "low") -> Any:
    """Return a mask (n, T) of the tokens of least score, or of other tokens.

    `low` marks the tokens of least score, `best` the optimal ones, `second` all that are neither.
    An input whose tokens share one score has no marks.
    """
    exact, chosen = ExactData.of(data), np.zeros((data.n, data.T), dtype=np.bool_)
    for i, (kept, row) in enumerate(zip(exact.kept, exact.gamma, strict=True)):
        least, best = min(row), max(row)
        for t, g in zip(kept, row, strict=True):
            named = {"low": g == least, "best": g == best, "second": least < g < best}
            chosen[i, t] = named[which] and least < best
    return chosen


def idle(case: AttentionData) -> bool:
    """Return whether there is an X^mm, and no token of least score is a support vector of it."""
    return feasible(case) and idle_if_solved(case)


def idle_if_solved(case: AttentionData) -> bool:
    """Return whether no token of least score is a support vector of an X^mm, if there is one."""
    data = getattr(case, "data", case)
    svm = exact_att_svm(data)
    return svm is None or all(svm.margins[t] > 1 for t in svm.A if low(data)[t])


# the programme


@concludes(letters.same_without)
@stated(
    "X^mm and X' exist and $formula",
    "X^{mm} = X'",
    {"which": LEFT_OUT},
    where=f"X' is the X^mm without {DROPPED}",
    checked=run_programs.same_without_least,
)
def same_solution(m: Namespace, data: AttentionData, which: str = "low") -> Comparison:
    rest = without(data, low(data, which))
    solutions = [one.W for one in map(exact_att_svm, (data, rest)) if one is not None]
    if len(solutions) < 2:
        return m.below(m.exact(0), m.exact(0))  # there is nothing to be the same
    return m.equal(*map(m.values, solutions))


def lowered(case: Scaled) -> AttentionData:
    """Return the data with the least scores of each input lowered by `size`."""
    scores = lower_scores(case.data.gamma, low(case.data), case.size)
    return AttentionData(case.data.X, case.data.Z, scores=scores, mask=case.data.mask)


def lower_scores(scores: Array, chosen: Array, by: float | Array) -> Array:
    """Return the scores, with `by` subtracted from those of the chosen tokens."""
    changed: Array = np.where(chosen, scores - by, scores)
    return changed


@stated(
    "",
    r"X = X' \text{ and } X_- = X'_-",
    where="X and X' are the X^mm before and after the least scores are lowered, X_- and X'_- the "
    "same without the tokens that have them; an equality also holds if neither side exists",
)
def as_much(m: Namespace, case: Scaled) -> Relation:
    pairs = []
    for data in (case.data, lowered(case)):
        kept = without(data, low(case.data))
        pairs.append([exact_att_svm(data), exact_att_svm(kept)])
    parts = []
    for one, other in zip(*pairs, strict=True):
        if one is None or other is None:
            parts.append(m.equal(m.exact(int(one is None)), m.exact(int(other is None))))
        else:
            parts.append(m.equal(m.values(one.W), m.values(other.W)))
    return m.all_of(*parts)


# attention at one matrix


def _attended(
    m: Namespace, data: AttentionData, W: list[list[fmpq]], which: str
) -> list[tuple[Numbers, Numbers, tuple[Matrix, Vector], int]]:
    """Return weights, tokens, scores and number of lost tokens of each input that loses some.

    The weights are those of all tokens, and those of the rest with 0 for the tokens left out.
    """
    exact, out, attended = ExactData.of(data), low(data, which), []
    inputs = zip(exact.X, exact.Z, exact.gamma, exact.kept, strict=True)
    for i, (tokens, z, gamma, kept) in enumerate(inputs):
        rest = [row for row, t in enumerate(kept) if not out[i, t]]
        if len(rest) == len(kept):
            continue
        values = logits(tokens, W, z)
        among = m.softmax(m.values([values[row] for row in rest]))
        spread = [m.exact(0)] * len(kept)
        for row, weight in zip(rest, among, strict=True):
            spread[row] = weight
        weights = m.softmax(m.values(values))
        attended.append((weights, m.array(spread), (tokens, gamma), len(kept) - len(rest)))
    return attended


@concludes(letters.no_lower)
@stated(
    "$formula for every input at any X",
    r"\langle f, \gamma\rangle \le \langle f', \gamma\rangle",
    {"which": LEFT_OUT},
    where=f"f' is the attention without {DROPPED}",
)
def scores_no_lower(m: Namespace, run: Descent, which: str = "low") -> Relation:
    parts = [
        m.at_most(s @ m.values(gamma), r @ m.values(gamma))
        for s, r, (_, gamma), _ in _attended(m, run.data, rationals(run.start), which)
    ]
    return m.all_of(*parts) if parts else m.equal(m.exact(0), m.exact(0))


@run_programs.traces
@stated(
    "$formula for every input at any X",
    r"\sum_t f_t x_t = \sum_t f'_t x_t",
    {"which": LEFT_OUT},
    where=f"f' is the attention without {DROPPED}",
)
def same_output(m: Namespace, run: Descent, which: str = "low") -> Relation:
    parts = [
        m.equal(s @ m.values(tokens), r @ m.values(tokens))
        for s, r, (tokens, _), _ in _attended(m, run.data, rationals(run.start), which)
    ]
    return m.all_of(*parts) if parts else m.equal(m.exact(0), m.exact(0))


@stated(
    "at r X^mm $formula for every input",
    r"\frac{\|\sum_t f'_t x_t - \sum_t f_t x_t\|}{\max_{s,t} \|x_s - x_t\| N/(N + \exp($rate r))} "
    r"\le 1",
    {"which": LEFT_OUT},
    where=f"f' is the attention without {DROPPED}, N in number",
)
def output_moves(m: Namespace, case: Scaled, rate: int = 1, which: str = "low") -> Comparison:
    svm, r = exact_att_svm(case.data), rational(case.size)
    if svm is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    W = [[r * x for x in row] for row in svm.W]
    parts = []
    for s, rest, (tokens, _), count in _attended(m, case.data, W, which):
        moved = m.norm(rest @ m.values(tokens) - s @ m.values(tokens))
        share = count / (count + m.exp(rate * m.values(r)))
        bound = share * m.diameter(m.values(tokens))
        parts.append(moved / bound)  # some margin is not 0, so the diameter is positive
    return m.at_most(m.max(m.array(parts)) if parts else m.exact(0), m.exact(1))


# training


def without_low(run: Descent, which: str) -> AttentionData:
    """Return the data of a run without its tokens of low score."""
    rest: AttentionData = without(run.data, low(run.data, which))
    return rest


def _selected(run: Descent, data: AttentionData, loss: str, *, tied: bool = False) -> Array | Slack:
    """Return the token of largest logit of each input at a large norm, or why there is none.

    This token must have nearly all attention; with `tied`, together with tokens of the same score.
    Attention cannot distinguish two tokens that are the same vector.
    """
    size = FAR * max(1.0, float(np.linalg.norm(run.start)))
    path = follow_w(data, run.start, LOSSES[loss], [size])
    if path.W.shape[1] < 2:
        return Slack.unknown(f"the norm did not reach {size:.3g}")
    values = np.where(data.present, logits_of_w(data.X, data.Z, path.W[0, -1]), -np.inf)
    first = values.argmax(axis=1)[:, None]
    shares = np.exp(values - np.take_along_axis(values, first, axis=1))
    shares /= shares.sum(axis=1, keepdims=True)
    own = np.arange(data.T) == first
    if tied:
        own = data.present & (data.gamma == np.take_along_axis(data.gamma, first, axis=1))
    if not ((shares * own).sum(axis=1) > SETTLED).all():
        return Slack.unknown("attention has not come to one token of each input")
    return first[:, 0].tolist()


@by_gradient_flow
def ends_alike(run: Descent, which: str = "low") -> Slack:
    """Return the slack of "descent ends in the same direction without the tokens left out"."""
    chosen = _selected(run, run.data, run.loss)
    if isinstance(chosen, Slack):
        return chosen
    target = exact_att_svm(run.data, chosen)
    if target is None or not target.A:
        return Slack.unknown("no matrix selects what the run selects")
    W = np.array([[float(arb(x)) for x in row] for row in target.W])
    if not direction_converges(run.data, run.start, LOSSES[run.loss], W).holds:
        return Slack.unknown("the run has no direction yet")
    return direction_converges(without_low(run, which), run.start, LOSSES[run.loss], W)


@by_gradient_flow
def ends_no_worse(run: Descent, which: str = "low") -> Slack:
    """Return the slack of "each input ends at no lower score without the tokens left out"."""
    ends = [
        _selected(run, data, run.loss, tied=True) for data in (run.data, without_low(run, which))
    ]
    scores = []
    for chosen in ends:
        if isinstance(chosen, Slack):
            return chosen
        scores.append(run.data.gamma[np.arange(run.data.n), chosen])
    return Slack(float((scores[1] - scores[0]).min()), 0.0)


def _proved_limits(run: Descent, which: str) -> tuple[ProvedLimit | None, ProvedLimit | None]:
    whole, rest = (
        proved_limit(d, run.start, run.loss, run.step) for d in (run.data, without_low(run, which))
    )
    return whole, rest


def certified_alike(run: Descent, which: str = "low") -> arb | None:
    """Return 1 if both directions are provably the same, a negative number if not, else None."""
    whole, rest = _proved_limits(run, which)
    if whole is None or whole.limit is None:
        return None
    reduced = ExactData.of(without_low(run, which))
    if rest is None and is_stationary_start(reduced, rationals(run.start), run.loss):
        moves = run.start.any()  # else it stays at 0, which has no direction
        return agreement(whole.limit.W, rationals(run.start)) if moves else arb(-1)
    if rest is None or rest.limit is None:
        return None
    return agreement(whole.limit.W, rest.limit.W)


def _ends(proved: ProvedLimit | None, loss: str) -> dict[int, fmpq]:
    """Return the final score of each input with a gradient; an increasing loss negates scores."""
    if proved is None:
        return {}
    sign, rows = (
        -1 if loss == "logistic" else 1,
        zip(proved.data.gamma, proved.certificate.selected, strict=True),
    )
    return {i: sign * gamma[row] for i, (gamma, row) in zip(proved.inputs, rows, strict=True)}


def certified_no_worse(run: Descent, which: str = "low") -> fmpq | None:
    """Return the least gain of an input in final score, exactly; None without a proof.

    An input without any gradient is left out. If the tokens that stay share one score, the input
    ends at this score.
    """
    (whole, rest), out = _proved_limits(run, which), low(run.data, which)
    if (
        whole is None
        or not whole.certificate.settles
        or (rest is not None and not rest.certificate.settles)
    ):
        return None
    exact, later, gains = ExactData.of(run.data), _ends(rest, run.loss), []
    for i, before in _ends(whole, run.loss).items():
        scores = zip(exact.gamma[i], exact.kept[i], strict=True)
        kept = {g for g, t in scores if not out[i, t]}
        after = kept.pop() if len(kept) == 1 else later.get(i)
        if after is None:
            return None
        gains.append(after - before)
    least: fmpq = min(gains)
    return least


def _alike(m: Programs, run: Descent, which: str = "low") -> Proposition:
    """Return the claim of `ALIKE` for the checker."""
    rest = without_low(run, which)
    return run_programs.without_least(m, run, rest, which, "along(other, limit)")


def _no_worse(m: Programs, run: Descent, which: str = "low") -> Proposition:
    """Return the claim of `NO_WORSE` for the checker."""
    text = "fact(ends_no_lower(data, limit, rest, other))"
    return run_programs.without_least(m, run, without_low(run, which), which, text)


ALIKE = tends(
    "descent on $loss has $formula",
    along("U(k)"),
    rf"\lim {along(X_K)}",
    floats=ends_alike,
    balls=certified_alike,
    checked=_alike,
    stand_in=FLOW,
    symbols={**LOSS_NAMES, "which": LEFT_OUT},
    where=f"X(k) are the iterates with all tokens, U(k) those without {DROPPED}, {OWN_STEPS}",
)
NO_WORSE = Measured(
    "descent on $loss has $formula",
    notation=r"h_i \ge g_i \text{ for all } i",
    floats=ends_no_worse,
    balls=certified_no_worse,
    checked=_no_worse,
    stand_in=FLOW,
    symbols={**LOSS_NAMES, "which": LEFT_OUT},
    where="g_i and h_i are the scores of the tokens that descent selects in input i, with all "
    f"tokens and without {DROPPED}, {OWN_STEPS}",
)


# instances


def _lowest_last(data: AttentionData) -> AttentionData:
    """Return the data with the least scores at the last tokens, which lie beyond the margin."""
    scores = data.gamma.copy()
    scores[:, -1] = scores.min() - 1.0
    return AttentionData(data.X, data.Z, scores=scores)


def idle_data() -> st.SearchStrategy[AttentionData]:
    """Return a strategy of separable data whose tokens of least score lie beyond the margin."""
    return redundant_data((2.0, 1.5, 3.0)).map(_lowest_last)


def idle_larger(generator: np.random.Generator) -> AttentionData:
    """Return one input at larger sizes whose token of least score lies beyond the margin."""
    data = redundant_larger(generator)
    return _lowest_last(AttentionData(data.X[:1], data.Z[:1], scores=data.gamma[:1]))


@composite
def scaled(draw: st.DrawFn, least: float = -np.inf) -> Scaled:
    """Draw separable data and a number, whose sign is dropped if it is below `least`."""
    size = 2.0 * draw(numbers())
    size = abs(size) if size < least else size
    return Scaled(draw(st.one_of(separable_data(), redundant_data())), size)


@composite
def line_runs(draw: st.DrawFn) -> Descent:
    """Draw an input of 3 or 4 tokens in R^1, with distinct scores, from zero or any start."""
    T = draw(st.integers(3, 4))
    scores = np.cumsum(1.0 + np.abs(draw(arrays(T))))
    X = draw(arrays(1, T, 1))
    data = AttentionData(X, np.ones((1, 1)), scores=scores[None, ::-1])
    return Descent(data, draw(st.sampled_from([0.0, 1.0, 4.0])) * draw(arrays(1, 1)))


SUPPORT = AttentionData.of([[[2], [0], [1]]], [[1]], scores=[[2, 1, 0]])
"""The token of least score is the support vector."""
INWARDS = Scaled(AttentionData.of([[[0], [8], [1]]], [[-1]], scores=[[2, 0, 1]]), -1.0)
"""The token of least score has margin 8, so that attention to it is far above 1/(1 + exp(-1))."""
ENDS_THERE = Descent.of([[[0], [1], [-1]]], [[1]], scores=[[1, 0, -1]])
PUSHED = Descent.of([[[-1], [4], [0], [3]]], [[1]], scores=[[1, 0, -3, -4]])
"""The token of least score moves the run to the best one."""
BEST_PUSHES = Descent.of([[[4], [0], [3]]], [[1]], scores=[[-1, 0, 3]])
"""Without the optimal token the run on the printed loss changes its direction."""
BETWEEN = Descent.of([[[11], [0], [12]]], [[1]], scores=[[4, 3.75, 3.625]])
"""Without the second token the run on the printed loss ends in another direction."""
PROTECTED = replace(
    Descent.of(
        [[[1, 0], [0, 0], [-4, 0]], [[-3, 1], [0, 0], [-1, 0]]],
        [[1, 0]] * 2,
        [[2, 0], [11, 0]],
        scores=[[1, 0, -1]] * 2,
    ),
    step=256.0,
)
"""A start in the basin. Without the last tokens L_X is smaller, and the steps leap out of it."""
SEPARABLE = st.one_of(separable_data(), redundant_data())
