"""Lemmas that linked proofs cite and that `Facts.v` proves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attsvm.theory.coq.conversion import Conversion, Converted, rewriting
from attsvm.theory.coq.sum_rules import summation
from attsvm.theory.proof import lemmas
from attsvm.theory.proof.facts import Fact, K, Proposition
from attsvm.theory.proof.terms import REAL, VECTOR, Letter, Sort, Term, as_term

if TYPE_CHECKING:
    from attsvm.theory.coq.chain import Chain

Cited = Callable[..., str]


def _of_numbers(lemma: lemmas.Lemma, word: str, **sorts: Sort) -> Cited:
    """Return the citation of a lemma about numbers or vectors with these letters.

    The lemma of Coq that gives the conclusion n is called word_n.
    """
    letters = [Letter(name, sort) for name, sort in sorts.items()]

    def cite(chain: Chain, fact: Fact, *terms: Term) -> str:
        names, place = chain.names, fact.number - fact.first
        instance = lemma.at(None, *terms)
        generic = lemma.at(None, *(x.term if x.name != "t" else x for x in letters))
        values = {x: as_term(t) for x, t in zip(letters, terms, strict=True)}
        conversion = Conversion(names, values)
        words = [
            f"{word}_{place}",
            *(names.argument(values[x], x.sort) for x in letters if x.name != "t"),
        ]
        for needed, premise in zip(generic.needed, fact.premises, strict=True):
            (binds,) = (x.binds for x in instance.needed)
            one = conversion.polynomial(names.canonical(needed.proposition)[0])
            own, _ = names.canonical(premise.proposition)
            used = chain.use(premise, fact, bound=[x for x in binds])
            relation, steps = needed.proposition.relation, conversion.steps(one)
            proof = chain.turned(one.text, one.normal, own, relation, steps, used, back=True)
            words.append(f"(fun {names.name(*binds)} => {proof})" if binds else proof)
        conclusion = generic.concludes[place]
        for a in conclusion.assumptions:
            one = conversion.polynomial(names.canonical(a)[0])
            moved, _ = names.canonical(Proposition(one.normal, a.relation))
            own_text = names.proposition(Proposition(moved, a.relation))
            proof = chain.known(fact)[own_text]
            words.append(
                chain.turned(
                    one.text, one.normal, moved, a.relation, conversion.steps(one), proof, back=True
                )
            )
        proof = chain.converted(fact, conclusion.proposition, conversion, f"({' '.join(words)})")
        return f"{chain.lost(fact)}exact {proof}."

    return cite


def _settled(chain: Chain, fact: Fact, name: str, f: Term) -> str:
    names, k = chain.names, chain.names.name(K)
    function = chain.whole.names[name]
    letters = sorted(f.letters - {K}, key=repr)
    bound = "".join(f" ({names.name(x)} : {names.sort(x.sort)})" for x in letters)
    family = f"(fun {k} : nat => {names.polynomial(f)})"
    chain.lines.append(f"Definition {names.name(function)}{bound} : R := settled {family}.")
    after = Conversion(names, {K: K.term + 1})
    one = after.polynomial(f)
    (premise,) = fact.premises
    own, _ = names.canonical(premise.proposition)
    raw = f"{names.polynomial(f)} - ({one.text})"
    inner = chain.turned(raw, f - one.normal, own, ">=", after.steps(one), "H", back=True)
    falling = f"(ev_then _ _ {chain.use(premise, fact)} (fun {k} H => {inner}))"
    value = function(*letters)
    raw = f"{names.polynomial(value)} - ({names.polynomial(f)})"
    proof = chain.to(fact, raw, value - f, (), "H")
    return f"exact (ev_then _ _ (settled_is {family} {falling}) (fun {k} H => {proof}))."


def _spectral(chain: Chain, fact: Fact, A: Term, row: Letter, column: Letter, v: Term) -> str:
    names = chain.names
    size = lemmas.spectral(A, row, column)
    shown = [f"(fun {names.name(x)} : {names.sort(x.sort)} => " for x in (row, column)]
    matrix = f"{''.join(shown)}{names.polynomial(A)}))"
    # under the names of the letters, factors of an entry may stand in another order
    entries = "apply equal_families; intros ?; apply equal_functions; intros ?; poly"
    norm = Converted(f"(spectral {matrix})", size, f"f_equal; {entries}")
    if fact.number == fact.first:
        proof = f"(spectral_0 {matrix})"
        return f"exact {chain.to(fact, norm.text, size, chain.identity.steps(norm), proof)}."
    texts = [names.polynomial(x) for x in (A, v)]
    one = summation(chain, column, Converted(f"({texts[1]}) ^ 2", v**2, "poly"))
    inner = summation(chain, column, Converted(f"({texts[0]}) * ({texts[1]})", A * v, "poly"))
    square = rewriting(chain.identity.steps(inner)) + "poly"
    whole = summation(chain, row, Converted(f"{inner.text} ^ 2", inner.normal**2, square))
    raw = f"{norm.text} ^ 2 * {one.text} - {whole.text}"
    steps = [step for x in (norm, one, whole) for step in chain.identity.steps(x)]
    proof = f"(spectral_1 {matrix} {shown[1]}{texts[1]}))"
    return f"exact {chain.to(fact, raw, size**2 * one.normal - whole.normal, steps, proof)}."


def _finitely_often(
    chain: Chain, fact: Fact, f: Term, gain: Term, bound: Term, near: Proposition
) -> str:
    names, k = chain.names, chain.names.name(K)
    after = Conversion(names, {K: K.term + 1})
    one, condition = after.polynomial(f), names.proposition(near)
    texts = [names.polynomial(x) for x in (f, gain, bound)]
    rises = f"{one.text} - ({texts[0]})"
    forms = [
        (rises, one.normal - f),
        (texts[1], gain),
        (f"{rises} - ({texts[1]})", one.normal - f - gain),
        (f"{texts[2]} - ({texts[0]})", bound - f),
    ]
    words = []
    for n, (premise, (raw, normal)) in enumerate(zip(fact.premises, forms, strict=True)):
        own, _ = names.canonical(premise.proposition)
        used = chain.use(premise, fact, known={condition: "near"}, bound=[K])
        turned = chain.turned(
            raw, normal, own, ">" if n == 1 else ">=", after.steps(one), used, back=True
        )
        words.append(turned if n == 1 else f"(fun {k} {'near ' if n > 1 else ''}=> {turned})")
    family, when = f"(fun {k} : nat => {texts[0]})", f"(fun {k} : nat => {condition})"
    head = f"finitely_often {family} ({texts[1]}) ({texts[2]}) {when} {' '.join(words)}"
    word = "not_le" if near.relation == ">=" else "not_lt"
    own_near, _ = names.canonical(near)
    text = names.polynomial(own_near)
    proof = chain.to(fact, f"- ({text})", -own_near, (), f"({word} _ H)")
    return f"{chain.lost(fact, [K])}exact (ev_then _ _ ({head}) (fun {k} H => {proof}))."


_X, _XY = {"x": REAL}, {"x": REAL, "y": REAL}
CITED: dict[str, Cited] = {
    lemma.name: _of_numbers(lemma, word, **sorts)
    for lemma, word, sorts in (
        (lemmas.CAUCHY_SCHWARZ, "cauchy_schwarz", {"u": VECTOR, "v": VECTOR}),
        (lemmas.LENGTH, "length", {"v": VECTOR}),
        (lemmas.RECIPROCAL, "reciprocal", _X),
        (lemmas.ROOT, "root", _X),
        (lemmas.SIZE, "size", _X),
        (lemmas.INDICATOR, "indicator", _X),
        (lemmas.LARGER, "larger", _XY),
        (lemmas.EXPONENTIAL, "exponential", _X),
        (lemmas.EXPONENTIAL_OF_SUM, "exponential_of_sum", _XY),
        (lemmas.LOGARITHM, "logarithm", _X),
        (lemmas.DISCRIMINANT, "discriminant", {"t": REAL, "a": REAL, "b": REAL, "c": REAL}),
    )
} | {"spectral norm": _spectral, "settled": _settled, "finitely often": _finitely_often}
"""The functions that write proofs of a lemma's conclusions, by the name of the lemma."""
