"""Forms: predicates on plain data that a document read from a file must satisfy."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

Form = Callable[[Any], bool]


def anything(value: object) -> bool:
    """Return True for any value."""
    return True


def text(value: object) -> bool:
    """Return whether a value is a string."""
    return isinstance(value, str)


def truth(value: object) -> bool:
    """Return whether a value is a boolean."""
    return isinstance(value, bool)


def number(value: object) -> bool:
    """Return whether a value is a finite number in the range of floats."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def count(value: object) -> bool:
    """Return whether a value is an integer in the range of floats."""
    return isinstance(value, int) and number(value)


def maybe(form: Form) -> Form:
    """Return the form of null and of all values of a form."""
    return lambda value: value is None or form(value)


def each(form: Form) -> Form:
    """Return the form of lists whose items have a form."""
    return lambda value: isinstance(value, list) and all(map(form, value))


def values(form: Form) -> Form:
    """Return the form of objects whose values have a form."""
    return lambda value: isinstance(value, dict) and all(map(form, value.values()))


def record(required: Mapping[str, Form], optional: Mapping[str, Form] | None = None) -> Form:
    """Return the form of objects with these parts; such objects may have more parts."""
    return lambda value: lacking(value, required, optional) is None


def lacking(
    value: object, required: Mapping[str, Form], optional: Mapping[str, Form] | None = None
) -> str | None:
    """Return the first part of a record that a value lacks; None if it lacks nothing."""
    if not isinstance(value, dict):
        return "its parts"
    for name, fits in {**required, **(optional or {})}.items():
        if name in value and not fits(value[name]):
            return f"{name} of the right form"
        if name in required and name not in value:
            return name
    return None
