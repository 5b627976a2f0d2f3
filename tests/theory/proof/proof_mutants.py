"""Changes that must make linked proofs fail: a premise left out, a stronger conclusion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attsvm.theory.proof.facts import Fact, Proof, Proposition
from attsvm.theory.proof.rules import denials
from attsvm.theory.proof.search import certificate
from attsvm.theory.proof.terms import as_term


def premises(whole: Proof) -> Iterator[tuple[Fact, Fact]]:
    """Yield each decided fact with each of its premises."""
    yield from (
        (fact, one) for fact in whole.facts if fact.rule == "decided" for one in fact.premises
    )


def needed(fact: Fact, premise: Fact, degree: int = 2) -> bool:
    """Return whether a decided fact has no certificate, or is refused, without one of its premises.

    The fact that an index set is not empty is in no certificate, but the core demands it if an
    index letter disappears.
    """
    rest = tuple(p.proposition for p in fact.premises if p is not premise)
    lost = {x for p in fact.premises for x in p.letters} - fact.letters
    if any(x.sort.index and x not in premise.letters for x in lost) and not premise.letters:
        return True
    return any(certificate((*rest, one), degree) is None for one in denials(fact.proposition))


def wider(conclusion: Proposition) -> Iterator[tuple[str, Proposition]]:
    """Yield conclusions that say more or something else, each with a name of the change."""
    term, one = conclusion.term, as_term(1)
    if conclusion.relation != "==":
        yield "turned", replace(conclusion, term=-term)
    yield "shifted", replace(conclusion, term=term - one)
    if conclusion.relation == ">=":
        yield "strict", replace(conclusion, relation=">")
    if conclusion.relation != "==":
        yield "an equation", replace(conclusion, relation="==")
    if conclusion.eventually:
        yield "always", replace(conclusion, eventually=False)
    else:
        yield "in the end", replace(conclusion, eventually=True)
    for monomial in term.parts if len(term.parts) > 1 else ():
        part = type(term)({monomial: term.parts[monomial]})
        yield f"1001/1000 of {part!r}", replace(conclusion, term=term + part / 1000)


def weaker(hypothesis: Proposition) -> Iterator[tuple[str, Proposition]]:
    """Yield hypotheses that say less, each with a name of the change."""
    if hypothesis.relation == ">":
        yield ">=", replace(hypothesis, relation=">=")
    if hypothesis.relation != "==":
        yield "by a thousandth", replace(hypothesis, term=hypothesis.term + as_term(1) / 1000)
