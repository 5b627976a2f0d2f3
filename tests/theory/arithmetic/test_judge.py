"""The judge decides in three values: what is open stays open, and no fingerprint refutes."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import ClaimError
from attsvm.strategies import numbers
from attsvm.theory import Defined, Real, Vector
from attsvm.theory.arithmetic import BALLS, TAILS, traces
from attsvm.theory.arithmetic.traces import TRACES, Untraceable
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.instances import instance_type
from attsvm.theory.declaration.judge import glance, is_zero, judge, meets, middle_and_radius, sides
from attsvm.theory.declaration.variables import Integer
from attsvm.theory.run.tally import printed_sides


def formula(conclusion, **variables):
    variables = variables or {"x": Real()}
    return Formula(variables, {}, conclusion, {}, instance_type(variables))


def judged(conclusion, x=0):
    f = formula(conclusion)
    return judge(f, {}, f.build(x=x))


def met(condition, x=0):
    f = formula(lambda m, v: m.equal(v.x, v.x))
    return meets(condition, f, f.build(x=x))


def root(m):
    return m.sqrt(m.exact(2))


def e(m):
    return m.exp(m.exact(1))


def little(m, bits):
    return m.exact(Fraction(1, 2**bits))


def nested(m):
    """log(log(20 + e)), a logarithm of a logarithm, which has no exact form."""
    return m.log(m.log(20 + e(m)))


def undecidable(m):
    """log(x)^2 - exp(2 log(log x)) is 0; neither balls nor fingerprints nor forms can tell."""
    return m.log(20 + e(m)) ** 2 - m.exp(2 * nested(m))


def logarithms(m):
    """log 6 - log 2 - log 3 is 0, which exact forms alone can tell."""
    return m.log(m.exact(6)) - m.log(m.exact(2)) - m.log(m.exact(3))


HOLD = {
    "rationals": lambda m, v: m.at_most(v.x, m.exact(0)),
    "rational equality": lambda m, v: m.equal(v.x, m.exact(0)),
    "irrational": lambda m, v: m.below(m.exact(1), root(m)),
    "one expression": lambda m, v: m.at_most(root(m) * 3, root(m) + root(m) + root(m)),
    "equal expressions": lambda m, v: m.equal(m.exp(v.x + 1), m.exp(m.exact(1))),
    "equal arrays": lambda m, v: m.equal(
        m.array([root(m), v.x]), m.array([2 / root(m) * root(m) * root(m) / 2, v.x])
    ),
    "many bits": lambda m, v: m.below(e(m), e(m) + little(m, 1500)),
    "roots that differ by more bits than there are": lambda m, v: m.below(
        root(m), m.sqrt(m.exact(8)) / 2 + little(m, 5000)
    ),
    "a nested root": lambda m, v: m.equal(
        m.sqrt(5 + 2 * m.sqrt(m.exact(6))), root(m) + m.sqrt(m.exact(3))
    ),
    "a maximum of equal nested roots": lambda m, v: m.at_most(
        m.maximum(m.sqrt(3 - 2 * root(m)), root(m) - 1), root(m) - 1
    ),
    "multiples of one root": lambda m, v: m.at_most(
        m.sqrt(m.exact(18)), m.sqrt(m.exact(8)) + m.sqrt(m.exact("1/2")) * 2
    ),
    "logarithms": lambda m, v: m.equal(logarithms(m), m.exact(0)),
    "a maximum of equal logarithms": lambda m, v: m.at_most(
        m.maximum(logarithms(m), m.exact(0)), logarithms(m)
    ),
    "exponentials that differ by more bits than there are": lambda m, v: m.below(
        e(m), e(m) + little(m, 80000)
    ),
    "integers": lambda m, v: m.at_most(2, 3),
    "an integer and one expression": lambda m, v: m.all_of(
        m.at_most(2, 3), m.at_most(2 * root(m), root(m) + root(m))
    ),
    "all": lambda m, v: m.all_of(m.at_most(v.x, v.x), m.below(m.exact(1), root(m))),
    "all, one of one expression": lambda m, v: m.all_of(
        m.below(m.exact(1), root(m)), m.at_most(2 * root(m), root(m) + root(m))
    ),
    "any, one open": lambda m, v: m.any_of(
        m.below(undecidable(m), m.exact(0)), m.at_most(v.x, v.x)
    ),
    "any, one refuted": lambda m, v: m.any_of(m.below(v.x, v.x), m.at_most(v.x, v.x)),
}
FAIL = {
    "rationals": lambda m, v: m.below(v.x, m.exact(0)),
    "irrational": lambda m, v: m.at_most(root(m), m.exact(1)),
    "many bits": lambda m, v: m.at_most(e(m) + little(m, 1500), e(m)),
    "equality by many bits": lambda m, v: m.equal(e(m) + little(m, 1500), e(m)),
    "a strict comparison of one root": lambda m, v: m.below(2 * root(m), root(m) + root(m)),
    "a strict comparison of a nested root": lambda m, v: m.below(
        root(m) + m.sqrt(m.exact(3)), m.sqrt(5 + 2 * m.sqrt(m.exact(6)))
    ),
    "a strict comparison of multiples": lambda m, v: m.below(m.sqrt(m.exact(8)), 2 * root(m)),
    "roots that differ by more bits than there are": lambda m, v: m.at_most(
        m.sqrt(m.exact(8)) / 2 + little(m, 5000), root(m)
    ),
    "a strict comparison of logarithms": lambda m, v: m.below(logarithms(m), m.exact(0)),
    "a strict comparison of one exponential": lambda m, v: m.below(2 * e(m), e(m) + e(m)),
    "a strict comparison of a root that is 0": lambda m, v: m.below(
        m.sqrt(2 * e(m) - (e(m) + e(m))), m.exact(0)
    ),
    "exponentials that differ by more bits than there are": lambda m, v: m.at_most(
        e(m) + little(m, 80000), e(m)
    ),
    "equality of powers of two": lambda m, v: m.equal(
        root(m) * (1 + little(m, 200)), root(m) * (1 + little(m, 327))
    ),
    "an entry": lambda m, v: m.equal(m.array([root(m), v.x]), m.array([root(m), v.x + 1])),
    "all, one open": lambda m, v: m.all_of(m.below(undecidable(m), m.exact(0)), m.below(v.x, v.x)),
    "all, one no number": lambda m, v: m.all_of(
        m.at_most(m.log(v.x), v.x), m.at_most(v.x + 1, v.x)
    ),
    "equal, one no number": lambda m, v: m.equal(
        m.array([m.log(v.x), v.x]), m.array([v.x, v.x + 1])
    ),
    "any": lambda m, v: m.any_of(m.below(v.x, v.x), m.below(root(m), v.x)),
}
OPEN = {
    "at most": lambda m, v: m.at_most(undecidable(m), m.exact(0)),
    "at least": lambda m, v: m.at_least(undecidable(m), m.exact(0)),
    "below": lambda m, v: m.below(undecidable(m), m.exact(0)),
    "equal": lambda m, v: m.equal(undecidable(m), m.exact(0)),
    "a strict comparison of one expression": lambda m, v: m.below(
        2 * nested(m), nested(m) + nested(m)
    ),
    "a strict comparison after a fingerprint": lambda m, v: m.below(
        m.sqrt(2 * nested(m) - (nested(m) + nested(m))), m.exact(0)
    ),
    "more bits than there are": lambda m, v: m.at_most(nested(m), nested(m) + little(m, 80000)),
    "and its opposite": lambda m, v: m.at_most(nested(m) + little(m, 80000), nested(m)),
    "no number": lambda m, v: m.at_most(m.log(v.x), m.exact(0)),
    "no number on the right": lambda m, v: m.at_most(m.exact(0), m.sqrt(v.x - 1)),
    "no number is not itself": lambda m, v: m.below(m.log(v.x), m.log(v.x)),
    "too large": lambda m, v: m.at_most(
        m.exp(m.exp(m.exact(2**299))), 2 * m.exp(m.exp(m.exact(2**299)))
    ),
    "a division by 0": lambda m, v: m.at_most(1 / v.x, m.exact(0)),
    "a ball over 0": lambda m, v: m.at_most(root(m) / (v.x * root(m)), m.exact(0)),
    "an undecided maximum": lambda m, v: m.at_most(
        m.maximum(undecidable(m), m.exact(0)), undecidable(m)
    ),
    "all": lambda m, v: m.all_of(m.at_most(v.x, v.x), m.below(undecidable(m), m.exact(0))),
    "any": lambda m, v: m.any_of(m.below(v.x, v.x), m.below(undecidable(m), m.exact(0))),
}


@pytest.mark.parametrize("name", HOLD)
def test_what_holds_is_seen_to_hold(name):
    found = judged(HOLD[name])
    assert found.holds is True
    assert found.as_slack.holds
    assert not found.as_slack.violated
    assert met(HOLD[name])


@pytest.mark.parametrize("name", FAIL)
def test_what_fails_is_seen_to_fail(name):
    found = judged(FAIL[name])
    assert found.holds is False
    assert not found.as_slack.broken
    assert found.as_slack.violated or found.as_slack.kind == "strict"
    assert not found.as_slack.holds
    assert not met(FAIL[name])


@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_stays_open_and_is_not_met(name):
    found = judged(OPEN[name])
    assert found.holds is None
    assert found.as_slack.kind == "unknown"
    assert not found.as_slack.holds
    assert not found.as_slack.violated
    assert found.as_slack.note == found.method
    assert not met(OPEN[name])


def test_how_it_was_decided_is_told():
    assert judged(HOLD["rationals"]).method == "rationals"
    assert judged(HOLD["irrational"]).method == "ball arithmetic at 64 bits"
    many = judged(lambda m, v: m.below(nested(m), nested(m) + little(m, 1500)))
    assert many.method == "ball arithmetic at 2048 bits"
    assert judged(HOLD["equal expressions"]).method == "both sides are one expression"
    assert judged(HOLD["one expression"]).method == "roots of rationals, exactly"
    assert judged(HOLD["logarithms"]).method == "exponentials and roots, exactly"
    assert judged(OPEN["equal"]).method.startswith("sign undecided at 8192 bits")
    same = judged(OPEN["a strict comparison of one expression"])
    assert same.method.startswith("sign undecided at 2048 bits")
    assert judged(OPEN["a division by 0"]).method.startswith("the conclusion divides by 0: ")
    for name in ("no number", "no number on the right", "no number is not itself", "too large"):
        assert judged(OPEN[name]).method.startswith("a side of the conclusion is no finite number")


def test_logarithms_that_are_equal_are_left_open_before_each_takes_long():
    found = judged(
        lambda m, v: m.equal(m.log(1 + nested(m) ** 2), m.log(1 + m.exp(2 * m.log(nested(m)))))
    )
    assert found.method.startswith("sign undecided at 8192 bits")


def test_a_matrix_and_its_transpose_have_one_spectral_norm():
    def spectral(m, v):
        A = m.array([[m.exact(a) for a in row] for row in ((1, 2, 3), (4, 5, 7))])
        return m.equal(m.spectral(A), m.spectral(A.T))

    assert judged(spectral).method == "both sides are one expression"


@pytest.mark.parametrize("bits", [3000, 50000])
def test_sides_that_are_no_one_expression_are_told_apart_by_more_bits(bits):
    """Attention that leaves a token behind by a logit of 10,000 gives it less than 2^-14000."""
    assert judged(lambda m, v: m.below(e(m), e(m) + little(m, bits))).as_slack.holds
    assert judged(lambda m, v: m.at_most(e(m) + little(m, bits), e(m))).as_slack.violated
    assert judged(lambda m, v: m.equal(e(m) + little(m, bits), e(m))).as_slack.violated


def shares(m, lead):
    """The softmax of two logits that far apart."""
    return m.softmax(m.array([m.exact(lead), m.exact(0)]))


@pytest.mark.parametrize("lead", [20, 2000, 20000, 60000, 120000])
def test_fingerprints_of_some_parts_and_many_bits_of_others_decide_together(lead):
    def inside(m, v):
        s = shares(m, lead)
        return m.all_of(m.equal(m.sum(s), m.exact(1)), m.below(s[0], m.exact(1)))

    def outside(m, v):
        s = shares(m, lead)
        return m.all_of(m.equal(m.sum(s), m.exact(1)), m.at_least(s[0], m.exact(1)))

    assert judged(inside).holds
    assert met(inside) == (lead < 1000)  # hypotheses have 2048 bits at most
    assert judged(outside).holds is False
    assert not met(outside)


def test_short_exponentials_hold_the_long_ones():
    for bits in (64, 4096, 20000):
        with ctx.workprec(bits):
            for x in (fmpq(1), fmpq(-20000), fmpq(1, 3), fmpq(0), fmpq(700)):
                for name in ("exp", "expm1"):
                    short, long = (getattr(m, name)(x) for m in (TAILS, BALLS))
                    assert arb(short).overlaps(arb(long))
                    assert bits <= 256 or x == 0 or short.rad() >= long.rad()


def test_the_precision_of_the_caller_is_left_alone():
    before = ctx.prec
    judged(HOLD["many bits"])
    judged(OPEN["a division by 0"])
    assert ctx.prec == before


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("compare", ["at_most", "below"])
def test_a_slack_beyond_the_floats_keeps_its_sign(sign, compare):
    def huge(m, v):
        return getattr(m, compare)(m.exact(0), sign * m.exp(m.exact(2000)))

    slack = judged(huge).as_slack
    assert slack.value == sign * math.inf
    assert (slack.holds, slack.violated) == (sign > 0, sign < 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_slack_below_the_floats_keeps_its_sign(sign):
    def tiny(m, v):
        return m.below(m.exact(0), sign * m.exp(m.exact(-2000)))

    slack = judged(tiny).as_slack
    assert (slack.holds, slack.violated) == (sign > 0, False)
    assert judged(tiny).holds is (sign > 0)
    at_most = judged(lambda m, v: m.at_most(m.exact(0), sign * m.exp(m.exact(-2000)))).as_slack
    assert (at_most.holds, at_most.violated) == (sign > 0, sign < 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_equality_that_fails_by_less_than_floats_hold_is_violated(sign):
    found = judged(lambda m, v: m.equal(v.x, v.x + sign * m.exp(m.exact(-2000))))
    assert found.holds is False
    assert found.as_slack.violated


@pytest.mark.parametrize("sign", [1, -1])
def test_the_slack_of_a_ball_holds_its_sign_within_a_small_error(sign):
    slack = judged(lambda m, v: m.at_most(sign * 1, sign * root(m))).as_slack
    assert slack.value == pytest.approx(sign * (math.sqrt(2) - 1), rel=1e-15)
    assert 0.0 <= slack.error <= 1e-15
    assert (slack.holds, slack.violated) == (sign > 0, sign < 0)


@pytest.mark.parametrize("side", [1, 0, -1])
def test_whether_a_ball_that_touches_0_is_0_stays_open(side):
    ball = arb(0, 1)
    assert is_zero(ball + side * ball.rad()) is None
    assert is_zero(ball + 2 * side * ball.rad()) is (None if side == 0 else False)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_slack_of_an_equality_is_the_size_of_what_it_is_off(sign):
    assert judged(lambda m, v: m.equal(v.x, v.x + 3 * sign)).as_slack.value == -3.0
    assert judged(lambda m, v: m.equal(v.x, v.x + sign * root(m))).as_slack.value < -1.4


def test_of_comparisons_that_all_hold_the_least_slack_is_told_whatever_their_kinds():
    found = judged(lambda m, v: m.all_of(m.at_most(v.x, v.x + 5), m.below(v.x, v.x + 1)))
    assert found.as_slack.value == 1.0


@pytest.mark.parametrize("sign", [1, -1])
def test_a_float_of_a_ball_is_infinite_where_it_does_not_fit(sign):
    assert middle_and_radius(arb((sign, 5000))) == (sign * math.inf, 0.0)


@pytest.mark.parametrize("ball", [arb("nan"), arb("inf"), arb(0, "inf")], ids=str)
def test_a_ball_that_is_not_finite_has_no_middle_and_an_infinite_radius(ball):
    middle, radius = middle_and_radius(ball)
    assert math.isnan(middle)
    assert radius == math.inf


@given(st.integers(1, 2**40), st.integers(-60, 60))
def test_a_radius_as_a_float_is_no_less_than_the_radius(mantissa, exponent):
    ball = arb(1, arb((mantissa, exponent)))
    assert arb(middle_and_radius(ball)[1]) >= ball.rad()
    assert arb(middle_and_radius(ball)[1]) <= ball.rad() * 1.001


def test_a_glance_says_which_side_of_a_violation_a_record_is_on():
    f = formula(lambda m, v: m.at_most(v.x * root(m), m.exact(0)))
    far, near, beyond = (glance(f, {}, f.build(x=x)) for x in (-3, -1, 1))
    assert far < near < 1.0 <= beyond


@pytest.mark.parametrize("step", [1, -1])
def test_an_entry_that_is_off_counts_though_another_one_is_undefined(step):
    f = formula(lambda m, v: m.equal(m.array([m.log(v.x), v.x + 7][::step]), m.array([v.x, v.x])))
    case = f.build(x=0)
    assert judge(f, {}, case).holds is False
    assert glance(f, {}, case) >= 1.0
    assert sides(f, {}, case) == "7 = 0 (an entry of left side - right side)"


def test_an_equality_of_balls_that_are_exactly_0_needs_no_fingerprint():
    found = judged(lambda m, v: m.equal(v.x * root(m), m.exact(0)))
    assert (found.holds, found.method) == (True, "ball arithmetic at 64 bits")


@pytest.mark.parametrize("rest", [[1, 0], [0, -1]])
def test_the_entry_that_is_told_is_the_one_that_is_furthest_off(rest):
    f = formula(lambda m, v: m.equal(m.array([v.x, *rest]), m.array([v.x + 3, 0, 0])))
    assert sides(f, {}, f.build(x=0)).startswith("-3 = 0 (an entry")
    f = formula(lambda m, v: m.equal(m.array([v.x, *rest]), m.array([v.x - 3, 0, 0])))
    assert sides(f, {}, f.build(x=0)).startswith("3 = 0 (an entry")


def test_of_several_comparisons_the_one_that_decides_is_told():
    parts = [(2, 5), (4, 1), (3, 3)]
    for several, told in (("all_of", "4 <= 1"), ("any_of", "2 <= 5")):
        f = formula(
            lambda m, v, several=several: getattr(m, several)(
                *(m.at_most(v.x + a, v.x + b) for a, b in parts)
            )
        )
        assert sides(f, {}, f.build(x=0)) == told


def test_there_is_no_ratio_to_a_side_of_0():
    assert judged(lambda m, v: m.at_most(v.x, v.x)).ratio is None
    assert judged(lambda m, v: m.at_most(v.x, 0 * root(m))).ratio is None


def test_untraceable_does_not_leak(monkeypatch):
    asked = []

    def refuse(*_):
        asked.append(1)
        raise Untraceable("always")

    monkeypatch.setattr(traces.Traces, "exp", refuse)
    assert judged(OPEN["equal"]).holds is None
    assert not met(OPEN["equal"])
    assert len(asked) >= 2  # at every precision from some on


@pytest.mark.parametrize("wrong", [True, False])
def test_a_fingerprint_makes_no_refutation(monkeypatch, wrong):
    """Fingerprints that always say equal, or never, refute nothing and decide nothing strict."""
    monkeypatch.setattr(traces.Trace, "zero", property(lambda self: wrong))
    monkeypatch.setattr(traces.Trace, "same", lambda self, other: wrong)
    for conclusion in HOLD.values():
        assert judged(conclusion).holds is not False
    for name in ("below", "a strict comparison of one expression"):
        assert judged(OPEN[name]).holds is None
    assert judged(OPEN["at most"]).holds is (True if wrong else None)


@given(st.fractions(-4, 4, max_denominator=16), st.sampled_from(["at_most", "below", "equal"]))
def test_rationals_are_decided_as_fractions_are(gap, compare):
    gap = Fraction(round(gap * 16), 16)
    expected = {"at_most": gap >= 0, "below": gap > 0, "equal": gap == 0}[compare]

    def conclusion(m, v):
        return getattr(m, compare)(v.x, v.x + m.exact(gap))

    assert judged(conclusion, 1).holds is expected
    assert (
        judged(
            lambda m, v: getattr(m, compare)(v.x * root(m), (v.x + m.exact(gap)) * root(m)), 1
        ).holds
        is expected
    )
    assert (
        judged(lambda m, v: getattr(m, compare)(v.x * e(m), (v.x + m.exact(gap)) * e(m)), 1).holds
        is expected
    )


def test_the_slack_and_the_ratio_are_those_of_the_sides():
    found = judged(lambda m, v: m.at_most(v.x, 4 * v.x), 1)
    assert (found.slack, found.ratio) == (fmpq(3), 0.25)
    found = judged(lambda m, v: m.all_of(m.at_most(v.x, 4 * v.x), m.at_most(v.x, 2 * v.x)), 1)
    assert found.slack == 1
    found = judged(lambda m, v: m.any_of(m.at_most(v.x, 4 * v.x), m.at_most(v.x, -v.x)), 1)
    assert found.slack == 3
    found = judged(lambda m, v: m.equal(m.array([v.x, v.x]), m.array([v.x, 4 * v.x])), 1)
    assert found.slack == -3
    with ctx.workprec(256):
        assert judged(HOLD["irrational"]).slack.contains(arb(2).sqrt() - 1)


@pytest.mark.parametrize("wrong", [True, 1.5, None])
def test_a_hypothesis_that_returns_no_comparison_is_told(wrong):
    with pytest.raises(ClaimError, match="a hypothesis returned no comparison"):
        met(lambda m, v: wrong)


def test_a_defined_value_that_divides_by_0_is_open():
    f = formula(lambda m, v: m.at_most(v.y, v.y), x=Real(), y=Defined(lambda m, v: 1 / v.x))
    assert judge(f, {}, f.build(x=0)).holds is None
    assert judge(f, {}, f.build(x=1)).holds is True


def test_the_sides_of_a_conclusion_that_divides_by_0_are_named_as_such():
    f = formula(lambda m, v: m.at_most(1 / v.x, v.x))
    assert printed_sides(f, f.build(x=0), {}) == "a division by 0"
    assert printed_sides(f, f.build(x=1), {}) == "1 1"


def test_an_array_of_an_instance_is_exact():
    f = formula(
        lambda m, v: m.equal(m.sum(v.x), m.exact(Fraction(1, 2**160))), n=Integer(), x=Vector("n")
    )
    case = f.build(x=[2**80, -(2**80), Fraction(1, 2**160)])
    assert judge(f, {}, case).holds is True


# equal sides, and sides that are no floats


WEIGHTS = {"n": Integer(1, 4), "s": Vector("n")}


def of_weights(conclusion, s):
    f = formula(conclusion, **WEIGHTS)
    return judge(f, {}, f.build(s=s)).as_slack


def mean_bound(m, v):
    """|sum exp(s)| <= sqrt(n) ||exp(s)||, with equality for equal logits."""
    powers = m.exp(v.s)
    return m.at_most(m.abs(m.sum(powers)), m.sqrt(m.exact(v.n)) * m.norm(powers))


@pytest.mark.parametrize("s", [[1, 1, 1], [-3000, -3000], [1 / 3, 1 / 3, 1 / 3], [7]])
def test_sides_that_are_equal_by_their_squares_are_told_equal(s):
    slack = of_weights(mean_bound, s)
    assert (slack.holds, slack.value, slack.error) == (True, 0.0, 0.0)
    apart = of_weights(mean_bound, [*s, s[0] + 1])
    assert apart.holds
    assert apart.ratio < 1.0


def test_a_strict_part_does_not_keep_equal_sides_from_being_told_equal():
    """0 < exp(s_0) and the bound of `mean_bound`, which is equality for equal logits."""

    def both(m, v):
        return m.all_of(m.above(m.exp(v.s[0]), 0), mean_bound(m, v))

    assert of_weights(both, [1 / 3, 1 / 3, 1 / 3]).holds


def test_opposite_sides_are_not_equal_though_their_squares_are():
    """x against -x for an x that no ball of 128 bits tells from 0; then by signs alone."""
    for x, holds in ((2.0**-300, False), (-(2.0**-300), True)):
        slack = judged(lambda m, v: m.at_most(m.exp(v.x) - 1, 1 - m.exp(v.x)), x).as_slack
        assert slack.holds is holds
        assert slack.violated is not holds
    with ctx.workprec(64):
        root = TRACES.sqrt(TRACES.exact(2))
        assert not root.same(-root)
        assert (root * root).same(TRACES.exact(2))
        assert not root.same(TRACES.sqrt(TRACES.exact(3)))


def cancelled(x):
    """The ratio of |e^40 + x - e^40| <= 1, where 64 bits leave a radius of about 0.01."""
    found = judged(
        lambda m, v: m.at_most(m.abs(m.exp(m.exact(40)) + v.x - m.exp(m.exact(40))), m.exact(1)),
        x,
    )
    assert found.holds
    return found.ratio


def test_a_ratio_is_never_above_the_true_one_however_wide_the_ball():
    for x in (0.0, 2.0**-10, 2.0**-7):
        assert 0.0 <= cancelled(x) <= x
    assert 0.5 < cancelled(0.75) <= 0.75


def cubic(m, v):
    """1 after k steps x - x^3/10, whose rationals have three times as many digits each."""
    x = m.exact(1)
    for _ in range(v.k):
        x = x - x * x * x / 10
    return x


def counted(conclusion, k):
    f = formula(conclusion, k=Integer(1, 4, beyond=True))
    return judge(f, {}, f.build(k=k))


def test_a_long_run_is_judged_in_balls():
    steps = 1000
    assert counted(lambda m, v: m.at_least(cubic(m, v), m.exact("1/50")), steps).holds
    fell = counted(lambda m, v: m.at_least(cubic(m, v), m.exact("1/5")), steps)
    assert fell.holds is False
    assert fell.method == "ball arithmetic at 64 bits"
    f = formula(lambda m, v: m.equal(1, 1), k=Integer(1, 4, beyond=True))
    long = f.build(k=steps)
    assert meets(lambda m, v: m.at_most(cubic(m, v), m.exact("1/5")), f, long)
    assert printed_sides(f, long, {}) == "1 1"


@pytest.mark.parametrize("k", [4, 5])
def test_what_is_equal_is_decided_in_rationals_beyond_the_drawn_integers_too(k):
    """K times 1/k is 1, which no ball about 1/5 tells."""

    def all_of_it(m, v):
        return sum([m.exact(1) / m.exact(v.k)] * v.k, m.exact(0))

    found = counted(lambda m, v: m.equal(all_of_it(m, v), m.exact(1)), k)
    assert (found.holds, found.method) == (True, "rationals")
    short = counted(lambda m, v: m.below(all_of_it(m, v), m.exact(1)), k)
    assert short.holds is False


@pytest.mark.parametrize("k", [0, 1, 2, 5, 13])
def test_powers_in_balls_are_products(k):
    base = fmpq(-7, 3)
    assert BALLS.power(base, k) == base**k
    assert arb(BALLS.power(arb(0, 1), k)).contains(fmpq(1, 2) ** k)
    if k > 0:
        assert list(BALLS.power(BALLS.values([2, -3]), k)) == [2**k, (-3) ** k]


SIDES = {"n": Integer(1, 4), "s": Vector("n"), "k": Real()}


def triangle(m, v, compare="at_most", share=1):
    """||s + k s|| against ||s|| + ||k s||, equal from k = 0 on."""
    right = m.norm(v.s) + m.norm(v.k * v.s)
    return getattr(m, compare)(share * m.norm(v.s + v.k * v.s), right)


@given(st.lists(numbers(), min_size=1, max_size=4), numbers())
def test_the_triangle_inequality_is_decided_of_parallel_sides(s, k):
    f = formula(triangle, **SIDES)
    case = f.build(s=s, k=k)
    equal = k >= 0 or not any(s)
    assert judge(f, {}, case).holds is True
    assert judge(f, {"compare": "below"}, case).holds is (not equal)
    assert judge(f, {"compare": "equal"}, case).holds is equal
    more = judge(f, {"share": Fraction(1001, 1000)}, case)
    assert more.holds is not (equal and any(s))
    if more.holds is False:
        assert more.as_slack.violated


@given(st.lists(numbers(), min_size=2, max_size=4).filter(any), st.integers(1, 9))
def test_unit_vectors_of_one_direction_are_equal(s, k):
    f = formula(lambda m, v: m.equal(v.s / m.norm(v.s), v.k * v.s / m.norm(v.k * v.s)), **SIDES)
    assert judge(f, {}, f.build(s=s, k=k)).holds is True
    assert judge(f, {}, f.build(s=s, k=-k)).holds is False


def test_a_root_that_may_be_undefined_refutes_nothing_and_meets_nothing():
    def below_0(m, v):
        return m.sqrt(1 - m.exp(little(m, 5000) + v.x))  # open at 2048 bits

    assert judged(lambda m, v: m.at_most(1 + below_0(m, v), m.exact("0.5"))).holds is None
    assert judged(lambda m, v: m.at_most(1 + below_0(m, v), m.exact(2))).holds
    f = formula(lambda m, v: m.equal(v.x, v.x))
    assert not meets(lambda m, v: m.at_most(0, 1 + below_0(m, v)), f, f.build(x=0))


def test_a_norm_near_0_is_defined_and_may_refute():
    def norm(m, v):
        return m.norm(m.array([undecidable(m) + v.x, undecidable(m)]))

    assert judged(lambda m, v: m.at_most(1 + norm(m, v), m.exact("0.5"))).holds is False
