"""Linked proofs: facts on runs, hypotheses on instances, and mutants that must turn red."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.cli import main
from attsvm.errors import ProofError
from attsvm.exact import ExactData
from attsvm.exact.descent import smoothness
from attsvm.primitives import aligned_inputs, hypotheses, loss_hypotheses, steps
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import runs, tight_data
from attsvm.theory import Hypothesis, Supposed
from attsvm.theory.proof import facts
from attsvm.theory.proof.facts import eq, ge, gt, proof
from attsvm.theory.proof.linked import conclusion_of, ensure_concluded, linked, used
from attsvm.theory.proof.printing import as_text
from attsvm.theory.proof.terms import EXP, NORM, POSITIVE, Function, Letter
from properties._support import small_runs, suppositions
from properties.sim import PRINTED, REPAIRED
from symbolic.sim import lemma_3_12
from tests.searching import nightly, tenth
from tests.symbolic.test_suppositions import NOT_TAKEN
from tests.theory.proof import evaluation
from tests.theory.proof import proof_mutants as mutants
from tests.theory.proof.descent_model import model_of
from tests.theory.proof.evaluation import evaluated
from tests.theory.proof.readings import LINKED_CLAIMS, chain, says

RUNS = {
    "uneven scores": small_runs.UNEVEN_SCORES,
    "two inputs": Descent.of(
        [[[1, 0], [0, 0]], [[0, 1], [0, 0]]],
        [[1, 0], [0, 1]],
        2 * np.eye(2),
        scores=[[2, 0], [1, -1]],
    ),
    "short steps": replace(small_runs.NOT_TIGHT, step=0.25),
}
if nightly():
    RUNS |= {
        loss: replace(run, loss=loss)
        for loss, run in {
            "logistic-loss": small_runs.NOT_TIGHT,
            "log-loss": small_runs.UNEVEN_SCORES,
            "exponential": small_runs.UNEVEN_SCORES,
            "correlation": small_runs.NOT_TIGHT,
        }.items()
    }
PROOFS = {
    "basin": "symbolic.basins:prove",
    "lemma 3.12": "symbolic.sim.lemma_3_12:prove",
    "step 1": "symbolic.sim.logistic_lipschitz:prove",
    "attention": "symbolic.basins:prove_attention",
}
EVERY = sorted({claim.proof for claim in LINKED_CLAIMS.values()})


def whole(name):
    """The facts of a proof, by a short name or that of its function."""
    return chain(PROOFS.get(name, name))


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("proved", ["basin", "attention"])
def test_no_fact_of_the_basin_is_false_on_a_run(proved, name):
    run = RUNS[name]
    assert hypotheses.starts_in_basin(run)
    tally = evaluated(whole(proved), model_of(run, steps=60 if nightly() else 24), tries=6)
    assert tally.false == []
    assert len(tally.confirmed) > 330


def test_what_holds_of_a_falling_loss_is_not_concluded_of_the_printed_one():
    """g(u) rises with u: its readings need letters of g(-u), and a conclusion that says so."""
    tried, own = [], ("sim/printed-loss", "sim/theorem-3.15:amended-3")
    for claim in LINKED_CLAIMS.values():
        known = claim.formula.known_constants
        proposition = getattr(claim.formula.conclusion, "proposition", None)
        if proposition is None or known.get("loss") != REPAIRED:
            continue
        said = proposition(**{**known, "loss": PRINTED})
        tried.append(claim.id)
        assert said is None or letters.UP in said.setting, claim.id
    assert len(tried) > 15
    for claim in LINKED_CLAIMS.values():
        known = claim.formula.known_constants
        if known.get("loss") == PRINTED:
            assert claim.id.startswith(own)
            said = claim.formula.conclusion.proposition(**{**known, "loss": REPAIRED})
            assert said is None or letters.UP not in said.setting


@pytest.mark.parametrize("name", ["lemma 3.12", "step 1"])
def test_no_fact_on_the_logistic_function_is_false(name):
    values = [-30.0, -2.0, -1.3169578969248166, 0.0, 0.5, 1.3169578969248166, 40.0]
    tallies = []
    for x, y in ((0.5, -1.25), (-1.25, 0.5)):  # some facts assume x <= y, others y < x
        letters_ = {Function("x"): lambda x=x: x, Function("y"): lambda y=y: y}
        model = evaluation.Model(letters_, {}, 2, {evaluation.REAL: values})
        tallies.append(evaluated(whole(name), model, tries=64))
    assert [(tally.false, tally.open) for tally in tallies] == [([], [])] * 2
    assert not set.intersection(*({*tally.untried} for tally in tallies))


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("optimal tokens are unique", {letters.GAMMA: lambda j: 5.0}),
        ("the Att-SVM is feasible", {letters.A: lambda j: np.array([-1.0, 0.0, 0.0, 0.0])}),
        ("the step", {letters.W: lambda k: np.array([k * 1.0, 0.0, 0.0, k * 2.0])}),
        ("the slope of the loss", {letters.FALL: lambda u: -1.0}),
    ],
)
def test_a_false_hypothesis_or_setting_is_seen_on_a_run(name, changed):
    model = model_of(RUNS["uneven scores"], steps=12)
    model = replace(model, functions={**model.functions, **changed})
    found = {fact.rule for fact, _ in evaluated(whole("basin"), model, tries=6).false}
    assert found & {"hypothesis", "setting"}, name


X = Letter("x").term


@pytest.mark.parametrize(
    "wrong",
    [
        *(ge(EXP(X), X + 2), gt(X, 0), eq(X, X * X), ge(X * X, X)),
        gt(letters.GAMMA(letters.j), 4),
        ge(0, EXP(X * X + 1000)),  # infinite in floats
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_false_fact_is_seen(wrong):
    """As a false lemma or a fault of the core would make it."""
    with proof() as made:
        made.choices.add(letters.OWNER)
        facts.made(wrong, "planted")
    tally = evaluated(made, model_of(RUNS["uneven scores"], steps=4))
    assert [fact.rule for fact, _ in tally.false] == ["planted"]


# hypotheses: predicate and proposition

AGREE = {
    hypotheses.UNIQUE: "always",
    hypotheses.SEVERAL_TOKENS: "always",
    hypotheses.BASIN: "unique",
    hypotheses.FEASIBLE: "stands",
    hypotheses.TWO_SCORES: "always",
    hypotheses.ALL_TIGHT: "solved",
    hypotheses.EITHER_PART: "solved",
    hypotheses.LINEAR_HEAD: "stands",
    hypotheses.EQUAL_RIVALS: "always",
    hypotheses.ONE_INPUT: "always",
    hypotheses.ZERO_START: "always",
    hypotheses.ONE_PAIR: "always",
    hypotheses.SECOND_SUPPORTS: "solved",
    aligned_inputs.INPUTS_ALIGNED: "always",
    loss_hypotheses.NEGATIVE_SLOPE: "always",
    loss_hypotheses.FALLING_LOSS: "always",
    loss_hypotheses.DECREASING_LOSS: "stands",
    loss_hypotheses.SMOOTH_LOSS: "opaque",
    loss_hypotheses.CONVEX_LOSS: "stands",
    steps.SHORT: "sloped",
}
"""When predicate and proposition are compared: if optimal tokens are unique; if the predicate is
true, as V or a head is not known elsewhere; if V exists; if L > 0, as steps are in units of 1/L.
Only lemmas use that a function is continuous."""


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_predicate_and_the_proposition_of_a_hypothesis_agree(data):
    run = data.draw(runs(tight_data(), 0, 2))
    run = replace(run, step=data.draw(st.sampled_from([0.25, 1.0, 1.5])))
    run = replace(run, loss=data.draw(st.sampled_from(["logistic-loss", "logistic", "log-loss"])))
    assume(hypotheses.UNIQUE.holds(run))
    sloped = smoothness(ExactData.of(run.data), run.loss) > 0
    model = model_of(run, steps=3)
    for hypothesis, when in AGREE.items():
        holds = hypothesis.holds(run)
        if (
            when == "opaque"
            or (when == "stands" and not holds)
            or (when == "solved" and not hypotheses.FEASIBLE.holds(run))
            or (when == "sloped" and not sloped)
        ):
            continue
        if hypothesis is hypotheses.BASIN and run.loss == "logistic":
            continue  # a loss that rises has no basin in this sense
        assert says([*hypothesis.proposition()], model) == holds, hypothesis.name


def test_every_hypothesis_with_a_proposition_is_compared_with_its_predicate():
    modules = hypotheses, loss_hypotheses, steps, aligned_inputs
    found = {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, Hypothesis) and one.proposition is not None
    }
    assert found == {*AGREE}


def test_alternatives_of_a_supposition_say_the_same():
    """A hypothesis that a reading may have in place of another one has the same proposition.

    The others of each tuple fix a loss, or belong to readings that end in another conclusion.
    """
    found = [one for one in vars(suppositions).values() if isinstance(one, Supposed)]
    said = [what for what in found if what.proposition is not None]
    assert len(said) == 6
    for what in said:
        own = [x.proposition for x in what.by if isinstance(x, Hypothesis) and x.proposition]
        assert own
        assert all(one is what.proposition for one in own)


def test_the_basin_is_supposed_together_with_unique_optimal_tokens():
    """Its proposition speaks of the best rival, which has the next lower score only then."""
    taken = [{*whole(name).supposed} for name in EVERY]
    found = [one for one in taken if {suppositions.IN_BASIN, hypotheses.BASIN} & one]
    assert found
    assert all({suppositions.UNIQUE_OPTIMUM, hypotheses.UNIQUE} & one for one in found)


# mutants


def test_each_premise_is_needed():
    """One premise in ten; every night all of them."""
    pairs = [
        (name, *pair) for name in EVERY for pair in tenth([*mutants.premises(whole(name))], name)
    ]
    assert len(pairs) > len(EVERY)
    assert [(name, f, p) for name, f, p in pairs if not mutants.needed(f, p)] == []


def idle(fact, premise):
    """Why a call needs no such premise; empty if it has to need it."""
    if not premise.proposition.term.atoms:
        return "it says that a number is at least 0, as 0 >= 0 does"
    if fact.rule == "cut" and premise.proposition in premise.assumptions:
        return "P, assuming P, brings the assumption back that it takes away"
    if fact.rule == "instance":
        return "a fact about an index may come with it, for the letters that disappear"
    return ""


def test_each_premise_of_any_other_rule_is_needed():
    """One premise in ten; every night all of them."""
    every = {name: tenth([*mutants.other_premises(whole(name))], name) for name in EVERY}
    calls = [(name, *one) for name, some in every.items() for one in some]
    assert len({fact.rule.partition(":")[0] for _, fact, _ in calls}) > 8
    left = [(name, f, p) for name, f, p in calls if not mutants.asked(whole(name), f, p)]
    assert [(name, f, p) for name, f, p in left if not idle(f, p)] == []


def test_no_proved_conclusion_implies_a_changed_one():
    concluded = [(name, fact.proposition) for name in EVERY for fact in whole(name).concluded]
    wider = [(name, one, *each) for name, one in concluded for each in mutants.wider(one)]
    assert len(wider) > 3 * len(concluded) > 500
    assert [(name, change) for name, one, change, said in wider if one.says(said)] == []


SHARPER = {
    # by contradiction: no choice is in reach, so that anything holds of each of them
    "symbolic.mm.tilted_prompt:prove_ratio",
    # the constraints of a circle are missed by more than 1 in total
    "symbolic.sim.circles:prove",
    # the conclusion says that minimisers are not 0 in the end; their norms even tend to infinity
    "symbolic.tf.vanishing_regularisation:prove",
    "symbolic.tf.vanishing_regularisation:prove_factored",
}
"""Proofs whose last step shows a conclusion that says more."""


def says_more(change, proposition):
    """Whether a change of a conclusion makes it stronger, or a different one.

    A strict bound with an error off > 0 says no more than one that is not strict: take half of off.
    """
    free = proposition.eventually and any(x.sort == POSITIVE for x in proposition.letters)
    return not change.startswith("1001") and change not in (
        "in the end",
        "strict" if free else "",
    )


def test_no_last_step_shows_a_stronger_conclusion():
    """By the rule itself, run with another goal."""
    tried, found = 0, set()
    for name in EVERY:
        for fact in whole(name).concluded:
            for change, said in mutants.wider(fact.proposition):
                if fact.rule == "decided" and says_more(change, fact.proposition):
                    tried += 1
                    if mutants.decides(whole(name), fact, said):
                        found.add(name)
    assert tried > 500
    assert found == SHARPER


CONCLUDED = {
    # the sibling leaves out a hypothesis as well; the conclusion is the reading's, times 9/4
    ("tf/unlike-svm-several:literal", "a token beyond both"),
}
"""Siblings with other constants whose conclusion in letters is that of the reading."""


def concludes(made, formula):
    """Whether a proof ends in the conclusion of a formula, or its last steps could."""
    try:
        ensure_concluded(formula, made)
        return True
    except ProofError:
        pass
    try:
        said = conclusion_of(formula).sequents
    except ProofError:
        return False  # there are no propositions for these constants
    return all(
        any(
            fact.assumptions <= one.assumptions
            and (
                one.proposition.says(fact.proposition)
                or mutants.decides(made, fact, one.proposition)
            )
            for fact in made.concluded
        )
        for one in said
    )


def test_no_proof_concludes_its_reading_with_the_constants_of_a_sibling():
    tried, found = 0, set()
    for name, claim in LINKED_CLAIMS.items():
        formula = claim.formula
        for sibling in claim.siblings:
            changed = {**sibling.parameters}
            if formula.measured is not None or not formula.batches:
                changed.pop("tightened", None)  # no declared proposition has it
            if changed:
                tried += 1
                other = replace(formula, constants={**formula.constants, **changed})
                if concludes(whole(claim.proof), other):
                    found.add((name, sibling.name))
    assert tried > 300
    assert found == CONCLUDED


def test_a_reading_without_one_of_its_hypotheses_is_not_concluded():
    """But for `NOT_TAKEN`, and for a fixed loss: proofs take what the loss has, such as l' < 0."""
    tried, left = 0, set()
    for name, claim in LINKED_CLAIMS.items():
        hypotheses_ = claim.formula.hypotheses
        for without, one in hypotheses_.items():
            tried += 1
            rest = {key: other for key, other in hypotheses_.items() if key != without}
            with contextlib.suppress(ProofError):
                ensure_concluded(replace(claim.formula, hypotheses=rest), whole(claim.proof))
                if not one.setting:
                    left.add((name, without))
    assert tried > 400
    assert left <= {(name, without) for name, listed in NOT_TAKEN.items() for without in listed}


def test_every_fact_serves_a_conclusion_and_has_a_text():
    for name in EVERY:
        made = whole(name)
        serving = {fact.first for fact in used(made.concluded)}
        assert all(fact.first in serving for fact in made.facts)
        shown = {fact.rule: fact for fact in made.facts}.values()  # one of each rule
        assert all(as_text(fact.proposition) for fact in [*shown, *tenth(made.facts, name)])
    assert NORM(letters.V) in {f.proposition.term for f in whole("basin").concluded}
    assert linked(lemma_3_12.prove.__wrapped__)()


def test_a_proof_is_printed_with_facts_rules_and_premises(capsys):
    assert main(["show", "--proof", "sim/lemma-3.12:sharp"]) == 0
    printed = capsys.readouterr().out
    assert "symbolic.sim.lemma_3_12:prove, steps linked by facts" in printed
    assert "1 step beside the facts, connected by prose" in printed
    assert "r lies between 0 and 1:\n  17 1 > Inv(1 + exp(-t))\n     [decided from 1, 4]" in printed
    assert "[scaled" not in printed
    assert main(["show", "--proof", "--all", "sim/lemma-3.12:sharp"]) == 0
    whole_ = capsys.readouterr().out
    assert "[scaled from 4]" in whole_
    assert "step 1: the code evaluates g, g' and g'' as derivatives" in whole_


@pytest.mark.parametrize("name", ["sim/basic-1:sharp-1", "sim/basic-1:literal-1"])
def test_a_linked_proof_says_that_no_fact_says_that_a_constant_is_the_least(name, capsys):
    sharp = "No smaller constant will do." in LINKED_CLAIMS[name].statement
    assert sharp is name.endswith("sharp-1")
    assert main(["show", "--proof", name]) == 0
    words = ', but for "no smaller constant will do", which no fact says\n'
    assert (f"steps linked by facts{words}" in capsys.readouterr().out) is sharp


def test_a_proof_of_steps_says_that_prose_connects_them(capsys):
    assert main(["show", "--proof", "sim/stability-l2:sharp-3"]) == 0
    printed = capsys.readouterr().out
    assert "symbolic.sim.stability:prove_squared_exceeded, steps connected by prose" in printed
    assert "step 1:" in printed
