"""Global convergence where the initial gradient is favourable.

"Theorem: We have that W_k/||W_k||_F -> W^mm(opt)/||W^mm(opt)||_F, if: initial gradient grad L(W_0)
is favorable." Favourable is not defined; the slide lists it beside equal scores under "alternative
criteria", each with a tick. Three readings fall, all from W_0 = 0 with the loss -u and z = (1, 0):

- `literal-1`: the first step separates the optimal tokens, (x_opt - x_t)^T (-grad L(W_0)) z > 0.
  One input: tokens (-4, -4), (3, 1), (4, 3), (-2, 0), head (3, -4), so scores 4, 5, 0, -6. The
  first step favours the second token over all others and the bad ones fade; then the first token,
  which is longer, takes over for ever.
- `literal-2`: both criteria at once. Tokens (1, 0), 0, 0, 0 and (-2, 1), 0, head (3, 7), so scores
  3, 0, 0, 0 and 1, 0. With w the first column of W, input 1 pulls along (1, 0) and input 2 along
  (-2, 1); both margins grow where the pulls have a ratio between 2 and 5/2. It is 9/4 at zero, but
  s(1 - s) grows from 3/16 to 1/4 as input 1 learns, the ratio to 3, and input 2 is lost for ever.
- `literal-3`: the gradient is favourable as <-grad L(W_0), W^mm> > 0. Two inputs of two tokens.

`amended` asks that the first step be long: from W_1 = W_0 - R grad L(W_0)/||grad L(W_0)|| descent
with step at most 1/L converges to W^mm, if -grad L(W_0) separates, for every R with
iota R >= ln(sum_i b_i G_i (T_i - 1) / min_i drop_i) - m_0. Here iota is the least margin under
-grad L(W_0)/||grad L(W_0)||, m_0 that of W_0, G_i the largest score gap, b_i the largest |l'| and
drop_i = l(second) - l(best). For then all margins of W_1 are at least m = m_0 + iota R, the part
of input i in L(W_1) - L_* is at most b_i G_i (T_i - 1) exp(-m)/n, their sum is below
min_i drop_i/n, and W_1 is in the basin of W^mm (`attsvm.exact.descent.basin`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import rationals
from attsvm.theory import Slack, claim, sibling
from properties._support.aligned_inputs import rivals_equal
from properties._support.descent_runs import Run, max_margin, or_more_bits, reaches, unique_optimum
from properties._support.limit_certificates import certified_direction
from properties._support.torch_objectives import elsewhere
from properties.tf import SOURCE
from properties.tf._support import torch_objectives as relaxed
from properties.tf.global_equal_scores import PULLED
from properties.tf.global_initial_gradient.first_steps import (
    Step,
    correlates,
    exactly_stepped,
    favoured,
    favoured_larger,
    is_long,
    separates,
    stepped,
    steps,
)

THEOREM: dict[str, Any] = {
    "source": SOURCE,
    "place": "Global convergence with alternative criteria",
    "cost": 10,
    "same_slack": False,
}
ZERO = np.zeros((2, 2))
OVERTAKEN = AttentionData.of(
    [[[-4.0, -4.0], [3.0, 1.0], [4.0, 3.0], [-2.0, 0.0]]], [[1.0, 0.0]], y=[1.0], v=[3.0, -4.0]
)
CROWDED = AttentionData.of(
    [
        [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
        [[-2.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]],
    ],
    [[1.0, 0.0], [1.0, 0.0]],
    y=[1.0, 1.0],
    v=[3.0, 7.0],
    mask=[[True, True, True, True], [True, True, False, False]],
)
SEPARATED = "the first step separates the optimal tokens"


def certify(case: Step, towards: str = "optimal") -> arb | None:
    """Where plain descent from W_0 goes, proved."""
    limit = max_margin(case.data, towards)
    return or_more_bits(certified_direction(case.data, rationals(case.start), case.loss, limit))


def _plainly(case: Step, towards: str) -> Slack:
    """Plain descent from W_0 converges in direction to the target."""
    return reaches(Run(case.data, case.start), case.loss, towards)


@claim(
    "tf/global-initial-gradient:literal-1",
    **THEOREM,
    statement="(x_opt - x_t)^T (-grad L(W_0)) z > 0 for all rivals: W_k/||W_k|| -> W^mm/||W^mm|| "
    "under descent from W_0",
    data=steps((1.0,)),
    hypotheses={SEPARATED: separates},
    examples=[Step(OVERTAKEN, ZERO, "correlation", 1.0)],
    relaxed=elsewhere,
    certify=certify,
    expected="refuted",
    siblings={
        "any first gradient": sibling(drop=[SEPARATED]),
        "towards the worst tokens": sibling(towards="worst"),
    },
)
def separating(case: Step, towards: str = "optimal") -> Slack:
    """The gradient separates the optimal tokens."""
    return _plainly(case, towards)


@claim(
    "tf/global-initial-gradient:literal-2",
    **THEOREM,
    statement="(x_opt - x_t)^T (-grad L(W_0)) z > 0 for all rivals, and their scores are equal in "
    "each input: W_k/||W_k|| -> W^mm/||W^mm|| under descent from W_0",
    data=steps((1.0,)),
    hypotheses={
        SEPARATED: separates,
        "non-optimal scores are equal": lambda case: rivals_equal(case.data),
    },
    examples=[Step(CROWDED, ZERO, "correlation", 1.0)],
    relaxed=elsewhere,
    certify=certify,
    expected="refuted",
    siblings={
        "any first gradient": sibling(drop=[SEPARATED]),
        "any scores": sibling(
            drop=["non-optimal scores are equal"],
            examples=[Step(OVERTAKEN, ZERO, "correlation", 1.0)],
        ),
        "towards the worst tokens": sibling(towards="worst"),
    },
)
def both(case: Step, towards: str = "optimal") -> Slack:
    """Both criteria of the slide at once."""
    return _plainly(case, towards)


@claim(
    "tf/global-initial-gradient:literal-3",
    **THEOREM,
    statement="<-grad L(W_0), W^mm> > 0: W_k/||W_k|| -> W^mm/||W^mm|| under descent from W_0",
    data=steps((1.0,)),
    hypotheses={
        "the first step goes along W^mm": lambda case: correlates(
            case, max_margin(case.data, "optimal")
        )
    },
    examples=[Step(PULLED.data, ZERO, PULLED.loss, 1.0)],
    relaxed=elsewhere,
    certify=certify,
    expected="refuted",
    siblings={
        "any first gradient": sibling(drop=["the first step goes along W^mm"]),
        "towards the worst tokens": sibling(towards="worst"),
    },
)
def correlating(case: Step, towards: str = "optimal") -> Slack:
    """The gradient has a part along W^mm."""
    return _plainly(case, towards)


def certify_long(case: Step, towards: str = "optimal") -> arb | None:
    """Where descent from W_1 goes, proved; W_1 is enclosed."""
    first, limit = exactly_stepped(case), max_margin(case.data, towards)
    if first is None:
        return None
    return or_more_bits(certified_direction(case.data, first, case.loss, limit))


@claim(
    "tf/global-initial-gradient:amended",
    **THEOREM,
    statement="(x_opt - x_t)^T (-grad L(W_0)) z > 0 for all rivals, optimal tokens unique, "
    "iota R >= ln(sum_i b_i G_i (T_i - 1) / min_i drop_i) - m_0: from W_1 = W_0 - R grad L(W_0) / "
    "||grad L(W_0)||, with step at most 1/L, W_k/||W_k|| -> W^mm/||W^mm||",
    data=favoured((16.0, 32.0, 64.0)),
    ensemble=favoured_larger,
    hypotheses={
        "optimal tokens are unique": lambda case: unique_optimum(Run(case.data, case.start)),
        SEPARATED: separates,
        "the first step is long": is_long,
    },
    examples=[
        Step(OVERTAKEN, ZERO, "correlation", 32.0),
        Step(CROWDED, ZERO, "correlation", 32.0),
    ],
    relaxed=relaxed.after_long_step,
    certify=certify_long,
    expected="holds",
    siblings={
        "towards the worst tokens": sibling(towards="worst"),
        "the opposite direction": sibling(towards="opposite"),
        "W^mm turned by about a 64th": sibling(towards="turned"),
        "a first step of any length": sibling(
            drop=["the first step is long"], examples=[Step(CROWDED, ZERO, "correlation", 0.25)]
        ),
        "any first gradient": sibling(
            drop=[SEPARATED, "the first step is long"],
            examples=[Step(PULLED.data, ZERO, PULLED.loss, 32.0)],
        ),
    },
)
def long_step(case: Step, towards: str = "optimal") -> Slack:
    """After a long first step along a gradient that separates."""
    first = stepped(case)
    if first is None:
        return Slack.unknown("the gradient vanishes")
    return reaches(Run(case.data, first), case.loss, towards)
