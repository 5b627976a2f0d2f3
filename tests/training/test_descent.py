"""Descent against plain autograd loops, and along the curve of descent to large norms."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.descent import (
    descend_kq,
    descend_p,
    descend_w,
    follow,
    follow_w,
    normalised_descent_w,
    stack,
)
from attsvm.errors import DataError
from attsvm.losses import CORRELATION, LOG_LOSS, LOGISTIC_LOSS, LOSSES
from attsvm.risk import gradient_kq, gradient_w, normalised_gradient, risk
from attsvm.strategies import arrays
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm
from properties._support.published_data import gaussian_protocol, one_input

EPS = np.finfo(float).eps
NAMES = st.sampled_from(sorted(LOSSES))
TORCH = {
    "logistic": torch.sigmoid,
    "logistic-loss": lambda u: torch.sigmoid(-u),
    "log-loss": lambda u: torch.logaddexp(torch.zeros_like(u), -u),
    "exponential": lambda u: torch.exp(-u),
    "correlation": lambda u: -u,
    "squared": lambda u: (1 - u) ** 2,
}


def protocol(seed, n=3, T=4, d=5, masked=False):
    generator = np.random.default_rng(seed)
    data = gaussian_protocol(generator, n=n, T=T, d=d)
    if not masked:
        return data
    mask = generator.random((n, T)) < 0.7
    mask[:, 0] = True
    return AttentionData(data.X, data.Z, y=data.y, v=data.v, mask=mask)


def sgd(data, name, make_logits, product, parameters, step, steps):
    """The loop that everyone writes: autograd and torch.optim.SGD."""
    leaves = [torch.tensor(p, requires_grad=True) for p in parameters]
    optimiser = torch.optim.SGD(leaves, lr=step)
    X, Z, gamma = (torch.tensor(a) for a in (data.X, data.Z, data.gamma))
    present = torch.tensor(data.present)
    rows = [product(*leaves)]
    for _ in range(steps):
        optimiser.zero_grad()
        logits = torch.where(present, make_logits(X, Z, *leaves), -torch.inf)
        s = torch.softmax(logits, dim=1)
        TORCH[name]((s * gamma).sum(dim=1)).mean().backward()
        optimiser.step()
        rows.append(product(*leaves))
    return torch.stack(rows).detach().numpy()


def in_w(X, Z, W):
    return torch.einsum("ntd,de,ne->nt", X, W, Z)


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("masked", [False, True])
def test_descent_on_w_is_the_autograd_loop(name, masked):
    """40 steps of size 1 add up 40 roundings, far below 1e-10."""
    data = protocol(11, masked=masked)
    W0 = np.random.default_rng(12).normal(size=(5, 5))
    run = descend_w([data], W0, LOSSES[name], step=1.0, steps=40)
    truth = sgd(data, name, in_w, lambda W: W.clone(), [W0], 1.0, 40)
    assert run.steps.tolist() == list(range(41))
    assert np.abs(run.W[0] - truth).max() <= 1e-10
    assert np.abs(run.norms[0] - np.linalg.norm(truth, axis=(1, 2))).max() <= 1e-10
    assert np.abs(run.W[0, -1] - W0).max() > 1e-3  # it moved


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_descent_on_k_and_q_is_the_autograd_loop(name):
    data = protocol(13)
    K0, Q0 = np.random.default_rng(14).normal(size=(2, 5, 3)) / 2
    run = descend_kq([data], K0, Q0, LOSSES[name], step=0.5, steps=40)

    def logits(X, Z, K, Q):
        return torch.einsum("ntr,nr->nt", X @ K, Z @ Q)

    truth = sgd(data, name, logits, lambda K, Q: K @ Q.T, [K0, Q0], 0.5, 40)
    assert np.abs(run.W[0] - truth).max() <= 1e-10
    assert np.abs(run.W[0, -1] - run.W[0, 0]).max() > 1e-3


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_descent_on_a_prompt_is_the_autograd_loop(name):
    data = protocol(15)
    p0 = np.random.default_rng(16).normal(size=5)
    run = descend_p([data], p0, LOSSES[name], step=0.5, steps=40)
    truth = sgd(data, name, lambda X, Z, p: X @ p, lambda p: p.clone(), [p0], 0.5, 40)
    assert run.W.shape == (1, 41, 5)
    assert np.abs(run.W[0] - truth).max() <= 1e-10
    assert np.abs(run.W[0, -1] - p0).max() > 1e-3


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_one_step_goes_against_the_gradient(data, name, draw):
    """To rounding of the scale: a slope of up to e^12 times tokens and queries of size 4."""
    W0 = draw.draw(arrays(data.d, data.d)) / 8
    if data.scores is None:
        data = AttentionData(data.X, data.Z, scores=np.clip(data.gamma, -4.0, 4.0))
    loss = LOSSES[name]
    G = gradient_w(data, W0, loss)
    run = descend_w([data], W0, loss, step=0.25, steps=1)
    slopes = np.abs(loss.slope(np.array([-4.0, 4.0]))).max() + 1.0
    bound = 2000 * EPS * slopes * np.abs(data.X).max() * np.abs(data.Z).max() + EPS
    assert np.abs(run.W[0, 1] - (W0 - 0.25 * G)).max() <= bound


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, st.sampled_from([0.0, 1.0, 1e3]), st.data())
def test_normalised_steps_have_the_length_of_the_step_or_stand_still(data, name, size, draw):
    W0 = size * draw.draw(arrays(data.d, data.d))
    run = normalised_descent_w([data], W0, LOSSES[name], step=0.5, steps=5)
    lengths = np.linalg.norm(np.diff(run.W[0], axis=0), axis=(1, 2))
    rounding = 8 * EPS * (run.norms[0][1:] + 1.0)
    moved = np.abs(lengths - 0.5) <= rounding
    assert (moved | (lengths == 0.0)).all()
    assert (np.diff(moved.astype(int)) <= 0).all()  # whoever stands still stays


def test_a_normalised_step_far_out_still_has_its_length():
    """At a margin of 1e5 the gradient underflows and plain descent stands still for ever."""
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    W0 = np.array([[1e5]])
    assert normalised_descent_w([data], W0, LOG_LOSS, step=0.5, steps=4).W[0, -1, 0, 0] == 1e5 + 2
    assert descend_w([data], W0, LOG_LOSS, step=0.5, steps=4).W[0, -1, 0, 0] == 1e5


@settings(max_examples=200, deadline=None)
@given(
    attention_data(n=(1, 3), T=(1, 4), d=(1, 3)), NAMES, st.sampled_from([0, 3, 8, 20]), st.data()
)
def test_a_loop_and_the_log_domain_gradient_point_the_same_way(data, name, power, draw):
    """Starts up to norms of 1e6, ties and repeated tokens included.

    Terms of the pull are known to some roundings of their own size, so the two may differ by that
    over what is left after they cancel; the reference says how much is left.
    """
    W = draw.draw(arrays(data.d, data.d)) * 2.0**power
    g = normalised_gradient(data.X, data.Z, data.gamma, W, LOSSES[name], data.mask)
    size = np.linalg.norm(g.matrix)
    step = 2.0**power  # of the size of W, so that the difference keeps its digits
    run = descend_w([data], W, LOSSES[name], step=step, steps=1, normalised=True)
    moved = (run.W[0, 1] - W) / step
    if not np.isfinite(g.log_scale):
        assert not moved.any()
        return
    # the logits, up to |X| |W| |z|, enter through their exponentials
    logit = np.abs(data.X).max() * np.abs(data.Z).max() * np.abs(W).max() * data.d**2
    unit = 64 * EPS * (1.0 + logit)
    assert np.abs(moved - g.matrix / size).max() <= unit * (1.0 + 1.0 / size)


def test_any_number_of_threads_and_any_batch_give_the_same_bits():
    sets = [protocol(seed) for seed in range(5)]
    starts_ = np.random.default_rng(3).normal(size=(5, 5, 5))
    K, Q = np.random.default_rng(4).normal(size=(2, 5, 5, 2))
    for run in (
        lambda s, k, **o: descend_w(s, starts_[k], LOG_LOSS, step=0.3, steps=30, **o).W,
        lambda s, k, **o: descend_p(s, starts_[k, 0], LOG_LOSS, step=0.3, steps=30, **o).W,
        lambda s, k, **o: descend_kq(s, K[k], Q[k], LOG_LOSS, step=0.3, steps=30, **o).W,
        lambda s, k, **o: np.stack(
            [r.W[0] for r in follow(s, starts_[k], LOG_LOSS, [20.0, 200.0], **o)]
        ),
    ):
        together = run(sets, slice(None))
        assert np.array_equal(run(sets, slice(None), threads=3), together)
        for k in range(5):
            assert np.array_equal(run([sets[k]], slice(k, k + 1))[0], together[k])


def test_threads_below_one_are_refused():
    with pytest.raises(DataError, match="number of threads"):
        descend_w([DATA], ZERO, LOG_LOSS, step=1.0, steps=1, threads=0)


def test_a_loss_of_your_own_runs_in_numpy_and_as_the_same_loss_of_the_package_does():
    own = replace(LOG_LOSS, name="mine")
    data, W0 = protocol(5), np.random.default_rng(5).normal(size=(5, 5))
    K0, Q0 = np.random.default_rng(6).normal(size=(2, 5, 3))
    for normalised in (False, True):
        options = {"step": 0.1, "steps": 50, "normalised": normalised}
        for ours, theirs in (
            (descend_w([data], W0, own, **options), descend_w([data], W0, LOG_LOSS, **options)),
            (
                descend_p([data], W0[0], own, **options),
                descend_p([data], W0[0], LOG_LOSS, **options),
            ),
        ):
            assert np.abs(ours.W - theirs.W).max() <= 1e4 * EPS * np.abs(theirs.W).max()
        run = descend_kq([data], K0, Q0, LOG_LOSS, **options)
        for k in range(0, 50, 7):  # step by step, as long steps may swing and grow what differs
            K, Q = run.K[0, k], run.Q[0, k]
            ours = descend_kq([data], K, Q, own, **{**options, "steps": 1})
            theirs = descend_kq([data], K, Q, LOG_LOSS, **{**options, "steps": 1})
            assert np.abs(ours.W - theirs.W).max() <= 1e3 * EPS * np.abs(theirs.W).max()
            assert np.abs(ours.W[0, 1] - ours.W[0, 0]).max() > 1e-3
    with pytest.raises(DataError, match="losses of this package"):
        follow([data], W0, own, [10.0])


@pytest.mark.parametrize("rank", [1, 2, 7])
def test_factors_of_any_width_keep_what_the_data_do_not_see(rank):
    """Few inputs in many dimensions: most of K and Q is orthogonal to all tokens and queries."""
    data = protocol(7, n=1, T=2, d=6)
    K0, Q0 = np.random.default_rng(8).normal(size=(2, 6, rank))
    run = descend_kq([data], K0, Q0, LOG_LOSS, step=0.5, steps=20)
    K, Q = K0, Q0
    for _ in range(20):
        in_k, in_q = gradient_kq(data, K, Q, LOG_LOSS)
        K, Q = K - 0.5 * in_k, Q - 0.5 * in_q
    assert np.abs(run.K[0, -1] - K).max() <= 1e3 * EPS * np.abs(K).max()
    assert np.abs(run.Q[0, -1] - Q).max() <= 1e3 * EPS * np.abs(Q).max()
    assert np.array_equal(run.W[0, -1], run.K[0, -1] @ run.Q[0, -1].T)


@pytest.mark.parametrize("method", [descend_w, normalised_descent_w])
def test_a_batch_runs_as_its_parts_do(method):
    sets = [protocol(seed, masked=seed % 2 == 0) for seed in range(6)]
    starts = np.random.default_rng(17).normal(size=(6, 5, 5))
    both = method(sets, starts, LOG_LOSS, step=0.5, steps=20)
    for b, data in enumerate(sets):
        alone = method([data], starts[b], LOG_LOSS, step=0.5, steps=20)
        # 20 steps in which sums may be ordered otherwise
        assert np.abs(both.W[b] - alone.W[0]).max() <= 20 * 64 * EPS
    common = method(sets, starts[0], LOG_LOSS, step=0.5, steps=1)
    assert np.array_equal(common.W[:, 0], np.repeat(starts[:1], 6, axis=0))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4))
def test_the_chosen_steps_are_kept_with_the_first_and_the_last(steps, chosen):
    data = one_input()
    record = [k for k in chosen if k <= steps]
    run = descend_w([data], np.zeros((2, 2)), LOG_LOSS, step=1.0, steps=steps, record=record)
    everything = descend_w([data], np.zeros((2, 2)), LOG_LOSS, step=1.0, steps=steps)
    assert run.steps.tolist() == sorted({0, steps, *record})
    assert everything.steps.tolist() == list(range(steps + 1))
    assert np.array_equal(run.W[0], everything.W[0, run.steps])
    assert np.array_equal(run.norms, np.linalg.norm(run.W, axis=(2, 3)))


def test_small_steps_lower_the_risk():
    data = protocol(18)
    run = descend_w([data], np.zeros((5, 5)), LOGISTIC_LOSS, step=0.5, steps=50)
    values = [risk(data, W, LOGISTIC_LOSS) for W in run.W[0]]
    assert all(b < a for a, b in itertools.pairwise(values))


# what is refused

DATA = protocol(19)
ZERO = np.zeros((5, 5))
RUNS = {
    "w": lambda step, steps: descend_w([DATA], ZERO, LOG_LOSS, step=step, steps=steps),
    "normalised": lambda step, steps: normalised_descent_w(
        [DATA], ZERO, LOG_LOSS, step=step, steps=steps
    ),
    "kq": lambda step, steps: descend_kq(
        [DATA], np.zeros((5, 2)), np.zeros((5, 2)), LOG_LOSS, step=step, steps=steps
    ),
    "p": lambda step, steps: descend_p([DATA], np.zeros(5), LOG_LOSS, step=step, steps=steps),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))
@pytest.mark.parametrize("step", [0.0, -0.5, math.nan, math.inf, -math.inf])
def test_a_step_that_is_not_positive_and_finite_is_refused(run, step):
    with pytest.raises(DataError, match="step must be positive and finite") as caught:
        run(step, 3)
    assert repr(step) in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))
def test_a_negative_number_of_steps_is_refused_and_none_is_the_start(run):
    with pytest.raises(DataError, match="number of steps is negative") as caught:
        run(0.5, -1)
    assert caught.value.value == -1
    start = run(0.5, 0)
    assert start.steps.tolist() == [0]
    assert start.W.shape[1] == 1
    assert not start.W.any()


@pytest.mark.parametrize("record", [[4], [-1], [0, 7]])
def test_steps_that_are_not_taken_cannot_be_recorded(record):
    with pytest.raises(DataError, match=r"recorded steps must lie in 0\.\.3"):
        descend_w([DATA], ZERO, LOG_LOSS, step=0.5, steps=3, record=record)


@pytest.mark.parametrize(
    "W0",
    [
        np.zeros((4, 5)),
        np.zeros((1, 1)),
        np.zeros((1, 5)),
        np.zeros(5),
        np.zeros((2, 5, 5, 1)),
        np.zeros((1, 5, 4)),
        np.full((5, 5), np.nan),
        np.full((5, 5), np.inf),
        [["a"] * 5] * 5,
    ],
)
@pytest.mark.parametrize("method", [descend_w, normalised_descent_w])
def test_a_start_that_does_not_fit_is_refused(method, W0):
    with pytest.raises(DataError, match="W0"):
        method([DATA], W0, LOG_LOSS, step=0.5, steps=1)


def test_starts_of_other_parametrisations_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="K0"):
        descend_kq([DATA], np.zeros((4, 2)), np.zeros((4, 2)), LOG_LOSS, step=0.5, steps=1)
    with pytest.raises(DataError, match=r"Q0\[0, 0\] is not finite"):
        descend_kq([DATA], np.zeros((5, 2)), np.full((5, 2), np.nan), LOG_LOSS, step=0.5, steps=1)
    with pytest.raises(DataError, match="p0"):
        descend_p([DATA], np.zeros(4), LOG_LOSS, step=0.5, steps=1)


def test_data_sets_of_different_shapes_do_not_stack():
    with pytest.raises(DataError, match="one shape") as caught:
        stack([protocol(1), protocol(2, T=3)])
    assert caught.value.value == [(3, 3, 5), (3, 4, 5)]
    with pytest.raises(DataError, match="one shape"):
        stack([])


# along the curve

TWO_RIVALS = AttentionData.of(
    [[[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0, -1.0]]
)


@pytest.mark.parametrize("loss", [LOG_LOSS, LOGISTIC_LOSS, CORRELATION], ids=lambda x: x.name)
def test_the_curve_ends_in_the_direction_of_the_solution(loss):
    """With margins m_1, m_2 the flow is dm_1 ~ e^-m_1, dm_2 ~ 2 e^-m_2, so m_2 - m_1 -> ln 2.

    W therefore keeps the distance ln 2 / sqrt 2 to the ray of W^mm = (1, 1): at norm N the sine
    is that over N, and 1 - cos, about (ln 2)^2 / (4 N^2), is below 1e-6 from N = 350 on.
    """
    solution = att_svm(TWO_RIVALS)
    run = follow_w(TWO_RIVALS, np.zeros((2, 2)), loss, [100.0, 1000.0])
    assert solution.W.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    for W, norm in zip(run.W[0, 1:], run.norms[0, 1:], strict=True):
        assert abs(W[1, 0] - W[0, 0] - math.log(2.0)) <= 8 * EPS * norm
        cosine = (W * solution.W).sum() / (norm * solution.value)
        assert abs(cosine - math.sqrt(1.0 - math.log(2.0) ** 2 / (2.0 * norm**2))) <= 8 * EPS
    assert cosine > 1.0 - 1e-6


def test_the_distance_to_the_ray_stays_while_the_norm_grows_tenfold():
    """And so the direction converges: a direction off by an angle a would drift by a N."""
    data = protocol(20, n=2, T=3, d=6)
    solution = att_svm(data)
    run = follow_w(data, np.zeros((6, 6)), LOG_LOSS, [60.0, 600.0])
    ray = solution.W / solution.value
    off = [np.linalg.norm(W - (W * ray).sum() * ray) for W in run.W[0, 1:]]
    assert abs(off[1] - off[0]) <= 0.05 * off[0]
    assert (run.W[0, -1] * ray).sum() / run.norms[0, -1] > 1.0 - off[0] ** 2 / 600.0**2


def test_the_asked_norms_are_passed_in_order():
    norms = [0.5, 3.0, 3.1, 40.0]
    run = follow_w(TWO_RIVALS, np.zeros((2, 2)), LOG_LOSS, norms)
    assert run.W.shape == (1, 5, 2, 2)
    assert run.norms[0, 0] == 0.0
    assert (run.norms[0, 1:] >= norms).all()
    assert (np.diff(run.steps) >= 0).all()
    # a step is at most twice half a unit of margin, or a hundredth of the norm
    assert (run.norms[0, 1:] <= np.array(norms) + 1.0).all()


def test_the_time_along_the_curve_is_that_of_the_flow():
    """On <s, gamma> itself e^m_1 = t, up to terms of order m e^-m at margin m.

    Norm 30 is margin 21: 4 m e^-m there is 7e-8.
    """
    run = follow_w(TWO_RIVALS, np.zeros((2, 2)), CORRELATION, [30.0, 100.0])
    assert run.log_time[0] == -np.inf
    margin = run.W[0, 1:, 0, 0]
    assert (np.abs(run.log_time[1:] - margin) <= 4.0 * margin * np.exp(-margin) + 1e-12).all()


@pytest.mark.parametrize("start", [np.zeros((1, 1)), np.array([[3.0]])])
def test_a_start_without_a_gradient_returns_at_once(start):
    flat = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0]])
    run = follow_w(flat, start, LOG_LOSS, [10.0, 100.0])
    assert run.steps.tolist() == [0]
    assert np.array_equal(run.W[0, 0], start)
    still = normalised_descent_w([flat], start, LOG_LOSS, step=1.0, steps=3)
    assert np.array_equal(still.W[0, -1], start)


def test_a_budget_that_runs_out_returns_what_was_reached():
    run = follow_w(TWO_RIVALS, np.zeros((2, 2)), LOG_LOSS, [1.0, 1e9], steps=50)
    assert len(run.steps) == 2
    assert run.norms[0, 1] >= 1.0
