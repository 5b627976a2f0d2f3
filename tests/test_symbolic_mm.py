"""The proofs for mm: their identities hold, and their neighbours do not."""

import pytest

from symbolic.mm.w_p_equivalence import (
    chain_residual,
    differs,
    factored_residual,
    fixed_weights_residual,
    pairwise_residual,
    prove,
    prove_fixed_weights,
    step_residual,
    structural_residual,
)


def test_they_go_through_and_say_what_they_prove():
    assert "||p||^2" in prove()
    assert "every k" in prove_fixed_weights()


@pytest.mark.parametrize("power", [0, 1, 3, 4])
def test_another_power_of_the_norm_makes_another_step(power):
    assert differs(step_residual(1, 2, 2, power=power))


def test_the_right_power_leaves_nothing_at_a_point_either():
    assert not differs(step_residual(2, 2, 2))


def test_the_chain_rule_holds_for_two_inputs_in_the_plane():
    assert all(entry == 0 for entry in chain_residual(2, 2, 2))


def test_any_number_of_tokens_and_axes():
    assert structural_residual() == (0, 0)


def test_the_gradient_that_runs_is_factored_for_any_number_of_tokens():
    assert pairwise_residual() == 0
    assert factored_residual() == 0


def test_with_fixed_weights_the_step_is_divided_by_c():
    assert fixed_weights_residual().is_ZeroMatrix
    assert not fixed_weights_residual(scaled=False).is_ZeroMatrix
