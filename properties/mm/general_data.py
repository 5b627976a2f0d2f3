"""The abstract: descent on p converges in direction to a max-margin solution, on general data.

"We prove that running gradient descent on p, or equivalently W, converges in direction to a
max-margin solution that separates locally-optimal tokens from non-optimal ones. ... Remarkably, our
results are applicable to general data."

`literal` takes all data whose scores are not all alike and any start. It falls from zero with one
input of keys 1, 0, -2 and scores 1, -4, 0: their pulls cancel at p = 0, for every loss, and p has
no direction. `amended` is that of theorem 1: it names starts from which the direction is that of
p(alpha), those in the basin of the optimal tokens. Nothing is said here of other starts, nor of
tokens that are optimal only locally; what is said of p is said of W by `mm/w-p-equivalence`.
"""

from flint import arb

from attsvm.exact import ExactData, rationals, separate
from attsvm.exact.minima import Minimum
from attsvm.exact.traps import is_stationary_start
from attsvm.theory import Measured, Reading, Slack, Statement, changed
from properties._support.growth_rates import proved_limit
from properties._support.hypotheses import exists, sloped, unique_optimum
from properties._support.limit_certificates import ends_at
from properties._support.steps import FLOW, SHORT, is_short, stepped
from properties.mm import SOURCE
from properties.mm._support import prompt_instances as cases
from properties.mm._support.prompt_descent import Prompting, never_moves, starts_in_basin
from properties.mm._support.prompt_limits import certified
from properties.mm.loss_choice import one_limit
from properties.mm.theorem_1_direction import BASIN, EXISTS, FROM_BASIN, SLOPED, UNIQUE


def separates(case: Prompting, towards: str = "selected") -> Slack:
    """The direction of p(k) converges to p(alpha) of the tokens that the run selects, or others."""
    if is_stationary_start(ExactData.of(case.data), rationals(case.run.start), case.loss):
        if not case.start.any():
            return Slack(-1.0, 0.0)
        return Slack.unknown("the run stays where it starts")
    return one_limit(case, other=case.loss, towards=towards)


def certified_separates(case: Prompting, towards: str = "selected") -> arb | None:
    """1 where the run is proved to converge in direction to that p(alpha), negative where not.

    For the tokens selected: 1 where the run settles, negative where it ends at a finite norm in
    another direction than every p(alpha).
    """
    if towards != "selected":
        return certified(case, towards)
    way = proved_limit(case.data, case.run.start, case.loss, case.step)
    if way is not None:
        return arb(1) if way.limit is not None and len(way.inputs) == len(case.keys) else None
    end = ends_at(case.data, rationals(case.run.start), case.loss, case.step)
    return None if end is None else _apart_from_solutions(case, end)


def _apart_from_solutions(case: Prompting, end: Minimum) -> arb | None:
    """Negative where the end of a run has another direction than every p(alpha).

    All margins of a p(alpha) are positive, so that the tokens alpha are those that lead at the end.
    None where they are not known to lead, or the directions cannot be told apart.
    """
    if not case.start.any() and end.radius == 0 and all(x == 0 for row in end.near for x in row):
        return arb(-1)  # it stays at 0, which has no direction
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


SEPARATES = Measured(
    "p(k) converges in direction to p(alpha) of the {towards} tokens",
    floats=separates,
    balls=certified_separates,
    stand_in=FLOW,
)
MOVES = "some input has two different scores"

GENERAL = Statement(
    "mm/general-data",
    rests_on=("mm/theorem-1-direction", "mm/w-p-equivalence"),
    source=SOURCE,
    place="Abstract",
    printed="We prove that running gradient descent on p, or equivalently W, converges in "
    "direction to a max-margin solution that separates locally-optimal tokens from non-optimal "
    "ones. Remarkably, our results are applicable to general data",
    variables=stepped(Prompting, cases.comparable(0, 2)),
    hypotheses={
        SLOPED: sloped,
        EXISTS: exists,
        UNIQUE: unique_optimum,
        BASIN: starts_in_basin,
        SHORT: is_short,
        MOVES: lambda case: not never_moves(case),
    },
    conclusion=SEPARATES,
    cost=12,
    violating={
        EXISTS: [cases.ONE_KEY],
        UNIQUE: [cases.ASIDE],
        SLOPED: [cases.FLAT],
        SHORT: [cases.LEAPING],
    },
    readings={
        "literal": Reading(
            "whatever the data, the start and the decreasing loss, descent with step at most 1/L "
            "converges in direction to p(alpha) of the tokens that it selects, if some input has "
            "two different scores",
            expected="refuted, certified",
            under=(MOVES, SHORT),
            examples=(cases.TWO_KEYS, cases.STUCK),
            siblings={
                "all scores may be alike": changed(drop=[MOVES], examples=[cases.TIED]),
                "the direction of the worst tokens": changed(
                    towards="worst", examples=[cases.TWO_KEYS]
                ),
            },
        ),
        "amended": FROM_BASIN,
    },
)
