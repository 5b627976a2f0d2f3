"""Curvature of the risk against differences of its gradient, and what minima do to descent."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from flint import arb
from scipy.optimize import nnls

from attsvm.data import AttentionData
from attsvm.exact.minima import is_positive_definite
from attsvm.losses import LOSSES
from attsvm.primitives.hypotheses import all_independent
from attsvm.risk import gradient_w
from attsvm.training import descend_w
from properties._support.token_choices import all_support_everywhere, better_support
from properties.tf._support.descent_instances import from_zero
from properties.tf.benign_landscape import stationary_points
from properties.tf.benign_landscape.instances import BESIDE, FINITE, IN_ORDER, REST, WITHIN
from properties.tf.benign_landscape.stationary_points import descends, hessian, levels_apart


@pytest.mark.parametrize("loss", ["log-loss", "exponential", "correlation", "logistic-loss"])
@pytest.mark.parametrize("start", [0.0, 0.25])
def test_curvature_is_the_difference_of_gradients(loss, start):
    for case in (FINITE, BESIDE):
        data, at = case.data, replace(case, start=np.full((1, 1), start), loss=loss)
        (row,) = hessian(at)
        A = data.X[0, 0, 0] - data.X[0, 1, 0]
        h = 1e-5
        ends = [gradient_w(data, at.start + h * side, LOSSES[loss])[0, 0] for side in (1, -1)]
        assert float(row[0].mid()) == pytest.approx(A**2 * (ends[0] - ends[1]) / (2 * h), rel=1e-6)


def test_descent_returns_to_a_strict_minimum_of_separable_data():
    for case in (FINITE, WITHIN, BESIDE):
        assert descends(case) < 0
        run = descend_w(
            case.data, np.full((1, 1), 2.0**-10), case.loss, step=0.1, steps=400, record="all"
        )
        assert abs(run.W[0, -1, 0, 0]) < 1e-5
    assert descends(REST) > 0


def positive_roots(case):
    """Where tokens are whole numbers on a line the slope is a polynomial in exp(W) over a square.

    It is the covariance of tokens and scores, a sum over pairs of (x_t - x_s)(gamma_t - gamma_s)
    times exp(W (x_t + x_s)).
    """
    x, gamma = ([int(value) for value in row.ravel()] for row in (case.data.X[0], case.data.gamma))
    y, least = sp.Symbol("y"), 2 * min(x)
    pairs = itertools.combinations(range(len(x)), 2)
    slope = sum(
        (x[t] - x[s]) * (gamma[t] - gamma[s]) * y ** (x[t] + x[s] - least) for t, s in pairs
    )
    return sp.Poly(slope, y).count_roots(sp.Rational(1, 10**9))


def test_with_two_dependencies_the_order_of_scores_does_not_tell():
    same_order = from_zero(FINITE.data.X, scores=[[100.0, -6.0, -4.0, -5.0]])
    orders = [np.argsort(case.data.gamma).tolist() for case in (FINITE, same_order)]
    assert orders[0] == orders[1]
    assert not levels_apart(FINITE)
    assert not levels_apart(same_order)
    assert positive_roots(FINITE) > 0
    assert positive_roots(same_order) == 0
    assert positive_roots(IN_ORDER) == 0
    assert levels_apart(IN_ORDER)


@pytest.mark.parametrize("seed", range(3))
def test_levels_that_are_apart_leave_no_dependency_with_the_signs_of_scores(seed):
    generator = np.random.default_rng(seed)
    for _ in range(20):
        case = from_zero(
            generator.integers(-3, 4, size=(1, 4, 2)), scores=generator.integers(0, 5, size=(1, 4))
        )
        gamma = case.data.gamma[0]
        met = False
        for level in np.unique(gamma)[1:]:
            above, below = (case.data.X[0][side] for side in (gamma >= level, gamma < level))
            rows = np.vstack([above, -below]).T  # the means of both sides, with weights of sum 1
            sums = (
                np.r_[np.ones(len(above)), np.zeros(len(below))],
                np.r_[np.zeros(len(above)), np.ones(len(below))],
            )
            A = np.vstack([rows, *sums])
            met |= bool(nnls(A, np.r_[0.0, 0.0, 1.0, 1.0])[1] < 1e-9)
        assert levels_apart(case) != met


def test_a_hessian_that_may_be_singular_proves_nothing():
    one, wide = arb(1), arb(0).union(arb(2))
    assert is_positive_definite([[one, arb(0)], [arb(0), one]])
    assert not is_positive_definite([[one, one], [one, one]])
    assert not is_positive_definite([[wide]])


def test_a_slope_that_is_not_decided_is_left_open(monkeypatch):
    found = type("Found", (), {"matrix": np.array([[arb(0).union(arb(1e-30))]])})
    monkeypatch.setattr(stationary_points, "negative_gradient", lambda *_: found)
    assert descends(FINITE) is None


@pytest.mark.parametrize(
    ("tokens", "everywhere", "better"),
    [
        (np.eye(4), True, True),
        (np.tri(4, 3, -1), True, False),  # the best, last token has multiplier 0 for the first
        ([[0, 0], [-1, 0], [-2, -1], [5, 5]], False, False),
    ],
)
def test_a_better_token_on_the_margin_may_have_multiplier_0(tokens, everywhere, better):
    data = from_zero([tokens], scores=[[2.0, 0.0, 1.0, 3.0]]).data
    assert (all_support_everywhere(data), better_support(data)) == (everywhere, better)


@pytest.mark.parametrize(
    ("other", "better"),
    [
        ([0, 0, 1], True),
        ([1, 0, 2], True),  # raises the margins of the first input, and its own more
        ([-2, 0, 1], False),  # turns the first input round, as `NOT_ALIGNED`
        ([1, 0, 0], True),  # as the first: choices of one worse token have no solution
    ],
)
def test_better_tokens_of_all_inputs_are_asked_for_together(other, better):
    tokens = [[[1, 0, 0], [0, 0, 0]], [other, [0, 0, 0]]]
    data = from_zero(tokens, scores=[[1.0, 0.0], [1.0, 0.0]]).data
    assert better_support(data) == better


@pytest.mark.parametrize(
    ("tokens", "queries", "independent"),
    [
        ([[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [[1, 0], [1, 0]], True),
        ([[[1, 0], [0, 0]], [[2, 1], [1, 1]]], [[1, 0], [1, 0]], False),
        ([[[1, 0], [0, 0]], [[2, 1], [1, 1]]], [[1, 0], [1, 1]], True),
        ([[[1, 0], [0, 0], [2, 0]]], [[1, 0]], False),
        ([[[1, 0]]], [[0, 0]], True),  # nothing is constrained
    ],
)
def test_constraints_of_all_inputs_are_told_independent(tokens, queries, independent):
    data = AttentionData(
        np.array(tokens, float), np.array(queries, float), scores=np.zeros(np.shape(tokens)[:2])
    )
    assert all_independent(data) == independent
