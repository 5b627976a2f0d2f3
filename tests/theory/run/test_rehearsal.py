"""A formula is run in floats and in balls before its check, so that a mistake is told at once."""

from fractions import Fraction

import pytest
import sympy as sp
from toy_pack import stated

from attsvm.errors import ClaimError
from attsvm.theory import Integer, Matrix, Real, Vector, changed, gradient
from attsvm.theory.arithmetic import BALLS, FLOATS, Tensors, entries
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.arithmetic.script import Scripts
from attsvm.theory.arithmetic.symbols import Symbols
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.arithmetic.traces import TRACES
from attsvm.theory.run.asking import rehearse
from attsvm.theory.search.hunt import hunt


def square(conclusion):
    return stated(
        "square",
        {"x": Real()},
        conclusion,
        constants={"c": "0.2225"},
        siblings={"-1": changed(c=-1)},
    )


def rehearsed(claim):
    rehearse(claim.id, claim.formula, {})


@pytest.mark.parametrize(
    "m",
    [BALLS, FLOATS, TRACES, Tensors(), Symbols(), Text(), Scripts({}), Programs()],
    ids=lambda m: m.name,
)
def test_an_exact_number_stays_as_it_is(m):
    third = m.exact(Fraction(1, 3))
    assert m.exact(third) is third


def test_a_constant_of_a_reading_may_be_called_exact_once_more():
    claim = square(lambda m, v, c: m.at_least(v.x * v.x + m.exact(c), m.exact(0)))
    rehearsed(claim)
    found = hunt(claim, seconds=None, rounds=1, searchers=["drawn", "screen"])
    assert (found.error, found.smallest) == (None, None)


def test_a_constant_stays_exact_where_a_formula_is_differentiated():
    c = BALLS.exact("0.2225")
    slope = gradient(BALLS, lambda m, x: m.exact(c) * x[0] + m.exact(x[0]), entries([c]))
    assert slope[0] == c + 1


def test_what_only_balls_refuse_is_told_with_its_line():
    claim = square(lambda m, v, c: m.at_least(v.x * v.x + [c, v.x.value][0], m.exact(0)))
    with pytest.raises(ClaimError, match=r"test_rehearsal.py, line \d+\) raised AttributeError"):
        rehearsed(claim)


def test_arrays_are_as_small_as_they_may_be_but_for_two_of_an_axis():
    seen = set()

    def conclusion(m, v, c):
        seen.add((*v.A.shape, v.one.shape[0]))
        return m.at_least(m.sum(v.A * v.A) + v.one @ v.one, c)

    lengths = {"n": Integer(1, 7), "d": Integer(3, 9), "k": Integer(1, 1)}
    variables = {**lengths, "A": Matrix("n", "d"), "one": Vector("k")}
    below = {"1": changed(c=1)}
    claim = stated("squares", variables, conclusion, constants={"c": 0}, siblings=below)
    rehearse(claim.id, claim.formula, {"c": 0})
    assert seen == {(2, 3, 1)}


def test_what_one_instance_lacks_is_no_mistake():
    rehearsed(square(lambda m, v, c: m.at_least(c / (v.x - v.x), m.exact(0))))


def test_a_float_is_no_exact_number():
    for m in (BALLS, FLOATS, Symbols()):
        with pytest.raises(ClaimError, match="not exact"):
            m.exact(0.1)
    with pytest.raises(ClaimError, match="not exact"):
        BALLS.exact(sp.Rational(1, 2))
