"""Types of the values in a formula: a number, an array of numbers, the values of letters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, Self


class Number(Protocol):
    """A number of one arithmetic, or an integer; it adds and multiplies, and never compares.

    An operation may make a number or an array, as the other operand is one or the other.
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
