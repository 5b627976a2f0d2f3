"""Sets that no descent leaves, in which margins of better tokens lead those of worse ones."""

from collections import Counter

import numpy as np
import pytest
from flint import fmpq

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.exact.numbers import rationals
from attsvm.exact.traps import Selection, outrun_at, trap_at, trapped_at
from attsvm.losses import LOSSES
from attsvm.risk import gradient_w
from attsvm.training import descend_w


def outrun(best, tokens=((2, 4, 4, 0), (0, 0, 0, 0)), scores=(0.0, 1.0)):
    """Two inputs of one query; the first may keep its first token beside a better one.

    All tokens are support vectors in the Local-SVM of the first two, one with a multiplier.
    """
    X = np.zeros((2, 4, 4))
    X[0, : len(tokens)] = tokens
    X[1] = [[2, 2, 0, 1], [0, 0, 0, 0], [0, 0, 0, 2], [0, 2, 0, 1]]
    mask = np.arange(4) < np.array([[len(tokens)], [4]])
    gamma = [[*scores, *[0.0] * (4 - len(scores))], [best, 2.0, 1.0, 0.0]]
    return AttentionData(X, np.eye(1, 4).repeat(2, axis=0), scores=np.array(gamma), mask=mask)


@pytest.mark.parametrize("step", [2.0**-6, 1.0, 2.0**8])
def test_a_better_token_falls_behind_worse_ones_for_ever(step):
    """No margin falls, nor does the lead of the better token's margin over those of the others."""
    data = outrun(64.0)
    exact, W = ExactData.of(data), np.zeros((4, 4))
    assert outrun_at(exact, rationals(W), "correlation") is None  # nothing is selected yet
    run = descend_w([data], W, LOSSES["correlation"], step=step, steps=400, record=range(401)).W[0]
    assert trap_at(exact, rationals(run[1]), "correlation") is None
    trap = outrun_at(exact, rationals(run[1]), "correlation")
    assert (trap.selected, trap.converges) == ([0, 0], False)
    gaps = np.concatenate([data.X[0, 0] - data.X[0, 1:2], data.X[1, 0] - data.X[1, 1:]])
    margins = run[1:, :, 0] @ gaps.T
    leads = margins[:, :1] - margins[:, 1:]
    assert (np.diff(margins, axis=0) >= -1e-9).all()
    assert (np.diff(leads, axis=0) >= -1e-9).all()
    assert margins[0, 0] > 0


def test_a_better_token_that_pulls_too_hard_or_is_not_alone_is_not_outrun():
    """Less for the other input to lose, a rival of the same score, two better tokens, or none."""
    point = [[fmpq(x), fmpq(0), fmpq(0), fmpq(0)] for x in (1, 1, 1, 0)]
    three = ((2, 4, 4, 0), (0, 0, 0, 0), (0, 0, 0, -1))

    def kept(*data, loss="correlation"):
        return outrun_at(ExactData.of(outrun(*data)), point, loss)

    assert kept(16.0) is not None
    assert kept(2.0 + 2.0**-4) is None
    assert kept(16.0, three, (0.0, 1.0, 0.0)) is None
    assert kept(16.0, three, (0.0, 1.0, 2.0)) is None
    assert kept(16.0, three[:2], (1.0, 0.0)) is None
    assert kept(16.0, loss="logistic") is None


def test_nothing_is_outrun_where_the_loss_rises_between_a_token_and_the_better_one():
    """The second input is past the least point of (1 - u)^2 and pulls the first one over."""
    X = [[[2.0, 3.0], [0.0, 0.0]], [[2.0, -3.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]]
    gamma = [[0.0, 2.0**-6], [1 - 2.0**-8, 10.0], [0.0, -1.0]]
    data = AttentionData(np.array(X), np.eye(1, 2).repeat(3, axis=0), scores=np.array(gamma))
    start = np.eye(2)[:, :1] * np.eye(1, 2)
    assert trapped_at(ExactData.of(data), rationals(start), "squared") is None
    run = descend_w([data], start, LOSSES["squared"], step=1.0, steps=1, record=[0, 1]).W[0]
    margins = run[:, :, 0] @ (data.X[:, 0] - data.X[:, 1]).T
    assert (margins[0] > 0).all()
    assert margins[1, 0] < 0


def test_no_step_from_any_point_of_the_set_leaves_it():
    """Of what is certified among small random data, in floats, for losses that may rise as well.

    Squared loss falls below the score 1 alone, so that its scores are at most 1.
    """
    rng, found, moved = np.random.default_rng(0), Counter(), Counter()
    some = [0, 1, 2, 4, 16, -1, 1 / 64, -8, 0.5]
    drawn = {loss: some for loss in ("correlation", "log-loss")}
    drawn["squared"] = [0, 1, 0.5, 63 / 64, -1 / 64, -1, -4, -16, -64]
    for _ in range(2000):
        X = rng.integers(-1, 2, size=(int(rng.integers(2, 4)), 3, 3)).astype(float)
        X[:, 0] += rng.integers(0, 3, size=3)
        mask = np.arange(3) < rng.integers(2, 4, size=len(X))[:, None]
        loss = str(rng.choice(list(drawn)))
        scores = rng.choice(drawn[loss], size=(len(X), 3))
        data = AttentionData(X, np.eye(1, 3).repeat(len(X), axis=0), scores=scores, mask=mask)
        W = np.outer(rng.integers(0, 8, size=3) / 4, np.eye(1, 3))
        exact = ExactData.of(data)
        if outrun_at(exact, rationals(W), loss) is None:
            continue
        found[loss] += 1
        selection = Selection.at(exact, rationals(W))
        gap = {(i, t): X[i, selection.tokens[i]] - X[i, t] for i, t in selection.pairs}
        worse, better = ([p for p in gap if (selection.lead[p] < 0) == which] for which in (0, 1))
        kept = np.array([*gap.values(), *(gap[h] - gap[k] for h in better for k in worse)])
        for _ in range(60):
            V = W.copy()
            V[:, 0] += rng.normal(size=3) * rng.choice([0.0, 0.1, 0.5, 2.0])
            if (kept @ (V - W)[:, 0] >= 0).all():
                moved[loss] += bool((V != W).any())
                assert (kept @ gradient_w(data, V, LOSSES[loss])[:, 0] <= 1e-9).all()
    assert min(found[loss] for loss in drawn) > 0
    assert min(moved[loss] for loss in drawn) > 0
