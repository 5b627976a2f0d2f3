"""A slack decides only what lies beyond its own error bound."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm.theory import Slack

finite = st.floats(-1e6, 1e6)
errors = st.floats(0, 1e6)


@pytest.mark.parametrize(
    ("slack", "holds", "violated"),
    [
        (Slack(1.0, 0.5), True, False),
        (Slack(0.5, 0.5), True, False),
        (Slack(0.0, 0.0), True, False),
        (Slack(0.25, 0.5), False, False),
        (Slack(-0.25, 0.5), False, False),
        (Slack(-0.5, 0.5), False, False),
        (Slack(-1.0, 0.5), False, True),
        (Slack(0.0, 0.0, "strict"), False, False),
        (Slack(0.5, 0.5, "strict"), False, False),
        (Slack(1.0, 0.5, "strict"), True, False),
        (Slack(-1.0, 0.5, "strict"), False, True),
        (Slack.equal(0.0, 1e-9), True, False),
        (Slack.equal(1e-9, 1e-9), True, False),
        (Slack.equal(-2e-9, 1e-9), False, True),
        (Slack.unknown("too short"), False, False),
        (Slack(1.0, math.inf), False, False),
        (Slack(-1.0, math.inf), False, False),
        (Slack(math.inf, 0.0), True, False),
        (Slack(-math.inf, 0.0), False, True),
        (Slack(math.inf, math.inf), False, False),
    ],
)
def test_a_slack_settles_only_what_its_error_leaves(slack, holds, violated):
    assert (slack.holds, slack.violated) == (holds, violated)


@pytest.mark.parametrize(
    "slack",
    [
        Slack(math.nan, 0.0),
        Slack(0.0, math.nan),
        Slack(0.0, -1.0),
        Slack.at_most(math.nan, 1, 0),
        Slack.equal(1.0, math.inf),
    ],
)
def test_a_slack_without_a_number_is_broken(slack):
    assert slack.broken


@given(finite, errors, st.sampled_from(["inequality", "strict", "equality", "unknown"]))
def test_no_slack_both_holds_and_fails(value, error, kind):
    slack = Slack(value, error, kind)
    assert not slack.broken
    assert not (slack.holds and slack.violated)


@given(finite, errors, st.floats(-1.0, 1.0))
def test_whatever_holds_is_true_of_every_value_within_the_error(value, error, share):
    slack, true = Slack(value, error), value + share * error
    rounding = 1e-9 * (abs(value) + error)
    assert not slack.holds or true >= -rounding
    assert not slack.violated or true < rounding


@given(finite, finite, errors)
def test_at_most_is_right_minus_left_with_their_ratio(left, right, error):
    slack = Slack.at_most(left, right, error)
    assert slack.value == right - left
    if left >= 0 < right:
        rounding = error > right / 1000.0
        assert slack.ratio == (max(left - error, 0.0) if rounding else left) / right
    else:
        assert slack.ratio is None


@given(finite, finite, errors)
def test_below_differs_from_at_most_in_its_kind_alone(left, right, error):
    strict, weak = Slack.below(left, right, error), Slack.at_most(left, right, error)
    assert (strict.value, strict.error, strict.ratio) == (weak.value, weak.error, weak.ratio)
    assert strict.kind == "strict"


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(-1.0, 1.0))
def test_the_range_of_an_equality_holds_minus_its_true_residual(residual, error, share):
    true = max(residual + share * error, 0.0)
    low, high = Slack.equal(residual, error).range
    assert low - 1e-9 * (1 + residual + error) <= -true <= high + error + 1e-9


@given(finite, errors)
def test_the_range_of_an_inequality_is_its_value_within_the_error(value, error):
    assert Slack(value, error).range == (value - error, value + error)


def test_an_infinite_side_has_no_ratio():
    assert Slack.at_most(1.0, math.inf, 0.0).ratio is None
    assert Slack.at_most(math.inf, 1.0, 0.0).ratio is None
