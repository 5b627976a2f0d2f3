"""Bounds of the change of c: with the printed constant, and with the best one."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support import bounds
from properties.sim._support.entry import on_line


def change(m: Namespace, v: Values) -> Numbers:
    """Return |c(x, z) - c(y, z)| for c(x, z) = <f(x), h> - b."""
    at_x, at_y = (m.dot(bounds.f(m, v.A, point), v.h) - v.b for point in (v.x, v.y))
    return m.abs(at_x - at_y)


def vector_change(m: Namespace, v: Values) -> Number:
    """Return ||c(x, z) - c(y, z)|| for c(x, z) = f(x) - z."""
    return m.norm((bounds.f(m, v.A, v.x) - v.z) - (bounds.f(m, v.A, v.y) - v.z))


def printed(
    m: Namespace,
    v: Values,
    exponential: bool = True,
    c: Callable[[Namespace, Values], Number] = change,
) -> Comparison:
    """Return that the change of c is at most R^2 beta^-2 n exp(3 R^2) ||x - y||."""
    constant = m.square(v.R) * bounds.published(m, v, exponential=exponential)
    return bounds.within(m, v, c(m, v), constant)


def sharp(m: Namespace, v: Values, size: str = "oscillation") -> Comparison:
    """Return that the change of c is at most sqrt(2)/4 osc(h) spread(A) ||x - y||."""
    values = {"oscillation": m.oscillation, "largest": m.largest}[size](v.h)
    return m.at_most(
        change(m, v), bounds.entry_constant(m) * values * m.spread(v.A) * bounds.distance(m, v)
    )


VALUES = {"h": [1, -1], "b": 0}
EIGHTH = Fraction(1, 8)
SHORT_LOGITS = on_line([EIGHTH, -EIGHTH], x=0, y=1, z=[0, 0], R=Fraction(1, 4), beta=2)


def block(
    tokens: Sequence[Fraction | int], X: int, Y: Fraction | int, **values: object
) -> dict[str, object]:
    """Return an instance: a block of tokens in R^1 under the query 1, with R = 4 and beta = 2."""
    points = {"a": [1], "tokens": [[token] for token in tokens], "X": [[X]], "Y": [[Y]]}
    return {**points, "R": 4, "beta": 2, **values}
