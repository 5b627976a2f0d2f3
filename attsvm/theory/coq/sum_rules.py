"""Proofs in Coq of facts by the rules of sums, extremes and names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attsvm.errors import NotExpressible
from attsvm.theory.coq.chain import WORDS, Chain
from attsvm.theory.coq.conversion import Conversion, Converted, Step, rewriting, summed
from attsvm.theory.coq.fact_text import FactText, number
from attsvm.theory.proof.facts import Fact, K, Proposition
from attsvm.theory.proof.terms import (
    Binder,
    Function,
    Letter,
    Operand,
    Over,
    Term,
    after_first,
    as_term,
    first_of,
    least,
    members,
    most,
    same,
    substituted,
)

# sums and extremes


def _add_up(
    chain: Chain,
    fact: Fact,
    premise: Fact,
    index: Letter,
    over: Over | None = None,
    exists: Fact | None = None,
) -> str:
    names, name = chain.names, chain.names.name(index)
    term, _ = names.canonical(premise.proposition)
    text, domain = names.polynomial(term), names.domain(index.sort, over)
    whole = summed(chain.identity, index, Converted(text, term), domain, over)
    function = f"(fun {name} : {names.sort(index.sort)} => {text})"
    known, kind = dict[str, str](), premise.proposition.relation
    if over is not None:
        known = chain.assumed(premise, fact, _owned(chain, index, over))
    used = chain.use(premise, fact, known=known, bound=[index])
    member = f"(fun {name} (M{name} : In {name} {domain}) => {{}})"
    head = f"sum_{WORDS[fact.proposition.relation]} {domain} {function}"
    if kind == ">" and exists is not None:
        head += f" {chain.use(exists, fact)}"
    steps, raw = chain.identity.steps(whole), f"(sum {domain} {function})"

    def build(parts: list[str]) -> str:
        one = f"({parts[0]} {name} M{name})" if premise.proposition.eventually else parts[0]
        one = f"(Rlt_le _ _ {one})" if kind == ">" and exists is None else one
        return chain.to(fact, raw, whole.normal, steps, f"({head} {member.format(one)})")

    if premise.proposition.eventually:
        used = f"(ev_listed {domain} _ {member.format(used)})"
    proof = chain.ended(fact, [used], [premise.proposition.eventually], build)
    return f"exact {proof}."


def _owned(chain: Chain, index: Letter, over: Over) -> Conversion:
    (atom,) = over.owner(index).atoms
    return Conversion(
        chain.names, equal={atom: (over.of, f"exact (owner_is M{chain.names.name(index)})")}
    )


def _among(chain: Chain, index: Letter, owner: Function | None) -> tuple[Over | None, str, str]:
    """Return the set of all indices with the same owner, as text, and that the index is in it."""
    names, name = chain.names, chain.names.name(index)
    if owner is None:
        return None, names.domain(index.sort, None), f"(complete {names.sort(index.sort)} {name})"
    over = Over(owner, owner(index))
    sorts = f"{names.sort(index.sort)} {names.sort(owner.gives)}"
    return over, names.domain(index.sort, over), f"(@own {sorts} {names.name(owner)} {name})"


def _one_of_sum(
    chain: Chain, fact: Fact, premise: Fact, index: Letter, owner: Function | None = None
) -> str:
    names = chain.names
    term, _ = names.canonical(premise.proposition)
    other = Letter(f"{index.name} of sum", index.sort)
    name, moved = names.name(other), Conversion(names, {index: other.term}).polynomial(term)
    over, domain, there = _among(chain, index, owner)
    whole = summed(chain.identity, other, moved, domain, over)
    function = f"(fun {name} : {names.sort(other.sort)} => {moved.text})"
    used = chain.use(premise, fact, {index: name})
    raw = f"(sum {domain} {function}) - ({names.polynomial(term)})"

    def build(parts: list[str]) -> str:
        one = f"({parts[0]} {name})" if premise.proposition.eventually else parts[0]
        one = f"(Rlt_le _ _ {one})" if premise.proposition.relation == ">" else one
        each = f"(fun {name} (_ : In {name} {domain}) => {one})"
        proof = f"(one_of_sum {domain} {function} {names.name(index)} {there} {each})"
        return chain.to(fact, raw, whole.normal - term, chain.identity.steps(whole), proof)

    if premise.proposition.eventually:
        used = f"(ev_each {names.sort(other.sort)} _ (fun {name} => {used}))"
    return f"exact {chain.ended(fact, [used], [premise.proposition.eventually], build)}."


def _extreme(chain: Chain, term: Term) -> tuple[Binder, str, str]:
    (atom,) = term.atoms
    if not isinstance(atom, Binder) or atom.term != term:
        raise NotExpressible("an extreme with a factor")
    return atom, *chain.names.family(atom)


def _at_index(chain: Chain, atom: Binder, value: Term) -> tuple[str, Term, list[Step]]:
    """Return an extreme's body at an index as text and in normal form, and their equations."""
    letter, body, inside = chain.identity.opened(atom)
    conversion = Conversion(chain.names, {letter: value}, depth=inside.depth)
    one = conversion.polynomial(body)
    return one.text, one.normal, conversion.steps(one)


def _beyond(
    chain: Chain, fact: Fact, kind: str, body: Term, index: Letter, owner: Function | None = None
) -> str:
    other = Letter(f"{index.name} of extreme", index.sort)
    over, domain, there = _among(chain, index, owner)
    moved = substituted(body, {index: other.term})
    extreme = (least if kind == "least" else most)(moved, other, over)
    atom, _, function = _extreme(chain, extreme)
    text, normal, steps = _at_index(chain, atom, index.term)
    sides = (text, chain.names.polynomial(extreme))
    sides = sides if kind == "least" else sides[::-1]
    word = "least_below" if kind == "least" else "most_above"
    proof = f"({word} {domain} {function} {chain.names.name(index)} {there})"
    term = normal - extreme if kind == "least" else extreme - normal
    return f"exact {chain.to(fact, f'({sides[0]}) - ({sides[1]})', term, steps, proof)}."


def _bounds(
    chain: Chain,
    fact: Fact,
    premise: Fact,
    kind: str,
    body: Term,
    index: Letter,
    exists: Fact,
    over: Over | None = None,
) -> str:
    names, sign = chain.names, 1 if kind == "least" else -1
    term, factor = names.canonical(premise.proposition)
    rest = members(premise.proposition.term - body * sign, index, over)
    extreme = (least if kind == "least" else most)(body, index, over)
    atom, domain, function = _extreme(chain, extreme)
    text, _, steps = _at_index(chain, atom, index.term)
    name, r = names.name(index), names.polynomial(rest)
    minus = "" if sign == 1 else "- "
    relation = premise.proposition.relation
    owned = "" if over is None else f"rewrite ?(owner_is M{name}); "
    equation = f"ltac:({rewriting(steps)}{owned}poly)"

    def build(parts: list[str]) -> str:
        one = f"({parts[0]} {name} M{name})" if premise.proposition.eventually else parts[0]
        forms = f"({names.polynomial(term)}) ({minus}({text}) + ({r}))"
        turned = f"({WORDS[relation]}_to {number(factor)} {forms} ltac:(lra) {equation} {one})"
        each = f"(fun {name} (M{name} : In {name} {domain}) => {turned})"
        head = (
            f"({kind}_{WORDS[relation]} {domain} {function} ({r}) {chain.use(exists, fact)} {each})"
        )
        raw = f"{minus}{names.polynomial(extreme)} + ({r})"
        return chain.to(fact, raw, extreme * sign + rest, (), head)

    used = chain.use(premise, fact, bound=[index])
    if premise.proposition.eventually:
        used = f"(ev_listed {domain} _ (fun {name} M{name} => {used}))"
    return f"exact {chain.ended(fact, [used], [premise.proposition.eventually], build)}."


def _attained(chain: Chain, fact: Fact, name: str, extreme: Term, exists: Fact) -> str:
    names = chain.names
    function, (letters, _) = chain.whole.origins["pick", name]
    atom, domain, family = _extreme(chain, extreme)
    parameters = "".join(f" ({names.name(x)} : {names.sort(x.sort)})" for x in letters)
    evidence, value = chain.use(exists, fact), names.polynomial(extreme)
    chain.lines.append(
        f"Definition {names.name(function)}{parameters} : {names.sort(function.gives)} := "
        f"pick {evidence} {family} {value}."
    )
    text, normal, steps = _at_index(chain, atom, function(*letters))
    there = f"({atom.kind}_is {domain} {family} {evidence})"
    proof = f"(pick_is {evidence} {family} {value} {there})"
    return f"exact {chain.to(fact, f'({text}) - {value}', normal - extreme, steps, proof)}."


def _swapped(chain: Chain, fact: Fact, one: Converted, other: Converted, proof: str) -> str:
    steps = [*chain.identity.steps(one), *chain.identity.steps(other)]
    equal = f"(Rminus_diag_eq _ _ {proof})"
    raw, normal = f"{one.text} - {other.text}", one.normal - other.normal
    return f"exact {chain.to(fact, raw, normal, steps, equal)}."


def summation(chain: Chain, index: Letter, body: Converted, over: Over | None = None) -> Converted:
    """Return the conversion of the sum of a body, also if its text is that of its normal form."""
    whole = summed(chain.identity, index, body, chain.names.domain(index.sort, over), over)
    function = f"(fun {chain.names.name(index)} : {chain.names.sort(index.sort)} => {body.text})"
    return Converted(
        f"(sum {chain.names.domain(index.sort, over)} {function})",
        whole.normal,
        whole.proof or "first [reflexivity | apply sum_ext; intros ? _; poly]",
    )


def _exchange(chain: Chain, fact: Fact, body: Term, outer: Letter, inner: Letter) -> str:
    start = Converted(chain.names.polynomial(body), body)
    one, other = (
        summation(chain, outer, summation(chain, inner, start)),
        summation(chain, inner, summation(chain, outer, start)),
    )
    return _swapped(chain, fact, one, other, "(sum_swap _ _ _)")


def _regroup(chain: Chain, fact: Fact, body: Term, index: Letter, owner: Function) -> str:
    start, group = Converted(chain.names.polynomial(body), body), Letter("group", owner.gives)
    one, parts = (
        summation(chain, index, start),
        summation(chain, index, start, Over(owner, group.term)),
    )
    sorts = f"{chain.names.sort(index.sort)} {chain.names.sort(owner.gives)}"
    return _swapped(
        chain,
        fact,
        one,
        summation(chain, group, parts),
        f"(regrouped {sorts} {chain.names.name(owner)} _)",
    )


def _picked(chain: Chain, fact: Fact, body: Term, index: Letter, place: Operand) -> str:
    term, names = as_term(place), chain.names
    chosen = same(index, term)
    text = f"{names.polynomial(chosen)} * ({names.polynomial(body)})"
    whole = summation(chain, index, Converted(text, chosen * body, "poly"))
    conversion = Conversion(names, {index: term})
    one = conversion.polynomial(body)
    steps = [*chain.identity.steps(whole), *conversion.steps(one)]
    function = f"(fun {names.name(index)} : {names.sort(index.sort)} => {names.polynomial(body)})"
    where = f"{names.sort(index.sort)} {names.argument(term, index.sort)}"
    proof = f"(Rminus_diag_eq _ _ (picked {where} {function}))"
    raw, normal = f"{whole.text} - ({one.text})", whole.normal - one.normal
    return f"exact {chain.to(fact, raw, normal, steps, proof)}."


def _split(chain: Chain, fact: Fact, body: Term, index: Letter, first: Fact, later: Fact) -> str:
    names = chain.names
    others, after = after_first(index.sort)
    start, other = first_of(index.sort), Letter("other", others)
    axis = axis_of(names, after)
    if axis not in chain.hypotheses:
        raise NotExpressible("an axis without its first index")
    text = names.polynomial(body)
    whole = summation(chain, index, Converted(text, body))
    at_first, at_other = (Conversion(names, {index: x}) for x in (start, after(other)))
    one, each = at_first.polynomial(body), at_other.polynomial(body)
    rest = summation(chain, other, each)
    steps = [s for x in (whole, one, rest) for s in chain.identity.steps(x)]
    function = f"(fun {names.name(index)} : {names.sort(index.sort)} => {text})"
    proof = f"(Rminus_diag_eq _ _ (split_is _ _ {function} {chain.hypotheses[axis]}))"
    raw = f"{whole.text} - ({one.text} + {rest.text})"
    return f"exact {chain.to(fact, raw, whole.normal - one.normal - rest.normal, steps, proof)}."


def axis_of(names: FactText, after: Function) -> str:
    """Return that an axis has its first index, and all others by this function."""
    (first,) = first_of(after.gives).atoms
    return f"axis {names.atom(first)} {names.name(after)}"


# names


def _define(
    chain: Chain, fact: Fact, name: str, letters: Iterable[Letter], meaning: Operand
) -> str:
    names = chain.names
    function, (parameters, term) = chain.whole.origins["define", name]
    bound = "".join(f" ({names.name(x)} : {names.sort(x.sort)})" for x in parameters)
    chain.lines.append(f"Definition {names.name(function)}{bound} : R := {names.polynomial(term)}.")
    value = function(*parameters)
    raw = f"{names.polynomial(value)} - ({names.polynomial(term)})"
    return f"exact {chain.to(fact, raw, value - term, (), '(Rminus_diag_eq _ _ eq_refl)')}."


def _accumulate(chain: Chain, fact: Fact, name: str, increment: Term) -> str:
    names = chain.names
    function, (parameters, term) = chain.whole.origins["sum", name]
    if fact.number == fact.first:
        bound = "".join(f" ({names.name(x)} : {names.sort(x.sort)})" for x in parameters)
        own, k = " ".join([names.name(function), *map(names.name, parameters)]), names.name(K)
        chain.lines.append(
            f"Fixpoint {names.name(function)}{bound} : R := match {k} with O => 0 "
            f"| S {k} => {own} + ({names.polynomial(term)}) end."
        )
        return "reflexivity."
    before = function(*parameters)
    after = function(*parameters[:-1], K.term + 1)
    raw = f"{names.polynomial(after)} - ({names.polynomial(before)} + ({names.polynomial(term)}))"
    return (
        f"exact {chain.to(fact, raw, after - before - term, (), '(Rminus_diag_eq _ _ eq_refl)')}."
    )


def _by_definition(
    chain: Chain, fact: Fact, goal: Proposition, definitions: object, premise: Fact | None = None
) -> str:
    meanings = dict(
        chain.whole.meanings[p]
        for p in fact.premises
        if p in chain.whole.meanings and p is not premise
    )
    conversion = Conversion(chain.names, meanings=meanings)
    one = conversion.polynomial(chain.names.canonical(goal)[0])
    if premise is None:
        return f"{rewriting(conversion.steps(one))}poly."
    other = conversion.polynomial(chain.names.canonical(premise.proposition)[0])
    steps = [*conversion.steps(one), *conversion.steps(other)]
    term = next(iter(one.normal.parts))
    factor = other.normal.parts[term] / one.normal.parts[term]
    sign = "nonzero" if goal.relation == "==" else "lra"
    forms = f"{number(factor)} ({other.text}) ({one.text})"
    by = f"{WORDS[goal.relation]}_to {forms} ltac:({sign}) ltac:({rewriting(steps)}poly)"

    def build(used: list[str]) -> str:
        return f"({by} {used[0]})"

    return f"{chain.lost(fact)}exact {chain.in_the_end(fact, [premise], build)}."


SUMS: Mapping[str, Callable[..., str]] = {
    "add_up": _add_up,
    "one_of_sum": _one_of_sum,
    "beyond": _beyond,
    "bounds": _bounds,
    "attained": _attained,
    "exchange": _exchange,
    "regroup": _regroup,
    "picked": _picked,
    "split": _split,
    "define": _define,
    "accumulate": _accumulate,
    "by_definition": _by_definition,
}
"""The functions that write the proof of a fact, by the name of its rule."""
