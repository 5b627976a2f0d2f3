"""Tables of variables: their order for a draw, their axes, and the variables that are shown."""

import math
from collections.abc import Mapping
from dataclasses import replace

from attsvm.errors import ClaimError
from attsvm.theory.declaration.dependent_variables import Defined, Mapped, Meeting
from attsvm.theory.declaration.variables import Integer, Near, Variable

_MOST_NUMBERS = 4096
"""Maximum number of entries of a drawn array; Hypothesis draws at most 8192 bytes an instance."""


def shown(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return the variables without those from which a shown value is made, and without their axes.

    An axis stays if a shown variable has it.
    """
    hidden = {one.of for one in variables.values() if isinstance(one, Defined)}
    kept = {name: one for name, one in variables.items() if name not in hidden}
    axes = {a for one in kept.values() for a in (*one.axes, *getattr(one, "shape", ()))}
    inner = {a for name in hidden for a in (variables[name].axes if name else ())}
    return {name: one for name, one in kept.items() if name not in inner - axes}


def _expanded(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return the variables with both parts of each `Mapped` one in its place."""
    parts: dict[str, Variable] = {}
    for name, variable in variables.items():
        first = variables.get(variable.other) if isinstance(variable, Near) else None
        if isinstance(variable, Near) and isinstance(first, Mapped):
            variable = replace(first, of=replace(variable, other=f"{variable.other}_of"))
        if isinstance(variable, Mapped) and f"{name}_of" in variables:
            raise ClaimError(
                f"the name {name}_of is taken: {name} is made from numbers that have this name",
                value=f"{name}_of",
                remedy="Give the variable another name.",
            )
        parts |= variable.parts(name) if isinstance(variable, Mapped) else {name: variable}
    return parts


def axes_of(variables: Mapping[str, Variable]) -> tuple[str, ...]:
    """Return the names of all axes, in the order in which they occur.

    Raises:
        ClaimError: an axis has no `Integer` of its name among the variables.
    """
    names = dict.fromkeys(name for variable in variables.values() for name in variable.axes)
    for name in names:
        length = variables.get(name)
        if length is None:
            raise ClaimError(
                "an array has an axis whose length is no variable",
                value=name,
                remedy=f"Add {name!r}: Integer(1, 4) to the variables.",
            )
        if not isinstance(length, Integer):
            raise ClaimError(
                f"an array has the axis {name}, but the variable {name} is no length",
                value=type(length).__name__,
                remedy="Give the axis another name, or this variable.",
            )
    return tuple(names)


def ensure_drawable(variables: Mapping[str, Variable]) -> None:
    """Raise unless no array can be empty, and none is too long to be drawn.

    Raises:
        ClaimError: an array is empty or too long; the message has its name or that of its axis.
    """
    for name, variable in variables.items():
        lengths = {axis: variables[axis] for axis in variable.axes}
        for axis, length in lengths.items():
            if isinstance(length, Integer) and length.low < 1:
                raise ClaimError(
                    f"the array {name} would be empty if its axis {axis} had the length "
                    f"{length.low}",
                    value=f"{axis}=Integer({length.low}, {length.drawn_to})",
                    remedy=f"Write {axis}=Integer(1, {max(length.drawn_to, 1)}).",
                )
        drawn = [one.drawn_to for one in lengths.values() if isinstance(one, Integer)]
        if math.prod(drawn) > _MOST_NUMBERS:
            raise ClaimError(
                f"the array {name} has more than {_MOST_NUMBERS} numbers, which cannot be drawn",
                value=" x ".join(map(str, drawn)),
                remedy="Let its axes be shorter: a search tries longer ones than n=Integer(1, 4).",
            )


def ordered(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return the variables in an order in which they can be drawn.

    An array needs the lengths of its axes, and a second point its first point. If the given order
    has this property, it stays. A second point without axes gets those of its first point.

    Raises:
        ClaimError: an axis or a first point is no variable, or two points are near each other.
    """
    variables = _expanded(variables)
    variables = {name: _with_axes(one, variables) for name, one in variables.items()}
    axes_of(variables)
    placed: dict[str, Variable] = {}

    def place(name: str, waiting: tuple[str, ...]) -> None:
        if name in waiting:
            raise ClaimError(
                "variables are each drawn near another one of them",
                value=", ".join(waiting),
                remedy=f"Draw one of them by itself, as by {waiting[0]!r}: Vector('n').",
            )
        if name not in placed:
            for needed in _needed(name, variables):
                place(needed, (*waiting, name))
            placed[name] = variables[name]

    for name in variables:
        place(name, ())
    return placed


def _with_axes(variable: Variable, variables: Mapping[str, Variable]) -> Variable:
    """Return a second point with the axes of its first point, and other variables as they are."""
    if not isinstance(variable, Near) or variable.names is not None:
        return variable
    first, seen = variables.get(variable.other), [variable]
    while isinstance(first, Near) and first.names is None and first not in seen:
        seen.append(first)  # a circle is refused when the variables are ordered
        first = variables.get(first.other)
    return variable if first is None else replace(variable, names=first.axes)


def _needed(name: str, variables: Mapping[str, Variable]) -> tuple[str, ...]:
    """Return the names of the variables that one variable needs for its draw.

    Raises:
        ClaimError: a first point is no variable, or has other axes.
    """
    variable = variables[name]
    while isinstance(variable, Meeting):
        variable = variable.of
    if not isinstance(variable, Near):
        return variable.axes
    first = variables.get(variable.other)
    if first is None:
        others = [other for other in variables if other != name]
        raise ClaimError(
            f"the variable {name} is drawn near a variable that the statement does not have",
            value=variable.other,
            remedy=f"It has {', '.join(others) or 'no other one'}.",
        )
    if first.axes != variable.names:
        text = f"({', '.join(map(repr, first.axes))}{',' * (len(first.axes) == 1)})"
        raise ClaimError(
            f"the variable {name} has other axes than the point {variable.other} that it is near",
            value=variable.names,
            remedy=f"Write Near({variable.other!r}, {text}).",
        )
    return (*variable.axes, variable.other)
