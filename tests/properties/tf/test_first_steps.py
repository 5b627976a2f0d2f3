"""First steps: separation, correlation and length are decided in balls, floats step alike."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given

from attsvm import AttentionData
from attsvm.exact import ExactData, risk_gap
from attsvm.exact.descent import threshold
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.hypotheses import rivals_equal
from properties.tf import global_initial_gradient as claims
from properties.tf._support.descent_instances import DIRECTION, NOT_ALIGNED
from properties.tf.global_initial_gradient import first_steps
from properties.tf.global_initial_gradient.first_steps import Step

ZERO = np.zeros((2, 2))
TWO = AttentionData.of([[[1.0, 0.0], [0.0, 0.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0]])


def test_a_single_pair_is_separated_by_its_own_gradient():
    case = Step(TWO, ZERO, "correlation", 1.0)
    assert first_steps.separates(case)
    assert abs(first_steps.separation(case) - 1) < 1e-9
    assert first_steps.correlates(case, max_margin(TWO, "optimal"))
    assert not first_steps.correlates(case, max_margin(TWO, "opposite"))
    assert not first_steps.correlates(case, None)


def test_where_the_gradient_vanishes_nothing_is_favoured():
    tied = AttentionData.of([[[1.0, 0.0], [0.0, 0.0]]], [[1.0, 0.0]], scores=[[0.0, 0.0]])
    case = Step(tied, ZERO, "log-loss", 1.0)
    assert first_steps.steepest(case) is None
    assert first_steps.separation(case) is None
    assert not first_steps.separates(case)
    assert first_steps.exactly_stepped(case) is None
    assert first_steps.stepped(case) is None


def test_the_counterexamples_meet_their_hypotheses():
    overtaken = Step(claims.OVERTAKEN, ZERO, "correlation", 1.0)
    redundant_data = Step(claims.CROWDED, ZERO, "correlation", 1.0)
    stepped = Step(NOT_ALIGNED.data, ZERO, NOT_ALIGNED.loss, 1.0)
    assert claims.OVERTAKEN.gamma.tolist() == [[4.0, 5.0, 0.0, -6.0]]
    assert first_steps.separates(overtaken)
    assert first_steps.separates(redundant_data)
    assert rivals_equal(claims.CROWDED)
    assert not first_steps.separates(stepped)
    assert first_steps.correlates(stepped, max_margin(NOT_ALIGNED.data, "optimal"))
    for case in (overtaken, redundant_data, stepped):
        with ctx.workprec(512):
            assert DIRECTION.balls(case) < 0


@pytest.mark.parametrize("data", [claims.OVERTAKEN, claims.CROWDED])
def test_a_long_first_step_saves_them(data):
    case = Step(data, ZERO, "correlation", 32.0)
    assert first_steps.is_long(case)
    with ctx.workprec(256):
        assert first_steps.decided_after(case) > 0
        assert first_steps.decided_after(case, "worst") < 0


def test_a_long_step_along_a_gradient_that_does_not_separate_saves_nothing():
    case = Step(NOT_ALIGNED.data, ZERO, NOT_ALIGNED.loss, 32.0)
    assert not first_steps.is_long(case)
    with ctx.workprec(256):
        assert first_steps.decided_after(case) < 0


def test_length_is_held_against_the_closed_form():
    # one pair at distance 1: b G (T - 1) / drop = 1, so R >= 0 from zero, 3 from -3
    case = Step(TWO, ZERO, "correlation", 2.0**-20)
    assert first_steps.is_long(case)
    behind = replace(case, start=np.array([[-3.0, 0.0], [0.0, 0.0]]))
    assert not first_steps.is_long(replace(behind, length=2.999))
    assert first_steps.is_long(replace(behind, length=3.001))


@pytest.mark.parametrize("low", [0.5, -0.5, -3.0])
def test_length_counts_the_steepest_slope_between_the_scores(low):
    data = replace(TWO, y=None, v=None, scores=np.array([[low + 2.0, low]]))
    case = Step(data, ZERO, "logistic-loss", 1.0)
    u = np.linspace(low, low + 2.0, 2001)
    steep = (1.0 / (2.0 + np.exp(u) + np.exp(-u))).max()
    drop = 1.0 / (1.0 + np.exp(low)) - 1.0 / (1.0 + np.exp(low + 2.0))
    needed = np.log(2.0 * steep / drop) / float(first_steps.separation(case).mid())
    assert not first_steps.is_long(replace(case, length=0.999 * needed))
    assert first_steps.is_long(replace(case, length=1.001 * needed))


def test_length_counts_inputs_rivals_gaps_and_the_nearest_margin():
    X = np.zeros((2, 3, 4))
    for i, t in np.ndindex(2, 2):
        X[i, t + 1, 2 * i + t] = -1.0
    Z = np.repeat(np.eye(1, 4), 2, axis=0)
    data = AttentionData(X, Z, scores=np.array([[2.0, 0.0, 0.0], [1.0, 0.0, -1.0]]))
    start = np.zeros((4, 4))
    start[:, 0] = [0.5, 0.25, 0.5, 1.0]
    case = Step(data, start, "correlation", 1.0)
    # b G (T - 1) is 4 and 4, the smaller drop 1, the least margin 1/4
    needed = (np.log(8.0) - 0.25) / float(first_steps.separation(case).mid())
    assert not first_steps.is_long(replace(case, length=0.999 * needed))
    assert first_steps.is_long(replace(case, length=1.001 * needed))


@given(first_steps.favoured((2.0, 8.0, 32.0)))
def test_after_a_long_step_the_point_is_in_the_basin(case):
    assume(first_steps.separates(case) and first_steps.is_long(case))
    exact = ExactData.of(case.data)
    first = first_steps.exactly_stepped(case)
    assert not risk_gap(exact, first, case.loss) >= threshold(exact, case.loss)
    floats = first_steps.stepped(case)
    error = max(
        abs(float(arb(a).mid()) - b)
        for exact_row, row in zip(first, floats, strict=True)
        for a, b in zip(exact_row, row, strict=True)
    )
    assert error < 1e-9 * (1.0 + np.abs(floats).max())
