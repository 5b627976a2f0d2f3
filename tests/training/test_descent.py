"""Descent against autograd, the log domain and 200 bits, at any norm of the weights."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.kernels.derivative import _bend
from attsvm.kernels.descent import (
    LOSS_NUMBERS,
    log_negative_gradient,
    log_slope,
    sign_of_slope,
    slope,
)
from attsvm.kernels.ensembles import keep
from attsvm.losses import LOG_LOSS, LOSSES
from attsvm.prediction import Head, relu_head
from attsvm.risk import gradient_w, normalised_gradient
from attsvm.strategies import arrays
from attsvm.strategies.data import attention_data
from attsvm.training import descend_kq, descend_p, descend_vp, descend_w
from tests import autograd
from tests.interpreted import interpreted
from tests.late import Late
from tests.training.protocol import OWN, RELU, protocol

torch = Late("torch")

EPS = np.finfo(float).eps
NAMES = st.sampled_from(sorted(LOSSES))
TANH = Head("tanh", lambda x: np.tanh(x).sum(-1), lambda x: 1.0 - np.tanh(x) ** 2)
HEADS = {
    None: None,
    RELU: lambda x: torch.relu(x @ torch.tensor(RELU.hidden).T) @ torch.tensor(RELU.outer),
    TANH: lambda x: torch.tanh(x).sum(dim=1),
}
CASES = [(name, "softmax", None) for name in sorted(LOSSES)] + [
    (name, attention, head)
    for name in ("squared", "logistic")
    for attention, head in (
        ("softmax", RELU), ("softmax", TANH), ("linear", None), ("linear", RELU), ("linear", TANH),
    )
]  # fmt: skip


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[1]}-{c[2] and c[2].name}")
def test_descent_is_the_autograd_loop(case, masked):
    """A few steps of size 1/4 add up roundings far below 1e-10."""
    name, attention, head = case
    data, generator = protocol(11, masked=masked), np.random.default_rng(12)
    W0, K0, Q0 = (generator.normal(size=shape) / 2 for shape in ((5, 5), (5, 3), (5, 3)))
    steps = 10 if name == "cubic" else 4  # it is slow to move
    how = {"step": 0.25, "steps": steps}
    loops = [(descend_w, "W", [W0]), (descend_kq, "KQ", [K0, Q0]), (descend_p, "p", [W0[0]])]
    if attention == "softmax" and head is None:
        loops.append((descend_vp, "vp", [W0[1], W0[0]]))
    for descend, kind, start in loops:
        options = {} if kind == "vp" else {"head": head, "attention": attention}
        run = descend([data], *start, LOSSES[name], record="all", **how, **options)
        if "head" in options:
            options["head"] = HEADS[head]
        truth = autograd.descend(data, name, kind, start, **how, **options)
        ours = [run.K[0], run.Q[0]] if kind == "KQ" else [run.W[0]]
        for a, b in zip([run.v[0], *ours] if kind == "vp" else ours, truth, strict=True):
            assert np.abs(a - b).max() <= 1e-10
            assert np.abs(b[-1] - b[0]).max() > 1e-3  # it moved
        assert run.steps.tolist() == list(range(steps + 1))
        axes = tuple(range(1, run.W[0].ndim))
        assert np.abs(run.norms[0] - np.linalg.norm(run.W[0], axis=axes)).max() <= 1e-10


@pytest.mark.parametrize("loss", [LOG_LOSS, OWN], ids=["compiled", "general"])
@pytest.mark.parametrize("rank", [1, 2, 7])
def test_factors_of_any_width_keep_what_the_data_do_not_see(rank, loss):
    """Few inputs in many dimensions: most of K and Q is orthogonal to all tokens and queries."""
    data = protocol(7, n=1, T=2, d=6)
    start = np.random.default_rng(8).normal(size=(2, 6, rank))
    run = descend_kq([data], *start, loss, step=0.5, steps=20, record="all")
    K, Q = autograd.descend(data, "log-loss", "KQ", start, step=0.5, steps=20)
    assert np.abs(run.K[0] - K).max() <= 1e3 * EPS * np.abs(K).max()
    assert np.abs(run.Q[0] - Q).max() <= 1e3 * EPS * np.abs(Q).max()
    assert np.array_equal(run.W[0, -1], run.K[0, -1] @ run.Q[0, -1].T)


@given(attention_data(), NAMES, st.data())
def test_one_step_goes_against_the_gradient(data, name, draw):
    """To rounding of the scale: a slope of up to e^12 times tokens and queries of size 4."""
    W0 = draw.draw(arrays(data.d, data.d)) / 8
    if data.scores is None:
        data = AttentionData(data.X, data.Z, scores=np.clip(data.gamma, -4.0, 4.0))
    loss = LOSSES[name]
    G = gradient_w(data, W0, loss)
    run = descend_w([data], W0, loss, step=0.25, steps=1, record="all")
    slopes = np.abs(loss.slope(np.array([-4.0, 4.0]))).max() + 1.0
    bound = 2000 * EPS * slopes * np.abs(data.X).max() * np.abs(data.Z).max() + EPS
    assert np.abs(run.W[0, 1] - (W0 - 0.25 * G)).max() <= bound


@given(attention_data(), NAMES, st.sampled_from([0.0, 1.0, 1e3]), st.data())
def test_normalised_steps_have_the_length_of_the_step_or_stand_still(data, name, size, draw):
    W0 = size * draw.draw(arrays(data.d, data.d))
    run = descend_w([data], W0, LOSSES[name], step=0.5, steps=5, normalised=True, record="all")
    lengths = np.linalg.norm(np.diff(run.W[0], axis=0), axis=(1, 2))
    moved = np.abs(lengths - 0.5) <= 8 * EPS * (run.norms[0][1:] + 1.0)
    assert (moved | (lengths == 0.0)).all()
    assert (np.diff(moved.astype(int)) <= 0).all()  # whoever stands still stays


def test_joint_steps_that_are_normalised_have_the_length_of_the_step_at_any_norm():
    sets, generator = [protocol(seed) for seed in range(3)], np.random.default_rng(5)
    for size in (1.0, 1e2, 1e4):
        v0, p0 = size * generator.normal(size=(2, 5))
        for loss in (LOG_LOSS, OWN):
            run = descend_vp(sets, v0, p0, loss, step=0.5, steps=3, normalised=True, record="all")
            moved = np.diff(np.concatenate([run.v, run.W], axis=2), axis=1)
            assert np.abs(np.linalg.norm(moved, axis=2) - 0.5).max() <= 64 * EPS * (size + 1.0)


def test_far_out_a_normalised_step_moves_where_a_plain_one_stands_still():
    """At a margin of 1e5 the gradient underflows."""
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    W0 = np.array([[1e5]])
    assert (
        descend_w([data], W0, LOG_LOSS, step=0.5, steps=4, normalised=True, record="all").W[
            0, -1, 0, 0
        ]
        == 1e5 + 2
    )
    assert descend_w([data], W0, LOG_LOSS, step=0.5, steps=4, record="all").W[0, -1, 0, 0] == 1e5


@given(attention_data(), NAMES, st.sampled_from([0, 3, 8, 20]), st.data())
def test_a_loop_and_the_log_domain_gradient_point_the_same_way(data, name, power, draw):
    """Starts up to norms of 1e6, ties and repeated tokens included.

    Terms of it are known to some roundings of their own size, so the two may differ by that
    over what is left after they cancel; the reference says how much is left.
    """
    W = draw.draw(arrays(data.d, data.d)) * 2.0**power
    g = normalised_gradient(data.X, data.Z, data.gamma, W, LOSSES[name], data.mask)
    size = np.linalg.norm(g.matrix)
    step = 2.0**power  # of the size of W, so that the difference keeps its digits
    run = descend_w([data], W, LOSSES[name], step=step, steps=1, normalised=True, record="all")
    moved = (run.W[0, 1] - W) / step
    assume(np.isfinite(g.log_scale))
    # the logits, up to |X| |W| |z|, enter through their exponentials
    logit = np.abs(data.X).max() * np.abs(data.Z).max() * np.abs(W).max() * data.d**2
    unit = 64 * EPS * (1.0 + logit)
    assert np.abs(moved - g.matrix / size).max() <= unit * (1.0 + 1.0 / size)


def test_a_normalised_step_along_no_gradient_stays():
    data = AttentionData.of([[[1.0, 2.0], [0.0, 1.0]]], [[1.0, 1.0]], scores=[[0.5, 0.5]])
    W = np.eye(2)
    assert normalised_gradient(data.X, data.Z, data.gamma, W, LOG_LOSS).log_scale == -np.inf
    run = descend_w([data], W, LOG_LOSS, step=1.0, steps=1, normalised=True, record="all")
    assert np.array_equal(run.W[0, 1], W)


@given(st.sampled_from([0, 4, 8, 12, 20]), st.integers(0, 2**32 - 1), st.booleans())
def test_saturated_lanes_move_as_the_log_domain_says(power, seed, masked):
    """Normalised and plain steps from factors of norm up to 1e6, against the numpy form."""
    data, generator = protocol(seed % 1000, masked=masked), np.random.default_rng(seed)
    K0, Q0 = 2.0 ** (power / 2) * generator.normal(size=(2, 5, 3))
    step = 2.0 ** (power / 2)
    for normalised in (True, False):
        options = {"step": step, "steps": 1, "normalised": normalised}
        ours, other = (descend_kq([data], K0, Q0, loss, **options) for loss in (LOG_LOSS, OWN))
        logit = np.abs(K0).max() * np.abs(Q0).max() * 50
        assert np.abs(ours.W - other.W).max() <= 64 * EPS * (1 + logit) * np.abs(other.W).max()
        if normalised:
            moved = np.linalg.norm([ours.K[0, 1] - K0, ours.Q[0, 1] - Q0]) ** 2
            assert abs(moved - step**2) <= 1e-9 * step**2


def high_precision_step(data, K, Q):
    """The direction of -grad L(K, Q) for the log-loss in 200-bit arithmetic."""
    exact = np.vectorize(mpmath.mpf, otypes=[object])
    with mpmath.workprec(200):
        K, Q, total = exact(K), exact(Q), 0
        for X, z, gamma in zip(*map(exact, (data.X, data.Z, data.gamma)), strict=True):
            a = X @ (K @ (Q.T @ z))
            e = np.array([mpmath.exp(x - max(a)) for x in a], dtype=object)
            s = e / e.sum()
            apart = gamma[:, None] - gamma[None, :]  # differences of scores: nothing cancels
            c = s * (apart @ s) / (1 + mpmath.exp(s @ gamma))
            total = total + np.outer(X.T @ c, z)
        slopes = np.array([total @ Q, total.T @ K])
        return (slopes / mpmath.sqrt((slopes**2).sum())).astype(float)


@pytest.mark.parametrize("norm", [1.0, 30.0, 1e3])
def test_factors_far_out_agree_with_200_bits_where_autograd_does_not(norm):
    """Autograd's normalised gradient loses its direction, then reads as zero."""
    data = protocol(31)
    start = np.random.default_rng(32).normal(size=(2, 5, 3)) * np.sqrt(norm)
    step = np.sqrt(norm)
    run = descend_kq([data], *start, LOG_LOSS, step=step, steps=1, normalised=True, record="all")
    ours = (np.array([run.K[0, 1], run.Q[0, 1]]) - start) / step
    truth = high_precision_step(data, *start)
    assert np.abs(ours - truth).max() <= 1e-12 * (1 + norm)
    naive = -np.array(autograd.gradients(data, "log-loss", "KQ", *start))
    cosine = (naive * truth).sum() / max(np.linalg.norm(naive), 1e-300)
    if norm < 2.0:
        assert cosine > 1.0 - 1e-10
    if norm > 500.0:
        assert not cosine > 0.9


@given(arrays(3, 4, 2), arrays(3, 2), arrays(2, 2))
def test_a_head_of_ones_own_that_is_linear_changes_nothing(X, Z, W0):
    v = np.array([1.0, -0.5])
    data = AttentionData(X, Z, y=np.array([1.0, -1.0, 1.0]), v=v)
    own = Head("line", lambda x: x @ v, lambda x: np.broadcast_to(v, x.shape))
    ours, other = (
        descend_w([data], W0 / 8, LOG_LOSS, step=0.01, steps=3, head=head, record="all")
        for head in (None, own)
    )
    scale = 1.0 + np.abs(X).max() ** 2 * np.abs(Z).max()
    assert np.abs(ours.W - other.W).max() <= 1e4 * EPS * scale**2


def test_the_head_of_positive_parts_by_hand():
    """h(x) = max(x_1, 0) + max(x_2, 0) at (2, -1) is 2, with gradient (1, 0)."""
    head = relu_head(np.eye(2))
    assert head.value(np.array([2.0, -1.0])) == 2.0
    assert head.slope(np.array([2.0, -1.0])).tolist() == [1.0, 0.0]
    assert head.slope(np.array([0.0, 0.0])).tolist() == [0.0, 0.0]


def test_norms_of_huge_iterates_are_finite():
    run = descend_w([protocol(94)], np.zeros((5, 5)), LOG_LOSS, step=1e300, steps=1, record="all")
    scaled = run.W[0, 1] / 1e300
    assert abs(run.norms[0, 1] / 1e300 - np.linalg.norm(scaled)) <= 8 * EPS * np.abs(scaled).max()


def test_a_loss_of_ones_own_runs_as_the_same_loss_of_the_package():
    data, W0 = protocol(5), np.random.default_rng(5).normal(size=(5, 5))
    for name in sorted(LOSSES):
        own = replace(LOSSES[name], name="mine")
        for options in ({}, {"normalised": True}, {"attention": "linear"}):
            runs = [
                descend(
                    [data], start, loss, step=0.1, steps=5, **options
                ).W
                for descend, start in ((descend_w, W0), (descend_p, W0[0]))
                for loss in (LOSSES[name], own)
            ]  # fmt: skip
            for theirs, ours in (runs[:2], runs[2:]):
                assert np.abs(ours - theirs).max() <= 1e4 * EPS * np.abs(theirs).max()


def gradient_of(X, gamma, logits):
    """The kernel's gradient for one input and the query 1, its largest term of size 1."""
    M, table = np.empty((1, len(X))), np.array([gamma, logits])
    interpreted(log_negative_gradient)(
        np.array([X]), np.ones((1, 1)), table[:1], 3, M, table[1:], np.empty((1, len(gamma)))
    )
    return M[0]


def test_the_gradient_of_equally_good_tokens_counts_where_the_deficit_underflows():
    near, far = gradient_of(
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 1.0, 0.0], [0.0, -1.0, -800.0]
    )
    assert near / far == pytest.approx(-np.exp(-1.0) / (1.0 + np.exp(-1.0)), rel=1e-12)


def test_a_token_at_the_place_of_the_leading_one_has_no_gradient():
    same, far = gradient_of(
        [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [2.0, 1.0, 0.0], [0.0, -0.1, -2000.0]
    )
    assert -same == far != 0.0


def test_a_lane_that_passed_every_goal_passes_no_more():
    passed, taken, out = np.zeros(1, dtype=np.int64), np.zeros((2, 1), dtype=np.int64), np.zeros(2)
    goals, size = np.array([1.0, 2.0]), np.array([9.0])
    interpreted(keep)(
        np.full((1, 1, 1), 3.0), goals, 7, size, passed, taken, out.reshape(2, 1, 1, 1)
    )
    assert (passed.tolist(), taken.tolist(), out.tolist()) == ([2], [[7], [7]], [3.0, 3.0])


@pytest.mark.parametrize("name", LOSS_NUMBERS)
@pytest.mark.parametrize("u", [-650.0, -3.0, -0.25, 0.5, 2.0, 40.0, 650.0])
def test_compiled_losses_fall_as_the_others_do(name, u):
    number, loss, at = LOSS_NUMBERS[name], LOSSES[name], np.array([u])
    (expected,) = loss.slope(at)
    assert expected != 0.0
    assert slope(number, u) == pytest.approx(expected, rel=1e-13)
    assert sign_of_slope(number, u) == np.sign(expected)
    assert log_slope(number, u) == pytest.approx(loss.log_slope(at)[0], rel=1e-13)
    assert log_slope(number, u) == pytest.approx(np.log(abs(expected)), rel=1e-13, abs=1e-13)
    assert _bend(number, u) == pytest.approx(loss.curvature(at)[0] / expected, rel=1e-12)
