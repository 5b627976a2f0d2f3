"""Mixtures of tokens under heads h(x) = sum_k b_k phi(<a_k, x>), of any size and number of units.

The claims' activations and heads are evaluated on letters. In general statements phi is any
function with two derivatives, which are letters as well. A statement about a sum over units or
tokens is checked for one term.
"""

from types import SimpleNamespace

import numpy as np
import sympy as sp

from attsvm.losses import curvature_constant
from attsvm.primitives.heads import ACTIVATIONS, Activation, bending, derivative_along, head
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic import entries
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.declaration.proof import expanded, factored, simplified, suppose
from properties._support.suppositions import CONVEX_PHI, RISING_UNITS
from properties.tf.nonlinear_head_several.conclusion import gains, returns
from symbolic.continuity import ensure_smooth
from symbolic.sim.lemma_3_12 import prove as prove_bend_of_logistic
from symbolic.textbook import (
    DIFFERENTIABLE,
    JENSEN,
    LIPSCHITZ,
    MEAN_VALUE,
    QUADRATIC_BOUND,
    SECOND_DERIVATIVE,
    SLOPE,
    TANGENT,
)


class _Phi(sp.Function):  # type: ignore[misc]
    """Any activation with two derivatives."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return the first derivative."""
        return _Slope(self.args[0])


class _Slope(sp.Function):  # type: ignore[misc]
    """The first derivative of the activation."""

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """Return the second derivative of the activation."""
        return _Bend(self.args[0])


class _Bend(sp.Function):  # type: ignore[misc]
    """The second derivative of the activation, a real number."""

    is_real = True


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


def ensure_bends() -> None:
    """Prove that the constant c of each smooth activation is at least |phi''|."""
    bends = {name: phi.bend(SYMBOLS) for name, phi in ACTIVATIONS.items() if phi.bend}
    turns = {name: sp.diff(ACTIVATIONS[name].slope(SYMBOLS, T), T) for name in bends}
    for name in ("identity", "square"):
        ensure_equal(
            turns[name],
            bends[name],
            f"the second derivative of {name} is the constant c that the code has for it",
        )
    ensure_nonnegative(
        [
            turns["softplus"].subs(sp.exp(-T), POWER),
            (bends["softplus"] - turns["softplus"]).subs(sp.exp(-T), POWER),
        ],
        "softplus'' is between 0 and 1/4, the constant c that the code has for softplus",
        normal=factored,
    )
    prove_bend_of_logistic()
    ensure_equal(
        bends["logistic"],
        curvature_constant(sp.sqrt),
        "the supremum of |logistic''| is the constant c that the code has for logistic",
    )


def ensure_near_tangent() -> None:
    """Prove that second derivatives of h are at most the claims' `bending`, if |phi''| <= c.

    So h is near its tangent, as the claims compare.
    """
    c, e = sp.symbols("c e", positive=True)
    formal = Activation(lambda m, t: _Phi(t), lambda m, t: _Slope(t), bend=lambda m: c)
    b, x, o = (symbols_of(name, 2) for name in "bxo")
    along = symbols_of("y", 2, real=True, nonzero=True)
    head_of = SimpleNamespace(phi=formal, A=entries(np.eye(2, dtype=int).tolist()), b=b)
    ensure_equal(
        sp.diff(head(SYMBOLS, head_of, x + e * along), e),
        derivative_along(SYMBOLS, head_of, x + e * along, along),
        "the derivative of h(x + e y) in e is the derivative of h along y at that point",
    )
    turned = sp.diff(derivative_along(SYMBOLS, head_of, x + e * o, along), e)
    parts = [(b[k], along[k] * o[k], _Bend(x[k] + e * o[k])) for k in range(2)]
    ensure_equal(
        turned,
        sum(sp.Mul(*part) for part in parts),
        "the derivative in e of that along y, at x + e o, is the sum of b <a, y> <a, o> phi''",
    )
    room = bending(SYMBOLS, head_of, along, o) - sum(sp.Mul(*map(sp.Abs, part)) for part in parts)
    slope = "this sum is at most c sum_k |b_k <a_k, y> <a_k, o>|, as |phi''| <= c"
    ensure_nonnegative(
        room.replace(lambda z: z.func is sp.Abs and z.has(_Bend), lambda z: c - MORE),
        slope,
        normal=expanded,
    )
    smooth = "the slopes of square, softplus and logistic have all derivatives"
    named = ("identity", "square", "softplus", "logistic")
    ensure_smooth([ACTIVATIONS[name].slope(SYMBOLS, T) for name in named], smooth)
    lipschitz = "along a line the slope of h is Lipschitz"
    cite(MEAN_VALUE, met={DIFFERENTIABLE: smooth, SLOPE: slope}, of=lipschitz)
    cite(QUADRATIC_BOUND, met={LIPSCHITZ: lipschitz})
    pair = SimpleNamespace(**vars(head_of), X=entries([x, x + along]), s=entries([1 - e, e]))
    start, beta = (
        derivative_along(SYMBOLS, head_of, x, along),
        bending(SYMBOLS, head_of, along, along),
    )
    rise = head(SYMBOLS, head_of, x + e * along) - head(SYMBOLS, head_of, x)
    (near,), (back,) = (comparisons(formula(SYMBOLS, pair)) for formula in (gains, returns))
    ensure_equal(
        [near.left, near.right],
        [e * start - rise, beta * e**2 / 2],
        "the claim compares s_2 <h'(x_1), y> less the rise of h with beta s_2^2/2, beta = c "
        "sum_k |b_k| <a_k, y>^2",
    )
    ensure_equal(
        [back.left, back.right],
        [start - derivative_along(SYMBOLS, head_of, x + e * along, along), beta * e],
        "the claim compares with beta s_2 what the derivative of h along y loses on this way",
    )


def prove_smooth() -> str:
    """Prove that on a segment h is near its tangent at one end, and its slope near that there."""
    ensure_slopes()
    ensure_bends()
    ensure_near_tangent()
    return "for every phi with |phi''| <= c, as those that run, any d and number of units"
