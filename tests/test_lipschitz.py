"""The constants: never exceeded by a quotient, attained where they are called sharp."""

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import lipschitz as exact
from attsvm.exact import rational
from attsvm.lipschitz import (
    log_loss_gradient_constant,
    risk_smoothness,
    softmax_gradient_constant,
    squared_gradient_constant,
    squared_gradient_constants,
    squared_normed_constants,
)
from attsvm.losses import LOG_LOSS, LOGISTIC, LOSSES
from attsvm.risk import covariance, gradient_w
from attsvm.strategies import arrays, sizes
from attsvm.strategies.data import attention_data
from tests.searching import few

EPS = np.finfo(float).eps
SPANS = [1e-3, 0.1, 1.0, 3.0, 10.0, 100.0]
DERIVATIVES = {
    "logistic": (LOGISTIC.slope, LOGISTIC.curvature),
    "log-loss": (LOG_LOSS.slope, LOG_LOSS.curvature),
    "squared": (lambda u: 2.0 * u, lambda u: 2.0 + 0.0 * u),  # of a residual
}
CONSTANTS = {
    "logistic": lambda k: softmax_gradient_constant(np.ptp(k, axis=1).max()),
    "log-loss": lambda k: log_loss_gradient_constant(np.ptp(k, axis=1).max()),
    "squared": lambda k: squared_gradient_constants(np.ptp(k, axis=1), np.abs(k).max(axis=1)),
}


def gradients(s, k, name="logistic"):
    """Gradients of l(<softmax(s), k>) in s, row by row."""
    f = softmax(s)
    return DERIVATIVES[name][0]((f * k).sum(axis=-1))[:, None] * covariance(f, k)


def hessians(s, k, name="logistic"):
    """Second derivatives of the same: l'' c c^T + l' (diag(c) - f c^T - c f^T)."""
    f, (slope, curvature) = softmax(s), DERIVATIVES[name]
    mean, c = (f * k).sum(axis=-1), covariance(f, k)
    outer = np.einsum("mi,mj->mij", f, c)
    third = np.einsum("mi,ij->mij", c, np.eye(s.shape[1])) - outer - outer.transpose(0, 2, 1)
    first = np.einsum("m,mi,mj->mij", curvature(mean), c, c)
    return first + slope(mean)[:, None, None] * third


def tightness(s, k, name):
    """Operator norms of the Hessians over the constants."""
    return np.abs(np.linalg.eigvalsh(hessians(s, k, name))).max(axis=1) / CONSTANTS[name](k)


@given(sizes(2, 4), st.sampled_from(sorted(DERIVATIVES)), st.data())
def test_the_hessian_of_these_tests_is_the_derivative_of_the_gradient(n, name, draw):
    """Central differences of step 1e-5: an error of 1e-10 and a rounding of 1e-11."""
    s, k = draw.draw(arrays(n)), draw.draw(arrays(n))
    rows, table = 1e-5 * np.eye(n), np.tile(k, (n, 1))
    numeric = (gradients(s + rows, table, name) - gradients(s - rows, table, name)) / 2e-5
    size = 1.0 + np.abs(k).max()
    assert np.abs(numeric - hessians(s[None], k[None], name)[0]).max() <= 1e-8 * size**3


@pytest.mark.parametrize("name", sorted(DERIVATIVES))
@pytest.mark.parametrize("n", [2, 3, 4, 6])
@pytest.mark.parametrize("span", SPANS)
def test_the_constants_bound_hessians_and_quotients_and_are_nearly_attained(name, n, span):
    """Values about any level, the log-loss and the square also at levels far from them.

    Between far and near points; differences of 1e-4 leave 1e-12 of relative rounding.
    """
    generator, count = np.random.default_rng([n, int(1000 * span)]), few(4000)
    s = generator.normal(size=(count, n)) * 10.0 ** generator.uniform(-1, 1, size=(count, 1))
    k = generator.uniform(size=(count, n))
    k = (k - k.min(axis=1, keepdims=True)) / np.ptp(k, axis=1)[:, None] * span
    k -= span * generator.uniform(-0.5, 1.5, size=(count, 1))
    if name == "log-loss":
        k -= generator.exponential(4.0, size=(count, 1))
    if name == "squared":  # the target in the middle, or so many oscillations from there
        beside = generator.choice([0.0, 0.1, 0.5, 3.0, 100.0], size=(count, 1))
        k -= (k.max(axis=1, keepdims=True) + k.min(axis=1, keepdims=True)) / 2 - beside * span
    ratio = tightness(s, k, name)
    assert ratio.max() <= 1 + 1e-12
    if n == 2:
        assert ratio.max() > 0.9
    for reach in (1e-4, 1e-1, 3.0):
        step = reach * generator.normal(size=s.shape)
        rise = np.linalg.norm(gradients(s + step, k, name) - gradients(s, k, name), axis=1)
        far = np.abs(k).max(axis=1)
        rounding = 16 * EPS * (1.0 + np.abs(s).max(axis=1) + far) * span * (1.0 + far)
        assert (rise <= CONSTANTS[name](k) * np.linalg.norm(step, axis=1) + rounding).all()


@pytest.mark.parametrize("name", sorted(DERIVATIVES))
@pytest.mark.parametrize("span", [*SPANS, 2.0 * math.sqrt(3.0), 4.0])
def test_the_constants_are_attained_by_two_tokens(name, span):
    """A grid over the logit and the mean value comes within a hundredth."""
    reach = {"logistic": 0.6 * span + 2.0, "log-loss": 7.0, "squared": 3.0 * span}[name]
    logit, mean = np.meshgrid(np.linspace(0.0, 8.0, 100), np.linspace(-reach, reach, 101))
    s = np.stack([np.zeros(logit.size), logit.ravel()], axis=1)
    k = np.tile([0.0, span], (logit.size, 1))
    k += mean.reshape(-1, 1) - (softmax(s) * k).sum(axis=1, keepdims=True)
    ratio = np.maximum(tightness(s, k, name), tightness(s, 2 * mean.reshape(-1, 1) - k, name))
    assert 0.99 <= ratio.max() <= 1 + 1e-12


BAD_SIZES = [
    *((constant, size, "Pass a norm")
      for constant in (softmax_gradient_constant, log_loss_gradient_constant,
                       lambda w: squared_gradient_constant(w, 1.0),
                       lambda r: squared_gradient_constant(0.0, r))
      for size in (-1.0, -5e-324, -math.inf, math.inf, math.nan)),
    *((constant, size, None)
      for constant in (exact.softmax_gradient_constant, exact.log_loss_gradient_constant,
                       lambda w: exact.squared_gradient_constant(w, fmpq(1)),
                       lambda r: exact.squared_gradient_constant(fmpq(0), r))
      for size in (fmpq(-1), fmpq(-1, 10**400))),
    *((exact.softmax_gradient_constant, arb(*ball), None) for ball in (["nan"], ["inf"], [0, 1])),
]  # fmt: skip


@pytest.mark.parametrize(("constant", "size", "remedy"), BAD_SIZES)
def test_what_is_no_size_is_refused(constant, size, remedy):
    with pytest.raises(DataError, match="not negative") as refused:
        constant(size)
    assert remedy is None or (refused.value.value is size and remedy in refused.value.remedy)


@given(st.floats(1e-100, 1e100), st.floats(1.0, 1e6), st.floats(1.0, 2.0), st.floats(1.0, 2.0))
def test_the_constant_of_the_square_grows_with_either_size(width, far, more, wider):
    reach = 0.5 * width * far
    value = squared_gradient_constant(width, reach)
    assert value <= squared_gradient_constant(width, reach * more) * (1 + 8 * EPS)
    assert value <= squared_gradient_constant(width * min(wider, far), reach) * (1 + 8 * EPS)
    parts = width * width / 4.0, width * (2.0 * reach - width) / (3.0 * math.sqrt(3.0))
    assert max(parts) * (1 - 8 * EPS) <= value <= sum(parts) * (1 + 8 * EPS)


def test_the_constant_of_the_square_by_hand():
    """In the middle w^2/4; a = 1/4 is critical for x = a (2-3a^2)/(1-3a^2)."""
    assert squared_gradient_constant(3.0, 1.5) == 2.25
    assert squared_gradient_constant(0.0, 7.0) == squared_gradient_constant(0.0, 0.0) == 0.0
    a = 0.25
    x = a * (2 - 3 * a * a) / (1 - 3 * a * a)
    expected = (1 - a * a) * (x * a + (1 - 3 * a * a) / 4)
    assert abs(squared_gradient_constant(1.0, x + 0.5) - expected) <= 4 * EPS


def test_the_constant_of_the_square_for_given_norms():
    """The largest one over all extreme values of a head of length 1; and as findings.md has it."""
    labels = np.array([0.0, 0.3, 1.0, 3.5322, 50.0])
    found = squared_normed_constants(np.ones(5), labels)
    angle = np.linspace(0.0, np.pi / 2, 20001)[:, None]
    middle = labels + np.sin(angle) / np.sqrt(2)
    width = np.sqrt(2) * np.cos(angle) + 0 * middle
    reach = middle + width / 2
    best = squared_gradient_constants(width.ravel(), reach.ravel()).reshape(reach.shape).max(axis=0)
    assert (np.abs(best - found) <= 1e-8 * found).all()
    assert np.abs(found[[0, 2, 3]] - [0.5, 0.755457, 2.0]).max() < 1e-4
    assert np.isnan(squared_normed_constants(np.array([-1.0, 1.0]), np.array([1.0, np.inf]))).all()


@pytest.mark.parametrize(("width", "size"), [(1.0, 0.4), (1e308, 0.4e308), (5e-324, 0.0)])
def test_residuals_that_reach_less_far_than_half_their_oscillation_are_refused(width, size):
    with pytest.raises(DataError, match="is below half of") as refused:
        squared_gradient_constant(width, size)
    assert refused.value.value == (width, size)
    assert "max |h - b|" in refused.value.remedy
    with pytest.raises(DataError, match="is below half of"):
        exact.squared_gradient_constant(rational(width), rational(size))


@given(st.floats(5e-324, 1.7e308), st.floats(1.0, 1e10))
@example(5e-324, 1.0)
@example(1e200, 1.0)
@example(1.7e308, 1.0)
@example(5e-324, 1e300)
def test_constants_are_numbers_wherever_sizes_are(size, far):
    """Never NaN; infinite or 0 only where the enclosure is beyond float64."""
    reach = min(0.5 * size * far, 1.7e308)
    found = {
        softmax_gradient_constant(size): exact.softmax_gradient_constant(rational(size)),
        log_loss_gradient_constant(size): exact.log_loss_gradient_constant(rational(size)),
    }
    if 2.0 * reach >= size:
        ball = exact.squared_gradient_constant(rational(size), rational(reach))
        found[squared_gradient_constant(size, reach)] = ball
    for value, ball in found.items():
        if value == math.inf:
            assert ball > 1.79e308
        else:
            assert abs(arb(value) - ball) <= 64 * EPS * value + arb(2) ** -1073


def test_curvature_is_asked_for_in_all_of_an_interval():
    asked = []

    def height(ball, terms):
        asked.append(ball)
        return [arb(0), arb(0), arb(-1)]

    assert exact.is_concave(height, fmpq(1, 4), fmpq(1, 2))
    assert asked[0].lower() <= fmpq(1, 4)
    assert asked[-1].upper() >= fmpq(1, 2)
    assert all(a.overlaps(b) for a, b in pairwise(asked))


@given(st.integers(0, 59), st.integers(20, 200))
def test_bisection_brackets_the_maximum_as_tightly_as_the_precision(part, bits):
    """Of -(a - c)^2, where c may be any point in [0, 3/5)."""
    c = fmpq(part, 100) + fmpq(1, 2**300)
    with ctx.workprec(bits):
        low, high = exact.bisected(lambda a: c - a)
    assert low <= c <= high
    assert fmpq(1, 2 ** (bits + 1)) < high - low <= fmpq(1, 2**bits)


@given(st.floats(1e-3, 1e6), st.integers(40, 120))
@example(1.0, 53)
def test_the_enclosure_is_as_tight_as_the_precision_and_holds_that_of_more_bits(size, bits):
    D = rational(size)
    with ctx.workprec(300):
        truth = exact.softmax_gradient_constant(D)
    with ctx.workprec(bits):
        ball = exact.softmax_gradient_constant(D)
    assert ball.contains(truth)
    assert ball.rad() <= truth / 2 ** (bits - 16)


@settings(max_examples=10, deadline=None)
@given(st.floats(0.1, 50.0), st.integers(4, 40))
@example(3.0, 20)
def test_the_enclosure_at_a_ball_holds_those_at_its_ends(size, bits):
    D = arb(size, size / 2**bits)
    ball = exact.softmax_gradient_constant(D)
    for end in (D.lower(), D.upper()):
        with ctx.workprec(300):
            assert ball.contains(exact.softmax_gradient_constant(end))


# the risk


@given(attention_data(), st.sampled_from(sorted(LOSSES)), st.integers(-6, 2), st.data())
def test_the_smoothness_of_the_risk_is_never_exceeded(data, name, power, draw):
    """Rounding of the two gradients: numbers of the size of one, of its logits and its scores."""
    loss = LOSSES[name]
    if draw.draw(st.booleans()):
        mask = draw.draw(arrays(data.n, data.T)) >= 0
        mask[:, 0] = True
        data = AttentionData(data.X, data.Z, scores=data.gamma, mask=mask)
    W = draw.draw(arrays(data.d, data.d))
    V = W + 2.0**power * draw.draw(arrays(data.d, data.d))
    bound = risk_smoothness(data, loss)
    rise = np.linalg.norm(gradient_w(data, W, loss) - gradient_w(data, V, loss))
    gamma = np.abs(data.gamma).max()
    slope = np.abs(loss.slope(np.array([-gamma, 0.0, gamma]))).max()
    reach = np.abs(data.X).max() * np.abs(data.Z).max()
    logits = data.d**2 * reach * max(np.abs(W).max(), np.abs(V).max())
    rounding = 64 * EPS * data.T * data.d * reach * slope * gamma * (1.0 + logits + gamma)
    assert rise <= bound * np.linalg.norm(W - V) + rounding


def test_the_smoothness_is_attained_by_two_tokens_and_the_correlation_loss():
    """|d^2/dw^2 of s| has its maximum 1/(6 sqrt 3) at w = ln(2 + sqrt 3)."""
    data = AttentionData.of([[[1.0], [0.0]]], [[2.0]], scores=[[3.0, 0.0]])
    loss = LOSSES["correlation"]
    bound = risk_smoothness(data, loss)
    top, h = math.log(2.0 + math.sqrt(3.0)) / 2.0, 1e-4
    ends = [gradient_w(data, np.array([[top + x]]), loss)[0, 0] for x in (-h, h)]
    assert 0.999 * bound <= abs(ends[1] - ends[0]) / (2 * h) <= bound


def test_absent_tokens_do_not_enter_the_smoothness():
    """Nor do single tokens and equal scores."""
    plain = AttentionData.of([[[1.0], [0.0]]], [[2.0]], scores=[[3.0, 0.0]])
    padded = AttentionData.of(
        [[[1.0], [0.0], [99.0]]], [[2.0]], scores=[[3.0, 0.0, -99.0]], mask=[[True, True, False]]
    )
    flat = AttentionData.of([[[1.0], [0.0]]], [[2.0]], scores=[[3.0, 3.0]])
    single = AttentionData.of([[[1.0]]], [[2.0]], scores=[[3.0]])
    for loss in LOSSES.values():
        assert risk_smoothness(padded, loss) == risk_smoothness(plain, loss) > 0.0
        assert risk_smoothness(flat, loss) == risk_smoothness(single, loss) == 0.0


def test_scores_that_cancel_widen_their_range_whatever_the_signs_of_tokens():
    """The scores 0 and 1 of tokens of size 1e8 may be off by 1e-8 and more."""
    X, v = np.array([[[1e8, 1e8], [1e8 + 1.0, 1e8]]]), np.array([1.0, -1.0])
    known = AttentionData.of(X, [[1.0, 0.0]], scores=[[0.0, 1.0]])
    for sign in (1.0, -1.0):
        rounded = AttentionData.of(sign * X, [[1.0, 0.0]], y=[1], v=v)
        least = risk_smoothness(known, LOGISTIC) * (1.0 + 1e-8)
        assert risk_smoothness(rounded, LOGISTIC) > least


@pytest.mark.parametrize("name", ["log-loss", "logistic-loss"])
def test_the_smoothness_takes_suprema_over_the_line_where_there_are_any(name):
    """So scores of 31 and 30, where the log-loss hardly bends, do as well as 1 and 0."""
    near, far = (
        AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[level + 1.0, level]])
        for level in (0.0, 30.0)
    )
    loss = LOSSES[name]
    reach = 0.5 * (loss.lipschitz / (3 * math.sqrt(3.0)) + loss.smoothness / 8.0)
    assert risk_smoothness(far, loss) == risk_smoothness(near, loss)
    assert abs(risk_smoothness(far, loss) / reach - 1.0) <= 2e-9
    exponential = LOSSES["exponential"]
    assert risk_smoothness(far, exponential) < 1e-12 * risk_smoothness(near, exponential)
