"""Batches of programmes with bounds come to what rationals decide one by one."""

import numpy as np
import pytest

from attsvm.exact import rationals
from attsvm.kernels.batch import least_points
from attsvm.kernels.least_norm import FAILED, SOLVED, UNBOUNDED
from properties.mm._support.max_margin import solve


def points(A, bound, counted=None, largest=1e100, smallest=1e-100):
    there = np.ones(A.shape[:2], dtype=np.bool_) if counted is None else counted
    return least_points(A, there, bound, largest, smallest)


def test_solutions_and_farkas_multipliers_are_those_of_rationals():
    generator = np.random.default_rng(3)
    A = generator.integers(-4, 5, size=(300, 4, 2)) / 2.0
    bound = generator.integers(0, 3, size=(300, 4)) / 2.0
    counted = generator.random((300, 4)) < 0.8
    weights, ended = points(A, bound, counted)
    assert set(ended.tolist()) == {SOLVED, UNBOUNDED}
    for a, b, there, w, how in zip(A, bound, counted, weights, ended, strict=True):
        exact = solve(rationals(a[there]), 2, rationals(b[there]))
        assert exact.exists == (how == SOLVED)
        assert (w >= 0.0).all()
        assert not w[~there].any()
        if exact.exists:
            vector = [float(x.p) / float(x.q) for x in exact.vector]
            assert w @ a == pytest.approx(vector, abs=1e-12)
        else:
            assert w @ a == pytest.approx(0.0, abs=1e-12)
            assert w @ b > 0.0


def test_a_zero_row_asks_for_nothing_or_for_too_much():
    A = np.array([[[0.0], [2.0]], [[0.0], [2.0]]])
    weights, ended = points(A, np.array([[0.0, 1.0], [1.0, 1.0]]))
    assert ended.tolist() == [SOLVED, UNBOUNDED]
    assert weights.tolist() == [[0.0, 0.25], [1.0, 0.0]]


def test_rows_of_strange_sizes_are_not_solved():
    A = np.array([[[1e120]], [[1e-120]], [[np.nan]], [[1.0]]])
    weights, ended = points(A, np.ones((4, 1)))
    assert ended.tolist() == [FAILED, FAILED, FAILED, SOLVED]
    assert weights[:, 0].tolist() == [0.0, 0.0, 0.0, 1.0]
