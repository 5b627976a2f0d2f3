"""A domain holds what looks like the instances that it has seen, and nothing else."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attsvm.theory.run.likeness import Domain


@dataclass(frozen=True, slots=True)
class Masked:
    """Tokens, a mask of them or none, and a step."""

    X: Any
    mask: Any = None
    step: Any = 1.0


def seen(*cases):
    domain = Domain()
    for case in cases:
        domain.see(case)
    return domain


SHAPES = st.lists(st.integers(0, 3), min_size=0, max_size=3).map(tuple)


@given(st.lists(SHAPES, min_size=1, max_size=4), SHAPES)
def test_a_shape_is_held_where_fixed_axes_agree_and_the_number_of_axes_was_seen(shapes, shape):
    alike = [s for s in shapes if len(s) == len(shape)]
    fits = bool(alike) and all(
        len({s[k] for s in alike}) > 1 or alike[0][k] == size for k, size in enumerate(shape)
    )
    domain = seen(*(np.zeros(s) for s in shapes))
    assert domain.holds(np.ones(shape)) == fits
    assert all(domain.holds(np.ones(s)) for s in shapes)
    inside = seen(*(Masked(np.zeros(s)) for s in shapes))
    assert inside.holds(Masked(np.ones(shape))) == fits


@given(st.lists(hnp.arrays(float, SHAPES) | st.integers() | st.fractions() | st.booleans()))
def test_what_was_seen_is_held(cases):
    domain = seen(*cases, *(Masked(c) for c in cases), tuple(cases))
    assert all(domain.holds(c) and domain.holds(Masked(c)) for c in cases)
    assert domain.holds(tuple(cases))


def test_nothing_seen_says_nothing():
    assert Domain().holds(np.zeros(3))


def test_a_place_where_only_none_was_drawn_is_free_and_one_of_arrays_may_be_left_empty():
    plain, masked = Masked(np.zeros((1, 2))), Masked(np.zeros((1, 2)), np.ones(2, dtype=bool))
    assert seen(plain).holds(masked)
    assert seen(masked).holds(plain)
    assert not seen(plain, masked).holds(Masked(np.zeros((1, 2)), np.ones(3, dtype=bool)))


@pytest.mark.parametrize(
    ("drawn", "other", "held"),
    [
        (1.0, 2, True),
        (2, 1.0, False),
        (Fraction(1, 2), 1, True),
        (1, Fraction(1, 2), False),
        (1, True, False),
        (1.0, np.zeros(1), False),
        (np.zeros(1), 1.0, False),
        (np.array(0.0), 1.0, True),
        (np.arange(2), np.zeros(2), False),
        (np.zeros(2), np.arange(2), True),
        (np.zeros(2), np.zeros(2, dtype=bool), False),
        ((1.0, np.zeros(2)), (2.0, np.zeros(2)), True),
        ((1.0, np.zeros(2)), (2.0, np.zeros(3)), False),
        ((1.0, 2.0), (1.0, 2.0, 3.0), False),
        ("a", "b", True),
    ],
)
def test_kinds_of_numbers_count_and_integers_pass_for_others(drawn, other, held):
    assert seen(drawn).holds(other) is held


def test_a_tuple_whose_length_varied_may_be_longer():
    assert seen((1.0,), (1.0, 2.0)).holds((1.0, 2.0, 3.0))
