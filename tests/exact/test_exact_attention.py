"""Softmax, risks and entries of sim's loss against many digits and floats."""

import mpmath
import numpy as np
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.exact import (
    ExactData,
    entry_gradient,
    entry_loss,
    rational,
    rationals,
    risk_gap,
    softmax,
)
from attsvm.exact.attention import deficit, risk
from attsvm.lipschitz import entry_gradient as float_entry_gradient
from attsvm.lipschitz import entry_loss as float_entry_loss
from attsvm.losses import LOSSES
from attsvm.risk import risk as float_risk
from attsvm.risk import risk_gap as float_risk_gap
from attsvm.strategies import arrays, numbers, sizes
from attsvm.strategies.data import attention_data
from tests.exact.digits import DECREASING, EPS, NAMES, VALUE, attend, encloses, near, real


@settings(max_examples=80, deadline=None)
@given(sizes(1, 5), st.sampled_from([1.0, 64.0, 2.0**20]), st.data())
def test_softmax_balls_hold_the_softmax(T, size, draw):
    logits = size * draw.draw(arrays(T))
    balls = softmax(rationals(logits))
    with mpmath.workdps(110):
        powers = [mpmath.exp(real(a) - real(logits.max())) for a in logits]
        for ball, power in zip(balls, powers, strict=True):
            assert encloses(ball, power / sum(powers))
    assert all(b.rad() <= 1e-13 * b.mid() for b in balls)
    assert sum(balls, arb(0)).contains(1)


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_the_risk_gap_holds_that_of_fifty_digits_and_of_floats(data, name, draw):
    W = draw.draw(arrays(data.d, data.d))
    exact = ExactData.of(data)
    ctx.prec = 300
    ball = risk_gap(exact, rationals(W), name)
    with mpmath.workdps(2000):
        total = mpmath.mpf(0)
        for X, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
            powers = [mpmath.exp(real(a)) for a in X @ W @ z]
            attended = sum(p * real(g) for p, g in zip(powers, gamma, strict=True)) / sum(powers)
            best = max(real(g) for g in gamma)
            total += VALUE[name](attended) - VALUE[name](best)
        total /= data.n
    if all(len(set(row)) == 1 for row in exact.gamma):
        assert ball == 0
        assert all(deficit(exact, i, [arb(1)] * data.T) == 0 for i in range(data.n))
    else:
        assert abs(ball - arb(mpmath.nstr(total, 150))) <= arb("1e-60")
    if name in DECREASING and np.abs(data.gamma).max() <= 4.0:
        truth = float(total)
        assert abs(float_risk_gap(data, W, LOSSES[name]) - truth) <= 1e-12 * truth + 1e-300


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_the_risk_holds_that_of_many_digits_and_of_floats(data, name, draw):
    """Float scores u are off by the rounding of logits, of softmax and of a mean, times |l'|."""
    W = draw.draw(arrays(data.d, data.d)) / 4
    logits = np.einsum("ntd,de,ne->nt", data.X, W, data.Z)
    with ctx.workprec(400):
        ball = risk(ExactData.of(data), rationals(W), name)
        with mpmath.workdps(150):
            rows = zip(logits, data.gamma, strict=True)
            means = [attend([real(a) for a in p], [real(g) for g in q]) for p, q in rows]
            assert near(ball, sum(VALUE[name](u) for u in means) / data.n)
    loss, ends = LOSSES[name], np.array([data.gamma.min(), data.gamma.max()])
    G = np.abs(data.gamma).max()
    sums = (np.abs(data.X) @ np.abs(W) @ np.abs(data.Z).T).max()
    steepest = 2.0 + np.abs(loss.slope(ends)).max() + np.abs(loss.value(ends)).max()
    bound = 32 * EPS * (data.T + data.d + data.n) * (1.0 + sums + G) * steepest * (1.0 + G)
    assert abs(ball - arb(float_risk(data, W, loss))) <= bound


@st.composite
def small_entries(draw):
    n, D = draw(sizes(1, 4)), draw(sizes(1, 3))
    return draw(arrays(n, D)), draw(arrays(D)), draw(arrays(n)), draw(numbers())


@settings(max_examples=80, deadline=None)
@given(small_entries())
def test_entry_losses_and_gradients_hold_floats_and_derivatives(case):
    """Balls at 300 bits, numeric derivatives at 60 digits, floats to their rounding.

    A gradient's roundings: at most 16 n of numbers no larger than |b| |h| |A| / 4, and those of
    the argument b <f, h> of g', which the logits (|A x| eps) and |b h| eps move.
    """
    A, x, h, b = case
    exact = rationals(A), rationals(x), rationals(h), rational(b)
    ctx.prec = 300
    value, balls = entry_loss(*exact), entry_gradient(*exact)

    def true_loss(*point):
        logits = [sum(real(a) * p for a, p in zip(row, point, strict=True)) for row in A]
        powers = [mpmath.exp(a) for a in logits]
        mean = sum(p * real(g) for p, g in zip(powers, h, strict=True)) / sum(powers)
        return 1 / (1 + mpmath.exp(-real(b) * mean))

    size = abs(b) * np.abs(h).max()
    bound = 16 * len(A) * EPS * (1.0 + np.abs(A).sum() * np.abs(x).max() + size) * (size + EPS)
    with mpmath.workdps(110):
        point = [real(p) for p in x]
        assert encloses(value, true_loss(*point))
        assert abs(float_entry_loss(A, x, h, b) - float(value)) <= bound + EPS
        mine = float_entry_gradient(A, x, h, b)
        for j, ball in enumerate(balls):
            order = tuple(int(k == j) for k in range(len(x)))
            slope = mpmath.diff(true_loss, tuple(point), order)
            assert abs(ball - arb(mpmath.nstr(slope, 100))) <= arb("1e-40")
            assert abs(mine[j] - float(ball)) <= bound * (np.abs(A).max() + EPS)
