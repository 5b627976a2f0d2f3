"""Pulls along the constraints: floats lie within their bounds of balls, which cancel exactly."""

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm import AttentionData
from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.attention import logits, loss_slope, softmax
from attsvm.exact.descent import gradient
from attsvm.exact.numbers import combine
from attsvm.losses import LOSSES, Loss
from attsvm.risk import gradient_w
from attsvm.strategies.data import attention_data, separable_data, starts
from attsvm.theory.arithmetic import BALLS
from properties._support import descent_directions
from properties._support.gradient_coefficients import log_pulls, pulls, pushes
from properties._support.gradients import negative_gradient
from properties._support.programmes import constraints, first_optimal
from properties.tf._support.descent_instances import OPPOSED, TIED

LOSS_NAMES = sorted(LOSSES)


@st.composite
def placed(draw):
    data = draw(st.one_of(attention_data(), separable_data()))
    return data, draw(starts(data.d, 0, 2)), draw(st.sampled_from(LOSS_NAMES))


def exactly(data, W, loss):
    """-grad L in balls, from the code that descends."""
    return [[-x for x in row] for row in gradient(ExactData.of(data), rationals(W), loss)]


def coefficients(data, W, loss):
    """The pulls in balls, written out from their definition."""
    exact, found = ExactData.of(data), {}
    for i, (tokens, z, gamma) in enumerate(zip(exact.X, exact.Z, exact.gamma, strict=True)):
        s = softmax(logits(tokens, rationals(W), z))
        u = dot(s, gamma)
        for t, place in enumerate(exact.kept[i]):
            found[i, place] = -loss_slope(loss, u) * s[t] * (u - gamma[t]) / len(exact.X)
    return found


@settings(deadline=None)
@given(placed())
def test_floats_lie_within_their_bounds_of_balls(case):
    data, W, loss = case
    found = pulls(data, W, loss)
    with ctx.workprec(256):
        for place, ball in coefficients(data, W, loss).items():
            assert abs(arb(found.c[place]) - ball) <= arb(found.error[place])
        rows = zip(found.descent.tolist(), exactly(data, W, loss), strict=True)
        apart = [arb(x) - y for row, other in rows for x, y in zip(row, other, strict=True)]
        square = sum((x * x for x in apart), arb(0))
        assert square.upper().sqrt() <= arb(found.lost)  # a ball of 0 may reach below it


@settings(deadline=None)
@given(placed())
def test_the_parts_of_the_gradient_sum_to_it(case):
    data, W, loss = case
    with ctx.workprec(256):
        parts = pushes(ExactData.of(data), rationals(W), loss)
        total = combine([p.factor for p in parts], [p.matrix for p in parts])
        flat = [x for row in exactly(data, W, loss) for x in row]
        for one, other in zip(total or [arb(0)] * len(flat), flat, strict=True):
            assert arb(one).overlaps(arb(other))
            assert arb(one).rad() < 1e-50
        gained = sum((p.factor * p.toward for p in parts), arb(0))
        found = pulls(data, W, loss)
        assert abs(arb(found.toward) - gained) <= arb(found.toward_error)


@settings(deadline=None)
@given(placed(), st.sampled_from(sorted(descent_directions.SLOPES)))
def test_the_direction_of_descent_as_a_formula(case, loss):
    data, W, _ = case
    with ctx.workprec(256):
        found = descent_directions.descent_direction(BALLS, data, W, loss)
        flat = [x for row in exactly(data, W, loss) for x in row]
        for one, other in zip(found, flat, strict=True):
            assert arb(one).overlaps(arb(other))
            assert arb(one).rad() < 1e-50
        parts = descent_directions.pushes(BALLS, data, W, loss)
        old = pushes(ExactData.of(data), rationals(W), loss)
        totals = [sum((p.factor * p.toward for p in group), arb(0)) for group in (parts, old)]
        assert totals[0].overlaps(totals[1])


@pytest.mark.parametrize("case", [OPPOSED, TIED])
def test_what_cancels_in_the_formula_cancels_exactly(case):
    found = descent_directions.descent_direction(BALLS, case.data, case.start, "logistic-loss")
    assert all(x == 0 for x in found)


@settings(deadline=None)
@given(placed())
def test_a_part_holds_rational_multiples_of_one_pull(case):
    data, W, loss = case
    exact = ExactData.of(data)
    with ctx.workprec(256):
        A = constraints(exact, first_optimal(exact))
        flat = [x for row in exactly(data, W, loss) for x in row]
        parts = pushes(exact, rationals(W), loss)
        for direction in A.values():
            gained = sum((p.factor * dot(p.matrix, direction) for p in parts), arb(0))
            assert gained.overlaps(arb(dot(flat, direction)))


@settings(deadline=None)
@given(placed())
def test_the_formula_of_the_gradient_is_the_gradient(case):
    data, W, loss = case
    with ctx.workprec(256):
        found = negative_gradient(BALLS, data, W, loss)
        flat = [x for row in exactly(data, W, loss) for x in row]
        for one, other in zip(found.matrix.ravel(), flat, strict=True):
            assert arb(one).overlaps(arb(other))
            assert arb(one).rad() < 1e-50
        floats = pulls(data, W, loss)
        assert abs(arb(floats.toward) - found.toward) <= arb(floats.toward_error)


@settings(deadline=None)
@given(placed())
def test_logarithms_are_those_of_the_pulls(case):
    data, W, loss = case
    found = pulls(data, W, loss)
    sizes = np.exp(log_pulls(data, W, loss))
    assert (np.abs(sizes - np.abs(found.c)) <= 2 * found.error + 1e-12 * sizes).all()


def test_logarithms_hold_where_the_pulls_underflow():
    data = AttentionData.of([[[0.0], [-1.0], [-2.0]]], [[1.0]], scores=[[1.0, 0.0, 0.5]])
    W = np.array([[2000.0]])
    assert (pulls(data, W, "log-loss").c[0, 1:] == 0.0).all()
    found = log_pulls(data, W, "log-loss")[0]
    with ctx.workprec(20000):
        exact = [float(abs(ball).log()) for ball in coefficients(data, W, "log-loss").values()]
    assert found == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("case", [OPPOSED, TIED])
def test_what_cancels_cancels_exactly(case):
    parts = pushes(ExactData.of(case.data), rationals(case.start), case.loss)
    assert all(x == 0 for part in parts for x in part.matrix)


def test_inputs_of_one_slope_cancel_only_where_their_slopes_agree():
    X = [[[1.0], [0.0]], [[0.0], [1.0]]]
    data = AttentionData.of(X, [[1.0], [1.0]], scores=[[1.0, 0.0], [2.0, 1.0]])
    zero = [[arb(0)]]
    (part,) = pushes(ExactData.of(data), zero, "correlation")
    assert part.matrix == [0]
    assert len(pushes(ExactData.of(data), zero, "log-loss")) == 2


def test_bounds_are_not_idle():
    """Rounding comes within a factor of 1000 of its bound, which a thousandth would not hold."""
    generator, worst = np.random.default_rng(1), 0.0
    for _ in range(40):
        X, Z, W = generator.normal(size=(1, 2, 1)), generator.normal(size=(1, 1)), np.eye(1) * 6
        data = AttentionData(X, Z, scores=np.array([[1.0, 0.0]]))
        found = pulls(data, W, "correlation")
        with ctx.workprec(128):
            for place, ball in coefficients(data, W, "correlation").items():
                off = float(abs(arb(found.c[place]) - ball))
                worst = max(worst, off / found.error[place])
    assert 1e-3 < worst <= 1.0


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
