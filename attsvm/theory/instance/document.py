"""Encoded instances as things to edit: entries, shapes, copies with one change."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from attsvm._types import Json, JsonObject
from attsvm.errors import DataError, FileError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance import codec

Path = tuple[Any, ...]
"""Keys and indices that lead from a document to one of its entries."""


def parts(document: Json, path: Path = (), *, ordered: bool = True) -> Iterator[tuple[Path, Any]]:
    """Paths of all numbers and arrays of an encoded instance with what is there.

    Fields of records come in the order of their names, or where not `ordered` as they stand.
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
    """Paths of all floats of an encoded instance, or of its integers and fractions, with texts."""
    alone, listed = (("int", "fraction"), "int64") if exact else (("float",), "float64")
    for path, part in parts(document):
        for key in part.keys() & set(alone):
            yield (*path, key), part[key]
        if listed in part:
            for k, text in enumerate(part["values"]):
                yield (*path, "values", k), text


def replaced(document: Any, path: Path, text: Any) -> Any:
    """A copy of the document with one entry changed."""
    if not path:
        return text
    head, *rest = path
    changed: Any = dict(document) if isinstance(document, dict) else list(document)
    changed[head] = replaced(document[head], tuple(rest), text)
    return changed


def value_at(document: Any, path: Path) -> float:
    """The number at a path of `leaves`."""
    for key in path:
        document = document[key]
    return float(codec.decode({"float": document}, None))


def written(value: float) -> str:
    """The text of a number in a document."""
    return str(codec.encode(value)["float"])


def rebuilt(claim: Claim, document: Json) -> Any | None:
    """The instance of a changed document, or None where its type, or its annotation, refuses it."""
    try:
        case = codec.decode(document, claim.instance_type)
        codec.ensure_type(case, claim.instance_type)
        return case
    except (DataError, FileError):
        return None


def array_key(document: JsonObject) -> str | None:
    """The key that holds the shape where the document is that of an array."""
    keys = set(document) - {"values"}
    if "values" in document and len(keys) == 1 and keys <= {"float64", "int64", "bool"}:
        return keys.pop()
    return None


def float_parts(document: Json) -> list[tuple[Path, Any]]:
    """Paths of all floats and arrays of floats of an encoded instance with what is there."""
    return [(path, part) for path, part in parts(document) if part.keys() & {"float", "float64"}]


def shapes(document: Json) -> Iterator[list[int]]:
    """The shapes of all arrays of an encoded instance."""
    for _, part in parts(document, ordered=False):
        if key := array_key(part):
            yield part[key]


def signature(document: Json) -> tuple[tuple[int, ...], ...]:
    """The shapes of all arrays in order: what two instances of one size share."""
    return tuple(tuple(shape) for shape in shapes(document))


def float_arrays(document: Json) -> Iterator[tuple[Path, list[int]]]:
    """Paths and shapes of all float arrays of an encoded instance."""
    for path, part in parts(document, ordered=False):
        if "float64" in part:
            yield path, part["float64"]


def finite_leaves(document: Json) -> list[Path]:
    """Paths of all finite float entries."""
    return [path for path, _ in leaves(document) if math.isfinite(value_at(document, path))]


def integer_leaves(document: Json) -> list[Path]:
    """Paths of all integers that a float can hold."""
    short = ((path, text) for path, text in leaves(document, exact=True) if len(text) < 20)
    return [path for path, text in short if "/" not in text and abs(int(text)) <= 2**53]
