"""Groups of array axes that share an index, and copies of an instance with fewer or more indices.

Axes share an index if they had equal lengths in every instance drawn by the claim's strategy. Names
in shape annotations such as `Float[Array, "n T d"]` separate axes whose lengths agreed by chance.
"""

import itertools
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attsvm._types import Hint, Json
from attsvm.errors import present
from attsvm.theory.instance.codec import annotations_of, records
from attsvm.theory.instance.document import Path, array_key, replaced

_GUESSES = 16
"""Maximum number of assignments tried for axes without names that fit two names."""

Axes = tuple[Path, tuple[int, ...]]
"""An array by its path, and some of its axes."""

Lengths = tuple[int, ...]
"""The length of an axis in the instance and in each sample; axes with equal lengths may be one."""


@dataclass(frozen=True, slots=True)
class Group:
    """Axes of equal length that change together, by the path of their array or tuple."""

    length: int
    axes: tuple[tuple[Path, tuple[int, ...]], ...]


def groups(
    document: Json, hint: Hint, samples: Sequence[Json] = (), *, least: int = 2
) -> list[Group]:
    """Return all groups of axes that may change an index together, the shortest axes first.

    The instance is encoded and has type `hint`. Only groups of length at least `least` are
    returned. The samples are other instances of various sizes.
    """
    types = records(hint)
    arrays = list(_arrays(document, types))
    paths = [path for path, _, _ in arrays]
    alike = [list(_arrays(other, types)) for other in samples]
    alike = [a for a in alike if [path for path, _, _ in a] == paths]
    named: dict[tuple[str, Lengths], list[Axes]] = {}
    loose: dict[Lengths, list[Axes]] = {}
    for k, (path, shape, names) in enumerate(arrays):
        own: dict[tuple[str, Lengths], list[int]] = {}
        for axis, size in enumerate(shape):
            seen = tuple(a[k][1][axis] if axis < len(a[k][1]) else 0 for a in alike)
            own.setdefault((names[axis] if names else "", (size, *seen)), []).append(axis)
        for (name, lengths), mine in own.items():
            if name:
                named.setdefault((name, lengths), []).append((path, tuple(mine)))
            else:
                loose.setdefault(lengths, []).append((path, tuple(mine)))
    results = []
    for (_, lengths), axes in sorted(named.items(), key=lambda item: item[0][1][0]):
        rivals = sum(other == lengths for _, other in named)
        beside = loose.get(lengths, [])
        choices = [tuple(beside)] if rivals == 1 else _choices(beside)
        results += [Group(lengths[0], (*axes, *extra)) for extra in choices]
    named_lengths = {lengths for _, lengths in named}
    for lengths, axes in sorted(loose.items(), key=lambda item: item[0][0]):
        if lengths not in named_lengths:
            results.append(Group(lengths[0], tuple(axes)))
    return [group for group in dict.fromkeys(results) if group.length >= least]


def tuples(document: Json, path: Path = (), *, least: int = 2) -> Iterator[Group]:
    """Yield all tuples of length at least `least` of an encoded instance, as groups of one axis."""
    if isinstance(document, dict) and not array_key(document):
        if "tuple" in document and len(document["tuple"]) >= least:
            yield Group(len(document["tuple"]), ((path, (0,)),))
        for key in document.keys() & {"tuple", "fields"}:
            inner = document[key]
            for name, part in inner.items() if isinstance(inner, dict) else enumerate(inner):
                yield from tuples(part, (*path, key, name), least=least)


def unnamed(document: Json, hint: Hint) -> bool:
    """Return whether some axis longer than 1 has no name, so that samples are needed."""
    arrays = _arrays(document, records(hint))
    return any(names is None and max(shape, default=0) > 1 for _, shape, names in arrays)


def _choices(items: list[Axes]) -> Iterator[tuple[Axes, ...]]:
    """Yield choices that take from each array all axes, one axis, or none."""
    options: list[list[Axes | None]] = []
    for path, axes in items:
        alone = [(path, (axis,)) for axis in axes] if len(axes) > 1 else []
        options.append([(path, axes), None, *alone])
    for choice in itertools.islice(itertools.product(*options), _GUESSES):
        yield tuple(each for each in choice if each is not None)


def _arrays(
    document: Json, types: Mapping[str, type], path: Path = (), names: tuple[str, ...] | None = None
) -> Iterator[tuple[Path, list[int], tuple[str, ...] | None]]:
    """Yield path, shape and names of the axes of every array; None if axes have no names."""
    if isinstance(document, list):
        for k, item in enumerate(document):
            yield from _arrays(item, types, (*path, k))
    elif isinstance(document, dict):
        key = array_key(document)
        if key is not None:
            fits = names is not None and len(names) == len(document[key])
            yield path, document[key], names if fits else None
        elif "record" in document:
            hints = annotations_of(types[document["record"]])
            for field, item in document["fields"].items():
                yield from _arrays(item, types, (*path, "fields", field), _axis_names(hints[field]))
        else:
            for field, item in document.items():
                yield from _arrays(item, types, (*path, field))


def _axis_names(hint: Hint) -> tuple[str, ...] | None:
    """Return the axis names in an array annotation, or in the only array annotation of a union."""
    text = getattr(hint, "dim_str", None)
    if text is None:
        texts = [getattr(part, "dim_str", None) for part in typing.get_args(hint)]
        text = next((t for t in texts if t is not None), None)
    words = tuple(str(text).split()) if text is not None else ()
    return words if words and all(word.isidentifier() for word in words) else None


def lacking(document: Json, group: Group, start: int, stop: int, *, renumbered: bool) -> Json:
    """Return a copy of an encoded instance without the indices start to stop of a group's axes.

    If `renumbered`, integers above the removed range are reduced, because they may be indices.
    """
    document = with_indices(document, group, [*range(start), *range(stop, group.length)])
    return _renumbered(document, start, stop) if renumbered else document


def with_indices(document: Json, group: Group, places: Sequence[int]) -> Json:
    """Return a copy of an encoded instance with these indices of a group's axes, or of a tuple."""
    for path, axes in group.axes:
        array: Any = document
        for key in path:
            array = array[key]
        if "tuple" in array:
            document = replaced(document, path, {"tuple": [array["tuple"][k] for k in places]})
            continue
        name = present(array_key(array), "the kind of an encoded array")
        values = np.array(array["values"], dtype=object).reshape(array[name])
        for axis in axes:
            values = np.take(values, places, axis)
        changed = {name: list(values.shape), "values": values.ravel().tolist()}
        document = replaced(document, path, changed)
    return document


def _renumbered(document: Json, start: int, stop: int) -> Json:
    def lower(text: str) -> str:
        return str(int(text) - (stop - start)) if int(text) >= stop else text

    if isinstance(document, list):
        return [_renumbered(item, start, stop) for item in document]
    if not isinstance(document, dict):
        return document
    if set(document) == {"int64", "values"}:
        return {**document, "values": [lower(text) for text in document["values"]]}
    if set(document) == {"int"}:
        return {"int": lower(document["int"])}
    return {key: _renumbered(item, start, stop) for key, item in document.items()}
