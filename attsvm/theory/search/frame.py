"""A frame: encoded instances that differ in their floats alone, as rows of one matrix."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.theory.record import codec
from attsvm.theory.search.document import leaves, parts, value_at, written


def frame_key(document: Any) -> str:
    """What instances of one frame share: everything but the values of their floats."""
    return json.dumps(_filled(document, lambda: ""), sort_keys=True)


@dataclass(frozen=True, slots=True)
class Frame:
    """The form of encoded instances of m floats.

    Attributes:
        document: one of them.
        fields: the slices of the m floats that belong to one array or one number each.
    """

    document: Any
    fields: tuple[slice, ...]

    @classmethod
    def of(cls, document: Any) -> Frame:
        """The frame of an instance."""
        fields, at = [], 0
        for _, part in parts(document):
            if part.keys() & {"float", "float64"}:
                fields.append(slice(at, at + math.prod(part.get("float64", ()))))
                at = fields[-1].stop
        return cls(document, tuple(fields))

    def row(self, document: Any) -> Float[Array, " m"]:
        """The floats of an instance of this frame."""
        return np.array([value_at(document, path) for path, _ in leaves(document)])

    def filled(self, row: Float[Array, " m"]) -> Any:
        """The instance with these floats, encoded."""
        values = iter(row.tolist())
        return _filled(self.document, lambda: written(next(values)))

    def tensors(self, rows: Any) -> Any:
        """The instances with these floats as one: a tensor (batch, m) split into named tensors.

        Records become namespaces, arrays tensors (batch, *shape) and floats tensors (batch,); all
        else is as in the instance.
        """
        parts = iter(self.fields)
        return _split(self.document, lambda: rows[:, next(parts)])


def _is_array(document: dict[str, Any]) -> bool:
    return set(document) == {"float64", "values"}


def _filled(document: Any, text: Callable[[], str]) -> Any:
    """A copy with the texts of all floats replaced, in the order of `leaves`."""
    if isinstance(document, list):
        return [_filled(item, text) for item in document]
    if not isinstance(document, dict):
        return document
    if set(document) == {"float"}:
        return {"float": text()}
    if _is_array(document):
        values = [text() for _ in document["values"]]
        return {"float64": document["float64"], "values": values}
    filled = {name: _filled(document[name], text) for name in sorted(document)}
    return {name: filled[name] for name in document}


def _split(document: Any, part: Callable[[], Any]) -> Any:
    """The decoded instance, its floats taken from the parts in the order of `leaves`."""
    if isinstance(document, dict):
        if set(document) == {"float"}:
            return part()[:, 0]
        if _is_array(document):
            values = part()
            return values.reshape(len(values), *document["float64"])
        if set(document) == {"tuple"}:
            return tuple(_split(item, part) for item in document["tuple"])
        if set(document) == {"record", "fields"}:
            fields = document["fields"]
            return SimpleNamespace(**{name: _split(fields[name], part) for name in sorted(fields)})
    return codec.decode(document, None)
