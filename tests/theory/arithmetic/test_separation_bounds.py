"""Sums and nests of square roots are told to be 0 exactly where they are."""

import math
from fractions import Fraction

import pytest
from flint import ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.theory import Real
from attsvm.theory.arithmetic.traces import TRACES, Bound
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import instance_type
from attsvm.theory.declaration.judge import judge

SUMS = st.lists(
    st.tuples(
        st.builds(Fraction, st.integers(1, 60), st.integers(1, 12)),
        st.builds(Fraction, st.integers(-4, 4), st.integers(1, 3)),
    ),
    max_size=5,
)


def square_free(n):
    """The square-free part of an integer, by trial division, and the root of the rest."""
    root = max(k for k in range(1, math.isqrt(n) + 1) if n % (k * k) == 0)
    return n // root**2, root


def vanishes(terms):
    """Whether the sum of c sqrt(r) is 0: no square-free radicand keeps a coefficient."""
    found = {}
    for radicand, number in terms:
        part, root = square_free(radicand.numerator * radicand.denominator)
        found[part] = found.get(part, 0) + number * root / radicand.denominator
    return not any(found.values())


def judged(terms, compare):
    """The answer of the judge on a comparison of the sum with 0."""
    variables = {"x": Real()}

    def conclusion(m, v):
        parts = [m.sqrt(m.exact(r)) * m.exact(c) for r, c in terms]
        return getattr(m, compare)(sum(parts, m.exact(0)), m.exact(0))

    formula = Formula(variables, {}, conclusion, {}, instance_type(variables))
    return judge(formula, {}, formula.build(x=0)).holds


@given(SUMS)
def test_a_sum_of_roots_is_0_exactly_where_its_square_free_terms_cancel(terms):
    assert judged(terms, "equal") is vanishes(terms)


@given(SUMS)
def test_of_a_sum_and_its_negative_neither_is_below_0_exactly_if_it_is_0(terms):
    negative = [(r, -c) for r, c in terms]
    assert (judged(terms, "below") or judged(negative, "below")) is not vanishes(terms)


@given(SUMS, st.integers(1, 2**60))
def test_roots_of_long_rationals_that_cancel_are_told(terms, factor):
    """No prime factor of such a radicand is known."""
    long = Fraction(2**107 - 1, 2**90) * factor**2
    sums = [(r * long, c) for r, c in terms[:2]]
    sums += [(r * long * 4, -c / 2) for r, c in terms[:2]]
    assert judged(sums, "equal") is True
    assert judged(sums, "below") is False


SMALL = st.builds(Fraction, st.integers(1, 40), st.integers(1, 9))


def nested(a, b):
    """sqrt(a + b + 2 sqrt(a b)) and sqrt(a) + sqrt(b), which are equal."""
    a, b = TRACES.exact(a), TRACES.exact(b)
    return TRACES.sqrt(a + b + 2 * TRACES.sqrt(a * b)), TRACES.sqrt(a) + TRACES.sqrt(b)


def check_nested(a, b):
    """Whether equal nested roots are told to be equal, and very near ones are not."""
    with ctx.workprec(1024):
        left, right = nested(a, b)
        assert (left - right).exact_zero
        assert (left / right - 1).exact_zero
        for bits in (10, 100, 400, 900):
            assert not (left - right * (1 + TRACES.exact(Fraction(1, 2**bits)))).zero


@given(SMALL, SMALL)
def test_equal_nested_roots_are_told_from_near_ones(a, b):
    check_nested(a, b)


@given(st.integers(2, 30), st.integers(2, 30), st.integers(1, 60))
def test_a_small_number_is_not_taken_for_0(a, b, power):
    """Its conjugates are as large as it is small."""
    with ctx.workprec(128):
        root = TRACES.sqrt(TRACES.sqrt(TRACES.exact(a)) + b)
        small = root - math.isqrt(math.isqrt(a) + b)
        number = TRACES.power(small, power)
        for shown in (number + 0, number - 0, number / 3 + 0):
            if not small.zero:
                assert not shown.zero


def test_a_nested_root_of_many_terms_needs_more_bits():
    with ctx.workprec(64):
        left, right = nested(Fraction(7, 3), Fraction(11, 5))
        assert not (left - right).exact_zero


@pytest.mark.parametrize("fault", ["above", "below", "roots"])
def test_a_bound_that_forgets_a_part_is_found(fault, monkeypatch):
    whole = Bound.proves_zero
    blank = {"above": 0, "below": 0, "roots": frozenset()}[fault]

    def forgetful(bound, ball):
        parts = {name: getattr(bound, name) for name in ("above", "below", "roots")}
        return whole(Bound(**{**parts, fault: blank}), ball)

    def taken_for_0():
        with ctx.workprec(256):
            root = TRACES.sqrt(TRACES.sqrt(TRACES.exact(2)) + 2)
            near = TRACES.power(root - 1, 40) / 3**80
            small = fmpq(1, 2**100)
            return [(near + near).zero, Bound.of(small).proves_zero(small)]

    assert not any(taken_for_0())
    monkeypatch.setattr(Bound, "proves_zero", forgetful)
    assert any(taken_for_0())
