"""Linked proofs: functions whose facts end in what their readings conclude.

A reading's conclusion and hypotheses become the propositions that its proof ends with and starts
from. The formula of a reading over variables is evaluated on letters, for arrays of any size. So
its proof ends with the very formula that is checked on numbers, and takes hypotheses from theirs. A
conclusion about runs has no such formula; it is declared with its propositions, see `Measured`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attsvm.errors import ProofError
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison
from attsvm.theory.arithmetic.namespace import Proposition as Property
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.instances import FrozenValues, defined
from attsvm.theory.declaration.proof import record_linked
from attsvm.theory.declaration.variables import Choice, Defined, Integer, axes_of
from attsvm.theory.proof.arrays import (
    LETTERS,
    Length,
    first_of,
    number,
    position,
    variable,
    whole_loops,
)
from attsvm.theory.proof.facts import Fact, Proof, Sequent, eq, ge, gt, proof, some
from attsvm.theory.proof.terms import Letter, Sort


@dataclass(frozen=True, slots=True)
class Said:
    """The conclusion of a reading.

    Attributes:
        sequents: the parts of the conclusion; a proof must show all of them.
        setting: facts that follow from the meaning of the letters, each with a sentence.
    """

    sequents: tuple[Sequent, ...]
    setting: Mapping[str, Sequent] = field(default_factory=dict, hash=False)


def values_of(formula: Formula) -> Values:
    """Return letters for the variables of a formula: functions of which nothing is known.

    Raises:
        ProofError: a variable is an integer that is no length, or a member of a family without a
            general member.
    """
    known: dict[str, Any] = {}
    lengths = axes_of(formula.variables)
    for name, one in formula.variables.items():
        if name in lengths:
            known[name] = Length((Sort(name, index=True),))
        elif isinstance(one, Choice):
            (kind,) = {type(member) for member in one.members.values()}
            if not hasattr(kind, "arbitrary"):
                raise ProofError("a family has no general member", value=name)
            known[name] = kind.arbitrary(name)
        elif isinstance(one, Integer):
            raise ProofError("an integer is no length of an axis", value=name)
        elif not isinstance(one, Defined):
            known[name] = variable(name, one.axes)
    return defined(formula.variables, LETTERS, FrozenValues(**known))


def propositions(relation: object, *, every: bool = False) -> Iterator[Sequent]:
    """Yield what a relation says: its comparisons, entry by entry, or the sequents of a property.

    A disjunction says its last part under the negations of the others, if each part is one
    proposition about indices of its own. A conjunction over a loop says its part for every index.

    Args:
        relation: a relation, or a property of a function.
        every: whether the relation is a part of a conjunction.

    Raises:
        ProofError: a relation has no such form, or depends on the general index of a loop.
    """
    if isinstance(relation, All):
        for part in relation.parts:
            yield from propositions(part, every=True)
    elif isinstance(relation, AnyOf):
        parts = [one for part in relation.parts for one in propositions(part)]
        if len(parts) != len(relation.parts) or any(one.assumptions for one in parts):
            raise ProofError("a part of a disjunction says several things", value=repr(relation))
        # "for all j: P(j), or for all j: Q(j)" says more than "for all j: P(j) or Q(j)"
        letters = [x for one in parts for x in one.proposition.letters]
        if len(letters) != len({*letters}):
            raise ProofError("parts of a disjunction share an index", value=repr(relation))
        *others, last = (one.proposition for one in parts)
        yield Sequent(last, frozenset(one.denied() for one in others))
    elif isinstance(relation, Property) and relation.sequents is not None:
        yield from relation.sequents()
    elif isinstance(relation, Comparison):
        says = {"at most": ge, "below": gt, "equal": eq}[relation.kind]
        apart = number(relation.right) - relation.left
        if apart.axes and relation.kind != "equal":
            raise ProofError("an inequality of arrays", value=repr(relation))
        count = itertools.count()  # no two indices have one letter, also along one axis
        places = (
            tuple(Letter(f"{sort.name}{next(count) or ''}", sort).term for sort in axis)
            for axis in apart.axes
        )
        text = says(apart.entry(*places), 0)
        general = {x: Letter(f"each {x.name}", x.sort).term for x in text.letters if x.number}
        if general and not every:
            raise ProofError("a relation depends on the index of a loop", value=repr(text))
        yield Sequent(text.at(general))
    else:
        raise ProofError("a relation is no list of propositions", value=repr(relation))


def hypothesis_of(formula: Formula, hypothesis: Hypothesis) -> list[Sequent]:
    """Return what a hypothesis says in the letters of a formula over variables."""
    values = values_of(formula)
    with whole_loops():
        return [*_with_first(formula, propositions(hypothesis.holds(LETTERS, values)))]


def _with_first(formula: Formula, sequents: Iterable[Sequent]) -> tuple[Sequent, ...]:
    """Return the sequents; raise if one has the first index of an axis that may be empty."""
    whole = tuple(sequents)
    spoken = [p.term for s in whole for p in (s.proposition, *s.assumptions)]
    used = {function for term in spoken for atom in term.atoms for function in atom.choices}
    for name in axes_of(formula.variables):
        (first,) = first_of(Sort(name, index=True)).atoms
        if not _has_index(formula, name) and used & first.choices:
            raise ProofError("an axis that may be empty has no first index", value=name)
    return whole


def _has_index(formula: Formula, name: str) -> bool:
    """Return whether an axis has a least length above 0."""
    return bool((formula.variables[name].ends[0] or 0) > 0)


def conclusion_of(formula: Formula) -> Said:
    """Return what a formula concludes, in letters with the names of its variables.

    Raises:
        ProofError: the conclusion has no propositions.
    """
    if formula.measured is not None:
        says = formula.measured.proposition
        result = None if says is None else says(**formula.known_constants)
        if not isinstance(result, Said):
            raise ProofError("a conclusion has no propositions", value=formula.measured.says)
        return result
    values = values_of(formula)
    with whole_loops():
        sequents = _with_first(formula, propositions(formula.relation(LETTERS, values, {})))
    lengths: dict[str, Sequent] = {}
    for name in axes_of(formula.variables):
        if _has_index(formula, name):
            sort = Sort(name, index=True)
            lengths[f"there is an index of the axis {name}"] = Sequent(some(Letter(name, sort)))
            first = Sequent(eq(position(first_of(sort), sort), 0))
            lengths[f"the first index of the axis {name} has the position 0"] = first
    return Said(sequents, lengths)


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
        supposed = [one for one in listed if one in whole.supposed]
        known["hypothesis"] = [s for one in supposed for s in hypothesis_of(formula, one)]
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
