"""The numbers of symbols that the code runs on in proofs: against floats, and by hand."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm import attention
from properties.sim.drift import attend
from symbolic.sim.formal import E, Formal, derivative, expressions, symbols, vanishes

LOGITS = st.lists(st.integers(-3, 3), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(LOGITS)
def test_softmax_runs_on_symbols_as_on_floats(logits):
    """Whichever logit is the largest, by its rank; log_softmax too."""
    numbers = symbols("s", len(logits), ranks=logits)
    point = dict(zip(expressions(numbers), logits, strict=True))
    at = [x.replace(E, sp.exp).subs(point).evalf(20) for x in expressions(attend(numbers))]
    assert np.allclose([float(x) for x in at], attention.softmax(np.array(logits, dtype=float)))
    logged = np.exp(attention.log_softmax_kernel(numbers, None))
    for x, y in zip(expressions(logged), expressions(attend(numbers)), strict=True):
        assert vanishes(x - y)


def test_the_derivative_of_an_exponential_is_the_chain_rule():
    a, x = (symbols(name, 1)[0] for name in "ax")
    (a_, x_) = expressions([a, x])
    (found,) = expressions([(a * x * x).exp() * x])
    assert vanishes(derivative(found, x_) - (2 * a_ * x_**2 + 1) * E(a_ * x_**2))
    assert not vanishes(derivative(found, x_) - 2 * a_ * x_**2 * E(a_ * x_**2))
    assert vanishes(derivative(found, a_) - x_**3 * E(a_ * x_**2))


def test_a_logarithm_is_no_rational_function():
    with pytest.raises(AssertionError):
        expressions([Formal(sp.Symbol("u", positive=True)).log()])
    (back,) = expressions([Formal(sp.Symbol("u", positive=True)).log().exp()])
    assert back == sp.Symbol("u", positive=True)


def test_a_number_that_is_not_zero_does_not_vanish():
    u, v = sp.symbols("u v", positive=True)
    assert vanishes(u / (u + v) + v / (u + v) - 1)
    assert not vanishes(u / (u + v) - v / (u + v))
