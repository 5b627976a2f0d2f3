"""Proofs in Coq of facts by the rules of logic and arithmetic.

A fact made by `decide` has a certificate, which lists products of premises. Coq computes and adds
these products. It does not search for a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from flint import fmpq

from attsvm.errors import NotExpressible
from attsvm.theory.coq.chain import WORDS, Chain
from attsvm.theory.coq.conversion import Conversion
from attsvm.theory.coq.fact_text import number
from attsvm.theory.coq.lemmas import CITED
from attsvm.theory.proof import lemmas
from attsvm.theory.proof.certificates import Summand
from attsvm.theory.proof.facts import Fact, K, Proposition, gt
from attsvm.theory.proof.rules import denials
from attsvm.theory.proof.search import certificate
from attsvm.theory.proof.terms import POSITIVE, Letter, Operand, Term, as_term

_DEGREE = 8
"""Maximum degree of a certificate; the degrees are tried from 1 on."""


# logic


def _assume(chain: Chain, fact: Fact, proposition: Proposition) -> str:
    return "exact h0."


def _positive(chain: Chain, fact: Fact, letter: Letter) -> str:
    return f"exact {chain.names.name(letter)}_pos."


def _at(
    chain: Chain, fact: Fact, premise: Fact, values: Mapping[Letter, Operand], *evidence: Fact
) -> str:
    terms = {x: as_term(value) for x, value in values.items()}
    conversion = Conversion(chain.names, terms)
    shown = {x: chain.names.argument(t, x.sort) for x, t in terms.items()}
    signs = dict[Letter, str]()
    for x, term in terms.items():
        if x.sort == POSITIVE:
            own = [y for y in term.letters if y.term == term and y.sort == POSITIVE]
            sign = f"{chain.names.name(own[0])}_pos" if own else ""
            for e in [] if own else evidence:
                if gt(term, 0).says(e.proposition):
                    to, _ = chain.names.canonical(e.proposition)
                    sign = chain.turned(
                        chain.names.polynomial(term),
                        term,
                        to,
                        ">",
                        (),
                        chain.use(e, fact),
                        back=True,
                    )
            signs[x] = sign
    known = chain.assumed(premise, fact, conversion)
    plain = Proposition(premise.proposition.term, premise.proposition.relation)
    late = [x for x, t in terms.items() if premise.proposition.eventually and K in t.letters]
    values_ = {x: text for x, text in shown.items() if x not in late}
    used = chain.use(premise, fact, values_, signs, known, late)
    for x in reversed(late):
        used = f"(ev_each _ _ (fun {chain.names.name(x)} => {used}))"

    def build(parts: list[str]) -> str:
        proof = f"({' '.join([*parts, *(shown[x] for x in late)])})" if late else parts[0]
        return chain.converted(fact, plain, conversion, proof)

    proof = chain.ended(fact, [used], [fact.proposition.eventually], build)
    return f"{chain.lost(fact, terms)}exact {proof}."


def _cut(chain: Chain, fact: Fact, premise: Fact, *evidence: Fact) -> str:
    known = {chain.names.proposition(e.proposition): chain.use(e, fact) for e in evidence}
    return f"{chain.lost(fact)}exact {chain.use(premise, fact, known=known)}."


def _cases(chain: Chain, fact: Fact, yes: Fact, no: Fact, condition: Proposition) -> str:
    denial = condition.denied()
    low, high = (denial, condition) if condition.relation == ">" else (condition, denial)
    texts = [chain.names.polynomial(chain.names.canonical(one)[0]) for one in (low, high)]
    sides = []
    for one in (low, high):
        known = {chain.names.proposition(one): "Q"}
        premise = yes if one is condition else no
        sides.append(f"exact {chain.use(premise, fact, known=known)}")
    split = f"destruct (le_or_lt ({texts[0]}) ({texts[1]}) ltac:(ring)) as [Q|Q]"
    return f"{chain.lost(fact)}{split}; [{'|'.join(sides)}]."


def _induction(chain: Chain, fact: Fact, claim: Proposition, start: Fact, step: Fact) -> str:
    k, sides = chain.names.name(K), []
    term, _ = chain.names.canonical(claim)
    for premise, value, known in (
        (start, as_term(0), dict[str, str]()),
        (step, K.term + 1, {chain.names.proposition(claim): "IH"}),
    ):
        conversion = Conversion(chain.names, {K: value})
        one = conversion.polynomial(term)
        moved, _ = chain.names.canonical(premise.proposition)
        proof = chain.use(premise, fact, known=known)
        turned = chain.turned(
            one.text, one.normal, moved, claim.relation, conversion.steps(one), proof, back=True
        )
        sides.append(f"exact {turned}")
    return f"induction {k} as [|{k} IH]; [{'|'.join(sides)}]."


# arithmetic


def _decide(chain: Chain, fact: Fact, goal: Proposition, *premises: Fact, degree: int = 2) -> str:
    known = [p.proposition for p in premises]
    canonical = [chain.names.canonical(p) for p in (*known, goal)]
    atoms = sorted({a for t, _ in canonical for a in t.atoms}, key=chain.names.atom)
    short = {a: f"x{n}" for n, a in enumerate(atoms)}
    texts = [chain.names.polynomial(t, names=short) for t, _ in canonical]
    says = [
        chain.names.relation(p.relation, f"({x})")
        for p, x in zip((*known, goal), texts, strict=True)
    ]
    bound = f" ({' '.join(short.values())} : R)" if short else ""
    head = bound + "".join(f" (H{n} : {x})" for n, x in enumerate(says[:-1])) + f" : {says[-1]}."
    if head not in chain.algebra:
        chain.algebra[head] = f"a{len(chain.algebra)}"
        proof = _certified(chain, known, goal, [s for _, s in canonical], texts)
        chain.lines.append(f"Lemma {chain.algebra[head]}{head}\nProof. {proof} Qed.")
    words = " ".join([chain.algebra[head], *map(chain.names.atom, atoms)])
    proof = chain.in_the_end(fact, premises, lambda used: f"({' '.join([words, *used])})")
    return f"{chain.lost(fact)}exact {proof}."


def _certified(
    chain: Chain, known: list[Proposition], goal: Proposition, scales: list[fmpq], texts: list[str]
) -> str:
    """Return a proof that the last of these polynomial relations follows from the others."""
    cases = denials(goal)
    if goal.relation == "==" and scales[-1] < 0:
        cases.reverse()
    scripts = []
    for n, denial in enumerate(cases):
        summands = certificate((*known, denial), _DEGREE)
        if summands is None:
            raise NotExpressible("a fact without a certificate")
        term = f"(- ({texts[-1]}))" if goal.relation != "==" or n == 1 else f"({texts[-1]})"
        own = [*(f"({x})" for x in texts[:-1]), term]
        sizes = [*scales[:-1], fmpq(abs(scales[-1].p), scales[-1].q)]
        scripts.append(
            f"intro D; exact ({_summed((*known, denial), summands, sizes, own)} ltac:(ring))"
        )
    word = f"{WORDS[goal.relation]}_denied"
    return f"apply {word}; [{'|'.join(scripts)}]."


def _square(chain: Chain, fact: Fact, term: Term) -> str:
    text = chain.names.polynomial(term)
    return f"exact {chain.to(fact, f'({text}) ^ 2', term**2, (), f'(pow2_ge_0 ({text}))')}."


def _scale(chain: Chain, fact: Fact, premise: Fact, factor: Operand) -> str:
    term, by = chain.names.canonical(premise.proposition)[0], as_term(factor)
    text = chain.names.polynomial(by)
    raw = f"({text}) * ({chain.names.polynomial(term)})"

    def build(used: list[str]) -> str:
        return chain.to(fact, raw, by * term, (), f"(zero_times ({text}) _ {used[0]})")

    return f"{chain.lost(fact)}exact {chain.in_the_end(fact, [premise], build)}."


def _inside(
    chain: Chain, fact: Fact, premise: Fact, left: Term, right: Term, term: Term, hole: Letter
) -> str:
    sides = [Conversion(chain.names, {hole: x}) for x in (left, right)]
    ones = [c.polynomial(term) for c in sides]
    steps = [step for c, one in zip(sides, ones, strict=True) for step in c.steps(one)]
    raw = f"{ones[0].text} - ({ones[1].text})"
    function = f"(fun {chain.names.name(hole)} => {chain.names.polynomial(term)})"
    texts = [chain.names.polynomial(x) for x in (left, right)]
    own, _ = chain.names.canonical(premise.proposition)

    def build(used: list[str]) -> str:
        apart = chain.turned(
            f"{texts[0]} - ({texts[1]})", left - right, own, "==", (), used[0], back=True
        )
        equal = f"(f_equal {function} (Rminus_diag_uniq ({texts[0]}) ({texts[1]}) {apart}))"
        return chain.to(
            fact, raw, ones[0].normal - ones[1].normal, steps, f"(Rminus_diag_eq _ _ {equal})"
        )

    return f"{chain.lost(fact)}exact {chain.in_the_end(fact, [premise], build)}."


def _summed(
    propositions: Sequence[Proposition],
    summands: Sequence[Summand],
    scales: Sequence[fmpq],
    texts: Sequence[str],
) -> str:
    """Return the proof of a contradiction by a certificate, up to its polynomial identity."""
    factors = []
    for summand in summands:
        factor = summand.factor
        for place in summand.places:
            factor /= scales[place]
        factors.append(factor)
    common = math.lcm(*(int(f.q) for f in factors))
    above: tuple[str, bool] | None = None
    zero = "(@eq_refl R 0)"
    for summand, rational in zip(summands, factors, strict=True):
        whole = int((rational * common).p)
        relations = [propositions[x].relation for x in summand.places]
        last = len(propositions) - 1
        proofs = ["D" if x == last else f"H{x}" for x in summand.places]
        if "==" in relations:
            place = relations.index("==")
            others = [texts[x] for n, x in enumerate(summand.places) if n != place]
            by = " * ".join([number(fmpq(whole)), *others])
            one = f"(zero_times ({by}) _ {proofs[place]})"
            zero = f"(zero_plus _ _ {zero} {one})"
            continue
        product = (f"(IZR_lt 0 {whole} eq_refl)", True)
        for proof, relation in zip(proofs, relations, strict=True):
            product = _joined(
                "Rmult_lt_0_compat", "Rmult_le_pos", product, (proof, relation == ">")
            )
        above = product if above is None else _added(above, product)
    if above is None or not above[1]:
        raise NotExpressible("a certificate without a positive summand")
    return f"refuted _ _ {above[0]} {zero}"


def _weak(one: tuple[str, bool]) -> str:
    return f"(Rlt_le _ _ {one[0]})" if one[1] else one[0]


def _joined(
    strict: str, weak: str, one: tuple[str, bool], other: tuple[str, bool]
) -> tuple[str, bool]:
    if one[1] and other[1]:
        return f"({strict} _ _ {one[0]} {other[0]})", True
    return f"({weak} _ _ {_weak(one)} {_weak(other)})", False


def _added(one: tuple[str, bool], other: tuple[str, bool]) -> tuple[str, bool]:
    word = {
        (True, True): "Rplus_lt_0_compat",
        (True, False): "Rplus_lt_le_0_compat",
        (False, True): "Rplus_le_lt_0_compat",
        (False, False): "Rplus_le_le_0_compat",
    }[one[1], other[1]]
    return f"({word} _ _ {one[0]} {other[0]})", one[1] or other[1]


def _cite(
    chain: Chain, fact: Fact, lemma: lemmas.Lemma, facts: object, *arguments: object, **more: object
) -> str:
    if lemma.name not in CITED:
        raise NotExpressible(f"the lemma {lemma.name!r}")
    return CITED[lemma.name](chain, fact, *arguments, **more)


LOGIC: Mapping[str, Callable[..., str]] = {
    "assume": _assume,
    "positive": _positive,
    "at": _at,
    "cut": _cut,
    "cases": _cases,
    "induction": _induction,
    "decide": _decide,
    "square": _square,
    "scale": _scale,
    "inside": _inside,
    "cite": _cite,
}
"""The functions that write the proof of a fact, by the name of its rule."""
