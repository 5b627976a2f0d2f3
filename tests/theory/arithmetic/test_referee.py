"""Every function of the namespace means the same in every arithmetic, as the referee has it."""

import pytest

from attsvm.theory.arithmetic import Arithmetic
from tests.theory.arithmetic.agreement import SIDES, agrees
from tests.theory.arithmetic.cases import CASES, COMPARISONS
from tests.theory.arithmetic.referee import Referee

NAMES = {name for name in vars(Arithmetic) if not name.startswith("_")} - COMPARISONS - {"values"}
"""What computes; `values` hands on the numbers of a record."""


def test_every_function_has_a_case_and_a_referee_of_its_own():
    assert set(CASES) == NAMES
    assert vars(Referee).keys() >= NAMES - {"exact"}  # constants are made by `_rational`


# the logarithm of a wide ball about 0 is no number
PAIRS = [(t, n) for t in SIDES for n in CASES if (t, n) != ("wide balls", "log")]


@pytest.mark.parametrize(("title", "name"), PAIRS)
def test_an_arithmetic_agrees_with_the_referee(title, name):
    agrees(SIDES[title], name, CASES[name], 10 if title == "symbols" else 16)
