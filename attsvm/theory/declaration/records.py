"""Statements about data that are drawn as a whole, and conclusions without a closed form.

Independent draws of all numbers rarely give data with a solvable max-margin problem, or an
adversarial start. Such a statement quantifies over the fields of a record, which a strategy
draws together:

    variables=Records(Run, runs(tight_data()))

Its formulas take the record in place of the variables, and `m.values(run.start)` gives the numbers
of a field. If a conclusion is about the limit of a run or of a path, it is `Measured`.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm._types import Case, JsonObject
from attsvm.errors import ClaimError, present
from attsvm.theory.arithmetic.heights import seen
from attsvm.theory.declaration.formula import Formula, signature
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.notation import Notation, Symbols
from attsvm.theory.declaration.slack import Slack

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True, slots=True)
class Records:
    """The record over whose fields a statement quantifies.

    Attributes:
        type: the record, a frozen dataclass of numbers, arrays and such records.
        drawn: the strategy that draws the record.
        ensemble: draws one larger record from a generator.
        fixed: fields that the sentence fixes, such as a start at zero, by their dotted names.
        climbed: whether the conclusion also runs on tensors, so that a search can use gradients.
        lets: a clause on the fields that reads well after "Let"; may be empty.
        values: fields with the one value that a reading or a sibling fixes, see `at`.
        kinds: the types of fields that have several possible types.
    """

    type: Any
    drawn: SearchStrategy[Any] = field(repr=False)
    ensemble: Callable[[np.random.Generator], Any] | None = field(default=None, repr=False)
    fixed: tuple[str, ...] = ()
    climbed: bool = False
    lets: str = ""
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    kinds: Mapping[str, type] = field(default_factory=dict, hash=False)

    def takes(self, record: Any) -> bool:
        """Return whether a record and its fields have the types of this statement."""
        kinds = self.kinds.items()
        return type(record) is self.type and all(type(getattr(record, k)) is t for k, t in kinds)

    def at(self, values: Mapping[str, Any]) -> Records:
        """Return the records with these values in place of the drawn ones."""
        if not values:
            return self
        own = dataclasses.replace(self, values={**self.values, **values})
        ensemble = None if self.ensemble is None else functools.partial(_placed, own, self.ensemble)
        return dataclasses.replace(own, drawn=self.drawn.map(own.place), ensemble=ensemble)

    def place(self, case: Any) -> Any:
        """Return a record with the fixed values."""
        return dataclasses.replace(case, **self.values) if self.values else case

    @property
    def settings(self) -> dict[str, Hypothesis]:
        """The fixed values of fields as hypotheses by name."""
        found = [_has(name, value) for name, value in self.values.items()]
        return {hypothesis.name: hypothesis for hypothesis in found}


def _placed(records: Records, ensemble: Callable[..., Any], generator: np.random.Generator) -> Any:
    """Return a larger record with the fixed values."""
    return records.place(ensemble(generator))


@functools.lru_cache(maxsize=256)
def _has(name: str, value: Any) -> Hypothesis:
    """Return the hypothesis that a field of a record has this value."""
    says = f"the {name} is {value}"
    return Hypothesis(says, lambda case: bool(getattr(case, name) == value), setting=True)


@dataclass(frozen=True, slots=True)
class Measured:
    """A conclusion without a closed form, with one implementation for each arithmetic.

    Floats measure it and bound their error, for instance by the rate of a run. Balls or
    rationals decide it, for instance by a basin that the run cannot leave. They are evaluated
    whenever floats see a violation, and on some instances without one. If floats follow a
    stand-in, balls are evaluated on every ordinary instance. Each implementation takes an
    instance and the named constants of a reading.

    Attributes:
        says, notation, symbols, where: the notation; see `Notation`.
        floats: the slack of an instance.
        balls: the slack from exact values: a ball at the working precision, `OPEN` if more bits are
            needed, a rational, or None if no precision decides.
        tensors: how close many instances come to violation, from tensors (batch, ...) to (batch,);
            it guides a search and decides nothing.
        again: the slack by other code in higher precision, if there is no enclosure.
        stand_in: the dynamics that floats follow in place of the claim's own, such as gradient flow
            in place of descent; empty if floats follow the claim's own.
        strict: whether a slack of exactly 0 violates the conclusion, as for `<`.
        constants: the named constants with their defaults; by default the constants of the floats.
        proposition: for the constants of a reading what it says in the letters of linked proofs, a
            `Said` of `attsvm.theory.proof.formulas`; None if no linked proof concludes it.
    """

    says: str
    floats: Callable[..., Slack]
    balls: Callable[..., Any] | None = None
    tensors: Callable[..., Any] | None = None
    again: Callable[..., Slack] | None = None
    stand_in: str = ""
    strict: bool = False
    notation: str = ""
    symbols: Symbols = field(default_factory=dict, hash=False)
    constants: Mapping[str, object] | None = field(default=None, hash=False)
    where: str = ""
    proposition: Callable[..., Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse a conclusion whose refutations could not be confirmed.

        Raises:
            ClaimError: the forms that would confirm a refutation are missing.
        """
        told = self.says or self.notation
        if self.balls is None and self.again is None:
            raise ClaimError(
                f"no form could confirm a refutation of this: {told}",
                remedy="Give balls (an enclosure) or again (higher precision).",
            )
        if self.stand_in and self.balls is None:
            raise ClaimError(
                f"the floats follow {self.stand_in}, and nothing follows the claim itself: {told}",
                remedy="Give balls, which are asked about every instance.",
            )

    @property
    def stated(self) -> Notation:
        """The notation of the conclusion."""
        return Notation(self.says, self.notation, self.symbols, self.where)

    def ensure_takes(self, whose: str, names: Iterable[str]) -> None:
        """Raise unless all forms take the named constants of the floats.

        Raises:
            ClaimError: a form does not take them.
        """
        for form in ("balls", "tensors", "again"):
            function = getattr(self, form)
            try:
                if function is not None:
                    signature(function).bind(None, **dict.fromkeys(names))
            except TypeError as problem:
                raise ClaimError(
                    f"the form for {form} of the conclusion of {whose} does not take its "
                    f"constants: {problem}",
                    remedy="Give every form the same named constants.",
                ) from problem


@dataclass(frozen=True, slots=True)
class RecordFormula(Formula):
    """A formula over records; see `Formula`.

    Attributes:
        records: the record over whose fields it quantifies.
    """

    records: Records

    @property
    def measured(self) -> Any:
        """The conclusion if it has no closed form, else None."""
        return self.conclusion if isinstance(self.conclusion, Measured) else None

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
        """Whether a search can climb by gradients of the conclusion."""
        if self.measured is not None:
            return self.measured.tensors is not None
        return self.records.climbed

    @property
    def axes(self) -> tuple[str, ...]:
        """Empty: records name no axes."""
        return ()

    @property
    def ensemble(self) -> Any:
        """The function that draws one larger instance, or None."""
        return self.records.ensemble

    def exact(self, case: Case) -> Any:
        """Return the record unchanged; formulas take its numbers by `m.values`."""
        return case

    traced = exact

    def values_of(self, case: Case) -> JsonObject:
        """Return the value of each field that the sentence leaves free, by its dotted name."""
        fixed = {*self.records.fixed, *self.records.values}
        return {name: value for name, value in _fields(case, "") if name not in fixed}

    def ensure_instance(self, example: Any) -> Any:
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

    def relaxed(self, case: Case, **parameters: Any) -> Any:
        """Return how close many instances come to violation, in torch."""
        if self.measured is not None:
            climb = present(self.measured.tensors, "the conclusion's form for tensors")
            return climb(case, **{**self.constants, **parameters})
        from attsvm.theory.arithmetic import Tensors

        m = Tensors()
        found, _ = seen(m.library, self.relation(m, case, parameters), touching=False)
        # a formula may reduce to a constant, such as for one token: add zeros to get (batch,)
        first = next(_tensors(case))
        return found + 0.0 * first.reshape(len(first), -1)[:, 0]


def _tensors(case: Case) -> Iterator[Any]:
    """Yield the tensors (batch, ...) of a batch of records."""
    if isinstance(case, SimpleNamespace | tuple):
        for value in vars(case).values() if isinstance(case, SimpleNamespace) else case:
            yield from _tensors(value)
    elif hasattr(case, "movedim"):
        yield case


def _fields(value: Any, name: str) -> Iterator[tuple[str, Any]]:
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
