"""Parts that rest: propositions compared with predicates and formulas, and planted errors."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.primitives.query_hypotheses import QUERIES
from attsvm.theory import OPEN
from attsvm.theory.proof.facts import Sequent, eq, proof
from attsvm.theory.proof.rules import fact_of_reading
from attsvm.theory.proof.terms import total
from properties.tf.benign_landscape import LANDSCAPE, instances
from properties.tf.benign_landscape import rest_letters as letters
from properties.tf.benign_landscape.stationary_points import EXISTENCE, KNOWN, inputs, settled
from tests.searching import nightly
from tests.theory.proof import rest_model
from tests.theory.proof.evaluation import evaluated
from tests.theory.proof.readings import chain, says
from tests.theory.proof.rest_model import model_of_rest

NAME = "symbolic.tf.where_stationary:prove"
ALL_REST = eq(total(letters.all_rest(letters.i, letters.LEVEL(letters.i)).term, letters.i), 0)
STATIONARY = letters.stationary(letters.STILL)


def holds(proposition, model):
    """Whether a proposition without letters holds in a model."""
    return says([Sequent(proposition)], model)


@settings(max_examples=60 if nightly() else 12, deadline=None)
@given(inputs() | instances.points())
def test_both_sides_of_the_conclusion_are_those_of_the_formula(case):
    """Some W is stationary in the model exactly if parts rest in it, as the formula decides."""
    rest = settled(case)
    assume(rest is not OPEN and KNOWN.holds(case) and QUERIES.holds(case))
    # at a start far from 0 the gradient may be too small for floats
    model = model_of_rest(replace(case, start=np.zeros_like(case.start)))
    assert says(letters.existence().sequents, model)
    assert holds(ALL_REST, model) is (rest is not None)
    if rest is not None:
        assert holds(STATIONARY, model)


@settings(max_examples=60 if nightly() else 12, deadline=None)
@given(inputs() | instances.points() | st.just(instances.PEAK))
def test_parts_are_known_exactly_if_the_proposition_says_so(case):
    assert says(letters.known(), model_of_rest(case)) is KNOWN.holds(case)


def test_the_proposition_is_false_for_a_part_of_no_known_kind():
    assert KNOWN.holds(instances.PEAK) is False
    assert not says(letters.known(), model_of_rest(instances.PEAK))


def given_facts():
    """A proof with the settings of the claim, and the hypothesis on parts."""
    said = letters.existence()
    with proof() as whole:
        for words, sequent in [*said.setting.items(), *(("known", x) for x in letters.known())]:
            fact_of_reading(sequent, "given", words)
    return whole


def test_each_setting_holds_on_data_that_meet_its_conditions():
    whole, seen = given_facts(), set()
    for case in rest_model.CASES:
        tally = evaluated(whole, model_of_rest(case), tries=400)
        assert tally.false == []
        seen.update(tally.confirmed)
    assert [whole.notes[f.number] for f in whole.facts if f not in seen] == []


WRONG = {
    "all tokens are one part": {letters.PART_OF: lambda t: (0, 0)},
    "each part rests everywhere": {letters.RESTS: lambda P, x: 1.0},
    "no part rests": {letters.RESTS: lambda P, x: 0.0},
    "another b": {letters.B: lambda t: 1.0},
    "another place on the line": {letters.PLACE: lambda t: float(t[1] ** 2 + 1)},
    "another mean": {letters.GAMMA: lambda t: 7.0},
    "another coordinate": {letters.UNIT: lambda t: np.ones(4)},
    "another image": {letters.IMAGE: lambda M, i: np.ones(2)},
}


@pytest.mark.parametrize("name", WRONG)
def test_data_refute_a_false_setting(name):
    model = model_of_rest(instances.BYSTANDER)
    changed = replace(model, functions={**model.functions, **WRONG[name]})
    assert evaluated(given_facts(), changed, tries=400).false


def test_the_reading_is_the_one_that_the_proof_concludes():
    claim = LANDSCAPE.claim("sharp-2")
    assert claim.proof == NAME
    assert claim.formula.conclusion is EXISTENCE
    said = [*EXISTENCE.proposition().sequents]
    assert [fact.proposition for fact in chain(NAME).concluded] == [s.proposition for s in said]
    assert [fact.assumptions for fact in chain(NAME).concluded] == [s.assumptions for s in said]
    assert {s.proposition for s in said} == {ALL_REST, STATIONARY}
    assert all(s.assumptions == {t.proposition} for s, t in zip(said, said[::-1], strict=True))
