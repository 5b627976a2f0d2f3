"""Runs that never move, the condition l' < 0 on the scores, and instances."""

from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.exact.descent import decreases
from attsvm.losses import LOSSES as FOLLOWED
from attsvm.primitives import descent_limits as limits
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_limits import limit
from attsvm.primitives.descent_runs import max_margin, rival_data, tight_data
from attsvm.primitives.gradients import negative_gradient
from attsvm.primitives.losses import SLOPED as EVERYWHERE
from attsvm.strategies import composite
from attsvm.strategies.adversarial_starts import starts_about
from attsvm.strategies.data import separable_data
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Namespace, Number, Relation, Values
from properties._support.small_runs import NO_QUERY, ONE_TOKEN, TWO_TOKENS
from properties.sim._support import training

LETTERS = replace(training.LETTERS, says="")


def stays(case: Descent, towards: str) -> bool:
    """Return whether X(k) = 0 for ever because the gradient at 0 is 0, or there is no target."""
    if max_margin(case.data, towards) is None:
        return True
    gradient = negative_gradient(BALLS, case.data, case.start, case.loss).matrix
    return not case.start.any() and all(entry == 0 for entry in gradient.ravel())


DIRECTION = limit(limits.DIRECTION, LETTERS, never=stays)


def sloped(case: Descent) -> bool:
    """Return whether l' < 0 at every score that attention may return; False for unknown losses."""
    return case.loss in FOLLOWED and decreases(ExactData.of(case.data), case.loss)


def within(m: Namespace, v: Values, share: Number = 1) -> Relation:
    """Return that min h <= <softmax(s), h> <= min h + share (max h - min h)."""
    low, high, u = m.min(v.h), m.max(v.h), m.dot(m.softmax(v.s), v.h)
    return m.all_of(m.at_most(u - low, share * (high - low)), m.at_most(m.exact(0), u - low))


NEGATIVE = [*EVERYWHERE, "squared", "cubic"]


@composite
def trained(
    draw: st.DrawFn, losses: list[str], *, tight: bool = False, near: bool = False
) -> Descent:
    """Draw runs whose rivals have the same score, from adversarial starts or near four times X^mm.

    With `tight` or `near` other data are drawn as well, mostly with all tokens as support vectors.
    The starts lie near 4 X^mm if `near`. For (1 - u)^2 the scores are lowered below 1, and for -u^3
    moved to one side of 0, half of the time, and always if `near`.
    """
    kinds = [rival_data(), *([tight_data()] if tight or near else ())]
    kinds += [separable_data()] if near else []
    data, loss = draw(st.one_of(kinds)), draw(st.sampled_from(losses))
    lowered = draw(st.booleans()) or near
    if loss in ("squared", "cubic") and lowered:
        seen = data.gamma[data.present]
        to = -seen.max() + 0.5 if loss == "squared" else -seen.max() - 0.5
        if loss == "cubic" and draw(st.booleans()):
            to = -seen.min() + 0.5
        data = AttentionData(data.X, data.Z, scores=data.gamma + to)
    start = draw(starts_about(data, 0, 2))
    if near:
        target = max_margin(data, "optimal")
        along = [[float(arb(x)) for x in row] for row in target or []]
        start = start / 8 + (np.round(256.0 * np.array(along)) / 64 if along else 0.0)
    return Descent(data, start, loss)


CUBIC = replace(Descent.of([[[1], [0]]], [[1]], scores=[[1, -1]]), loss="cubic")
"""-u^3 has the slope 0 at the score 0 that attention starts with."""
TOP = replace(CUBIC, inputs=AttentionData.of([[[1], [0]]], [[1]], scores=[[2, 0]]), loss="squared")
"""(1 - u)^2 has the slope 0 at the score 1 that attention starts with."""
BELOW, ABOVE = (
    Descent.of([[[1], [0], [-1]]], [[1]], scores=[[high, low, low]], start=[[-2]])
    for high, low in ((-1, -2), (2, 1))
)
"""Scores on either side of the flat point of -u^3."""
FAR = Descent(TWO_TOKENS.data, np.array([[-24.0]]), "exponential")
WITHOUT_DIRECTION = replace(ONE_TOKEN, loss="log-loss"), replace(NO_QUERY, loss="log-loss")
"""X^mm = 0, and no X^mm."""
