"""The namespace `m` over which a formula is written once: the functions that it may use.

A formula is a function of `m` and of values. Numbers are scalars of one arithmetic, vectors and
matrices are arrays of them, and `+ - * / @` and `.T` work as in numpy. A function of a number
applies to each entry of an array. No function has a truth value: a formula returns a comparison, or
several combined, and the engine decides them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.entries import CONSTANTS, Entries, Number, Numbers, misuse
from attsvm.theory.arithmetic.matrices import Spectra
from attsvm.theory.arithmetic.vocabulary import Vocabulary


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
        """Refuse floats, and arrays in an inequality, because only one entry would be compared."""
        for side in (self.left, self.right):
            if isinstance(side, float | Fraction | str):
                shown = f", {side!r:.40}," if isinstance(side, str) else ""
                raise misuse(
                    f"compares a value of type {type(side).__name__}{shown} with numbers of its "
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


class Unequal(AnyOf):
    """A disjunction that says that two numbers or arrays differ."""

    __slots__ = ()


Relation = Comparison | All | AnyOf
"""A comparison, or several of them."""


@dataclass(frozen=True, slots=True)
class Proposition:
    """A condition in the words of Coq or of the checker, such as that a function decreases.

    Attributes:
        text: the condition in this language; empty if there is none.
        source: the module whose functions it calls, for the checker; empty for its own ones.
        sequents: returns it in the letters of linked proofs; None if they cannot state it.
    """

    text: str
    source: str = ""
    sequents: Callable[[], Iterable[Any]] | None = None


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
        """Return the conjunction of these relations, flat; an empty one is true, as 0 <= 1."""
        flat = [one for part in parts for one in (part.parts if isinstance(part, All) else (part,))]
        return All(tuple(flat)) if flat else self.at_most(self.exact(0), self.exact(1))

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


class Namespace(Spectra, Vocabulary, Comparing, Protocol):
    """The functions that a formula may use; every arithmetic offers each of them.

    Operations on matrices are in `Spectra`, other functions that are composed of these in
    `Vocabulary`, and comparisons in `Comparing`.
    """

    name: str
    """Name of the arithmetic, such as balls, floats, tensors, symbols or text."""

    # numbers

    def exact(self, value: object) -> Number:
        """Return a constant: an integer, a fraction, or decimals in quotes such as '0.95'.

        A number of this arithmetic, such as a constant of the reading, stays as it is.

        Raises:
            ClaimError: the value is a float, which may differ from the decimals in the code.
        """

    def values(self, x: object) -> Numbers:
        """Return the number or array of numbers in a field of a record."""

    @abstractmethod
    def exp(self, x: Number) -> Numbers:
        """Return the exponential of a number, or of each entry."""

    @abstractmethod
    def log(self, x: Number) -> Numbers:
        """Return the natural logarithm of a positive number, or of each entry."""

    @abstractmethod
    def sqrt(self, x: Number) -> Numbers:
        """Return the root of a number that is not negative: rounding below 0 counts as 0."""

    @abstractmethod
    def abs(self, x: Number) -> Numbers:
        """Return the absolute value of a number, or of each entry."""

    @abstractmethod
    def is_zero(self, x: Number) -> Numbers:
        """Return 1 if a number is 0, else 0; for an array, entry by entry."""

    def floor(self, x: Number) -> Numbers:
        """Return the largest integer that is at most a number, or each entry."""

    @abstractmethod
    def maximum(self, x: Number, y: Number) -> Number:
        """Return the larger of two numbers."""

    def minimum(self, x: Number, y: Number) -> Number:
        """Return the smaller of two numbers."""

    def power(self, x: Number, k: int) -> Numbers:
        """Return the k-th power of a number or of each entry, by multiplication, for k >= 0."""

    def square(self, x: Number) -> Numbers:
        """Return the square of a number, or of each entry."""

    def logistic(self, x: Number) -> Numbers:
        """Return g(x) = 1 / (1 + exp(-x))."""

    def logistic_slope(self, x: Number) -> Numbers:
        """Return g'(x) = g (1 - g)."""

    def logistic_curvature(self, x: Number) -> Numbers:
        """Return g''(x) = g (1 - g) (1 - 2 g)."""

    def softplus(self, x: Number) -> Numbers:
        """Return the logarithm of 1 + exp(x)."""

    def relu(self, x: Number) -> Numbers:
        """Return the larger of a number and 0, or of each entry and 0."""

    def sign(self, x: Number) -> Numbers:
        """Return 1, 0 or -1, the sign of a number or of each entry."""

    def indicator(self, relation: Relation) -> Number:
        """Return 1 if a relation is true, else 0."""

    def expm1(self, x: Number) -> Numbers:
        """Return exp(x) - 1, without cancellation if the arithmetic can; exactly 0 at 0."""

    def log1p(self, x: Number) -> Numbers:
        """Return ln(1 + x), without cancellation if the arithmetic can; exactly 0 at 0."""

    # arrays

    def array(self, values: Iterable[Number]) -> Numbers:
        """Return a vector of numbers, a matrix of rows, and so on."""

    def size(self, x: Numbers) -> Number:
        """Return the number of entries."""

    def sum(self, x: Numbers) -> Number:
        """Return the sum of all entries."""

    def max(self, x: Numbers) -> Number:
        """Return the largest entry."""

    def min(self, x: Numbers) -> Number:
        """Return the smallest entry."""

    def oscillation(self, x: Numbers) -> Number:
        """Return the largest entry minus the smallest."""

    def dot(self, x: Numbers, y: Numbers) -> Number:
        """Return the inner product of two vectors."""

    def norm(self, x: Numbers) -> Number:
        """Return the Euclidean norm of a vector; of a matrix, its Frobenius norm."""

    @abstractmethod
    def spectral(self, A: Numbers) -> Number:
        """Return the spectral norm of a matrix, its largest singular value."""

    def largest(self, x: Numbers) -> Number:
        """Return the largest absolute value of an entry."""

    def softmax(self, s: Numbers) -> Numbers:
        """Return exp(s) divided by its sum; for a matrix, row by row."""

    def covariance(self, f: Numbers, h: Numbers) -> Numbers:
        """Return (diag(f) - f f^T) h for weights f of sum 1."""

    def count(self, condition: Callable[[Number], Relation], x: Numbers) -> Number:
        """Return the number of entries for which condition(entry) is true."""

    # relations

    def psd(self, A: Numbers) -> Relation:
        """Return the relation that z^T A z >= 0 for all z; A <= B is `m.psd(B - A)`."""

    def pd(self, A: Numbers) -> Relation:
        """Return the relation that z^T A z > 0 for all z other than 0."""

    def differ(self, left: Number, right: Number) -> Relation:
        """Return the relation that two numbers differ, or two arrays in some entry."""

    # how a formula is written down

    def symbol(self, latex: str, says: str, *, rows: bool = False) -> Numbers:
        """Return the LaTeX of a primitive, with a sentence that defines it, if `m.name` is text.

        With `rows`, the symbol is a matrix that has a row.

        Raises:
            ClaimError: this arithmetic computes, and has no notation.
        """
