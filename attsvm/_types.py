"""The array type of shape annotations, their kinds, and documents.

Annotations stay text until they are evaluated. Evaluating one imports jaxtyping, which takes as
long as numpy; a command that lists claims evaluates none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from jaxtyping import Bool, Float, Int, Shaped

    Array = npt.NDArray[Any]

    JsonObject = dict[str, Any]
    """An object of a document; who reads a value of it knows, or checks, what it is."""

    Json = JsonObject | list[Any] | str | int | float | bool | None
    """What a document of JSON holds."""

    Entry = Mapping[str, Any]
    """An object of a document that is only read, such as an event of a ledger."""

    Case = object
    """An instance of a claim: a number, an array, a tuple or a frozen record of these."""
else:
    Array = np.ndarray
    Case = Json = object
    JsonObject, Entry = dict, Mapping

    class _Kind:
        """A kind of entries by its name in jaxtyping; `Float[Array, "n d"]` is jaxtyping's own."""

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
    "Int",
    "Json",
    "JsonObject",
    "Shaped",
]
