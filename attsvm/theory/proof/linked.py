"""Linked proofs: functions whose chain of facts ends in the conclusion of a reading."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from attsvm.errors import ProofError
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.proof import record_linked
from attsvm.theory.proof.facts import Fact, Proof, proof
from attsvm.theory.proof.formulas import conclusion_of, hypothesis_of


def linked(prove: Callable[[], str]) -> Callable[[], str]:
    """Return the proof with its facts recorded, and with a check that each fact is used.

    Args:
        prove: a function that makes facts by the rules, concludes some, and returns a sentence.
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

    A linked proof may serve a reading whose conclusion has no propositions. Then only its sentence
    connects the facts with the reading, and the result is False.
    """
    measured = formula.measured
    says = measured is None or measured.proposition is not None
    return getattr(prove, "linked", False) is True and says


def used(concluded: Iterable[Fact]) -> set[Fact]:
    """Return the conclusions, and all facts that they were made from, directly or not."""
    result, open_ = set[Fact](), [*concluded]
    while open_:
        fact = open_.pop()
        if fact not in result:
            result.add(fact)
            open_ += fact.premises
    return result


def ensure_used(whole: Proof) -> None:
    """Raise unless each fact serves a conclusion.

    If one call of a rule made several facts, it is enough that one of them serves.

    Raises:
        ProofError: a fact serves no conclusion, or there is no conclusion.
    """
    if not whole.concluded:
        raise ProofError("a proof concludes nothing")
    serving = {fact.first for fact in used(whole.concluded)}
    idle = [fact for fact in whole.facts if fact.first not in serving]
    if idle:
        raise ProofError("a proof does not use some of its facts", value=repr(idle))


def ensure_concluded(formula: Formula, whole: Proof) -> None:
    """Raise unless a proof concludes what a reading does, from its setting and hypotheses alone.

    Hypotheses on runs are compared as objects, as for every proof; others say in the letters of
    this reading what they say in the proof.

    Raises:
        ProofError: a sequent of the conclusion is missing, or a setting or hypothesis is another.
    """
    conclusion = conclusion_of(formula)
    known = {"setting": [*conclusion.setting.values()]}
    if formula.measured is None:
        listed = (one for h in formula.hypotheses.values() for one in h.consequences())
        taken = [one for one in listed if one in whole.supposed]
        known["hypothesis"] = [s for one in taken for s in hypothesis_of(formula, one)]
    for fact in whole.facts:
        if fact.rule in known and not any(
            s.proposition.says(fact.proposition) and s.assumptions == fact.assumptions
            for s in known[fact.rule]
        ):
            raise ProofError(
                "a proof uses a setting or hypothesis that its reading does not have",
                value=repr(fact),
            )
    for sequent in conclusion.sequents:
        # a fact with fewer assumptions says more, so that it also concludes the sequent
        if not any(
            sequent.proposition.says(fact.proposition) and fact.assumptions <= sequent.assumptions
            for fact in whole.concluded
        ):
            raise ProofError(
                "a proof lacks a conclusion of its reading", value=repr(sequent.proposition)
            )
