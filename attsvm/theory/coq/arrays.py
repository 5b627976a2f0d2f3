"""Coq terms for arrays of any size: the arithmetic that writes a reading as one statement.

The length of an axis is a variable `n : nat` of Coq, an array is a function of its indices. Sums
and extremes over an axis are the functions of `Prelude.v`. A formula that asks for a length as a
number of Python, such as by a loop over the entries one by one, has no statement for all sizes.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from attsvm.errors import NotExpressible
from attsvm.theory.arithmetic.entries import Operation, Scalar, misuse
from attsvm.theory.coq.terms import APPLICATION, Term, Terms

Axes = tuple[str, ...]
"""Lengths of axes, or indices, as Coq terms in scope nat."""

_ONE = "1%nat"
"""The length of an axis along which an array is repeated, as in numpy."""

GENERAL = "at_"
"""Prefix of the general index of a loop; the name of the axis follows."""

_INDEX = rf"\b{GENERAL}(\w+)"


class Extent(Term):
    """The length of an axis, as a real number that is INR of a natural number."""

    __slots__ = ()

    def __init__(self, m: Terms, natural: str) -> None:
        super().__init__(m, f"INR {natural}", True, APPLICATION)

    def _refuse_number(self, *_: object) -> NoReturn:
        raise NotExpressible("a case for a length of an axis, which is decided by Python")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = _refuse_number
    __hash__ = None  # type: ignore[assignment]


class Array(Scalar):
    """An array of real numbers with axes of any length.

    Attributes:
        m: the arithmetic that it belongs to.
        axes: the length of each axis.
        entry: the entry at given indices.
        name: the text of the function of its indices, if it has a short one; else empty.
    """

    __slots__ = ("axes", "entry", "m", "name")

    def __init__(self, m: Arrays, axes: Axes, entry: Callable[..., Term], name: str = "") -> None:
        self.m, self.axes, self.entry, self.name = m, axes, entry, name

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def shape(self) -> tuple[Extent, ...]:
        """The lengths of the axes."""
        return tuple(Extent(self.m, axis) for axis in self.axes)

    @property
    def T(self) -> Array:
        """The transpose."""
        return Array(self.m, self.axes[::-1], lambda *at: self.entry(*at[::-1]))

    @property
    def text(self) -> str:
        """The function of its indices, as a Coq term."""
        if self.name:
            return self.name
        at = [self.m.index() for _ in self.axes]
        return f"(fun {' '.join(at)} => {self.entry(*at).text})"

    def row(self, i: str) -> Array:
        """Return the part of the array at an index of its first axis."""
        return Array(self.m, self.axes[1:], lambda *at: self.entry(i, *at))

    def over(self, name: str) -> Term:
        """Return a function of Prelude.v of this array and its lengths."""
        return Term(self.m, " ".join([name, *self.axes, self.text]), True, APPLICATION)

    def reduced(self, name: str) -> Term:
        """Return a function of Prelude.v over the last axis, then over the others."""
        if self.ndim == 1:
            return self.over(name)

        def inner(*at: str) -> Term:
            return Array(self.m, self.axes[-1:], lambda i: self.entry(*at, i)).over(name)

        return Array(self.m, self.axes[:-1], inner).reduced(name)

    def __getitem__(self, key: object) -> Array | Term:
        """Return an entry, a row, or a part of the array; keys are integers and ranges."""
        keys = key if isinstance(key, tuple) else (key,)
        keys += (slice(None),) * (self.ndim - len(keys))
        axes: list[str] = []
        places: list[Callable[[list[str]], str]] = []
        for axis, k in zip(self.axes, keys, strict=True):
            if isinstance(k, slice) and k.step is None and k.stop is None and (k.start or 0) >= 0:
                start = k.start or 0
                axes.append(f"({axis} - {start})%nat" if start else axis)
                places.append(functools.partial(_shifted, start))
            elif isinstance(k, int) and k >= 0:
                places.append(functools.partial(_fixed, k))
            else:
                raise NotExpressible(f"the index {k!r} of an array of any size")

        def entry(*at: str) -> Term:
            left = list(at)
            return self.entry(*(place(left) for place in places))

        return Array(self.m, tuple(axes), entry) if axes else entry()

    def __iter__(self) -> Iterator[Array | Term]:
        """Return an iterator over one general entry or row.

        `m.array` turns what a loop makes of this entry into an array over the axis.

        Raises:
            NotExpressible: a loop runs within another loop over the same axis, for which one
                general index is not enough.
        """
        axis = self.axes[0]
        if axis in self.m.running or not axis.isidentifier():
            raise NotExpressible("a loop within a loop over the same axis, or over a part of one")
        return self.m.general(axis, self)

    def __len__(self) -> NoReturn:
        raise NotExpressible("the length of an array as a number of Python")

    def reshape(self, *shape: int) -> Array:
        """Return a vector as a column or a row.

        Raises:
            NotExpressible: the array is no vector, or gets another shape.
        """
        if self.ndim == 1 and shape == (-1, 1):
            return Array(self.m, (*self.axes, _ONE), lambda i, _: self.entry(i))
        if self.ndim == 1 and shape == (1, -1):
            return Array(self.m, (_ONE, *self.axes), lambda _, j: self.entry(j))
        raise NotExpressible("an array of any size in another shape")

    def __neg__(self) -> Array:
        return Array(self.m, self.axes, lambda *at: -self.entry(*at))

    def __pow__(self, k: int) -> Array:
        return Array(self.m, self.axes, lambda *at: self.entry(*at) ** k)

    def __matmul__(self, other: Array) -> Array | Term:
        return _product(self, other)

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> Array:
        sides = (other, self) if swapped else (self, other)
        axes = _common(*(getattr(side, "axes", ()) for side in sides))

        def entry(*at: str) -> Term:
            made: Term = operation(*(self.m.entry_of(side, axes, at) for side in sides))
            return made

        return Array(self.m, axes, entry)


def _shifted(start: int, at: list[str]) -> str:
    """Remove the first index from the list; return its place in the whole array."""
    index = at.pop(0)
    return f"({start} + {index})%nat" if start else index


def _fixed(place: int, _: list[str]) -> str:
    """Return the index of a row or an entry that is picked by a number."""
    return f"{place}%nat"


def _named(m: Arrays, axes: Axes, name: str) -> Array:
    """Return an array whose entries are a Coq function of their indices."""

    def entry(*at: str) -> Term:
        return Term(m, " ".join([name, *at]), True, APPLICATION)

    return Array(m, axes, entry, f"({name})" if " " in name else name)


def _product(a: Array, b: Array) -> Array | Term:
    """Return the product of vectors and matrices.

    Raises:
        NotExpressible: the lengths of the axes have different names.
    """
    if a.axes[-1] != b.axes[0] or b.ndim > 2:
        raise NotExpressible("a product of arrays with these axes")
    if a.ndim == 2 and b.ndim == 1:
        return _named(a.m, a.axes[:1], f"times {a.axes[1]} {a.text} {b.text}")

    def entry(*at: str) -> Term:
        left, right = at[: a.ndim - 1], at[a.ndim - 1 :]
        along = Array(a.m, b.axes[:1], lambda k: a.entry(*left, k) * b.entry(k, *right))
        return along.over("total")

    axes = (*a.axes[:-1], *b.axes[1:])
    return Array(a.m, axes, entry) if axes else entry()


def _common(a: Axes, b: Axes) -> Axes:
    """Return the axes of a sum of two arrays.

    Raises:
        ClaimError: an axis has two lengths, and neither is 1.
    """
    count = max(len(a), len(b))
    pairs = zip((_ONE,) * (count - len(a)) + a, (_ONE,) * (count - len(b)) + b, strict=True)
    results = []
    for left, right in pairs:
        if left != right and _ONE not in (left, right):
            raise misuse(f"adds arrays of lengths {left} and {right}", "Lengths must agree.")
        results.append(right if left == _ONE else left)
    return tuple(results)


def _array(x: object) -> Array:
    """Return the argument if it is an array of any size.

    Raises:
        NotExpressible: it is something else.
    """
    if not isinstance(x, Array):
        raise NotExpressible("a function of arrays, applied to a value that is no array")
    return x


def _entrywise(name: str) -> Callable[[Arrays, object], Any]:
    """Return a function of the namespace: a Coq function of a number or of each entry."""
    return lambda m, x: m.each(functools.partial(m.called, name), x)


class Arrays(Terms):
    """The arithmetic whose arrays have axes of any length."""

    def __init__(self) -> None:
        super().__init__(longest=10**9)  # a term may hold bound indices, so it gets no definition
        self._indices = 0
        self.running: set[str] = set()

    def index(self) -> str:
        """Return a new name for a bound index; no two indices have one name."""
        self._indices += 1
        return f"i{self._indices}"

    def letter(self, name: str, axes: Axes) -> Array | Term:
        """Return the value of a variable: a real number, or an array with these lengths."""
        return _named(self, axes, name) if axes else Term(self, name, True)

    def applied(self, name: str, x: object) -> Term:
        """Return the value of a function that is a variable of the statement."""
        return self.called(name, self.exact(x))

    def each(self, function: Callable[[Term], Term], x: object) -> Array | Term:
        """Return the value of a function on a number, or on each entry of an array."""
        if isinstance(x, Array):
            array = x
            return Array(self, array.axes, lambda *at: function(array.entry(*at)))
        return function(self.exact(x))

    def entry_of(self, x: object, axes: Axes, at: Axes) -> Term:
        """Return the entry of an array that is repeated along axes, or a number as it is."""
        if not isinstance(x, Array):
            return self.exact(x)
        last = len(axes) - x.ndim
        places = zip(at[last:], x.axes, axes[last:], strict=True)
        return x.entry(*(i if axis == full else "0%nat" for i, axis, full in places))

    def general(self, axis: str, x: Array) -> Iterator[Array | Term]:
        """Yield the row or entry at the general index; until the loop ends, the axis is running."""
        self.running.add(axis)
        yield x.entry(f"{GENERAL}{axis}") if x.ndim == 1 else x.row(f"{GENERAL}{axis}")
        self.running.discard(axis)

    def array(self, values: Iterable[object]) -> Any:
        """Return the array over an axis of the values that a loop over the axis has made.

        Raises:
            NotExpressible: the values come from no loop over one axis.
        """
        listed = list(values)
        results = {axis for x in listed for axis in re.findall(_INDEX, getattr(x, "text", ""))}
        value = listed[0] if len(listed) == 1 else None
        if len(results) != 1 or not isinstance(value, Term):
            raise NotExpressible("an array of entries that are listed one by one")
        # the loop ran once, on the general index; an entry has another index in its place
        (axis,), text, binds = results, value.text, value.binds

        def entry(i: str) -> Term:
            return Term(self, re.sub(_INDEX, lambda _: i, text), True, binds)

        return Array(self, (axis,), entry)

    # functions

    exp = _entrywise("exp")
    log = _entrywise("ln")
    sqrt = _entrywise("sqrt")
    is_zero = _entrywise("is_zero")
    abs = _entrywise("Rabs")
    logistic = _entrywise("logistic")
    logistic_slope = _entrywise("logistic_slope")

    def sum(self, x: object) -> Term:
        return _array(x).reduced("total")

    def max(self, x: object) -> Term:
        return _array(x).reduced("most")

    def min(self, x: object) -> Term:
        return _array(x).reduced("least")

    def diameter(self, A: object) -> Term:
        return _array(A).over("diameter")

    def spread(self, A: object) -> Term:
        return _array(A).over("spread")

    def power(self, x: object, k: int) -> Any:
        return self.each(lambda t: t**k if k else self.exact(1), x)

    def sums(self, A: object) -> Any:
        array = _array(A)
        return Array(self, array.axes[:1], lambda i: array.row(i).over("total"))

    def oscillation(self, x: object) -> Term:
        array = _array(x)
        if array.ndim == 1:
            return array.over("oscillation")
        return array.reduced("most") - array.reduced("least")

    def norm(self, x: object) -> Any:
        array = _array(x)
        return (
            array.over("norm") if array.ndim == 1 else self.sqrt((array * array).reduced("total"))
        )

    def softmax(self, s: object) -> Any:
        array = _array(s)
        if array.ndim == 1:
            return _named(self, array.axes, f"softmax {array.axes[0]} {array.text}")
        return Array(self, array.axes, lambda i, j: self.softmax(array.row(i)).entry(j))

    def size(self, x: object) -> Any:
        return functools.reduce(operator.mul, _array(x).shape)

    def diagonal(self, x: object) -> Any:
        array = _array(x)

        def entry(i: str, j: str) -> Term:
            text = f"(if Nat.eqb {i} {j} then {array.entry(i).text} else 0)"
            return Term(self, text, True)

        return Array(self, array.axes * 2, entry)

    def spectral(self, A: object) -> NoReturn:
        raise NotExpressible("the spectral norm of a matrix")

    def _reshaped(self, *_: object) -> NoReturn:
        raise NotExpressible("a matrix in another shape, or of entries by their places")

    identity: Any = _reshaped
    vec: Any = _reshaped
    mat: Any = _reshaped
    kron: Any = _reshaped
    trace: Any = _reshaped
