"""Which facts of a proof instances need not confirm: the proof itself refutes their assumptions."""

from collections.abc import Iterable

from attsvm.theory.proof.facts import Fact, Proof, Proposition
from attsvm.theory.proof.search import certificate

KEEP = ("cases", "induction", "cited")
"""Rules that drop an assumption which no premise states: their facts may be about some values."""
SEVERAL = 12
"""Number of propositions from which a search for a contradiction would take long."""


def about_nothing(whole: Proof, facts: Iterable[Fact]) -> set[Fact]:
    """Return the facts whose assumptions contradict facts of the proof, as no value meets them.

    Such facts are those of a case that never occurs, and of a proof by contradiction. A fact of the
    proof may contradict the assumptions if it makes no others. A fact without assumptions is never
    among the results: else contradictory hypotheses would excuse all facts.
    """
    left = [fact for fact in facts if fact.assumptions]
    found = {fact for fact in left if _contradictory(whole, fact)}
    while True:
        impossible = {fact.assumptions for fact in found}
        more = {
            fact
            for fact in left
            if fact not in found
            and (
                any(_implies(fact.assumptions, assumed) for assumed in impossible)
                or (not fact.rule.startswith(KEEP) and any(p in found for p in fact.premises))
            )
        }
        if not more:
            return found
        found |= more


def _contradictory(whole: Proof, fact: Fact) -> bool:
    """Return whether a certificate refutes the assumptions with the fact and its premises.

    Else one more fact of the proof about the same numbers may do.
    """
    own = [*fact.assumptions, fact.proposition, *(p.proposition for p in fact.premises)]
    if _refuted(own):
        return True
    spoken = {atom for one in fact.assumptions for atom in one.term.atoms}
    return any(
        _refuted([*fact.assumptions, other.proposition])
        for other in whole.facts
        if other.assumptions <= fact.assumptions and spoken & {*other.proposition.term.atoms}
    )


def _implies(these: Iterable[Proposition], those: Iterable[Proposition]) -> bool:
    """Return whether a certificate shows each of those propositions from these."""
    return all(
        one in these
        or (one.relation != "==" and not one.eventually and _refuted([*these, one.denied()]))
        for one in those
    )


def _refuted(propositions: Iterable[Proposition]) -> bool:
    known = tuple(dict.fromkeys(propositions))
    return len(known) < SEVERAL and certificate(known, 2) is not None
