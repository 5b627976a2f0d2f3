"""The change of c against the printed constant and against the least one."""

from typing import Any

from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support import bounds


def change(m: Namespace, v: Values) -> Numbers:
    """|c(x, z) - c(y, z)| for c(x, z) = <f(x), h> - b."""
    at_x, at_y = (m.dot(bounds.f(m, v.A, point), v.h) - v.b for point in (v.x, v.y))
    return m.abs(at_x - at_y)


def vector_change(m: Namespace, v: Values) -> Number:
    """||c(x, z) - c(y, z)|| for c(x, z) = f(x) - z."""
    return m.norm((bounds.f(m, v.A, v.x) - v.z) - (bounds.f(m, v.A, v.y) - v.z))


def printed(m: Namespace, v: Values, exponential: bool = True, c: Any = change) -> Comparison:
    """The change of c against R^2 beta^-2 n exp(3 R^2) ||x - y||."""
    constant = m.square(v.R) * bounds.published(m, v, exponential=exponential)
    return bounds.within(m, v, c(m, v), constant)


def sharp(m: Namespace, v: Values, size: str = "oscillation") -> Comparison:
    """The change of c against sqrt(2)/4 osc(h) spread(A) ||x - y||."""
    values = {"oscillation": m.oscillation, "largest": m.largest}[size](v.h)
    return m.at_most(
        change(m, v), bounds.entry_constant(m) * values * m.spread(v.A) * bounds.distance(m, v)
    )
