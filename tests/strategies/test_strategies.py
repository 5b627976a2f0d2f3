"""Strategies draw simple instances first and every kind of them."""

import dataclasses

import numpy as np
import pytest
from hypothesis import find, given, settings

from attsvm.data import AttentionData
from attsvm.strategies import GRID
from attsvm.strategies.data import attention_data, ragged, ragged_larger, separable_data, starts


def test_the_grid_holds_simple_numbers_first_and_each_as_often_as_its_opposite():
    assert len(GRID) == 256
    assert not GRID[:28].any()
    assert sorted(GRID) == sorted(-GRID)
    assert {1 / 4, 1 / 8, 15 / 4, 31 / 8} <= set(GRID)
    counts = [int((size == GRID).sum()) for size in (0, 1, 2, 0.5, 3, 1.5, 2.5, 4)]
    assert counts == [28, 20, 12, 8, 6, 5, 3, 2]
    assert (np.round(GRID * 32) == GRID * 32).all()
    assert np.abs(GRID).max() <= 4
    first = {float(value): k for k, value in reversed(list(enumerate(GRID)))}
    assert first[1.0] < first[2.0] < first[0.5] < first[0.25] < first[0.125]


def test_the_simplest_data_have_scores_and_the_simplest_labels_are_1():
    assert find(attention_data(), lambda data: True).y is None
    labelled = find(attention_data(), lambda data: data.y is not None)
    assert labelled.y.tolist() == [1.0]
    assert find(attention_data(), lambda data: data.y is not None and min(data.y) < 0.0) is not None


@pytest.mark.parametrize("data", [attention_data, separable_data])
def test_data_of_all_small_sizes_are_drawn(data):
    least = find(data(), lambda found: True)
    assert (least.n, least.T, least.d) == (1, 1 if data is attention_data else 2, 1)
    for name, most in (("n", 3), ("T", 4), ("d", 3)):
        found = find(data(), lambda found, name=name, most=most: getattr(found, name) >= most)
        assert getattr(found, name) == most


def test_starts_are_of_all_sizes_that_are_asked_for():
    assert not find(starts(2), lambda W: True).any()
    assert np.abs(find(starts(2), lambda W: W.any())).max() <= 4.0
    assert np.abs(find(starts(1, 0, 3), lambda W: np.abs(W).max() > 4.0)).max() == 8.0


@pytest.mark.parametrize("keep", [None, lambda data: np.arange(data.T) < np.ones((data.n, 1))])
def test_ragged_data_keep_what_is_named_and_differ_in_length(keep):
    """By default the first best token of each input; here also the first one of each."""
    seen = set()

    @settings(max_examples=60, database=None, derandomize=True)
    @given(ragged(attention_data(), keep))
    def look(data):
        kept = np.argmax(data.gamma, axis=1) if keep is None else np.zeros(data.n, dtype=int)
        assert data.present[np.arange(data.n), kept].all()
        seen.update(data.present.sum(axis=1).tolist() if data.mask is not None else [])

    look()
    assert seen >= {1, 2, 3}


def test_larger_ragged_data_differ_in_length_and_keep_their_best_tokens():
    scores = np.arange(12.0).reshape(3, 4)
    data = AttentionData(np.zeros((3, 4, 2)), np.ones((3, 2)), scores=scores)
    drawn = [ragged_larger(np.random.default_rng(k), data) for k in range(60)]
    lengths = {int(count) for found in drawn for count in found.present.sum(axis=1)}
    assert all(found.present[:, 3].all() for found in drawn)
    assert {2, 3, 4} <= lengths
    assert 10 <= sum(found.present.all() for found in drawn) <= 50
    shorter = dataclasses.replace(data, mask=np.arange(12).reshape(3, 4) != 3)  # lacks its best
    drawn = [ragged_larger(np.random.default_rng(k), shorter) for k in range(60)]
    assert all(found.present[0, 2] for found in drawn)
