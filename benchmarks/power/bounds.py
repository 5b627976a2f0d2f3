"""Mistakes in sim's lemmas 3.11 to 3.13 and in its comparison of stability."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb

from attsvm.attention import softmax
from attsvm.exact import dot, entry_gradient, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.lipschitz import entry_gradient as float_gradient
from attsvm.losses import logistic
from attsvm.risk import covariance
from attsvm.theory import Slack
from benchmarks.power.planting import plant, strictly
from properties.sim import lemma_3_11, lemma_3_12, lemma_3_13, stability_logistic
from properties.sim._support.entry_loss import K, gradient_change, loss_change
from properties.sim.entries import Entry, rounding

FORMULA = lemma_3_11.amended_formula
CURVED, STEEP = lemma_3_12.LEMMA.claim("sharp"), lemma_3_13.LEMMA.claim("sharp")
STABLE = stability_logistic.STABILITY.claim("sharp")


def _steepest(case: Entry, share: float = 0.95 / 16) -> Slack:
    """|dL/dx_i| <= share |b| osc(h) osc(A_i) for every i where the right side is not 0."""
    left = np.abs(float_gradient(case.A, case.x, case.h, case.b))
    right = share * abs(case.b) * float(np.ptp(case.h)) * np.ptp(case.A, axis=0)
    if not right.any():
        return Slack(math.inf, 0.0)
    worst = int(np.argmin(np.where(right > 0, right - left, math.inf)))
    error = rounding(case) + 1e-14 * float(right[worst])
    return Slack.at_most(float(left[worst]), float(right[worst]), error)


def _steepest_ball(case: Entry, share: float = 0.95 / 16) -> arb:
    A, h, b = rationals(case.A), rationals(case.h), rational(case.b)
    reach = rational(share) * abs(b) * (max(h) - min(h))
    least = arb("inf")
    for i, entry in enumerate(entry_gradient(A, rationals(case.x), h, b)):
        column = [row[i] for row in A]
        right = reach * (max(column) - min(column))
        if right != 0:
            least = least.min(right - abs(entry))
    return least


entries_steep = plant(
    FORMULA,
    "constant",
    "steepness",
    statement="|dL/dx_i| <= 0.95/16 |b| (max h - min h) (max A_i - min A_i)",
    why="1/16 is attained in the limit b -> 0 by two tokens of equal attention",
    conclusion=_steepest,
    certify=_steepest_ball,
)


def _sum_for_product(case: Entry) -> Slack:
    """The closed form with g (1 + g) for g (1 - g)."""
    f = softmax(case.A @ case.x)
    g = float(logistic(np.array([case.b * float(f @ case.h)]))[0])
    printed = g * (1 + g) * case.b * (case.A.T @ covariance(f, case.h))
    residual = float(np.abs(lemma_3_11.derivative(case) - printed).max())
    return Slack.equal(residual, 8 * rounding(case))


def _sum_for_product_ball(case: Entry) -> arb:
    A, x, h, b = rationals(case.A), rationals(case.x), rationals(case.h), rational(case.b)
    if b == 0 or len(set(h)) == 1:
        return arb(0)
    g = 1 / (1 + (-arb(b * dot(exact_softmax([dot(row, x) for row in A]), h))).exp())
    true = entry_gradient(A, x, h, b)
    worst = arb(0)
    for i, entry in enumerate(true):
        if len({row[i] for row in A}) > 1:  # else the derivative is exactly 0
            worst = worst.max(abs(entry - entry * (1 + g) / (1 - g)))
    return -worst


entries_sign = plant(
    FORMULA,
    "sign",
    "slope",
    statement="dL/dx_i = g(b d)(1 + g(b d)) b (<f o A_i, h> - <f, h><f, A_i>), d = <f, h>",
    why="g' = g (1 - g): the formula is wrong wherever the derivative is not 0",
    conclusion=_sum_for_product,
    certify=_sum_for_product_ball,
)


def _next_column(case: Entry) -> Slack:
    """The closed form with A_(i+1) for A_i, the last followed by the first."""
    printed = np.roll(lemma_3_11.formula(case, True, True, -1.0), -1)
    residual = float(np.abs(lemma_3_11.derivative(case) - printed).max())
    size = 1.0 if case.b == 0 else max(1.0, 1.0 / abs(case.b))
    return Slack.equal(residual, rounding(case) * size)


def _next_column_ball(case: Entry) -> arb:
    A, h, b = rationals(case.A), rationals(case.h), rational(case.b)
    true = entry_gradient(A, rationals(case.x), h, b)
    worst, columns = arb(0), [list(column) for column in zip(*A, strict=True)]
    for i, column in enumerate(columns):
        other = (i + 1) % len(columns)
        apart = {a - c for a, c in zip(column, columns[other], strict=True)}
        if len(apart) > 1 and b != 0 and len(set(h)) > 1:  # else exactly equal
            worst = worst.max(abs(true[i] - true[other]))
    return -worst


entries_index = plant(
    FORMULA,
    "index",
    "column",
    statement="dL/dx_i is the closed form with column A_(i+1), the last followed by the first",
    why="derivatives by different coordinates differ",
    conclusion=_next_column,
    certify=_next_column_ball,
)

curved_constant = plant(
    CURVED,
    "constant",
    "two-percent",
    statement="|g'(x) - g'(y)| <= 0.98 |x - y| / (6 sqrt 3)",
    why="1/(6 sqrt 3) is the least constant, approached near log(2 + sqrt 3)",
    tightened="0.98",
)
curved_strict = plant(
    CURVED,
    "strict",
    "equal-points",
    statement="|g'(x) - g'(y)| < |x - y| / (6 sqrt 3) for all x and y",
    why="both sides are 0 for x = y",
    conclusion=strictly(CURVED),
)


def _falling(m: Any, v: Any) -> Any:
    """Whether g'(x) >= g'(y) for x <= y."""
    low, high = m.minimum(v.x, v.y), m.maximum(v.x, v.y)
    return m.at_least(m.logistic_slope(low), m.logistic_slope(high))


curved_sign = plant(
    CURVED,
    "sign",
    "monotone",
    statement="g'(x) >= g'(y) for x <= y",
    why="g' is even: it rises up to 0",
    conclusion=_falling,
)
gradient_constant = plant(
    STEEP,
    "constant",
    "two-percent",
    statement="||grad L(x) - grad L(y)|| <= 0.98 ||A||^2 K(|b| (max h - min h)) ||x - y||",
    why="K is attained by two tokens",
    tightened="0.98",
)


def _by_rows(m: Any, v: Any) -> Any:
    """The longest row of A in place of its spectral norm."""
    constant = K(m, m.abs(v.b) * m.oscillation(v.h)) * m.max(m.sums(v.A * v.A))
    return m.at_most(gradient_change(m, v), constant * m.norm(v.x - v.y))


gradient_norm = plant(
    STEEP,
    "norm",
    "longest-row",
    statement="||grad L(x) - grad L(y)|| <= max_t ||A_t||^2 K(|b| (max h - min h)) ||x - y||",
    why="the rows 1, -1 have length 1, and the spectral norm is sqrt 2",
    conclusion=_by_rows,
)
gradient_hypothesis = plant(
    lemma_3_13.LEMMA.claim("amended"),
    "hypothesis",
    "head-of-any-size",
    statement="the printed bound of lemma 3.13 holds where also |b| <= R",
    why="the gradient is proportional to h near <f, h> = 0, and nothing bounds h",
    drop=["||h|| <= R"],
)
stable_constant = plant(
    STABLE,
    "constant",
    "two-percent",
    statement="|L(x) - L(y)| <= 0.98 |b| ||A|| ||h||/8 ||x - y||",
    why="1/8 is attained in the limit by A = (1, -1), h = (1, -1)",
    tightened="0.98",
)


def _by_entry(m: Any, v: Any) -> Any:
    """The largest entry of h in place of its length."""
    constant = m.abs(v.b) * m.spectral(v.A) * m.largest(v.h) / 8
    return m.at_most(loss_change(m, v), constant * m.norm(v.x - v.y))


stable_norm = plant(
    STABLE,
    "norm",
    "largest-entry",
    statement="|L(x) - L(y)| <= |b| ||A|| max_t |h_t|/8 ||x - y||",
    why="h = (1, -1) has length sqrt 2",
    conclusion=_by_entry,
)
stable_threshold = plant(
    stability_logistic.STABILITY.claim("amended"),
    "constant",
    "threshold",
    statement="for |b| ||h|| >= 1/sqrt 2 the gradient of L changes by at most "
    "b^2 ||A||^2 ||h||^2/(6 sqrt 3) ||x - y||",
    why="1/sqrt 2 compares K to first order, and its second order adds 2% there",
    drop=["|b| ||h|| >= 2 sqrt(2)/3"],
    hypotheses={
        "|b| ||h|| >= 1/sqrt 2": lambda m, v: m.at_least(
            2 * m.square(v.b) * m.dot(v.h, v.h), m.exact(1)
        )
    },
)
