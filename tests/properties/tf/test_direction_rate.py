"""The rate of docs/proofs/direction_rate.md along long runs, and its two hypotheses by hand."""

import math

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.losses import LOSSES
from attsvm.svm import att_svm
from attsvm.theory.arithmetic import BALLS
from attsvm.training import descend_w
from properties.tf.convergence_rates import ASIDE, AWRY, PAIR
from properties.tf.convergence_rates.distance import HALF_WAY, SHORT_STEP, started, stays_near

STEPS = 3000


def along(run):
    """Return D_k and the least margins of the iterates in floats, and <W_k - W_0, W^mm>."""
    data, V = run.data, att_svm(run.data).W
    loss, size = LOSSES[run.loss], run.size
    W = descend_w(data, run.start, loss, step=size, steps=STEPS, record="all").W[0]
    toward = (W * V).sum(axis=(1, 2))
    distance = (W**2).sum(axis=(1, 2)) - toward**2 / (V**2).sum()
    logits = np.einsum("ntd,kde,ne->knt", data.X, W, data.Z)
    best = data.gamma.argmax(axis=1)
    margins = np.take_along_axis(logits, best[None, :, None], axis=2) - logits
    rivals = data.present & (np.arange(data.T) != best[:, None])
    return distance, np.where(rivals, margins, np.inf).min(axis=(1, 2)), toward - toward[0]


def test_both_bounds_hold_along_a_long_run():
    assert HALF_WAY.holds(AWRY)
    assert SHORT_STEP.holds(AWRY)
    distance, margin, grown = along(AWRY)
    s = np.exp(ASIDE.X[0] @ AWRY.start[:, 0])
    gap, k = -(s / s.sum()) @ ASIDE.gamma[0], np.arange(STEPS + 1)
    bound = distance[0] + 2 * AWRY.size * gap + 8 * 32 / math.e * grown
    assert (distance <= bound).all()
    assert (np.exp(margin) >= 0.5 * (1 / gap + AWRY.size * k / 8)).all()
    assert distance[1:].max() > distance[0] + 2 * AWRY.size * gap  # so the last term is needed


def test_with_one_rival_the_distance_stays_below_its_first_two_terms():
    run = started(PAIR, np.array([[2.0]]), steps=3)
    bound = stays_near(BALLS, run).parts[0].right
    gap = 1 / (1 + math.exp(2))
    assert float(bound.mid()) == pytest.approx(2 * run.size * gap)  # the start is on the line


@pytest.mark.parametrize(("start", "near"), [(0.0, False), (0.125, True), (-1.0, False)])
def test_the_basin_of_half_way_scores_needs_more_than_half_of_the_attention(start, near):
    assert HALF_WAY.holds(started(PAIR, np.array([[start]]))) is near
    tied = AttentionData.of([[[1], [0]]], [[1]], scores=[[1, 1]])
    assert not HALF_WAY.holds(started(tied, np.array([[start]])))
