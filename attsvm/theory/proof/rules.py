"""The rules of linked proofs: each makes a fact from facts, and its docstring says why it is sound.

A rule uses nothing but its premises. Facts hold for all values of their letters. A rule that
combines facts combines them at the same values of letters with the same name. A rule raises a
ProofError if its premises are not of the form that it needs; the message says which one is not.

"In the end" means: for all steps k from some step on. If finitely many propositions hold in the
end, they hold together from the latest of these steps on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from attsvm.errors import ProofError
from attsvm.theory.proof.certificates import refutes
from attsvm.theory.proof.facts import (
    Fact,
    K,
    Proof,
    Proposition,
    Sequent,
    current,
    eq,
    ge,
    gt,
    made,
    note,
    some,
)
from attsvm.theory.proof.lemmas import Lemma
from attsvm.theory.proof.search import certificate, noted
from attsvm.theory.proof.terms import (
    FIXED,
    POSITIVE,
    REAL,
    Binder,
    Function,
    Letter,
    Operand,
    Over,
    Term,
    after_first,
    as_term,
    ensure_sort,
    first_of,
    least,
    letters_of,
    members,
    most,
    position,
    same,
    substituted,
    total,
    unfolded,
)


def _ensure(condition: bool, problem: str, value: object, about: object = None) -> None:
    if condition is not True:  # the text of a term is slow to make
        raise ProofError(problem.replace("{}", repr(about)), value=repr(value))


def _assumed(*facts: Fact) -> frozenset[Proposition]:
    return frozenset().union(*(fact.assumptions for fact in facts))


def _free_of(index: Letter, *facts: Fact) -> None:
    """Raise if an assumption contains the index: then the fact is not about all indices."""
    spoken = [a for fact in facts for a in fact.assumptions if index in a.letters]
    _ensure(not spoken, "a fact assumes something about its index", spoken)


# facts that the reading gives


def fact_of_reading(sequent: Sequent, rule: str, sentence: str, first: int = 0) -> Fact:
    """Return a fact that the reading gives; it is true in every model of the reading.

    Functions to index sets in such a fact are functions of the reading, so the proof may use them.
    """
    spoken = (sequent.proposition, *sequent.assumptions)
    current().choices |= {f for p in spoken for a in p.term.atoms for f in a.choices}
    fact = made(sequent.proposition, rule, (), sequent.assumptions, first=first, from_reading=True)
    current().of_reading.add(fact.number)
    return note(sentence, fact)


def assume(proposition: Proposition) -> Fact:
    """Return the fact P under the assumption P."""
    return made(proposition, "assumed", (), [proposition])


def positive(letter: Letter) -> Fact:
    """Return the fact that a letter of the sort "positive" is above 0."""
    _ensure(letter.sort == POSITIVE, "a letter has no sign", letter)
    return made(gt(letter, 0), "positive")


# logic


def at(fact: Fact, values: Mapping[Letter, Operand], *evidence: Fact) -> Fact:
    """Return a fact with letters replaced by terms of their sorts.

    A letter of the sort "positive" is replaced by such a letter, or by a real that the evidence
    says to be above 0. An index may come with a fact that speaks of it. No value concerns `FIXED`:
    a fact about the gradient by it is about a function, which another value would change.

    If the fact holds "in the end", no value may contain k. The fact holds from a step on that
    depends on the value, so a value that changes with k may never reach its step. The value of an
    index may contain k: an index set is finite, so the fact holds for all its elements from the
    latest of their steps on.
    """
    terms = {letter: as_term(value) for letter, value in values.items()}
    used = set[Fact]()
    for letter, term in terms.items():
        _ensure(letter in fact.letters, "an instance replaces a letter that is not there", letter)
        _ensure(FIXED not in {letter, *term.letters}, "no value takes the place of this", FIXED)
        ends = fact.proposition.eventually and K in term.letters
        _ensure(letter.sort.index or not ends, "a value holds the k of the end", term)
        if letter.sort != POSITIVE:
            ensure_sort(term, letter.sort)
            used |= {f for f in evidence if any(term in a.inside for a in f.proposition.term.atoms)}
        elif not any(x.sort == POSITIVE and x.term == term for x in term.letters):
            ensure_sort(term, REAL)
            known = [f for f in evidence if gt(term, 0).says(f.proposition)]
            _ensure(bool(known), "a value is not known to be above 0", term)
            used.add(known[0])
    _ensure(used == {*evidence}, "an instance does not need its evidence", evidence)
    assumptions = {a.at(terms) for a in fact.assumptions} | _assumed(*evidence)
    text = fact.proposition.at(terms)
    return made(text, "instance", (fact, *evidence), assumptions, bound=terms)


def cut(fact: Fact, *evidence: Fact) -> Fact:
    """Return a fact without the assumptions that the evidence states; each evidence states one."""
    met = {a for a in fact.assumptions if any(a.says(e.proposition) for e in evidence)}
    idle = [e for e in evidence if not any(a.says(e.proposition) for a in met)]
    _ensure(not idle, "a fact does not say an assumption", idle)
    rest = (fact.assumptions - met) | _assumed(*evidence)
    return made(fact.proposition, "cut", (fact, *evidence), rest)


def cases(yes: Fact, no: Fact, condition: Proposition) -> Fact:
    """Return a fact that holds under a condition and under its negation: one of them is true."""
    denial = condition.denied()
    _ensure(yes.proposition.says(no.proposition), "two cases say different things", (yes, no))
    _ensure(condition in yes.assumptions, "a case does not use its condition", yes)
    _ensure(denial in no.assumptions, "a case does not use its condition", no)
    rest = (yes.assumptions - {condition}) | (no.assumptions - {denial})
    return made(yes.proposition, "cases", (yes, no), rest)


def induction(claim: Proposition, start: Fact, step: Fact) -> Fact:
    """Return the fact P(k) for all k, from P(0), and from P(k + 1) under the assumption P(k)."""
    _ensure(not claim.eventually, "induction is not said of the end", claim)
    first, after = claim.at({K: as_term(0)}), claim.at({K: K.term + 1})
    _ensure(first.says(start.proposition), "induction begins with something else", start)
    _ensure(after.says(step.proposition), "induction ends with something else", step)
    _ensure(claim in step.assumptions, "the step of an induction does not use it", step)
    rest = (step.assumptions - {claim}) | start.assumptions
    # An assumption about k speaks of one step only. The induction uses the step fact at every k, so
    # that it would need the assumption at every k.
    _ensure(all(K not in a.letters for a in rest), "an assumption is about k", rest)
    return made(claim, "induction", (start, step), rest)


# arithmetic


def decide(goal: Proposition, *premises: Fact, degree: int = 2) -> Fact:
    """Return the goal as a fact if certificates show it from the premises, all of which are needed.

    A certificate shows that premises and negated goal hold together at no values of the letters. So
    the goal holds wherever the premises do. If a premise holds only in the end, so does the goal.

    Raises:
        ProofError: there is no certificate, a premise is not used, or a premise holds in the end
            and the goal at all steps.
    """
    known = tuple(p.proposition for p in premises)
    ends = any(one.eventually for one in known)
    _ensure(goal.eventually or not ends, "a premise is said of the end, the goal is not", goal)
    unused = {*range(len(premises))}
    for denial in denials(goal):
        # the search is not trusted: `refutes` adds up its certificate exactly
        result = certificate((*known, denial), degree)
        if result is None or not refutes((*known, denial), result):
            raise ProofError(f"no certificate shows {goal!r}", value=f"from {list(premises)!r}")
        unused -= {place for summand in result for place in summand.places}
    # `made` demands the fact that an index set is not empty if an index letter disappears; such a
    # premise is needed although no certificate uses it
    spoken = goal.letters | letters_of(a.term for a in _assumed(*premises))
    lost = {x for p in premises for x in p.letters - spoken if x.sort.index}
    idle = [premises[x] for x in unused if not any(some(y).says(known[x]) for y in lost)]
    _ensure(not idle, "the certificate of {} does not use a premise", idle, goal)
    return made(goal, "decided", premises, _assumed(*premises))


def denials(goal: Proposition) -> list[Proposition]:
    """Return the negation of an inequality, or the two strict inequalities that deny an equation.

    An equation is shown if neither t > 0 nor -t > 0 can hold.
    """
    if goal.relation == "==":
        return [Proposition(goal.term, ">"), Proposition(-goal.term, ">")]
    return [Proposition(goal.term, goal.relation).denied()]


def square(term: Term) -> Fact:
    """Return the fact that the square of a real is at least 0."""
    return made(ge(term**2, 0), "square")


def scale(fact: Fact, factor: Operand) -> Fact:
    """Return an equation multiplied by any real: 0 times any factor is 0."""
    text = fact.proposition
    _ensure(text.relation == "==", "only an equation takes any factor", fact)
    product = Proposition(text.term * factor, "==", text.eventually)
    return made(product, "scaled", [fact], fact.assumptions)


def inside(fact: Fact, left: Term, right: Term, term: Term, hole: Letter) -> Fact:
    """Return the fact that a term is equal at `left` and `right` in the place of the letter `hole`.

    The fact must say that left = right.
    """
    ends = fact.proposition.eventually
    _ensure(hole.sort == REAL, "the place of a number is a real letter", hole)
    equal = Proposition(left - right, "==", ends).says(fact.proposition)
    _ensure(equal, "the fact does not say that both are equal", fact)
    both = substituted(term, {hole: left}) - substituted(term, {hole: right})
    return made(Proposition(both, "==", ends), "inside", [fact], fact.assumptions)


# sums and extremes over finite index sets


def _other(index: Letter, term: Term) -> Letter:
    """Return a letter of the index's sort that does not occur in the term."""
    other = Letter(f"{index.name}'", index.sort)
    return _other(other, term) if other in term.letters else other


def _of_owner(
    body: Term, index: Letter, owner: Function | None
) -> tuple[Term, Letter, Over | None]:
    """Return the body in another index, that index, and the set over which it runs.

    The set is None for all elements. If `owner` is a function, the set contains the elements that
    have the same owner as `index`.
    """
    other = _other(index, body)
    over = None if owner is None else Over(owner, owner(index))
    return substituted(body, {index: other.term}), other, over


def add_up(fact: Fact, index: Letter, over: Over | None = None, exists: Fact | None = None) -> Fact:
    """Return the sum of a fact over an index set, or over the members of one element.

    A sum of terms >= 0 is >= 0, and a sum of terms == 0 is == 0. A sum of terms > 0 is > 0 if
    `exists` says that there is a term; an empty sum is 0, so without evidence it is only >= 0.

    An assumption may speak of the owner of the index. In a sum over the members of an element this
    owner is the element, so that the terms of the sum share the assumption.
    """
    text, relation, chosen = fact.proposition, fact.proposition.relation, (fact,)
    shared = {replace(a, term=members(a.term, index, over)) for a in fact.assumptions}
    spoken = [a for a in shared if index in a.letters]
    _ensure(not spoken, "a fact assumes something about its index", spoken)
    if exists is not None:
        _ensure(relation == ">", "the sum needs no evidence of an index", exists)
        _ensure_exists(exists, index, over)
        chosen = (fact, exists)  # type: ignore[assignment]
        shared |= exists.assumptions
    elif relation == ">":
        relation = ">="
    summed = Proposition(total(text.term, index, over), relation, text.eventually)
    return made(summed, "summed", chosen, shared, bound=[index])


def _ensure_exists(exists: Fact, index: Letter, over: Over | None) -> None:
    count = gt(total(1, index, over), 0)
    _ensure(count.says(exists.proposition), "this does not say that there is an index", exists)


def one_of_sum(fact: Fact, index: Letter, owner: Function | None = None) -> Fact:
    """Return the fact that a sum of terms >= 0 is at least each of its terms.

    The sum runs over all indices, or over those with the same owner as the term.
    """
    _free_of(index, fact)
    text = fact.proposition
    _ensure(text.relation != "==", "the terms have no sign", fact)
    others = total(*_of_owner(text.term, index, owner)) - text.term
    rest = Proposition(others, ">=", text.eventually)
    return made(_of_each(rest, index), "one of a sum", [fact], fact.assumptions)


def _of_each(proposition: Proposition, index: Letter) -> Proposition:
    """Return the proposition if it contains the index.

    Without the index it would claim something even for an empty index set.
    """
    _ensure(index in proposition.letters, "the terms do not depend on the index", proposition)
    return proposition


def regroup(body: Term, index: Letter, owner: Function) -> Fact:
    """Return the fact that a sum over all is the sum, over owners, of the sums over their members.

    Each element has one owner, since the owner is a function of it.
    """
    group = _other(Letter("group", owner.gives), body)
    parts = total(total(body, index, Over(owner, group.term)), group)
    return made(eq(total(body, index), parts), "regrouped")


def exchange(body: Term, outer: Letter, inner: Letter) -> Fact:
    """Return that sums over two whole index sets may be taken in either order."""
    _ensure(outer != inner, "a double sum has two indices", outer)
    return made(eq(total(total(body, inner), outer), total(total(body, outer), inner)), "exchanged")


def split(body: Term, index: Letter, first: Fact, later: Fact) -> Fact:
    """Return that a sum over an axis is its first term plus the sum of the others.

    A reading gives both facts for an axis that is not empty: its first index has the position 0,
    and all others come later. Each index is the first one, or is met once among the others.
    """
    others, after = after_first(index.sort)
    other, start = Letter("other", others), first_of(index.sort)
    known = (eq(position(start, index.sort), 0), ge(position(after(other), index.sort), 1))
    same = all(k.says(f.proposition) for k, f in zip(known, (first, later), strict=True))
    _ensure(same, "these do not say where an axis starts", (first, later))
    rest = total(substituted(body, {index: after(other)}), other)
    whole = substituted(body, {index: start}) + rest
    chosen = _assumed(first, later)
    return made(eq(total(body, index), whole), "split", [first, later], chosen, bound=[other])


def picked(body: Term, index: Letter, place: Operand) -> Fact:
    """Return that the sum over an index set of same(j, place) f(j) is f(place).

    `same` is 1 if j is the place, else 0. So the sum has one term that may differ from 0.
    """
    term = as_term(place)
    _ensure(index.sort.index and index not in term.letters, "an index picks itself", index)
    ensure_sort(term, index.sort)
    chosen = total(same(index, term) * body, index)
    return made(eq(chosen, substituted(body, {index: term})), "picked")


def beyond(kind: str, body: Term, index: Letter, owner: Function | None = None) -> Fact:
    """Return the fact that the least value is at most each value, or the largest at least each."""
    other = _of_owner(body, index, owner)
    text = ge(body, least(*other)) if kind == "least" else ge(most(*other), body)
    return made(_of_each(text, index), "an extreme")


def bounds(
    fact: Fact, kind: str, body: Term, index: Letter, exists: Fact, over: Over | None = None
) -> Fact:
    """Return a bound of the least or the largest value of f from a bound of all values.

    From f(j) >= c for all j it follows that the least value is >= c, and from c >= f(j) that c is
    >= the largest value. The extreme is one of the values, so the set must not be empty. In the
    fact, f(j) has the factor 1.
    """
    _free_of(index, fact)
    _ensure_exists(exists, index, over)
    sign, text = (1 if kind == "least" else -1), fact.proposition
    rest = members(text.term - body * sign, index, over)
    _ensure(text.relation != "==" and index not in rest.letters, "this bounds not all", fact)
    extreme = (least if kind == "least" else most)(body, index, over)
    bound = Proposition(rest + extreme * sign, text.relation, text.eventually)
    return made(bound, "bound of an extreme", (fact, exists), _assumed(fact, exists), bound=[index])


def attained(name: str, extreme: Term, exists: Fact) -> tuple[Function, Fact]:
    """Return a new function to an index set, and the fact that an extreme is attained at its value.

    A finite set that is not empty has an element at which the extreme over the whole set is
    attained. This holds for all values of the letters of the extreme. The new function takes these
    letters, in the order of their names, and returns such an element.
    """
    atoms = [a for a in extreme.atoms if extreme == a.term and isinstance(a, Binder)]
    whole = [(a.kind in ("least", "most"), a.over) for a in atoms] == [(True, None)]
    _ensure(whole, "no extreme", extreme)
    index, body = atoms[0].opened()
    _ensure_exists(exists, index, None)
    _ensure(not exists.assumptions, "the evidence of an index assumes something", exists)
    letters = sorted(extreme.letters, key=lambda x: x.name)
    function = current().named(name, letters, index.sort)
    current().choices.add(function)
    value = substituted(body, {index: function(*letters)})
    return function, made(eq(value, extreme), "attained", [exists])


# names


def define(name: str, letters: Iterable[Letter], meaning: Operand) -> tuple[Function, Fact]:
    """Return a new function of letters, and the fact that its value is the meaning.

    The name is new, so the meaning does not contain the function: no definition is circular.
    """
    parameters, term = tuple(letters), as_term(meaning)
    _ensure(term.letters <= {*parameters}, "a meaning has other letters", term)
    function = current().named(name, parameters)
    fact = made(eq(function(*parameters), term), "defined")
    current().meanings[fact] = function, (parameters, term)
    return function, fact


def accumulate(name: str, increment: Term) -> tuple[Function, Fact, Fact]:
    """Return a new sequence and two facts: it is 0 at step 0, and it grows by the increment at k.

    Its arguments are the letters of the increment, in the order of their names, and then k.
    """
    letters = sorted(increment.letters - {K}, key=lambda x: x.name)
    function = current().named(name, [*letters, K])
    grown = function(*letters, K) + increment
    first = made(eq(function(*letters, 0), 0), "defined step by step")
    return function, first, made(eq(function(*letters, K.term + 1), grown), "defined step by step")


def by_definition(goal: Proposition, definitions: Iterable[Fact], fact: Fact | None = None) -> Fact:
    """Return a goal that says the same as a fact once the definitions are inserted in both.

    Without a fact, the goal must be 0 = 0 after the insertion.
    """
    used, text = tuple(definitions), eq(0, 0) if fact is None else fact.proposition
    _ensure(all(one in current().meanings for one in used), "a fact defines nothing", used)
    meanings = dict(current().meanings[one] for one in used)
    one, other = (
        Proposition(unfolded(p.term, meanings), p.relation, p.eventually) for p in (goal, text)
    )
    _ensure(one.says(other), "{} is not said by these definitions", fact, goal)
    # a definition is used at terms that are there, so its own letters do not disappear
    chosen = used if fact is None else (fact, *used)
    own = letters_of(d.proposition.term for d in used) - (fact.letters if fact else frozenset())
    return made(goal, "by definition", chosen, fact.assumptions if fact else (), bound=own)


# lemmas, and the end


def cite(lemma: Lemma, facts: Iterable[Fact], *arguments: Any, **more: Any) -> tuple[Fact, ...]:
    """Return the conclusions of a lemma at an instance; the facts are its hypotheses, in order.

    A hypothesis may hold for all values of some letters, which it binds. A fact for it may have
    further assumptions, which the conclusions inherit, but none about the bound letters: the
    hypothesis must hold for all their values.
    """
    instance = lemma.at(current().named, *arguments, **more)
    chosen, assumed = tuple(facts), set[Proposition]()
    _ensure(len(chosen) == len(instance.needed), f"{lemma.name} has other hypotheses", chosen)
    for fact, needed in zip(chosen, instance.needed, strict=True):
        same = needed.proposition.says(fact.proposition)
        _ensure(same, lemma.name + ": a fact does not say {}", fact, needed.proposition)
        beside = fact.assumptions - needed.assumptions
        _ensure(not letters_of(a.term for a in beside) & needed.binds, "a letter is bound", fact)
        assumed |= beside
    bound = frozenset().union(*(one.binds for one in instance.needed))
    first, rule = len(current().facts) + 1, f"cited: {lemma.name}"
    return tuple(
        made(s.proposition, rule, chosen, assumed | s.assumptions, bound=bound, first=first)
        for s in instance.concludes
    )


def conclude(fact: Fact, sequent: Sequent) -> None:
    """Record a fact as a conclusion of the proof.

    It must say what the reading concludes, and have no other assumptions.
    """
    text = sequent.proposition.says(fact.proposition)
    _ensure(fact in current().facts, "a conclusion is a fact of another proof", fact)
    _ensure(text, "the reading concludes {}", fact, sequent.proposition)
    _ensure(fact.assumptions <= sequent.assumptions, "the reading assumes less", fact)
    current().concluded.append(fact)


def ensure_ended(
    whole: Proof, sequents: Iterable[Sequent], known: Mapping[str, Iterable[Sequent]]
) -> None:
    """Raise unless a proof concludes these sequents from facts that its reading gives.

    Args:
        whole: the proof.
        sequents: what the reading concludes.
        known: the sequents that the reading gives, by the rule that takes them.

    Raises:
        ProofError: a sequent is missing, or a fact that the proof took as given is none of the
            reading. Or a conclusion is of another proof.
    """
    own = all(fact in whole.facts for fact in whole.concluded)
    _ensure(own, "a conclusion is a fact of another proof", whole.concluded)
    for fact in whole.facts:
        listed = any(
            s.proposition.says(fact.proposition) and s.assumptions == fact.assumptions
            for s in known.get(fact.rule, ())
        )
        free = fact.rule not in known and fact.number not in whole.of_reading
        _ensure(free or listed, "a proof uses a fact that its reading does not give", fact)
    for sequent in sequents:
        # a fact with fewer assumptions says more, so that it also concludes the sequent
        shown = any(
            sequent.proposition.says(fact.proposition) and fact.assumptions <= sequent.assumptions
            for fact in whole.concluded
        )
        _ensure(shown, "a proof lacks a conclusion of its reading", sequent.proposition)


# each rule notes its calls

_PLAIN = (assume, positive, at, cut, cases, induction, decide, square, scale, inside)
_SETS = (add_up, one_of_sum, regroup, exchange, split, picked, beyond, bounds, attained)
_RULES = (*_PLAIN, *_SETS, define, accumulate, by_definition, cite)
globals().update({rule.__name__: noted(rule) for rule in _RULES})
