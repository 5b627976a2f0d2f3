"""The number of numpy operations of a formula, counted on a few instances.

Operations are counted, not timed, so that a search examines the same instances on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm.theory.declaration import batches
from attsvm.theory.declaration.variables import Known

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout


class _DearError(BaseException):
    """An error that ends an evaluation with too many operations; claims do not catch it."""


class _Counted(np.ndarray[Any, Any]):
    """An array that counts numpy operations on it and on arrays derived from it."""

    left: list[int]

    def __array_finalize__(self, origin: object) -> None:
        self.left = getattr(origin, "left", [sys.maxsize])

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> object:
        """Return the result of an operation on plain arrays, and count it.

        Raises:
            _DearError: the maximum number of operations is exceeded.
        """
        return self._counted(getattr(ufunc, method), inputs, options)

    def __array_function__(
        self, function: Callable[..., object], types: object, inputs: object, options: object
    ) -> object:
        """Return the result of a function such as `numpy.concatenate`, and count it."""
        return self._counted(function, inputs, options)

    def _counted(self, operation: Callable[..., object], inputs: Any, options: Any) -> object:
        self.left[0] -= 1
        if self.left[0] < 0:
            raise _DearError
        return self._with(operation(*_plain(inputs), **_plain(options)))

    def _with(self, value: object) -> object:
        if type(value) is list:
            return [self._with(each) for each in value]
        if type(value) is tuple:
            return tuple(self._with(each) for each in value)
        if not isinstance(value, np.ndarray):
            return value
        counted = value.view(_Counted)
        counted.left = self.left
        return counted


def _plain(value: Any) -> Any:
    """Return a value without counters, in lists, tuples and dictionaries as well."""
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if isinstance(value, dict):
        return {name: _plain(x) for name, x in value.items()}
    return value.view(np.ndarray) if isinstance(value, _Counted) else value


def operations(scout: Scout, formula: Formula, raw: Known, shape: dict[str, int], most: int) -> int:
    """Return the number of numpy operations of an evaluation of the formula on a few instances.

    Counting stops above `most`; the result is then `most` + 1.
    """
    left = [most]
    few = {}
    for name, value in raw.items():
        few[name] = value
        if isinstance(value, np.ndarray):
            few[name] = value[..., :8].view(_Counted)
            few[name].left = left
    batch = min(value.shape[-1] for value in few.values() if isinstance(value, np.ndarray))
    try:
        batches.fit_screened(formula, few, shape, batch, scout.tally.part.parameters)
    except _DearError:
        return most + 1
    return most - left[0]
