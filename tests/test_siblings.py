"""Each hypothesis of a reading that stands matters: a sibling drops it alone and falls, a witness
here misses it alone and refutes, or the table says why there is nothing to drop."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from attsvm.theory.declaration.formula import domains
from attsvm.theory.packs import load_packs
from attsvm.theory.verdict import Truth
from properties._support.descent_runs import max_margin
from properties._support.growth_rates import arrives
from properties._support.hypothesis_violations import NO_QUERY, PASSED_OVER, TIED_ASIDE
from properties.mm._support.prompt_descent import prompting
from properties.mm._support.prompt_instances import ASIDE, TWO_KEYS
from properties.mm.normalised_descent.paced_runs import Paced
from properties.sim._support.theorem_3_14 import ONE_TOKEN

CLAIMS = {claim.id: claim for pack in load_packs() for claim in pack.claims}
STANDING = [
    claim for claim in CLAIMS.values() if claim.expected.truth in (Truth.HOLDS, Truth.PROVED)
]

UNIQUE, FEASIBLE = "optimal tokens are unique", "Att-SVM is feasible"
TWO, EXISTS = "some input has two tokens", "p(alpha) exists, alpha optimal"
START = "risk gap of the start below the threshold"

NAMED = "the conclusion names what does not exist without it"
CHOICE = "it only names the choice: the same holds for any tokens chosen"
IMPLIED = "another hypothesis implies it; it is there to be dropped with that one, or as printed"
ALIKE = "one score of all rivals, below the best one, implies it"
BASIN = "a risk gap below the threshold implies two different scores in some input"
IDLE = "the reading stands without it; the statement asks for it"

REVIEWED = {
    NAMED: [
        ("mm/joint-svm:amended", "v(alpha) exists"),
        ("mm/joint-svm:sharp-1", "v(alpha) exists"),
        ("mm/joint-svm:sharp-1", "p(alpha) without relaxation exists"),
        ("mm/joint-svm:sharp-2", "v(alpha) exists"),
        ("mm/joint-svm:sharp-2", "p_S exists"),
        ("mm/loss-choice:amended-1", EXISTS),
        ("mm/normalised-descent:amended-1", EXISTS),
        ("mm/normalised-descent:sharp", EXISTS),
        ("mm/p-svm:sharp-1", "p(alpha) exists"),
        ("mm/p-svm:sharp-2", "p(alpha) exists"),
        ("mm/theorem-1-direction:amended-1", EXISTS),
        ("mm/theorem-1-direction:amended-2", EXISTS),
        ("mm/theorem-1-direction:amended-3", EXISTS),
        ("mm/theorem-1-norm:amended-2", EXISTS),
        ("mm/theorem-1-norm:sharp", EXISTS),
        ("mm/v-svm:sharp-2", "v(alpha) exists"),
        # the rescaled step would be 0; at p = 0 neither run moves
        ("mm/w-p-equivalence:amended-1", "p is not 0"),
        ("mm/w-p-equivalence:amended-2", "p is not 0"),
        *((f"sim/definition-4.1:{r}", "Att-SVM is separable") for r in ("amended", "amended-3")),
        ("sim/token-separation:amended-3", FEASIBLE),
        ("sim/token-separation:sharp-1", FEASIBLE),
        *(
            (f"sim/token-sparsity:{reading}", name)
            for reading in ("literal-3", "amended-2", "sharp-3")
            for name in ["there is an X^mm, and some token is no support vector of it"]
        ),
        ("sim/token-sparsity:sharp-1", "there is an X^mm"),
        ("sim/token-sparsity:sharp-2", "there are constraints, all independent"),
    ],
    CHOICE: [
        *(
            (f"sim/definition-3.8:{r}", UNIQUE)
            for r in ("amended", "literal-1", "sharp-1", "sharp-2")
        ),
        *((f"sim/definition-4.1:{r}", UNIQUE) for r in ("amended", "amended-3", "sharp")),
        *((f"sim/token-sparsity:{r}", UNIQUE) for r in ("literal-3", "sharp-1", "sharp-2")),
    ],
    IMPLIED: [
        ("mm/theorem-1-direction:amended-1", "below 105% of that"),
        ("sim/theorem-3.15:sharp", "rivals' scores within 3/2 delta"),
        # delta is 0 where the best scores are tied
        ("sim/theorem-3.15:sharp", UNIQUE),
    ],
    ALIKE: [
        ("mm/normalised-descent:amended-1", UNIQUE),
        ("mm/normalised-descent:sharp", UNIQUE),
        ("mm/theorem-1-direction:amended-2", UNIQUE),
        ("sim/theorem-3.14-part-2:amended-2", UNIQUE),
        ("sim/theorem-3.14-part-2:amended-3", UNIQUE),
    ],
    BASIN: [
        ("sim/theorem-3.14-part-1:amended-2", TWO),
        ("sim/theorem-3.14-part-2:amended-3", TWO),
        ("sim/theorem-3.15:amended-2", TWO),
    ],
    IDLE: [
        # from the basin the scores and margins of rivals are of no account: theorem 3.15, amended-2
        ("sim/theorem-3.14-part-2:amended-3", "all rivals of an optimal token score the same"),
        # dual feasibility asks nothing of the tokens that share a slack
        ("sim/definition-4.1:amended-3", "queries of a sequence have its tokens"),
        # both sides are 0
        ("sim/definition-4.1:sharp", "there is something to separate"),
    ],
}


@dataclass(frozen=True)
class Witness:
    """An instance that misses one hypothesis, and what certifies that the conclusion fails."""

    case: Any
    certify: Callable[[Any], arb | None] | None = None


def run_arrives(run):
    """Where a run goes whose tied inputs never pull, against the target of the first tokens."""
    return arrives(run.data, run.start, "logistic-loss", max_margin(run.data, "optimal"))


def prompt_arrives(case):
    return arrives(case.data, case.run.start, case.loss, max_margin(case.data, "optimal"))


DRAGGED = prompting(
    [[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1, 0], [11, 10]], [1, 3], "exponential"
)
"""In the basin of -x; exp(-x) hardly pulls where scores are high, and loses the second input."""

WITNESSES = {
    ("mm/loss-choice:amended-1", UNIQUE): Witness(ASIDE, prompt_arrives),
    ("mm/loss-choice:amended-1", START): Witness(DRAGGED),
    ("mm/normalised-descent:amended-1", "p(0) = 0"): Witness(
        Paced(replace(TWO_KEYS, start=np.array([-24.0])), 1.0)
    ),
    ("mm/theorem-1-direction:amended-1", UNIQUE): Witness(ASIDE, prompt_arrives),
    ("sim/theorem-3.14-part-1:amended-2", UNIQUE): Witness(TIED_ASIDE, run_arrives),
    ("sim/theorem-3.14-part-1:amended-2", "all tokens are support vectors"): Witness(NO_QUERY),
    ("sim/theorem-3.14-part-2:amended-2", TWO): Witness(ONE_TOKEN),
    ("sim/theorem-3.14-part-2:amended-2", FEASIBLE): Witness(NO_QUERY),
    (
        "sim/theorem-3.14-part-2:amended-2",
        "all rivals of an optimal token score the same",
    ): Witness(PASSED_OVER),
    ("sim/theorem-3.14-part-2:amended-3", FEASIBLE): Witness(NO_QUERY),
    ("sim/theorem-3.15:amended-2", UNIQUE): Witness(TIED_ASIDE, run_arrives),
    ("sim/theorem-3.15:amended-2", FEASIBLE): Witness(NO_QUERY),
    ("sim/theorem-3.15:sharp", TWO): Witness(ONE_TOKEN),
    ("sim/theorem-3.15:sharp", FEASIBLE): Witness(NO_QUERY),
}


def missed(claim, case):
    return [h.name for h in claim.hypotheses if not h.holds(case)]


def ends(claim):
    """The hypotheses that variables lie in their domains."""
    return set() if claim.formula is None else set(domains(claim.formula.variables))


def test_every_hypothesis_is_dropped_alone_or_reviewed():
    kept = {
        (claim.id, h.name)
        for claim in STANDING
        for h in claim.hypotheses
        if h.name not in ends(claim)
        if not any({h.name} == set(s.drop) - ends(claim) for s in claim.siblings)
    }
    listed = [entry for entries in REVIEWED.values() for entry in entries]
    assert len(listed) == len(set(listed))
    assert set(listed).isdisjoint(WITNESSES)
    assert sorted(kept) == sorted({*listed, *WITNESSES})


@pytest.mark.parametrize(
    ("entry", "witness"),
    WITNESSES.items(),
    ids=lambda x: "-".join(x) if isinstance(x, tuple) else "",
)
def test_a_witness_misses_one_hypothesis_and_the_conclusion_fails(entry, witness):
    identity, name = entry
    claim = CLAIMS[identity]
    assert missed(claim, witness.case) == [name]
    assert not claim.conclusion(witness.case).holds
    with ctx.workprec(256):
        assert (witness.certify or claim.certify)(witness.case) < 0


DROPPING = [
    (claim, sibling)
    for claim in STANDING
    for sibling in claim.siblings
    if len(sibling.drop) == 1 and sibling.examples
]


@pytest.mark.parametrize(
    ("claim", "sibling"), DROPPING, ids=lambda x: getattr(x, "id", getattr(x, "name", ""))
)
def test_what_a_sibling_shows_first_misses_just_what_it_drops(claim, sibling):
    assert all(missed(claim, case) == list(sibling.drop) for case in sibling.examples)


def test_no_two_different_scores_leave_no_basin():
    for identity, _ in REVIEWED[BASIN]:
        (start,) = (h for h in CLAIMS[identity].hypotheses if h.name == START)
        assert not start.holds(ONE_TOKEN)
