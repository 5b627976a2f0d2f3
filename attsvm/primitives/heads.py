"""Heads with one hidden layer as formulas: h(x) = sum_k b_k phi(<a_k, x>).

The label of an input is part of its b: a statement about h here is about Y_i h in the source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.proof.arrays import LETTERS, falling, number
from attsvm.theory.proof.facts import Sequent, eq, ge
from attsvm.theory.proof.lemmas import falls
from attsvm.theory.proof.terms import REAL, Function, Letter, Term
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values


@dataclass(frozen=True, slots=True)
class Activation:
    """A function phi of one real number.

    Attributes:
        value: phi(t), of (m, t).
        slope: phi'(t), of (m, t); 0 at the kink of ReLU, as in `attsvm.prediction.ReluHead`.
        convex: whether phi is convex.
        bend: the supremum of |phi''| beside a kink, of m; None if no claim uses it.
        smooth: whether phi has no kink, so that phi' is Lipschitz with this constant.
    """

    value: Callable[[Namespace, Number], Number] = field(repr=False)
    slope: Callable[[Namespace, Number], Number] = field(repr=False)
    convex: bool = True
    bend: Callable[[Namespace], Number] | None = field(default=None, repr=False)
    smooth: bool = True

    @staticmethod
    def arbitrary(name: str) -> ArbitraryActivation:
        """Return the activation that stands for any function and slope in a proof for all.

        That it is convex says that it lies above its tangents, and at a kink above the line of its
        slope there. That it is smooth says that its slope is Lipschitz.
        """
        a, b = Letter("a"), Letter("b")
        slope = slope_of(name)
        value_a, value_b = (LETTERS.applied(name, x).term for x in (a, b))
        above = ge(value_b - value_a - slope(a) * (b.term - a), 0)
        bend, fall, ordered = bend_of(name), falling(name), frozenset({ge(b, a)})
        sides = (ge(bend * (b.term - a), sign * (slope(b) - slope(a))) for sign in (1, -1))
        smooth = [
            Sequent(falls(Function(name, (REAL,)), fall)),
            Sequent(eq(slope(a), -fall(a))),
            *(Sequent(side, ordered) for side in sides),
        ]
        return ArbitraryActivation(
            lambda m, t: m.applied(name, t),
            lambda m, t: m.applied(slope.name, t),
            convex=Proposition("", sequents=lambda: [Sequent(above)]),
            bend=lambda m: number(bend),
            smooth=Proposition("", sequents=lambda: smooth),
            linear=LETTERS.equal(number(value_a), number(a)),
        )


@dataclass(frozen=True, slots=True)
class ArbitraryActivation:
    """An activation that has its properties by propositions in place of the flags of another."""

    value: Callable[[Any, Number], Number]
    slope: Callable[[Any, Number], Number]
    convex: Proposition
    bend: Callable[[Any], Any]
    smooth: Proposition
    linear: Comparison


def slope_of(name: str) -> Function:
    """Return the function phi' of an activation of this name."""
    return Function(f"{name}'", (REAL,))


def bend_of(name: str) -> Term:
    """Return the supremum of |phi''| for an activation of this name."""
    return Function(f"sup |{name}''|")()


def _positive(m: Namespace, t: Number) -> Number:
    return m.maximum(t, m.exact(0))


ACTIVATIONS = {
    "identity": Activation(lambda m, t: t, lambda m, t: m.exact(1), bend=lambda m: m.exact(0)),
    "relu": Activation(_positive, lambda m, t: 1 - m.is_zero(_positive(m, t)), smooth=False),
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


def linear(m: Namespace, v: Values) -> Comparison:
    """Return the relation that phi(t) = t for every t."""
    if isinstance(v.phi, ArbitraryActivation):
        return v.phi.linear
    return m.equal(m.exact(int(v.phi is ACTIVATIONS["identity"])), m.exact(1))


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
