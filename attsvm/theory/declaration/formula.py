"""A formula with its variables: one text that is judged, screened, climbed and typeset."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import ctx, fmpq
from hypothesis import strategies as st

from attsvm._dyadic import composite
from attsvm._types import Array
from attsvm.errors import ClaimError, DataError
from attsvm.theory.arithmetic import (
    BALLS,
    ENCLOSURES,
    FLOATS,
    Balls,
    Lane,
    entries,
    lanes,
)
from attsvm.theory.arithmetic.bounds import BOUNDS
from attsvm.theory.arithmetic.entries import CONSTANTS, misuse
from attsvm.theory.arithmetic.heights import heights, is_met, proved, seen, shortfall
from attsvm.theory.arithmetic.magnitudes import MAGNITUDES, Magnitude
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.rational_script import Verifiers
from attsvm.theory.arithmetic.relations import AnyOf, Comparison, Relation, returned
from attsvm.theory.arithmetic.script import Scripts
from attsvm.theory.arithmetic.traces import TRACES
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.instances import (
    Values,
    domains,
    member,
    put,
    same_numbers,
    shape_of,
)
from attsvm.theory.declaration.metering import evaluate
from attsvm.theory.declaration.variables import (
    Choice,
    Defined,
    Fitted,
    Integer,
    Meeting,
    Shape,
    Variable,
    axes_of,
)

TIGHTENED = "tightened"
"""The parameter that the engine sets: the share of the right side that the left may reach."""

_DIGITS = 64
"""Bits to which the sides of a comparison are told apart."""


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
    constants: Mapping[str, Any]
    instance: type

    # one formula, any arithmetic

    def relation(self, m: Namespace, v: Any, parameters: Mapping[str, Any]) -> Relation:
        """The conclusion at values v; parameters take the place of the reading's constants."""
        given = {**self.constants, **parameters}
        share = given.pop(TIGHTENED, None)
        with _spelled_out(m):
            relation = evaluate(
                self.conclusion, m, v, **{k: _constant(m, c) for k, c in given.items()}
            )
        returned(relation, "a conclusion")
        return relation if share is None else _tightened(m, relation, share)

    def exact(self, case: Any) -> Any:
        """The values of an instance as rationals.

        Its numbers are turned into rationals once for all hypotheses and the conclusion, but where
        steps are counted: how many there are must not depend on what was asked before.
        """
        if sys.gettrace() is not None:
            return self._values(BALLS, case, _rational)
        if _LAST[0] is not case or _LAST[1] is not self.variables:
            _LAST[:] = case, self.variables, self._numbers(case, _rational)
        return self._defined(BALLS, Values(**_LAST[2]))

    def enclosed(self, case: Any) -> Any:
        """The values of an instance as balls of the working precision."""
        return self._values(ENCLOSURES, case, ENCLOSURES.values)

    def counts_beyond(self, case: Any) -> bool:
        """Whether an integer, such as a number of steps, is larger than those that are drawn."""
        return any(
            isinstance(variable, Integer) and getattr(case, name, 0) > variable.drawn_to
            for name, variable in self.variables.items()
        )

    def traced(self, case: Any) -> Any:
        """The values of an instance with fingerprints."""
        return self._values(TRACES, case, lambda value: TRACES.of(_rational(value)))

    def written(self, m: Scripts | Verifiers, case: Any, named: Mapping[str, Array]) -> Any:
        """The values of an instance for a script; `named` are arrays of it, where a record."""
        for name, array in named.items():
            m.given(name, array)
        if not getattr(self.instance, "BUILT", False):
            return case
        known: dict[str, Any] = dict(shape_of(self.variables, case))
        for name, variable in self.variables.items():
            if name not in known and variable.stored is not None:
                value = getattr(case, name)
                if isinstance(variable, Choice):
                    known[name] = member(variable, name, value)
                else:
                    exact = isinstance(variable, Integer)
                    known[name] = int(value) if exact else m.given(name, value)
        return self._defined(m, Values(**known))

    def _values(self, m: Namespace, case: Any, number: Callable[[float], Any]) -> Any:
        return self._defined(m, Values(**self._numbers(case, number)))

    def _numbers(self, case: Any, number: Callable[[float], Any]) -> dict[str, Any]:
        """What an instance stores and its shape, by name."""
        known: dict[str, Any] = dict(shape_of(self.variables, case))
        for name, variable in self.variables.items():
            if name in known or variable.stored is None:
                continue
            value = getattr(case, name)
            if isinstance(variable, Choice):
                known[name] = member(variable, name, value)
            elif isinstance(variable, Integer):
                known[name] = int(value)
            elif isinstance(value, np.ndarray):
                known[name] = entries([number(x) for x in value.ravel().tolist()], value.shape)
            else:
                known[name] = number(value)
        return known

    def _defined(self, m: Namespace, v: Any) -> Any:
        for name, variable in self.variables.items():
            if isinstance(variable, Defined):
                put(v, name, evaluate(variable.by, m, v))
        return v

    # one instance

    def sides(self, case: Any, parameters: Mapping[str, Any]) -> str:
        """Both sides of each comparison of the conclusion, in digits that tell instances apart."""
        with ctx.workprec(_DIGITS):
            try:
                if self.counts_beyond(case):
                    relation = self.relation(ENCLOSURES, self.enclosed(case), parameters)
                else:
                    relation = self.relation(BALLS, self.exact(case), parameters)
            except ZeroDivisionError:
                return "a division by 0"
            return "; ".join(f"{c.left} {c.right}" for c in _leaves(relation))

    def values_of(self, case: Any) -> dict[str, Any]:
        """The value of each variable of an instance, lengths of axes included, as plain data."""
        values: dict[str, Any] = dict(shape_of(self.variables, case))
        for name, variable in self.variables.items():
            if name not in values and variable.stored is not None:
                value = getattr(case, name)
                values[name] = value.tobytes() if isinstance(value, np.ndarray) else value
        return values

    def strategy(self) -> st.SearchStrategy[Any]:
        """Instances drawn by Hypothesis; bounds that hypotheses name are fitted to them.

        Without such bounds, formulas of the same variables share one strategy and what is sampled
        of it.
        """
        if any(isinstance(variable, Fitted) for variable in self.variables.values()):
            return _drawn(self)
        return _STRATEGIES.setdefault(tuple(self.variables.items()), _drawn(self))

    def build(self, **values: Any) -> Any:
        """An instance from numbers, nested lists or arrays, which may be Fractions and integers.

        Raises:
            ClaimError: a variable is missing or unknown, or a value is not what it can be.
        """
        fields = [f.name for f in dataclasses.fields(self.instance)]
        if set(values) != set(fields):
            raise ClaimError(
                "an explicit instance does not give the variables of its statement",
                value=", ".join(sorted(values)),
                remedy=f"Give {', '.join(fields)}.",
            )
        stored = {}
        for name in fields:
            try:
                stored[name] = self._stored(name, values[name])
                exact = same_numbers(stored[name], values[name])
            except (TypeError, ValueError, OverflowError) as error:
                raise ClaimError(
                    f"an explicit instance gives {name} a value that it cannot have: {error}",
                    value=repr(values[name]),
                    remedy="Give numbers, or nested lists of them in rows of one length.",
                ) from error
            if not exact:
                raise ClaimError(
                    f"an explicit instance gives {name} a value that instances do not hold exactly",
                    value=repr(values[name]),
                    remedy="Give integers, or fractions over a power of two, of at most 53 bits.",
                )
        return self.instance(**stored)

    def _stored(self, name: str, value: Any) -> Any:
        variable = self.variables[name]
        if isinstance(variable, Choice):
            member(variable, name, value)
            return value
        if isinstance(variable, Integer):
            return int(value)
        if variable.axes:
            array = np.array(value, dtype=float)
            array.setflags(write=False)
            return array
        return float(value)

    # many instances

    def filled(self, generator: np.random.Generator, shape: Shape, batch: int) -> dict[str, Any]:
        """Raw values (..., batch) of a random batch of one shape, by name, not yet fitted."""
        raw: dict[str, Any] = {}
        for name, variable in self.variables.items():
            if name not in shape and variable.stored is not None:
                raw[name] = variable.fill(generator, {**shape, **raw}, batch)
        return raw

    def fit(self, raw: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
        """The batch where hypotheses hold: values moved there, bounds fitted to the others."""
        return self._fit(raw, shape, FLOATS)[0]

    def _fit(self, raw: Mapping[str, Any], shape: Shape, m: Any) -> tuple[dict[str, Any], Any]:
        """The same, and its values as lanes where these were needed, else None."""
        fitted = dict(raw)
        for name, variable in self.variables.items():
            if isinstance(variable, Meeting):
                fitted[name] = variable.moved(fitted[name], fitted)
        bounds = [n for n, variable in self.variables.items() if isinstance(variable, Fitted)]
        if not bounds:
            return fitted, None
        for name in bounds:
            del fitted[name]
        v = self.floats(fitted, shape, m)
        for name in bounds:
            mark = Lane(m.zeros(1))
            put(v, name, mark)
            self._define_again(v, m)
            least, most = m.zeros(1) - np.inf, m.zeros(1) + np.inf
            for condition in self.hypotheses.values():
                try:
                    relation = returned(evaluate(condition.holds, m, v), "a hypothesis")
                except AttributeError:  # it speaks of a bound that is not fitted yet
                    continue
                for part in _leaves(relation, needed=True):
                    if part.right is mark and isinstance(part.left, Lane):
                        least = m.library.fmax(least, part.left.value)
                    if part.left is mark and isinstance(part.right, Lane):
                        most = m.library.fmin(most, part.right.value)
            fitted[name] = Fitted.fitted(m.zeros(1) + raw[name], least, most, m.library)
            put(v, name, lanes(fitted[name]))
        self._define_again(v, m)
        return {name: fitted[name] for name in raw}, v

    def _define_again(self, v: Any, m: Any) -> None:
        try:
            self._defined(m, v)
        except AttributeError:
            return

    def floats(self, raw: Mapping[str, Any], shape: Shape, m: Any = FLOATS) -> Any:
        """The values of a batch as lanes of numpy, or of the tensors `m`."""
        v = Values(**shape)
        for name, value in raw.items():
            variable = self.variables[name]
            if isinstance(variable, Choice):
                put(v, name, member(variable, name, value))
            elif isinstance(variable, Integer) and not hasattr(value, "shape"):
                put(v, name, value)
            elif isinstance(value, np.ndarray | float):
                numbers = np.atleast_1d(np.asanyarray(value, dtype=float))
                put(v, name, lanes(numbers, m.numbers))
            else:
                put(v, name, lanes(value, m.numbers))
        self._define_again(v, m)
        return v

    def screened(
        self, raw: Mapping[str, Any], shape: Shape, batch: int, parameters: Mapping[str, Any]
    ) -> Array:
        """How close each instance of a batch comes to violation (batch,), as floats see it.

        Minus infinity where a hypothesis is not met or an evaluation is no number.
        """
        v = self.floats(raw, shape)
        return np.asarray(self._seen(v, batch, parameters, FLOATS, touching=False)[0])

    def fit_screened(
        self,
        raw: Mapping[str, Any],
        shape: Shape,
        batch: int,
        parameters: Mapping[str, Any],
        m: Any = FLOATS,
    ) -> tuple[dict[str, Any], Any]:
        """Return a batch by `fit` and its heights, without a mark for sides that touch."""
        return self.fit_seen(raw, shape, batch, parameters, m, touching=False)[:2]

    def fit_seen(
        self,
        raw: Mapping[str, Any],
        shape: Shape,
        batch: int,
        parameters: Mapping[str, Any],
        m: Any = FLOATS,
        *,
        touching: bool = True,
    ) -> tuple[dict[str, Any], Any, Any]:
        """Return a batch by `fit`, its heights, and which lanes may violate, as floats see it.

        If `touching`, equal sides of a strict comparison have the height `TOUCHED` in numpy, unless
        they are positive. The batch lies in numpy, or in torch if `m` is an arithmetic of tensors
        and the batch lies on its device; then no variable may be one that is moved (`Meeting`).
        """
        with np.errstate(all="ignore"):  # fitting and heights share what both compute
            fitted, v = self._fit(raw, shape, m)
        v = self.floats(fitted, shape, m) if v is None else v
        return fitted, *self._seen(v, batch, parameters, m, touching=touching and m is FLOATS)

    def _seen(
        self, v: Any, batch: int, parameters: Mapping[str, Any], m: Any, *, touching: bool
    ) -> tuple[Any, Any]:
        with np.errstate(all="ignore"):
            relation = self.relation(m, v, parameters)
            height, suspect = seen(m.library, relation, touching=touching)
            height = height + m.zeros(batch)
            met = m.zeros(batch) == 0.0
            for condition in self.hypotheses.values():
                met = met & is_met(returned(evaluate(condition.holds, m, v), "a hypothesis"))
        suspect = met & suspect
        return m.library.where(met & ~m.library.isnan(height), height, -np.inf), suspect

    def proved(
        self, raw: Mapping[str, Any], shape: Shape, batch: int, parameters: Mapping[str, Any]
    ) -> tuple[Array, Array]:
        """Return which instances of a fitted batch floats prove to violate, and which stay open.

        An instance violates if it meets all hypotheses and fails the conclusion. Integers below
        2^53 are exact, and so are sums and products that are floats; what is rounded is bounded.
        """
        with np.errstate(all="ignore"):
            v = self.floats(raw, shape, BOUNDS)
            holds, fails = proved(self.relation(BOUNDS, v, parameters))
            sure = possible = np.ones(batch, dtype=bool)
            for condition in self.hypotheses.values():
                met, missed = proved(returned(evaluate(condition.holds, BOUNDS, v), "a hypothesis"))
                sure, possible = sure & met, possible & ~np.asarray(missed, dtype=bool)
        violate = sure & fails
        return violate, possible & ~np.asarray(holds, dtype=bool) & ~violate

    def unrounded(self, sizes: Mapping[str, int], parameters: Mapping[str, Any]) -> frozenset[str]:
        """Return which formulas of integers up to these sizes floats evaluate without rounding.

        Those are made of sums and products that stay below 2^53. They are hypotheses by their
        names, and "" for the conclusion.
        """
        v = Values(**{name: Magnitude(size) for name, size in sizes.items()})
        found = set()
        for name, formula in self._formulas(parameters).items():
            try:
                self._defined(MAGNITUDES, v)
                gaps = [part.left - part.right for part in _leaves(formula(MAGNITUDES, v))]
            except Exception:  # a formula may use functions that know no sizes
                continue
            if all(isinstance(gap, int) or gap.size is not None for gap in gaps):
                found.add(name)
        return frozenset(found)

    def _formulas(self, parameters: Mapping[str, Any]) -> dict[str, Callable[[Any, Any], Relation]]:
        """Return the hypotheses by their names, and the conclusion by the name ""."""
        conditions = {name: condition.holds for name, condition in self.hypotheses.items()}
        return {**conditions, "": lambda m, v: self.relation(m, v, parameters)}

    def left_by(
        self,
        decided: Iterable[str],
        raw: Mapping[str, Any],
        batch: int,
        parameters: Mapping[str, Any],
    ) -> Array:
        """Return the rows that may still violate, judging only by the `decided` formulas.

        Args:
            decided: formulas that floats evaluate without rounding, as `unrounded` names them.
            raw: the batch.
            batch: the number of rows.
            parameters: constants of the conclusion.
        """
        left = np.ones(batch, dtype=bool)
        v, formulas = self.floats(raw, {}), self._formulas(parameters)
        for name in decided:
            holds, fails = proved(returned(evaluate(formulas[name], FLOATS, v), "a formula"))
            left = left & (holds if name else fails)
        return left

    def missing(self, raw: Mapping[str, Any], shape: Shape, batch: int) -> Array:
        """How far each instance of a batch is from meeting the hypotheses (batch,), 0 if it does.

        The sum over the hypotheses of how far it is from each, in units of the batch's median.
        """
        total = np.zeros(batch)
        with np.errstate(all="ignore"):
            v = self.floats(raw, shape)
            for condition in self.hypotheses.values():
                far = shortfall(
                    returned(evaluate(condition.holds, FLOATS, v), "a hypothesis"), batch
                )
                some = far[(far > 0) & (far < np.inf)]
                total += far / (np.median(some) if len(some) else 1.0)
        return total

    def relaxed(self, case: Any, **parameters: Any) -> Any:
        """The same for a climb in torch: tensors (batch, ...) by name give tensors (batch,)."""
        from attsvm.theory.arithmetic import Tensors

        m = Tensors()
        raw: dict[str, Any] = {}
        shape: dict[str, int] = {}
        for name, variable in self.variables.items():
            value = getattr(case, name, None)
            if value is None:
                continue
            if not hasattr(value, "movedim"):
                raw[name] = member(variable, name, value) if isinstance(variable, Choice) else value
                continue
            shape.update(zip(variable.axes, value.shape[1:], strict=True))
            raw[name] = lanes((value.detach() if variable.listed else value).movedim(0, -1))
            nothing = 0.0 * value.flatten()[:: max(value[0].numel(), 1)]
        v = self._defined(m, Values(**{**shape, **raw}))
        # a formula may come to a constant, such as 0 for one token: still one height an instance
        return heights(m.library, self.relation(m, v, parameters)) + nothing

    def instance_at(self, raw: Mapping[str, Any], lane: int) -> Any:
        """One instance of a batch."""
        values = {}
        for name, value in raw.items():
            one = value[..., lane] if isinstance(value, np.ndarray) else value
            values[name] = self._stored(name, one)
        return self.instance(**values)

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
    def named_constants(self) -> dict[str, Any]:
        """The constants that the conclusion takes with their defaults, `REQUIRED` without one."""
        measured = self.measured
        if measured is not None and measured.constants is not None:
            return dict(measured.constants)
        function, own = (self.conclusion, 2) if measured is None else (measured.floats, 1)
        taken = list(signature(function).parameters.values())[own:]
        return {parameter.name: parameter.default for parameter in taken}

    @property
    def known_constants(self) -> dict[str, Any]:
        """The constants that the conclusion takes, as the reading has them or by default."""
        known = self.named_constants | dict(self.constants)
        return {name: value for name, value in known.items() if value is not REQUIRED}


_LAST: list[Any] = [None, None, {}]
"""The instance whose rationals were asked for last, its variables, and these by name."""

_STRATEGIES: dict[tuple[tuple[str, Variable], ...], st.SearchStrategy[Any]] = {}


@composite
def _drawn(draw: st.DrawFn, formula: Formula) -> Any:
    shape: dict[str, int] = {}
    raw: dict[str, Any] = {}
    for name, variable in formula.variables.items():
        if variable.stored is not None:
            values = shape if name in formula.axes else raw
            values[name] = variable.draw(draw, {**shape, **raw})
    if any(isinstance(variable, Fitted) for variable in formula.variables.values()):
        batch = {
            name: np.asarray(value)[..., None] if isinstance(value, float | np.ndarray) else value
            for name, value in raw.items()
        }
        with np.errstate(all="ignore"):
            return formula.instance_at(formula.fit(batch, shape), 0)
    return formula.instance(**{name: formula._stored(name, value) for name, value in raw.items()})


def _rational(value: float) -> fmpq:
    try:
        return fmpq(*value.as_integer_ratio())
    except (ValueError, OverflowError) as error:
        raise DataError("a value that is not finite has no exact value", value=value) from error


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


def _leaves(relation: Relation, *, needed: bool = False) -> list[Comparison]:
    """The comparisons that a relation is made of, or those that must all hold."""
    if isinstance(relation, Comparison):
        return [relation]
    if needed and isinstance(relation, AnyOf):
        return []
    return [c for part in relation.parts for c in _leaves(part, needed=needed)]


def _tightened(m: Namespace, relation: Relation, share: Any) -> Relation:
    """The comparison with a share of its right side."""
    if not isinstance(relation, Comparison) or relation.kind == "equal":
        raise ClaimError(
            "only an inequality can be tightened",
            remedy="Name siblings of this reading by hand.",
        )
    return Comparison(relation.kind, relation.left, m.exact(share) * relation.right)
