"""Linked proofs of readings as files for Coq: the statement of the reading, then its facts.

The statement is made from the reading alone. The facts come after it, in a section whose variables
and hypotheses are those of the statement. The last theorem says the statement itself, so that no
fact can change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attsvm.errors import NotExpressible
from attsvm.theory.coq.chain import Chain
from attsvm.theory.coq.fact_rules import LOGIC
from attsvm.theory.coq.fact_text import COORDINATES, INTERPRETED, FactText
from attsvm.theory.coq.kernel import LinkedJob
from attsvm.theory.coq.sum_rules import SUMS, axis_of
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.proof import executed, recorded
from attsvm.theory.proof.facts import Fact, Proof, Sequent
from attsvm.theory.proof.linked import is_linked, of_reading
from attsvm.theory.proof.terms import (
    SAME,
    VECTOR,
    App,
    Atom,
    Binder,
    Function,
    Sort,
    Term,
    after_first,
    first_of,
)
from attsvm.theory.verification.check import found_proof

HEAD = "Require Import Facts.\n"


def atoms_of(terms: Iterable[Term]) -> set[Atom]:
    """Return the atoms of terms, also those inside atoms."""
    result, open_ = set[Atom](), [a for t in terms for a in t.atoms]
    while open_:
        atom = open_.pop()
        if atom not in result:
            result.add(atom)
            open_ += [a for t in atom.inside for a in t.atoms]
            if isinstance(atom, Binder):
                open_.append(atom.index)
    return result


def letters_of_reading(sequents: Iterable[Sequent]) -> tuple[list[Sort], list[Function], bool]:
    """Return the index sets and functions of sequents, and whether they speak of vectors."""
    terms = [p.term for s in sequents for p in (s.proposition, *s.assumptions)]
    sorts, functions, vectors = set[Sort](), set[Function](), False
    for atom in atoms_of(terms):
        spoken = [atom.sort]
        if isinstance(atom, App):
            spoken += [*atom.function.takes, atom.function.gives]
            functions.add(atom.function)
        elif isinstance(atom, Binder) and atom.over is not None:
            functions.add(atom.over.owner)
            spoken += [*atom.over.owner.takes, atom.over.owner.gives]
        sorts |= {s for s in spoken if s.index}
        vectors = vectors or VECTOR in spoken
    return sorted(sorts, key=lambda s: s.name), sorted(functions, key=repr), vectors


def exported(formula: Formula, whole: Proof) -> str:
    """Return the file of a linked proof of a reading.

    Raises:
        NotExpressible: a rule, sort or term has no form in Coq here.
    """
    names = FactText()
    concludes, known = of_reading(formula, whole)
    # the hypotheses that the proof uses: without the others, the theorem says more
    spoken = {
        names.sequent(Sequent(f.proposition, f.assumptions))
        for f in whole.facts
        if f.number in whole.of_reading
    }
    every = dict.fromkeys(s for sequents in known.values() for s in sequents)
    supposed = [s for s in every if names.sequent(s) in spoken]
    sorts, functions, vectors = letters_of_reading([*concludes, *supposed])
    own = [f for f in functions if f not in INTERPRETED and f.name != SAME]
    variables = [(names.name(s), "index") for s in sorts]
    variables += [(COORDINATES, "index")] if vectors else []
    variables += [(names.name(f), names.type(f)) for f in own]
    texts = dict.fromkeys(names.sequent(s) for s in supposed)
    for f in own:  # in a reading, the first index and all others make up the whole axis
        first = {g for a in first_of(f.gives).atoms for g in a.functions}
        if f.gives.index and f == after_first(f.gives)[1] and first <= {*own}:
            texts[axis_of(names, f)] = None
    hypotheses = {text: f"given_{n}" for n, text in enumerate(texts)}
    conclusion = " /\\ ".join(f"({names.sequent(s)})" for s in concludes)
    bound = "".join(f" ({name} : {kind})" for name, kind in variables)
    premises = "".join(f"({text}) ->\n  " for text in hypotheses)
    lines = [HEAD]
    quantified = f"forall{bound},\n  " if bound else ""
    lines.append(f"Definition statement : Prop :=\n  {quantified}{premises}{conclusion}.\n")
    lines.append('Set Default Proof Using "All".\nSection Chain.')
    lines += [f"Variable {name} : {kind}." for name, kind in variables]
    lines += [f"Hypothesis {name} : {text}." for text, name in hypotheses.items()]
    more_sorts, more, more_vectors = letters_of_reading(
        Sequent(f.proposition, f.assumptions) for f in whole.facts
    )
    lines += [
        f"Definition {names.name(s)} : index := nothing." for s in more_sorts if s not in sorts
    ]
    lines += (
        [f"Definition {COORDINATES} : index := nothing."] if more_vectors and not vectors else []
    )
    # a function that does not occur in the reading is defined as 0
    lacks = {*functions, *whole.names.values(), *INTERPRETED}
    for f in more:
        if f not in lacks and f.name != SAME:
            if f.gives.index:
                raise NotExpressible("a function to an index set that the reading does not have")
            count = len(f.takes) + (f.gives == VECTOR)
            value = f"fun {'_ ' * count}=> 0" if count else "0"
            lines.append(f"Definition {names.name(f)} : {names.type(f)} := {value}.")
    chain = Chain(whole, names, hypotheses, {**LOGIC, **SUMS})
    lines += chain.export()
    parts = [_by(names, s, whole, chain) for s in concludes]
    proof = parts[-1]
    for part in reversed(parts[:-1]):
        proof = f"(conj {part} {proof})"
    lines.append(f"Theorem holds : {conclusion}.\nProof. exact {proof}. Qed.\nEnd Chain.")
    lines.append("Theorem checked : statement.\nProof. exact holds. Qed.")
    return "\n".join(lines) + "\n"


def exported_in_part(whole: Proof) -> tuple[str, int]:
    """Return a file in which Coq checks the facts that have a form in Coq, and their number.

    Facts of the reading, and facts without a form in Coq, are hypotheses of the file. Its last
    definition, `checked`, uses each fact that is proved, so that Coq can list the axioms of all.
    """
    names = FactText(opaque=True)
    sorts, functions, vectors = letters_of_reading(
        Sequent(f.proposition, f.assumptions) for f in whole.facts
    )
    known = {*INTERPRETED, *whole.names.values()}
    lines = [HEAD, "Section Chain.", *(f"Variable {names.name(s)} : index." for s in sorts)]
    lines += [f"Variable {COORDINATES} : index."] if vectors else []
    own = [f for f in functions if f not in known and f.name != SAME]
    lines += [f"Variable {names.name(f)} : {names.type(f)}." for f in own]
    chain = Chain(whole, names, {}, {**LOGIC, **SUMS})
    lines += [*chain.export_in_part(), "End Chain."]
    proved = [f.number for f in whole.facts if f.number not in chain.assumed_facts]
    lines.append(f"Definition checked := {''.join(f'let _ := f{n} in ' for n in proved)}I.\n")
    return "\n".join(lines), len(proved)


def linked_jobs(claims: Iterable[Claim]) -> Iterator[LinkedJob]:
    """Yield the file of each linked proof of these readings."""
    for claim in claims:
        prove = found_proof(claim) if claim.proof else None
        if prove is None or not is_linked(claim.formula, prove):
            continue
        with recorded() as steps:
            executed(prove)
        (whole,) = steps.linked
        count = len(whole.facts)
        try:
            yield LinkedJob(claim.id, exported(claim.formula, whole), count, count)
        except NotExpressible as error:
            text, checked = exported_in_part(whole)
            yield LinkedJob(claim.id, text, count, checked, error.cause)


def _by(names: FactText, sequent: Sequent, whole: Proof, chain: Chain) -> str:
    """Return the proof of a conclusion: a fact that says it under the same or fewer assumptions."""
    for fact in whole.concluded:
        if sequent.proposition.says(fact.proposition) and fact.assumptions <= sequent.assumptions:
            end = Fact(sequent.proposition, sequent.assumptions, "conclusion", (fact,), 0, 0)
            ordered = chain.bound(end)
            head = f"fun {' '.join(ordered)} => " if ordered else ""
            return f"({head}{chain.use(fact, end)})"
    raise NotExpressible("a conclusion in another form")
