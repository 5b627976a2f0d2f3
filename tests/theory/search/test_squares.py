"""Sums of squares are found by floats and checked in rationals."""

import itertools

import numpy as np
import pytest
from flint import fmpq

from attsvm import Integer, Matrix, Real, Vector, question
from attsvm.theory.search.squares import basis, is_proved, is_semidefinite, squares


def expanded(Q, z):
    """Return z^T Q z as coefficients by exponents."""
    p: dict = {}
    for (i, a), (j, b) in itertools.product(enumerate(z), repeat=2):
        key = tuple(x + y for x, y in zip(a, b, strict=True))
        p[key] = p.get(key, fmpq(0)) + Q[i][j]
    return {key: value for key, value in p.items() if value != 0}


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_what_is_found_is_semidefinite_and_the_polynomial_itself(rank):
    draws = np.random.default_rng(rank)
    factors = [[fmpq(int(x), 2) for x in row] for row in draws.integers(-3, 4, size=(rank, 3))]
    Q = [[sum((f[i] * f[j] for f in factors), fmpq(0)) for j in range(3)] for i in range(3)]
    p = expanded(Q, [(0, 0), (1, 0), (0, 1)])
    found = squares(p)
    assert found is not None
    assert is_semidefinite(found)
    assert expanded(found, basis(p)) == p


FALSE = {
    "negative somewhere": {(2,): fmpq(1), (0,): fmpq(-1)},
    "negative between": {(2,): fmpq(1), (1,): fmpq(3), (0,): fmpq(2)},
    "of odd degree": {(3,): fmpq(1), (0,): fmpq(1)},
    "just negative": {(2,): fmpq(1), (1,): fmpq(2), (0,): 1 - fmpq(1, 10**9)},
    "Motzkin's": {(4, 2): fmpq(1), (2, 4): fmpq(1), (2, 2): fmpq(-3), (0, 0): fmpq(1)},
}


@pytest.mark.parametrize("name", FALSE)
def test_no_squares_are_found_where_there_are_none(name):
    assert squares(FALSE[name]) is None


HUGE = {
    "of many monomials": lambda m, v: m.at_least(v.a**60 + v.b**60 + v.c**60 + 1, 0),
    "of many terms": lambda m, v: m.at_least((v.a + 2 * v.b + 3 * v.c + 1) ** 600, 0),
    "of large coefficients": lambda m, v: m.at_least(10**400 * v.a**2 - v.a + v.b**2 + 1, v.b),
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_polynomials_are_left_open_at_once(name):
    asked = question(HUGE[name], a=Real(), b=Real(), c=Real())
    assert not is_proved(asked.claim.formula, {}, {})


@pytest.mark.parametrize(
    ("Q", "answer"),
    [
        ([[1, 1], [1, 1]], True),
        ([[0, 0], [0, 1]], True),
        ([[0, 1], [1, 1]], False),
        ([[1, 2], [2, 3]], False),
        ([[1, 1, 1], [1, 1, 1], [1, 1, 0]], False),
        ([[1, 4], [0, 1]], False),  # x^2 + 4 x y + y^2
        ([], True),
    ],
)
def test_semidefiniteness_is_decided_for_singular_matrices(Q, answer):
    assert is_semidefinite([[fmpq(x) for x in row] for row in Q]) is answer


ASKED = {
    "Cauchy and Schwarz": (
        question(
            lambda m, v: m.at_most(m.square(m.dot(v.x, v.y)), m.dot(v.x, v.x) * m.dot(v.y, v.y)),
            x=Vector("n"),
            y=Vector("n"),
        ),
        True,
    ),
    "a product of matrices": (
        question(
            lambda m, v: m.at_most(m.norm(v.A @ v.A) ** 2, m.norm(v.A) ** 4), A=Matrix("n", "n")
        ),
        True,
    ),
    "an identity": (question(lambda m, v: m.equal(v.A.T.T, v.A), A=Matrix("n", "n")), True),
    "no identity": (question(lambda m, v: m.equal(v.A.T, v.A), A=Matrix("n", "n")), False),
    "a strict inequality": (
        question(lambda m, v: m.below(0, m.norm(v.A) ** 2), A=Matrix("n", "n")),
        False,
    ),
    "an absolute value": (
        question(lambda m, v: m.at_most(0, m.abs(v.a)), n=Integer(2), a=Real()),
        False,
    ),
    "a false one": (
        question(lambda m, v: m.at_most(m.trace(v.A) ** 2, m.norm(v.A) ** 2), A=Matrix("n", "n")),
        False,
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_only_inequalities_by_sums_of_squares_and_identities_are_proved(name):
    asked, answer = ASKED[name]
    assert is_proved(asked.claim.formula, {}, {"n": 2}) is answer
