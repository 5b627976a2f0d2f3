"""Coverage: which part of the instance space a search saw, and what made it blind or thin.

An instance is described by a few words: its sizes, whether numbers in it are tied, and what `words`
says of the records in it. Counting the words shows what was looked at, and what never was.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["Coverage", "describe_instance", "merged", "warnings_of", "words"]

_DESCRIBED = 60
"""How many ordinary instances of a search are described; an Att-SVM is solved for each."""

_FAR = 0.01
"""A largest ratio of left to right side below this is far from the boundary."""

_RARE = 0.05
"""A hypothesis that fewer of the drawn instances satisfy makes a search thin."""

_ENOUGH = 20
"""Instances below which nothing is said about how heights vary."""


class Coverage:
    """Counts words, by kind, of the first instances that it is shown."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._left = _DESCRIBED

    def see(self, case: Any) -> None:
        """Describe an instance, unless enough were."""
        if self._left > 0:
            self._left -= 1
            for kind, word in describe_instance(case).items():
                self._counts.setdefault(kind, Counter())[word] += 1

    def json(self) -> dict[str, dict[str, int]]:
        """Counts by kind and word, the words in order."""
        return {kind: dict(sorted(words.items())) for kind, words in self._counts.items()}


def merged(parts: list[dict[str, dict[str, int]]]) -> dict[str, dict[str, int]]:
    """The sum of several coverages."""
    total: dict[str, Counter[str]] = {}
    for part in parts:
        for kind, words in part.items():
            total.setdefault(kind, Counter()).update(words)
    return {kind: dict(sorted(words.items())) for kind, words in total.items()}


@functools.singledispatch
def words(record: object) -> dict[str, str]:
    """What a record is like, by kind; packs register functions for types of their own.

    `sizes` takes the place of the shapes of the arrays.
    """
    return {}


def describe_instance(case: Any) -> dict[str, str]:
    """An instance in words, by kind: sizes, ties, and what is said of the first record in it."""
    arrays = list(_arrays(case))
    told = next((said for record in _records(case) if (said := words(record))), {})
    sizes = " ".join("x".join(map(str, a.shape)) for a in arrays) or "no array"
    return {"sizes": sizes, "ties": "ties" if any(map(_tied, arrays)) else "no ties", **told}


def _arrays(case: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(case, np.ndarray):
        yield case
    elif isinstance(case, tuple):
        for item in case:
            yield from _arrays(item)
    elif dataclasses.is_dataclass(case) and not isinstance(case, type):
        for field in dataclasses.fields(case):
            yield from _arrays(getattr(case, field.name))


def _records(case: Any) -> Iterator[Any]:
    """The records of an instance, outer ones first."""
    if isinstance(case, tuple):
        for item in case:
            yield from _records(item)
    elif dataclasses.is_dataclass(case) and not isinstance(case, type):
        yield case
        for field in dataclasses.fields(case):
            yield from _records(getattr(case, field.name))


def _tied(array: np.ndarray[Any, Any]) -> bool:
    """Whether two entries other than 0 are equal in size."""
    values = np.abs(array[array != 0].ravel())
    return len(np.unique(values)) < len(values)


def warnings_of(
    *,
    looked: int,
    hypotheses: Mapping[str, int],
    tightness: float | None,
    slacks: tuple[float | None, float | None],
    accepted: int,
    undropped: frozenset[str] = frozenset(),
) -> list[str]:
    """What a search that refuted nothing was blind to, a sentence with its remedy each.

    Args:
        looked: ordinary instances looked at.
        hypotheses: how many of them satisfied each.
        tightness: the largest ratio of left to right side, None where there is none.
        slacks: the least and the largest slack, None where there is none.
        accepted: instances evaluated.
        undropped: hypotheses that no sibling drops.
    """
    said = []
    for name, count in hypotheses.items():
        if looked >= _ENOUGH and count < _RARE * looked:
            said.append(
                f"only {count} of {looked} instances satisfy {name!r}: draw instances that do"
            )
        if looked >= _ENOUGH and count == looked and name in undropped:
            said.append(
                f"every instance satisfies {name!r} and no sibling drops it, so nothing shows that "
                "it matters: draw instances that violate it, or add a sibling without it"
            )
    if accepted >= _ENOUGH and tightness is not None and tightness < _FAR:
        said.append(
            f"nothing came nearer to the bound than {tightness:.3g} of it: it can hardly fail; "
            "state a sharp reading, or give the search a way there (an ensemble, or a form for "
            "tensors)"
        )
    least, most = slacks
    if accepted >= _ENOUGH and tightness is None and least is not None and least == most:
        said.append(
            f"the slack is {least:.3g} on every instance, so no search can tell near from far: "
            "return how far the conclusion is from failing"
        )
    return said
