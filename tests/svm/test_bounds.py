"""Rounding bounds against exact arithmetic: never on the wrong side, whatever the arrays."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact.numbers import rational
from attsvm.exact.svm import decide
from attsvm.svm import bounds
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.programme import (
    att_svm_programme,
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    subset,
    v_svm_programme,
)
from properties._support.published_data import gaussian_protocol
from tests.svm.conditions import (
    exact_differences,
    exact_margins,
    exact_sum,
    fractions_of,
    inner,
    is_norm_at_most,
    nuclear_norm,
)
from tests.svm.problems import of_rows

SCALES = (1.0, 1e-8, 1e8, 3e-70, 7e60)


def least_norm(programme):
    """||W||_F of the exact solution, None where there is none."""
    exact = decide(programme)
    return arb(exact.square).sqrt() if exact.status == "solved" else None


def at_most(x, y):
    """Whether the float x is at most the ball or rational y, for sure."""
    return arb(rational(x)) <= arb(y)


def at_least(x, y):
    return arb(rational(x)) >= arb(y)


def gaussian(seed, *, keys=False):
    generator = np.random.default_rng(seed)
    n, T, d = (int(generator.integers(1, top)) for top in (5, 5, 6))
    data = gaussian_protocol(generator, n, T + 1, d + 1)
    scale = SCALES[seed % len(SCALES)]
    data = AttentionData(data.X * scale, data.Z, scores=data.gamma)
    if keys:
        return p_svm_programme(data, W=generator.normal(size=(3, d + 1)))
    return att_svm_programme(data)


def programmes():
    """One of every kind, with rows that round, equalities, bounds of 0 and of other values."""
    generator = np.random.default_rng(3)
    data = gaussian_protocol(generator, 4, 4, 9)
    scores = generator.normal(size=(4, 4))
    plain = AttentionData(data.X, data.Z, scores=scores)
    selected = scores >= np.sort(scores, axis=1)[:, [-2]]
    weights = generator.random((4, 4)) + 0.1
    return [
        att_svm_programme(plain),
        p_svm_programme(plain),
        p_svm_programme(plain, W=generator.normal(size=(12, 9))),
        v_svm_programme(data),
        joint_programme(plain, np.array([True, False, True, False])),
        generalised_programme(plain, selected),
        finite_part_programme(plain, selected, weights / weights.sum(axis=1, keepdims=True)),
    ]


# the pieces


@given(st.lists(st.lists(st.floats(-1e150, 1e150), min_size=3, max_size=3), min_size=1, max_size=4))
def test_lengths_are_never_too_short(rows):
    array = np.array(rows)
    lengths = bounds.length_up(array)
    exact = [inner(row, row) for row in fractions_of(array)]
    for length, below in zip(lengths, exact, strict=True):
        assert Fraction(length) ** 2 >= below
        assert Fraction(length) ** 2 <= below * (1 + Fraction(1, 10**14)) + Fraction(1, 10**320)
    size = bounds.size_up(array)
    assert Fraction(size) ** 2 >= sum(exact)
    assert bounds.size_up(array.ravel()) >= lengths.max() * (1 - 1e-15)


@pytest.mark.parametrize("entry", [5e-324, 1e-170, 1e-160, 2e-154])
def test_squares_that_underflow_are_counted(entry):
    array = np.array([[entry, -entry, entry]])
    (row,) = fractions_of(array)
    assert Fraction(bounds.length_up(array)[0]) ** 2 >= inner(row, row)
    assert Fraction(bounds.size_up(array)) ** 2 >= inner(row, row)


def test_gamma_is_at_least_the_bound_it_is_named_after():
    for k in (1, 2, 3, 10, 1000, 123457):
        assert Fraction(bounds.gamma(k)) >= Fraction(k, 2**53) / (1 - Fraction(k, 2**53))
        assert bounds.gamma(k) <= 1.01 * k * 2.0**-53


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("keys", [False, True])
def test_margins_are_enclosed(seed, keys):
    programme = gaussian(seed, keys=keys)
    generator = np.random.default_rng(seed)
    W = generator.normal(size=(programme.D.shape[1], programme.Z.shape[1]))
    W *= 10.0 ** generator.integers(-5, 6)
    margins, noise = bounds.margins_about(programme, W, bounds.size_up(W))
    errors = bounds.row_errors(programme)
    D, exact = exact_differences(programme), exact_margins(programme, W)
    for j, (x, y, near) in enumerate(zip(margins, noise, exact, strict=True)):
        assert abs(Fraction(x) - near) <= Fraction(y)
        away = [a - b for a, b in zip(fractions_of(programme.D)[j], D[j], strict=True)]
        assert inner(away, away) <= Fraction(errors[j]) ** 2
    assert (noise <= 1e-13 * programme.norms * np.linalg.norm(W)).all()


def test_some_margins_and_rows_do_round():
    """Otherwise the test above would pass with no bound at all."""
    wrong_margins = wrong_rows = 0
    for seed in range(20):
        programme = gaussian(seed)
        W = np.random.default_rng(seed).normal(size=(programme.D.shape[1],) * 2)
        wrong_rows += fractions_of(programme.D) != exact_differences(programme)
        wrong_margins += programme.margins(W).tolist() != exact_margins(programme, W)
    assert min(wrong_margins, wrong_rows) >= 15


@pytest.mark.parametrize("seed", range(12))
def test_nuclear_norms_are_bounded_from_above(seed):
    generator = np.random.default_rng(seed)
    d, e, r = (int(generator.integers(1, 5)) for _ in range(3))
    L, R = generator.normal(size=(d, r)), generator.normal(size=(e, r))
    if seed % 2:  # orthogonal factors, as answers have them: then nothing is lost
        left, values, right = np.linalg.svd(L @ R.T, full_matrices=False)
        L, R = left * np.sqrt(values), right.T * np.sqrt(values)
        assert bounds.nuclear_up(L, R) <= float(nuclear_norm(L @ R.T)) * (1 + 1e-14)
    assert bounds.nuclear_up(L, R) >= nuclear_norm(L @ R.T)


@pytest.mark.parametrize("seed", range(15))
def test_operator_norms_are_bounded_from_above(seed):
    programme = gaussian(seed)
    generator = np.random.default_rng(seed)
    weights = np.maximum(generator.normal(size=len(programme.D)), 0.0) / programme.norms
    weights[0] = 1.0 / programme.norms[0]
    found = bounds.spectrum(programme, weights)
    S = exact_sum(programme, weights)
    top = Fraction(found.top)
    assert is_norm_at_most(S, top)
    assert not is_norm_at_most(S, top * (1 - Fraction(1, 10**12)))
    assert np.abs((found.U * found.values) @ found.V.T - programme.combine(weights)).max() <= 1e-13


def test_a_basis_that_is_not_orthonormal_costs_width_alone(monkeypatch):
    """More dimensions than queries, and a factorisation that lies about the coordinates."""
    generator = np.random.default_rng(1)
    programme = att_svm_programme(gaussian_protocol(generator, 2, 3, 4))
    weights = generator.random(len(programme.D))
    S = exact_sum(programme, weights)
    honest = bounds.spectrum(programme, weights).top
    true = np.linalg.qr
    for lie in (
        lambda Q: 1.5 * Q,
        lambda Q: Q + 0.3,
        lambda Q: Q[:, ::-1] * 0.1,
        lambda Q: np.zeros_like(Q),
    ):
        monkeypatch.setattr(np.linalg, "qr", lambda A, lie=lie: (lie(true(A)[0]), None))
        lying = bounds.spectrum(programme, weights).top
        assert is_norm_at_most(S, Fraction(lying))
        assert lying >= honest


def test_singular_vectors_that_are_wrong_cost_width_alone(monkeypatch):
    generator = np.random.default_rng(2)
    programme = att_svm_programme(gaussian_protocol(generator, 3, 3, 3))
    weights = generator.random(len(programme.D))
    S = exact_sum(programme, weights)
    true = np.linalg.svd
    for lie in (
        lambda U, s, V: (U, 0.1 * s, V),
        lambda U, s, V: (0.5 * U, s, V),
        lambda U, s, V: (2.0 * U, 0.5 * s, V),
        lambda U, s, V: (U, 0.5 * s, 2.0 * V),
        lambda U, s, V: (U, s, V[::-1]),
        lambda U, s, V: (np.zeros_like(U), s, V),
    ):
        monkeypatch.setattr(np.linalg, "svd", lambda A, lie=lie, **o: lie(*true(A, **o)))
        assert is_norm_at_most(S, Fraction(bounds.spectrum(programme, weights).top))


# brackets


@pytest.mark.parametrize("kind", range(7))
def test_frobenius_brackets_hold_the_exact_norm_of_every_programme(kind):
    programme = programmes()[kind]
    least = least_norm(programme)
    answer = solve_programme(programme)
    low, high = bounds.frobenius_bracket(programme, answer.W, answer.weights)
    assert at_most(low, least)
    assert at_least(high, least)
    assert high - low <= 1e-11 * high
    generator = np.random.default_rng(kind)
    for size in (1e-14, 1e-9, 1e-3, 1.0):  # whatever the matrix and the multipliers
        W = answer.W + size * generator.normal(size=answer.W.shape)
        weights = answer.weights + size * generator.normal(size=answer.weights.shape)
        low, high = bounds.frobenius_bracket(programme, W, weights)
        assert at_most(low, least)
        assert high == np.inf or at_least(high, least)


UNSEPARABLE = 17
"""The one of 25 seeds whose data have no solution."""


def test_no_upper_bound_holds_where_there_is_no_solution():
    programme = gaussian(UNSEPARABLE)
    assert least_norm(programme) is None
    W, weights = np.ones((programme.D.shape[1],) * 2), np.ones(len(programme.D))
    low, high = bounds.frobenius_bracket(programme, W, weights)
    assert 0.0 <= low < high == np.inf


@pytest.mark.parametrize("seed", sorted({*range(25)} - {UNSEPARABLE}))
def test_frobenius_brackets_hold_at_every_scale(seed):
    programme = gaussian(seed)
    least, answer = least_norm(programme), solve_programme(programme)
    low, high = bounds.frobenius_bracket(programme, answer.W, answer.weights)
    assert at_most(low, least)
    assert at_least(high, least)
    assert high - low <= 1e-9 * high


@pytest.mark.parametrize("powers", [(300, 300), (-300, -300), (450, 0), (0, -450)])
def test_frobenius_brackets_hold_where_squares_of_constraints_leave_the_floats(powers):
    """Scaled by powers of two, brackets are those of the programme, outwards by a float."""
    p, q = powers
    data = gaussian_protocol(np.random.default_rng(0), 3, 3, 4)
    near = att_svm_programme(AttentionData(data.X, data.Z, scores=data.gamma))
    X, Z = np.ldexp(data.X, p), np.ldexp(data.Z, q)
    far = att_svm_programme(AttentionData(X, Z, scores=data.gamma))
    answer = solve_programme(near)
    low, high = bounds.frobenius_bracket(near, answer.W, answer.weights)
    found = bounds.frobenius_bracket(far, np.ldexp(answer.W, -p - q), answer.weights)
    least, most = np.ldexp([low, high], -p - q)
    assert low > 0.0
    assert least * (1.0 - 1e-12) <= found[0] < least
    assert most < found[1] <= most * (1.0 + 1e-12)


def test_dependent_equalities_leave_the_upper_bound_infinite():
    """A token twice in a selection is one equality twice: no proof that both can be met."""
    X = np.array([[[1.0, 0.3], [0.2, 0.7], [0.2, 0.7], [-1.0, 0.1]]])
    data = AttentionData(X, np.array([[0.6, 0.9]]), scores=np.array([[2.0, 1.0, 1.0, 0.0]]))
    programme = generalised_programme(data, np.array([[True, True, True, False]]))
    answer = solve_programme(programme)
    low, high = bounds.frobenius_bracket(programme, answer.W, answer.weights)
    assert 0.0 < low <= answer.value
    assert high == np.inf


def test_an_equality_between_equal_tokens_is_no_obstacle():
    X = np.array([[[1.0, 0.3], [1.0, 0.3], [-1.0, 0.1]]])
    data = AttentionData(X, np.array([[0.6, 0.9]]), scores=np.array([[2.0, 2.0, 0.0]]))
    programme = generalised_programme(data, np.array([[True, True, False]]))
    answer = solve_programme(programme)
    low, high = bounds.frobenius_bracket(programme, answer.W, answer.weights)
    assert low <= answer.value * (1 + 1e-14)
    assert high - low <= 1e-12 * high


def test_sums_of_thousands_of_rows_are_bounded():
    """Equal rows of alternating sign, added one after another, fall short by many roundings."""
    base = att_svm_programme(AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1, 0]]))
    m, short = 20000, 0
    ones, index = np.ones(m), np.zeros(m, dtype=np.int64)
    signs = np.where(np.arange(m) % 2, 1.0, -1.0)[:, None]
    for entry in (0.3, 0.7, 0.9):
        D = entry * signs * np.ones((1, 2))
        programme = replace(
            base, D=D, Z=signs, bound=ones, equal=ones < 0.0, input=index, token=index + 1,
            kept=D, rival=0.0 * D,
        )  # fmt: skip
        total = m * rational(entry)  # the sum of the A_j has two entries, both this
        short += rational(float((D.T @ signs)[0, 0])) < total * (1 - fmpq(1, 2**46))
        assert rational(bounds.spectrum(programme, ones).top) ** 2 >= 2 * total**2
        low, high = bounds.frobenius_bracket(programme, np.full((2, 1), 0.5 / entry), ones)
        assert rational(low) ** 2 <= 1 / (2 * rational(entry) ** 2) <= rational(high) ** 2
    assert short >= 1


def test_nuclear_brackets_hold_and_a_multiplier_below_0_proves_nothing():
    """Margins 2 W >= 1 and 2 W >= 0: 1/2 is least, whatever is taken from the second row."""
    programme = of_rows([[2.0], [2.0]], np.zeros((2, 1)), np.ones((2, 1)), [1.0, 0.0], False)
    half, one = np.array([[0.5]]), np.ones((1, 1))
    low, high = bounds.nuclear_bracket(programme, half, one, np.array([1.0, 0.0]), 2.0)
    assert 0.5 * (1 - 1e-14) <= low <= 0.5 <= high <= 0.5 * (1 + 1e-13)
    low, _ = bounds.nuclear_bracket(programme, half, one, np.array([2.0, -1.0]), 2.0)
    assert low == 0.0


def test_rounded_rows_count_whatever_the_sign_of_their_multipliers():
    """Both rows round to (1, 1), so that what is left of them is lost."""
    programme = of_rows(
        [[1.0, 1.0], [1.0, 1.0]],
        [[-(2.0**-54), 0.0], [0.0, 0.0]],
        np.ones((2, 1)),
        [0.5, 0.0],
        True,
    )
    assert (programme.D == 1.0).all()
    low, _ = bounds.frobenius_bracket(programme, np.zeros((2, 1)), np.array([1.0, -1.0]))
    assert at_most(low, least_norm(programme))


def test_a_margin_that_is_zero_for_every_matrix_is_never_met():
    X = np.array([[[1.0, 0.3], [0.5, -0.2]], [[0.4, 0.1], [0.4, 0.1]]])
    data = AttentionData(X, np.array([[0.6, 0.9], [1.0, 0.2]]), scores=np.array([[1.0, 0.0]] * 2))
    programme = att_svm_programme(data)
    W = solve_programme(subset(programme, np.array([True, False]))).W
    low, high = bounds.frobenius_bracket(programme, W, np.ones(2))
    assert low < np.inf
    assert high == np.inf
    low, high = bounds.nuclear_bracket(programme, W, np.eye(2), np.ones(2), 10.0)
    assert high == np.inf


def test_what_is_not_a_number_proves_nothing():
    programme = gaussian(0)
    answer = solve_programme(programme)
    huge = np.full_like(answer.weights, 1e307)
    low, _ = bounds.frobenius_bracket(programme, answer.W, huge)
    assert 0.0 <= low <= answer.value
    low, _ = bounds.frobenius_bracket(programme, answer.W, np.inf * huge)
    assert not low > 0.0
    nowhere = np.full_like(answer.weights, np.nan)
    low, high = bounds.frobenius_bracket(programme, answer.W, nowhere)
    assert not low > 0.0
    low, high = bounds.frobenius_bracket(programme, np.full_like(answer.W, np.nan), answer.weights)
    assert not high < np.inf
    assert not bounds.spectrum(programme, nowhere).top < np.inf
    L = np.full((programme.D.shape[1], 1), np.nan)
    low, high = bounds.nuclear_bracket(programme, L, L, nowhere, np.nan)
    assert not low > 0.0
    assert not high < np.inf
    low, high = bounds.nuclear_bracket(programme, L, L, -answer.weights, 1.0)
    assert low == 0.0


def test_rows_far_from_their_tokens_count_whatever_the_sign_of_their_multipliers():
    """The tokens are 2 apart where D says 1, so that the sum has the size 2."""
    programme = of_rows([[2.0]], [[0.0]], np.ones((1, 1)), [1.0], True)
    programme = replace(programme, D=np.ones((1, 1)))
    assert bounds.spectrum(programme, np.array([-1.0])).top >= 2.0


def test_bounds_of_0_alone_are_met_by_the_zero_matrix():
    programme = of_rows([[2.0]], [[0.0]], np.ones((1, 1)), [0.0], False)
    half, one = np.array([[0.5]]), np.ones((1, 1))
    assert bounds.nuclear_bracket(programme, half, one, np.ones(1), 2.0)[1] == 0.0


def test_a_margin_of_0_that_no_matrix_moves_is_no_obstacle():
    programme = of_rows([[2.0], [3.0]], [[0.0], [3.0]], np.ones((2, 1)), [1.0, 0.0], [True, False])
    low, high = bounds.frobenius_bracket(programme, np.array([[0.5]]), np.array([0.5, 0.0]))
    assert 0.5 * (1 - 1e-13) <= low <= 0.5 <= high <= 0.5 * (1 + 1e-13)


def test_the_signs_of_a_matrix_are_free():
    programme = of_rows([[-2.0]], [[0.0]], np.ones((1, 1)), [1.0], False)
    low, high = bounds.frobenius_bracket(programme, np.array([[-0.5]]), np.array([0.25]))
    assert 0.5 * (1 - 1e-13) <= low <= 0.5 <= high <= 0.5 * (1 + 1e-13)


def test_a_margin_that_is_no_number_leaves_the_upper_bound_infinite():
    programme = of_rows([[2.0]], [[0.0]], np.ones((1, 1)), [1.0], True)
    assert bounds.shift_up(programme, np.array([np.nan]), np.zeros(1)) == np.inf


def test_rows_their_sum_and_its_decomposition_may_each_round_every_product():
    """64 rows of length 1 whose sum is the identity: 64 roundings of 64 parts, three times."""
    eye = np.eye(64)
    programme = of_rows(eye, 0.0 * eye, eye, np.ones(64), False)
    assert bounds.spectrum(programme, np.ones(64)).top >= 1.0 + 3 * 64 * 64 * bounds.UNIT


def test_bounds_are_sharp_for_each_row_and_for_columns_that_are_orthonormal():
    D, Z = np.array([[1.0, 2.0], [1e100, 0.0]]), np.array([[1.0], [3.0]])
    W = np.array([[0.5], [0.25]])
    margins, lower = np.array([1.0, 1.5e100]), bounds.certain_margins(D, Z, W)
    assert ((margins * (1 - 2.0**-48) <= lower) & (lower <= margins)).all()
    assert bounds.defect_up(np.eye(64)) <= 1.01 * 64 * bounds.gamma(68)
