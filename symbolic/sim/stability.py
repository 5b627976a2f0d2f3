"""Conditions for softmax attention's gradient to have a smaller Lipschitz constant than linear's.

`prove_logistic` and `prove_squared` give conditions for softmax to have the smaller constant, by
the facts of `symbolic.sim.stability_gradients`. `prove_logistic_exceeded` and
`prove_squared_exceeded` give conditions for softmax with two tokens to have the larger constant;
`logistic_is_larger`, `logistic_is_smaller`, `squared_is_smaller` and `squared_is_larger` come
closer to both thresholds. Their proofs are in docs/proofs/stability.md; steps named here are
numbered there.

Logistic loss, beta = |b| ||h|| >= 0.72271: the gradient of g(b <softmax(A x), h>) is
||A||^2 K(D)-Lipschitz, D = |b| osc(h), and K(sqrt 2 beta) < beta^2/(6 sqrt 3). The right side times
||A||^2 is the constant of g(b <A x, h>) over all A and h of these norms.

Squared loss, |b| <= t ||h||, t = 3.5322: the gradient of (<softmax(A x), h> - b)^2 is
||A||^2 k-Lipschitz. Here k is the maximum over a in [0, 1] of a height of w = osc(h) and
r = max |h - b|, below 2 ||h||^2. The gradient of (<A x, h> - b)^2 has the constant
2 ||A||^2 ||h||^2.

The constants that `properties.sim.figures.stability` draws are over all A and h of at most given
norms and any number of tokens. Two tokens suffice for them.
"""

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import sympy as sp
from flint import arb, fmpq, fmpq_poly

from attsvm.exact import rational
from attsvm.exact.lipschitz import softmax_gradient_constant
from attsvm.exact.losses import logistic_slope
from attsvm.lipschitz import softmax_height, squared_height
from attsvm.theory import ensure_equal, ensure_true, ensure_zero
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, numerator, symbols_of
from attsvm.theory.declaration.proof import suppose
from attsvm.theory.proof.linked import linked
from properties.sim import stability_l2, stability_logistic
from properties.sim._support import stability
from properties.sim._support.entry_loss import gradient, squared_gradient
from properties.sim._support.stability import around
from properties.sim.stability_l2 import conclusion as large
from properties.sim.stability_l2.conclusion import compared
from properties.sim.stability_logistic import instances as small
from symbolic.sim import stability_gradients
from symbolic.sim.basic_4 import opposite
from symbolic.sim.stability_of_loss import SPREAD, ensure_logistic_linear, ensure_squared_linear

LOGISTIC = fmpq(72269, 100_000), fmpq(72271, 100_000)
"""The gradient of softmax has the larger constant up to the first beta, the smaller from the
second one on (logistic loss)."""

SQUARED = fmpq(35322, 10_000), fmpq(35323, 10_000)
"""The gradient of softmax has the smaller constant up to the first t, the larger one from the
second on (squared loss)."""

_WEIGHT = fmpq(43, 40)
"""W in step 2 of the squared loss."""


@linked
def prove_logistic() -> str:
    """Prove the comparison for the logistic loss, and linear attention's largest constant."""
    ensure_logistic_linear()
    stability_gradients.logistic_over_norms()
    return (
        "the gradient of g(b <f, h>) is ||A||^2 b^2 ||h||^2/(6 sqrt 3)-Lipschitz for |b| ||h|| >= "
        "0.7228 and any number of tokens"
    )


@linked
def prove_squared() -> str:
    """Prove the comparison for the squared loss, and that linear attention attains its constant."""
    ensure_squared_linear()
    stability_gradients.squared_over_norms()
    return (
        "the gradient of (<f, h> - b)^2 is 2 ||A||^2 ||h||^2-Lipschitz for |b| <= 3.532 ||h|| "
        "and any number of tokens"
    )


def logistic_is_larger(beta: fmpq) -> bool:
    """Return whether two tokens are proved to exceed linear attention's constant at beta.

    The tokens have the logits +-artanh(0.56113), and h is along (1, -1). If they exceed the
    constant at beta, they do for all smaller beta. With D = sqrt 2 beta, p = (1 - a^2)/4 and
    c = tanh(D a/4) the second derivative is (1 - c^2) D p (a + c D p)/2; over beta^2 it falls in
    beta while D^2 p <= 4.
    """
    D, a = arb(2).sqrt() * arb(beta), arb(fmpq(56113, 100_000))
    value = softmax_height(D, D * D, a, (D * a / 4).tanh())
    linear: Any = stability.linear_constant(BALLS, arb(beta), "gradient")
    return bool(value > linear)


def logistic_is_smaller(beta: fmpq) -> bool:
    """Return whether K(sqrt 2 beta) is proved to be below beta^2/(6 sqrt 3)."""
    largest = softmax_gradient_constant(arb(2).sqrt() * arb(beta))
    constant: Any = stability.linear_constant(BALLS, arb(beta), "gradient")
    return bool(largest < constant)


def two_tokens_reach_more(share: fmpq | int = 1, cells: int = 64) -> bool:
    """Return whether a share of two tokens' value is proved to exceed the bound for other data.

    For D <= 4, balls decide this on `cells` cells of D. For D >= 4 take a = 9/(5 D). Then 1 - a^2
    grows with D. So does a + c D (1 - a^2)/4 = a + c D/4 - 81 c/(100 D) with c = tanh(9/20), as
    9/5 < c (D^2/4 + 81/100). So D = 4 decides.
    """

    def reached(D: arb, a: arb) -> arb:
        c, flat = (D * a / 4).tanh(), 1 - a * a
        return arb(2 * share * flat * (1 - c * c) * (a + c * D * flat / 4))

    cell = (arb(fmpq(4 * k + 2, cells), fmpq(2, cells)) for k in range(cells))
    narrow = all(reached(D, 1 / arb(3).sqrt()) > 1 - 4 / (D * D + 16) for D in cell)
    growing = arb(fmpq(9, 20)).tanh() * fmpq(481, 100) > fmpq(9, 5)
    return bool(narrow and growing and reached(arb(4), arb(fmpq(9, 20))) > 1)


def squared_is_larger(t: fmpq) -> bool:
    """Return whether two tokens are proved to exceed linear attention's constant at |b| = t ||h||.

    The tokens have the logits -+artanh(0.50403), and ||h|| is at most 1. If they exceed the
    constant at t, they do for all larger t: the second derivative grows with t, and the constant of
    linear attention stays 2.
    """
    D, mu, a = fmpq(139307, 100_000), fmpq(121815, 1_000_000), fmpq(50403, 100_000)
    w = D * (1 - a * a) / 4
    return bool(D * D / 2 + 2 * mu * mu <= 1 and 2 * (t + mu - D * a / 2) * w * a + 2 * w * w > 1)


def _polynomials(a: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return P and Q of step 2: the height at w and m is w m P(a) + w^2 Q(a)."""
    Q = squared_height(1, 0, a)
    return squared_height(1, 1, a) - Q, Q


def squared_is_smaller(t: fmpq) -> bool:
    """Return whether step 3 of the squared loss holds at t: (2 - W) S - t^2 P^2 > 0 on [-1, 1]."""
    P, Q = _polynomials(fmpq_poly([0, 1]))
    S = 2 * _WEIGHT - 4 * Q - P * P / (2 * _WEIGHT)
    return is_positive((2 - _WEIGHT) * S - t * t * P * P)


def is_positive(polynomial: fmpq_poly) -> bool:
    """Return whether a polynomial is proved to have no root in [-1, 1] and is positive at 0."""
    roots: Any = polynomial.complex_roots()
    away = all(abs(z.real) > 1 or z.imag > 0 or z.imag < 0 for z, _ in roots)
    return bool(away and polynomial(fmpq(0)) > 0)


def slope_of(
    statement: str,
    entry: Callable[..., sp.Expr],
    h: tuple[int, int],
    closed: Callable[[sp.Expr, sp.Expr], sp.Expr],
) -> sp.Expr:
    """Prove that the gradient of the code, at the tokens 1 and -1, is a closed form.

    Args:
        statement: the name of the loss.
        entry: the gradient that runs.
        h: the values of both tokens.
        closed: the closed form in b and T = tanh x.

    Returns:
        ||A|| ||h|| for these tokens.
    """
    x, b = sp.symbols("x b", real=True)
    v = opposite(x)
    values = entries([sp.Integer(value) for value in h])
    gradient_entry = entry(SYMBOLS, v.A, v.x, values, b)[0]
    rest = gradient_entry - closed(b, sp.tanh(x))
    ensure_zero(
        numerator(rest.rewrite(sp.exp)),
        f"{statement}: the gradient at tokens 1 and -1 is a closed form in b and T = tanh x",
        normal=numerator,
    )
    return SYMBOLS.spectral(v.A) * SYMBOLS.norm(values)


def ends(at: Fraction) -> tuple[list[arb], fmpq]:
    """Return tanh x at the two points x of sharp-3 around a number, and their distance."""
    first, second = (rational(point) for point in around(at).values())
    return [arb(first).tanh(), arb(second).tanh()], second - first


def prove_logistic_exceeded(cells: int = 200_000) -> str:
    """Prove that softmax has the larger constant for 0 < |b| ||h|| < 0.7226.

    Between two points the gradient changes by more than linear attention's constant times their
    distance. Both sides are even in b. Cells cover all b from 0 to 0.7226/sqrt 2; a cell is halved
    until balls decide it.

    Args:
        cells: the maximum number of cells to decide.

    Raises:
        ProofError: some cells are not decided.
    """

    def closed(b: sp.Expr, T: sp.Expr) -> sp.Expr:
        return b * SYMBOLS.logistic_slope(b * T) * (1 - T * T)

    ensure_logistic_linear()
    norms = slope_of("the logistic loss", gradient, (1, -1), closed)
    b, at = sp.symbols("b T", real=True)
    turned = closed(b, at) + closed(-b, at)
    ensure_zero(turned, "with b the gradient turns its sign, and its change none", normal=numerator)
    T, length = ends(small.BENT_AT)
    size = rational(stability_logistic.LOWER)
    most: Any = stability.linear_constant(BALLS, arb(int(norms)), "gradient") * length
    mantissa, exponent = (arb(size) / arb(2).sqrt()).upper().man_exp()
    edge = fmpq(mantissa) * fmpq(2) ** int(exponent)
    suppose(stability_logistic.SMALL_LABEL)
    left, looked = [(fmpq(0), edge)], 0
    while left and looked < cells:
        low, high = left.pop()
        looked += 1
        b = arb((low + high) / 2, (high - low) / 2)
        first, second = (logistic_slope(b * t) * (1 - t * t) for t in T)
        if not abs(first - second) > b * most:
            middle = (low + high) / 2
            left += [(low, middle), (middle, high)]
    ensure_zero(
        sp.Integer(len(left)),
        "for every label from 0 to 0.7226/sqrt 2 some cell shows that the change exceeds the "
        "constant",
    )
    return "for every such label, by balls on cells that cover them; ||A|| = ||h|| = sqrt 2"


def ensure_turned() -> None:
    """Prove that sharp-3 for b < 0 implies it for b > 0, with the same numbers."""
    variables: Any = stability_l2.STABILITY.readings["sharp-3"].variables
    size = sp.Symbol("size", positive=True)
    below, above = (
        [variables[name].by(SYMBOLS, SimpleNamespace(sign=sign, size=size)) for name in "hb"]
        for sign in (large.SIGNS["-1"], large.SIGNS["1"])
    )
    ensure_equal([*below[0], below[1]], [10, -7, -size], "for b < 0 h is (10, -7), and b = -size")
    ensure_equal(
        [*above[0], above[1]],
        [-10, 7, size],
        "for b > 0 h and b turn their signs: h is (-10, 7), and b = size",
    )
    x, y, b = sp.symbols("x y b", real=True)
    A, h = opposite(x).A, symbols_of("h", 2)
    plain, turned = (
        [
            squared_gradient(SYMBOLS, A, entries([x]), sign * h, sign * b)[0],
            compared(
                SYMBOLS,
                SimpleNamespace(A=A, x=entries([x]), y=entries([y]), h=sign * h, b=sign * b),
                "gradient",
            ).right,
        ]
        for sign in (1, -1)
    )
    ensure_equal(plain, turned, "as h and b turn their signs the gradient and the constant stay")


def prove_squared_exceeded() -> str:
    """Prove that softmax has the larger constant for |b| > 3.533 ||h||.

    The change of the gradient between two points is linear in b and grows with |b|. So it is enough
    that it exceeds linear attention's constant at |b| = 3.533 ||h||.

    Raises:
        ProofError: the change does not grow, or does not exceed the constant.
    """

    def closed(b: sp.Expr, T: sp.Expr) -> sp.Expr:
        return 17 * (sp.Rational(3, 2) + sp.Rational(17, 2) * T - b) * (1 - T * T)

    largest = ensure_squared_linear()
    norms = slope_of("the squared loss", squared_gradient, (10, -7), closed)
    ensure_turned()
    T, length = ends(large.BENT_AT)
    still, moved = (
        [17 * (fmpq(3, 2) + fmpq(17, 2) * t) * (1 - t * t) for t in T],
        [17 * (1 - t * t) for t in T],
    )
    suppose(stability_l2.LARGE_LABEL)
    label = rational(stability_l2.UPPER) * arb(149).sqrt()  # -b at the edge
    constant = int(largest.subs(SPREAD, norms)) * length
    change, growth = still[1] - still[0], moved[1] - moved[0]
    ensure_true(bool(growth > 0), "the change of the gradient grows with -b")
    ensure_true(
        bool(change + label * growth > constant),
        "at b = -3.533 ||h|| the change exceeds linear attention's constant times ||x - y||",
    )
    return "for every such label of either sign; ||A|| = sqrt 2, ||h|| = sqrt 149"
