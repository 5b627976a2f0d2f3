"""The grid searches small integers, all of them where they are few, and each but once."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from toy_pack import build

from attsvm.theory.search.grid import _VALUES, grid
from tests.theory.search.scouting import instance, scouted, witnessed


@dataclass(frozen=True, slots=True)
class Table:
    """A matrix."""

    a: Any


@dataclass(frozen=True, slots=True)
class Signed:
    """A row of signs, refused where one is not, a row of numbers, and a positive step."""

    y: Any
    a: Any
    step: float

    def __post_init__(self) -> None:
        if (np.abs(self.y) != 1).any() or not self.step > 0:
            raise ValueError("not signs, or no step")


def odd_sixteenths(*shape):
    """Arrays without an integer entry."""
    count = int(np.prod(shape))
    numbers = st.integers(-64, 63).map(lambda k: (2 * k + 1) / 16)
    return st.lists(numbers, min_size=count, max_size=count).map(
        lambda row: np.array(row).reshape(shape)
    )


def quarter_turn(case: Table) -> bool:
    return bool((case.a @ case.a == -np.eye(2)).all())


@pytest.mark.parametrize("seed", [0])
def test_a_lone_integer_matrix_is_found_where_its_board_can_be_searched_through(seed):
    _, claim = witnessed("grid", Table, quarter_turn, odd_sixteenths(2, 2).map(Table))
    found = instance(claim, scouted(claim, "grid", budget=120, seed=seed))
    assert quarter_turn(found)
    assert np.abs(found.a).sum() == 2


@pytest.mark.parametrize("seed", [0])
def test_a_check_at_profile_quick_finds_a_lone_row_of_three_signs(seed):
    _, claim = witnessed(
        "grid",
        Table,
        lambda case: case.a.tolist() == [-1.0, 1.0, -1.0],
        odd_sixteenths(3).map(Table),
    )
    assert scouted(claim, "grid", seed=seed).found is not None


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_point_of_a_small_board_is_examined_once_and_simple_ones_first(length):
    witness, claim = witnessed("grid", Table, lambda case: False)
    scouted(claim, "grid", [Table(np.full(length, 0.3))], budget=36)
    points = [tuple(case.a) for case in witness.seen[1:]]
    assert len(points) == len(set(points))
    first = points[: 3**length]
    assert set(first) == set(itertools.product((0.0, 1.0, -1.0), repeat=length))
    assert [sum(map(abs, p)) for p in first] == sorted(sum(map(abs, p)) for p in first)


def test_larger_sets_of_values_follow_while_they_can_be_searched_through():
    witness, claim = witnessed("grid", float, lambda x: False)
    scouted(claim, "grid", [0.3], budget=1000)
    assert {float(k) for k in range(-64, 65)} <= set(witness.seen)
    assert {k / 4 for k in range(-16, 17)} <= set(witness.seen)


def test_entries_take_only_values_that_their_type_accepts():
    _, claim = witnessed(
        "grid",
        Signed,
        lambda case: case.y.tolist() == [-1.0, 1.0, -1.0] and case.a.tolist() == [1.0, 0.0, -1.0],
    )
    start = Signed(np.ones(3), np.full(3, 0.3), 1 / 8)
    scout = scouted(claim, "grid", [start], budget=400)
    assert scout.found is not None
    assert scout.proposed < 2 * scout.spent


def test_numbers_that_are_no_array_are_kept_in_a_part_of_the_trials():
    _, claim = witnessed(
        "grid",
        Signed,
        lambda case: case.a.tolist() == [1.0, 1.0],
        hypotheses={"a short step": lambda case: case.step <= 1 / 8},
    )
    start = Signed(np.ones(2), np.full(2, 0.3), 1 / 8)
    assert instance(claim, scouted(claim, "grid", [start], budget=60)).step == 1 / 8


def test_a_board_that_is_too_large_is_climbed_on_the_grid():
    goal = np.array([1.0, -2.0, 0.0, 3.0, -1.0, 2.0, 0.0, 1.0])

    def conclusion(case: Table, shift: float = 0.0):
        from attsvm.theory import Slack

        return Slack(float(np.abs(case.a - goal).sum()) + 1.0 - shift, 1e-9)

    claim = build("far", conclusion, lambda case, shift=0.0: None)
    start = Table(np.full(8, 50.25))
    scout = scouted(claim, "grid", [start], budget=600)
    best = scout.pool.closest[0]
    assert -best.height < 6.0
    assert all(
        "/" not in text or text.endswith("/2") for text in best.document["fields"]["a"]["values"]
    )


def test_an_exception_at_an_unusual_instance_is_no_error():
    def conclusion(case: Table, shift: float = 0.0):
        from attsvm.theory import Slack

        return Slack(1.0 / float(case.a.sum()) ** 2, 0.0) if case.a.sum() else 1 / 0

    claim = build("pole", conclusion, lambda case, shift=0.0: None)
    scout = scouted(claim, "grid", [Table(np.full(2, 0.3))])
    assert (scout.found, scout.tally.seen.broke > 0) == (None, True)
    assert scout.tally.seen.broke_note.startswith("ZeroDivisionError")


def test_sets_of_values_are_symmetric_and_simple_first():
    for values in _VALUES:
        assert values[0] == 0.0
        assert len(set(values)) == len(values)
        assert {-v for v in values} == set(values)
    assert _VALUES[3][:7] == (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0)
    assert grid.__doc__
