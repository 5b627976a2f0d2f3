"""Instances of variables: their record type, their shapes, and the values that formulas get."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
from flint import fmpq

from attsvm import _types
from attsvm._types import Array, Case, Entry, JsonObject
from attsvm.errors import ClaimError, DataError
from attsvm.theory.arithmetic import entries
from attsvm.theory.arithmetic.entries import READ_ONLY, Number, Values, misuse
from attsvm.theory.arithmetic.namespace import Namespace, Relation
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.metering import evaluate
from attsvm.theory.declaration.variables import Choice, Defined, Integer, Raw, Variable, axes_of


def instance_type(variables: Mapping[str, Variable]) -> type:
    """Return a frozen dataclass whose fields are the variables that an instance stores."""
    return _record(tuple(variables.items()))


@functools.lru_cache(maxsize=1024)
def _record(named: tuple[tuple[str, Variable], ...]) -> type:
    """Return the dataclass of these variables; cached, because making a class is slow."""
    variables = dict(named)
    axes = axes_of(variables)
    stored = [
        (name, variable.stored)
        for name, variable in variables.items()
        if variable.stored is not None and name not in axes
    ]

    def fit(self: Case) -> None:
        shape_of(variables, self)

    namespace = {
        "__post_init__": fit,
        "BUILT": True,
        "__doc__": "An instance by its values.",  # else the dataclass composes a docstring
    }
    record = dataclasses.make_dataclass(
        "Instance", stored, frozen=True, slots=True, namespace=namespace
    )
    record.__module__ = _types.__name__  # the module in which annotations as text are resolved
    return record


def domains(variables: Mapping[str, Variable]) -> dict[str, Hypothesis]:
    """Return a hypothesis, by its text, for each end of the domain of a number or array.

    Searchers may leave domains, and such instances must not count. The length of an axis has such a
    hypothesis only if it is closed, because a hunt may try longer axes than are drawn. `shape_of`
    refuses axes that are too short.
    """
    results: dict[str, Hypothesis] = {}
    axes = axes_of(variables)
    for name, variable in variables.items():
        closed = isinstance(variable, Integer) and variable.closed
        for end, sign in zip(variable.ends, (">=", "<="), strict=True):
            if end is not None and (name not in axes or (closed and sign == "<=")):
                lies = functools.partial(_beside, name, bool(variable.axes), sign, end)
                text = f"{name} {sign} {end}"
                results[text] = Hypothesis(text, lies)
    return results


def _beside(name: str, array: bool, sign: str, end: int, m: Namespace, v: Values) -> Relation:
    """Return the comparison of a variable, or of its extreme entry, with an end of its domain."""
    value = getattr(v, name)
    if sign == ">=":
        return m.at_least(m.min(value) if array else value, m.exact(end))
    return m.at_most(m.max(value) if array else value, m.exact(end))


def shape_of(variables: Mapping[str, Variable], case: Case) -> dict[str, int]:
    """Return the length of each axis, by name.

    Raises:
        DataError: two arrays disagree on a length, an array has another number of axes, an axis is
            too short, or an array is empty.
    """
    shape: dict[str, int] = {}
    known = _AXES.get(id(variables))
    if known is None or known[0] is not variables:
        known = _AXES[id(variables)] = variables, _axes(variables)
    for name, axes in known[1]:
        result = np.shape(getattr(case, name))
        if len(result) != len(axes) or 0 in result:
            raise DataError(f"{name} does not have its {len(axes)} axes", value=result)
        for (axis, least), length in zip(axes, result, strict=True):
            if shape.setdefault(axis, length) != length:
                raise DataError(
                    f"the axis {axis} of {name} has another length than elsewhere", value=length
                )
            if least is not None and length < least:
                raise DataError(f"the axis {axis} of {name} is shorter than {least}", value=length)
    return shape


_Axes = list[tuple[str, list[tuple[str, int | None]]]]
"""Names of arrays, each with its axes and the least length of each axis."""

_AXES: dict[int, tuple[Mapping[str, Variable], _Axes]] = {}
"""Cache of `_axes` by the identity of the variables: each instance needs them several times.

An entry holds the variables too, so that they stay alive and no other object gets their identity.
"""


def _axes(variables: Mapping[str, Variable]) -> _Axes:
    return [
        (name, [(a, variables[a].ends[0] if a in variables else None) for a in variable.axes])
        for name, variable in variables.items()
        if variable.axes
    ]


class FrozenValues(SimpleNamespace):
    """The values of the variables by name, which a formula cannot change."""

    def _refuse(self, *_: object) -> None:
        raise misuse(READ_ONLY, "Assign the result to a name of its own: x = 0 * v.x.")

    __setattr__ = __delattr__ = _refuse


def put(v: Values, name: str, value: object) -> None:
    """Set a value in a frozen namespace, and make an array read-only."""
    if isinstance(value, np.ndarray):
        np.ndarray.setflags(value, write=False)
    vars(v)[name] = value


def member(variable: Variable, name: str, value: object) -> object:
    """Return the member with the name `value` of the family of the variable `name`.

    Raises:
        DataError: the family has no such member, or the variable is no `Choice`.
    """
    if isinstance(variable, Choice) and isinstance(value, str) and value in variable.members:
        return variable.members[value]
    names = ", ".join(variable.members) if isinstance(variable, Choice) else "none"
    raise DataError(
        f"{name} is no member of its family", value=value, remedy=f"The members are {names}."
    )


def same_numbers(stored: object, numbers: object) -> bool:
    """Return whether the stored values equal the numbers, that is were stored without rounding."""
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f":
        return bool(np.all(stored == numbers))
    return bool(np.all(stored == np.array(numbers, dtype=object)))


def rational(value: float | Fraction) -> fmpq:
    """Return a float or a fraction as a rational.

    Raises:
        DataError: the float is not finite.
    """
    try:
        return fmpq(*value.as_integer_ratio())
    except (ValueError, OverflowError) as error:
        raise DataError("a value that is not finite has no exact value", value=value) from error


def numbers(
    variables: Mapping[str, Variable],
    case: Case,
    number: Callable[[float], Number],
    integer: Callable[[int], int] = int,
) -> JsonObject:
    """Return the stored values and the shape of an instance, by name.

    Numbers and entries are converted by `number`, lengths and integers by `integer`.
    """
    known: Raw = {name: integer(length) for name, length in shape_of(variables, case).items()}
    for name, variable in variables.items():
        if name in known or variable.stored is None:
            continue
        value = getattr(case, name)
        if isinstance(variable, Choice):
            known[name] = member(variable, name, value)
        elif isinstance(variable, Integer):
            known[name] = integer(int(value))
        elif isinstance(value, np.ndarray):
            known[name] = entries([number(x) for x in value.ravel().tolist()], value.shape)
        else:
            known[name] = number(value)
    return known


def defined(variables: Mapping[str, Variable], m: Namespace, v: Values) -> Values:
    """Add the `Defined` variables to the values v, and return v."""
    for name, variable in variables.items():
        if isinstance(variable, Defined):
            put(v, name, evaluate(variable.by, m, v))
    return v


Stored = str | int | float | Fraction | Array
"""A value as instances store it: the name of a member, an integer, a float or an array.

Numbers that no float holds, such as 1/3, are stored as fractions, and arrays of them as objects.
"""


def stored(variables: Mapping[str, Variable], name: str, value: Any) -> Stored:
    """Return a value in the form in which instances store it.

    Raises:
        DataError: a choice has no such member.
    """
    variable = variables[name]
    if isinstance(variable, Choice):
        member(variable, name, value)
        return str(value)
    if isinstance(variable, Integer):
        return int(value)
    if variable.axes:
        array = np.array(value, dtype=float)
        if not same_numbers(array, value):
            array = np.vectorize(Fraction, otypes=[object])(np.array(value, dtype=object))
        array.setflags(write=False)
        return array
    return float(value) if value == float(value) else Fraction(value)


def built(variables: Mapping[str, Variable], kind: type, values: Entry) -> Case:
    """Return an instance of the type `kind` from numbers, nested lists or arrays by name.

    Numbers may be Fractions and integers.

    Raises:
        ClaimError: a variable is missing or unknown, or a value does not fit its variable.
    """
    fields = [f.name for f in dataclasses.fields(kind)]
    if set(values) != set(fields):
        raise ClaimError(
            "an explicit instance does not give the variables of its statement",
            value=", ".join(sorted(values)),
            remedy=f"Give {', '.join(fields)}.",
        )
    made = {}
    for name in fields:
        try:
            made[name] = stored(variables, name, values[name])
            exact = same_numbers(made[name], values[name])
        except (TypeError, ValueError, OverflowError) as error:
            raise ClaimError(
                f"an explicit instance gives {name} a value that it cannot have: {error}",
                value=repr(values[name]),
                remedy="Give numbers, or nested lists of them in rows of one length.",
            ) from error
        if not exact:
            raise ClaimError(
                f"an explicit instance gives {name} a value that instances do not hold exactly",
                value=repr(values[name]),
                remedy="Give an integer.",
            )
    return kind(**made)
