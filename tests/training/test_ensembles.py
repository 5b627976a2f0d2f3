"""Ensembles: heads, linear attention, joint training, many starts and steps, devices."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm._validate import ensure_count
from attsvm.data import AttentionData
from attsvm.descent import descend_kq, descend_p, descend_vp, descend_w, follow
from attsvm.errors import DataError
from attsvm.heads import Head, ensure_head, relu_head
from attsvm.losses import LOG_LOSS, LOSSES
from attsvm.strategies import arrays
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
TANH = Head("tanh", lambda x: np.tanh(x).sum(-1), lambda x: 1.0 - np.tanh(x) ** 2)
RELU = relu_head(np.random.default_rng(1).normal(size=(4, 5)), [1.0, -0.5, 2.0, 1.0])
OWN = replace(LOG_LOSS, name="mine")
"""The log-loss under a name that the compiled loops do not know."""


def protocol(seed, n=3, T=4, d=5, masked=False):
    generator = np.random.default_rng(seed)
    data = gaussian_protocol(generator, n=n, T=T, d=d)
    if not masked:
        return data
    mask = generator.random((n, T)) < 0.7
    mask[:, -2:] = True
    return AttentionData(data.X, data.Z, y=data.y, v=data.v, mask=mask)


def autograd(data, name, kind, leaves, step, steps, head=None, attention="softmax"):
    """The loop that everyone writes, for any head, attention and parametrisation."""
    leaves = [torch.tensor(p, requires_grad=True) for p in leaves]
    X, Z, y, v = (torch.tensor(a) for a in (data.X, data.Z, data.y, data.v))
    present = torch.tensor(data.present)
    for _ in range(steps):
        if kind == "W":
            a = torch.einsum("ntd,de,ne->nt", X, leaves[0], Z)
        elif kind == "KQ":
            a = torch.einsum("ntd,de,ne->nt", X, leaves[0] @ leaves[1].T, Z)
        else:
            a = torch.einsum("ntd,d->nt", X, leaves[-1])
        if attention == "softmax":
            s = torch.softmax(torch.where(present, a, -torch.inf), dim=1)
        else:
            s = torch.where(present, a, 0.0)
        output = torch.einsum("nt,ntd->nd", s, X)
        if kind == "joint":
            value = output @ leaves[0]
        elif head is None:
            value = output @ v
        elif head is RELU:
            hidden, outer = torch.tensor(RELU.hidden), torch.tensor(RELU.outer)
            value = torch.relu(output @ hidden.T) @ outer
        else:
            value = torch.tanh(output).sum(dim=1)
        loss = TORCH[name](y * value).mean()
        with torch.no_grad():
            pulls = torch.autograd.grad(loss, leaves)
            for leaf, pull in zip(leaves, pulls, strict=True):
                leaf -= step * pull
    return [leaf.detach().numpy() for leaf in leaves]


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("head", [None, RELU, TANH], ids=["linear", "relu", "own"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", ["log-loss", "squared", "logistic"])
def test_every_head_and_attention_is_the_autograd_loop(attention, head, masked, name):
    """30 steps of size 1/4 add up roundings far below 1e-10."""
    data = protocol(11, masked=masked)
    generator = np.random.default_rng(12)
    W0, K0, Q0 = (generator.normal(size=shape) / 2 for shape in ((5, 5), (5, 3), (5, 3)))
    options = {"step": 0.25, "steps": 30, "head": head, "attention": attention}
    loop = (0.25, 30, head, attention)
    run = descend_w([data], W0, LOSSES[name], **options)
    (W,) = autograd(data, name, "W", [W0], *loop)
    assert np.abs(run.W[0, -1] - W).max() <= 1e-10
    assert np.abs(W - W0).max() > 1e-3  # it moved
    run = descend_kq([data], K0, Q0, LOSSES[name], **options)
    K, Q = autograd(data, name, "KQ", [K0, Q0], *loop)
    assert max(np.abs(run.K[0, -1] - K).max(), np.abs(run.Q[0, -1] - Q).max()) <= 1e-10
    run = descend_p([data], W0[0], LOSSES[name], **options)
    (p,) = autograd(data, name, "p", [W0[0]], *loop)
    assert np.abs(run.W[0, -1] - p).max() <= 1e-10


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("masked", [False, True])
def test_joint_descent_on_head_and_prompt_is_the_autograd_loop(name, masked):
    data = protocol(21, masked=masked)
    v0, p0 = np.random.default_rng(22).normal(size=(2, 5)) / 2
    run = descend_vp([data], v0, p0, LOSSES[name], step=0.1, steps=30)
    v, p = autograd(data, name, "joint", [v0, p0], 0.1, 30)
    assert np.abs(run.v[0, -1] - v).max() <= 1e-10
    assert np.abs(run.W[0, -1] - p).max() <= 1e-10
    assert np.abs(v - v0).max() > 1e-3
    assert np.array_equal(run.v[0, 0], v0)


def test_joint_steps_that_are_normalised_have_the_length_of_the_step_at_any_norm():
    sets = [protocol(seed) for seed in range(3)]
    generator = np.random.default_rng(5)
    for size in (1.0, 1e2, 1e4):
        v0, p0 = size * generator.normal(size=(2, 5))
        for loss in (LOG_LOSS, OWN):
            run = descend_vp(sets, v0, p0, loss, step=0.5, steps=3, normalised=True)
            moved = np.diff(np.concatenate([run.v, run.W], axis=2), axis=1)
            lengths = np.linalg.norm(moved, axis=2)
            assert np.abs(lengths - 0.5).max() <= 64 * EPS * (size + 1.0)


@settings(max_examples=25, deadline=None)
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
    factors = descend_kq(sets, K0, Q0, LOG_LOSS, step=step, **options)
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


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([0, 4, 8, 12, 20]), st.integers(0, 2**32 - 1), st.booleans())
def test_saturated_lanes_move_as_the_log_domain_says(power, seed, masked):
    """Normalised and plain steps from factors of norm up to 1e6, against the numpy form."""
    data = protocol(seed % 1000, masked=masked)
    generator = np.random.default_rng(seed)
    K0, Q0 = 2.0 ** (power / 2) * generator.normal(size=(2, 5, 3))
    step = 2.0 ** (power / 2)
    for normalised in (True, False):
        options = {"step": step, "steps": 1, "normalised": normalised}
        ours = descend_kq([data], K0, Q0, LOG_LOSS, **options)
        other = descend_kq([data], K0, Q0, OWN, **options)
        logit = np.abs(K0).max() * np.abs(Q0).max() * 50
        assert np.abs(ours.W - other.W).max() <= 64 * EPS * (1 + logit) * np.abs(other.W).max()
        if normalised:
            moved = np.linalg.norm(ours.K[0, 1] - K0) ** 2 + np.linalg.norm(ours.Q[0, 1] - Q0) ** 2
            assert abs(moved - step**2) <= 1e-9 * step**2


def high_precision_step(data, K, Q, bits=200):
    """The direction of -grad L(K, Q) for the log-loss in 200-bit arithmetic."""
    with mpmath.workprec(bits):
        K, Q = mpmath.matrix(K.tolist()), mpmath.matrix(Q.tolist())
        total = mpmath.zeros(data.d, data.d)
        for X, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
            X, z = mpmath.matrix(X.tolist()), mpmath.matrix(z.tolist())
            a = X * (K * (Q.T * z))
            top = max(a)
            e = [mpmath.exp(x - top) for x in a]
            s = [x / sum(e) for x in e]
            u = sum(x * mpmath.mpf(g) for x, g in zip(s, gamma, strict=True))
            slope = -1 / (1 + mpmath.exp(u))
            # differences of scores, so that nothing cancels
            c = [
                slope
                * x
                * sum(w * (mpmath.mpf(g) - mpmath.mpf(h)) for w, h in zip(s, gamma, strict=True))
                for x, g in zip(s, gamma, strict=True)
            ]
            total -= (X.T * mpmath.matrix(c)) * z.T / len(data.X)
        in_k, in_q = total * Q, total.T * K
        size = mpmath.sqrt(sum(x**2 for x in in_k) + sum(x**2 for x in in_q))
        return tuple(np.array((m / size).tolist(), dtype=float) for m in (in_k, in_q))


@pytest.mark.parametrize("norm", [1.0, 30.0, 1e3])
def test_factors_far_out_agree_with_200_bits_where_autograd_does_not(norm):
    """Autograd's normalised gradient loses its direction, then reads as zero."""
    data = protocol(31)
    # along the rays on which every input attends to one token
    K0, Q0 = np.random.default_rng(32).normal(size=(2, 5, 3)) * np.sqrt(norm)
    step = np.sqrt(norm)
    run = descend_kq([data], K0, Q0, LOG_LOSS, step=step, steps=1, normalised=True)
    ours = [(run.K[0, 1] - K0) / step, (run.Q[0, 1] - Q0) / step]
    truth = high_precision_step(data, K0, Q0)
    error = max(np.abs(a - b).max() for a, b in zip(ours, truth, strict=True))
    assert error <= 1e-12 * (1 + norm)
    K, Q = (torch.tensor(a, requires_grad=True) for a in (K0, Q0))
    X, Z, gamma = (torch.tensor(a) for a in (data.X, data.Z, data.gamma))
    s = torch.softmax(torch.einsum("ntd,de,ne->nt", X, K @ Q.T, Z), dim=1)
    torch.nn.functional.softplus(-(s * gamma).sum(dim=1)).mean().backward()
    naive = np.concatenate([-K.grad.numpy(), -Q.grad.numpy()])
    cosine = (naive * np.concatenate(truth)).sum() / max(np.linalg.norm(naive), 1e-300)
    if norm < 2.0:
        assert cosine > 1.0 - 1e-10
    if norm > 500.0:
        assert not cosine > 0.9


def test_one_data_set_many_starts_many_steps():
    data = protocol(41)
    starts = np.random.default_rng(42).normal(size=(6, 5, 5))
    steps = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    run = descend_w([data], starts, LOG_LOSS, step=steps, steps=10)
    for b in range(6):
        alone = descend_w([data], starts[b], LOG_LOSS, step=float(steps[b]), steps=10)
        assert np.array_equal(run.W[b], alone.W[0])
    run = descend_w([data], starts[0], LOG_LOSS, step=steps, steps=10)
    assert run.W.shape == (6, 11, 5, 5)
    assert np.array_equal(run.W[0], descend_w([data], starts[0], LOG_LOSS, step=0.1, steps=10).W[0])
    run = descend_w([data] * 6, starts[0], OWN, step=steps, steps=2)
    assert run.W.shape == (6, 3, 5, 5)
    with pytest.raises(DataError, match="different numbers"):
        descend_w([data] * 2, starts, LOG_LOSS, step=0.1, steps=1)
    with pytest.raises(DataError, match="different numbers"):
        descend_w([data] * 6, starts, LOG_LOSS, step=steps[:2], steps=1)


@pytest.mark.parametrize("loss", [LOG_LOSS, OWN], ids=["compiled", "general"])
@pytest.mark.parametrize("kind", ["W", "KQ", "p"])
def test_checkpoints_at_norms_are_the_first_iterates_that_pass_them(loss, kind):
    sets = [protocol(seed) for seed in range(3)]
    generator = np.random.default_rng(51)
    K0, Q0 = generator.normal(size=(2, 5, 3)) / 2
    start = generator.normal(size=(5, 5)) / 8

    def run(**options):
        options |= {"step": 0.2, "steps": 100, "normalised": True}
        if kind == "W":
            return descend_w(sets, start, loss, **options)
        if kind == "p":
            return descend_p(sets, start[0], loss, **options)
        return descend_kq(sets, K0, Q0, loss, **options)

    whole = run()
    norms = [0.5, 4.0, 9.0, 10.0, 1e9]
    kept = run(norms=norms)
    assert kept.steps.shape == (3, 5)
    for b in range(3):
        for r, norm in enumerate(norms):
            first = np.flatnonzero(whole.norms[b] >= norm)
            if first.size == 0:
                assert kept.steps[b, r] == -1
                assert np.isnan(kept.W[b, r]).all()
            else:
                assert kept.steps[b, r] == first[0]
                assert np.array_equal(kept.W[b, r], whole.W[b, first[0]])
    assert (kept.steps[:, 1] > 0).all()
    assert (kept.steps[:, -1] == -1).all()


@pytest.mark.parametrize("attention", ["softmax", "linear"])
@pytest.mark.parametrize("head", [None, RELU], ids=["linear", "relu"])
def test_tensors_agree_with_the_loops_to_rounding(attention, head):
    agree_on("cpu", attention, head)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here: this test is not counted")
def test_a_gpu_agrees_with_the_loops_to_rounding():
    for attention in ("softmax", "linear"):
        for head in (None, RELU):
            agree_on("cuda", attention, head)


def agree_on(device, attention, head):
    """20 stable steps: 1e4 roundings of the size of the iterates."""
    sets = [protocol(seed, masked=seed % 2 == 0) for seed in range(4)]
    generator = np.random.default_rng(61)
    W0 = generator.normal(size=(4, 5, 5))
    K0, Q0 = generator.normal(size=(2, 5, 3)) / 2
    bounded = ["correlation", "log-loss", "logistic", "logistic-loss"]
    for name in bounded if attention == "linear" else sorted(LOSSES):
        for normalised in (False, True):
            options = {"step": 0.05, "steps": 20, "normalised": normalised, "head": head}
            options |= {"attention": attention}
            runs = [
                lambda s, name=name, options=options, **o: descend_w(
                    s, W0, LOSSES[name], **options, **o
                ),
                lambda s, name=name, options=options, **o: descend_kq(
                    s, K0, Q0, LOSSES[name], **options, **o
                ),
                lambda s, name=name, options=options, **o: descend_p(
                    s, W0[:, 0], LOSSES[name], **options, **o
                ),
            ]
            for run in runs:
                ours, there = run(sets), run(sets, device=device)
                assert np.abs(ours.W - there.W).max() <= 1e4 * EPS * (1.0 + np.abs(ours.W).max())
    far = descend_w(sets, 1e4 * W0, LOG_LOSS, step=10.0, steps=2, normalised=True, device=device)
    assert np.abs(np.linalg.norm(far.W[:, 1] - far.W[:, 0], axis=(1, 2)) - 10.0).max() <= 1e-7
    joint = [
        descend_vp(sets, W0[:, 0], W0[:, 1], LOG_LOSS, step=0.1, steps=20, device=where)
        for where in (None, device)
    ]
    assert np.abs(joint[0].v - joint[1].v).max() <= 1e4 * EPS
    assert np.abs(joint[0].W - joint[1].W).max() <= 1e4 * EPS
    kept = descend_w(sets, W0, LOG_LOSS, step=0.5, steps=50, norms=[6.0, 8.0], device=device)
    assert np.array_equal(
        kept.steps, descend_w(sets, W0, LOG_LOSS, step=0.5, steps=50, norms=[6.0, 8.0]).steps
    )


@settings(max_examples=40, deadline=None)
@given(arrays(3, 4, 2), arrays(3, 2), arrays(2, 2))
def test_a_head_of_ones_own_that_is_linear_changes_nothing(X, Z, W0):
    v = np.array([1.0, -0.5])
    data = AttentionData(X, Z, y=np.array([1.0, -1.0, 1.0]), v=v)
    own = Head("line", lambda x: x @ v, lambda x: np.broadcast_to(v, x.shape))
    ours = descend_w([data], W0 / 8, LOG_LOSS, step=0.01, steps=3)
    other = descend_w([data], W0 / 8, LOG_LOSS, step=0.01, steps=3, head=own)
    scale = 1.0 + np.abs(X).max() ** 2 * np.abs(Z).max()
    assert np.abs(ours.W - other.W).max() <= 1e4 * EPS * scale**2


def test_what_does_not_fit_is_refused():
    data = protocol(71)
    scored = AttentionData(data.X, data.Z, scores=data.gamma)
    W0 = np.zeros((5, 5))
    with pytest.raises(DataError, match="needs labels"):
        descend_w([scored], W0, LOG_LOSS, step=0.1, steps=1, head=RELU)
    with pytest.raises(DataError, match="trained on labels"):
        descend_vp([scored], W0[0], W0[0], LOG_LOSS, step=0.1, steps=1)
    with pytest.raises(DataError, match="neither softmax nor linear"):
        descend_w([data], W0, LOG_LOSS, step=0.1, steps=1, attention="sparse")
    with pytest.raises(DataError, match="dimension 3, tokens have 5"):
        descend_w([data], W0, LOG_LOSS, step=0.1, steps=1, head=relu_head(np.ones((2, 3))))
    with pytest.raises(DataError, match=r"not one of attsvm\.heads"):
        ensure_head(np.tanh)
    with pytest.raises(DataError, match="no such device"):
        descend_w([data], W0, LOG_LOSS, step=0.1, steps=1, device="cuda:77")
    with pytest.raises(DataError, match="loss of your own"):
        descend_w([data], W0, OWN, step=0.1, steps=1, device="cpu")
    with pytest.raises(DataError, match="steps or at norms"):
        descend_w([data], W0, LOG_LOSS, step=0.1, steps=1, record=[0], norms=[1.0])
    for norms in ([2.0, 1.0], [-1.0], [1.0, 1.0]):
        with pytest.raises(DataError, match="must increase"):
            descend_w([data], W0, LOG_LOSS, step=0.1, steps=1, norms=norms)
    with pytest.raises(DataError, match="hidden"):
        relu_head([[np.nan, 1.0]])
    with pytest.raises(DataError, match="outer"):
        relu_head(np.eye(3), [1.0, 2.0])


def test_a_run_that_overflows_says_so():
    """On the squared loss of linear attention steps of 100 double the iterates for ever."""
    data = protocol(81)
    for loss in (LOSSES["squared"], replace(LOSSES["squared"], name="mine")):
        with pytest.raises(DataError, match="run 1 overflowed by step") as caught:
            descend_w(
                [data], np.ones((5, 5)), loss, step=[1e-3, 100.0], steps=2000, attention="linear"
            )
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
    with np.errstate(invalid="ignore"), pytest.raises(DataError, match=what):
        descend_w(
            [protocol(91)], np.ones((5, 5)), LOG_LOSS, step=0.1, steps=3, head=head,
            normalised=normalised,
        )  # fmt: skip


def test_a_loss_whose_slope_is_no_number_is_refused():
    bad = replace(OWN, log_slope=lambda u: np.nan * u)
    with pytest.raises(DataError, match="slope that is not a number"):
        descend_w([protocol(91)], np.ones((5, 5)), bad, step=0.1, steps=3)


def test_a_single_data_set_and_the_name_of_a_loss_will_do():
    data, W0 = protocol(92), np.ones((5, 5))
    named = descend_w(data, W0, "log-loss", step=0.1, steps=3)
    assert np.array_equal(named.W, descend_w([data], W0, LOG_LOSS, step=0.1, steps=3).W)
    with pytest.raises(DataError, match="the loss is not known"):
        descend_w(data, W0, "log", step=0.1, steps=3)


@pytest.mark.parametrize("value", [2.5, "3", None, True, np.float64(2.0)])
def test_counts_are_integers(value):
    with pytest.raises(DataError, match="steps is not an integer"):
        ensure_count("steps", value)
    assert ensure_count("steps", np.int64(3)) == 3
    with pytest.raises(DataError, match="threads is below 1"):
        ensure_count("threads", 0, 1)


def test_norms_of_huge_iterates_are_finite():
    run = descend_w([protocol(94)], np.zeros((5, 5)), LOG_LOSS, step=1e300, steps=1)
    scaled = run.W[0, 1] / 1e300
    assert abs(run.norms[0, 1] / 1e300 - np.linalg.norm(scaled)) <= 8 * EPS * np.abs(scaled).max()


def test_the_head_of_positive_parts_by_hand():
    """h(x) = max(x_1, 0) + max(x_2, 0) at (2, -1) is 2, with gradient (1, 0)."""
    head = relu_head(np.eye(2))
    assert head.value(np.array([2.0, -1.0])) == 2.0
    assert head.slope(np.array([2.0, -1.0])).tolist() == [1.0, 0.0]
    assert head.slope(np.array([0.0, 0.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("score", [0.0, 1.0, -3.0])
@pytest.mark.parametrize("W0", [1e3, 1.0, 0.25])
def test_the_score_of_an_absent_token_plays_no_part(score, W0):
    """All present tokens of the first input tie, and only the second input pulls."""
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
