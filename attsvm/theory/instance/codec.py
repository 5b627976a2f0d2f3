"""Instances as exact values in JSON, and back; types come from the claim, never from the file."""

import dataclasses
import functools
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from attsvm._types import Array, Case, Entry, Hint, Json
from attsvm.errors import AttsvmError, ClaimError, FileError

_LARGEST_DENOMINATOR = 1 << 20
"""Largest denominator of a float that is written as a fraction."""

_LARGEST_ARRAY = 1 << 24
"""Maximum number of entries of an array in a file, and maximum length of an axis."""

_MOST_AXES = 32
"""Maximum number of axes of an array in a file."""

_FRACTION = re.compile(r"-?[0-9]+(?:/[0-9]+)?")


def number(value: float) -> str:
    """Return the exact value of a float: an integer or short fraction, else hexadecimal."""
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    return _written(value)


@functools.lru_cache(maxsize=4096)
def _written(value: float) -> str:
    numerator, denominator = value.as_integer_ratio()
    if denominator > _LARGEST_DENOMINATOR or abs(numerator) >= 1 << 53:
        return value.hex()
    return str(numerator) if denominator == 1 else f"{numerator}/{denominator}"


def floating(text: object) -> float:
    """Return the float that `number` wrote.

    Raises:
        FileError: the value is no text of a number, or no float can hold the number.
    """
    if not isinstance(text, str) or len(text) > 64:
        raise FileError("a number in the file is not written as a string", value=text)
    if text in ("-0", "inf", "-inf", "nan"):
        return float(text)
    return _read_float(text)


@functools.lru_cache(maxsize=4096)
def _read_float(text: str) -> float:
    try:
        return float.fromhex(text) if "0x" in text else float(_fraction(text))
    except (ValueError, OverflowError) as error:
        raise FileError("a number in the file cannot be read", value=text) from error


def _exact(value: int | Fraction) -> str:
    """Return an integer or fraction in decimals."""
    try:
        return str(value)
    except ValueError as error:  # Python refuses to write an integer of thousands of digits
        raise ClaimError(
            "an instance holds an integer that is too long to be written",
            value=f"{max(abs(value.numerator), value.denominator).bit_length()} bits",
            remedy="Use shorter integers, or floats.",
        ) from error


def encode(value: Case) -> Json:
    """Return an instance as JSON: numbers as strings of exact values, dataclasses by field.

    Raises:
        ClaimError: a value has a type that instances must not have, or thousands of digits.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return {"int": _exact(int(value))}
    if isinstance(value, float | np.floating):
        return {"float": number(float(value))}
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, Fraction):
        return {"fraction": _exact(value)}
    if isinstance(value, np.ndarray):
        kinds: dict[str, tuple[str, Callable[[Any], str]]] = {
            "f": ("float64", number),
            "i": ("int64", str),
            "b": ("bool", lambda x: str(int(x))),
            "O": ("rational", _exact),
        }
        if value.dtype == object and not all(isinstance(x, Fraction) for x in value.ravel()):
            kinds = {}
        if value.dtype.kind not in kinds or value.dtype.itemsize > 8:
            raise ClaimError(
                "an instance holds an array of an unsupported type",
                value=str(value.dtype),
                remedy="Use arrays of float64, int64 or bool, or of fractions.",
            )
        name, write = kinds[value.dtype.kind]
        return {name: list(value.shape), "values": [write(x) for x in value.ravel().tolist()]}
    if isinstance(value, tuple):
        return {"tuple": [encode(x) for x in value]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"record": type(value).__name__, "fields": fields}
    raise ClaimError(
        "an instance holds a value of an unsupported type",
        value=type(value).__name__,
        remedy="Use numbers, arrays, strings, tuples and frozen dataclasses of these.",
    )


def records(hint: Hint) -> Mapping[str, type]:
    """Return all dataclasses that a type hint reaches, by name."""
    try:
        return _records(hint, repr(hint))
    except TypeError:  # a hint that contains a list is not hashable, so it cannot be cached
        return _records.__wrapped__(hint, "")


@functools.lru_cache(maxsize=1024)
def _records(hint: Hint, spelt: str) -> Mapping[str, type]:
    """Return the dataclasses of a hint.

    The text of the hint is part of the cache's key: unions in another order compare equal.
    """
    results: dict[str, type] = {}
    left = [hint]
    while left:
        part = left.pop()
        left += typing.get_args(part)
        if (
            isinstance(part, type)
            and dataclasses.is_dataclass(part)
            and part.__name__ not in results
        ):
            results[part.__name__] = part
            left += annotations_of(part).values()
    return types.MappingProxyType(results)


@functools.lru_cache(maxsize=1024)
def annotations_of(thing: Hint) -> Entry:
    """Return the annotations of a record's fields, or of a function; cached, as it is slow."""
    return types.MappingProxyType(typing.get_type_hints(thing, include_extras=True))


def decode(document: Json, hint: Hint) -> Case:
    """Return the instance that `encode` wrote, built only from the types in `hint`.

    Raises:
        FileError: the document has another form, or a record that `hint` does not contain.
    """
    try:
        return _decode(document, records(hint))
    except RecursionError as error:
        raise FileError("an instance in the file is nested too deeply") from error


def decode_exactly(document: Json, hint: Hint) -> Case:
    """Return the instance of a file that somebody else may have written, without any rounding.

    If the file lacks a field of a record, the field has its default: records gain fields, and
    older files stay valid.

    Raises:
        FileError: the document has another form, a float would round a number, or a type is wrong.
    """
    value = decode(document, hint)
    # Encoding shows what decoding has rounded: "1/10" is no float, and comes back as another text.
    # Without this check, a file could show one instance and the judge decide another one.
    encoded = _as_written(encode(value), document)
    if encoded != document:
        there, ours = _unlike(document, encoded)
        raise FileError(
            "a number in the file is not exact in its type, or not in the form that attsvm writes",
            value=there,
            remedy=f"Write {ours}.",
        )
    ensure_type(value, hint)
    return value


def _unlike(document: Json, encoded: Json) -> tuple[str, str]:
    """Return the first part of a document that the new encoding changes: old and new text."""
    pairs: Iterable[tuple[Json, Json]] = ()
    if isinstance(document, dict) and isinstance(encoded, dict) and set(document) == set(encoded):
        pairs = ((document[key], encoded[key]) for key in document)
    elif isinstance(document, list) and isinstance(encoded, list) and len(document) == len(encoded):
        pairs = zip(document, encoded, strict=True)
    for there, ours in pairs:
        if there != ours:
            return _unlike(there, ours)
    return str(document)[:80], str(encoded)[:80]


def _as_written(encoded: Any, document: Json) -> Any:
    """Return the encoded instance without the fields that the document leaves to defaults."""
    if isinstance(document, dict) and "tuple" in document:
        pairs = zip(encoded["tuple"], document["tuple"], strict=True)
        return {"tuple": [_as_written(*pair) for pair in pairs]}
    if isinstance(document, dict) and "fields" in document:
        values = document["fields"]
        fields = {k: _as_written(v, values[k]) for k, v in encoded["fields"].items() if k in values}
        return {**encoded, "fields": fields}
    return encoded


def ensure_type(value: Case, hint: Hint) -> None:
    """Raise unless a value has the type, including annotations of shapes and kinds.

    Raises:
        FileError: the value has another type.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (Any, typing.Any) or isinstance(hint, typing.TypeVar):
        return
    if origin is tuple and isinstance(value, tuple):
        whole = len(arguments) == 2 and arguments[1] is Ellipsis
        kinds = arguments[:1] * len(value) if whole else arguments
        if len(kinds) == len(value):
            for item, kind in zip(value, kinds, strict=True):
                ensure_type(item, kind)
            return
    elif origin in (types.UnionType, typing.Union):
        if any(_is_of(value, kind) for kind in arguments):
            return
    elif _is_of(value, hint):
        if dataclasses.is_dataclass(value):
            record: Any = type(value)
            hints = annotations_of(record)
            of_variables = getattr(record, "BUILT", False)
            for field in dataclasses.fields(value):
                part = getattr(value, field.name)
                ensure_type(_in_floats(part) if of_variables else part, hints[field.name])
        return
    raise FileError(
        "a value in the file is of another type than its claim asks for",
        value=type(value).__name__,
        remedy=f"It asks for {getattr(hint, '__name__', hint)}.",
    )


def _in_floats(value: Case) -> Case:
    """Return the instance with floats near to its fractions: variables may hold either.

    Raises:
        FileError: a fraction is larger than all floats.
    """
    try:
        if isinstance(value, Fraction):
            return float(value)
        if isinstance(value, np.ndarray) and value.dtype == object:
            return value.astype(float)
        return value
    except OverflowError as error:
        raise FileError("a fraction in the file is larger than all floats") from error


def _is_of(value: Case, kind: Any) -> bool:
    """Return whether a value has a type; true if `isinstance` cannot decide it."""
    kind = type(None) if kind is None else typing.get_origin(kind) or kind
    if kind is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    try:
        return isinstance(value, kind)
    except TypeError:
        return True


def _decode(document: Json, records: Mapping[str, type]) -> Case:
    if document is None or isinstance(document, bool | str):
        return document
    if not isinstance(document, dict):
        raise FileError("an instance in the file has an unknown form", value=document)
    keys = set(document)
    if keys == {"int"}:
        return _integer(document["int"])
    if keys == {"float"}:
        return floating(document["float"])
    if keys == {"fraction"}:
        return _fraction(document["fraction"])
    if keys == {"tuple"} and isinstance(document["tuple"], list):
        return tuple(_decode(x, records) for x in document["tuple"])
    if keys == {"record", "fields"} and isinstance(document["fields"], dict):
        record = records.get(str(document["record"]))
        if record is None:
            raise FileError(
                "an instance in the file is of a type that its claim does not use",
                value=document["record"],
                remedy=f"The claim uses {', '.join(sorted(records))}.",
            )
        fields = {str(k): _decode(x, records) for k, x in document["fields"].items()}
        try:
            return record(**fields)
        except AttsvmError:
            raise
        except Exception as error:  # the type's own checks may raise any error
            raise FileError(
                "an instance in the file does not fit its type", value=str(error)
            ) from error
    for name, read in _READ.items():
        if keys == {name, "values"}:
            return _array(name, document[name], document["values"], read)
    raise FileError("an instance in the file has an unknown form", value=sorted(map(str, keys)))


def _fraction(value: object) -> Fraction:
    if not isinstance(value, str) or not _FRACTION.fullmatch(value):
        raise FileError("a number in the file cannot be read", value=value)
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError) as error:  # too many digits, or /0
        raise FileError("a number in the file cannot be read", value=value) from error


def _integer(value: object) -> int:
    exact = _fraction(value)
    if exact.denominator != 1:
        raise FileError("a number in the file is no integer", value=value)
    return exact.numerator


def _array(name: str, shape: Any, values: Json, read: Callable[[Json], object]) -> Array:
    sized = isinstance(shape, list) and len(shape) <= _MOST_AXES
    if (
        not sized
        or not all(type(s) is int and 0 <= s <= _LARGEST_ARRAY for s in shape)
        or not isinstance(values, list)
        or math.prod(shape) != len(values)
        or len(values) > _LARGEST_ARRAY
    ):
        raise FileError("an array in the file does not have the size that it states", value=shape)
    try:
        dtype = object if name == "rational" else name
        array: Array = np.array([read(x) for x in values], dtype=dtype).reshape(shape)
        return array
    except (ValueError, OverflowError) as error:
        raise FileError("an array in the file cannot be held", value=shape) from error


_READ: dict[str, Callable[[Json], object]] = {
    "float64": floating,
    "int64": _integer,
    "bool": _integer,
    "rational": _fraction,
}
"""The reader of an entry, for each kind of array."""


def canonical(value: Case, hint: Hint) -> Case:
    """Return the instance as read back from its own file, which must hold it without loss.

    Raises:
        ClaimError: the file would hold another instance, or a type other than `hint`.
    """
    document = encode(value)
    try:
        again = decode(document, hint)
        ensure_type(again, hint)
    except AttsvmError as error:
        raise ClaimError(
            "an instance cannot be read back from its own file", value=str(error)
        ) from error
    if encode(again) != document:
        raise ClaimError("an instance changes when written and read back", value=document)
    return again
