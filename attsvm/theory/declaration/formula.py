"""A formula with its variables: one text that is judged, screened, climbed and typeset."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attsvm._types import Case, JsonObject
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import (
    BALLS,
    ENCLOSURES,
    Balls,
)
from attsvm.theory.arithmetic.entries import CONSTANTS, misuse
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.relations import Comparison, Relation, returned
from attsvm.theory.arithmetic.traces import TRACES
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.instances import (
    Values,
    built,
    defined,
    domains,
    numbers,
    rational,
    shape_of,
)
from attsvm.theory.declaration.metering import evaluate
from attsvm.theory.declaration.variables import (
    Choice,
    Integer,
    Variable,
    axes_of,
)

TIGHTENED = "tightened"
"""The parameter that the engine sets: the share of the right side that the left may reach."""

REQUIRED = inspect.Parameter.empty
"""The default of a constant that a reading has to set."""

signature = functools.lru_cache(maxsize=4096)(inspect.signature)
"""What a function takes; all readings and siblings of a statement ask for it."""


@dataclass(frozen=True, slots=True)
class Formula:
    """What a reading says of its variables.

    Attributes:
        variables: what it quantifies over, by name, in the order in which they are drawn.
        hypotheses: conditions on them, by name.
        conclusion: a function of (m, v) and of named constants that returns a comparison.
        constants: those of the reading.
        instance: the type of its instances.
    """

    variables: Mapping[str, Variable]
    hypotheses: Mapping[str, Hypothesis]
    conclusion: Callable[..., Relation]
    constants: Mapping[str, object]
    instance: type

    def relation(self, m: Namespace, v: Any, parameters: Mapping[str, object]) -> Relation:
        """The conclusion at values v; parameters take the place of the reading's constants."""
        given = {**self.constants, **parameters}
        share = given.pop(TIGHTENED, None)
        with _spelled_out(m):
            relation = evaluate(
                self.conclusion, m, v, **{k: _constant(m, c) for k, c in given.items()}
            )
        returned(relation, "a conclusion")
        return relation if share is None else _tightened(m, relation, share)

    def exact(self, case: Case) -> Any:
        """The values of an instance as rationals.

        Its numbers are turned into rationals once for all hypotheses and the conclusion, but where
        steps are counted: how many there are must not depend on what was asked before.
        """
        if sys.gettrace() is not None:
            return self._values(BALLS, case, rational)
        if _LAST[0] is not case or _LAST[1] is not self.variables:
            _LAST[:] = case, self.variables, numbers(self.variables, case, rational)
        return defined(self.variables, BALLS, Values(**_LAST[2]))

    def enclosed(self, case: Case) -> Any:
        """The values of an instance as balls of the working precision."""
        return self._values(ENCLOSURES, case, ENCLOSURES.values)

    def counts_beyond(self, case: Case) -> bool:
        """Whether an integer, such as a number of steps, is larger than those that are drawn."""
        return any(
            isinstance(variable, Integer) and getattr(case, name, 0) > variable.drawn_to
            for name, variable in self.variables.items()
        )

    def traced(self, case: Case) -> Any:
        """The values of an instance with fingerprints."""
        return self._values(TRACES, case, lambda value: TRACES.of(rational(value)))

    def _values(self, m: Namespace, case: Case, number: Callable[[float], Any]) -> Any:
        return defined(self.variables, m, Values(**numbers(self.variables, case, number)))

    def build(self, **values: Any) -> Any:
        """Return an instance from numbers, nested lists or arrays; see `built`.

        Raises:
            ClaimError: a variable is missing or unknown, or a value is not what it can be.
        """
        return built(self.variables, self.instance, values)

    def values_of(self, case: Case) -> JsonObject:
        """The value of each variable of an instance, lengths of axes included, as plain data."""
        values: JsonObject = dict(shape_of(self.variables, case))
        for name, variable in self.variables.items():
            if name not in values and variable.stored is not None:
                value = getattr(case, name)
                values[name] = value.tobytes() if isinstance(value, np.ndarray) else value
        return values

    @property
    def domain(self) -> dict[str, Sequence[Any]]:
        """The values of each variable, where these are all instances; none where there are more."""
        found: dict[str, Sequence[Any]] = {}
        for name, variable in self.variables.items():
            low, high = variable.ends
            if isinstance(variable, Choice):
                found[name] = list(variable.members)
            elif isinstance(variable, Integer) and low is not None and high is not None:
                found[name] = range(low, high + 1)
            elif variable.stored is not None:
                return {}
        # lengths have no upper end, and a sibling may drop one
        ended = domains(self.variables).keys() <= self.hypotheses.keys()
        return found if ended and not self.axes else {}

    @property
    def batches(self) -> bool:
        """Whether batches of instances can be filled at random."""
        return True

    @property
    def measured(self) -> Any:
        """Nothing: the conclusion is a comparison."""
        return None

    @property
    def ensemble(self) -> Any:
        """Nothing: larger instances are drawn like all others."""
        return None

    @property
    def continuous(self) -> bool:
        """Whether an instance has real numbers, along which one can climb."""
        return any(
            variable.stored is not None and not isinstance(variable, Integer | Choice)
            for variable in self.variables.values()
        )

    @property
    def stepped(self) -> bool:
        """Whether all variables are integers and choices."""
        return self.batches and not self.continuous

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the axes."""
        return axes_of(self.variables)

    @property
    def named_constants(self) -> JsonObject:
        """The constants that the conclusion takes with their defaults, `REQUIRED` without one."""
        measured = self.measured
        if measured is not None and measured.constants is not None:
            return dict(measured.constants)
        function, own = (self.conclusion, 2) if measured is None else (measured.floats, 1)
        taken = list(signature(function).parameters.values())[own:]
        return {parameter.name: parameter.default for parameter in taken}

    @property
    def fixed(self) -> Mapping[str, object]:
        """Nothing: variables have domains."""
        return {}

    @property
    def settings(self) -> Mapping[str, Hypothesis]:
        """What is fixed as hypotheses, by their names and in that order."""
        return {}

    @property
    def known_constants(self) -> JsonObject:
        """The constants as the reading has them or by default, and what it fixes of its records."""
        known = {**self.fixed, **self.named_constants, **self.constants}
        return {name: value for name, value in known.items() if value is not REQUIRED}


_LAST: list[Any] = [None, None, {}]
"""The instance whose rationals were asked for last, its variables, and these by name."""


@contextlib.contextmanager
def _spelled_out(m: Namespace) -> Iterator[None]:
    """Says what is wrong where balls or rationals meet a number of another kind."""
    try:
        yield
    except TypeError as error:
        mixed = re.search(r"for (\S+): '(\S+)' and '(\S+)'", str(error))
        kinds = mixed.groups()[1:] if mixed and isinstance(m, Balls) else ()
        strange = [kind for kind in kinds if not kind.startswith("flint.")]
        if len(strange) != 1:
            raise
        what = f"mixes a value of type {strange[0]} with numbers of its arithmetic"
        raise misuse(what, CONSTANTS) from error


def _constant(m: Namespace, value: Any) -> Any:
    """Numbers become exact ones of the arithmetic; words and functions stay."""
    if isinstance(value, str) and value[:1].isalpha():
        return value
    return value if isinstance(value, int | None) or callable(value) else m.exact(value)


def _tightened(m: Namespace, relation: Relation, share: Any) -> Relation:
    """The comparison with a share of its right side."""
    if not isinstance(relation, Comparison) or relation.kind == "equal":
        raise ClaimError(
            "only an inequality can be tightened",
            remedy="Name siblings of this reading by hand.",
        )
    return Comparison(relation.kind, relation.left, m.exact(share) * relation.right)
