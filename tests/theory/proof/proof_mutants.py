"""Changes of linked proofs: a premise left out, a stronger conclusion, a weaker hypothesis.

`python -m tests.theory.proof.proof_mutants` writes the page on weaker hypotheses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

from attsvm._files import write_text
from attsvm.errors import ProofError
from attsvm.theory.declaration.proof import recorded
from attsvm.theory.proof import linked, rules
from attsvm.theory.proof.facts import Fact, Proof, Proposition, Sequent, proof
from attsvm.theory.proof.printing import as_text
from attsvm.theory.proof.rules import denials
from attsvm.theory.proof.search import certificate
from attsvm.theory.proof.terms import as_term
from attsvm.theory.verification.check import found_proof
from tests.theory.proof.readings import LINKED_CLAIMS, chain

PAGE = Path(__file__).parents[3] / "docs/tables/weaker.md"
HEAD = """Each hypothesis of each linked proof was weakened in two ways: `>` became `>=`, and each
inequality was weakened by 1/1000. The table lists the weaker hypotheses with which a proof still
runs: there the theorem is sharper than its readings. If a hypothesis says several things, the proof
may not use the one that is shown.

| proof | hypothesis | weaker form that is enough |
| --- | --- | --- |
"""
PROOFS = {claim.proof: claim for claim in LINKED_CLAIMS.values()}
"""A reading of each linked proof."""


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


@contextmanager
def reopened(whole: Proof) -> Iterator[None]:
    """Make facts in a copy of a proof, from its facts."""
    with proof() as copy:
        copy.facts += whole.facts
        copy.meanings |= whole.meanings
        copy.choices |= whole.choices
        yield


def decides(whole: Proof, fact: Fact, goal: Proposition) -> bool:
    """Return whether the premises of a decided fact show another goal as well."""
    with reopened(whole):
        try:
            rules.decide(goal, *fact.premises)
        except ProofError:
            return False
    return fact.rule == "decided"


def other_premises(whole: Proof) -> Iterator[tuple[Fact, Fact]]:
    """Yield the first fact of each call of a rule but `decide`, with each of its premises."""
    for first, (rule, _, _) in whole.calls.items():
        if rule != "decide":
            fact = whole.facts[first - 1]
            yield from ((fact, one) for one in dict.fromkeys(fact.premises))


def asked(whole: Proof, fact: Fact, premise: Fact) -> bool:
    """Return whether a rule needs a premise: it is left out of a list, or 0 >= 0 takes its place.

    The rule must refuse the call, or make a fact that says something else or assumes more.
    """
    name, args, more = whole.calls[fact.first]
    rule = getattr(rules, name)
    call = inspect.signature(rule).bind(*args, **more)
    with reopened(whole):
        nothing = rules.square(as_term(0))
        for key, value in call.arguments.items():
            if value is premise:
                call.arguments[key] = nothing
            elif key in ("evidence", "definitions"):
                kept = fact.premises if isinstance(value, Iterator) else value
                call.arguments[key] = tuple(one for one in kept if one is not premise)
            elif key == "facts":  # those of a lemma; an iterator is empty by now
                call.arguments[key] = [nothing if x is premise else x for x in fact.premises]
        try:
            made = rule(*call.args, **call.kwargs)
        except ProofError:
            return True
    return isinstance(made, Fact) and not (
        made.proposition.says(fact.proposition) and made.assumptions <= fact.assumptions
    )


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


def weaker(hypothesis: Proposition) -> Iterator[Proposition]:
    """Yield hypotheses that say less: not strict, or by a thousandth."""
    if hypothesis.relation == ">":
        yield replace(hypothesis, relation=">=")
    if hypothesis.relation != "==":
        yield replace(hypothesis, term=hypothesis.term + as_term(1) / 1000)


def weakenings(whole: Proof) -> Iterator[tuple[int, Proposition]]:
    """Yield each weaker form of each fact of a hypothesis, with the place among these facts."""
    for place, fact in enumerate(fact for fact in whole.facts if fact.rule == "hypothesis"):
        yield from ((place, said) for said in weaker(fact.proposition))


def stands(prove: Callable[[], str], place: int, said: Proposition) -> bool:
    """Return whether a linked proof runs with another proposition for one hypothesis."""
    own, places = linked.fact_of_reading, iter(range(10**6))

    def given(sequent: Sequent, rule: str, sentence: str, first: int = 0) -> Fact:
        if rule == "hypothesis" and next(places) == place:
            sequent = replace(sequent, proposition=said)
        return own(sequent, rule, sentence, first)

    with mock.patch.object(linked, "fact_of_reading", given), recorded():
        try:
            prove()
        except ProofError:
            return False
    return True


def rows(name: str, some: Iterable[tuple[int, Proposition]]) -> Iterator[tuple[str, bool]]:
    """Yield the row of the page for each weaker hypothesis, and whether it is enough."""
    whole, prove = chain(name), found_proof(PROOFS[name])
    given = [whole.notes[fact.number] for fact in whole.facts if fact.rule == "hypothesis"]
    for place, said in some:
        cells = f"`{name}`", given[place], f"`{as_text(said)}`"
        row = " | ".join(cell.replace("|", "\\|") for cell in cells)
        yield f"| {row} |\n", stands(prove, place, said)


def main() -> None:
    """Write the page."""
    found = (row for name in sorted(PROOFS) for row in rows(name, weakenings(chain(name))))
    write_text(PAGE, HEAD + "".join(row for row, enough in found if enough))


if __name__ == "__main__":
    main()
