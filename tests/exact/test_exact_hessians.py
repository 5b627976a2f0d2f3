"""Second derivatives against many digits, quotients of gradients, floats and published bounds."""

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, rational, rationals
from attsvm.exact.descent import smoothness
from attsvm.exact.gradients import gradient_w
from attsvm.exact.hessians import hessian_w
from attsvm.exact.lipschitz import softmax_gradient_constant
from attsvm.exact.numbers import dot, norm
from attsvm.exact.quotients import quotient
from attsvm.exact.spectra import operator_norm
from attsvm.lipschitz import entry_gradient as float_entry_gradient
from attsvm.losses import LOSSES
from attsvm.strategies import arrays, numbers, sizes
from attsvm.strategies.data import attention_data
from attsvm.theory import gradient
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic import entries as array
from properties.sim._support import entry_loss
from tests.exact.digits import NAMES, VALUE, attend, near, real


@st.composite
def entries(draw, n=(1, 4), D=(1, 3)):
    rows, columns = draw(sizes(*n)), draw(sizes(*D))
    shapes = (rows, columns), (columns,), (rows,)
    return (*(draw(arrays(*shape)) for shape in shapes), draw(numbers()))


def exactly(A, x, h, b):
    return (*(array(rationals(part)) for part in (A, x, h)), rational(b))


def entry_hessian(A, x, h, b):
    """The Hessian of one entry of sim's loss, as lemma 3.13 has it."""
    return entry_loss.hessian(BALLS, A, x, h, b)


@settings(max_examples=60, deadline=None)
@given(entries(), st.data())
def test_entry_hessians_hold_second_derivatives(case, draw):
    A, x, h, b = case
    j, k = (draw.draw(st.integers(0, len(x) - 1)) for _ in range(2))

    def along(s, t):
        logits = [
            real(a) + s * real(row[j]) + t * real(row[k]) for a, row in zip(A @ x, A, strict=True)
        ]
        return 1 / (1 + mpmath.exp(-real(b) * attend(logits, [real(value) for value in h])))

    with ctx.workprec(400):
        H = entry_hessian(*exactly(A, x, h, b))
        with mpmath.workdps(150):
            assert near(arb(H[j, k]), mpmath.diff(along, (0, 0), (1, 1)))
        assert all(
            arb(H[p, q]).overlaps(arb(H[q, p])) for p in range(len(x)) for q in range(len(x))
        )


@settings(max_examples=50, deadline=None)
@given(attention_data(d=(1, 2)), NAMES, st.data())
def test_hessians_in_w_hold_second_derivatives(data, name, draw):
    W = draw.draw(arrays(data.d, data.d)) / 8
    (r, c), (q, e) = ([draw.draw(st.integers(0, data.d - 1)) for _ in range(2)] for _ in range(2))
    one, two = data.X[:, :, r] * data.Z[:, [c]], data.X[:, :, q] * data.Z[:, [e]]
    logits = np.einsum("ntd,de,ne->nt", data.X, W, data.Z)

    def along(s, t):
        total = mpmath.mpf(0)
        for a, m, k, g in zip(logits, one, two, data.gamma, strict=True):
            moved = [real(p) + s * real(u) + t * real(v) for p, u, v in zip(a, m, k, strict=True)]
            total += VALUE[name](attend(moved, [real(x) for x in g]))
        return total / data.n

    with ctx.workprec(400):
        H = hessian_w(ExactData.of(data), rationals(W), name)
        with mpmath.workdps(150):
            truth = mpmath.diff(along, (0, 0), (1, 1))
        assert near(H[r * data.d + c][q * data.d + e], truth)


@settings(max_examples=50, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_gradients_change_by_the_hessian(data, name, draw):
    """Between W and W + 2^-150 V the quotient of the gradient is ||H V|| / ||V|| to 2^-100."""
    W, V = (rationals(draw.draw(arrays(data.d, data.d))) for _ in range(2))
    flat = [x for row in V for x in row]
    assume(any(flat))
    exact, tiny = ExactData.of(data), fmpq(1, 2**150)
    moved = [[w + tiny * v for w, v in zip(*rows, strict=True)] for rows in zip(W, V, strict=True)]
    with ctx.workprec(800):
        H = hessian_w(exact, W, name)
        ends = [[x for row in gradient_w(exact, point, name) for x in row] for point in (W, moved)]
        found = quotient([tiny * v for v in flat], [fmpq(0)] * len(flat), *ends)
        predicted = norm([dot(row, flat) for row in H]) / norm(flat)
        size = 1 + abs(predicted)
        assert abs(found - predicted) <= arb(2) ** -100 * size * size
        assert predicted <= operator_norm(H) + arb(2) ** -600


@settings(max_examples=40, deadline=None)
@given(entries())
def test_entry_hessians_are_the_derivatives_of_the_derivative(case):
    """By the rules of calculus, which know no closed form, of the gradient's closed form."""
    A, x, h, b = exactly(*case)
    with ctx.workprec(200):
        H = entry_hessian(A, x, h, b)
        for j, row in enumerate(H):
            twin = gradient(
                BALLS, lambda m, y, j=j: entry_loss.gradient(m, A, y, h, b)[j] + 0 * y[0], x
            )
            assert all(abs(p - q) <= arb(2) ** -100 for p, q in zip(row, twin, strict=True))


@settings(max_examples=50, deadline=None)
@given(entries(), st.data())
def test_float_gradients_change_by_the_hessian(case, draw):
    """Central differences at step h of the float gradient: h^2 |L''''| / 6 and rounding over h."""
    A, x, h, b = case
    k = draw.draw(st.integers(0, len(x) - 1))
    step = 2.0**-12 * np.eye(len(x))[k]
    rise = float_entry_gradient(A, x + step, h, b) - float_entry_gradient(A, x - step, h, b)
    H = entry_hessian(*exactly(A, x, h, b))
    size = (1.0 + np.abs(A).sum()) * (1.0 + abs(b) * np.abs(h).max())
    for j, slope in enumerate(rise * 2.0**11):
        assert abs(H[j][k] - arb(slope)) <= 2.0**-20 * size**4


@settings(max_examples=40, deadline=None)
@given(attention_data(d=(1, 2)), NAMES, st.data())
def test_the_norm_of_a_hessian_is_at_most_the_smoothness(data, name, draw):
    exact = ExactData.of(data)
    W = rationals(draw.draw(arrays(data.d, data.d)))
    with ctx.workprec(200):
        assert not operator_norm(hessian_w(exact, W, name)) > smoothness(exact, name)


@settings(max_examples=40, deadline=None)
@given(entries())
def test_the_norm_of_an_entry_hessian_is_at_most_the_sharp_constant(case):
    A, x, h, b = exactly(*case)
    oscillation = abs(b) * (max(h) - min(h))
    with ctx.workprec(128):
        bound = BALLS.spectral(A) ** 2 * softmax_gradient_constant(oscillation)
        assert not BALLS.spectral(entry_hessian(A, x, h, b)) > bound


def test_the_sharp_constant_is_attained_by_two_tokens():
    """Over a grid of logits and levels the largest norm comes within 1% of it, from below."""
    span, identity = fmpq(4), BALLS.identity(2)
    bound, best = softmax_gradient_constant(span), arb(0)
    for i in range(9):
        for level in range(-20, 5):
            h = array([fmpq(level, 4), fmpq(level, 4) + span])
            H = entry_hessian(identity, array([fmpq(0), fmpq(i, 4)]), h, fmpq(1))
            best = best.max(arb(BALLS.spectral(H)))
    assert best <= bound
    assert best >= bound * arb("0.99")


def test_a_hessian_by_hand():
    """Two tokens 0 and 1 with scores 0 and 1: L(w) = l(s(w)), s the logistic function."""
    w = sympy.Symbol("w")
    s = 1 / (1 + sympy.exp(-w))
    data = ExactData.of(AttentionData.of([[[0.0], [1.0]]], [[1.0]], scores=[[0.0, 1.0]]))
    formulas = {
        "correlation": -s,
        "squared": (1 - s) ** 2,
        "log-loss": sympy.log(1 + sympy.exp(-s)),
        "exponential": sympy.exp(-s),
        "logistic": 1 / (1 + sympy.exp(-s)),
        "logistic-loss": 1 / (1 + sympy.exp(s)),
    }
    assert set(formulas) == set(LOSSES)
    with ctx.workprec(300):
        for name, formula in formulas.items():
            for value in (0, 1, -3):
                truth = sympy.diff(formula, w, 2).subs(w, value).evalf(100)
                with mpmath.workdps(100):
                    digits = mpmath.mpf(str(truth))
                assert near(hessian_w(data, [[fmpq(value)]], name)[0][0], digits, 60)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_one_token_has_no_curvature(name):
    data = ExactData.of(AttentionData.of([[[1.0, 2.0]]], [[1.0, 1.0]], scores=[[3.0]]))
    H = hessian_w(data, rationals(np.ones((2, 2))), name)
    assert all(x == 0 for row in H for x in row)
    assert operator_norm(H) == 0
