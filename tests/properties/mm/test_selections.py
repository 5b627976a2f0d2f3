"""Selections: keys along one vector attain a bound of the p-SVM; how often assumption B holds."""

import numpy as np
import pytest
from flint import fmpq

from attsvm.errors import SolverError
from properties.mm import p_svm
from properties.mm._support.max_margin import Programme, p_programme
from properties.mm._support.token_selections import along
from properties.mm.figures import assumption_b

BOUND = p_svm.PROGRAMME.claim("amended-2")


def attains(case):
    """Whether alpha leads, and all keys differ along q: then the bound is attained."""
    chosen = case.chosen
    keys = chosen.X @ chosen.W.T
    gaps = np.take_along_axis(keys, chosen.alpha[:, None, None], axis=1) - keys
    rank = np.linalg.matrix_rank(np.vstack([case.q[None], *gaps]))
    return bool(rank <= 1 and case.q.any() and p_svm.alone(case))


@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_attained_by_keys_along_q_of_any_key_matrix(seed):
    generator = np.random.default_rng(seed)
    cases = [along(generator) for _ in range(60)]
    tight = [case for case in cases if attains(case)]
    assert len(tight) > 30
    for case in tight:
        assert p_programme(case.chosen).exists
        slack = BOUND.conclusion(case)
        assert slack.holds
        assert (slack.value, slack.error) == (0.0, 0.0)
        assert BOUND.conclusion(case, share="0.999").violated
    assert all(len(set(case.chosen.y.tolist())) == 1 for case in cases)
    turned = [case for case in tight if (case.chosen.W != case.chosen.W.T).any()]
    assert len(turned) > 20
    assert sum(not attains(case) for case in cases) > 2


def test_multipliers_that_name_another_point_of_the_hull_are_refused():
    rows, bound = [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]], [fmpq(1), fmpq(1)]
    half = fmpq(1, 2)
    assert Programme(rows, bound, [fmpq(1), fmpq(1)], [half, half]).hull_square == half
    shifted = [[fmpq(1), fmpq(1)], [fmpq(0), fmpq(1)]]
    assert Programme(shifted, bound, None, [fmpq(0), fmpq(1)]).hull_square == 1
    for forged, weights in ((rows, (1, 0)), (rows, (2, -1)), (shifted, (half, half))):
        with pytest.raises(SolverError, match="nearest to 0"):
            _ = Programme(forged, bound, None, [fmpq(w) for w in weights]).hull_square
    negative = [[fmpq(1)], [fmpq(2)], [fmpq(3)]]  # the point 1 is the nearest, by weights below 0
    with pytest.raises(SolverError, match="nearest to 0"):
        _ = Programme(negative, [fmpq(1)] * 3, None, [fmpq(2), fmpq(-2), fmpq(1)]).hull_square


def test_one_input_meets_assumption_b_and_two_in_one_dimension_do_not_both_count():
    # the longest token is an end of the hull of its input, so that p(alpha) exists and B holds
    table = assumption_b.numbers(0, 5, [(1, 3), (2, 2)], [1, 4]).tables["frequencies"]
    assert table.where(n=1)["hits"].tolist() == [5] * 8
    assert (table.where(n=1)["low"] < 0.5).all()
    exist, count, needed, enough = (table.where(n=2, condition=c) for c in assumption_b.CONDITIONS)
    assert count["hits"].tolist()[0] == enough["hits"].tolist()[0] == 0
    assert enough["hits"][1] > 0
    assert (enough["hits"] <= needed["hits"]).all()
    assert (needed["hits"] <= exist["hits"]).all()
