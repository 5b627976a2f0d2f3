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

from attsvm.exact import ExactData, rationals
from attsvm.exact.traps import is_stationary_start
from attsvm.theory import Measured, Reading, Slack, Statement, changed
from properties._support.hypotheses import exists, sloped, unique_optimum
from properties._support.steps import SHORT, is_short, stepped
from properties.mm import SOURCE
from properties.mm._support import prompt_instances as cases
from properties.mm._support.prompt_descent import Prompting, never_moves, starts_in_basin
from properties.mm._support.prompt_limits import certified
from properties.mm.loss_choice import one_limit
from properties.mm.theorem_1_direction import BASIN, EXISTS, FROM_BASIN, SLOPED, UNIQUE


def separates(case: Prompting, towards: str = "selected") -> Slack:
    """The direction of p(k) converges to p(alpha) of the tokens that the run selects, or others."""
    start = case.run.start
    if is_stationary_start(ExactData.of(case.data), rationals(start), case.loss):
        return Slack(-1.0, 0.0)
    return one_limit(case, other=case.loss, towards=towards)


def certified_separates(case: Prompting, towards: str = "selected") -> arb | None:
    """-1 where the start is exactly stationary, 1 where the run is proved to reach p(alpha)."""
    if is_stationary_start(ExactData.of(case.data), rationals(case.run.start), case.loss):
        return arb(-1)
    if towards != "selected":
        return certified(case, towards)
    reached = certified(case)
    return reached if reached is not None and bool(reached > 0) else None


SEPARATES = Measured(
    "p(k) converges in direction to p(alpha) of the {towards} tokens",
    floats=separates,
    balls=certified_separates,
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
