"""Every function of the namespace means the same in every arithmetic, as the referee has it."""

import pytest

from attsvm.theory.arithmetic import Arithmetic
from tests.theory.arithmetic.agreement import SIDES, agree
from tests.theory.arithmetic.cases import CASES, COMPARISONS
from tests.theory.arithmetic.referee import Referee

NAMES = {name for name in vars(Arithmetic) if not name.startswith("_")} - COMPARISONS - {"values"}
"""What computes; `values` hands on the numbers of a record."""


def test_every_function_has_a_case_and_a_referee_of_its_own():
    assert set(CASES) == NAMES
    assert vars(Referee).keys() >= NAMES - {"exact"}  # constants are made by `_rational`


@pytest.mark.parametrize("name", CASES)
def test_all_arithmetics_agree_with_the_referee(name):
    sides = dict(SIDES)
    if name == "log":
        del sides["wide balls"]  # the logarithm of one about 0 is no number
    agree(sides, CASES[name], 24 if name == "spectral" else 16)
