"""Readings with linked proofs, the facts of these proofs, and what holds in a model."""

import functools

from attsvm.theory.declaration.proof import executed, recorded
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.packs.packs import load_packs
from attsvm.theory.proof.facts import proof
from attsvm.theory.proof.rules import fact_of_reading
from attsvm.theory.verification.check import found_proof
from tests.theory.proof.evaluation import evaluated

LINKED_CLAIMS = {
    claim.id: claim
    for pack in load_packs()
    for claim in pack.claims
    if claim.proof and claim.expected.truth is Truth.PROVED
}
_BY_PROOF = {claim.proof: claim for claim in LINKED_CLAIMS.values()}


@functools.cache
def chain(name):
    """The facts of a proof, made once in a process, also where a claim has run it."""
    with recorded() as steps:
        executed(found_proof(_BY_PROOF[name]))
    (made,) = steps.linked
    return made


def says(sequents, model, tries=40):
    """Whether propositions hold in a model."""
    with proof() as made:
        for sequent in sequents:
            fact_of_reading(sequent, "planted", "")
    return not evaluated(made, model, tries=tries).false
