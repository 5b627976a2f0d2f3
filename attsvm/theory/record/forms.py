"""What a document read from a file must be like: a form is a predicate on plain data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

Form = Callable[[Any], bool]


def anything(value: Any) -> bool:
    """Whatever JSON can say."""
    return True


def text(value: Any) -> bool:
    """A string."""
    return isinstance(value, str)


def truth(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def number(value: Any) -> bool:
    """A finite number that a float can hold."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return real and abs(value) <= sys.float_info.max


def count(value: Any) -> bool:
    """An integer that a float can hold."""
    return isinstance(value, int) and number(value)


def maybe(form: Form) -> Form:
    """That form, or null."""
    return lambda value: value is None or form(value)


def each(form: Form) -> Form:
    """A list whose items have that form."""
    return lambda value: isinstance(value, list) and all(map(form, value))


def values(form: Form) -> Form:
    """An object whose values have that form."""
    return lambda value: isinstance(value, dict) and all(map(form, value.values()))


def record(required: Mapping[str, Form], optional: Mapping[str, Form] | None = None) -> Form:
    """An object with these parts; it may have more."""
    return lambda value: lacking(value, required, optional) is None


def lacking(
    value: Any, required: Mapping[str, Form], optional: Mapping[str, Form] | None = None
) -> str | None:
    """What a value lacks of such a record; None where it is one."""
    if not isinstance(value, dict):
        return "its parts"
    for name, fits in {**required, **(optional or {})}.items():
        if name in value and not fits(value[name]):
            return f"{name} of the right form"
        if name in required and name not in value:
            return name
    return None
