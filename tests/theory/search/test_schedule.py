"""Turns go where progress is, everybody gets some, and rounds grow as a hunt goes on."""

import itertools
import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from attsvm.theory.run.tally import Pool
from attsvm.theory.search.schedule import Schedule

CREW = ["a", "b", "c"]


@given(st.lists(st.tuples(st.sampled_from(CREW), st.sampled_from([0.0, 1.0])), max_size=40))
def test_everybody_gets_turns_whatever_the_progress(steps):
    schedule = Schedule(CREW)
    taken = Counter()
    for searcher, progress in steps:
        schedule.learn(searcher, progress)
    for _ in range(10):
        taken.update(schedule.plan(CREW, 8))
    assert taken.total() == 80
    assert min(taken[s] for s in CREW) >= 8  # a good third of the turns is shared evenly


def test_first_turns_come_first_in_the_order_of_those_that_are_ready():
    schedule = Schedule(["a", "b", "c", "d"])
    assert schedule.plan(["b", "a"], 2) == ["b", "a"]
    chosen = schedule.plan(["a", "b", "d", "c"], 4)
    assert chosen[:2] == ["d", "c"]
    assert len(chosen) == 4
    assert schedule.plan(["c", "d"], 0) == []
    assert Schedule(CREW).plan(CREW, 1) == CREW  # a round has room for all first turns


@given(st.lists(st.tuples(st.sampled_from(["screen", *CREW]), st.just(0.0)), max_size=40))
def test_screening_has_more_than_half_of_the_turns_unless_another_comes_closer(steps):
    crew = ["screen", *CREW]
    schedule = Schedule(crew)
    schedule.plan(crew, 4)
    for searcher, progress in steps:
        schedule.learn(searcher, progress)
    taken = Counter(turn for _ in range(10) for turn in schedule.plan(crew, 8))
    assert taken["screen"] > taken.total() / 2
    for _ in range(10):
        schedule.learn("a", 1.0)
    taken = Counter(turn for _ in range(10) for turn in schedule.plan(crew, 8))
    assert taken["a"] > taken["screen"] > taken.total() / 8


def test_a_searcher_with_long_turns_waits_longer_after_its_first_turn():
    schedule = Schedule(["screen", *CREW], weights={"b": 6})
    first = schedule.plan(["screen", *CREW], 4)
    assert sorted(first) == ["a", "b", "c", "screen"]
    later = [s for _ in range(20) for s in schedule.plan(["screen", *CREW], 8)]
    assert {"a", "c"} <= set(later[: later.index("b")])
    assert later[: later.index("b")].count("screen") >= 6


def test_who_comes_closer_gets_more_turns():
    schedule = Schedule(CREW)
    for _ in range(10):
        for searcher in CREW:
            schedule.learn(searcher, float(searcher == "b"))
    taken = Counter(schedule.plan(CREW, 80))
    assert taken["b"] > 2 * max(taken["a"], taken["c"])


def test_what_is_offered_first_comes_closer_than_nothing():
    pool = Pool()
    assert pool.height == -math.inf
    assert [pool.offer(height, height) for height in (-2.0, -3.0, -1.0)] == [True, False, True]
    assert pool.height == -1.0


def test_nobody_ready_takes_no_turn():
    assert Schedule(CREW).plan([], 8) == []


def test_rounds_get_more_turns_and_then_longer_ones():
    sizes = [Schedule.size(number) for number in range(40)]
    assert sizes[0] == (8, 1)
    assert all(a <= c and b <= d for (a, b), (c, d) in itertools.pairwise(sizes))
    assert sizes[-1] == (32, 4)
    assert all(turns == 32 for turns, times in sizes if times > 1)


def test_a_turn_that_takes_long_counts_as_several():
    schedule = Schedule(CREW, weights={"b": 4})
    schedule.plan(CREW, 3)
    taken = Counter(turn for _ in range(10) for turn in schedule.plan(CREW, 9))
    assert taken["a"] == taken["c"]
    assert 3 * taken["b"] <= taken["a"] <= 5 * taken["b"]
