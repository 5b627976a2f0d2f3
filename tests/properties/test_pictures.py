"""Counterexamples in the plane: what is drawn is where the tokens are and where descent goes."""

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.record import curated
from properties._support.pictures import plane


def claim(id):
    (found,) = find_claims(load_packs(), [id])
    return found


def test_the_run_that_leaves_a_best_token_is_seen_to_leave_it():
    fallen = claim("sim/theorem-3.14-part-2:amended-1")
    case, *_ = curated.known(fallen)  # the smallest one
    picture = plane(fallen, case)
    assert [p.points for p in picture.panels] == [((0.5, 0), (-1, 0)), ((-2, 1), (0, 0))]
    assert [p.best for p in picture.panels] == [{0}, {0}]
    assert all(p.path[-1][0] > 0 for p in picture.panels)
    assert picture.says.endswith("at that end: 100%, 0%.")


def test_masked_tokens_are_left_out_and_the_best_are_those_present():
    data = AttentionData(
        np.array([[[9.0], [1.0], [2.0]]]), np.ones((1, 1)), scores=np.array([[9.0, 0.0, 1.0]]),
        mask=np.array([[False, True, True]]),
    )  # fmt: skip
    (panel,) = plane(claim("tf/definition-2:literal-1"), data).panels
    assert panel.points == ((1, 0), (2, 0))
    assert panel.best == {1}


@pytest.mark.parametrize("id", ["sim/orientation:amended-2", "sim/kq-bias:literal-2"])
def test_a_run_of_another_kind_is_not_drawn_as_descent_on_w(id):
    other = claim(id)
    cases = curated.known(other)
    assert cases
    assert all(panel.path == () for case in cases for panel in plane(other, case).panels)


def test_data_of_many_dimensions_and_other_records_have_no_picture():
    data = AttentionData(np.ones((1, 2, 3)), np.ones((1, 3)), scores=np.zeros((1, 2)))
    assert plane(claim("tf/definition-2:literal-1"), data) is None
    assert plane(claim("tf/definition-2:literal-1"), 3) is None
