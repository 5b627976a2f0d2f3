"""Limits of descent on a prompt p: the direction and the norm of p(k), and its rate.

A proper start is r p(alpha) with r = R + 1, see `prompt_descent.properly_started`. The proofs are
about descent on the matrix whose first column is p.
"""

from dataclasses import replace

import numpy as np
from flint import arb

from attsvm.exact import ExactData, separate
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives import descent_limits as limits
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import PROPER as PROPER_START
from attsvm.primitives.descent_limits import SOME, Beginning, Letters, limit
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.steps import by_gradient_flow
from attsvm.theory import Slack
from attsvm.training import follow_w
from properties.mm._support.prompt_descent import moves_aside, never_moves, prompt, properly_started

P_K, Q_K = "p(k)", "q(k)"
LETTERS = Letters(
    "p(0)",
    P_K,
    {
        "optimal": r"p(\alpha)",
        "worst": r"p(\mathrm{low})",
        "selected": r"p(\beta)",
        **{name: rf"p_{{{name}}}" for name in ("mean", "turned")},
    },
)
PROMPTS = {"towards": LETTERS.targets}
"""The notation of targets of prompts."""


def reaches_none(case: Descent, towards: str) -> bool:
    """Return whether no start suffices: there is no target, or the run moves aside."""
    return prompt(case, towards) is None or (towards == "optimal" and moves_aside(case))


def certified(case: Descent, towards: str = "optimal") -> arb:
    """Return 1 if p(k) provably converges in direction to the target, a negative number if not.

    The result is an undecided ball if neither is known.
    """
    return arb(-1) if reaches_none(case, towards) else limits.DIRECTION.balls(case, towards)


def some_start(case: Descent, start: str) -> Descent | None:
    """Return the run from the proper start, or from zero if `start` is "zero"."""
    return replace(case, start=0.0 * case.start) if start == "zero" else properly_started(case)


PROPER = Beginning(
    properly_started,
    {"size": 1},
    condition=r" \text{ for } p(0) = $size r p(\alpha)",
    where="r = 1 + max(0, ln [M sum_i (T_i - 1) D_i / (m min_i gap_i)]), D_i is the range and "
    "gap_i the lead of the scores of input i, and m and M are the least and the largest |l'| "
    "between all scores",
    known=PROPER_START,
)
SOME_START = Beginning(
    some_start,
    {"start": SOME},
    says="$formula from $start, with some such step",
    symbols={"start": {SOME: "some p(0)", "zero": "zero"}},
)

DIRECTION = limit(limits.DIRECTION, LETTERS, never=reaches_none)
DIRECTION_FROM_PROPER = limit(limits.DIRECTION, LETTERS, PROPER, reaches_none)
DIRECTION_FROM_SOME = limit(limits.DIRECTION, LETTERS, SOME_START, reaches_none)
DIVERGENCE = limit(limits.NORM, LETTERS)
DIVERGENCE_FROM_PROPER = limit(limits.NORM, LETTERS, PROPER, never_moves)
DIVERGENCE_FROM_SOME = limit(limits.NORM, LETTERS, SOME_START, never_moves)
RATE = limit(limits.RATE, LETTERS)

FAR = 64.0
"""Factor of the norm at which the selected tokens are read off."""


@by_gradient_flow
def one_limit(case: Descent, other: str = "correlation", towards: str = "selected") -> Slack:
    """Return the slack of "both runs converge in direction to p(alpha), or to that target".

    With `selected` the target is p(alpha) of the tokens that the run on the case's own loss
    selects.
    """
    start = case.W
    if towards == "selected":
        low = FAR * (1.0 + float(np.linalg.norm(start)))
        far = follow_w(case.data, start, LOSSES[case.loss], [low]).W[0, -1]
        chosen = [int(t) for t in (case.data.X @ far[:, 0]).argmax(axis=1)]
        separator = separate(ExactData.of(case.data), chosen)
        exact = None if separator is None or separator.status != "solved" else separator.W
    else:
        exact = max_margin(case.data, towards)
    if exact is None:
        return Slack.unknown("no max-margin direction selects what the run selects")
    target = np.array([[float(arb(x)) for x in row] for row in exact])
    slacks = [
        direction_converges(case.data, start, LOSSES[loss], target) for loss in (case.loss, other)
    ]
    return min(slacks, key=lambda slack: (slack.kind != "unknown", slack.value))
