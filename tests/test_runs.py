"""Hypotheses and certificates of runs are decided on the exact values of the data."""

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attsvm import AttentionData
from attsvm.exact import ExactData, certified_fate, rationals, separate
from attsvm.theory import OPEN
from properties._support.descent_runs import (
    Run,
    certified_limit,
    max_margin,
    or_more_bits,
)
from properties._support.hypotheses import all_tight, feasible, lower_scores_equal
from properties.sim._support.training import PULLED_APART, REPAIRED, UNEVEN, decided


def one_dimension(*tokens, scores):
    data = AttentionData.of([[[t] for t in tokens]], [[1.0]], scores=[list(scores)])
    return Run(data, np.zeros((1, 1)))


@pytest.mark.parametrize("scale", [2.0**600, 2.0**-500, 1.0])
def test_no_scale_of_the_data_refutes_a_true_reading(scale):
    run = one_dimension(scale, 0.0, scores=(1.0, 0.0))
    assert feasible(run)
    assert max_margin(run.data, "optimal") == [[1 / fmpq(*scale.as_integer_ratio())]]
    ball = decided(run, REPAIRED)
    assert ball is None or not ball < 0


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
    fate = certified_fate(ExactData.of(data), [[fmpq(0)]], "log-loss", fmpq(1, 100), 0)
    assert fate is None or not fate.converges


def test_the_printed_counterexample_is_one_of_the_theorem():
    data = PULLED_APART.data
    assert data.gamma.tolist() == [[2.0, -2.0], [1.0, 0.0]]
    assert lower_scores_equal(PULLED_APART)
    assert all_tight(PULLED_APART)
    assert not PULLED_APART.start.any()
    with ctx.workprec(128):
        assert decided(PULLED_APART, REPAIRED) < 0


@pytest.mark.parametrize("towards", ["worst", "opposite", "mean", "turned"])
def test_other_directions_are_certified_to_be_wrong_and_the_right_one_right(towards):
    with ctx.workprec(128):
        assert certified_limit(UNEVEN, "logistic-loss", towards) < 0
        assert certified_limit(UNEVEN, "logistic-loss", "optimal") > 0


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
