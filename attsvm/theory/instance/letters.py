"""The values of a formula's letters on an instance, as text to paste."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, fmpq

from attsvm.errors import ClaimError
from attsvm.theory.declaration.instances import shape_of
from attsvm.theory.declaration.variables import Choice, Defined, shown
from attsvm.theory.instance.in_words import LONGEST, in_words

if TYPE_CHECKING:
    from attsvm._types import Case
    from attsvm.theory.declaration.formula import Formula

_NONE: Mapping[str, str] = MappingProxyType({})

_DIGITS = 12
"""Number of digits of a value that is no rational number."""


def letters_in_words(formula: Formula, case: Case, names: Mapping[str, str] = _NONE) -> str:
    """Return an instance in one line: by its shown letters if some of its values are hidden.

    `names` are the words for fields of records, as in `in_words`.
    """
    known = _known(formula, case) if _made(formula) else {}
    text = ", ".join(f"{name} = {value}" for name, value in known.items())
    return text if known and len(text) <= LONGEST else in_words(case, names)


def made_in_words(formula: Formula, case: Case) -> str:
    """Return the values that maps make from the hidden ones in one line; "" for none or long ones.

    Such a value is a vector of probabilities, which is made from free numbers.
    """
    known, made = _known(formula, case) if _made(formula) else {}, _made(formula)
    text = ", ".join(f"{name} = {known[name]}" for name in made if name in known)
    return text if len(text) <= LONGEST else ""


def _made(formula: Formula) -> list[str]:
    """Return the names of the variables that maps make from hidden ones."""
    return [n for n, one in formula.variables.items() if isinstance(one, Defined) and one.of]


def _known(formula: Formula, case: Case) -> dict[str, str]:
    """Return the shown letters with their values; none if a map is undefined at the instance."""
    try:
        return letters_of(formula, case)
    except (ClaimError, ArithmeticError):
        return {}


def letters_of(formula: Formula, case: Case) -> dict[str, str]:
    """Return each shown letter of a formula with its value on an instance, as Python."""
    values = formula.exact(case)
    named = shown(formula.variables)
    known: dict[str, str] = {
        name: str(length)
        for name, length in shape_of(formula.variables, case).items()
        if name in named
    }
    for name, variable in named.items():
        if name in known:
            continue
        value = getattr(case if isinstance(variable, Choice) else values, name)
        known[name] = repr(value) if isinstance(variable, Choice) else _written(value)
    return known


def _written(value: object) -> str:
    """Return a number, or an array as nested lists."""
    items = np.asarray(value).tolist() if isinstance(value, np.ndarray) else value
    return _nested(items)


def _nested(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_nested, value))}]"
    if isinstance(value, fmpq):
        return str(value)
    if isinstance(value, arb):
        return f"about {value.str(_DIGITS, radius=False)}"
    return str(value)
