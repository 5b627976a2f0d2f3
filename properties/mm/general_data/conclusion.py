"""Convergence of descent on a prompt in direction to p(alpha) of whichever tokens it selects."""

from dataclasses import replace

from flint import arb

from attsvm.exact import ExactData, rationals, separate
from attsvm.exact.minima import Minimum
from attsvm.exact.traps import is_stationary_start
from attsvm.primitives import run_programs
from attsvm.primitives.descent import Descent
from attsvm.primitives.growth_rates import proved_limit
from attsvm.primitives.limit_certificates import ends_at
from attsvm.primitives.steps import TARGET, converges_in_direction
from attsvm.theory import Slack
from properties._support import cones
from properties.mm._support.prompt_limits import P_K, PROMPTS, certified, one_limit


def separates(case: Descent, towards: str = "selected") -> Slack:
    """Return the slack of "the direction of p(k) converges to p(alpha) of the selected tokens".

    With `towards` other tokens than the selected ones can be named.
    """
    if is_stationary_start(ExactData.of(case.data), rationals(case.W), case.loss):
        if not case.start.any():
            return Slack(-1.0, 0.0)
        return Slack.unknown("the run stays where it starts")
    return one_limit(case, other=case.loss, towards=towards)


def certified_separates(case: Descent, towards: str = "selected") -> arb | None:
    """Return 1 if the run is proved to converge in direction to that p(alpha), negative if not to.

    For the selected tokens: 1 if the run is proved to select tokens for ever. Negative if it is
    proved to end at a finite norm, in another direction than that of every p(alpha).
    """
    if towards != "selected":
        return certified(case, towards)
    proved = proved_limit(case.data, case.W, case.loss, case.step)
    if proved is not None:
        return (
            arb(1) if proved.limit is not None and len(proved.inputs) == len(case.data.X) else None
        )
    end = ends_at(case.data, rationals(case.W), case.loss, case.step)
    return None if end is None else _apart_from_solutions(case, end)


def _apart_from_solutions(case: Descent, end: Minimum) -> arb | None:
    """Return a negative number if the end of a run has another direction than every p(alpha).

    Under p(alpha) the tokens alpha have the largest logits. So only the tokens of largest logits at
    the end come into question. None if these are not known, or the directions cannot be
    distinguished.
    """
    if not case.start.any() and end.radius == 0 and all(x == 0 for row in end.near for x in row):
        return arb(-1)  # the run stays at 0, which has no direction
    data, chosen = ExactData.of(case.data), []
    for tokens, z in zip(data.X, data.Z, strict=True):
        logits = [float(end.along([a * b for a in x for b in z]).mid()) for x in tokens]
        best = logits.index(max(logits))
        leads = (
            end.along([(a - c) * b for a, c in zip(tokens[best], x, strict=True) for b in z])
            for t, x in enumerate(tokens)
            if t != best
        )
        if not all(lead > 0 for lead in leads):
            return None
        chosen.append(best)
    solved = separate(data, chosen)
    return None if solved is None else end.apart(solved.W)


SEPARATES = converges_in_direction(
    "",
    P_K,
    TARGET,
    floats=separates,
    balls=certified_separates,
    checked=run_programs.leaves_zero,
    symbols=PROMPTS,
    where="p(k) are the iterates from p(0), beta are the tokens that they select, and p(beta) is "
    "the max-margin solution of beta",
)
ON_BOTH = replace(
    cones.DIRECTION,
    where=f"{cones.DIRECTION.where}, and descent on p is that from W_0 = p(0) e_1^T with queries "
    "e_1, whose limit is p(alpha)",
)
"""The limit of descent on W, stated for descent on p as well."""
