"""Variables that depend on others or on hypotheses: fitted, moved, defined and mapped values."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import one_of
from attsvm._types import Array, Hint
from attsvm.errors import ClaimError
from attsvm.theory.declaration.arguments import ensure_function, ensure_made_from, ensure_powers
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.variables import Known, Variable


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
