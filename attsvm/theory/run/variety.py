"""Variety: which variables of a claim differ among the instances that a search looks at."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flint import ctx

from attsvm._types import Case, JsonObject
from attsvm.theory.arithmetic import BALLS, ENCLOSURES
from attsvm.theory.arithmetic.relations import comparisons
from attsvm.theory.declaration.variables import Known

if TYPE_CHECKING:
    from attsvm.theory.declaration.claim import Part
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.run.coverage import Counts

_DIGITS = 64
"""Bits to which the sides of a comparison are told apart."""

MANY = 64
"""Values of a variable that are told apart."""


class Variety:
    """What varied of a part, told by its variables or the fields of its records.

    Attributes:
        moved: whether each differed among the instances that were evaluated or screened.
        keys: a short text for each instance that was drawn, by which equal ones are told; None
            where nobody asks.
    """

    def __init__(self, part: Part, seen: Counts) -> None:
        self._part = part
        self._seen = seen
        self._values: dict[str, set[Any]] = {}
        self._sides: set[str] = set()
        self._start: JsonObject = {}
        self._alone: JsonObject = {}
        self.moved: dict[str, bool] = {}
        self.keys: list[str] | None = None

    def see_drawn(self, case: Case) -> None:
        """Count the values that each variable takes, and whether the sides of the formula move."""
        formula = self._part.formula
        if formula.measured is None and len(self._sides) < 2 and self._seen.drawn <= MANY:
            self._sides.add(printed_sides(formula, case, self._part.parameters))
            self._seen.sides = len(self._sides)
        named = formula.values_of(case)
        if self.keys is not None:
            self.keys.append(hashlib.blake2b(repr(named).encode(), digest_size=8).hexdigest())
        for name, value in named.items():
            values = self._values.setdefault(name, set())
            if len(values) < MANY:
                values.add(value)
            self._seen.varied[name] = len(values)

    def see(self, case: Case) -> None:
        """See which variables differ among the instances."""
        if self.moved and all(self.moved.values()):
            return
        for name, value in self._part.formula.values_of(case).items():
            other = value != self._start.setdefault(name, value)
            self.moved[name] = self.moved.get(name, False) or other

    def see_batch(self, raw: Known, met: Any) -> None:
        """See which variables differ among the instances of a batch that meet the hypotheses.

        Args:
            raw: values by name; one that has a shape is of many lanes (..., batch), another one is
                for the whole batch.
            met: of each lane whether it meets them.
        """
        if not met.any():
            return
        for name, value in raw.items():
            if not self.moved.get(name):
                lanes = value[..., met] if hasattr(value, "shape") else None
                one = self._alone.setdefault(name, value) if lanes is None else lanes[..., :1]
                self.moved[name] = bool(value != one if lanes is None else (lanes != one).any())


def printed_sides(formula: Formula, case: Case, parameters: Mapping[str, object]) -> str:
    """Return both sides of each comparison of the conclusion, to `_DIGITS` bits."""
    with ctx.workprec(_DIGITS):
        try:
            if formula.counts_beyond(case):
                relation = formula.relation(ENCLOSURES, formula.enclosed(case), parameters)
            else:
                relation = formula.relation(BALLS, formula.exact(case), parameters)
        except ZeroDivisionError:
            return "a division by 0"
        return "; ".join(f"{c.left} {c.right}" for c in comparisons(relation))
