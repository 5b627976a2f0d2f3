"""Accord of inputs and spreads of scores are decided on exact values; the theorem's steps hold."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm import AttentionData
from attsvm.attention import softmax
from attsvm.exact import ExactData
from attsvm.exact.descent import always_converges
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOSSES
from attsvm.primitives.aligned_inputs import (
    above_second_best,
    inputs_aligned,
    spread_within,
    together,
    together_larger,
)
from attsvm.primitives.hypotheses import rivals_equal
from attsvm.primitives.losses import SLOPED
from attsvm.risk import gradient_w
from attsvm.strategies.data import starts
from attsvm.training import descend_w
from properties._support.small_runs import NOT_ALIGNED, TIED_BESIDE, TWO_TOKENS
from properties.sim._support import training
from properties.sim.theorem_3_15 import THEOREM
from properties.sim.theorem_3_15 import nearly_equal_scores as nearly_equal


def pair(second, query):
    """Input 1 with the difference (1, 0) and the query (1, 0), and a second one."""
    X = [[[1.0, 0.0], [0.0, 0.0]], [second, [0.0, 0.0]]]
    return AttentionData.of(X, [[1.0, 0.0], query], scores=[[1.0, 0.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("second", "query", "expected"),
    [
        ([0.0, 1.0], [1.0, 0.0], True),
        ([-(2.0**-60), 1.0], [1.0, 0.0], False),
        ([-1.0, 1.0], [0.0, 1.0], True),
        ([-1.0, 1.0], [-1.0, 1.0], True),
        ([1.0, 1.0], [-1.0, 1.0], False),
    ],
)
def test_inputs_are_in_accord_where_no_inner_product_is_negative(second, query, expected):
    assert inputs_aligned(pair(second, query)) is expected


def test_accord_is_about_the_optimal_token_and_about_pairs_of_inputs():
    # swapping the scores of one input flips its differences
    data = pair([1.0, 0.0], [1.0, 0.0])
    flipped = AttentionData(data.X, data.Z, scores=np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert inputs_aligned(data)
    assert not inputs_aligned(flipped)
    # rivals of one input may oppose each other
    alone = AttentionData.of([[[0.0], [1.0], [-1.0]]], [[1.0]], scores=[[2.0, 1.0, 1.0]])
    assert inputs_aligned(alone)
    assert not inputs_aligned(NOT_ALIGNED.data)


def test_every_run_converges_with_rivals_of_one_score_in_accord_or_with_three_tokens():
    def always(X, scores):
        data = AttentionData.of(X, [[1.0, 0.0]] * len(X), scores=scores)
        return always_converges(ExactData.of(data), "logistic-loss")

    one = [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    assert always([one], [[2.0, 0.0, 0.0]])
    assert always([one], [[2.0, 1.0, 0.0]])
    assert not always([one, one], [[2.0, 1.0, 0.0]] * 2)
    assert not always([[*one, [0.0, 3.0]]], [[2.0, 1.0, 0.0, 0.5]])
    assert not always([[[0, 0], [-2, -1], [-1, 0]]], [[2.0, 1.0, 0.0]])  # the second best is beyond
    assert not always([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1.0, 0.0]] * 2)


def test_rivals_are_compared_without_the_first_optimal_token():
    def scored(*scores):
        return AttentionData.of([[[float(t)] for t in range(3)]], [[1.0]], scores=[list(scores)])

    assert rivals_equal(scored(1.0, 0.0, 0.0))
    assert rivals_equal(scored(1.0, 1.0, 1.0))
    assert not rivals_equal(scored(1.0, 1.0, 0.0))
    assert not rivals_equal(scored(1.0, 0.0, 2.0**-60))


def test_the_spread_at_zero_is_held_against_the_gap_over_the_number_of_rivals():
    # s = 1/3, so delta = g / 2
    def spread(width, more=0.0):
        tokens = [[1.0], [0.0], [-1.0]]
        return AttentionData.of([tokens], [[1.0]], scores=[[1.0 + more, more, more - width]])

    zero = np.zeros((1, 1))
    assert spread_within(spread(0.49), zero, 1.0)
    assert not spread_within(spread(0.5), zero, 1.0)
    assert spread_within(spread(0.51), zero, 1.5)
    # at w = 1 the optimal token has more weight
    assert spread_within(spread(0.51), np.ones((1, 1)), 1.0)
    assert not spread_within(spread(0.49), -np.ones((1, 1)), 1.0)
    # nothing depends on a number that is added to all scores
    assert not spread_within(spread(0.51, 3.0), zero, 1.0)
    assert spread_within(spread(0.49, -3.0), zero, 1.0)


def test_made_up_inputs_have_queries_and_those_apart_orthogonal_ones():
    data = [together_larger(np.random.default_rng(seed)) for seed in range(60)]
    assert all(np.abs(one.Z).sum(axis=1).all() for one in data)
    apart = [one for one in data if (np.eye(one.n) == one.Z @ one.Z.T).all()]
    assert any(one.n < one.d for one in apart)
    assert len(apart) < len(data)


@st.composite
def cases(draw):
    data = draw(together((0.0, 1.0, 0.25)))
    return data, draw(starts(data.d, 0, 1)), draw(st.sampled_from(SLOPED))


@given(cases())
def test_where_rivals_cost_less_than_the_best_token_gains_the_start_is_above_second(case):
    data, W, _ = case
    s = softmax(np.einsum("ntd,de,ne->nt", data.X, W, data.Z))
    u = (s * data.gamma).sum(axis=1)
    second = np.sort(data.gamma, axis=1)[:, -2] if data.T > 1 else u - 1.0
    assume((abs(u - second) > 1e-9).all())
    assert above_second_best(data, W) == bool((u > second).all())
    assert above_second_best(data, W) or not spread_within(data, W, 1.0)


@given(cases())
def test_in_accord_no_attended_score_ever_falls(case):
    data, W, loss = case
    attended = None
    assume(inputs_aligned(data) and above_second_best(data, W))
    best = data.gamma.max(axis=1)
    second = np.sort(data.gamma, axis=1)[:, -2] if data.T > 1 else best - 1.0
    step = 1.0 / max(risk_smoothness(data, LOSSES[loss]), 1e-9)
    for _ in range(8):
        s = softmax(np.einsum("ntd,de,ne->nt", data.X, W, data.Z))
        u = (s * data.gamma).sum(axis=1)
        assert data.T == 1 or (u > second - 1e-12).all()
        assert attended is None or (u >= attended - 1e-12).all()
        attended = u
        W = W - step * gradient_w(data, W, LOSSES[loss])


def test_strategies_mostly_meet_the_hypotheses_they_are_for():
    generator = np.random.default_rng(5)
    drawn = [together_larger(generator, 0.0, 0.25) for _ in range(50)]
    assert sum(map(inputs_aligned, drawn)) >= 40
    assert len({data.n for data in drawn}) > 1
    assert sum(rivals_equal(data) for data in drawn) not in (0, 50)


def test_the_second_best_token_outruns_the_optimal_one_just_outside_delta():
    run = nearly_equal.OUTRUN
    assert not nearly_equal.within(run)
    assert nearly_equal.within(run, 1.5)
    sharp = THEOREM.claim("sharp").formula
    with ctx.workprec(1024):
        assert sharp.measured.balls(run, **sharp.constants) < 0
    assert sharp.measured.floats(run, **sharp.constants).violated
    with ctx.workprec(64):
        # open, so that the engine raises the precision
        ball = sharp.measured.balls(run, **sharp.constants)
        assert isinstance(ball, arb)
        assert not ball < 0
        assert not ball >= 0


def test_two_inputs_that_cancel_never_move():
    assert rivals_equal(nearly_equal.OPPOSED.data)
    assert training.NORM.balls(replace(nearly_equal.OPPOSED, loss="logistic")) < 0
    assert training.NORM.floats(replace(nearly_equal.OPPOSED, loss="logistic")).violated


def largest_spread(N, R):
    """The spread below which tokens -1, N, 0 with scores 1, 0, -spread move towards -1 at X = R."""
    a = np.array([-R, N * R, 0.0])
    s = np.exp(a - a.max())
    first, far, last = s / s.sum()
    return first * (1 - first + N * far) / (last * (N * far - first))


@pytest.mark.parametrize("R", [0.5, 1.0, 2.0, 4.0, 8.0])
def test_the_spread_that_is_allowed_falls_exponentially_with_the_start(R):
    most = largest_spread(64.0, R)
    assert 1.0 < most * np.exp(R) < 65 / 64 * (1 + 1e-6) + np.exp(-32 * R)
    for share, sign in ((1 - 2**-10, 1.0), (1 + 2**-10, -1.0)):
        run = nearly_equal.far(share * most, R)
        slope = gradient_w(run.data, run.start, LOSSES["logistic-loss"])[0, 0]
        assert np.sign(slope) == sign  # the descent step has the other sign


def test_the_rival_of_second_best_score_costs_nothing():
    beyond, within = nearly_equal.far(0.37890625, 1.0), nearly_equal.far(0.359375, 1.0)
    assert not nearly_equal.starts_above(beyond)
    assert nearly_equal.starts_above(beyond, Fraction(17, 16))
    assert nearly_equal.starts_above(within)
    assert not nearly_equal.within(within)
    assert training.DIRECTION.balls(beyond) < 0
    loss = LOSSES["logistic-loss"]
    run = descend_w(
        [within.data], within.start, loss, step=1e-3, steps=20, normalised=True, record="all"
    )
    assert run.W[0, -1, 0, 0] < within.start[0, 0]


def test_two_tokens_allow_any_spread_and_equal_rivals_any_start():
    assert nearly_equal.starts_above(TWO_TOKENS)
    assert nearly_equal.starts_above(nearly_equal.far(0.0, 8.0))
    assert not nearly_equal.starts_above(TIED_BESIDE)
