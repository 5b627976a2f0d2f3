"""Each hypothesis is one object with one name and one sentence, and implies what it says."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from attsvm.data import AttentionData
from attsvm.primitives.hypotheses import SEVERAL_TOKENS, UNIQUE
from attsvm.theory import Hypothesis, load_packs
from attsvm.theory.declaration.instances import domains
from attsvm.theory.declaration.judge import meets
from attsvm.theory.declaration.records import RecordFormula

CLAIMS = [claim for pack in load_packs() for claim in pack.claims]


def declared(formula):
    """Return the hypotheses of a formula but for the ends of domains, which have no author."""
    ends = domains(formula.variables)
    return [one for name, one in formula.hypotheses.items() if name not in ends]


EVERY = {
    one
    for claim in CLAIMS
    for formula in (claim.formula, *(sibling.formula for sibling in claim.siblings))
    for hypothesis in declared(formula)
    for one in hypothesis.consequences()
}


@pytest.mark.parametrize("field", ["name", "says", "holds"])
def test_no_two_hypotheses_share_a_name_a_sentence_or_a_predicate(field):
    values = [getattr(one, field) for one in EVERY]
    assert [v for v in {*values} if values.count(v) > 1] == []


def test_sentences_go_on_after_suppose_that():
    """A sentence has no full stop, and no capital but that of a letter or a name."""
    assert [one.says for one in EVERY if one.says.endswith(".") or not one.says.strip()] == []
    names = ("Assumption", "Local-SVM")
    words = {one.says.split()[0] for one in EVERY if one.says[:1].isupper()}
    assert [w for w in words if w.isalpha() and len(w) > 1 and not w.startswith(names)] == []


def covering(wanted):
    """Yield few claims, among whose hypotheses all of these are, twice if possible."""
    left = {one: 2 for one in wanted}
    for claim in sorted(CLAIMS, key=lambda c: -len(wanted & set(declared(c.formula)))):
        new = {one for one in declared(claim.formula) if left.get(one, 0) > 0}
        if new:
            yield claim
            for one in new:
                left[one] -= 1


IMPLYING = {one for claim in CLAIMS for one in declared(claim.formula) if one.implies}


def drawn(claim):
    """Return instances of a claim: 20 drawn ones, and all explicit ones, also of its siblings."""
    cases = [*claim.examples, *(case for sibling in claim.siblings for case in sibling.examples)]

    @settings(
        max_examples=20,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(claim.data)
    def draw(case):
        cases.append(case)

    draw()
    return cases


def missed(hypothesis, cases, holds):
    """Return how many instances meet a hypothesis, and the consequences that some of them miss."""
    admitted = [case for case in cases if holds(hypothesis, case) is True]
    consequences = [*hypothesis.consequences()][1:]
    return len(admitted), {
        one.name for one in consequences if any(holds(one, case) is not True for case in admitted)
    }


@pytest.mark.parametrize("claim", list(covering(IMPLYING)), ids=lambda claim: claim.id)
def test_what_a_hypothesis_implies_is_true_of_instances_that_meet_it(claim):
    formula = claim.formula
    cases = drawn(claim)

    def holds(one, case):
        if isinstance(formula, RecordFormula):
            return one.holds(case)
        return meets(one.holds, formula, case)

    for hypothesis in declared(formula):
        if hypothesis.implies:
            count, found = missed(hypothesis, cases, holds)
            assert count > 0, f"no instance meets: {hypothesis.name}"
            assert found == set(), hypothesis.name


def test_a_false_implication_falls():
    false = Hypothesis(
        "some input has two tokens, planted", SEVERAL_TOKENS.holds, implies=(UNIQUE,)
    )
    tied = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0]])
    assert missed(false, [tied], lambda one, case: one.holds(case)) == (1, {UNIQUE.name})
