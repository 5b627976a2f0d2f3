"""The values of a formula's letters on an instance, as text to paste."""

from __future__ import annotations

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

_DIGITS = 12
"""Number of digits of a value that is no rational number."""


def letters_in_words(formula: Formula, case: Case) -> str:
    """Return an instance in one line: by its shown letters if some of its values are hidden."""
    variables = formula.variables.values()
    if not any(isinstance(one, Defined) and one.of for one in variables):
        return in_words(case, {})
    try:
        known = letters_of(formula, case)
    except (ClaimError, ArithmeticError):  # the map that makes a value is undefined there
        return in_words(case, {})
    text = ", ".join(f"{name} = {value}" for name, value in known.items())
    return text if len(text) <= LONGEST else in_words(case, {})


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
