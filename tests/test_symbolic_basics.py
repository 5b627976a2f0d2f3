"""The proofs behind section 3.3 and steps 1 and 3 of section 3.4: true neighbours, false ones."""

import numpy as np
import pytest
import sympy as sp

from attsvm.losses import slope_kernel
from attsvm.risk import covariance
from symbolic.sim import (
    basic_1,
    basic_2,
    basic_3,
    basic_4,
    basic_5,
    basic_6,
    basic_7,
    logistic_lipschitz,
    step_3,
)

TWO = sp.Integer(2)


@pytest.mark.parametrize("module", [basic_4, basic_5, basic_6, basic_7])
def test_the_published_constants_are_proved(module):
    assert len(module.prove_published().split()) > 3


def test_a_coefficient_below_zero_is_seen():
    r = sp.Symbol("r")
    assert basic_1.never_negative((1 + r) ** 2, r)
    assert not basic_1.never_negative((1 - r) ** 2, r)
    assert not basic_1.never_negative(r - 1, r)


def test_the_secant_gap_falls_to_zero():
    v = sp.Symbol("v", positive=True)
    value, slope = basic_1.secant_gap()
    assert value == 0
    assert slope.subs(v, sp.Rational(1, 2)) < 0
    assert slope.subs(v, 2) > 0


@pytest.mark.parametrize("n", [1, 2, 5])
def test_lagrange_holds_and_has_no_constant_to_spare(n):
    assert basic_2.pairs_residual(n) == 0


def test_lagrange_for_any_number_is_an_identity_of_sums():
    assert basic_2.structural_residual() == 0


def test_the_factors_are_these():
    beta, n, R = sp.symbols("beta n R", positive=True)
    assert sp.simplify(basic_3.factor() * beta**2) == 1
    assert sp.simplify(basic_3.lowest_factor() * n**2 * sp.exp(-2 * R / sp.sqrt(n))) == 1


@pytest.mark.parametrize(("n", "size"), [(2, 1), (3, 1), (3, 2), (4, 2)])
def test_the_length_of_the_derivative_is_a_form_in_three_numbers(n, size):
    assert basic_4.square_residual(n, size) == 0
    f, moved, weight, a, b = basic_4.indicator(n, size)
    wrong = sum(x**2 for x in moved) - (weight**2 * a + (1 - weight) ** 2 * b)
    point = {u: k for k, u in enumerate(sorted(f[0].free_symbols, key=str), start=2)}
    assert wrong.subs(point) != 0


def test_merged_tokens_move_like_the_others():
    assert basic_4.entry_residuals() == [0, 0]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_laplacian_is_one(n):
    assert all(entry == 0 for entry in basic_4.laplacian_residual(n))
    assert basic_4.quadratic_residual(n) == 0
    assert basic_4.swapped_exponents() == [0, 0]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_covariance_is_a_sum_over_pairs(n):
    assert basic_5.covariance_residual(n) == 0


def test_a_range_leaves_nothing_for_two_tokens_of_equal_weight():
    f, s = np.array([1 / TWO, 1 / TWO], dtype=object), np.array([TWO, -TWO], dtype=object)
    assert sum(s * covariance(f, s)) == (2 - -2) ** 2 / TWO**2
    assert basic_5.variance_residual() == 0


@pytest.mark.parametrize("limit", [basic_4.limit_ratio, basic_6.limit_ratio, basic_1.edge_ratio])
def test_the_constants_are_reached(limit):
    assert limit() == 1


def test_the_operator_norm_of_the_outer_product():
    """The supremum over two tokens, and its values around the best weights, in rationals."""
    best = basic_7.operator_supremum()
    assert sp.simplify(2 * best - 1 / (3 * sp.sqrt(3))) == 0
    for q in (0, sp.Rational(1, 4), sp.Rational(39, 100), sp.Rational(1, 2), sp.Rational(9, 10)):
        height = (1 - q**2) / 4 * (q + sp.sqrt(1 + q**2))
        assert height**2 < best
    near = sp.Rational(39, 100)
    assert ((1 - near**2) / 4 * (near + sp.sqrt(1 + near**2))) ** 2 > sp.Rational(999, 1000) * best
    assert basic_7.growth_residuals() == (0, 0)


@pytest.mark.parametrize(("n", "size"), [(2, 1), (3, 2)])
def test_the_norms_of_the_moved_outer_product(n, size):
    assert basic_7.norms_residuals(n, size) == [0, 0]


def test_the_slope_of_the_logistic_function_stays_below_a_quarter():
    u = logistic_lipschitz.u
    assert logistic_lipschitz.gap().subs(u, 1) == 0
    assert slope_kernel(TWO) == sp.Rational(2, 9)
    assert logistic_lipschitz.gap().subs(u, 2) == sp.Rational(1, 36)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_step_3_is_the_gradient_with_b_inside(n):
    assert step_3.reform_residual(n) == [0, 0]
    assert step_3.gradient_residual(n) == 0


def test_step_3_as_printed_is_another_function():
    assert step_3.gradient_residual(2, b=2, inside=False) != 0
    assert step_3.gradient_residual(2, b=-1, inside=False) == 0
    assert step_3.gradient_residual(2, b=2, sign=1) != 0
    assert step_3.gradient_residual(1, b=2, inside=False) == 0


def test_step_3_for_any_number_of_tokens():
    assert step_3.jacobian_residual() == [0]
    assert step_3.structural() == 0
