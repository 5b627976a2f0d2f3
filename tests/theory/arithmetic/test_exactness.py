"""What is rational stays rational, and numbers beyond any float keep their place."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import BALLS, FLOATS, entries, lanes
from attsvm.theory.arithmetic.lanes import Tensors
from attsvm.theory.arithmetic.relations import All, Comparison
from attsvm.theory.arithmetic.symbols import symbols_of
from attsvm.theory.arithmetic.traces import TRACES, Trace, Untraceable

FRACTIONS = st.fractions(-50, 50, max_denominator=40)


def numbers(values):
    return entries([fmpq(x.numerator, x.denominator) for x in values])


def matrix(rows):
    return entries([[fmpq(x) for x in row] for row in rows])


@given(st.lists(FRACTIONS, min_size=1, max_size=4), FRACTIONS)
def test_sums_and_products_of_rationals_are_those_of_fractions(values, other):
    x = numbers(values)
    y = BALLS.exact(other)
    assert BALLS.sum(x * y) == BALLS.exact(sum(values) * other)
    assert BALLS.dot(x, x + y) == BALLS.exact(sum(v * (v + other) for v in values))
    assert all(isinstance(z, fmpq) for z in (x * y - x / 3).ravel())


@given(FRACTIONS)
def test_the_root_of_a_square_is_rational(x):
    root = BALLS.sqrt(BALLS.exact(x * x))
    assert isinstance(root, fmpq)
    assert root == BALLS.exact(abs(x))


@given(FRACTIONS)
def test_the_norm_of_a_pythagorean_triple_is_rational(x):
    norm = BALLS.norm(numbers([3 * x, -4 * x, 12 * x]))
    assert isinstance(norm, fmpq)
    assert norm == BALLS.exact(13 * abs(x))


@pytest.mark.parametrize(
    ("rows", "norm"),
    [
        ([[2, 0], [0, -3]], 3),
        ([[1, 2, 2], [2, 1, -2], [2, -2, 1]], 3),  # three times an orthogonal matrix
        ([[1, 1], [1, 1]], 2),
        ([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], 4),
        ([[3, 0, 0], [4, 0, 0]], 5),
        ([[3, 4]], 5),
        ([[0, 0], [0, 0], [0, 0]], 0),
        ([[2, 1], [1, 2]], 3),
        ([[5, 0, 0], [0, 1, 1], [0, 1, 0]], 5),  # beside it the irrational (1 + root 5)/2
    ],
)
def test_a_rational_largest_singular_value_is_found_as_such(rows, norm):
    found = BALLS.spectral(matrix(rows))
    assert isinstance(found, fmpq)
    assert found == norm


def test_an_irrational_one_above_a_rational_one_is_a_ball():
    found = BALLS.spectral(matrix([[1, 0, 0], [0, 1, 1], [0, 1, 0]]))
    assert isinstance(found, arb)
    assert found.contains((1 + arb(5).sqrt()) / 2)


def test_exp_of_0_and_log_of_1_are_exact():
    assert BALLS.exp(fmpq(0)) == 1
    assert isinstance(BALLS.exp(fmpq(0)), fmpq)
    assert BALLS.log(fmpq(1)) == 0
    assert isinstance(BALLS.log(fmpq(1)), fmpq)
    assert list(BALLS.softmax(numbers([7, 7]))) == [fmpq(1, 2), fmpq(1, 2)]
    assert list(BALLS.softmax(numbers([7]))) == [fmpq(1)]


@pytest.mark.parametrize("function", ["log", "sqrt"])
def test_what_has_no_value_is_no_number(function):
    value = getattr(BALLS, function)(fmpq(-1))
    assert not value.is_finite()
    assert [value > 0, value <= 0, value == value] == [False] * 3


def test_the_logarithm_of_0_is_no_number():
    assert not BALLS.log(fmpq(0)).is_finite()
    assert not BALLS.log(arb(0, 1)).is_finite()


def test_the_spectral_norm_of_a_vanishing_share_takes_no_memory():
    """exp(-2^40) as a rational would have 10^12 digits."""
    shares = BALLS.softmax(numbers([0, Fraction(-(2**40))]))
    assert arb(BALLS.spectral(BALLS.diagonal(shares))).contains(1)
    whole = BALLS.diagonal(shares) * BALLS.exp(fmpq(2) ** 40)
    ratio = BALLS.spectral(whole) / BALLS.exp(fmpq(2) ** 40)
    assert ratio.contains(1)
    assert ratio.rad() < arb("1e-10")


@pytest.mark.parametrize("order", [1, -1])
def test_softmax_of_a_logit_beyond_every_exponential_is_known(order):
    """exp(2^200) is no finite ball: the largest logit is taken off first, wherever it stands."""
    shares = list(BALLS.softmax(numbers([Fraction(2**200), 0][::order])))[::order]
    assert shares[0].contains(1)
    assert shares[0] > 0.5
    assert shares[1].contains(0)
    assert shares[1] < 0.5


def test_a_small_entry_beside_a_large_one_is_within_the_radius():
    A = entries([[arb(1), arb(2) ** -5000], [arb(2) ** -5000, arb(1)]])
    norm = BALLS.spectral(A)
    with ctx.workprec(6000):
        assert norm.contains(1 + arb(2) ** -5000)


def test_a_small_ball_beside_a_large_entry_is_within_the_radius_wherever_it_reaches():
    """It may be below 0, and reach further down than up."""
    with ctx.workprec(6000):
        small = arb(-1, 0.9) * arb(2) ** -5000
        norm = BALLS.spectral(entries([[arb(1), small], [small, arb(1)]]))
        assert norm.upper() >= 1 + arb(1.9) * arb(2) ** -5000


def test_the_spectral_norm_of_balls_that_are_0_is_0():
    norm = BALLS.spectral(entries([[arb(0), arb(0)], [arb(0), arb(0)]]))
    assert norm.is_zero()


WIDE = arb(0, 1)


@pytest.mark.parametrize("ball", [WIDE, WIDE + WIDE.rad(), WIDE - WIDE.rad(), arb("nan")])
def test_whether_a_ball_that_touches_0_is_0_stays_open(ball):
    found = BALLS.is_zero(ball)
    assert found.contains(0)
    assert found.contains(1)


@pytest.mark.parametrize("value", [0.5, True, None, 1 + 0j])
def test_a_constant_that_is_not_exact_is_refused(value):
    with pytest.raises(ClaimError, match="which is not exact"):
        BALLS.exact(value)


@pytest.mark.parametrize("value", ["a half", "1/0", "", "nan"])
def test_a_word_that_is_no_number_is_refused(value):
    with pytest.raises(ClaimError, match="which is no number"):
        BALLS.exact(value)


def test_comparisons_name_their_sides():
    one, two = BALLS.exact(1), BALLS.exact(2)
    assert BALLS.at_most(one, two) == Comparison("at most", one, two)
    assert BALLS.at_least(one, two) == Comparison("at most", two, one)
    assert BALLS.below(one, two) == Comparison("below", one, two)
    assert BALLS.above(one, two) == Comparison("below", two, one)
    assert BALLS.equal(one, two) == Comparison("equal", one, two)
    assert BALLS.all_of(BALLS.equal(one, two)) == All((Comparison("equal", one, two),))


@pytest.mark.parametrize("kind", ["at_most", "at_least", "below", "above"])
def test_arrays_are_not_ordered(kind):
    x = numbers([1, 2])
    for sides in ((x, x), (x, fmpq(3)), (fmpq(0), x)):
        with pytest.raises(ClaimError, match="compares arrays by an inequality"):
            getattr(BALLS, kind)(*sides)
    with pytest.raises(ClaimError, match="compares arrays by an inequality"):
        FLOATS.at_most(lanes(FLOATS.exact(1).value.reshape(1, 1)), FLOATS.exact(1))


@pytest.mark.parametrize("join", ["all_of", "any_of"])
def test_only_comparisons_are_combined(join):
    with pytest.raises(ClaimError, match="combines no comparisons"):
        getattr(BALLS, join)()
    with pytest.raises(ClaimError, match=r"returned no comparison \(got True, of type bool\)"):
        getattr(BALLS, join)(BALLS.equal(1, 1), True)


def test_lanes_hold_numbers_of_any_size():
    one = lanes(np.ones(2))
    assert (one * 10**400).value.tolist() == [np.inf] * 2
    assert (one * -(10**400)).value.tolist() == [-np.inf] * 2
    assert FLOATS.norm(entries([one, one * -(2**600)])).value.tolist() == [2.0**600] * 2
    with pytest.raises(ClaimError, match="mixes a value of type float"):
        one * 0.5


def test_numbers_that_instances_share_stand_beside_their_own():
    own, zero = lanes(np.array([1.0, -2.0])), FLOATS.exact(0)
    found = FLOATS.spectral(entries([own, zero, zero, zero, own, zero, zero, zero, own], (3, 3)))
    assert found.value.tolist() == [1.0, 2.0]


def test_records_of_tensors_become_lanes_entry_by_entry():
    arithmetic = Tensors()
    batch = np.arange(24.0).reshape(4, 2, 3)
    found = arithmetic.values(arithmetic.torch.tensor(batch))
    assert found.shape == (2, 3)
    assert found[1, 2].value.tolist() == batch[:, 1, 2].tolist()


def test_rows_of_different_lengths_are_no_array():
    with pytest.raises(ClaimError, match=r"rows of different lengths.*Give rows of one length"):
        BALLS.array([[fmpq(1), fmpq(2)], [fmpq(3)]])


def test_symbols_are_real_or_what_is_said_of_them():
    assert symbols_of("x").is_real
    assert symbols_of("x").is_positive is None
    assert symbols_of("x", positive=True).is_positive


def test_a_ball_that_touches_0_does_not_say_that_a_number_is_none():
    wide = arb(0, 1)
    for ball in (wide - wide.rad(), wide + wide.rad()):  # its end is 0 exactly
        assert ball <= 0 or ball >= 0
        with pytest.raises(Untraceable):
            TRACES.is_zero(Trace(ball, 5))
