"""The residual W_k - ln(k) W^mm of docs/proofs/bounded_residual.md, and least failing data."""

from dataclasses import replace

import numpy as np
import pytest
from flint import ctx

from attsvm.data import AttentionData
from attsvm.primitives.hypotheses import all_tight, linear_scores, unique_optimum
from attsvm.svm import att_svm
from attsvm.training import follow_w
from properties.tf._support import descent_instances as cases

NORMS = np.geomspace(10.0, 1e5, 9)
SIDES = AttentionData.of([[[0, 0], [-1, -0.5], [-1, 0.5]]], [[1, 0]], scores=[[0, -1, -3]])
"""Both constraints have a multiplier above 0."""
IDLE = AttentionData.of([[[0, 0], [-1, 0], [-1, -1]]], [[1, 0]], scores=[[0, -1, -3]])
"""The second constraint is tight and has the multiplier 0."""


def sideways(data):
    """The weights across W^mm = (1, 0) along gradient flow, and those along it."""
    np.testing.assert_allclose(att_svm(data).W[:, 0], [1.0, 0.0], atol=1e-9)
    run = follow_w(data, np.zeros((2, 2)), "correlation", NORMS.tolist())
    along, across = run.W[0, -len(NORMS) :, :, 0].T
    assert len(along) == len(NORMS)
    return along, across


def test_with_multipliers_above_zero_the_residual_settles():
    _, across = sideways(SIDES)
    assert np.ptp(across[3:]) < 0.01
    # c_1 exp(-w_2/2) = c_2 exp(w_2/2), with the gaps 1 and 3 for weights
    assert across[-1] == pytest.approx(np.log(1 / 3), abs=0.01)


def test_with_a_tight_constraint_of_multiplier_zero_the_residual_grows_like_ln_ln_k():
    along, across = sideways(IDLE)
    slopes = np.diff(across) / np.diff(np.log(along))
    away = abs(slopes - 1.0)
    assert (np.diff(away) < 0.0).all()
    assert away[-1] < 1e-3


def test_one_input_of_four_support_vectors_fails_from_zero_with_a_linear_head():
    run = cases.ONE_OF_FOUR
    assert run.data.n == 1
    assert linear_scores(run.data)
    assert all_tight(run.data)
    assert unique_optimum(run)
    with ctx.workprec(256):
        assert cases.DIRECTION.balls(run) < 0
        assert cases.DIRECTION.balls(replace(run, start=2 * np.eye(2))) > 0
