"""Variety: which variables of a claim take different values among the instances of a search."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from flint import ctx

from attsvm._types import Array, Case, JsonObject
from attsvm.theory.arithmetic import BALLS, ENCLOSURES
from attsvm.theory.arithmetic.relations import comparisons
from attsvm.theory.declaration.variables import Known

if TYPE_CHECKING:
    from attsvm.theory.declaration.claim import Part
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.run.coverage import Counts

_DIGITS = 64
"""Precision in bits at which sides of a comparison are printed, to see whether they differ."""

MANY = 64
"""Maximum number of different values of a variable that are counted."""


class Variety:
    """A record of which variables, or fields of records, took different values in a part's search.

    Attributes:
        moved: by variable, whether its value differed among evaluated or screened instances.
        keys: a short text for each drawn instance, to recognise repetitions; None to collect none.
    """

    def __init__(self, part: Part, seen: Counts) -> None:
        self._part = part
        self._seen = seen
        self._values: dict[str, set[Hashable]] = {}
        self._sides: set[str] = set()
        self._start: JsonObject = {}
        self._alone: JsonObject = {}
        self.moved: dict[str, bool] = {}
        self.keys: list[str] | None = None

    def see_drawn(self, case: Case) -> None:
        """Count the values of each variable, and record whether the sides of the formula change."""
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
        """Record which variables of an instance differ from the first instance."""
        if self.moved and all(self.moved.values()):
            return
        for name, value in self._part.formula.values_of(case).items():
            other = value != self._start.setdefault(name, value)
            self.moved[name] = self.moved.get(name, False) or other

    def see_batch(self, raw: Known, met: Array) -> None:
        """Record which variables differ among the instances of a batch that meet the hypotheses.

        Args:
            raw: values by name. An array has shape (..., batch); another value holds for the whole
                batch.
            met: for each instance of the batch, whether it meets the hypotheses; shape (batch,).
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
