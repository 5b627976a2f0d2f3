"""Pictures of instances: what is drawn lies within, and where its coordinates say."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm.theory.report.drawings import drawn
from attsvm.theory.report.picture import Panel, Picture

NUMBERS = st.floats(-1e6, 1e6)
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5).map(tuple)


@given(POINTS, POINTS | st.just(()))
def test_everything_that_is_drawn_lies_within_the_picture(points, path):
    shown = drawn(Picture((Panel("<a>", points, frozenset([0]), path),), "b & c"))
    wide, tall = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', shown).groups())
    places = re.findall(r'cx="(\S+?)" cy="(\S+?)"', shown)
    places += [p.split(",") for line in re.findall(r'points="(.*?)"', shown) for p in line.split()]
    assert len(places) == len(points) + (len(path) + 1) * bool(path)
    assert all(0 <= float(x) <= wide and 0 <= float(y) <= tall for x, y in places)
    assert "&lt;a&gt;" in shown
    assert shown.count('class="best"') == 1


def test_nothing_is_drawn_of_what_has_no_place():
    for points in ((), ((np.inf, 0.0),), ((0.0, np.nan),)):
        assert drawn(Picture((Panel("a", points),), "b")) == ""


@given(POINTS)
def test_points_lie_right_and_up_by_their_coordinates_on_one_scale(points):
    shown = drawn(Picture((Panel("a", points),), "b"))
    level, middle = (
        float(re.search(pattern, shown).group(1))
        for pattern in (r'd="M\S+ (\S+?)H', r'd="M(\S+) \S+?V')
    )
    places = re.findall(r'cx="(\S+?)" cy="(\S+?)"', shown)
    assert len(places) == len(points)
    reach = np.abs(points).max() or 1.0
    for (x, y), (a, b) in zip(places, points, strict=True):
        assert float(x) == pytest.approx(middle + 82 * a / reach, abs=0.051)
        assert float(y) == pytest.approx(level - 82 * b / reach, abs=0.051)
