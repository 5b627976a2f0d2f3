"""Parts of an input, and where they rest, against other ways to find these."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, fmpq

from attsvm.exact import ExactData, dot, rationals
from attsvm.theory import OPEN
from properties.tf._support.descent_instances import from_zero
from properties.tf.benign_landscape import parts, stationary_points
from properties.tf.benign_landscape.instances import (
    BYSTANDER,
    FALLING,
    FINITE,
    LEVEL,
    PEAK,
    REST,
    REST_ELSEWHERE,
    WITHIN,
)
from properties.tf.benign_landscape.parts import dependencies, merged, split
from properties.tf.benign_landscape.stationary_points import (
    least_exactly_where_largest,
    parts_known,
    settled,
    stationary_exactly_where_at_rest,
)

SKEW = [[0, 0, 0], [1, 0, 0], [3, 0, 0], [0, 0, 1], [0, 1, 1], [0, 2, 1]]
"""Two lines that do not meet, three tokens on each."""


def on_line(places, scores):
    return from_zero([[[float(x)] for x in places]], scores=[scores])


GRID = [fmpq(int(2.0 ** (30 + k / 16)), 2**30) for k in range(-192, 193)]


def slopes(case):
    """The sign of the slope of the score of a first input on a line, at exp(<v, p>) on a grid."""
    x, gamma = ([fmpq(int(v)) for v in row] for row in (case.data.X[0, :, 0], case.data.gamma[0]))
    signs = []
    for y in GRID:
        weights = [y ** int(k) for k in x]
        score = dot(weights, gamma) / sum(weights, fmpq(0))
        slope = dot([w * (g - score) for w, g in zip(weights, gamma, strict=True)], x)
        signs.append((slope > 0) - (slope < 0))
    return np.array(signs)


@pytest.mark.parametrize("seed", range(4))
def test_parts_are_the_least_ones_that_dependencies_are_sums_over(seed):
    generator = np.random.default_rng(seed)
    several = 0
    for _ in range(15):
        tokens = rationals(generator.integers(-1, 2, size=(6, 4)).astype(float))
        whole = merged(tokens, [fmpq(0)] * 6)
        found = split(whole)
        several += len(found) > 1
        assert sum(len(part.tokens) for part in found) == len(whole.tokens)
        count = sum(len(dependencies(part.tokens)) for part in found)
        assert count == len(dependencies(whole.tokens))
        for part in found:
            rows = range(1, len(part.tokens))
            for size in range(len(rows)):
                for others in itertools.combinations(rows, size):
                    sides = [0, *others], [t for t in rows if t not in others]
                    kept = sum(len(dependencies(part.of(side).tokens)) for side in sides)
                    assert kept < len(dependencies(part.tokens)) or not sides[1]
    assert several > 3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("longest", [32, 0])
def test_on_a_line_the_score_turns_exactly_where_it_is_told_to(seed, longest, monkeypatch):
    monkeypatch.setattr(parts, "_LONGEST", longest)
    generator, told = np.random.default_rng(seed), []
    for _ in range(12):
        places = generator.choice(np.arange(-3, 4), size=generator.integers(3, 6))
        case = on_line(places, generator.integers(-4, 5, size=len(places)).astype(float))
        signs = np.sign(slopes(case))
        if len(set(places)) == 1 or len(set(case.data.gamma[0])) == 1 or (signs == 0).any():
            continue
        for largest, turns in (
            (False, (np.diff(signs) != 0).any()),
            (True, (np.diff(signs) < 0).any()),
        ):
            found = settled(case, largest)
            if found is not OPEN:
                assert (found is not None) == turns
            told.append(found is not OPEN)
    assert np.mean(told) > (0.9 if longest else 0.6)  # where no root is seen some may be


@pytest.mark.parametrize("scores", list(itertools.permutations([3.0, -1.0, 0.5])))
@pytest.mark.parametrize("places", [[2, 0, -1], [0, 2, 3], [1, -4, 0]])
def test_of_three_tokens_on_a_line_the_middle_one_scores_least_or_most(places, scores):
    case, middle = on_line(places, scores), scores[int(np.argsort(places)[1])]
    assert (settled(case) is not None) == (middle != 0.5)
    assert (settled(case, largest=True) is not None) == (middle == 3.0)
    assert stationary_exactly_where_at_rest(case) > 0
    assert least_exactly_where_largest(case) > 0


def test_a_token_beside_the_others_has_to_score_as_they_do_at_rest():
    assert settled(LEVEL) is not None
    assert settled(BYSTANDER) is None
    near = replace(LEVEL, inputs=replace(LEVEL.data, scores=[[3.0, -2.0, 2.0, 1.0 + 2.0**-40]]))
    assert settled(near) is None
    assert settled(LEVEL, largest=True) is None
    below = from_zero(LEVEL.data.X, scores=[[-1.0, 4.0, 0.0, 1.0]])
    assert settled(below, largest=True) is not None
    assert least_exactly_where_largest(replace(below, start=np.eye(2))) > 0


def test_equal_tokens_are_one_of_their_mean_score():
    tokens = [[[0.0], [0.0], [1.0]]]
    assert settled(from_zero(tokens, scores=[[3.0, -1.0, 1.0]])) is not None
    assert settled(from_zero(tokens, scores=[[3.0, -1.0, 1.5]])) is None
    twice = from_zero([[[0.0], [1.0], [1.0], [3.0]]], scores=[[0.0, 5.0, 1.0, 1.0]])
    W, _ = settled(twice)
    (turn,) = np.flatnonzero(np.diff(slopes(twice)))
    assert float(GRID[turn]) < np.exp(float(W[0, 0])) < float(GRID[turn + 1])


def test_two_lines_rest_together_only_at_one_score():
    both = [-2.0, 3.0, -1.0, 4.0, -8.0, 4.0]
    assert settled(from_zero([SKEW], scores=[both])) is not None
    assert (
        settled(from_zero([SKEW], scores=[[*both[:3], *(score + 0.5 for score in both[3:])]]))
        is None
    )
    assert settled(from_zero([SKEW], scores=[both]), largest=True) is None
    assert parts_known(from_zero([SKEW], scores=[both]))
    equal = [[0, 0, 0], [1, 0, 0], [3, 0, 0], [0, 0, 1], [0, 1, 1], [0, 3, 1]]
    twice = [0.0, 3.0, 1.0] * 2
    assert settled(from_zero([equal], scores=[twice])) is OPEN  # at one score, which is no fraction


def test_the_sign_of_h_is_told_where_powers_are_rational():
    (part,) = split(
        merged(rationals(np.array([[0.0], [1.0], [3.0]])), [fmpq(-2), fmpq(3), fmpq(-1)])
    )
    (b,) = dependencies(part.tokens)
    signed = parts.apart(b, part.scores)
    assert parts.vanishes(part, signed, fmpq(0)) is True
    assert parts.vanishes(part, signed, fmpq(1, 2**50)) is False
    long = [x * 2**12 + fmpq(k == 0) for k, x in enumerate(signed)]
    assert parts.vanishes(part, long, fmpq(1, 2**80)) in (False, OPEN)


def test_claims_fall_with_wrong_conditions(monkeypatch):
    assert stationary_exactly_where_at_rest(PEAK) == -1
    assert least_exactly_where_largest(PEAK) == -1
    assert not parts_known(PEAK)
    assert least_exactly_where_largest(REST_ELSEWHERE, largest=False) < 0
    monkeypatch.setattr(parts, "apart", lambda *_: None)
    assert stationary_exactly_where_at_rest(replace(REST, loss="exponential")) == -1
    monkeypatch.undo()
    monkeypatch.setattr(parts, "bracket", lambda *_: (fmpq(-1, 2), fmpq(0)))  # not at the root
    assert stationary_exactly_where_at_rest(on_line([2, 0, -1], [3.0, -1.0, 0.5])) < 0
    monkeypatch.undo()
    monkeypatch.setattr(parts, "sign_changes", lambda *_: [(arb(2), True)])
    monkeypatch.setattr(parts, "_LONGEST", 0)
    assert stationary_exactly_where_at_rest(FINITE) < 0


def test_tokens_that_are_long_and_near_each_other_are_no_counterexample():
    near = on_line([2415919103, 2415919104, 0], [1.0, 0.0, 0.0])
    assert stationary_exactly_where_at_rest(near) > 0
    assert least_exactly_where_largest(near) > 0


def test_inputs_move_alone_and_all_of_them_have_to_rest():
    X = np.array([WITHIN.data.X[0], WITHIN.data.X[0]]).repeat(2, axis=2) * [1.0, 0.0]
    rest, not_rest = WITHIN.data.scores[0], [1.0, 2.0, -1.0]
    queries = np.array([[1.0, 1.0], [1.0, -0.5]])
    for scores, there in (([rest, rest], True), ([rest, not_rest], False)):
        data = replace(from_zero(X, scores=scores).data, Z=queries)
        case = replace(WITHIN, inputs=data, start=np.eye(2))
        assert (settled(case, largest=True) is not None) == there
        assert stationary_exactly_where_at_rest(case) > 0
        assert least_exactly_where_largest(case) > 0
    data = replace(data, Z=np.ones((2, 2)), scores=np.array([rest, rest]))
    assert settled(replace(case, inputs=data)) is OPEN


@pytest.mark.parametrize("case", [REST, FINITE, FALLING, LEVEL])
def test_a_dependency_changes_no_logits(case):
    found = settled(case)
    for part in split(
        merged(*(x[0] for x in (ExactData.of(case.data).X, ExactData.of(case.data).gamma)))
    ):
        for rest in parts.rests(part)[0]:
            for b in dependencies(part.tokens):
                assert sum(
                    float(x * a) for x, a in zip(b, rest.logits, strict=True)
                ) == pytest.approx(0, abs=1e-12)
    assert (found is None) == (case is FALLING)
    assert stationary_points.stationary_exactly_where_at_rest(case) > 0
