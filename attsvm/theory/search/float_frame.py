"""Frames: instances of a formula that differ only in their floats, as rows of one matrix."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np

from attsvm._types import Array, Case, Float, Tensor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def _is_float(value: object) -> bool:
    """Return whether the value of a variable is a float or an array of floats."""
    return isinstance(value, float) or getattr(value, "dtype", None) == np.float64


def _variables(case: Case) -> list[str]:
    return [field.name for field in dataclasses.fields(cast("DataclassInstance", case))]


def frame_key(case: Case) -> Hashable:
    """Return what all instances of a frame share: everything but the values of floats."""
    values = {name: getattr(case, name) for name in _variables(case)}
    return tuple(np.shape(v) if _is_float(v) else repr(v) for v in values.values())


@dataclass(frozen=True, slots=True)
class Frame:
    """The form of instances with m floats.

    Attributes:
        case: one instance.
        fields: for each variable with floats, the slice of its entries among the m floats.
    """

    case: Case
    fields: dict[str, slice]

    @classmethod
    def of(cls, case: Case) -> Frame:
        """Return the frame of an instance."""
        fields: dict[str, slice] = {}
        at = 0
        for name in _variables(case):
            if _is_float(getattr(case, name)):
                end = at + np.size(getattr(case, name))
                fields[name] = slice(at, end)
                at = end
        return cls(case, fields)

    def row(self, case: Case) -> Float[Array, " m"]:
        """Return the floats of an instance of this frame."""
        return np.concatenate([np.empty(0), *(np.ravel(getattr(case, n)) for n in self.fields)])

    def record(self, row: Float[Array, " m"]) -> Case | None:
        """Return the instance with these floats; None if they are not finite."""
        if not np.isfinite(row).all():
            return None
        values: dict[str, object] = {}
        for name, part in self.fields.items():
            known = getattr(self.case, name)
            if isinstance(known, float):
                values[name] = float(row[part][0])
            else:
                array = row[part].reshape(known.shape)
                array.setflags(write=False)
                values[name] = array
        made = dataclasses.replace(cast("DataclassInstance", self.case), **values)
        return cast(Case, made)

    def tensors(self, rows: Tensor) -> SimpleNamespace:
        """Return a batch of instances from a tensor (batch, m) of floats, by variables.

        Arrays become tensors (batch, *shape) and floats tensors (batch,).
        """
        values = {name: getattr(self.case, name) for name in _variables(self.case)}
        for name, part in self.fields.items():
            values[name] = rows[:, part].reshape(len(rows), *np.shape(values[name]))
        return SimpleNamespace(**values)
