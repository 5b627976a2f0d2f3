"""Encoded instances as things to edit: entries, shapes, copies with one change."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attsvm.errors import DataError, FileError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.record import codec

__all__ = [
    "Path",
    "array_key",
    "exact_leaves",
    "finite_leaves",
    "float_arrays",
    "leaves",
    "rebuilt",
    "replaced",
    "shapes",
    "signature",
    "value_at",
    "written",
]

Path = tuple[Any, ...]
"""Keys and indices that lead from a document to one of its entries."""


def leaves(document: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Paths of all float entries of an encoded instance with the text that each holds."""
    if isinstance(document, list):
        for k, item in enumerate(document):
            yield from leaves(item, (*path, k))
    elif isinstance(document, dict):
        if set(document) == {"float"}:
            yield (*path, "float"), document["float"]
        elif set(document) == {"float64", "values"}:
            for k, text in enumerate(document["values"]):
                yield (*path, "values", k), text
        else:
            for key in sorted(document):
                yield from leaves(document[key], (*path, key))


def exact_leaves(document: Any, path: Path = ()) -> Iterator[tuple[Path, Fraction]]:
    """Paths of all integers and fractions of an encoded instance with their values."""
    if isinstance(document, list):
        for k, item in enumerate(document):
            yield from exact_leaves(item, (*path, k))
    elif isinstance(document, dict):
        keys = set(document)
        if keys == {"int"} or keys == {"fraction"}:
            (key,) = keys
            yield (*path, key), Fraction(document[key])
        elif keys == {"int64", "values"}:
            for k, text in enumerate(document["values"]):
                yield (*path, "values", k), Fraction(text)
        elif array_key(document) is None:
            for key in sorted(document):
                yield from exact_leaves(document[key], (*path, key))


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


def rebuilt(claim: Claim, document: Any) -> Any | None:
    """The instance of a changed document, or None where its type, or its annotation, refuses it."""
    try:
        case = codec.decode(document, claim.instance_type)
        codec.ensure_type(case, claim.instance_type)
        return case
    except (DataError, FileError):
        return None


def array_key(document: dict[str, Any]) -> str | None:
    """The key that holds the shape where the document is that of an array."""
    keys = set(document) - {"values"}
    if "values" in document and len(keys) == 1 and keys <= {"float64", "int64", "bool"}:
        return keys.pop()
    return None


def shapes(document: Any) -> Iterator[list[int]]:
    """The shapes of all arrays of an encoded instance."""
    if isinstance(document, list):
        for item in document:
            yield from shapes(item)
    elif isinstance(document, dict):
        key = array_key(document)
        if key is not None:
            yield document[key]
        else:
            yield from shapes(list(document.values()))


def signature(document: Any) -> tuple[tuple[int, ...], ...]:
    """The shapes of all arrays in order: what two instances of one size share."""
    return tuple(tuple(shape) for shape in shapes(document))


def float_arrays(document: Any, path: Path = ()) -> Iterator[tuple[Path, list[int]]]:
    """Paths and shapes of all float arrays of an encoded instance."""
    if isinstance(document, list):
        for k, item in enumerate(document):
            yield from float_arrays(item, (*path, k))
    elif isinstance(document, dict):
        if set(document) == {"float64", "values"}:
            yield path, document["float64"]
        elif array_key(document) is None:
            for key, item in document.items():
                yield from float_arrays(item, (*path, key))


def finite_leaves(document: Any) -> list[Path]:
    """Paths of all finite float entries."""
    return [path for path, _ in leaves(document) if math.isfinite(value_at(document, path))]
