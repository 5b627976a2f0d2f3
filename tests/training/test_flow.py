"""The curve of gradient flow by arc length: closed forms, 200 bits, invariants, its own errors."""

import itertools
import math
import time
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.kernels.descent import LOSS_NUMBERS
from attsvm.kernels.field import Field, direction, room
from attsvm.losses import CORRELATION, LOG_LOSS, LOGISTIC_LOSS, LOSSES
from attsvm.plots import heading
from attsvm.risk import normalised_gradient
from attsvm.svm import att_svm
from attsvm.training.flow import follow, follow_kq, follow_p, follow_w
from properties._support.published_data import gaussian_protocol
from tests import autograd
from tests.interpreted import interpreted

EPS = np.finfo(float).eps
NORMS = [1.0, 5.0, 20.0, 100.0, 1000.0, 1e5]
PAIR = AttentionData.of([[[0.6, 0.8], [0.0, 0.0]]], [[0.0, 2.0]], scores=[[1.5, -1.0]])
# first towards the second token, whose rival is far below; the first then takes over
SWING = AttentionData.of(
    [[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]], [[3.0, 0.0]], scores=[[1.0, 0.9, -9.0]]
)
TIGHT = AttentionData.of(
    [[[0.0, 0.0], [-1.0, 0.0], [-1.0, -1.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0, 0.0]]
)


def random_data(generator):
    """The Gaussian protocol at sizes up to (6, 8, 10)."""
    return gaussian_protocol(
        generator, *(int(generator.integers(1, top + 1)) for top in (6, 8, 10))
    )


def instance(seed):
    """Random sizes, scores, starts and losses."""
    generator = np.random.default_rng(seed)
    data = random_data(generator)
    size = generator.choice([0.0, 0.3, 1.0, 3.0])
    W0 = size * generator.normal(size=(data.d, data.d))
    return data, W0, list(LOSSES.values())[seed % len(LOSSES)]


# closed forms


def test_one_pair_is_a_straight_line_and_its_time_is_known():
    """With m = <A, W> the flow is dm/dt = |A|^2 D s (1 - s), so that |A|^2 D t = 2 m + 2 sinh m."""
    A, D = np.outer([0.6, 0.8], [0.0, 2.0]), 2.5
    run = follow_w(PAIR, np.zeros((2, 2)), CORRELATION, [0.5, 2.0, 5.0, 300.0, 1e6])
    for W, norm, when in zip(run.W[0, 1:], run.norms[0, 1:], run.log_time[1:], strict=True):
        assert np.abs(W - norm * A / 2.0).max() <= 8 * EPS * norm
        m = 2.0 * norm
        truth = m + math.log(-math.expm1(-2 * m) + 2 * m * math.exp(-m)) - math.log(4.0 * D)
        assert abs(when - truth) <= 2e-4 + 8 * EPS * m
    assert run.error[0] == 0.0
    assert (run.error[1:] <= 1e-3).all()


@pytest.mark.parametrize("loss", [LOG_LOSS, LOGISTIC_LOSS, CORRELATION], ids=lambda x: x.name)
def test_the_curve_ends_in_the_direction_of_the_solution(loss):
    """With margins m_1, m_2 the flow is dm_1 ~ e^-m_1, dm_2 ~ 2 e^-m_2, so m_2 - m_1 -> ln 2.

    W therefore keeps the distance ln 2 / sqrt 2 to the ray of W^mm = (1, 1): at norm N the sine
    is that over N.
    """
    data = AttentionData.of([-np.eye(3)[:, 1:]], [[1.0, 0.0]], scores=[[1.0, 0.0, -1.0]])
    solution = att_svm(data)
    run = follow_w(data, np.zeros((2, 2)), loss, [100.0, 1000.0])
    assert solution.W.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    for W, norm in zip(run.W[0, 1:], run.norms[0, 1:], strict=True):
        assert abs(W[1, 0] - W[0, 0] - math.log(2.0)) <= 8 * EPS * norm
        cosine = (W * solution.W).sum() / (norm * solution.value)
        assert abs(cosine - math.sqrt(1.0 - math.log(2.0) ** 2 / (2.0 * norm**2))) <= 8 * EPS


def test_a_tight_constraint_without_a_multiplier_leaves_the_ray_like_a_logarithm():
    """W z = (x, y) has dy/dx = e^-y / (1 + e^-y) once saturated, so e^y + y - x stays."""
    run = follow_w(TIGHT, np.zeros((2, 2)), LOG_LOSS, [1e2, 1e3, 1e4, 1e6])
    assert run.norms[0, -1] >= 1e6
    x, y = run.W[0, 1:, 0, 0], run.W[0, 1:, 1, 0]
    constant = np.exp(y[0]) + y[0] - x[0]
    for a, b, error in zip(x[1:], y[1:], run.error[2:], strict=True):
        assert abs(b - math.log(a - b + constant)) <= 2.0 * (error + run.error[1])
    assert y[-1] > 13.0
    assert run.error[-1] <= 1e-2


def test_far_out_the_ray_is_kept_and_time_grows_at_its_rate():
    """log t grows by 1 / ||W^mm|| per unit of the norm; the distance to the ray stays.

    Of the protocol's sets those that attend to their optimal tokens in the end, the others being
    in another basin.
    """
    seen = 0
    for seed in range(12):
        data = gaussian_protocol(np.random.default_rng(seed))
        solution = att_svm(data)
        ray = solution.W / solution.value
        run = follow_w(data, np.zeros((10, 10)), LOG_LOSS, [1e4, 1e5, 1e6])
        logits = logits_of_w(data.X, data.Z, run.W[0, -1])
        if (logits.argmax(axis=1) != data.gamma.argmax(axis=1)).any():
            continue
        seen += 1
        near, _, far = heading(run.W[0, 1:], ray).residual
        assert abs(far - near) <= 0.02 * near + 0.02  # slacks of 1e-3 fade like 1/norm
        slope = (run.log_time[3] - run.log_time[2]) / (run.norms[0, 3] - run.norms[0, 2])
        assert abs(slope * solution.value - 1.0) <= 1e-5
    assert seen >= 4


# against 200 bits


def exact_direction(data, W):
    """-grad of the log-loss in W up to a factor, of arrays of mpmath numbers."""
    exact, G = np.vectorize(mpmath.mpf, otypes=[object]), 0
    for x, z, gamma in zip(*map(exact, (data.X, data.Z, data.gamma)), strict=True):
        a = x @ (W @ z)
        e = np.array([mpmath.exp(v - max(a)) for v in a], dtype=object)
        s = e / e.sum()
        mean = s @ gamma
        G = G + np.outer(x.T @ (s * (gamma - mean)), z) / (1 + mpmath.exp(mean))
    return G


def unit(G):
    return G / mpmath.sqrt((G * G).sum())


@pytest.mark.parametrize("data", [TIGHT, SWING], ids=["tight", "swing"])
def test_the_curve_is_that_of_200_bits(data):
    """Runge and Kutta's fourth order in 256 steps to norm 3, an error of about 1e-7."""
    W0 = np.array([[-0.25, 0.5], [-0.5, 0.125]])
    run = follow_w(data, W0, LOG_LOSS, [3.0])
    fine = follow_w(data, W0, LOG_LOSS, [3.0], tolerance=1e-8)

    def step(W, h):
        k1 = unit(exact_direction(data, W))
        k2 = unit(exact_direction(data, W + h / 2 * k1))
        k3 = unit(exact_direction(data, W + h / 2 * k2))
        k4 = unit(exact_direction(data, W + h * k3))
        return W + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def size(W):
        return mpmath.sqrt((W * W).sum())

    with mpmath.workprec(200):
        W, h = np.vectorize(mpmath.mpf, otypes=[object])(W0), mpmath.mpf(1) / 64
        while size(ahead := step(W, h)) < 3:
            W = ahead
        h *= mpmath.findroot(lambda f: size(step(W, h * f)) - 3, (0.3, 0.7), tol=1e-20)
        W = step(W, h).astype(float)
    assert np.linalg.norm(fine.W[0, 1] - W) <= 1e-6
    assert np.linalg.norm(run.W[0, 1] - W) <= run.error[1] + 1e-6
    assert run.error[1] <= 0.02


@pytest.mark.parametrize("both", [False, True], ids=["W", "(K, Q)"])
def test_at_norm_1000_the_direction_is_right_where_that_of_autograd_is_not(both):
    """To 1e-12 on W, whose logits round to 1e-13; autograd's gradient has no digit left."""
    data = gaussian_protocol(np.random.default_rng(1), n=2, T=3, d=4)
    if both:
        K0, Q0 = np.random.default_rng(2).normal(size=(2, 4, 3))
        (run,) = follow_kq([data], K0, Q0, LOG_LOSS, [1000.0])
        K, Q = parts = [run.K[0, -1], run.Q[0, -1]]
        point = np.concatenate(parts)
    else:
        run = follow_w(data, np.zeros((4, 4)), LOG_LOSS, [1000.0])
        parts = [run.W[0, -1]]
        point = np.ascontiguousarray(parts[0].T)
    with mpmath.workprec(2000):  # differences to e^-1000
        exact = [np.vectorize(mpmath.mpf, otypes=[object])(part) for part in parts]
        G = exact_direction(data, exact[0] @ exact[1].T if both else exact[0])
        G = unit(np.concatenate([G @ exact[1], G.T @ exact[0]]) if both else G).astype(float)
    g = normalised_gradient(data.X, data.Z, data.gamma, run.W[0, -1], LOG_LOSS).matrix
    ours = np.concatenate([g @ Q, g.T @ K]) if both else g
    assert np.abs(ours / np.linalg.norm(ours) - G).max() <= 1e-12
    tokens, none = np.ascontiguousarray(np.swapaxes(data.X, 1, 2)), np.empty((0, 0))
    field = Field(
        tokens, data.X.copy(), data.Z.copy(), data.gamma.copy(), np.zeros((data.n, data.T)),
        LOSS_NUMBERS["log-loss"], both, none, 0.0, none, none,
    )  # fmt: skip
    for logs in (False, True):
        taken = np.empty(point.shape)
        interpreted(direction)(field, interpreted(room)(field), point, logs, taken)
        assert np.abs((taken if both else taken.T) - G).max() <= 1e-12
    naive = -np.array(autograd.gradients(data, "log-loss", "KQ" if both else "W", *parts))
    assert (naive.ravel() @ G.ravel()) < 0.9 * max(np.linalg.norm(naive), 1e-300)


# the error that is reported


def parts(run):
    return run.W[0] if run.K is None else np.concatenate([run.K[0], run.Q[0]], axis=1)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
@example(16710, False)
@example(118146, False)
def test_the_distance_to_the_curve_is_at_most_twice_the_reported_one(seed, both):
    data, W0, loss = instance(seed)
    if both:
        K0, Q0 = 0.5 * np.random.default_rng(seed).normal(size=(2, data.d, 3))
        norms = NORMS[:5]

        def follow_to(tolerance):
            how = {"tolerance": tolerance, "steps": 200000}
            return follow_kq([data], K0, Q0, LOG_LOSS, norms, **how)[0]

    else:

        def follow_to(tolerance):  # stiff data outlast the default
            return follow_w(data, W0, loss, NORMS, tolerance=tolerance, steps=200000)

    run, fine = follow_to(1e-4), follow_to(1e-6 if both else 1e-7)
    assert len(run.steps) == len(fine.steps)
    apart = np.linalg.norm(parts(run) - parts(fine), axis=(1, 2))
    assert (apart <= 2.0 * run.error + fine.error).all()
    if both:
        assert np.array_equal(run.W[0, 1:], run.K[0, 1:] @ np.swapaxes(run.Q[0, 1:], -1, -2))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1e-3, 0.3, 1.0]))
def test_factors_keep_their_invariant_to_what_is_reported(seed, size):
    """K^T K - Q^T Q is constant along the flow: |drift| <= 2 |(K, Q)| error + error^2."""
    generator = np.random.default_rng(seed)
    data = random_data(generator)
    K0, Q0 = size * generator.normal(size=(2, data.d, int(generator.integers(1, 5))))
    (run,) = follow_kq([data], K0, Q0, LOG_LOSS, NORMS[:5])
    start = K0.T @ K0 - Q0.T @ Q0
    for K, Q, error in zip(run.K[0], run.Q[0], run.error, strict=True):
        drift = np.linalg.norm(K.T @ K - Q.T @ Q - start)
        both = math.hypot(np.linalg.norm(K), np.linalg.norm(Q))
        assert drift <= 2.0 * (2.0 * both * error + error**2)


def test_a_sharp_turn_is_followed_and_the_tolerance_counts():
    fine = follow_w(SWING, np.zeros((2, 2)), LOG_LOSS, [1.0, 3.0, 10.0], tolerance=1e-9)
    gains = np.diff(fine.W[0], axis=0)
    gains /= np.linalg.norm(gains, axis=(1, 2), keepdims=True)
    turn = [(a * b).sum() for a, b in itertools.pairwise(gains)]
    assert min(turn) < 0.9
    errors = []
    for tolerance in (1e-2, 1e-4, 1e-6):
        run = follow_w(SWING, np.zeros((2, 2)), LOG_LOSS, [1.0, 3.0, 10.0], tolerance=tolerance)
        apart = np.linalg.norm(run.W[0] - fine.W[0], axis=(1, 2))
        assert (apart <= 2.0 * run.error).all()
        errors.append(apart.max())
    assert errors[0] > 5.0 * errors[1] > 25.0 * errors[2]


def test_without_companions_the_curve_is_the_same_and_its_error_is_infinite():
    start, norms = np.zeros((2, 2)), [1.0, 3.0]
    alone = follow_w(SWING, start, LOG_LOSS, norms, measured=False)
    measured = follow_w(SWING, start, LOG_LOSS, norms)
    assert (alone.W == measured.W).all()
    assert alone.error.tolist() == [0.0, math.inf, math.inf]
    assert np.isfinite(measured.error).all()


# reaching, ending, refusing


def test_every_protocol_set_reaches_a_million_within_few_steps():
    sets = [gaussian_protocol(np.random.default_rng(seed)) for seed in range(20)]
    runs = follow(sets, np.zeros((10, 10)), LOG_LOSS, [1e6])
    assert all(len(run.steps) == 2 and run.steps[-1] <= 10000 for run in runs)
    for run in runs:
        assert 1e6 <= run.norms[0, -1] <= 1e6 * (1.0 + 1e-13)
        assert run.error[-1] <= 0.1


@pytest.mark.parametrize("size", [1e2, 1e4, 1e6])
def test_starts_far_out_are_followed(size):
    """Every input has chosen some token, and keeps to it or turns; 3 of 10 at least get on."""
    reached = 0
    for seed in range(10):
        data = gaussian_protocol(np.random.default_rng(seed), n=3, T=4, d=5)
        W0 = np.random.default_rng(seed).normal(size=(5, 5))
        W0 *= size / np.linalg.norm(W0)
        run = follow_w(data, W0, LOG_LOSS, [2.0 * size])
        assert np.array_equal(run.W[0, 0], W0)
        reached += len(run.steps) == 2
    assert reached >= 3


def test_the_points_do_not_depend_on_the_norms_that_are_asked():
    data, W0, loss = instance(7)
    run = follow_w(data, W0, loss, NORMS)
    for k, norm in enumerate(NORMS):
        alone = follow_w(data, W0, loss, [norm])
        assert np.array_equal(alone.W[0, 1], run.W[0, 1 + k])
        assert alone.log_time[1] == run.log_time[1 + k]


def test_a_prompt_is_w_on_a_single_query_coordinate():
    data = gaussian_protocol(np.random.default_rng(3), n=3, T=4, d=5)
    p0 = np.random.default_rng(4).normal(size=5)
    flat = AttentionData(data.X, np.ones((3, 1)) @ np.eye(1, 5), scores=data.gamma)
    (prompt,) = follow_p([data], p0, LOG_LOSS, NORMS)
    W0 = np.zeros((5, 5))
    W0[:, 0] = p0
    matrix = follow_w(flat, W0, LOG_LOSS, NORMS)
    assert prompt.W.shape == (1, 7, 5)
    apart = np.linalg.norm(prompt.W[0] - matrix.W[0, :, :, 0], axis=1)
    assert (apart <= 1e3 * EPS * (1.0 + prompt.norms[0])).all()
    assert np.abs(prompt.log_time[1:] - matrix.log_time[1:]).max() <= 1e-6


def test_any_batch_and_any_number_of_threads_give_the_same_bits():
    sets = [gaussian_protocol(np.random.default_rng(seed), 3, 4, 5) for seed in range(4)]
    K, Q = np.random.default_rng(5).normal(size=(2, 4, 5, 2))
    for run in (
        lambda s, k, **o: follow(s, K[k] @ np.swapaxes(Q[k], -1, -2), LOG_LOSS, [9.0, 2e3], **o),
        lambda s, k, **o: follow_p(s, K[k][..., 0], LOG_LOSS, [9.0, 2e3], **o),
        lambda s, k, **o: follow_kq(s, K[k], Q[k], LOG_LOSS, [9.0, 2e3], **o),
    ):
        together = run(sets, slice(None))
        for other in (run(sets, slice(None), threads=3),
                      [run([sets[k]], slice(k, k + 1))[0] for k in range(4)]):  # fmt: skip
            for a, b in zip(together, other, strict=True):
                assert len(a.steps) == 3
                assert np.array_equal(a.W, b.W)
                assert np.array_equal(a.log_time, b.log_time)
                assert np.array_equal(a.error, b.error)


def test_absent_tokens_play_no_part():
    data = gaussian_protocol(np.random.default_rng(8), n=3, T=4, d=5)
    mask = np.ones((3, 4), dtype=bool)
    mask[:, 3] = False
    masked = AttentionData(data.X, data.Z, y=data.y, v=data.v, mask=mask)
    short = AttentionData(data.X[:, :3], data.Z, y=data.y, v=data.v)
    K, Q = 0.5 * np.random.default_rng(9).normal(size=(2, 5, 2))
    for call in (
        lambda s: follow_w(s, K @ Q.T, LOG_LOSS, NORMS),
        lambda s: follow_kq([s], K, Q, LOG_LOSS, NORMS[:5])[0],
    ):
        a, b = call(masked), call(short)
        assert len(a.steps) == len(b.steps) >= 6
        apart = np.linalg.norm(a.W[0] - b.W[0], axis=(1, 2))
        # units differ, as an absent token counts there; W is a product of factors of |W|^(1/2)
        bound = (
            2.0 * (a.error + b.error) * (1.0 if a.K is None else 4.0 * (1.0 + a.norms[0]) ** 0.5)
        )
        assert (apart <= bound).all()


def test_starts_without_a_gradient_return_at_once():
    """Zero factors, from which W = 0 does move, and equal scores."""
    data = gaussian_protocol(np.random.default_rng(6), n=2, T=3, d=4)
    flat = AttentionData(data.X, data.Z, scores=np.ones((2, 3)))
    (still,) = follow_kq([data], np.zeros((4, 2)), np.zeros((4, 2)), LOG_LOSS, [1.0, 10.0])
    for run in (still, follow_w(flat, np.eye(4), LOG_LOSS, [10.0])):
        assert run.steps.tolist() == [0]
        assert run.error.tolist() == [0.0]
    assert len(follow_w(data, np.zeros((4, 4)), LOG_LOSS, [1.0, 10.0]).steps) == 3


def test_a_curve_that_ends_in_a_stationary_point_ends_soon():
    """Two inputs of the same tokens want the opposite: the flow ends where both are even."""
    X = [[[1.0, 0.0], [0.0, 1.0]]] * 2
    data = AttentionData.of(X, [[1.0, 0.0]] * 2, scores=[[1.0, -1.0], [-1.0, 1.0]])
    follow_w(data, np.eye(2), LOG_LOSS, [1.0])
    begun = time.process_time()
    run = follow_w(data, 3.0 * np.eye(2), LOG_LOSS, [1.0, 5.0], steps=10**9)
    assert time.process_time() - begun < 5.0  # of 1e9 directions, 1e6 take longer
    assert run.steps.tolist() == [0]


def test_steps_that_run_out_return_what_was_reached():
    data = gaussian_protocol(np.random.default_rng(0))
    run = follow_w(data, np.zeros((10, 10)), LOG_LOSS, [1.0, 1e6], steps=60)
    assert len(run.steps) == len(run.error) == 2
    assert follow_w(data, np.zeros((10, 10)), LOG_LOSS, [1.0], steps=0).steps.tolist() == [0]
    for steps in (1, 2):  # the first evaluation is at the start, and no step is made after the last
        run = follow_w(data, np.zeros((10, 10)), LOG_LOSS, [1e-6], steps=steps)
        assert len(run.steps) == steps


def test_the_start_is_where_the_norm_0_is_passed():
    data = gaussian_protocol(np.random.default_rng(0))
    run = follow_w(data, np.zeros((10, 10)), LOG_LOSS, [0.0, 1.0])
    np.testing.assert_allclose(run.norms, [[0.0, 0.0, 1.0]], rtol=1e-9)
    assert run.steps.tolist()[0] == 0


EYE = np.eye(2)
REFUSED = [
    *(({"norms": norms}, "norms to pass") for norms in
      ([2.0, 1.0], [-1.0], [math.nan], [1.0, math.inf])),
    *(({"tolerance": tolerance}, "tolerance") for tolerance in (0.0, math.nan, 0.5)),
    ({"steps": -1}, "number of steps"),
    ({"threads": 0}, "number of threads"),
    ({"loss": replace(LOG_LOSS, name="mine")}, "losses of this package"),
]  # fmt: skip
RUNS = {
    "W0": (follow, [EYE], [np.zeros((3, 2))]),
    "p0": (follow_p, [EYE[0]], [np.zeros(3)]),
    "Q0": (follow_kq, [EYE, EYE], [np.zeros((2, 3)), EYE]),
}


@pytest.mark.parametrize("name", RUNS)
def test_bad_input_is_refused(name):
    run, start, wrong = RUNS[name]
    for change, message in REFUSED:
        options = {"loss": LOG_LOSS, "norms": [1.0]} | change
        with pytest.raises(DataError, match=message) as caught:
            run([PAIR], *start, **options)
        assert caught.value.remedy
    with pytest.raises(DataError, match=name):
        run([PAIR], *wrong, LOG_LOSS, [1.0])
