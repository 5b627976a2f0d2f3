"""Risk and gradients against autograd, fifty digits and balls, also where autograd sees zero."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.descent import gradient as ball_gradient
from attsvm.losses import CORRELATION, LOG_LOSS, LOSSES, SQUARED
from attsvm.risk import (
    covariance,
    gradient_kq,
    gradient_p,
    gradient_w,
    logit_gradient,
    normalised_gradient,
    risk,
    risk_gap,
)
from attsvm.strategies import arrays
from attsvm.strategies.data import attention_data
from attsvm.training import stack
from properties._support.published_data import gaussian_protocol
from tests import autograd
from tests.precise_losses import VALUES

EPS = np.finfo(float).eps
NAMES = st.sampled_from(sorted(LOSSES))


@st.composite
def masked(draw, data):
    """The same data with some of its tokens absent."""
    mask = draw(arrays(data.n, data.T)) >= 0
    mask[:, 0] |= ~mask.any(axis=1)
    return AttentionData(data.X, data.Z, data.y, data.v, data.scores, mask)


@st.composite
def points(draw, powers=(0, -3, 1)):
    """A data set, masked or not, and weights W."""
    data = draw(attention_data())
    if draw(st.booleans()):
        data = draw(masked(data))
    return data, draw(arrays(data.d, data.d)) * 2.0 ** draw(st.sampled_from(powers))


def rounding(data, loss):
    """A bound of the rounding of a gradient in the logits, entry by entry.

    Each is a slope times s_t times a difference of scores, with about 8 T operations; logits of
    size up to L carry their own rounding into s, of relative size L eps. The argument of the
    loss has the rounding of the scores, which the curvature turns into one of the slope.
    """
    gamma = np.abs(data.gamma).max()
    ends = np.linspace(-gamma, gamma, 2)
    slope = min(loss.lipschitz, np.abs(loss.slope(ends)).max() + 1.0)
    curvature = min(loss.smoothness, np.abs(loss.curvature(ends)).max() + 1.0)
    return 16 * data.T * EPS * gamma * (slope + curvature * gamma)


def size(data, weights):
    """How large a logit is at most, in units of one."""
    reach = np.abs(data.X).sum(axis=2).max() * np.abs(data.Z).sum(axis=1).max()
    return 1.0 + data.d * reach * np.abs(weights).max()


@given(points(), NAMES, st.integers(1, 3), st.data())
def test_gradients_are_those_of_autograd_and_of_balls(case, name, r, draw):
    data, W = case
    loss, far = LOSSES[name], data.T * np.abs(data.X).max() * np.abs(data.Z).max()
    bound = rounding(data, loss)
    mine = gradient_w(data, W, loss)
    balls = ball_gradient(ExactData.of(data), rationals(W), name)
    for truth in (
        autograd.gradients(data, name, "W", W)[0],
        [[float(x) for x in b] for b in balls],
    ):
        assert np.abs(mine - truth).max() <= bound * size(data, W) * far
    logits = logits_of_w(data.X, data.Z, W)
    truth = autograd.gradients(data, name, "logits", logits)[0]  # they do not round
    assert np.abs(logit_gradient(logits, data.gamma, loss, data.mask) - truth).max() <= bound
    p = W[0]
    truth = autograd.gradients(data, name, "p", p)[0]
    reach = np.abs(data.X).max() * (1.0 + np.abs(data.X).max() * np.abs(p).sum()) * data.T
    assert np.abs(gradient_p(data, p, loss) - truth).max() <= bound * reach
    K, Q = (draw.draw(arrays(data.d, r)) / 4 for _ in range(2))
    bound *= size(data, np.abs(K) @ np.abs(Q.T)) * far * data.d
    truth = autograd.gradients(data, name, "KQ", K, Q)
    for a, b, other in zip(gradient_kq(data, K, Q, loss), truth, (Q, K), strict=True):
        assert np.abs(a - b).max() <= bound * np.abs(other).max()


@given(st.integers(1, 5), st.data())
def test_covariance_is_the_softmax_jacobian_applied_exactly(T, draw):
    """On Fractions: (diag(s) - s s^T) gamma, of sum zero."""
    weights = [Fraction(draw.draw(st.integers(1, 9))) for _ in range(T)]
    s = np.array([w / sum(weights) for w in weights])
    gamma = np.array([Fraction(draw.draw(st.integers(-9, 9))) for _ in range(T)])
    jacobian = np.diag(s) - np.outer(s, s)
    result = covariance(s, gamma)
    assert result.tolist() == (jacobian @ gamma).tolist()
    assert result.sum() == 0


# values


def exact_drops(data, W, name):
    """l(<s, gamma>) - l(gamma_opt) input by input in 60 digits; dyadic data make exact logits."""
    drops = []
    for X, z, gamma, keep in zip(data.X, data.Z, data.gamma, data.present, strict=True):
        logits = [mpmath.mpf(float(a)) for a in X @ W @ z]
        pairs = [
            (a, mpmath.mpf(float(g))) for a, g, k in zip(logits, gamma, keep, strict=True) if k
        ]
        top = max(a for a, _ in pairs)
        powers = [mpmath.exp(a - top) for a, _ in pairs]
        best = max(g for _, g in pairs)
        deficit = sum(p * (best - g) for p, (_, g) in zip(powers, pairs, strict=True)) / sum(powers)
        drops.append(VALUES[name](best - deficit) - VALUES[name](best))
    return drops


@given(points(), NAMES)
def test_the_risk_is_the_mean_loss(case, name):
    """Relative to the losses: rounding of <s, gamma> moves them by at most a slope times it."""
    data, W = case
    loss = LOSSES[name]
    with mpmath.workdps(60):
        best = [mpmath.mpf(float(max(g[k]))) for g, k in zip(data.gamma, data.present, strict=True)]
        least = sum(VALUES[name](b) for b in best) / data.n
        truth = least + sum(exact_drops(data, W, name)) / data.n
    gamma = np.abs(data.gamma).max()
    values = np.abs(loss.value(np.array([-gamma, gamma]))).max()
    slopes = np.abs(loss.slope(np.array([-gamma, 0.0, gamma]))).max()
    bound = 16 * data.T * EPS * (values + slopes * gamma) * size(data, W)
    assert abs(risk(data, W, loss) - truth) <= bound


@given(points(powers=(0, 3, 6)), NAMES)
def test_the_risk_gap_has_twelve_digits_also_at_large_logits(case, name):
    """To 1e-12 of the summed drops, which is relative where the loss is monotone.

    Roundings are a few dozen and no more than 36 of them are lost where l(best) is not small:
    scores are at most 4 in size here. Gaps below 1e-290 may underflow. Where the slope of the
    square vanishes its argument's rounding, eps times 4, remains, times the deficit and l'' = 2.
    """
    data, W = case
    assume(np.abs(data.gamma).max() <= 4.0)
    with mpmath.workdps(60 + 20000 // 10):  # 1 - e^-m needs m / ln 10 digits
        drops = exact_drops(data, W, name)
        deficits = exact_drops(data, W, "correlation")
        total, summed = sum(drops) / data.n, sum(abs(x) for x in drops) / data.n
    assume(summed == 0 or summed > 1e-290)
    flat = 64 * EPS * sum(deficits) / data.n if name == "squared" else 0
    assert abs(risk_gap(data, W, LOSSES[name]) - total) <= 1e-12 * summed + flat


def test_the_difference_of_two_risks_loses_the_gap():
    """Why `risk_gap` exists: at a margin of 40 the plain difference has no digit left."""
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    W = np.array([[40.0]])
    slope = 1.0 / (1.0 + np.exp(1.0))
    gap = risk_gap(data, W, LOG_LOSS)
    assert abs(gap / (slope * np.exp(-40.0)) - 1.0) < 1e-15
    assert risk(data, W, LOG_LOSS) == risk(data, 2.0 * W, LOG_LOSS)


# the log domain


@given(points(), NAMES)
def test_the_direction_is_minus_the_gradient(case, name):
    data, W = case
    loss = LOSSES[name]
    found = normalised_gradient(data.X, data.Z, data.gamma, W, loss, data.mask)
    assert np.isfinite(found.matrix).all()
    mine = found.matrix * np.exp(found.log_scale)
    scale = data.T * np.abs(data.X).max() * np.abs(data.Z).max()
    # twice the bound of a gradient, and the logarithms of the sizes times eps
    bound = 4 * rounding(data, loss) * size(data, W) * scale * 8
    assert np.abs(mine + gradient_w(data, W, loss)).max() <= bound


def true_direction(data, W, name):
    """-grad L divided by its norm from balls, of 2048 bits or as many more as the sign needs.

    Where an input selects a worse token, 1 - s cancels by its margin: 1.44 bits a unit of logit.
    """
    exact, start, before = ExactData.of(data), rationals(W), ctx.prec
    try:
        ctx.prec = 2048
        while True:
            G = [[arb(x) for x in row] for row in ball_gradient(exact, start, name)]
            length = sum((x * x for row in G for x in row), arb(0)).sqrt()
            balls = [[-x / length for x in row] for row in G]
            if all(x.rad() < 1e-20 for row in balls for x in row):
                return np.array([[float(x) for x in row] for row in balls])
            ctx.prec *= 4
    finally:
        ctx.prec = before


def unit(matrix):
    length = np.sqrt((matrix**2).sum())
    return matrix / length if length > 0 else matrix


def far_cases():
    """Weights of norm 40 to 1e6 on protocol data, some towards the optimal tokens."""
    generator = np.random.default_rng(20240901)
    for norm in (1e4, 1e5, 1e6):
        for _ in range(3):
            data = gaussian_protocol(generator, n=3, T=4, d=6)
            noise = generator.normal(size=(6, 6))
            opt = data.X[np.arange(3), data.gamma.argmax(axis=1)]
            lead = np.einsum("nd,ne->de", opt - data.X.mean(axis=1), data.Z)
            for W in (unit(noise), unit(lead), unit(unit(lead) + 0.1 * unit(noise))):
                yield data, norm * W


@pytest.mark.parametrize("name", ["log-loss", "logistic-loss", "correlation"])
def test_far_out_the_log_domain_is_right_where_autograd_is_not(name):
    """Norms 1e4 to 1e6: ours is within 1e-9 of balls, the naive gradient is lost.

    A logit of size 1e6 has a rounding of 1e-10, and weights are exponentials of it.
    """
    for data, W in far_cases():
        truth = true_direction(data, W, name)
        found = normalised_gradient(data.X, data.Z, data.gamma, W, LOSSES[name])
        assert np.abs(unit(found.matrix) - truth).max() < 1e-9
        (naive,) = autograd.gradients(data, name, "W", W)
        assert not naive.any() or (-unit(naive) * truth).sum() < 0.9


def test_a_margin_of_forty_already_misleads_autograd():
    """Not zero yet, but <s, gamma> rounds to the best score and the optimal token is forgotten.

    The truth points along x_opt - x_1 = (-1, 3), autograd along -x_1 = (-1, 0).
    """
    data = AttentionData.of([[[0.0, 3.0], [1.0, 0.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0]])
    W = np.array([[-40.0, 0.0], [0.0, 0.0]])
    (naive,) = autograd.gradients(data, "correlation", "W", W)
    found = normalised_gradient(data.X, data.Z, data.gamma, W, CORRELATION)
    truth = np.array([[-1.0, 0.0], [3.0, 0.0]]) / np.sqrt(10.0)
    assert np.abs(true_direction(data, W, "correlation") - truth).max() <= 2 * EPS
    assert np.abs(unit(found.matrix) - truth).max() <= 8 * EPS
    assert naive.any()
    assert (-unit(naive) * truth).sum() < 0.4


@given(points(), NAMES)
def test_equal_scores_are_exactly_stationary(case, name):
    """And so is the minimum of the square."""
    data, W = case
    flat = AttentionData(data.X, data.Z, scores=np.ones((data.n, data.T)), mask=data.mask)
    least = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[2.0, 0.0]])
    for still, start, loss in ((flat, W, LOSSES[name]), (least, np.zeros((1, 1)), SQUARED)):
        found = normalised_gradient(still.X, still.Z, still.gamma, start, loss, still.mask)
        assert not found.matrix.any()
        assert found.log_scale == -np.inf
    assert risk_gap(flat, W, LOSSES[name]) == 0.0


@given(points(), NAMES, st.data())
def test_absent_tokens_have_no_influence(case, name, draw):
    """Values change only by the order of additions."""
    data, W = case
    loss = LOSSES[name]
    plain = AttentionData(data.X, data.Z, scores=data.gamma)
    more = draw.draw(st.integers(1, 2))
    X = np.concatenate([data.X, 2.0**10 * draw.draw(arrays(data.n, more, data.d))], axis=1)
    scores = np.concatenate([data.gamma, 2.0**10 * draw.draw(arrays(data.n, more))], axis=1)
    mask = np.repeat([[True] * data.T + [False] * more], data.n, axis=0)
    padded = AttentionData(X, data.Z, scores=scores, mask=mask)
    scale = data.T * max(np.abs(data.X).max(), 1.0) * max(np.abs(data.Z).max(), 1.0)
    bound = 4 * rounding(plain, loss) * size(plain, W) * scale
    least = EPS * 8 * abs(risk(plain, W, loss))

    def direction(data, W, loss):
        g = normalised_gradient(data.X, data.Z, data.gamma, W, loss, data.mask)
        return g.matrix * np.exp(g.log_scale) / 8

    def in_prompt(data, W, loss):
        return gradient_p(data, W[0], loss)

    for function in (risk, risk_gap, gradient_w, in_prompt, direction):
        difference = np.abs(np.subtract(function(padded, W, loss), function(plain, W, loss)))
        assert difference.max() <= bound + least
    for a, b in zip(gradient_kq(padded, W, W, loss), gradient_kq(plain, W, W, loss), strict=True):
        assert np.abs(a - b).max() <= bound * size(plain, W @ W.T) * (1.0 + np.abs(W).max())


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
def test_a_batch_is_its_parts(loss):
    generator = np.random.default_rng(5)
    sets = [gaussian_protocol(generator, n=3, T=4, d=5) for _ in range(4)]
    sets.append(AttentionData(sets[0].X, sets[0].Z, scores=np.zeros((3, 4))))
    W = generator.normal(size=(5, 5, 5)) * np.array([0.0, 1.0, 10.0, 1e5, 1.0])[:, None, None]
    batch = stack(sets)
    both = normalised_gradient(batch.X, batch.Z, batch.gamma, W, loss, batch.mask)
    for b, data in enumerate(sets):
        one = normalised_gradient(data.X, data.Z, data.gamma, W[b], loss)
        assert np.abs(both.matrix[b] - one.matrix).max() <= 64 * EPS * np.abs(one.matrix).max()
        assert both.log_scale[b] == one.log_scale
    assert both.log_scale[4] == -np.inf


def test_copies_of_the_leading_token_do_not_drown_the_direction():
    """Their pair has weight one and moves nothing; what moves W is smaller by e^-40."""
    data = AttentionData.of(
        [[[1.0, 0.0], [0.0, 2.0], [0.0, 2.0], [0.0, -1.0]]],
        [[1.0, 0.0]],
        scores=[[3.0, 2.0, 1.0, -1.0]],
    )
    W = np.array([[0.0, 0.0], [20.0, 0.0]])
    found = normalised_gradient(data.X, data.Z, data.gamma, W, LOG_LOSS)
    with ctx.workprec(400):
        exact = ball_gradient(ExactData.of(data), rationals(W), "log-loss")
        scaled = [[float(-g * (-arb(float(found.log_scale))).exp()) for g in row] for row in exact]
    assert np.abs(found.matrix).max() > 0.1
    assert np.abs(found.matrix - np.array(scaled)).max() <= 1e-13


def test_an_input_that_nothing_moves_may_be_of_any_size_beside_the_others():
    """The first input has a gradient of exp(-1000), the second by 0 times a size about 1."""
    X, Z, gamma = (
        np.array([[[1.0], [0.0]]] * 2),
        np.array([[1.0], [0.0]]),
        np.array([[1.0, 0.0]] * 2),
    )
    W, loss = np.array([[1000.0]]), LOSSES["log-loss"]
    both = normalised_gradient(X, Z, gamma, W, loss)
    one = normalised_gradient(X[:1], Z[:1], gamma[:1], W, loss)
    assert both.matrix == pytest.approx(one.matrix)
    assert both.log_scale == pytest.approx(one.log_scale - np.log(2.0))
