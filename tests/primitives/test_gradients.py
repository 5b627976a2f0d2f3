"""The gradient as a formula: its parts sum to it, and what cancels does so exactly."""

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from attsvm import AttentionData
from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.attention import logits, loss_slope, softmax
from attsvm.exact.descent import gradient
from attsvm.losses import LOSSES, Loss
from attsvm.primitives.att_svm import exact_constraints, flat
from attsvm.primitives.gradients import log_coefficients, negative_gradient
from attsvm.risk import gradient_w
from attsvm.strategies.data import attention_data, separable_data, starts
from attsvm.theory.arithmetic import BALLS
from properties.tf._support.descent_instances import OPPOSED, TIED


@st.composite
def placed(draw):
    data = draw(st.one_of(attention_data(), separable_data()))
    return data, draw(starts(data.d, 0, 2)), draw(st.sampled_from(sorted(LOSSES)))


def exactly(data, W, loss):
    """-grad L in balls, from the code that descends."""
    return [-x for x in flat(gradient(ExactData.of(data), rationals(W), loss))]


def coefficients(data, W, loss):
    """The coefficients c_it in balls, written out from their definition."""
    exact, found = ExactData.of(data), {}
    for i, (tokens, z, gamma) in enumerate(zip(exact.X, exact.Z, exact.gamma, strict=True)):
        s = softmax(logits(tokens, rationals(W), z))
        u = dot(s, gamma)
        for t, place in enumerate(exact.kept[i]):
            found[i, place] = -loss_slope(loss, u) * s[t] * (u - gamma[t]) / len(exact.X)
    return found


@given(placed())
def test_the_formula_of_the_gradient_is_the_gradient(case):
    data, W, loss = case
    with ctx.workprec(256):
        found, expected = negative_gradient(BALLS, data, W, loss), exactly(data, W, loss)
        for one, other in zip(found.matrix.ravel(), expected, strict=True):
            assert arb(one).overlaps(arb(other))
            assert arb(one).rad() < 1e-50
        best = [tied[0] for tied in ExactData.of(data).optimal]
        of_best = {(i, data.present[i].nonzero()[0][row]) for i, row in enumerate(best)}
        own = [-c for place, c in coefficients(data, W, loss).items() if place in of_best]
        assert arb(found.toward).overlaps(sum(own, arb(0)))
        for direction in exact_constraints(ExactData.of(data)).values():
            assert arb(found.along(BALLS, direction)).overlaps(arb(dot(expected, direction)))


@pytest.mark.parametrize("loss", ["log-loss", "logistic-loss", "correlation"])
@pytest.mark.parametrize("case", [OPPOSED, TIED])
def test_what_cancels_cancels_exactly(case, loss):
    found = negative_gradient(BALLS, case.data, case.start, loss)
    assert all(x == 0 for part in found.parts for x in part.matrix)
    assert all(x == 0 for x in found.matrix.ravel())


def test_inputs_of_one_slope_cancel_only_where_their_slopes_agree():
    X = [[[1.0], [0.0]], [[0.0], [1.0]]]
    data = AttentionData.of(X, [[1.0], [1.0]], scores=[[1.0, 0.0], [2.0, 1.0]])
    zero = np.zeros((1, 1))
    (part,) = negative_gradient(BALLS, data, zero, "correlation").parts
    assert part.matrix == [0]
    assert len(negative_gradient(BALLS, data, zero, "log-loss").parts) == 2


@given(placed())
def test_logarithms_are_those_of_the_coefficients(case):
    data, W, loss = case
    sizes = log_coefficients(data, W, loss)
    assert (sizes[~data.present] == -np.inf).all()
    with ctx.workprec(4000):  # what is left of terms that cancel is known as well
        exact = {place: float(abs(c)) for place, c in coefficients(data, W, loss).items()}
    for place, size in exact.items():
        assert abs(np.exp(sizes[place]) - size) <= 1e-9 * max(exact.values()) + 1e-300


def test_logarithms_hold_where_the_coefficients_underflow():
    data = AttentionData.of([[[0.0], [-1.0], [-2.0]]], [[1.0]], scores=[[1.0, 0.0, 0.5]])
    W = np.array([[2000.0]])
    found = log_coefficients(data, W, "log-loss")[0]
    assert (np.exp(found[1:]) == 0.0).all()
    with ctx.workprec(20000):
        exact = [float(abs(ball).log()) for ball in coefficients(data, W, "log-loss").values()]
    assert found == pytest.approx(exact, rel=1e-12)


def test_a_decreasing_loss_may_be_stationary_where_its_slope_vanishes():
    """The counterexample of tf/all-support-no-stationary to "strictly decreasing" alone."""
    cube = Loss(
        "minus the cube",
        lambda u: -(u**3),
        lambda u: -3.0 * u**2,
        lambda u: -6.0 * u,
        lambda u: np.log(3.0 * u**2),
        lambda best, deficit: best**3 - (best - deficit) ** 3,
        direction=-1,
        lipschitz=np.inf,
        smoothness=np.inf,
    )
    data = AttentionData.of([[[1.0], [-1.0]]], [[1.0]], scores=[[1.0, -1.0]])
    assert not gradient_w(data, np.zeros((1, 1)), cube).any()
    assert gradient_w(data, np.ones((1, 1)), cube).all()
