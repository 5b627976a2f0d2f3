"""Limits are told apart by rates: the right direction passes, a slightly wrong one does not."""

from functools import partial

import numpy as np
import pytest
from flint import arb, fmpq

from attsvm import limits
from attsvm.data import AttentionData
from attsvm.exact.descent import LimitCertificate
from attsvm.limits import (
    direction_converges,
    direction_is_proved,
    finite_minimum,
    in_basin,
    norm_diverges,
)
from attsvm.losses import LOGISTIC_LOSS, LOSSES
from attsvm.svm import att_svm
from attsvm.training import follow_w
from properties._support.small_runs import UNEVEN
from tests.limits.runs import start, three_inputs, tilted, two_inputs

LOG = LOSSES["log-loss"]


def one_pair():
    """One input whose max-margin direction is known: (x_0 - x_1) z^T."""
    return AttentionData.of([[[1, 0], [0, 1]]], [[1, 0]], scores=[[1, 0]])


DATA = {"one pair": one_pair, "two inputs": two_inputs, "three inputs": three_inputs}
STARTS = {"zero": 0.0, "small": 0.25, "large": 2.0}


@pytest.mark.parametrize("size", STARTS)
@pytest.mark.parametrize("name", DATA)
def test_the_max_margin_direction_passes(name, size):
    data = DATA[name]()
    slack = direction_converges(data, start(data, STARTS[size]), LOG, att_svm(data).W)
    assert slack.holds


def test_a_direction_is_judged_whatever_the_size_of_its_matrix():
    data = two_inputs()
    W, W0 = att_svm(data).W, start(data, 0.25)
    for scale in (0.125, 8.0):
        assert direction_converges(data, W0, LOG, scale * W).holds
        assert direction_converges(data, W0, LOG, scale * tilted(W, 0.99)).violated


def test_the_zero_matrix_has_no_direction():
    data = one_pair()
    assert direction_converges(data, np.zeros((2, 2)), LOG, np.zeros((2, 2))).violated


def test_a_run_that_is_cut_short_is_unknown(monkeypatch):
    data = two_inputs()
    monkeypatch.setattr(limits.direction, "follow_w", partial(follow_w, steps=10))
    slack = direction_converges(data, start(data, 0.25), LOG, att_svm(data).W)
    assert slack.kind == "unknown"
    assert not slack.holds
    assert not slack.violated
    assert slack.note.startswith("the norm did not reach")


def test_a_run_that_stands_still_is_unknown():
    data = AttentionData.of([[[1, 0], [1, 0]]], [[1, 0]], scores=[[1, 0]])
    assert direction_converges(data, np.eye(2), LOG, np.eye(2)).kind == "unknown"


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("size", STARTS)
def test_the_norm_diverges_where_tokens_can_be_separated(name, size):
    data = DATA[name]()
    assert norm_diverges(data, start(data, STARTS[size]), LOG).holds


@pytest.mark.parametrize("scores", [[[1, 1]], [[0, 0]]])
def test_the_norm_stands_still_where_nothing_is_to_be_gained(scores):
    data = AttentionData.of([[[1, 0], [0, 1]]], [[1, 0]], scores=scores)
    assert norm_diverges(data, np.zeros((2, 2)), LOG).violated
    assert norm_diverges(data, np.eye(2), LOG).violated


@pytest.mark.parametrize(
    ("X", "Z"), [([[[1, 1], [1, 1]]], [[1, 0]]), ([[[1, 0], [0, 1]]], [[0, 0]])]
)
def test_equal_tokens_and_zero_queries_stand_still(X, Z):
    data = AttentionData.of(X, Z, scores=[[1, 0]])
    assert norm_diverges(data, np.zeros((2, 2)), LOG).violated


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**20])
def test_the_norm_that_is_asked_for_is_in_units_of_the_data(monkeypatch, scale):
    """Tokens that are so many times as long move margins by one at a norm so much smaller."""
    asked = []

    def noting(data, W0, loss, norms):
        asked.append(norms)
        return follow_w(data, W0, loss, norms)

    monkeypatch.setattr(limits.rates, "follow_w", noting)
    data = one_pair()
    longer = AttentionData(scale * data.X, data.Z, scores=data.gamma)
    for each in (data, longer):
        assert norm_diverges(each, np.zeros((2, 2)), LOG).holds
    assert asked[0] == [scale * goal for goal in asked[1]]


@pytest.mark.parametrize(("sign", "runs"), [(1.0, 1), (-1.0, 2)])
def test_what_is_clear_is_not_followed_any_further(monkeypatch, sign, runs):
    """Gains along the target end it at once; a refutation takes one more decade."""
    asked = []

    def noting(*words):
        asked.append(words)
        return follow_w(*words)

    monkeypatch.setattr(limits.direction, "follow_w", noting)
    data = one_pair()
    target = sign * att_svm(data).W
    slack = direction_converges(data, np.zeros((2, 2)), LOG, target)
    assert (slack.holds, slack.violated) == (sign > 0, sign < 0)
    assert len(asked) == runs


def test_half_of_the_way_decides_nothing(monkeypatch):
    def first_goal(data, W0, loss, norms):
        return follow_w(data, W0, loss, norms[:1])

    monkeypatch.setattr(limits.rates, "follow_w", first_goal)
    slack = norm_diverges(one_pair(), np.zeros((2, 2)), LOG)
    assert not slack.holds
    assert not slack.violated


@pytest.mark.parametrize("turn", [0.01, 0.02, 0.1])
def test_a_direction_turned_by_a_hundredth_does_not_pass(turn):
    run = UNEVEN
    W = att_svm(run.data).W
    unit = W / np.linalg.norm(W)
    across = np.zeros_like(W)
    across[0, 1] = 1.0
    across -= (across * unit).sum() * unit
    across /= np.linalg.norm(across)
    wrong = np.linalg.norm(W) * (np.cos(turn) * unit + np.sin(turn) * across)
    assert direction_converges(run.data, run.start, LOGISTIC_LOSS, W).holds
    assert direction_converges(run.data, run.start, LOGISTIC_LOSS, wrong).violated


BOUNDED = AttentionData.of(
    [[[3, 3], [-2, 3], [2, 2]], [[2, 1], [-1, -2], [0, -2]]],
    [[1, 0]] * 2,
    scores=[[-1, -3, 0], [-2, 0, -4]],
)
"""From zero, descent on -u ends at w = (0.873, 0.355)."""
ZERO, STEP = [[fmpq(0)] * 2] * 2, fmpq(1, 8)


def test_a_run_is_proved_to_end_at_a_finite_minimum():
    end = finite_minimum(BOUNDED, ZERO, "correlation", STEP)
    assert end.radius < 1e-9
    for row, w in zip(end.near, (0.873, 0.355), strict=True):
        assert float(arb(row[0])) == pytest.approx(w, abs=1e-3)
        assert abs(float(arb(row[1]))) <= float(end.radius)


@pytest.mark.parametrize(
    ("start", "step", "steps"),
    [
        (ZERO, STEP, 0),
        (ZERO, STEP, 7),
        (ZERO, fmpq(0), 64),
        (ZERO, fmpq(10) ** 400, 64),
        ([[arb("nan"), fmpq(0)], [fmpq(0)] * 2], STEP, 64),
    ],
)
def test_no_run_no_minimum(start, step, steps):
    assert finite_minimum(BOUNDED, start, "correlation", step, steps) is None


def test_a_run_without_end_has_no_finite_minimum():
    apart = AttentionData.of(BOUNDED.X, BOUNDED.Z, scores=[[-3, -3, 0], [-2, 0, -4]])
    assert finite_minimum(apart, ZERO, "correlation", STEP, 256) is None


def test_a_target_that_leaves_the_kept_tokens_is_refuted(monkeypatch):
    """All that is known of a run is that it keeps the second token."""
    kept = LimitCertificate(0, [1], False, "trap", False)
    monkeypatch.setattr(limits.proofs, "limit_certificate", lambda *_: kept)
    start, target = np.zeros((2, 2)), np.array([[1.0, 0.0], [-1.0, 0.0]])
    judged = partial(direction_is_proved, one_pair(), start, LOG, step=0.125)
    assert judged(target).violated
    assert judged(-target).kind == "unknown"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_iterate_that_is_not_finite_proves_nothing(value):
    data = one_pair()
    assert in_basin(data, np.array([[1.0, 0.0], [0.0, 0.0]]), LOG).kind != "unknown"
    assert in_basin(data, np.array([[1.0, 0.0], [0.0, value]]), LOG).kind == "unknown"
