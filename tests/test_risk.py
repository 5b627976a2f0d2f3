"""Risk and gradients against autograd, fifty digits and balls, also where autograd sees zero."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.attention import logits_of_w, softmax
from attsvm.data import AttentionData
from attsvm.descent import stack
from attsvm.exact import ExactData, rational, rationals
from attsvm.exact.attention import loss_drop
from attsvm.exact.descent import gradient as ball_gradient
from attsvm.losses import CORRELATION, LOG_LOSS, LOGISTIC, LOSSES, SQUARED
from attsvm.risk import (
    covariance,
    gradient_kq,
    gradient_p,
    gradient_w,
    logit_gradient,
    normalised_gradient,
    optimal_risk,
    risk,
    risk_gap,
)
from attsvm.strategies import arrays
from attsvm.strategies.data import attention_data
from properties._support.published_data import gaussian_protocol

EPS = np.finfo(float).eps
TORCH = {
    "logistic": torch.sigmoid,
    "logistic-loss": lambda u: torch.sigmoid(-u),
    "log-loss": lambda u: torch.logaddexp(torch.zeros_like(u), -u),
    "exponential": lambda u: torch.exp(-u),
    "correlation": lambda u: -u,
    "squared": lambda u: (1 - u) ** 2,
}
MPMATH = {
    "logistic": lambda u: 1 / (1 + mpmath.exp(-u)),
    "logistic-loss": lambda u: 1 / (1 + mpmath.exp(u)),
    "log-loss": lambda u: mpmath.log(1 + mpmath.exp(-u)),
    "exponential": lambda u: mpmath.exp(-u),
    "correlation": lambda u: -u,
    "squared": lambda u: (1 - u) ** 2,
}
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


def torch_risk(data, logits, name):
    """The risk as one would write it, to be differentiated by autograd."""
    present = torch.tensor(data.present)
    s = torch.softmax(torch.where(present, logits, -torch.inf), dim=1)
    return TORCH[name]((s * torch.tensor(data.gamma)).sum(dim=1)).mean()


def torch_gradients(data, name, make_logits, *parameters):
    leaves = [torch.tensor(p, requires_grad=True) for p in parameters]
    X, Z = torch.tensor(data.X), torch.tensor(data.Z)
    value = torch_risk(data, make_logits(X, Z, *leaves), name)
    if not value.requires_grad:
        return [np.zeros_like(p) for p in parameters]
    return [g.numpy() for g in torch.autograd.grad(value, leaves)]


def in_w(X, Z, W):
    return torch.einsum("ntd,de,ne->nt", X, W, Z)


def in_kq(X, Z, K, Q):
    return torch.einsum("ntr,nr->nt", X @ K, Z @ Q)


def in_p(X, Z, p):
    return X @ p


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


@settings(max_examples=150, deadline=None)
@given(points(), NAMES)
def test_the_gradient_in_w_is_that_of_autograd(case, name):
    data, W = case
    loss = LOSSES[name]
    (truth,) = torch_gradients(data, name, in_w, W)
    scale = data.T * np.abs(data.X).max() * np.abs(data.Z).max()
    assert np.abs(gradient_w(data, W, loss) - truth).max() <= (
        rounding(data, loss) * size(data, W) * scale
    )


@settings(max_examples=60, deadline=None)
@given(points(), NAMES)
def test_the_gradient_in_w_is_that_of_balls(case, name):
    data, W = case
    loss = LOSSES[name]
    balls = ball_gradient(ExactData.of(data), rationals(W), name)
    truth = np.array([[float(x.mid()) for x in row] for row in map(list, _as_arb(balls))])
    scale = data.T * np.abs(data.X).max() * np.abs(data.Z).max()
    assert np.abs(gradient_w(data, W, loss) - truth).max() <= (
        rounding(data, loss) * size(data, W) * scale
    )


def _as_arb(matrix):
    return [[arb(x) for x in row] for row in matrix]


@settings(max_examples=100, deadline=None)
@given(points(), NAMES, st.integers(1, 3), st.data())
def test_the_gradients_in_k_and_q_are_those_of_autograd(case, name, r, draw):
    data, _ = case
    loss = LOSSES[name]
    K, Q = (draw.draw(arrays(data.d, r)) / 4 for _ in range(2))
    scale = data.T * np.abs(data.X).max() * np.abs(data.Z).max() * data.d
    bound = rounding(data, loss) * size(data, np.abs(K) @ np.abs(Q.T)) * scale
    mine, truth = gradient_kq(data, K, Q, loss), torch_gradients(data, name, in_kq, K, Q)
    for a, b, other in zip(mine, truth, (Q, K), strict=True):
        assert np.abs(a - b).max() <= bound * np.abs(other).max()
    G = gradient_w(data, K @ Q.T, loss)
    assert np.abs(mine[0] - G @ Q).max() <= bound * np.abs(Q).max()
    assert np.abs(mine[1] - G.T @ K).max() <= bound * np.abs(K).max()


@settings(max_examples=100, deadline=None)
@given(points(), NAMES, st.data())
def test_the_gradient_in_a_prompt_is_that_of_autograd(case, name, draw):
    data, _ = case
    loss = LOSSES[name]
    p = draw.draw(arrays(data.d))
    truth = torch_gradients(data, name, in_p, p)[0]
    bound = rounding(data, loss) * (1.0 + np.abs(data.X).max() * np.abs(p).sum())
    assert np.abs(gradient_p(data, p, loss) - truth).max() <= (
        bound * data.T * np.abs(data.X).max()
    )


@settings(max_examples=50, deadline=None)
@given(points(), NAMES)
def test_the_gradient_in_the_logits_is_that_of_autograd(case, name):
    data, W = case
    logits = logits_of_w(data.X, data.Z, W)
    (truth,) = torch_gradients(data, name, lambda X, Z, a: a, logits)
    mine = logit_gradient(logits, data.gamma, LOSSES[name], data.mask)
    assert np.abs(mine - truth).max() <= rounding(data, LOSSES[name])  # the logits are given


@settings(max_examples=100, deadline=None)
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
        drops.append(MPMATH[name](best - deficit) - MPMATH[name](best))
    return drops


@settings(max_examples=60, deadline=None)
@given(points(), NAMES)
def test_the_risk_is_the_mean_loss(case, name):
    """Relative to the losses: rounding of <s, gamma> moves them by at most a slope times it."""
    data, W = case
    loss = LOSSES[name]
    with mpmath.workdps(60):
        best = [mpmath.mpf(float(max(g[k]))) for g, k in zip(data.gamma, data.present, strict=True)]
        least = sum(MPMATH[name](b) for b in best) / data.n
        truth = least + sum(exact_drops(data, W, name)) / data.n
    gamma = np.abs(data.gamma).max()
    values = np.abs(loss.value(np.array([-gamma, gamma]))).max()
    slopes = np.abs(loss.slope(np.array([-gamma, 0.0, gamma]))).max()
    bound = 16 * data.T * EPS * (values + slopes * gamma) * size(data, W)
    assert abs(risk(data, W, loss) - truth) <= bound
    assert abs(optimal_risk(data, loss) - least) <= bound


@settings(max_examples=150, deadline=None)
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
    assert risk(data, W, LOG_LOSS) - optimal_risk(data, LOG_LOSS) == 0.0


# the log domain


@settings(max_examples=150, deadline=None)
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
            G = _as_arb(ball_gradient(exact, start, name))
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
        (naive,) = torch_gradients(data, name, in_w, W)
        assert not naive.any() or (-unit(naive) * truth).sum() < 0.9


def test_a_margin_of_forty_already_misleads_autograd():
    """Not zero yet, but <s, gamma> rounds to the best score and the optimal token is forgotten.

    The truth points along x_opt - x_1 = (-1, 3), autograd along -x_1 = (-1, 0).
    """
    data = AttentionData.of([[[0.0, 3.0], [1.0, 0.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0]])
    W = np.array([[-40.0, 0.0], [0.0, 0.0]])
    (naive,) = torch_gradients(data, "correlation", in_w, W)
    found = normalised_gradient(data.X, data.Z, data.gamma, W, CORRELATION)
    truth = np.array([[-1.0, 0.0], [3.0, 0.0]]) / np.sqrt(10.0)
    assert np.abs(true_direction(data, W, "correlation") - truth).max() <= 2 * EPS
    assert np.abs(unit(found.matrix) - truth).max() <= 8 * EPS
    assert naive.any()
    assert (-unit(naive) * truth).sum() < 0.4


def test_the_scale_is_the_logarithm_of_the_gradient():
    """Two tokens at margin m: the gradient is e^-m / (1 + e^-m)^2, here for m = 1e5."""
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    found = normalised_gradient(data.X, data.Z, data.gamma, np.array([[1e5]]), CORRELATION)
    assert abs(found.log_scale + np.log(found.matrix[0, 0]) + 1e5) <= 4 * EPS * 1e5


@settings(max_examples=100, deadline=None)
@given(points(), NAMES)
def test_equal_scores_are_exactly_stationary(case, name):
    data, W = case
    flat = AttentionData(data.X, data.Z, scores=np.ones((data.n, data.T)), mask=data.mask)
    found = normalised_gradient(flat.X, flat.Z, flat.gamma, W, LOSSES[name], flat.mask)
    assert not found.matrix.any()
    assert found.log_scale == -np.inf
    assert risk_gap(flat, W, LOSSES[name]) == 0.0


def test_the_minimum_of_the_square_is_stationary():
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[2.0, 0.0]])
    found = normalised_gradient(data.X, data.Z, data.gamma, np.zeros((1, 1)), SQUARED)
    assert found.matrix.tolist() == [[0.0]]
    assert found.log_scale == -np.inf


@settings(max_examples=80, deadline=None)
@given(points(), NAMES, st.data())
def test_absent_tokens_have_no_influence(case, name, draw):
    """Values change only by the order of additions."""
    data, W = case
    loss = LOSSES[name]
    plain = AttentionData(data.X, data.Z, data.y, data.v, data.scores)
    more = draw.draw(st.integers(1, 2))
    garbage = 2.0**10 * draw.draw(arrays(data.n, more, data.d))
    fields = {"y": data.y, "v": data.v}
    if data.scores is not None:
        high = 2.0**10 * draw.draw(arrays(data.n, more))
        fields = {"scores": np.concatenate([data.scores, high], axis=1)}
    mask = np.repeat([[True] * data.T + [False] * more], data.n, axis=0)
    padded = AttentionData(np.concatenate([data.X, garbage], axis=1), data.Z, mask=mask, **fields)

    scale = data.T * max(np.abs(data.X).max(), 1.0) * max(np.abs(data.Z).max(), 1.0)
    bound = 4 * rounding(plain, loss) * size(plain, W) * scale
    for function in (risk, risk_gap, gradient_w):
        least = EPS * 8 * abs(risk(plain, W, loss))
        difference = np.abs(np.subtract(function(padded, W, loss), function(plain, W, loss)))
        assert difference.max() <= bound + least
    assert optimal_risk(padded, loss) == optimal_risk(plain, loss)
    p = W[0]
    assert np.abs(gradient_p(padded, p, loss) - gradient_p(plain, p, loss)).max() <= bound
    for a, b in zip(gradient_kq(padded, W, W, loss), gradient_kq(plain, W, W, loss), strict=True):
        assert np.abs(a - b).max() <= bound * size(plain, W @ W.T) * (1.0 + np.abs(W).max())
    a = normalised_gradient(padded.X, padded.Z, padded.gamma, W, loss, padded.mask)
    b = normalised_gradient(plain.X, plain.Z, plain.gamma, W, loss)
    assert (
        np.abs(a.matrix * np.exp(a.log_scale) - b.matrix * np.exp(b.log_scale)).max() <= 8 * bound
    )


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


def test_the_softmax_of_the_kernel_is_the_one_of_attention():
    """At W = 0 attention is uniform and the gradient a plain covariance, by hand."""
    data = AttentionData.of([[[1.0], [0.0]]], [[2.0]], scores=[[3.0, 1.0]])
    assert softmax(np.zeros((1, 2))).tolist() == [[0.5, 0.5]]
    # s = 1/2, covariance (1/2, -1/2), slope of the logistic function at <s, gamma> = 2
    slope = LOGISTIC.slope(np.array([2.0]))[0]
    assert gradient_w(data, np.zeros((1, 1)), LOGISTIC)[0, 0] == slope * 0.5 * 2.0


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


@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
@pytest.mark.parametrize(
    ("best", "deficit"), [(40.0, 8.0), (-20.0, 10.0), (-36.0, 12.0), (3.0, 1e-12)]
)
def test_the_drop_of_a_loss_does_not_cancel(loss, best, deficit):
    drop = float(loss.drop(np.array([best]), np.array([deficit]))[0])
    with ctx.workprec(300):
        exact = float(loss_drop(loss.name, rational(best), rational(deficit)))
    assert drop == pytest.approx(exact, rel=1e-13, abs=0.0)
