"""Losses as formulas against those of the exact code, their classes, and the gap of lemma 2."""

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import risk_gap as exact_gap
from attsvm.exact.losses import loss_drop
from attsvm.losses import LOSSES as FLOATING
from attsvm.primitives.losses import LOSSES
from attsvm.strategies import arrays
from attsvm.theory.arithmetic import BALLS
from properties.tf.lemma_2 import LEMMA, risk_gap

NAMED = sorted(LOSSES)
POINTS = st.fractions(-40, 40, max_denominator=64).map(lambda f: fmpq(f.numerator, f.denominator))
STEPS = st.tuples(POINTS, st.sampled_from([0, 20, 300])).map(lambda p: abs(p[0]) / 2 ** p[1])
HALF = fmpq(1, 2)
KINKS = {"hinge": 1, "kinked": 0}


@pytest.mark.parametrize("name", NAMED)
@given(u=POINTS, delta=STEPS, up=st.booleans())
def test_a_drop_is_the_difference_of_two_values(name, u, delta, up):
    """Also where it is a gain, the second value being that of a better score."""
    loss, delta = LOSSES[name], -delta if up else delta
    with ctx.workprec(1000):
        expected = arb(loss.value(BALLS, u - delta)) - arb(loss.value(BALLS, u))
        drop = arb(loss.drop(BALLS, u, delta))
        assert expected.overlaps(drop)
        assert abs(expected - drop) < arb(2) ** -800
    if name in FLOATING:
        assert drop.overlaps(loss_drop(name, u, delta))


@pytest.mark.parametrize("name", NAMED)
@given(u=POINTS, delta=STEPS)
def test_the_sign_of_a_drop_needs_no_more_bits_however_small_the_step(name, u, delta):
    """It is exactly 0 without a step, and above 0 for what is called strictly decreasing."""
    loss = LOSSES[name]
    assert loss.drop(BALLS, u, fmpq(0)) == 0
    assert loss.drop(BALLS, u, arb(0)) == 0
    if loss.strictly_decreasing and delta > 0:
        assert loss.drop(BALLS, u, delta) > 0
        assert loss.drop(BALLS, u, arb(-100000).exp()) > 0


@pytest.mark.parametrize("name", [n for n in NAMED if not LOSSES[n].strictly_decreasing])
def test_what_is_not_strictly_decreasing_has_a_drop_that_is_not_above_0(name):
    assert LOSSES[name].drop(BALLS, fmpq(3), fmpq(1)) <= 0


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("u", [-1, 0, 1, 2])
def test_slopes_from_both_sides_differ_at_the_kinks_of_what_is_not_smooth(name, u):
    loss, h = LOSSES[name], fmpq(1, 2**40)
    before, after = loss.drop(BALLS, fmpq(u), h) / h, loss.drop(BALLS, u + h, h) / h
    if KINKS.get(name) == u:
        assert not loss.smooth
        assert abs(before - after) == 1
    else:
        assert abs(before - after) < fmpq(1, 2**30)
    assert loss.smooth == (name not in KINKS)


@st.composite
def weighted(draw):
    n, T, d = (draw(st.integers(1, 3)) for _ in range(3))
    y = np.array(draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=n, max_size=n)))
    data = AttentionData(draw(arrays(n, T, d)), draw(arrays(n, d)), y=y, v=draw(arrays(d)))
    return data, draw(arrays(d, d)) * 2.0 ** draw(st.sampled_from([0, 4, 10]))


@given(weighted(), st.sampled_from(sorted(set(LOSSES) & set(FLOATING))))
def test_the_gap_of_lemma_2_is_that_of_the_exact_code(case, name):
    data, W = case
    formula = LEMMA.claim("amended").formula
    built = formula.build(X=data.X, Z=data.Z, Y=data.y, v=data.v, W=W, loss=name)
    gap = arb(risk_gap(BALLS, formula.exact(built)))
    expected = exact_gap(ExactData.of(data), rationals(W), name)
    assert gap.overlaps(expected)
    assert (gap == 0) == (expected == 0)
    assert gap.rad() < arb(2) ** -30 * (1 + abs(gap))


def test_a_gap_far_below_the_floats_is_above_0():
    """Attention to the worse token is exp(-3 * 2^20)."""
    formula = LEMMA.claim("amended").formula
    for name, loss in LOSSES.items():
        if loss.strictly_decreasing:
            case = formula.build(X=[[[3], [0]]], Z=[[1]], Y=[1], v=[1], W=[[2**20]], loss=name)
            gap = risk_gap(BALLS, formula.exact(case))
            assert 0 < gap < arb(2) ** -100000
