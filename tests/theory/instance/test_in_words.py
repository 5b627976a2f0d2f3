"""An instance in words is exact, and short or told by its sizes."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from attsvm.theory.instance.in_words import in_words


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
