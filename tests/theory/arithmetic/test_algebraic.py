"""Separation bounds prove that sums and products of eigenvalues are equal, and nothing else is."""

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.theory.arithmetic import entries
from attsvm.theory.arithmetic.algebraic import eigenvalues, rational
from attsvm.theory.arithmetic.exponentials import Exponentials

BITS = 1024


def symmetric(numbers, n):
    values = iter(numbers)
    A = [[fmpq(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            A[i][j] = A[j][i] = fmpq(next(values), 4)
    return A


matrices = st.lists(st.integers(-12, 12), min_size=10, max_size=10).flatmap(
    lambda numbers: st.sampled_from([3, 4]).map(lambda n: symmetric(numbers, n))
)


def read(m, A):
    return entries([[m.of(x) for x in row] for row in A])


GAPS = {
    "trace": lambda m, A: m.sum(m.eigenvalues(A)) - m.trace(A),
    "multiple": lambda m, A: m.eigenvalues(3 * A)[0] - 3 * m.eigenvalues(A)[0],
    "shifted": lambda m, A: m.eigenvalues(A + m.identity(len(A)))[1] - m.eigenvalues(A)[1] - 1,
    "negative": lambda m, A: m.eigenvalues(-A)[0] + m.eigenvalues(A)[len(A) - 1],
    "norm": lambda m, A: (
        m.spectral(A) - m.maximum(m.eigenvalues(A)[len(A) - 1], -m.eigenvalues(A)[0])
    ),
}


@pytest.mark.parametrize("name", GAPS)
@given(A=matrices, bits=st.integers(40, BITS // 2), doubled=st.booleans())
def test_equal_sides_are_0_and_sides_that_differ_by_little_are_not(name, A, bits, doubled):
    m = Exponentials()
    with ctx.workprec(BITS):
        gap = GAPS[name](m, read(m, A))
        assert gap.settled() == 0
        off = gap + m.eigenvalues(read(m, A))[0] * 0 + m.exact(Fraction(1, 2**bits))
        assert not off.zero


@given(matrices, st.integers(20, BITS // 3))
def test_an_eigenvalue_is_not_a_rational_number_near_it(A, bits):
    with ctx.workprec(BITS):
        values = [pair for pair in eigenvalues(fmpq_mat(A)) if pair[1] is not None]
        assume(values)
        for ball, bound in values:
            near = fmpq(int((ball * 2**bits).mid().floor().unique_fmpz()), 2**bits)
            gap = ball - near
            assert not bound.plus(rational(near)).vanishes(gap)
            assert bound.plus(rational(near)).vanishes(arb(0))


@given(matrices, st.integers(20, BITS // 3))
def test_eigenvalues_of_matrices_that_nearly_agree_differ(A, bits):
    m = Exponentials()
    with ctx.workprec(BITS):
        moved = read(m, A) + m.identity(len(A)) * m.exact(Fraction(1, 2**bits))
        gap = m.eigenvalues(moved)[0] - m.eigenvalues(read(m, A))[0]
        assert not gap.zero
        assert gap.ball > 0


def test_equal_eigenvalues_of_two_factors_have_no_bound_if_balls_do_not_tell_them_apart():
    """One block is the other one, moved by 2^-400, which few bits do not show."""
    block = [[1, 1, 0], [1, 0, 1], [0, 1, 3]]
    tiny = fmpq(1, 2**400)
    A = [[fmpq(0)] * 6 for _ in range(6)]
    for i in range(3):
        for j in range(3):
            A[i][j] = fmpq(block[i][j])
            A[i + 3][j + 3] = block[i][j] + tiny * (i == j)
    assert all(bound is None for _, bound in eigenvalues(fmpq_mat(A)))
    with ctx.workprec(BITS):
        assert all(bound is not None for _, bound in eigenvalues(fmpq_mat(A)))


def test_a_bound_that_gets_too_long_is_dropped():
    """A hundred squares would give it 2^100 bits."""
    m = Exponentials()
    x = m.sqrt(m.exact(2)) / 2
    for _ in range(100):
        x = x * (1 - x)
    assert x.bound is None
    assert x.ball > 0
