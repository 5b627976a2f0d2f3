"""Equations between a term with letters replaced and its normal form, with their proofs in Coq.

The core keeps terms in normal form. If it replaces letters or inserts definitions, it normalises
again: it splits sums into sums of monomials, and expands inner products. Coq only replaces the
letters. The proofs here show that both results are equal, from the innermost terms outwards, by
lemmas of `Facts.v`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from attsvm.errors import NotExpressible
from attsvm.theory.coq.fact_text import COORDINATES, FactText, number
from attsvm.theory.proof.terms import (
    EXP,
    INNER,
    INV,
    STEP,
    VECTOR,
    App,
    Atom,
    Binder,
    Letter,
    Meanings,
    Over,
    Sort,
    Term,
    as_term,
    extreme,
    members,
    total,
)

Step = tuple[str, str, str]
"""An equation: left side, right side, and the tactic that proves it."""
POLY = "poly"
"""The tactic that decides an equation of polynomials; see `Facts.v`."""


_FRESH = 'try (let d := fresh "c" in rename c into d); '
"""The tactic that frees the name of a coordinate."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A text of Coq, the normal form of what it says, and a tactic that proves that they are equal.

    The tactic is None if the text is that of the normal form.
    """

    text: str
    normal: Term
    proof: str | None = None


def rewriting(steps: Iterable[Step]) -> str:
    """Return a tactic that rewrites by equations, largest first: two sides and a tactic."""
    ordered = sorted(dict.fromkeys(steps), key=lambda step: -len(step[0]))
    return "".join(
        f"(assert (E : {left} = {right}) by ({proof}); try rewrite E; clear E); "
        for left, right, proof in ordered
    )


@dataclass(frozen=True)
class Conversion:
    """Values of letters, and meanings of functions, that replace them.

    Attributes:
        names: the names for the texts.
        values: the terms that replace letters.
        meanings: the functions that are replaced by their definitions.
        equal: atoms that are replaced because they are equal to a term, with proofs.
        depth: the number of sums and extremes that are open.
    """

    names: FactText
    values: Mapping[Letter, Term] = field(default_factory=dict)
    meanings: Meanings = field(default_factory=dict)
    equal: Mapping[Atom, tuple[Term, str]] = field(default_factory=dict)
    depth: int = 0

    def _touches(self, atom: Atom) -> bool:
        return not (
            atom.letters.isdisjoint(self.values)
            and atom.functions.isdisjoint(self.meanings)
            and all(atom.letters.isdisjoint(one.letters) for one in self.equal)
        )

    def polynomial(self, term: Term, at: bool = False) -> Converted:
        """Return the conversion of a real term, or of the coordinate c of a vector."""
        whole = {a: self.atom(a, at and a.sort == VECTOR) for a in term.atoms}
        steps = list[Step]()
        names = {a: one.text for a, one in whole.items()}
        text = self.names.polynomial(term, at, names)
        normal = as_term(0)
        for monomial, coefficient in term.parts.items():
            product = as_term(coefficient)
            for a, e in monomial:
                product = product * whole[a].normal ** e
            normal = normal + product
        own = self.names.polynomial(normal, at)
        if text == own:
            return Converted(text, normal)
        for a, one in whole.items():
            if one.proof is not None:
                steps.append((one.text, self._own(one.normal, at and a.sort == VECTOR), one.proof))
        return Converted(text, normal, rewriting(steps) + POLY)

    def steps(self, one: Converted, at: bool = False) -> list[Step]:
        """Return the equation of a conversion as a list, empty if both sides are the same text."""
        return [] if one.proof is None else [(one.text, self._own(one.normal, at), one.proof)]

    def _own(self, term: Term, at: bool) -> str:
        return self.names.polynomial(term, at)

    def atom(self, atom: Atom, at: bool = False) -> Converted:
        """Return the conversion of an atom, or of the coordinate c of a vector."""
        if not self._touches(atom):
            return Converted(self.names.atom(atom, at), atom.term)
        if atom in self.equal:
            term, proof = self.equal[atom]
            return Converted(self.names.atom(atom, at), term, proof)
        if isinstance(atom, Letter):
            value = self.values[atom]
            if atom.sort == STEP:
                text = f"(INR {self.names.argument(value, STEP)})"
                return Converted(text, value, "rewrite ?S_INR; simpl; ring")
            if at or atom.sort != VECTOR:
                return Converted(f"({self.names.polynomial(value, at)})", value)
            return Converted(self.names.argument(value, VECTOR), value)
        if isinstance(atom, Binder):
            return _family(self, atom, at)
        if not isinstance(atom, App):
            raise NotExpressible("an index that nothing binds")
        if atom.function == INNER:
            u, v = (self.polynomial(x, at=True) for x in self.names.factors(atom))
            return inner(self, u, v)
        return _application(self, atom, at)

    def argument(self, term: Term, sort: Sort) -> Converted:
        """Return the conversion of an argument of a function."""
        if sort == STEP:
            value = term
            for letter in term.letters & self.values.keys():
                (shift,) = (term - letter.term).parts.values() or (0,)
                value = self.values[letter] + shift
            return Converted(self.names.argument(value, STEP), value)
        if sort.index:
            return self.atom(next(iter(term.atoms)))
        if sort != VECTOR:
            whole = self.polynomial(term)
            return replace(whole, text=f"({whole.text})")
        atom = next(iter(term.atoms), None)
        if atom is not None and term == atom.term and not isinstance(atom, Binder):
            return self.atom(atom)
        body = self.polynomial(term, at=True)
        text = f"(fun c : {COORDINATES} => {body.text})"
        if text == self.names.argument(body.normal, VECTOR):
            return Converted(text, body.normal)
        proof = f"apply equal_functions; intro c; {body.proof or 'reflexivity'}"
        return Converted(text, body.normal, proof)

    def opened(self, atom: Binder) -> tuple[Letter, Term, Conversion]:
        """Return the letter and body of a sum or extreme, and the conversion inside."""
        letter, body = atom.opened()
        self.names.names[letter] = f"i{999 - self.depth}"
        return letter, body, replace(self, depth=self.depth + 1)

    def _function(self, letter: Letter, text: str) -> str:
        return f"(fun {self.names.name(letter)} : {self.names.sort(letter.sort)} => {text})"


def _application(conversion: Conversion, atom: App, at: bool) -> Converted:
    function = atom.function
    places = [*zip(atom.inside, function.takes, strict=True)]
    arguments = [conversion.argument(x, s) for x, s in places]
    normal = function(*(x.normal for x in arguments))
    own = [
        conversion.names.argument(x.normal, s)
        for x, s in zip(arguments, function.takes, strict=True)
    ]
    text = conversion.names.applied(function, (x.text for x in arguments))
    inner = conversion.names.applied(function, own)
    steps = [(x.text, y, x.proof) for x, y in zip(arguments, own, strict=True) if x.proof]
    text, inner = (f"({x} c)" if at else x for x in (text, inner))
    last = "reflexivity"
    if function in conversion.meanings:
        parameters, body = conversion.meanings[function]
        values = dict(zip(parameters, (x.normal for x in arguments), strict=True))
        unfolded = replace(conversion, values=values, equal={}).polynomial(body, at)
        last = f"transitivity ({unfolded.text}); [reflexivity|{unfolded.proof or 'reflexivity'}]"
        return Converted(text, unfolded.normal, rewriting(steps) + last)
    if text == conversion.names.polynomial(normal, at):
        return Converted(text, normal)
    if function == EXP and not arguments[0].normal.parts:
        last = "apply exp_0"
    elif function == INV and not arguments[0].normal.parts:
        last = "apply Inv_at_0; poly"
    elif function == INV and len(arguments[0].normal.parts) == 1:
        (coefficient,) = arguments[0].normal.parts.values()
        shown, over = number(coefficient), number(1 / coefficient)
        constant = f"?(Inv_number {shown} {over}) by field"
        last = f"rewrite ?Inv_mult, ?Inv_pow, ?Inv_Inv, {constant}; poly"
    elif inner != conversion.names.polynomial(normal, at):
        last = "poly"
    return Converted(text, normal, rewriting(steps) + last)


def _family(conversion: Conversion, atom: Binder, at: bool) -> Converted:
    letter, body, inside = conversion.opened(atom)
    if atom.kind == "spectral":
        return _spectral(conversion, letter, body, inside)
    whole = inside.polynomial(body, at)
    over, domain = atom.over, conversion.names.domain(letter.sort, atom.over)
    if over is not None:
        of = conversion.argument(over.of, over.owner.gives)
        over = Over(over.owner, of.normal)
        if of.proof is not None:
            raise NotExpressible("a sum over the members of an element that changes its form")
        domain = conversion.names.domain(letter.sort, over)
    if atom.kind == "total":
        return summed(conversion, letter, whole, domain, over, at)
    if atom.kind not in ("least", "most"):
        raise NotExpressible(f"the extreme {atom.kind!r}")
    normal = extreme(atom.kind, whole.normal, letter, over)
    own = conversion.names.polynomial(normal)
    if whole.proof is None:
        return Converted(own, normal)
    text = f"({atom.kind} {domain} {conversion._function(letter, whole.text)})"
    name = conversion.names.name(letter)
    owned = _owner(conversion.names, over, letter)
    proof = f"apply {atom.kind}_ext; intros {name} M{name}; {owned}{whole.proof}"
    return Converted(text, normal, proof)


def _spectral(conversion: Conversion, row: Letter, body: Term, inside: Conversion) -> Converted:
    """Return the conversion of the spectral norm of a matrix, given by its general row."""
    (entries,) = body.atoms
    if not isinstance(entries, Binder) or entries.kind != "row":
        raise NotExpressible("the spectral norm of another matrix")
    column, entry, within = inside.opened(entries)
    whole = within.polynomial(entry)
    normal = extreme("spectral", extreme("row", whole.normal, column), row)
    if whole.proof is None:
        return Converted(conversion.names.polynomial(normal), normal)
    text = f"(spectral {conversion._function(row, conversion._function(column, whole.text))})"
    i, j = conversion.names.name(row), conversion.names.name(column)
    each = f"apply equal_families; intro {i}; apply equal_functions; intro {j}; "
    return Converted(text, normal, f"f_equal; {each}{whole.proof}")


def summed(
    conversion: Conversion,
    letter: Letter,
    body: Converted,
    domain: str,
    over: Over | None,
    at: bool = False,
) -> Converted:
    """Return the conversion of the sum of a body: sums of its monomials, with their factors."""
    owned = members(body.normal, letter, over)
    normal = total(body.normal, letter, over)
    name = conversion.names.name(letter)
    parts, plain = list[str](), True
    for monomial, coefficient in owned.parts.items():
        within = frozenset(one for one in monomial if letter in one[0].letters)
        term = total(Term({within: coefficient / coefficient}), letter, over)
        (binder,) = term.atoms
        if not isinstance(binder, Binder):
            raise NotExpressible("a sum that its normal form changed")
        _, function = conversion.names.family(binder, at and binder.sort == VECTOR)
        rest = Term({monomial - within: coefficient})
        plain = plain and rest == as_term(1)
        factor = conversion.names.polynomial(rest, at and any(a.sort == VECTOR for a in rest.atoms))
        parts.append(f"({factor}, {function})")
    if plain and body.proof is None and owned == body.normal and len(parts) == 1:
        return Converted(conversion.names.polynomial(normal, at), normal)
    text = f"(sum {domain} {conversion._function(letter, body.text)})"
    inner = rewriting(conversion.steps(body, at)) if body.proof else ""
    inner += _owner(conversion.names, over, letter)
    proof = (
        f"transitivity (sum {domain} (mixed [{'; '.join(parts)}])); "
        f"[apply sum_ext; intros {name} M{name}; cbn [mixed]; {inner}poly"
        "|rewrite sum_mixed; cbn [sums]; poly]"
    )
    return Converted(text, normal, proof)


def inner(conversion: Conversion, u: Converted, v: Converted) -> Converted:
    """Return the conversion of the inner product of two vectors, given at the coordinate c."""
    normal = INNER(u.normal, v.normal)
    domain = f"(all {COORDINATES})"
    text = f"(sum {domain} (fun c : {COORDINATES} => ({u.text}) * ({v.text})))"
    if text == conversion.names.polynomial(normal):
        return Converted(text, normal)
    parts, pairs = list[str](), list[Step]()
    for (m, c), (n, d) in itertools.product(u.normal.parts.items(), v.normal.parts.items()):
        (a,), (b,) = ([x for x, _ in one if x.sort == VECTOR] for one in (m, n))
        if isinstance(b, Binder) and not isinstance(a, Binder):
            a, b, m, n, c, d = b, a, n, m, d, c
        rest = Term({m - {(a, 1)}: c}) * Term({n - {(b, 1)}: d})
        u_c, v_c = conversion.names.atom(a, True), conversion.names.atom(b, True)
        function = f"(fun c : {COORDINATES} => {u_c} * {v_c})"
        parts.append(f"({conversion.names.polynomial(rest)}, {function})")
        pair = _pair(conversion, a, b, f"(sum {domain} {function})")
        pairs += conversion.steps(pair)
    changed = rewriting([*conversion.steps(u, True), *conversion.steps(v, True)])
    proof = (
        f"transitivity (sum {domain} (mixed [{'; '.join(parts)}])); "
        f"[apply sum_ext; {_FRESH}intros c _; cbn [mixed]; {changed}poly"
        f"|rewrite sum_mixed; cbn [sums]; {rewriting(pairs)}poly]"
    )
    return Converted(f"({text[1:-1]})", normal, proof)


def _pair(conversion: Conversion, a: Atom, b: Atom, text: str) -> Converted:
    """Return the conversion of the inner product of atoms; the first one may be a sum."""
    normal = INNER(a.term, b.term)
    if not isinstance(a, Binder):
        return Converted(text, normal, f"apply sum_ext; {_FRESH}intros c _; poly")
    letter, body, inside = replace(conversion, values={}, meanings={}, equal={}).opened(a)
    names = conversion.names
    u, v = Converted(names.polynomial(body, True), body), Converted(names.atom(b, True), b.term)
    product = inner(inside, u, v)
    whole = summed(conversion, letter, product, names.domain(letter.sort, a.over), a.over)
    middle = f"transitivity ({whole.text}); [apply sum_inner|{whole.proof or 'reflexivity'}]"
    return Converted(text, normal, middle)


def _owner(names: FactText, over: Over | None, letter: Letter) -> str:
    """Return a tactic that replaces the owner of an index of a sum over the owner's members."""
    return "" if over is None else f"rewrite ?(owner_is M{names.name(letter)}); "
