"""A formula on letters says what it says on numbers, where it is true and where it is false.

Python could add or select the general entries of a loop, which letters do not notice.
"""

from dataclasses import replace
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from attsvm.theory import Integer, Real, Vector
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.proof.facts import proof
from attsvm.theory.proof.linked import conclusion_of, hypothesis_of
from attsvm.theory.proof.rules import fact_of_reading
from tests.theory.proof.evaluation import evaluated, instance_model
from tests.theory.proof.readings import LINKED_CLAIMS

CLAIMS = [
    claim
    for claim in LINKED_CLAIMS.values()
    if claim.formula.measured is None and claim.formula.batches
]
CLOSE = 1e-6
"""Slack within which floats do not tell a true conclusion from a false one."""


def holds(sequents, formula, case):
    """Whether sequents hold at an instance, for all of its indices; 0 is not above 0.

    Attention of a float may differ from 1/2 by less than a float can tell, but b times that by 1.
    """
    with proof() as made:
        for sequent in sequents:
            fact_of_reading(sequent, "given", "")
    with mpmath.workdps(120):
        model = replace(instance_model(formula, case, mpmath.mpf), strict=True)
        return not evaluated(made, model, tries=400).false


def instances(claim):
    """Examples of a claim, and of its siblings, which may break hypotheses or the conclusion."""
    cases = [*claim.examples[:3], *(case for s in claim.siblings for case in s.examples[:2])]
    return [case for case in cases if isinstance(case, claim.formula.instance)]


def compared(claim):
    """Yield for each hypothesis and conclusion whether it holds on numbers, and on letters."""
    formula, concluded = claim.formula, conclusion_of(claim.formula).sequents
    said = [(h, hypothesis_of(formula, formula.hypotheses[h.name])) for h in claim.hypotheses]
    for case in instances(claim):
        for hypothesis, sequents in said:
            yield hypothesis.holds(case) is True, holds(sequents, formula, case)
        slack = claim.conclusion(case)
        if slack.kind != "unknown" and abs(slack.value) > max(CLOSE, slack.error):
            yield slack.value > 0, holds(concluded, formula, case)


def test_hypotheses_and_conclusions_agree_with_their_propositions():
    seen = set()
    for claim in CLAIMS:
        for on_numbers, on_letters in compared(claim):
            assert on_numbers is on_letters, claim.id
            seen.add(on_numbers)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("conclusion", "true"),
    [
        (lambda m, v: m.all_of(m.at_most(sum(v.s), v.R)), lambda s, R: sum(s) <= R),
        (
            lambda m, v: m.all_of(*(m.at_most(k * x, v.R) for k, x in enumerate(v.s))),
            lambda s, R: all(k * x <= R for k, x in enumerate(s)),
        ),
    ],
)
def test_what_python_makes_of_a_loop_is_seen_on_an_instance(conclusion, true):
    """Letters cannot see it: they say that each entry, or 0, is at most R."""
    variables = {"n": Integer(1, 3), "s": Vector("n"), "R": Real()}
    formula = Formula(variables, {}, conclusion, {}, object)
    case = SimpleNamespace(s=np.array([1.0, 1.0, 1.0]), R=1.5)
    assert holds(conclusion_of(formula).sequents, formula, case) is not true(case.s, case.R)
