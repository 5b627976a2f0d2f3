"""Linked proofs as files of Coq: every fact is a lemma, proved from its premises by its rule.

The statement of a lemma is the text of the fact's proposition. Its proof is made from the arguments
of the rule, by the functions in `fact_rules` and `sum_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from flint import fmpq

from attsvm.errors import NotExpressible
from attsvm.theory.coq.conversion import Conversion, Step, rewriting
from attsvm.theory.coq.fact_text import FactText, number
from attsvm.theory.proof.facts import Fact, K, Proof, Proposition, Sequent, some
from attsvm.theory.proof.terms import POSITIVE, STEP, VECTOR, Letter, Term

WORDS = {">=": "le", ">": "lt", "==": "eq"}
"""The parts of names of lemmas in `Facts.v` for each relation."""
_ANYTHING = {STEP: "O", VECTOR: "(fun _ => 0)", POSITIVE: "1"}
"""Values of letters that disappear, by sort; 0 for real ones."""


class Premises:
    """The facts of one linked proof, as the proofs of other facts use them."""

    def __init__(
        self,
        whole: Proof,
        names: FactText,
        hypotheses: Mapping[str, str],
        rules: Mapping[str, Callable[..., str]],
    ) -> None:
        self.whole, self.names, self.hypotheses = whole, names, hypotheses
        self.rules = rules
        self.identity = Conversion(names)
        self.algebra: dict[str, str] = {}
        self.lines: list[str] = []
        self.assumed_facts: dict[int, str] = {}
        self.unstated: set[int] = set()
        self.calls = {f.number: (f, *whole.calls.get(f.first, ("", (), {}))) for f in whole.facts}

    # texts

    def letters(self, fact: Fact) -> list[Letter]:
        """Return the letters of a fact in the order in which its lemma binds them."""
        return self.names.letters(fact.letters)

    def bound(self, fact: Fact) -> list[str]:
        """Return the names that the lemma of a fact binds."""
        letters = self.letters(fact)
        signs = [f"{self.names.name(x)}_pos" for x in letters if x.sort == POSITIVE]
        return [*map(self.names.name, letters), *signs, *self.known(fact).values()]

    def stated(self, fact: Fact) -> str:
        """Return the name, binders and statement of the lemma of a fact."""
        letters = [(self.names.name(x), x.sort) for x in self.letters(fact)]
        bound = "".join(f" ({name} : {self.names.sort(sort)})" for name, sort in letters)
        bound += "".join(f" ({x}_pos : 0 < {x})" for x, sort in letters if sort == POSITIVE)
        for n, text in enumerate(self.names.assumptions(fact.assumptions)):
            bound += f" (h{n} : {text})"
        return f"Lemma f{fact.number}{bound} : {self.names.proposition(fact.proposition)}."

    def known(self, fact: Fact) -> dict[str, str]:
        """Return the names of the assumptions of a fact in its lemma, by their texts."""
        texts = self.names.assumptions(fact.assumptions)
        return {text: f"h{n}" for n, text in enumerate(texts)}

    def use(
        self,
        premise: Fact,
        by: Fact,
        values: Mapping[Letter, str] | None = None,
        signs: Mapping[Letter, str] | None = None,
        known: Mapping[str, str] | None = None,
        bound: Iterable[Letter] = (),
    ) -> str:
        """Return the lemma of a premise applied to the letters of the new fact, or to other values.

        Args:
            premise: the premise.
            by: the new fact.
            values: the values of letters.
            signs: for a letter of the sort "positive", the proof that its value is above 0.
            known: proofs of assumptions of the premise, by their texts.
            bound: letters that the text around the premise binds.
        """
        if premise.number in self.unstated:
            raise NotExpressible("a premise that is not expressible")
        mine = by.letters | {*bound, *([K] if by.proposition.eventually else [])}
        words, own = [f"f{premise.number}"], list[str]()
        for x in self.letters(premise):
            name = self.names.name(x)
            if values and x in values:
                words.append(values[x])
                own.append((signs or {}).get(x, ""))
            elif x in mine or x.sort.index:  # `lost` names an element of an index set
                words.append(name)
                own.append(f"{name}_pos" if x.sort == POSITIVE else "")
            else:
                words.append(_ANYTHING.get(x.sort, "0"))
                own.append("Rlt_0_1" if x.sort == POSITIVE else "")
        words += filter(None, own)
        proofs = {**self.known(by), **(known or {})}
        for text in self.names.assumptions(premise.assumptions):
            if text not in proofs:
                raise NotExpressible(f"an assumption in the rule {by.rule!r}")
            words.append(proofs[text])
        return f"({' '.join(words)})" if len(words) > 1 else words[0]

    def lost(self, fact: Fact, bound: Iterable[Letter] = ()) -> str:
        """Return a tactic that gives each letter that disappears a value, as `use` does."""
        result = ""
        for x in sorted(
            frozenset().union(*(p.letters for p in fact.premises)), key=self.names.name
        ):
            late = x == K and fact.proposition.eventually
            if x in fact.letters or x in bound or late:
                continue
            if not x.sort.index:
                value = _ANYTHING.get(x.sort, "0")
                sort = self.names.sort(x.sort)
                result += f"pose ({self.names.name(x)} := {value} : {sort}). "
            else:
                for p in fact.premises:
                    if some(x).says(p.proposition):
                        used, name = self.use(p, fact), self.names.name(x)
                        result += f"destruct (nonempty _ {used}) as ({name} & _). "
                        break
        return result

    def in_the_end(
        self, fact: Fact, premises: Sequence[Fact], build: Callable[[list[str]], str]
    ) -> str:
        """Return a proof of a fact from its premises, for each step at which these hold."""
        used = [self.use(p, fact) for p in premises]
        return self.ended(fact, used, [p.proposition.eventually for p in premises], build)

    def ended(
        self, fact: Fact, used: list[str], late: list[bool], build: Callable[[list[str]], str]
    ) -> str:
        """Return a proof from proofs of propositions, some of which hold in the end."""
        if not fact.proposition.eventually:
            return build(used)
        k = self.names.name(K)
        ends = [text for text, one in zip(used, late, strict=True) if one]
        if not ends:
            return f"(ev_always _ (fun {k} => {build(used)}))"
        parts = iter(_parts(len(ends)))
        inner = [next(parts) if one else text for text, one in zip(used, late, strict=True)]
        whole = ends[-1]
        for text in reversed(ends[:-1]):
            whole = f"(ev_and _ _ {text} {whole})"
        return f"(ev_then _ _ {whole} (fun {k} H => {build(inner)}))"


class Chain(Premises):
    """The lemmas of one linked proof, in order."""

    def to(
        self,
        fact: Fact,
        raw: str,
        normal: Term,
        steps: Iterable[Step],
        proof: str,
        relation: str = "",
    ) -> str:
        """Return a proof of a fact from that of the same relation for another form of its term.

        Args:
            fact: the fact; if it holds in the end, its step is a free variable here.
            raw: the other form, as text.
            normal: its normal form, which may differ from the fact's by a factor.
            steps: equations that lead from one form to the other.
            proof: the proof.
            relation: the relation, unless it is that of the fact.
        """
        term, _ = self.names.canonical(fact.proposition)
        return self.turned(raw, normal, term, relation or fact.proposition.relation, steps, proof)

    def turned(
        self,
        raw: str,
        normal: Term,
        term: Term,
        relation: str,
        steps: Iterable[Step],
        proof: str,
        back: bool = False,
    ) -> str:
        """Return a proof about a term from a proof about another form of it, or the reverse."""
        factor = fmpq(1)
        if term.parts:
            if normal.parts.keys() != term.parts.keys():
                raise NotExpressible(f"another form of a fact: {normal!r} for {term!r}")
            factor = next(normal.parts[m] / term.parts[m] for m in term.parts)
        text = self.names.polynomial(term)
        if text == raw and factor == 1:
            return proof
        sign = "ltac:(nonzero)" if relation == "==" else "ltac:(lra)"
        word = f"{WORDS[relation]}_{'from' if back else 'to'}"
        equation = f"ltac:({rewriting(steps)}poly)"
        return f"({word} {number(factor)} ({raw}) ({text}) {sign} {equation} {proof})"

    def converted(
        self, fact: Fact, proposition: Proposition, conversion: Conversion, proof: str
    ) -> str:
        """Return a proof of a fact from that of a proposition with letters replaced."""
        term, _ = self.names.canonical(proposition)
        one = conversion.polynomial(term)
        return self.to(fact, one.text, one.normal, conversion.steps(one), proof)

    def assumed(self, premise: Fact, by: Fact, conversion: Conversion) -> dict[str, str]:
        """Return proofs of a premise's assumptions with letters replaced, from those of a fact."""
        result = {}
        for a in premise.assumptions:
            term, _ = self.names.canonical(a)
            one = conversion.polynomial(term)
            moved, _ = self.names.canonical(Proposition(one.normal, a.relation))
            proof = self.known(by).get(self.names.proposition(Proposition(moved, a.relation)))
            if proof is None:
                raise NotExpressible(f"an assumption in the rule {by.rule!r}")
            result[self.names.proposition(a)] = self.turned(
                one.text, one.normal, moved, a.relation, conversion.steps(one), proof, back=True
            )
        return result

    # the chain

    def export(self) -> Iterator[str]:
        """Yield the lemmas, in order.

        Raises:
            NotExpressible: a rule, sort or term has no form here.
        """
        for fact in self.whole.facts:
            self.lines = []
            script = self.script(fact)
            yield from self.lines
            yield f"{self.stated(fact)}\nProof. {script} Qed."

    def export_in_part(self) -> Iterator[str]:
        """Yield the lemmas in order; a fact that cannot be proved here becomes a hypothesis."""
        new = {*self.whole.names.values()}
        for fact in self.whole.facts:
            self.lines = []
            spoken = (fact.proposition, *fact.assumptions)
            used = frozenset(f for p in spoken for a in p.term.atoms for f in a.functions) & new
            try:
                line = f"{self.stated(fact)}\nProof. {self.script(fact)} Qed."
            except NotExpressible as error:
                self.assumed_facts[fact.number] = error.cause
                missing = sorted(used, key=self.names.name)
                self.lines = [
                    f"Variable {self.names.name(f)} : {self.names.type(f)}." for f in missing
                ]
                try:
                    line = f"Hypothesis f{fact.number} : {self.names.sequent(_sequent(fact))}."
                except NotExpressible:
                    self.unstated.add(fact.number)
                    line = ""
            new -= used
            yield from [*self.lines, line]

    def script(self, fact: Fact) -> str:
        """Return the tactics that prove a fact."""
        if fact.number in self.whole.of_reading:
            spoken = self.names.sequent(_sequent(fact))
            if spoken not in self.hypotheses:
                raise NotExpressible("a fact of the reading in other letters")
            return f"exact ({' '.join([self.hypotheses[spoken], *self.bound(fact)])})."
        _, name, arguments, more = self.calls[fact.number]
        rule = self.rules.get(name)
        if rule is None:
            raise NotExpressible(f"the rule {fact.rule!r}")
        return str(rule(self, fact, *arguments, **more))


def _sequent(fact: Fact) -> Sequent:
    return Sequent(fact.proposition, fact.assumptions)


def _parts(count: int) -> Iterator[str]:
    """Yield the parts of the conjunction H of propositions."""
    whole = "H"
    for _ in range(count - 1):
        yield f"(proj1 {whole})"
        whole = f"(proj2 {whole})"
    yield whole
