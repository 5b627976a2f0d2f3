"""The judge where balls alone decide nothing: equal sides, and sides that are no floats."""

import math

import numpy as np
import pytest
import sympy as sp
from flint import ctx
from toy_pack import stated

from attsvm.errors import ClaimError
from attsvm.theory import Fitted, Real, Vector, changed
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.arithmetic.text import Text, letter
from attsvm.theory.arithmetic.traces import TRACES
from attsvm.theory.declaration.variables import Integer
from attsvm.theory.run.judge import judge


def statement(conclusion, variables, **more):
    """A statement of one reading that is not expected to be proved."""
    more = {"siblings": {"half": changed(tightened="0.5")}, **more}
    hypotheses = HYPOTHESES if "beta" in variables else {}
    return stated("judge", variables, conclusion, hypotheses, **more)


HYPOTHESES = {"beta <= exp(x)": lambda m, v: m.at_most(v.beta, m.exp(v.x))}
WEIGHTS = {"n": Integer(1, 4), "s": Vector("n")}


def mean_bound(m, v):
    """|sum exp(s)| <= sqrt(n) ||exp(s)||, with equality for equal logits."""
    powers = m.exp(v.s)
    return m.at_most(m.abs(m.sum(powers)), m.sqrt(m.exact(v.n)) * m.norm(powers))


@pytest.mark.parametrize("s", [[1, 1, 1], [-3000, -3000], [1 / 3, 1 / 3, 1 / 3], [7]])
def test_sides_that_are_equal_by_their_squares_are_told_equal(s):
    claim = statement(mean_bound, WEIGHTS)
    slack = claim.conclusion(claim.formula.build(s=s))
    assert slack.holds
    assert (slack.value, slack.error) == (0.0, 0.0)
    apart = claim.conclusion(claim.formula.build(s=[*s, s[0] + 1]))
    assert apart.holds
    assert apart.ratio < 1.0


def test_a_strict_part_does_not_keep_equal_sides_from_being_told_equal():
    """0 < exp(s_0) and the bound of `mean_bound`, which is equality for equal logits."""

    def both(m, v):
        return m.all_of(m.above(m.exp(v.s[0]), 0), mean_bound(m, v))

    claim = statement(
        both, WEIGHTS, siblings={"more logits": changed(variables={"n": Integer(2, 4)})}
    )
    assert claim.conclusion(claim.formula.build(s=[1 / 3, 1 / 3, 1 / 3])).holds


def test_opposite_sides_are_not_equal_though_their_squares_are():
    """x against -x for an x that no ball of 128 bits tells from 0; then by signs alone."""
    tiny = statement(lambda m, v: m.at_most(m.exp(v.x) - 1, 1 - m.exp(v.x)), {"x": Real()})
    for x, holds in ((2.0**-300, False), (-(2.0**-300), True)):
        slack = tiny.conclusion(tiny.formula.build(x=x))
        assert slack.holds is holds
        assert slack.violated is not holds
    with ctx.workprec(64):
        root = TRACES.sqrt(TRACES.exact(2))
        assert not root.same(-root)
        assert (root * root).same(TRACES.exact(2))
        assert not root.same(TRACES.sqrt(TRACES.exact(3)))


@pytest.mark.parametrize("x", [1000, 2**20])
def test_a_slack_that_is_no_float_keeps_its_sign(x):
    claim = statement(lambda m, v: m.at_most(v.x, m.exp(v.x)), {"x": Real()})
    slack = claim.conclusion(claim.formula.build(x=x))
    assert slack.holds
    assert not math.isnan(slack.value)
    claim = statement(lambda m, v: m.at_most(m.exp(v.x), v.x), {"x": Real()})
    assert claim.conclusion(claim.formula.build(x=x)).violated


def test_a_bound_that_no_hypothesis_names_is_a_power_of_two():
    claim = statement(
        lambda m, v: m.at_most(m.exact(1), m.exp(v.x) / v.beta),
        {"x": Real(), "beta": Fitted()},
    )
    (dropped,) = (s for s in claim.siblings if s.name == "without its hypothesis")
    free = dropped.formula
    raw = free.filled(np.random.default_rng(0), {}, 64)
    assert set(free.fit(raw, {})["beta"]) == {1.0, 16.0, 4096.0}
    assert (claim.formula.fit(raw, {})["beta"] <= np.exp(raw["x"])).all()


def test_what_the_author_drops_takes_the_place_of_the_automatic_sibling():
    key = "beta <= exp(x)"
    claim = statement(
        lambda m, v: m.at_most(m.exact(1), m.exp(v.x) / v.beta),
        {"x": Real(), "beta": Fitted()},
        siblings={"beta = 9 at 0": changed(drop=[key], examples=[{"x": 0, "beta": 9}])},
    )
    assert [s.name for s in claim.siblings] == ["beta = 9 at 0"]
    both = {"another side": changed(drop=[key], tightened="0.5")}
    claim = statement(
        lambda m, v: m.at_most(m.exact(1), m.exp(v.x) / v.beta),
        {"x": Real(), "beta": Fitted()},
        siblings=both,
    )
    assert [s.name for s in claim.siblings] == ["without its hypothesis", "another side"]


def test_lengths_are_constants_in_text_and_in_symbols():
    assert Text().exact(letter("n")).plain == "n"
    assert SYMBOLS.exact(sp.Symbol("n")) == sp.Symbol("n")
    for m in (Text(), SYMBOLS, BALLS):
        with pytest.raises(ClaimError, match="exact"):
            m.exact(0.5)


def cancelled(x):
    """The ratio of |e^40 + x - e^40| <= 1, where 64 bits leave a radius of about 0.01."""

    def bound(m, v):
        return m.at_most(m.abs(m.exp(m.exact(40)) + v.x - m.exp(m.exact(40))), m.exact(1))

    formula = statement(bound, {"x": Real()}).formula
    found = judge(formula, {}, formula.build(x=x))
    assert found.holds
    return found.ratio


def test_a_ratio_is_never_above_the_true_one_however_wide_the_ball():
    for x in (0.0, 2.0**-10, 2.0**-7):
        assert 0.0 <= cancelled(x) <= x
    assert 0.5 < cancelled(0.75) <= 0.75
