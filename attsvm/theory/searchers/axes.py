"""Which axes of an instance's arrays belong together, and copies that lack an index of them.

Names come from shape annotations such as `Float[Array, "n T d"]` of the record's fields; an axis
without a name may belong to any group of its length.
"""

from __future__ import annotations

import itertools
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attsvm.theory.codec import records
from attsvm.theory.searchers.document import Path, array_key, replaced

__all__ = ["Group", "groups", "lacking"]

_GUESSES = 16
"""How many choices of axes without names are tried with a named group."""


@dataclass(frozen=True, slots=True)
class Group:
    """Axes of one length that may lose an index together: by path of the array."""

    length: int
    axes: tuple[tuple[Path, tuple[int, ...]], ...]


def groups(document: Any, hint: Any) -> list[Group]:
    """All groups of axes longer than 1, the shortest axes first, named ones before guesses.

    Args:
        document: an encoded instance.
        hint: its type.
    """
    arrays = list(_arrays(document, records(hint, {})))
    named: dict[tuple[str, int], list[tuple[Path, tuple[int, ...]]]] = {}
    loose: dict[int, list[tuple[Path, tuple[int, ...]]]] = {}
    for path, shape, names in arrays:
        for length in sorted({size for size in shape if size > 1}):
            if names is None:
                axes = tuple(k for k, size in enumerate(shape) if size == length)
                loose.setdefault(length, []).append((path, axes))
        for name in dict.fromkeys(names or ()):
            axes = tuple(k for k, other in enumerate(names or ()) if other == name)
            if shape[axes[0]] > 1:
                named.setdefault((name, shape[axes[0]]), []).append((path, axes))
    found = []
    for (_, length), own in sorted(named.items(), key=lambda item: item[0][1]):
        for extra in _choices(loose.get(length, [])):
            found.append(Group(length, (*own, *extra)))
    for length, own in sorted(loose.items()):
        for extra in _choices(own):
            if extra:
                found.append(Group(length, tuple(extra)))
    return list(dict.fromkeys(found))


def _choices(items: list[tuple[Path, tuple[int, ...]]]) -> Iterator[tuple[Any, ...]]:
    """Each array with all its axes, with one of them, or left alone; the first many of these."""
    options = []
    for path, axes in items:
        alone = [(path, (axis,)) for axis in axes] if len(axes) > 1 else []
        options.append([(path, axes), None, *alone])
    for choice in itertools.islice(itertools.product(*options), _GUESSES):
        yield tuple(each for each in choice if each is not None)


def _arrays(
    document: Any, types: dict[str, type], path: Path = (), names: tuple[str, ...] | None = None
) -> Iterator[tuple[Path, list[int], tuple[str, ...] | None]]:
    """Path, shape and names of the axes, None where there are none, of every array."""
    if isinstance(document, list):
        for k, item in enumerate(document):
            yield from _arrays(item, types, (*path, k))
    elif isinstance(document, dict):
        key = array_key(document)
        if key is not None:
            fits = names is not None and len(names) == len(document[key])
            yield path, document[key], names if fits else None
        elif "record" in document:
            hints = typing.get_type_hints(types[document["record"]], include_extras=True)
            for field, item in document["fields"].items():
                yield from _arrays(item, types, (*path, "fields", field), _axis_names(hints[field]))
        else:
            for field, item in document.items():
                yield from _arrays(item, types, (*path, field))


def _axis_names(hint: Any) -> tuple[str, ...] | None:
    """The names in an array annotation, or in the only one of a union."""
    text = getattr(hint, "dim_str", None)
    if text is None:
        texts = [getattr(part, "dim_str", None) for part in typing.get_args(hint)]
        text = next((t for t in texts if t is not None), None)
    words = tuple(str(text).split()) if text is not None else ()
    return words if words and all(word.isidentifier() for word in words) else None


def lacking(document: Any, group: Group, index: int, *, renumbered: bool) -> Any:
    """A copy that lacks one index of the axes of a group.

    Args:
        document: the encoded instance.
        group: the axes.
        index: what to leave out.
        renumbered: whether integers above the index, which may be indices themselves, go down by 1.
    """
    for path, axes in group.axes:
        array = document
        for key in path:
            array = array[key]
        name = array_key(array)
        assert name is not None
        values = np.array(array["values"], dtype=object).reshape(array[name])
        for axis in axes:
            values = np.delete(values, index, axis)
        shorter = {name: list(values.shape), "values": values.ravel().tolist()}
        document = replaced(document, path, shorter)
    return _renumbered(document, index) if renumbered else document


def _renumbered(document: Any, index: int) -> Any:
    def lower(text: str) -> str:
        return str(int(text) - 1) if int(text) > index else text

    if isinstance(document, list):
        return [_renumbered(item, index) for item in document]
    if not isinstance(document, dict):
        return document
    if set(document) == {"int64", "values"}:
        return {**document, "values": [lower(text) for text in document["values"]]}
    if set(document) == {"int"}:
        return {"int": lower(document["int"])}
    return {key: _renumbered(item, index) for key, item in document.items()}
