"""Where softmax attention has a smaller Lipschitz constant than linear attention has.

Over all A of norm at most N and heads of length at most H, and labels of size |b|, any number n of
tokens. Constants of the loss are in units of N, those of its gradient in units of N^2; tokens enter
by logits s = A x, with ||s|| <= R on a bounded domain. Put beta = |b| H and t = |b|/H.

Two tokens suffice. Let l be a function of d = <f, h>, f = softmax(s), lo <= h <= hi, D = hi - lo,
d = lo + p D, q = 1 - p, and u a unit vector. Write h_j = lo + D k_j, and let U and L be the
distributions f k/p and f (1 - k)/q on the tokens, m_U, m_L the means of u. Then the derivative of d
along u is p q D (m_U - m_L), and the second one of l(d) is

    F = l'(d) p q D (Var_U u - Var_L u) + Y (m_U - m_L)^2,
    Y = l'(d) p q D (q - p) + l''(d) (p q D)^2,

as E (u - mean)^2 under U, L is Var_U + q^2 (m_U - m_L)^2, Var_L + p^2 (m_U - m_L)^2. The first
is at most sqrt 2 p q D, with two tokens. For the second put e = |l'(d)| p q D. Let l'(d), F and Y
be positive, and drop Var_L. The rest is convex in L, so let L be one token, and x = u - u_L: then
e E x^2 - (e - Y) (E x)^2, convex in u_L as well, is largest where x has one sign, 0 <= x <= sqrt 2,
and takes the ends only. With F and Y negative U and L change places; where their signs differ
|F| <= e Var <= e/2; l'(d) < 0 turns all signs. So |F| <= B(e, |Y|),

    B(e, y) = 2 y for 2 y >= e, and e^2/(2 (e - y)) <= e/2 + y else.

Two tokens have |F| = 2 |Y|. And lo^2 + hi^2 <= ||h||^2, so hi, lo = mu +- D/2 with
D^2/2 + 2 mu^2 <= H^2: only a = 2 p - 1, mu and D matter.

So two tokens suffice if no B beyond 2 |Y| exceeds all 2 |Y|. For the square `lemma_3_13_l2` says
so: its constant, at given max h - min h and max |h - b|, is that of two tokens. For g put
c = tanh(d/2), r = |Y|/e = |a + c D (1 - a^2)/4|; in units of D/16 two tokens have 2 E r and the
others, where r < 1/2, at most E/(2 (1 - r)), E = (1 - a^2) (1 - c^2). Turn signs so that c >= 0.

- If a + c D (1 - a^2)/4 < 0 then a < 0 and r < |a|, so that E/(2 (1 - r)) is at most (1 + |a|)/2
  for |a| <= 1/2 and below 1 - a^2 beyond: at most 3/4.
- Else, at fixed c, E/(2 (1 - r)) grows with a, as (1 - a^2)/(1 - r) has a derivative of the sign of
  (1 - a)^2, until r = 1/2, where it is E. There c = 4 (1/2 - a)/(D (1 - a^2)), and
  E <= 1 - a^2 - 16 (1/2 - a)^2/D^2 <= 1 - 4/(D^2 + 16).
- Two tokens with mu = 0, which is admitted with every D, reach more: at a = 1/sqrt 3 for D <= 4,
  and for larger D more than 1 at D a = 9/5 (`two_tokens_reach_more`, in balls).

On a domain ||s|| <= R it is the same as long as the best two tokens are inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_poly

from attsvm._types import Array
from attsvm.exact.lipschitz import logistic_curvature, softmax_gradient_constant
from attsvm.losses import logistic_curvature as curvature_of_logistic
from attsvm.losses import logistic_slope

__all__ = [
    "LOGISTIC",
    "SQUARED",
    "constants",
    "crossing",
    "logistic_is_larger",
    "logistic_is_smaller",
    "squared_is_larger",
    "squared_is_smaller",
    "two_tokens_reach_more",
]

LOGISTIC = fmpq(72269, 100_000), fmpq(72271, 100_000)
"""The gradient of softmax has the larger constant up to the first beta, the smaller from the
second one on (logistic loss)."""

SQUARED = fmpq(35322, 10_000), fmpq(35323, 10_000)
"""The gradient of softmax has the smaller constant up to the first t, the larger one from the
second on (squared loss)."""


def logistic_is_larger(beta: fmpq) -> bool:
    """Whether two tokens of logits +-artanh(0.56113), h = (1, -1), are proved to beat linear.

    Then so they do for all smaller beta: with D = sqrt 2 beta, p = (1 - a^2)/4, c = tanh(D a/4)
    the second derivative is (1 - c^2) D p (a + c D p)/2, and over beta^2 it falls in beta while
    D^2 p <= 4.
    """
    D, a = arb(2).sqrt() * arb(beta), arb(fmpq(56113, 100_000))
    c, p = (D * a / 4).tanh(), (1 - a * a) / 4
    value = (1 - c * c) * D * p * (a + c * D * p) / 2
    return bool(value > arb(beta) ** 2 * logistic_curvature())


def logistic_is_smaller(beta: fmpq) -> bool:
    """Whether K(sqrt 2 beta) of lemma 3.13 is proved to be below beta^2/(6 sqrt 3).

    Then so it is for all larger beta: K(D)/D^2 falls. As max h - min h <= sqrt 2 H, softmax's
    constant is at most that.
    """
    largest = softmax_gradient_constant(arb(2).sqrt() * arb(beta))
    return bool(largest < arb(beta) ** 2 * logistic_curvature())


def two_tokens_reach_more(share: fmpq | int = 1, cells: int = 64) -> bool:
    """Whether a share of what two tokens reach is proved to exceed the bound for all others.

    For D <= 4 on that many cells. From D = 4 on a = 9/(5 D): there 1 - a^2 grows with D, and so
    does a + c D (1 - a^2)/4 = a + c D/4 - 81 c/(100 D) with c = tanh(9/20) where
    9/5 < c (D^2/4 + 81/100).
    """

    def reached(D: arb, a: arb) -> arb:
        c, flat = (D * a / 4).tanh(), 1 - a * a
        return arb(2 * share * flat * (1 - c * c) * (a + c * D * flat / 4))

    cell = (arb(fmpq(4 * k + 2, cells), fmpq(2, cells)) for k in range(cells))
    narrow = all(reached(D, 1 / arb(3).sqrt()) > 1 - 4 / (D * D + 16) for D in cell)
    growing = arb(fmpq(9, 20)).tanh() * fmpq(481, 100) > fmpq(9, 5)
    return bool(narrow and growing and reached(arb(4), arb(fmpq(9, 20))) > 1)


def squared_is_larger(t: fmpq) -> bool:
    """Whether two tokens are proved to beat linear: of length 1, logits -+artanh(0.50403).

    Then so they do for all larger t: the second derivative grows with t and linear's stays 2.
    """
    D, mu, a = fmpq(139307, 100_000), fmpq(121815, 1_000_000), fmpq(50403, 100_000)
    w = D * (1 - a * a) / 4
    return bool(D * D / 2 + 2 * mu * mu <= 1 and 2 * (t + mu - D * a / 2) * w * a + 2 * w * w > 1)


def squared_is_smaller(t: fmpq) -> bool:
    """Whether B(e, |Y|) < 1 is proved for all a, D and mu, with l(d) = (d + t)^2/2 and H = 1.

    Then so it is for all smaller t, as the largest bound is convex and even in t. Both 2 |Y| and
    e/2 + |Y| are (t + mu) D P(a) + D^2 Q(a) for polynomials P and Q, up to the sign of Q. On the
    disk that is at most, for any weight w of the disk's condition,
    w + t^2 P^2/(2 w - 4 Q - P^2/(2 w)): what is left is that polynomials are positive on [-1, 1].
    """
    a = fmpq_poly([0, 1])
    flat = 1 - a * a
    pieces = [
        (flat * a / 2, flat * (1 - 3 * a * a) / 8, fmpq(43, 80)),
        (flat * (1 + 2 * a) / 8, flat * (1 - a - 3 * a * a) / 16, fmpq(1, 2)),
    ]
    return all(
        _is_positive((1 - w) * (2 * w - 4 * sign * Q - P * P / (2 * w)) - t * t * P * P)
        for P, Q, w in pieces
        for sign in (1, -1)
    )


def _is_positive(polynomial: fmpq_poly) -> bool:
    """Whether a polynomial is proved to have no root in [-1, 1] and is positive at 0."""
    roots: Any = polynomial.complex_roots()
    away = all(abs(z.real) > 1 or z.imag > 0 or z.imag < 0 for z, _ in roots)
    return bool(away and polynomial(fmpq(0)) > 0)


def constants(
    loss: str, size: float, radius: float = math.inf, gradient: bool = False
) -> tuple[float, float]:
    """The constants of softmax with two tokens and of linear attention, in floats.

    Args:
        loss: `logistic` (g(b d), size is beta) or `squared` ((d - b)^2, size is t, and H = 1).
        size: of label and head.
        radius: R of the domain ||A x|| <= R; the whole space by default.
        gradient: that of the gradient in place of that of the loss.
    """
    logistic = loss == "logistic"
    length = size if logistic else 1.0

    def height(angle: Array, a: Array) -> Array:
        D, mu = math.sqrt(2.0) * length * np.cos(angle), length * np.sin(angle) / math.sqrt(2.0)
        d, w = mu + D * a / 2.0, D * (1.0 - a * a) / 4.0
        slope = logistic_slope(d) if logistic else 2.0 * (d + size)
        curvature = curvature_of_logistic(d) if logistic else 2.0
        value = (
            2.0 * (curvature * w * w - slope * w * a) if gradient else math.sqrt(2.0) * slope * w
        )
        return np.abs(value)

    softmax = _largest(height, math.tanh(radius / math.sqrt(2.0)))
    if not gradient:
        return softmax, size / 4.0 if logistic else 2.0 * (size + radius)
    top = min(size * radius, math.log(2.0 + math.sqrt(3.0)))
    steepest = abs(float(curvature_of_logistic(np.array([top]))[0]))
    return softmax, size * size * steepest if logistic else 2.0


def _largest(height: Callable[[Array, Array], Array], edge: float) -> float:
    """The maximum over an angle and |a| <= edge, on ever finer grids around the best point."""
    low, high = np.array([-math.pi / 2, -edge]), np.array([math.pi / 2, edge])
    best = 0.0
    for _ in range(5):
        angle, a = (np.linspace(s, e, 81) for s, e in zip(low, high, strict=True))
        values = height(angle[:, None], a[None, :])
        j, k = divmod(int(values.argmax()), 81)
        best = max(best, float(values.max()))
        middle, reach = np.array([angle[j], a[k]]), (high - low) / 20.0
        low, high = np.maximum(low, middle - reach), np.minimum(high, middle + reach)
    return best


def crossing(loss: str, radius: float, gradient: bool, low: float, high: float) -> float:
    """The size between low and high where both constants are the same; NaN where none is."""
    from scipy.optimize import brentq

    def lead(log: float) -> float:
        softmax, linear = constants(loss, math.exp(log), radius, gradient)
        return math.log(softmax / linear)

    ends = math.log(low), math.log(high)
    if (lead(ends[0]) > 0.0) == (lead(ends[1]) > 0.0):
        return math.nan
    return math.exp(float(brentq(lead, *ends, xtol=1e-13)))
