"""Hypotheses and certificates of runs are decided on the exact values of the data."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attsvm import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, limit_certificate, rationals, separate
from attsvm.losses import LOG_LOSS
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import (
    LEAPING,
    certified_limit,
    max_margin,
    or_more_bits,
    reaches,
    runs,
    tight_data,
)
from attsvm.primitives.hypotheses import all_tight, feasible
from attsvm.primitives.limit_certificates import short_step
from attsvm.primitives.steps import SHARES, is_short, stepped
from attsvm.theory import OPEN
from attsvm.theory.instance import codec
from attsvm.theory.run.sampling import sample
from attsvm.training import descend_kq, follow_kq
from properties._support.small_runs import NOT_ALIGNED, UNEVEN
from properties.sim import REPAIRED
from properties.sim._support.training import DIRECTION


def one_dimension(*tokens, scores):
    data = AttentionData.of([[[t] for t in tokens]], [[1.0]], scores=[list(scores)])
    return Descent(data, np.zeros((1, 1)))


@pytest.mark.parametrize("scale", [2.0**600, 2.0**-500, 1.0])
def test_no_scale_of_the_data_refutes_a_true_reading(scale):
    run = one_dimension(scale, 0.0, scores=(1.0, 0.0))
    assert feasible(run)
    assert max_margin(run.data, "optimal") == [[1 / fmpq(*scale.as_integer_ratio())]]
    assert DIRECTION.balls(run) > 0


def test_margins_are_those_of_the_exact_tokens_not_of_rounded_differences():
    run = one_dimension(1.0, 2.0**-60, 0.0, scores=(1.0, 0.0, 0.0))
    assert run.data.X[0, 0] - run.data.X[0, 1] == run.data.X[0, 0] - run.data.X[0, 2]
    assert not all_tight(run)
    answer = separate(ExactData.of(run.data), [0])
    assert [m == 1 for m in answer.margins] == [True, False]


def test_an_infeasible_programme_has_no_basin():
    data = AttentionData.of(
        [[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [-1.0]], scores=[[1.0, 0.0]] * 2
    )
    exact, zero = ExactData.of(data), [[fmpq(0)]]
    assert limit_certificate(exact, zero, "log-loss", fmpq(1, 100), 0) is None


@pytest.mark.parametrize("towards", ["worst", "opposite", "mean", "turned"])
def test_other_directions_are_certified_to_be_wrong_and_the_right_one_right(towards):
    with ctx.workprec(128):
        assert certified_limit(UNEVEN, towards) < 0
        assert certified_limit(UNEVEN, "optimal") > 0


def test_a_mask_leaves_the_exact_answer_as_without_the_token():
    full = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    masked = AttentionData.of(
        [[[1.0], [7.0], [0.0]]],
        [[1.0]],
        scores=[[1.0, 9.0, 0.0]],
        mask=[[True, False, True]],
    )
    answers = [separate(ExactData.of(d), [0]) for d in (full, masked)]
    assert answers[0].W == answers[1].W == rationals(np.array([[1.0]]))
    assert arb(answers[0].duals[0]) == 1


def test_none_becomes_a_ball_that_asks_for_more_bits():
    assert or_more_bits(None) is OPEN
    ball = arb(-1)
    assert or_more_bits(ball) is ball


@pytest.mark.parametrize("step", [1.0, 0.5, 0.3])
def test_a_run_takes_the_steps_that_it_names(step):
    bound = short_step(LEAPING.data, REPAIRED)
    assert short_step(LEAPING.data, REPAIRED, step) == rationals(np.array([[step]]))[0][0] * bound
    with ctx.workprec(128):
        assert DIRECTION.balls(replace(LEAPING, step=step)) > 0
        assert reaches(replace(LEAPING, step=step)).holds


def test_longer_steps_leap_out_of_a_basin_and_floats_that_follow_the_curve_do_not_know():
    assert not is_short(LEAPING)
    with ctx.workprec(128):
        for loss in (REPAIRED, "log-loss", "correlation"):
            assert DIRECTION.balls(replace(LEAPING, loss=loss)) < 0
    assert reaches(LEAPING).kind == "unknown"


def test_steps_are_drawn_1_over_L_among_them_and_others_are_refused():
    records = stepped(Descent, runs(tight_data(), 0), lambda generator: NOT_ALIGNED)
    drawn = [codec.decode(document, Descent).step for document in sample(records.drawn, 60)[0]]
    larger = [records.ensemble(np.random.default_rng(seed)).step for seed in range(30)]
    assert set(drawn) == set(larger) == set(SHARES)
    assert 1.0 in SHARES
    assert all(0.0 < share <= 1.0 for share in SHARES)
    for step in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(DataError, match="step of a run"):
            replace(LEAPING, step=step)


def test_descent_on_factors_goes_to_the_nuclear_solution_that_its_start_chooses():
    X = np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]])
    data = AttentionData(X, np.eye(2), scores=np.array([[1.0, 0.0], [1.0, 0.0]]))
    K = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    Q = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])
    a, b = K + Q
    c = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    run = descend_kq([data], K, Q, LOG_LOSS, step=2.0, steps=3, record=[3])
    (far,) = follow_kq(data, K, Q, LOG_LOSS, [1e2, 1e4])
    for _ in range(3):
        score = 1.0 / (1.0 + np.exp(-(K * Q).sum(axis=1, keepdims=True)))
        slopes = score * (1.0 - score) / (1.0 + np.exp(score))  # a step of 2 and the mean of 2
        K, Q = K + slopes * Q, Q + slopes * K
    np.testing.assert_allclose(run.W[0, -1], K @ Q.T, atol=1e-12)
    limit = np.array([[1.0, c], [c, 1.0]])
    near, end = (np.abs(W / W[0, 0] - limit).max() for W in far.W[0, 1:])
    assert end < 1e-2
    assert end < near / 5
