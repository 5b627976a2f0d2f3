"""Enclosed constants against floats."""

from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.exact import lipschitz as exact_lipschitz
from attsvm.exact import rational
from attsvm.lipschitz import softmax_gradient_constant
from tests.exact.digits import EPS


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([0, 1, 2, 5, -3, -10, -20]), st.integers(1, 255))
def test_the_enclosed_softmax_constant_holds_the_float_one(power, k):
    """The float search ends on a grid about the flat top: no error but rounding remains."""
    oscillation = k / 256 * 2.0**power
    ball = exact_lipschitz.softmax_gradient_constant(rational(oscillation))
    value = softmax_gradient_constant(oscillation)
    assert abs(ball - arb(value)) <= 64 * EPS * value
    assert ball.rad() <= 1e-12 * ball.mid()


def test_the_constant_without_oscillation_is_0():
    assert exact_lipschitz.softmax_gradient_constant(fmpq(0)) == 0
