"""Statements about data that are drawn as a whole.

Independent draws of all numbers rarely give data with a solvable max-margin problem, or an
adversarial start. Such a statement quantifies over the fields of a record, which a strategy
draws together:

    variables=Records(Run, runs(tight_data()))

Its formulas take the record in place of the variables, and `m.values(run.start)` gives the numbers
of a field. A conclusion about the limit of a run or of a path is
`Measured`.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import typing
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Case, Hint, JsonObject, Record
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.traces import Traces
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.hypotheses import Hypothesis

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from attsvm.theory.arithmetic.exponentials import Exponentials


@dataclass(frozen=True, slots=True)
class Records:
    """The record over whose fields a statement quantifies.

    Attributes:
        type: the record, a frozen dataclass of numbers, arrays and such records.
        drawn: the strategy that draws the record.
        ensemble: draws one larger record from a generator.
        fixed: fields that the sentence fixes, such as a start at zero, by their dotted names.
        lets: a clause on the fields that reads well after "Let"; may be empty.
        values: fields with the one value that a reading or a sibling fixes, see `at`.
        kinds: the types of fields that have several possible types.
    """

    type: builtins.type[Case]
    drawn: SearchStrategy[Case] = field(repr=False)
    ensemble: Callable[[np.random.Generator], Case] | None = field(default=None, repr=False)
    fixed: tuple[str, ...] = ()
    lets: str = ""
    values: Mapping[str, object] = field(default_factory=dict, hash=False)
    kinds: Mapping[str, Hint] = field(default_factory=dict, hash=False)

    def takes(self, record: Case) -> bool:
        """Return whether a record and its fields have the types of this statement."""
        kinds = self.kinds.items()
        return type(record) is self.type and all(type(getattr(record, k)) is t for k, t in kinds)

    def at(self, values: Mapping[str, object]) -> Records:
        """Return the records with these values in place of the drawn ones."""
        if not values:
            return self
        own = dataclasses.replace(self, values={**self.values, **values})
        ensemble = None if self.ensemble is None else functools.partial(_placed, own, self.ensemble)
        return dataclasses.replace(own, drawn=self.drawn.map(own.place), ensemble=ensemble)

    def place(self, case: Any) -> Case:
        """Return a record with the fixed values."""
        if not self.values:
            return case
        record: Record = case
        return dataclasses.replace(record, **self.values)

    @property
    def settings(self) -> dict[str, Hypothesis]:
        """The fixed values of fields as hypotheses by name."""
        results = [_has(name, value) for name, value in self.values.items()]
        return {hypothesis.name: hypothesis for hypothesis in results}


def _placed(
    records: Records,
    ensemble: Callable[[np.random.Generator], Case],
    generator: np.random.Generator,
) -> Case:
    """Return a record of the ensemble with the fixed values."""
    return records.place(ensemble(generator))


@functools.lru_cache(maxsize=256)
def _has(name: str, value: Hashable) -> Hypothesis:
    """Return the hypothesis that a field of a record has this value."""
    says = f"the {name} is {value}"
    checked = f"fact({name} == {value!r})" if isinstance(value, str) else ""
    return Hypothesis(
        says, lambda case: bool(getattr(case, name) == value), setting=True, checked=checked
    )


@dataclass(frozen=True, slots=True)
class RecordFormula(Formula):
    """A formula over records; see `Formula`.

    Attributes:
        records: the record over whose fields it quantifies.
    """

    records: Records

    @property
    def fixed(self) -> Mapping[str, object]:
        """The fields of its records that have a fixed value."""
        return self.records.values

    @property
    def settings(self) -> Mapping[str, Hypothesis]:
        """Fixed fields as hypotheses by name, in the order of `fixed`."""
        return self.records.settings

    @property
    def batches(self) -> bool:
        """False, because no batch of records can be filled at random."""
        return False

    @property
    def continuous(self) -> bool:
        """False, because formulas of records have no gradients."""
        return False

    @property
    def axes(self) -> tuple[str, ...]:
        """Empty: records name no axes."""
        return ()

    @property
    def ensemble(self) -> Callable[[np.random.Generator], Case] | None:
        """The function that draws one larger instance, or None."""
        return self.records.ensemble

    def exact(self, case: Case) -> Values:
        """Return the record unchanged; formulas take its numbers by `m.values`."""
        return case

    def known(self, m: Traces | Exponentials, case: Case) -> Values:
        """Return the record unchanged, as for rationals."""
        return case

    def values_of(self, case: Case) -> JsonObject:
        """Return the value of each field that the sentence leaves free, by its dotted name."""
        fixed = {*self.records.fixed, *self.records.values}
        return {name: value for name, value in _fields(case, "") if name not in fixed}

    def ensure_instance(self, example: Case) -> Case:
        """Return an explicit instance of the record's type, with the fixed values.

        Raises:
            ClaimError: the instance has another type.
        """
        kind = typing.get_origin(self.records.type) or self.records.type
        if kind is not Any and isinstance(kind, type) and not isinstance(example, kind):
            raise ClaimError(
                "an explicit instance is no record of its statement",
                value=type(example).__name__,
                remedy=f"Give a {kind.__name__}.",
            )
        return self.records.place(example)


def _fields(value: object, name: str) -> Iterator[tuple[str, Hashable]]:
    """Yield the leaves of a record by dotted names, without masks and absent fields."""
    if isinstance(value, np.ndarray):
        if value.dtype != np.bool_:
            yield name, (value.shape, value.tobytes())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for each in dataclasses.fields(value):
            inner = f"{name}.{each.name}" if name else each.name
            yield from _fields(getattr(value, each.name), inner)
    elif isinstance(value, tuple):
        for k, item in enumerate(value):
            yield from _fields(item, f"{name}[{k}]")
    elif value is not None:
        yield name or "value", repr(value)
