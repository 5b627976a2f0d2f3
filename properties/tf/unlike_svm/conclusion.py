"""Separations of tokens by solutions of (Att-SVM) and of the vanilla SVM."""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.theory.types import Comparison, Namespace, Number, Values


def others_below(m: Namespace, v: Values, scale: Number = 2, bound: Number = -1) -> Comparison:
    """Return that scale u with b = 1 - scale <o, u> has the other tokens at a bound or less."""
    return m.at_most(m.max(scale * (v.x @ v.u) + (1 - scale * m.dot(v.o, v.u))), m.exact(bound))


def others_not_below(m: Namespace, v: Values, scale: Number = 2) -> Comparison:
    """Return that scale u with b = 1 - scale <o, u> has another token above -1."""
    return m.below(m.exact(-1), m.max(scale * (v.x @ v.u) + (1 - scale * m.dot(v.o, v.u))))


def half(m: Namespace, v: Values) -> Comparison:
    """Return that <o_i - x_it, u/2> >= 1 for all i and t."""
    return m.at_least(m.min(((v.o @ v.u).reshape(-1, 1) - v.x @ v.u) / 2), m.exact(1))


def moved(tokens: Array, u: Array, b: Array, side: int, lead: int = 1) -> Array:
    """Return tokens x, moved along u until side (<x, u> + b) >= 1 if u is not 0.

    The first `lead` axes count tokens; a last axis, behind that of coordinates, is for a batch.
    """
    ahead = u[(None,) * lead]
    square, along = (u * u).sum(0), side * ((tokens * ahead).sum(lead) + b)
    step = np.where((along < 1) & (square > 0), 1.125 - along, 0.0)
    return tokens + side * np.expand_dims(step / np.where(square > 0, square, 1.0), lead) * ahead


def below_optimal(x: Array, known: Mapping[str, Array]) -> Array:
    """Return the other tokens of one input, moved to lie below the optimal one by 1."""
    return moved(x, known["u"], -(known["o"] * known["u"]).sum(0), -1)


def above_threshold(o: Array, known: Mapping[str, Array]) -> Array:
    """Return optimal tokens, moved above the threshold by 1."""
    return moved(o, known["u"], known["b"], 1)


def below_threshold(x: Array, known: Mapping[str, Array]) -> Array:
    """Return other tokens, moved below the threshold by 1."""
    return moved(x, known["u"], known["b"], -1, lead=2)
