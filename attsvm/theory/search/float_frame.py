"""Frames: encoded instances that differ only in their floats, stored as rows of one matrix."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from attsvm._types import Array, Case, Float, Hint, Json, Tensor
from attsvm.errors import AttsvmError, DataError
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import float_parts, leaves, replaced, value_at


def frame_key(document: Json) -> str:
    """Return as text what all instances of a frame share: everything but the values of floats."""
    for path, part in float_parts(document):
        document = replaced(document, path, part.get("float64"))
    return json.dumps(document, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Frame:
    """The form of encoded instances with m floats.

    Attributes:
        document: one instance.
        fields: for each array or number, the slice of its entries among the m floats.
    """

    document: Json
    fields: tuple[slice, ...]

    @classmethod
    def of(cls, document: Json) -> Frame:
        """Return the frame of an instance."""
        fields, at = [], 0
        for _, part in float_parts(document):
            fields.append(slice(at, at + math.prod(part.get("float64", ()))))
            at = fields[-1].stop
        return cls(document, tuple(fields))

    def row(self, document: Json) -> Float[Array, " m"]:
        """Return the floats of an instance of this frame."""
        return np.array([value_at(document, path) for path, _ in leaves(document)])

    def filled(self, row: Float[Array, " m"]) -> Json:
        """Return the instance with these floats, encoded."""
        document = self.document
        for (path, part), field in zip(float_parts(document), self.fields, strict=True):
            value = (
                row[field].reshape(part["float64"]) if "float64" in part else float(row[field][0])
            )
            document = replaced(document, path, codec.encode(value))
        return document

    def record(self, hint: Hint, row: Float[Array, " m"]) -> Case | None:
        """Return the instance with these floats; None if they are not finite or do not fit."""
        if not np.isfinite(row).all():
            return None
        try:
            return _record(codec.decode(self.document, hint), iter([row[f] for f in self.fields]))
        except DataError:
            return None

    def tensors(self, rows: Tensor) -> Case:
        """Return a batch of instances from a tensor (batch, m) of floats, with fields by name.

        Records become namespaces, arrays become tensors (batch, *shape) and floats tensors
        (batch,). Other values stay as in the document.
        """
        parts = iter(self.fields)
        return _split(self.document, lambda: rows[:, next(parts)])


def _record(value: Case, parts: Iterator[Array]) -> Case:
    """Return a decoded instance with other floats, the parts in the order of `leaves`."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        array = next(parts).reshape(value.shape).copy()
        array.setflags(write=False)
        return array
    if isinstance(value, float):
        return float(next(parts)[0])
    if isinstance(value, tuple):
        return tuple(_record(item, parts) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = sorted(field.name for field in dataclasses.fields(value))
        changed = {name: _record(getattr(value, name), parts) for name in names}
        try:
            return dataclasses.replace(value, **changed)
        except AttsvmError:
            raise
        except Exception as error:  # a type's own checks may raise any exception
            raise DataError("these floats do not fit the type", value=str(error)) from error
    return value


def _split(document: Json, part: Callable[[], Tensor]) -> Case:
    """Return the decoded document, its floats taken from the parts in the order of `leaves`."""
    if isinstance(document, dict):
        if set(document) == {"float"}:
            return part()[:, 0]
        if set(document) == {"float64", "values"}:
            values = part()
            return values.reshape(len(values), *document["float64"])
        if set(document) == {"tuple"}:
            return tuple(_split(item, part) for item in document["tuple"])
        if set(document) == {"record", "fields"}:
            fields = document["fields"]
            return SimpleNamespace(**{name: _split(fields[name], part) for name in sorted(fields)})
    return codec.decode(document, None)
