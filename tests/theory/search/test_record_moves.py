"""Integers and lengths of records move; hypotheses judge."""

import itertools
import random
import time
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st
from scouting import Witness, instance, only_by_the_searcher, scouted, witnessed
from toy_pack import build

from attsvm._types import Array, Float, Int
from attsvm.theory.declaration.judge import glance
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import record_moves
from attsvm.theory.search import scout as scout_module
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.scout import Scout
from tests.searching import nightly

STEPS = scout_module._STEPS
DIGIT = st.integers(0, 9)


@dataclass(frozen=True, slots=True)
class Counted:
    """Two integers and a float."""

    k: int
    j: int
    x: float


COUNTED = st.builds(Counted, DIGIT, DIGIT, DIGIT.map(float))
WHO = ["drawn", "integers", "sizes"]
START = [Counted(2, 5, 1.0), Counted(7, 0, 3.0)]


@pytest.mark.parametrize(
    ("name", "violated"),
    [
        ("by-one", lambda c: c.k == 10),
        ("below", lambda c: c.j == -2),
        ("hundreds", lambda c: c.k == 137),
        ("doubled", lambda c: c.j >= 1000),
        ("far", lambda c: c.k > 4000),
        ("both", lambda c: c.k * c.j == 11 * 13),
        ("tied", lambda c: c.k == c.j == 14),
    ],
)
def test_integers_of_records_are_moved_beyond_what_is_drawn(name, violated):
    found = only_by_the_searcher(Counted, violated, COUNTED, "integers", START, budget=400)
    assert violated(found)


def test_each_instance_is_counted_as_screened_once():
    even = {"even": lambda c: c.k % 2 == 0}
    _, claim = witnessed("even", Counted, data=COUNTED, hypotheses=even)
    scout = Scout(Tally(claim, claim.part(""), 0), "integers", 40)
    for k in (2, 3, 4, 2):
        scout.screened(codec.encode(Counted(k, 1, 1.0)))
    assert (scout.tally.seen.screened, scout.tally.seen.refused) == (2, 1)


def test_a_hypothesis_judges_which_integers_are_instances():
    even = {"even": lambda c: c.k % 2 == 0, "natural": lambda c: c.k >= 0 and c.j >= 0}
    witness, claim = witnessed("even", Counted, data=COUNTED, hypotheses=even)
    scout = scouted(claim, "integers", [Counted(2, 4, 1.0)], budget=96)
    assert {c.k % 2 for c in witness.seen} == {0}
    assert max(max(c.k, c.j) for c in witness.seen) > 100
    assert min(min(c.k, c.j) for c in witness.seen) >= 0
    assert scout.tally.seen.refused > 0
    assert scout.tally.seen.screened > scout.tally.seen.probed
    assert scout.tally.variety.moved == {"k": True, "j": True, "x": True}  # by relations


def test_integers_stop_where_an_evaluation_takes_many_steps():
    """An integer may be a number of steps: here its evaluation takes 200 times as many."""
    ended = 0

    def slow(case):
        nonlocal ended
        taken = 0
        while taken < 100 * abs(case.k):
            taken += 1
        ended = max(ended, abs(case.k))
        return False

    _, claim = witnessed("slow", Counted, slow, COUNTED)
    scouted(claim, "integers", START, budget=96)
    assert STEPS / 400 < ended <= STEPS / 200


def test_what_confirms_a_violation_that_floats_see_takes_all_its_steps():
    """Here the certificate alone takes more than an evaluation may."""
    witness = Witness(Counted, lambda case: case.k == 137)

    def certify(case, shift=0.0):
        for _ in range(20_000):
            pass
        return witness.certify(case, shift)

    claim = build("long-certificate", witness.conclusion(), certify, data=COUNTED)
    scout = scouted(claim, "integers", START, budget=400)
    assert instance(claim, scout).k == 137


@dataclass(frozen=True, slots=True)
class Choices:
    """Words, and how many of them a sentence has."""

    words: Float[Array, " V"]
    m: int


def test_no_turn_goes_where_an_evaluation_of_all_choices_never_ends():
    """There are V^m choices: with V = 1 any m is short, and so is m = 1."""
    longest = 0

    def counted(case):
        nonlocal longest
        number = 0
        for _ in itertools.product(range(len(case.words)), repeat=case.m):
            number += 1
        longest = max(longest, number)
        return False

    sizes = st.tuples(st.integers(1, 2), st.integers(1, 4))
    data = sizes.map(lambda size: Choices(np.zeros(size[0]), size[1]))
    natural = {"natural": lambda case: case.m >= 1}
    _, claim = witnessed("choices", Choices, counted, data, hypotheses=natural)
    result = hunt(claim, seconds=None, rounds=3, searchers=WHO)
    assert {"integers", "sizes"} <= result.efforts.keys()
    assert 1000 < longest <= STEPS / 2
    assert result.json()["given_up"] == result.seen.given_up > 0


def test_rounds_come_to_the_same_whatever_clocks_say(monkeypatch):
    """Here each look at a clock is up to an hour after the last, and evaluations take long."""
    sizes = st.tuples(st.integers(1, 2), st.integers(1, 4))
    data = sizes.map(lambda size: Choices(np.zeros(size[0]), size[1]))

    def choices(case):
        return sum(1 for _ in itertools.product(case.words, repeat=max(case.m, 0))) == 3**8

    def account():
        _, claim = witnessed("clocks", Choices, choices, data)
        told = hunt(claim, seconds=None, rounds=2, searchers=WHO).json()
        for step in (*told["growth"], *told["searchers"].values()):
            del step["seconds"]
        return {key: told[key] for key in told if "second" not in key}

    steady, now, leaps = account(), 0.0, random.Random(7)
    assert {"integers", "sizes"} <= steady["searchers"].keys()

    def jumping():
        nonlocal now
        now += 3600 * leaps.random()
        return now

    for clock in ("time", "process_time", "perf_counter", "monotonic"):
        monkeypatch.setattr(time, clock, jumping)
    assert account() == steady


@dataclass(frozen=True, slots=True)
class Chosen:
    """Numbers, an index for each, and how many."""

    a: Float[Array, " n"]
    chosen: Int[Array, " n"]
    n: int


def chosen(n):
    return Chosen(np.arange(float(n)), np.zeros(n, dtype=np.int64), n)


AGREE = {"n numbers": lambda c: len(c.a) == len(c.chosen) == c.n}
INDEX = {"indices": lambda c: bool(((c.chosen >= 0) & (c.chosen < c.n)).all())}


def test_lengths_of_records_grow_and_integers_equal_to_them_follow():
    violated = lambda c: c.n > 40  # noqa: E731
    data = st.integers(1, 4).map(chosen)
    _, claim = witnessed("longer", Chosen, violated, data, hypotheses=AGREE)
    found = instance(claim, scouted(claim, "sizes", [chosen(2), chosen(3)], budget=96))
    assert 40 < found.n == len(found.a) < 80


def test_indices_of_longer_records_choose_what_was_added():
    violated = lambda c: c.n >= 6 and set(c.chosen.tolist()) == {c.n - 1}  # noqa: E731
    data = st.integers(1, 4).map(chosen)
    _, claim = witnessed("added", Chosen, violated, data, hypotheses={**AGREE, **INDEX})
    found = instance(claim, scouted(claim, "sizes", [chosen(2), chosen(3)], budget=96))
    assert violated(found)


def test_what_has_one_length_alone_keeps_it():
    witness, claim = witnessed("fixed", Chosen, data=st.just(chosen(3)))
    assert scouted(claim, "sizes", [chosen(3)], budget=96).tally.seen.looked == 1
    assert len(witness.seen) == 1


def test_indices_of_records_are_enumerated():
    violated = lambda c: c.chosen.tolist() == [0, 2, 0]  # noqa: E731
    data = st.integers(1, 4).map(chosen)
    _, claim = witnessed("indices", Chosen, violated, data, hypotheses={**AGREE, **INDEX})
    found = instance(claim, scouted(claim, "integers", [chosen(3)], budget=400))
    assert violated(found)


def test_who_has_nothing_to_propose_gets_no_further_turn():
    """Sizes of a record without arrays."""
    _, claim = witnessed("nobody", Counted, data=COUNTED, cost=12)
    some = ["drawn", "sizes"]
    runs = [hunt(claim, seconds=None, rounds=rounds, searchers=some) for rounds in (3, 4)]
    for result in runs:
        assert "sizes" in result.done
        assert result.efforts["sizes"].accepted == 0
    assert runs[0].efforts["sizes"].turns == runs[1].efforts["sizes"].turns
    assert runs[1].json()["done"] == runs[1].done


def test_the_account_of_searchers_adds_up():
    _, claim = witnessed("sum", Counted, data=COUNTED, cost=6)
    result = hunt(claim, seconds=None, rounds=3)
    efforts = result.efforts.values()
    assert sum(e.screened for e in efforts) == result.seen.screened > 0
    assert sum(e.accepted for e in efforts) == result.examples
    assert "integers" in result.moved["k"]
    assert not any("only drawn values" in said for said in result.warnings)
    alone = hunt(claim, seconds=None, rounds=2, searchers=["drawn"])
    assert any("only drawn values of k, j were tried" in said for said in alone.warnings)


def test_integers_of_a_ladder_are_close_to_each_other():
    ladder = sorted({abs(k) for k in record_moves.ladder(3, 10**6, np.random.default_rng(0))})
    assert {0, 1, 2, 10**5, 2**15 - 1, 2**15 + 1, 10**6} <= set(ladder) <= {*range(10**6 + 1)}
    assert all(b <= max(a + 1, 1.6 * a) for a, b in itertools.pairwise(ladder))


SINGLY = {
    c.id: c
    for c in find_claims(load_packs())
    if not c.formula.batches and c.cost <= record_moves.CHEAP
    if c.expected.truth is not Truth.REFUTED
}
"""Readings about records that stand and are evaluated one by one in floats."""


@pytest.mark.parametrize("id", sorted(SINGLY))
def test_records_that_are_screened_one_by_one_look_violated_where_the_judge_says_so(id):
    claim, told = SINGLY[id], 0
    for name in ("", *(s.name for s in claim.siblings)):
        part = claim.part(name)
        for case in part.examples[:: 1 if nightly() else 3]:
            slack = claim.conclusion(case, **part.parameters)
            if slack.kind != "unknown":
                height = glance(part.formula, part.parameters, case)
                assert height >= 1.0 if slack.violated else height <= 1.0 + 1e-9
                told += 1
    assert told > 0
