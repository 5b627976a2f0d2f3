"""Basins and certificates: proofs close where they should, and not a hair's breadth outside."""

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import (
    ExactData,
    cone_at,
    descend,
    limit_certificate,
    rational,
    rationals,
    separate,
)
from attsvm.exact import descent as of_descent
from attsvm.exact.descent import always_converges, basin, decreases, smoothness, threshold
from attsvm.limits import direction_is_proved, in_basin
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent_runs import LOCAL_TRAP, tight_data
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm
from attsvm.training import descend_w, follow_w
from properties._support.small_runs import NOT_ALIGNED, TWO_TOKENS, UNEVEN
from tests.exact.digits import DECREASING, EPS, VALUE, encloses, real
from tests.exact.local_runs import column, one_dimension, starts
from tests.limits.runs import tilted

BITS = 96

LOG, CORRELATION = LOSSES["log-loss"], LOSSES["correlation"]


def room(data, W, name):
    """1 - gap/threshold by sums over tokens at 200 bits and beyond, from the float values."""
    loss = VALUE[name]
    gap, least = mpmath.mpf(0), None
    for X, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
        logits = [
            mpmath.fsum(
                real(x[a]) * real(W[a, b]) * real(z[b])
                for a in range(data.d)
                for b in range(data.d)
            )
            for x in X
        ]
        weights = [mpmath.exp(u - max(logits)) for u in logits]
        score = mpmath.fsum(s * real(g) for s, g in zip(weights, gamma, strict=True))
        best = max(gamma)
        gap += loss(score / mpmath.fsum(weights)) - loss(real(best))
        if min(gamma) < best:
            drop = loss(real(max(g for g in gamma if g < best))) - loss(real(best))
            least = drop if least is None else min(least, drop)
    return None if least is None else 1 - gap / least


SPREAD = AttentionData.of(
    [[[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]], [[1.0, 0.0]], scores=[[2.0, 1.0, 0.0]]
)
"""Margins are the first column of W; the third token alone decides at large first margins."""


MOSTLY_SEPARABLE = st.one_of(tight_data(), tight_data(), attention_data())
"""On other data nothing is said of the basin."""


@given(MOSTLY_SEPARABLE, st.sampled_from(DECREASING), st.data())
def test_the_slack_of_the_basin_is_that_of_200_bits(data, name, draw):
    W = draw.draw(st.sampled_from([0.0, 1.0, 16.0, 1000.0])) * np.cos(
        np.arange(data.d**2, dtype=float)
    ).reshape(data.d, data.d)
    slack = in_basin(data, W, LOSSES[name])
    exact = ExactData.of(data)
    selects = any(len(row) > 1 for row in exact.gamma)
    assume(exact.unique and selects and exact_att_svm(data) is not None)
    with mpmath.workprec(4000):
        true = room(data, W, name)
        # what 1024 bits leave open is all but 0
        assert slack.kind != "unknown" or abs(true) < mpmath.mpf(2) ** -1000
        assume(slack.kind != "unknown")
        assert abs(true - real(slack.value)) <= real(slack.error)
        assert (true > 0) == slack.holds
        assert (true < 0) == slack.violated


@pytest.mark.parametrize(
    ("data", "W", "loss"),
    [
        (one_dimension([1.0, 0.0], scores=[[1.0, 1.0]]), 1.0, "log-loss"),  # tied
        (one_dimension([1.0], scores=[[1.0]]), 1.0, "log-loss"),  # nothing to select
        (one_dimension([1.0, 1.0], scores=[[1.0, 0.0]]), 1.0, "log-loss"),  # not separable
        (one_dimension([1.0, 0.0], scores=[[1.0, 0.0]]), np.nan, "log-loss"),
        (one_dimension([1.0, 0.0], scores=[[1.0, 0.0]]), np.inf, "log-loss"),
        (one_dimension([1.0, 0.0], scores=[[1.0, 0.0]]), 9.0, "logistic"),
        (one_dimension([1.0, 0.0], scores=[[1.0, 0.0]]), 9.0, "squared"),
    ],
)
def test_no_basin_is_unknown_and_nothing_passes(data, W, loss):
    slack = in_basin(data, np.array([[W]]), LOSSES[loss])
    assert slack.kind == "unknown"
    assert not slack.holds
    assert not slack.violated


def test_a_loss_that_does_not_decrease_has_no_basin():
    """Gaps below a negative threshold prove nothing: these runs go elsewhere.

    (1 - u)^2 with scores 3, 2, 0 is least inside, at attention of score 1; the logistic function
    with scores 2, 1, -9 falls towards -9.
    """
    for name, scores in (("squared", [3.0, 2.0, 0.0]), ("logistic", [2.0, 1.0, -9.0])):
        data = one_dimension([1.0, 0.0, -1.0], scores=[scores])
        exact, zero = ExactData.of(data), [[fmpq(0)]]
        assert not decreases(exact, name)
        assert basin(exact, zero, name) is None
        step = rational(1.0 / risk_smoothness(data, LOSSES[name]))
        assert limit_certificate(exact, zero, name, step, 16) is None
        run = descend_w(
            [data], np.zeros((1, 1)), LOSSES[name], step=float(arb(step)), steps=3000, record="all"
        )
        assert run.W[0, -1, 0, 0] < 1.0  # X^mm is 1: the norm would diverge to the right


@given(attention_data(), st.sampled_from(sorted(LOSSES)))
def test_the_exact_smoothness_is_the_one_in_floats(data, name):
    exact = smoothness(ExactData.of(data), name)
    floats = risk_smoothness(data, LOSSES[name])
    assert exact <= rational(floats)
    assert abs(float(exact.mid()) - floats) <= 1e-7 * floats


def test_a_step_that_is_too_long_leaves_the_basin():
    """Gaps (1, 0) and (-2, 1), margins 1/2 and 3: one long step traps the second input."""
    X = [[[0.0, 0.0], [-1.0, 0.0]], [[0.0, 0.0], [2.0, -1.0]]]
    data = AttentionData.of(X, [[1.0, 0.0]] * 2, scores=[[1.0, 0.0]] * 2)
    exact, W = ExactData.of(data), column(0.5, 4.0)
    assert in_basin(data, W, CORRELATION).holds
    short = rational(1.0 / risk_smoothness(data, CORRELATION))
    point = rationals(W)
    assert limit_certificate(exact, point, "correlation", short, 0).reason == "basin"
    assert limit_certificate(exact, point, "correlation", None, 0).converges
    certificate = limit_certificate(exact, point, "correlation", fmpq(1000), 4)
    assert (certificate.reason, certificate.selected) == ("trap", [0, 1])
    assert not certificate.converges
    run = descend_w([data], W, CORRELATION, step=1000.0, steps=50, record="all").W[0, -1]
    assert logits_of_w(data.X, data.Z, run).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("lost", ["start", "target"])
def test_one_entry_that_is_no_number_leaves_the_direction_open(lost):
    given = {"start": column(8.0, 8.0), "target": column(1.0, 1.0)}
    assert direction_is_proved(SPREAD, given["start"], LOG, given["target"], step=0.1).holds
    given[lost][1, 1] = np.nan
    slack = direction_is_proved(SPREAD, given["start"], LOG, given["target"], step=0.1)
    assert slack.kind == "unknown"


def test_a_step_is_needed_to_take_steps():
    with pytest.raises(DataError, match="no step size"):
        limit_certificate(ExactData.of(SPREAD), rationals(column(0.0, 0.0)), "log-loss", None, 1)


def test_a_basin_has_no_escape_at_steps_up_to_one_over_smoothness():
    """Random points, some barely inside: the gap falls, and far out the optimal tokens lead."""
    generator, inside, near = np.random.default_rng(5), 0, 0
    for _ in range(150):
        n, T = int(generator.integers(1, 3)), int(generator.integers(2, 4))
        X, Z = generator.integers(-2, 3, size=(n, T, 2)), generator.integers(-2, 3, size=(n, 2))
        data = AttentionData.of(X, Z, scores=generator.integers(-2, 3, size=(n, T)))
        W = generator.integers(-6, 7, size=(2, 2)) / 2
        slack = in_basin(data, W, LOG)
        if not slack.holds:
            continue
        inside += 1
        near += slack.value < 0.5
        step = 1.0 / risk_smoothness(data, LOG)
        run = descend_w([data], W, LOG, step=step, steps=3000, record=[10, 100])
        gaps = [in_basin(data, point, LOG).value for point in run.W[0]]
        assert gaps == sorted(gaps)
        far = follow_w(data, W, LOG, [50.0, 200.0]).W[0, -1]  # past the plateaus of a slow start
        chosen = logits_of_w(data.X, data.Z, far).argmax(axis=1)
        assert chosen.tolist() == data.gamma.argmax(axis=1).tolist()
    assert inside >= 30
    assert near >= 8


def proved(run, target, steps=256):
    loss = LOSSES["logistic-loss"]
    step = 1.0 / risk_smoothness(run.data, loss)
    return direction_is_proved(run.data, run.start, loss, target, step=step, steps=steps, bits=256)


@pytest.mark.parametrize("run", [UNEVEN, NOT_ALIGNED, LOCAL_TRAP], ids=["basin", "trap", "local"])
def test_a_proved_limit_refutes_every_other_direction(run):
    """In the basin, and where other tokens than the optimal ones are kept for ever."""
    exact = ExactData.of(run.data)
    step = rational(1.0 / risk_smoothness(run.data, LOSSES["logistic-loss"]))
    with ctx.workprec(256):
        certificate = limit_certificate(exact, rationals(run.start), "logistic-loss", step, 256)
    assert certificate.settles
    W = np.array([[float(arb(x)) for x in row] for row in separate(exact, certificate.selected).W])
    assert proved(run, W).holds
    assert proved(run, 16.0 * W).holds
    assert proved(run, tilted(W, 0.9999)).violated
    assert proved(run, tilted(W, 1.0 - 1e-14)).violated
    assert proved(run, -W).violated
    assert proved(run, 0.0 * W).violated
    assert proved(run, att_svm(run.data).W).holds == certificate.converges


def test_what_is_not_proved_is_unknown():
    assert proved(NOT_ALIGNED, np.eye(2), steps=0).kind == "unknown"
    for bad in (np.nan, np.inf):
        assert proved(UNEVEN, bad * np.ones((2, 2))).kind == "unknown"


@pytest.mark.parametrize("step", [fmpq(0), fmpq(-1, 10), fmpq(-(10**6))])
def test_steps_uphill_prove_nothing(step):
    """With step -1/10 two tokens 1, 0 part the other way, whatever basin they start in."""
    data = AttentionData.of([[[1.0, 0.0], [0.0, 1.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0]])
    exact, W = ExactData.of(data), rationals(np.zeros((2, 2)))
    with pytest.raises(DataError, match="positive step size"):
        limit_certificate(exact, W, "correlation", step, 0)
    with pytest.raises(DataError, match="positive step size"):
        cone_at(exact, rationals(64.0 * att_svm(data).W), "correlation", step)
    with pytest.raises(DataError, match="nonnegative number of steps"):
        limit_certificate(exact, W, "correlation", fmpq(1, 10), -3)


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("seed", range(3))
def test_enclosed_iterates_hold_the_float_run(name, seed):
    """Six steps at 200 bits; the float run adds up some hundred roundings of numbers near 1."""
    generator = np.random.default_rng(seed)
    X, Z = generator.integers(-8, 9, size=(2, 3, 2)) / 8, generator.integers(-8, 9, size=(2, 2)) / 8
    data = AttentionData(X, Z, scores=generator.integers(-8, 9, size=(2, 3)) / 8)
    W0 = generator.integers(-8, 9, size=(2, 2)) / 8
    ctx.prec = 200
    ball = descend(ExactData.of(data), rationals(W0), name, rational(0.25), 6)
    run = descend_w([data], W0, LOSSES[name], step=0.25, steps=6, record="all").W[0, -1]
    for row, mine in zip(ball, run, strict=True):
        for x, w in zip(row, mine, strict=True):
            assert x.rad() <= 1e-50
            assert abs(x - arb(float(w))) <= 200 * EPS
    assert np.abs(run - W0).max() > 1e-3


def test_the_threshold_is_the_least_drop_to_a_second_score():
    data = AttentionData.of(
        np.zeros((3, 3, 1)), np.ones((3, 1)), scores=[[2, 1, 0], [1, 1, 0.5], [3, 3, 3]]
    )
    with mpmath.workdps(110):
        drops = [VALUE["log-loss"](b) - VALUE["log-loss"](a) for a, b in ((2, 1), (1, real(0.5)))]
        assert encloses(threshold(ExactData.of(data), "log-loss"), min(drops) / 3)
    flat = AttentionData.of(np.zeros((1, 2, 1)), np.ones((1, 1)), scores=[[1, 1]])
    assert threshold(ExactData.of(flat), "log-loss") is None
    assert limit_certificate(ExactData.of(flat), [[fmpq(0)]], "log-loss", fmpq(1), 4) is None


@pytest.mark.parametrize("name", ["log-loss", "logistic-loss", "exponential", "correlation"])
def test_a_basin_is_claimed_for_steps_up_to_one_over_smoothness_and_no_longer(name):
    """Beyond it the risk may rise, and only sets that no step leaves prove anything."""
    ctx.prec = 96
    exact, W = ExactData.of(TWO_TOKENS.data), [[fmpq(8)]]
    longest = float(1 / smoothness(exact, name))
    for factor, reasons in ((1.0 - 2.0**-40, ["basin"]), (1.0 + 2.0**-40, ["trap", "cone"])):
        certificate = limit_certificate(exact, W, name, rational(factor * longest), 0)
        assert certificate.reason in reasons
    assert limit_certificate(exact, W, name, None, 0).reason == "basin"


@pytest.mark.parametrize(
    ("name", "slope", "curvature"),
    [
        ("correlation", 1.0, 0.0),
        ("log-loss", 1.0, 0.25),
        ("logistic", 0.25, 1 / (6 * 3**0.5)),
        ("logistic-loss", 0.25, 1 / (6 * 3**0.5)),
        ("exponential", np.exp(1.0), np.exp(1.0)),
        ("squared", 4.0, 2.0),
        ("squared high", 5.0, 2.0),
        ("cubic high", 36.75, 21.0),
    ],
)
def test_the_smoothness_by_hand(name, slope, curvature):
    """The tokens 1 and -1 have spectral norm sqrt 2. All score pairs have a span of 3/2.

    For the scores 1/2 and -1, (1 - u)^2 has the largest slope at -1. For 7/2 and 2 both (1 - u)^2
    and -u^3 have it at 7/2.
    """
    name, _, high = name.partition(" ")
    scores = [3.5, 2.0] if high else [0.5, -1.0]
    data = AttentionData.of([[[1.0], [-1.0]]], [[2.0]], scores=[scores])
    bend = 1.5 * slope / (3 * 3**0.5) + 1.5**2 * curvature / 8
    assert float(smoothness(ExactData.of(data), name)) == pytest.approx(8.0 * bend, rel=1e-12)


def test_a_trap_that_does_not_settle_keeps_its_tokens_and_says_nothing_of_the_direction():
    """(1 - u)^2 has slope 0 at the score 1; the tokens that are kept are the optimal ones."""
    ctx.prec = 96
    data = AttentionData.of(
        [[[0.0], [-1.0]], [[0.0], [-2.0]]], [[1.0], [1.0]], scores=[[0.5, 0.0], [1.0, 0.0]]
    )
    for step in (None, fmpq(1, 64)):
        certificate = limit_certificate(ExactData.of(data), [[fmpq(40)]], "squared", step, 0)
        assert (certificate.reason, certificate.selected) == ("trap", [0, 0])
        assert (certificate.settles, certificate.converges) == (False, False)


def test_a_cone_of_any_tokens_settles_and_of_optimal_ones_converges():
    """Where no basin or trap closes first."""
    found = []
    for _, exact, W, _ in starts(24):
        point = rationals(W)
        certificate = limit_certificate(exact, point, "log-loss", fmpq(1, 8), 0)
        if certificate is not None and certificate.reason == "cone":
            cone = cone_at(exact, point, "log-loss", fmpq(1, 8))
            assert (certificate.selected, certificate.settles) == (cone.selected, True)
            assert certificate.converges == ([[t] for t in certificate.selected] == exact.optimal)
            found.append(certificate.converges)
    assert set(found) == {True, False}


@pytest.mark.parametrize(
    ("tokens", "scores", "always"),
    [
        ([[2, 0], [0, 0], [0, 1]], [[1, 0, 0], [1, 0, 0]], True),
        ([[2, 0], [0, 0], [0, 1]], [[1, 0, 0], [1, 0, -1]], False),  # rivals of two scores
        ([[2, 0], [0, 0], [4, 1]], [[1, 0, 0], [1, 0, 0]], False),  # their gradients are opposed
    ],
)
def test_inputs_in_accord_with_rivals_of_one_score_each_always_converge(tokens, scores, always):
    data = AttentionData.of([tokens] * 2, [[1, 0]] * 2, scores=scores)
    assert always_converges(ExactData.of(data), "log-loss") is always


SIMPLEX, BEHIND = np.eye(3), [[0, 0, 0], [-2, -1, 0], [-1, 0, 0]]
"""Of the second three tokens the second best lies behind the worst one."""


@pytest.mark.parametrize(
    ("tokens", "queries", "scores", "always"),
    [
        ([SIMPLEX, SIMPLEX], [[1, 0, 0], [0, 1, 0]], [[2, 1, 0], [0, 1, 2]], True),
        ([SIMPLEX, BEHIND], [[1, 0, 0], [0, 1, 0]], [[2, 1, 0], [0, 1, 2]], True),
        ([SIMPLEX, BEHIND], [[1, 0, 0], [0, 1, 0]], [[2, 1, 0], [2, 1, 0]], False),
        ([SIMPLEX, SIMPLEX], [[1, 0, 0], [1, 8, 0]], [[2, 1, 0], [0, 1, 2]], False),
        ([np.eye(4), np.eye(4)], np.eye(2, 4), [[2, 1, 0, 0], [2, 1, 1, 1]], False),
        ([np.eye(4), np.eye(4)], np.eye(2, 4), [[2, 0, 0, 0], [2, 1, 1, 1]], True),
    ],
)
def test_inputs_of_orthogonal_queries_always_converge_where_each_does(
    tokens, queries, scores, always
):
    data = AttentionData.of(tokens, queries, scores=scores)
    assert always_converges(ExactData.of(data), "log-loss") is always


@pytest.mark.parametrize("name", DECREASING)
def test_without_a_step_cones_are_asked_for_all_up_to_one_over_smoothness(monkeypatch, name):
    """At 16 bits the ends of the ball of 1/smoothness lie far apart."""
    asked = []
    monkeypatch.setattr(of_descent, "cone_at", lambda *words, **_: asked.append(words[3]))
    ctx.prec = 16
    X = [[1.0, 0.0, 0.25], [0.5, -0.5, 0.0]]
    data = one_dimension(*X, scores=[[1.0, 0.25, -0.5], [0.75, -0.25, -1.0]])
    exact = ExactData.of(data)
    limit_certificate(exact, [[fmpq(0)]], name, None, 0)
    ctx.prec = 96
    assert asked[0] * smoothness(exact, name) >= 1


def test_a_gap_may_be_above_a_threshold_below_0_and_the_run_be_trapped():
    """(1 - u)^2 rises from 3/2 to 3, so the token of lower score is kept."""
    fell = one_dimension([1.0, 0.0], scores=[[3.0, 1.5]])
    assert threshold(ExactData.of(fell), "squared") < 0
    certificate = limit_certificate(ExactData.of(fell), [[fmpq(-8)]], "squared", fmpq(1, 8), 0)
    assert (certificate.reason, certificate.selected, certificate.settles) == ("trap", [1], False)


@pytest.mark.parametrize(("part", "found"), [(2.0, None), (0.5, "kept")])
def test_a_gap_that_is_not_known_to_its_threshold_ends_the_search(monkeypatch, part, found):
    data, W0 = ExactData.of(TWO_TOKENS.data), rationals(TWO_TOKENS.start)
    wide = arb(0, part * float(abs(threshold(data, "log-loss"))))
    monkeypatch.setattr(of_descent, "risk_gap", lambda *_: wide)
    monkeypatch.setattr(of_descent, "_kept", lambda *_: "kept")
    monkeypatch.setattr(of_descent, "_level", lambda *_: None)
    assert of_descent._followed(data, W0, "log-loss", None, 0) == found
