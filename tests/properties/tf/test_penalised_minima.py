"""Minimisers with a penalty: what floats find, and the bound of their angle to the solution."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flint import ctx, fmpq

from attsvm.paths import path_kq, path_w
from attsvm.risk import gradient_w, risk
from attsvm.svm import att_svm
from properties.tf._support import regularisation_paths as paths
from properties.tf.vanishing_regularisation import penalised_minima as minima
from properties.tf.vanishing_regularisation.penalised_minima import penalised

PUBLISHED, UNEVEN = penalised(paths.PUBLISHED), penalised(paths.UNEVEN)


def at(case, k):
    """The minimiser that is found with the penalty exp(-k) ||W||^2 / 2, and the loss."""
    loss = paths.loss_named(case.loss)

    def find(radius, starts):
        return path_w(case.data, loss, [radius], starts=starts)[0]

    return minima.stationary(case, find, paths.length(case), 2, k), loss


@pytest.mark.parametrize("case", [PUBLISHED, UNEVEN])
def test_the_gradient_at_a_minimiser_is_minus_lambda_times_it(case):
    k = 20.0
    found, loss = at(case, k)
    pull = -gradient_w(case.data, found.W, loss)
    assert np.allclose(pull, math.exp(-k) * found.W, rtol=2e-3, atol=1e-3 * np.abs(pull).max())


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


def test_the_bound_of_the_distance_holds_of_the_factors_that_floats_find():
    least = paths.nuclear(PUBLISHED.data).value
    target, loss = att_svm(PUBLISHED.data).W / least, paths.loss_named(PUBLISHED.loss)

    def find(radius, starts):
        return path_kq(PUBLISHED.data, loss, [radius], starts=starts)[0]

    for k in (100, 1000):
        found = minima.stationary(PUBLISHED, find, least, 1, float(k))
        away = ((found.W / found.radius - target) ** 2).sum()
        assert away <= float(minima.squared_distance(PUBLISHED, fmpq(k))) < 0.2


def test_a_set_is_certified_where_the_solution_has_rank_1():
    assert minima.certified_set(PUBLISHED) > 0
    assert minima.certified_set(penalised(paths.TURNING)) is None
    assert minima.certified_set(PUBLISHED, "worst") < 0


def test_a_right_direction_is_certified_and_a_wrong_one_is_refuted():
    assert minima.certified_direction(PUBLISHED) > 0
    assert minima.certified_direction(PUBLISHED, "turned") < 0
    assert minima.certified_direction(penalised(paths.FLAT_PULLS)) < 0
    assert minima.certified_direction(penalised(paths.FLAT_BELOW)) is None


def test_floats_tell_the_directions_apart_for_every_lambda():
    for decay in minima.DECAYS:
        case = replace(PUBLISHED, decay=decay)
        assert minima.follows(case).holds
        assert minima.follows(case, "turned").violated
        assert minima.follows(case, "worst").violated
