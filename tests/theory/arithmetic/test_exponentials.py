"""Exact forms keep the value of a number, and prove that equal sides are equal."""

import functools
from fractions import Fraction
from types import SimpleNamespace

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from attsvm.theory.arithmetic import BALLS, entries
from attsvm.theory.arithmetic.exponential_sums import UNIT
from attsvm.theory.arithmetic.exponentials import Exact, Exponentials
from attsvm.theory.arithmetic.traces import Untraceable
from attsvm.theory.declaration.metering import evaluate

X, Y, LOGITS = Fraction(3, 8), Fraction(-5, 4), ("1", "3/8", "-2")


def vector(m, *numbers):
    return entries([m.exact(number) for number in numbers])


def shifted(m):
    return entries([m.exact(s) + m.exact(X) for s in LOGITS])


def entropy(m):
    p = m.softmax(vector(m, *LOGITS))
    return -m.sum(p * m.log(p))


def lse(m, s):
    return m.log(m.sum(m.exp(s)))


def cosh(m, x, sign):
    return (m.exp(x) + sign * m.exp(-x)) / 2


ZERO = {
    "product": lambda m, x, y: m.exp(x) * m.exp(y) - m.exp(x + y),
    "square": lambda m, x, y: m.exp(x / 2) ** 2 - m.exp(x),
    "shifted sum": lambda m, x, y: lse(m, shifted(m)) - lse(m, vector(m, *LOGITS)) - x,
    "shifted softmax": lambda m, x, y: m.norm(
        m.softmax(shifted(m)) - m.softmax(vector(m, *LOGITS))
    ),
    "sum of weights": lambda m, x, y: m.sum(m.softmax(vector(m, *LOGITS))) - 1,
    "entropy": lambda m, x, y: (
        entropy(m) - lse(m, vector(m, *LOGITS)) + m.softmax(vector(m, *LOGITS)) @ vector(m, *LOGITS)
    ),
    "one number": lambda m, x, y: m.log(m.sum(m.exp(vector(m, X)))) - x,
    "power of a prime": lambda m, x, y: m.log(m.exact(8)) - 3 * m.log(m.exact(2)),
    "ratio of logarithms": lambda m, x, y: m.log(m.exact(8)) / m.log(m.exact(4)) - m.exact("3/2"),
    "ratio of sums": lambda m, x, y: (
        (2 * m.log(m.exact(2)) + 2 * m.exp(x)) / (m.log(m.exact(2)) + m.exp(x)) - 2
    ),
    "exponential of half a logarithm": lambda m, x, y: (
        m.exp(m.log(m.exact(2)) / 2) - m.sqrt(m.exact(2))
    ),
    "inverse by a logarithm": lambda m, x, y: m.exp(-m.log(m.exact(6))) - m.exact("1/6"),
    "inverse root by a logarithm": lambda m, x, y: (
        m.exp(-m.log(m.exact(2)) / 2) - m.sqrt(m.exact("1/2"))
    ),
    "logarithm of a root": lambda m, x, y: 2 * m.log(m.sqrt(1 + m.exp(x))) - m.softplus(x),
    "root of a square": lambda m, x, y: m.sqrt(1 + 2 * m.exp(x) + m.exp(2 * x)) - 1 - m.exp(x),
    "root of a negative square": lambda m, x, y: (
        m.sqrt(1 - 2 * m.exp(x) + m.exp(2 * x)) - m.exp(x) + 1
    ),
    "root of an exponential": lambda m, x, y: m.sqrt(m.exp(x)) - m.exp(x / 2),
    "root of a quotient": lambda m, x, y: (
        m.sqrt(m.exp(x) / (1 + m.exp(y))) ** 2 - m.exp(x) * m.logistic(-y)
    ),
    "roots of primes": lambda m, x, y: m.sqrt(m.exact(6)) - m.sqrt(m.exact(2)) * m.sqrt(m.exact(3)),
    "inverse of a root": lambda m, x, y: 1 / m.sqrt(m.exact(2)) - m.sqrt(m.exact(2)) / 2,
    "inverse of a root of a sum": lambda m, x, y: (
        1 / m.sqrt(1 + m.exp(x)) - m.sqrt(1 + m.exp(x)) / (1 + m.exp(x))
    ),
    "softplus": lambda m, x, y: m.softplus(x) - m.softplus(-x) - x,
    "logit": lambda m, x, y: m.log(m.logistic(x) / (1 - m.logistic(x))) - x,
    "slope of the logistic": lambda m, x, y: (
        m.logistic_slope(x) - m.logistic(x) * (1 - m.logistic(x))
    ),
    "hyperbolic": lambda m, x, y: cosh(m, x, 1) ** 2 - cosh(m, x, -1) ** 2 - 1,
    "tanh": lambda m, x, y: cosh(m, x, -1) / cosh(m, x, 1) - 2 * m.logistic(2 * x) + 1,
    "logarithm of a product": lambda m, x, y: (
        m.log(m.exp(2 * x) - 1) - m.log(m.exp(x) - 1) - m.log(m.exp(x) + 1)
    ),
    "logarithm of a negative sum": lambda m, x, y: m.log(1 - m.exp(-x)) - m.log(m.exp(x) - 1) + x,
    "sum of a covariance": lambda m, x, y: m.sum(
        m.covariance(m.softmax(vector(m, X, Y)), vector(m, 3, 1))
    ),
    "spectral norm of rank one": lambda m, x, y: (
        m.spectral(entries([[m.exact(1), m.exact(2)], [m.exact(2), m.exact(4)]]))
        - m.norm(entries([[m.exact(1), m.exact(2)], [m.exact(2), m.exact(4)]]))
    ),
    "exponential of an exponential": lambda m, x, y: (
        m.exp(m.exp(x)) ** 2 * m.exp(m.exp(y) / 3) - m.exp(2 * m.exp(x) + m.exp(y) / 3)
    ),
    "exponential of a root": lambda m, x, y: (
        m.log(m.exp(m.sqrt(m.exact(2)) * x)) / m.exp(m.sqrt(m.exact(2)) / 2) ** 2
        - m.sqrt(m.exact(2)) * x * m.exp(-m.sqrt(m.exact(2)))
    ),
    "exponential of a quotient": lambda m, x, y: (
        m.exp(m.logistic(x)) ** 2 - m.exp(2 * m.logistic(x))
    ),
    "absolute value": lambda m, x, y: m.abs(m.exp(y) - 1) + m.exp(y) - 1,
    "maximum of equal numbers": lambda m, x, y: (
        m.maximum(m.exp(x) * m.exp(y), m.exp(x + y)) - m.exp(x + y)
    ),
    "whether it is 0": lambda m, x, y: m.is_zero(m.exp(x) * m.exp(-x) - 1) - 1,
}
"""Expressions that are 0; most have a ball about 0."""


@pytest.mark.parametrize("name", ZERO)
def test_an_identity_is_proved(name):
    m = Exponentials()
    assert ZERO[name](m, m.exact(X), m.exact(Y)).settled() == 0


@pytest.mark.parametrize("name", ZERO)
@pytest.mark.parametrize("bits", [80, 4000])
def test_an_identity_that_is_off_by_little_is_not_proved(name, bits):
    m = Exponentials()
    gap = ZERO[name](m, m.exact(X), m.exact(Y)) + m.exact(Fraction(1, 2**bits))
    assert isinstance(gap.settled(), arb) or gap.settled() == fmpq(1, 2**bits)


def value(number):
    """The value of a form, by its letters."""
    total = arb(0)
    for monomial, quotient in number.form.items():
        total += _sum(quotient.upper) / _bag(quotient.lower) * _letters(monomial)
    return total


def _sum(one):
    return sum((arb(c) * arb(fmpq(r, UNIT)).exp() for r, c in dict(one).items()), arb(0))


def _bag(bag):
    product = arb(1)
    for factor, power in bag.items():
        product *= _sum(factor) ** power
    return product


def _letters(monomial):
    product = arb(1)
    for letter, power in monomial:
        inner = arb(letter.prime) if letter.prime else _sum(letter.factor)
        if letter.form:
            parts = (_sum(u) / _bag(dict(low)) * _letters(k) for k, u, low in letter.form)
            inner = sum(parts, arb(0))
        function = {"log": arb.log, "root": arb.sqrt, "exp": arb.exp}[letter.kind]
        product *= function(inner) ** power
    return product


rationals = st.fractions(-3, 3, max_denominator=12).map(lambda x: Fraction(round(x * 24), 24))


@st.composite
def expressions(draw, depth=4):
    """An expression as a function of an arithmetic."""
    if depth == 0 or draw(st.booleans()):
        constant = draw(rationals)
        return lambda m: m.exact(constant)
    kind = draw(st.sampled_from(["exp", "log", "sqrt", "abs", "+", "-", "*", "/"]))
    one = draw(expressions(depth - 1))
    if kind in ("exp", "log", "sqrt", "abs"):
        return lambda m: getattr(m, kind)(one(m))
    other = draw(expressions(depth - 1))
    return {
        "+": lambda m: one(m) + other(m),
        "-": lambda m: one(m) - other(m),
        "*": lambda m: one(m) * other(m),
        "/": lambda m: one(m) / other(m),
    }[kind]


@given(expressions(), st.booleans())
def test_a_form_has_the_value_of_its_expression(expression, doubled):
    try:
        with ctx.workprec(256):
            ball = arb(expression(BALLS))
            number = expression(Exponentials())
            if doubled:
                ball, number = ball - ball, number - expression(Exponentials())
            settled = number.settled()
    except (ZeroDivisionError, Untraceable):
        reject()
    assume(ball.is_finite())
    with ctx.workprec(256):
        assert arb(settled).overlaps(ball)
        if number.form is not None:
            assert value(number).overlaps(ball)


def test_too_much_work_drops_the_form_and_not_the_number():
    for work, known in ((10, False), (10_000, True)):
        m = Exponentials(work)
        gap = m.sum(m.softmax(vector(m, *range(8)))) - 1
        assert isinstance(gap, Exact)
        assert (gap.form is not None) is known
        assert gap.ball.contains(0) if not known else gap.settled() == 0


@pytest.mark.parametrize(("nested", "known"), [(8, True), (500, False)])
def test_too_many_nested_roots_drop_the_form(nested, known):
    m = Exponentials()
    one, other = (
        functools.reduce(lambda x, _: m.sqrt(1 + x), range(nested), m.exact(2)) for _ in "ab"
    )
    assert ((one - other).settled() == fmpq(0)) is known
    assert m.log(one).form is None


def test_rationals_of_a_million_digits_get_no_form():
    def conclusion(m, v):
        x = functools.reduce(lambda x, _: x - x * x, range(24), v.x)
        return m.below(m.exp(x) * m.exp(x), m.exp(2 * x))

    forms = Exponentials()
    with pytest.raises(Untraceable):
        evaluate(conclusion, forms, SimpleNamespace(x=forms.exact(Fraction(1, 3))))


def test_a_quotient_by_a_number_that_may_be_0_has_no_form():
    m = Exponentials()
    zero = ZERO["logarithm of a product"](m, m.exact(X), m.exact(Y))
    assert (zero / zero).form is None
