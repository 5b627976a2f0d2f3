"""Every arithmetic offers the functions of the namespace, with their arguments."""

import inspect

import pytest

from attsvm.theory.arithmetic import BALLS, ENCLOSURES, FLOATS, TAILS, Tensors
from attsvm.theory.arithmetic.bounds import BOUNDS
from attsvm.theory.arithmetic.derivatives import Duals
from attsvm.theory.arithmetic.magnitudes import BIT_LENGTHS, MAGNITUDES
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.arithmetic.script import Decimals, Scripts
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.arithmetic.traces import TRACES
from symbolic.sums import LENGTHS
from tests.theory.arithmetic.referee import Referee

FUNCTIONS = dict(inspect.getmembers(Namespace, inspect.isfunction))
FUNCTIONS = {name: function for name, function in FUNCTIONS.items() if name[0] != "_"}
ALONE = vars(Namespace).keys() & FUNCTIONS.keys()
"""Functions that the namespace declares; those of its bases are computed there."""
ARITHMETICS = [BALLS, ENCLOSURES, TAILS, FLOATS, Tensors(), BOUNDS, MAGNITUDES, TRACES, SYMBOLS]
ARITHMETICS += [Text(), Scripts(str), Decimals(str), Programs(), Duals(BALLS), LENGTHS, Referee()]
ARITHMETICS += [BIT_LENGTHS]


@pytest.mark.parametrize("m", ARITHMETICS, ids=lambda m: type(m).__name__)
def test_an_arithmetic_offers_every_function_of_the_namespace(m):
    assert m.name
    for name, declared in FUNCTIONS.items():
        offered = getattr(m, name)
        assert name not in ALONE or offered.__func__ is not declared, f"{name} is declared alone"
        parameters = inspect.signature(declared).parameters.values()
        takes = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"]
        inspect.signature(offered).bind(*takes)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_the_namespace_says_what_it_is_and_takes(name):
    declared = inspect.signature(FUNCTIONS[name])
    assert inspect.getdoc(FUNCTIONS[name])
    assert declared.return_annotation != inspect.Signature.empty
    assert all(p.annotation != p.empty for n, p in declared.parameters.items() if n != "self")
