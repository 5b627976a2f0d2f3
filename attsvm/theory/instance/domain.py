"""The domain: kinds and shapes of a claim's instances, learnt from the author's own draws.

An axis whose length never varies among the draws counts as fixed. A claim about two tokens always
draws two; an array of three has the same type, but is no instance of that claim.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from attsvm._types import Case
from attsvm.theory.instance.document import Path

_KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool"}
"""Kinds of numbers by the letters of numpy's kinds."""


class Domain:
    """Kinds, numbers of axes and fixed lengths of the numbers, arrays and tuples of an instance.

    A number counts as an array without axes, a tuple as an array of one axis. A place is free if
    only None was drawn there, as in an optional field.
    """

    def __init__(self) -> None:
        self._kinds: dict[Path, set[str]] = {}
        self._lengths: dict[Path, dict[int, list[set[int]]]] = {}

    def see(self, case: Case) -> None:
        """Learn from an instance that the author drew: it belongs to the domain by definition."""
        for path, kind, shape in _parts(case, ()):
            self._kinds.setdefault(path, set()).add(kind)
            axes = self._lengths.setdefault(path, {})
            for lengths, size in zip(
                axes.setdefault(len(shape), [set() for _ in shape]), shape, strict=True
            ):
                lengths.add(size)

    def holds(self, case: Case) -> bool:
        """Return whether an instance has kinds and axes that were seen, and their fixed lengths."""
        return all(self._fits(*part) for part in _parts(case, ()))

    def _fits(self, path: Path, kind: str, shape: tuple[int, ...]) -> bool:
        if path not in self._kinds:
            return True
        kinds = self._kinds[path]
        if kind not in kinds and not (kind == "int" and kinds & {"float", "fraction"}):
            return False
        axes = self._lengths[path].get(len(shape))
        return axes is not None and all(
            len(lengths) > 1 or size in lengths for lengths, size in zip(axes, shape, strict=True)
        )


def _parts(case: Case, path: Path) -> Iterator[tuple[Path, str, tuple[int, ...]]]:
    """Yield the path, kind and shape of each number, array and tuple of an instance."""
    if isinstance(case, np.ndarray | np.generic):
        yield path, _KINDS.get(case.dtype.kind, case.dtype.kind), case.shape
    elif isinstance(case, bool | int | float):
        yield path, type(case).__name__, ()
    elif isinstance(case, Fraction):
        yield path, "fraction", ()
    elif isinstance(case, tuple):
        yield path, "tuple", (len(case),)
        for k, item in enumerate(case):
            yield from _parts(item, (*path, k))
    elif dataclasses.is_dataclass(case):
        name = type(case).__name__  # fields of another record are other places
        for field in dataclasses.fields(case):
            yield from _parts(getattr(case, field.name), (*path, name, field.name))
