"""Types for annotations: arrays with their shapes, numbers of any kind, and JSON documents.

Files with shapes in annotations, or with classes that name themselves there, begin with `from
__future__ import annotations`: annotations stay text until they are evaluated. Evaluating a shape
imports jaxtyping, which takes as long as numpy; a command that lists claims evaluates none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any, Protocol, Self

    import numpy.typing as npt
    from _typeshed import DataclassInstance as Record
    from jaxtyping import Bool, Float, Int, Shaped
    from torch import Tensor

    Array = npt.NDArray[Any]

    class Numeric(Protocol):
        """A number of any kind: a float or an array, a ball, a rational, a series, a symbol."""

        def __add__(self, other: Self, /) -> Self: ...
        def __radd__(self, other: int, /) -> Self: ...
        def __sub__(self, other: Self, /) -> Self: ...
        def __rsub__(self, other: int, /) -> Self: ...
        def __mul__(self, other: Self, /) -> Self: ...
        def __rmul__(self, other: int, /) -> Self: ...
        def __truediv__(self, other: Self | int, /) -> Self: ...
        def __rtruediv__(self, other: int, /) -> Self: ...
        def __pow__(self, k: int, /) -> Self: ...
        def __neg__(self) -> Self: ...

    class Floats(Protocol):
        """An array of numpy or a tensor of torch: the operations that both have."""

        def __add__(self, other: Self | float, /) -> Self: ...
        def __radd__(self, other: float, /) -> Self: ...
        def __sub__(self, other: Self | float, /) -> Self: ...
        def __rsub__(self, other: float, /) -> Self: ...
        def __mul__(self, other: Self | float, /) -> Self: ...
        def __rmul__(self, other: float, /) -> Self: ...
        def __truediv__(self, other: Self | float, /) -> Self: ...
        def __rtruediv__(self, other: float, /) -> Self: ...
        def __matmul__(self, other: Self, /) -> Self: ...
        def __pow__(self, k: int, /) -> Self: ...
        def __neg__(self) -> Self: ...
        def __abs__(self) -> Self: ...
        def __lt__(self, other: Self | float, /) -> Self: ...
        def __le__(self, other: Self | float, /) -> Self: ...
        def __gt__(self, other: Self | float, /) -> Self: ...
        def __ge__(self, other: Self | float, /) -> Self: ...
        def __getitem__(self, key: Any, /) -> Self: ...
        def __len__(self) -> int: ...
        def reshape(self, first: int, /, *shape: int) -> Self: ...
        def sum(self, axis: int, /) -> Self: ...
        def tolist(self) -> Any: ...
        def argmax(self, axis: int, /) -> Self: ...
        def clip(self, *, min: float) -> Self: ...
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def ndim(self) -> int: ...
        @property
        def T(self) -> Self: ...

    JsonObject = dict[str, Any]
    """An object of a JSON document; code that reads a value knows or checks its type."""

    Json = JsonObject | list[Any] | str | int | float | bool | None
    """A value of a JSON document."""

    Entry = Mapping[str, Any]
    """An object of a document that is only read, such as an event of a ledger."""

    Case = object
    """An instance of a claim: a number, an array, a tuple or a frozen record of these."""

    Hint = object
    """A type as an annotation gives it: a class, a generic such as `tuple[int, ...]`, or text."""
else:
    Array = np.ndarray
    Case = Floats = Hint = Json = Numeric = Record = Tensor = object
    JsonObject, Entry = dict, Mapping

    class _Kind:
        """A stand-in for a type of jaxtyping, which is imported when it is first subscripted.

        `Float[Array, "n d"]` is then the annotation of jaxtyping itself.
        """

        def __init__(self, name):
            self.name = name

        def __getitem__(self, shape):
            import jaxtyping

            return getattr(jaxtyping, self.name)[shape]

    Bool, Float, Int, Shaped = map(_Kind, ("Bool", "Float", "Int", "Shaped"))

__all__ = [
    "Array",
    "Bool",
    "Case",
    "Entry",
    "Float",
    "Floats",
    "Hint",
    "Int",
    "Json",
    "JsonObject",
    "Numeric",
    "Record",
    "Shaped",
    "Tensor",
]
