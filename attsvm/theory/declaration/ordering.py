"""Tables of variables: the shown variables, their axes, and an order in which they are drawn."""

from collections.abc import Mapping
from dataclasses import replace

from attsvm.errors import ClaimError
from attsvm.theory.declaration.variables import Defined, Integer, Mapped, Meeting, Near, Variable


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
        parts |= variable.parts(name) if isinstance(variable, Mapped) else {name: variable}
    return parts


def axes_of(variables: Mapping[str, Variable]) -> tuple[str, ...]:
    """Return the names of all axes, in the order in which they occur.

    Raises:
        ClaimError: an axis has no `Integer` of its name among the variables.
    """
    names = dict.fromkeys(name for variable in variables.values() for name in variable.axes)
    for name in names:
        if not isinstance(variables.get(name), Integer):
            remedy = f"Add {name!r}: Integer(1, 4) to the variables."
            if isinstance(name, int):
                remedy = f'Write "n" in its place, and add "n": Integer({name}, {name}).'
            raise ClaimError(
                "an array has an axis whose length is no variable", value=name, remedy=remedy
            )
    return tuple(names)


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
        raise ClaimError(
            f"the variable {name} is drawn near a variable that the statement does not have",
            value=variable.other,
            remedy=f"It has {', '.join(other for other in variables if other != name)}.",
        )
    if first.axes != variable.names:
        text = f"({', '.join(map(repr, first.axes))}{',' * (len(first.axes) == 1)})"
        raise ClaimError(
            f"the variable {name} has other axes than the point {variable.other} that it is near",
            value=variable.names,
            remedy=f"Write Near({variable.other!r}, {text}).",
        )
    return (*variable.axes, variable.other)
