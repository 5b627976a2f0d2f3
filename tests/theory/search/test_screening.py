"""Batches: what is screened is counted, hypotheses are decided, and small matrices keep digits."""

import itertools
import math
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from attsvm import Integer, Real, Vector, question
from attsvm.theory.arithmetic import FLOATS, lanes
from attsvm.theory.declaration import batches
from attsvm.theory.instance import codec
from attsvm.theory.run.coverage import Counts
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import Scout
from attsvm.theory.search.batch_moves import count_new
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.screening import GENERATIONS, breed
from benchmarks.power.regions import proportional, right_triangles
from benchmarks.power.sizes import brocard, few, late, pell, slow, taxicab, tokens
from tests.late import Late
from tests.searching import nightly
from tests.theory.search.scouting import from_nothing, scouted, share

torch = Late("torch")


def test_a_batch_of_integers_alone_is_one_instance():
    claim = question(
        lambda m, v: m.at_most(m.exact(len(range(v.k))), m.exact(v.k) + 1),
        k=Integer(0, 9, beyond=True),
    ).claim
    scout = scouted(claim, "screen", budget=40)
    assert scout.found is None
    assert 0 < scout.tally.seen.screened <= 40


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("planted", "searcher"),
    [
        (few, "screen"),
        (taxicab, "screen"),
        (late, "sizes"),
        (slow, "sizes"),
        (pell, "integers"),
        (brocard, "integers"),
    ],
    ids=lambda part: getattr(part, "id", part),
)
def test_integers_are_screened_beyond_those_that_are_drawn(planted, searcher, seed):
    """Lanes with an integer each where the formula takes them, else one after the other."""
    case = planted.formula.build(**{name: 1 for name in planted.formula.variables})
    found, again = (scouted(planted, searcher, [case], 100, seed) for _ in range(2))
    assert found.found is not None
    assert found.found == again.found


@pytest.mark.parametrize(("dear", "large"), [(2**17, True), (0, False)])
def test_a_turn_goes_to_sizes_that_no_check_has_unless_an_evaluation_takes_much(
    monkeypatch, dear, large
):
    """Much is counted: days pass between any two looks at a clock."""
    days = itertools.count(step=1e6)
    for clock in ("time", "process_time", "perf_counter", "monotonic"):
        monkeypatch.setattr(time, clock, lambda: next(days))
    monkeypatch.setattr("attsvm.theory.search.sizes._DEAR", dear)
    case = tokens.formula.build(a=[0.0, 0.0])
    found = scouted(tokens, "sizes", [case], 100).found
    assert (found is not None) is large
    if large:
        assert len(codec.decode(found.instance, tokens.instance_type).a) > 2**9


def test_sizes_at_which_an_evaluation_takes_hours_are_left():
    """More than 2^9 numbers are added up in all triples: 10^8 operations and more."""

    def total(m, v):
        n = v.n if v.n > 2**9 else 1
        triples = itertools.product(range(n), repeat=3)
        return sum((v.a[i] + v.a[j] + v.a[k] for i, j, k in triples), m.exact(0))

    claim = question(lambda m, v: m.at_most(0, m.abs(total(m, v)) + 1), a=Vector("n")).claim
    before = sys.getprofile()
    scout = scouted(claim, "sizes", [claim.formula.build(a=[0.0])], 100)
    assert (scout.found, sys.getprofile()) == (None, before)


@pytest.mark.parametrize("seed", range(3 if nightly() else 2))
def test_a_box_in_which_nothing_drawn_lies_is_aimed_at(seed):
    """Sides of a millionth about three numbers of different size; a part of it refutes."""
    corner = {"x": "7123/10000", "y": "-31/7", "z": "1000/3"}
    side = "1/1000000"

    def inside(name):
        def within(m, v):
            low = m.exact(corner[name])
            number = getattr(v, name)
            return m.all_of(m.at_most(low, number), m.at_most(number, low + m.exact(side)))

        return within

    box = question(
        lambda m, v: m.at_most(
            v.x + v.y, m.exact(corner["x"]) + m.exact(corner["y"]) + m.exact(side)
        ),
        *map(inside, corner),
        **{name: Real() for name in corner},
    ).claim
    scout = from_nothing(box, "screen", share("screen"), seed)
    assert scout.found is not None
    assert scout.tally.seen.drawn == 0


@pytest.mark.parametrize("planted", [proportional, right_triangles], ids=lambda c: c.id)
def test_relations_between_entries_are_made_on_purpose(planted):
    """Multiples of a row, and right triangles, which chance hardly draws."""
    scout = from_nothing(planted, "screen", share("screen"))
    assert scout.found is not None
    assert scout.tally.seen.screened <= 20 * 4096


LEGS = {"x": Integer(1, 30, beyond=True), "y": Integer(1, 30, beyond=True)}


def test_an_author_may_write_an_exact_integer_with_pythons_own_signs():
    claim = question(lambda m, v: m.at_most(1, m.exact(abs(v.x**2 + v.y**2 - 85**2))), **LEGS).claim
    scout = scouted(claim, "screen", [claim.formula.build(x=1, y=1)])
    assert scout.found is not None
    assert scout.tally.seen.screened >= 4096


def test_integers_that_a_formula_counts_with_are_enumerated_farther_than_a_budget():
    """Ten and ten at the least, twice as many at the next size of a turn: 15^2 + 20^2 = 25^2."""
    claim = question(
        lambda m, v: m.at_most(
            1, m.exact(abs(len(range(v.x)) ** 2 + len(range(v.y)) ** 2 - 25**2))
        ),
        **LEGS,
    ).claim
    case = claim.formula.build(x=1, y=1)
    found = [scouted(claim, "integers", [case], 100, seed).found for seed in range(12)]
    assert sum(map(bool, found)) >= 6


def test_the_integers_that_were_enumerated_are_told():
    """The bounds of a loop that came to its end, and nothing of one that the time cut off."""
    asked = []

    def far(m, v):
        asked.append(v.k)
        return m.at_most(v.k, m.exact(10**9))

    claim = question(far, k=Integer(1, 9, beyond=True), sign=Integer(-1, 1)).claim
    seen = scouted(claim, "integers", [claim.formula.build(k=1, sign=1)], 100).tally.seen
    lanes_of_k = np.concatenate([k.value for k in asked if hasattr(k, "value")])
    low, high = seen.exhausted["k"]
    assert low == 1
    assert high >= 2**13
    assert set(range(low, high + 1)) <= set(lanes_of_k)
    assert seen.exhausted["sign"] == [-1, 1]
    late = from_nothing(claim, "integers", 100, deadline=1.0)
    assert late.tally.seen.exhausted == {}
    seen.add(late.tally.seen)
    assert seen.exhausted["k"] == [low, high]


@pytest.mark.parametrize("count", [lambda k: k, lambda k: len(range(k))], ids=["own", "counted"])
def test_a_later_turn_enumerates_what_the_earlier_ones_left(count):
    """The rows of the larger cube outside the smaller one, and for a hunt those of a long box."""
    asked = []

    def conclusion(m, v):
        if m.name == "floats":
            asked.append(np.broadcast_arrays(*(getattr(k, "value", k) for k in (v.x, v.y, v.z))))
        return m.at_most(1, m.exact(1) + 0 * (count(v.x) + count(v.y) + count(v.z)))

    x, y, z = Integer(1, 9, beyond=True), Integer(-1, 9, beyond=True), Integer(2, 4)
    claim = question(conclusion, x=x, y=y, z=z).claim
    seen, rows = [], []
    for before in (0, 4):
        asked.clear()
        scout = from_nothing(claim, "integers", 4, before=before)
        columns = zip(*([x.ravel() for x in part] for part in asked), strict=True)
        rows.append(set(zip(*map(np.concatenate, columns), strict=True)))
        seen.append(scout.tally.seen)
    cubes = [
        set(itertools.product(*(range(low, high + 1) for low, high in each.exhausted.values())))
        for each in seen
    ]
    assert cubes[0] < cubes[1]
    assert cubes[0] <= rows[0]
    assert cubes[1] - cubes[0] <= rows[1]
    sizes = [len(cubes[0]), len(cubes[1] - cubes[0])]
    both = [size <= each.screened <= 1.5 * size for size, each in zip(sizes, seen, strict=True)]
    assert both == [True, True]
    late = Counts()
    late.add(replace(seen[1]))  # without the first turn
    assert late.exhausted == {}
    first = replace(seen[0])
    first.add(seen[1])
    assert first.exhausted == seen[1].exhausted


def test_the_box_of_a_hunt_grows_from_turn_to_turn():
    """Without the memory of earlier turns it has 1773 values for each of the two integers."""
    claim = question(lambda m, v: m.at_most(1, m.exact(1) + v.x + v.y), **LEGS).claim
    account = hunt(claim, seconds=None, rounds=2, searchers=["integers"])
    turns = account.efforts["integers"].turns
    side = math.isqrt(turns * 96 * 2**15)
    assert turns > 1
    assert account.seen.exhausted == {"x": [1, side], "y": [1, side]}


@pytest.mark.parametrize("searcher", ["screen", "integers"])
def test_a_variable_that_took_several_values_in_a_batch_was_varied(searcher):
    """However few of the batch are examined; not one that differs outside the hypotheses alone."""
    claim = question(
        lambda m, v: m.at_most(0 * v.k * v.one, 1),
        lambda m, v: m.equal(v.one, 1),
        k=Integer(1, 9, beyond=True),
        one=Integer(0, 3),
    ).claim
    scout = from_nothing(claim, searcher, 40)
    assert scout.tally.seen.probed <= 12 < scout.tally.seen.screened
    assert scout.tally.variety.moved == {"k": True, "one": False}


def test_an_author_may_take_the_size_of_an_integer():
    claim = question(
        lambda m, v: m.at_most(m.abs(v.k - 5), m.maximum(v.k, 4)), k=Integer(1, 9)
    ).claim
    ends = [claim.formula.build(k=k) for k in (1, 9)]
    scout = scouted(claim, "screen", ends)
    assert scout.found is None
    generations = 3 * GENERATIONS  # of which each sees the nine integers once at most
    assert 9 <= scout.tally.seen.screened <= 9 * generations


@pytest.mark.parametrize("generations", [1, 3])
def test_a_batch_has_as_many_generations_as_it_is_given(generations):
    claim = question(
        lambda m, v: m.at_most(m.norm(v.x), 1 + m.norm(v.x)), n=Integer(8, 8), x=Vector("n")
    ).claim
    scout = Scout(Tally(claim, claim.part(""), 0), "screen", 10**6)
    generator = np.random.default_rng(0)
    raw = batches.filled(claim.formula, generator, {"n": 8}, 64)
    breed(scout, claim.formula, raw, {"n": 8}, generator, batch=64, generations=generations)
    assert 64 * (generations - 1) / 2 < scout.tally.seen.screened <= 64 * generations


def test_equal_instances_of_a_batch_count_once():
    """Two numbers each, 0 and -0 alike; the first three lanes, two of them equal, are known."""
    pairs = [(0, 1), (0, 1), (2, 3), (2, 3), (1, 0), (-0.0, 1), (2, 2.5), (1e-300, 1), (1, 0)]
    x, y = (np.array(numbers, dtype=float) for numbers in zip(*pairs, strict=True))
    batch = {"k": 7, "x": x, "a": y.reshape(1, -1)}
    assert count_new(batch, 0, np.zeros(9)) == 5
    assert count_new(batch, 3, np.zeros(9)) == 3
    fine = np.random.default_rng(0).integers(0, 2**10, (3, 2**16)) / 2**5
    distinct = len({*map(tuple, fine.T.tolist())})
    height = np.floor(fine.sum(axis=0) * 8)  # equal for some different instances
    first = len({*map(tuple, fine[:, :999].T.tolist())})
    assert count_new({"x": fine}, 0, height) == distinct
    assert count_new({"x": fine}, 999, height) == distinct - first
    assert count_new({"x": fine}, 9, np.arange(2.0**16)) == 2**16 - 9


WEIGHTS = (5, 9, 7, 12, 8, 6, 11, 10)


def cone(m, v):
    """A norm and a hill about a direction, against a sum: all of them scale like x."""
    total = sum(v.x[k] for k in range(len(WEIGHTS)))
    along = sum(weight * v.x[k] for k, weight in enumerate(WEIGHTS))
    cosine_squared = along * along / (sum(w * w for w in WEIGHTS) * (v.x @ v.x))
    hill = (1 - 16 * (1 - cosine_squared)) * m.exact("1.002")
    return m.below(m.maximum(m.norm(v.x), hill * total), total)


HOMOGENEOUS = question(cone, n=Integer(8, 8), x=Vector("n", least=1)).claim


@pytest.mark.parametrize("seed", range(3 if nightly() else 2))
def test_a_homogeneous_claim_falls_at_usual_size_though_its_ratio_tends_to_1_far_out(seed):
    found = from_nothing(HOMOGENEOUS, "screen", 96, seed, wide=True).found
    assert found is not None
    values = codec.decode(found.instance, HOMOGENEOUS.instance_type).x
    assert np.abs(np.frexp(values)[1]).max() < 12


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 7), (4, 4), (4, 6), (5, 5)])
@pytest.mark.parametrize("spread", [0, 20, 300])
def test_spectral_norms_of_batches_keep_their_digits(shape, spread):
    """Ties of the largest singular values included, where a closed form would lose half of them."""
    generator = np.random.default_rng(0)
    A = generator.integers(-1, 2, size=(*shape, 500)).astype(float)
    A[..., :3] = np.eye(*shape)[..., None] * [1.0, -3.0, 0.0]
    A[..., 3] = np.diag([2.0, 2.0, *[1.0] * (max(shape) - 2)])[: shape[0], : shape[1]]
    A = A * np.exp2(generator.integers(-spread, spread + 1, size=500))
    found = FLOATS.spectral(lanes(A)).value
    expected = np.linalg.norm(np.moveaxis(A, -1, 0), 2, axis=(1, 2))
    assert found == pytest.approx(expected, rel=4e-15, abs=0)
    A[0, 0, 0] = np.nan
    assert np.isnan(FLOATS.spectral(lanes(A)).value[0])
