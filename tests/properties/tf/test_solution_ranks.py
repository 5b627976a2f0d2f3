"""Ranks of the solutions of Att-SVM*: enclosures that hold all near-solutions, and bounds."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attsvm.data import AttentionData
from attsvm.exact import rationals
from attsvm.exact.numbers import spectral_norm
from attsvm.exact.programme import ExactProgramme
from attsvm.primitives.hypotheses import feasible, unique_optimum
from properties.tf._support.path_certificates import certified_set
from properties.tf._support.regularisation_paths import TURNING, Path, nuclear, protocol
from properties.tf._support.solution_ranks import Proposal, beyond_rank, diameter, enclosure
from tests.searching import few


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(96):
        yield


def answers(count, seed=0):
    """Answers of random data, every other with tokens 64 times shorter, queries 64 times longer."""
    generator, found = np.random.default_rng(seed), []
    while len(found) < count:
        case = protocol(generator)
        if unique_optimum(case) and feasible(case):
            data, scale = case.data, 64.0 ** (len(found) % 2)
            data = AttentionData(data.X / scale, data.Z * scale, scores=data.scores)
            found.append(nuclear(data))
    return found


def on_the_diagonal(angle=0.0, scale=1.0):
    """W_11, W_22 >= 1 in axes turned by an angle, long queries making up for short tokens."""
    axes = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    X = np.stack([np.zeros((2, 2)), -axes / scale], axis=1)
    return nuclear(AttentionData(X, axes * scale, scores=np.tile([1.0, 0.0], (2, 1)))), axes


def beyond(answer, rank):
    """`beyond_rank` of an answer in floats."""
    programme = ExactProgramme.of(answer.programme)
    return beyond_rank(Proposal.of(programme, answer.W, answer.weights), rank)


def polar(W):
    """(W^T W)^(1/2)."""
    _, s, Vt = np.linalg.svd(W)
    return (Vt.T * s) @ Vt


def enclosed(answer, weights, most):
    """The enclosure by multipliers that are scaled down where they are too large."""
    programme, exact = ExactProgramme.of(answer.programme), rationals(np.maximum(weights, 0.0))
    S = programme.matrix(exact)
    size = spectral_norm(S).upper().max(arb(1))
    scaled = [[x / size for x in row] for row in S]
    return enclosure(programme, scaled, [w / size for w in exact], arb(most))


def holds(H, matrix):
    """Whether all entries are inside."""
    pairs = [(x, y) for a, b in zip(H, matrix, strict=True) for x, y in zip(a, b, strict=True)]
    return all(x.contains(arb(y, 1e-12)) for x, y in pairs)


@pytest.mark.parametrize("loose", [1e-2, 1e-4, 1e-7])
def test_an_enclosure_holds_every_feasible_matrix_that_is_short_enough(loose):
    """With multipliers that fall short of the optimum, and matrices up to `loose` too long."""
    inside, narrow, generator = 0, 0, np.random.default_rng(1)
    for answer in answers(few(40)):
        most = answer.value * (1.0 + loose)
        H = enclosed(answer, answer.weights * (1.0 - loose * generator.random()), most)
        narrow += all(x.rad() < 0.05 * most for row in H for x in row)
        for size in (0.0, 0.03, 0.3, 1.0, 3.0):
            W = answer.W + size * loose * answer.value * generator.normal(size=answer.W.shape)
            W = W / min(answer.programme.margins(W).min(), 1.0)
            if np.linalg.svd(W, compute_uv=False).sum() > most:
                continue
            inside += size > 0.0
            assert holds(H, polar(W))
    assert inside >= few(15)
    assert narrow >= (few(20) if loose < 1e-5 else 0)


def test_bounds_are_below_the_singular_values_and_near_them():
    told = 0
    for answer in answers(few(80), 3):
        s = np.linalg.svd(answer.W, compute_uv=False) / answer.value
        for rank in range(len(s) + 1):
            least = beyond(answer, rank)
            value = s[rank] if rank < len(s) else 0.0
            if value < 1e-5:
                assert least is None
                continue
            told += rank > 0
            assert 0.99 * value <= least <= value * (1.0 + 1e-9)
    assert told >= few(20)


def test_poor_answers_give_lower_bounds_or_none():
    """Whatever multipliers and matrix are proposed, signs and sizes included."""
    told, generator = 0, np.random.default_rng(2)
    for answer in answers(few(30), 4):
        s = np.linalg.svd(answer.W, compute_uv=False) / answer.value
        for size in (1e-9, 1e-6, 1e-3, 1.0):
            W = answer.W + size * answer.value * generator.normal(size=answer.W.shape)
            weights = answer.weights + size * generator.normal(size=answer.weights.shape)
            for rank in range(len(s)):
                least = beyond(replace(answer, W=W, weights=weights), rank)
                told += least is not None
                assert least is None or least <= s[rank] * (1.0 + 1e-9)
    assert told >= few(30)


def test_four_signs_of_a_determinant():
    """W_11, W_21, W_22, -W_12 >= 1: the solution is sqrt 2 times a rotation."""
    least = beyond(nuclear(TURNING.data), 1)
    assert abs(least - arb(fmpq(1, 2))) < 1e-6
    assert certified_set(TURNING, "solutions", 1.0, 1) < fmpq(-49, 100)
    assert certified_set(TURNING, "solutions", 1.0, 2) > 0


def test_three_dimensions():
    """A sign pattern that only matrices of rank 3 have: the 3 x 3 determinant has one sign."""
    signs = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]])
    X = np.zeros((3, 4, 3))
    X[:, 1:] = [-np.diag(column) for column in signs.T]
    case = Path(AttentionData(X, np.eye(3), scores=np.tile([1.0, 0, 0, 0], (3, 1))), "log-loss")
    W = nuclear(case.data).W
    s = np.linalg.svd(W, compute_uv=False)
    for inner in (1, 2):
        found = certified_set(case, "solutions", 1.0, inner)
        assert abs(found + s[inner] / s.sum()) < 1e-6


def test_a_solution_set_with_ranks_one_and_two_is_not_above_rank_one():
    """W_11, W_22 >= 1: all [[1, b], [b, 1]] with |b| <= 1 are solutions."""
    answer, _ = on_the_diagonal()
    assert answer.dimension == 1
    assert beyond(answer, 1) is None
    assert beyond(replace(answer, W=np.ones((2, 2))), 1) is None


@pytest.mark.parametrize("angle", [0.0, 0.05, 0.4, -1.0])
def test_an_enclosure_holds_a_whole_set_of_solutions(angle):
    answer, axes = on_the_diagonal(angle)
    H = enclosed(answer, answer.weights, answer.value * (1.0 + 1e-12))
    for b in (-1.0, -0.5, 0.0, 0.75, 1.0):
        assert holds(H, polar(axes.T @ np.array([[1.0, b], [b, 1.0]]) @ axes))


@pytest.mark.parametrize("b", [-0.75, 0.5, 0.9])
@pytest.mark.parametrize("turn", [1e-2, -1e-3, 1e-4])
def test_margins_of_the_symmetric_part_move_with_the_root_of_what_is_too_long(b, turn):
    """[[1, b - turn], [b + turn, 1]] is longer by turn^2; its (W^T W)^(1/2) moves by b turn."""
    answer, _ = on_the_diagonal(scale=64.0)
    W = np.array([[1.0, b - turn], [b + turn, 1.0]])
    most = float(np.linalg.svd(W, compute_uv=False).sum()) * (1.0 + 1e-12)
    assert abs(most - 2.0) < 2.0 * turn**2
    assert abs(polar(W)[0, 0] - 1.0) > 0.9 * abs(b * turn)
    assert holds(enclosed(answer, np.ones(2), most), polar(W))


def test_nothing_is_said_of_no_multipliers_or_infinite_norms():
    answer, _ = on_the_diagonal()
    assert beyond(replace(answer, weights=np.zeros(2)), 0) is None
    assert beyond(replace(answer, weights=-answer.weights), 0) is None
    assert beyond(replace(answer, W=-answer.W), 0) is None


def test_no_two_matrices_that_are_nearly_solutions_are_farther_apart_than_the_diameter():
    """It falls like the square root of what their nuclear norms exceed the least one by."""
    answer = nuclear(TURNING.data)
    programme, weights = ExactProgramme.of(answer.programme), rationals(answer.weights)
    generator, bounds = np.random.default_rng(0), []
    for size in (1e-2, 1e-4, 1e-6):
        near = []
        for _ in range(20):
            V = answer.W + size * generator.normal(size=answer.W.shape)
            near.append(V / float(arb(min(programme.margins(rationals(V))))))
        most = max(np.linalg.norm(V, "nuc") for V in near) * (1 + 1e-9)
        bounds.append(float(diameter(programme, weights, arb(most))))
        assert max(np.linalg.norm(V - W) for V in near for W in near) <= bounds[-1]
    assert bounds[1] < bounds[0] / 5
    assert bounds[2] < bounds[1] / 5
