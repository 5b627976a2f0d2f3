"""The compiled loops beneath every programme: pivots, scaling, and the judges."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from attsvm.kernels.least_norm import (
    FAILED,
    SOLVED,
    UNBOUNDED,
    certain_margins,
    figures,
    least_norm,
    pivot,
    row_sizes,
    scale_rows,
)
from attsvm.svm import att_svm_programme
from properties._support.published_data import gaussian_protocol
from tests.conditions import EPS, exact_rows, matrices
from tests.problems import blocks, programmes, two_tokens, without_zero_rows

NOTHING = np.empty(0, dtype=np.int64), np.empty((0, 0))


def gram(programme):
    A = matrices(programme)
    return A @ A.T


@settings(max_examples=60, deadline=None)
@given(programmes(), st.data())
def test_a_warm_start_ends_where_a_cold_one_does(programme, draw):
    """From any rows whose own system has positive weights; the solution is unique."""
    programme = without_zero_rows(programme)
    G, c = gram(programme), programme.bound
    active = np.flatnonzero(draw.draw(blocks(len(c), top=1)) > 0)
    block = G[np.ix_(active, active)]
    assume(active.size and np.linalg.matrix_rank(block) == active.size)
    assume((np.linalg.solve(block, c[active]) > 1e-9)[~programme.equal[active]].all())
    cold = pivot(G, c, programme.equal, *NOTHING, 1000)
    warm = pivot(G, c, programme.equal, active, np.linalg.cholesky(block), 1000)
    assert warm[1] == cold[1] in (SOLVED, UNBOUNDED)
    if cold[1] == SOLVED:
        W, expected = (programme.combine(w) for w in (warm[0], cold[0]))
        assert np.abs(W - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("start", [[], [0], [1]])
def test_opposite_constraints_of_any_length_have_a_ray(start):
    """Opposite rows, whose curvature is rounding in units of their squares, 45 and 125."""
    A = np.array([[-3.0, -6.0], [5.0, 10.0]])
    G, c, equal = A @ A.T, np.ones(2), np.zeros(2, dtype=bool)
    start = np.array(start, dtype=np.int64)
    ray, status, _ = pivot(G, c, equal, start, np.linalg.cholesky(G[np.ix_(start, start)]), 1000)
    assert status == UNBOUNDED
    assert (ray >= 0).all()
    assert np.abs(ray @ A).max() <= 1e-12 * ray.max()
    assert c @ ray > 0


@settings(max_examples=60, deadline=None)
@given(programmes(), st.data())
def test_the_lengths_of_constraints_do_not_matter(programme, draw):
    programme = without_zero_rows(programme)
    lengths = 32.0 ** draw.draw(blocks(len(programme.bound)))
    G, c = gram(programme), programme.bound
    weights, status, _ = pivot(G, c, programme.equal, *NOTHING, 1000)
    scaled = pivot(G * np.outer(lengths, lengths), c * lengths, programme.equal, *NOTHING, 1000)
    assert scaled[1] == status in (SOLVED, UNBOUNDED)
    if status == SOLVED:
        W, expected = (programme.combine(w) for w in (lengths * scaled[0], weights))
        assert np.abs(W - expected).max() <= 1e-9 * max(1.0, np.abs(expected).max())


def test_a_start_at_the_solution_takes_no_pivot():
    programme = att_svm_programme(gaussian_protocol(np.random.default_rng(0), n=3, T=4, d=6))
    G, c = gram(programme), programme.bound
    w, status, count = pivot(G, c, programme.equal, *NOTHING, 1000)
    active = np.flatnonzero(w)
    factor = np.linalg.cholesky(G[np.ix_(active, active)])
    again = pivot(G, c, programme.equal, active, factor, 1000)
    assert (status, again[1], again[2]) == (SOLVED, SOLVED, 0)
    assert count >= active.size
    assert np.abs(again[0] - w).max() <= 1e-12 * w.max()


def test_pivots_beyond_the_limit_fail():
    programme = att_svm_programme(two_tokens(np.eye(3), np.ones((3, 3))))
    assert least_norm(programme.D, programme.Z, programme.bound, programme.equal, 3)[1] == FAILED
    assert least_norm(programme.D, programme.Z, programme.bound, programme.equal, 4)[1] == SOLVED


@pytest.mark.parametrize("size", [1e-140, 1e-70, 1.0, 1e70, 1e139])
def test_rows_are_scaled_to_unit_length_at_any_size(size):
    generator = np.random.default_rng(0)
    D, Z = size * generator.normal(size=(5, 3)), generator.normal(size=(5, 2)) / size
    D[1], Z[2] = 0.0, 0.0
    unit_D, unit_Z, norms = scale_rows(D, Z)
    for j in range(5):
        if j in (1, 2):
            assert norms[j] == 0.0
            assert not unit_D[j].any()
            continue
        assert abs(np.linalg.norm(unit_D[j]) - 1.0) <= 4 * EPS
        assert abs(np.linalg.norm(unit_Z[j]) - 1.0) <= 4 * EPS
        product = np.outer(unit_D[j], unit_Z[j]) * norms[j]
        assert np.abs(product - np.outer(D[j], Z[j])).max() <= 16 * EPS * norms[j]


def test_row_sizes_are_the_extremes_of_largest_entries():
    D, Z = np.array([[1.0, -8.0], [0.0, 0.0]]), np.array([[0.5], [-0.25]])
    assert row_sizes(D, Z) == (8.0, 0.25)
    D[1, 1] = -np.inf
    assert row_sizes(D, Z) == (np.inf, 0.25)


@pytest.mark.parametrize("place", range(4))
def test_row_sizes_keep_nan(place):
    D = np.where(np.arange(4) == place, np.nan, 1.0).reshape(2, 2)
    assert np.isnan(row_sizes(D, np.ones((2, 1)))[0])


# the judges


@settings(max_examples=150, deadline=None)
@given(programmes(), st.data())
def test_figures_are_what_the_conditions_come_to(programme, draw):
    """On integers to the last bit but for the roots."""
    p, A = programme, matrices(programme)
    bound = draw.draw(blocks(len(A)))
    w = draw.draw(blocks(len(A)))
    W, margins, square, linear, summed, shortfall, least, _ = figures(p.D, p.Z, bound, p.equal, w)
    assert (W.ravel() == w @ A).all()
    assert (margins == A @ (w @ A)).all()
    assert square == ((w @ A) ** 2).sum()
    assert linear == w @ bound
    sizes = np.abs(w) @ np.sqrt((A**2).sum(axis=1))
    assert abs(summed - sizes) <= 16 * EPS * sizes
    missing = bound - A @ (w @ A)
    missing[p.equal] = np.abs(missing[p.equal])
    own = np.sqrt((A**2).sum(axis=1)) * np.linalg.norm(w @ A)
    unit = np.where(~p.equal & (bound > 0), bound, own)
    relative = np.where(unit > 0, missing / np.where(unit > 0, unit, 1.0), missing)
    assert abs(shortfall - max([0.0, *relative])) <= 16 * EPS * max(1.0, shortfall)
    assert least == min([np.inf, *w[~p.equal]])


@pytest.mark.parametrize("place", range(3))
def test_figures_show_every_nan(place):
    D, bound, equal = np.eye(3), np.ones(3), np.zeros(3, dtype=bool)
    w = np.where(np.arange(3) == place, np.nan, 1.0)
    _, _, square, linear, summed, shortfall, _, certain = figures(
        D, np.ones((3, 1)), bound, equal, w
    )
    assert np.isnan([square, linear, summed, shortfall, certain]).all()


@settings(max_examples=150, deadline=None)
@given(programmes(), st.sampled_from([0.1, 1 / 3, 1e-9, 3e8]), st.integers(0, 1000))
@example(att_svm_programme(two_tokens([(1.0, -1.0)], [[1.0, 1.0]])), 0.1, 0)
def test_certain_margins_are_below_the_exact_ones_and_near(programme, factor, seed):
    """With rounded differences; the distance is a few units of the sum of sizes."""
    assume(programme.keys is None)
    p = replace(programme, kept=programme.kept * factor, Z=programme.Z * factor)
    p = replace(p, D=p.kept - p.rival)
    W = np.random.default_rng(seed).normal(size=(p.D.shape[1], p.Z.shape[1]))
    lower, A = certain_margins(p.D, p.Z, W), exact_rows(p)
    for j, row in enumerate(A):
        terms = [a * Fraction(x) for a, x in zip(row, W.ravel().tolist(), strict=True)]
        exact, size = sum(terms), sum(abs(x) for x in terms)
        assert Fraction(lower[j]) <= exact
        assert exact - Fraction(lower[j]) <= (
            2 * (len(W.ravel()) + 8) * Fraction(EPS)
        ) * size + Fraction(2e-150)


def test_certain_margins_of_cancelling_sums_are_negative():
    """0.1 + 0.2 - 0.3 is 5.6e-17 in floats, and less in their exact values."""
    D, W = np.array([[0.1, 0.2, -0.3]]), np.ones((3, 1))
    assert (D @ W)[0, 0] > 0.0
    assert certain_margins(D, np.ones((1, 1)), W)[0] < 0.0
