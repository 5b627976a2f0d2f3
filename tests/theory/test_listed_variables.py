"""Small differences in every arithmetic, and labels, which are drawn and not moved."""

import math

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import find, given
from hypothesis import strategies as st
from toy_pack import stated

from attsvm.theory import Integer, Labels, Vector, changed
from attsvm.theory.arithmetic import BALLS, FLOATS, Lane, Tensors
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.arithmetic.text import Text, letter
from attsvm.theory.arithmetic.traces import TRACES
from attsvm.theory.search.screen import _renewed

FUNCTIONS = {"expm1": math.expm1, "log1p": math.log1p}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(x=st.builds(math.ldexp, st.integers(-48, 256), st.sampled_from([-6, -46, -206])))
def test_small_differences_keep_their_digits(name, x):
    """As balls, floats and tensors; nothing cancels near 0."""
    exact = FUNCTIONS[name](x)
    ball = arb(getattr(BALLS, name)(fmpq(*x.as_integer_ratio())))
    assert abs(ball - exact) <= 1e-15 * abs(exact)
    for m, batch in ((FLOATS, np.array([x])), (Tensors(), torch.tensor([x], dtype=torch.float64))):
        assert getattr(m, name)(Lane(batch)).value[0] == pytest.approx(exact, rel=1e-14, abs=0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_differences_are_exactly_0_at_0(name):
    assert isinstance(getattr(BALLS, name)(fmpq(0)), fmpq)
    for m, zero in ((BALLS, fmpq(0)), (BALLS, arb(0)), (SYMBOLS, SYMBOLS.exact(0))):
        assert getattr(m, name)(zero) == 0
    assert getattr(TRACES, name)(TRACES.exact(0)).zero


def test_small_differences_are_written_out():
    assert Text().expm1(letter("x")).plain == "exp(x) - 1"
    assert Text().log1p(letter("x")).plain == "ln(1 + x)"


def test_a_logarithm_of_nothing_positive_is_no_number():
    assert not BALLS.log1p(fmpq(-1)).is_finite()
    assert not BALLS.log1p(arb(-1).union(arb(0))).is_finite()


def labelled():
    """A formula of two labels and of a vector."""
    return stated(
        "labels",
        {"n": Integer(1, 4), "y": Labels("n"), "x": Vector("n")},
        lambda m, v, c: m.at_most(m.dot(v.x, v.y), c * m.sum(m.abs(v.x))),
        {"labels": lambda m, v: m.equal(m.square(v.y), m.exact(1))},
        constants={"c": 1},
        siblings={"0": changed(c=0)},
    ).formula


@given(labelled().strategy())
def test_labels_are_drawn_as_1_or_minus_1(case):
    assert set(case.y.tolist()) <= {1.0, -1.0}


def test_both_labels_are_drawn_and_the_simplest_is_1():
    mixed = find(labelled().strategy(), lambda case: len(set(case.y.tolist())) == 2)
    assert sorted(mixed.y) == [-1.0, 1.0]
    assert find(labelled().strategy(), lambda case: True).y.tolist() == [1.0]


def test_screening_exchanges_labels_and_moves_the_rest():
    formula, generator = labelled(), np.random.default_rng(0)
    shape = {"n": 3}
    raw = formula.filled(generator, shape, 1024)
    assert set(np.unique(raw["y"])) == {1.0, -1.0}
    again = _renewed(formula, raw, np.arange(96), shape, generator)
    assert set(np.unique(again["y"])) == {1.0, -1.0}
    assert (again["y"] != raw["y"]).any()
    assert not np.isin(again["x"], raw["x"]).all()


def test_a_climb_has_no_slope_in_labels():
    formula = labelled()
    case = formula.build(y=[1, -1], x=[2, 1])
    tensors = {
        name: torch.tensor(getattr(case, name).copy()[None], requires_grad=True) for name in "xy"
    }
    value = formula.relaxed(type("Batch", (), tensors))
    slopes = torch.autograd.grad(value.sum(), list(tensors.values()), allow_unused=True)
    assert slopes[0].abs().max() > 0
    assert slopes[1] is None
