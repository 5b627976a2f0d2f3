"""Prediction heads h: the loss gets y_i h(X_i^T s_i), with s_i the attention of input i.

A linear head is part of the data (`AttentionData.v`, or scores). Nonlinear heads are separate
arguments: `relu_head`, or a `Head` of your own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from attsvm._types import Floats
from attsvm._validate import ensure_array
from attsvm.errors import DataError


@dataclass(frozen=True, slots=True)
class Head:
    """A differentiable head.

    Attributes:
        name: how it is called in errors and plots.
        value: h of outputs (..., d), giving (...).
        slope: its gradient h' at outputs (..., d), giving (..., d).
    """

    name: str
    value: Callable[[Floats], Floats] = field(repr=False)
    slope: Callable[[Floats], Floats] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ReluHead:
    """h(x) = sum_k outer_k max(<hidden_k, x>, 0); see `relu_head`.

    At a kink the gradient of the unit counts as zero. Weights (m, d) and (m,) may be tensors.
    """

    hidden: Floats
    outer: Floats
    name: str = "relu"

    def value(self, x: Floats) -> Floats:
        """Return the head at outputs (..., d), giving (...)."""
        return (x @ self.hidden.T).clip(min=0.0) @ self.outer

    def slope(self, x: Floats) -> Floats:
        """Return the gradient of h at outputs (..., d)."""
        return ((x @ self.hidden.T > 0.0) * self.outer) @ self.hidden


def relu_head(hidden: object, outer: object = None) -> ReluHead:
    """Return a head with one hidden layer of ReLU units.

    Args:
        hidden: weights (m, d) of the units; the identity gives the sum of the positive parts.
        outer: weights (m,) of their sum, all 1 by default.

    Raises:
        DataError: wrong shapes, or entries that are not finite.
    """
    sizes: dict[str, int] = {}
    inner = ensure_array("hidden", hidden, ("m", "d"), sizes)
    outer = np.ones(len(inner)) if outer is None else outer
    return ReluHead(inner, ensure_array("outer", outer, ("m",), sizes))


def ensure_head(head: object) -> Head | ReluHead:
    """Return the argument if it is a head of this module.

    Raises:
        DataError: the argument is not a head.
    """
    if isinstance(head, Head | ReluHead):
        return head
    raise DataError(
        "the head is not one of attsvm.prediction",
        value=type(head).__name__,
        remedy="Use relu_head(hidden, outer) or Head(name, value, slope).",
    )
