"""Linked proofs as a whole: functions whose facts end in what their readings conclude."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from attsvm.errors import ProofError
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.proof import record_linked
from attsvm.theory.proof.facts import Fact, Proof, proof
from attsvm.theory.proof.formulas import conclusion_of


def linked(prove: Callable[[], str]) -> Callable[[], str]:
    """Return a proof whose facts are recorded, and none of which is idle.

    Args:
        prove: makes facts by the rules, concludes some, and returns a sentence.
    """

    @functools.wraps(prove)
    def run() -> str:
        with proof() as whole:
            sentence = prove()
        ensure_used(whole)
        record_linked(whole, whole.supposed, len(whole.facts))
        return sentence

    run.linked = True  # type: ignore[attr-defined]
    return run


def is_linked(formula: Formula, prove: object) -> bool:
    """Return whether a proof is a chain of facts that ends in the conclusion of a reading.

    A proof may serve a reading whose conclusion has no propositions; prose connects these two.
    """
    measured = formula.measured
    says = measured is None or measured.proposition is not None
    return getattr(prove, "linked", False) is True and says


def used(concluded: Iterable[Fact]) -> set[Fact]:
    """Return the facts that conclusions were made from, and the conclusions."""
    result, open_ = set[Fact](), [*concluded]
    while open_:
        fact = open_.pop()
        if fact not in result:
            result.add(fact)
            open_ += fact.premises
    return result


def ensure_used(whole: Proof) -> None:
    """Raise unless each fact serves a conclusion; of one call of a rule, at least one does.

    Raises:
        ProofError: a fact is idle, or nothing is concluded.
    """
    if not whole.concluded:
        raise ProofError("a proof concludes nothing")
    serving = {fact.first for fact in used(whole.concluded)}
    idle = [fact for fact in whole.facts if fact.first not in serving]
    if idle:
        raise ProofError("a proof does not use some of its facts", value=repr(idle))


def ensure_concluded(formula: Formula, whole: Proof) -> None:
    """Raise unless a proof concludes what a reading does, from the setting of this reading alone.

    Its hypotheses are compared with those of the reading as for every proof.

    Raises:
        ProofError: a sequent of the conclusion is missing, or a setting is another one.
    """
    conclusion = conclusion_of(formula)
    known = [*conclusion.setting.values()]
    for fact in whole.facts:
        if fact.rule == "setting" and not any(
            s.proposition.says(fact.proposition) and s.assumptions == fact.assumptions
            for s in known
        ):
            raise ProofError("a proof takes what the reading does not give", value=repr(fact))
    for sequent in conclusion.sequents:
        if not any(
            sequent.proposition.says(fact.proposition) and fact.assumptions <= sequent.assumptions
            for fact in whole.concluded
        ):
            raise ProofError("a proof does not conclude this", value=repr(sequent.proposition))
