"""Losses against fifty digits: values, derivatives, constants and the slope's logarithm."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attsvm.losses import (
    LOGISTIC,
    LOGISTIC_LOSS,
    LOSSES,
    SQUARED,
    curvature_kernel,
    logistic,
    logistic_curvature,
    logistic_slope,
    slope_kernel,
)

EPS = np.finfo(float).eps
TRUE = {
    "logistic": lambda u: 1 / (1 + mpmath.exp(-u)),
    "logistic-loss": lambda u: 1 / (1 + mpmath.exp(u)),
    "log-loss": lambda u: mpmath.log(1 + mpmath.exp(-u)),
    "exponential": lambda u: mpmath.exp(-u),
    "correlation": lambda u: -u,
    "squared": lambda u: (1 - u) ** 2,
}
TRUE_SLOPE = {
    "logistic": lambda u: 1 / (2 + mpmath.exp(u) + mpmath.exp(-u)),
    "logistic-loss": lambda u: -1 / (2 + mpmath.exp(u) + mpmath.exp(-u)),
    "log-loss": lambda u: -1 / (1 + mpmath.exp(u)),
    "exponential": lambda u: -mpmath.exp(-u),
    "correlation": lambda u: mpmath.mpf(-1),
    "squared": lambda u: 2 * (u - 1),
}
NAMES = st.sampled_from(sorted(TRUE))
POINTS = st.floats(-40.0, 40.0)
GRID = np.linspace(-40.0, 40.0, 80001)


def at(function, u):
    return mpmath.mpf(float(function(np.array([u]))[0]))


def test_every_loss_has_an_independent_twin():
    assert sorted(LOSSES) == sorted(TRUE) == sorted(TRUE_SLOPE)
    assert all(loss.name == name for name, loss in LOSSES.items())


@settings(max_examples=200, deadline=None)
@given(NAMES, POINTS)
@example("log-loss", 40.0)
@example("logistic", -40.0)
def test_values_have_full_relative_accuracy(name, u):
    with mpmath.workdps(50):
        truth = TRUE[name](mpmath.mpf(u))
        assert abs(at(LOSSES[name].value, u) - truth) <= 4 * EPS * abs(truth)


@settings(max_examples=200, deadline=None)
@given(NAMES, POINTS)
@example("logistic-loss", 40.0)
@example("squared", 1.0)
def test_slopes_are_derivatives_to_full_relative_accuracy(name, u):
    """The numeric derivative at 60 digits is good to 1e-25 of the value's size."""
    with mpmath.workdps(60):
        truth = mpmath.diff(TRUE[name], mpmath.mpf(u))
        assert abs(at(LOSSES[name].slope, u) - truth) <= 6 * EPS * abs(truth) + mpmath.mpf("1e-40")


@settings(max_examples=200, deadline=None)
@given(NAMES, POINTS)
@example("logistic", 0.0)
@example("logistic", 1e-9)
def test_curvatures_are_second_derivatives(name, u):
    """Relative to the value in the tails; 1 - e rounds by eps where e is near 1."""
    with mpmath.workdps(60):
        truth = mpmath.diff(TRUE[name], mpmath.mpf(u), 2)
        error = abs(at(LOSSES[name].curvature, u) - truth)
        assert error <= 8 * EPS * abs(truth) + EPS * mpmath.exp(-abs(u)) + mpmath.mpf("1e-30")


@settings(max_examples=200, deadline=None)
@given(NAMES, st.floats(-1e4, 1e4))
@example("logistic", 1e4)
@example("logistic-loss", -1e4)
@example("log-loss", 1e4)
@example("exponential", 1e4)
@example("squared", -1e4)
def test_log_slope_is_right_also_where_the_slope_underflows(name, u):
    with mpmath.workdps(50):
        slope = TRUE_SLOPE[name](mpmath.mpf(u))
        if slope == 0:
            assert at(LOSSES[name].log_slope, u) == -mpmath.inf
            return
        truth = mpmath.log(abs(slope))
        assert abs(at(LOSSES[name].log_slope, u) - truth) <= 4 * EPS * (1 + abs(truth))


def test_the_slope_itself_underflows_there():
    far = np.array([2000.0])
    assert LOGISTIC_LOSS.slope(far)[0] == 0.0
    assert LOGISTIC_LOSS.log_slope(far)[0] == -2000.0


def test_the_log_slope_of_the_square_is_minus_infinity_at_its_minimum():
    assert SQUARED.log_slope(np.array([1.0, 2.0])).tolist() == [-np.inf, math.log(2.0)]


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
def test_lipschitz_and_smoothness_are_upper_bounds_that_are_approached(loss):
    for bound, derivative in ((loss.lipschitz, loss.slope), (loss.smoothness, loss.curvature)):
        largest = np.abs(derivative(GRID)).max()
        if math.isfinite(bound):
            assert 0.999 * bound <= largest <= bound * (1 + 4 * EPS)
        else:
            assert np.abs(derivative(np.array([-600.0]))).max() > 1e3


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
def test_direction_is_the_sign_of_the_slope(loss):
    signs = set(np.sign(loss.slope(GRID)).tolist())
    assert signs == ({loss.direction} if loss.direction else {-1.0, 0.0, 1.0})


@settings(max_examples=100, deadline=None)
@given(POINTS)
def test_the_logistic_function_is_symmetric_and_its_loss_is_the_mirror(u):
    x = np.array([u])
    assert abs(logistic(x) + logistic(-x) - 1.0)[0] <= EPS
    assert LOGISTIC_LOSS.value(x) == logistic(-x)
    assert logistic_slope(x) == logistic_slope(-x) == LOGISTIC.slope(x)
    assert logistic_curvature(x) == -logistic_curvature(-x)
    assert slope_kernel(np.exp(-abs(x))) == logistic_slope(x)
    assert curvature_kernel(np.exp(-abs(x))) == abs(logistic_curvature(x))


@pytest.mark.parametrize("name", ["logistic", "logistic-loss", "log-loss", "correlation"])
def test_bounded_slopes_stay_finite_at_any_argument(name):
    """RuntimeWarning is an error in this suite, so overflow would show."""
    ends = np.array([-1e308, 1e308])
    loss = LOSSES[name]
    assert np.isfinite(loss.value(ends)).all()
    assert (np.abs(loss.slope(ends)) <= loss.lipschitz).all()
    assert (loss.curvature(ends) == 0.0).all()
    assert not np.isnan(loss.log_slope(ends)).any()
