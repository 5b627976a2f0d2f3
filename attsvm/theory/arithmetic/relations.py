"""Functions that are computed from others by relations: indicators, counts, definiteness."""

import functools
from collections.abc import Callable
from typing import Any

from attsvm.theory.arithmetic.entries import Entries, Number, Numbers, entries, misuse
from attsvm.theory.arithmetic.namespace import All, AnyOf, Comparison, Namespace, Relation, Unequal


def each(function: Callable[..., object], x: object) -> Any:
    """Return the value of a function on a number, or on each entry of an array."""
    if isinstance(x, Entries):
        return entries([function(value) for value in x.ravel().tolist()], x.shape)
    return function(x)


def flat(x: object) -> list[Any]:
    """Return the entries of an array, or a number alone, as a list."""
    return x.ravel().tolist() if isinstance(x, Entries) else [x]


class Composed(Namespace):
    """The functions of the namespace that relations define."""

    def relu(self, x: Number) -> Numbers:
        return each(lambda t: self.maximum(t, self.exact(0)), x)

    def sign(self, x: Number) -> Numbers:
        return each(lambda t: self._positive(t) - self._positive(-t), x)

    def _positive(self, x: Number) -> Number:
        """Return 1 if a number is positive, else 0."""
        return 1 - self.is_zero(self.maximum(x, self.exact(0)))

    def indicator(self, relation: Relation) -> Number:
        one = self.exact(1)
        if isinstance(relation, All):
            return functools.reduce(lambda a, b: a * self.indicator(b), relation.parts, one)
        if isinstance(relation, AnyOf):
            none = (1 - self.indicator(part) for part in relation.parts)
            return 1 - functools.reduce(lambda a, b: a * b, none, one)
        gaps = flat(relation.right - relation.left)
        if relation.kind == "equal":
            return functools.reduce(lambda a, b: a * b, map(self.is_zero, gaps), one)
        (gap,) = map(self.exact, gaps)
        return self._positive(gap) if relation.kind == "below" else 1 - self._positive(-gap)

    def count(self, condition: Callable[[Number], Relation], x: Numbers) -> Number:
        return self.sum(entries([self.indicator(condition(entry)) for entry in flat(x)]))

    def _whole(self, name: str, *numbers: Number) -> Number:
        known = [number for number in numbers if isinstance(number, int)]
        if len(known) < len(numbers):
            raise misuse(f"takes {name} of numbers that are not known here", "Use an Integer.")
        from attsvm.theory.arithmetic.whole_numbers import whole  # few formulas need it

        value = whole(name, *known)
        if value is None:
            raise misuse(f"takes {name} of a negative integer", "Exclude it by Integer(0).")
        return self.exact(value)

    # relations

    def psd(self, A: Numbers) -> Relation:
        """Return that all symmetric functions of the eigenvalues are at least 0."""
        values = self.symmetric_functions(self._symmetric(A))
        return self.all_of(*(self.at_least(value, self.exact(0)) for value in values))

    def pd(self, A: Numbers) -> Relation:
        """Return that all symmetric functions of the eigenvalues are positive."""
        values = self.symmetric_functions(self._symmetric(A))
        return self.all_of(*(self.above(value, self.exact(0)) for value in values))

    def differ(self, left: Number, right: Number) -> Relation:
        gaps = flat(left - right)
        zero = self.exact(0)
        both = ((Comparison("below", gap, zero), Comparison("below", zero, gap)) for gap in gaps)
        return Unequal(tuple(part for pair in both for part in pair))
