"""Regularisation paths: values in the log domain, residuals with power, bounds that hold."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import risk_gap as exact_gap
from attsvm.losses import (
    CORRELATION,
    CUBIC,
    EXPONENTIAL,
    LOG_LOSS,
    LOGISTIC,
    LOGISTIC_LOSS,
    SQUARED,
)
from attsvm.paths import path_joint, path_kq, path_w
from attsvm.paths.drops import curvature_ratio
from attsvm.paths.grades import angle_between, lower_bound, stationarity
from attsvm.paths.nuclear import Factored
from attsvm.paths.objective import GapObjective, differences
from attsvm.risk import risk_gap
from attsvm.strategies import arrays
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm, att_svm_programme
from attsvm.svm.nuclear import solve_nuclear
from attsvm.theory.arithmetic import BALLS
from properties._support.published_data import joint_inputs
from properties.tf._support.path_certificates import certified_direction, certified_set
from properties.tf._support.regularisation_paths import FLAT_SLOPE, TURNING, Path
from properties.tf.theorem_2 import RATE
from properties.tf.theorem_2.near_optimal_points import Candidate, distance, extremal, good, kappa
from tests.paths.checks import check_derivatives, protocol
from tests.svm.problems import two_tokens

DECREASING = [LOG_LOSS, LOGISTIC_LOSS, EXPONENTIAL, CORRELATION]
LOSS = st.sampled_from(DECREASING)


def has_rivals(data):
    gamma = np.where(data.present, data.gamma, np.nan)
    return bool((np.nanmax(gamma, axis=1) > np.nanmin(gamma, axis=1)).any())


def log_gap(data, W, loss):
    """log(L - L_*) in balls, at a precision that settles it."""
    with ctx.workprec(256):
        return exact_gap(ExactData.of(data), rationals(W), loss.name).log()


# the objective


@settings(max_examples=15, deadline=None)
@given(attention_data(), LOSS, st.sampled_from([0.0, 1.0, 30.0]), st.data())
def test_the_log_gap_is_that_of_balls(data, loss, size, more):
    data = AttentionData(data.X, data.Z, scores=data.gamma)
    assume(has_rivals(data))
    W = size * more.draw(arrays(data.d, data.d))
    D, Z = differences(data, objective := GapObjective.of(data, loss))
    value = objective.value(((D @ W) * Z).sum(axis=1))
    logit = np.abs(data.X).max() * np.abs(data.Z).max() * np.abs(W).sum() * data.d
    assert abs(value - float(log_gap(data, W, loss))) <= 1e-13 * (1 + logit + abs(value))


@pytest.mark.parametrize("loss", DECREASING, ids=lambda loss: loss.name)
def test_the_log_gap_holds_where_the_gap_underflows(loss):
    data = protocol()
    data = AttentionData(data.X, data.Z, scores=data.gamma)
    (found,) = path_w(data, loss, [1e4], starts=("svm",))
    assert risk_gap(data, found.W, loss) == 0.0  # the naive value
    true = log_gap(data, found.W, loss)
    assert found.log_gap < -1000
    assert abs(float(true - arb(found.log_gap))) < 1e-10


def test_gradients_keep_their_digits_where_a_bad_token_leads():
    data = AttentionData.of([[[0.0], [1.0], [2.0]]], [[1.0]], scores=[[2.0, 1.0, 0.0]])
    objective = GapObjective.of(data, CORRELATION)
    jet = objective.jet(np.array([-40.0, -80.0]))
    # the deficit is 2 - e^-40 up to e^-80, its logarithm moves with e^-40 / 2
    assert jet.gradient == pytest.approx(np.array([1, -1]) * math.exp(-40) / 2, rel=1e-12)


@settings(max_examples=15, deadline=None)
@given(attention_data(T=(2, 4)), st.sampled_from([1.0, 20.0, 400.0]), st.data())
def test_a_loss_of_ones_own_is_continued_as_the_known_one(data, size, more):
    assume(has_rivals(data))
    known = GapObjective.of(data, LOG_LOSS)
    own = GapObjective.of(data, replace(LOG_LOSS, name="mine"))
    assert own.order == pytest.approx(1.0)
    margins = size * (1.0 + np.abs(more.draw(arrays(len(known.input)))))
    a, b = known.jet(margins), own.jet(margins)
    assert a.value == pytest.approx(b.value, rel=1e-12)
    assert np.allclose(a.gradient, b.gradient, atol=1e-9)
    assert np.allclose(a.hessian, b.hessian, atol=1e-9)
    assert curvature_ratio(own.loss, np.array([1e4])) == 0.0  # l' and l'' underflow


@settings(max_examples=15, deadline=None)
@given(attention_data(T=(2, 4)), LOSS, st.sampled_from([0.5, 4.0, 60.0]), st.data())
def test_gradient_and_hessian_are_derivatives(data, loss, size, more):
    assume(has_rivals(data))
    objective = GapObjective.of(data, loss)
    margins = size * more.draw(arrays(len(objective.input))) / 2
    assert objective.jet(margins).value == pytest.approx(objective.value(margins), abs=1e-12)
    check_derivatives(objective.jet, margins, 1e-5, 3e-8, 1e-6)


# the path of W


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([0.5, 3.0, 100.0, 1e4]), LOSS, arrays(2), arrays(2), st.integers(1, 3))
def test_one_constraint_is_followed_along_itself(radius, loss, D, z, gap):
    assume(D.any() and z.any())
    data = two_tokens([D], [z], scores=(gap, 0))
    (found,) = path_w(data, loss, [radius])
    A = np.outer(D, z)
    assert np.allclose(found.W, radius * A / np.linalg.norm(A), atol=1e-12 * radius)
    margin = radius * np.linalg.norm(A)
    if loss is CORRELATION:
        assert found.log_gap == pytest.approx(math.log(gap) - np.logaddexp(0.0, margin), rel=1e-12)
    assert found.residual < 1e-12
    assert not found.inside
    assert found.excess / (1 + margin) >= -1e-9
    if margin > 40 and loss is not LOGISTIC_LOSS:
        assert found.excess < 1e-9 * (1 + margin)
    assert found.agreeing >= 2
    assert all(a.agrees(found.log_gap) or a.residual > 1.0 for a in found.attempts)


@settings(max_examples=15, deadline=None)
@given(st.data(), LOSS, st.sampled_from([0.3, 2.0, 8.0]))
def test_nothing_better_is_found_by_force(more, loss, radius):
    n = more.draw(st.integers(1, 3))
    X = more.draw(arrays(n, 3, 2))
    Z = np.array([[1.0], [-0.5], [2.0]])[:n] * [1.0, 0.0]
    data = AttentionData(X, Z, scores=more.draw(arrays(n, 3)))
    assume(has_rivals(data))
    D, Zs = differences(data, objective := GapObjective.of(data, loss))
    assume((D.any(axis=1) & Zs.any(axis=1)).any())
    starts = ("svm", "gradient", *["random"] * 8)
    (found,) = path_w(data, loss, [radius], starts=starts)
    best = math.inf
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0):
        for angle in np.linspace(0.0, 2 * np.pi, 60, endpoint=False):
            w = share * radius * np.array([math.cos(angle), math.sin(angle)])
            best = min(best, objective.value((D @ w) * Zs[:, 0]))
    assert found.log_gap <= best + 1e-9
    assert found.log_lower <= found.log_gap + 1e-9
    assert np.linalg.norm(found.W) <= radius * (1 + 1e-12)


@pytest.mark.parametrize("loss", DECREASING, ids=lambda loss: loss.name)
def test_the_path_is_certified_and_stays_at_a_bounded_distance(loss):
    data = protocol(1)
    path = path_w(data, loss, [100.0, 1e3, 1e4], starts=("svm", "gradient"))
    unit = att_svm(data).W / att_svm(data).value
    away = [np.linalg.norm(m.W - m.radius * unit) for m in path]
    assert away[2] < 1.5 * away[1]
    assert away[2] > 0.5 * away[1] > 0.1
    assert [m.angle * m.radius for m in path] == pytest.approx(away, rel=0.1)
    for m in path:
        assert m.residual < 1e-10
        assert abs(m.excess) < 1e-6
        assert m.agreeing >= 1
    assert path[1].log_gap == pytest.approx(-1e3 / att_svm(data).value, rel=0.05)


def test_a_local_minimum_is_seen_by_its_excess():
    data = protocol(2)
    (best,) = path_w(data, LOG_LOSS, [100.0], starts=("svm",))
    (near,) = path_w(data, LOG_LOSS, [10.0])
    (local,) = path_w(data, LOG_LOSS, [100.0], starts=(near.W,))
    assert local.log_gap > best.log_gap + 1.0
    assert local.excess > 1.0 > 1e-3 > best.excess
    whole = path_w(data, LOG_LOSS, [10.0, 100.0])[-1]
    assert whole.log_gap == pytest.approx(best.log_gap, rel=1e-12)
    assert whole.agreeing < len(whole.attempts)
    followed = [a for a in whole.attempts if a.start.endswith("followed")]
    assert len(followed) == 5
    assert any(a.value > whole.log_gap + 1.0 and a.residual < 1e-9 for a in followed)
    assert whole.spread > 1.0


@settings(max_examples=15, deadline=None)
@given(attention_data(T=(2, 3), d=(1, 2)), LOSS, st.sampled_from([0.5, 5.0, 50.0]), st.data())
def test_the_lower_bound_holds_for_every_matrix_and_any_guess(data, loss, radius, more):
    assume(has_rivals(data))
    D, Z = differences(data, objective := GapObjective.of(data, loss))
    guess = more.draw(arrays(len(D))) * 4
    V = more.draw(arrays(data.d, data.d))
    assume(V.any())
    for nuclear in (False, True):
        bound = lower_bound(objective, D, Z, guess, radius, nuclear=nuclear)
        W = V * (radius / np.linalg.norm(V, "nuc" if nuclear else None))
        own = lower_bound(objective, D, Z, ((D @ W) * Z).sum(axis=1), radius, nuclear=nuclear)
        value = objective.value(((D @ W) * Z).sum(axis=1))
        assert value >= max(bound, own) - 1e-9 * (1 + abs(value))


def test_the_lower_bound_holds_where_no_part_makes_both_of_its_cases_equal():
    data = AttentionData.of(
        [[[1.0], [0.0]]] * 2, [[1.0], [-1.0]], scores=[[1e30, 0.0], [1e-30, 0.0]]
    )
    D, Z = differences(data, objective := GapObjective.of(data, CORRELATION))
    guess = np.log([1e30, 1e-30])  # both inputs weigh the same there, and gradients cancel
    bound = lower_bound(objective, D, Z, guess, 140.0)
    assert bound <= objective.value(np.array([140.0, -140.0])) < -69.0


@pytest.mark.parametrize("path", [path_w, path_kq])
def test_degenerate_data_and_radii(path):
    """No radius, no query, opposed inputs, absent tokens; and a seed fixes the result."""
    data = protocol(3, n=3, T=4, d=3)
    zero, some = path(data, LOG_LOSS, [0, 2])
    again = path(data, LOG_LOSS, [0, 2])[1]
    assert not zero.W.any()
    assert zero.log_gap == pytest.approx(math.log(risk_gap(data, zero.W, LOG_LOSS)))
    assert zero.gap > some.gap
    assert [a.value for a in again.attempts] == [a.value for a in some.attempts]
    X = np.concatenate([data.X, np.full((3, 1, 3), 9.0)], axis=1)
    mask = np.ones((3, 5), dtype=bool)
    mask[:, 4] = False
    padded = AttentionData(X, data.Z, y=data.y, v=data.v, mask=mask)
    assert np.array_equal(path(padded, LOG_LOSS, [0, 2])[1].W, some.W)
    still = AttentionData.of([[[1.0, 0.0], [0.0, 1.0]]], [[0.0, 0.0]], scores=[[1.0, 0.0]])
    (found,) = path(still, EXPONENTIAL, [10.0])
    assert found.residual == 0.0
    assert found.log_gap == pytest.approx(math.log(math.exp(-0.5) - math.exp(-1.0)))
    assert found.log_lower <= found.log_gap + 1e-12
    assert found.agreeing == len(found.attempts)
    opposed = AttentionData.of([[[1.0], [0.0]]] * 2, [[1.0], [-1.0]], scores=[[1.0, 0.0]] * 2)
    (found,) = path(opposed, EXPONENTIAL, [5.0])
    assert math.isnan(found.angle if path is path_w else found.distance[1])


# residuals


@settings(max_examples=15, deadline=None)
@given(st.floats(1e-9, 3.1), st.sampled_from([1.0, 1e4]))
def test_the_residual_is_the_angle_to_the_gradient(angle, radius):
    y = radius * np.array([math.cos(angle), math.sin(angle)])
    moved = np.array([7.0, 0.0])
    sphere = stationarity(y, moved, radius)
    assert sphere == pytest.approx(2 * math.sin(angle / 2), rel=1e-6)
    assert stationarity(-moved, moved, 7.0) == pytest.approx(2.0)
    assert stationarity(y / 2, moved, radius) == 7.0
    assert stationarity(y / 2, moved, radius, 4.0) == 7.0 / 4.0
    assert stationarity(y / 2, 0 * moved, radius) == 0.0
    assert math.isnan(angle_between(moved, 0 * moved))


# the path of (K, Q)


def test_factors_reach_the_nuclear_path_with_both_conditions():
    data = protocol(0, n=4, T=4, d=5)
    path = path_kq(data, LOG_LOSS, [10.0, 100.0, 1e4], starts=("svm", "gradient"))
    solution = solve_nuclear(att_svm_programme(data))
    assert solution.unique
    for m in path:
        assert (m.K**2).sum() + (m.Q**2).sum() <= 2 * m.radius * (1 + 1e-12)
        assert np.linalg.norm(m.W, "nuc") == pytest.approx(m.radius, rel=1e-9)
        assert m.residual < 1e-10
        assert abs(m.excess_of_operator) < 1e-9
        assert m.log_lower <= m.log_gap + 1e-9
        unit = solution.W / solution.value
        assert m.distance[1] == pytest.approx(np.linalg.norm(m.W / m.radius - unit), rel=1e-6)
    assert path[2].excess < 1e-6
    assert path[2].distance[1] < 0.05 * path[1].distance[0]
    assert path[2].distance[1] * 1e4 < 3 * path[1].distance[1] * 100
    frobenius = path_w(data, LOG_LOSS, [100.0])[0]
    assert path[1].log_gap > frobenius.log_gap  # the nuclear ball is smaller


def test_a_long_token_does_not_turn_the_start_along_the_solution():
    data = AttentionData(
        [[[1.0, 123.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]],
        [[-27.0, -60.0], [0.0, 1.0]],
        scores=[[1.0, -1.0], [60.0, 0.0]],
    )
    size = solve_nuclear(att_svm_programme(data)).value
    (found,) = path_kq(data, CUBIC, [1e3 * size], starts=("svm",))
    assert found.log_gap < -900.0  # its margins are 1000 there
    assert found.distance[1] < 1e-5


@pytest.mark.parametrize("inner", [1, 2, 5])
def test_one_input_needs_one_column(inner):
    data = protocol(5, n=1, T=4, d=3)
    (wide,) = path_kq(data, LOG_LOSS, [30.0])
    (found,) = path_kq(data, LOG_LOSS, [30.0], inner=inner)
    assert found.K.shape == (3, inner)
    assert found.log_gap == pytest.approx(wide.log_gap, rel=1e-9)
    assert found.log_gap == pytest.approx(path_w(data, LOG_LOSS, [30.0])[0].log_gap, rel=1e-9)


def test_one_column_cannot_turn():
    one, two = (path_kq(TURNING.data, LOG_LOSS, [300.0], inner=r)[0] for r in (1, 2))
    assert two.distance[1] < 1e-9
    assert one.distance[0] > 0.3
    assert one.log_gap > two.log_gap + 10
    assert one.excess_of_operator > 0.01
    objective = GapObjective.of(TURNING.data, LOG_LOSS)
    problem = Factored.of(TURNING.data, objective, 2)
    y = problem.factor(one.W)
    lifted = problem.lift(objective, y)
    assert objective.value(problem.margins(lifted)) < objective.value(problem.margins(y)) - 1.0


# the joint path


@pytest.mark.parametrize("height", [1.0, 1.5])
def test_the_published_instances_of_joint_training(height):
    path = path_joint(joint_inputs(height), LOG_LOSS, [(0, 0), (10, 10), (100, 100), (1e4, 1e4)])
    assert path[0].log_risk == pytest.approx(math.log(math.log(2)))
    assert path[3].selected == (1, 1, 1)
    for m in path[1:]:
        assert m.residual < 1e-7
        assert m.log_lower <= m.log_risk
        assert np.linalg.norm(m.v) == pytest.approx(m.radii[0])
    for name in ("angle_v", "angle_p"):
        near, far = getattr(path[2], name), getattr(path[3], name)
        assert far < 0.011 * near + 1e-9
    assert path[3].log_risk == pytest.approx(-1e4, abs=1.0)


# errors


FLAT_SCORES = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0]])
BAD_W = [
    *(({"radii": radii}, words) for radii, words in [
        ([], "radii is empty"), ([-1.0], "at least 0"), ([math.nan], "finite"),
        ([math.inf], "finite"), ([2.0, 1.0], "must increase"), ([1.0, 1.0], "must increase"),
        (["far"], "must be numbers"),
    ]),
    ({"starts": ()}, "no start that is not zero"),
    ({"starts": (np.zeros((10, 10)),)}, "no start that is not zero"),
    ({"starts": ("sideways",)}, "a start of that name"),
    ({"starts": (np.ones((2, 2)),)}, r"starts\[0\]"),
    *(({"loss": loss}, "decreasing") for loss in (LOGISTIC, SQUARED)),
    ({"data": FLAT_SCORES}, "same everywhere"),
]  # fmt: skip
BAD_JOINT = [
    *(({"radii": radii}, "radii") for radii in
      ([], [(1.0,)], [(1.0, -1.0)], [(2.0, 1.0), (1.0, 2.0)])),
    ({"data": FLAT_SCORES}, "labels"),
    ({"loss": CORRELATION}, "infimum"),
    ({"starts": ()}, "no start"),
    ({"starts": ("sideways",)}, "a start of that name"),
    ({"starts": (np.ones((2, 2)),)}, "must be a pair"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "radius", "table"),
    [(path_w, 1.0, BAD_W), (path_kq, 1.0, BAD_W), (path_joint, (1.0, 1.0), BAD_JOINT)],
)
def test_bad_input_is_named(path, radius, table):
    for change, words in table:
        with pytest.raises(DataError, match=words):
            path(**({"data": protocol(), "loss": LOG_LOSS, "radii": [radius]} | change))
    with pytest.raises(DataError, match="inner dimension"):
        path_kq(protocol(), LOG_LOSS, [1.0], inner=0)
    with pytest.raises(DataError, match="must be a Loss"):
        GapObjective.of(protocol(), "log-loss")


# the claims


def test_a_flat_loss_leads_elsewhere_and_that_is_certified():
    (found,) = path_w(FLAT_SLOPE.data, CUBIC, [1e4])
    assert found.W[:, 0] / 1e4 == pytest.approx([3 / math.sqrt(10), 1 / math.sqrt(10)], abs=1e-3)
    assert certified_direction(FLAT_SLOPE, "optimal").contains(fmpq(-1, 5))
    steep = Path(FLAT_SLOPE.data, "log-loss")
    assert certified_direction(steep, "optimal") > 0
    assert path_w(steep.data, LOG_LOSS, [1e4])[0].angle < 1e-3
    assert certified_set(TURNING, inner=1) < 0
    assert certified_set(TURNING) > 0
    assert certified_set(FLAT_SLOPE) < 0


@pytest.mark.parametrize("seed", range(6))
def test_the_constant_of_theorem_2_is_attained_and_no_smaller_one_holds(seed):
    case = extremal(np.random.default_rng(seed))
    assert good(case)
    sharp = RATE.claim("sharp").conclusion
    held = sharp(case)
    assert held.holds
    assert held.ratio > 0.95
    assert sharp(case, share="0.95").violated
    worse = Candidate(case.data, case.loss, case.rho, 1.001 * case.W)
    assert not good(worse)
    assert not good(Candidate(case.data, case.loss, case.rho, 0.9 * case.W))


@pytest.mark.parametrize("rho", [1.5, 4.0])
def test_the_constant_of_one_constraint_is_zero(rho):
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[3.0, 1.0]])
    case = Candidate(data, "correlation", rho, np.array([[rho]]))  # W = V
    with ctx.workprec(200):
        bound = kappa(BALLS, case)
        assert bound.contains(0)
        assert bound.rad() < 1e-50


def test_the_constant_is_a_divergence():
    data = AttentionData.of(
        [[[1, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]]], np.eye(3)[:2], scores=[[1, 0], [64, 0]]
    )
    case = Candidate(data, "correlation", 512.0, np.zeros((3, 3)))
    c = np.array([1, 64]) / 65
    divergence = float((0.5 * np.log(0.5 / c)).sum())
    with ctx.workprec(2000):
        assert distance(BALLS, case) == 1
        assert float(kappa(BALLS, case)) == pytest.approx(divergence, rel=1e-12)


def test_minima_show_their_figures_in_few_words():
    data = AttentionData.of([[[1, 0], [0, 1]]], [[1, 1]], scores=[[1, 0]])
    for minimum in (*path_w(data, LOG_LOSS, [1.0]), *path_kq(data, LOG_LOSS, [1.0])):
        assert repr(minimum).startswith(f"<{type(minimum).__name__}: radius 1, log_gap ")
        assert repr(minimum).endswith(
            f"starts {minimum.agreeing} of {len(minimum.attempts)} agree>"
        )
        assert len(repr(minimum)) < 500


def test_paths_are_tuples_that_show_both_ends():
    data = AttentionData.of([[[1, 0], [0, 1]]], [[1, 1]], scores=[[1, 0]])
    radii = [0.0, 1.0, 10.0]
    frobenius = path_w(data, LOG_LOSS, radii)
    factored = path_kq(data, LOG_LOSS, radii)
    joint = path_joint(joint_inputs(1.5), LOG_LOSS, [(r, r) for r in radii], starts=("random",))
    for path, figures in (
        (frobenius, ("log gap", "angle to W^mm")),
        (factored, ("log gap", "distance to Att-SVM*")),
        (joint, ("log risk", "angle of v", "angle of p")),
    ):
        assert isinstance(path, tuple)
        assert all(name in repr(path) for name in figures)
        assert len(repr(path)) < 200
    assert repr(frobenius).startswith("<RegularisationPath of 3 points: radius 0, log gap ")
    assert f"to radius 10, log gap {frobenius[-1].log_gap:.4g}, angle to W^mm " in repr(frobenius)
    one = path_w(data, LOG_LOSS, [1.0])
    assert " to radius" not in repr(one)
