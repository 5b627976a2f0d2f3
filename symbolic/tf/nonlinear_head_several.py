"""Mixtures of tokens under heads h(x) = sum_k b_k phi(<a_k, x>), of any size and number of units.

The claims' activations are evaluated on letters. A statement about a sum over units or tokens is
checked for one term.
"""

import sympy as sp

from attsvm.primitives.heads import ACTIVATIONS
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import expanded, factored, simplified, suppose
from properties._support.suppositions import CONVEX_PHI, RISING_UNITS
from symbolic.textbook import (
    JENSEN,
    SECOND_DERIVATIVE,
    TANGENT,
)

T, POWER = sp.Symbol("t", real=True), sp.Symbol("power", positive=True)
MORE = sp.Symbol("more", nonnegative=True)


def ensure_slopes() -> None:
    """Prove that the slopes of the claims' smooth activations are their derivatives."""
    for name in ("identity", "square", "softplus", "logistic"):
        phi = ACTIVATIONS[name]
        ensure_zero(
            sp.diff(phi.value(SYMBOLS, T), T) - phi.slope(SYMBOLS, T),
            f"the slope of {name} is its derivative",
            normal=simplified,
        )


CONVEX_UNITS = "identity'', square'' and softplus'', with power = exp(-t), are not negative"


def ensure_convex() -> None:
    """Prove that phi'' >= 0 for identity, square and softplus, so that these are convex."""
    units = ("identity", "square", "softplus")
    curved = [sp.diff(ACTIVATIONS[name].slope(SYMBOLS, T), T) for name in units]
    ensure_nonnegative([x.subs(sp.exp(-T), POWER) for x in curved], CONVEX_UNITS, normal=factored)
    suppose(CONVEX_PHI)
    for lemma in (JENSEN, TANGENT):
        cite(lemma, met={SECOND_DERIVATIVE: CONVEX_UNITS})


def ensure_relu() -> None:
    """Prove that ReLU is convex: it lies above its tangents, with slope 0 at the kink.

    So the mean of ReLU over points is at least ReLU at their mean.
    """
    phi = ACTIVATIONS["relu"]
    right, left = sp.symbols("x x'", positive=True), sp.symbols("y y'", nonpositive=True)
    for at in (right[0], left[0]):
        ensure_nonnegative(
            [
                phi.value(SYMBOLS, to) - phi.value(SYMBOLS, at) - phi.slope(SYMBOLS, at) * (to - at)
                for to in (right[1], left[1])
            ],
            f"ReLU lies above its tangent at {at}, on either side of the kink",
            normal=expanded,
        )
    s, value, slope, to = sp.symbols("s value slope to", real=True)
    mean = s * to + (1 - s) * T
    ensure_equal(
        s * (value + slope * (to - mean)) + (1 - s) * (value + slope * (T - mean)),
        value,
        "the mean of the values of a tangent at the mean point is its value at that point",
    )


def prove_convex() -> str:
    """Prove that a mixture of tokens is no better than the best token if h is convex."""
    ensure_convex()
    ensure_relu()
    s, b = sp.symbols("s b", nonnegative=True)
    mean = sp.Symbol("mean", real=True)
    suppose(RISING_UNITS)
    ensure_nonnegative(
        b * (mean + MORE) - b * mean,
        "units with b_k >= 0 keep an inequality between values of phi",
        normal=expanded,
    )
    top = sp.Symbol("top", real=True)
    ensure_nonnegative(
        s * top - s * (top - MORE),
        "h(output) <= sum_t s_t h(x_t), at most the largest h(x_t) as the s_t add up to 1",
        normal=expanded,
    )
    return "for any T, d and number of units"
