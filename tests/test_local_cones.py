"""Cones about locally-optimal directions: exact conditions, and the starts that leave them."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings

from attsvm import AttentionData
from properties.fates import certified_direction
from properties.tf import local_convergence
from properties.tf.local_cones import (
    Local,
    is_far,
    is_large,
    is_locally_optimal,
    placed,
    selects,
    solution,
    started,
    target,
    within,
)
from properties.tf.local_convergence import fleeing, on_the_ray


def test_support_tokens_are_compared_and_tokens_beyond_are_not():
    assert is_locally_optimal(on_the_ray(1.0, [0.0, -1.0, 1.0]))
    assert not is_locally_optimal(on_the_ray(1.0, [0.0, 0.0, 1.0]))
    assert not is_locally_optimal(on_the_ray(1.0, [0.0, 1.0, -1.0]))
    # a better token at the margin by the last bit of its coordinates
    for nudge, expected in ((2.0**-40, True), (0.0, False)):
        data = AttentionData.of(
            [[[0.0], [-1.0], [-1.0 - nudge]]], [[1.0]], scores=[[0.0, -1.0, 1.0]]
        )
        case = Local(data, np.array([0]), np.ones((1, 1)), "log-loss")
        assert is_locally_optimal(case) is expected


def test_nothing_to_select_is_no_direction():
    data = AttentionData.of([[[1.0]]], [[1.0]], scores=[[1.0]])
    case = Local(data, np.array([0]), np.ones((1, 1)), "log-loss")
    assert solution(case) is None
    assert not is_locally_optimal(case)
    assert not within(case)
    assert target(case, "alpha") is None


def test_the_cone_is_open_and_its_width_exact():
    # W* = (1, 0), r = 1 and c = 1 for the third token: ||E|| < sigma
    def start(sigma, across):
        case = on_the_ray(1.0, [0.0, -1.0, 1.0])
        return replace(case, start=np.array([[sigma, 0.0], [across, 0.0]]))

    assert within(start(1.0, 1.0 - 2.0**-50))
    assert within(start(1.0, -1.0 + 2.0**-50))
    assert not within(start(1.0, 1.0))
    assert not within(start(1.0, 0.5), 0.5)
    assert within(start(1.0, 0.5 - 2.0**-50), 0.5)
    assert not within(start(-1.0, 0.0))
    # a token that scores below alpha may come as near as its margin
    below = replace(start(1.0, 1.5), data=on_the_ray(1.0, [0.0, -1.0, -2.0]).data)
    assert within(below)
    # queries and other columns count as well
    aside = start(1.0, 0.0)
    aside.start[0, 1] = 1.0
    assert not within(aside)


@pytest.mark.parametrize("share", [0.25, 0.9, 1.1])
def test_starts_are_placed_at_their_share_of_the_width(share):
    choice = on_the_ray(1.0, [0.0, -1.0, 1.0])
    case = placed(choice, np.array([[1.0, 0.0], [-2.0, 0.0]]), 8.0, share, "log-loss")
    assert case.start[0, 0] == pytest.approx(8.0)
    assert case.start[1, 0] == pytest.approx(-8.0 * share)
    assert within(case) is (share < 1.0)


def test_selecting_and_size_are_exact():
    case = fleeing(2, 1024.0)
    assert selects(case)
    assert is_far(case)
    assert not is_far(replace(case, start=np.array([[1023.0, 0.0], [0.0, 0.0]])))
    assert is_far(replace(case, start=np.array([[1024.0, 0.0], [0.0, 0.0]])))
    assert not selects(replace(case, start=np.array([[1024.0, 0.0], [2048.0, 0.0]])))


@pytest.mark.parametrize("R", [4.0, 1024.0, 2.0**40])
@pytest.mark.parametrize("reach", [2, 5])
def test_from_the_rim_alpha_is_left_at_every_norm(R, reach):
    case = fleeing(reach, R)
    assert is_locally_optimal(case)
    assert selects(case)
    assert not is_large(case)
    assert within(case, reach / (reach - 1))
    assert not within(case)
    with ctx.workprec(256):
        assert local_convergence.certify(case) < 0
        assert local_convergence.certify(case, "optimal") > 0


@settings(max_examples=60, deadline=None)
@given(started((0.0, 0.5, 0.9)))
def test_a_start_that_is_large_stays_large_when_doubled(case):
    if is_locally_optimal(case) and within(case) and is_large(case):
        double = replace(case, start=2.0 * case.start)
        assert within(double)
        assert is_large(double)
        assert selects(case)


def test_a_proof_is_about_the_target_it_is_asked_for():
    case = on_the_ray(12.0, [0.0, -1.0, 1.0])
    start = [[fmpq(12), fmpq(0)], [fmpq(0), fmpq(0)]]
    with ctx.workprec(128):
        assert certified_direction(case.data, start, "log-loss", target(case, "alpha")) > 0
        for towards in ("optimal", "turned", "opposite"):
            assert certified_direction(case.data, start, "log-loss", target(case, towards)) < 0
        assert certified_direction(case.data, start, "log-loss", None) < 0
        # an enclosure that is too wide proves nothing
        wide = [[arb(12, 24), fmpq(0)], [fmpq(0), fmpq(0)]]
        assert certified_direction(case.data, wide, "log-loss", target(case, "alpha")) is None
