"""Guesses for many constraints: the operator, conjugate gradients, and block exchanges."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.svm import att_svm_programme
from attsvm.svm.frobenius import grade, solve_programme
from attsvm.svm.programme import subset
from attsvm.svm.support import GramOperator, conjugate_gradients, guess_by_blocks
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import EPS
from tests.svm.problems import blocks, problems, programmes


def operator_of(programme):
    return GramOperator.of(programme.D, programme.Z, programme.input)


@settings(max_examples=100, deadline=None)
@given(programmes(), st.data())
def test_the_operator_is_the_gram_matrix(programme, draw):
    """On integers to the last bit, for every programme and any of its rows."""
    m = len(programme.bound)
    keep = draw.draw(blocks(m)) >= 0
    assume(keep.any())
    part = subset(programme, keep)
    w = draw.draw(blocks(m))[: keep.sum()]
    assert (operator_of(part)(w) == part.gram @ w).all()


def test_runs_are_told_apart_by_their_input():
    """Inputs 0, 2 and 3, the second and third of one query; input 1 has no row."""
    generator = np.random.default_rng(0)
    X, Z = generator.normal(size=(4, 4, 3)), generator.normal(size=(4, 3))
    Z[3] = Z[2]
    mask = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 1]], dtype=bool)
    data = AttentionData(X, Z, scores=np.eye(1, 4).repeat(4, axis=0), mask=mask)
    programme = att_svm_programme(data)
    operator = operator_of(programme)
    assert operator.start.tolist() == [0, 2, 3]
    assert operator.run.tolist() == [0, 0, 1, 2, 2]
    w = generator.normal(size=5)
    expected = programme.gram @ w
    assert np.abs(operator(w) - expected).max() <= 64 * EPS * np.abs(programme.gram).sum()


def positive_definite(seed):
    """A random programme of independent rows, its operator, and right sides."""
    generator = np.random.default_rng(seed)
    data = gaussian_protocol(generator, n=4, T=4, d=6)
    programme = att_svm_programme(data)
    return programme, operator_of(programme), generator.normal(size=len(programme.bound))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-12])
def test_conjugate_gradients_reach_the_residual_asked_for(seed, tolerance):
    """On the rows inside; the others stay zero. The residual drifts by rounding times condition."""
    programme, operator, c = positive_definite(seed)
    inside = np.random.default_rng(seed).random(len(c)) < 0.7
    w = conjugate_gradients(operator, inside, c, np.ones(len(c)), tolerance, 500)
    assert (w[~inside] == 0.0).all()
    residual = (c - programme.gram @ w)[inside]
    drift = 1e3 * EPS * np.linalg.norm(programme.gram) * np.linalg.norm(w)
    assert np.linalg.norm(residual) <= tolerance * np.linalg.norm(c[inside]) + drift


@pytest.mark.parametrize("seed", range(4))
def test_conjugate_gradients_end_in_as_many_steps_as_rows(seed):
    """And a start that solves the system is kept as it is."""
    programme, operator, c = positive_definite(seed)
    inside = np.ones(len(c), dtype=bool)
    solution = np.linalg.solve(programme.gram, c)
    w = conjugate_gradients(operator, inside, c, np.zeros(len(c)), 1e-8, len(c) + 2)
    condition = np.linalg.cond(programme.gram)
    assert np.linalg.norm(w - solution) <= 1e-8 * condition * np.linalg.norm(solution)
    kept = conjugate_gradients(operator, inside, c, solution, 1e-8, 10)
    assert np.array_equal(kept, solution)
    assert np.array_equal(conjugate_gradients(operator, inside, c, solution, 1e-8, 0), solution)


@pytest.mark.parametrize("seed", range(6))
def test_blocks_guess_the_support_of_independent_rows(seed):
    """The rows inside are those of positive weight, with weights to about 1e-4."""
    data = gaussian_protocol(np.random.default_rng(seed), n=6, T=6, d=12)
    programme = att_svm_programme(data)
    answer = solve_programme(programme)
    inside, w = guess_by_blocks(operator_of(programme), programme.bound, programme.equal)
    assert inside.tolist() == (answer.weights > 0.0).tolist()
    assert (w[~inside] == 0.0).all()
    assert np.linalg.norm(w - answer.weights) <= 1e-3 * np.linalg.norm(answer.weights)
    assert grade(programme, np.maximum(w, 0.0), solved=True).gap <= 1e-3


@settings(max_examples=60, deadline=None)
@given(problems(n=3, T=3, d=2), st.data())
def test_equalities_always_stay_inside(problem, draw):
    """And a guess ends on dependent rows too, where exchanges may cycle."""
    data, targets = problem
    assume(data.present.sum() > data.n)
    programme = att_svm_programme(data, targets)
    equal = draw.draw(blocks(len(programme.bound))) > 0
    with np.errstate(all="ignore"):  # as its caller does: what overflows is refused later
        inside, w = guess_by_blocks(operator_of(programme), programme.bound, equal)
    assert inside[equal].all()
    assert w.shape == inside.shape == programme.bound.shape


def test_equalities_push_either_way_in_a_guess():
    """G = I, c = (1, -1, -1): the inequality of the third leaves, the equality stays at -1."""
    D = np.eye(3)
    operator = GramOperator.of(D, np.ones((3, 1)), np.arange(3))
    inside, w = guess_by_blocks(operator, np.array([1.0, -1.0, -1.0]), np.array([0, 1, 0], bool))
    assert inside.tolist() == [True, True, False]
    assert np.abs(w - [1.0, -1.0, 0.0]).max() <= 1e-6
