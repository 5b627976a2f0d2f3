"""Where settled runs go and how fast: what is proved agrees with what is measured, and by how much
a wrong rate is wrong is known exactly."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given

from attsvm import AttentionData
from attsvm.exact import ExactData, descend, rationals
from attsvm.limits import norm_grows_like_log
from attsvm.losses import LOSSES
from attsvm.primitives.descent import Descent
from attsvm.primitives.gradients import log_coefficients
from attsvm.primitives.growth_rates import arrives, proved_limit, rate_error
from attsvm.primitives.hypotheses import feasible, starts_in_basin, unique_optimum
from attsvm.primitives.limit_certificates import short_step
from attsvm.training import follow_w
from properties._support.small_runs import (
    ALL_TIED,
    NO_QUERY,
    NOT_ALIGNED,
    PASSED_OVER,
    TIED_APART,
    TIED_ASIDE,
    TIED_CROWD,
    TWO_TOKENS,
)
from properties.mm._support.prompt_instances import ONE_KEY, STUCK, TRAPPED
from properties.mm._support.prompt_limits import RATE
from properties.sim import PRINTED, REPAIRED
from properties.sim._support import margins
from properties.sim.token_sparsity import gradient_shares as shares
from properties.sim.token_sparsity.instances import FROM_BASIN, redundant_basin

SETTLED = [PASSED_OVER, NOT_ALIGNED, TIED_ASIDE, TIED_APART, TIED_CROWD, TWO_TOKENS, FROM_BASIN]


def with_a_tied_input(run):
    data = run.data
    tokens = np.zeros((1, data.T, data.d))
    tokens[0, 0] = 1.0
    mask = np.concatenate(
        [np.eye(1, data.T, dtype=bool) | np.eye(1, data.T, 1, bool), data.present]
    )
    scores = np.concatenate([np.full((1, data.T), 3.0), data.gamma])
    wide = AttentionData(
        np.concatenate([tokens, data.X]),
        np.concatenate([np.ones((1, data.d)), data.Z]),
        scores=scores,
        mask=mask,
    )
    return Descent(wide, run.start)


@given(redundant_basin())
def test_inputs_without_gradient_change_neither_the_limit_nor_its_proof(run):
    assume(starts_in_basin(run))
    assume(unique_optimum(run))
    assume(feasible(run))
    wide = with_a_tied_input(run)
    own, other = (proved_limit(r.data, r.start, REPAIRED) for r in (run, wide))
    assert own is not None
    assert other is not None
    assert other.certificate == own.certificate
    assert other.inputs == [i + 1 for i in own.inputs]
    assert own.limit.W == other.limit.W
    assert margins.certified_slope(run, 1.0) == 0


@pytest.mark.parametrize("run", [TIED_APART, TIED_CROWD])
def test_the_run_is_that_of_the_inputs_with_a_gradient_by_a_shorter_step(run):
    way = proved_limit(run.data, run.start, REPAIRED)
    assert way.inputs == [1]
    with ctx.workprec(128):
        step = short_step(run.data, REPAIRED)
        whole = descend(ExactData.of(run.data), rationals(run.start), REPAIRED, step, 3)
        part = descend(way.data, rationals(run.start), REPAIRED, step * fmpq(1, 2), 3)
        assert all(
            arb(a).overlaps(arb(b))
            for r, q in zip(whole, part, strict=True)
            for a, b in zip(r, q, strict=True)
        )
        assert way.certificate.reason == "basin"


def test_an_increasing_loss_pursues_the_scores_turned_round():
    way = proved_limit(TWO_TOKENS.data, TWO_TOKENS.start, PRINTED)
    assert way.limit.W == [[-1]]
    assert proved_limit(ALL_TIED.data, ALL_TIED.start, REPAIRED) is None


@pytest.mark.parametrize("run", SETTLED)
def test_the_norm_grows_at_the_rate_that_is_proved(run):
    limit = proved_limit(run.data, run.start, REPAIRED).limit
    rate = float(arb(limit.square).sqrt())
    loss = LOSSES[REPAIRED]
    assert norm_grows_like_log(run.data, run.start, loss, rate).holds
    assert norm_grows_like_log(run.data, run.start, loss, 0.9 * rate).violated
    with ctx.workprec(128):
        assert rate_error(run.data, run.start, REPAIRED, limit.square, 1.0) == 0
        off = rate_error(run.data, run.start, REPAIRED, limit.square, 0.75)
        assert off.overlaps(arb(-0.25))
        twice = rate_error(run.data, run.start, REPAIRED, 2 * limit.square, 0.5)
        assert twice.overlaps(arb(0.5) - arb(0.5).sqrt())
        assert off < 0


@pytest.mark.parametrize(
    ("run", "slope"),
    [(PASSED_OVER, fmpq(-4, 3)), (NOT_ALIGNED, -2), (TIED_APART, -1), (FROM_BASIN, 1)],
)
def test_the_slope_of_the_least_margin_is_the_one_that_is_proved(run, slope):
    share = float(arb(slope))
    assert margins.slope(run, share).holds
    assert margins.slope(run, 1.1 * share).violated
    with ctx.workprec(128):
        off = margins.certified_slope(run, 1.0)
        assert off == 0 if slope == 1 else off.overlaps(arb(slope) - 1)
        half = margins.certified_slope(run, 0.5)
        assert half.overlaps(arb(-abs(fmpq(1, 2) - slope)))
        assert half < 0


def test_a_stationary_start_has_the_slope_and_the_rate_zero():
    assert margins.certified_slope(NO_QUERY, 1.0) == -1
    assert margins.certified_slope(ALL_TIED, 0.5) == -0.5
    assert rate_error(ALL_TIED.data, ALL_TIED.start, REPAIRED, fmpq(1), 0.0) == 0
    assert RATE.balls(STUCK) == -1
    assert RATE.balls(ONE_KEY) == -1  # there is no p(alpha)
    assert RATE.floats(ONE_KEY).violated


def test_the_rate_from_zero_of_the_prompt_that_runs_to_the_worse_key_is_one_half():
    assert RATE.balls(TRAPPED) == -0.5
    assert RATE.balls(TRAPPED, share="0.5") == 0
    assert RATE.floats(TRAPPED, share="0.5").holds


@pytest.mark.parametrize("run", [PASSED_OVER, TIED_CROWD, FROM_BASIN])
def test_shares_fall_with_the_exponents_that_are_proved(run):
    falls = shares.exponents(proved_limit(run.data, run.start, REPAIRED))
    path = follow_w(run.data, run.start, LOSSES[REPAIRED], [200.0, 2000.0])
    logs = [log_coefficients(run.data, W, REPAIRED) for W in path.W[0, 1:]]
    waited = float(path.log_time[2] - path.log_time[1])
    total = [np.logaddexp.reduce(sizes[run.data.present]) for sizes in logs]
    for token, exponent in falls.items():
        fallen = (logs[0][token] - total[0]) - (logs[1][token] - total[1])
        assert abs(fallen / waited - float(arb(exponent))) < 0.02
    tied = {(i, t) for i, t in np.argwhere(run.data.present).tolist()} - set(falls)
    assert {i for i, _ in tied} == ({0} if run is TIED_CROWD else set())


def test_how_wrong_an_exponent_is_is_known_exactly():
    assert shares.certified_exponent(PASSED_OVER, 1.0) == -3
    assert shares.certified_exponent(FROM_BASIN, 1.0) == 0
    assert shares.certified_exponent(FROM_BASIN, 0.5) == -0.5
    assert shares.certified_exponent(TIED_CROWD, 1.0) == -2.5


def test_floats_do_not_judge_a_rate_before_the_support_vectors_settle():
    tokens = [[[1, 15 / 16], [0, 0], [-1, -15 / 16]], [[0, 1], [0, 0], [0, -1]]]
    scores = [
        [60, 0, 0],
        [1, 0, 0],
    ]  # the first input's gradient is tiny until ln k = 960
    run = Descent.of(tokens, [[1, 0]] * 2, [[1, 0], [8, 0]], scores=scores)
    assert shares.certified_exponent(run) == 0
    assert shares.exponent(run).kind == "unknown"
    assert margins.certified_slope(run, Fraction(1)) == 0
    assert margins.slope(run, Fraction(1)).kind == "unknown"
    assert shares.exponent(FROM_BASIN).holds
    assert shares.exponent(FROM_BASIN, "0.95").violated


def test_a_direction_is_held_against_the_limit():
    data, start = TIED_ASIDE.data, TIED_ASIDE.start
    along = [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(0)]]
    both = [[fmpq(1), fmpq(0)], [fmpq(1), fmpq(0)]]
    assert arrives(data, start, REPAIRED, along) == 1
    assert arrives(data, start, REPAIRED, both) == -0.5
    assert arrives(ALL_TIED.data, ALL_TIED.start, REPAIRED, [[fmpq(1)]]) == -1  # it stays at 0
