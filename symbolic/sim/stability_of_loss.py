"""Lipschitz constants of one entry of the loss, softmax against linear attention, for any n.

Let f = softmax(A x) and z be a unit vector. The slope of <f, h> along z is Cov_f(h, A z). Over all
A and h of given norms it is at most ||A|| ||h||/2, as softmax is 1/2-Lipschitz (`basic_4`); on
given data it is at most osc(h) osc(A z)/4 by Cauchy, Schwarz and Popoviciu, and osc(A z) is at most
diam(A). The slope of the loss is l' times that: |g'| <= 1/4 for the logistic loss, and 2 |<f, h> -
b|, at most 2 (||h|| + |b|), for the squared one.

Linear attention's loss is l(<A x, h>), so that z^T Hess z = l'' <A z, h>^2. For the squared loss
l'' = 2, for the logistic one |l''| <= b^2 sup |g''| (`lemma_3_12`), and |<A z, h>| <= ||A|| ||h||,
with equality where h and z are along singular vectors of ||A||: the largest constants of its
gradient (`ensure_squared_linear`, `ensure_logistic_linear`).
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import sympy as sp
from flint import arb, fmpq

from attsvm.exact import rational
from attsvm.exact.losses import logistic_slope
from attsvm.theory import (
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_true,
    ensure_zero,
)
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, Symbols, numerator, symbols_of
from attsvm.theory.declaration.proof import expanded
from properties.sim import stability_l2, stability_logistic
from properties.sim._support.entry_loss import gradient, loss, squared_gradient, squared_loss
from symbolic import softmax, textbook
from symbolic.curvature import ensure_hessian, ensure_quarter
from symbolic.mean_value import ensure_lipschitz, ensure_no_less, of_two
from symbolic.sim import basic_4, lemma_3_12, lemma_3_13_l2
from symbolic.sim.basic_4 import opposite
from symbolic.sums import LENGTHS, entry, total, vector

SPREAD, HEAD, LABEL, EDGE = sp.symbols("spread h b R", nonnegative=True)
"""||A|| ||h|| or ||A^T h||; ||h||; |b|; R."""


def constant_of(statement: Any, share: Any, data: str, of: str = "loss") -> Any:
    """The constant that a reading compares with, per ||x - y||, in the letters above.

    One token of one coordinate tells it: there ||A|| ||h|| and ||A^T h|| are |A_0 h_0|.
    """
    A, h = (symbols_of(name, 1, positive=True) for name in "Ah")
    x, y = (symbols_of(name, 1) for name in "xy")
    b, R = sp.symbols("b R", nonnegative=True)
    v = SimpleNamespace(A=A.reshape(1, 1), h=h, x=x, y=y, b=b, R=R)
    right = statement.compared(SYMBOLS, v, of, data, share).right
    per_length = sp.simplify(right / sp.Abs(x[0] - y[0]))
    return sp.cancel(per_length.subs({A[0]: SPREAD / HEAD, h[0]: HEAD}))


class _Spans(Symbols):
    """Symbols, with letters for max h - min h, max |h - b| and diam(A)."""

    def __init__(self, w: Any, r: Any, diameter: Any) -> None:
        self.spans = w, r, diameter

    def oscillation(self, x: Any) -> Any:
        """W."""
        return self.spans[0]

    def largest(self, x: Any) -> Any:
        """R."""
        return self.spans[1]

    def diameter(self, A: Any) -> Any:
        """The letter."""
        return self.spans[2]


def ensure_covariance() -> None:
    """|Cov_f(h, A z)| <= osc(h) diam(A)/4, so at most ||A^T h|| where the hypothesis holds."""
    ensure_zero(softmax.structural_residual(), "the slope of <f, h> along z is Cov_f(h, A z)")
    ensure_quarter(sp.Rational(1, 4))
    cite(textbook.CAUCHY_SCHWARZ)
    of_h, of_A, more, less = sp.symbols("osc_h diam_A more less", nonnegative=True)
    ensure_nonnegative(
        (of_h * of_A / 4) ** 2 - of_h**2 / 4 / (1 + more) * (of_A**2 / 4) / (1 + less),
        "Cov_f(h, A z)^2, at most the product of the variances of h and A z, is at most (osc(h) "
        "diam(A)/4)^2",
        normal=sp.factor,
    )


def ensure_steepest_slope() -> None:
    """The slope g' = g (1 - g) is at most 1/4."""
    g = sp.Symbol("g", real=True)
    ensure_equal(
        sp.Rational(1, 4) - g * (1 - g), (g - sp.Rational(1, 2)) ** 2, "1/4 - g' is a square"
    )


def slope_at_zero(entry: Any, size: Any, head: Any, b: Any) -> Any:
    """The slope of the entry at x = 0 with two tokens, A = size (1, -1) and h = head (1, -1)."""
    x = sp.Symbol("x", real=True)
    A, h = entries([[size], [-size]]), entries([head, -head])
    value = entry(SYMBOLS, A, entries([x]), h, b)
    return sp.simplify(sp.diff(value, x).subs(x, 0))


def norms_at_zero(size: Any, head: Any, b: Any) -> dict[Any, Any]:
    """The letters of constants for these tokens."""
    A, h = entries([[size], [-size]]), SYMBOLS.norm(entries([head, -head]))
    return {SPREAD: SYMBOLS.spectral(A) * h, HEAD: h, LABEL: b}


def ensure_linear_attains(statement: Any, at: Any, entry: Any) -> None:
    """The constant of linear attention, |l'| ||A^T h|| at most, is reached by one token.

    Args:
        statement: whose constant is compared.
        at: the logit A x of the token.
        entry: the loss of linear attention.
    """
    x, A, h = sp.symbols("x A h", positive=True)
    b = -LABEL
    value = entry(SYMBOLS, entries([[A]]), entries([x]), entries([h]), b)
    found = sp.Abs(sp.diff(value, x).subs(x, at / A))
    cite(textbook.SINGULAR_VALUES)  # ||A^T h|| <= ||A|| ||h||, and |<A x, h>| <= ||A x|| ||h||
    constant = constant_of(statement, 1, "norms").subs({SPREAD: A * h, HEAD: h})
    reached = "the slope of linear attention at one token is its constant"
    ensure_equal(found, constant, reached, normal=sp.simplify)
    ensure_no_less(reached, value)


def linear_in_two(entry: Any) -> tuple[Any, Any, Any]:
    """Linear attention's loss of two tokens in the plane, its points x and A^T h, on symbols."""
    A, x, h = symbols_of("A", 2, 2), symbols_of("x", 2), symbols_of("h", 2)
    return entry(SYMBOLS, A, x, h, LABEL), x, A.T @ h


class _Rows:
    """A matrix of any size: it takes the symbols x and z to the vectors A x and A z."""

    def __matmul__(self, point: Any) -> Any:
        return vector(point.subs({_X: entry("Ax"), _Z: entry("Az")}))


_X, _Z, _STEP = sp.symbols("x z step", real=True)
SCORE, RISE = sp.symbols("score rise", real=True)
"""<A x, h> and <A z, h>."""


def curvature_along(loss: Any, b: Any) -> Any:
    """z^T Hess z of linear attention's loss at x in the letters above, for any n and D."""
    value = loss(LENGTHS, _Rows(), _X + _STEP * _Z, vector(entry("h")), b)
    bend = sp.diff(value, _STEP, 2).subs(_STEP, 0)
    inner = {total(entry(name) * entry("h")): d for name, d in (("Ax", SCORE), ("Az", RISE))}
    return bend.subs(inner)


def ensure_largest(statement: Any, second: Any, most: Any, score: Any) -> Any:
    """The constant that is compared is the largest one of the gradient of linear attention's loss.

    Args:
        statement: whose constant is compared.
        second: l'' at <A x, h>, for the label `_LABEL`.
        most: the largest |l''|.
        score: <A x, h> where l'' is as large as that.

    Returns:
        The constant, in the letters of `constant_of`.

    Raises:
        ProofError: it is another one, or the loss has another Hessian.
    """
    bend = curvature_along(statement.linear_loss, _LABEL)
    ensure_zero(
        bend - second * RISE**2,
        "linear attention has z^T Hess z = l'' <A z, h>^2, for any n and D",
        normal=numerator,
    )
    constant = constant_of(statement, 1, "norms", "gradient")
    cite(textbook.SINGULAR_VALUES)  # |<A z, h>| <= ||A|| ||h|| for ||z|| = 1, with equality
    size, more = sp.symbols("size more", nonnegative=True)
    bound = "no |z^T Hess z| of linear attention's loss exceeds the constant that is compared"
    ensure_nonnegative(constant.subs(SPREAD, size + more) - most * size**2, bound, normal=expanded)
    ensure_hessian(bound, of_two(statement.linear_loss))
    reached = (
        "z^T Hess z of linear attention's loss is that constant for h and z along singular vectors "
        "of ||A|| and x along z, so that <A x, h> is any number"
    )
    ensure_equal(
        bend.subs({RISE: SPREAD, SCORE: score}),
        constant.subs(LABEL, sp.Abs(_LABEL)),
        reached,
        normal=lambda x: sp.expand(sp.radsimp(x)),
    )
    ensure_no_less(reached, of_two(statement.linear_loss))
    return constant


_LABEL = sp.Symbol("b", real=True, nonzero=True)


def ensure_squared_linear() -> Any:
    """2 ||A||^2 ||h||^2 is the largest constant of the gradient of (<A x, h> - b)^2."""
    return ensure_largest(stability_l2, sp.Integer(2), sp.Integer(2), SCORE)


def ensure_logistic_linear() -> Any:
    """b^2 ||A||^2 ||h||^2 sup |g''| is the largest constant of the gradient of g(b <A x, h>)."""
    most = LABEL**2 * lemma_3_12.ensure_curvature()
    *_, second = lemma_3_12.derivatives(2)
    second = _LABEL**2 * second.subs(lemma_3_12.u, sp.exp(_LABEL * SCORE))
    root = 1 / sp.sqrt(3)  # g'' is largest where e^(b <A x, h>) is (1 - root)/(1 + root)
    return ensure_largest(
        stability_logistic, second, most, sp.log((1 - root) / (1 + root)) / _LABEL
    )


def prove_logistic_over_norms() -> str:
    """|L(x) - L(y)| <= |b| ||A|| ||h||/8 ||x - y||, attained."""
    basic_4.prove()
    ensure_steepest_slope()
    half, slope = sp.Rational(1, 2), "|b| g' ||A|| ||h||/2 is at most the half that is compared"
    compared = constant_of(stability_logistic, half, "norms")
    ensure_zero(compared - LABEL * SPREAD / 4 * half, slope)
    ensure_lipschitz(slope, of_two(loss))
    ensure_linear_attains(stability_logistic, sp.Integer(0), stability_logistic.linear_loss)
    two = sp.symbols("size head b", positive=True)
    reached = "the slope at x = 0 for A and h along (1, -1) is that half"
    ensure_equal(slope_at_zero(loss, *two), compared.subs(norms_at_zero(*two)), reached)
    ensure_no_less(reached, of_two(loss))
    return "|b| ||A|| ||h||/8 is the best constant over all A and h of these norms, any n >= 2"


def prove_logistic_on_data() -> str:
    """|L(x) - L(y)| <= |b| ||A^T h||/4 ||x - y|| where ||A^T h|| >= osc(h) diam(A)/4."""
    ensure_covariance()
    ensure_steepest_slope()
    w, diameter, more, less = sp.symbols("w diameter more less", nonnegative=True)
    square = sp.Symbol("(g-1/2)^2", nonnegative=True)
    A, h = symbols_of("A", 1, 1, positive=True), symbols_of("h", 1, positive=True)
    hypothesis = stability_logistic.STABILITY.hypotheses[stability_logistic.SPREAD]
    asked = hypothesis(_Spans(w, w, diameter), SimpleNamespace(A=A, h=h))
    spread = sp.solve(asked.right - asked.left - less, A[0, 0])[0] * h[0]  # ||A^T h||
    covariance = w * diameter / 4 / (1 + more)
    slope = (
        "|b| g' |Cov_f(h, A z)| is at most what is compared by the hypothesis; g' = 1/4 - square"
    )
    ensure_nonnegative(
        constant_of(stability_logistic, 1, "same").subs(SPREAD, spread)
        - LABEL * (sp.Rational(1, 4) - square) * covariance,
        slope,
        normal=sp.factor,
    )
    ensure_lipschitz(slope, of_two(loss))
    linear, x, slope_x = linear_in_two(stability_logistic.linear_loss)
    ensure_equal(
        [sp.diff(linear, y).subs(dict.fromkeys(x, 0)) for y in x],
        [LABEL / 4 * p for p in slope_x],
        "which linear attention's slope b g' A^T h is at x = 0, so that it is its constant",
        normal=sp.simplify,
    )
    return "on the same data, for any n, by a quarter of the product of oscillations"


def prove_squared_over_norms() -> str:
    """|L(x) - L(y)| <= ||A|| ||h|| (R ||h|| + |b|) ||x - y|| for R >= 1, half of linear's."""
    basic_4.prove()
    cite(textbook.CAUCHY_SCHWARZ)  # |<f, h>| <= ||f|| ||h||, and ||f|| <= 1
    half, more = sp.Rational(1, 2), sp.Symbol("more", nonnegative=True)
    slope = "2 (||h|| + |b|) ||A|| ||h||/2 is at most the half that is compared, for R >= 1"
    compared = constant_of(stability_l2, half, "norms")
    ensure_nonnegative(
        (compared - (HEAD + LABEL) * SPREAD).subs(EDGE, 1 + more), slope, normal=expanded
    )
    ensure_lipschitz(slope, of_two(squared_loss))
    ensure_linear_attains(stability_l2, EDGE, stability_l2.linear_loss)
    size, head, b = sp.symbols("size head b", positive=True)
    ratio = -slope_at_zero(squared_loss, size, head, b) / compared.subs(
        norms_at_zero(size, head, b)
    )
    reached = "over that half the slope at x = 0 for A and h along (1, -1) tends to 1 as b grows"
    ensure_equal(sp.limit(ratio, b, sp.oo), sp.Integer(1), reached)
    ensure_no_less(reached, of_two(squared_loss))
    return "half of linear attention's constant over all A and h of these norms, any n >= 2"


def prove_squared_on_data() -> str:
    """|L(x) - L(y)| <= 2 ||A^T h|| (||h|| + |b|) ||x - y|| where ||A^T h|| >= osc(h) diam(A)/4."""
    ensure_covariance()
    more = sp.Symbol("more", nonnegative=True)
    slope = "2 (||h|| + |b|) ||A^T h|| is what is compared, at R = 1"
    compared = constant_of(stability_l2, 1, "same")
    ensure_zero(compared.subs(EDGE, 1) - 2 * (HEAD + LABEL) * SPREAD, slope)
    ensure_lipschitz(slope, of_two(squared_loss))
    grown = (compared - compared.subs(EDGE, 1)).subs(EDGE, 1 + more)
    ensure_nonnegative(grown, "and no more than what is compared at R >= 1", normal=expanded)
    return "on the same data, for any n, by a quarter of the product of oscillations"


def prove_squared_gradient_on_data() -> str:
    """The gradient changes by at most 2 ||A^T h||^2 ||x - y|| where ||A^T h|| is large enough."""
    lemma_3_13_l2.prove()
    bend = sp.Rational(1925, 10_000)
    ensure_positive(bend**2 - sp.Rational(1, 27), "0.1925 is above 1/(3 sqrt 3)")
    a, w, m = sp.symbols("a w m", nonnegative=True)
    height = lemma_3_13_l2.height(m / w, a) * w**2
    ensure_zero(
        height - (w**2 * (1 - a**2) * (1 - 3 * a**2) / 4 + m * w * a * (1 - a**2)),
        "w^2 j is w^2 (1-a^2)(1-3a^2)/4 + (r - w/2) w a (1-a^2)",
        normal=sp.cancel,
    )
    rest = 1 - (1 - a**2) * (1 - 3 * a**2)
    ensure_equal(rest, a**2 * (4 - 3 * a**2), "(1-a^2)(1-3a^2) is at most 1 on [0, 1]")
    root = 1 / sp.sqrt(3)
    top = sp.Rational(2, 3) * root - a * (1 - a**2)
    ensure_equal(
        top,
        (a - root) ** 2 * (a + 2 * root),
        "a (1-a^2) is at most 2/(3 sqrt 3), so that w^2 j <= w^2/4 + (2 r - w) w/(3 sqrt 3)",
    )
    A, h, r, diameter = sp.symbols("A h r diameter", nonnegative=True)
    v = SimpleNamespace(A=entries([[A]]), h=entries([h]), b=LABEL)
    asked = stability_l2.steep(_Spans(w, r, diameter), v)
    curvature = diameter**2 / 2 * (w**2 / 4 + bend * (2 * r - w) * w)
    slope = "the curvature diam(A)^2/2 (w^2/4 + 0.1925 (2 r - w) w) is half of what is asked for"
    ensure_zero(asked.left / 2 - curvature, slope)
    ensure_zero(
        (asked.right / 2).subs(A, SPREAD / h) - constant_of(stability_l2, 1, "same", "gradient"),
        "which is at most half of 4 ||A^T h||^2, the constant that is compared",
    )
    ensure_lipschitz(slope, [*of_two(squared_gradient)])
    linear, x, slope_x = linear_in_two(stability_l2.linear_loss)
    ensure_equal(
        [sp.diff(linear, y, z) for y in x for z in x],
        [2 * p * q for p in slope_x for q in slope_x],
        "and linear attention's Hessian is 2 (A^T h) (A^T h)^T, of norm 2 ||A^T h||^2, at every x",
        normal=sp.expand,
    )
    return "on the same data, for any n, by the curvature of lemma 3.13's l2 form"


def slope_of(statement: str, entry: Any, h: tuple[int, int], closed: Any) -> Any:
    """The gradient that runs at the tokens 1 and -1 is a closed form in T = tanh x and b.

    Returns:
        ||A|| ||h|| of these tokens.
    """
    x, b = sp.symbols("x b", real=True)
    v = opposite(x)
    values = entries([sp.Integer(value) for value in h])
    found = entry(SYMBOLS, v.A, v.x, values, b)[0]
    rest = found - closed(b, sp.tanh(x))
    ensure_zero(
        numerator(rest.rewrite(sp.exp)),
        f"{statement}: the gradient at tokens 1 and -1 in tanh x",
        normal=numerator,
    )
    return SYMBOLS.spectral(v.A) * SYMBOLS.norm(values)


def ends(at: Fraction) -> tuple[list[arb], fmpq]:
    """Tanh x at the two points of sharp-3 around a number, and how far apart they are."""
    first, second = (rational(point) for point in stability_logistic.around(at).values())
    return [arb(first).tanh(), arb(second).tanh()], second - first


def prove_logistic_exceeded(cells: int = 200_000) -> str:
    """The gradient changes by more than linear attention's constant for 0 < |b| ||h|| < 0.7226.

    Both sides are even in b and divided by |b|. All b up to 0.7226/sqrt 2 are covered by cells on
    which balls decide, halved until they do.

    Raises:
        ProofError: a cell is left.
    """

    def closed(b: Any, T: Any) -> Any:
        return b * SYMBOLS.logistic_slope(b * T) * (1 - T * T)

    ensure_logistic_linear()
    norms = slope_of("the logistic loss", gradient, (1, -1), closed)
    b, at = sp.symbols("b T", real=True)
    turned = closed(b, at) + closed(-b, at)
    ensure_zero(turned, "with b the gradient turns its sign, and its change none", normal=numerator)
    T, length = ends(stability_logistic.BENT_AT)
    size = rational(stability_logistic.LOWER)
    most = stability_logistic.linear_constant(BALLS, arb(int(norms)), "gradient") * length
    mantissa, exponent = (arb(size) / arb(2).sqrt()).upper().man_exp()
    edge = fmpq(mantissa) * fmpq(2) ** int(exponent)
    left, looked = [(fmpq(0), edge)], 0
    while left and looked < cells:
        low, high = left.pop()
        looked += 1
        b = arb((low + high) / 2, (high - low) / 2)
        first, second = (logistic_slope(b * t) * (1 - t * t) for t in T)
        if not abs(first - second) > b * most:
            middle = (low + high) / 2
            left += [(low, middle), (middle, high)]
    ensure_zero(sp.Integer(len(left)), "no label from 0 to 0.7226/sqrt 2 is left")
    return "for every such label, by balls on cells that cover them; ||A|| = ||h|| = sqrt 2"


def ensure_turned() -> None:
    """What sharp-3 says for b < 0 it says for b > 0 as well, of the same numbers."""
    variables: Any = stability_l2.STABILITY.readings["sharp-3"].variables
    size = sp.Symbol("size", positive=True)
    below, above = (
        [variables[name].by(SYMBOLS, SimpleNamespace(sign=sign, size=size)) for name in "hb"]
        for sign in (stability_l2.SIGNS["b < 0"], stability_l2.SIGNS["b > 0"])
    )
    ensure_equal([*below[0], below[1]], [10, -7, -size], "for b < 0 h is (10, -7), and b = -size")
    ensure_equal([*above[0], above[1]], [-10, 7, size], "for b > 0 h and b turn their signs")
    x, y, b = sp.symbols("x y b", real=True)
    A, h = opposite(x).A, symbols_of("h", 2)
    plain, turned = (
        [
            squared_gradient(SYMBOLS, A, entries([x]), sign * h, sign * b)[0],
            stability_l2.compared(
                SYMBOLS,
                SimpleNamespace(A=A, x=entries([x]), y=entries([y]), h=sign * h, b=sign * b),
                "gradient",
            ).right,
        ]
        for sign in (1, -1)
    )
    ensure_equal(plain, turned, "as h and b turn their signs the gradient and the constant stay")


def prove_squared_exceeded() -> str:
    """The gradient changes by more than linear attention's constant for |b| > 3.533 ||h||.

    Its change is linear in b, so that it exceeds from where it does once it grows.

    Raises:
        ProofError: it does not.
    """

    def closed(b: Any, T: Any) -> Any:
        return 17 * (sp.Rational(3, 2) + sp.Rational(17, 2) * T - b) * (1 - T * T)

    largest = ensure_squared_linear()
    norms = slope_of("the squared loss", squared_gradient, (10, -7), closed)
    ensure_turned()
    T, length = ends(stability_l2.BENT_AT)
    still, moved = (
        [17 * (fmpq(3, 2) + fmpq(17, 2) * t) * (1 - t * t) for t in T],
        [17 * (1 - t * t) for t in T],
    )
    label = rational(stability_l2.UPPER) * arb(149).sqrt()  # -b at the edge
    constant = int(largest.subs(SPREAD, norms)) * length
    change, growth = still[1] - still[0], moved[1] - moved[0]
    ensure_true(bool(growth > 0), "the change grows with -b")
    ensure_true(bool(change + label * growth > constant), "and exceeds the constant at the edge")
    return "for every such label of either sign; ||A|| = sqrt 2, ||h|| = sqrt 149"
