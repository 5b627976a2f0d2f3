"""Softmax, losses, risk gap, gradient and constants against many digits and floats."""

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import DataError
from attsvm.exact import ExactData, rational, rationals, risk_gap, softmax
from attsvm.exact.attention import deficit
from attsvm.exact.descent import gradient, smoothness
from attsvm.exact.lipschitz import (
    enclosed_maximum,
    softmax_gradient_constant,
    squared_gradient_constant,
)
from attsvm.exact.losses import logistic_slope, loss_drop, loss_slope
from attsvm.lipschitz import risk_smoothness
from attsvm.lipschitz import softmax_gradient_constant as float_constant
from attsvm.losses import LOSSES
from attsvm.risk import gradient_w as float_gradient_w
from attsvm.risk import risk_gap as float_risk_gap
from attsvm.strategies import arrays, numbers, sizes
from attsvm.strategies.data import attention_data
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic import entries as array
from properties.sim._support import entry_loss
from tests.exact.digits import DECREASING, EPS, NAMES, VALUE, attend, encloses, near, real


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


@given(attention_data(), NAMES)
def test_the_smoothness_is_that_of_floats_whichever_end_of_the_scores_is_steeper(data, name):
    """Floats round the constant up by a relative 1e-9."""
    ball, bound = smoothness(ExactData.of(data), name), risk_smoothness(data, LOSSES[name])
    assert float(ball.mid()) * (1.0 + 1e-10) <= bound <= float(ball.mid()) * (1.0 + 1e-8)


def slope_of_risk(name, logits, moves, scores):
    """d/dt of the mean loss of attention at logits + t moves, at t = 0."""

    def true_risk(t):
        total = mpmath.mpf(0)
        for parts in zip(logits, moves, scores, strict=True):
            a, b, g = ([real(x) for x in part] for part in parts)
            total += VALUE[name](attend([p + t * q for p, q in zip(a, b, strict=True)], g))
        return total / len(logits)

    with mpmath.workdps(110):
        return mpmath.diff(true_risk, 0)


def rounding(data, gamma, loss, logits):
    """What a float gradient in the logits may be off by, over |x| |z|.

    Logits of size A are off by 2 d eps A, softmax by twice that and T eps, relative; so is the
    mean score u, times G = max |gamma|, and l'(u) by |l''| <= 2 + |l'| times that and the rounding
    of an exponential, eps (1 + G).
    """
    G = np.abs(gamma).max()
    steepest = 2.0 + np.abs(loss.slope(np.array([gamma.min(), gamma.max()]))).max()
    return 32 * EPS * (data.T + data.d) * (1.0 + np.abs(logits).max() + G) * steepest * (G + EPS)


def assert_close(mine, ball, bound):
    """Floats within the bound of balls far narrower than it."""
    for x, y in zip(np.ravel(mine), np.ravel(np.array(ball, dtype=object)), strict=True):
        y = arb(y)
        assert abs(y - arb(float(x))) <= bound
        assert y.rad() <= 1e-30


@given(attention_data(), NAMES, st.data())
def test_gradients_in_w_hold_derivatives_and_floats(data, name, draw):
    W = draw.draw(arrays(data.d, data.d)) / 8
    r, c = (draw.draw(st.integers(0, data.d - 1)) for _ in range(2))
    logits = np.einsum("ntd,de,ne->nt", data.X, W, data.Z)
    with ctx.workprec(400):
        G = gradient(ExactData.of(data), rationals(W), name)
        moves = data.X[:, :, r] * data.Z[:, [c]]
        assert near(G[r][c], slope_of_risk(name, logits, moves, data.gamma))
        sizes = np.abs(data.X).max() * np.abs(data.Z).max()
        sums = (np.abs(data.X) @ np.abs(W) @ np.abs(data.Z).T).max()
        bound = rounding(data, data.gamma, LOSSES[name], sums) * sizes
        assert_close(float_gradient_w(data, W, LOSSES[name]), G, bound)


@given(NAMES, st.floats(-40.0, 40.0), st.floats(0.0, 80.0))
def test_loss_drops_and_slopes_hold_their_values(name, best, missing):
    """Where the difference of two losses has lost everything, too: deficits go down to zero."""
    with mpmath.workdps(500):
        b, d = real(best), real(missing)
        drop = VALUE[name](b - d) - VALUE[name](b)
    if missing > 1e-300:
        assert encloses(loss_drop(name, rational(best), rational(missing)), drop)
        # a relative accuracy that subtraction does not have; the square's drop may vanish
        ball = loss_drop(name, rational(best), rational(missing))
        assert name == "squared" or ball.rad() <= 1e-12 * abs(ball.mid())
    else:
        assert loss_drop(name, rational(best), rational(0.0)) == 0
    with mpmath.workdps(250):
        slope = mpmath.diff(VALUE[name], b)
    found = loss_slope(name, rational(best)) + arb(0, "1e-400")  # what the derivative may be off
    assert encloses(found, mpmath.mpf(slope))
    if name == "logistic":
        assert encloses(logistic_slope(rational(best)), mpmath.mpf(slope))


@given(NAMES, st.floats(-40.0, 40.0))
def test_slopes_of_losses_hold_many_digits_and_floats(name, u):
    """Floats are off by a few roundings, of (1 - u)^2 of those of 1 and u."""
    ball = loss_slope(name, rational(u))
    with mpmath.workdps(250):
        truth = mpmath.diff(VALUE[name], real(u))
    with ctx.workprec(400):
        away = abs(ball - arb(mpmath.nstr(truth, 100)))
        assert away <= ball.rad() * 2 + arb("1e-80") * (1 + abs(ball))
    mine = float(LOSSES[name].slope(np.array([u]))[0])
    scale = abs(ball).upper() + (1 + abs(u) if name == "squared" else 0)
    assert abs(ball - arb(mine)) <= 16 * EPS * scale + arb(2) ** -1000
    assert ball.rad() <= 1e-13 * scale


@pytest.mark.parametrize("name", ["logistic", "logistic-loss", "log-loss", "exponential"])
@pytest.mark.parametrize("u", [-(10**6), 10**6])
def test_far_tails_keep_their_sign_and_relative_accuracy(name, u):
    """Numbers that no float holds: e^-1000000 is about 10^-434294."""
    ball = loss_slope(name, fmpq(u))
    assert ball.is_finite()
    assert ball.rad() <= abs(ball.mid()) * arb(2) ** -20
    assert ball != 0


@pytest.mark.parametrize(
    "function",
    [
        lambda: loss_slope("hinge", 0),
        lambda: loss_drop("hinge", 0, 1),
    ],
)
def test_losses_without_an_exact_form_are_named(function):
    with pytest.raises(DataError, match="no exact form") as caught:
        function()
    assert caught.value.value == "hinge"


@given(st.sampled_from([0, 1, 2, 5, -3, -10, -20]), st.integers(1, 255))
def test_the_enclosed_softmax_constant_holds_the_float_one(power, k):
    """The float search ends on a grid about the flat top: no error but rounding remains."""
    oscillation = k / 256 * 2.0**power
    ball, value = softmax_gradient_constant(rational(oscillation)), float_constant(oscillation)
    assert abs(ball - arb(value)) <= 64 * EPS * value
    assert ball.rad() <= 1e-12 * ball.mid()


def test_the_constant_without_oscillation_is_0():
    assert softmax_gradient_constant(fmpq(0)) == 0


@st.composite
def entries(draw, n=(1, 4), D=(1, 3)):
    rows, columns = draw(sizes(*n)), draw(sizes(*D))
    shapes = (rows, columns), (columns,), (rows,)
    return (*(draw(arrays(*shape)) for shape in shapes), draw(numbers()))


def exactly(A, x, h, b):
    return (*(array(rationals(part)) for part in (A, x, h)), rational(b))


def entry_hessian(A, x, h, b):
    """The Hessian of one entry of sim's loss, as lemma 3.13 has it."""
    return entry_loss.hessian(BALLS, A, x, h, b)


@given(entries(), st.data())
def test_entry_hessians_hold_second_derivatives(case, draw):
    A, x, h, b = case
    j, k = (draw.draw(st.integers(0, len(x) - 1)) for _ in range(2))

    def along(s, t):
        logits = [
            real(a) + s * real(row[j]) + t * real(row[k]) for a, row in zip(A @ x, A, strict=True)
        ]
        return 1 / (1 + mpmath.exp(-real(b) * attend(logits, [real(value) for value in h])))

    with ctx.workprec(400):
        H = entry_hessian(*exactly(A, x, h, b))
        with mpmath.workdps(150):
            assert near(arb(H[j, k]), mpmath.diff(along, (0, 0), (1, 1)))
        assert all(
            arb(H[p, q]).overlaps(arb(H[q, p])) for p in range(len(x)) for q in range(len(x))
        )


@pytest.mark.parametrize("side", [1, -1])
def test_a_maximum_is_enclosed_wherever_in_the_last_bracket_it_lies(side):
    """Of -(a - 1/2 -+ 2^-12)^2, at an end of the bracket that ten bits come to."""

    def parabola(a, terms):
        h = arb(a) - arb(0.5) - side * arb(2) ** -12
        return [-(h * h), -2 * h, arb(-1)][:terms]

    with ctx.workprec(10):
        found = enclosed_maximum(parabola, lambda _: arb(1), 3)
    assert found.contains(0)
    assert found.rad() < 1e-2


def test_a_height_that_is_known_roughly_bounds_the_constant_roughly():
    """Of (1 - (a - 1/2)^2 + e)/1000, |e| <= 1/4, whose bend is not known: any e may be the one."""

    def rough(a, terms):
        h = arb(a) - arb(0.5)
        return [(1 - h * h + arb(0, 0.25)) / 1000, -2 * h / 1000, arb("nan")][:terms]

    found = enclosed_maximum(rough, lambda _: arb(1), 3)
    assert found.contains(arb("0.00076"))
    assert found.contains(arb("0.00124"))
    assert found.rad() < 1e-3


@pytest.mark.parametrize("precision", [20, 53, 100])
def test_the_squared_constant_is_as_tight_as_its_bracket(precision):
    """A slope below 4 (r + w) w times a bracket of 2^-prec is 20 of these; half is the radius."""
    with ctx.workprec(precision):
        found = squared_gradient_constant(fmpq(1), fmpq(4))
    assert found.rad() * 2**precision <= 10
