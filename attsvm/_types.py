"""The one array type that shape annotations are written over, their kinds, and documents.

Annotations are text until somebody reads them. Whoever reads one imports jaxtyping, which costs as
much as numpy; a command that lists claims reads none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from jaxtyping import Bool, Float, Int, Shaped

    Array = npt.NDArray[Any]

    Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
    """What a document of JSON holds."""
else:
    Json = object
    Array = np.ndarray

    class _Kind:
        """A kind of entries by its name in jaxtyping; `Float[Array, "n d"]` is jaxtyping's own."""

        def __init__(self, name):
            self.name = name

        def __getitem__(self, shape):
            import jaxtyping

            return getattr(jaxtyping, self.name)[shape]

    Bool, Float, Int, Shaped = map(_Kind, ("Bool", "Float", "Int", "Shaped"))

__all__ = ["Array", "Bool", "Float", "Int", "Json", "Shaped"]
