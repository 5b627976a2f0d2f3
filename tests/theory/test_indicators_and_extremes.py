"""Indicators and roots at 0, norms of entries of extreme size, even functions, drawn ties."""

from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, ctx, fmpq

from attsvm.errors import ClaimError
from attsvm.theory import Integer, Real, Vector, gradient
from attsvm.theory.arithmetic import BALLS, FLOATS, Lane, Tensors, entries
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.arithmetic.text import Text, letter
from attsvm.theory.arithmetic.traces import TRACES, Untraceable
from attsvm.theory.declaration.formula import Formula, instance_type

ABOUT_0 = arb(0, 1)


def test_an_indicator_is_1_where_a_number_is_0():
    found = BALLS.is_zero(entries([fmpq(0), fmpq(1, 3), arb(-2), arb(0)]))
    assert found.tolist() == [1, 0, 0, 1]
    both = BALLS.is_zero(ABOUT_0)
    assert both.contains(0)
    assert both.contains(1)
    values = [0.0, -1e-300, np.nan]
    assert FLOATS.is_zero(Lane(np.array(values))).value.tolist() == [1.0, 0.0, 0.0]
    tensor = torch.tensor(values, dtype=torch.float64)
    assert Tensors().is_zero(Lane(tensor)).value.tolist() == [1.0, 0.0, 0.0]
    x = sp.Symbol("x", real=True)
    assert SYMBOLS.is_zero(x - x) == 1
    assert SYMBOLS.is_zero(x**2 + 1) == 0
    assert SYMBOLS.is_zero(x).subs(x, 3) == 0
    assert Text().is_zero(letter("x")).plain == "[x = 0]"


def test_a_fingerprint_tells_whether_a_number_is_0():
    root = TRACES.sqrt(TRACES.exact(2))
    assert TRACES.is_zero(root - root).ball == 1
    assert TRACES.is_zero(root).ball == 0
    with pytest.raises(Untraceable):
        TRACES.is_zero(root * TRACES.sqrt(TRACES.exact(3)) - TRACES.sqrt(TRACES.exact(6)))


def test_what_does_not_depend_on_the_point_may_have_kinks():
    h, x = entries([fmpq(1), fmpq(3), fmpq(3)]), entries([fmpq(2)])
    slope = gradient(BALLS, lambda m, y: m.sum(m.is_zero(m.max(h) - h)) * m.abs(h[0]) * y[0], x)
    assert slope.tolist() == [2]
    for kink in ("is_zero", "abs"):
        with pytest.raises(ClaimError, match="differentiates"):
            gradient(BALLS, lambda m, y, kink=kink: getattr(m, kink)(y[0]), x)


@pytest.mark.parametrize("exponent", [0, 2**80, -(2**80)])
def test_entries_of_any_size_have_a_spectral_norm(exponent):
    """The norm of [[3, 0, t], [0, 4, 0], [0, 0, 1]] times a power of two, t about 0 and tiny."""
    unit = arb((1, exponent))
    with ctx.workprec(64):
        for tiny in (arb((1, -(2**90))), arb((1, -(2**90))) + arb(0, arb((1, -60)))):
            rows = [[arb(3), arb(0), tiny], [arb(0), arb(4), arb(0)], [arb(0), arb(0), arb(1)]]
            norm = BALLS.spectral(entries([[value * unit for value in row] for row in rows]))
            assert norm.contains(4 * unit)
            assert norm < arb("4.0000001") * unit
            assert norm > arb("3.9999999") * unit


def test_a_matrix_of_zeros_and_one_that_is_not_finite():
    zeros = entries([[arb(0)] * 2] * 2)
    assert BALLS.spectral(zeros) == 0
    assert not BALLS.spectral(zeros + ABOUT_0 * arb("inf")).is_finite()


def test_the_exponential_of_minus_an_irrational_number_is_the_inverse():
    """So even functions, such as the derivative of the logistic one, have one fingerprint."""
    with ctx.workprec(128):
        root = TRACES.sqrt(TRACES.exact(2))
        there, back = (TRACES.logistic_slope(t) for t in (root, -root))
    assert (there - back).zero
    assert not (there - TRACES.logistic_slope(root + root)).zero


def test_a_vector_of_two_levels_has_two_values():
    vector = Vector("n", levels=2)
    batch = vector.fill(np.random.default_rng(0), {"n": 5}, 200)
    assert batch.shape == (5, 200)
    counts = [len(set(lane)) for lane in batch.T]
    assert set(counts) == {1, 2}
    assert counts.count(2) > 100
    assert Real().fill(np.random.default_rng(0), {}, 3).shape == (3,)


def test_a_formula_that_comes_to_a_constant_has_a_height_for_each_instance():
    """With one token the gradient of softmax is 0, whatever x is."""
    formula = Formula(
        {"n": Integer(1, 2), "x": Vector("n")},
        {},
        lambda m, v: m.at_most(
            m.norm(gradient(m, lambda m, x: m.sum(m.softmax(x)), v.x)), m.exact(1)
        ),
        {},
        instance_type({"n": Integer(1, 2), "x": Vector("n")}),
    )
    x = torch.zeros((3, 1), dtype=torch.float64, requires_grad=True)
    height = formula.relaxed(SimpleNamespace(x=x))
    assert height.shape == (3,)
    (slope,) = torch.autograd.grad(height.sum(), x)
    assert (slope == 0).all()


def test_the_root_of_tensors_is_0_at_0_with_a_finite_gradient():
    m = Tensors()
    x = torch.tensor([0.0, 4.0, -1.0], dtype=torch.float64, requires_grad=True)
    root = m.sqrt(Lane(x)).value
    assert root.tolist() == [0.0, 2.0, 0.0]
    (slope,) = torch.autograd.grad(root.sum(), x)
    assert slope.tolist() == [0.0, 0.25, 0.0]
    assert BALLS.sqrt(BALLS.exact(0)) == 0
