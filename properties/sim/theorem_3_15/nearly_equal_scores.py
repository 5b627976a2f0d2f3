"""Runs whose rivals have nearly equal scores, conditions on them, and what is proved of their norm.

The norm diverges, on every monotone loss, where the Att-SVM is feasible, some input has two
different scores, and the rivals of each input share one score. Inputs of one score have no
gradient; the others have unique optimal tokens. A step of size eta on a loss l(u) adds to <X, X^mm>

    -eta sum_it l'(u_i) c_it m_it(X^mm) / n,   c_it = s_opt s_t (gamma_opt - gamma_t) >= 0 for
    t != opt_i where the rivals score the same,

with margins m >= 1. All terms have the sign of -l', which is one and the same for a monotone loss,
and some term is not 0. On a ball attention is bounded below and so is |l'|: while X(k) stays in
one, every step adds more than a constant. So no ball holds the run; as the steps are bounded too
and <X, X^mm> is monotone, it has no limit, and |<X, X^mm>| <= ||X|| ||X^mm|| diverges.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.traps import is_stationary_start, moves_along_margins
from attsvm.limits import norm_diverges
from attsvm.losses import LOSSES
from attsvm.primitives.aligned_inputs import (
    inputs_aligned,
    spread_within,
    together_larger,
)
from attsvm.primitives.descent_runs import Run, rival_data
from attsvm.primitives.growth_rates import diverges
from attsvm.primitives.hypotheses import feasible
from attsvm.primitives.steps import FLOW, INFINITY, X_K, norm, tends
from attsvm.primitives.torch_objectives import descent_at_rest
from attsvm.strategies import composite
from attsvm.theory import Slack

OPPOSED = Run(
    AttentionData.of([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], y=[1.0, 1.0], v=[1.0]),
    np.zeros((1, 1)),
)
OUTRUN = Run(
    AttentionData.of([[[-1.0], [64.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0, -1.25]]),
    np.array([[-3 / 128]]),
)
THROWN = replace(
    Run.of([[[1, 0], [0, 3], [0, 1], [0, -8]]], [[1, 0]], [[2, 0], [0, 0]], scores=[[2, 1, 0, -1]]),
    step=256.0,
)
"""Selects the best token, which the first step away from the last one leaves for the second."""
BALANCED = Run(
    AttentionData.of([[[0.0], [5.0], [1.0]]], [[1.0]], scores=[[3.0, 2.0, 0.0]]), np.zeros((1, 1))
)
"""X^mm = -1, and the gradient at zero is 0: 4/3 of token 0, 1/3 of 5 and -5/3 of 1 cancel."""
SPREADS = (0.0, 1.0, 0.25, 2.0**-10)


@composite
def beside_level(draw: st.DrawFn) -> AttentionData:
    """Rivals of one score each, of some inputs that of the optimal token."""
    data = draw(rival_data())
    level = np.array([draw(st.booleans()) for _ in range(data.n)])[:, None]
    return AttentionData(data.X, data.Z, scores=np.where(level, data.gamma[:, :1], data.gamma))


@composite
def level_data(draw: st.DrawFn) -> AttentionData:
    """Such data, or each of its inputs twice, with opposite queries."""
    data = draw(beside_level())
    if draw(st.booleans()):
        return data
    X, gamma = np.repeat(data.X, 2, axis=0), np.repeat(data.gamma, 2, axis=0)
    flip = np.tile([1.0, -1.0], data.n)[:, None]
    return AttentionData(X, flip * np.repeat(data.Z, 2, axis=0), scores=gamma)


def aligned(run: Run) -> bool:
    """Inputs are aligned."""
    return inputs_aligned(run.data)


def within(run: Run, factor: float = 1.0) -> bool:
    """The rivals' scores differ by less than factor delta_i, delta_i = g_i s_i/(1 - s_i)."""
    return spread_within(run.data, run.start, factor)


def at_most(run: Run) -> bool:
    """They differ by delta_i at most, which is 0 where optimal tokens are tied."""
    return spread_within(run.data, run.start, 1.0, strict=False)


def within_of_others(run: Run, factor: Fraction = Fraction(1)) -> bool:
    """Spread of the rivals' scores below factor g_i s_i/(1 - s_i - s'_i), for sure.

    s'_i is the attention of the start to a rival of the second-best score, which costs nothing.
    """
    return spread_within(run.data, run.start, factor, spare_second_best=True)


def far(lead: float, at: float) -> Run:
    """Tokens -1, 64, 0 with scores 1, 0, -lead from X(0) = at; X^mm = -1."""
    data = AttentionData.of([[[-1.0], [64.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0, -lead]])
    return Run(data, np.array([[at]]))


def larger(generator: np.random.Generator) -> Run:
    """Aligned inputs, from zero or a random start."""
    data = together_larger(generator, *SPREADS)
    size = float(generator.choice([0.0, 1.0, 4.0]))
    return Run(data, size * generator.integers(-8, 9, size=(data.d, data.d)) / 8)


def grows(run: Run, loss: str) -> Slack:
    """The norm diverges, as the floats of a long run see it."""
    return norm_diverges(run.data, run.start, LOSSES[loss])


def _of_two_scores(data: ExactData) -> ExactData:
    """The inputs of two scores; the gradient of others is 0."""
    inputs = [i for i, gamma in enumerate(data.gamma) if len(set(gamma)) > 1]
    return ExactData(
        [data.X[i] for i in inputs],
        [data.Z[i] for i in inputs],
        [data.gamma[i] for i in inputs],
        [data.kept[i] for i in inputs],
    )


def grows_for_sure(run: Run, loss: str) -> arb | None:
    """-1 where the run ends at a finite norm, 1 where it is proved to settle, or by the text above.

    The latter, and that a start is stationary, are proved for every loss that is monotone.
    """
    data, start = ExactData.of(run.data), rationals(run.start)
    if is_stationary_start(data, start):
        return arb(-1)
    proved = diverges(run.data, run.start, loss, run.step)
    if proved is None and feasible(run) and moves_along_margins(_of_two_scores(data)):
        return arb(1)
    return proved


NORM = tends(
    "descent on the loss $loss",
    norm(X_K),
    INFINITY,
    floats=grows,
    balls=grows_for_sure,
    tensors=descent_at_rest,
    stand_in=FLOW,
)
