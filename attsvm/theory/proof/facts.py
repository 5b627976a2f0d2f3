"""Facts of linked proofs: propositions, each with its rule and the facts that the rule used.

A fact says: for all values of its letters, if its assumptions hold, its proposition holds. It is
true in every model of the reading. A model consists of real numbers, vectors, sequences and finite
index sets for which the setting and the hypotheses of the reading are true.

An index set may be empty; then its letters have no values. So a fact from which such a letter
disappears needs the fact that the index set is not empty.

Facts are made by the rules of `attsvm.theory.proof.rules` alone, inside a proof.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from attsvm.errors import ProofError
from attsvm.theory.proof.printing import Call, as_text
from attsvm.theory.proof.terms import (
    FIXED,
    POSITIVE,
    REAL,
    STEP,
    Function,
    Letter,
    Meaning,
    Operand,
    Sort,
    Term,
    as_term,
    ensure_sort,
    substituted,
    total,
)

K = Letter("k", STEP)
"""The step that "in the end" binds: for all k from some step on."""


@dataclass(frozen=True, slots=True)
class Proposition:
    """`term >= 0`, `term > 0` or `term == 0`, perhaps "in the end": for all k from some step on.

    This step may depend on the values of the other letters.
    """

    term: Term
    relation: Literal[">=", ">", "=="]
    eventually: bool = False

    def __post_init__(self) -> None:
        ensure_sort(self.term, REAL)
        if self.relation not in (">=", ">", "=="):
            raise ProofError("a proposition has another relation", value=repr(self.relation))

    @property
    def letters(self) -> frozenset[Letter]:
        """Its free letters: "in the end" binds the step k."""
        return self.term.letters - ({K} if self.eventually else frozenset())

    def says(self, other: Proposition) -> bool:
        """Return whether both say the same: the terms agree up to a positive factor.

        In an equation the factor may be negative as well. False does not show that they differ.
        """
        mine, its = self.term.parts, other.term.parts
        if (self.relation, self.eventually) != (other.relation, other.eventually):
            return False
        if not mine or mine.keys() != its.keys():
            return mine == its
        # if they differ by a factor, one monomial gives it; the comparison below checks the others
        factor = next(its[m] / mine[m] for m in mine)
        return (factor > 0 or self.relation == "==") and self.term * factor == other.term

    def at(self, values: Mapping[Letter, Term]) -> Proposition:
        """Return it with letters replaced by terms."""
        return Proposition(substituted(self.term, values), self.relation, self.eventually)

    def denied(self) -> Proposition:
        """Return the negation of the inequality: not t >= 0 is -t > 0, not t > 0 is -t >= 0.

        Raises:
            ProofError: the proposition is an equation, or holds in the end. The negation of "in the
                end" would be "at infinitely many steps", which no proposition can say.
        """
        if self.relation == "==" or self.eventually:
            raise ProofError(
                "only an inequality that holds at all steps has a negation", value=as_text(self)
            )
        return Proposition(-self.term, ">" if self.relation == ">=" else ">=")

    def __repr__(self) -> str:
        return as_text(self)


def ge(left: Operand, right: Operand) -> Proposition:
    """Return the proposition that left >= right."""
    return Proposition(as_term(left) - right, ">=")


def gt(left: Operand, right: Operand) -> Proposition:
    """Return the proposition that left > right."""
    return Proposition(as_term(left) - right, ">")


def eq(left: Operand, right: Operand) -> Proposition:
    """Return the proposition that left == right."""
    return Proposition(as_term(left) - right, "==")


def ev(proposition: Proposition) -> Proposition:
    """Return the proposition with "in the end"."""
    return Proposition(proposition.term, proposition.relation, eventually=True)


def some(index: Letter) -> Proposition:
    """Return the proposition that the index set of a letter is not empty."""
    return gt(total(1, index), 0)


@dataclass(frozen=True, slots=True)
class Sequent:
    """A proposition under assumptions, for all values of the letters of both."""

    proposition: Proposition
    assumptions: frozenset[Proposition] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """A proposition under assumptions, with the rule that made it.

    Attributes:
        proposition: what it says.
        assumptions: what it assumes.
        rule: the name of the rule.
        premises: the facts that the rule used.
        number: its place in the proof, from 1.
        first: the number of the first fact that the same call of the rule made.
    """

    proposition: Proposition
    assumptions: frozenset[Proposition]
    rule: str
    premises: tuple[Fact, ...]
    number: int
    first: int

    @property
    def letters(self) -> frozenset[Letter]:
        """Its free letters: the fact holds for all their values."""
        return self.proposition.letters.union(*(a.letters for a in self.assumptions))

    def __repr__(self) -> str:
        assumed = ", ".join(sorted(map(as_text, self.assumptions)))
        return f"{self.number}. {assumed + ' |- ' if assumed else ''}{as_text(self.proposition)}"


@dataclass(slots=True, eq=False)
class Proof:
    """A proof: its facts in order, and the names that they use.

    Attributes:
        facts: all facts made so far.
        meanings: for each definition the function, its parameters, and the term that it means.
        names: the functions that the proof adds, by name.
        choices: the functions to index sets that it may use: those of the reading, and its own.
        supposed: the hypotheses that it took.
        concluded: the facts that it ended with.
        origins: for "define", "sum" and "pick" with a name: the function, its parameters, and the
            meaning, increment or extreme; only evaluations read this field.
        notes: sentences for readers, by the number of the fact; no rule reads this field.
        of_reading: the numbers of the facts that the reading states.
        calls: the name and arguments of each call of a rule, by the number of the first fact that
            the call made; only exports read this field.
    """

    facts: list[Fact] = field(default_factory=list)
    meanings: dict[Fact, tuple[Function, Meaning]] = field(default_factory=dict)
    names: dict[str, Function] = field(default_factory=dict)
    choices: set[Function] = field(default_factory=set)
    supposed: list[Any] = field(default_factory=list)
    concluded: list[Fact] = field(default_factory=list)
    origins: dict[tuple[str, str], tuple[Function, Meaning]] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    of_reading: set[int] = field(default_factory=set)
    calls: dict[int, Call] = field(default_factory=dict)

    def named(self, name: str, letters: Iterable[Letter], gives: Sort = REAL) -> Function:
        """Return a new function of these letters; its mark keeps it apart from all others.

        The mark is random, so that no term can contain the function before it is named. Otherwise a
        name could mean itself plus 1.

        Raises:
            ProofError: the proof has a function of this name.
        """
        if name in self.names:
            raise ProofError("a proof uses one name for two functions", value=name)
        sorts = tuple(REAL if x.sort == POSITIVE else x.sort for x in letters)
        self.names[name] = Function(name, sorts, gives, 1 + secrets.randbits(62))
        return self.names[name]


_PROOF: ContextVar[Proof] = ContextVar("proof")


@contextmanager
def proof() -> Iterator[Proof]:
    """Yield a new proof, to which rules inside the block add their facts."""
    token = _PROOF.set(whole := Proof())
    try:
        yield whole
    finally:
        _PROOF.reset(token)


def current() -> Proof:
    """Return the proof of the block `proof` that is running.

    Raises:
        ProofError: there is no such block.
    """
    if (whole := _PROOF.get(None)) is None:
        raise ProofError("a fact is made outside of a proof", remedy="Use `with proof():`.")
    return whole


def made(
    proposition: Proposition,
    rule: str,
    premises: Iterable[Fact] = (),
    assumptions: Iterable[Proposition] = (),
    *,
    bound: Iterable[Letter] = (),
    first: int = 0,
    from_reading: bool = False,
) -> Fact:
    """Add a fact to the proof and return it, after the checks that are common to all rules.

    Args:
        proposition: what the fact says.
        rule: the name of the rule.
        premises: the facts that it was made from.
        assumptions: what it assumes.
        bound: letters of the premises that the rule has replaced or bound.
        first: the number of the first fact that this call of a rule made, if not this fact.
        from_reading: whether the reading gives the fact; only such facts may contain `FIXED`.

    Raises:
        ProofError: a premise is of another proof. Or an assumption holds "in the end" or contains
            `FIXED`. Or the fact holds "in the end" and an assumption contains the step. Or a rule
            makes a fact that contains `FIXED`. Or an index disappears although its set may be
            empty, or occurs outside of its sum, or a function to an index set is new.
    """
    whole, chosen, assumed = current(), tuple(premises), frozenset(assumptions)
    if any(p.number > len(whole.facts) or whole.facts[p.number - 1] is not p for p in chosen):
        raise ProofError("a premise is a fact of another proof", value=repr(chosen))
    # "for all k: if A(k), then P(k) in the end" would confuse the k of A with the k that P binds.
    # Propositions about a function of `FIXED` mean all vectors at once. A function may agree with
    # another one, or with some function of a family, at each vector, and yet be none of these. So
    # only lemmas read such propositions.
    held = {FIXED, K} if proposition.eventually else {FIXED}
    about = FIXED in proposition.letters and (proposition.eventually or not from_reading)
    if about or any(a.eventually or held & a.letters for a in assumed):
        raise ProofError("an assumption or a rule fixes a bound letter", value=repr(proposition))
    number = len(whole.facts) + 1
    fact = Fact(proposition, assumed, rule, chosen, number, first or number)
    # "For all j: P" says nothing if there is no j. If P no longer contains j, the fact would say P
    # even for an empty index set, so some premise must say that the set is not empty.
    known = [p.proposition for p in chosen if p.assumptions <= assumed]
    for letter in frozenset().union(*(p.letters for p in chosen)) - fact.letters - {*bound}:
        if letter.sort.index and not any(some(letter).says(one) for one in known):
            raise ProofError(
                "an index disappears, and there may be none",
                value=f"{letter.name} in {proposition}",
                remedy="Give the fact that the index set is not empty as a premise.",
            )
    # A function to an index set implies that the set is not empty. Only functions of the reading,
    # and those that `attained` made from evidence, may occur.
    spoken = frozenset(a for p in (proposition, *assumed) for a in p.term.atoms)
    # an index without its sum would be an element of a set that may be empty
    if any(a.loose for a in spoken):
        raise ProofError("an index is outside of its sum or extreme", value=repr(proposition))
    invented = {f for a in spoken for f in a.choices} - whole.choices
    if invented:
        raise ProofError("a proof invents an element of an index set", value=repr(invented))
    whole.facts.append(fact)
    return fact


def note(sentence: str, fact: Fact) -> Fact:
    """Return the fact, with a sentence for readers."""
    current().notes[fact.number] = sentence
    return fact
