"""Structured changes keep the form of an instance, and reach what no plain draw does."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from toy_pack import build

from attsvm.data import AttentionData
from attsvm.theory.instance import codec
from attsvm.theory.search.families import _MOVES, _oppose, blocks, varied, with_blocks
from tests.theory.search.scouting import only_by_the_searcher, scouted


@dataclass(frozen=True, slots=True)
class Inputs:
    """Two inputs: a query and a score each; a square matrix and a step."""

    Z: Any
    s: Any
    W: Any
    step: float


def odd(*shape):
    """Arrays of odd multiples of a 16th."""
    count = int(np.prod(shape))
    return st.binary(min_size=count, max_size=count).map(
        lambda raw: (2.0 * np.frombuffer(raw, dtype=np.int8).reshape(shape) + 1.0) / 16.0
    )


INPUTS = st.builds(Inputs, odd(3, 2), odd(3), odd(2, 2), st.just(0.5))


def generic(seed):
    """An instance without ties."""
    generator = np.random.default_rng(seed)
    Z, s, W = (generator.normal(size=size).round(2) for size in ((3, 2), 3, (2, 2)))
    return Inputs(Z, s, W, 0.5)


def opposed(case: Inputs) -> bool:
    return any(
        case.s[i] == case.s[j] and (case.Z[i] == -case.Z[j]).all()
        for i in range(3)
        for j in range(i)
    )


def tied(case: Inputs) -> bool:
    a, b, c = (tuple(row) for row in case.Z)
    return len({a, b, c}) == 2 and len({*a, *b, *c}) == 4 == 1 + len(set(case.s))


def nearly_tied(case: Inputs) -> bool:
    gaps = np.abs(case.s[:, None] - case.s[None, :])
    return bool(((gaps > 0) & (gaps < 2.0**-15)).any())


def dependent(case: Inputs) -> bool:
    (a, b), (c, d) = case.W.tolist()
    return a * d == b * c and math.prod((a, b, c, d)) != 0 and len({a, b, c, d}) == 4


def huge(case: Inputs) -> bool:
    return bool(np.abs(case.Z).max() > 2.0**9)


def tiny(case: Inputs) -> bool:
    return bool(np.abs(case.W).max() < 2.0**-9)


def dominated(case: Inputs) -> bool:
    largest = np.sort(np.abs(case.s))
    return bool(largest[-1] > 2.0**6 * largest[-2] > 0)


def cleared(case: Inputs) -> bool:
    return not case.W.any() and bool(case.s.any())


@pytest.mark.parametrize("seed", [0])
@pytest.mark.parametrize(
    "violated", [opposed, tied, nearly_tied, dependent, huge, tiny, dominated, cleared]
)
def test_a_degenerate_instance_is_found_that_hypothesis_does_not_draw(violated, seed):
    found = only_by_the_searcher(Inputs, violated, INPUTS, "families", [generic(seed)], 300, seed)
    assert violated(found)


def score_tables(data: AttentionData) -> bool:
    """Two inputs of the same tokens whose scores are exchanged."""
    return bool(
        data.n == 2
        and (data.X[0] == data.X[1]).all()
        and (data.Z[0] == data.Z[1]).all()
        and data.scores is not None
        and (data.scores[0] == data.scores[1][::-1]).all()
        and data.scores[0, 0] != data.scores[0, 1]
    )


@pytest.mark.parametrize("seed", [0])
def test_inputs_of_opposed_gradients_are_found(seed):
    data = st.builds(
        lambda X, Z, s: AttentionData(X, Z, scores=s), odd(2, 2, 2), odd(2, 2), odd(2, 2)
    )
    generator = np.random.default_rng(seed)
    X, Z, s = (generator.normal(size=size).round(2) for size in ((2, 2, 2), (2, 2), (2, 2)))
    case = AttentionData(X, Z, scores=s)
    found = only_by_the_searcher(AttentionData, score_tables, data, "families", [case], 300, seed)
    assert score_tables(found)


def test_two_changes_together_go_where_one_does_not():
    def both(case: Inputs) -> bool:
        return opposed(case) and bool(np.abs(case.Z).max() > 2.0**5)

    assert both(only_by_the_searcher(Inputs, both, INPUTS, "families", [generic(0)], 600))


numbers = st.floats(allow_nan=False, allow_infinity=False)
shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
values = st.one_of(
    numbers, shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=numbers))
)


@given(st.lists(values, max_size=4).map(tuple))
def test_blocks_are_all_numbers_of_an_instance_and_can_be_put_back(case):
    document = codec.encode(case)
    found = blocks(document)
    assert len(found) == sum(np.size(value) > 0 for value in case)
    assert with_blocks(document, found) == document
    negated = with_blocks(document, {path: -array for path, array in found.items()})
    for was, now in zip(case, codec.decode(negated, None), strict=True):
        np.testing.assert_array_equal(np.asarray(now), -np.asarray(was))


@pytest.mark.parametrize("case", [7, np.array([2, -3])])
def test_integers_are_blocks_of_floats_where_they_are_asked_for(case):
    document = codec.encode(case)
    assert blocks(document) == {}
    ((path, found),) = blocks(document, whole=True).items()
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, case)
    moved = codec.decode(with_blocks(document, {path: found + 1.0}), None)
    np.testing.assert_array_equal(moved, np.asarray(case) + 1)


@given(st.lists(values, max_size=4).map(tuple), st.integers(0, 2**32 - 1))
def test_changes_keep_shapes_and_finite_numbers(case, seed):
    document = codec.encode(case)
    before = json.dumps(document)
    changed = varied(document, np.random.default_rng(seed))
    assert json.dumps(document) == before
    if changed is not None:
        assert changed != document
        for was, now in zip(case, codec.decode(changed, None), strict=True):
            assert np.shape(now) == np.shape(was)
            assert np.isfinite(now).all()


def test_changes_never_lead_beyond_the_largest_number():
    document = codec.encode((np.full((2, 2), 1e308), 1e308))
    made = [varied(document, np.random.default_rng(seed)) for seed in range(200)]
    changed = [codec.decode(found, None) for found in made if found is not None]
    assert changed
    assert all(np.isfinite(part).all() for case in changed for part in case)


@pytest.mark.parametrize("move", _MOVES, ids=lambda move: move.__name__)
def test_every_change_changes_something_and_leaves_alone_what_it_does_not_fit(move):
    changed = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        case = {("a",): generator.normal(size=(3, 2)), ("b",): generator.normal(size=3)}
        before = {path: array.copy() for path, array in case.items()}
        move(case, generator)
        changed += any((case[path] != before[path]).any() for path in case)
        move({("a",): np.zeros((1, 1)), ("b",): np.zeros(1), ("c",): np.array(2.0)}, generator)
    assert changed >= 15


def test_opposed_indices_are_copies_of_which_up_to_two_arrays_differ():
    changed = set()
    for seed in range(60):
        generator = np.random.default_rng(seed)
        case = {(name,): generator.normal(size=(2, 3)) for name in "abc"}
        _oppose(case, generator)
        changed.add(sum((array[0] != array[1]).any() for array in case.values()))
    assert changed == {0, 1, 2}


def test_what_types_and_claims_refuse_is_survived():
    @dataclass(frozen=True, slots=True)
    class Positive:
        x: float

        def __post_init__(self) -> None:
            if not self.x > 0.0:
                raise ValueError("not positive")

    def conclusion(p: Positive, shift: float = 0.0):
        from attsvm.theory import Slack

        return Slack(1.0, 0.0) if p.x < 1e6 else math.nan_at_large  # type: ignore[attr-defined]

    conclusion.__annotations__["p"] = Positive
    claim = build("refuses", conclusion, lambda p, shift=0.0: None)
    scout = scouted(claim, "families", [Positive(1.0)])
    assert scout.found is None
    assert scout.tally.seen.refused + scout.tally.seen.broke > 0
