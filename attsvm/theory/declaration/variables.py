"""Variables of statements: each has a domain, and methods that draw its values.

Hypothesis draws a variable for one instance, which it can shrink. A batch is filled at random with
many instances at once, among them ties, zeros and numbers of very different size. Both give dyadic
numbers, which floats and rationals hold exactly.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import arrays, filled, one_of, scaled, sizes
from attsvm._types import Array, Hint
from attsvm.theory.declaration.arguments import (
    Called,
    called,
    ensure_axes,
    ensure_ends,
    ensure_entries,
    ensure_least,
    ensure_members,
    ensure_other,
    ensure_powers,
)

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
