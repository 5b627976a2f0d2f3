"""A refutation is confirmed anew, and its slack is never told better than it is."""

from decimal import Decimal

import pytest
import toy_pack
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import ClaimError
from attsvm.theory import Slack
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.report.refutation import refutation, slack_words
from attsvm.theory.run.confirm import Confirmation


def slack(low, high, evidence=Evidence.CERTIFIED):
    return slack_words(Confirmation(True, evidence, (low, high), "balls"))


def test_a_slack_is_told_as_what_it_is_at_most_and_floats_are_named():
    assert slack("-6.000000", "-6.0") == "slack -6"
    assert slack("-0.123456789", "-0.123456788") == "slack at most -0.1234"
    assert slack("0", "0") == "slack 0, not above 0"
    assert slack("-1", "-0.5") == "slack at most -0.5"
    assert slack("-1e-30", "-1e-31") == "slack at most -1e-31"
    assert slack("-inf", "-100") == "slack at most -100"
    numeric = slack("-1", "-1", evidence=Evidence.NUMERIC)
    assert numeric == "slack -1, numeric: balls"
    again = slack_words(Confirmation(True, Evidence.NUMERIC, None, "again"))
    assert again == "refuted, numeric: again"


@given(st.decimals(-(10**9), 0, allow_nan=False), st.decimals(0, 10**6, allow_nan=False))
def test_a_bound_is_rounded_outwards(high, width):
    text = slack(str(high - width), str(high))
    text = text.removesuffix(", not above 0")
    shown = Decimal(text.removeprefix("slack ").removeprefix("at most "))
    assert high <= shown <= high + abs(high) * Decimal("2e-3")
    assert ("at most" in text) or high - width == shown


def test_an_instance_is_confirmed_anew():
    lines = refutation(toy_pack.false, 6.0, {})
    assert lines == ("x = 6", "slack -1")
    for case in (5.0, 0.0):
        with pytest.raises(ClaimError, match="does not refute it"):
            refutation(toy_pack.false, case, {})
    says_nothing = toy_pack.says(arb("nan"))
    open_sign = toy_pack.build("open", toy_pack.below_five, says_nothing, expected="refuted")
    with pytest.raises(ClaimError, match="does not refute it"):
        refutation(open_sign, 6.0, {})
    undecided = toy_pack.vacuous
    with pytest.raises(ClaimError, match="it fails"):
        refutation(undecided, 6.0, {})


def test_a_slack_of_0_refutes_what_is_strict_alone():
    def below(x: float, shift: float = 0.0) -> Slack:
        return Slack.below(x + shift, 5.0, 0.0)

    ball = toy_pack.below_five_ball
    strict = toy_pack.build("five", below, ball, expected="refuted", strict=True)
    assert refutation(strict, 5.0, {}) == ("x = 5", "slack 0, not above 0")
    other = toy_pack.build("at-most-five", toy_pack.below_five, ball, expected="refuted")
    with pytest.raises(ClaimError, match="does not refute it"):
        refutation(other, 5.0, {})


def test_a_hypothesis_that_does_not_say_true_is_not_met():
    for answer in (1, None, "yes"):
        unsure = toy_pack.build(
            "unsure",
            toy_pack.below_five,
            toy_pack.below_five_ball,
            expected="refuted",
            hypotheses={"h": lambda x, answer=answer: answer},
        )
        with pytest.raises(ClaimError, match="it fails h"):
            refutation(unsure, 6.0, {})
