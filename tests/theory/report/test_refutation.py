"""A counterexample in two lines is exact, and its slack is never told better than it is."""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import toy_pack
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attsvm.errors import ClaimError
from attsvm.theory import Slack
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.report.refutation import _slack, refutation
from attsvm.theory.run.confirm import Confirmation


@dataclass(frozen=True)
class Inner:
    X: Any
    y: Any = None


@dataclass(frozen=True)
class Outer:
    inner: Inner
    X: Any
    keep: bool
    pair: tuple[float, int]
    share: Fraction = Fraction(1, 3)
    word: str = "fro"


def test_a_word_of_an_instance_stays_within_its_line():
    case = Outer(Inner(np.ones(1)), np.ones(1), True, (1.0, 2), word="\x1b[2J\nrefuted")
    assert r"word = \x1b[2J\nrefuted" in in_words(case, {})


FLOATS = st.floats() | st.integers(-8, 8).map(lambda k: k / 4) | st.sampled_from([2.0**322])


def value(text):
    """The numbers that the text writes, exactly."""
    plain = text.replace("^", "**").replace("nan", "NAN").replace("inf", "INF")
    tokens = {"NAN": math.nan, "INF": math.inf, "Fraction": Fraction}
    exact = plain.replace("2**-", "Fraction(1, 2)**")
    return eval(exact, tokens)


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or a == b


@given(
    arrays.arrays(float, arrays.array_shapes(max_dims=3, min_side=1, max_side=2), elements=FLOATS)
)
def test_every_number_is_exact(x):
    text = in_words(x, {})
    name, _, written = text.partition(" = ")
    assert name == "x"
    found = value(written)
    assert np.shape(found) == x.shape
    for a, b in zip(np.ravel(np.array(found, dtype=object)), x.ravel(), strict=True):
        assert same(float(a), float(b))
        assert math.isnan(b) or math.isinf(b) or Fraction(a) == Fraction(float(b)) or "." in written


def test_records_are_told_by_what_their_fields_are_called():
    case = Outer(Inner(np.array([[1.0, 0.5]])), np.array([2]), False, (1.5, 3))
    assert in_words(case, {"Inner.X": "tokens", "Outer.pair": "p"}) == (
        "tokens = [[1, 1/2]], X = [2], keep = no, p1 = 3/2, p2 = 3, share = 1/3, word = fro"
    )
    kept = {"Outer.keep": "kept|moved", "Outer.word": "a|b"}
    assert ", moved, " in in_words(case, kept)
    assert ", kept, " in in_words(replace(case, keep=True), kept)
    assert in_words(case, kept).endswith("a|b = fro")
    assert in_words((1.0, 2.0), {}) == "x1 = 1, x2 = 2"
    assert in_words(np.zeros((0, 2)), {}) == "x = none (0 x 2)"
    assert in_words(-(2.0**322), {}) == "x = -2^322"
    assert in_words(3 * 2.0**-1000, {}) == "x = 3 * 2^-1000"
    for sign in (1, -1):
        assert in_words(sign * 0.1, {}) == f"x = {sign * 0.1}"
        assert in_words(sign * (2**20 - 1) * 2.0**-999, {}) == f"x = {sign * (2**20 - 1)} * 2^-999"
        assert "2^" not in in_words(sign * (2**20 + 1) * 2.0**-999, {})


def test_a_large_instance_is_told_by_its_sizes():
    case = Inner(np.ones((9, 9, 9)), np.ones(9))
    assert in_words(case, {"Inner.y": "labels"}) == "X of 9 x 9 x 9, labels of 9"


def slack(low, high, evidence=Evidence.CERTIFIED):
    return _slack(Confirmation(True, evidence, (low, high), "balls"))


def test_a_slack_is_told_as_what_it_is_at_most_and_floats_are_named():
    assert slack("-6.000000", "-6.0") == "slack -6"
    assert slack("-0.123456789", "-0.123456788") == "slack at most -0.1234"
    assert slack("0", "0") == "slack 0, not above 0"
    assert slack("-1", "-0.5") == "slack at most -0.5"
    assert slack("-1e-30", "-1e-31") == "slack at most -1e-31"
    assert slack("-inf", "-100") == "slack at most -100"
    numeric = slack("-1", "-1", evidence=Evidence.NUMERIC)
    assert numeric == "slack -1, numeric: balls"
    again = _slack(Confirmation(True, Evidence.NUMERIC, None, "again"))
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
