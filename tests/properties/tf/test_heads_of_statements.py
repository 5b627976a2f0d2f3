"""Heads, selections and parts of W in the statements, against the float code of the package."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.heads import relu_head
from attsvm.plots import token_weights
from attsvm.primitives.heads import ACTIVATIONS, change, head, pull
from attsvm.theory.arithmetic import BALLS
from attsvm.training import descend_w
from properties.tf.figures import generalised_svm as figure
from properties.tf.generalised_svm import kept_tokens as statement
from properties.tf.linear_head_one_token import MIRRORED, certified


@pytest.mark.parametrize("x", [[1.0, -2.0], [1.0, 1.0], [-1.0, 3.0]])  # the second one at a kink
def test_the_formula_of_a_relu_head_is_the_head_that_is_trained(x):
    A, b, along = np.array([[1.0, -1.0], [0.5, 2.0]]), np.array([3.0, -1.0]), np.array([1.0, 2.0])
    names = {"A": A, "b": b, "x": np.array(x), "along": along}
    v = SimpleNamespace(phi=ACTIVATIONS["relu"], **{k: BALLS.values(a) for k, a in names.items()})
    trained = relu_head(A, b)
    moved = trained.value(np.array(x) + along) - trained.value(np.array(x))
    assert float(head(BALLS, v, v.x)) == trained.value(np.array(x))
    assert float(pull(BALLS, v, v.x, v.along)) == trained.slope(np.array(x)) @ along
    assert float(change(BALLS, v, v.x, v.along)) == moved


def test_mirrored_tokens_share_attention_for_ever():
    run = descend_w(MIRRORED.data, MIRRORED.start, "log-loss", step=1.0, steps=2000, record=[2000])
    first, second, third = token_weights(MIRRORED.data, run.W[0, -1])[0]
    assert first == pytest.approx(second)
    assert third < 0.05
    assert certified(MIRRORED, "optimal") < 0
    aside = replace(MIRRORED, start=np.array([[1.0, 0.0], [0.0, 0.0]]))
    found = certified(aside, "optimal")  # logits of both differ: the symmetry is gone
    assert found is None or not found < 0


def test_parts_in_rationals_are_those_of_the_solvers():
    solved = 0
    for seed in range(6):
        generator = np.random.default_rng(seed)
        X, Z, W = (generator.integers(-8, 9, s) / 8.0 for s in ((2, 3, 3), (2, 3), (3, 3)))
        kept = np.array([[1, 1, 0], [0, 1, 0]])
        case = statement.kept(X, Z, kept, W)
        data = AttentionData(X, Z, scores=np.zeros((2, 3)))
        exact, floats = statement.parts(case), figure.split(data, W, kept > 0)
        assert (exact.svm is None) == (floats is None)
        if floats is None or exact.svm is None:
            continue
        solved += 1
        for one, other in zip((exact.fin, exact.svm), floats, strict=True):
            values = [float(x.p) / float(x.q) for x in one]
            assert values == pytest.approx(other.ravel().tolist(), rel=1e-9, abs=1e-12)
    assert solved > 2
