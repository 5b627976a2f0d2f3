"""Enclosed constants against floats, and against the Hessians that they bound."""

import mpmath
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.exact import rational, rationals
from attsvm.exact.lipschitz import softmax_gradient_constant
from attsvm.lipschitz import softmax_gradient_constant as float_constant
from attsvm.strategies import arrays, numbers, sizes
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic import entries as array
from properties.sim._support import entry_loss
from tests.exact.digits import EPS, attend, near, real


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([0, 1, 2, 5, -3, -10, -20]), st.integers(1, 255))
def test_the_enclosed_softmax_constant_holds_the_float_one(power, k):
    """The float search ends on a grid about the flat top: no error but rounding remains."""
    oscillation = k / 256 * 2.0**power
    ball, value = softmax_gradient_constant(rational(oscillation)), float_constant(oscillation)
    assert abs(ball - arb(value)) <= 64 * EPS * value
    assert ball.rad() <= 1e-12 * ball.mid()


def test_the_constant_without_oscillation_is_0():
    assert softmax_gradient_constant(fmpq(0)) == 0


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
