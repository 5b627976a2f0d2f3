"""Numbers and arrays of one arithmetic, and the types of the values in a formula.

Numbers and arrays add, multiply and index, and never compare. A comparison of two balls is False if
it is undecided, and the maximum of an array of overlapping balls is the first of them. Therefore
every comparison, every truth value and every function of numpy that is no arithmetic raises an
error on the numbers and arrays of formulas.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NoReturn, Protocol, Self

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.errors import ClaimError


class Number(Protocol):
    """A number of one arithmetic, or an integer; it adds and multiplies, and never compares.

    An operation makes a number or an array, depending on the other operand.
    """

    def __add__(self, other: Self, /) -> Any: ...
    def __radd__(self, other: int, /) -> Any: ...
    def __sub__(self, other: Self, /) -> Any: ...
    def __rsub__(self, other: int, /) -> Any: ...
    def __mul__(self, other: Self, /) -> Any: ...
    def __rmul__(self, other: int, /) -> Any: ...
    def __truediv__(self, other: Self, /) -> Any: ...
    def __rtruediv__(self, other: int, /) -> Any: ...
    def __pow__(self, k: int, /) -> Any: ...
    def __neg__(self) -> Any: ...


class Numbers(Protocol):
    """An array of numbers of one arithmetic, or a function of each entry, which may be one number.

    Operations are entry by entry, but `@` is the product of vectors and matrices, as in numpy.
    """

    def __add__(self, other: Number, /) -> Numbers: ...
    def __radd__(self, other: Number, /) -> Numbers: ...
    def __sub__(self, other: Number, /) -> Numbers: ...
    def __rsub__(self, other: Number, /) -> Numbers: ...
    def __mul__(self, other: Number, /) -> Numbers: ...
    def __rmul__(self, other: Number, /) -> Numbers: ...
    def __truediv__(self, other: Number, /) -> Numbers: ...
    def __rtruediv__(self, other: Number, /) -> Numbers: ...
    def __matmul__(self, other: Numbers, /) -> Numbers: ...
    def __rmatmul__(self, other: Numbers, /) -> Numbers: ...
    def __pow__(self, k: int, /) -> Numbers: ...
    def __neg__(self) -> Numbers: ...

    def __getitem__(self, key: Any, /) -> Any:
        """Return an entry, a row, or a part of the array."""

    def __iter__(self) -> Iterator[Any]:
        """Return the entries of a vector, the rows of a matrix."""

    def __len__(self) -> int:
        """Return the length of the first axis."""

    @property
    def T(self) -> Numbers:
        """The transpose."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def ndim(self) -> int:
        """The number of axes."""

    @property
    def size(self) -> int:
        """The number of entries."""

    def reshape(self, first: int, /, *shape: int) -> Any:
        """Return the entries in another shape."""

    def ravel(self) -> Any:
        """Return all entries, row by row."""


class Values(Protocol):
    """The values of letters by name: of variables, or the fields of a record.

    A letter is a number, an array, the length of an axis, or a member of a family such as a loss.
    """

    def __getattribute__(self, name: str, /) -> Any:
        """Return the value of a letter."""


_ARITHMETIC = {
    np.add,
    np.subtract,
    np.multiply,
    np.true_divide,
    np.negative,
    np.positive,
    np.matmul,
}


CONSTANTS = (
    "Write constants as integers, or as m.exact('0.95') or m.exact(Fraction(1, 3)). Write "
    "m.exact(k) / n for the quotient of two integers, which is a float in Python."
)
"""Remedy if a formula has a number of another arithmetic."""


READ_ONLY = "tried to change its instance, or another value that is read-only"
"""Cause of the error of a formula that changes its arguments."""

COPY_FIRST = "Instances are read-only; copy an array before changing it, by x.copy()."
"""Remedy for a formula that changes its arguments."""


def misuse(what: str, remedy: str) -> ClaimError:
    """Return an error for the caller to raise; `what` says, as a verb, what a formula does."""
    return ClaimError(f"a formula {what}", remedy=remedy)


def refuse_change(*_: object, **__: object) -> NoReturn:
    """Raise an error; this function replaces methods that would change a read-only object.

    Raises:
        ClaimError: always.
    """
    raise misuse(READ_ONLY, COPY_FIRST)


def ensure_natural(k: object, what: str) -> None:
    """Raise if a number of steps, or an exponent, is negative or a fraction.

    Letters of other arithmetics pass; `what` says what the number counts.

    Raises:
        ClaimError: the number is negative, a float or a fraction.
    """
    if isinstance(k, float | np.floating | Fraction | fmpq | arb):
        raise misuse(
            f"takes {what} {k}, which is no integer of Python",
            "Give an integer such as 2 or v.k; a root is m.sqrt(x), another power of x > 0 is "
            "m.exp(m.exact('0.3') * m.log(x)).",
        )
    if isinstance(k, int) and k < 0:
        raise misuse(f"takes {what} {k}, which is negative", "Exclude it, as by Integer(0).")


class MixedError(ClaimError):
    """A formula mixes floats with the numbers of another arithmetic."""


def mixed(value: object) -> ClaimError:
    """Return an error for the caller to raise: a formula mixes numbers of two arithmetics."""
    what = f"mixes a value of type {type(value).__name__} with numbers of its arithmetic"
    error = MixedError if isinstance(value, float) else ClaimError
    return error(f"a formula {what}", remedy=CONSTANTS)


Operation = Callable[[Any, Any], Any]
"""One of + - * /, from Python's `operator`."""


def _operators(operation: Operation) -> tuple[Operation, Operation]:
    """Return the operator with the other operand on the right, and on the left."""
    return (
        lambda self, other: self._joined(other, operation, swapped=False),
        lambda self, other: self._joined(other, operation, swapped=True),
    )


class Scalar:
    """A number: `_joined` computes + - * / with another operand. It refuses all comparisons."""

    __slots__ = ()

    __add__, __radd__ = _operators(operator.add)
    __sub__, __rsub__ = _operators(operator.sub)
    __mul__, __rmul__ = _operators(operator.mul)
    __truediv__, __rtruediv__ = _operators(operator.truediv)

    def _joined(self, other: object, operation: Operation, *, swapped: bool) -> object:
        """Return operation(self, other), or operation(other, self) if `swapped`."""
        raise NotImplementedError

    def __pow__(self, k: int) -> Any:
        return _power(self, k, "a number", "Use m.exp, m.sqrt.")

    def _refuse(self, *_: object) -> NoReturn:
        raise misuse(
            "compares numbers or asks for the truth of one",
            "Return m.at_most, m.below or m.equal; use m.maximum or m.abs in place of an if.",
        )

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


def _refused(method: str, remedy: str = "") -> Callable[..., NoReturn]:
    """Return a method that raises an error: the namespace has a function in its place."""

    def refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
        raise misuse(f"uses the method {method}", remedy or f"Use m.{method}(x).")

    return refuse


_NESTED, _FLOATS = (list, tuple, np.ndarray), (float, np.floating)


def _operator(name: str, ufunc: np.ufunc) -> Operation:
    """Return an operator of arrays by its name: numpy's, without the search for overrides.

    The short way is for the usual operands: arrays, numbers of an arithmetic, and integers.
    """
    usual: Operation = getattr(np.ndarray, name)
    swapped = name.startswith("__r")

    def operate(self: Entries, other: object) -> Any:
        if type(other) is Entries:
            right = other.view(np.ndarray)
        elif type(other) in (fmpq, arb, int) or isinstance(other, Scalar):
            right = _boxed(other)
        else:
            return usual(self, other)
        left = self.view(np.ndarray)
        try:
            result = ufunc(right, left) if swapped else ufunc(left, right)
        except ValueError as error:
            if not re.search("mismatch|broadcast", str(error)):
                raise
            shapes = (right.shape, left.shape) if swapped else (left.shape, right.shape)
            raise misuse(
                "combines arrays of shapes {} and {}".format(*shapes),
                "Give axes that must agree the same letter.",
            ) from error
        return result.view(Entries) if isinstance(result, np.ndarray) else result

    return operate


def advice(name: str) -> str:
    """Return the advice for a refused function of numpy; its module is imported only then."""
    from attsvm.theory.arithmetic.synonyms import SAME, synonym

    return f"Write m.{name}." if name in SAME else synonym(name)


class Entries(np.ndarray[Any, np.dtype[Any]]):
    """An array of scalars of one arithmetic, made by `entries`."""

    __add__ = _operator("__add__", np.add)
    __radd__ = _operator("__radd__", np.add)
    __sub__ = _operator("__sub__", np.subtract)
    __rsub__ = _operator("__rsub__", np.subtract)
    __mul__ = _operator("__mul__", np.multiply)
    __rmul__ = _operator("__rmul__", np.multiply)
    __truediv__ = _operator("__truediv__", np.true_divide)
    __rtruediv__ = _operator("__rtruediv__", np.true_divide)
    __matmul__ = _operator("__matmul__", np.matmul)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> Any:
        """Return the value of a function of numpy that is arithmetic; refuse all others.

        Raises:
            ClaimError: the function compares, changes an array, or mixes in floats.
        """
        if ufunc in _ARITHMETIC and method == "__call__" and not options:
            result = ufunc(*map(_plain, inputs))
            return result.view(Entries) if isinstance(result, np.ndarray) else result
        if ufunc in (np.power, np.square) and method == "__call__":
            k = 2 if ufunc is np.square else inputs[1]
            return _power(self, k, "an array", "Multiply, or use m.exp.")
        if "out" in options:
            raise misuse(
                "changes an array in place, as x *= 2 does",
                "Write x = 2 * x; instances are read-only.",
            )
        if ufunc not in _ARITHMETIC or options.keys() - {"axis"}:
            raise misuse(
                f"uses numpy's {ufunc.__name__} on values that are not floats",
                advice(ufunc.__name__)
                or "Use the function of that name of the namespace m; comparisons are m.at_most, "
                "m.below and m.equal.",
            )
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        return result.view(Entries) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Callable[..., object], *_: object) -> NoReturn:
        """Refuse functions of numpy that are not arithmetic."""
        raise misuse(
            f"calls numpy's {function.__name__} on values that are not floats",
            advice(function.__name__) or "Use the functions of the namespace m.",
        )

    def __bool__(self) -> bool:
        """Refuse a truth value."""
        raise misuse(
            "asks for the truth of an array", "Return a comparison; the engine decides it."
        )

    def __setitem__(self, key: Any, value: object) -> None:
        """Change an entry of a copy; refuse to change an argument of a formula."""
        if not self.flags.writeable:
            refuse_change()
        super().__setitem__(key, value)

    __setattr__ = sort = fill = put = partition = resize = setflags = refuse_change

    # an undecided comparison would be answered silently
    sum, max, min = (_refused(name) for name in ("sum", "max", "min"))
    argmax, argmin, argsort, any, all, nonzero = (
        _refused(name, "Use the functions of m; the engine alone compares.")
        for name in ("argmax", "argmin", "argsort", "any", "all", "nonzero")
    )


def entries(values: Any, shape: tuple[int, ...] | None = None) -> Entries:
    """Return a read-only array of scalars from nested lists, or from a flat list and a shape."""
    if shape is None:
        shape, flat = _flattened(values)
    else:
        flat = list(values)
    array = np.empty(len(flat), dtype=object)
    for k, value in enumerate(flat):
        array[k] = value
    array.setflags(write=False)  # on the base, so that no view can become writeable
    return array.reshape(shape).view(Entries)


def _flattened(values: object) -> tuple[tuple[int, ...], list[object]]:
    if isinstance(values, np.ndarray):
        return values.shape, list(values.view(np.ndarray).ravel())
    if not isinstance(values, list | tuple):
        return (), [values]
    if not any(isinstance(value, _NESTED) for value in values):
        return (len(values),), list(values)
    parts = [_flattened(value) for value in values]
    inner = parts[0][0] if parts else ()
    if any(shape != inner for shape, _ in parts):
        raise misuse("builds an array of rows of different lengths", "Give rows of one length.")
    return (len(parts), *inner), [value for _, flat in parts for value in flat]


def _boxed(value: object) -> Array:
    """Return a number as an array without axes, so that numpy does not treat it as a sequence."""
    box = np.empty((), dtype=object)
    box[()] = value
    return box


def _plain(value: object) -> Array:
    """Return an operand as a plain array of objects, and refuse floats."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            _no_float()
        return value.view(np.ndarray)
    if isinstance(value, _FLOATS):
        _no_float()
    return _boxed(value)


def _no_float() -> NoReturn:
    raise misuse(
        "mixes a float with values of another arithmetic",
        CONSTANTS,
    )


def _power(base: Any, exponent: object, what: str, remedy: str) -> Any:
    """Return a power by multiplication: flint's power gives NaN for balls about 0.

    The power 0 of any number is 1, also that of 0.
    """
    if not isinstance(exponent, int) or exponent < 0:
        raise misuse(f"raises {what} to a power that is no natural number", remedy)
    if exponent == 0:
        return base * 0 + 1
    if exponent > _LONG_POWER:
        half = _power(base, exponent // 2, what, remedy)
        return half * half * base if exponent % 2 else half * half
    result = base
    for _ in range(exponent - 1):
        result = result * base
    return result


_LONG_POWER = 32
"""Largest exponent computed by plain multiplication; larger powers use repeated squaring."""
