"""Instances of a formula: the strategy that draws them, and their heights as torch tensors."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import composite
from attsvm._types import Case, Tensor
from attsvm.theory.arithmetic import lanes
from attsvm.theory.arithmetic.heights import heights
from attsvm.theory.declaration.batches import fit, instance_at
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import FrozenValues, defined, member, stored
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.declaration.variables import Choice, Fitted, Raw, Variable

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
        case: tensors (batch, ...) by the names of variables, or a batch of records.
        parameters: constants of the conclusion.
    """
    from attsvm.theory.arithmetic import Tensors

    if isinstance(formula, RecordFormula):
        return formula.relaxed(case, **parameters)
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
