"""Descent on (K, Q) to a nuclear solution that the start chooses, on data that see W_11 and W_22.

k and q are row i of K and Q, a = k + q, b = k - q, A = |a|^2/4, B = |b|^2/4, so that W_ii = A - B;
g is minus the slope of the risk in W_ii; e is the step, above 0 and at most 41. The score of an
input is the attention S(W_ii) = 1/(1 + exp(-W_ii)) to its first token, the loss
log(1 + exp(-score)).
"""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import expanded
from properties.tf.parameterisation_bias import allowed, fall
from symbolic.inner_products import vector
from symbolic.textbook import CAUCHY_SCHWARZ, EXPONENTIAL

MORE = sp.Symbol("more", nonnegative=True)
LESSER = sp.symbols("more_1 more_2", nonnegative=True)
"""What the rows of K - Q have lost."""


def prove() -> str:
    """K Q^T/ln k tends to (1, c; c, 1)."""
    e, g, x = sp.symbols("e g x", positive=True)
    W = sp.Symbol("W", real=True)
    score = 1 / (1 + sp.exp(-W))
    slope = sp.exp(-W) / (1 + sp.exp(-W)) ** 2
    ensure_equal(
        [-sp.diff(sp.log(1 + sp.exp(-score)) / 2, W), fall(SYMBOLS, W)],
        [slope / (1 + sp.exp(score)) / 2] * 2,
        "g = S'(W_ii)/(1 + exp(S(W_ii)))/2, by differentiation and in the formula",
        normal=sp.simplify,
    )
    y = sp.Symbol("y", positive=True)  # exp(-W)
    share = 1 / (1 + y)
    ensure_positive(
        [share, sp.factor(1 - share)], "S = 1/(1 + y) with y = exp(-W_ii) is between 0 and 1"
    )
    ensure_equal(y / (1 + y) ** 2, share * (1 - share), "S' is S (1 - S)", normal=sp.factor)
    cite(EXPONENTIAL)
    ensure_nonnegative(
        sp.exp(x) * (1 + MORE) - sp.exp(x),
        "exp(1) = exp(S) exp(1 - S) >= exp(S) (1 + (1 - S)) >= exp(S): 1 + exp(S) is at most 1 + "
        "exp(1)",
        normal=expanded,
    )
    parabola = 1 + x + sp.Rational(15, 32) * x**2
    ensure_nonnegative(
        (1 + x / 16) ** 16 - parabola,
        "exp(S) = exp(S/16)^16 >= (1 + S/16)^16, at least 1 + S + 15 S^2/32",
        normal=expanded,
    )
    square = sp.Rational(343, 8) * (x - sp.Rational(148, 343)) ** 2
    ensure_positive(
        4 * (1 + parabola) - 41 * x * (1 - x) - square,
        "4 (1 + exp(S)) - 41 S (1 - S) is above a square: g is below 2/41, and e g below 2",
        normal=expanded,
    )
    k, q = vector("k"), vector("q")
    for sign in (1, -1):
        moved = (k + e * g * q) + sign * (q + e * g * k) - (1 + sign * e * g) * (k + sign * q)
        ensure_zero([moved @ vector("v")], "a step takes a to (1 + e g) a, and b to (1 - e g) b")
    ensure_nonnegative(
        [(1 - (1 - x)).expand(), ((1 - x) + 1).subs(x, 2 / (1 + MORE)).factor()],
        "|1 - e g| <= 1 as 0 < e g < 2: b never grows, and a keeps its direction",
    )
    a, b, c, d = (vector(name) for name in ("a_1", "b_1", "a_2", "b_2"))
    ensure_equal(
        4 * (((a + b) / 2) @ ((c - d) / 2)),
        a @ c + b @ c - a @ d - b @ d,
        "4 (K Q^T)_12 = <a_1, a_2> + <b_1, a_2> - <a_1, b_2> - <b_1, b_2>",
        normal=sp.expand,
    )
    cite(CAUCHY_SCHWARZ)
    lengths = sp.symbols("|a_1| |a_2| |b_1| |b_2|", nonnegative=True)
    shrunk = [length / (1 + more) for length, more in zip(lengths[2:], LESSER, strict=True)]
    room = allowed(lengths[:2], lengths[2:])
    ensure_nonnegative(
        room - allowed(lengths[:2], shrunk),
        "the last three are at most |a_1| |b_2| + |b_1| |a_2| + |b_1| |b_2| with the b_i of the "
        "start, which are no shorter",
        normal=sp.factor,
    )
    ensure_equal(
        room,
        (lengths[0] + lengths[2]) * (lengths[1] + lengths[3]) - lengths[0] * lengths[1],
        "which is what the sentence says of it",
    )
    A, B = sp.Symbol("A", positive=True), sp.Symbol("B", nonnegative=True)
    grown = A * (1 + e * g) ** 2 - B * (1 - e * g) ** 2 - (A - B)
    ensure_equal(
        grown,
        2 * e * g * (A + B) + (e * g) ** 2 * (A - B),
        "W_ii grows by 2 e g (A + B) + (e g)^2 (A - B)",
        normal=sp.expand,
    )
    ensure_positive(
        ((2 * x * (A + B) + x**2 * (A - B)) / x).expand().subs(x, 2 / (1 + MORE)).factor(),
        "which is positive, as e g < 2 and A > 0",
    )
    ensure_positive(
        sp.factor((1 + x) ** 2 - 1),
        "A grows by the factor (1 + e g)^2, where g is at least a constant while A is bounded: it "
        "tends to infinity",
    )
    low = sp.Symbol("low", positive=True)
    ensure_nonnegative(
        [sp.factor((y / (1 + y) ** 2 - y / 4).subs(y, 1 / (1 + MORE))), y - y / (1 + MORE) ** 2],
        "S'(W) lies between exp(-W)/4, where W >= 0, and exp(-W), and 1 + exp(S) between 2 and 1 + "
        "exp(1): g is between two positive multiples of exp(-A), as B is bounded",
        normal=sp.factor,
    )
    cite(EXPONENTIAL)
    ensure_nonnegative(
        2 * e * low * (1 + MORE) - 2 * e * low,
        "with g >= low exp(-A), exp(A) grows by at least exp(A) 2 e g A >= 2 e low where A >= 1: A "
        ">= ln k - constant",
        normal=expanded,
    )
    slow = sp.Symbol("slow", positive=True)
    ensure_zero(
        sp.limit(x * sp.exp(-slow * x), x, sp.oo),
        "exp((1 - slow) A) grows by at most a constant times A exp(-slow A), which vanishes: A <= "
        "(ln k + constant)/(1 - slow), for every slow; so A/ln k tends to 1, for both rows",
    )
    ensure_zero(
        sp.limit(sp.sqrt(x) / x, x, sp.oo),
        "what b adds vanishes over ln k: W/ln k tends to the cosines of a_1 and a_2",
    )
    return "for every inner dimension, steps above 0 and at most 41, starts with no row of K + Q 0"
