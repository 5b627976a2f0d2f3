"""Soft margins without a Gram matrix: against the path, against the definition, out of time."""

import numpy as np
import pytest

from attsvm.exact.deadline import Deadline
from attsvm.kernels.ascent import cap_groups
from attsvm.svm import att_svm_programme, soft
from attsvm.svm.soft import solve_soft
from attsvm.svm.soft_ascent import on_support
from benchmarks.hard_margins import separable
from tests.svm.problems import of_rows

MEDIUM = att_svm_programme(separable(20, 8, 8))
"""140 constraints, which both methods solve."""

PAIRS = np.arange(140) // 2
UNEQUAL = 0.002 * (1.0 + PAIRS % 3)


@pytest.mark.parametrize(
    ("C", "slack"),
    [
        pytest.param(1e-9, "constraint", id="W is 0"),
        pytest.param(0.002, "constraint", id="most constraints have slack"),
        pytest.param(0.02, "constraint", id="some constraints have slack"),
        pytest.param(10.0, "constraint", id="the hard margin"),
        pytest.param(0.05, "input", id="a slack for each input"),
        pytest.param(0.02, PAIRS, id="a slack for each pair"),
        pytest.param(UNEQUAL, PAIRS, id="prices that differ"),
    ],
)
def test_steps_without_a_gram_matrix_reach_what_the_path_reaches(monkeypatch, C, slack):
    usual = solve_soft(MEDIUM, C, slack)
    monkeypatch.setattr(soft, "DENSE", 0)
    answer = solve_soft(MEDIUM, C, slack)
    assert answer.status == "solved"
    assert answer.objective == pytest.approx(usual.objective, rel=2e-9)
    assert max(answer.bracket[0], usual.bracket[0]) <= min(answer.bracket[1], usual.bracket[1])
    assert answer.kind == usual.kind
    assert np.isnan(answer.thresholds).all()


def test_a_soft_margin_of_24500_constraints_is_solved_and_a_cut_one_is_bracketed():
    programme = att_svm_programme(separable(500, 50, 64))
    answer = solve_soft(programme, 1e-4)
    assert answer.kind == "between"
    assert answer.gap <= 1e-9
    cut = solve_soft(programme, 1e-4, deadline=Deadline.after(-1.0), bracketed=True)
    assert cut.status == "bracketed"
    assert cut.bracket[0] <= answer.bracket[1]
    assert answer.bracket[0] <= cut.bracket[1]


def test_a_support_of_dependent_rows_has_no_system():
    """Two free rows are equal: their block is singular."""
    programme = of_rows([[1.0], [1.0]], [[0.0], [0.0]], [[1.0], [1.0]], [1.0, 1.0], False)
    groups, prices = np.arange(2), np.full(2, 10.0)
    assert on_support(programme, groups, prices, np.full(2, 0.5), 1.0) is None
    u, t = on_support(programme, groups, prices, np.array([0.5, 0.0]), 1.0)
    assert u == pytest.approx([1.0, 0.0])
    assert t == pytest.approx(1.0)


def capped(values, cap):
    """The nearest point with entries >= 0 and a sum of at most `cap`, by sorting."""
    positive = np.maximum(values, 0)
    if positive.sum() <= cap:
        return positive
    largest = np.sort(values)[::-1]
    losses = (np.cumsum(largest) - cap) / np.arange(1, len(values) + 1)
    return np.maximum(values - losses[np.flatnonzero(largest > losses)[-1]], 0)


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_capped_as_by_sorting(seed):
    """Groups of any sizes, also of none and of one, with equal entries."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 9, 12)
    starts, order = np.cumsum([0, *sizes]), generator.permutation(sizes.sum())
    u = generator.integers(-3, 9, sizes.sum()) / 4.0
    caps = generator.choice([0.25, 1.0, 3.0, 100.0], 12)
    expected = u.copy()
    for start, end, cap in zip(starts, starts[1:], caps, strict=False):
        expected[order[start:end]] = capped(u[order[start:end]], cap)
    cap_groups(u, order, starts, caps)
    assert u == pytest.approx(expected, abs=1e-12)
