"""An instance in words: the names of its parts with short forms of their exact values."""

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from attsvm._types import Case, Record
from attsvm._words import printable
from attsvm.theory.instance import codec

ODD_BITS = 20
"""Maximum number of bits of an odd integer that is written as a multiple of a power of two."""

LONGEST = 400
"""Maximum number of characters of an instance; a longer one is described by its arrays' sizes."""


def in_words(case: Case, names: Mapping[str, str]) -> str:
    """Return an instance as equations of exact numbers, in one line."""
    parts = [(_joined(path[-1]), value) for path, value in leaves(case, names=names)]
    every = [_equation(name, value) for name, value in parts]
    if sum(map(len, every)) > LONGEST:
        sized = [(name, x.shape) for name, x in parts if isinstance(x, np.ndarray) and x.ndim]
        every = [f"{name} of {' x '.join(map(str, shape))}" for name, shape in sized]
    return ", ".join(every)


def _equation(name: str, value: Case) -> str:
    """Return an equation; for a field named "yes|no" return the word that is true."""
    if isinstance(value, bool | np.bool_) and "|" in name:
        yes, _, no = name.partition("|")
        return yes if value else no
    return f"{name} = {_plain(value)}"


def _joined(name: str) -> str:
    """Return a name without the space before a number at its end."""
    return re.sub(r" (?=[0-9 ]+$)", "", name)


def _plain(value: Case) -> str:
    if isinstance(value, np.ndarray):
        return (
            _plain(value.tolist()) if value.size else f"none ({' x '.join(map(str, value.shape))})"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, float | np.floating):
        return printable(str(value))
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    if short(number):
        return str(Fraction(number))
    odd, power = scaled(number)
    if odd.bit_length() > ODD_BITS:
        return repr(number)
    return {1: "", -1: "-"}.get(odd, f"{odd} * ") + f"2^{power}"


def fields_with_defaults(value: Record) -> Iterator[tuple[str, Case, object]]:
    """Yield name, value and default of the fields of a record.

    Keyword-only fields are left out if they have their default.
    """
    for f in dataclasses.fields(value):
        x = getattr(value, f.name)
        if not (f.kw_only and isinstance(x, float | int | str) and x == f.default):
            yield f.name, x, f.default


def short(value: float) -> bool:
    """Return whether files write a float without hexadecimal digits."""
    return "0x" not in codec.number(value)


def scaled(value: float) -> tuple[int, int]:
    """Return a finite float other than 0 as an odd integer times a power of two."""
    above, below = value.as_integer_ratio()
    power = (above & -above).bit_length() - below.bit_length()
    return above >> max(power, 0), power


def leaves(
    value: Case, path: tuple[str, ...] = (), names: Mapping[str, str] | None = None
) -> Iterator[tuple[tuple[str, ...], Case]]:
    """Yield the parts of an instance that are no records, with the names that lead to them.

    A keyword-only field at its default is left out.

    `names` maps "Record.field" to the word for a field, if that is not its own name.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field, x, _ in fields_with_defaults(value):
            name = (names or {}).get(f"{type(value).__name__}.{field}", field)
            yield from leaves(x, (*path, name), names)
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            yield from leaves(item, (*path, f"{path[-1] if path else 'x'} {k + 1}"), names)
    elif value is not None:
        plain = isinstance(value, np.ndarray | np.generic) and value.ndim == 0
        yield path or ("x",), np.asarray(value).item() if plain else value
