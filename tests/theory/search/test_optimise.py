"""Optimisers from the shelf come close to where a slack is least, whatever its scale."""

import itertools
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import strategies as st
from toy_pack import build

from attsvm.theory import Slack
from attsvm.theory.search import GUIDED
from attsvm.theory.search.optimise import _evolve, _generation_wise
from tests.theory.search.scouting import scouted

SHELF = ["powell", "evolution", *["cma"] * GUIDED["cma"].there()]


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


def left(f, name, budget, seed):
    """What a searcher leaves of a slack that is 0 at its least."""

    def conclusion(case: Table, shift: float = 0.0) -> Slack:
        return Slack(1e-9 + f(flat(case)), 1e-10)

    claim = build("climb", conclusion, lambda case, shift=0.0: arb(1))
    scout = scouted(claim, name, [Table(np.zeros((3, 3)), 0.0)], budget=budget, seed=seed)
    return -scout.pool.closest[0].height / f(np.zeros(10))


@pytest.mark.parametrize("f", [valley, distant, sizes])
def test_ten_entries_come_within_a_thousandth_along_lines(f):
    assert left(f, "powell", 750, 0) < 1e-3


@pytest.mark.parametrize("name", [name for name in SHELF if name != "powell"])
def test_ten_entries_come_within_a_thousandth_by_generations(name):
    assert left(valley, name, 1500, 0) < 1e-3


@pytest.mark.parametrize("name", SHELF)
def test_a_violation_that_no_strategy_draws_is_reached(name):
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
    budget = {"powell": 300, "cma": 2400, "evolution": 4000}[name]
    assert scouted(claim, name, budget=budget).found is not None


@pytest.mark.parametrize("name", SHELF)
@pytest.mark.parametrize("start", [1e308, -1e308, 5e-324, 0.0])
def test_extreme_numbers_are_survived(name, start):
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(1.0 / (1.0 + abs(x)), 0.0)

    claim = build("extreme", conclusion, lambda x, shift=0.0: arb(1))
    scout = scouted(claim, name, [start], budget=40)
    assert scout.found is None
    assert scout.spent > 0


@pytest.mark.parametrize("goal", [-3000.0, 3000.0])
def test_far_goals_are_reached_by_longer_and_longer_steps_either_way(goal):
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(1.0 + abs(x - goal), 1e-9)

    claim = build("far", conclusion, lambda x, shift=0.0: arb(1))
    scout = scouted(claim, "powell", [0.0], budget=50)
    assert -scout.pool.closest[0].height < 100.0


def test_nothing_global_changes():
    state = np.random.get_state
    before = state()[1].tolist()
    for name in SHELF:
        left(sphere, name, 60, 0)
    assert state()[1].tolist() == before


@pytest.mark.parametrize("error", [TypeError, ValueError])
@pytest.mark.parametrize("options", [{}, {"vectorized": True, "updating": "deferred"}])
def test_what_a_claim_raises_in_a_climb_is_told_as_it_is(error, options):
    def cost(positions):
        raise error("the claim's own")

    land = SimpleNamespace(known=np.eye(8, 2))
    with pytest.raises(error, match="the claim's own"):
        _evolve(land, cost, 2, rng=np.random.default_rng(0), **options)


def test_a_generation_is_proposed_at_once_from_the_best_and_two_others():
    """Each member takes some entries from the best moved along the difference of two others."""
    generator = np.random.default_rng(0)
    population, propose = generator.normal(size=(6, 8)), _generation_wise()
    steps, shares = [], []
    for _ in range(20):
        proposed = np.array([propose(k, population, generator) for k in range(6)])
        shares.append(np.mean(proposed != population))
        found = []
        for own, row in enumerate(proposed):
            moved = row != population[own]
            assert moved.any()
            others = [k for k in range(6) if k != own]
            for one, other in itertools.combinations(others, 2):
                step = (row - population[0])[moved] / (population[one] - population[other])[moved]
                found += [abs(step[0])] if np.ptp(step) < 1e-9 and moved.sum() > 1 else []
        assert np.ptp(found) < 1e-9 < len(found)
        steps.append(found[0])
    assert 0.2 <= min(steps) < max(steps) <= 0.9
    assert 0.5 < np.mean(shares) < 0.65
