"""Norms of matrices against many digits, numpy and members of the enclosure."""

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.exact import rational, rationals
from attsvm.exact.numbers import eigenvalues, product, spectral_norm, transpose
from attsvm.exact.spectra import exact_mid, nuclear_norm, operator_norm
from attsvm.strategies import arrays, sizes
from tests.exact.digits import EPS, encloses


@st.composite
def matrices(draw, square=False):
    rows = draw(sizes(1, 4))
    return draw(arrays(rows, rows if square else draw(sizes(1, 4))))


def singular_values(B):
    with mpmath.workdps(120):
        return list(mpmath.svd_r(mpmath.matrix(B.tolist()), compute_uv=False))


@settings(max_examples=80, deadline=None)
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


@settings(max_examples=40, deadline=None)
@given(matrices())
def test_norms_grow_sharper_with_the_precision(B):
    """No width is left over, whatever the multiplicities: a sign that is not 0 can be decided."""
    for bits in (64, 256, 1024):
        with ctx.workprec(bits):
            for ball in (nuclear_norm(rationals(B)), spectral_norm(rationals(B))):
                assert ball.rad() <= abs(ball.mid()) * arb(2) ** (8 - bits)


@settings(max_examples=60, deadline=None)
@given(matrices())
def test_a_matrix_and_its_transpose_have_the_same_norms(B):
    exact = rationals(B)
    assert nuclear_norm(exact).overlaps(nuclear_norm(transpose(exact)))
    assert spectral_norm(exact).overlaps(spectral_norm(transpose(exact)))
    gram = product(exact, transpose(exact))
    assert sum(count for _, count in eigenvalues(gram)) == len(gram)


@pytest.mark.parametrize("multiplicity", [1, 2, 4])
def test_repeated_eigenvalues_are_counted(multiplicity):
    matrix = [[fmpq(3 if j == k else 0) for k in range(multiplicity)] for j in range(multiplicity)]
    ((value, count),) = eigenvalues(matrix)
    assert value == 3
    assert count == multiplicity
    assert nuclear_norm(matrix) == 3 * multiplicity


@settings(max_examples=80, deadline=None)
@given(matrices(square=True), st.sampled_from([0.0, 1e-9, 0.25]), st.data())
def test_operator_norms_hold_every_member_of_a_ball_matrix(B, width, draw):
    """At the corners of the enclosure, where the norm differs most, and for its midpoint."""
    symmetric = (B + B.T) / 2
    size = len(B)
    radius = rational(width)
    balls = [[arb(x, radius) for x in row] for row in rationals(symmetric)]
    ball = operator_norm(balls)
    signs = draw.draw(st.lists(st.integers(-1, 1), min_size=size * size, max_size=size * size))
    corner = np.array(signs, dtype=float).reshape(size, size) * width
    for member in (symmetric, symmetric + np.triu(corner) + np.triu(corner, 1).T):
        mine = np.abs(np.linalg.eigvalsh(member)).max()
        with ctx.workprec(200):
            assert (ball + arb(0, 64 * EPS * (mine + size * width))).contains(arb(mine))
    assert ball.rad() <= 1.01 * size * width + 1e-13 * abs(ball.mid())


def test_operator_norms_see_both_ends_of_the_spectrum():
    assert operator_norm([[arb(-3), arb(0)], [arb(0), arb(2)]]).contains(3)
    assert operator_norm([[fmpq(0), fmpq(1)], [fmpq(1), fmpq(0)]]) == 1
    assert operator_norm([[arb(0)]]) == 0
    assert operator_norm([[arb(5)]]) > 4


@pytest.mark.parametrize("entry", [arb("nan"), arb("inf"), arb(0, "inf")])
def test_what_is_not_finite_has_no_norm(entry):
    assert not operator_norm([[entry, arb(0)], [arb(0), arb(1)]]).is_finite()


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e300, 1e300), st.floats(0, 1e10))
def test_midpoints_are_rational(x, radius):
    assert exact_mid(arb(rational(x), rational(radius))) == rational(x)
