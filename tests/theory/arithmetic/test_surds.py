"""Sums of square roots are 0 exactly where their terms over square-free radicands are."""

import math
import operator
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.theory.arithmetic import surds
from attsvm.theory.arithmetic.surds import Bound, Surd, inverse, joined, root_of, sum_of
from attsvm.theory.arithmetic.traces import TRACES

SUMS = st.lists(
    st.tuples(
        st.builds(Fraction, st.integers(1, 60), st.integers(1, 12)),
        st.builds(Fraction, st.integers(-4, 4), st.integers(1, 3)),
    ),
    max_size=5,
)
OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)


def made(terms):
    """The sum of c sqrt(r) over pairs (r, c), term by term."""
    found = Surd(())
    for radicand, number in terms:
        root = root_of(fmpq(radicand.numerator, radicand.denominator))
        of = Surd.of(fmpq(number.numerator, number.denominator))
        found = sum_of(found, joined(root, of, operator.mul))
    return found


def square_free(n):
    """The square-free part of an integer, by trial division, and the root of the rest."""
    root = max(k for k in range(1, math.isqrt(n) + 1) if n % (k * k) == 0)
    return n // root**2, root


def reference(terms):
    """The coefficients by square-free radicands, those that are not 0."""
    found = {}
    for radicand, number in terms:
        part, root = square_free(radicand.numerator * radicand.denominator)
        found[part] = found.get(part, 0) + number * root / radicand.denominator
    return {part: x for part, x in found.items() if x}


def enclosed(surd):
    return sum((arb(c) * arb(r).sqrt() for r, c in surd.terms), arb(0))


def check_sums(terms):
    """Whether a sum has the terms that trial division finds."""
    expected = reference(terms)
    found = made(terms)
    again = reference(
        [(Fraction(int(r.p), int(r.q)), Fraction(int(c.p), int(c.q))) for r, c in found.terms]
    )
    rational = expected.get(1, 0) if expected.keys() <= {1} else None
    assert again == expected
    assert len(found.terms) == len(expected)
    assert found.rational == (None if rational is None else fmpq(*rational.as_integer_ratio()))


@given(SUMS)
def test_a_sum_has_the_terms_of_its_square_free_radicands(terms):
    check_sums(terms)


@given(SUMS, SUMS, st.sampled_from(OPERATIONS))
def test_sums_products_and_quotients_are_those_of_the_numbers(one, other, operation):
    a, b = made(one), made(other)
    found = joined(a, b, operation)
    assert (found is None) is (operation is operator.truediv and len(b.terms) != 1)
    assume(found is not None)
    with ctx.workprec(256):
        gap = enclosed(found) - operation(enclosed(a), enclosed(b))
        assert gap.contains(0)
        assert gap.rad() < 1e-60


def test_a_product_that_is_too_long_is_not_worked_out():
    primes = [2, 3, 5, 7, 11, 13]
    long = made([(Fraction(p), Fraction(1)) for p in primes])
    assert joined(long, long, operator.mul) is None
    assert inverse(long) is None
    assert inverse(Surd(())) is None
    assert joined(Surd(long.terms[:5]), long, operator.mul) is not None


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


FAULTS = {
    "a root that is not squared away": (
        "exact_root",
        lambda x: None if x != 1 else fmpq(1),
    ),
    "a root of the numerator alone": (
        "exact_root",
        lambda x: fmpq(math.isqrt(int(x.p))) if math.isqrt(int(x.p)) ** 2 == x.p else None,
    ),
    "any two radicands alike": (
        "_alike",
        lambda radicand, terms: next(((own, own) for own in terms), (radicand, radicand)),
    ),
    "terms that cancel are kept": ("sum_of", lambda a, b: Surd((*a.terms, *b.terms))),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, monkeypatch):
    name, wrong = FAULTS[fault]
    monkeypatch.setattr(surds, name, wrong)
    if name == "sum_of":
        monkeypatch.setitem(globals(), name, wrong)
    two, eight, half = Fraction(2), Fraction(8), Fraction(1, 2)
    cases = ([(two, 2), (eight, -1)], [(half, 2), (two, -1)], [(two, 1), (Fraction(3), 1)])
    caught = 0
    for terms in cases:
        try:
            check_sums([(r, Fraction(c)) for r, c in terms])
        except AssertionError:
            caught += 1
    assert caught
