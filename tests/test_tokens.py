"""Optimal tokens, their ties and gaps, and the targets that a user may name."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError, TiedTokensError
from attsvm.strategies import arrays
from attsvm.strategies.data import attention_data
from attsvm.tokens import optimal_tokens, target_tokens


@st.composite
def masked_data(draw):
    """Data of either kind, tied often, some tokens of it absent."""
    data = draw(attention_data(T=(1, 5)))
    mask = draw(arrays(data.n, data.T)) >= 0
    mask[:, 0] |= ~mask.any(axis=1)
    return AttentionData(data.X, data.Z, data.y, data.v, data.scores, mask)


def exact_scores(data):
    """Scores in rational arithmetic; absent tokens have none."""
    if data.scores is not None:
        table = [[Fraction(g) for g in row] for row in data.scores]
    else:
        v = [Fraction(c) for c in data.v]
        table = [
            [Fraction(y) * sum(Fraction(a) * b for a, b in zip(x, v, strict=True)) for x in tokens]
            for y, tokens in zip(data.y, data.X, strict=True)
        ]
    return [
        {t: g for t, g in enumerate(row) if keep[t]}
        for row, keep in zip(table, data.present, strict=True)
    ]


@given(masked_data())
def test_optimal_tokens_are_the_exact_maximisers_of_the_score(data):
    """The grid is coarse: no rounding, and different scores differ by far more than rounding."""
    found = optimal_tokens(data)
    for i, scores in enumerate(exact_scores(data)):
        best = max(scores.values())
        assert found.ties[i] == tuple(t for t, g in scores.items() if g == best)
        assert found.index[i] == found.ties[i][0]
        below = [g for g in scores.values() if g != best]
        assert found.gap[i] == (float(best - max(below)) if below else np.inf)
    assert found.unique == all(len(tied) == 1 for tied in found.ties)
    if data.scores is not None:  # an absent token's plays no part
        raised = np.where(data.present, data.scores, 1e6)
        after = optimal_tokens(AttentionData(data.X, data.Z, scores=raised, mask=data.mask))
        assert after.ties == found.ties
        assert np.array_equal(after.gap, found.gap)


@given(st.integers(1, 12), st.randoms(use_true_random=False), st.integers(0, 2**32 - 1))
def test_only_scores_of_a_head_that_differ_by_rounding_are_tied(d, shuffler, seed):
    """Coordinates in another order round apart under a constant head.

    A score that is larger by 8 d eps |v|^T |x|, four times that, is not tied, nor are the rounded
    scores where they are given themselves.
    """
    generator = np.random.default_rng(seed)
    token, v = generator.normal(size=(2, d))
    X = np.stack([token[shuffler.sample(range(d), d)] for _ in range(4)])[None]
    data = AttentionData(X, np.ones((1, d)), y=np.ones(1), v=np.full(d, v[0]))
    assert optimal_tokens(data).ties == ((0, 1, 2, 3),)
    assert optimal_tokens(data).gap == [np.inf]
    given_themselves = AttentionData(X, np.ones((1, d)), scores=data.gamma)
    best = tuple(np.flatnonzero(data.gamma[0] == data.gamma.max()).tolist())
    assert optimal_tokens(given_themselves).ties == (best,)
    axis = int(np.abs(v).argmax())
    higher = token.copy()
    higher[axis] += 8 * d * np.finfo(float).eps * (np.abs(v) @ np.abs(token)) / v[axis]
    data = AttentionData(np.array([[token, higher]]), np.ones((1, d)), y=np.ones(1), v=v)
    assert optimal_tokens(data).ties == ((1,),)


@given(masked_data(), st.data())
def test_targets_are_any_present_tokens(data, draw):
    chosen = [draw.draw(st.sampled_from(np.flatnonzero(row).tolist())) for row in data.present]
    for targets in (chosen, tuple(chosen), np.array(chosen, dtype=np.uint8)):
        index = target_tokens(data, targets)
        assert index.tolist() == chosen
        assert index.dtype == np.int64


@given(masked_data())
def test_targets_are_the_optimal_tokens_unless_others_are_given(data):
    found = optimal_tokens(data)
    assume(found.unique)
    assert target_tokens(data).tolist() == found.index.tolist()


@given(st.sampled_from([[[1, 0, 0], [2, 3, 3]], [[1, 1, 0], [2, 3, 3]], [[4, 4, 4], [0, 1, 2]]]))
def test_ties_leave_no_targets(scores):
    data = AttentionData.of(np.zeros((2, 3, 1)), np.ones((2, 1)), scores=scores)
    found = optimal_tokens(data)
    i = next(i for i, tied in enumerate(found.ties) if len(tied) > 1)
    with pytest.raises(TiedTokensError) as caught:
        target_tokens(data)
    assert f"input {i} has {len(found.ties[i])} optimal tokens" in str(caught.value)
    assert caught.value.value == list(found.ties[i])
    assert "targets" in caught.value.remedy


SMALL = AttentionData.of(
    np.zeros((2, 3, 1)),
    np.ones((2, 1)),
    scores=[[1, 0, 0], [0, 1, 0]],
    mask=[[True, True, False], [True, True, True]],
)


@pytest.mark.parametrize(
    ("targets", "cause", "value"),
    [
        ([0, 3], "targets[1] is not a token index", 3),
        ([-1, 0], "targets[0] is not a token index", -1),
        ([2, 0], "targets[0] names a token that the mask removes", 2),
        ([0], "targets must be 2 integers, one per input", [0]),
        ([0, 1, 1], "targets must be 2 integers, one per input", [0, 1, 1]),
        ([[0, 1]], "targets must be 2 integers, one per input", [[0, 1]]),
        (1, "targets must be 2 integers, one per input", 1),
        ([0.0, 1.0], "targets must be 2 integers, one per input", [0.0, 1.0]),
        ([True, False], "targets must be 2 integers, one per input", [True, False]),
        (["0", "1"], "targets must be 2 integers, one per input", ["0", "1"]),
        ([2**70, 0], "targets must be 2 integers, one per input", [2**70, 0]),
    ],
)
def test_targets_that_are_no_tokens_are_refused(targets, cause, value):
    with pytest.raises(DataError, match=re.escape(cause)) as caught:
        target_tokens(SMALL, targets)
    assert not isinstance(caught.value, TiedTokensError)
    assert caught.value.value == value
    assert caught.value.remedy


@pytest.mark.parametrize("X", [[[1.7e308, 0.0], [1.0, 1.0]], [[1e308, -1e308], [1e308, 1e307]]])
def test_scores_near_the_largest_float_are_told_apart(X):
    data = AttentionData.of([X], [[1.0, 1.0]], y=[1.0], v=[1.0, 1.0])
    (best,) = data.gamma.argmax(axis=1)
    assert optimal_tokens(data).ties == ((best,),)
