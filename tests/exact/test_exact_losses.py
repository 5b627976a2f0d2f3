"""Losses and their derivatives against many digits and floats."""

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.errors import DataError
from attsvm.exact import rational
from attsvm.exact.losses import logistic_slope, loss_curvature, loss_drop, loss_slope, loss_value
from attsvm.losses import LOSSES
from tests.exact.digits import EPS, NAMES, VALUE, encloses, real


@settings(max_examples=150, deadline=None)
@given(NAMES, st.floats(-40.0, 40.0), st.floats(0.0, 80.0))
def test_loss_drops_and_slopes_hold_their_values(name, best, missing):
    """Where the difference of two losses has lost everything, too: deficits go down to zero."""
    with mpmath.workdps(500):
        b, d = real(best), real(missing)
        drop = VALUE[name](b - d) - VALUE[name](b)
    if missing > 1e-300:
        assert encloses(loss_drop(name, rational(best), rational(missing)), drop)
        # a relative accuracy that subtraction does not have; the square's drop may vanish
        ball = loss_drop(name, rational(best), rational(missing))
        assert name == "squared" or ball.rad() <= 1e-12 * abs(ball.mid())
    else:
        assert loss_drop(name, rational(best), rational(0.0)) == 0
    with mpmath.workdps(250):
        slope = mpmath.diff(VALUE[name], b)
    assert encloses(loss_slope(name, rational(best)), mpmath.mpf(slope))
    if name == "logistic":
        assert encloses(logistic_slope(rational(best)), mpmath.mpf(slope))


@settings(max_examples=150, deadline=None)
@given(NAMES, st.floats(-40.0, 40.0))
def test_losses_and_their_derivatives_hold_many_digits_and_floats(name, u):
    """Floats are off by a few roundings of the figure, and of those that it is formed with.

    (1 - u)^2 is formed with 1 and u, the second derivative of the logistic function with the first.
    """
    x, loss = rational(u), LOSSES[name]
    with mpmath.workdps(250):
        value, slope, curvature = (mpmath.diff(VALUE[name], real(u), k) for k in (0, 1, 2))
    truths = (
        (loss_value(name, x), value, loss.value),
        (loss_slope(name, x), slope, loss.slope),
        (loss_curvature(name, x), curvature, loss.curvature),
    )
    for ball, truth, function in truths:
        with ctx.workprec(400):
            away = abs(ball - arb(mpmath.nstr(truth, 100)))
            assert away <= ball.rad() * 2 + arb("1e-80") * (1 + abs(ball))
        mine = float(function(np.array([u]))[0])
        scale = abs(ball).upper() + (1 + u * u if name == "squared" else 0)
        if function is loss.curvature:
            scale = scale + abs(truths[1][0])
        assert abs(ball - arb(mine)) <= 16 * EPS * scale + arb(2) ** -1000
        assert ball.rad() <= 1e-13 * scale


@pytest.mark.parametrize("name", ["logistic", "logistic-loss", "log-loss", "exponential"])
@pytest.mark.parametrize("u", [-(10**6), 10**6])
def test_far_tails_keep_their_sign_and_relative_accuracy(name, u):
    """Numbers that no float holds: e^-1000000 is about 10^-434294."""
    for function in (loss_value, loss_slope, loss_curvature):
        ball = function(name, fmpq(u))
        assert ball.is_finite()
        assert ball.rad() <= abs(ball.mid()) * arb(2) ** -20
        assert ball != 0


@pytest.mark.parametrize(
    "function",
    [
        lambda: loss_value("hinge", 0),
        lambda: loss_slope("hinge", 0),
        lambda: loss_curvature("hinge", 0),
        lambda: loss_drop("hinge", 0, 1),
    ],
)
def test_losses_without_an_exact_form_are_named(function):
    with pytest.raises(DataError, match="no exact form") as caught:
        function()
    assert caught.value.value == "hinge"
