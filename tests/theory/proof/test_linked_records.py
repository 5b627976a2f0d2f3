"""Linked proofs of formulas about records: propositions against formulas, and facts on instances.

Such a formula looks at its record, so that its propositions are a second text. Both are compared
on instances of each reading and of its siblings, with their constants.
"""

import functools
from dataclasses import replace

import numpy as np
import pytest

from attsvm.primitives import hypotheses, programme_letters
from attsvm.primitives.descent import Descent
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.declaration.judge import decided
from attsvm.theory.declaration.proof import recorded
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import load_packs
from attsvm.theory.proof import facts
from attsvm.theory.proof.facts import proof
from attsvm.theory.proof.linked import Said
from attsvm.theory.run.sampling import sample
from attsvm.theory.verification.check import found_proof
from properties.mm._support.attended import Attended
from properties.mm._support.token_selections import Rival, Selection, chosen
from tests.searching import nightly
from tests.theory.proof import descent_model, programme_model
from tests.theory.proof import proof_mutants as mutants
from tests.theory.proof.evaluation import evaluated

CLAIMS = {
    claim.id: claim
    for pack in load_packs()
    for claim in pack.claims
    if claim.proof
    and claim.expected.truth is Truth.PROVED
    and claim.instance_type in (Attended, Descent, Rival, Selection)
    and hasattr(claim.formula.conclusion, "proposition")
    and claim.formula.measured is None
    and claim.formula.conclusion.proposition.__module__ != programme_letters.__name__
}
MORE = {"tf/all-support-no-stationary:sharp": [{"share": "1.25"}]}
"""Other constants that make a formula false somewhere."""
WITHOUT = {"tf/linear-head-landscape:amended-2", "tf/linear-head-landscape:sharp-3"}
"""Readings that say something if V does not exist."""
STAND = {
    *("mm/p-svm:sharp-2", "mm/v-svm:sharp-2"),
    *("sim/token-separation:sharp-1", "sim/token-separation:sharp-3", "sim/figure-2:amended-2"),
    "tf/linear-head-landscape:sharp-3",
}
"""Readings whose propositions are declared for no constants that make the formula false."""
COUNT = 24 if nightly() else 6


@functools.cache
def chain(name):
    """The facts of a proof, made once."""
    with recorded() as steps:
        found_proof(CLAIMS[name])()
    (made,) = steps.linked
    return made


def cases(claim, data):
    """Examples of a reading, and instances drawn from its variables or from those of a sibling."""
    drawn = (codec.decode(x, claim.instance_type) for x in sample(data, COUNT)[0])
    whole = [*claim.examples, *drawn]
    if claim.instance_type is Descent:  # floats have to tell scores apart, and V to exist
        whole = [x for x in whole if np.abs(x.W).max() <= 3]
        if claim.id not in WITHOUT:
            whole = [x for x in whole if hypotheses.FEASIBLE.holds(x)]
    return whole


def model_of(claim, case):
    """The model of an instance of a reading."""
    if isinstance(case, Descent):
        short = replace(case, step=min(case.step, 1.0))  # after long steps attention underflows
        return replace(descent_model.model_for(claim, short, 3), strict=True, floor=1e-9)
    if isinstance(case, Attended):
        return programme_model.model_of_attended(case)
    return programme_model.model_of(case)


def says(said, model):
    """Whether propositions hold in a model."""
    with proof() as made:
        for sequent in said:
            made.choices |= {
                f
                for p in (sequent.proposition, *sequent.assumptions)
                for a in p.term.atoms
                for f in a.choices
            }
            facts.made(sequent.proposition, "planted", (), sequent.assumptions)
    return not evaluated(made, model, tries=40).false


def seen_to_hold(whole, confirmed):
    """Whether instances confirm all that a proof takes for granted, and all that it concludes."""
    given = [fact for fact in whole.facts if fact.rule in ("setting", "hypothesis")]
    return {*given, *whole.concluded} <= confirmed


def test_there_are_such_readings():
    assert len(CLAIMS) >= 12


@pytest.mark.parametrize("name", CLAIMS)
def test_propositions_agree_with_the_formula(name):
    """Also for constants of siblings, which make the formula false somewhere."""
    claim, refuted = CLAIMS[name], 0
    parts = [({}, claim.data)]
    parts += [(more, claim.data) for more in MORE.get(name, [])]
    parts += [(s.parameters, claim.data if s.data is None else s.data) for s in claim.siblings]
    for parameters, data in parts:
        constants = {**claim.formula.known_constants, **parameters}
        constants = {k: v for k, v in constants.items() if k != "tightened"}
        changed = {k: v for k, v in parameters.items() if k != "tightened"}
        said = claim.formula.conclusion.proposition(**constants)
        if said is None:
            continue
        assert isinstance(said, Said)
        for case in cases(claim, data):
            relation = claim.formula.relation(BALLS, case, changed)
            false = decided(relation) is False
            assert says(said.sequents, model_of(claim, case)) is not false, (parameters, case)
            refuted += false
    assert refuted > 0 or name in STAND


@pytest.mark.parametrize("name", CLAIMS)
def test_predicates_agree_with_propositions_of_hypotheses(name):
    claim = CLAIMS[name]
    for hypothesis in claim.formula.hypotheses.values():
        if hypothesis.proposition is None:
            continue
        seen = set()
        for data in [claim.data, *(s.data for s in claim.siblings if s.data is not None)]:
            for case in cases(claim, data):
                if not isinstance(case, Descent) and chosen(case).X.shape[1] == 1:
                    continue  # without rows labels are said nothing of
                holds = hypothesis.holds(case) is True
                seen.add(holds)
                assert says([*hypothesis.proposition()], model_of(claim, case)) == holds, (
                    hypothesis.name
                )
        assert True in seen


@pytest.mark.parametrize("name", CLAIMS)
def test_no_fact_is_false_on_an_instance(name):
    claim, confirmed = CLAIMS[name], set()
    for case in cases(claim, claim.data):
        if all(h.holds(case) is True for h in claim.hypotheses):
            tally = evaluated(chain(name), model_of(claim, case), tries=12)
            assert (tally.false, tally.open) == ([], []), case
            confirmed.update(tally.confirmed)
    assert len(confirmed) > 0.5 * len(chain(name).facts)
    # there is an input, so that no instance has a v-SVM without rows
    assert seen_to_hold(chain(name), confirmed) or name == "mm/v-svm:sharp-2"


@pytest.mark.parametrize("name", CLAIMS)
def test_each_premise_is_needed(name):
    pairs = [*mutants.premises(chain(name))]
    assert [(f, p) for f, p in pairs if not mutants.needed(f, p)] == []


@pytest.mark.parametrize("name", CLAIMS)
def test_no_wider_conclusion_is_concluded(name):
    for fact in chain(name).concluded:
        for change, said in mutants.wider(fact.proposition):
            assert not fact.proposition.says(said), change
