"""Minimisers with a penalty or over a ball: what floats find, and bounds of where they are."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.special import softmax

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import rationals
from attsvm.losses import LOSSES
from attsvm.paths import path_kq, path_w
from attsvm.primitives.hypotheses import several_tokens
from attsvm.primitives.loss_hypotheses import strictly_decreasing
from attsvm.risk import gradient_w, risk
from attsvm.svm import att_svm
from attsvm.theory import OPEN
from properties.tf._support import path_certificates as certificates
from properties.tf._support import regularisation_paths as paths
from properties.tf.theorem_3 import factored_paths
from properties.tf.vanishing_regularisation import penalised_minima as minima
from properties.tf.vanishing_regularisation.penalised_minima import penalised
from tests import searching

PUBLISHED, UNEVEN, TURNING = map(penalised, (paths.PUBLISHED, paths.UNEVEN, paths.TURNING))


def at(case, k):
    """The minimiser that is found with the penalty exp(-k) ||W||^2 / 2, and the loss."""
    loss = LOSSES[case.loss]

    def find(radius, starts):
        return path_w(case.data, loss, [radius], starts=starts)[0]

    return minima.stationary(case, find, paths.length(case), 2, k), loss


@pytest.mark.parametrize("case", [PUBLISHED, UNEVEN])
def test_the_gradient_at_a_minimiser_is_minus_lambda_times_it(case):
    k = 20.0
    found, loss = at(case, k)
    moved = -gradient_w(case.data, found.W, loss)
    assert np.allclose(moved, math.exp(-k) * found.W, rtol=2e-3, atol=1e-3 * np.abs(moved).max())


def test_no_other_matrix_has_a_lower_objective():
    k = 12.0
    found, loss = at(PUBLISHED, k)

    def objective(W):
        return risk(PUBLISHED.data, W, loss) + math.exp(-k) * (W**2).sum() / 2

    generator = np.random.default_rng(0)
    near = [found.W + s * generator.normal(size=found.W.shape) for s in (0.1, 1.0, 3.0) * 30]
    others = [*near, *(t * att_svm(PUBLISHED.data).W for t in np.linspace(0.0, 30.0, 61))]
    assert objective(found.W) <= min(map(objective, others)) + 1e-12


def test_the_bound_holds_of_the_minimisers_that_floats_find():
    for case in (PUBLISHED, UNEVEN):
        unit = att_svm(case.data).W / np.linalg.norm(att_svm(case.data).W)
        for k in (100, 1000):
            W = at(case, float(k))[0].W
            cosine = float((W * unit).sum() / np.linalg.norm(W))
            assert 1.0 - cosine**2 <= float(minima.squared_sine(case, fmpq(k)))


def test_the_bound_tends_to_nothing_and_says_nothing_of_a_large_penalty():
    with ctx.workprec(128):
        bounds = [minima.squared_sine(PUBLISHED, fmpq(10) ** j) for j in (0, 3, 6, 9)]
    assert bounds[0] == 1
    assert bounds[1] < 0.05
    assert bounds[2] < 1e-4
    assert bounds[3] < 1e-7


def of_signs(signs):
    """Data that ask for s_rc W_rc >= 1 for all entries, as `regularisation_paths.turned` does."""
    d = len(signs)
    X = np.zeros((d, d + 1, d))
    X[:, 1:] = [-np.diag(column) for column in np.array(signs, dtype=float).T]
    scores = np.eye(1, d + 1).repeat(d, axis=0)
    return replace(PUBLISHED, data=AttentionData(X, np.eye(d), scores=scores))


FULL = of_signs([[1, 1, 1], [1, -1, 1], [1, 1, -1]])


@pytest.mark.parametrize(("case", "large"), [(PUBLISHED, 0.2), (TURNING, 1.4)])
def test_the_bound_of_the_distance_holds_of_the_factors_that_floats_find(case, large):
    answer, loss = paths.nuclear(case.data), LOSSES[case.loss]

    def find(radius, starts):
        return path_kq(case.data, loss, [radius], starts=starts)[0]

    for k in (100, 1000):
        found = minima.stationary(case, find, answer.value, 1, float(k))
        away = ((found.W / found.radius - answer.W / answer.value) ** 2).sum()
        assert away <= float(minima.squared_distance(case, fmpq(k)))
    assert float(minima.squared_distance(case, fmpq(1000))) < large


def test_a_set_is_certified_where_the_solution_is_one_point_of_any_rank():
    for case, rank in ((PUBLISHED, 1), (TURNING, 2), (FULL, 3)):
        assert np.linalg.matrix_rank(paths.nuclear(case.data).W, tol=1e-6) == rank
        assert minima.certified_set(case) > 0
    assert minima.certified_set(PUBLISHED, "worst") < 0


def test_a_set_of_several_points_is_left_open():
    """W_11, W_22 >= 1 are met by all W with W_12 = W_21 between -1 and 1."""
    assert minima.squared_distance(UNEVEN, fmpq(10000)) == 4
    assert minima.certified_set(UNEVEN) is None


PROTOCOL = [paths.protocol(np.random.default_rng(seed)) for seed in range(6)]


@pytest.mark.parametrize("case", [paths.PUBLISHED, paths.UNEVEN, *PROTOCOL])
def test_the_bounds_hold_of_the_minimisers_over_balls(case):
    loss, size = LOSSES[case.loss], paths.length(case)
    unit = att_svm(case.data).W / size
    for k in (30, 300):
        (found,) = path_w(case.data, loss, [k * size], starts=paths.STARTS)
        cosine = float((found.W * unit).sum() / np.linalg.norm(found.W))
        assert 1.0 - cosine**2 <= float(certificates.squared_sine(case, fmpq(k))) + 1e-12
        gap = certificates.risk_gap_at(case, fmpq(k), rationals(unit * size))
        least = certificates.least_margin(case, gap)
        assert least is None or float(least) <= min(margins(case.data, found.W)) * (1 + 1e-9)


def margins(data, W):
    """Of the best tokens over the others."""
    logits = np.einsum("ntr,rc,nc->nt", data.X, W, data.Z)
    best = np.where(data.present, data.gamma, -np.inf).argmax(axis=1)
    apart = np.take_along_axis(logits, best[:, None], axis=1) - logits
    return apart[data.present & (np.arange(data.T) != best[:, None])]


def test_paths_are_certified_where_the_solution_is_one_point_and_can_be_reached():
    for case in (paths.PUBLISHED, paths.TURNING, *PROTOCOL):
        assert certificates.certified_direction(case) > 0
    for case, inner in ((paths.PUBLISHED, 1), (paths.TURNING, 2), (paths.TURNING, None)):
        assert certificates.certified_set(case, inner=inner) > 0
    assert certificates.certified_set(paths.TURNING, inner=1) < 0
    assert certificates.certified_set(paths.UNEVEN) is None  # a set of solutions
    assert certificates.certified_direction(paths.FLAT_BELOW) is None


def test_fewer_columns_than_a_solution_may_need_certify_nothing(monkeypatch):
    """Where no solution is seen to have a larger rank, it is not said to be reached either."""
    monkeypatch.setattr(paths, "ranks_are_above", lambda case, inner: None)
    assert certificates.certified_set(paths.TURNING, inner=1) is None
    assert certificates.certified_set(paths.PUBLISHED, inner=1) > 0


def test_a_bound_that_does_not_fall_certifies_nothing():
    assert certificates.falls(lambda k: 1 / arb(k), [1e3, 1e4]) > 0
    assert certificates.falls(lambda k: arb(0), [1e3, 1e4]) > 0
    assert certificates.falls(lambda k: arb(1) / 2, [1e3, 1e4]) is None
    assert certificates.falls(lambda k: 1 / arb(k).sqrt(), [1e3, 1e4]) is None
    assert certificates.falls(lambda k: OPEN, [1e3, 1e4]) is OPEN


def test_a_right_direction_is_certified_and_a_wrong_one_is_refuted():
    assert minima.certified_direction(PUBLISHED) > 0
    assert minima.certified_direction(PUBLISHED, "turned") < 0
    assert minima.certified_direction(penalised(paths.FLAT_SLOPE)) < 0
    assert minima.certified_direction(penalised(paths.FLAT_BELOW)) is None


def test_paths_of_losses_that_are_flat_from_some_score_on_are_drawn_and_refuted():
    """Some W has risk 0, as small as it can be, and so is a minimiser at every larger radius."""
    cases = searching.drawn(paths.flat_paths(level=True), 60)
    flat = [case for case in cases if case.loss == paths.FLAT_FROM_ONE]
    assert len(flat) >= 3
    assert any(several_tokens(case) for case in flat)
    for case in [*flat, paths.FLAT_ABOVE]:
        assert factored_paths.decreasing(case)
        assert not strictly_decreasing(case)
        assert certificates.certified_set(case) < 0
        assert paths.follows_set(case).violated
        far = 1e4 * att_svm(case.data).W if several_tokens(case) else np.zeros((case.data.d,) * 2)
        weights = softmax(
            np.where(
                case.data.present,
                np.einsum("ntr,rc,nc->nt", case.data.X, far, case.data.Z),
                -np.inf,
            ),
            axis=1,
        )
        attended = (weights * np.where(case.data.present, case.data.gamma, 0.0)).sum(axis=1)
        assert attended.min() >= 1.0


def test_a_flat_loss_refutes_nothing_where_products_of_a_rank_may_not_reach_its_flat_part():
    high = replace(paths.TURNING.data, scores=paths.TURNING.data.scores + 1.0)
    case = replace(paths.TURNING, data=high, loss=paths.FLAT_FROM_ONE)
    assert paths.levels_off(case)
    assert paths.levels_off(case, 2)
    assert not paths.levels_off(case, 1)
    assert not paths.levels_off(replace(paths.TURNING, loss=paths.FLAT_FROM_ONE))
    assert not paths.levels_off(replace(paths.NO_SOLUTION, loss=paths.FLAT_FROM_ONE))
    assert not paths.levels_off(paths.PUBLISHED)
    assert not paths.follows_set(replace(paths.TURNING, loss=paths.FLAT_FROM_ONE)).violated


@pytest.mark.parametrize("decay", [0.0, -1.0, 0.25, np.inf, np.nan])
def test_a_lambda_that_is_not_small_is_refused(decay):
    with pytest.raises(DataError, match="lambda"):
        replace(PUBLISHED, decay=decay)


def test_floats_tell_the_directions_apart_for_every_lambda():
    for decay in minima.DECAYS:
        case = replace(PUBLISHED, decay=decay)
        assert minima.follows(case).holds
        assert minima.follows(case, "turned").violated
        assert minima.follows(case, "worst").violated
