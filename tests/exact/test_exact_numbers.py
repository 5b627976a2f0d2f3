"""Exact values, vectors, matrices and their norms against fractions, numpy and many digits."""

import math
import sys
from dataclasses import fields
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mat, fmpz_mat
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, dot, norm, rational, rationals
from attsvm.exact.numbers import (
    combine,
    eigenvalues,
    exact_mid,
    gram,
    is_positive_semidefinite,
    nuclear_norm,
    product,
    remembered,
    spectral_norm,
    subtract,
    transpose,
)
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.strategies import arrays, sizes
from attsvm.strategies.data import attention_data
from tests.exact.digits import EPS, encloses, fractions, real


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.fractions())
def test_rationals_have_the_exact_value(x):
    value = rational(x)
    assert Fraction(int(value.p), int(value.q)) == Fraction(x)
    assert rational(value) is value


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_exact_value(x):
    with pytest.raises(DataError, match="no exact value"):
        rational(x)


@given(arrays(2, 3), arrays(2, 3))
def test_vector_arithmetic_is_that_of_fractions(a, b):
    x, y = rationals(a), rationals(b)
    assert fractions(x) == [[Fraction(v) for v in row] for row in a.tolist()]
    expected = [Fraction(p) - Fraction(q) for p, q in zip(a[0], b[0], strict=True)]
    assert fractions(subtract(x[0], y[0])) == expected
    inner = sum(Fraction(p) * Fraction(q) for p, q in zip(a[0], b[0], strict=True))
    assert fractions(dot(x[0], y[0])) == inner
    assert combine([fmpq(2), fmpq(-1, 3)], x) == [
        2 * p - q / 3 for p, q in zip(x[0], x[1], strict=True)
    ]
    with mpmath.workdps(110):
        assert encloses(norm(x[0]), mpmath.sqrt(sum(real(p) ** 2 for p in a[0])))


@given(attention_data(), st.data())
def test_exact_data_leave_out_absent_tokens(data, draw):
    mask = draw.draw(arrays(data.n, data.T)) >= 0
    mask[:, 0] |= ~mask.any(axis=1)
    data = AttentionData(data.X, data.Z, data.y, data.v, data.scores, mask)
    exact = ExactData.of(data)
    for i in range(data.n):
        kept = np.flatnonzero(mask[i]).tolist()
        assert exact.kept[i] == kept
        assert fractions(exact.X[i]) == [[Fraction(v) for v in data.X[i, t]] for t in kept]
        scores = [Fraction(data.gamma[i, t]) for t in kept]  # exact: the entries are dyadic
        assert fractions(exact.gamma[i]) == scores
        assert exact.optimal[i] == [t for t, g in enumerate(scores) if g == max(scores)]
    assert exact.unique == all(len(rows) == 1 for rows in exact.optimal)


def test_scores_from_a_head_are_exact_where_floats_round():
    data = AttentionData.of([[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]], np.ones((1, 3)), y=[1], v=[1] * 3)
    exact = ExactData.of(data)
    assert data.gamma[0, 0] != data.gamma[0, 1]
    assert exact.gamma[0][0] == exact.gamma[0][1] == rational(0.1) + rational(0.2) + rational(0.3)
    assert not exact.unique


@st.composite
def integer_matrices(draw, rows=(1, 4), columns=(1, 4), top=5):
    shape = draw(sizes(*rows)), draw(sizes(*columns))
    size = shape[0] * shape[1]
    entries = draw(st.lists(st.integers(-top, top), min_size=size, max_size=size))
    return np.array(entries, dtype=float).reshape(shape)


@given(integer_matrices())
def test_positive_semidefiniteness_is_that_of_the_eigenvalues(B):
    symmetric = B @ B.T - 3.0 * np.diag(B[:, 0])
    least = np.linalg.eigvalsh(symmetric)[0]
    assume(abs(least) > 1e-6)
    assert is_positive_semidefinite(rationals(symmetric)) == (least > 0)


@given(integer_matrices(columns=(1, 2)), st.integers(0, 3))
def test_singular_matrices_are_on_the_edge_exactly(B, k):
    """B B^T is semidefinite; where it is singular, any decrease of the diagonal is too much."""
    gram = rationals(B @ B.T)
    assert is_positive_semidefinite(gram)
    tiny = fmpq(1, 10**40)
    shifted = [[x - (tiny if i == j else 0) for j, x in enumerate(r)] for i, r in enumerate(gram)]
    if len(B) > np.linalg.matrix_rank(B):
        assert not is_positive_semidefinite(shifted)
    else:
        assert is_positive_semidefinite(shifted)  # the least eigenvalue of integers is not 1e-40
    negated = [[-x for x in row] for row in gram]
    assert is_positive_semidefinite(negated) == (not B.any())


def test_the_norm_of_balls_about_zero_goes_down_to_zero():
    assert norm([arb(0, 2)]).contains(0)
    assert norm([arb(0, 2)]).contains(2)
    assert norm([arb(1, 1), fmpq(0)]).contains(arb(1))
    assert not norm([arb(0, 2)]) > 3
    assert not norm([arb("nan")]).is_finite()
    assert norm([fmpq(3), fmpq(4)]) == 5


@given(integer_matrices(), integer_matrices())
def test_products_are_those_of_numpy(A, B):
    """Of small integers, which floats add exactly."""
    left, right = rationals(A), rationals(B)
    assert transpose(left) == rationals(A.T)
    if A.shape[1] == B.shape[0]:
        assert product(left, right) == rationals(A @ B)
    small = min((A @ A.T, A.T @ A), key=len)
    assert gram(left) == rationals(small)


@given(integer_matrices(rows=(2, 4), columns=(1, 3)))
def test_eigenvalues_with_their_multiplicities_are_those_of_numpy(B):
    """Symmetric eigenvalues are well conditioned in floats; the zeros are counted exactly."""
    found = sorted(float(x) for x, count in eigenvalues(rationals(B @ B.T)) for _ in range(count))
    assert np.allclose(found, np.linalg.eigvalsh(B @ B.T), atol=1e-9)
    zero = sum(count for value, count in eigenvalues(rationals(B @ B.T)) if value == 0)
    assert zero == len(B) - np.linalg.matrix_rank(B)


@st.composite
def matrices(draw, square=False):
    rows = draw(sizes(1, 4))
    return draw(arrays(rows, rows if square else draw(sizes(1, 4))))


def singular_values(B):
    with mpmath.workdps(120):
        return list(mpmath.svd_r(mpmath.matrix(B.tolist()), compute_uv=False))


@given(matrices())
def test_nuclear_and_spectral_norms_hold_many_digits_and_floats(B):
    values = singular_values(B)
    exact = rationals(B)
    nuclear, spectral = nuclear_norm(exact), spectral_norm(exact)
    with mpmath.workdps(110):
        if not B.any():
            assert nuclear == 0
            assert spectral == 0
        else:
            assert encloses(nuclear + arb(0, "1e-90"), mpmath.fsum(values))
            assert encloses(spectral + arb(0, "1e-90"), max(values))
    for ball, mine in ((nuclear, np.linalg.norm(B, "nuc")), (spectral, np.linalg.norm(B, 2))):
        assert abs(ball - arb(mine)) <= 64 * EPS * mine
        assert ball.rad() <= 1e-13 * mine


@given(matrices())
def test_norms_grow_sharper_with_the_precision(B):
    """No width is left over, whatever the multiplicities: a sign that is not 0 can be decided."""
    for bits in (64, 256, 1024):
        with ctx.workprec(bits):
            for ball in (nuclear_norm(rationals(B)), spectral_norm(rationals(B))):
                assert ball.rad() <= abs(ball.mid()) * arb(2) ** (8 - bits)


@given(st.floats(-1e300, 1e300), st.floats(0, 1e10))
def test_midpoints_are_rational(x, radius):
    assert exact_mid(arb(rational(x), rational(radius))) == rational(x)


def test_a_data_set_is_asked_once_by_its_numbers_and_anew_where_steps_are_counted():
    asked = []

    @remembered
    def size(data):
        asked.append(data)
        return data.n

    one, same = (AttentionData.of([[[1.0]]], [[1.0]], scores=[[0.0]]) for _ in range(2))
    other = AttentionData.of([[[1.0]]], [[1.0]], scores=[[1.0]])
    assert [size(data) for data in (one, same, other)] == [1, 1, 1]
    assert [*map(id, asked)] == [id(one), id(other)]
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        size(one)
    finally:
        sys.settrace(before)
    assert len(asked) == 3
    for k in range(300):
        size(AttentionData.of([[[1.0]]], [[1.0]], scores=[[float(k)]]))
    size(one)
    assert asked[-1] is one


def test_further_arguments_count_and_the_oldest_answer_makes_room():
    asked = []

    @remembered
    def power(data, k, *, of=None):
        asked.append(k)
        return [(k, np.full(2, k))]

    data = AttentionData.of([[[1.0]]], [[1.0]], scores=[[0.0]])
    power(data, 0)[0][1][:] = 9
    assert power(data, 0)[0][1].tolist() == [0, 0]
    power(data, 0, of="other")
    assert asked == [0, 0]
    for k in range(1, 256):
        power(data, k)
    power(data, 255)
    power(data, 2)
    assert len(asked) == 257
    power(data, 0)
    assert len(asked) == 258


@pytest.mark.parametrize("matrix", [fmpq_mat, fmpz_mat])
def test_who_changes_a_matrix_of_an_answer_changes_it_for_nobody_else(matrix):
    @remembered
    def table(data):
        return {"of": (matrix([[data.n]]),)}

    data = AttentionData.of([[[1.0]]], [[1.0]], scores=[[0.0]])
    table(data)["of"][0][0, 0] = 9
    assert table(data) == {"of": (matrix([[1]]),)}


def test_who_changes_an_answer_changes_it_for_nobody_else():
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    for ask in (ExactData.of, exact_att_svm):
        kept, changed = repr(ask(data)), ask(data)
        for field in fields(changed):
            value = getattr(changed, field.name)
            for inner in value.values() if isinstance(value, dict) else value:
                if isinstance(inner, list):
                    inner.clear()
            value.clear()
        assert repr(ask(data)) == kept
        assert repr(changed) != kept
