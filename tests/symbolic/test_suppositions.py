"""Proofs take each hypothesis of their readings by itself, at a step that fails without it."""

import contextlib
import functools
import importlib
import inspect

import pytest

from attsvm.errors import ProofError
from attsvm.primitives.hypotheses import (
    ALL_TIGHT,
    BASIN,
    EITHER_PART,
    EQUAL_RIVALS,
    EXISTS,
    INDEPENDENT,
    SEVERAL_TOKENS,
)
from attsvm.primitives.loss_hypotheses import NEGATIVE_SLOPE, SLOPED_LOSS
from attsvm.primitives.steps import SHORT
from attsvm.theory import Hypothesis, Supposed
from attsvm.theory.declaration import proof as taking
from attsvm.theory.declaration.proof import executed, grants, recorded
from attsvm.theory.packs.packs import load_packs
from properties._support import cones
from properties._support.suppositions import BENT_LOSS, FALLING, IN_BASIN, UNIQUE_OPTIMUM
from properties.mm import nonlinear_head_path
from properties.sim import figure_1, orientation
from properties.sim._support.entry import LISTED_RADIUS, LOGITS
from properties.sim._support.training import ONE_PART
from properties.sim.printed_loss import conclusion as printed_loss
from properties.sim.theorem_3_14_part_2.instances import PAIRS, SAME
from properties.sim.theorem_3_15.nearly_equal_scores import ABOVE_SECOND, WITHIN
from properties.tf import global_conjecture, global_initial_gradient, theorem_3
from symbolic.basins import ensure_from_basin

CLAIMS = {claim.id: claim for pack in load_packs() for claim in pack.claims}


def test_what_starts_in_the_basin_supposes_it_two_tokens_and_unique_optimal_ones(steps):
    ensure_from_basin()
    supposed = {IN_BASIN, SEVERAL_TOKENS, UNIQUE_OPTIMUM}
    assert supposed <= {*steps.supposed}
    for name, stands in (("sharp", True), ("literal", False)):
        formula = CLAIMS[f"tf/all-support-divergence:{name}"].formula
        assert {grants(formula, what) for what in supposed} == {stands}


EVERY = {
    one
    for claim in CLAIMS.values()
    for listed in claim.formula.hypotheses.values()
    for one in listed.consequences()
    if one is not nonlinear_head_path.STEEP
}
"""All hypotheses that readings list or imply, but one that says much more than what it implies."""

WHOLE = {
    *(SHORT, BASIN, orientation.BASIN, printed_loss.NEAR, INDEPENDENT, LISTED_RADIUS),
    *(WITHIN, ABOVE_SECOND, global_conjecture.DIFFERENT),
    *(PAIRS, SAME, printed_loss.PAIRS),
    *(theorem_3.LOW_RANK, global_initial_gradient.LONG, global_conjecture.SHORT_OR_FEW),
    *(nonlinear_head_path.STEEP, cones.NEAR, figure_1.ENOUGH),
    *(ALL_TIGHT, EQUAL_RIVALS, EITHER_PART, ONE_PART),
}
"""Hypotheses of which what they imply is a small part: a proof has to suppose them themselves."""


def said_by(what):
    """Yield what says this in a reading, but hypotheses that say much more."""
    if isinstance(what, Hypothesis):
        yield what
    elif what is not BENT_LOSS:
        yield from (*what.by, *(one for one in EVERY if what in one.implies))


def serves(what, formula):
    """Return the hypotheses of a reading that a proof supposes by this, whole or as a part."""
    said = set(said_by(what))
    return [name for name, hypothesis in formula.hypotheses.items() if hypothesis in said]


def not_taken(claim, supposed):
    """Return the hypotheses of a reading, or parts of one, that no step of its proof takes."""
    said = {one for what in supposed for one in said_by(what)}
    found = []
    for name, hypothesis in claim.formula.hypotheses.items():
        if hypothesis in said or hypothesis.setting:
            continue
        weaker = (one for one in hypothesis.implies if isinstance(one, Hypothesis))
        parts = () if hypothesis in WHOLE else [*weaker]
        found += [part.name for part in parts if part not in said] if parts else [name]
    return found


TAKEN = [claim for claim in CLAIMS.values() if claim.proof]

NOT_TAKEN = {
    # any bounds of rows between 0 and 1 will do, whatever v(alpha) is
    "mm/joint-svm:sharp-1": ["v(alpha) exists"],
    # l' < 0 at each score is enough, continuous or not
    "tf/linear-head-landscape:amended-3": ["l has a continuous derivative"],
    "tf/linear-head-landscape:sharp-3": ["l has a continuous derivative"],
    "mm/loss-choice:amended-2": ["l has a continuous derivative"],
    "mm/normalised-descent:amended-1": ["l has a continuous derivative"],
    "mm/normalised-descent:sharp": ["l has a continuous derivative"],
    "tf/generalised-svm:sharp-2": ["l has a continuous derivative"],
    # the hypothesis defines Gamma: without continuity, |l'| may have no least and largest value
    "tf/theorem-2:amended-2": ["l has a continuous derivative"],
    "tf/theorem-2:sharp": ["l has a continuous derivative"],
    # the letters of the proof leave out T = 1, for which the formula says something else
    "tf/softmax-range:sharp-2": ["T >= 2"],
    # sizes are positive integers by the symbols for them
    "sim/attention-shape:amended-1": ["n >= 1", "d >= 1"],
    "sim/attention-shape:amended-2": ["n >= 1", "d >= 1"],
    # R >= 1 is enough, as the amended and sharp readings say
    "sim/basic-1:literal-1": ["R >= 4"],
    "sim/basic-5:literal-3": ["R >= 4"],
    # follows from min w >= ln(2 n)
    "mm/logistic-joint-path:amended-1": ["w >= 0"],
    # without it M is not defined; in a linked proof 1/0 is 0
    "sim/normalised-linear:amended": ["<A x, 1>, <A y, 1> > 0"],
    # the bound holds without constraints as well, for X^mm = 0
    "sim/definition-4.1:amended": [SEVERAL_TOKENS.name],
    "sim/definition-4.1:amended-3": [SEVERAL_TOKENS.name],
    # |b| >= 43 follows from |b| > 3.533 ||h||, as ||h||^2 is 149
    "sim/stability-l2:sharp-3": ["size >= 43"],
    # the letters use it: X^low = -X^mm then. The steps use one part of it, that scores are equal
    "sim/printed-loss:amended-4": [printed_loss.PAIRS.name],
}
"""Hypotheses, or parts of one, that no step of the proof uses, each with the reason."""


EXECUTED = {}
"""What proofs share, run here once, so that places are noted whatever ran before."""


def found(proof):
    module, _, name = proof.partition(":")
    return getattr(importlib.import_module(module), name)


def run(proof):
    found(proof)()


@functools.cache
def reached(proof):
    """The steps of a proof, and the places at which it uses numbers with a supposed sign.

    A proof without such numbers runs once per process, for its claims and for all tests.
    """
    with recorded() as known:
        executed(found(proof))
    if not known.signs:
        return known, ()
    places = []

    def noted(what, sign):
        places.append((what, caller()))
        return sign

    with asking(noted) as steps:
        run(proof)
    return steps, tuple(dict.fromkeys(places))


@contextlib.contextmanager
def asking(sign_of):
    """Steps that are recorded while this function tells the signs of what is supposed."""
    with recorded() as steps, pytest.MonkeyPatch.context() as patch:
        patch.setattr(taking, "_sign_of", sign_of)
        patch.setattr(taking, "_EXECUTED", EXECUTED)
        yield steps


def caller():
    """Where the function is called that has asked for a sign."""
    frame = inspect.currentframe().f_back.f_back.f_back
    return frame.f_code.co_filename, frame.f_lineno


def test_each_hypothesis_is_taken_by_some_step_of_the_proof():
    """What is supposed may be weaker only where it is one of the parts of a hypothesis."""
    left = {claim.id: not_taken(claim, reached(claim.proof)[0].supposed) for claim in TAKEN}
    assert {name: hypotheses for name, hypotheses in left.items() if hypotheses} == NOT_TAKEN


def test_a_supposition_serves_one_hypothesis_of_a_reading():
    served = {
        (claim.id, what.says): serves(what, claim.formula)
        for claim in TAKEN
        for what in reached(claim.proof)[0].supposed
    }
    assert {at: names for at, names in served.items() if len(names) > 1} == {}


def stands_without(proof, dropped):
    """Whether a proof goes through without the sign of a number at a place."""

    def without(what, sign):
        return {"real": True} if (what, caller()) == dropped else sign

    with asking(without), contextlib.suppress(ProofError):
        run(proof)
        return True
    return False


def test_a_proof_falls_without_a_sign_that_is_supposed():
    """So the step that takes it needs what the reading supposes."""
    proofs = sorted({claim.proof for claim in TAKEN})
    # places are shared by many proofs
    places = {place: proof for proof in reversed(proofs) for place in reached(proof)[1]}
    assert len(places) > 10
    assert [(proof, at) for at, proof in places.items() if stands_without(proof, at)] == []


def test_a_hypothesis_that_no_step_takes_is_told():
    for name, what, left in (
        ("sim/basic-4:literal", LOGITS, LOGITS.name),
        ("tf/few-tokens:amended-2", IN_BASIN, "risk gap of the start below the threshold"),
        ("tf/few-tokens:amended-2", SEVERAL_TOKENS, SEVERAL_TOKENS.name),
        ("tf/local-convergence:sharp", cones.RADIUS, cones.RADIUS.name),
        ("tf/global-conjecture:sharp-2", FALLING, NEGATIVE_SLOPE.name),
    ):
        claim = CLAIMS[name]
        others = [one for one in reached(claim.proof)[0].supposed if one is not what]
        assert not_taken(claim, others) == [left]


def test_a_supposition_of_two_hypotheses_is_refused():
    formula = CLAIMS["tf/few-tokens:amended-2"].formula
    both = Supposed("some input has two tokens", (SEVERAL_TOKENS, EXISTS, SLOPED_LOSS))
    assert [len(serves(what, formula)) for what in (IN_BASIN, both)] == [1, 2]
