"""Results of formulas: a comparison of two sides, or several comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.entries import CONSTANTS, Entries, Number, misuse


class _Undecided:
    """A relation, which has no truth value in Python."""

    __slots__ = ()

    def __bool__(self) -> bool:
        """Refuse a truth value: the engine decides, with a third value for open relations."""
        raise misuse(
            "asks whether a comparison is true", "Return it; m.all_of and m.any_of combine."
        )


@dataclass(frozen=True, slots=True)
class Comparison(_Undecided):
    """left <= right or left < right of numbers; left = right, of arrays entry by entry."""

    kind: Literal["at most", "below", "equal"]
    left: Number
    right: Number

    def __post_init__(self) -> None:
        """Refuse floats, and arrays in an inequality, as only one entry would be compared."""
        for side in (self.left, self.right):
            if isinstance(side, float | Fraction):
                raise misuse(
                    f"compares a value of type {type(side).__name__} with numbers of its "
                    "arithmetic",
                    CONSTANTS,
                )
        if self.kind != "equal" and any(isinstance(s, Entries) for s in (self.left, self.right)):
            raise misuse(
                "compares arrays by an inequality",
                "Compare numbers: m.max(x), m.min(x), m.largest(x), or m.all_of of comparisons.",
            )


@dataclass(frozen=True, slots=True)
class _Joined(_Undecided):
    """Several comparisons."""

    parts: tuple[Relation, ...]

    def __post_init__(self) -> None:
        """Refuse parts that are no comparison."""
        for part in self.parts:
            returned(part, "a part of m.all_of or m.any_of")


class All(_Joined):
    """A conjunction: every part is true."""

    __slots__ = ()


class AnyOf(_Joined):
    """A disjunction: at least one part is true."""

    __slots__ = ()


Relation = Comparison | All | AnyOf
"""A comparison, or several of them."""


@dataclass(frozen=True, slots=True)
class Proposition:
    """A condition in the words of Coq or of the checker, such as that a function decreases.

    Attributes:
        text: the condition in this language; empty if there is none.
        source: the module whose functions it calls, for the checker; empty for its own ones.
    """

    text: str
    source: str = ""


class Comparing(Protocol):
    """The comparisons of a namespace: each returns a relation, which the engine decides."""

    def exact(self, value: object) -> Number:
        """Return a constant of this arithmetic."""

    def at_most(self, left: Number, right: Number) -> Comparison:
        """Return the comparison left <= right."""
        return Comparison("at most", left, right)

    def at_least(self, left: Number, right: Number) -> Comparison:
        """Return the comparison left >= right."""
        return Comparison("at most", right, left)

    def below(self, left: Number, right: Number) -> Comparison:
        """Return the comparison left < right."""
        return Comparison("below", left, right)

    def above(self, left: Number, right: Number) -> Comparison:
        """Return the comparison left > right."""
        return Comparison("below", right, left)

    def equal(self, left: Number, right: Number) -> Comparison:
        """Return the comparison left = right, of numbers or entry by entry."""
        return Comparison("equal", left, right)

    def all_of(self, *parts: Relation) -> Relation:
        """Return the conjunction of these relations; an empty one is true, as 0 <= 1."""
        return All(parts) if parts else self.at_most(self.exact(0), self.exact(1))

    def any_of(self, *parts: Relation) -> Relation:
        """Return the disjunction of these relations; an empty one is false, as 1 <= 0."""
        return AnyOf(parts) if parts else self.at_most(self.exact(1), self.exact(0))


def comparisons(relation: Relation, *, needed: bool = False) -> tuple[Comparison, ...]:
    """Return the comparisons in a relation; if `needed`, only those that its truth implies."""
    if isinstance(relation, Comparison):
        return (relation,)
    if needed and isinstance(relation, AnyOf):
        return ()
    return tuple(one for part in relation.parts for one in comparisons(part, needed=needed))


def returned(result: object, what: str) -> Relation:
    """Return the result of a formula if it is a comparison; `what` names the formula in errors.

    Raises:
        ClaimError: the result is no comparison.
    """
    if isinstance(result, Relation):
        return result
    raise ClaimError(
        f"{what} returned no comparison",
        value=f"{result!r}, of type {type(result).__name__}",
        remedy="Return m.at_most(left, right), m.below, m.equal, m.all_of or m.any_of.",
    )
