"""Lipschitz quotients between exact points against many digits, floats and constants."""

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.errors import DataError
from attsvm.exact import ExactData, rational, rationals
from attsvm.exact.descent import smoothness
from attsvm.exact.lipschitz import softmax_gradient_constant
from attsvm.exact.numbers import norm, spectral_norm
from attsvm.exact.quotients import entry_quotients, quotient, risk_quotients
from attsvm.lipschitz import entry_gradient, entry_loss
from attsvm.losses import LOSSES
from attsvm.risk import gradient_w, risk
from attsvm.strategies import arrays, numbers, sizes
from attsvm.strategies.data import attention_data
from tests.exact.digits import EPS, NAMES, VALUE, attend, encloses, near, real


@st.composite
def pairs(draw):
    n, D = draw(sizes(1, 4)), draw(sizes(1, 3))
    x, y = draw(arrays(D)), draw(arrays(D))
    assume((x != y).any())
    return draw(arrays(n, D)), x, y, draw(arrays(n)), draw(numbers())


def exactly(A, x, y, h, b):
    return rationals(A), rationals(x), rationals(y), rationals(h), rational(b)


@settings(max_examples=80, deadline=None)
@given(pairs())
def test_entry_quotients_hold_many_digits_and_floats(case):
    """Each value and gradient is off by the roundings of its logits, of b <f, h> and a few more."""
    A, x, y, h, b = case

    def loss(*point):
        logits = [sum(real(a) * p for a, p in zip(row, point, strict=True)) for row in A]
        return 1 / (1 + mpmath.exp(-real(b) * attend(logits, [real(value) for value in h])))

    with ctx.workprec(400):
        of_value, of_gradient = entry_quotients(*exactly(*case))
        with mpmath.workdps(150):
            ends = [[real(p) for p in point] for point in (x, y)]
            away = mpmath.norm([p - q for p, q in zip(*ends, strict=True)])
            assert near(of_value, abs(loss(*ends[0]) - loss(*ends[1])) / away)
            axes = [tuple(int(k == j) for k in range(len(x))) for j in range(len(x))]
            slopes = [[mpmath.diff(loss, tuple(end), axis) for axis in axes] for end in ends]
            change = mpmath.norm([p - q for p, q in zip(*slopes, strict=True)])
            assert near(of_gradient, change / away, 30)
    length = np.linalg.norm(x - y)
    size = abs(b) * np.abs(h).max()
    reach = max(np.abs(x).max(), np.abs(y).max())
    bound = 32 * len(A) * EPS * (1.0 + np.abs(A).sum() * reach + size) * (size + EPS)
    mine = abs(entry_loss(A, x, h, b) - entry_loss(A, y, h, b)) / length
    assert abs(of_value - arb(mine)) <= (bound + 8 * EPS) / length
    change = np.linalg.norm(entry_gradient(A, x, h, b) - entry_gradient(A, y, h, b)) / length
    assert abs(of_gradient - arb(change)) <= bound * (np.abs(A).sum() + EPS) / length


@settings(max_examples=60, deadline=None)
@given(pairs())
def test_no_entry_quotient_exceeds_its_sharp_constant(case):
    A, x, y, h, b = exactly(*case)
    with ctx.workprec(200):
        of_value, of_gradient = entry_quotients(A, x, y, h, b)
        size, span = spectral_norm(A), abs(b) * (max(h) - min(h))
        assert not of_gradient > size**2 * softmax_gradient_constant(span)
        # the logistic function has slope 1/4, softmax 1/2
        assert not of_value > size * norm(h) * abs(b) / 8


@settings(max_examples=50, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_risk_quotients_hold_many_digits_and_floats(data, name, draw):
    """The float risk and gradient are off by their roundings at either end."""
    W, V = (draw.draw(arrays(data.d, data.d)) / 4 for _ in range(2))
    assume((W != V).any())
    exact, loss = ExactData.of(data), LOSSES[name]
    with ctx.workprec(400):
        of_value, of_gradient = risk_quotients(exact, rationals(W), rationals(V), name)
        with mpmath.workdps(130):
            values = []
            for point in (W, V):
                logits = np.einsum("ntd,de,ne->nt", data.X, point, data.Z)
                rows = zip(logits, data.gamma, strict=True)
                means = [attend([real(a) for a in p], [real(g) for g in q]) for p, q in rows]
                values.append(sum(VALUE[name](u) for u in means) / data.n)
            away = mpmath.norm([real(x) for x in (W - V).ravel()])
            assert near(of_value, abs(values[0] - values[1]) / away)
        assert not of_gradient > smoothness(exact, name)
    length = np.linalg.norm(W - V)
    mine = abs(risk(data, W, loss) - risk(data, V, loss)) / length
    change = np.linalg.norm(gradient_w(data, W, loss) - gradient_w(data, V, loss)) / length
    G, A = np.abs(data.gamma).max(), data.d**2 * np.abs(data.X).max() * np.abs(data.Z).max() * 4
    ends = np.array([data.gamma.min(), data.gamma.max()])
    steepest = 2.0 + np.abs(loss.slope(ends)).max() + np.abs(loss.value(ends)).max()
    bound = 64 * EPS * (data.T + data.d) * (1.0 + A + G) * steepest * (1.0 + G) / length
    assert abs(of_value - arb(mine)) <= bound
    assert abs(of_gradient - arb(change)) <= bound * data.d * (1.0 + A)


def test_quotients_of_affine_maps_are_known():
    x, y = [fmpq(0), fmpq(0)], [fmpq(3), fmpq(4)]
    assert quotient(x, y, [fmpq(1)], [fmpq(11)]) == 2
    assert quotient(x, y, [arb(1), arb(1)], [arb(1), arb(1)]) == 0
    with mpmath.workdps(110):
        assert encloses(quotient(x, y, x, [fmpq(1), fmpq(1)]), mpmath.sqrt(2) / 5)


def test_values_that_balls_do_not_tell_apart_leave_a_quotient_down_to_zero():
    wide = quotient([fmpq(0)], [fmpq(1)], [arb(0, 1)], [arb(0, 1)])
    assert wide.is_finite()
    assert wide.contains(0)
    assert wide.contains(2)


def test_one_point_has_no_quotient():
    x = [fmpq(1), fmpq(2)]
    with pytest.raises(DataError, match="two points"):
        quotient(x, x, x, x)
    with pytest.raises(DataError, match="two points"):
        entry_quotients([x], x, x, [fmpq(1)], fmpq(1))
    data = ExactData([[[fmpq(1)]]], [[fmpq(1)]], [[fmpq(1)]], [[0]])
    with pytest.raises(DataError, match="two points"):
        risk_quotients(data, [[fmpq(1)]], [[fmpq(1)]], "log-loss")
