"""Mixtures of tokens under heads h(x) = sum_k b_k phi(<a_k, x>), of any size and any K.

The activations are the claims' own, run on letters. What is said of sums over units and over tokens
is executed for one term.
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import expanded
from properties._support.heads import ACTIVATIONS
from symbolic.sim.lemma_3_12 import prove as prove_bend_of_logistic
from symbolic.textbook import (
    DIFFERENTIABLE,
    DOMAIN,
    JENSEN,
    LIPSCHITZ,
    MEAN_VALUE,
    QUADRATIC_BOUND,
    SECOND_DERIVATIVE,
    SLOPE,
    TANGENT,
)

T, POWER = sp.Symbol("t", real=True), sp.Symbol("power", positive=True)
MORE = sp.Symbol("more", nonnegative=True)


def ensure_slopes() -> None:
    """The slopes that the claims use are derivatives, of the smooth activations."""
    for name in ("identity", "square", "softplus", "logistic"):
        phi = ACTIVATIONS[name]
        ensure_zero(
            sp.diff(phi.value(SYMBOLS, T), T) - phi.slope(SYMBOLS, T),
            f"the slope of {name} is its derivative",
            normal=sp.simplify,
        )


def ensure_convex() -> None:
    """Square and softplus have phi'' >= 0; ReLU is the larger one of two linear functions."""
    curved = sp.diff(ACTIVATIONS["softplus"].slope(SYMBOLS, T), T).subs(sp.exp(-T), POWER)
    ensure_nonnegative(curved, "softplus'' >= 0, with power = exp(-t)", normal=sp.factor)
    ensure_nonnegative(sp.diff(ACTIVATIONS["square"].slope(SYMBOLS, T), T), "and square'' >= 0")
    for lemma in (JENSEN, TANGENT):
        cite(
            lemma, given={SECOND_DERIVATIVE: "as executed for square and softplus; 0 for identity"}
        )


def ensure_relu() -> None:
    """max(t, 0) of a mean is at most the mean, and above its tangents, at the kink with slope 0."""
    s, t, rest = sp.Symbol("s", nonnegative=True), sp.Symbol("t", nonnegative=True), MORE
    ensure_nonnegative(s * t, "0 is at most the mean of the s_t max(t, 0)")
    ensure_nonnegative(s * rest, "and s t <= s max(t, 0), as max(t, 0) = t + rest")
    ensure_nonnegative(t, "the tangent at t <= 0, which is 0, is below max(t, 0)")
    ensure_nonnegative(rest, "that at t > 0 is t itself, and below max(t, 0) = t + rest")


def prove_convex() -> str:
    """A mixture is no better than the best token where h is convex."""
    ensure_convex()
    ensure_relu()
    s, b = sp.symbols("s b", nonnegative=True)
    mean = sp.Symbol("mean", real=True)
    ensure_nonnegative(b * (mean + MORE) - b * mean, "units of b_k >= 0 keep it", normal=expanded)
    top = sp.Symbol("top", real=True)
    ensure_nonnegative(
        s * top - s * (top - MORE),
        "h(output) <= sum_t s_t h(x_t), at most the largest h(x_t) as the s_t add up to 1",
        normal=expanded,
    )
    return "for any T, d and number of units"


def prove_concave() -> str:
    """h(output) - h(x_1) is at most (1 - s_1) times the largest pull."""
    ensure_slopes()
    ensure_convex()
    ensure_relu()
    b, s = sp.symbols("b s", nonnegative=True)
    line = sp.Symbol("line", real=True)
    ensure_nonnegative(
        -b * line - (-b * (line + MORE)),
        "units of b_k <= 0 lie below their tangents, and so does h: h(output) - h(x_1) is at most "
        "<h'(x_1), output - x_1>",
        normal=expanded,
    )
    g = sp.Symbol("g", real=True)
    ensure_nonnegative(
        s * (g + MORE) - s * g,
        "which is the sum over t of s_t <h'(x_1), x_t - x_1>, that of t = 1 being 0",
        normal=expanded,
    )
    return "for any T, d and number of units"


def prove_smooth() -> str:
    """Between two points h is near its tangent, and its slope near that at the first one."""
    ensure_slopes()
    phi = ACTIVATIONS["softplus"]
    bend = phi.bend(SYMBOLS) if phi.bend else sp.nan
    curved = sp.diff(phi.slope(SYMBOLS, T), T).subs(sp.exp(-T), POWER)
    ensure_nonnegative(bend - curved, "softplus'' <= 1/4", normal=sp.factor)
    ensure_equal(sp.diff(ACTIVATIONS["square"].slope(SYMBOLS, T), T), 2, "square'' = 2")
    prove_bend_of_logistic()
    e, b, a, c = sp.symbols("e b a c", real=True)
    for name in ("identity", "square", "softplus", "logistic"):
        value = ACTIVATIONS[name].value(SYMBOLS, T)
        ensure_zero(
            sp.diff(value.subs(T, T + e * a), e, 2)
            - a**2 * sp.diff(value, T, 2).subs(T, T + e * a),
            f"the second derivative of {name}(t + e a) in e is a^2 phi''",
            normal=sp.simplify,
        )
    other = sp.Symbol("a'", real=True)
    ensure_equal(
        sp.diff(ACTIVATIONS["square"].slope(SYMBOLS, T + e * other) * b * a, e),
        b * a * other * 2,
        "and that of the slope along a, on the way along a', is b a a' phi'', for the square",
    )
    ensure_nonnegative(
        c * sp.Abs(b * a * other) - (c - MORE) * sp.Abs(b * a * other),
        "at most c |b a a'|",
        normal=expanded,
    )
    cite(
        MEAN_VALUE,
        given={
            DIFFERENTIABLE: "the slope of h on the way",
            DOMAIN: "e in [0, 1]",
            SLOPE: "the sum of c |b a a'|, as |phi''| <= c",
        },
    )
    cite(QUADRATIC_BOUND, met={LIPSCHITZ: MEAN_VALUE})
    return "for any d and number of units"
