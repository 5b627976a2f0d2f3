"""Conclusions from iterates: right directions pass, near ones fail, stuck runs stay open."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.limits import (
    direction,
    direction_converges,
    dual_weights,
    norm_diverges,
    norm_grows_like_log,
    rates,
    residual_stays_bounded,
    unsettled,
)
from attsvm.limits.direction import drift_of
from attsvm.limits.growth import decades, stays_bounded
from attsvm.losses import LOSSES
from attsvm.risk import gradient_w
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm, p_svm
from attsvm.training import descend_p, descend_w, follow_w
from properties._support.published_data import gaussian_protocol
from properties._support.small_runs import NOT_ALIGNED
from tests.limits.runs import start, three_inputs, tilted, two_inputs

LOG, LOGISTIC_LOSS = LOSSES["log-loss"], LOSSES["logistic-loss"]
FAR = (10.0, 100.0, 1000.0, 10000.0)


def gaussian():
    """Three inputs of the published protocol in R^6."""
    return gaussian_protocol(np.random.default_rng(1), n=3, T=4, d=6)


def degenerate():
    """Gaps (1, 0) and (1, 1): the second is tight at W^mm = (1, 0) with multiplier zero."""
    return AttentionData.of([[[0, 0], [-1, 0], [-1, -1]]], [[1, 0]], scores=[[1, 0, 0]])


DATA = {f.__name__: f for f in (two_inputs, three_inputs, gaussian, degenerate)}


@pytest.fixture(params=DATA)
def run(request):
    """Data, W^mm and iterates at norms over three decades."""
    data = DATA[request.param]()
    W = att_svm(data).W
    norms = (np.linalg.norm(W) * np.array(FAR)).tolist()
    return data, W, follow_w(data, start(data), LOG, norms).W[0]


def test_the_right_direction_passes_and_close_ones_fail(run):
    data, W, iterates = run
    tight = bool(att_svm(data).degenerate[0])
    for scale in (1.0, 0.01):
        assert residual_stays_bounded(data, iterates, LOG, scale * W, degenerate=tight).holds
    for cosine in (0.9999, 0.99, 0.0, -1.0):
        wrong = tilted(W, cosine)
        assert residual_stays_bounded(data, iterates, LOG, wrong, degenerate=tight).violated
        assert direction_converges(data, start(data), LOG, wrong).violated
    assert direction_converges(data, start(data), LOG, W).holds


def test_an_old_residual_hides_no_wrong_direction():
    """A residual of 80 that nothing moves, at norms up to 2e4: the gain tells an angle of 0.0045.

    The wrong direction is tilted across the residual, which grows only from 80 to 120.
    """
    data = two_inputs()
    W, W0 = att_svm(data).W, np.zeros((3, 3))
    W0[0, 2] = 80.0
    iterates = follow_w(data, W0, LOG, [200.0, 2000.0, 20000.0]).W[0, 1:]
    assert residual_stays_bounded(data, iterates, LOG, W).holds
    assert residual_stays_bounded(data, iterates, LOG, tilted(W, 0.99999)).violated


@pytest.mark.parametrize("seed", range(40))
def test_swings_of_a_curve_refute_nothing(seed):
    """One Gaussian input of four tokens: steps swing the gains by up to 1/5000."""
    generator = np.random.default_rng(seed)
    drawn = gaussian_protocol(generator, n=1, T=4, d=6)
    level = np.where(drawn.gamma == drawn.gamma.max(), 1.0, -1.0)
    data = AttentionData(drawn.X, drawn.Z, scores=level)
    W0 = generator.choice([0.0, 1.0, 8.0]) * generator.integers(-8, 9, size=(6, 6)) / 8
    assert not direction_converges(data, W0, LOGISTIC_LOSS, att_svm(data).W).violated


@given(attention_data(), st.sampled_from(["log-loss", "logistic", "correlation", "squared"]))
def test_dual_weights_make_up_the_gradient(data, name):
    """At moderate norms, where the plain gradient is accurate: -grad L is their sum, scaled."""
    W = np.cos(np.arange(data.d**2, dtype=float)).reshape(data.d, data.d)
    weights = dual_weights(data, W, LOSSES[name])
    a = logits_of_w(data.X, data.Z, W).argmax(axis=1)
    lead = data.X[np.arange(data.n), a][:, None, :] - data.X
    made = np.einsum("nt,ntd,ne->de", weights, lead, data.Z)
    plain = -gradient_w(data, W, LOSSES[name])
    size = np.linalg.norm(plain) * np.linalg.norm(made)
    assert abs(size - (made * plain).sum()) <= 1e-9 * max(size, 1e-3)


def test_iterates_of_prompts_are_judged_as_columns():
    for data in (three_inputs(), gaussian()):
        run = descend_p(
            [data], np.zeros(data.d), LOG, step=0.05, steps=60000, normalised=True,
            record=[60, 600, 6000],
        )  # fmt: skip
        first = np.eye(1, data.d)
        columns = AttentionData(data.X, first.repeat(data.n, axis=0), scores=data.gamma)
        iterates, p = run.W[0][:, :, None] * first, p_svm(data).W.ravel()
        assert residual_stays_bounded(columns, iterates, LOG, p[:, None] * first).holds
        wrong = tilted(p, 0.9999)[:, None] * first
        assert residual_stays_bounded(columns, iterates, LOG, wrong).violated


def test_absent_tokens_do_not_move_the_norms_at_which_growth_is_measured(monkeypatch):
    """The slopes at the best scores 0 and 30 are 1/2 and e^-30, so the norms are larger."""
    goals = []
    ended = SimpleNamespace(log_time=None)
    monkeypatch.setattr(rates, "follow_w", lambda *a: goals.append(a[-1]) or ended)
    X, Z = [[[1.0], [0.0], [9.0]]] * 2, [[1.0]] * 2
    scores, mask = [[0.0, -1.0, 50.0], [30.0, 1.0, 50.0]], [[True, True, False]] * 2
    padded = AttentionData.of(X, Z, scores=scores, mask=mask)
    plain = AttentionData.of([x[:2] for x in X], Z, scores=[row[:2] for row in scores])
    for data in (padded, plain):
        assert norm_grows_like_log(data, np.zeros((1, 1)), LOG, 1.0).kind == "unknown"
    assert goals[0] == goals[1]
    assert goals[0][0] > 100.0


def test_degenerate_residuals_grow_like_the_logarithm_and_are_allowed_for_by_name():
    data, W = degenerate(), np.array([[1.0, 0.0], [0.0, 0.0]])
    iterates = follow_w(data, np.zeros((2, 2)), LOG, FAR).W[0]
    second = iterates[1:, 1, 0]
    off = np.abs(np.diff(second) - np.log(10.0))  # per decade, dying like 1/norm
    assert off[-1] <= 0.01
    assert (np.diff(off) < 0.0).all()
    allowed = residual_stays_bounded(data, iterates[:-1], LOG, W, degenerate=True)
    plain = residual_stays_bounded(data, iterates[:-1], LOG, W)
    assert allowed.value - plain.value >= 0.1
    assert allowed.holds


def metastable():
    """Gaps (1, 0) and (-9/10, 1), the second with a gain of 1e-30.

    The second margin falls while w runs along (1, 0); its weight, exp(-0.9 a) 1e-30 against
    exp(-a), takes over only at a = 690.
    """
    return AttentionData.of(
        [[[1, 0], [0, 0]], [[-0.9, 1], [0, 0]]], [[1, 0]] * 2, scores=[[1, 0], [1e-30, 0]]
    )


def test_a_metastable_run_is_open_in_both_directions():
    data, W0 = metastable(), np.array([[1.0, 0.0], [0.0, 0.0]])
    stuck = follow_w(data, W0, LOG, [2.0, 30.0, 400.0]).W[0, 1:]
    assert (logits_of_w(data.X, data.Z, stuck[-1])[1] @ [1, -1]) < -100.0
    along, right = np.array([[1.0, 0.0], [0.0, 0.0]]), att_svm(data).W
    for target in (along, right):
        slack = residual_stays_bounded(data, stuck, LOG, target)
        assert slack.kind == "unknown"
        assert slack.note == "the better token 0 of input 1 may return"
    assert not direction_converges(data, W0, LOG, right).violated
    assert not direction_converges(data, W0, LOG, along).holds
    assert norm_grows_like_log(data, W0, LOG, 1.0).kind == "unknown"
    away = follow_w(data, W0, LOG, [3000.0], steps=200000).W[0, -1]
    assert logits_of_w(data.X, data.Z, away)[1] @ [1, -1] > 0.0


def test_a_slow_gradient_of_a_positive_margin_is_open_as_well():
    """Gaps (1, 0) and (1/2, 1), a gain of 1e-40: the slower margin is not in the gradient yet."""
    data = AttentionData.of(
        [[[1, 0], [0, 0]], [[0.5, 1], [0, 0]]], [[1, 0]] * 2, scores=[[1, 0], [1e-40, 0]]
    )
    stuck = follow_w(data, np.zeros((2, 2)), LOG, [1.0, 15.0, 160.0]).W[0, 1:]
    for target in (np.diag([1.0, 0.0]), att_svm(data).W):
        slack = residual_stays_bounded(data, stuck, LOG, target)
        assert slack.kind == "unknown"
        assert slack.note == "token 1 of input 1 does not count in the gradient yet"


def test_a_run_that_is_truly_trapped_has_settled_and_refutes():
    data, W0 = NOT_ALIGNED.data, NOT_ALIGNED.start
    iterates = follow_w(data, W0, LOGISTIC_LOSS, FAR).W[0]
    assert unsettled(data, iterates[-2], iterates[-1], LOGISTIC_LOSS) is None
    assert residual_stays_bounded(data, iterates, LOGISTIC_LOSS, att_svm(data).W).violated
    assert residual_stays_bounded(data, iterates, LOGISTIC_LOSS, np.diag([1.0, 0.0])).holds


def test_plain_runs_that_hardly_move_are_open():
    data = two_inputs()
    plain = descend_w([data], start(data), LOG, step=0.1, steps=500, record="all").W[0]
    for target in (att_svm(data).W, tilted(att_svm(data).W, 0.9)):
        assert residual_stays_bounded(data, plain, LOG, target).kind == "unknown"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_never_passes(bad):
    data, W = two_inputs(), att_svm(two_inputs()).W
    iterates = follow_w(data, start(data), LOG, FAR).W[0]
    for k in range(len(iterates)):
        broken = iterates.copy()
        broken[k, 0, 0] = bad
        assert residual_stays_bounded(data, broken, LOG, W).kind == "unknown"
    hollow = np.full_like(W, bad)
    for nowhere in (hollow, 0.0 * W):
        assert not residual_stays_bounded(data, iterates, LOG, nowhere).holds
    for rate in (bad, -1.0, 0.0):
        assert not norm_grows_like_log(data, start(data), LOG, rate).holds


@pytest.mark.parametrize("name", ["two_inputs", "three_inputs", "gaussian"])
def test_the_norm_grows_like_the_logarithm_at_its_rate_alone(name):
    data = DATA[name]()
    rate = float(np.linalg.norm(att_svm(data).W))
    assert norm_grows_like_log(data, start(data), LOG, rate).holds
    for slope in (0.95, 1.05):
        assert norm_grows_like_log(data, start(data), LOG, slope * rate).violated


def test_a_rate_is_measured_after_the_inputs_have_levelled_their_gradients():
    """|l'| is exp(-256) of one input: margins of 50 do not make up for that yet."""
    data = AttentionData.of(
        [[[1, 0], [0, 0]], [[-3, -2], [0, 0]]], [[1, 0]] * 2, scores=[[256, -2], [1, -1]]
    )
    rate = float(np.linalg.norm(att_svm(data).W))
    assert norm_grows_like_log(data, start(data), LOG, rate).holds
    assert norm_grows_like_log(data, start(data), LOG, 0.95 * rate).violated


def test_a_norm_that_was_not_reached_is_open_unless_nothing_moves():
    opposed = AttentionData.of([[[1], [0]], [[1], [0]]], [[1], [-2]], scores=[[1, 0]] * 2)
    assert norm_diverges(opposed, np.ones((1, 1)), LOG).kind == "unknown"
    even = AttentionData.of([[[1], [0]], [[1], [0]]], [[1], [-1]], scores=[[1, 0]] * 2)
    assert norm_diverges(even, np.zeros((1, 1)), LOG).violated


@given(st.floats(-2.0, 1.5), st.floats(1e-3, 1e3), st.floats(10.0, 1e3), st.floats(10.0, 1e3))
def test_powers_of_the_norm_are_told_by_their_exponents(exponent, size, one, two):
    sizes = (1.0, one, one * two)
    values = size * np.array(sizes) ** exponent
    bounded = stays_bounded(values, sizes, 1e-30)
    assert abs(bounded.value - (0.5 - exponent)) <= 1e-9
    for bad in (np.nan, np.inf, -1.0):
        assert stays_bounded(np.array([*values[:2], bad]), sizes, 1e-30).kind == "unknown"


def test_growth_that_ended_a_decade_ago_is_open():
    sizes = (1.0, 10.0, 100.0)
    assert stays_bounded(np.array([1.0, 9.0, 9.0]), sizes, 1e-9).kind == "unknown"
    assert stays_bounded(np.array([1.0, 1.0, 9.0]), sizes, 1e-9).violated


def test_decades_are_found_among_recorded_norms():
    assert decades(np.array([0.0, 1.0, 5.0, 10.0, 60.0, 100.0])).rows == (1, 3, 5)
    assert decades(np.array([0.0, 2.0, 10.0, 100.0])) is None
    assert decades(np.array([1.0, 10.0])) is None
    assert decades(np.array([0.0, 10.0, 100.0])) is None


def test_long_steps_whose_gradients_swing_about_the_ray_keep_the_ray():
    """Normalised steps of 4 keep the ray of W^mm, while their gradients point to its sides."""
    data = gaussian_protocol(np.random.default_rng(0), n=4, T=4, d=6)
    long = descend_w(
        [data], np.zeros((6, 6)), LOG, step=4.0, steps=5000, normalised=True,
        norms=[10.0, 100.0, 1000.0],
    ).W[0]  # fmt: skip
    assert residual_stays_bounded(data, long, LOG, att_svm(data).W).holds


@pytest.mark.parametrize("power", range(0, 26, 2))
def test_a_nearly_parallel_degenerate_constraint_refutes_no_right_direction(power):
    """Gaps (1, 0) and (1, 2^-k): W drifts by 2^k ln(norm), far beyond all norms followed."""
    rival = [-1, -(2.0**-power)]
    data = AttentionData.of([[[0, 0], [-1, 0], rival]], [[1, 0]], scores=[[1, 0, 0]])
    W0, W = np.array([[8.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    slack = direction_converges(data, W0, LOG, W)
    assert not slack.violated
    if power <= 6:
        assert slack.holds
        turned = np.array([[np.cos(0.1), 0.0], [np.sin(0.1), 0.0]])
        assert direction_converges(data, W0, LOG, turned).violated


def test_only_a_degenerate_support_drifts_and_the_faster_the_nearer_to_the_others():
    for power in (0, 3, 20):
        rival = [-1, -(2.0**-power)]
        data = AttentionData.of([[[0, 0], [-1, 0], rival]], [[1, 0]], scores=[[1, 0, 0]])
        assert drift_of(data, np.diag([1.0, 0.0])) == pytest.approx(np.hypot(2.0**power, 1.0))
        gaps = [[0, 0, 0], [-1, 0, 0], [-1, -1, 0], [-1, 0, -(2.0**-power)]]
        data = AttentionData.of([gaps], [[1, 0, 0]], scores=[[1, 0, 0, 0]])
        fastest = max(np.hypot(2.0**power, 1.0), np.sqrt(2.0))
        assert drift_of(data, np.diag([1.0, 0.0, 0.0])) == pytest.approx(fastest)
    data = AttentionData.of([[[0, 0], [-1, 0], [-1, 0]]], [[1, 0]], scores=[[1, 0, 0]])
    assert drift_of(data, np.diag([1.0, 0.0])) == np.inf
    assert drift_of(gaussian(), att_svm(gaussian()).W) == 0.0


@pytest.mark.parametrize("rate", [0.0, -1.0, np.inf, np.nan])
def test_nothing_grows_at_a_rate_that_is_no_number_above_0(rate):
    data, W0 = two_inputs(), np.zeros((3, 3))
    assert norm_grows_like_log(data, W0, LOG, rate).violated


def test_a_norm_must_reach_multiples_of_what_moves_some_margin_by_one(monkeypatch):
    """Tokens 2 apart are 1 from their mean; the query of size 2 halves what W needs."""
    goals = []
    data = AttentionData.of([[[0.0], [2.0]], [[0.0], [1.0]]], [[2.0], [0.5]], scores=[[0, 1]] * 2)
    true = rates.follow_w
    monkeypatch.setattr(rates, "follow_w", lambda *a: goals.append(a[-1]) or true(*a))
    assert norm_diverges(data, np.array([[0.25]]), LOG).holds
    assert goals == [[7.5, 75.0]]


@pytest.mark.parametrize("power", [12, 20, 34])
def test_a_token_just_beyond_the_margin_still_has_a_gradient_and_refutes_no_right_direction(power):
    """Differences (1, 1/512 + b) and (1, b): under (1, b) the first has a margin of 1 + b/512."""
    b = 2.0**-power
    data = AttentionData.of(
        [[[1, 1 / 512], [0, -b]], [[1, 0], [0, -b]]], [[1, 0], [1, 0]], scores=[[1, 0], [1, 0]]
    )
    right, wrong = np.array([[1.0, 0.0], [b, 0.0]]), np.array([[1.0, 0.0], [0.25, 0.0]])
    loss, start = LOSSES["log-loss"], np.zeros((2, 2))
    assert not direction_converges(data, start, loss, right).violated
    assert not direction_converges(data, start, loss, wrong).holds


def test_a_token_clearly_beyond_the_margin_hides_no_wrong_direction():
    data = AttentionData.of([[[0, 0], [-1, 0], [-1.5, 1]]], [[1, 0]], scores=[[0, -1, -0.5]])
    right, wrong = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.25, 0.0]])
    loss = LOSSES["log-loss"]
    assert direction_converges(data, np.zeros((2, 2)), loss, right).holds
    assert direction_converges(data, np.zeros((2, 2)), loss, wrong).violated
    near = AttentionData(
        data.X * [[[1, 1]] * 2 + [[2 / 3 * (1 + 2**-12), 1]]], data.Z, scores=data.scores
    )
    # its gradient has faded at the norm 1e5, and not yet at 1e4
    assert direction_converges(near, np.zeros((2, 2)), loss, wrong).violated


def test_a_second_best_token_weighs_in_however_little_the_third_does():
    """Logits 0, -2/5 and -2000: both terms are multiples of exp(-2000), which no float holds."""
    data = AttentionData.of([[[0.0], [-0.4], [-2000.0]]], [[1.0]], scores=[[1.0, 1.0, 0.0]])
    weights = dual_weights(data, np.ones((1, 1)), LOG)[0]
    share = 1.0 / (1.0 + np.exp(0.4))
    assert weights == pytest.approx([0.0, -share / (1 + share), 1 / (1 + share)], rel=1e-12)


ONE = AttentionData.of([[[1, 0], [0, 0]]], [[1, 0]], scores=[[0.5, 0]])
"""Of W only the first entry moves a margin."""


def test_degenerate_gains_that_still_turn_are_open():
    """Residuals 0, 1.8 and 10.8 at norms 1, 10 and 100: gains at angles of 0.2 and of 0.1."""
    iterates = np.zeros((3, 2, 2))
    iterates[:, 0, 0], iterates[:, 1, 1] = (1.0, 10.0, 100.0), (0.0, 1.8, 10.8)
    assert residual_stays_bounded(ONE, iterates, LOG, iterates[0]).violated
    slack = residual_stays_bounded(ONE, iterates, LOG, iterates[0], degenerate=True)
    assert slack.kind == "unknown"


def test_of_a_loss_that_rises_and_falls_the_better_side_is_that_of_its_slope():
    """Scores below 1 are better the higher they are; where the mean is 1 the gradient is 0."""
    squared = LOSSES["squared"]
    near, far = (np.array([[size, 0.0], [0.0, 0.0]]) for size in (1.0, 10.0))
    assert unsettled(ONE, near, far, squared) is None
    assert unsettled(ONE, -near, -far, squared) == "no token is selected over a worse one"
    flat = AttentionData.of([[[3], [2], [2], [0]]], [[1]], scores=[[0.5, 0.25, 0.25, 3]])
    reason = unsettled(flat, np.array([[-1.0]]), np.array([[0.0]]), squared)
    assert reason == "token 1 of input 0 does not count in the gradient yet"


def test_growth_is_measured_from_ten_times_the_norm_of_the_start_on(monkeypatch):
    asked = []

    def follow(data, W0, loss, norms):
        asked.append(norms)
        return follow_w(data, W0, loss, norms)

    monkeypatch.setattr(rates, "follow_w", follow)
    for size, low in ((0.0, 50.0), (20.0, 200.0)):
        W0 = np.array([[0.0, 0.0], [0.0, size]])
        assert norm_grows_like_log(ONE, W0, LOG, 1.0).holds
        assert asked.pop() == [low, 10.0 * low]


def test_a_token_that_gains_counts_by_the_size_of_its_coefficient():
    """Of scores 1, 0.9 and -100 the second is above the mean; its margin grows 20 times as fast."""
    data = AttentionData.of([[[0, 0], [-1, 0], [0, -1]]], [[1, 0]], scores=[[1, 0.9, -100]])
    before, after = (np.array([[m, 0.0], [k, 0.0]]) for m, k in ((0.6, 4.4), (4.6, 4.6)))
    assert dual_weights(data, after, LOG)[0, 1] < 0.0
    assert (
        unsettled(data, before, after, LOG)
        == "token 2 of input 0 does not count in the gradient yet"
    )


def test_tokens_of_one_score_are_not_told_apart():
    tied = AttentionData.of([[[1, 0], [0, 0], [1, 1]]], [[1, 0]], scores=[[1, 0, 1]])
    near, far = (np.array([[size, 0.0], [0.0, 0.0]]) for size in (1.0, 10.0))
    assert unsettled(tied, near, far, LOG) is None


def test_selected_tokens_are_looked_for_among_all_that_are_present():
    W = np.array([[1.0, 0.0], [0.0, 0.0]])
    last = AttentionData.of([[[0, 0], [1, 0]]], [[1, 0]], scores=[[0, 1]])
    _, answer = direction.exact_solution(last, W)
    assert answer.W == [[1, 0], [0, 0]]


def test_gains_at_the_resolved_angle_are_left_to_the_residual(monkeypatch):
    """Residuals 9, 9.57 and 14.97 at norms 13, 200 and 2000: gains at an angle of 0.003."""
    iterates, unit = np.zeros((3, 2, 2)), np.array([[1.0, 0.0], [0.0, 0.0]])
    iterates[:, 0, 0], iterates[:, 1, 1] = (10.0, 200.0, 2000.0), (9.0, 9.57, 14.97)
    assert residual_stays_bounded(ONE, iterates, LOG, unit).violated
    monkeypatch.setattr(direction, "GAIN", direction.angle_between(iterates[2] - iterates[1], unit))
    assert residual_stays_bounded(ONE, iterates, LOG, unit).holds
