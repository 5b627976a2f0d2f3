"""Bounds for the length of rationals hold, and are infinite at worst."""

from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.theory.arithmetic import BALLS, entries
from attsvm.theory.arithmetic.magnitudes import (
    BIT_LENGTHS,
    LONGEST,
    WORK,
    LongNumbers,
    counted_bits,
    digits_of,
)

FLOATS = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9)

FORMULAS = {
    "polynomial": lambda m, x, y: 3 * x * x - y + x * y * 7,
    "quotient": lambda m, x, y: (x - y / 3) / (1 + y * y) + 2 / (1 + x * x),
    "power": lambda m, x, y: m.power(x - y, 9) + m.exact(Fraction(1, 7)),
    "maximum": lambda m, x, y: m.maximum(x * x, y / 5) - m.minimum(x, y),
    "arrays": lambda m, x, y: m.sum(m.square(entries([[x, y], [y, x]]) @ entries([x, 1 - y]))),
    "size": lambda m, x, y: m.abs(-x) * m.is_zero(y),
    "root": lambda m, x, y: m.sqrt(m.square(x / 3)) + y,
}


@pytest.mark.parametrize("name", FORMULAS)
@given(x=FLOATS, y=FLOATS)
def test_no_rational_is_longer_than_its_bound(name, x, y):
    formula = FORMULAS[name]
    rationals = [fmpq(*value.as_integer_ratio()) for value in (x, y)]
    exact = formula(BALLS, *rationals)
    bound = formula(BIT_LENGTHS, *map(digits_of, rationals))
    assert isinstance(exact, fmpq)
    assert exact.p.bit_length() + exact.q.bit_length() <= bound.longest < 2**16


def test_a_ball_remembers_the_rationals_that_it_is_made_of():
    x = digits_of(fmpq(1, 2**40))
    square = BIT_LENGTHS.power(x, 2**20)
    ball = BIT_LENGTHS.exp(square) + x
    assert ball.ball
    assert ball.longest == square.longest > 2**26


def test_lengths_beyond_floats_are_infinite():
    x = digits_of(fmpq(3))
    for _ in range(2000):
        x = x * x
    assert x.longest == float("inf")


def doubled(x, times):
    for _ in range(times):
        x = x * x
    return x


@pytest.mark.parametrize(
    "formula",
    [
        lambda x: doubled(x, 30),
        # no rational alone is too long, but all of them together are
        lambda x: [doubled(x, 16) * x for _ in range(WORK // 2**17)],
    ],
)
def test_work_on_long_rationals_is_limited(formula):
    with counted_bits():
        assert doubled(digits_of(fmpq(3)), 10).longest < LONGEST
    with counted_bits(), pytest.raises(LongNumbers):
        formula(digits_of(fmpq(3)))
    formula(enclosed_one())  # balls have as many bits as the precision


def enclosed_one():
    return BIT_LENGTHS.exp(digits_of(fmpq(1)))
