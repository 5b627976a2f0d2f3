"""Gradients by the rules of calculus are those of closed forms and of differences."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings

from attsvm.errors import ClaimError
from attsvm.strategies import arrays
from attsvm.theory.arithmetic import BALLS, FLOATS, Lane, Tensors, entries, lanes
from attsvm.theory.arithmetic.derivatives import gradient
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.arithmetic.traces import TRACES
from tests.late import Late
from tests.theory.arithmetic.referee import MP, REFEREE, enclosed

torch = Late("torch")

H = [[1, 2, -1], [0, 3, 1], [2, -2, 1], [1, 1, 1]]
STEP = MP.mpf(2) ** -600


def constants(m):
    return entries([[m.exact(x) for x in row] for row in H])


FUNCTIONS = {
    "linear": lambda m, x: m.sum(constants(m) @ x),
    "square": lambda m, x: m.dot(x, x) + m.sum(m.square(x)) + x[0] ** 2 + m.sum(x**3),
    "quotient": lambda m, x: (1 - x[0]) / (3 + x[1] * x[1]) + 2 / (1 + x[2] ** 2) - x[0] / 4,
    "quotient of a number": lambda m, x: m.exact("0.75") / (x[0] * x[0] + 1) * m.exact(3),
    "exp": lambda m, x: m.sum(m.exp(x)) * m.exp(-x[0]),
    "log": lambda m, x: m.log(1 + m.dot(x, x)),
    "sqrt": lambda m, x: m.sqrt(1 + m.dot(x, x)),
    "norm": lambda m, x: m.norm(x - m.exact(10)),
    "power": lambda m, x: m.power(x[0] - x[1], 4) + m.sum(m.power(x, 0)),
    "logistic": lambda m, x: m.logistic(m.sum(x)),
    "logistic slope": lambda m, x: m.logistic_slope(x[0] - 2 * x[1]),
    "logistic curvature": lambda m, x: m.logistic_curvature(x[0] - 2 * x[1]),
    "softplus": lambda m, x: m.sum(m.softplus(x)),
    "softmax": lambda m, x: m.dot(m.softmax(constants(m) @ x), constants(m)[:, 1]),
    "softmax of one": lambda m, x: m.softmax(x[:1])[0] * x[2],
    "covariance": lambda m, x: m.dot(m.covariance(m.softmax(x), x), x),
    "matrices": lambda m, x: m.sum(m.outer(x, constants(m)[0]) @ m.diagonal(x) @ m.identity(3)),
    "kron": lambda m, x: m.sum(m.kron(m.outer(x, x), constants(m))),
    "vec": lambda m, x: m.sum(m.sums(m.outer(x, x))) + m.sum(m.vec(m.outer(x, x)) * 2),
    "constant": lambda m, x: m.exact(7),
}


def referee(f, values, i):
    """The central difference in the i-th entry; its error is of the order of the step squared."""
    x = [REFEREE.exact(Fraction(float(value))) for value in values]
    ends = []
    for sign in (1, -1):
        moved = list(x)
        moved[i] = moved[i] + sign * STEP
        ends.append(f(REFEREE, entries(moved)))
    return (ends[0] - ends[1]) / (2 * STEP)


def rationals(values):
    return entries([fmpq(*float(v).as_integer_ratio()) for v in values])


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=8, deadline=None)
@given(values=arrays(3))
def test_gradients_are_those_of_differences(name, values):
    f = FUNCTIONS[name]
    found = gradient(BALLS, f, rationals(values))
    traced = gradient(TRACES, f, entries([TRACES.of(x) for x in rationals(values)]))
    tensor = Tensors()
    given_ = np.array([values, values]).T
    float_ = gradient(FLOATS, f, lanes(given_))
    tensor_ = gradient(tensor, f, lanes(tensor.library.tensor(given_)))
    for i, expected in enumerate(referee(f, values, i) for i in range(3)):
        # an error of the order of the step squared, as an absolute one of 2^-1100
        with ctx.workprec(4000):
            truth = enclosed(expected, 1) + arb(0, arb(2) ** -1100)
            assert arb(found[i]).overlaps(truth)
            assert arb(traced[i].ball).overlaps(truth)
            assert arb(found[i]).rad() <= arb("1e-10")
        size = 1 + float(abs(expected))
        for one in (float_[i], tensor_[i]):
            assert abs(float(np.asarray(one.value)[-1]) - float(expected)) <= 1e-11 * size


def test_closed_forms():
    def energy(m, x):
        return m.dot(x, x) / 2 + m.logistic(x[0])

    x = symbols_of("x", 2)
    first, second = gradient(SYMBOLS, energy, x)
    assert (first - x[0] - SYMBOLS.logistic_slope(x[0])).expand() == 0
    assert second == x[1]
    exact = gradient(BALLS, lambda m, x: m.power(x[0], 3) / x[1], rationals([2.0, 4.0]))
    assert list(exact) == [fmpq(3), fmpq(-1, 2)]
    assert all(isinstance(slope, fmpq) for slope in exact)


def test_a_sum_with_one_fault_is_told_from_the_right_one():
    """The comparison with differences sees a rule that is wrong."""
    x, right = rationals([0.5, 1.0, -1.0]), FUNCTIONS["quotient"]
    found = gradient(BALLS, lambda m, x: right(m, x) + x[0] / 1000, x)
    difference = referee(right, [0.5, 1.0, -1.0], 0)
    assert not arb(found[0]).overlaps(enclosed(difference, 1) + arb(0, arb(2) ** -1100))


KINKS = {
    "an absolute value": lambda m, x: m.abs(x[0]),
    "a maximum": lambda m, x: m.maximum(x[0], x[1]),
    "a maximum ": lambda m, x: m.minimum(x[0], m.exact(0)),
    "a maximum  ": lambda m, x: m.oscillation(x),
    "a maximum   ": lambda m, x: m.diameter(m.outer(x, x)),
    "an absolute value ": lambda m, x: m.largest(x),
    "a spectral norm": lambda m, x: m.spectral(m.outer(x, x)),
}


@pytest.mark.parametrize("what", KINKS)
def test_kinks_are_refused(what):
    with pytest.raises(ClaimError, match=f"differentiates {what.strip()}"):
        gradient(BALLS, KINKS[what], rationals([1.0, 2.0, 4.0]))


@pytest.mark.parametrize(
    "misused",
    [
        lambda m, x: x[0] if x[0] > 0 else -x[0],
        lambda m, x: max(x[0], x[1]),
        lambda m, x: x[0] if x[1] else x[1],
        lambda m, x: x[0] ** -1,
        lambda m, x: x[0] ** 0.5,
    ],
)
def test_what_is_no_arithmetic_is_refused(misused):
    with pytest.raises(ClaimError, match="a formula"):
        gradient(BALLS, misused, rationals([1.0, 2.0]))


def test_what_does_not_depend_on_the_point_may_have_kinks():
    h, x = entries([fmpq(1), fmpq(3), fmpq(3)]), entries([fmpq(2)])
    slope = gradient(BALLS, lambda m, y: m.sum(m.is_zero(m.max(h) - h)) * m.abs(h[0]) * y[0], x)
    assert slope.tolist() == [2]
    for kink in ("is_zero", "abs"):
        with pytest.raises(ClaimError, match="differentiates"):
            gradient(BALLS, lambda m, y, kink=kink: getattr(m, kink)(y[0]), x)


def test_the_root_of_tensors_is_0_at_0_with_a_finite_gradient():
    m = Tensors()
    x = torch.tensor([0.0, 4.0, -1.0], dtype=torch.float64, requires_grad=True)
    root = m.sqrt(Lane(x)).value
    assert root.tolist() == [0.0, 2.0, 0.0]
    (slope,) = torch.autograd.grad(root.sum(), x)
    assert slope.tolist() == [0.0, 0.25, 0.0]
    assert BALLS.sqrt(BALLS.exact(0)) == 0
