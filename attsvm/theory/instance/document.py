"""Edits of encoded instances: their entries, their shapes, copies with one change."""

import math
from collections.abc import Iterator
from typing import Any

from attsvm._types import Case, Json, JsonObject
from attsvm.errors import DataError, FileError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance import codec

Path = tuple[str | int, ...]
"""Keys and indices that lead from a document to one of its entries."""


def parts(
    document: Json, path: Path = (), *, ordered: bool = True
) -> Iterator[tuple[Path, JsonObject]]:
    """Yield the path and the part of each number and array of an encoded instance.

    Fields of records come in the order of their names, or in their own order if not `ordered`.
    """
    if isinstance(document, list):
        for k, item in enumerate(document):
            yield from parts(item, (*path, k), ordered=ordered)
    elif isinstance(document, dict):
        if array_key(document) is not None or (len(document) == 1 and _NUMBERS & document.keys()):
            yield path, document
        else:
            for key in sorted(document) if ordered else document:
                yield from parts(document[key], (*path, key), ordered=ordered)


_NUMBERS = {"float", "int", "fraction"}


def leaves(document: Json, *, exact: bool = False) -> Iterator[tuple[Path, str]]:
    """Yield path and text of each float of an encoded instance, or of each exact number.

    If `exact`, these are integers and fractions.
    """
    alone, listed = (
        ({"int", "fraction"}, {"int64", "rational"}) if exact else ({"float"}, {"float64"})
    )
    for path, part in parts(document):
        for key in part.keys() & alone:
            yield (*path, key), part[key]
        if part.keys() & listed:
            for k, text in enumerate(part["values"]):
                yield (*path, "values", k), text


def replaced(document: Json, path: Path, text: Json) -> Json:
    """Return a copy of the document with one entry changed."""
    if not path:
        return text
    head, *rest = path
    inner: Any = document  # an object or a list, as the path says
    changed: Any = dict(inner) if isinstance(inner, dict) else list(inner)
    changed[head] = replaced(inner[head], tuple(rest), text)
    copy: Json = changed
    return copy


def value_at(document: Any, path: Path) -> float:
    """Return the number at a path of `leaves`."""
    for key in path:
        document = document[key]
    return codec.floating(document)


def written(value: float) -> str:
    """Return the text that a document has for a float."""
    return codec.number(value)


def rebuilt(claim: Claim, document: Json) -> Case | None:
    """Return the instance of a changed document, or None if its type or annotation refuses it."""
    try:
        case = codec.decode(document, claim.instance_type)
        codec.ensure_type(case, claim.instance_type)
        return case
    except (DataError, FileError):
        return None


def array_key(document: JsonObject) -> str | None:
    """Return the key of the shape if the document encodes an array, else None."""
    keys = set(document) - {"values"}
    if "values" in document and len(keys) == 1 and keys <= {"float64", "int64", "bool", "rational"}:
        return keys.pop()
    return None


def shapes(document: Json) -> Iterator[list[int]]:
    """Yield the shape of each array of an encoded instance."""
    for _, part in parts(document, ordered=False):
        if key := array_key(part):
            yield part[key]


def signature(document: Json) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of all arrays in order; instances of one size have the same signature."""
    return tuple(tuple(shape) for shape in shapes(document))


def float_arrays(document: Json) -> Iterator[tuple[Path, list[int]]]:
    """Yield the path and the shape of each float array of an encoded instance."""
    for path, part in parts(document, ordered=False):
        if "float64" in part:
            yield path, part["float64"]


def finite_leaves(document: Json) -> list[Path]:
    """Return the paths of all finite floats."""
    return [path for path, _ in leaves(document) if math.isfinite(value_at(document, path))]


def integer_leaves(document: Json) -> list[Path]:
    """Return the paths of all integers that a float holds exactly."""
    short = ((path, text) for path, text in leaves(document, exact=True) if len(text) < 20)
    return [path for path, text in short if "/" not in text and abs(int(text)) <= 2**53]
