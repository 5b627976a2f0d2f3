"""Linked proofs: functions whose facts end in what their readings conclude.

A proof starts from the propositions of its reading's hypotheses, and ends with those of its
conclusion. If the reading has variables, its formulas are evaluated on letters, for arrays of any
size. So the proof uses the same formulas that are checked on numbers. A conclusion about runs has
no such formula, and one about records may use them in ways that letters do not support. Such a
conclusion declares its propositions: see `Measured` and `concludes`.
"""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attsvm.errors import ProofError, present
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison
from attsvm.theory.arithmetic.namespace import Proposition as Property
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.instances import FrozenValues, defined
from attsvm.theory.declaration.proof import Supposition, grants, record_linked
from attsvm.theory.declaration.variables import Choice, Defined, axes_of
from attsvm.theory.proof.arrays import (
    LETTERS,
    Length,
    Used,
    lengths_above_one,
    number,
    primitives,
    variable,
    whole_loops,
)
from attsvm.theory.proof.facts import (
    Fact,
    Proof,
    Proposition,
    Sequent,
    current,
    eq,
    ge,
    gt,
    proof,
    some,
)
from attsvm.theory.proof.rules import ensure_ended, fact_of_reading
from attsvm.theory.proof.terms import (
    Function,
    Letter,
    Sort,
    after_first,
    first_of,
    position,
    substituted,
    total,
)


@dataclass(frozen=True, slots=True)
class Said:
    """The conclusion of a reading.

    Attributes:
        sequents: the parts of the conclusion; a proof must show all of them.
        setting: facts that follow from the meaning of the letters, each with a sentence.
        under: hypotheses without which the letters stand for something else; a reading must have
            them.
    """

    sequents: tuple[Sequent, ...]
    setting: Mapping[str, Sequent] = field(default_factory=dict, hash=False)
    under: tuple[Hypothesis, ...] = ()


def values_of(formula: Formula) -> Values:
    """Return letters for the variables of a formula: functions about which nothing is known.

    An integer that is no length is a letter for any real number.

    Raises:
        ProofError: a variable is a member of a family without a general member.
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
    with whole_loops(), lengths_above_one() as compared:
        values = values_of(formula)
        sequents = [*_with_first(formula, propositions(hypothesis.holds(LETTERS, values)))]
        axes = {*compared}
    _ensure_several(formula, axes)
    return sequents


def _ensure_several(formula: Formula, axes: Iterable[tuple[Sort, ...]]) -> None:
    """Raise unless each axis has at least two indices, by a hypothesis or by its least length.

    Raises:
        ProofError: an axis may have one index, for which the formula says something else.
    """
    for (sort,) in axes:
        two = ge(total(1, Letter("each", sort)), 2)
        several = any(two.says(one) for one in _comparisons(formula))
        if not several and (formula.variables[sort.name].ends[0] or 0) < 2:
            raise ProofError("a formula says something else of one index", value=sort.name)


def _comparisons(formula: Formula) -> Iterator[Proposition]:
    """Yield the propositions of hypotheses that are one comparison of numbers, for all lengths.

    Hypotheses that compare a length with 1 are left out: "T >= 2, unless T is 1" excludes nothing.
    """
    for hypothesis in formula.hypotheses.values():
        with whole_loops(), lengths_above_one() as compared:
            relation = hypothesis.holds(LETTERS, values_of(formula))
            asks = bool(compared)
        if isinstance(relation, Comparison) and not (asks or number(relation.left).axes):
            yield from (one.proposition for one in propositions(relation))


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


def _over_variables(formula: Formula) -> bool:
    """Return whether the formula itself runs on letters; else its propositions are declared.

    If the formula runs on letters, declared propositions are ignored: they could say less.
    """
    return formula.measured is None and formula.batches


def _declared(formula: Formula) -> object:
    """Return the propositions that a conclusion about runs or other records declares, or None."""
    says = getattr(formula.conclusion, "proposition", None)
    return None if says is None else says(**formula.known_constants)


def conclusion_of(formula: Formula) -> Said:
    """Return what a formula concludes, in letters with the names of its variables.

    Raises:
        ProofError: the conclusion has no propositions, or these are about a hypothesis that the
            formula lacks.
    """
    if not _over_variables(formula):
        result = _declared(formula)
        if not isinstance(result, Said):
            raise ProofError("a conclusion has no propositions", value=repr(formula.conclusion))
        for one in result.under:
            if not grants(formula, one):
                raise ProofError(
                    "the propositions of a conclusion need another hypothesis; list it in `under=`",
                    value=one.name,
                )
        return result
    with whole_loops(), primitives() as used, lengths_above_one() as compared:
        values = values_of(formula)
        sequents = _with_first(formula, propositions(formula.relation(LETTERS, values, {})))
        axes, lengths = {*compared}, dict(_of_primitives(dict(used)))
    _ensure_several(formula, axes)
    for name in axes_of(formula.variables):
        if _has_index(formula, name):
            sort = Sort(name, index=True)
            lengths[f"there is an index of the axis {name}"] = Sequent(some(Letter(name, sort)))
            first = Sequent(eq(position(first_of(sort), sort), 0))
            lengths[f"the first index of the axis {name} has the position 0"] = first
            others, after = after_first(sort)
            later = ge(position(after(Letter("other", others)), sort), 1)
            lengths[f"the other indices of the axis {name} have later positions"] = Sequent(later)
    return Said(sequents, lengths)


def suppose(hypothesis: Any, formula: Formula | None = None) -> tuple[Fact, ...]:
    """Return what a hypothesis says: by its own proposition, or in the letters of a formula."""
    if formula is None and hypothesis.proposition is None:
        raise ProofError("a hypothesis has no proposition", value=repr(hypothesis))
    sequents = hypothesis.proposition() if formula is None else hypothesis_of(formula, hypothesis)
    current().supposed.append(hypothesis)
    first, says = len(current().facts) + 1, hypothesis.says
    return tuple(fact_of_reading(s, "hypothesis", says, first) for s in sequents)


def of_case(what: Supposition) -> tuple[Fact, ...]:
    """Return a hypothesis as facts, for a longer proof in which a case or earlier steps give it.

    No reading has them in its setting, so that no reading is concluded from them.
    """
    sequents, first = present(what.proposition, "a proposition")(), len(current().facts) + 1
    return tuple(fact_of_reading(one, "setting", what.says, first) for one in sequents)


def setting(settings: Mapping[str, Sequent], sentence: str) -> Fact:
    """Return the fact of the setting with this sentence, such as the step of a run."""
    return fact_of_reading(settings[sentence], "setting", sentence)


def _of_primitives(used: Used) -> Iterator[tuple[str, Sequent]]:
    """Yield facts of primitives: one is the maximum of a formula, or its value under a condition.

    The formula of a maximum is continuous, so some numbers from 0 to 1 attain it.
    """
    for (function, terms), one in used.items():
        value, known, name = function(*terms), [*map(number, terms)], repr(function(*terms))
        if one.largest is not None:
            names = [*inspect.signature(one.largest).parameters][len(terms) + 1 :]
            letters = [*map(Letter, names)]
            height = number(one.largest(LETTERS, *known, *map(number, letters))).term
            inside = frozenset(p for x in letters for p in (ge(x, 0), ge(1, x)))
            yield f"{name} is at least each height", Sequent(ge(value, height), inside)
            best = {x: Function(f"{x.name} of {function.name}", function.takes) for x in letters}
            there = {x: f(*terms) for x, f in best.items()}
            yield f"{name} is a height", Sequent(eq(value, substituted(height, there)))
            for x, at in there.items():
                yield f"{name}: its {x.name} is at least 0", Sequent(ge(at, 0))
                yield f"{name}: its {x.name} is at most 1", Sequent(ge(1, at))
        for k, (condition, result) in enumerate(one.pieces(LETTERS, *known) if one.pieces else ()):
            (case,) = propositions(condition)
            under = frozenset({case.proposition})
            yield f"{name}: piece {k}", Sequent(eq(value, number(result).term), under)


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
    says = _over_variables(formula) or _declared(formula) is not None
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

    If the formula runs on letters, its hypotheses state their propositions in these letters.
    Otherwise the objects of hypotheses declare them, and the reading must grant each object.

    Raises:
        ProofError: a sequent of the conclusion is missing, or a fact that the proof took as given
            is neither setting nor hypothesis. Or a conclusion is of another proof.
    """
    ensure_ended(whole, *of_reading(formula, whole))


def of_reading(
    formula: Formula, whole: Proof
) -> tuple[tuple[Sequent, ...], dict[str, list[Sequent]]]:
    """Return the sequents that a reading concludes, and those that a proof may take from it.

    The latter are grouped by the rule that takes them.

    Raises:
        ProofError: the conclusion has no propositions.
    """
    conclusion = conclusion_of(formula)
    if not conclusion.sequents:
        raise ProofError("a conclusion says nothing", value=repr(formula.conclusion))
    known = {"setting": [*conclusion.setting.values()]}
    if _over_variables(formula):
        listed = (one for h in formula.hypotheses.values() for one in h.consequences())
        supposed = [one for one in listed if one in whole.supposed]
        known["hypothesis"] = [s for one in supposed for s in hypothesis_of(formula, one)]
    else:
        objects = (
            one for one in whole.supposed if one.proposition is not None and grants(formula, one)
        )
        known["hypothesis"] = [s for one in objects for s in one.proposition()]
    return conclusion.sequents, known
