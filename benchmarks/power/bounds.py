"""Mistakes in sim's lemmas 3.11 to 3.13 and in its comparison of stability."""

from __future__ import annotations

import math

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.attention import softmax
from attsvm.exact import dot, entry_gradient, norm, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.lipschitz import softmax_gradient_constant as exact_constant
from attsvm.exact.numbers import spectral_norm, subtract
from attsvm.lipschitz import entry_gradient as float_gradient
from attsvm.lipschitz import softmax_gradient_constant
from attsvm.losses import logistic, logistic_slope
from attsvm.risk import covariance
from attsvm.theory import Slack
from benchmarks.power.planting import plant, strictly
from properties.sim import bounded, comparison, lemma_3_11, lemma_3_12, lemma_3_13
from properties.sim import stability_logistic as stability
from properties.sim.entries import (
    Entry,
    EntryPair,
    change,
    exact_change,
    exact_pair,
    pairs,
    rounding,
)
from properties.sim.lemma_3_12 import Pair

FORMULA = lemma_3_11.amended_formula
CURVED, STEEP = lemma_3_12.sharp, lemma_3_13.sharp


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
    share=0.98,
)
curved_strict = plant(
    CURVED,
    "strict",
    "equal-points",
    statement="|g'(x) - g'(y)| < |x - y| / (6 sqrt 3) for all x and y",
    why="both sides are 0 for x = y",
    conclusion=strictly(CURVED),
    certify=lemma_3_12.certify_sharp,
)


def _falling(pair: Pair) -> Slack:
    """Whether g'(x) >= g'(y) for x <= y."""
    x, y = min(pair.x, pair.y), max(pair.x, pair.y)
    slopes = logistic_slope(np.array([x, y]))
    return Slack(float(slopes[0] - slopes[1]), 1e-15 * float(slopes.sum()))


def _falling_ball(pair: Pair) -> arb:
    x, y = sorted((rational(pair.x), rational(pair.y)))
    if abs(x) == abs(y):
        return arb(0)
    slopes = [1 / ((arb(u) / 2).exp() + (-arb(u) / 2).exp()) ** 2 for u in (x, y)]
    return slopes[0] - slopes[1]


curved_sign = plant(
    CURVED,
    "sign",
    "monotone",
    statement="g'(x) >= g'(y) for x <= y",
    why="g' is even: it rises up to 0",
    conclusion=_falling,
    certify=_falling_ball,
)
gradient_constant = plant(
    STEEP,
    "constant",
    "two-percent",
    statement="||grad L(x) - grad L(y)|| <= 0.98 ||A||^2 K(|b| (max h - min h)) ||x - y||",
    why="K is attained by two tokens",
    share=0.98,
)


def _by_rows(case: EntryPair) -> Slack:
    """The longest row of A in place of its spectral norm."""
    left, error = change(case)
    right = softmax_gradient_constant(case.oscillation) * float((case.A**2).sum(axis=1).max())
    right *= float(np.linalg.norm(case.x - case.y))
    return Slack.at_most(left, right, error + 1e-9 * right)


def _by_rows_ball(case: EntryPair) -> arb:
    e = exact_pair(case)
    right = exact_constant(e.oscillation) * max(dot(row, row) for row in e.A)
    return arb(right * norm(subtract(e.x, e.y)) - exact_change(case))


gradient_norm = plant(
    STEEP,
    "norm",
    "longest-row",
    statement="||grad L(x) - grad L(y)|| <= max_t ||A_t||^2 K(|b| (max h - min h)) ||x - y||",
    why="the rows 1, -1 have length 1, and the spectral norm is sqrt 2",
    conclusion=_by_rows,
    certify=_by_rows_ball,
)


def _long_heads(pair: EntryPair, power: int) -> bounded.BoundedPair:
    fitted = bounded.fitted(pair, everything=False)
    tall = EntryPair(pair.A, pair.x, pair.y, pair.h * 2.0**power, pair.b)
    return bounded.BoundedPair(tall, max(fitted.R, float(math.ceil(abs(pair.b)))))


gradient_hypothesis = plant(
    lemma_3_13.amended,
    "hypothesis",
    "head-of-any-size",
    statement="the printed bound of lemma 3.13 holds where also |b| <= R",
    why="the gradient is proportional to h near <f, h> = 0, and nothing bounds h",
    drop=["||h|| <= R"],
    data=st.tuples(
        st.one_of(pairs(0), pairs(0).map(bounded._centred)), st.sampled_from([0, 8, 64, 512])
    ).map(lambda drawn: _long_heads(*drawn)),
)

stable_constant = plant(
    stability.sharp,
    "constant",
    "two-percent",
    statement="|L(x) - L(y)| <= 0.98 |b| ||A|| ||h||/8 ||x - y||",
    why="1/8 is attained in the limit by A = (1, -1), h = (1, -1)",
    share=0.49,
)


def _by_entry(case: EntryPair) -> Slack:
    """The largest entry of h in place of its length."""
    left, error = comparison.loss_change(case, False)
    reach = abs(case.b) * float(np.linalg.norm(case.A, 2) * np.abs(case.h).max())
    right = reach / 8 * comparison.distance(case)
    return Slack.at_most(left, right, error + 1e-12 * right)


def _by_entry_ball(case: EntryPair) -> arb:
    e = exact_pair(case)
    reach = abs(e.b) * spectral_norm(e.A) * max(abs(x) for x in e.h)
    return arb(reach / 8 * norm(subtract(e.x, e.y)) - comparison.exact_loss_change(case, False))


stable_norm = plant(
    stability.sharp,
    "norm",
    "largest-entry",
    statement="|L(x) - L(y)| <= |b| ||A|| max_t |h_t|/8 ||x - y||",
    why="h = (1, -1) has length sqrt 2",
    conclusion=_by_entry,
    certify=_by_entry_ball,
)


def _beyond_first_order(case: EntryPair) -> bool:
    """b^2 ||h||^2 >= 1/2."""
    e = exact_pair(case)
    return bool(2 * e.b * e.b * dot(e.h, e.h) >= 1)


stable_threshold = plant(
    stability.amended,
    "constant",
    "threshold",
    statement="for |b| ||h|| >= 1/sqrt 2 the gradient of L changes by at most "
    "b^2 ||A||^2 ||h||^2/(6 sqrt 3) ||x - y||",
    why="1/sqrt 2 compares K to first order, and its second order adds 2% there",
    drop=["|b| ||h|| >= 2 sqrt(2)/3"],
    hypotheses={"|b| ||h|| >= 1/sqrt 2": _beyond_first_order},
)
