"""Variables of statements: each has a domain, and methods that draw its values.

Hypothesis draws a variable for one instance, which it can shrink. A batch is filled at random with
many instances at once, among them ties, zeros and numbers of very different size. Both give dyadic
numbers, which floats and rationals hold exactly.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import arrays, filled, one_of, scaled, sizes
from attsvm._types import Array, Hint
from attsvm.errors import ClaimError
from attsvm.theory.declaration.arguments import (
    Called,
    called,
    ensure_axes,
    ensure_ends,
    ensure_entries,
    ensure_function,
    ensure_least,
    ensure_made_from,
    ensure_members,
    ensure_other,
    ensure_powers,
)
from attsvm.theory.declaration.hypotheses import Hypothesis

Shape = Mapping[str, int]
"""The length of each named axis."""

Raw = dict[str, Any]
"""The values of a batch by name: arrays or tensors whose last axis is the batch."""

Known = Mapping[str, Any]
"""Values of the preceding variables, and the length of each axis, by name."""


@dataclass(frozen=True, slots=True)
class Variable(metaclass=Called):
    """A quantified variable; the statement's table of variables gives its name."""

    @property
    def stored(self) -> Hint:
        """The type of its value in an instance, or the type's text; None if it is not stored."""
        return f"Float[Array, '{' '.join(self.axes)}']" if self.axes else float

    @property
    def axes(self) -> tuple[str, ...]:
        """The named axes of an array."""
        return ()

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The lower and the upper end of its domain, None without an end."""
        return None, None

    @property
    def listed(self) -> bool:
        """Whether its values come from a list, so that searchers draw them but do not move them."""
        return False

    @abstractmethod
    def draw(self, draw: st.DrawFn, known: Known) -> Any:
        """Return a value for one instance."""

    @abstractmethod
    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> Any:
        """Return values (..., batch) for a batch, or one value that the whole batch shares."""


@dataclass(frozen=True, slots=True)
class Real(Variable):
    """A real number: a number of absolute value up to 4 on a dyadic grid, times a power of 2.

    Attributes:
        powers: exponents of the scales that are drawn; the first is the simplest.
        least: the lower end of its domain, if any.
    """

    powers: tuple[int, ...] = (0,)
    least: int | None = None

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_powers("a Real", self.powers)
        ensure_least("a Real", self.least)

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The lower end `least`, and no upper end."""
        return self.least, None

    def draw(self, draw: st.DrawFn, known: Known) -> float:
        """Return a number of the grid, reflected at the lower end of the domain."""
        return float(_above(self.least, draw(scaled(*self.powers))))

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> Array:
        """Return numbers of the grid and heavy-tailed numbers, reflected at the lower end."""
        return np.asarray(_above(self.least, filled(generator, (), batch, self.powers)))


def _above(least: int | None, values: Any) -> Any:
    """Return values with those below the lower end of a domain, if any, reflected above it."""
    return values if least is None else abs(values - least) + least


@dataclass(frozen=True, slots=True)
class Tensor(Variable):
    """An array of real numbers with named axes; axes of one name have one length.

    Attributes:
        names: the axes.
        powers: exponents of the scales of the whole array.
        levels: the maximum number of different entries; None for no maximum.
        among: the integers from which its entries are drawn, such as labels; None for any numbers.
            A hypothesis must say so as well, because hypotheses decide what is an instance.
        least: the lower end of the domain of its entries, if any.
    """

    names: tuple[str, ...]
    powers: tuple[int, ...] = (0,)
    levels: int | None = None
    among: tuple[int, ...] | None = None
    least: int | None = None

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_axes(self.names)
        ensure_powers("an array", self.powers)
        ensure_entries(self.levels, self.among)
        ensure_least("an array", self.least)

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The lower end `least` of all entries, and no upper end."""
        return self.least, None

    @property
    def axes(self) -> tuple[str, ...]:
        """The named axes."""
        return self.names

    @property
    def listed(self) -> bool:
        """Whether its entries are drawn from given integers."""
        return self.among is not None

    def draw(self, draw: st.DrawFn, known: Known) -> Array:
        """Return numbers of the grid on one scale, or integers of `among`."""
        sizes = [known[name] for name in self.names]
        size = math.prod(sizes)
        if self.among is not None:
            listed = st.lists(one_of(*self.among), min_size=size, max_size=size)
            return np.array(draw(listed), dtype=float).reshape(sizes)
        power = draw(one_of(*self.powers)) if len(self.powers) > 1 else self.powers[0]
        if self.levels is None:
            return np.asarray(_above(self.least, draw(arrays(*sizes)) * 2.0**power))
        level = st.integers(0, self.levels - 1)
        places = np.array(draw(st.lists(level, min_size=size, max_size=size)))
        levels: Array = draw(arrays(self.levels)) * 2.0**power
        return np.asarray(_above(self.least, levels[places].reshape(sizes)))

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> Array:
        """Return arrays of many kinds; see `filled`."""
        sizes = tuple(known[n] for n in self.names)
        if self.among is not None:
            return generator.choice(np.array(self.among, dtype=float), size=(*sizes, batch))
        if self.levels is None:
            return np.asarray(_above(self.least, filled(generator, sizes, batch, self.powers)))
        levels = filled(generator, (self.levels,), batch, self.powers)
        places = generator.integers(0, self.levels, size=(math.prod(sizes), batch))
        values = np.take_along_axis(levels, places, axis=0).reshape(*sizes, batch)
        return np.asarray(_above(self.least, values))


@called
def Vector(
    name: str,
    powers: Sequence[int] = (0,),
    levels: int | None = None,
    least: int | None = None,
) -> Tensor:
    """Return a vector with one named axis."""
    return Tensor((name,), _tuple(powers), levels, least=least)


@called
def Labels(name: str) -> Tensor:
    """Return a vector of labels 1 and -1."""
    return Tensor((name,), among=(1, -1))


@called
def Matrix(
    rows: str, columns: str, powers: Sequence[int] = (0,), least: int | None = None
) -> Tensor:
    """Return a matrix with two named axes."""
    return Tensor((rows, columns), _tuple(powers), least=least)


def _tuple(powers: Sequence[int]) -> tuple[int, ...]:
    """Return a sequence as a tuple, and anything else as it is, for the check of the array."""
    return tuple(powers) if isinstance(powers, list | range) else powers  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Near(Variable):
    """A second point near a first one: the first point plus a step of the grid times 2^-power.

    Attributes:
        other: the name of the first point.
        names: its axes; None for the axes of the first point.
        powers: the powers that are drawn; the step is shorter for a larger power.
    """

    other: str
    names: tuple[str, ...] | None = None
    powers: tuple[int, ...] = (0, 4, -3, 8)

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_other(self.other)
        if self.names is not None and self.names != ():
            ensure_axes(self.names)
        ensure_powers("a Near", self.powers)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the first point; `ordered` fills them in if they are not given."""
        return self.names or ()

    def draw(self, draw: st.DrawFn, known: Known) -> object:
        """Return the first point, moved by one step."""
        power = draw(one_of(*self.powers))
        step = draw(arrays(*(known[n] for n in self.axes)) if self.axes else scaled(0))
        return known[self.other] + step * 2.0**-power

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> Array:
        """Return the first points, moved by steps of many lengths."""
        step = filled(generator, tuple(known[n] for n in self.axes), batch, (0,))
        near = generator.choice(np.array([*self.powers, 10, 14]), size=batch)
        return np.asarray(known[self.other] + step * np.exp2(-near.astype(float)))


_MAGNITUDES = 40.0
"""Exponent of the largest power of 2 that is added to `low` if there is no upper end."""


@dataclass(frozen=True, slots=True)
class Integer(Variable):
    """An integer, or the length of the axis of its name.

    `Integer(1)` is at least 1, `Integer(1, 4)` is 1 to 4. The length of an axis has no upper end in
    either case, unless it is `closed`: lengths up to `high` are drawn, and searchers try longer
    axes.

    Attributes:
        low: the least integer.
        high: the largest drawn integer; None stands for `low` + 3 without an upper end.
        beyond: whether there is no upper end although `high` is given.
        closed: whether `high` is the upper end of the length of an axis too.
    """

    low: int = 1
    high: int | None = None
    beyond: bool = False
    closed: bool = False

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_ends(self.low, self.high, beyond=self.beyond, closed=self.closed)

    @property
    def stored(self) -> Hint:
        """The type int; lengths of axes are not stored, as arrays have them."""
        return int

    @property
    def drawn_to(self) -> int:
        """The largest integer that is drawn."""
        return self.low + 3 if self.high is None else self.high

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The lower end, and the upper end if there is one."""
        return self.low, None if self.beyond else self.high

    def draw(self, draw: st.DrawFn, known: Known) -> int:
        """Return an integer up to `drawn_to`."""
        return draw(sizes(self.low, self.drawn_to))

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> int:
        """Return one value that the whole batch shares."""
        return int(generator.integers(self.low, self.drawn_to + 1))

    def spread(self, generator: np.random.Generator, batch: int) -> Array:
        """Return an integer for each instance; without an upper end, half are of any size."""
        drawn = generator.integers(self.low, self.drawn_to + 1, size=batch).astype(float)
        far = self.low + np.floor(np.exp2(generator.uniform(0.0, _MAGNITUDES, batch)))
        endless = self.ends[1] is None
        return np.where(generator.random(batch) < 0.5 * endless, far, drawn)

    def inside(self, values: Array) -> Array:
        """Return integers of the domain close to the values."""
        low, high = self.ends
        return np.clip(np.round(values), low, high)


@dataclass(frozen=True, slots=True)
class Choice(Variable):
    """A member of a family, such as a loss, by its name; the formula receives the member."""

    members: Mapping[str, object] = field(hash=False)

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_members(self.members)

    @property
    def stored(self) -> Hint:
        """The type of the name."""
        return str

    def draw(self, draw: st.DrawFn, known: Known) -> str:
        """Return one of the names."""
        return str(draw(one_of(*self.members)))

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> str:
        """Return one value that the whole batch shares."""
        return str(generator.choice(list(self.members)))


@dataclass(frozen=True, slots=True)
class Fitted(Variable):
    """A bound in hypotheses, drawn as the closest number on a dyadic grid that meets them.

    A hypothesis that compares an expression with this variable, such as ||A x|| <= R or
    beta <= alpha, gives its least or largest value. Other hypotheses are decided as usual. Without
    such a hypothesis, as in a sibling, the bound is a power of two.
    """

    grids: tuple[int, ...] = (0, 4, 12)

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_powers("a Fitted", self.grids)

    def draw(self, draw: st.DrawFn, known: Known) -> float:
        """Return the exponent of the grid for rounding the bound; the formula fits the bound."""
        return float(draw(one_of(*self.grids)))

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> Array:
        """Return exponents of the grid for a batch."""
        return generator.choice(np.array(self.grids, dtype=float), size=batch)

    @staticmethod
    def fitted(grid: Any, least: Any, most: Any) -> Any:
        """Return the closest multiple of 2^-grid above `least`, or the closest number below `most`.

        If neither is finite, the result is 2^grid. Multiples up to rounding count as multiples; the
        hypotheses decide exactly afterwards.
        """
        unit = np.exp2(-grid)
        with np.errstate(all="ignore"):
            # without the factor, rounding could push a multiple of the unit up to the next one
            above = np.ceil(least / unit * (1 - 1e-12)) * unit
            # below a bound, keep its leading bits, so that a small bound is not rounded to 0
            leading = np.floor(np.log2(np.clip(most, 1e-300, None)))
            bits = np.exp2(leading - grid)
            below = np.floor(most / bits * (1 + 1e-12)) * bits
        value = np.where(np.isfinite(most), np.where(most > 0, below, most), above)
        # no hypothesis compares with the variable, so `least` and `above` are minus infinity
        value = np.where(np.isneginf(value), np.exp2(grid), value)
        return np.where(np.isfinite(value), value, 0.0)


class Preceding(dict[str, Any]):
    """The values of the variables before one that is moved, by name."""

    def __missing__(self, name: str) -> NoReturn:
        """Refuse a variable that comes later.

        Raises:
            ClaimError: always.
        """
        raise ClaimError(
            "a move (Meeting) reads a variable that is not drawn before it",
            value=name,
            remedy=f"It has {', '.join(self) or 'none'}; write the variable that it reads first.",
        )


@dataclass(frozen=True, slots=True)
class Meeting(Variable):
    """A variable that is moved to satisfy a hypothesis that chance rarely meets, such as A = B.

    Attributes:
        hypothesis: the hypothesis; a sibling without it draws the variable freely.
        of: the variable before the move.
        by: the move: a function of its value, an array with or without a last axis for a batch,
            and of the values of preceding variables. A second move must change nothing, because
            drawn values are moved again when the batch is fitted.
    """

    hypothesis: Hypothesis
    of: Variable
    by: Callable[..., object] = field(hash=False)

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_made_from("Meeting", self.of, Variable)
        ensure_function("Meeting", self.by, "value, known")

    @property
    def stored(self) -> Hint:
        """The type before the move."""
        return self.of.stored

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes before the move."""
        return self.of.axes

    def draw(self, draw: st.DrawFn, known: Known) -> object:
        """Return a value after the move."""
        return self.by(self.of.draw(draw, known), Preceding(known))

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> object:
        """Return the values of a batch after the move."""
        return self.by(self.of.fill(generator, known, batch), Preceding(known))

    def moved(self, value: object, known: Known) -> object:
        """Return any value of a batch, moved to satisfy its hypotheses.

        Raises:
            ClaimError: the move reads a variable that is not `known`.
        """
        inner = self.of.moved(value, known) if isinstance(self.of, Meeting) else value
        return self.by(inner, Preceding(known))

    def without(self, dropped: Iterable[str]) -> Variable:
        """Return the variable without the moves that serve one of the named hypotheses."""
        dropped = frozenset(dropped)
        of = self.of.without(dropped) if isinstance(self.of, Meeting) else self.of
        return of if self.hypothesis.name in dropped else replace(self, of=of)


@dataclass(frozen=True, slots=True)
class Defined(Variable):
    """A value that a formula of (m, v) determines; it is no part of an instance.

    Attributes:
        by: the formula.
        says: the domain in words, if the value has one of its own, such as that of `Mapped`.
        of: the variable that it is made from, which is not shown then; empty for other formulas.
        shape: its axes, if they are known.
    """

    by: Callable[..., object] = field(hash=False)
    says: str = ""
    of: str = ""
    shape: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_function("Defined", self.by, "m, v")

    @property
    def stored(self) -> Hint:
        """None, because instances do not store the value."""
        return None

    def draw(self, draw: st.DrawFn, known: Known) -> None:
        """Do nothing: other variables determine the value."""

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> None:
        """Do nothing: other variables determine the value."""


@dataclass(frozen=True, slots=True)
class Mapped(Variable):
    """A value that an exact map makes from a variable, such as a symmetric matrix from a matrix.

    `ordered` replaces it by that variable, which instances store and searchers move, and by a
    `Defined` value, which formulas get and answers show.

    Attributes:
        of: the variable.
        by: the map, a function of (m, value of the variable).
        says: the domain in words.
        shape: the axes of the value.
    """

    of: Variable
    by: Callable[..., object] = field(hash=False)
    says: str = ""
    shape: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the arguments.

        Raises:
            ClaimError: an argument is invalid.
        """
        ensure_made_from("Mapped", self.of, Variable)
        ensure_function("Mapped", self.by, "m, value")

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the variable."""
        return self.of.axes

    def draw(self, draw: st.DrawFn, known: Known) -> object:
        """Return a value of the variable."""
        return self.of.draw(draw, known)

    def fill(self, generator: np.random.Generator, known: Known, batch: int) -> object:
        """Return values of the variable for a batch."""
        return self.of.fill(generator, known, batch)

    def parts(self, name: str) -> dict[str, Variable]:
        """Return the variable and the value by their names."""
        hidden, by = f"{name}_of", self.by
        made = Defined(lambda m, v: by(m, getattr(v, hidden)), self.says, hidden, self.shape)
        return {hidden: self.of, name: made}


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
