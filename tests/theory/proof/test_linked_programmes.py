"""Linked proofs about the Att-SVM: facts on instances, premises, and settings that must hold."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.primitives import descent_letters
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.descent_letters import V
from attsvm.primitives.loss_hypotheses import sloped
from attsvm.primitives.sentences import Sentences
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.declaration.judge import decided
from attsvm.theory.declaration.proof import recorded
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import load_packs
from attsvm.theory.proof.facts import Sequent, proof
from attsvm.theory.proof.rules import fact_of_reading
from attsvm.theory.proof.terms import VECTOR, App, Term
from attsvm.theory.run.sampling import sample
from attsvm.theory.verification.check import found_proof
from properties._support import token_letters
from properties._support.token_choices import Choice
from properties.mm.normalised_descent.paced_runs import Paced
from properties.mm.w_p_equivalence.models import Weighted
from properties.sim import PRINTED
from properties.sim._support.dropping import mask, named
from properties.sim._support.redundant_tokens import Dropped
from properties.sim._support.self_attention import ORTHOGONAL, SIDEWAYS
from properties.sim.definition_3_8.instances import Classified, Pointed, Shared
from properties.sim.definition_4_1.instances import Queried, Soft
from properties.sim.hyperplanes.instances import CONFLICT
from properties.sim.low_score_tokens import NO_LOW_SUPPORT
from properties.sim.low_score_tokens.left_out import low
from properties.tf._support.descent_steps import Step
from properties.tf.generalised_svm.kept_tokens import KeptTokens
from properties.tf.generalised_svm.log_growth import Hidden, Several
from properties.tf.theorem_2.near_optimal_points import Candidate, defined
from tests.searching import nightly
from tests.theory.proof import proof_mutants as mutants
from tests.theory.proof.att_svm_model import (
    model_of_hidden,
    model_of_kept,
    model_of_programme,
    model_of_several,
)
from tests.theory.proof.descent_model import (
    model_for,
    model_of,
    model_of_candidate,
    model_of_runs,
)
from tests.theory.proof.evaluation import Model, evaluated
from tests.theory.proof.test_linked_records import says, seen_to_hold

INSTANCES = (
    *(AttentionData, Choice, Classified, Descent, Dropped, Pointed, Shared, Step),
    *(Queried, Soft),
    *(Candidate, Hidden, KeptTokens, Paced, Several, Weighted),
)
CLAIMS = {
    claim.id: claim
    for pack in load_packs()
    for claim in pack.claims
    if claim.proof
    and claim.expected.truth is Truth.PROVED
    and claim.formula.measured is None
    and claim.instance_type in INSTANCES
}
PROOFS = {claim.proof: claim for claim in CLAIMS.values()}
TRAINED = {"sim/figure-2:amended-2"}
"""Readings on training on sentences; others on sentences train nothing."""


LEFT_OUT = {
    "sim/token-sparsity:literal-3": lambda data: mask(data, named(data, "others")),
    "sim/low-score-tokens:amended-1": low,
}
"""The tokens without which a reading takes the programme, as a mask."""


ALIKE = Descent(
    step=1.0,
    inputs=Sentences(np.array([[1.0, 20], [-1, 20], [0, 16]]), np.array([[0, 1, 0]]), whole=True),
    start=np.zeros((2, 2)),
)
"""Two problems whose hyperplanes (w, c) = (-+1/2, 1/8; 5/2) form an acute angle."""
LOWERS = "sim/printed-loss:amended-5"
SPECIAL = {
    "sim/hyperplanes:amended": [ALIKE],
    "sim/hyperplanes:sharp-2": [ALIKE],
    LOWERS: [replace(case, loss=PRINTED) for case in (ORTHOGONAL, SIDEWAYS)],
}
"""Instances at which the assumptions of a conclusion hold, where drawn ones miss them."""


def model_of_tokens(data, X):
    """The model of the tokens of all inputs, and of a matrix X."""
    tokens = [(i, t) for i in range(data.n) for t in range(data.T) if data.present[i, t]]
    functions = {
        token_letters.OF: lambda t: t[0],
        token_letters.KEY: lambda t: np.outer(data.X[t], data.Z[t[0]]).ravel(),
    }
    sets = {descent_letters.INPUT: range(data.n), token_letters.TOKEN: tokens}
    return Model(functions, sets, 2, {VECTOR: [x * X.ravel() for x in (1.0, 0.0, -0.5)]})


def model(claim, case):
    """The model of an instance; that of a run has few steps."""
    if isinstance(case, KeptTokens):
        return model_of_kept(case)
    if isinstance(case, Hidden):
        return model_of_hidden(case)
    if isinstance(case, Several):
        return model_of_several(case)
    if isinstance(case, Candidate):
        return model_of_candidate(case)
    if isinstance(case, Paced):
        return replace(model_of(case.case, steps=8, pace=case.step), floor=1e-9)
    if isinstance(case, Weighted):
        run = model_of_runs(case, claim.formula.known_constants["trained"])
        return replace(run, floor=1e-12)
    if claim.id in LEFT_OUT:
        case = Dropped(case, LEFT_OUT[claim.id](case))
    if isinstance(case, Step):
        return model_of_tokens(case.data, case.start)
    idle = hasattr(getattr(case, "inputs", case), "whole") and claim.id not in TRAINED
    if not isinstance(case, Descent) or idle:
        return model_of_programme(case)
    run = model_for(claim, case, steps=4)
    run = replace(run, floor=1e-12)  # the rounding of the gradient's summands
    gone, gamma = low(case.data), np.where(case.data.present, case.data.gamma, np.inf)
    more = {
        letters.DROPPED: lambda j: float(gone[j]),
        letters.LEAST_SCORE: lambda i: float(gamma[i].min()),
    }
    return replace(run, functions={**run.functions, **more})


@functools.cache
def chain(name):
    """The facts of a proof, made once."""
    with recorded() as steps:
        found_proof(PROOFS[name])()
    (made,) = steps.linked
    return made


def tame(case):
    """Whether exponentials stay within floats, and Gamma of theorem 2 exists."""
    if isinstance(case, Candidate):
        return case.rho <= 64 and defined(case) and sloped(case)
    if isinstance(case, Descent) and isinstance(case.inputs, Keys):
        return np.linalg.norm(case.start) <= 3
    if isinstance(case, Several):
        return case.size <= 1
    if isinstance(case, Paced):
        return case.step <= 1 and np.linalg.norm(case.start) <= 6
    known = "log-loss", "correlation", "logistic-loss"
    return not isinstance(case, Weighted) or (case.step <= 1 and case.loss in known)


def instances(claim, count):
    """Examples and drawn instances that meet the hypotheses."""
    drawn = (codec.decode(x, claim.instance_type) for x in sample(claim.data, 40)[0])
    cases = [*filter(tame, [*claim.examples[:3], *drawn])]
    met = [case for case in cases if all(h.holds(case) is True for h in claim.hypotheses)]
    return met[:count]


@pytest.mark.parametrize("name", CLAIMS)
def test_no_fact_is_false_on_an_instance(name):
    claim, confirmed, untried = CLAIMS[name], set(), []
    cases = instances(claim, 12 if nightly() else 6) + SPECIAL.get(name, [])
    assert len(cases) >= 6
    for case in cases:
        tally = evaluated(chain(claim.proof), model(claim, case), tries=12)
        assert (tally.false, tally.open) == ([], [])
        confirmed.update(tally.confirmed)
        untried = tally.untried
    # facts of a case that never occurs are not tried
    assert len(confirmed) > 0.5 * len(chain(claim.proof).facts), untried
    assert seen_to_hold(chain(claim.proof), confirmed)


@pytest.mark.parametrize("name", CLAIMS)
def test_propositions_agree_with_the_formula(name):
    """On instances of the reading and of its siblings, which make the formula false somewhere."""
    claim, refuted = CLAIMS[name], 0
    known = claim.formula.known_constants
    sequents = claim.formula.conclusion.proposition(**known).sequents
    constants = {k: v for k, v in known.items() if k not in claim.formula.fixed}
    for part in claim.parts():
        if part.name and (part.parameters or not part.dropped):
            continue  # of other constants nothing is declared
        drawn = (codec.decode(x, claim.instance_type) for x in sample(part.data, 12)[0])
        for case in filter(tame, [*part.examples, *drawn]):
            false = decided(claim.formula.relation(BALLS, case, constants)) is False
            exact = model(claim, case)
            if isinstance(case, Descent):  # exponentials may be tiny
                exact = replace(exact, floor=0.0)
            strict = exact.strict or isinstance(case, Several) or name == LOWERS
            exact = replace(exact, strict=strict)
            assert says(sequents, exact) is not false, (part.name, case)
            refuted += false
    assert refuted > 0 or not claim.hypotheses  # then no sibling drops one


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.hypotheses])
def test_a_hypothesis_that_is_met_has_propositions_that_hold(name):
    claim, seen = CLAIMS[name], set()
    for part in claim.parts():
        drawn = (codec.decode(x, claim.instance_type) for x in sample(part.data, 12)[0])
        for case in filter(tame, [*part.examples, *drawn]):
            for hypothesis in (x for h in claim.hypotheses for x in h.consequences()):
                if hypothesis.proposition is not None and hypothesis.holds(case) is True:
                    seen.add(hypothesis.name)
                    assert says([*hypothesis.proposition()], model(claim, case)), case
    assert seen


def test_a_hypothesis_on_a_solution_says_nothing_if_there_is_none():
    data = CONFLICT.data
    assert exact_att_svm(data) is None
    assert low(data).any()
    assert NO_LOW_SUPPORT.holds(data) is True
    assert says([*NO_LOW_SUPPORT.proposition()], model_of_programme(Dropped(data, low(data))))


@pytest.mark.parametrize("name", PROOFS)
def test_each_premise_is_needed(name):
    pairs = [*mutants.premises(chain(name))]
    assert pairs or {fact.rule for fact in chain(name).facts} == {"hypothesis"}
    assert [(f, p) for f, p in pairs if not mutants.needed(f, p)] == []


def test_no_two_letters_are_one_function():
    """As two constants of one name would be."""
    terms = [x for m in (descent_letters, letters) for x in vars(m).values() if isinstance(x, Term)]
    constants = {a.function for term in terms for a in term.atoms if isinstance(a, App)}
    own = [x for x in vars(letters).values() if isinstance(x, Term) and len(x.atoms) == 1]
    own += [x for x in vars(descent_letters).values() if isinstance(x, Term) and len(x.atoms) == 1]
    named = {id(x): x for x in own}.values()
    assert len(named) == len({*named})
    assert len(constants) > 10


CHANGED = {
    "sim/definition-3.8:literal-1": letters.FIRST,
    "sim/definition-3.8:sharp-1": letters.FIRST,
    "sim/definition-3.8:sharp-2": V,
    "sim/definition-4.1:amended": letters.LARGEST,
    "sim/token-sparsity:sharp-1": V,
    "sim/token-sparsity:sharp-2": V,
}
"""A letter whose value is set to 0, so that a setting or a hypothesis is false."""


@pytest.mark.parametrize("name", CHANGED)
def test_a_false_hypothesis_or_setting_is_seen_on_an_instance(name):
    claim = CLAIMS[name]
    (atom,) = CHANGED[name].atoms
    found = set()
    for case in instances(claim, 6):
        changed = model_of_programme(case)
        value = changed.functions[atom.function]() * 0
        changed.functions[atom.function] = lambda value=value: value
        tally = evaluated(chain(claim.proof), changed, tries=12)
        found |= {fact.rule for fact, _ in tally.false}
    assert found & {"hypothesis", "setting"}


def test_that_a_matrix_meets_the_constraints_is_told_from_the_opposite():
    """Both ways: the equation is 0 exactly if all margins are at least 1."""
    claim = CLAIMS["sim/definition-3.8:sharp-1"]
    case = next(c for c in instances(claim, 12) if c.data.T > 1)
    with proof() as made:
        for X in (letters.FIRST, letters.FIRST / 1000):
            fact_of_reading(Sequent(letters.meets(X)), "planted", "it meets all constraints")
    tally = evaluated(made, model_of_programme(case))
    assert [fact.number for fact in tally.confirmed] == [1]
    assert [fact.number for fact, _ in tally.false] == [2]
