"""Limits of descent on a prompt p: the direction and the norm of p(k), and its rate.

A proper start is r p(alpha), r = R + 1, see `prompt_descent.properly_started`. The proofs are about
descent on the matrix whose first column is p.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from attsvm._types import Array
from attsvm.exact import ExactData, dot, separate
from attsvm.limits import direction_converges, norm_diverges, norm_grows_like_log
from attsvm.losses import LOSSES
from attsvm.primitives import growth_rates
from attsvm.primitives.descent_runs import certified_limit, max_margin, reaches
from attsvm.primitives.hypotheses import unique_optimum
from attsvm.primitives.many_runs import rival_lead
from attsvm.primitives.steps import (
    FLOW,
    INFINITY,
    LN_K,
    TARGET,
    along,
    by_gradient_flow,
    converges_in_direction,
    norm,
    over,
    tends,
)
from attsvm.primitives.torch_objectives import descent_at_rest, elsewhere, not_selecting
from attsvm.theory import Slack
from attsvm.training import follow_w
from properties.mm._support.prompt_descent import (
    Prompting,
    moves_aside,
    never_moves,
    prompt,
    properly_started,
)


def direction(case: Prompting, towards: str = "optimal") -> Slack:
    """The direction of p(k) converges to the target's."""
    return reaches(case.run, case.loss, towards)


def certified(case: Prompting, towards: str = "optimal") -> arb | None:
    """A proof that the direction converges to the target, or that it does not."""
    if towards == "optimal" and moves_aside(case):
        return arb(-1)
    target = max_margin(case.data, towards)
    if target is not None and not unique_optimum(case):
        return growth_rates.arrives(case.data, case.run.start, case.loss, target, case.step)
    return certified_limit(case.run, case.loss, towards)


def direction_from_proper(case: Prompting, towards: str = "optimal", size: int = 1) -> Slack:
    """The same for the run from `size` times the proper start; where nothing moves p stays."""
    proper = properly_started(case, size)
    if proper:
        return direction(proper, towards)
    if prompt(case) and not never_moves(case):
        return Slack.unknown("R is infinite")
    return Slack(1.0 if prompt(case) else -1.0, 0.0)


def certified_from_proper(case: Prompting, towards: str = "optimal", size: int = 1) -> arb | None:
    """Its proof."""
    proper = properly_started(case, size)
    if proper:
        return certified(proper, towards)
    if prompt(case) and not never_moves(case):
        return None
    return arb(1 if prompt(case) else -1)


def direction_from_some(case: Prompting, start: str = "some") -> Slack:
    """The direction of p(k) converges to that of p(alpha) from some start and with some step.

    From zero and with the step of the case where the start is `zero`.
    """
    if start == "zero":
        return direction(at_zero(case))
    return _for_some(direction_from_proper(case), not prompt(case) or moves_aside(case))


def certified_from_some(case: Prompting, start: str = "some") -> arb | None:
    """Its proof: the proper start will do, or none will."""
    if start == "zero":
        return certified(at_zero(case))
    return _proved_for_some(certified_from_proper(case), not prompt(case) or moves_aside(case))


def at_zero(case: Prompting) -> Prompting:
    """The same from zero."""
    return replace(case, start=np.zeros_like(case.start))


def _for_some(proper: Slack, none: bool) -> Slack:
    if none:
        return Slack(-1.0, 0.0)
    return Slack.unknown("the proper start will not do") if proper.violated else proper


def _proved_for_some(proper: arb | None, none: bool) -> arb | None:
    if none:
        return arb(-1)
    return proper if proper is not None and proper > 0 else None


def rival_lead_from_proper(
    cases: Sequence[Prompting], towards: str = "optimal", size: int = 1
) -> Array:
    """How far runs from the proper start are from selecting the optimal tokens, NaN without one."""
    proper = {k: case for k, c in enumerate(cases) if (case := properly_started(c, size))}
    height = np.full(len(cases), np.nan)
    height[list(proper)] = rival_lead(list(proper.values()), None, towards)
    return height


def leads_from_some(cases: Sequence[Prompting], start: str = "some") -> Array:
    """The same, or how far runs from zero are from it."""
    return (
        rival_lead(list(map(at_zero, cases))) if start == "zero" else rival_lead_from_proper(cases)
    )


P_K, Q_K, P_ALPHA = "p(k)", "q(k)", r"p(\alpha)"
PROMPTS = {
    "towards": {
        "optimal": P_ALPHA,
        "worst": r"p(\mathrm{low})",
        "selected": r"p(\beta)",
        **{name: rf"p_{{{name}}}" for name in ("mean", "turned")},
    }
}
"""How targets of prompts are written."""
DIRECTION = converges_in_direction(
    "from p(0)",
    P_K,
    TARGET,
    floats=direction,
    balls=certified,
    tensors=elsewhere,
    symbols=PROMPTS,
)
DIRECTION_FROM_PROPER = tends(
    "",
    along(P_K),
    rf"{along(TARGET)} \text{{ for }} p(0) = $size r p(\alpha)",
    floats=direction_from_proper,
    balls=certified_from_proper,
    many=rival_lead_from_proper,
    stand_in=FLOW,
    symbols=PROMPTS,
)

STARTED = {"start": {"some": "r p(alpha), or else from another start", "zero": "zero"}}
"""How starts are said."""
DIRECTION_FROM_SOME = converges_in_direction(
    "from {start}",
    P_K,
    P_ALPHA,
    floats=direction_from_some,
    balls=certified_from_some,
    many=leads_from_some,
    symbols=STARTED,
)


def diverges(case: Prompting) -> Slack:
    """||p(k)|| grows beyond all bounds."""
    return norm_diverges(case.data, case.run.start, LOSSES[case.loss])


def certified_divergence(case: Prompting) -> arb | None:
    """1 where the run is proved to settle, step by step, -1 where it ends at a finite norm."""
    return growth_rates.diverges(case.data, case.run.start, case.loss, case.step)


def diverges_from_proper(case: Prompting) -> Slack:
    """The same for the run from the proper start; where nothing ever moves no start will do."""
    proper = properly_started(case)
    if proper or never_moves(case):
        return diverges(proper) if proper else Slack(-1.0, 0.0)
    return Slack.unknown("there is no p(alpha), or R is infinite")


def diverges_from_some(case: Prompting, start: str = "some") -> Slack:
    """||p(k)|| grows beyond all bounds from some start and with some step, or from zero."""
    if start == "zero":
        return diverges(at_zero(case))
    return _for_some(diverges_from_proper(case), never_moves(case))


def certified_divergence_from_proper(case: Prompting) -> arb | None:
    """Its proof."""
    proper = properly_started(case)
    if proper:
        return certified_divergence(proper)
    return arb(-1) if never_moves(case) else None


def certified_divergence_from_some(case: Prompting, start: str = "some") -> arb | None:
    """Its proof: the proper start will do, or nothing ever moves."""
    if start == "zero":
        return certified_divergence(at_zero(case))
    return _proved_for_some(certified_divergence_from_proper(case), never_moves(case))


DIVERGENCE = tends(
    "",
    norm(P_K),
    INFINITY,
    floats=diverges,
    balls=certified_divergence,
    tensors=descent_at_rest,
    stand_in=FLOW,
)
DIVERGENCE_FROM_PROPER = tends(
    "from r p(alpha)",
    norm(P_K),
    INFINITY,
    floats=diverges_from_proper,
    balls=certified_divergence_from_proper,
    many=rival_lead_from_proper,
    stand_in=FLOW,
)
DIVERGENCE_FROM_SOME = tends(
    "from {start}",
    norm(P_K),
    INFINITY,
    floats=diverges_from_some,
    balls=certified_divergence_from_some,
    many=leads_from_some,
    symbols=STARTED,
    stand_in=FLOW,
)


@by_gradient_flow
def rate(case: Prompting, share: Any = 1) -> Slack:
    """||p(k)|| / ln k tends to a share of ||p(alpha)||, of 0 where there is no p(alpha)."""
    length = float(np.linalg.norm([float(arb(x)) for x in prompt(case) or [0]]))
    claimed = float(Fraction(share)) * length
    return norm_grows_like_log(case.data, case.run.start, LOSSES[case.loss], claimed)


def certified_rate(case: Prompting, share: Any = 1) -> arb | None:
    """How far the share is from the rate that is proved, over ||p(alpha)||, negated."""
    p = prompt(case)
    if p is None:
        return arb(-1)
    exact: Any = Fraction(share)
    return growth_rates.rate_error(
        case.data, case.run.start, case.loss, dot(p, p), exact, case.step
    )


RATE = tends(
    "",
    over(norm(P_K), LN_K),
    r"$share \left\|p(\alpha)\right\|",
    floats=rate,
    balls=certified_rate,
    tensors=not_selecting,
    stand_in=FLOW,
)


FAR = 64.0


@by_gradient_flow
def one_limit(case: Prompting, other: str = "correlation", towards: str = "selected") -> Slack:
    """Both runs converge in direction to p(alpha), or to another target that is named.

    `selected` is the p(alpha) of the tokens that the run on the case's own loss selects.
    """
    start = case.run.start
    if towards == "selected":
        low = FAR * (1.0 + float(np.linalg.norm(start)))
        far = follow_w(case.data, start, LOSSES[case.loss], [low]).W[0, -1]
        chosen = [int(t) for t in (case.keys @ far[:, 0]).argmax(axis=1)]
        found = separate(ExactData.of(case.data), chosen)
        exact = None if found is None or found.status != "solved" else found.W
    else:
        exact = max_margin(case.data, towards)
    if exact is None:
        return Slack.unknown("no max-margin direction selects what the run selects")
    target = np.array([[float(arb(x)) for x in row] for row in exact])
    slacks = [
        direction_converges(case.data, start, LOSSES[loss], target) for loss in (case.loss, other)
    ]
    return min(slacks, key=lambda slack: (slack.kind != "unknown", slack.value))
