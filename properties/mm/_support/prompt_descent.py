"""Descent on a prompt p: p(alpha), sufficient starts, and the gradient as a formula."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from flint import arb, fmpq_mat

from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import risk_gap
from attsvm.exact.descent import threshold
from attsvm.exact.numbers import Vector, subtract
from attsvm.losses import LOSSES
from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.gradients import loss_slope
from attsvm.primitives.hypotheses import two_scores
from attsvm.primitives.loss_hypotheses import sloped
from attsvm.theory.types import Namespace, Number, Numbers


def prompting(
    keys: object, scores: object, start: object = None, loss: str = "correlation"
) -> Descent:
    """Return a run on keys and scores of nested lists, from zero by default."""
    k = np.array(keys, dtype=np.float64)
    p = np.zeros(k.shape[-1]) if start is None else np.array(start, dtype=np.float64)
    return Descent(Keys(k, np.array(scores, dtype=np.float64)), p, loss)


def never_moves(case: Descent) -> bool:
    """Return whether the gradient is zero everywhere for every loss: no input has two scores."""
    return not two_scores(case)


def near_basin(case: Descent) -> bool:
    """Return whether the start's risk gap is below 105% of the threshold of the basin."""
    data = ExactData.of(case.data)
    bound = threshold(data, case.loss)
    return bound is not None and bool(
        20 * risk_gap(data, rationals(case.W), case.loss) < 21 * bound
    )


def prompt(case: Descent, towards: str = "optimal") -> Vector | None:
    """Return p(alpha) or another target of `descent_runs.max_margin`, in rationals, or None."""
    W = max_margin(case.data, towards)
    return None if W is None else [row[0] for row in W]


def properly_started(case: Descent, size: float = 1.0) -> Descent | None:
    """Return the run from `size` (R + 1) p(alpha); None if p(alpha) or a finite R does not exist.

    R = max(0, ln [M sum_i (T_i - 1) D_i / (m min_i gap_i)]) with

    - D_i the range of the scores of input i, and gap_i the lead of its best one;
    - m, M the extremes of |l'| between the least and the largest score. The losses here take them
      at an end, or at the score nearest to 0 or to 1.

    At margins above R each rival has a weight of at most exp(-R). If optimal tokens are unique, the
    risk gap is then below min_i [l(second) - l(best)]/n: the start is proper. R is 0 if all scores
    of each input are equal.
    """
    p = prompt(case)
    if p is None:
        return None
    scores = [sorted(set(row)) for row in case.data.gamma.tolist()]
    gap = min((row[-1] - row[-2] for row in scores if len(row) > 1), default=np.inf)
    ranges = sum(row[-1] - row[0] for row in scores)
    least = 0.0
    if ranges > 0.0:
        ends = min(row[0] for row in scores), max(row[-1] for row in scores)
        slopes = LOSSES[case.loss].log_slope(np.array([*ends, *np.clip([0.0, 1.0], *ends)]))
        rivals = case.data.T - 1
        least = math.log(rivals * ranges / gap) + float(np.ptp(slopes))
    if not np.isfinite(least):
        return None
    direction = np.array([float(arb(x)) for x in p])
    return replace(case, start=size * (max(0.0, least) + 1.0) * direction)


def moves_aside(case: Descent) -> bool:
    """Return whether no start and no step lead to the direction of p(alpha), as is proved here.

    Suppose that l' < 0 and that each input with two scores has one optimal token and equal scores
    of its rivals. Let S be the span of the differences of keys of these inputs, and p(alpha) not in
    S. Then p(k) - p(0) lies in S, and <p(k), p(alpha)> grows beyond all bounds. So all limits of
    the direction lie in S.
    """
    p, data = prompt(case), ExactData.of(case.data)
    inputs = [i for i, row in enumerate(data.gamma) if len(set(row)) > 1]
    if p is None or not inputs or not sloped(case):
        return False
    if any(len(set(data.gamma[i])) > 2 or len(data.optimal[i]) > 1 for i in inputs):
        return False
    rows = [subtract(x, data.X[i][0]) for i in inputs for x in data.X[i][1:]]
    return bool(fmpq_mat([*rows, p]).rank() > fmpq_mat(rows).rank())


def logit_gradient(m: Namespace, s: Numbers, gamma: Numbers, slope: Number) -> Numbers:
    """Return the gradient of l(<s, gamma>) in the logits of one input; `slope` is l' there.

    Entry t is l' sum_u s_t s_u (gamma_t - gamma_u). It is added up by pairs, so that tiny weights
    keep their relative precision.
    """
    return slope * m.sums(m.outer(s, s) * m.differences(gamma))


def logit_gradients(
    m: Namespace, keys: Sequence[Numbers] | Numbers, scores: Numbers, p: Numbers, loss: str
) -> list[Numbers]:
    """Return the gradient of the risk in the logits of each input at the prompt p."""
    weighted = [(m.softmax(k @ p), gamma) for k, gamma in zip(keys, scores, strict=True)]
    return [
        logit_gradient(m, s, gamma, loss_slope(m, loss, s @ gamma)) / len(keys)
        for s, gamma in weighted
    ]


def prompt_gradient(
    m: Namespace, keys: Sequence[Numbers] | Numbers, scores: Numbers, p: Numbers, loss: str
) -> Numbers:
    """Return the gradient of the risk in the prompt p."""
    coefficients = logit_gradients(m, keys, scores, p, loss)
    return sum(c @ k for c, k in zip(coefficients, keys, strict=True))


def descent(
    m: Namespace,
    keys: Sequence[Numbers] | Numbers,
    scores: Numbers,
    p: Numbers,
    loss: str,
    step: Number,
    steps: int,
    pace: Callable[[Numbers], Numbers] | None = None,
) -> list[Numbers]:
    """Return p_0 to p_steps; `pace` turns a gradient into another step, such as one of length 1."""
    prompts = [p]
    for _ in range(steps):
        g = prompt_gradient(m, keys, scores, prompts[-1], loss)
        prompts.append(prompts[-1] - step * (g if pace is None else pace(g)))
    return prompts
