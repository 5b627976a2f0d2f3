"""Traces tell equal expressions from different ones, and say nothing where they cannot."""

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, example, given
from hypothesis import strategies as st

from attsvm.strategies import numbers
from attsvm.theory import Primitive
from attsvm.theory.arithmetic import entries
from attsvm.theory.arithmetic.traces import PRIME, TRACES, Trace, Untraceable

DYADIC = numbers()
VECTORS = st.lists(DYADIC, min_size=1, max_size=4)
M = TRACES


def number(value):
    return M.of(fmpq(*value.as_integer_ratio()))


def vector(values):
    return entries([number(x) for x in values])


def same(one, other):
    return (one - other).zero


@given(DYADIC, DYADIC, DYADIC)
def test_sums_are_distributed_and_reordered(a, b, c):
    a, b, c = (M.exp(number(x)) + M.sqrt(M.exact(2)) for x in (a, b, c))
    assert same(a * (b + c), c * a + b * a)
    assert same((a - b) - c, a - (c + b))
    assert same((a + b) * (a - b), M.square(a) - b**2)
    assert same(a / b * b, a)
    assert same((a / c + b / c) * 2, 2 * (b + a) / c)


@given(DYADIC, DYADIC, st.integers(-900, 40))
def test_the_exponential_of_a_sum_is_a_product(a, b, power):
    a, b = number(a) * M.of(fmpq(2) ** power), number(b)
    assert same(M.exp(a) * M.exp(b), M.exp(a + b))
    assert same(M.exp(-a) * M.exp(a), M.exact(1))
    assert same(M.power(M.exp(b), 3), M.exp(3 * b))


@given(DYADIC, st.integers(1, 6))
def test_the_logarithm_of_an_inverse_is_the_negative_one(a, n):
    y = 2 + M.exp(number(a))
    assert same(M.log(1 / y), -M.log(y))
    assert not same(M.log(y), -M.log(y))
    shares = M.softmax(entries([number(a)] * n))
    assert same(-M.sum(shares * M.log(shares)), M.log(M.exact(n)))


@given(VECTORS, DYADIC)
def test_softmax_does_not_see_a_shift(values, shift):
    s = vector(values)
    for one, other in zip(M.softmax(s), M.softmax(s + number(shift)), strict=True):
        assert same(one, other)
    assert same(M.sum(M.softmax(s)), M.exact(1))


@given(VECTORS)
def test_norms_and_roots_of_equal_numbers_are_equal(values):
    x = vector(values)
    assert same(M.norm(x), M.norm(-x[::-1]))
    assert same(M.norm(x), M.sqrt(M.dot(x, x)))
    y = M.exp(x)
    assert same(M.max(y), M.exp(M.max(x)))
    assert same(M.sum(M.abs(M.log(y))), M.sum(M.abs(-M.log(y))))


@given(DYADIC, DYADIC)
def test_squares_of_roots_are_known_and_those_of_sums_are_not_sums(a, b):
    x, y = (M.exp(number(c)) + 1 for c in (a, b))
    assert (M.sqrt(x) * M.sqrt(y)).same(M.sqrt(x * y))
    assert (M.sqrt(x) / M.sqrt(y)).same(M.sqrt(x / y))
    assert not (M.sqrt(x) + M.sqrt(y)).same(M.sqrt(x + y))


@given(DYADIC, DYADIC)
def test_what_differs_by_little_is_told_apart(a, b):
    little = M.of(fmpq(1, 2**200))
    for one in (M.exp(number(a)), M.sqrt(M.exact(2)) * number(b), number(a)):
        assert not same(one + little, one)
        assert not same(one * (1 + little), one) or one.zero
    assert not same(M.exp(number(a) + little), M.exp(number(a)))
    assert not same(M.sqrt(M.exact(2) + little), M.sqrt(M.exact(2)))
    assert not same(M.log(M.exact(2) + little), M.log(M.exact(2)))


@given(DYADIC, st.integers(-700, 700))
@example(1.0, 127)
@example(1.0, -126)
def test_powers_of_two_are_told_apart(a, power):
    assume(a and power)
    factor, x = M.of(fmpq(2) ** power), number(a)
    root = M.sqrt(M.exact(3))
    assert not same(factor * root * x, root * x)
    assert not same(M.exp(factor * x), M.exp(x))


def test_powers_of_two_have_residues_of_full_size():
    """The residue of a small multiple of a power of two is no small multiple of another one."""
    for modulus in (PRIME, (PRIME - 1) // 2):
        residue = 1
        for power in range(1, 6000):
            residue = residue * 2 % modulus
            assert power < 128 or min(residue, modulus - residue) > 2**60


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda: M.exp(M.sqrt(M.exact(2))), lambda: M.exp(-M.sqrt(M.exact(2)))),
        (lambda: M.sqrt(M.exact(2)), lambda: M.sqrt(M.exact(3))),
        (lambda: M.exp(M.exact(1)), lambda: M.exp(M.exact("0.5"))),
        (lambda: M.exp(M.exact("1/3")), lambda: M.exp(M.exact("1/6"))),
        (lambda: M.logistic(M.exact(1)), lambda: M.logistic(M.exact(-1))),
    ],
)
def test_different_functions_are_told_apart(one, other):
    assert not same(one(), other())


def test_what_a_ball_cannot_tell_is_untraceable():
    open_ = Trace(arb(0, 1), 17)
    for say in (
        lambda: M.abs(open_),
        lambda: M.maximum(open_, M.exact(0)),
        lambda: M.minimum(open_, M.exact(0)),
        lambda: M.exact(1) / M.exact(0),
        lambda: M.exp(M.of(fmpq(1, 2**1001))),
        lambda: M.exact(1) / (open_ - open_),
    ):
        with pytest.raises(Untraceable):
            say()


def test_a_maximum_of_equal_numbers_is_told_though_the_balls_overlap():
    root = M.sqrt(M.exact(2))
    assert same(M.maximum(root * 3, root + 2 * root), 3 * root)
    assert same(M.abs(root - root), M.exact(0))


def test_a_maximum_takes_the_integers_of_an_author():
    half = M.exact("0.5")
    assert M.maximum(1, half).ball == M.maximum(half, 1).ball == 1
    assert M.minimum(1, half).ball == M.minimum(half, 1).ball == fmpq(1, 2)


def test_a_spectral_norm_is_that_of_its_matrix():
    A = entries([[M.sqrt(M.exact(2)), M.exact(1)], [M.exact(0), M.exact(1)]])
    B = A + 0 * A
    B[0, 1] = B[0, 1] + M.of(fmpq(1, 2**200))
    assert same(M.spectral(A), M.spectral(A * 2 / 2))
    assert not same(M.spectral(A), M.spectral(B))
    assert same(M.spectral(A - A), M.exact(0))
    assert same(
        M.spectral(entries([[M.exact(3), M.exact(0)], [M.exact(0), M.exact(1)]])), M.exact(3)
    )


def test_a_fingerprint_tells_whether_a_number_is_0():
    root = M.sqrt(M.exact(2))
    assert M.is_zero(root - root).ball == 1
    assert M.is_zero(root).ball == 0
    assert M.is_zero(root * M.sqrt(M.exact(3)) - M.sqrt(M.exact(6))).ball == 1
    with pytest.raises(Untraceable):
        M.is_zero(M.log(M.exact(6)) - M.log(M.exact(2)) - M.log(M.exact(3)))


def test_what_a_residue_decided_is_not_sure():
    root, nothing = M.sqrt(M.exact(2)), M.exp(M.exact(1)) - M.exp(M.exact(1))
    assert (root - root).exact_zero
    assert nothing.zero
    assert nothing.sure
    assert not nothing.exact_zero
    for made in (M.sqrt, M.exp, M.abs, M.is_zero, lambda t: M.maximum(t, M.exact(0))):
        assert made(root - root).sure
        assert made(root).sure
        found = made(nothing)
        assert not found.sure
        for later in (found + root, -found, found * 0, M.exp(found), M.maximum(found, 1)):
            assert not later.sure
    A = entries([[nothing, nothing], [nothing, nothing]])
    assert not M.spectral(A).sure
    assert M.spectral(A + root).sure


def test_the_exponential_of_minus_an_irrational_number_is_the_inverse():
    """So even functions, such as the derivative of the logistic one, have one fingerprint."""
    with ctx.workprec(128):
        root = M.sqrt(M.exact(2))
        there, back = (M.logistic_slope(t) for t in (root, -root))
    assert (there - back).zero
    assert not (there - M.logistic_slope(root + root)).zero


@pytest.mark.parametrize(("factor", "exact"), [(fmpq(2), True), (arb(2).sqrt(), False)])
def test_a_primitive_is_known_by_its_name_where_its_value_is_no_rational(factor, exact):
    named = [
        Primitive(latex, "a number", balls=lambda x: factor * x, floats=lambda x: x)
        for latex in ("F({0})", "G({0})")
    ]
    one, again, other = (f(TRACES, TRACES.of(fmpq(3))) for f in (named[0], *named))
    assert one.ball == factor * 3 if exact else one.ball.overlaps(factor * 3)
    assert one.residue == again.residue
    assert (one.residue == other.residue) is exact
    assert all(f(TRACES, TRACES.of(fmpq(0))).residue == TRACES.of(fmpq(0)).residue for f in named)
