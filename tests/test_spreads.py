"""Gamma in floats is what it is in balls, also where its factors overflow."""

import math

import numpy as np
import pytest
from flint import ctx
from hypothesis import assume, given, settings

from attsvm.data import AttentionData
from attsvm.losses import LOSSES
from attsvm.paths.objective import GapObjective
from attsvm.theory.arithmetic import BALLS
from properties._support.hypotheses import several_tokens, unique_optimum
from properties.tf._support.regularisation_paths import (
    STEEP,
    Path,
    follows,
    log_spread,
    paths,
)
from properties.tf.theorem_2 import near_optimal_points as as_good
from properties.tf.theorem_2.near_optimal_points import Candidate


def both(data, loss):
    with ctx.workprec(128):
        exact = as_good.log_spread(BALLS, Candidate(data, loss, 1.0, np.zeros((data.d, data.d))))
    return log_spread(GapObjective.of(data, LOSSES[loss]), loss), exact


@settings(deadline=None)
@given(paths())
def test_floats_agree_with_balls(case):
    assume(unique_optimum(case) and several_tokens(case))
    floats, exact = both(case.data, case.loss)
    assert floats == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("loss", STEEP)
def test_an_input_of_one_token_and_slopes_beyond_floats(loss):
    mask = np.array([[True, True], [True, False]])
    scores = np.array([[400.0, -400.0], [0.0, 0.0]])
    data = AttentionData(np.ones((2, 2, 1)), np.ones((2, 1)), scores=scores, mask=mask)
    floats, exact = both(data, loss)
    assert math.isfinite(floats)
    assert floats == pytest.approx(float(exact), rel=1e-12)


FIRST = [[-1.875, 1.0, -2.625], [-0.5, 2.0, 0.0], [0.90625, 0.0, -2.0], [3.875, 0.0, -0.5]]
SECOND = [
    [-1.34375, -1.34375, -0.59375],
    [2.09375, -2, -1],
    [1, -0.90625, 0.65625],
    [-0.5, -2.5, 0],
]
SCORES = [
    [-311.671875, -303.5078125, -59.375, 260.08203125],
    [24, -137.7890625, 12.35375977, -80.9],
]
UNEVEN_SCORES = AttentionData(
    [FIRST, SECOND], [[-2.5, 0.0, 2.0], [2.09375, -1.0, 0.71875]], scores=SCORES
)


def test_a_path_whose_direction_comes_late_is_followed_further():
    case = Path(UNEVEN_SCORES, "exponential")
    assert follows(case, "optimal").holds
