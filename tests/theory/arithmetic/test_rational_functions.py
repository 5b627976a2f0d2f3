"""Fractions of polynomials: they are what sympy says, and no number contradicts a known sign."""

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import ProofError
from attsvm.theory.arithmetic.symbols import fraction
from attsvm.theory.declaration.proof import (
    cancelled,
    ensure_positive,
    ensure_zero,
    expanded,
    factored,
)

p, q = sp.symbols("p q", positive=True)
a, b = sp.symbols("a b", nonnegative=True)
n, r, s = sp.Symbol("n", negative=True), sp.Symbol("r", real=True), sp.Symbol("s", real=True)
o = sp.Symbol("o", real=True, nonzero=True)
SYMBOLS = (p, q, a, b, n, r, s, o)
VALUES = {
    x: [v for v in map(sp.Rational, ("-2", "-1/3", "0", "1/2", "1", "3")) if sign(v)]
    for x, sign in zip(
        SYMBOLS,
        [lambda v: v > 0] * 2
        + [lambda v: v >= 0] * 2
        + [lambda v: v < 0, lambda v: True, lambda v: True, lambda v: v != 0],
        strict=True,
    )
}
ROOTED = {p: p**6, q: q**6}
"""What makes numbers of the powers and roots that are drawn."""


def joined(parts):
    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(lambda xy: xy[0] + xy[1]),
        pairs.map(lambda xy: xy[0] - xy[1]),
        pairs.map(lambda xy: xy[0] * xy[1]),
        pairs.map(lambda xy: xy[0] / xy[1] if xy[1] != 0 else xy[0]),
        st.tuples(parts, st.sampled_from([2, 3])).map(lambda xk: xk[0] ** xk[1]),
    )


LEAVES = st.one_of(
    st.sampled_from([*SYMBOLS, sp.sqrt(p), p ** sp.Rational(-2, 3), q ** sp.Rational(1, 3)]),
    st.sampled_from([sp.Integer(k) for k in (-2, -1, 1, 3)]),
)
EXPRESSIONS = st.recursive(LEAVES, joined, max_leaves=8)
POINTS = st.fixed_dictionaries({x: st.sampled_from(v) for x, v in VALUES.items()})


def at(expression, point):
    """The value there, or None where it divides by 0."""
    value = expression.subs(ROOTED, simultaneous=True).subs(point)
    return value if value.is_Rational else None


@given(EXPRESSIONS, POINTS)
def test_the_reduced_and_the_factored_fraction_have_the_values_of_the_expression(expression, point):
    found, value = fraction(expression), at(expression, point)
    assert found is None or found.is_zero == (sp.cancel(expression) == 0)
    if found is not None and value is not None:
        assert at(found.cancelled(), point) == at(found.factored(), point) == value


@given(EXPRESSIONS, POINTS)
def test_no_value_contradicts_a_sign_that_is_known(expression, point):
    found, value = fraction(expression), at(expression, point)
    if found is not None and value is not None:
        assert value > 0 or not found.is_known("positive")
        assert value >= 0 or not found.is_known("nonnegative")


def known(expression):
    """Which of both signs are known of it."""
    return [sign for sign in ("positive", "nonnegative") if fraction(expression).is_known(sign)]


def test_signs_are_those_of_terms_and_of_factors():
    both = ["positive", "nonnegative"]
    for expression in (
        p,
        -n,
        p / q,
        p + a,
        o**2,
        (p - q) ** 2 / (p - q) + q,
        n / (n - a),
        p / o**2,
    ):
        assert known(expression) == both, expression
    for expression in (sp.exp(r) + sp.exp(-r * s), sp.log(1 + p) * q, sp.sqrt(p) / (1 + r**2)):
        assert known(expression) == both, expression
    for expression in (a, a * p, -n * a, r**2 + a, (r - s) ** 2 / q, sp.Integer(0), p - p):
        assert known(expression) == ["nonnegative"], expression
    for expression in (
        *(n, r, p - q, -a, o, -(r**2), r**3, r * s),
        *(p / a, 1 / (r - s) ** 2, 1 / r**2, a / r**2, p / (p - q)),
        *((r - s) ** 3, sp.Symbol("z") ** 2, sp.sqrt(r) ** 2 * sp.I, r**2 - 2 * r + p),
    ):
        assert known(expression) == [], expression


def test_what_relates_generators_is_known_of_roots_and_exponentials_alone():
    for zero in (
        sp.exp(r + s) - sp.exp(r) * sp.exp(s),
        sp.exp(r / 2) ** 3 - sp.exp(3 * r / 2),
        sp.exp(r * (1 + s)) / sp.exp(r) - sp.exp(r * s),
        sp.sqrt(p) * p - p ** sp.Rational(3, 2),
        p ** sp.Rational(1, 3) * sp.sqrt(p) - p ** sp.Rational(5, 6),
        1 / p - 1 / (1 + p) - 1 / (p * (1 + p)),
    ):
        assert fraction(zero).is_zero, zero
    for other in (
        sp.exp(r + s) - sp.exp(r) - sp.exp(s),
        sp.exp(r * s) - sp.exp(r) * sp.exp(s),
        sp.sqrt(p) - p,
    ):
        assert not fraction(other).is_zero, other
    for many in (p, sp.sqrt(p), sp.exp(r * s), sp.exp(r / 2) + sp.sqrt(p) * sp.exp(s)):
        assert fraction(many).independent, many
    for few in (
        p**r * p,
        sp.exp(p**r),
        sp.exp(sp.Integer(1)),
        sp.sqrt(2),
        sp.sqrt(p + q),
        sp.sin(p),
    ):
        assert not fraction(few).independent, few
    rest = sp.sqrt(p + q) * sp.sqrt(p + q, evaluate=False) - p - q
    for related in (sp.cos(r) ** 2 + sp.sin(r) ** 2 - 1, sp.sqrt(2) ** 2 - 2 + 0 * r, rest):
        found = fraction(related)
        assert found.is_zero or not found.independent, related


def test_without_division_reciprocals_are_generators():
    gap = 1 / p - 1 / (1 + p) - 1 / (p * (1 + p))
    assert fraction(gap).is_zero
    assert not fraction(gap, divide=False).is_zero
    assert fraction((1 + 1 / p) ** 2 - 1 - 2 / p - p**-2, divide=False).is_zero
    assert fraction(sp.exp(-r) ** 2 - sp.exp(-2 * r), divide=False).is_zero


def test_what_is_no_fraction_is_none():
    hidden = (p + q) ** 2 - p**2 - 2 * p * q - q**2
    for power in (1 / hidden, p / sp.sqrt(hidden), 1 / (1 / hidden + p)):
        assert fraction(power) is fraction(power, divide=False) is None
    rest = 1 / hidden + p / hidden - (1 + p) / hidden
    with pytest.raises(ProofError, match="not a finite number"):
        ensure_zero(rest, "what divides by a hidden 0 is 0")
    assert fraction(p * hidden / hidden) is not None  # sympy has cancelled them
    assert fraction(sp.MatrixSymbol("M", 2, 2) * 2) is None


def test_powers_of_e_that_were_never_evaluated_are_exponentials():
    with sp.evaluate(False):
        powers = [sp.E**x for x in (r, s, 2 * r)]
    assert not fraction(powers[0] - powers[1]).is_zero
    assert fraction(powers[0] ** 2 - powers[2]).is_zero
    assert fraction(powers[0] - sp.exp(r)).is_zero


def test_to_expand_cancels_no_denominator_that_may_be_0():
    gap = (p**2 - 1) / (p - 1)
    with pytest.raises(ProofError, match="not known to be positive"):
        ensure_positive(gap, "p + 1, but for p = 1", normal=expanded)
    ensure_positive(gap, "p + 1", normal=cancelled)
    ensure_positive(p / (p + q) + 1 / (1 + r**2), "two fractions", normal=expanded)


def test_normal_forms_are_those_of_sympy_where_generators_are_related():
    relation = (sp.sqrt(2) + 1) * (sp.sqrt(2) - 1) - 1
    assert cancelled(relation) == factored(relation) == 0
    assert cancelled((p**2 - q**2) / (p - q)) == p + q
    assert factored(p**2 - 2 * p * q + q**2) in ((p - q) ** 2, (q - p) ** 2)
