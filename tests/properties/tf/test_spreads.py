"""Gamma by its closed form, also where its factors overflow, and the radii that rest on it."""

import math

import numpy as np
import pytest
from flint import ctx

from attsvm.data import AttentionData
from attsvm.theory.arithmetic import BALLS
from properties.tf._support.regularisation_paths import Path, follows, log_spread

ONE_PAIR = Path(AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[3.0, 1.0]]), "correlation")
WITH_ONE_TOKEN = AttentionData(
    np.ones((2, 3, 1)),
    np.ones((2, 1)),
    scores=np.array([[400.0, -400.0, 399.0], [0.0, 0.0, 0.0]]),
    mask=np.array([[True, True, True], [True, False, False]]),
)
"""Two rivals, gaps 800 and 1; the second input has one token, which counts for nothing."""


def spread(case):
    with ctx.workprec(128):
        return float(log_spread(BALLS, case))


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (ONE_PAIR, math.log(2.0)),
        (Path(ONE_PAIR.data, "exponential"), math.log(2.0) + 2.0),
        (Path(WITH_ONE_TOKEN, "correlation"), math.log(2.0 * 2.0 * 800.0)),
        (Path(WITH_ONE_TOKEN, "exponential"), math.log(2.0 * 2.0 * 800.0) + 800.0),
        (Path(WITH_ONE_TOKEN, "log-loss"), math.log(2.0 * 2.0 * 800.0) + 400.0),
        # |l'| is 1/4 at most, exp(-400) at either end
        (Path(WITH_ONE_TOKEN, "logistic-loss"), math.log(800.0) + 400.0),
    ],
)
def test_gamma_weighs_steepest_slopes_and_gaps_against_flattest(case, expected):
    """Also where slopes are beyond floats."""
    assert spread(case) == pytest.approx(expected, rel=1e-12)


def test_gamma_adds_up_inputs():
    X = np.array([[[1.0], [0.0]], [[1.0], [0.0]]])
    data = AttentionData(X, np.ones((2, 1)), scores=np.array([[3.0, 1.0], [5.0, 0.0]]))
    assert spread(Path(data, "correlation")) == pytest.approx(math.log(2.0 * (2.0 + 5.0) / 2.0))


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
