"""Enclosed descent, its basin and its thresholds, against float runs."""

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.descent import descend_p, descend_w, follow_w
from attsvm.exact import ExactData, certified_fate, descend, rational, rationals
from attsvm.exact.descent import as_prompt, smoothness, threshold
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOG_LOSS, LOGISTIC_LOSS, LOSSES
from attsvm.risk import risk_gap as float_risk_gap
from attsvm.svm import att_svm
from attsvm.theory.limits import as_matrices, prompted
from properties.sim._support.theorem_3_14 import PULLED_APART, TWO_TOKENS
from tests.exact.digits import EPS, VALUE, encloses, real


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("seed", range(3))
def test_enclosed_iterates_hold_the_float_run(name, seed):
    """Six steps at 200 bits; the float run adds up some hundred roundings of numbers near 1."""
    generator = np.random.default_rng(seed)
    X, Z = generator.integers(-8, 9, size=(2, 3, 2)) / 8, generator.integers(-8, 9, size=(2, 2)) / 8
    data = AttentionData(X, Z, scores=generator.integers(-8, 9, size=(2, 3)) / 8)
    W0 = generator.integers(-8, 9, size=(2, 2)) / 8
    ctx.prec = 200
    ball = descend(ExactData.of(data), rationals(W0), name, rational(0.25), 6)
    run = descend_w([data], W0, LOSSES[name], step=0.25, steps=6).W[0, -1]
    for row, mine in zip(ball, run, strict=True):
        for x, w in zip(row, mine, strict=True):
            assert x.rad() <= 1e-50
            assert abs(x - arb(float(w))) <= 200 * EPS
    assert np.abs(run - W0).max() > 1e-3


def test_descent_on_a_prompt_is_descent_on_a_column():
    data = AttentionData.of(
        [[[1.0, 0.5], [0.0, 1.0], [-1.0, 0.0]], [[0.5, 0.5], [1.0, -1.0], [0.0, 0.0]]],
        [[7.0, 3.0], [0.0, 0.0]],
        scores=[[1.0, 0.0, 0.5], [2.0, 0.0, 1.0]],
    )
    ctx.prec = 96
    exact = as_prompt(ExactData.of(data))
    p0 = np.array([0.25, -0.5])
    ball = descend(exact, [[rational(x)] for x in p0], "log-loss", fmpq(1, 2), 8)
    run = descend_p([data], p0, LOG_LOSS, step=0.5, steps=8).W[0]
    same = descend_w([prompted(data)], as_matrices(p0[None])[0], LOG_LOSS, step=0.5, steps=8).W[0]
    assert np.abs(as_matrices(run) - same).max() <= 1e-14
    assert all(abs(arb(float(x)) - row[0]) <= 1e-13 for x, row in zip(run[-1], ball, strict=True))
    assert np.abs(run[-1] - p0).max() > 0.1


def fate_of(run, name, steps=256):
    step = rational(1.0 / risk_smoothness(run.data, LOSSES[name]))
    return certified_fate(ExactData.of(run.data), rationals(run.start), name, step, steps)


@pytest.mark.parametrize("name", ["log-loss", "logistic-loss", "exponential"])
def test_an_easy_run_is_proved_to_reach_its_basin(name):
    fate = fate_of(TWO_TOKENS, name)
    assert fate.reason == "basin"
    assert fate.converges
    assert fate.selected == [0]


def test_the_basin_is_where_the_float_run_goes():
    """The risk gap is below the threshold from the proved step on, and the direction is W^mm's."""
    data = AttentionData.of(
        [[[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0, -1.0]]
    )
    exact, zero = ExactData.of(data), np.zeros((2, 2))
    step = 1.0 / risk_smoothness(data, LOGISTIC_LOSS)
    fate = certified_fate(exact, rationals(zero), "logistic-loss", rational(step), 256)
    assert fate.converges
    bound = float(threshold(exact, "logistic-loss"))
    run = descend_w([data], zero, LOGISTIC_LOSS, step=step, steps=fate.step + 50)
    gaps = [float_risk_gap(data, W, LOGISTIC_LOSS) for W in run.W[0]]
    assert all(gap < bound for gap in gaps[fate.step :])
    assert gaps[0] >= bound or fate.step == 0
    far = follow_w(data, zero, LOGISTIC_LOSS, [1000.0])
    solution = att_svm(data)
    # ln 2 / sqrt 2 off the ray of W^mm, see the tests of descent
    assert (far.W[0, 1] * solution.W).sum() / (far.norms[0, 1] * solution.value) > 1.0 - 1e-6


def test_the_threshold_is_the_least_drop_to_a_second_score():
    data = AttentionData.of(
        np.zeros((3, 3, 1)), np.ones((3, 1)), scores=[[2, 1, 0], [1, 1, 0.5], [3, 3, 3]]
    )
    with mpmath.workdps(110):
        drops = [VALUE["log-loss"](b) - VALUE["log-loss"](a) for a, b in ((2, 1), (1, real(0.5)))]
        assert encloses(threshold(ExactData.of(data), "log-loss"), min(drops) / 3)
    flat = AttentionData.of(np.zeros((1, 2, 1)), np.ones((1, 1)), scores=[[1, 1]])
    assert threshold(ExactData.of(flat), "log-loss") is None
    assert certified_fate(ExactData.of(flat), [[fmpq(0)]], "log-loss", fmpq(1), 4) is None


def test_the_pulled_apart_run_is_proved_to_be_trapped():
    """Input 2 keeps its worse token for ever; a long float run and the far curve agree."""
    fate = fate_of(PULLED_APART, "logistic-loss")
    assert fate.reason == "trap"
    assert not fate.converges
    assert fate.selected == [0, 1]
    data = PULLED_APART.data
    step = 1.0 / risk_smoothness(data, LOGISTIC_LOSS)
    near = descend_w([data], PULLED_APART.start, LOGISTIC_LOSS, step=step, steps=fate.step + 500)
    far = follow_w(data, PULLED_APART.start, LOGISTIC_LOSS, [100.0, 1000.0])
    for W in [*near.W[0, fate.step :], *far.W[0, 1:]]:
        assert logits_of_w(data.X, data.Z, W).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("name", ["log-loss", "logistic-loss", "exponential", "correlation"])
def test_a_basin_is_claimed_for_steps_up_to_one_over_smoothness_and_no_longer(name):
    """Beyond it the risk may rise, and only sets that no step leaves prove anything."""
    ctx.prec = 96
    exact, W = ExactData.of(TWO_TOKENS.data), [[fmpq(8)]]
    longest = float(1 / smoothness(exact, name))
    for factor, reasons in ((1.0 - 2.0**-40, ["basin"]), (1.0 + 2.0**-40, ["trap", "cone"])):
        fate = certified_fate(exact, W, name, rational(factor * longest), 0)
        assert fate.reason in reasons
    assert certified_fate(exact, W, name, None, 0).reason == "basin"


@pytest.mark.parametrize(
    ("name", "slope", "curvature"),
    [
        ("correlation", 1.0, 0.0),
        ("log-loss", 1.0, 0.25),
        ("logistic", 0.25, 1 / (6 * 3**0.5)),
        ("logistic-loss", 0.25, 1 / (6 * 3**0.5)),
        ("exponential", np.exp(1.0), np.exp(1.0)),
        ("squared", 4.0, 2.0),
    ],
)
def test_the_smoothness_by_hand(name, slope, curvature):
    """Tokens 1 and -1 have spectral norm sqrt 2; of the scores 1/2 and -1 the span is 3/2."""
    data = AttentionData.of([[[1.0], [-1.0]]], [[2.0]], scores=[[0.5, -1.0]])
    bend = 1.5 * slope / (3 * 3**0.5) + 1.5**2 * curvature / 8
    assert float(smoothness(ExactData.of(data), name)) == pytest.approx(8.0 * bend, rel=1e-12)


def test_a_trap_that_does_not_settle_keeps_its_tokens_and_says_nothing_of_the_direction():
    """(1 - u)^2 has slope 0 at the score 1; the tokens that are kept are the optimal ones."""
    ctx.prec = 96
    data = AttentionData.of(
        [[[0.0], [-1.0]], [[0.0], [-2.0]]], [[1.0], [1.0]], scores=[[0.5, 0.0], [1.0, 0.0]]
    )
    for step in (None, fmpq(1, 64)):
        fate = certified_fate(ExactData.of(data), [[fmpq(40)]], "squared", step, 0)
        assert (fate.reason, fate.selected) == ("trap", [0, 0])
        assert (fate.settles, fate.converges) == (False, False)
