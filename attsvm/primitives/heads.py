"""Heads with one hidden layer as formulas: h(x) = sum_k b_k phi(<a_k, x>).

The label of an input is part of its b: a statement about h here is about Y_i h in the source.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values


@dataclass(frozen=True, slots=True)
class Activation:
    """A function phi of one real number.

    Attributes:
        value: phi(t), of (m, t).
        slope: phi'(t), of (m, t); 0 at the kink of ReLU, as in `attsvm.heads.ReluHead`.
        convex: whether phi is convex.
        bend: the supremum of |phi''|, of m; None if phi has a kink.
    """

    value: Callable[[Namespace, Number], Number] = field(repr=False)
    slope: Callable[[Namespace, Number], Number] = field(repr=False)
    convex: bool = True
    bend: Callable[[Namespace], Number] | None = field(default=None, repr=False)


def _positive(m: Namespace, t: Number) -> Number:
    return m.maximum(t, m.exact(0))


ACTIVATIONS = {
    "identity": Activation(lambda m, t: t, lambda m, t: m.exact(1), bend=lambda m: m.exact(0)),
    "relu": Activation(_positive, lambda m, t: 1 - m.is_zero(_positive(m, t))),
    "square": Activation(lambda m, t: m.square(t), lambda m, t: 2 * t, bend=lambda m: m.exact(2)),
    "softplus": Activation(
        lambda m, t: m.softplus(t),
        lambda m, t: m.logistic(t),
        bend=lambda m: m.exact(Fraction(1, 4)),
    ),
    "logistic": Activation(
        lambda m, t: m.logistic(t),
        lambda m, t: m.logistic_slope(t),
        convex=False,
        bend=lambda m: 1 / (6 * m.sqrt(m.exact(3))),
    ),
}
"""Activations by name."""


def named(m: Namespace, v: Values, name: str) -> Comparison | Proposition:
    """Return the relation that phi is the activation of this name."""
    if m.name == "checker":
        (own,) = (known for known, phi in ACTIVATIONS.items() if phi is v.phi)
        return Proposition(f"fact({own!r} == {name!r})")
    return m.equal(m.exact(int(v.phi is ACTIVATIONS[name])), m.exact(1))


def head(m: Namespace, v: Values, x: Numbers) -> Number:
    """Return the value h(x) = sum_k b_k phi(<a_k, x>)."""
    return m.dot(v.b, m.array([v.phi.value(m, t) for t in v.A @ x]))


def derivative_along(m: Namespace, v: Values, x: Numbers, along: Numbers) -> Number:
    """Return the derivative <h'(x), along> = sum_k b_k phi'(<a_k, x>) <a_k, along>."""
    return m.dot(v.b * m.array([v.phi.slope(m, t) for t in v.A @ x]), v.A @ along)


def change(m: Namespace, v: Values, x: Numbers, along: Numbers) -> Number:
    """Return the change h(x + along) - h(x); units that do not change contribute exactly 0."""
    start, seen = v.A @ x, v.A @ along
    pairs = zip(start, start + seen, strict=True)
    changes = m.array([v.phi.value(m, t) - v.phi.value(m, s) for s, t in pairs])
    return m.dot(v.b, (1 - m.is_zero(seen)) * changes)


def bending(m: Namespace, v: Values, x: Numbers, y: Numbers) -> Numbers:
    """Return a bound of h'' along x and y: sup |phi''| sum_k |b_k <a_k, x> <a_k, y>|."""
    return v.phi.bend(m) * m.dot(m.abs(v.b), m.abs((v.A @ x) * (v.A @ y)))
