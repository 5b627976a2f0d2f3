"""Cones about locally-optimal directions: exact conditions, radii, and the starts that leave."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm import AttentionData
from attsvm.exact import ExactData, cone_at, rational, rationals, separate
from attsvm.exact.cones import Frame, bounds, largest_at_start
from attsvm.exact.traps import Selection
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES as LOSSES_BY_NAME
from attsvm.primitives.limit_certificates import certified_direction, short_step
from properties._support import cone_starts as starts
from properties._support import cones
from properties._support.cone_radius import WIDER, Pairs, radius
from properties._support.cone_radius import closes as closes_at
from properties._support.cones import Local
from properties._support.token_choices import Choice
from tests.searching import few

LOSSES = ["log-loss", "logistic-loss", "exponential", "correlation"]


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(96):
        yield


def on_the_ray(sigma, scores):
    """The tokens 0, (-1, 0), (-2, 1), started at sigma (1, 0); the solution if the first wins."""
    return starts.placed_at(scores, (2.0, -1.0), sigma, 0.0)


def pairs_of(case):
    return Pairs.of(case.data, case.alpha)


def radius_of(case, share=None):
    s = rational(case.share if share is None else share)
    return radius(pairs_of(case), case.loss, short_step(case.data, case.loss, case.step), s)


def closes(case):
    """Whether balls prove that alpha is kept, whatever width they find."""
    step = short_step(case.data, case.loss, case.step)
    cone = cone_at(ExactData.of(case.data), rationals(case.start), case.loss, step)
    return cone is not None and cone.selected == case.alpha.tolist()


def test_support_tokens_are_compared_and_tokens_beyond_are_not():
    assert cones.is_locally_optimal(on_the_ray(1.0, [0.0, -1.0, 1.0]))
    assert not cones.is_locally_optimal(on_the_ray(1.0, [0.0, 0.0, 1.0]))
    assert not cones.is_locally_optimal(on_the_ray(1.0, [0.0, 1.0, -1.0]))
    # a better token at the margin by the last bit of its coordinates
    for nudge, expected in ((2.0**-40, True), (0.0, False)):
        data = AttentionData.of(
            [[[0.0], [-1.0], [-1.0 - nudge]]], [[1.0]], scores=[[0.0, -1.0, 1.0]]
        )
        case = Local(data, np.array([0]), np.ones((1, 1)), "log-loss")
        assert cones.is_locally_optimal(case) is expected


def test_nothing_to_select_is_no_direction():
    data = AttentionData.of([[[1.0]]], [[1.0]], scores=[[1.0]])
    case = Local(data, np.array([0]), np.ones((1, 1)), "log-loss")
    assert pairs_of(case) is None
    for condition in (
        cones.is_locally_optimal,
        cones.within,
        cones.is_near,
        cones.is_large,
        cones.is_long,
        cones.is_far,
    ):
        assert not condition(case)
    assert cones.target(case, "alpha") is None
    assert starts.lengthened(case) is case


def test_the_cone_is_closed_at_each_share_and_its_width_exact():
    # W* = (1, 0), r = 1 and c = 1 for the third token: ||E|| <= s sigma
    def start(sigma, across, share=0.5):
        case = on_the_ray(1.0, [0.0, -1.0, 1.0])
        return replace(case, start=np.array([[sigma, 0.0], [across, 0.0]]), share=share)

    for sign in (1.0, -1.0):
        assert cones.within(start(1.0, sign * 0.5))
        assert cones.is_near(start(1.0, sign * 0.5))
        assert not cones.within(start(1.0, sign * (0.5 + 2.0**-50)))
        assert not cones.is_near(start(1.0, sign * (0.5 + 2.0**-50)))
    assert cones.within(start(1.0, 0.75), 1.5)
    assert cones.within(start(1.0, 0.75, 0.75))
    assert not cones.within(start(-1.0, 0.0))
    assert not cones.is_near(start(-1.0, 0.0))
    # a token that scores below alpha may come as near as its margin, 2
    below = replace(start(1.0, 1.0), data=on_the_ray(1.0, [0.0, -1.0, -2.0]).data)
    assert cones.within(below)
    assert not cones.within(replace(below, start=np.array([[1.0, 0.0], [1.0 + 2.0**-50, 0.0]])))
    # so may a support token of any score: its width is a number where alpha is not locally optimal
    better = replace(start(1.0, 1.0), data=on_the_ray(1.0, [0.0, 1.0, -2.0]).data)
    assert cones.within(better)
    # queries and other columns count as well
    aside = start(1.0, 0.0)
    aside.start[0, 1] = 1.0
    assert not cones.within(aside)


def placed(share, far):
    """A start of descent with that share of the cone's width, at so many radii."""
    given_ = on_the_ray(1.0, [0.0, -1.0, 1.0])
    away = np.array([[1.0, 0.0], [-2.0, 0.0]])
    return starts.placed(Choice(given_.data, given_.alpha), away, share, 1.0, far, "log-loss")


def test_no_start_is_placed_outside_its_cone():
    assert not placed(1.1, 1.0).start.any()


@pytest.mark.parametrize("share", [0.25, 0.9])
@pytest.mark.parametrize("far", [1.0, 8.0])
def test_starts_are_placed_at_their_share_and_radius(share, far):
    case = placed(share, far)
    sigma, away = cones.parts(case, pairs_of(case))
    assert float(sigma) == pytest.approx(far * float(radius_of(case)))
    assert float(away) ** 0.5 == pytest.approx(share * float(sigma))
    assert cones.within(case)
    assert cones.is_large(case)
    assert not cones.within(case, 0.999)
    assert cones.is_large(case, fmpq(9, 10) * int(far))
    assert not cones.is_large(case, fmpq(11, 10) * int(far))


@given(starts.local_choices())
def test_the_cone_is_narrowest_where_one_pair_loses_its_margin_first(choice):
    pairs, away = Pairs.of(choice.data, choice.alpha), starts.narrowest(choice)
    assume(pairs.slope > 0)  # a mask may leave a single rival
    W, A = np.array([[float(arb(x)) for x in row] for row in pairs.W]), constraints(choice)
    assert abs((W * away).sum()) < 1e-9 * np.linalg.norm(W) * np.linalg.norm(away)
    lost = -(A * away).sum(axis=(1, 2))
    slopes = [float(r / (c * c)) for r, c in zip(pairs.across, pairs.room, strict=True)]
    j = int(np.argmax(slopes))
    assert lost[j] == pytest.approx(1.0)
    assert 1.0 / np.linalg.norm(away) ** 2 == pytest.approx(float(pairs.across[j]))


def constraints(choice):
    """(x_alpha - x_t) z^T in the order of the pairs."""
    X, Z, alpha = choice.data.X, choice.data.Z, choice.alpha
    rows = [(i, t) for i, t in zip(*choice.data.present.nonzero(), strict=True) if t != alpha[i]]
    return np.array([np.outer(X[i, alpha[i]] - X[i, t], Z[i]) for i, t in rows])


def leaving(score, reach):
    """A start that leaves along a token of that score, and reaches that far."""
    choice = starts.placed_at([0.0, -1.0, score], (reach, -1.0), 1.0, 0.0)
    case = starts.leaving(Choice(choice.data, choice.alpha), 0.5, 2.0, "log-loss")
    margin = -(np.array([-reach, 1.0]) @ case.start[:, 0])
    assert margin == pytest.approx(1.0)
    assert cones.selects(case)
    return case


@pytest.mark.parametrize("reach", [2.0, 33.0])
def test_the_cone_has_the_whole_margin_of_a_token_that_scores_less(reach):
    assert cones.within(replace(leaving(-2.0, reach), share=1.0))


@pytest.mark.parametrize("reach", [2.0, 33.0])
def test_better_tokens_take_over_beyond_the_cone(reach):
    """By one part of the excess margin."""
    case = leaving(1.0, reach)
    sigma, away = cones.parts(case, pairs_of(case))
    wide = float(away) ** 0.5 / float(sigma) * float(pairs_of(case).slope) ** 0.5
    assert wide == pytest.approx((reach - 1.0 / float(sigma)) / (reach - 1.0))
    assert not cones.within(case)
    with ctx.workprec(256):
        assert cones.decided(case) < 0


def test_without_a_radius_nothing_leaves():
    case = starts.on_the_line(1.0, 0.0)
    choice = Choice(case.data, case.alpha)
    assert not starts.leaving(choice, 0.5, 1.0, "log-loss").start.any()
    assert not starts.narrowest(choice).any()


def test_near_and_long_starts_are_large():
    """By its norm alone: at the widest angle the bound is attained."""
    case = on_the_ray(1.0, [0.0, -1.0, 1.0])
    assert cones.tangent(pairs_of(case)) == fmpq(1, 4)
    for across in (0.0, 0.25, 0.5):
        least = float(radius_of(case)) * (1.25 / (1.0 + across**2)) ** 0.5
        for factor, expected in ((1.0 + 1e-9, True), (1.0 - 2.0**-11, False)):
            start = factor * least * np.array([[1.0, 0.0], [across, 0.0]])
            here = replace(case, start=start)
            assert cones.is_near(here)
            assert cones.is_long(here) is expected
            assert cones.is_large(here) or not expected
    assert not cones.is_large(here)


def test_selecting_and_size_are_exact():
    case = starts.escaping_start(2, 1024.0)
    assert cones.selects(case)
    assert cones.is_far(case)
    assert not cones.is_far(replace(case, start=np.array([[1023.0, 0.0], [0.0, 0.0]])))
    assert cones.is_far(replace(case, start=np.array([[1024.0, 0.0], [0.0, 0.0]])))
    assert not cones.selects(replace(case, start=np.array([[1024.0, 0.0], [2048.0, 0.0]])))


@pytest.mark.parametrize("R", [4.0, 1024.0, 2.0**40])
@pytest.mark.parametrize("reach", [2, 5])
def test_from_the_rim_alpha_is_left_at_every_norm(R, reach):
    case = replace(starts.escaping_start(reach, R), share=1.0)
    assert cones.is_locally_optimal(case)
    assert cones.selects(case)
    assert not closes(case)
    assert cones.within(case, reach / (reach - 1))
    assert not cones.within(case)
    with ctx.workprec(256):
        assert cones.decided(case) < 0
        assert cones.decided(case, "optimal") > 0


@given(starts.started(0.5, 0.25, 0.875, 0.99), st.sampled_from([1, 2, 2**10, 2**40]))
def test_from_its_radius_on_every_cone_closes(case, further):
    """What holds at the radius holds at every larger sigma, as is proved, and at no smaller one."""
    assume(cones.is_locally_optimal(case))  # else there is no radius
    pairs, step = pairs_of(case), short_step(case.data, case.loss, case.step)
    least = radius_of(case)

    def holds(sigma):
        return closes_at(pairs, case.loss, step, rational(case.share), sigma)

    assert all(holds(least * (1 + fmpq(k, 16)) * further) for k in range(16))
    assert least < fmpq(1, 2**64) or not any(holds(least * fmpq(k, 16)) for k in range(1, 16))


@given(starts.started(0.5, 0.25, 0.875, 0.99))
def test_starts_of_a_cone_are_kept_by_the_set_that_closes(case):
    """Descent from them converges to alpha, whatever the step, the loss and the place."""
    assume(cones.is_locally_optimal(case) and cones.within(case))  # else the start is leaving
    assert cones.is_large(case)
    exact = ExactData.of(case.data)
    rows = [kept.index(a) for kept, a in zip(exact.kept, case.alpha, strict=True)]
    assert Selection.at(exact, rationals(case.start)).tokens == rows
    with ctx.workprec(512):
        assert cones.decided(case) > 0


def test_cones_close_where_few_widths_will_do():
    """At the radius of larger choices, where none of the listed shares of the width closes some."""
    for seed in range(few(24)):
        case = starts.started_larger(0.25)(np.random.default_rng(seed))
        assert cones.within(case)
        assert closes(case)


@given(
    st.sampled_from(LOSSES),
    st.tuples(*[st.integers(-8, 8)] * 2),
    st.tuples(*[st.integers(1, 12)] * 2),
    st.sampled_from([fmpq(1, 8), fmpq(1, 2), fmpq(15, 16)]),
    st.sampled_from([fmpq(1, 2**20), fmpq(1), fmpq(64), fmpq(2**20)]),
)
def test_cones_close_at_their_radius_on_any_scale_of_scores_and_steps(
    name, powers, beyond, share, step
):
    """Score leads from 2^-24 to 2^24, better tokens that are hardly beyond, long steps."""
    scores = [0.0, -(8.0 ** powers[0]), 8.0 ** powers[1]]
    if name in ("logistic-loss", "exponential", "log-loss"):
        scores = [x / 2.0**20 for x in scores]
    case = starts.placed_at(scores, (1.0 + beyond[0] / 4.0, -beyond[1] / 4.0), 1.0, 0.0)
    pairs = pairs_of(case)
    least = radius(pairs, name, step, share)
    assert least < 2**40
    sigma = rational(float(least) * (1.0 + 2.0**-40))
    width = share * sigma * arb(1 / pairs.slope).sqrt()
    start = [[sigma, fmpq(0)], [rational(float(width) * (1.0 - 2.0**-40)), fmpq(0)]]
    exact = ExactData.of(case.data)
    selection = Selection.at(exact, start)
    assert selection.tokens == [0]
    (frame,) = Frame.at(exact, selection, separate(exact, [0]), start).frames
    widths = [width * (1 + (1 / share - 1) * part) for part in WIDER]
    sets = [(Q, bounds(frame, Q, name, step)) for Q in widths]
    assert any(found and largest_at_start(found.bends, Q, found.spread) for Q, found in sets)


def turns(choice, share, loss, far):
    """Whether some start at the rim of that share of the cone is seen to flee at `far` radii."""
    W, away = Pairs.of(choice.data, choice.alpha).W, starts.narrowest(choice)
    limit = np.array([[float(arb(x)) for x in row] for row in W])
    placed = (starts.placed(choice, sign * away, share, 1.0, far, loss) for sign in (1.0, -1.0))
    runs = [direction_converges(c.data, c.start, LOSSES_BY_NAME[loss], limit) for c in placed]
    return any(run.kind != "unknown" and run.value < 0.0 for run in runs)


def test_the_radius_is_within_a_factor_of_ten_of_where_runs_turn():
    """Random choices, of one seed each, where a token scores above alpha, and every loss.

    Where none does alpha is optimal, and runs need not turn anywhere.
    """
    counted = 0
    for seed in range(few(16)):
        choice, loss = starts.local_choices_larger(np.random.default_rng(seed)), LOSSES[seed % 4]
        pairs = Pairs.of(choice.data, choice.alpha)
        if pairs.locally_optimal and min(pairs.lead) < 0:
            counted += 1
            for share in (0.25, 0.5, 0.9, 0.984375):
                assert any(turns(choice, share, loss, 1.0 / k) for k in (10, 8, 6, 4)), share
    assert counted >= few(16) - 2


def test_weights_that_lean_to_the_nearest_support_token_make_wide_cones_close_earlier():
    """A better token next to one of two: what brings it nearer brings that one nearer as well."""
    tokens = [[0.0, 0.0], [-1.0, -1.0], [-1.0, 1.0], [-2.0, -3.0]]
    data = AttentionData.of([tokens], [[1.0, 0.0]], scores=[[0.0, -1.0, -1.0, 1.0]])
    pairs = Pairs.of(data, np.array([0]))
    assert len(pairs.frames) == 2
    plain = replace(pairs, frames=pairs.frames[:1])

    def at(which, share):
        return radius(which, "log-loss", fmpq(1), share)

    for share, gain in ((fmpq(1, 4), 1), (fmpq(9, 10), 2), (fmpq(63, 64), 8)):
        assert at(pairs, share) * gain <= at(plain, share)


@pytest.mark.parametrize("score", [1.0, 2.0**-20, 0.0])
def test_no_multiple_closes_where_a_support_token_scores_no_lower(score):
    for sigma in (1.0, 64.0, 2.0**20, 2.0**60):
        case = starts.on_the_line(sigma, score)
        assert not cones.is_locally_optimal(case)
        assert cones.is_near(case)
        assert not closes(case)
        assert cones.never_converges_to(case, cones.target(case, "alpha")) is (score > 0.0)
        # the radius is a number all the same, but for a tie
        assert cones.is_long(case) is (score > 0.0)
    assert cones.decided(starts.BETTER_SUPPORT) < 0


def test_only_a_limit_that_points_down_is_climbed_away_from():
    case = starts.on_the_line(8.0, -1.0)
    target = cones.target(case, "alpha")
    assert not cones.never_converges_to(case, target)
    assert cones.never_converges_to(case, [[-x for x in row] for row in target])
    # rivals of different scores: nothing is known
    assert not cones.never_converges_to(on_the_ray(8.0, [0.0, -1.0, -2.0]), [[fmpq(-1)], [fmpq(0)]])
    # at a right angle there is room
    flat = starts.placed_at([0.0, -1.0, -1.0], (2.0, 0.0), 8.0, 0.0)
    assert not cones.never_converges_to(flat, [[fmpq(0), fmpq(0)], [fmpq(1), fmpq(0)]])


def test_radii_grow_with_step_share_and_what_leads_away():
    def of(scores, share, step=1, name="log-loss"):
        return radius(pairs_of(on_the_ray(1.0, scores)), name, fmpq(step), share)

    plain = [0.0, -1.0, 1.0]
    radii = [of(plain, fmpq(1) - fmpq(1, 2**k)) for k in range(1, 8)]
    assert all(a < b for a, b in pairwise(radii))
    for tower in (
        [of(plain, fmpq(1, 2), fmpq(10) ** k) for k in range(2, 8)],
        [of([0.0, -1.0, 2.0**k], fmpq(1, 2)) for k in range(1, 8)],
        [of([0.0, -(2.0**-k), 1.0], fmpq(1, 2)) for k in range(1, 8)],
    ):
        assert all(a < b for a, b in pairwise(tower))
    # like the logarithm of a score
    assert of([0.0, -1.0, 2.0**64], fmpq(1, 2), fmpq(1, 2**128), "correlation") < 64 * 4 + 64
    assert of([0.0, 0.0, 1.0], fmpq(1, 2)) is None  # a tie
    assert of(plain, fmpq(1, 2), name="logistic") is None  # grows
    assert of(plain, fmpq(1, 2), name="squared") is not None
    assert of([1.0, 0.0, 2.0], fmpq(1, 2), name="squared") is None  # flat at 1


def test_a_proof_is_about_the_target_it_is_asked_for():
    case = on_the_ray(12.0, [0.0, -1.0, 1.0])
    start = [[fmpq(12), fmpq(0)], [fmpq(0), fmpq(0)]]
    with ctx.workprec(128):
        assert certified_direction(case.data, start, "log-loss", cones.target(case, "alpha")) > 0
        for towards in ("optimal", "turned"):
            assert (
                certified_direction(case.data, start, "log-loss", cones.target(case, towards)) < 0
            )
        assert certified_direction(case.data, start, "log-loss", None) < 0
        # an enclosure that is too wide proves nothing
        wide = [[arb(12, 24), fmpq(0)], [fmpq(0), fmpq(0)]]
        assert certified_direction(case.data, wide, "log-loss", cones.target(case, "alpha")) is None
