"""Terms, propositions and sequents of linked proofs as text of Coq.

The text of a statement depends on the proposition alone. A proposition is printed with the least
integer coefficients, so that propositions which differ by a positive factor have one text. Factors
and monomials are sorted by their text. The names of bound letters sort before all others and by
their nesting, so that the order stays when a letter is renamed.

A real term is a number, a vector is a function of its coordinates, and a step is a natural number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from flint import fmpq

from attsvm.errors import NotExpressible
from attsvm.theory.proof.facts import K, Proposition, Sequent
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INNER,
    INV,
    IS_ZERO,
    LOG,
    MAXIMUM,
    NORM,
    POSITIVE,
    REAL,
    SAME,
    SQRT,
    STEP,
    VECTOR,
    App,
    Atom,
    Binder,
    Bound,
    Function,
    Letter,
    Over,
    Sort,
    Term,
)

_COQ = {INV: "Inv", EXP: "exp", ABS: "Rabs", SQRT: "sqrt", LOG: "ln", IS_ZERO: "is_zero"}
_COQ |= {MAXIMUM: "Rmax", NORM: "norm"}
COORDINATES = "coordinates"
INTERPRETED = frozenset({*_COQ, INNER})
"""Functions with a definition in Coq; all others become variables."""
OPAQUE = "has a Lipschitz gradient"
"""A function whose facts have no text in Coq here, as they are no inequalities."""


def _single(term: Term) -> Atom:
    """Return the atom that is the whole term."""
    (atom,) = term.atoms
    return atom


def number(q: fmpq) -> str:
    """Return a rational number."""
    text = f"{abs(q.p)}" if q.q == 1 else f"({abs(q.p)} / {q.q})"
    return f"(- {text})" if q < 0 else text


@dataclass
class TermText:
    """The names of sorts, functions and letters, and the texts of terms.

    Attributes:
        names: the name of each sort, function and letter that has been printed.
        atoms: the texts of atoms, alone or at the coordinate c.
        opaque: whether propositions about derivatives and the like have a text, as inequalities of
            unknown functions.
    """

    names: dict[object, str] = field(default_factory=dict)
    atoms: dict[tuple[Atom, bool], str] = field(default_factory=dict)
    opaque: bool = False

    def name(self, thing: Sort | Function | Letter) -> str:
        """Return a name that nothing else has."""
        if thing not in self.names:
            kind = {Sort: "I", Function: "v", Letter: "l"}[type(thing)]
            plain = f"{kind}_{re.sub(r'[^0-9A-Za-z]', '_', thing.name)}"
            known, text = {*self.names.values()}, plain
            while text in known:
                text += "'"
            self.names[thing] = text
        return self.names[thing]

    def sort(self, sort: Sort) -> str:
        """Return the type of the values of a sort."""
        known = {REAL: "R", POSITIVE: "R", STEP: "nat", VECTOR: f"({COORDINATES} -> R)"}
        return known.get(sort) or self.name(sort)

    def type(self, function: Function) -> str:
        """Return the type of a function."""
        return " -> ".join(map(self.sort, (*function.takes, function.gives)))

    def polynomial(
        self, term: Term, at: bool = False, names: Mapping[Atom, str] | None = None
    ) -> str:
        """Return a real term, or the coordinate c of a vector.

        Args:
            term: the term.
            at: whether the term is a vector; the text is then that of its coordinate c.
            names: names that are printed for atoms; the order is still that of the atoms' texts.
        """
        parts = []
        for monomial, coefficient in term.parts.items():
            factors = sorted((self.atom(a, at and a.sort == VECTOR), e, a) for a, e in monomial)
            shown = [
                (names[a] if names else text) + (f" ^ {e}" if e > 1 else "")
                for text, e, a in factors
            ]
            if coefficient != 1 or not shown:
                shown.insert(0, number(coefficient))
            parts.append(([(text, e) for text, e, _ in factors], " * ".join(shown)))
        return " + ".join(text for _, text in sorted(parts)) or "0"

    def atom(self, atom: Atom, at: bool = False) -> str:
        """Return an atom, or the coordinate c of a vector."""
        key = atom, at
        if key not in self.atoms:
            self.atoms[key] = self._atom(atom, at)
        return self.atoms[key]

    def _atom(self, atom: Atom, at: bool) -> str:
        if isinstance(atom, Binder):
            if atom.kind == "spectral":
                rows = [a for a in atom.body.atoms if isinstance(a, Binder) and a.kind == "row"]
                known = [a for a in rows if a.term == atom.body and a.over is atom.over is None]
                if not known:
                    raise NotExpressible("the spectral norm of another matrix")
                index, sort = self.atom(atom.index), self.sort(atom.index.sort)
                return f"(spectral (fun {index} : {sort} => {self.family(known[0])[1]}))"
            domain, function = self.family(atom, atom.sort == VECTOR)
            word = {"total": "sum", "least": "least", "most": "most"}.get(atom.kind)
            if word is None:
                raise NotExpressible(f"the extreme {atom.kind!r}")
            text = f"({word} {domain} {function})"
            return text if at or atom.sort != VECTOR else f"(fun c : {COORDINATES} => {text})"
        if isinstance(atom, Bound):
            text = f"i{atom.level:03}"
        elif isinstance(atom, Letter):
            text = self.name(atom)
            text = f"(INR {text})" if atom.sort == STEP else text
        elif isinstance(atom, App):
            if atom.function == INNER:
                u, v = (self.polynomial(x, at=True) for x in self.factors(atom))
                return f"(sum (all {COORDINATES}) (fun c => ({u}) * ({v})))"
            if atom.function.name == OPAQUE and not self.opaque:
                raise NotExpressible("a Lipschitz gradient")
            arguments = [
                self.argument(x, s) for x, s in zip(atom.inside, atom.function.takes, strict=True)
            ]
            text = self.applied(atom.function, arguments)
        return f"({text} c)" if at else text

    def factors(self, inner: App) -> list[Term]:
        """Return the factors of an inner product in the order of their texts."""
        return sorted(inner.inside, key=lambda x: self.polynomial(x, at=True))

    def applied(self, function: Function, arguments: Iterable[str]) -> str:
        """Return a function applied to arguments."""
        name = "same" if function.name == SAME else _COQ.get(function) or self.name(function)
        words = [name, *arguments]
        return f"({' '.join(words)})" if len(words) > 1 else name

    def family(self, atom: Binder, at: bool = False) -> tuple[str, str]:
        """Return the list over which a sum or extreme runs, and the function of the index."""
        sort, body = self.sort(atom.index.sort), self.polynomial(atom.body, at)
        domain = self.domain(atom.index.sort, atom.over)
        return domain, f"(fun {self.atom(atom.index)} : {sort} => {body})"

    def domain(self, sort: Sort, over: Over | None) -> str:
        """Return the list of the elements of an index set, or of those of one owner."""
        if over is None:
            return f"(all {self.sort(sort)})"
        sorts = f"{self.sort(sort)} {self.sort(over.owner.gives)}"
        of = self.argument(over.of, over.owner.gives)
        return f"(@members {sorts} {self.name(over.owner)} {of})"

    def argument(self, term: Term, sort: Sort) -> str:
        """Return a term as an argument of this sort."""
        if sort == STEP:
            (shift, rest) = term.parts.get(frozenset(), fmpq(0)), [*term.atoms]
            text = self._step(rest[0]) if rest else "O"
            return "(S " * int(shift.p) + text + ")" * int(shift.p)
        if sort == VECTOR:
            if len(term.parts) == 1 and term == next(iter(term.atoms)).term:
                return self.atom(_single(term))
            return f"(fun c : {COORDINATES} => {self.polynomial(term, at=True)})"
        if sort.index:
            return self.atom(_single(term))
        return f"({self.polynomial(term)})"

    def _step(self, atom: Atom) -> str:
        if isinstance(atom, Letter):
            return self.name(atom)
        return self.atom(atom)


class FactText(TermText):
    """The texts of propositions and sequents."""

    def canonical(self, proposition: Proposition) -> tuple[Term, fmpq]:
        """Return the term with the least integer coefficients, and the factor that gives it.

        The factor is positive, except that it makes the first coefficient of an equation positive.
        """
        parts = proposition.term.parts
        if not parts:
            return proposition.term, fmpq(1)
        common = math.lcm(*(int(c.q) for c in parts.values()))
        factor = fmpq(common, math.gcd(*(int((c * common).p) for c in parts.values())))
        if proposition.relation == "==":
            keys = {tuple(sorted((self.atom(a), e) for a, e in m)): c for m, c in parts.items()}
            factor = -factor if keys[min(keys)] < 0 else factor
        return proposition.term * factor, factor

    def relation(self, relation: str, term: str) -> str:
        """Return the text "0 <= term", "0 < term" or "term = 0"."""
        return f"{term} = 0" if relation == "==" else f"0 {relation.replace('>', '<')} {term}"

    def proposition(self, proposition: Proposition) -> str:
        """Return a proposition."""
        for atom in () if self.opaque else proposition.term.atoms:
            if isinstance(atom, App) and not atom.function.takes and "'" in atom.function.name:
                raise NotExpressible("derivatives or continuity of functions")
        text = self.relation(proposition.relation, self.polynomial(self.canonical(proposition)[0]))
        return f"Ev (fun {self.name(K)} : nat => {text})" if proposition.eventually else text

    def letters(self, letters: Iterable[Letter]) -> list[Letter]:
        """Return letters in the order in which a statement binds them."""
        return sorted(letters, key=self.name)

    def assumptions(self, assumptions: Iterable[Proposition]) -> list[str]:
        """Return the texts of assumptions, each once, in the order of a statement."""
        return sorted({self.proposition(a) for a in assumptions})

    def sequent(self, sequent: Sequent) -> str:
        """Return a sequent, for all values of its letters."""
        spoken = (sequent.proposition, *sequent.assumptions)
        letters = self.letters(frozenset().union(*(p.letters for p in spoken)))
        bound = "".join(f"({self.name(x)} : {self.sort(x.sort)}) " for x in letters)
        signs = [f"0 < {self.name(x)}" for x in letters if x.sort == POSITIVE]
        lines = [
            *signs,
            *self.assumptions(sequent.assumptions),
            self.proposition(sequent.proposition),
        ]
        return (f"forall {bound.strip()}, " if bound else "") + " -> ".join(lines)
