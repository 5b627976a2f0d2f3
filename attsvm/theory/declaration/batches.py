"""Instances of a formula in floats: drawn by a strategy, in batches, or as torch tensors.

A batch holds many instances of one shape. It is drawn at random, fitted to hypotheses and screened.
In every array of a batch, the last axis numbers the instances. The strategy draws one instance at a
time, and tensors are for searches by gradients.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import composite
from attsvm._types import Array, Case, JsonObject, Tensor
from attsvm.theory.arithmetic import FLOATS, Lane, lanes
from attsvm.theory.arithmetic.bounds import BOUNDS
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.heights import heights, is_met, is_unbounded, seen, shortfall
from attsvm.theory.arithmetic.heights import proved as proved_by
from attsvm.theory.arithmetic.lanes import Lanes
from attsvm.theory.arithmetic.magnitudes import MAGNITUDES, Magnitude
from attsvm.theory.arithmetic.namespace import Namespace, comparisons, returned
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import FrozenValues, defined, member, put, stored
from attsvm.theory.declaration.metering import evaluate
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.declaration.variables import (
    Choice,
    Fitted,
    Integer,
    Known,
    Meeting,
    Raw,
    Shape,
    Variable,
)


def filled(
    formula: Formula, generator: np.random.Generator, shape: Shape, batch: int
) -> JsonObject:
    """Return random values (..., batch) of the stored variables by name, not yet fitted."""
    raw: Raw = {}
    for name, variable in formula.variables.items():
        if name not in shape and variable.stored is not None:
            raw[name] = variable.fill(generator, {**shape, **raw}, batch)
    return raw


def fit(formula: Formula, raw: Known, shape: Shape) -> JsonObject:
    """Return the batch with `Meeting` variables moved and `Fitted` bounds fitted to hypotheses."""
    return _fit(formula, raw, shape, FLOATS)[0]


def _fit(formula: Formula, raw: Known, shape: Shape, m: Lanes) -> tuple[JsonObject, Any]:
    """Return the fitted batch, and its values as lanes if they were needed, else None."""
    fitted = dict(raw)
    known = dict(shape)
    for name, variable in formula.variables.items():
        if isinstance(variable, Meeting):
            fitted[name] = variable.moved(fitted[name], known)
        if name in fitted:
            known[name] = fitted[name]
    bounds = [n for n, variable in formula.variables.items() if isinstance(variable, Fitted)]
    if not bounds:
        return fitted, None
    for name in bounds:
        del fitted[name]
    v = floats(formula, fitted, shape, m)
    for name in bounds:
        # The bound gets a placeholder object. A comparison with the bound itself has this object
        # as a side; its other side is a lower or an upper limit of the bound. A comparison with
        # an expression in the bound gives no limit here, and is decided like any hypothesis.
        mark = Lane(m.zeros(1))
        put(v, name, mark)
        _define_again(formula, v, m)
        least, most = m.zeros(1) - np.inf, m.zeros(1) + np.inf
        for condition in formula.hypotheses.values():
            try:
                relation = returned(evaluate(condition.holds, m, v), "a hypothesis")
            except AttributeError:  # the hypothesis uses a bound that is not fitted yet
                continue
            for part in comparisons(relation, needed=True):
                if part.right is mark and isinstance(part.left, Lane):
                    least = np.fmax(least, part.left.value)
                if part.left is mark and isinstance(part.right, Lane):
                    most = np.fmin(most, part.right.value)
        fitted[name] = Fitted.fitted(m.zeros(1) + raw[name], least, most)
        put(v, name, lanes(fitted[name]))
    _define_again(formula, v, m)
    return {name: fitted[name] for name in raw}, v


def _define_again(formula: Formula, v: Values, m: Lanes) -> None:
    try:
        defined(formula.variables, m, v)
    except AttributeError:  # a definition uses a bound that is not fitted yet
        return


def floats(formula: Formula, raw: Known, shape: Shape, m: Lanes = FLOATS) -> Values:
    """Return the values of a batch as lanes: arrays of numpy, or tensors if `m` has tensors."""
    v = FrozenValues(**shape)
    for name, value in raw.items():
        variable = formula.variables[name]
        if isinstance(variable, Choice):
            put(v, name, member(variable, name, value))
        elif isinstance(variable, Integer) and not hasattr(value, "shape"):
            put(v, name, value)
        elif isinstance(value, np.ndarray | float):
            numbers = np.atleast_1d(np.asanyarray(value, dtype=float))
            put(v, name, lanes(numbers, m.numbers))
        else:
            put(v, name, lanes(value, m.numbers))
    _define_again(formula, v, m)
    return v


def fit_screened(
    formula: Formula,
    raw: Known,
    shape: Shape,
    batch: int,
    parameters: Mapping[str, object],
    m: Lanes = FLOATS,
) -> tuple[JsonObject, Any]:
    """Return a fitted batch and its heights (batch,); equal sides get no height of their own."""
    return fit_seen(formula, raw, shape, batch, parameters, m, touching=False)[:2]


def fit_seen(
    formula: Formula,
    raw: Known,
    shape: Shape,
    batch: int,
    parameters: Mapping[str, object],
    m: Lanes = FLOATS,
    *,
    touching: bool = True,
) -> tuple[JsonObject, Any, Any]:
    """Return a fitted batch, its heights (batch,), and a mask (batch,) of possible violations.

    If `touching`, equal sides of a strict comparison have the height `TOUCHED`, unless they are
    positive. A height is minus infinity if the instance misses a hypothesis, or if it is NaN.
    """
    with np.errstate(all="ignore"):  # heights reuse the lanes of the fitted values
        fitted, v = _fit(formula, raw, shape, m)
    v = floats(formula, fitted, shape, m) if v is None else v
    return fitted, *_seen(formula, v, batch, parameters, m, touching=touching and m is FLOATS)


def _seen(
    formula: Formula,
    v: Values,
    batch: int,
    parameters: Mapping[str, object],
    m: Lanes,
    *,
    touching: bool,
) -> tuple[Any, Any]:
    with np.errstate(all="ignore"):
        relation = formula.relation(m, v, parameters)
        height, suspect = seen(np, relation, touching=touching)
        height = height + m.zeros(batch)
        met = m.zeros(batch) == 0.0
        for condition in formula.hypotheses.values():
            met = met & is_met(returned(evaluate(condition.holds, m, v), "a hypothesis"))
    suspect = met & suspect
    return np.where(met & ~np.isnan(height), height, -np.inf), suspect


def proved(
    formula: Formula,
    raw: Known,
    shape: Shape,
    batch: int,
    parameters: Mapping[str, object],
    *,
    unbounded: bool = False,
) -> tuple[Array, Array]:
    """Return two masks (batch,): instances proved to violate, and instances left open.

    An instance violates if it meets all hypotheses and fails the conclusion. Floats can prove this
    because integers below 2^53 are exact, as are their sums and products below 2^53, and because
    every rounded number carries a bound of its error. A conclusion that is `unbounded`
    (`lacks_bounds`) is not evaluated; it decides nothing.
    """
    with np.errstate(all="ignore"):
        v = floats(formula, raw, shape, BOUNDS)
        holds = fails = np.zeros(batch, dtype=bool)
        if not unbounded:
            holds, fails = proved_by(formula.relation(BOUNDS, v, parameters))
        sure = possible = np.ones(batch, dtype=bool)
        for condition in formula.hypotheses.values():
            met, missed = proved_by(returned(evaluate(condition.holds, BOUNDS, v), "a hypothesis"))
            sure, possible = sure & met, possible & ~np.asarray(missed, dtype=bool)
    violate = sure & fails
    return violate, possible & ~np.asarray(holds, dtype=bool) & ~violate


def lacks_bounds(
    formula: Formula, raw: Known, shape: Shape, parameters: Mapping[str, object]
) -> bool:
    """Return whether the conclusion has no error bound, on any instance of this shape.

    A formula takes the same steps on all instances, so one instance decides.
    """
    one = {n: x[..., :1] if isinstance(x, np.ndarray) else x for n, x in raw.items()}
    with np.errstate(all="ignore"):
        v = floats(formula, one, shape, BOUNDS)
        return is_unbounded(formula.relation(BOUNDS, v, parameters))


def unrounded(
    formula: Formula, sizes: Mapping[str, int], parameters: Mapping[str, object]
) -> frozenset[str]:
    """Return the formulas that floats evaluate without rounding, on integers up to these sizes.

    Such a formula has only sums and products that stay below 2^53. Names are those of hypotheses,
    and "" for the conclusion.
    """
    v = FrozenValues(**{name: Magnitude(size) for name, size in sizes.items()})
    results = set()
    for name, part in _formulas(formula, parameters).items():
        try:
            defined(formula.variables, MAGNITUDES, v)
            gaps = [
                c.left - c.right for c in comparisons(returned(part(MAGNITUDES, v), "a formula"))
            ]
        except Exception:  # a formula may use functions that have no bound for integers
            continue
        if all(isinstance(gap, int) or gap.size is not None for gap in gaps):
            results.add(name)
    return frozenset(results)


def _formulas(
    formula: Formula, parameters: Mapping[str, object]
) -> dict[str, Callable[[Namespace, Values], object]]:
    """Return the hypotheses by name, and the conclusion by the name ""."""
    conditions = {name: condition.holds for name, condition in formula.hypotheses.items()}
    return {**conditions, "": lambda m, v: formula.relation(m, v, parameters)}


def left_by(
    formula: Formula,
    decided: Iterable[str],
    raw: Known,
    batch: int,
    parameters: Mapping[str, object],
) -> Array:
    """Return a mask (batch,) of the instances that the `decided` formulas do not exclude.

    A hypothesis excludes the instances that miss it, the conclusion those that satisfy it.

    Args:
        formula: the formula.
        decided: formulas that floats evaluate without rounding, as `unrounded` names them.
        raw: the batch.
        batch: the number of instances.
        parameters: constants of the conclusion.
    """
    left = np.ones(batch, dtype=bool)
    v, formulas = floats(formula, raw, {}), _formulas(formula, parameters)
    for name in decided:
        holds, fails = proved_by(returned(evaluate(formulas[name], FLOATS, v), "a formula"))
        left = left & (holds if name else fails)
    return left


def missing(formula: Formula, raw: Known, shape: Shape, batch: int) -> Array:
    """Return how far each instance is from meeting the hypotheses (batch,), 0 if it meets them.

    This is the sum of the shortfalls of all hypotheses. Each shortfall is divided by its median
    over the instances of the batch that miss the hypothesis.
    """
    total = np.zeros(batch)
    with np.errstate(all="ignore"):
        v = floats(formula, raw, shape)
        for condition in formula.hypotheses.values():
            far = shortfall(returned(evaluate(condition.holds, FLOATS, v), "a hypothesis"), batch)
            some = far[(far > 0) & (far < np.inf)]
            total += far / (np.median(some) if len(some) else 1.0)
    return total


def instance_at(formula: Formula, raw: Known, lane: int) -> Case:
    """Return the instance of a batch at this index of the last axis."""
    values = {}
    for name, value in raw.items():
        one = value[..., lane] if isinstance(value, np.ndarray) else value
        values[name] = stored(formula.variables, name, one)
    return formula.instance(**values)


_STRATEGIES: dict[tuple[tuple[str, Variable], ...], st.SearchStrategy[Case]] = {}


def strategy(formula: Formula) -> st.SearchStrategy[Case]:
    """Return a strategy of instances; `Fitted` bounds are fitted to the hypotheses.

    Without such bounds, formulas of the same variables share one strategy and its samples.
    """
    if isinstance(formula, RecordFormula):
        return formula.records.drawn
    if any(isinstance(variable, Fitted) for variable in formula.variables.values()):
        return _drawn(formula)
    return _STRATEGIES.setdefault(tuple(formula.variables.items()), _drawn(formula))


@composite
def _drawn(draw: st.DrawFn, formula: Formula) -> Case:
    shape: dict[str, int] = {}
    raw: Raw = {}
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
            return instance_at(formula, fit(formula, batch, shape), 0)
    return formula.instance(
        **{name: stored(formula.variables, name, value) for name, value in raw.items()}
    )


def relaxed(formula: Formula, case: Case, **parameters: object) -> Tensor:
    """Return the heights (batch,) of many instances as a tensor with gradients.

    A height says how close an instance comes to violation.

    Args:
        formula: the formula.
        case: tensors (batch, ...) by the names of variables.
        parameters: constants of the conclusion.
    """
    from attsvm.theory.arithmetic import Tensors

    m = Tensors()
    raw: Raw = {}
    shape: dict[str, int] = {}
    for name, variable in formula.variables.items():
        value = getattr(case, name, None)
        if value is None:
            continue
        if not hasattr(value, "movedim"):
            raw[name] = member(variable, name, value) if isinstance(variable, Choice) else value
            continue
        shape.update(zip(variable.axes, value.shape[1:], strict=True))
        # entries from a list, such as labels, must stay in the list: they get no gradient
        raw[name] = lanes((value.detach() if variable.listed else value).movedim(0, -1))
        nothing = 0.0 * value.flatten()[:: max(value[0].numel(), 1)]
    v = defined(formula.variables, m, FrozenValues(**{**shape, **raw}))
    # a formula may reduce to a constant, such as 0 for one token: add zeros to get (batch,)
    height: Tensor = heights(m.library, formula.relation(m, v, parameters)) + nothing
    return height
