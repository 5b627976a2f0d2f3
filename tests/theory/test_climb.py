"""The climb comes close to where a slack is least, whatever its scale, within few evaluations."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scouting import scouted
from toy_pack import build

from attsvm.theory import Slack
from attsvm.theory.search.climb import _power_below, _top


@dataclass(frozen=True, slots=True)
class Table:
    """A matrix and a number."""

    a: Any
    b: float


ROTATION = np.linalg.qr(np.random.default_rng(5).normal(size=(10, 10)))[0]
GOAL = np.random.default_rng(6).normal(size=10) * 3


def flat(case: Table) -> Any:
    return np.append(case.a.ravel(), case.b)


def sphere(x):
    return float(((x - GOAL) ** 2).sum())


def valley(x):
    return float(((ROTATION @ (x - GOAL)) ** 2 @ np.logspace(0, 1, 10)).sum())


def distant(x):
    return float(((x - 1000 * GOAL) ** 2).sum())


def sizes(x):
    return float(np.abs(x - GOAL).sum())


def left(f, seed, budget=300):
    """What the climb leaves of a slack that is 0 at its least."""

    def conclusion(case: Table, shift: float = 0.0) -> Slack:
        return Slack(1e-9 + f(flat(case)), 1e-10)

    claim = build("climb", conclusion, lambda case, shift=0.0: arb(1))
    start = Table(np.zeros((3, 3)), 0.0)
    scout = scouted(claim, "climb", [start], budget=budget, seed=seed)
    return -scout.pool.closest[0].height / f(np.zeros(10))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("f", [sphere, valley, distant, sizes])
def test_ten_entries_come_within_a_thousandth_in_300_evaluations(f, seed):
    assert left(f, seed) < 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_the_worst_of_many_is_climbed_too(seed):
    assert left(lambda x: float(np.abs(x - GOAL).max()), seed, 600) < 0.4


@pytest.mark.parametrize("seed", range(3))
def test_a_violation_that_no_strategy_draws_is_reached(seed):
    centre = np.array([37.25, -21.75, 5.5, -80.0])

    def slack(case: Table) -> float:
        return float(((case.a - centre) ** 2).sum()) - 0.0625

    def conclusion(case: Table, shift: float = 0.0) -> Slack:
        return Slack(slack(case) - shift, 1e-9)

    claim = build(
        "island",
        conclusion,
        lambda case, shift=0.0: arb(slack(case) - shift),
        data=st.tuples(*[st.integers(-8, 8)] * 4).map(
            lambda row: Table(np.array(row, dtype=float), 1.0)
        ),
        expected="refuted",
    )
    assert scouted(claim, "climb", seed=seed, budget=150).found is not None


@pytest.mark.parametrize("start", [1e308, -1e308, 5e-324, 0.0])
def test_extreme_numbers_are_survived(start):
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(1.0 / (1.0 + abs(x)), 0.0)

    claim = build("extreme", conclusion, lambda x, shift=0.0: arb(1))
    scout = scouted(claim, "climb", [start])
    assert scout.found is None
    assert scout.spent > 0


@pytest.mark.parametrize("goal", [-3000.0, 3000.0])
def test_far_goals_are_reached_by_longer_and_longer_steps_either_way(goal):
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(1.0 + abs(x - goal), 1e-9)

    claim = build("far", conclusion, lambda x, shift=0.0: arb(1))
    scout = scouted(claim, "climb", [0.0], budget=25)
    assert -scout.pool.closest[0].height < 100.0


def test_entries_that_do_not_count_keep_their_steps():
    reached = []

    def conclusion(case: Table, shift: float = 0.0) -> Slack:
        reached.append(abs(case.b - 1.0))
        return Slack(1.0 + max(abs(float(case.a[0]) - 64.0), abs(case.b - 1.0)), 1e-9)

    claim = build("idle", conclusion, lambda case, shift=0.0: arb(1))
    scout = scouted(claim, "climb", [Table(np.zeros(1), 64.0)], budget=150)
    assert scout.pool.closest[0].height > -2.0


@settings(max_examples=100)
@given(st.floats(5e-324, 1e308))
def test_the_power_below_a_number_is_one_and_is_below_it(value):
    power = _power_below(value)
    assert math.frexp(power)[0] == 0.5
    assert power <= value < 2.0 * power


@given(st.integers(-31, 31), st.integers(1, 9))
def test_the_top_of_a_parabola_is_found(top, bend):
    def height(x):
        return -bend * (x - top / 32) ** 2

    assert _top(height(-1), height(0), height(1)) == top / 32


def test_without_a_top_there_is_none():
    assert _top(None, 0.0, 1.0) == _top(1.0, 0.0, None) == _top(1.0, 0.0, 1.0) == 0.0
    assert _top(-1e308, 1e308, -1e308) == 0.0
