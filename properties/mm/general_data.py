"""The abstract: descent on p converges in direction to a max-margin solution, on general data.

"We prove that running gradient descent on p, or equivalently W, converges in direction to a
max-margin solution that separates locally-optimal tokens from non-optimal ones. ... Remarkably, our
results are applicable to general data."

`literal` takes all data, any start and any step. It falls where all scores are alike, as nothing
moves there, and from zero with one input of keys 1, 0, -2 and scores 1, -4, 0: their gradients
cancel at p = 0, for every loss, and p has no direction. `amended` is true of locally optimal
tokens: each token of margin 1 under p(alpha) scores below alpha. `tf/local-convergence:amended`
is the same with explicit bounds.

The least d, n and T, each by itself, of a run with two different scores of an input, l' < 0 and a
step of at most 1/L that is certified to fail `literal`. All fail from zero, and none with less was
found from elsewhere (`python -m benchmarks.least_failures prompt --instances 48`, 4989 runs):

| supposed | d | n | T |
| --- | --- | --- | --- |
| nothing else | 1 | 1 | 2, equal keys |
| no input repeats a key | 1 | 1 | 2, of two opposed inputs |
| unique optimal tokens have a p(alpha) | 1 (3 if d >= n T) | 1 | 3, keys 1, 0, -2 |
| and every choice of tokens | 2 (4 if d >= n T) | 1 | 4, keys of a quadrilateral |
| differences of keys are independent | none in 3211 | none | none, 686 open |
"""

from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import ExactData, rationals, separate
from attsvm.exact.minima import Minimum
from attsvm.exact.traps import is_stationary_start
from attsvm.primitives.descent import Descent
from attsvm.primitives.growth_rates import proved_limit
from attsvm.primitives.limit_certificates import ends_at
from attsvm.primitives.losses import LOSSES
from attsvm.primitives.steps import (
    ANY,
    ITERATED,
    TARGET,
    converges_in_direction,
    flattened,
    stepped,
)
from attsvm.theory import Hypothesis, Reading, Records, Slack, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import prompt_instances as cases
from properties.mm._support.prompt_limits import P_K, PROMPTS, certified, one_limit
from properties.tf._support import cone_starts as starts
from properties.tf._support import cones
from properties.tf._support.cone_starts import ON_RAY, OTHER
from properties.tf._support.cones import LONG, NEAR, OPTIMAL, Local


def separates(case: Descent, towards: str = "selected") -> Slack:
    """The direction of p(k) converges to p(alpha) of the tokens that the run selects, or others."""
    if is_stationary_start(ExactData.of(case.data), rationals(case.W), case.loss):
        if not case.start.any():
            return Slack(-1.0, 0.0)
        return Slack.unknown("the run stays where it starts")
    return one_limit(case, other=case.loss, towards=towards)


def certified_separates(case: Descent, towards: str = "selected") -> arb | None:
    """1 where the run is proved to converge in direction to that p(alpha), negative where not.

    For the tokens selected: 1 where the run settles, negative where it ends at a finite norm in
    another direction than every p(alpha).
    """
    if towards != "selected":
        return certified(case, towards)
    way = proved_limit(case.data, case.W, case.loss, case.step)
    if way is not None:
        return arb(1) if way.limit is not None and len(way.inputs) == len(case.data.X) else None
    end = ends_at(case.data, rationals(case.W), case.loss, case.step)
    return None if end is None else _apart_from_solutions(case, end)


def _apart_from_solutions(case: Descent, end: Minimum) -> arb | None:
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


SEPARATES = converges_in_direction(
    "",
    P_K,
    TARGET,
    floats=separates,
    balls=certified_separates,
    symbols=PROMPTS,
    where="p(k) are the iterates from p(0), beta are the tokens that they select, and p(beta) is "
    "the max-margin solution of beta",
)
ON_BOTH = replace(
    cones.DIRECTION,
    where=f"{cones.DIRECTION.where}, and descent on p is that from W_0 = p(0) e_1^T with queries "
    "e_1, whose limit is p(alpha)",
)
"""The limit of descent on W, said of descent on p as well."""


def on_a_prompt(case: Local) -> Local:
    """The same start, of which the first column is kept: a run on p where all queries are e_1."""
    return starts.lengthened(replace(case, start=case.start * np.eye(1, case.data.d)))


DECREASING = Hypothesis("l is decreasing", lambda case: LOSSES[case.loss].decreasing)

GENERAL = Statement(
    "mm/general-data",
    rests_on=("mm/theorem-1-direction", "mm/w-p-equivalence"),
    source=SOURCE,
    place="Abstract",
    printed="We prove that running gradient descent on p, or equivalently W, converges in "
    "direction to a max-margin solution that separates locally-optimal tokens from non-optimal "
    "ones. ... Remarkably, our results are applicable to general data",
    variables=stepped(Descent, cases.comparable(0, 2)),
    conclusion=SEPARATES,
    cost=12,
    violating={
        OPTIMAL: [starts.BETTER_SUPPORT],
        NEAR: [starts.escaping_start(2, 1024.0)],
        LONG: [starts.FALLS_BACK],
    },
    readings={
        "literal": Reading(
            "refuted, certified",
            read={"general data": "all data, any start, any constant step and any decreasing loss"},
            under=(DECREASING,),
            variables=stepped(Descent, flattened(cases.comparable(0, 2)), steps=ANY),
            examples=(cases.TWO_KEYS, cases.STUCK, cases.TIED, cases.ONE_KEY),
            siblings={
                "the direction of the worst tokens": changed(
                    towards="worst", examples=[cases.TWO_KEYS]
                ),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.local_convergence:prove",
            under=(OPTIMAL, NEAR, LONG),
            variables=Records(
                Local,
                st.one_of(
                    starts.started(0.5).map(on_a_prompt), starts.started(0.5).map(starts.lengthened)
                ),
                lambda generator: on_a_prompt(starts.started_larger(0.5)(generator)),
                fixed=("share",),
                lets=ITERATED,
            ),
            conclusion=ON_BOTH,
            examples=ON_RAY,
            siblings=OTHER,
        ),
    },
)
