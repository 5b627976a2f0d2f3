"""What floats with bounds say is so: errors are bounded, and 0 for what is exact."""

import operator
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given
from hypothesis import strategies as st

from attsvm.theory import Primitive
from attsvm.theory.arithmetic import BALLS, FLOATS, lanes
from attsvm.theory.arithmetic.bounds import BOUNDS, Bounded
from attsvm.theory.arithmetic.entries import entries
from attsvm.theory.arithmetic.heights import is_unbounded, proved
from attsvm.theory.arithmetic.magnitudes import MAGNITUDES, Magnitude

NUMBERS = st.one_of(
    st.integers(-(2**40), 2**40).map(float),
    st.floats(-1e6, 1e6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, 1.0, 0.5, 2.0**-540, 5e-324, 1e300, 2.0**53, 3.0]),
)
ERRORS = st.sampled_from([0.0, 1e-16, 0.25])


def bounded(value, error=0.0):
    return Bounded(np.array([value]), np.array([error]))


def holds(found, true):
    """Whether a rational or ball lies within the bound; a bound that is no number says nothing."""
    value, error = (float(np.broadcast_to(x, 1)[0]) for x in (found.value, found.error))
    if not np.isfinite(value) or not np.isfinite(error):
        return True
    with ctx.workprec(2400):
        away = abs(arb(fmpq(*value.as_integer_ratio())) - true)
        return bool(away.lower() <= arb(fmpq(*error.as_integer_ratio())))


def exact(x):
    return fmpq(*x.as_integer_ratio())


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
@given(x=NUMBERS, y=NUMBERS, a=ERRORS, b=ERRORS, low=st.booleans(), left=st.booleans())
@example(x=1.0, y=3.0, a=0.0, b=0.0, low=True, left=True)
@example(x=2.0**-540, y=2.0**-540, a=0.0, b=0.0, low=True, left=True)
@example(x=5e-324, y=2.0, a=0.0, b=0.0, low=True, left=True)
def test_sums_products_and_quotients_lie_within_their_bounds(name, x, y, a, b, low, left):
    operation = getattr(operator, name)
    found = operation(bounded(x, a), bounded(y, b))
    true_x, true_y = (
        exact(z) + (-1 if down else 1) * exact(e) for z, e, down in ((x, a, low), (y, b, left))
    )
    assume(name != "truediv" or true_y != 0)
    assert holds(found, operation(true_x, true_y))
    if a == b == 0.0 and found.error == 0.0:
        assert operation(exact(x), exact(y)) == exact(float(found.value[0]))


@given(x=NUMBERS, error=ERRORS, low=st.booleans())
@example(x=0.0, error=0.0, low=True)
@example(x=1.0, error=0.0, low=True)
@example(x=2.25, error=0.0, low=True)
@example(x=-800.0, error=0.0, low=True)
@example(x=0.1, error=0.25, low=False)
def test_functions_lie_within_their_bounds(x, error, low):
    number, true = bounded(x, error), exact(x) + (-1 if low else 1) * exact(error)
    with ctx.workprec(2400):
        if abs(x) < 1e5:
            assert holds(BOUNDS.exp(number), BALLS.exp(true))
        if true > 0:
            assert holds(BOUNDS.log(number), BALLS.log(true))
        if true >= 0:
            assert holds(BOUNDS.sqrt(number), BALLS.sqrt(true))
        assert holds(BOUNDS.abs(number), abs(true))
        assert holds(BOUNDS.maximum(number, 2), max(true, fmpq(2)))
        assert holds(BOUNDS.is_zero(number), fmpq(int(true == 0)))


@given(st.lists(st.floats(-4, 4), min_size=6, max_size=6))
def test_norms_and_softmax_lie_within_their_bounds(numbers):
    A = lanes(np.array(numbers).reshape(2, 3, 1), Bounded)
    true = entries([exact(x) for x in numbers], (2, 3))
    with ctx.workprec(400):
        assert holds(BOUNDS.spectral(A), BALLS.spectral(true))
        assert holds(BOUNDS.norm(A), BALLS.norm(true))
        for ours, theirs in zip(BOUNDS.softmax(A[0]), BALLS.softmax(true[0]), strict=True):
            assert holds(ours, theirs)
            assert ours.error < 1e-13


def test_integers_and_short_dyadic_numbers_are_exact_and_others_are_not():
    x, y = bounded(2.0**26 + 1), bounded(3.0)
    assert (x * x - x).error == 0.0
    assert (x * x * x).error > 0.0
    assert (bounded(0.375) * y + bounded(2.0**-20)).error == 0.0
    assert (1 / y).error > 0.0
    assert (6 / y).error == 0.0
    assert BOUNDS.sqrt(bounded(2.25)).error == 0.0
    assert BOUNDS.sqrt(bounded(2.0)).error > 0.0


@given(value=st.fractions())
@example(Fraction(1, 3))  # floats are below it
@example(Fraction(1, 10))  # floats are above it
@example(Fraction(2**53 + 1))
def test_constants_lie_within_their_bounds(value):
    found = BOUNDS.exact(value)
    assert holds(found, exact(value))
    assert (found.error == 0.0) == (Fraction(float(found.value[0])) == value)


def test_an_exact_zero_times_a_rounded_number_is_exact():
    third = BOUNDS.exact(Fraction(1, 3))
    assert (bounded(0.0) * third).error == (third * bounded(0.0)).error == 0.0
    assert (bounded(0.0, 1e-300) * bounded(1e-300, 1e-301)).error > 0.0


def test_a_number_beyond_all_floats_has_no_bound():
    assert holds(BOUNDS.exact(10**400) - bounded(1.0), fmpq(10**400 - 1))
    assert proved(BOUNDS.at_most(bounded(1.0), 10**400)) == (False, False)


@pytest.mark.parametrize("m", [FLOATS, BOUNDS])
def test_plain_integers_become_numbers_of_an_array(m):
    matrix = m.array([[m.exact(3), 4], [0, 0]])
    for norm in (m.norm(matrix), m.spectral(matrix)):
        assert norm.value == pytest.approx(5.0)


ODD = Primitive(r"O({0})", "a number", balls=lambda x: 0 * x, floats=lambda x: 0 * x)


def test_numbers_computed_from_one_without_a_bound_have_none():
    m, x = BOUNDS, lanes(np.array([[1.0, -2.0], [0.5, 3.0]]), Bounded)
    odd = ODD(m, x[0])
    matrix = m.array([[odd, x[1]], [x[0], x[1]]])
    for made in (
        *(odd + x[0], 2 - odd, odd * x[1], x[1] / odd, -odd, abs(odd), odd + odd),
        *(m.exp(odd), m.sqrt(odd), m.maximum(odd, x[0]), m.maximum(0, odd), m.spectral(matrix)),
    ):
        assert is_unbounded(m.at_most(made, m.exact(10**9)))
        assert proved(m.below(m.exact(-1), made)) == proved(m.equal(made, x[0])) == (False, False)
    assert (m.is_zero(odd).value + m.is_zero(odd).error == 1.0).all()
    sure, odd = m.at_most(x[0], m.exact(5)), m.at_most(x[1], odd)
    assert not is_unbounded(m.all_of(sure, odd))
    assert is_unbounded(m.all_of(odd, odd))
    assert not is_unbounded(m.equal(m.array([]), m.array([])))


def test_what_is_proved_of_comparisons():
    m = BOUNDS
    x = Bounded(np.array([1.0, 1.0, 2.0, 0.5, np.nan]), np.array([0.0, 0.1, 0.1, 0.1, 0.0]))
    one = m.exact(1)
    cases = {
        (True, False, False, True, False): (m.at_most(x, one), (False, False, True, False, False)),
        (False, False, False, True, False): (m.below(x, one), (True, False, True, False, False)),
        (True, False, False, False, False): (m.equal(x, one), (False, False, True, True, False)),
    }
    for holding, (relation, failing) in cases.items():
        found = proved(relation)
        assert tuple(found[0].tolist()) == holding
        assert tuple(found[1].tolist()) == failing
    both, either = (
        m.all_of(*(r for r, _ in cases.values())),
        m.any_of(*(r for r, _ in cases.values())),
    )
    assert proved(both)[0].tolist() == [False] * 5
    assert proved(both)[1].tolist() == [True, False, True, True, False]
    assert proved(either)[0].tolist() == [True, False, False, True, False]
    assert proved(either)[1].tolist() == [False, False, True, False, False]


def test_sizes_of_integers_tell_whether_floats_round():
    m, x = MAGNITUDES, Magnitude(2**26)
    assert (x * x - 3 * x + m.exact(7)).size == 2**52 + 3 * 2**26 + 7
    assert m.abs(-x * x).size == m.power(x, 2).size == 2**52
    assert m.maximum(x, 2**30).size == 2**30
    assert m.is_zero(x).size == 1
    for rounded in (x * x * x, x / 2, m.exact("1/2"), m.sqrt(x), m.exp(x), (x * x * x) * 0):
        assert rounded.size is None
