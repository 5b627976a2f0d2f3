"""Arrays of any size in linked proofs: the arithmetic that writes a formula as terms.

The length of an axis is an index set, and an entry of an array is a term in its indices. So one
formula is a proposition about all sizes. An axis is a tuple of index sets: the empty one has
length 1, and that of a Kronecker product has those of both factors. A formula that asks Python for
a length, or loops over entries one by one, has no term.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NoReturn, TypeAlias

from flint import fmpq

from attsvm.errors import ProofError
from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.entries import Operation, Scalar
from attsvm.theory.arithmetic.naming import Primitive
from attsvm.theory.proof.lemmas import spectral
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    IS_ZERO,
    LOG,
    MAXIMUM,
    NORM,
    POSITION,
    REAL,
    SAME,
    SQRT,
    App,
    Atom,
    Binder,
    Function,
    Letter,
    Sort,
    Term,
    after_first,
    as_term,
    derivative,
    first_of,
    fresh,
    least,
    most,
    rebuilt,
    same,
    substituted,
    total,
)

_KNOWN = (ABS, EXP, SQRT, LOG, IS_ZERO, INV, NORM)
"""Functions that are no variables of a statement."""
Axis: TypeAlias = tuple[Sort, ...]
Place: TypeAlias = tuple[Term, ...]
"""An index along an axis: an element of each of its index sets."""


def falling(name: str) -> Function:
    """Return the function -f' for a function f of this name, a variable of the statement.

    `Letters.gradient` writes it in derivatives. Nothing is known of -f' unless a hypothesis says
    that f has a derivative.
    """
    return Function(f"-{name}'", (REAL,))


class Sized(Scalar):
    """A number or an array: its axes, and its entry at a place along each axis."""

    __slots__ = ("axes", "entry")

    def __init__(self, axes: tuple[Axis, ...], entry: Callable[..., Term]) -> None:
        self.axes, self.entry = axes, entry

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def T(self) -> Sized:
        """The transpose."""
        return Sized(self.axes[::-1], lambda *at: self.entry(*at[::-1]))

    @property
    def term(self) -> Term:
        """The number; an array has none."""
        return self.entry()

    def row(self, place: Place) -> Sized:
        """Return the part at a place along the first axis."""
        return Sized(self.axes[1:], lambda *at: self.entry(place, *at))

    @property
    def shape(self) -> tuple[Length, ...]:
        """The lengths of the axes."""
        return tuple(map(Length, self.axes))

    def reshape(self, *shape: object) -> Sized:
        """Return the entries, row by row, with other axes; -1 is all that is left.

        Axes are joined, and joined ones are split, as in numpy.
        """
        rest = [sort for axis in self.axes for sort in axis]
        axes: list[Axis] = []
        for k, length in enumerate(shape):
            axis: Axis = length.axis if isinstance(length, Length) else ()
            if isinstance(length, int) and length == -1:
                after = shape[k + 1 :]
                kept = sum(len(x.axis) for x in after if isinstance(x, Length))
                axis = tuple(rest[: len(rest) - kept])
            elif not isinstance(length, Length) and not (isinstance(length, int) and length == 1):
                raise ProofError("an array of any size gets another shape", value=repr(shape))
            if tuple(rest[: len(axis)]) != axis:
                raise ProofError("an array of any size gets another shape", value=repr(shape))
            axes.append(axis)
            del rest[: len(axis)]
        if rest:
            raise ProofError("an array of any size gets another shape", value=repr(shape))
        lengths = [len(axis) for axis in self.axes]

        def entry(*at: Place) -> Term:
            flat = [*itertools.chain.from_iterable(at)]
            ends = [*itertools.accumulate(lengths)]
            places = (tuple(flat[e - n : e]) for n, e in zip(lengths, ends, strict=True))
            return self.entry(*places)

        return Sized(tuple(axes), entry)

    def __iter__(self) -> Iterator[Sized]:
        """Yield the entry or row at the general index of the first axis; `array` binds it."""
        axis = self.axes[0]
        if len(axis) > 1:  # its general index would be one letter twice if both factors are equal
            raise ProofError("a loop over an axis of a product", value=repr(axis))
        if axis in _RUNNING:
            raise ProofError("a loop within a loop over the same axis", value=repr(axis))

        def run() -> Iterator[Sized]:
            _RUNNING.add(axis)
            yield self.row(_general(axis))
            _RUNNING.discard(axis)

        return run()

    def __getitem__(self, key: object) -> Sized:
        """Return the first entry or row, as an array for `:1`; for `1:`, return all others.

        A pair of keys selects rows and columns; `:` selects all rows.
        """
        if isinstance(key, tuple) and len(key) == self.ndim == 2:
            rows = self if key[0] == slice(None) else self[key[0]]
            return rows.T[key[1]].T
        first = tuple(first_of(sort) for sort in self.axes[0])
        if key == slice(1, None) and len(self.axes[0]) == 1:
            others, after = after_first(self.axes[0][0])
            return Sized(((others,), *self.axes[1:]), lambda i, *at: self.entry((after(*i),), *at))
        if isinstance(key, int) and key == 0:
            return self.row(first)
        if key != slice(1):
            self._refuse()
        return Sized(((), *self.axes[1:]), lambda _, *at: self.entry(first, *at))

    def __neg__(self) -> Sized:
        return Sized(self.axes, lambda *at: -self.entry(*at))

    def __matmul__(self, other: Sized) -> Sized:
        if self.axes[-1] != other.axes[0]:
            raise ProofError("a product of arrays with other axes", value=repr(other.axes))
        split = self.ndim - 1

        def entry(*at: Place) -> Term:
            place = letters(other.axes[0])
            product = self.entry(*at[:split], place) * other.entry(place, *at[split:])
            return bound(total, product, place)

        return Sized((*self.axes[:-1], *other.axes[1:]), entry)

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> Sized:
        whole = number(other)
        a, b = (whole, self) if swapped else (self, whole)
        n = max(a.ndim, b.ndim)
        pairs = zip(*(((),) * (n - x.ndim) + x.axes for x in (a, b)), strict=True)
        axes: list[Axis] = []
        for left, right in pairs:
            if left != right and left and right:
                raise ProofError("arrays of different lengths are joined", value=repr(axes))
            axes.append(left or right)

        def entry(*at: Place) -> Term:
            result: Term = operation(*(_repeated(x, at) for x in (a, b)))
            return result

        return Sized(tuple(axes), entry)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ProofError("Python decides something about an array of any size", value=repr(self))

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = __len__ = __index__ = _refuse
    __eq__ = __ne__ = _refuse
    __hash__ = None  # type: ignore[assignment]


_RUNNING: set[Axis] = set()
_COMPARED: set[Axis] = set()
"""The axes that a formula compares with length 1."""


@contextmanager
def lengths_above_one() -> Iterator[set[Axis]]:
    """Yield the axes that a formula in the block compares with length 1.

    The comparison is False, so the formula is right only if each of these lengths is at least 2.
    """
    _COMPARED.clear()
    yield _COMPARED


Used: TypeAlias = dict[tuple[Function, tuple[Term, ...]], Primitive]
_USED: Used = {}
"""The primitives of a formula, by their name and arguments."""


@contextmanager
def primitives() -> Iterator[Used]:
    """Yield the primitives that a formula in the block uses, by their name and arguments."""
    _USED.clear()
    yield _USED


@contextmanager
def whole_loops() -> Iterator[None]:
    """Raise after the block if a loop in it ended early: its result holds for one index only.

    Raises:
        ProofError: a loop ended before its general index was done.
    """
    _RUNNING.clear()
    yield
    if _RUNNING:
        raise ProofError("a loop over an array of any size ends early", value=repr(_RUNNING))


def _repeated(x: Sized, at: tuple[Place, ...]) -> Term:
    """Return the entry of an array that is repeated along its axes of length 1."""
    places = at[len(at) - x.ndim :]
    return x.entry(*(p if axis else () for p, axis in zip(places, x.axes, strict=True)))


def _general(axis: Axis) -> Place:
    """Return the general index of a loop."""
    return tuple(Letter(sort.name, sort, -1).term for sort in axis)


def letters(axis: Axis) -> Place:
    """Return new letters, one for each index set of an axis."""
    return tuple(fresh(sort).term for sort in axis)


def bound(binder: Callable[..., Term], body: Term, *places: Place) -> Term:
    """Return the sum or extreme of a body over the letters of places, the last one inside."""
    for term in reversed([one for place in places for one in place]):
        (letter,) = term.letters
        body = binder(body, letter)
    return body


def number(value: object) -> Sized:
    """Return a number of the arithmetic, or an integer."""
    if isinstance(value, Sized):
        return value
    term = as_term(value)
    return Sized((), lambda: term)


class Length(Sized):
    """The length of an axis, as a number."""

    __slots__ = ("axis",)

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        super().__init__((), lambda: bound(total, as_term(1), letters(axis)))

    def __eq__(self, other: object) -> bool:  # type: ignore[override]
        """Return False for 1, and note the axis; see `lengths_above_one`."""
        if not isinstance(other, int) or other != 1:
            self._refuse()
        _COMPARED.add(self.axis)
        return False

    __hash__ = None

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> Sized:
        if isinstance(other, Length) and operation is operator.mul and not swapped:
            return Length(self.axis + other.axis)
        return super()._joined(other, operation, swapped=swapped)


def variable(name: str, axes: Iterable[str]) -> Sized:
    """Return the value of a variable: an unknown function of its indices."""
    sorts = [Sort(axis, index=True) for axis in axes]
    if name == POSITION:
        raise ProofError("a variable is named like a function", value=name)
    function = Function(name, tuple(sorts))
    return Sized(
        tuple((s,) for s in sorts), lambda *at: function(*itertools.chain.from_iterable(at))
    )


def _each(function: Callable[[Term], Term]) -> Callable[..., Any]:
    def of(_: Letters, x: object) -> Sized:
        array = number(x)
        return Sized(array.axes, lambda *at: function(array.entry(*at)))

    return of


def _over(binder: Callable[..., Term]) -> Callable[..., Sized]:
    def of(_: Letters, x: object) -> Sized:
        array = number(x)
        places = [letters(axis) for axis in array.axes]
        whole = bound(binder, array.entry(*places), *places)
        return Sized((), lambda: whole)

    return of


class Letters(Arithmetic[Sized]):
    """The arithmetic of terms, for arrays of any size."""

    name = "letters"
    numbers = Sized

    exp, log, sqrt, abs = _each(EXP), _each(LOG), _each(SQRT), _each(ABS)
    is_zero = _each(IS_ZERO)
    sum, max, min = _over(total), _over(most), _over(least)

    def _rational(self, value: Fraction) -> Sized:
        return number(fmpq(value.numerator, value.denominator))

    def applied(self, name: str, x: object) -> Sized:
        """Return the value of a function that is a variable of the statement."""
        if name in {f.name for f in _KNOWN}:
            raise ProofError("a variable is named like a function", value=name)
        return _each(Function(name, (REAL,)))(self, x)  # type: ignore[no-any-return]

    def maximum(self, x: object, y: object) -> Sized:
        """Return the larger number, as a function of both."""
        return number(MAXIMUM(number(x).term, number(y).term))

    def array(self, values: Iterable[Any]) -> Any:
        """Return the array of the values that a loop over an axis has made.

        The general index of an enclosing loop stays, because that loop has not ended.
        """
        (value, *others) = [*values]
        axes = {(x.sort,) for x in _entry_letters(value) if x.number == -1} - _RUNNING
        if others or len(axes) != 1:
            raise ProofError("an array of entries that are listed one by one", value=repr(axes))
        (axis,) = axes
        (general,) = (term for term in _general(axis))
        (letter,) = general.letters
        return Sized(
            (axis, *value.axes),
            lambda i, *at: substituted(value.entry(*at), {letter: i[0]}),
        )

    def primitive(self, one: Primitive, *numbers: object) -> Sized:
        """Return the value of a primitive, and note it for `primitives`; proofs get facts there."""
        terms = tuple(number(x).term for x in numbers)
        function = Function(one.plain, (REAL,) * len(terms))
        if function in (*_KNOWN, MAXIMUM):
            raise ProofError("a primitive is named like a function", value=one.plain)
        # compare at all arguments: facts may be taken at values that make arguments equal
        if any(f == function and other is not one for (f, _), other in _USED.items()):
            raise ProofError("two primitives have one name", value=one.plain)
        _USED[function, terms] = one
        return number(function(*terms))

    def size(self, x: Any) -> Sized:
        whole = self.exact(1)
        for axis in x.axes:
            whole = whole * Length(axis)
        return whole

    def sums(self, A: Any) -> Any:
        return Sized(A.axes[:1], lambda i: self.sum(A.row(i)).term)

    def softmax(self, s: Any) -> Any:
        if s.ndim == 2:
            return Sized(s.axes, lambda i, j: self.softmax(s.row(i)).entry(j))
        powers = self.exp(s)
        return powers / self.sum(powers)

    def diameter(self, A: Any) -> Sized:
        def apart(i: Place, j: Place) -> Term:
            return self.norm(A.row(i) - A.row(j)).term

        return self.max(Sized((A.axes[0], A.axes[0]), apart))

    def diagonal(self, x: Any) -> Any:
        return Diagonal(x)

    def identity(self, n: object) -> Sized:  # type: ignore[override]
        axes = (n.axis,) if isinstance(n, Length) else ()
        return Diagonal(Sized(axes, lambda i: as_term(1)))

    def gradient(self, f: Callable[[Letters, Sized], Sized], x: Sized) -> Sized:
        """Return the gradient of a formula at a vector that it uses in inner products alone.

        The derivative of a function f that is a variable of the statement is minus `falling` of f.
        """
        ((sort,),), by = x.axes, fresh(REAL)
        same = Function(SAME, (sort, sort))

        def entry(place: Place) -> Term:
            def moved(at: Place) -> Term:
                return x.entry(at) + by.term * same(*at, *place)

            value = rebuilt(f(self, Sized(x.axes, moved)).term, functools.partial(_picked, same))
            if _applies(same, value):
                raise ProofError("a vector is used beside inner products", value=repr(value))
            falls = {f: falling(f.name) for f in _variable_functions(value)}
            return substituted(derivative(value, by, falls), {by: as_term(0)})

        return Sized(x.axes, entry)

    def spectral(self, A: Any) -> Sized:
        places = [letters(axis) for axis in A.axes]
        ((row,), (column,)) = (frozenset().union(*(x.letters for x in p)) for p in places)
        size = spectral(A.entry(*places), row, column)
        return Sized((), lambda: size)


class Diagonal(Sized):
    """The diagonal matrix of a vector over one index set."""

    __slots__ = ("vector",)

    def __init__(self, x: Sized) -> None:
        self.vector = x
        super().__init__(x.axes * 2, lambda i, j: x.entry(i) * same(*j, *i))

    def __matmul__(self, other: Sized) -> Sized:
        if self.axes and self.axes[-1] != other.axes[0]:
            raise ProofError("a product of arrays with other axes", value=repr(other.axes))
        return Sized(other.axes, lambda i, *at: self.vector.entry(i) * other.entry(i, *at))

    T = property(lambda self: self)


def _picked(same: Function, atom: Atom) -> Term | None:
    """Return the summand at the one index that a sum of multiples of `same` picks."""
    if not isinstance(atom, Binder) or atom.kind != "total" or atom.over is not None:
        return None
    letter, body = atom.opened()
    ((monomial, coefficient),) = body.parts.items()
    for factor, exponent in monomial:
        if isinstance(factor, App) and factor.function == same and factor.inside[0] == letter.term:
            rest = Term({monomial - {(factor, exponent)}: coefficient})
            return substituted(rest, {letter: factor.inside[1]})
    return None


def _variable_functions(term: Term) -> set[Function]:
    """Return the functions of a number in a term that are variables of the statement."""
    result = set[Function]()
    for atom in term.atoms:
        own = getattr(atom, "function", None)
        if own is not None and own.takes == (REAL,) and own not in _KNOWN:
            result.add(own)
        result.update(*map(_variable_functions, atom.inside))
    return result


def _applies(function: Function, term: Term) -> bool:
    """Return whether a function occurs in a term."""
    return any(
        getattr(atom, "function", None) == function
        or any(_applies(function, inner) for inner in atom.inside)
        for atom in term.atoms
    )


def _entry_letters(value: Sized) -> frozenset[Letter]:
    return value.entry(*map(letters, value.axes)).letters


LETTERS = Letters()
"""The arithmetic of terms; it has no state."""
