"""Runs whose rivals have nearly equal scores, and conditions on them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives.aligned_inputs import (
    INPUTS_ALIGNED,
    above_second_best,
    spread_within,
    together,
    together_larger,
)
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import direction_and_divergence
from attsvm.primitives.descent_runs import opposed_data, reaches, rival_data, runs
from attsvm.primitives.hypotheses import UNIQUE
from attsvm.primitives.steps import SHORT, by_gradient_flow, is_short, stepped
from attsvm.strategies import composite
from attsvm.strategies.adversarial_starts import trapping_data
from attsvm.theory import Hypothesis, Slack, changed
from properties.sim._support import training

OPPOSED = Descent(
    AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], y=[1.0, 1.0], v=[1.0]),
    np.zeros((1, 1)),
)
OUTRUN = Descent(
    AttentionData.of([[[-1.0], [64.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0, -1.25]]),
    np.array([[-3 / 128]]),
)
THROWN = replace(
    Descent.of(
        [[[1, 0], [0, 3], [0, 1], [0, -8]]], [[1, 0]], [[2, 0], [0, 0]], scores=[[2, 1, 0, -1]]
    ),
    step=256.0,
)
"""The start selects the best token. The first step moves away from the last token, and selects the
second one."""
BALANCED = Descent(
    AttentionData.of([[[0.0], [5.0], [1.0]]], [[1.0]], scores=[[3.0, 2.0, 0.0]]), np.zeros((1, 1))
)
"""X^mm = -1, and the gradient at zero is 0: 4/3 of token 0, 1/3 of 5 and -5/3 of 1 cancel."""
SPREADS = (0.0, 1.0, 0.25, 2.0**-10)


@composite
def beside_level(draw: st.DrawFn) -> AttentionData:
    """Draw data whose rivals share a score; in some inputs it is the score of the optimal token."""
    data = draw(rival_data())
    level = np.array([draw(st.booleans()) for _ in range(data.n)])[:, None]
    return AttentionData(data.X, data.Z, scores=np.where(level, data.gamma[:, :1], data.gamma))


@composite
def level_data(draw: st.DrawFn) -> AttentionData:
    """Draw data of `beside_level`, or each of its inputs twice, with opposite queries."""
    data = draw(beside_level())
    if draw(st.booleans()):
        return data
    X, gamma = np.repeat(data.X, 2, axis=0), np.repeat(data.gamma, 2, axis=0)
    flip = np.tile([1.0, -1.0], data.n)[:, None]
    return AttentionData(X, flip * np.repeat(data.Z, 2, axis=0), scores=gamma)


def within(run: Descent, factor: float = 1.0) -> bool:
    """Return whether the scores of the rivals of each input differ by less than factor delta_i.

    Here delta_i = g_i s_i/(1 - s_i), as in the statement.
    """
    return spread_within(run.data, run.start, factor)


def at_most(run: Descent) -> bool:
    """Return whether the scores of rivals differ by at most delta_i, which is 0 for tied optima."""
    return spread_within(run.data, run.start, 1.0, strict=False)


def starts_above(run: Descent, factor: Fraction = Fraction(1)) -> bool:
    """Return whether the start attends to more than the second-best score in each input.

    With a factor, the gain s_i g_i by the optimal token is multiplied by it.
    """
    return above_second_best(run.data, run.start, factor)


def far(lead: float, at: float) -> Descent:
    """Return tokens -1, 64, 0 with scores 1, 0, -lead, started at X(0) = at; X^mm = -1."""
    data = AttentionData.of([[[-1.0], [64.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0, -lead]])
    return Descent(data, np.array([[at]]))


def larger(generator: np.random.Generator) -> Descent:
    """Return a run on aligned inputs, from zero or a random start."""
    data = together_larger(generator, *SPREADS)
    size = float(generator.choice([0.0, 1.0, 4.0]))
    return Descent(data, size * generator.integers(-8, 9, size=(data.d, data.d)) / 8)


HALF = Hypothesis(
    "the step is at most 1/(2 L)",
    lambda run: run.step <= 0.5,
    says="the step is at most one over twice a Lipschitz constant of the gradient",
    checked="at_most(2 * step * smoothness(data, loss), 1)",
)


def is_short_for_each(run: Descent) -> bool:
    """Return whether the step is at most 1/L, with L the mean of the constants of the inputs.

    The number L of `attsvm.primitives.steps.SHORT` is this mean, so that the predicate is the same.
    """
    return is_short(run)


SHORT_EACH = Hypothesis(
    "the step is at most 1/L, L the mean of constants of the inputs",
    is_short_for_each,
    says="the step is at most one over the mean of Lipschitz constants of the gradients of the "
    "inputs' losses",
    implies=(SHORT,),
    checked=SHORT.checked,
)
"""The gradient of the mean may have a smaller constant, for which nothing is shown."""

WITHIN = Hypothesis(
    "rivals' scores less than delta apart",
    within,
    says="optimal tokens are unique, and the scores of the rivals of input i are less than "
    "g_i s_i/(1 - s_i) apart, with g_i the gap of its two best scores and s_i the attention of the "
    "start to its best token",
    implies=(UNIQUE,),
)
ABOVE_SECOND = Hypothesis(
    "attended scores start above second-best ones",
    starts_above,
    says="in each input of two tokens or more sum_t s_t gamma_t is above the highest score but "
    "that of its best token, with the scores gamma and the attention s of the start",
    implies=(UNIQUE,),
)
"""The hypothesis holds if the scores of rivals are less than g_i s_i/(1 - s_i - s'_i) apart, with
s'_i the attention to a token of the second-best score."""


@by_gradient_flow
def reaches_and_grows(run: Descent, towards: str = "optimal") -> Slack:
    """Return the smaller slack of "the direction converges" and "the norm diverges"."""
    slacks = [reaches(run, towards), training.NORM.floats(run)]
    return min(slacks, key=lambda slack: (not slack.violated, slack.value - slack.error))


BOTH = replace(
    training.DIRECTION,  # a direction is only proved for runs whose margins diverge
    says="descent on $loss has a diverging norm, and $formula",
    floats=reaches_and_grows,
    proposition=direction_and_divergence,
)


ALIGNED = stepped(
    Descent,
    runs(st.one_of(together(SPREADS), trapping_data()), 0, 1, 3),
    larger,
)

NEED_NOT_BE_ALIGNED = {
    "inputs need not be aligned": changed(
        drop=[INPUTS_ALIGNED], variables=stepped(Descent, runs(opposed_data(), 0))
    )
}
LEVEL = stepped(Descent, runs(level_data(), 0, 2), steps=(0.5, 0.25))


def halved(run: Descent) -> Descent:
    """Return the run with the step 1/(2 L)."""
    return replace(run, step=0.5)
