"""The curve of gradient flow by arc length: closed forms, 200 bits, invariants, its own errors."""

import itertools
import math
import time

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.descent.flow import follow, follow_kq, follow_p, follow_w
from attsvm.errors import DataError
from attsvm.kernels.descent import LOSS_NUMBERS
from attsvm.kernels.field import Field, direction, room
from attsvm.losses import CORRELATION, LOG_LOSS, LOSSES
from attsvm.risk import normalised_gradient
from attsvm.svm import att_svm
from properties._support.published_data import gaussian_protocol

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


def off_ray(W, ray):
    return np.linalg.norm(W - (W * ray).sum() * ray)


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
        near, _, far = (off_ray(W, ray) for W in run.W[0, 1:])
        assert abs(far - near) <= 0.02 * near + 0.02  # slacks of 1e-3 fade like 1/norm
        slope = (run.log_time[3] - run.log_time[2]) / (run.norms[0, 3] - run.norms[0, 2])
        assert abs(slope * solution.value - 1.0) <= 1e-5
    assert seen >= 4


# against 200 bits


def exact_direction(data, W):
    """-grad of the log-loss in W over its norm, of mpmath matrices."""
    n, T, d = data.X.shape
    G = mpmath.zeros(d, d)
    for i in range(n):
        x = [[mpmath.mpf(float(e)) for e in row] for row in data.X[i]]
        z = [mpmath.mpf(float(e)) for e in data.Z[i]]
        gamma = [mpmath.mpf(float(e)) for e in data.gamma[i]]
        Wz = [sum(W[r, c] * z[c] for c in range(d)) for r in range(d)]
        a = [sum(row[r] * Wz[r] for r in range(d)) for row in x]
        e = [mpmath.exp(v - max(a)) for v in a]
        s = [v / sum(e) for v in e]
        mean = sum(p * g for p, g in zip(s, gamma, strict=True))
        slope = 1 / (1 + mpmath.exp(mean)) / n
        for t, r, c in itertools.product(range(T), range(d), range(d)):
            G[r, c] += slope * s[t] * (gamma[t] - mean) * x[t][r] * z[c]
    return G


def unit(*parts):
    size = mpmath.sqrt(sum(e**2 for part in parts for e in part))
    return [part / size for part in parts]


@pytest.mark.parametrize("data", [TIGHT, SWING], ids=["tight", "swing"])
def test_the_curve_is_that_of_200_bits(data):
    """Runge and Kutta's fourth order in 256 steps to norm 3, an error of about 1e-7."""
    W0 = np.array([[-0.25, 0.5], [-0.5, 0.125]])
    run = follow_w(data, W0, LOG_LOSS, [3.0])
    fine = follow_w(data, W0, LOG_LOSS, [3.0], tolerance=1e-8)
    with mpmath.workprec(200):
        W = mpmath.matrix(W0.tolist())

        def step(W, h):
            (k1,) = unit(exact_direction(data, W))
            (k2,) = unit(exact_direction(data, W + h / 2 * k1))
            (k3,) = unit(exact_direction(data, W + h / 2 * k2))
            (k4,) = unit(exact_direction(data, W + h * k3))
            return W + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        h = mpmath.mpf(1) / 64
        while mpmath.norm(step(W, h)) < 3:
            W = step(W, h)
        h *= mpmath.findroot(lambda f: mpmath.norm(step(W, h * f)) - 3, (0.3, 0.7), tol=1e-20)
        W = np.array(step(W, h).tolist(), dtype=float)
    assert np.linalg.norm(fine.W[0, 1] - W) <= 1e-6
    assert np.linalg.norm(run.W[0, 1] - W) <= run.error[1] + 1e-6
    assert run.error[1] <= 0.02


def autograd(data, *parameters):
    leaves = [torch.tensor(p, requires_grad=True) for p in parameters]
    W = leaves[0] if len(leaves) == 1 else leaves[0] @ leaves[1].T
    X, Z, gamma = (torch.tensor(a) for a in (data.X, data.Z, data.gamma))
    s = torch.softmax(torch.einsum("ntd,de,ne->nt", X, W, Z), dim=1)
    torch.nn.functional.softplus(-(s * gamma).sum(dim=1)).mean().backward()
    return np.concatenate([-leaf.grad.numpy().ravel() for leaf in leaves])


def cosine(a, b):
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b) / size if size > 0.0 else 0.0


def taken_by_the_curve(data, point, both, logs):
    tokens, none = np.ascontiguousarray(np.swapaxes(data.X, 1, 2)), np.empty((0, 0))
    field = Field(
        tokens, data.X.copy(), data.Z.copy(), data.gamma.copy(), np.zeros((data.n, data.T)),
        LOSS_NUMBERS["log-loss"], both, none, 0.0, none, none,
    )  # fmt: skip
    g = np.empty(point.shape)
    direction(field, room(field), point, logs, g)
    return g


@pytest.mark.parametrize("both", [False, True], ids=["W", "(K, Q)"])
def test_at_norm_1000_the_direction_is_right_where_that_of_autograd_is_not(both):
    """To 1e-12 on W, whose logits round to 1e-13; autograd's gradient has no digit left."""
    data = gaussian_protocol(np.random.default_rng(1), n=2, T=3, d=4)
    if both:
        K0, Q0 = np.random.default_rng(2).normal(size=(2, 4, 3))
        (run,) = follow_kq([data], K0, Q0, LOG_LOSS, [1000.0])
        parts = [run.K[0, -1], run.Q[0, -1]]
    else:
        run = follow_w(data, np.zeros((4, 4)), LOG_LOSS, [1000.0])
        parts = [run.W[0, -1]]
    exact = [mpmath.matrix(part.tolist()) for part in parts]
    g = normalised_gradient(data.X, data.Z, data.gamma, run.W[0, -1], LOG_LOSS).matrix
    with mpmath.workprec(2000):  # differences to e^-1000
        G = exact_direction(data, exact[0] * exact[1].T if both else exact[0])
        pulls = unit(G * exact[1], G.T * exact[0]) if both else unit(G)
        truth = np.concatenate([np.array(u.tolist(), dtype=float).ravel() for u in pulls])
    ours = np.concatenate([(g @ parts[1]).ravel(), (g.T @ parts[0]).ravel()]) if both else g.ravel()
    assert np.abs(ours / np.linalg.norm(ours) - truth).max() <= 1e-12
    point = np.concatenate(parts) if both else np.ascontiguousarray(parts[0].T)
    for logs in (False, True):
        g = taken_by_the_curve(data, point, both, logs)
        assert np.abs((g if both else g.T).ravel() - truth).max() <= 1e-12
    assert cosine(autograd(data, *parts), truth) < 0.9


# the error that is reported


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
@example(16710)
@example(118146)
def test_the_distance_to_the_curve_is_at_most_twice_the_reported_one(seed):
    data, W0, loss = instance(seed)
    run = follow_w(data, W0, loss, NORMS, steps=200000)  # stiff data outlast the default
    fine = follow_w(data, W0, loss, NORMS, tolerance=1e-7, steps=200000)
    assert len(run.steps) == len(fine.steps)
    apart = np.linalg.norm(run.W[0] - fine.W[0], axis=(1, 2))
    assert (apart <= 2.0 * run.error + fine.error).all()


@settings(max_examples=25, deadline=None)
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
    turn = [cosine(a.ravel(), b.ravel()) for a, b in itertools.pairwise(gains)]
    assert min(turn) < 0.9
    errors = []
    for tolerance in (1e-2, 1e-4, 1e-6):
        run = follow_w(SWING, np.zeros((2, 2)), LOG_LOSS, [1.0, 3.0, 10.0], tolerance=tolerance)
        apart = np.linalg.norm(run.W[0] - fine.W[0], axis=(1, 2))
        assert (apart <= 2.0 * run.error).all()
        errors.append(apart.max())
    assert errors[0] > 5.0 * errors[1] > 25.0 * errors[2]


def test_factors_come_near_those_of_a_finer_tolerance():
    for seed in range(4):
        generator = np.random.default_rng(seed)
        data = gaussian_protocol(generator, n=3, T=4, d=5)
        K0, Q0 = 0.5 * generator.normal(size=(2, 5, 3))
        (run,) = follow_kq([data], K0, Q0, LOG_LOSS, [1.0, 30.0, 1e3, 1e4])
        (fine,) = follow_kq([data], K0, Q0, LOG_LOSS, [1.0, 30.0, 1e3, 1e4], tolerance=1e-6)
        assert len(run.steps) == len(fine.steps) == 5
        squares = [((a - b) ** 2).sum(axis=(1, 2)) for a, b in
                   ((run.K[0], fine.K[0]), (run.Q[0], fine.Q[0]))]  # fmt: skip
        apart = np.sqrt(squares[0] + squares[1])
        assert (apart <= 2.0 * run.error + fine.error).all()
        assert np.array_equal(run.W[0, 1:], run.K[0, 1:] @ np.swapaxes(run.Q[0, 1:], -1, -2))


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


def test_zero_factors_stand_still_and_zero_w_does_not():
    data = gaussian_protocol(np.random.default_rng(6), n=2, T=3, d=4)
    (run,) = follow_kq([data], np.zeros((4, 2)), np.zeros((4, 2)), LOG_LOSS, [1.0, 10.0])
    assert run.steps.tolist() == [0]
    assert run.error.tolist() == [0.0]
    assert len(follow_w(data, np.zeros((4, 4)), LOG_LOSS, [1.0, 10.0]).steps) == 3


def test_a_curve_that_ends_in_a_stationary_point_ends_soon():
    """Two inputs of the same tokens want the opposite: the flow ends where both are even."""
    X = [[[1.0, 0.0], [0.0, 1.0]]] * 2
    data = AttentionData.of(X, [[1.0, 0.0]] * 2, scores=[[1.0, -1.0], [-1.0, 1.0]])
    follow_w(data, np.eye(2), LOG_LOSS, [1.0])
    begun = time.perf_counter()
    run = follow_w(data, 3.0 * np.eye(2), LOG_LOSS, [1.0, 5.0], steps=10**9)
    assert time.perf_counter() - begun < 5.0  # of 1e9 directions, 1e6 take longer
    assert run.steps.tolist() == [0]


def test_steps_that_run_out_return_what_was_reached():
    data = gaussian_protocol(np.random.default_rng(0))
    run = follow_w(data, np.zeros((10, 10)), LOG_LOSS, [1.0, 1e6], steps=60)
    assert len(run.steps) == len(run.error) == 2
    assert follow_w(data, np.zeros((10, 10)), LOG_LOSS, [1.0], steps=0).steps.tolist() == [0]


BAD = {
    "falling norms": ({"norms": [2.0, 1.0]}, "norms to pass"),
    "a negative norm": ({"norms": [-1.0]}, "norms to pass"),
    "a norm that is no number": ({"norms": [math.nan]}, "norms to pass"),
    "an infinite norm": ({"norms": [1.0, math.inf]}, "norms to pass"),
    "no tolerance": ({"tolerance": 0.0}, "tolerance"),
    "a tolerance that is no number": ({"tolerance": math.nan}, "tolerance"),
    "a coarse tolerance": ({"tolerance": 0.5}, "tolerance"),
    "negative steps": ({"steps": -1}, "number of steps"),
    "no thread": ({"threads": 0}, "number of threads"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=list(BAD))
def test_bad_input_is_refused(change, message):
    options = {"norms": [1.0], **change}
    start = np.eye(2)
    for call in (
        lambda **o: follow([PAIR], start, LOG_LOSS, **o),
        lambda **o: follow_p([PAIR], start[0], LOG_LOSS, **o),
        lambda **o: follow_kq([PAIR], start, start, LOG_LOSS, **o),
    ):
        with pytest.raises(DataError, match=message) as caught:
            call(**options)
        assert caught.value.remedy


def test_starts_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="W0"):
        follow([PAIR], np.zeros((3, 2)), LOG_LOSS, [1.0])
    with pytest.raises(DataError, match="p0"):
        follow_p([PAIR], np.zeros(3), LOG_LOSS, [1.0])
    with pytest.raises(DataError, match="Q0"):
        follow_kq([PAIR], np.zeros((2, 3)), np.zeros((2, 2)), LOG_LOSS, [1.0])
