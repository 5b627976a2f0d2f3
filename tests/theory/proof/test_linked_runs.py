"""Linked proofs about runs: every fact on runs that meet the hypotheses of a reading."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from attsvm.primitives.descent import Descent
from attsvm.theory.declaration.proof import recorded
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import load_packs
from attsvm.theory.run.sampling import sample
from attsvm.theory.verification.check import found_proof
from properties.mm._support.prompt_descent import properly_started
from properties.mm._support.prompt_limits import DIRECTION_FROM_PROPER, DIVERGENCE_FROM_PROPER
from tests.searching import nightly
from tests.theory.proof import proof_mutants as mutants
from tests.theory.proof.descent_model import model_for, model_of
from tests.theory.proof.evaluation import evaluated

BASIN = {"symbolic.basins:prove", "symbolic.basins:prove_attention"}
"""Proofs that `test_linked_proofs` evaluates."""
OTHER_LETTERS = {"sim/orientation", "sim/printed-loss", "sim/self-attention"}
"""Statements whose letters W, scores or loss stand for others than those of the run."""
CLAIMS = {
    claim.id if claim.statement_id in OTHER_LETTERS else claim.proof: claim
    for pack in load_packs()
    for claim in pack.claims
    if claim.proof
    and (claim.proof not in BASIN or claim.statement_id in OTHER_LETTERS)
    and claim.expected.truth is Truth.PROVED
    and claim.instance_type is Descent
    and claim.formula.measured is not None
}
"""A reading on runs for each linked proof of some, and all readings in other letters."""


@functools.cache
def chain(name):
    """The facts of a proof, made once."""
    with recorded() as steps:
        found_proof(CLAIMS[name])()
    (made,) = steps.linked
    return made


def runs(claim, count):
    """Examples and drawn runs that meet the hypotheses of a reading.

    Starts and steps are small: at large ones floats cannot tell attended scores from scores of
    tokens, and exponentials overflow.
    """
    drawn = (codec.decode(x, claim.instance_type) for x in sample(claim.data, 160)[0])
    cases = [*claim.examples[:3], *drawn]
    if claim.formula.conclusion in (DIRECTION_FROM_PROPER, DIVERGENCE_FROM_PROPER):
        cases = [run for run in map(properly_started, cases) if run is not None]
    met = (
        run
        for run in cases
        if np.linalg.norm(run.W) <= 6
        and run.step <= 1
        and all(h.holds(run) is True for h in claim.hypotheses)
    )
    return [run for run, _ in zip(met, range(count), strict=False)]


@pytest.mark.parametrize("name", CLAIMS)
def test_no_fact_is_false_on_a_run(name):
    confirmed, cases = set(), runs(CLAIMS[name], 6 if nightly() else 3)
    assert len(cases) >= 3
    for run in cases:
        # the floor is what is left where an output and the best score cancel inside a size
        model = replace(model_for(CLAIMS[name], run, steps=12), floor=1e-14)
        tally = evaluated(chain(name), model, tries=6)
        assert tally.false == [], run
        assert all(fact.proposition.eventually for fact in tally.open)
        confirmed.update(tally.confirmed)
    assert len(confirmed) > 0.9 * len(chain(name).facts)


def test_no_fact_from_two_basins_is_false_on_either_run():
    """Letters stand for the run on the loss of an instance, and for that on the loss -x."""
    (claim,) = (c for p in load_packs() for c in p.claims if c.id == "mm/loss-choice:amended-1")
    with recorded() as steps:
        found_proof(claim)()
    (made,) = steps.linked
    cases = [run for run in runs(claim, 12) if run.loss != "correlation"][:3]
    assert len(cases) == 3
    for run in cases:
        for loss in (run.loss, "correlation"):
            tally = evaluated(made, model_of(replace(run, loss=loss), steps=12), tries=6)
            assert tally.false == [], run


@pytest.mark.parametrize("name", [name for name in CLAIMS if name.startswith("symbolic.")])
def test_a_sample_of_the_premises_is_needed(name):
    """One in nine; every night all of them."""
    pairs = [*mutants.premises(chain(name))]
    sampled = pairs[:: 1 if nightly() else 9]
    assert len(sampled) > 10
    assert [(f, p) for f, p in sampled if not mutants.needed(f, p)] == []
