"""Scores of a linear head: their decision, queries on one side, and tokens that are moved."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from attsvm.data import AttentionData
from attsvm.losses import LOSSES
from attsvm.primitives import claim_checker, data_checker
from attsvm.primitives.hypotheses import LINEAR_HEAD, feasible, labellings, linear_scores
from attsvm.primitives.query_hypotheses import balance, one_side
from attsvm.primitives.steps import headed
from attsvm.risk import gradient_w
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm
from attsvm.training import descend_w
from properties.tf._support import descent_instances as cases
from properties.tf.linear_head_landscape import instances


def scored(data):
    """The data with their scores in place of labels and a head."""
    return AttentionData(data.X, data.Z, scores=data.gamma, mask=data.mask)


def has_labels(data):
    """Whether some labels and a head give the scores, by least squares over all labels."""
    tokens, scores = data.X[data.present], np.where(data.present, data.gamma, 0.0)
    for y in np.ndindex(*(2,) * data.n):
        wanted = (scores * (1.0 - 2.0 * np.array(y))[:, None])[data.present]
        v = np.linalg.lstsq(tokens, wanted, rcond=None)[0]
        if np.allclose(tokens @ v, wanted, atol=1e-9):
            return True
    return False


@given(headed(attention_data(n=(1, 3), T=(1, 3), d=(1, 3))))
def test_linear_scores_are_told_from_others(data):
    known = has_labels(data)
    assert linear_scores(data) is linear_scores(scored(data)) is known
    exact = [
        [[[Fraction(x) for x in token] for token in rows] for rows in data.X.tolist()],
        [[Fraction(x) for x in row] for row in data.Z.tolist()],
        [[Fraction(x) for x in row] for row in data.gamma.tolist()],
    ]
    assert claim_checker.linear_scores(data_checker.Data(*exact)) is known


def test_scores_of_a_verifier_are_decided_for_inputs_of_any_length():
    data = data_checker.Data([[[1], [2]], [[3]]], [[1], [1]], [[1, 2], [-3]])
    assert claim_checker.linear_scores(data)
    assert not claim_checker.linear_scores(data_checker.Data([[[1], [2]]], [[1]], [[1, 1]]))


@given(instances.runs())
def test_queries_are_on_one_side_exactly_if_a_linear_programme_says_so(case):
    data = case.data
    sides = data.y[:, None] * data.Z
    solved = linprog(
        np.zeros(data.d), A_ub=-sides, b_ub=-np.ones(data.n), bounds=(None, None)
    ).success
    assert one_side(case) is solved
    parts = balance(data, next(labellings(data)))
    assert (parts is None) is solved
    if parts is not None:
        weights = np.array([float(x) for x in parts])
        assert (weights >= 0).all()
        assert weights.any()
        assert np.allclose(weights @ sides, 0.0)


@pytest.mark.parametrize("loss", ["log-loss", "exponential", "correlation", "cubic"])
def test_two_inputs_that_share_their_query_rest_at_zero(loss):
    data = cases.SHARED_TOKEN.data
    assert np.array_equal(data.X[:, 0], data.Z)
    assert np.allclose(gradient_w(data, np.zeros((2, 2)), LOSSES[loss]), 0.0, atol=1e-15)
    assert feasible(cases.SHARED_TOKEN)
    margins = (data.X[:, 1:2] - data.X) @ np.array([0.0, 1.0])
    assert margins[:, [0, 2]].tolist() == [[3.0, 1.0]] * 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (cases.NOT_ALIGNED, replace(cases.OWN_TOKEN, loss="correlation")),
        (
            cases.wide(cases.NOT_ALIGNED, 4),
            replace(cases.wide(cases.OWN_TOKEN, 4), loss="correlation"),
        ),
    ],
)
def test_tokens_may_be_moved_until_the_first_one_is_the_query(one, other):
    assert np.array_equal(other.data.X[:, 0], other.data.Z)
    runs = [
        descend_w(case.data, case.start, case.loss, step=0.01, steps=200, record=[200])
        for case in (one, other)
    ]
    assert np.allclose(runs[0].W, runs[1].W)
    assert np.allclose(att_svm(one.data).W, att_svm(other.data).W)
    assert LINEAR_HEAD.holds(one)
    assert LINEAR_HEAD.holds(other)


@given(instances.runs(), st.floats(0.01, 4.0))
def test_the_risk_falls_along_v_q(case, length):
    """It falls all along v q^T, not only at first: the slope is negative at every W."""
    data = case.data
    assume(one_side(case))
    sides = data.y[:, None] * data.Z
    q = linprog(np.zeros(data.d), A_ub=-sides, b_ub=-np.ones(data.n), bounds=(None, None)).x
    along = np.outer(data.v, q)
    slope = np.sum(gradient_w(data, case.start + length * along, LOSSES[case.loss]) * along)
    assert slope <= 1e-12
