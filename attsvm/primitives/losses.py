"""Losses as formulas, over which statements about a class of losses quantify.

Each loss has flags for the hypotheses of such classes. A statement names a loss of a family, and
its hypotheses on the loss are decided by the flags. `LOSSES` has losses inside and outside the
class of strictly decreasing smooth ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from attsvm.theory import gradient
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.proof.arrays import LETTERS, Letters, falling
from attsvm.theory.proof.facts import Sequent, ge, gt
from attsvm.theory.proof.terms import Letter
from attsvm.theory.types import Namespace, Number, Numbers

CHECKER = "attsvm.primitives.claim_checker"
"""The module with the conditions on losses and data of the checker."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss l of one real number, as formulas.

    Attributes:
        value: l(u), of (m, u).
        drop: l(u - delta) - l(u), of (m, u, delta), computed without cancellation for delta >= 0,
            and exactly 0 for delta = 0.
        strictly_decreasing: whether l(u) < l(t) for all u > t.
        smooth: whether l has a continuous derivative.
        decreasing: whether l(u) <= l(t) for all u > t.
        sloped: whether l' is continuous and below 0 everywhere.
    """

    value: Callable[[Namespace, Number], Number] = field(repr=False)
    drop: Callable[[Namespace, Number, Number], Number] = field(repr=False)
    strictly_decreasing: bool = True
    smooth: bool = True
    decreasing: bool = True
    sloped: bool = False

    def fall(self, m: Namespace, u: Number) -> Number:
        """Return -l'(u), by the rules of calculus."""
        return -gradient(m, lambda k, x: self.value(k, x[0]), m.array([u]))[0]

    def known(self, name: str) -> ArbitraryLoss:
        """Return the loss with its properties as conditions of the checker."""
        conditions = (
            Proposition(f'{condition}("{name}")', CHECKER)
            for condition in ("strictly_decreasing", "smooth", "decreasing", "sloped")
        )
        return ArbitraryLoss(self.value, self.drop, self.fall, *conditions)

    @staticmethod
    def arbitrary(name: str) -> ArbitraryLoss:
        """Return the loss that stands for any function in a proof for all losses."""
        falls = "forall a b : R, a < b -> {0} b {1} {0} a"
        a, b = Letter("a"), Letter("b")
        fall = falling(name)
        drop, below = LETTERS.applied(name, a).term - LETTERS.applied(name, b).term, {gt(b, a)}
        return ArbitraryLoss(
            lambda m, u: m.applied(name, u),
            lambda m, u, delta: m.applied(name, u - delta) - m.applied(name, u),
            lambda m, u: m.applied(fall.name, u),
            strictly_decreasing=Proposition(
                falls.format(name, "<"), sequents=lambda: [Sequent(gt(drop, 0), frozenset(below))]
            ),
            smooth=Proposition(""),
            decreasing=Proposition(
                falls.format(name, "<="), sequents=lambda: [Sequent(ge(drop, 0), frozenset(below))]
            ),
            sloped=Proposition("", sequents=lambda: [Sequent(gt(fall(a), 0))]),
        )


@dataclass(frozen=True, slots=True)
class ArbitraryLoss:
    """A loss whose properties are propositions in place of the flags of `Loss`."""

    value: Callable[[Any, Number], Number]
    drop: Callable[[Any, Number, Number], Number]
    fall: Callable[[Letters, Number], Number]
    strictly_decreasing: Proposition
    smooth: Proposition
    decreasing: Proposition
    sloped: Proposition


def _positive(m: Namespace, x: Number) -> Number:
    return m.maximum(x, m.exact(0))


def _hinge(m: Namespace, u: Number) -> Number:
    return _positive(m, 1 - u)


def _hinge_drop(m: Namespace, u: Number, delta: Number) -> Number:
    """Return (1 - u + delta)_+ - (1 - u)_+."""
    return m.maximum(delta - _positive(m, u - 1), -_hinge(m, u))


def _logistic_drop(m: Namespace, u: Number, delta: Number) -> Numbers:
    """Return g(u) - g(u - delta), as g(u) g(delta - u) (1 - exp(-delta))."""
    return -(m.logistic(u) * m.logistic(delta - u) * m.expm1(-delta))


def _squared_hinge_drop(m: Namespace, u: Number, delta: Number) -> Number:
    grown = _hinge_drop(m, u, delta)
    return grown * (grown + 2 * _hinge(m, u))


def _cubic_drop(m: Namespace, u: Number, delta: Number) -> Numbers:
    """Return u^3 - (u - delta)^3, as delta times a sum of squares."""
    return delta * (m.square(2 * delta - 3 * u) + 3 * m.square(u)) / 4


LOSSES = {
    "log-loss": Loss(
        lambda m, u: m.log1p(m.exp(-u)),
        lambda m, u, delta: m.log1p(m.logistic(-u) * m.expm1(delta)),
        sloped=True,
    ),
    "exponential": Loss(
        lambda m, u: m.exp(-u), lambda m, u, delta: m.exp(-u) * m.expm1(delta), sloped=True
    ),
    "correlation": Loss(lambda m, u: -u, lambda m, u, delta: delta, sloped=True),
    # bounded and not convex: the probability of the wrong class
    "logistic-loss": Loss(lambda m, u: m.logistic(-u), _logistic_drop, sloped=True),
    # -u^3, not convex, and of slope 0 at 0
    "cubic": Loss(lambda m, u: -m.power(u, 3), _cubic_drop),
    # max(-u, -2u), with a kink at 0
    "kinked": Loss(
        lambda m, u: -u + _positive(m, -u),
        lambda m, u, delta: delta + m.maximum(delta - _positive(m, u), -_positive(m, -u)),
        smooth=False,
    ),
    # flat from 1 on, with a kink there
    "hinge": Loss(_hinge, _hinge_drop, strictly_decreasing=False, smooth=False),
    # flat from 1 on, without a kink
    "squared-hinge": Loss(
        lambda m, u: m.square(_hinge(m, u)), _squared_hinge_drop, strictly_decreasing=False
    ),
    # decreasing up to 1, increasing from there on
    "squared": Loss(
        lambda m, u: m.square(1 - u),
        lambda m, u, delta: delta * (2 * (1 - u) + delta),
        strictly_decreasing=False,
        decreasing=False,
    ),
    # the logistic function itself, which increases
    "logistic": Loss(
        lambda m, u: m.logistic(u),
        lambda m, u, delta: -_logistic_drop(m, u, delta),
        strictly_decreasing=False,
        decreasing=False,
    ),
}
"""Losses by name."""

SLOPED = tuple(name for name, loss in LOSSES.items() if loss.sloped)
"""Losses whose slope is continuous and negative everywhere, by name."""

CONVEX = ("log-loss", "exponential", "correlation")
"""The convex losses among `SLOPED`, by name."""
