"""Formulas on heads, kept tokens and parts of W agree with the float code of the package."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.plots import token_weights
from attsvm.prediction import Head, relu_head
from attsvm.primitives.heads import ACTIVATIONS, change, derivative_along, head
from attsvm.theory.arithmetic import BALLS
from attsvm.training import descend_w
from properties.tf.figures import generalised_svm as figure
from properties.tf.generalised_svm import head_descent as steps
from properties.tf.generalised_svm import kept_tokens as statement
from properties.tf.linear_head_one_token import MIRRORED
from properties.tf.linear_head_one_token.conclusion import certified


@pytest.mark.parametrize("x", [[1.0, -2.0], [1.0, 1.0], [-1.0, 3.0]])  # the second one at a kink
def test_the_formula_of_a_relu_head_is_the_head_that_is_trained(x):
    A, b, along = np.array([[1.0, -1.0], [0.5, 2.0]]), np.array([3.0, -1.0]), np.array([1.0, 2.0])
    names = {"A": A, "b": b, "x": np.array(x), "along": along}
    v = SimpleNamespace(phi=ACTIVATIONS["relu"], **{k: BALLS.values(a) for k, a in names.items()})
    trained = relu_head(A, b)
    moved = trained.value(np.array(x) + along) - trained.value(np.array(x))
    assert float(head(BALLS, v, v.x)) == trained.value(np.array(x))
    assert float(derivative_along(BALLS, v, v.x, v.along)) == trained.slope(np.array(x)) @ along
    assert float(change(BALLS, v, v.x, v.along)) == moved


def test_mirrored_tokens_share_attention_for_ever():
    run = descend_w(MIRRORED.data, MIRRORED.start, "log-loss", step=1.0, steps=2000, record=[2000])
    first, second, third = token_weights(MIRRORED.data, run.W[0, -1])[0]
    assert first == pytest.approx(second)
    assert third < 0.05
    assert certified(MIRRORED, "optimal") < 0
    aside = replace(MIRRORED, start=np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert certified(aside, "optimal") > 0  # logits of both differ: the symmetry is gone


@pytest.mark.parametrize("seed", range(6))
def test_parts_in_rationals_are_those_of_the_solvers(seed):
    generator = np.random.default_rng(seed)
    X, Z, W = (generator.integers(-8, 9, s) / 8.0 for s in ((2, 3, 3), (2, 3), (3, 3)))
    kept = np.array([[1, 1, 0], [0, 1, 0]])
    data = AttentionData(X, Z, scores=np.zeros((2, 3)))
    exact = statement.parts(statement.kept(X, Z, kept, W))
    floats = figure.split(data, W, kept > 0)
    for one, other in zip((exact.fin, exact.svm), floats, strict=True):
        values = [float(x.p) / float(x.q) for x in one]
        assert values == pytest.approx(other.ravel().tolist(), rel=1e-9, abs=1e-12)


def descended(case, head, *counts):
    """Leads of the first token along descent that knows nothing of the formula."""
    data = AttentionData(case.X[None], case.z[None], y=np.ones(1), v=np.zeros(case.z.size))
    W0 = np.zeros((case.z.size,) * 2)
    run = descend_w(data, W0, case.loss, step=case.size, steps=counts[-1], head=head, record=counts)
    return np.einsum("d,kde,e->k", case.X[0] - case.X[1], run.W[0, 1:], case.z)


def squares(A, b):
    """The head sum_k b_k <a_k, x>^2."""
    return Head("squares", lambda x: (x @ A.T) ** 2 @ b, lambda x: 2 * (x @ A.T * b) @ A)


def test_the_lead_is_that_of_descent_on_w():
    generator = np.random.default_rng(2)
    for phi, made in (("relu", relu_head), ("square", squares)):
        X, z, A, b = (generator.integers(-8, 9, s) / 8 for s in ((2, 3), 3, (2, 3), 2))
        case = steps.HeadSteps(X, z, A, b, phi, "log-loss", 0.0, 1.0, 3)
        found = float(steps.lead(BALLS, case))
        assert found != 0.0
        assert found == pytest.approx(descended(case, made(A, b), 3)[0])


def test_a_slope_that_vanishes_at_the_kept_token_halves_the_speed():
    for case, made, share in ((steps.ALONE, relu_head, 1.0), (steps.SQUARE, squares, 0.5)):
        first, last = descended(case, made(case.A, case.b), 1000, 4000)
        # what is beyond ln k times the share moves like 1/sqrt k
        assert (last - first) / np.log(4) == pytest.approx(share, abs=0.05)


def test_two_tokens_from_which_h_rises_to_the_other_are_kept_by_long_steps():
    case = replace(steps.PAIR, X=np.array([[1.0], [-0.5]]), start=0.0, size=64.0)
    bound = max(0.0, np.log(3.0)) + 4 * 64 * 1.5**2 * 4.5 / 27
    assert np.abs(descended(case, squares(case.A, case.b), *range(1, 40))).max() < bound
    assert bool(steps.rises_from_both(case))
