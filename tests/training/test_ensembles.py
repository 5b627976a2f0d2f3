"""Many runs in one call: batches, starts, steps, checkpoints, devices, and what is refused."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm._validate import ensure_count
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import LOG_LOSS, LOSSES
from attsvm.prediction import Head, ensure_head, relu_head
from attsvm.training import descend_kq, descend_p, descend_vp, descend_w, follow, stack
from properties._support.published_data import one_input
from tests.late import Late
from tests.training.protocol import OWN, RELU, protocol

torch = Late("torch")

DEVICES = ["cpu", *["cuda"] * any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd")))]
"""Where tensors can lie: torch takes long to import, so that it is not asked."""
EPS = np.finfo(float).eps
DATA, ZERO = protocol(19), np.zeros((5, 5))
SCORED = AttentionData(DATA.X, DATA.Z, scores=DATA.gamma)


@given(
    st.sampled_from([1, 2, 17, 40]),
    st.sampled_from(["softmax", "linear"]),
    st.sampled_from([None, RELU]),
    st.booleans(),
    st.sampled_from([0.0, 1.0, 1e3]),
    st.integers(0, 2**32 - 1),
)
def test_a_run_has_the_same_bits_in_any_company(count, attention, head, normalised, size, seed):
    """Lanes of all widths, saturated neighbours included, and any number of threads."""
    sets = [protocol(seed % 1000 + b, masked=b % 3 == 0) for b in range(count)]
    generator = np.random.default_rng(seed)
    # neighbours of very different norm
    sizes = size * 10.0 ** generator.integers(-2, 3, size=count)
    W0 = sizes[:, None, None] * generator.normal(size=(count, 5, 5))
    K0, Q0 = generator.normal(size=(2, count, 5, 2)) * np.sqrt(sizes)[:, None, None]
    options = {"steps": 6, "head": head, "attention": attention, "normalised": normalised}
    step = 0.1 * (1 + np.arange(count) % 4)
    together = descend_w(sets, W0, LOG_LOSS, step=step, **options)
    threaded = descend_w(sets, W0, LOG_LOSS, step=step, threads=2, **options)
    factors = descend_kq(sets, K0, Q0, LOG_LOSS, step=step, threads=2, **options)
    assert np.array_equal(together.W, threaded.W)
    for b in {0, count // 2, count - 1}:
        company = [sets[b], protocol(5, masked=True)]
        other = np.stack([W0[b], 1e5 * np.ones((5, 5))])
        alone = descend_w(company[:1], W0[b], LOG_LOSS, step=step[b], **options)
        paired = descend_w(company, other, LOG_LOSS, step=step[b], **options)
        # a mask somewhere in the batch hides nothing here
        assert np.array_equal(alone.W[0], together.W[b])
        assert np.array_equal(paired.W[0], together.W[b])
        alone = descend_kq(company[:1], K0[b], Q0[b], LOG_LOSS, step=step[b], **options)
        assert np.array_equal(alone.W[0], factors.W[b])


def test_one_data_set_many_starts_many_steps():
    starts, steps = np.random.default_rng(42).normal(size=(6, 5, 5)), 0.1 * np.arange(1, 7)
    run = descend_w(DATA, starts, "log-loss", step=steps, steps=10, record="all")
    for b in range(6):
        alone = descend_w([DATA], starts[b], LOG_LOSS, step=float(steps[b]), steps=10, record="all")
        assert np.array_equal(run.W[b], alone.W[0])
    run = descend_w([DATA] * 6, starts[0], LOG_LOSS, step=steps, steps=10, record="all")
    assert run.W.shape == (6, 11, 5, 5)
    assert np.array_equal(
        run.W[1], descend_w(DATA, starts[0], LOG_LOSS, step=0.2, steps=10, record="all").W[0]
    )
    assert descend_w([DATA] * 6, starts[0], OWN, step=steps, steps=2, record="all").W.shape == (
        6,
        3,
        5,
        5,
    )


@given(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4))
def test_the_chosen_steps_are_kept_with_the_first_and_the_last(steps, chosen):
    data, record = one_input(), [k for k in chosen if k <= steps]
    run = descend_w([data], np.zeros((2, 2)), LOG_LOSS, step=1.0, steps=steps, record=record)
    everything = descend_w([data], np.zeros((2, 2)), LOG_LOSS, step=1.0, steps=steps, record="all")
    assert run.steps.tolist() == sorted({0, steps, *record})
    assert everything.steps.tolist() == list(range(steps + 1))
    usual = descend_w([data], np.zeros((2, 2)), LOG_LOSS, step=1.0, steps=steps)
    assert usual.steps.tolist() == sorted({0, steps, *(k for k in (1, 2, 4, 8) if k <= steps)})
    assert np.array_equal(usual.W[0], everything.W[0, usual.steps])
    assert np.array_equal(run.W[0], everything.W[0, run.steps])


@pytest.mark.parametrize("loss", [LOG_LOSS, OWN], ids=["compiled", "general"])
@pytest.mark.parametrize("kind", ["W", "KQ", "p"])
def test_checkpoints_at_norms_are_the_first_iterates_that_pass_them(loss, kind):
    sets, generator = [protocol(seed) for seed in range(3)], np.random.default_rng(51)
    K0, Q0 = generator.normal(size=(2, 5, 3)) / 2
    start = generator.normal(size=(5, 5)) / 8
    descend, begun = {
        "W": (descend_w, [start]), "p": (descend_p, [start[0]]), "KQ": (descend_kq, [K0, Q0]),
    }[kind]  # fmt: skip
    options = {"step": 0.2, "steps": 100, "normalised": True}
    norms = [0.5, 4.0, 9.0, 10.0, 1e9]
    whole = descend(sets, *begun, loss, record="all", **options)
    kept = descend(sets, *begun, loss, norms=norms, **options)
    assert kept.steps.shape == (3, 5)
    for b, (r, norm) in ((b, pair) for b in range(3) for pair in enumerate(norms)):
        first = np.flatnonzero(whole.norms[b] >= norm)
        if first.size == 0:
            assert kept.steps[b, r] == -1
            assert np.isnan(kept.W[b, r]).all()
        else:
            assert kept.steps[b, r] == first[0]
            assert np.array_equal(kept.W[b, r], whole.W[b, first[0]])
    assert (kept.steps[:, 1] > 0).all()
    assert (kept.steps[:, -1] == -1).all()


@pytest.mark.parametrize("score", [0.0, 1.0, -3.0])
@pytest.mark.parametrize("W0", [1e3, 1.0, 0.25])
def test_the_score_of_an_absent_token_plays_no_part(score, W0):
    """All present tokens of the first input tie, and only the second input has a gradient."""
    X = [[[1], [0], [5]], [[1], [0], [0]]]
    mask = [[True, True, False]] * 2
    masked = AttentionData.of(X, [[1]] * 2, scores=[[0, 0, score], [1, 0, score]], mask=mask)
    without = AttentionData.of([x[:2] for x in X], [[1]] * 2, scores=[[0, 0], [1, 0]])
    start = np.array([[W0]])
    ours, theirs = (follow([data], start, LOG_LOSS, [2e3, 2e4])[0] for data in (masked, without))
    assert theirs.norms.shape == (1, 3)
    assert np.abs(ours.norms - theirs.norms).max() <= 1e-9 * 2e4
    for normalised in (False, True):
        options = {"step": 1.0, "steps": 5, "normalised": normalised}
        ours, theirs = (descend_w([d], start, LOG_LOSS, **options) for d in (masked, without))
        assert np.array_equal(ours.W, theirs.W)
        K = np.sqrt(start)
        ours, theirs = (descend_kq([d], K, K, LOG_LOSS, **options) for d in (masked, without))
        assert np.array_equal(ours.W, theirs.W)


# devices


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("head", [None, RELU], ids=["linear", "relu"])
@pytest.mark.parametrize("device", DEVICES)
def test_tensors_agree_with_the_loops_to_rounding(device, attention, head):
    """20 stable steps: 1e4 roundings of the size of the iterates."""
    sets, generator = [protocol(s, masked=s % 2 == 0) for s in range(4)], np.random.default_rng(61)
    W0 = generator.normal(size=(4, 5, 5))
    K0, Q0 = generator.normal(size=(2, 5, 3)) / 2
    bounded = ["correlation", "log-loss", "logistic", "logistic-loss"]
    options = {"step": 0.05, "steps": 20, "head": head, "attention": attention}
    runs = (descend_w, [W0]), (descend_kq, [K0, Q0]), (descend_p, [W0[:, 0]])
    for j, name in enumerate(bounded if attention == "linear" else sorted(LOSSES)):
        for k, (run, start) in enumerate(runs):
            how = {**options, "normalised": (j + k) % 2 == 1}  # each loss and run in both ways
            ours = run(sets, *start, LOSSES[name], **how)
            there = run(sets, *start, LOSSES[name], device=device, **how)
            assert np.abs(ours.W - there.W).max() <= 1e4 * EPS * (1.0 + np.abs(ours.W).max())
    far = descend_w(
        sets, 1e4 * W0, LOG_LOSS, step=10.0, steps=2, normalised=True, device=device, record="all"
    )
    assert np.abs(np.linalg.norm(far.W[:, 1] - far.W[:, 0], axis=(1, 2)) - 10.0).max() <= 1e-7
    ours, there = (
        descend_vp(
            sets, W0[:, 0], W0[:, 1], LOG_LOSS, step=0.1, steps=20, device=where, record="all"
        )
        for where in (None, device)
    )
    assert max(np.abs(ours.v - there.v).max(), np.abs(ours.W - there.W).max()) <= 1e4 * EPS
    how = {"step": 0.5, "steps": 50, "norms": [6.0, 8.0]}
    kept = descend_w(sets, W0, LOG_LOSS, device=device, **how)
    assert np.array_equal(kept.steps, descend_w(sets, W0, LOG_LOSS, **how).steps)


@pytest.mark.parametrize("device", DEVICES)
def test_tensors_agree_with_the_loops_where_the_squared_loss_rises(device):
    """All scores are above 1; four stable steps."""
    data = AttentionData(DATA.X, DATA.Z, scores=1.5 + np.abs(DATA.gamma))
    ours, there = (
        descend_w([data], ZERO, LOSSES["squared"], step=0.05, steps=4, device=where)
        for where in (None, device)
    )
    assert ours.W[0].any()
    assert np.abs(ours.W - there.W).max() <= 1e4 * EPS * (1.0 + np.abs(ours.W).max())


# what is refused

RUNS = {
    "w": (descend_w, [ZERO]),
    "kq": (descend_kq, [ZERO[:, :2], ZERO[:, :2]]),
    "p": (descend_p, [ZERO[0]]),
    "vp": (descend_vp, [ZERO[0], ZERO[0]]),
}


@pytest.mark.parametrize(("run", "start"), RUNS.values(), ids=list(RUNS))
def test_bad_steps_are_refused_and_none_is_the_start(run, start):
    for step in (0.0, -0.5, math.nan, math.inf, -math.inf):
        with pytest.raises(DataError, match="step must be positive and finite") as caught:
            run([DATA], *start, LOG_LOSS, step=step, steps=3)
        assert repr(step) in str(caught.value)
        assert caught.value.remedy
    with pytest.raises(DataError, match="number of steps is negative") as caught:
        run([DATA], *start, LOG_LOSS, step=0.5, steps=-1)
    assert caught.value.value == -1
    begun = run([DATA], *start, LOG_LOSS, step=0.5, steps=0)
    assert begun.steps.tolist() == [0]
    assert begun.W.shape[1] == 1
    assert not begun.W.any()


BAD_STARTS = [
    np.zeros((4, 5)), np.zeros((1, 1)), np.zeros((1, 5)), np.zeros(5), np.zeros((2, 5, 5, 1)),
    np.zeros((1, 5, 4)), np.full((5, 5), np.nan), np.full((5, 5), np.inf), [["a"] * 5] * 5,
]  # fmt: skip
OPTIONS = [
    (DATA, {"threads": 0}, "number of threads"),
    (DATA, {"record": [4]}, r"recorded steps must lie in 0\.\.1"),
    (DATA, {"record": [-1]}, r"recorded steps must lie in 0\.\.1"),
    (DATA, {"record": [0, 7]}, r"recorded steps must lie in 0\.\.1"),
    (DATA, {"record": [0], "norms": [1.0]}, "steps or at norms"),
    *((DATA, {"norms": norms}, "must increase") for norms in ([2.0, 1.0], [-1.0], [1.0, 1.0])),
    (DATA, {"attention": "sparse"}, "neither softmax nor linear"),
    (DATA, {"head": relu_head(np.ones((2, 3)))}, "dimension 3, tokens have 5"),
    (SCORED, {"head": RELU}, "needs labels"),
    (DATA, {"device": "cuda:77"}, "no such device"),
    (DATA, {"loss": OWN, "device": "cpu"}, "loss of your own"),
    (DATA, {"loss": "log"}, "the loss is not known"),
    (DATA, {"loss": replace(OWN, log_slope=lambda u: np.nan * u)}, "slope that is not a number"),
    ([DATA, DATA], {"W0": np.zeros((6, 5, 5))}, "differ in number"),
    ([DATA] * 6, {"step": np.array([0.1, 0.2])}, "differ in number"),
    ([protocol(1), protocol(2, T=3)], {}, "one shape"),
    ([], {}, "one shape"),
    *((DATA, {"W0": W0}, "W0") for W0 in BAD_STARTS),
]


@pytest.mark.parametrize(("sets", "change", "words"), OPTIONS)
def test_what_does_not_fit_is_refused(sets, change, words):
    options = {"W0": ZERO, "loss": LOG_LOSS, "step": 0.1, "steps": 1} | change
    with pytest.raises(DataError, match=words) as caught:
        descend_w(sets, **options)
    assert caught.value.remedy


def test_what_does_not_fit_elsewhere_is_refused():
    how = {"step": 0.5, "steps": 1}
    with pytest.raises(DataError, match="K0"):
        descend_kq([DATA], np.zeros((4, 2)), np.zeros((4, 2)), LOG_LOSS, **how)
    with pytest.raises(DataError, match=r"Q0\[0, 0\] is not finite"):
        descend_kq([DATA], np.zeros((5, 2)), np.full((5, 2), np.nan), LOG_LOSS, **how)
    with pytest.raises(DataError, match="p0"):
        descend_p([DATA], np.zeros(4), LOG_LOSS, **how)
    with pytest.raises(DataError, match="trained on labels"):
        descend_vp([SCORED], ZERO[0], ZERO[0], LOG_LOSS, **how)
    with pytest.raises(DataError, match="one shape") as caught:
        stack([protocol(1), protocol(2, T=3)])
    assert caught.value.value == [(3, 3, 5), (3, 4, 5)]
    with pytest.raises(DataError, match=r"not one of attsvm\.prediction"):
        ensure_head(np.tanh)
    with pytest.raises(DataError, match="hidden"):
        relu_head([[np.nan, 1.0]])
    with pytest.raises(DataError, match="outer"):
        relu_head(np.eye(3), [1.0, 2.0])


def test_the_norm_of_huge_negative_iterates_is_a_number():
    start = np.full((5, 5), -1e150)
    start[0, 0] = 1e-10
    run = descend_w([DATA], start, LOG_LOSS, step=0.1, steps=1, record="all")
    np.testing.assert_allclose(run.norms, np.sqrt(24.0) * 1e150, rtol=1e-12)


def test_a_run_that_overflows_says_so():
    """On the squared loss of linear attention steps of 100 double the iterates for ever."""
    how = {"step": [1e-3, 100.0], "steps": 2000, "attention": "linear"}
    for loss in (LOSSES["squared"], replace(LOSSES["squared"], name="mine")):
        with pytest.raises(DataError, match="run 1 overflowed by step") as caught:
            descend_w([DATA], np.ones((5, 5)), loss, **how)
        assert caught.value.value == 100.0


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (Head("h", lambda x: x.sum(-1), lambda x: np.nan * x), "the slope of the head h"),
        (Head("h", lambda x: np.inf * x.sum(-1), lambda x: 0.0 * x), "the head h"),
        (Head("h", lambda x: x.sum(), lambda x: 0.0 * x), "the head h returns an array of the"),
        (Head("h", lambda x: x.sum(-1), lambda x: x.sum(-1)), "slope of the head h returns an arr"),
    ],
)
@pytest.mark.parametrize("normalised", [False, True])
def test_a_head_that_is_not_finite_is_refused_and_never_a_run_that_stands_still(
    head, what, normalised
):
    how = {"step": 0.1, "steps": 3, "head": head, "normalised": normalised}
    with np.errstate(invalid="ignore"), pytest.raises(DataError, match=what):
        descend_w([DATA], np.ones((5, 5)), LOG_LOSS, **how)


@pytest.mark.parametrize("value", [2.5, "3", None, True, np.float64(2.0)])
def test_counts_are_integers(value):
    with pytest.raises(DataError, match="steps is not an integer"):
        ensure_count("steps", value)
    assert ensure_count("steps", np.int64(3)) == 3
    with pytest.raises(DataError, match="threads is below 1"):
        ensure_count("threads", 0, 1)
