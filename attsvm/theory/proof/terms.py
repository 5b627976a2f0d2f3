"""Terms of linked proofs: polynomials with rational coefficients, kept in normal form.

A term is a polynomial in atoms: letters, functions of terms, and sums and extremes over finite
index sets. Terms that are equal as polynomials are equal as objects. The normal form uses these
laws and no others:

- A sum over an index set is linear: what does not depend on the index comes out.
- An inner product is symmetric, and linear in both places, also over sums.
- `Inv(0) = 0`, so `Inv` of a product is the product of `Inv`. But `x * Inv(x)` stays as it is: it
  is 1 only if x is not 0, which needs a fact.
- `exp(0) = 1`.

Bound letters are numbered by the depth of sums and extremes below them. Each substitution opens a
sum with a letter that nothing else has, and closes it anew, so nothing is captured.
"""

from __future__ import annotations

import functools
import itertools
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from flint import fmpq

from attsvm.errors import ProofError
from attsvm.theory.proof.printing import written

_C = TypeVar("_C", bound=type)


def _compared_quickly(cls: _C) -> _C:
    """Make a class hash each object once, and compare fields only if the hashes are equal."""
    own: Any = cls
    hash_of, equal = own.__hash__, own.__eq__

    def hashed(self: object) -> int:
        try:
            return self._hash  # type: ignore[attr-defined, no-any-return]
        except AttributeError:
            self.__dict__["_hash"] = known = hash_of(self)
            return int(known)

    def same(self: object, other: object) -> bool:
        if self is other:
            return True
        if self.__class__ is not other.__class__ or hash(self) != hash(other):
            return False
        return bool(equal(self, other))

    own.__hash__, own.__eq__ = hashed, same
    return cls


@_compared_quickly
@dataclass(frozen=True)
class Sort:
    """A domain of letters: a name, and whether it is a finite index set, perhaps empty."""

    name: str
    index: bool = False


REAL, POSITIVE, VECTOR = Sort("real"), Sort("positive"), Sort("vector")
STEP = Sort("step")
"""The sort of natural numbers; its terms are a number, a step, or a step plus a number."""


Operand: TypeAlias = "Term | Atom | fmpq | int"
"""A value that is a term, or becomes one; see `as_term`."""


@_compared_quickly
@dataclass(frozen=True)
class Function:
    """A function symbol; the mark is 0 in readings, and random for names that proofs add."""

    name: str
    takes: tuple[Sort, ...] = ()
    gives: Sort = REAL
    mark: int = 0

    def __call__(self, *arguments: Operand) -> Term:
        """Return the value at arguments of these sorts, in normal form."""
        terms = tuple(map(as_term, arguments))
        if len(terms) != len(self.takes) or POSITIVE in (*self.takes, self.gives):
            raise ProofError("a function has other arguments", value=f"{self.name}{terms}")
        for term, sort in zip(terms, self.takes, strict=True):
            ensure_sort(term, sort)
        normal = _NORMAL.get(self)
        return App(self, terms).term if normal is None else normal(*terms)


class Atom:
    """One of the factors from which polynomials are built."""

    sort: Sort
    inside: tuple[Term, ...] = ()

    @cached_property
    def term(self) -> Term:
        """The term of this atom alone; equal atoms share one term and one object."""
        own = self.own
        return Term({frozenset({(self, 1)}): fmpq(1)}) if own is self else own.term

    @property
    def own(self) -> Atom:
        """The object that stands for all equal atoms."""
        return _ATOMS.setdefault(self, self)

    @cached_property
    def letters(self) -> frozenset[Letter]:
        """The letters in it that are not bound."""
        return letters_of(self.inside)

    @cached_property
    def loose(self) -> frozenset[Bound]:
        """The indices in it that no sum or extreme in it binds."""
        return loose_in(self.inside)

    @cached_property
    def choices(self) -> frozenset[Function]:
        """The functions in it whose values are elements of index sets."""
        own = set[Function]()
        if isinstance(self, App) and self.function.gives.index:
            own.add(self.function)
        elif isinstance(self, Binder) and self.over is not None:
            own.add(self.over.owner)
        return frozenset(own).union(*(atom.choices for t in self.inside for atom in t.atoms))

    @cached_property
    def functions(self) -> frozenset[Function]:
        """The functions in it."""
        own = {self.function} if isinstance(self, App) else set[Function]()
        return frozenset(own).union(*(atom.functions for t in self.inside for atom in t.atoms))

    @cached_property
    def depth(self) -> int:
        """The number of nested sums and extremes."""
        return max((atom.depth for term in self.inside for atom in term.atoms), default=0)


_ATOMS: WeakValueDictionary[Atom, Atom] = WeakValueDictionary()
"""The object that stands for all equal atoms, by any of them."""


@_compared_quickly
@dataclass(frozen=True)
class Letter(Atom):
    """A variable. Letters that only the core makes have a number above 0."""

    name: str
    sort: Sort = REAL
    number: int = 0

    @cached_property
    def letters(self) -> frozenset[Letter]:
        """Itself."""
        return frozenset({self})


@_compared_quickly
@dataclass(frozen=True)
class Bound(Atom):
    """The index of the sum or extreme of this depth around it."""

    level: int
    sort: Sort

    @cached_property
    def loose(self) -> frozenset[Bound]:
        """Itself."""
        return frozenset({self})


@_compared_quickly
@dataclass(frozen=True)
class App(Atom):
    """A function of terms; made by calling the function."""

    function: Function
    inside: tuple[Term, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "sort", self.function.gives)


@dataclass(frozen=True)
class Over:
    """The elements j of an index set for which owner(j) is the given element."""

    owner: Function
    of: Term


@_compared_quickly
@dataclass(frozen=True)
class Binder(Atom):
    """A sum, least or largest value of a body over an index; made by `total`, `least`, `most`."""

    kind: str
    index: Bound
    over: Over | None
    body: Term
    sort: Sort

    @property
    def inside(self) -> tuple[Term, ...]:  # type: ignore[override]
        """The body and, if the index runs over the members of an element, that element."""
        return (self.body,) if self.over is None else (self.body, self.over.of)

    @cached_property
    def loose(self) -> frozenset[Bound]:
        """The loose indices of its body, without its own index."""
        return loose_in(self.inside) - {self.index}

    @cached_property
    def depth(self) -> int:
        """One more than that of its body."""
        return self.index.level

    def opened(self) -> tuple[Letter, Term]:
        """Return a letter that nothing else has, and the body with it in place of the index."""
        letter, index = fresh(self.index.sort), self.index
        return letter, _renamed(self.body, index, letter)


FIXED = Letter("X", VECTOR, -1)
"""The vector by which a proposition differentiates; `at` neither replaces nor inserts it."""


def fresh(sort: Sort) -> Letter:
    """Return a new letter; its number is random, so that no earlier term can contain it."""
    return Letter(sort.name, sort, 1 + secrets.randbits(62))


Monomial = frozenset[tuple[Atom, int]]
"""Atoms with their exponents; the empty one is 1."""


class Term:
    """A polynomial in atoms with rational coefficients."""

    __slots__ = ("_hash", "atoms", "parts")

    parts: dict[Monomial, fmpq]
    atoms: frozenset[Atom]
    _hash: int

    def __init__(self, parts: Mapping[Monomial, fmpq]) -> None:
        self.parts = {m: c for m, c in parts.items() if c}

    def __getattr__(self, name: str) -> object:
        """Compute the atoms or the hash when they are asked for."""
        if name not in ("atoms", "_hash"):
            raise AttributeError(name)
        monomials = frozenset(self.parts)  # the hash of an fmpq is slow
        value = (
            hash(monomials) if name == "_hash" else frozenset(a for m in monomials for a, _ in m)
        )
        setattr(self, name, value)
        return value

    @property
    def letters(self) -> frozenset[Letter]:
        """The letters that are not bound."""
        return letters_of((self,))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        return self is other or (self._hash == other._hash and self.parts == other.parts)

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Operand) -> Term:
        parts = dict(self.parts)
        for m, c in as_term(other).parts.items():
            parts[m] = parts[m] + c if m in parts else c
        return Term(parts)

    def __mul__(self, other: Operand) -> Term:
        return Term(_product(self.parts, as_term(other).parts))

    def __neg__(self) -> Term:
        return self * -1

    def __sub__(self, other: Operand) -> Term:
        return self + -as_term(other)

    def __rsub__(self, other: Operand) -> Term:
        return as_term(other) - self

    def __truediv__(self, other: Operand) -> Term:
        return self * INV(other)

    def __rtruediv__(self, other: Operand) -> Term:
        return as_term(other) * INV(self)

    def __pow__(self, exponent: int) -> Term:
        """Return a power with a natural exponent; the one with the exponent 0 is 1.

        Raises:
            ProofError: the exponent is no natural number.
        """
        if not isinstance(exponent, int) or exponent < 0:
            raise ProofError("an exponent is no natural number", value=repr(exponent))
        power = self if exponent > 0 else as_term(1)
        for _ in range(exponent - 1):
            power = power * self
        return power

    def __matmul__(self, other: Term) -> Term:
        return INNER(self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        return written(self)


def _product(left: Mapping[Monomial, fmpq], right: Mapping[Monomial, fmpq]) -> dict[Monomial, fmpq]:
    parts: dict[Monomial, fmpq] = {}
    for (m, c), (n, d) in itertools.product(left.items(), right.items()):
        both = _times(m, n)
        parts[both] = parts[both] + c * d if both in parts else c * d
    return parts


def _times(m: Monomial, n: Monomial) -> Monomial:
    if not (m and n):
        return m or n
    powers = dict(m)
    for atom, exponent in n:
        powers[atom] = powers.get(atom, 0) + exponent
    return frozenset(powers.items())


def as_term(value: object) -> Term:
    """Return a term, a letter or a rational number as a term.

    Raises:
        ProofError: the value is something else, such as a float, which may be rounded.
    """
    if isinstance(value, Term):
        return value
    if isinstance(value, Atom):
        return value.term
    if isinstance(value, bool) or not isinstance(value, int | fmpq):
        raise ProofError("a value is no term and no rational number", value=repr(value))
    return Term({frozenset(): fmpq(value)})


def letters_of(terms: Iterable[Term]) -> frozenset[Letter]:
    """Return the letters of terms that are not bound."""
    return frozenset().union(*(atom.letters for term in terms for atom in term.atoms))


def loose_in(terms: Iterable[Term]) -> frozenset[Bound]:
    """Return the indices of terms that no sum or extreme in them binds."""
    return frozenset().union(*(atom.loose for term in terms for atom in term.atoms))


def has_sort(term: Term, sort: Sort) -> bool:
    """Return whether a term is real, a vector, a step, or an element of an index set."""
    if sort.index or sort == STEP:
        rest = dict(term.parts)
        shift = rest.pop(frozenset(), fmpq(0))
        natural = sort == STEP and shift.q == 1 and shift >= 0
        if not rest:
            return bool(natural)
        single = any(rest == atom.term.parts for atom in term.atoms if atom.sort == sort)
        return single and bool(natural if sort == STEP else shift == 0)
    vectors = 1 if sort == VECTOR else 0
    return all(
        sum(e for atom, e in m if atom.sort == VECTOR) == vectors
        and not any(atom.sort.index for atom, _ in m)
        for m in term.parts
    )


def ensure_sort(term: Term, sort: Sort) -> None:
    """Raise unless the term is of the sort.

    Raises:
        ProofError: it is not. No term is of the sort "positive": that needs a fact.
    """
    if sort == POSITIVE or not has_sort(term, sort):
        raise ProofError(f"a term is not of the sort {sort.name}", value=repr(term))


Replaced = Callable[["Atom"], "Term | None"]
"""The term that replaces an atom; None if the atom stays."""
Reached = Callable[["Atom"], bool] | None
"""Whether to look for atoms to replace inside an atom; None if always."""


def rebuilt(
    term: Term, replaced: Replaced, reached: Reached = None, known: dict[Atom, Term] | None = None
) -> Term:
    """Return the term with atoms replaced, from the inside outwards, in normal form.

    An atom stays if `replaced` returns None for it. The replacement is not searched again. Atoms
    for which `reached` is False contain nothing to replace, and are not rebuilt, to save time.

    Args:
        term: the term.
        replaced: returns the term that replaces an atom, always the same one.
        reached: whether to look for atoms to replace inside an atom.
        known: the atoms that were rebuilt already.
    """
    done = {} if known is None else known
    for atom in term.atoms:
        if atom not in done and (reached is None or reached(atom)):
            done[atom] = _rebuilt_atom(atom, replaced, reached, done)
    changed = {atom: done[atom] for atom in term.atoms if done.get(atom, atom.term) != atom.term}
    if not changed:
        return term
    parts: dict[Monomial, fmpq] = {}
    for monomial, coefficient in term.parts.items():
        moved = [x for x in monomial if x[0] in changed]
        product = {monomial.difference(moved): coefficient}
        for atom, exponent in moved:
            product = _product(product, (changed[atom] ** exponent).parts)
        for m, c in product.items():
            parts[m] = parts[m] + c if m in parts else c
    return Term(parts)


def _rebuilt_atom(
    atom: Atom, replaced: Replaced, reached: Reached, known: dict[Atom, Term]
) -> Term:
    inner = atom.term
    if isinstance(atom, App):
        arguments = tuple(rebuilt(x, replaced, reached, known) for x in atom.inside)
        inner = inner if arguments == atom.inside else atom.function(*arguments)
    elif isinstance(atom, Binder):
        letter, body = atom.opened()
        over = atom.over and Over(atom.over.owner, rebuilt(atom.over.of, replaced, reached, known))
        moved = rebuilt(body, replaced, reached, known)
        if moved is not body or over != atom.over:
            bind = total if atom.kind == "total" else functools.partial(extreme, atom.kind)
            inner = bind(moved, letter, over)
    # The normal form may have turned the atom into a number or a sum; only atoms are looked up. If
    # it made a letter, as in Inv(Inv(x)) = x, the letter comes from a replacement.
    for own in inner.atoms:
        if inner == own.term and type(own) is type(atom):
            return inner if (result := replaced(own)) is None else result
    return inner


def _renamed(term: Term, old: Atom, new: Atom) -> Term:
    """Return the term with a letter or index renamed to one of the same sort, not in the term.

    Nothing in the term binds either of them. No two atoms become equal, so the term stays in
    normal form; only the two arguments of an inner product may have to be swapped.

    Raises:
        ProofError: two atoms become equal: two inner products whose vectors look the same.
    """
    known: dict[Atom, Atom] = {old: new.own}

    def moved(atom: Atom) -> Atom:
        if atom not in known:
            inside = tuple(map(whole, atom.inside))
            if isinstance(atom, App):
                ordered = _in_order(*inside) if atom.function == INNER else inside
                known[atom] = App(atom.function, ordered).own
            elif isinstance(atom, Binder):
                over = atom.over and Over(atom.over.owner, inside[1])
                known[atom] = Binder(atom.kind, atom.index, over, inside[0], atom.sort).own
        return known[atom]

    def whole(part: Term) -> Term:
        changed = {a: moved(a) for a in part.atoms if old in a.letters or old in a.loose}
        parts = part.parts.items()
        named = {frozenset([(changed.get(a, a), e) for a, e in m]): c for m, c in parts}
        return Term(named) if changed else part

    result = whole(term)
    if len({*known.values()}) < len(known):
        raise ProofError("two factors become one by a new name", value=repr(term))
    return result


def substituted(term: Term, values: Mapping[Letter, Term]) -> Term:
    """Return the term with letters replaced by terms."""
    if term.letters.isdisjoint(values):
        return term
    return rebuilt(
        term,
        lambda atom: values.get(atom) if isinstance(atom, Letter) else None,
        lambda atom: not atom.letters.isdisjoint(values),
    )


Meaning: TypeAlias = tuple[tuple[Letter, ...], Term]
"""Parameters, and a term in them."""
Meanings = Mapping[Function, Meaning]
"""Functions with their parameters and the term that they mean."""


def unfolded(term: Term, meanings: Meanings) -> Term:
    """Return the term with functions replaced by their meanings, also inside meanings.

    This ends, because no meaning contains its own function.
    """

    def meaning(atom: Atom) -> Term | None:
        if not isinstance(atom, App) or atom.function not in meanings:
            return None
        parameters, body = meanings[atom.function]
        values = dict(zip(parameters, atom.inside, strict=True))
        return unfolded(substituted(body, values), meanings)

    return rebuilt(term, meaning, lambda atom: not atom.functions.isdisjoint(meanings))


def members(body: Operand, letter: Letter, over: Over | None) -> Term:
    """Return a body with owner(letter) replaced by the element over whose members it runs.

    Raises:
        ProofError: the letter is no index, or runs over members of an element of another kind.
    """
    whole = as_term(body)
    if not letter.sort.index:
        raise ProofError("a sum or an extreme runs over an index set", value=letter.name)
    if over is None:
        return whole
    if over.owner.takes != (letter.sort,) or letter in over.of.letters:
        raise ProofError("an index is no member of this", value=repr(over.of))
    ensure_sort(over.of, over.owner.gives)
    own = over.owner(letter.term)
    return rebuilt(whole, lambda atom: over.of if atom.term == own else None)


def _closed(kind: str, body: Term, letter: Letter, over: Over | None, sort: Sort) -> Term:
    """Return the atom that binds the letter in a body.

    The index gets a number above the depth of the body, so that it differs from all indices that
    are bound inside. Bodies that differ only in the name of the letter become equal atoms.
    """
    inside = body.atoms | (over.of.atoms if over else frozenset())
    index = Bound(1 + max((atom.depth for atom in inside), default=0), letter.sort)
    if any(index in atom.loose for atom in inside):
        raise ProofError("an index is outside of its sum or extreme", value=repr(body))
    return Binder(kind, index, over, _renamed(body, letter, index), sort).term


def total(body: Operand, letter: Letter, over: Over | None = None) -> Term:
    """Return the sum of a real or vector over an index set, or over the members of one element."""
    whole = as_term(0)
    for monomial, coefficient in members(body, letter, over).parts.items():
        inner = frozenset(one for one in monomial if letter in one[0].letters)
        part = Term({inner: fmpq(1)})
        sort = VECTOR if inner and has_sort(part, VECTOR) else REAL
        ensure_sort(part, sort)
        summed = _closed("total", part, letter, over, sort)
        whole = whole + Term({monomial - inner: coefficient}) * summed
    return whole


def extreme(kind: str, body: Operand, letter: Letter, over: Over | None = None) -> Term:
    """Return a number that a body has over an index set: it binds the index.

    "least" and "most" are the extremes of reals. "hull" is the distance of the hull of vectors from
    0, "row" a row of a matrix by its entries, and "spectral" the norm of a matrix by its rows.
    Lemmas and rules state facts about them. Over an empty set the value is any number.
    """
    ready = members(body, letter, over)
    ensure_sort(ready, VECTOR if kind == "hull" else REAL)
    return _closed(kind, ready, letter, over, REAL)


least, most = functools.partial(extreme, "least"), functools.partial(extreme, "most")
"""The least and the largest value of a real over an index set; any number if the set is empty."""


def same(one: Operand, other: Operand) -> Term:
    """Return 1 if two elements of an index set are the same, else 0; see the rule `picked`."""
    left = as_term(one)
    sorts = {atom.sort for atom in left.atoms}
    if len(sorts) != 1 or not all(sort.index for sort in sorts):
        raise ProofError("a value is no element of an index set", value=repr(one))
    (sort,) = sorts
    return Function(SAME, (sort, sort))(left, other)


def first_of(sort: Sort) -> Term:
    """Return the first index of an axis that has one."""
    return Function("first", (), sort)()


def after_first(sort: Sort) -> tuple[Sort, Function]:
    """Return the index set of all indices of an axis but the first, and its map into the axis."""
    others = Sort(f"{sort.name} after the first", index=True)
    return others, Function("after the first", (others,), sort)


def position(place: Term, sort: Sort) -> Term:
    """Return the position of an index along its axis, from 0."""
    return Function(POSITION, (sort,))(place)


def _inverse(term: Term) -> Term:
    """Return Inv(term) in normal form, by Inv(0) = 0, Inv(Inv(x)) = x, Inv(x y) = Inv(x) Inv(y).

    All three hold for every real, 0 included. A sum stays as it is inside Inv.
    """
    if len(term.parts) != 1:
        return App(INV, (term,)).term if term.parts else term
    ((monomial, coefficient),) = term.parts.items()
    product = as_term(1 / coefficient)
    for atom, exponent in monomial:
        double = isinstance(atom, App) and atom.function == INV
        product = product * (atom.inside[0] if double else App(INV, (atom.term,)).term) ** exponent
    return product


def _inner(left: Term, right: Term) -> Term:
    """Return the inner product as a polynomial in inner products of vector atoms."""
    whole = as_term(0)
    for (m, c), (n, d) in itertools.product(left.parts.items(), right.parts.items()):
        # each monomial of a vector has exactly one vector atom (`has_sort`)
        u, v = (atom for one in (m, n) for atom, _ in one if atom.sort == VECTOR)
        rest = _times(m - {(u, 1)}, n - {(v, 1)})
        whole = whole + Term({rest: c * d}) * _inner_of_atoms(u, v)
    return whole


def _inner_of_atoms(u: Atom, v: Atom) -> Term:
    for sum_, other in ((u, v), (v, u)):
        if isinstance(sum_, Binder):
            letter, body = sum_.opened()
            return total(_inner(body, other.term), letter, sum_.over)
    return App(INNER, _in_order(u.term, v.term)).term


def _in_order(left: Term, right: Term) -> tuple[Term, ...]:
    return tuple(sorted((left, right), key=lambda term: (repr(term), hash(term))))


def _exponential(term: Term) -> Term:
    return App(EXP, (term,)).term if term.parts else as_term(1)


INV, EXP, ABS, SQRT, LOG, IS_ZERO = (
    Function(name, (REAL,)) for name in ("Inv", "exp", "abs", "sqrt", "log", "is zero")
)
MAXIMUM = Function("max", (REAL, REAL))
SAME, POSITION = "same index", "position"
"""Names of functions: whether two elements of an index set are the same; a place along an axis."""
NORM, INNER = Function("norm", (VECTOR,)), Function("inner", (VECTOR, VECTOR))
_NORMAL: dict[Function, Callable[..., Term]] = {INV: _inverse, INNER: _inner, EXP: _exponential}


def derivative(term: Term, by: Letter, falls: Mapping[Function, Function]) -> Term:
    """Return the derivative by a real letter; it exists at all values of the letters.

    A term may have the letter, exp, sums over indices and functions f with f' = -falls[f]. `Inv`
    and log may be taken of sums of exponentials with factors >= 0.
    """
    whole = as_term(0)
    for monomial, coefficient in term.parts.items():
        for atom, exponent in monomial:
            if by in atom.letters:
                rest = Term({monomial - {(atom, exponent)}: coefficient * exponent})
                outer = rest * atom.term ** (exponent - 1)
                whole = whole + outer * _atom_derivative(atom, by, falls)
    return whole


def _atom_derivative(atom: Atom, by: Letter, falls: Mapping[Function, Function]) -> Term:
    if atom == by:
        return as_term(1)
    if isinstance(atom, Binder) and atom.kind == "total" and atom.sort == REAL:
        letter, body = atom.opened()
        if atom.over is not None and by in atom.over.of.letters:
            raise ProofError("a sum over other members has no derivative", value=repr(atom.term))
        return total(derivative(body, by, falls), letter, atom.over)
    if isinstance(atom, App) and atom.function in (INV, EXP, LOG, *falls):
        (inside,) = atom.inside
        inner = derivative(inside, by, falls)
        if atom.function == EXP:
            return atom.term * inner
        if atom.function in falls:
            return -falls[atom.function](inside) * inner
        if _adds_exponentials(inside):  # which is above 0 everywhere, or 0 everywhere
            return INV(inside) * inner if atom.function == LOG else -(atom.term**2) * inner
    raise ProofError("the derivative of a term is not known", value=repr(atom.term))


def _adds_exponentials(term: Term) -> bool:
    """Return whether a term adds numbers >= 0 times exponentials and sums of such over indices."""
    return all(
        c >= 0
        and all(
            _adds_exponentials(atom.body)
            if isinstance(atom, Binder) and atom.kind == "total"
            else isinstance(atom, App) and atom.function == EXP
            for atom, _ in m
        )
        for m, c in term.parts.items()
    )
