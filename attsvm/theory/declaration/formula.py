"""A formula with its variables, written once.

The same code is evaluated in balls by the judge, in floats and tensors by searchers, and on letters
for display.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import ctx

from attsvm._types import Case, JsonObject
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import BALLS, ENCLOSURES, Balls
from attsvm.theory.arithmetic.balls import Doubts
from attsvm.theory.arithmetic.entries import CONSTANTS, Number, Values, misuse
from attsvm.theory.arithmetic.namespace import All, Comparison, Namespace, Relation, returned
from attsvm.theory.arithmetic.traces import Traces
from attsvm.theory.declaration.arguments import signature
from attsvm.theory.declaration.conclusions import Conclusion, Measured
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.instances import (
    FrozenValues,
    built,
    defined,
    domains,
    numbers,
    rational,
    shape_of,
)
from attsvm.theory.declaration.metering import evaluate
from attsvm.theory.declaration.variables import Choice, Integer, Variable, axes_of

if TYPE_CHECKING:
    from attsvm.theory.arithmetic.exponentials import Exponentials

TIGHTENED = "tightened"
"""Name of the parameter for the share of the right side that the left side may reach."""

REQUIRED = inspect.Parameter.empty
"""Default of a constant that a reading must set."""


@dataclass(frozen=True, slots=True)
class Formula:
    """The hypotheses and the conclusion of a reading, with the variables that it quantifies over.

    Attributes:
        variables: variables by name, in the order in which they are drawn.
        hypotheses: conditions on them, by name.
        conclusion: a function of (m, v) and of named constants that returns a comparison.
        constants: the constants of the reading.
        instance: the type of its instances.
    """

    variables: Mapping[str, Variable]
    hypotheses: Mapping[str, Hypothesis]
    conclusion: Conclusion
    constants: Mapping[str, object]
    instance: type

    def relation(self, m: Namespace, v: Values, parameters: Mapping[str, object]) -> Relation:
        """Return the conclusion at values v; parameters override the reading's constants."""
        values = {**self.constants, **parameters}
        share = values.pop(TIGHTENED, None)
        constants = {k: _constant(m, c) for k, c in values.items()}
        with _spelled_out(m):
            relation = evaluate(_closed(self.conclusion), m, v, **constants)
        returned(relation, "a conclusion")
        return relation if share is None else tightened(m, relation, share)

    def exact(self, case: Case) -> Values:
        """Return the values of an instance as rationals.

        Its numbers are converted once for all hypotheses and the conclusion, and its definitions
        are evaluated once for each precision. If steps are counted, there is no cache, because the
        count must not depend on earlier calls.
        """
        if sys.gettrace() is not None:  # counters of steps are trace functions
            return self._values(BALLS, case, rational)
        return _kept(self.variables, case)

    def enclosed(self, case: Case) -> Values:
        """Return the values of an instance as balls of the working precision."""
        return self._values(ENCLOSURES, case, ENCLOSURES.values)

    def counts_beyond(self, case: Case) -> bool:
        """Return whether an integer, such as a number of steps, exceeds the largest drawn one."""
        return any(
            isinstance(variable, Integer) and getattr(case, name, 0) > variable.drawn_to
            for name, variable in self.variables.items()
        )

    def known(self, m: Traces | Exponentials, case: Case) -> Values:
        """Return the values of an instance as numbers with fingerprints, or with exact forms."""
        return self._values(m, case, lambda value: m.of(rational(value)))

    def _values(self, m: Namespace, case: Case, number: Callable[[float], Number]) -> Values:
        return defined(self.variables, m, FrozenValues(**numbers(self.variables, case, number)))

    def build(self, **values: object) -> Case:
        """Return an instance from numbers, nested lists or arrays; see `built`.

        Raises:
            ClaimError: a variable is missing or unknown, or a value does not fit its variable.
        """
        return built(self.variables, self.instance, values)

    def values_of(self, case: Case) -> JsonObject:
        """Return the values of an instance by variable, with lengths of axes, as plain data."""
        values: JsonObject = dict(shape_of(self.variables, case))
        for name, variable in self.variables.items():
            if name not in values and variable.stored is not None:
                value = getattr(case, name)
                array = isinstance(value, np.ndarray)
                values[name] = value.astype(float).tobytes() if array else value
        return values

    @property
    def domain(self) -> dict[str, Sequence[object]]:
        """The values of each variable if they are finitely many; else empty."""
        results: dict[str, Sequence[object]] = {}
        for name, variable in self.variables.items():
            low, high = variable.ends
            if isinstance(variable, Choice):
                results[name] = list(variable.members)
            elif isinstance(variable, Integer) and low is not None and high is not None:
                results[name] = range(low, high + 1)
            elif variable.stored is not None:
                return {}
        # lengths of axes have no upper end, and a sibling may drop an end
        ended = domains(self.variables).keys() <= self.hypotheses.keys()
        return results if ended and not self.axes else {}

    @property
    def batches(self) -> bool:
        """Whether batches of instances can be filled at random."""
        return True

    @property
    def measured(self) -> Measured | None:
        """The conclusion if it has no closed form, else None."""
        return self.conclusion if isinstance(self.conclusion, Measured) else None

    @property
    def ensemble(self) -> Callable[[np.random.Generator], Case] | None:
        """None, because larger instances are drawn like all others."""
        return None

    @property
    def continuous(self) -> bool:
        """Whether an instance has real numbers, so that a search can climb."""
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
        """The constants of the conclusion with defaults, `REQUIRED` if there is no default."""
        if not isinstance(self.conclusion, Measured):
            chosen = list(signature(self.conclusion).parameters.values())[2:]
        elif self.conclusion.constants is None:
            chosen = list(signature(self.conclusion.floats).parameters.values())[1:]
        else:
            return dict(self.conclusion.constants)
        return {parameter.name: parameter.default for parameter in chosen}

    @property
    def fixed(self) -> Mapping[str, object]:
        """Empty: variables have domains, not fixed fields."""
        return {}

    @property
    def settings(self) -> Mapping[str, Hypothesis]:
        """Fixed fields as hypotheses by name, in the order of `fixed`; empty for variables."""
        return {}

    @property
    def known_constants(self) -> JsonObject:
        """All known constants: fixed fields of records, defaults, and constants of the reading."""
        known = {**self.fixed, **self.named_constants, **self.constants}
        return {name: value for name, value in known.items() if value is not REQUIRED}


_LAST: list[Any] = [None, None, {}, {}]
"""Cache of one: the last instance, its variables, their rationals by name, and by precision the
rationals with the values of definitions."""


def _kept(variables: Mapping[str, Variable], case: Case) -> Values:
    """Return the values of an instance as rationals, from the last call if it was the same."""
    if _LAST[0] is not case or _LAST[1] is not variables:
        _LAST[:] = case, variables, numbers(variables, case, rational), {}
    if ctx.prec in _LAST[3]:
        return FrozenValues(**_LAST[3][ctx.prec])
    doubts = Doubts.count
    v = defined(variables, BALLS, FrozenValues(**_LAST[2]))
    if doubts == Doubts.count:  # each evaluation with doubts must count them
        _LAST[3][ctx.prec] = dict(vars(v))
    return v


@contextlib.contextmanager
def _spelled_out(m: Namespace) -> Iterator[None]:
    """Replace Python's error if a formula mixes balls or rationals with another kind of number."""
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


def _closed(conclusion: Conclusion) -> Callable[..., Relation]:
    """Return the conclusion as a function of (m, v) and of constants.

    Raises:
        ClaimError: the conclusion is `Measured`, so there is no such function.
    """
    if isinstance(conclusion, Measured):
        raise misuse("has a measured conclusion, which is no function of (m, v)", "Use its forms.")
    return conclusion


def _constant(m: Namespace, value: object) -> object:
    """Return a constant in the arithmetic.

    Integers, functions, None and texts that begin with a letter stay. Other texts are numbers, such
    as "0.95", and become exact.
    """
    if isinstance(value, str) and value[:1].isalpha():
        return value
    return value if isinstance(value, int | None) or callable(value) else m.exact(value)


def tightened(m: Namespace, relation: Relation, share: object) -> Relation:
    """Return the inequality, or each of several, with its right side multiplied by the share.

    Raises:
        ClaimError: the relation is an equality or a disjunction, or contains one.
    """
    if isinstance(relation, All):
        return m.all_of(*(tightened(m, part, share) for part in relation.parts))
    if not isinstance(relation, Comparison) or relation.kind == "equal":
        raise ClaimError(
            "only an inequality can be tightened",
            remedy="Name siblings of this reading by hand.",
        )
    return Comparison(relation.kind, relation.left, m.exact(share) * relation.right)
