"""The judge: precision grows until a sign is decided, a certificate gives up, or bits run out."""

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st
from toy_pack import build, square

from attsvm.errors import ClaimError
from attsvm.theory import OPEN, Evidence
from attsvm.theory.run.confirm import PRECISIONS, confirm, decimal_bounds

KINDS = ["inequality", "strict", "equality", "unknown"]


def judge(certify, kind="inequality", **budget):
    """The confirmation of one instance, and the precisions that were asked for."""
    asked = []

    def recording(x):
        asked.append(ctx.prec)
        return certify(x)

    return confirm(build("judged", square, recording), {}, 1.0, kind, **budget), asked


@given(st.fractions(), st.sampled_from(KINDS))
def test_rationals_are_decided_exactly_and_at_once(value, kind):
    """Zero violates a strict inequality and nothing else."""
    exact = fmpq(value.numerator, value.denominator)
    answer, asked = judge(lambda x: exact, kind)
    assert answer.refuted is (value <= 0 if kind == "strict" else value < 0)
    assert answer.evidence is Evidence.CERTIFIED
    assert answer.method == "rationals"
    assert asked == [PRECISIONS[0]]
    low, high = (Fraction(bound) for bound in answer.enclosure)
    assert abs(low - value) <= abs(value) / 10**17
    assert abs(high - value) <= abs(value) / 10**17


@pytest.mark.parametrize("power", [-5000, 5000])
@pytest.mark.parametrize("sign", [-1, 1])
def test_rationals_beyond_every_precision_keep_their_sign(power, sign):
    answer, _ = judge(lambda x: sign * fmpq(10) ** power)
    assert answer.refuted is (sign < 0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_equality_that_balls_leave_open_is_decided_in_rationals(kind):
    """3 (1/3) - 1 is a ball about 0 at every precision, and 0 in rationals."""
    balls, asked = judge(lambda x: arb(3) * (arb(1) / 3) - 1, kind)
    assert balls.refuted is None
    assert asked == list(PRECISIONS)
    exact, _ = judge(lambda x: fmpq(3) * fmpq(1, 3) - 1, kind)
    assert exact.refuted is (kind == "strict")


@given(st.integers(0, len(PRECISIONS)), st.sampled_from([-1, 0, 1]))
def test_open_asks_for_more_bits_until_something_is_said(rounds, sign):
    decides = PRECISIONS[rounds] if rounds < len(PRECISIONS) else None

    def certify(x):
        return OPEN if decides is None or ctx.prec < decides else arb(sign)

    answer, asked = judge(certify)
    if decides is None:
        assert answer.refuted is None
        assert answer.evidence is Evidence.NONE
        assert answer.method.startswith(f"sign undecided at {PRECISIONS[-1]} bits")
        assert asked == list(PRECISIONS)
    else:
        assert answer.refuted is (sign < 0)
        assert answer.method == f"ball arithmetic at {decides} bits"
        assert asked == [p for p in PRECISIONS if p <= decides]


def test_a_certificate_may_turn_from_open_to_a_rational():
    answer, asked = judge(lambda x: OPEN if ctx.prec < 256 else fmpq(-1, 3))
    assert answer.refuted is True
    assert answer.method == "rationals"
    assert asked == [64, 128, 256]


@pytest.mark.parametrize("first", [False, True])
def test_none_ends_the_growth_of_precision(first):
    """It says that no precision helps, and is believed where it comes."""
    answer, asked = judge(lambda x: None if first or ctx.prec > 64 else OPEN)
    assert answer.refuted is None
    assert answer.enclosure is None
    assert answer.method == "no certificate on this instance"
    assert asked == ([64] if first else [64, 128])


@pytest.mark.parametrize("bits", [64, 100, 512, 2048, 10**6])
def test_a_budget_of_bits_is_kept(bits):
    answer, asked = judge(lambda x: OPEN, bits=bits)
    allowed = [p for p in PRECISIONS if p <= bits]
    assert asked == allowed
    assert answer.refuted is None
    assert answer.method.startswith(f"sign undecided at {allowed[-1]} bits")


def test_a_budget_decides_what_is_left_open_and_nothing_else():
    """A sign that needs 512 bits: open below, the same answer at and above."""

    def certify(x):
        return arb(2).sqrt() ** 2 - 2 - arb(2) ** -300

    answers = [judge(certify, bits=bits)[0] for bits in PRECISIONS]
    assert [answer.refuted for answer in answers] == [None] * 3 + [True] * 3
    assert len(set(answers[3:])) == 1


def test_a_budget_below_every_precision_is_refused():
    with pytest.raises(ClaimError, match="below the lowest precision"):
        judge(lambda x: arb(1), bits=63)


@pytest.mark.parametrize("value", [1, 1.0, Fraction(1), True])
def test_what_is_neither_a_ball_nor_a_rational_is_an_error(value):
    with pytest.raises(ClaimError, match="neither a ball nor a rational"):
        judge(lambda x: value)


def test_the_precision_is_given_back():
    before = ctx.prec
    judge(lambda x: OPEN)
    assert ctx.prec == before
    assert not OPEN.is_finite()
    assert not any((OPEN < 0, OPEN > 0, OPEN == 0))


@given(st.fractions(), st.integers(53, 200))
def test_decimal_bounds_are_rounded_outwards(value, precision):
    with ctx.workprec(precision):
        ball = arb(fmpq(value.numerator, value.denominator))
        low, high = decimal_bounds(ball)
        assert Fraction(low) <= value <= Fraction(high)
        assert Fraction(high) - Fraction(low) <= abs(value) * Fraction(1, 10**14)


def test_decimal_bounds_of_short_numbers_are_these_numbers():
    assert decimal_bounds(arb(-1)) == ("-1.0000000000000000000",) * 2
    assert decimal_bounds(fmpq(0)) == ("0", "0")
    assert decimal_bounds(arb("nan"))[0] == "nan"


@given(st.integers(-(10**6), 10**6).filter(lambda p: p % 7), st.integers(100, 400))
def test_the_decimals_of_what_is_known_well_have_twenty_digits(p, precision):
    """No seventh is a short decimal: one bound is the nearest, the other is moved a little more."""
    value = Fraction(p, 7)
    with ctx.workprec(precision):
        bounds = decimal_bounds(arb(fmpq(p, 7)))
    away = sorted(abs(Fraction(bound) - value) for bound in bounds)
    assert away[0] <= abs(value) / 10**19
    assert away[1] <= abs(value) / 10**17


@pytest.mark.parametrize("p", [1, 3, 7, 9, 11, 13])
def test_decimals_are_compared_with_bounds_of_the_highest_precision(p):
    """A float of 2048 bits next to p/25 lies on one side of it: there p/25 is the bound."""
    with ctx.workprec(PRECISIONS[-1]):
        bounds = decimal_bounds(arb(fmpq(p, 25)).mid())
    assert [Fraction(bound) == Fraction(p, 25) for bound in bounds].count(True) == 1
