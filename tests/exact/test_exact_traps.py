"""Proved traps, stationary starts and climbs, against float runs."""

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.descent import descend_w, follow_w
from attsvm.exact import ExactData, decide, rationals
from attsvm.exact.descent import gradient
from attsvm.exact.traps import _unit, is_stationary_start, moves_along_margins, trapped_at
from attsvm.losses import LOG_LOSS, LOSSES
from attsvm.risk import gradient_w
from attsvm.strategies import arrays, sizes
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm_programme
from properties.sim._support.theorem_3_14 import TWO_TOKENS
from tests.exact.digits import DECREASING, EPS

SHAPES = [(1, 2, 1), (1, 3, 2), (1, 4, 2), (2, 2, 2), (2, 3, 3), (3, 3, 2)]


def ensemble(shape):
    """40 data sets of a shape, with starts at random or towards some token of each input."""
    generator = np.random.default_rng(shape)
    n, T, d = shape
    sets, starts = [], []
    for k in range(40):
        X = generator.integers(-4, 5, size=(n, T, d)) / 2
        Z = generator.integers(-4, 5, size=(n, d)) / 2
        sets.append(AttentionData(X, Z, scores=generator.integers(-4, 5, size=(n, T)) / 2))
        start = generator.integers(-4, 5, size=(d, d)) / 2
        if k % 2:
            lead = X[np.arange(n), generator.integers(0, T, size=n)] - X.mean(axis=1)
            start = np.round(4.0 * np.einsum("nd,ne->de", lead, Z)) / 2
        starts.append(float(generator.choice([0.5, 1.0, 4.0, 16.0])) * start)
    return sets, np.array(starts)


def selected(data, points):
    return [logits_of_w(data.X, data.Z, W).argmax(axis=-1).tolist() for W in points]


@pytest.mark.parametrize("name", ["log-loss", "logistic-loss"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_run_leaves_a_proved_trap(shape, name):
    """Not by small or large steps, not on the curve to norm 1000; both kinds of start occur."""
    sets, starts = ensemble(shape)
    record = [*range(10), *range(10, 101, 10)]
    runs = [
        descend_w(sets, starts, LOSSES[name], step=step, steps=100, record=record).W
        for step in (0.1, 5.0)
    ]
    proved, left = 0, 0
    for k, data in enumerate(sets):
        chosen = trapped_at(ExactData.of(data), rationals(starts[k]), name)
        met = selected(data, [W for run in runs for W in run[k]])
        if any(tokens != met[0] for tokens in met):
            left += 1
            assert chosen is None
        if chosen is not None:
            proved += 1
            assert met[0] == chosen
            if proved <= 3:
                norms = [2.0 * np.linalg.norm(starts[k]) + 1.0, 1000.0]
                far = follow_w(data, starts[k], LOSSES[name], norms, steps=500)
                assert selected(data, far.W[0]) == [chosen] * len(far.steps)
    assert proved >= 1
    assert left >= 3


def test_increasing_losses_and_undecided_starts_are_no_traps():
    exact = ExactData.of(TWO_TOKENS.data)
    far = [[fmpq(20)]]
    assert trapped_at(exact, far, "log-loss") == [0]
    assert trapped_at(exact, far, "logistic") is None
    assert trapped_at(exact, [[fmpq(0)]], "log-loss") is None  # no token leads
    wide = [[arb(20, 30)]]
    assert trapped_at(exact, wide, "log-loss") is None  # an enclosure that holds other starts


@settings(max_examples=60, deadline=None)
@given(attention_data(), st.sampled_from(["log-loss", "correlation"]))
def test_stationary_starts_are_those_of_zero_gradient(data, name):
    """At W = 0 attention is uniform: the float gradient is zero to rounding, and else is not.

    A nonzero gradient has denominators n T^2 2^30 at most here, times a slope above e^-49 / 4.
    """
    exact, zero = ExactData.of(data), np.zeros((data.d, data.d))
    G = gradient(exact, rationals(zero), name)
    balls = [arb(x) for row in G for x in row]
    if is_stationary_start(exact, rationals(zero)):
        assert all(x.contains(0) for x in balls)
        size = 1.0 + np.abs(data.gamma).max()
        assert np.abs(gradient_w(data, zero, LOSSES[name])).max() <= 2000 * EPS * size
    elif name == "correlation":  # for other losses groups of other means might cancel
        means = {sum(row, fmpq(0)) / len(row) for row in exact.gamma}
        assert len(means) > 1 or any(not x.contains(0) for x in balls)


def test_stationary_starts_by_hand():
    opposed = AttentionData.of(
        [[[1.0], [-1.0]], [[-1.0], [1.0]]], [[1.0], [1.0]], scores=[[1, 0], [1, 0]]
    )
    assert is_stationary_start(ExactData.of(opposed), [[fmpq(0)]])
    assert not is_stationary_start(ExactData.of(opposed), [[fmpq(1)]])
    other_mean = AttentionData.of(
        [[[1.0], [-1.0]], [[-1.0], [1.0]]], [[1.0], [1.0]], scores=[[1, 0], [2, 1]]
    )
    assert not is_stationary_start(ExactData.of(other_mean), [[fmpq(0)]])
    assert not is_stationary_start(ExactData.of(TWO_TOKENS.data), [[fmpq(0)]])
    run = descend_w([opposed], np.zeros((1, 1)), LOG_LOSS, step=1.0, steps=20)
    assert not run.W.any()


def test_pulls_that_cancel_at_means_of_one_numerator_are_not_stationary():
    """Mean scores 1/2 and 1/3, pulls 1/3 and -1/3: they cancel where l' is constant."""
    data = AttentionData.of(
        [[[1.0], [-1.0], [0.0]], [[-1.5], [0.0], [0.0]]],
        [[1.0], [1.0]],
        scores=[[1.0, 0.0, 0.5], [1.0, 0.0, 0.0]],
    )
    exact, zero = ExactData.of(data), [[fmpq(0)]]
    assert not is_stationary_start(exact, zero)
    assert gradient(exact, zero, "correlation")[0][0].contains(0)
    assert not gradient(exact, zero, "log-loss")[0][0].contains(0)


@pytest.mark.parametrize("margin", [arb(2), arb(2, 1), arb(0.5, 0.5)])
def test_ratios_are_enclosed_for_every_margin_of_a_ball_and_every_larger_one(margin):
    ball = _unit(margin)
    for m in (margin.lower(), margin.mid(), margin.upper(), arb(50)):
        assert ball.contains((-m).exp())
    assert ball.contains(0)
    assert ball.upper() < (-margin.lower()).exp() + 1e-6


@st.composite
def level_rivals(draw):
    """Data with one score for the rivals of each input's first token."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(2, 3)), draw(sizes(1, 3))
    scores = np.repeat(-np.abs(draw(arrays(n, 1))), T, axis=1)
    scores[:, 0] = 0.5
    return AttentionData(draw(arrays(n, T, d)), draw(arrays(n, d)), scores=scores)


@settings(max_examples=80, deadline=None)
@given(level_rivals(), st.sampled_from(DECREASING), st.data())
def test_descent_climbs_along_margins_wherever_that_is_claimed(data, name, draw):
    """-<grad L(X), X^mm> is positive at any X, and its ball says so."""
    exact = ExactData.of(data)
    assert moves_along_margins(exact)
    answer = decide(att_svm_programme(data))
    assume(answer.status == "solved")
    X = rationals(draw.draw(arrays(data.d, data.d)))
    ctx.prec = 1000
    G = gradient(exact, X, name)
    inner = sum(
        (arb(g) * w for a, b in zip(G, answer.W, strict=True) for g, w in zip(a, b, strict=True)),
        arb(0),
    )
    assert inner < 0


def test_uneven_rivals_and_ties_are_not_claimed_to_climb():
    zeros = np.zeros((1, 3, 1))
    uneven = AttentionData.of(zeros, np.ones((1, 1)), scores=[[2, 1, 0]])
    tied = AttentionData.of(zeros, np.ones((1, 1)), scores=[[1, 1, 0]])
    single = AttentionData.of(zeros[:, :1], np.ones((1, 1)), scores=[[1]])
    assert not any(moves_along_margins(ExactData.of(data)) for data in (uneven, tied, single))
