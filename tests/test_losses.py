"""Losses against fifty digits: values, derivatives, constants and the slope's logarithm."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import attsvm
from attsvm.errors import DataError
from attsvm.losses import (
    LOGISTIC,
    LOSSES,
    curvature_kernel,
    ensure_loss,
    logistic_curvature,
    logistic_slope,
    slope_kernel,
)
from tests.precise_losses import VALUES

SLOPES = {
    "logistic": lambda u: 1 / (2 + mpmath.exp(u) + mpmath.exp(-u)),
    "logistic-loss": lambda u: 1 / (2 + mpmath.exp(u) + mpmath.exp(-u)),
    "log-loss": lambda u: 1 / (1 + mpmath.exp(u)),
    "exponential": lambda u: mpmath.exp(-u),
    "correlation": lambda u: mpmath.mpf(1),
    "squared": lambda u: 2 * (u - 1),
    "cubic": lambda u: 3 * u**2,
}
EPS = np.finfo(float).eps
NAMES = st.sampled_from(sorted(VALUES))
POINTS = st.floats(-40.0, 40.0)
GRID = np.linspace(-40.0, 40.0, 80001)


def test_every_loss_has_an_independent_twin():
    assert sorted(LOSSES) == sorted(VALUES)
    assert all(loss.name == name for name, loss in LOSSES.items())


def at(function, *numbers):
    return mpmath.mpf(float(function(*(np.array([u]) for u in numbers))[0]))


@given(NAMES, POINTS)
@example("log-loss", 40.0)
@example("logistic", -40.0)
@example("logistic-loss", 40.0)
@example("squared", 1.0)
@example("cubic", 0.0)
@example("logistic", 0.0)
@example("logistic", 1e-9)
def test_values_and_derivatives_have_full_relative_accuracy(name, u):
    """The numeric derivative at 60 digits is good to 1e-25 of the value's size.

    Curvatures are relative to the value in the tails; 1 - e rounds by eps where e is near 1.
    """
    loss = LOSSES[name]
    with mpmath.workdps(60):
        value, slope, curvature = (mpmath.diff(VALUES[name], mpmath.mpf(u), k) for k in range(3))
        least = np.finfo(float).tiny  # below which numbers underflow
        assert abs(at(loss.value, u) - value) <= 4 * EPS * abs(value) + least
        assert abs(at(loss.slope, u) - slope) <= 6 * EPS * abs(slope) + mpmath.mpf("1e-40")
        error = EPS * (8 * abs(curvature) + mpmath.exp(-abs(u))) + mpmath.mpf("1e-30")
        assert abs(at(loss.curvature, u) - curvature) <= error


@given(NAMES, st.floats(-1e4, 1e4))
@example("logistic", 1e4)
@example("logistic-loss", -1e4)
@example("log-loss", 1e4)
@example("exponential", 1e4)
def test_log_slope_is_right_also_where_the_slope_underflows(name, u):
    with mpmath.workdps(60):
        slope = SLOPES[name](mpmath.mpf(u))
        assume(slope != 0)
        truth = mpmath.log(abs(slope))
        assert abs(at(LOSSES[name].log_slope, u) - truth) <= 4 * EPS * (1 + abs(truth))


@pytest.mark.parametrize(("name", "u"), [("squared", 1.0), ("cubic", 0.0)])
def test_the_logarithm_of_a_slope_of_0_is_infinite(name, u):
    assert SLOPES[name](u) == 0
    assert at(LOSSES[name].log_slope, u) == -mpmath.inf


@given(NAMES, POINTS, st.floats(1e-12, 60.0))
@example("log-loss", 40.0, 8.0)
@example("log-loss", 35.0, 30.5)
@example("log-loss", 40.0, 1e3)
@example("logistic", -36.0, 12.0)
@example("squared", 3.0, 1e-12)
def test_drops_do_not_cancel(name, best, deficit):
    """Relative to the larger of its terms for the square, which is not monotone."""
    with mpmath.workdps(600):
        b, D = mpmath.mpf(best), mpmath.mpf(deficit)
        truth = VALUES[name](b - D) - VALUES[name](b)
        size = 2 * abs(1 - b) * D + D * D if name == "squared" else abs(truth)
        error = abs(at(LOSSES[name].drop, best, deficit) - truth)
        assert error <= EPS * (64 + abs(b) + D) * size


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
def test_lipschitz_and_smoothness_are_upper_bounds_that_are_approached(loss):
    for bound, derivative in ((loss.lipschitz, loss.slope), (loss.smoothness, loss.curvature)):
        largest = np.abs(derivative(GRID)).max()
        if math.isfinite(bound):
            assert 0.999 * bound <= largest <= bound * (1 + 4 * EPS)
        else:
            assert np.abs(derivative(np.array([-600.0]))).max() > 1e3
    signs = set(np.sign(loss.slope(GRID)).tolist())
    flat = {0.0} if loss.name == "cubic" else set()  # at 0
    assert signs == ({loss.direction} | flat if loss.direction else {-1.0, 0.0, 1.0})


@given(POINTS)
def test_kernels_are_those_of_the_logistic_function(u):
    x = np.array([u])
    assert slope_kernel(np.exp(-abs(x))) == logistic_slope(x) == LOGISTIC.slope(x)
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


def test_both_losses_that_are_called_logistic_have_a_name_of_their_own():
    one = np.ones(1)
    assert attsvm.SIGMOID_LOSS.value(one) == pytest.approx(1.0 / (1.0 + math.e))
    assert attsvm.LOG_LOSS.value(one) == pytest.approx(math.log1p(1.0 / math.e))
    with pytest.warns(UserWarning, match=r"1/\(1 \+ exp\(u\)\): write SIGMOID_LOSS, or LOG_LOSS"):
        assert attsvm.LOGISTIC_LOSS is attsvm.SIGMOID_LOSS
    assert ensure_loss("sigmoid-loss") is ensure_loss("logistic-loss") is attsvm.SIGMOID_LOSS
    with pytest.raises(DataError) as caught:
        ensure_loss("logistic loss")
    assert "log-loss is log(1 + exp(-u))" in caught.value.remedy
