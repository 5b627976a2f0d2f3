"""Shrinking ends at instances that no move makes smaller, without losing the confirmation."""

import contextlib
import itertools
import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jaxtyping import Float
from toy_pack import build, stated

from attsvm._types import Array
from attsvm.exact import rational
from attsvm.theory import Integer, Matrix, Real, Slack, Vector, changed, load_packs
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import rebuilt, value_at
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.sampling import sample
from attsvm.theory.run.tally import Tally
from attsvm.theory.search.axes import groups, unnamed
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.shrink import shrink, still_refuted
from attsvm.theory.search.shrink_moves import (
    Space,
    moves,
    simpler_fractions,
    simpler_values,
    simplicity,
    smallness,
)
from benchmarks.power.planting import PLANTED


@dataclass(frozen=True, slots=True)
class Row:
    """A matrix with a weight for each of its rows, and a number for each."""

    a: Any
    w: Any
    k: Any


def weighted(case: Row, shift: float = 0.0) -> Slack:
    if case.a.shape[0] != len(case.w):
        raise ValueError("a row without a weight")
    return Slack(3.0 - float(np.abs(case.w @ case.a).max()), 1e-9)


def weighted_ball(case: Row, shift: float = 0.0) -> arb:
    sums = [sum(rational(float(x * w)) for x, w in zip(c, case.w, strict=True)) for c in case.a.T]
    return arb(3 - max(abs(s) for s in sums))


ROWS = st.builds(
    lambda n, m: Row(np.ones((n, m)), np.ones(n), np.arange(n)),
    st.integers(1, 4),
    st.integers(1, 4),
)


def tally_of(claim):
    return Tally(claim, claim.part(""), 0)


def start(case, hypotheses=None, conclusion=weighted, certify=weighted_ball, data=None):
    if data is None:
        data = ROWS if isinstance(case, Row) else st.just(case)
    claim = build("weighted", conclusion, certify, hypotheses=hypotheses, data=data)
    found = examine_case(tally_of(claim), case, "test")[1]
    assert found is not None
    return claim, found


ROW = Row(np.full((4, 2), 1.375), np.ones(4), np.arange(4))


def test_a_find_becomes_as_small_as_it_can_be():
    claim, found = start(ROW)
    done = shrink(tally_of(claim), found, 5000)
    small = codec.decode(done.refuted.instance, Row)
    assert done.minimal
    assert (small.a.shape, small.w.shape, small.k.shape) == ((1, 1), (1,), (1,))
    assert small.a.item() * small.w.item() == 4.0


def test_shrinking_keeps_within_the_hypotheses():
    claim, found = start(ROW, {"two columns": lambda case: case.a.shape[1] == 2})
    small = codec.decode(shrink(tally_of(claim), found, 5000).refuted.instance, Row)
    assert small.a.shape == (1, 2)
    assert sorted(np.abs(small.w @ small.a)) == [0.0, 4.0]


@pytest.mark.parametrize("seed", range(5))
def test_no_move_makes_a_minimal_find_smaller(seed):
    a = np.random.default_rng(seed).normal(size=(3, 2)) + 3.0
    claim, found = start(Row(a, np.array([1.0, 0.5, 2.0]), np.arange(3)))
    done = shrink(tally_of(claim), found, 20000)
    assert done.minimal
    assert smallness(done.refuted.instance) <= smallness(found.instance)
    tried = 0
    for trial in moves(done.refuted.instance, Space(Row)):
        smaller = rebuilt(claim, trial)
        with contextlib.suppress(ValueError):
            assert not (smaller and examine_case(tally_of(claim), smaller, "test")[1])
            tried += smaller is not None
    assert tried > 0


def test_it_can_stop_anywhere_and_go_on_from_there():
    claim, found = start(Row(np.full((3, 2), 1.6180339), np.full(3, math.pi), np.arange(3)))
    whole = shrink(tally_of(claim), found, 10**6)
    done, slices = shrink(tally_of(claim), found, 7), 1
    while not done.minimal:
        assert done.spent <= 7
        done = shrink(tally_of(claim), done.refuted, 7, None, done.resume)
        slices += 1
    assert slices > 2
    assert done.refuted.instance == whole.refuted.instance


def test_of_a_long_axis_blocks_are_left_out():
    """From 600 rows to the 37 that are needed, far sooner than row by row."""
    case = Row(np.full((600, 1), 4.0), np.ones(600), np.arange(600))
    claim, found = start(case, {"37 rows": lambda case: len(case.w) >= 37})
    small = codec.decode(shrink(tally_of(claim), found, 200).refuted.instance, Row)
    assert small.a.shape == (37, 1)
    assert small.k.tolist() == list(range(37))


def test_the_budget_and_the_time_are_kept():
    claim, found = start(ROW)
    for budget in (0, 1, 7):
        done = shrink(tally_of(claim), found, budget)
        assert (done.spent, done.minimal) == (budget, False)
        assert (done.refuted == found) is (budget == 0)
    assert shrink(tally_of(claim), found, 100, 1.0).refuted == found


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_some_simpler_value_is_simpler_and_0_has_none(x):
    better = [y for y in simpler_values(x) if simplicity(y) < simplicity(x)]
    assert all(math.isfinite(y) for y in better)
    assert (x == 0.0 and math.copysign(1, x) > 0) or better or x == 1.0 or x == 0.0


def test_numbers_rank_from_0_over_integers_and_fractions_to_the_negative():
    ranked = [0.0, 1.0, -1.0, 2.0, 7.0, 0.5, -0.5, 1.5, 0.25, 0.1]
    assert sorted(ranked, key=simplicity) == ranked
    assert simplicity(0.1)[2] == Fraction(0.1)
    parts = ((0, 1), (1, 1), (-1, 1), (1, 2), (-1, 2), (1, 3), (-2, 3), (1, 4), (-5, 1), (7, 1))
    exact = [Fraction(*pair) for pair in parts]
    assert sorted(exact, key=simplicity) == exact  # by height
    assert {Fraction(-3), Fraction(-22, 7)} <= set(simpler_fractions(Fraction(-355, 113)))
    assert Fraction(1, 10**400) in simpler_fractions(Fraction(3, 10**400))  # beyond all floats
    few, many = (smallness(codec.encode(pair)) for pair in ((0.125, 0.0), (1.0, 1.0)))
    assert few < many  # zeros count more than bits
    for simpler, x in ((simpler_values, 9.5), (simpler_fractions, Fraction(9, 5))):
        assert {-y for y in simpler(x)} <= {-x, *simpler(-x)}
    assert list(simpler_values(0.0)) == list(simpler_values(math.inf)) == []
    assert all(math.isfinite(y) for y in simpler_values(-(2.0**1020)))
    assert {0.0, 1.0, -1.0, 22.5, -11.0, -22.0, -23.0, -21.5, -14.5} <= set(simpler_values(-22.5))
    parts = (0, 1), (1, 1), (-1, 1), (22, 7), (-1, 7), (-11, 7), (-20, 7), (-3, 1), (-19, 6)
    assert {Fraction(*q) for q in parts} <= set(simpler_fractions(Fraction(-22, 7)))


def test_a_strategy_that_breaks_while_it_is_sampled_is_counted():
    def broken(n):
        raise LookupError("no such size")

    claim, found = start(ROW)
    tally = tally_of(replace(claim, data=st.integers(1, 4).map(broken)))
    assert shrink(tally, found, 50).spent > 0
    assert tally.seen.broke_note == "LookupError: no such size in the strategy"


def test_every_move_is_smaller_and_none_comes_twice():
    document = codec.encode(Row(np.array([[1.5, -2.0], [0.3, 4.0]]), np.ones(2), np.arange(2)))
    trials = [json.dumps(t) for t in moves(document, Space(Row))]
    assert len(trials) == len(set(trials)) > 20
    assert all(smallness(json.loads(t)) < smallness(document) for t in trials)


@pytest.mark.parametrize(
    "smaller",
    [
        Row(np.array([[1.5]]), np.array([3.25]), np.array([0])),  # an index left out
        Row(np.array([[3.0]]), np.array([6.5]), np.array([0])),  # and the rest doubled
        Row(np.array([[4.0]]), np.array([4.0]), np.array([0])),  # the other, those above renumbered
        Row(np.zeros((2, 2)), np.array([3.25, 4.0]), np.array([0, 1])),  # an array, a row, an entry
        Row(np.array([[1.5, -2.0], [0.0, 0.0]]), np.array([3.25, 4.0]), np.array([0, 1])),
        Row(np.array([[1.5, 0.0], [3.25, 4.0]]), np.array([3.25, 4.0]), np.array([0, 1])),
        Row(np.array([[2.0, -2.0], [3.0, 4.0]]), np.array([3.0, 4.0]), np.array([0, 1])),  # rounded
        Row(np.array([[3.0, -4.0], [6.5, 8.0]]), np.array([6.5, 8.0]), np.array([0, 1])),  # scaled
        Row(np.array([[0.5, -3.0], [2.25, 3.0]]), np.array([2.25, 3.0]), np.array([0, 1])),  # less
        Row(np.array([[1.0, -2.0], [3.25, 4.0]]), np.array([3.25, 4.0]), np.array([0, 1])),
        Row(np.array([[1.5, -2.0], [3.0, 4.0]]), np.array([3.0, 4.0]), np.array([0, 1])),  # equal
        Row(np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([3.25, 4.0]), np.array([0, 1])),  # signs
        Row(np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([1.0, 1.0]), np.array([0, 1])),
        Row(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([3.25, 4.0]), np.array([0, 1])),  # unit
        Row(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 0.0]), np.array([0, 1])),
    ],
)
def test_the_list_of_moves_is_what_the_documents_say(smaller):
    case = Row(np.array([[1.5, -2.0], [3.25, 4.0]]), np.array([3.25, 4.0]), np.array([0, 1]))
    trials = [json.dumps(t, sort_keys=True) for t in moves(codec.encode(case), Space(Row))]
    assert json.dumps(codec.encode(smaller), sort_keys=True) in trials


@pytest.mark.parametrize(
    "smaller",
    [
        Row(np.array([[2.0, -2.0], [1.0, 3.0]]), np.array([6.0, 15.0]), np.zeros(1)),  # divided
        Row(np.array([[6.0, -6.0], [3.0, 9.0]]), np.array([2.0, 5.0]), np.zeros(1)),
        Row(np.array([[2.0, -2.0], [1.0, 3.0]]), np.array([2.0, 5.0]), np.zeros(1)),
        Row(np.array([[4.0, -4.0], [3.0, 9.0]]), np.array([6.0, 15.0]), np.zeros(1)),  # up to sign
        Row(np.array([[4.0, -4.0], [3.0, 9.0]]), np.array([4.0, 15.0]), np.zeros(1)),
    ],
)
def test_whole_numbers_are_divided_and_entries_equal_up_to_sign_change_together(smaller):
    case = Row(np.array([[6.0, -6.0], [3.0, 9.0]]), np.array([6.0, 15.0]), np.zeros(1))
    trials = [json.dumps(t, sort_keys=True) for t in moves(codec.encode(case), Space(Row))]
    assert json.dumps(codec.encode(smaller), sort_keys=True) in trials


@dataclass(frozen=True, slots=True)
class Matrices:
    """Two matrices."""

    A: Float[Array, "n n"]
    B: Float[Array, "n n"]


def test_two_matrices_of_the_commutator_inequality_become_unit_ones():
    """Böttcher and Wenzel: |AB - BA| <= sqrt 2 |A| |B| in the Frobenius norm, and not 1.41."""

    def exactly(case: Matrices) -> Fraction:
        A, B = ([[Fraction(x) for x in row] for row in M.tolist()] for M in (case.A, case.B))
        n = range(len(A))
        C = [[sum(A[i][k] * B[k][j] - B[i][k] * A[k][j] for k in n) for j in n] for i in n]
        a, b, c = (sum(x * x for row in M for x in row) for M in (A, B, C))
        return Fraction("1.41") ** 2 * a * b - c

    def certify(case: Matrices, shift: float = 0.0) -> arb:
        return arb(fmpq(*exactly(case).as_integer_ratio()))

    def commutator(case: Matrices, shift: float = 0.0) -> Slack:
        return Slack(float(exactly(case)), 0.0)

    case = Matrices(np.diag([5.0, -5.0]), np.array([[0.0, 0.0], [1.0, 0.0]]))
    claim, found = start(case, None, commutator, certify)
    done = shrink(tally_of(claim), found, 5000)
    small = codec.decode(done.refuted.instance, Matrices)
    assert done.minimal
    for M in (small.A, small.B):
        assert M.sum() == np.abs(M).sum() == 1.0


def test_a_find_that_floats_do_not_see_is_made_smaller_all_the_same():
    def holds(x: float, shift: float = 0.0) -> Slack:
        return Slack(1.0, 0.0)

    claim = build(
        "unseen", holds, lambda x, shift=0.0: arb(-1), data=st.just(77.5), expected="refuted"
    )
    tally = tally_of(claim)
    tally.audits = 1
    found = examine_case(tally, 77.5, "test")[1]
    assert found is not None
    done = shrink(tally, found, 5000)
    assert done.minimal
    assert codec.decode(done.refuted.instance, float) == 0.0


def shrunk_inside(low, high, x):
    """What is left of an instance of a claim that fails between two rationals."""

    def between(x, shift: float = 0.0) -> Slack:
        return Slack(-1.0 if low <= Fraction(x) <= high else 1.0, 0.0)

    between.__annotations__["x"] = type(x)
    claim, found = start(x, None, between, lambda x, shift=0.0: arb(between(x).value))
    done = shrink(tally_of(claim), found, 5000)
    assert done.minimal
    return codec.decode(done.refuted.instance, type(x))


def height(q):
    return max(abs(q.numerator), q.denominator)


RATIONALS = st.fractions(-40, 40, max_denominator=2**12)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.nested_given])
@given(RATIONALS, st.fractions(Fraction(1, 256), 4), st.fractions(0, 1))
def test_on_an_interval_the_simplest_number_is_reached(low, width, share):
    """Of floats the fewest bits after the point, then the smallest; of integers the smallest; of
    fractions the one of least height, whose denominator is the least as well."""
    high = low + width
    bits = next(b for b in range(20) if math.floor(high * 2**b) >= math.ceil(low * 2**b))
    grid = range(math.ceil(low * 2**bits), math.floor(high * 2**bits) + 1)
    least = min((Fraction(k, 2**bits) for k in grid), key=abs)
    some = low + width * share
    if low <= Fraction(float(some)) <= high:
        assert shrunk_inside(low, high, float(some)) == least
    small = shrunk_inside(low, high, some)
    fewest = next(q for q in itertools.count(1) if math.floor(high * q) >= math.ceil(low * q))
    parts = range(math.ceil(low * fewest), math.floor(high * fewest) + 1)
    assert height(small) == max(fewest, min(map(abs, parts))) if small else 0 in parts
    if bits == 0:
        assert abs(shrunk_inside(low, high, grid[-1])) == min(map(abs, grid))


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.nested_given])
@given(RATIONALS, st.integers(9, 42), st.fractions(0, 1))
def test_on_a_narrow_interval_a_float_has_the_fewest_bits_too(low, power, share):
    high, some = low + Fraction(1, 2**power), float(low + share / 2**power)
    assume(low <= Fraction(some) <= high)
    bits = next(b for b in range(60) if math.floor(high * 2**b) >= math.ceil(low * 2**b))
    grid = range(math.ceil(low * 2**bits), math.floor(high * 2**bits) + 1)
    least = min((Fraction(k, 2**bits) for k in grid), key=abs)
    assert shrunk_inside(low, high, some) == least


@dataclass(frozen=True, slots=True)
class Sides:
    """Three integers, and two numbers that may have to be equal."""

    sides: Any
    u: Any
    v: Any


def test_integers_shrink_by_common_factors_and_equal_entries_together():
    case = Sides(np.array([21, 28, 35]), 0.71875, 0.71875)
    hypotheses = {
        "a right triangle": lambda c: bool(c.sides[0] ** 2 + c.sides[1] ** 2 == c.sides[2] ** 2),
        "no side is 0": lambda c: bool(np.all(c.sides)),
        "u = v > 0": lambda c: c.u == c.v > 0,
    }
    claim, found = start(case, hypotheses, annotated(Sides), lambda case, shift=0.0: arb(-1))
    done = shrink(tally_of(claim), found, 5000)
    small = codec.decode(done.refuted.instance, Sides)
    assert (done.minimal, small.sides.tolist(), small.u, small.v) == (True, [3, 4, 5], 1.0, 1.0)


@pytest.mark.parametrize(
    "name",
    [
        "plain-functions-jump-product-one",
        "plain-integers-integer-pell",
        "plain-integers-size-pythagoras",
        "plain-integers-size-taxicab",
        "sim-lemma-3.12-constant-two-percent",
        "tf-lemma-2-hypothesis-two-tokens",
    ],
)
def test_no_listed_move_makes_the_find_of_a_hunt_smaller(name):
    """Every move of the list, tried anew, one after the other, on what a hunt calls minimal."""
    load_packs(["benchmarks.power"])
    claim = PLANTED[f"planted/{name}:literal"].claim
    by = ["drawn", "integers"] if name.endswith("pell") else None  # the others take seconds there
    result = hunt(claim, seconds=None, rounds=8, known=False, searchers=by)
    assert result.minimal
    small, space = result.smallest.instance, Space(claim.instance_type, sample(claim.data, 16)[0])
    tried = 0
    for trial in moves(small, space):
        smaller = rebuilt(claim, trial)
        if smaller is not None:
            assert still_refuted(tally_of(claim), trial, "test") is None
            tried += 1
    assert tried > 0


@dataclass(frozen=True, slots=True)
class Named:
    """Two inputs of two tokens in the plane: all lengths are equal."""

    X: Float[Array, "n T d"]
    Z: Float[Array, "n d"]
    start: Any
    best: Any


CUBES = st.integers(1, 3).map(
    lambda k: Named(np.ones((k, k, k)), np.ones((k, k)), np.eye(k), np.zeros(k, dtype=int))
)


def test_the_shortest_axes_come_first_and_one_without_a_name_is_seen():
    @dataclass(frozen=True)
    class Half:
        W: Float[Array, "a b"]
        rest: Any

    document = codec.encode(Half(np.zeros((3, 2)), np.zeros(1)))
    assert [group.length for group in groups(document, Half)] == [2, 3]
    assert not unnamed(document, Half)
    assert unnamed(codec.encode(Half(np.zeros((3, 2)), np.zeros(4))), Half)


def test_axes_of_one_length_are_told_apart_by_their_names():
    def conclusion(case: Named, shift: float = 0.0) -> Slack:
        n, T, d = case.X.shape
        if case.Z.shape != (n, d) or case.start.shape != (d, d) or case.best.shape != (n,):
            raise ValueError("shapes")
        if (case.best >= T).any():
            raise ValueError("no such token")
        return Slack(-float(abs(case.X[0, case.best[0]] @ case.start @ case.Z[0])), 0.0)

    def ball(case: Named, shift: float = 0.0) -> arb:
        return arb(rational(conclusion(case).value))

    X = np.zeros((2, 2, 2))
    X[0, 1, 1] = 1.0
    case = Named(X, np.array([[0.0, 1.0], [0.0, 0.0]]), np.eye(2), np.array([1, 0]))
    claim, found = start(case, None, conclusion, ball, CUBES)
    small = codec.decode(shrink(tally_of(claim), found, 5000).refuted.instance, Named)
    assert (small.X.shape, small.Z.shape, small.start.shape) == ((1, 1, 1), (1, 1), (1, 1))
    assert small.best.tolist() == [0]
    assert (small.X * small.start * small.Z).ravel().tolist() == [1.0]


@dataclass(frozen=True, slots=True)
class Counted:
    """An integer, a fraction and integers in an array."""

    m: int
    q: Fraction
    k: Any


def nothing_counts(case: Counted, shift: float = 0.0) -> Slack:
    return Slack(-1.0, 0.0)


def shrunk_counts(case, **hypotheses):
    data = st.integers(1, 3).map(lambda n: Counted(n, Fraction(n), np.arange(n)))
    claim, found = start(case, hypotheses, nothing_counts, lambda x, shift=0.0: arb(-1), data)
    done = shrink(tally_of(claim), found, 5000)
    assert done.minimal
    return codec.decode(done.refuted.instance, Counted)


def test_integers_and_fractions_of_an_instance_are_made_smaller():
    small = shrunk_counts(Counted(-977, Fraction(355, 113), np.array([64, -3])))
    assert (small.m, small.q, small.k.tolist()) == (0, 0, [0])


def test_integers_and_fractions_are_made_smaller_within_the_hypotheses():
    small = shrunk_counts(
        Counted(977, Fraction(-22, 63), np.array([64, 7])),
        **{
            "m >= 17": lambda case: case.m >= 17,
            "1/4 < |q| < 1/2": lambda case: Fraction(1, 4) < abs(case.q) < Fraction(1, 2),
            "an odd entry comes second": lambda case: bool((case.k[1:2] % 2).any()),
        },
    )
    assert (small.m, small.q, small.k.tolist()) == (17, Fraction(1, 3), [0, 1])


@given(st.fractions())
def test_some_simpler_fraction_is_simpler_and_0_has_none(q):
    better = [p for p in simpler_fractions(q) if simplicity(p) < simplicity(q)]
    assert bool(better) == (q != 0)
    assert all(p.denominator <= q.denominator for p in better)


def test_what_breaks_on_the_way_is_not_taken():
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        if x == int(x):
            raise ZeroDivisionError("at integers")
        return Slack(-1.0, 0.0)

    claim, found = start(0.3, None, conclusion, lambda x, shift=0.0: arb(-1))
    tally = tally_of(claim)
    done = shrink(tally, found, 100)
    assert tally.seen.broke > 0
    assert tally.seen.broke_note.startswith(
        "ZeroDivisionError: at integers in a changed counterexample"
    )
    assert value_at(done.refuted.instance, ("float",)) == 0.5


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1.7e308, 5e-324, -0.0])
def test_extreme_entries_are_survived(value):
    def conclusion(x: Any, shift: float = 0.0) -> Slack:
        return Slack(-1.0, 0.0)

    claim, found = start(np.array([value, 1.0]), None, conclusion, lambda x, shift=0.0: arb(-1))
    assert shrink(tally_of(claim), found, 1000).minimal


def shrunk(case, hint, data):
    claim, found = start(case, None, annotated(hint), lambda x, shift=0.0: arb(-1), data)
    done = shrink(tally_of(claim), found, 5000)
    assert done.minimal
    codec.decode_exactly(done.refuted.instance, hint)  # as `replay` reads it
    return codec.decode(done.refuted.instance, hint)


def annotated(hint):
    def conclude(case, shift: float = 0.0) -> Slack:
        return Slack(-1.0, 0.0)

    conclude.__annotations__["case"] = hint
    return conclude


PAIRS = st.integers(-3, 3).map(lambda k: np.array([1.0, k]))


def test_no_index_is_left_out_of_an_axis_that_never_varied():
    assert shrunk(np.array([0.3, 1.5]), np.ndarray, PAIRS).tolist() == [0.0, 0.0]
    tables = st.integers(1, 4).map(lambda n: np.ones((n, 3)))
    assert shrunk(np.ones((4, 3)), np.ndarray, tables).tolist() == [[0.0] * 3]


@pytest.mark.parametrize("data", [PAIRS, st.nothing()])
def test_what_an_annotation_fixes_stays_even_if_nothing_is_drawn(data):
    small = shrunk(np.array([0.3, 1.5]), Float[np.ndarray, "2"], data)
    assert small.tolist() == [0.0, 0.0]


@dataclass(frozen=True, slots=True)
class Few:
    """Four integers and two floats."""

    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    x: float = 0.0
    y: float = 0.0


def shrunk_to(case, violates):
    """Shrink a violation of what is false of these instances, until no move helps."""
    claim, found = start(
        case, {"it violates": violates}, annotated(Few), lambda case, shift=0.0: arb(-1)
    )
    done = shrink(tally_of(claim), found, 10**6)
    assert done.minimal
    return codec.decode(done.refuted.instance, Few)


MANY = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.nested_given])


@MANY
@given(
    st.sampled_from([(1, 2), (2, 3), (3, 1), (1, 1), (-1, 2), (3, -2)]),
    st.integers(9, 400),
    st.booleans(),
)
def test_numbers_in_a_ratio_become_the_smallest_of_it(ratio, times, floats):
    """None of them can change alone: their quotient stays within 2 % of what it was."""
    p, q = ratio

    def violates(case):
        one, two = (case.x, case.y) if floats else (case.a, case.b)
        return one * p > 0 and abs(50 * (two * p - one * q)) <= abs(one * q)

    numbers = (p * times, q * times + (times > 100))
    case = Few(x=float(numbers[0]), y=float(numbers[1])) if floats else Few(*numbers)
    smallest = Few(x=float(p), y=float(q)) if floats else Few(p, q)
    assert shrunk_to(case, violates) == smallest


def test_three_numbers_in_a_ratio_become_the_smallest_of_it():
    """No two of them can change alone."""

    def violates(case):
        off = abs(case.b - 2 * case.a), abs(case.c - 3 * case.a)
        return case.a > 0 and 50 * max(off) <= case.a

    assert shrunk_to(Few(400, 801, 1200), violates) == Few(1, 2, 3)


@MANY
@given(st.integers(-300, 300), st.integers(1, 3), st.booleans())
def test_numbers_at_a_distance_become_the_smallest_at_it(low, apart, floats):
    def violates(case):
        return (case.y - case.x if floats else case.b - case.a) == apart

    small = shrunk_to(Few(low, low + apart, 5, 0, float(low), float(low + apart)), violates)
    assert ((small.x, small.y) if floats else (small.a, small.b)) == (0, apart)


FOUR = {
    "integers": ({k: Integer(-99) for k in "abcd"}, lambda v: (v.a, v.b, v.c, v.d), list),
    "vector": (
        {"n": Integer(4, 4), "x": Vector("n")},
        lambda v: tuple(v.x),
        lambda numbers: {"x": numbers},
    ),
    "matrix": (
        {"n": Integer(2, 2), "A": Matrix("n", "n")},
        lambda v: tuple(v.A.ravel()),
        lambda numbers: {"A": [numbers[:2], numbers[2:]]},
    ),
    "reals": ({k: Real() for k in "abcd"}, lambda v: (v.a, v.b, v.c, v.d), list),
}
"""Variables that hold four numbers, with a function of their values and one that builds them."""


@pytest.mark.parametrize("given", [(56, 113), (3, 7), (1024, 2049)])
@pytest.mark.parametrize("kind", FOUR)
def test_the_smallest_of_four_numbers_of_variables_is_reached(kind, given):
    variables, four, built = FOUR[kind]

    def conclusion(m, v, c=0):
        a, b, *last = four(v)
        inside = [m.at_most(a, 0), m.below(b, 2 * a), m.below(2 * a + 1, b)]
        others = [
            rel(x, to) for x, to in zip(last, (-1, -10), strict=True) for rel in (m.below, m.above)
        ]
        return m.any_of(*inside, *others, m.below(m.exact(1), m.exact(c)))

    def instance(*numbers):
        values = built([*numbers])
        named = values if isinstance(values, dict) else dict(zip("abcd", values, strict=True))
        return claim.formula.build(**named)

    claim = stated("four", variables, conclusion, siblings={"1": changed(c=1)})
    tally = tally_of(claim)
    _, found = examine_case(tally, instance(*given, -1, -10), "test")
    done = shrink(tally, found, 4000)
    assert done.minimal
    assert done.refuted.instance == codec.encode(instance(1, 2, -1, -10))
