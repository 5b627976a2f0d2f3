"""The proofs for mm: their identities hold, and their neighbours do not."""

import pytest

from symbolic.mm.w_p_equivalence import (
    chain_residual,
    differs,
    prove,
    prove_fixed_weights,
    step_residual,
    structural_residual,
    weights_residual,
)


def test_they_go_through_and_say_what_they_prove():
    assert "||p||^2" in prove()
    assert "W W^T" in prove_fixed_weights()


@pytest.mark.parametrize("power", [0, 1, 3, 4])
def test_another_power_of_the_norm_makes_another_step(power):
    assert differs(step_residual(1, 2, 2, power=power))


def test_the_right_power_leaves_nothing_at_a_point_either():
    assert not differs(step_residual(2, 2, 2))


def test_the_chain_rule_holds_for_two_inputs_in_the_plane():
    assert all(entry == 0 for entry in chain_residual(2, 2, 2))


def test_any_number_of_tokens_and_axes():
    assert structural_residual() == (0, 0)


@pytest.mark.parametrize("d", [1, 2])
def test_what_is_left_with_fixed_weights_is_named_exactly(d):
    assert all(entry == 0 for entry in weights_residual(d))
