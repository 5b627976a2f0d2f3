"""Minima at a finite norm: they are enclosed, runs are proved to end there, and not elsewhere."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm._witness import noting, reading
from attsvm.data import AttentionData
from attsvm.errors import FileError
from attsvm.exact import ExactData, rational, rationals
from attsvm.exact.attention import gradient
from attsvm.exact.descent import descend, followed, followed_factors
from attsvm.exact.losses import loss_curvature
from attsvm.exact.minima import (
    NEAR,
    SLOPE,
    Frame,
    Minimum,
    factor_minimum_at,
    is_positive_definite,
    minimum_at,
)
from attsvm.limits import direction_is_proved, finite_minimum_of_factors
from attsvm.losses import LOSSES
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import certified_limit, max_margin
from attsvm.primitives.growth_rates import rate_error
from attsvm.primitives.limit_certificates import ends_at, short_step
from attsvm.risk import gradient_w
from attsvm.strategies.data import attention_data
from attsvm.training import descend_kq, descend_w
from properties._support.factor_descent import certificate, factored
from properties.mm._support import prompt_limits
from properties.mm._support.prompt_descent import prompting
from properties.sim._support import margins, training
from properties.sim._support.margins import certified_end
from properties.sim.token_sparsity import gradient_shares
from properties.tf._support import descent_instances as cases
from tests.exact.digits import EPS, VALUE

BITS = 96
ENCLOSED = replace(
    Descent.of(
        [[[3, 3], [-2, 3], [2, 2]], [[2, 1], [-1, -2], [0, -2]]],
        [[1, 0]] * 2,
        scores=[[-1, -3, 0], [-2, 0, -4]],
    ),
    loss="correlation",
)
"""X^mm has w = (-1, -5), and from zero descent on -u ends at w = (0.873, 0.355)."""
FREED = replace(
    ENCLOSED, inputs=replace(ENCLOSED.data, scores=np.array([[-3.0, -3, 0], [-2, 0, -4]]))
)
"""The same where the rivals of the first input score the same, so that the norm diverges."""


def test_a_planted_minimum_refutes_what_is_said_of_the_limit():
    zero = rationals(ENCLOSED.start)
    end = ends_at(ENCLOSED.data, zero, "correlation")
    exact = ExactData.of(ENCLOSED.data)
    with ctx.workprec(200):
        w = [arb(row[0]) for row in end.near]
    assert abs(w[0] - fmpq(873, 1000)) < fmpq(1, 1000)
    assert abs(w[1] - fmpq(355, 1000)) < fmpq(1, 1000)
    assert end.radius < 1e-9
    for share in (0.5, -0.5):  # the norm over ln k tends to 0
        assert rate_error(ENCLOSED.data, ENCLOSED.start, "correlation", fmpq(1), share) == -0.5

    def risk(*point):
        total = mpmath.mpf(0)
        for tokens, scores in zip(ENCLOSED.data.X, ENCLOSED.data.gamma, strict=True):
            s = [mpmath.exp(x[0] * point[0] + x[1] * point[1]) for x in tokens.tolist()]
            total -= mpmath.fsum(a * g for a, g in zip(s, scores.tolist(), strict=True)) / sum(s)
        return total

    with mpmath.workprec(120):
        slopes = [lambda *p, o=o: mpmath.diff(risk, p, o) for o in ((1, 0), (0, 1))]
        root = mpmath.findroot(lambda *p: [f(*p) for f in slopes], (0.9, 0.4))
        for x, ball in zip(root, w, strict=True):
            assert abs(x - mpmath.mpf(float(ball.mid()))) <= float(end.radius.upper()) + 1e-15
    assert certified_limit(ENCLOSED, "optimal") < 0
    assert certified_end(ENCLOSED, "least", "optimal") < 0
    assert rate_error(ENCLOSED.data, ENCLOSED.start, "correlation", fmpq(26), 1.0) == -1
    W = np.array([[float(arb(x)) for x in row] for row in max_margin(ENCLOSED.data, "optimal")])
    step = float(arb(short_step(ENCLOSED.data, "correlation")))
    loss = LOSSES["correlation"]
    lost = direction_is_proved(ENCLOSED.data, ENCLOSED.start, loss, W, step=8 * step, steps=128)
    assert lost.violated
    assert minimum_at(exact, zero, zero, "correlation", arb(step)) is None


LOSS = "correlation"
PROMPT, DESCENT = prompting(ENCLOSED.data.X, ENCLOSED.data.gamma), cases.descent(ENCLOSED, LOSS)


@pytest.mark.parametrize(
    "refute",
    [
        lambda: training.DIRECTION.balls(ENCLOSED),
        lambda: margins.SLOPE.balls(ENCLOSED, 1),
        lambda: gradient_shares.FADING.balls(ENCLOSED),
        lambda: gradient_shares.EXPONENT.balls(ENCLOSED),
        lambda: training.NORM.balls(ENCLOSED),
        lambda: prompt_limits.DIRECTION.balls(PROMPT),
        lambda: prompt_limits.DIVERGENCE.balls(PROMPT),
        lambda: prompt_limits.RATE.balls(PROMPT),
        lambda: cases.DIRECTION.balls(DESCENT),
        lambda: cases.DIVERGES.balls(DESCENT),
        lambda: cases.RATE.balls(DESCENT),
    ],
)
def test_conclusions_on_limits_are_refuted_there(refute):
    assert refute() < 0


def test_a_run_beside_it_that_diverges_is_not_refuted():
    assert ends_at(FREED.data, rationals(FREED.start), "correlation") is None
    assert certified_limit(FREED, "optimal") is None
    run = descend_w(FREED.data, FREED.start, "correlation", step=1.0, steps=20000, record=[20000])
    assert run.norms[0, -1] > 3.0


def test_no_proposal_places_a_minimum_where_there_is_none():
    """Whatever point and bend a witness proposes: a find holds the end of the run."""
    generator, found = np.random.default_rng(0), 0
    end = ends_at(ENCLOSED.data, rationals(ENCLOSED.start), LOSS)
    truth = [float(arb(row[0]).mid()) for row in end.near]
    for run in (ENCLOSED, FREED):
        exact, zero, step = ExactData.of(run.data), rationals(run.start), arb(fmpq(1, 64))
        frame = Frame.of(exact, LOSS)
        for k in range(60):
            W = [[rational(truth[0] + (k % 3) / 64), fmpq(0)], [rational(truth[1]), fmpq(0)]]
            coordinates, bend = frame.newton(zero, W) or [0.0, 0.0, 1.0], generator.normal()
            *c, mu = coordinates
            size = 10.0 ** generator.integers(-12, -1 + k % 3)
            wrong = [x + size * generator.normal() for x in c]
            mu = [mu, -mu, mu / 2, mu * abs(bend), bend * size][k % 5]
            with reading({NEAR: [[x.hex() for x in (*wrong, mu)]]}):
                told = minimum_at(exact, zero, W, LOSS, step)
            if told is not None:
                found += 1
                assert run is ENCLOSED
                away = [float(arb(a[0]).mid()) - b for a, b in zip(told.near, truth, strict=True)]
                assert np.hypot(*away) <= float(told.radius.upper()) + 1e-8
    assert found >= 5


@pytest.mark.parametrize("proposal", [[], ["0x1.0p+0"], [1, 1, 1], "0x1.0p+0", [["0x1.0p+0"] * 3]])
def test_a_proposal_of_another_shape_is_an_error(proposal):
    exact, zero = ExactData.of(ENCLOSED.data), rationals(ENCLOSED.start)
    with reading({NEAR: [proposal]}), pytest.raises(FileError, match="the witness in the file"):
        minimum_at(exact, zero, zero, LOSS, arb(1))


def followed_near():
    """The data, the start, the step and an iterate that is near the minimum."""
    exact, zero = ExactData.of(ENCLOSED.data), rationals(ENCLOSED.start)
    step = short_step(ENCLOSED.data, "correlation")
    with ctx.workprec(640):
        return exact, zero, step, followed(exact, zero, "correlation", step, 512)


@pytest.mark.parametrize("width", ["1e-12", "1e-6", "1", "100"])
def test_an_enclosure_that_is_too_wide_is_refused(width):
    """The run is near the minimum; balls about it are refused once they may leave its bowl."""
    exact, zero, step, W = followed_near()
    wide = [[arb(w.mid(), width), v] for w, v in W]
    found = minimum_at(exact, zero, wide, "correlation", arb(step))
    assert (found is not None) == (float(width) < 0.01)


def test_a_step_that_is_too_long_is_refused():
    exact, zero, _, W = followed_near()
    frame = Frame.of(exact, "correlation")
    H = np.array([[float(x.mid()) for x in row] for row in frame.hessian(W, arb(0))])
    G = np.array([[float(arb(x)) for x in row] for row in frame.metric])
    longest = 2.0 / np.linalg.eigvals(np.linalg.solve(G, H)).real.max()
    for share in (0.99, 1.01):
        found = minimum_at(exact, zero, W, "correlation", arb(share * longest))
        assert (found is not None) == (share < 1.0)


@given(attention_data(n=(1, 3), T=(2, 3), d=(1, 2)), st.sampled_from(sorted(LOSSES)), st.data())
def test_the_hessian_is_the_slope_of_the_gradient(data, name, draw):
    """Along the basis, by differences of float gradients, at a point that is not zero."""
    exact, W = ExactData.of(data), np.cos(np.arange(data.d**2, dtype=float)).reshape(data.d, data.d)
    frame = Frame.of(exact, name)
    assume(frame is not None)
    H = frame.hessian(rationals(W), arb(0))
    rows = [np.array([float(arb(x)) for x in frame.A[j]]) for j in frame.basis]
    h = 2.0**-18 / max(1.0, *(np.abs(A).max() for A in rows))

    for j, A in enumerate(rows):
        shift = h * A.reshape(W.shape)
        ends = (gradient_w(data, W + sign * shift, LOSSES[name]) for sign in (1, -1))
        bent = np.subtract(*ends).ravel() / (2 * h)
        for k, B in enumerate(rows):
            size = np.linalg.norm(A) * np.linalg.norm(B)
            assert abs(float(H[j][k].mid()) - bent @ B) <= 1e-5 * (1 + size**2)


def test_equal_scores_leave_nothing_to_descend_along():
    data = AttentionData.of([[[1.0, 0.0], [0.0, 1.0]]], [[1.0, 2.0]], scores=[[0.5, 0.5]])
    assert Frame.of(ExactData.of(data), "log-loss") is None
    assert not gradient_w(data, np.eye(2), LOSSES["log-loss"]).any()


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_curvatures_are_those_of_200_bits(name):
    with mpmath.workprec(200):
        for u in (-3.0, -0.5, 0.0, 0.25, 2.0):
            true = mpmath.diff(VALUE[name], u, 2)
            assert abs(
                mpmath.mpf(float(loss_curvature(name, fmpq(int(4 * u), 4)).mid())) - true
            ) < (4 * EPS)


def test_elimination_decides_balls_of_symmetric_matrices():
    edge = [[arb(2), arb(1)], [arb(1), arb(0.5, 0.125)]]
    assert not is_positive_definite(edge)  # one of them is singular
    assert is_positive_definite([[arb(2), arb(1)], [arb(1), arb(0.75, 0.125)]])
    assert not is_positive_definite([[arb(-1), arb(0)], [arb(0), arb(1)]])
    assert not is_positive_definite([[arb("nan")]])
    assert not is_positive_definite([[arb(0)]])
    assert not is_positive_definite([[arb(1), arb(1)], [arb(1), arb(1)]])


def test_long_runs_are_enclosed_as_short_ones_are():
    exact, zero = ExactData.of(ENCLOSED.data), rationals(ENCLOSED.start)
    one, other = (f(exact, zero, "log-loss", fmpq(1, 8), 12) for f in (descend, followed))
    assert all(
        a.overlaps(b) for r, s in zip(one, other, strict=True) for a, b in zip(r, s, strict=True)
    )
    assert max(float(w.rad()) for row in other for w in row) < 1e-20
    wide = [[arb(0, "1e-6"), arb(0)], [arb(0), arb(0)]]
    first = followed(exact, wide, "log-loss", fmpq(1, 8), 1)
    ends = [
        descend(exact, [[rational(x), fmpq(0)], [fmpq(0)] * 2], "log-loss", fmpq(1, 8), 1)
        for x in (-1e-6, 1e-6)
    ]
    assert all(first[r][0].contains(end[r][0]) for end in ends for r in range(2))


BENT = AttentionData.of([[[4.0], [-4.0], [-2.0], [3.0]]], [[1.0]], scores=[[1.0, -1.0, 0.0, -4.0]])
AT = -0.430850755
"""X^mm = 1; the risk of the loss -u has a minimum near AT, where no token has won."""


def test_descent_on_keys_and_queries_ends_at_a_planted_minimum():
    K, Q, loss = np.array([[1.0]]), np.array([[-0.5]]), "correlation"
    step = short_step(BENT, loss, 0.5)
    end = finite_minimum_of_factors(BENT, rationals(K), rationals(Q), loss, step)
    run = descend_kq(BENT, K, Q, loss, step=float(arb(step)), steps=5000, record=[4999, 5000])
    assert abs(run.W[0, -1, 0, 0] - AT) < 1e-8
    assert abs(end.near[0][0] - rational(run.W[0, -1, 0, 0])) <= end.radius + fmpq(1, 10**12)
    assert end.radius < 1e-4
    assert certificate(replace(factored(BENT, K, Q), loss=loss, step=0.5)) == -1
    assert (
        certificate(replace(factored(BENT, K, -Q), loss=loss, step=0.5)) is None
    )  # to the optimal token
    assert finite_minimum_of_factors(BENT, rationals(K), rationals(-Q), loss, step) is None


@pytest.mark.parametrize(
    ("factor", "width", "closes"),
    [(1, "1e-9", True), (1, "1", False), (100, "1e-9", False)],
)
def test_weights_too_far_apart_and_steps_too_long_are_refused(factor, width, closes):
    k = rational((-AT) ** 0.5)
    K, Q = [[arb(k, width)]], [[arb(-k, width)]]
    step = arb(short_step(BENT, "correlation", factor))
    found = factor_minimum_at(ExactData.of(BENT), K, Q, "correlation", step)
    assert (found is not None) == closes


@pytest.mark.parametrize(
    ("share", "proved"), [(0.5, True), (1.0, True), (4.0, False), (1e9, False)]
)
def test_a_proposed_bound_of_the_slopes_counts_only_where_it_is_proved(share, proved):
    K, Q = [[fmpq(3, 4)]], [[fmpq(-1, 2)]]
    frame = Frame.of(ExactData.of(BENT), "correlation")
    with noting() as noted:
        own = frame.least_slopes(K, Q)
    (least,) = noted[SLOPE]
    with reading({SLOPE: [(share * float.fromhex(least)).hex()]}):
        found = frame.least_slopes(K, Q)
    assert own > 0
    assert (found > 0) is proved
    assert found == 0 or found.overlaps(own * arb(share).sqrt() * arb(1, EPS))


def test_descent_on_keys_and_queries_from_balls_encloses_that_from_their_ends():
    exact, step = ExactData.of(BENT), fmpq(1, 8)
    k, q, wide = fmpq(1), fmpq(-1, 2), fmpq(1, 100)
    for K, Q in (([[arb(k, arb(wide))]], [[q]]), ([[k]], [[arb(q, arb(wide))]])):
        ball = followed_factors(exact, K, Q, "correlation", step, 2)
        for sign in (-1, 1):
            point = [[[arb(M[0][0]).mid() + sign * arb(M[0][0]).rad()]] for M in (K, Q)]
            ends = followed_factors(exact, *point, "correlation", step, 2)
            assert all(M[0][0].contains(end[0][0]) for M, end in zip(ball, ends, strict=True))


def test_minima_at_weights_without_slopes_are_not_claimed():
    """At K = 0 with Q = 0 the slopes vanish, be W a minimum or not."""
    zero = [[fmpq(0)]]
    assert factor_minimum_at(ExactData.of(BENT), zero, zero, "correlation", arb("1e-3")) is None
    large, small = (
        [[fmpq(10) ** 200]],
        [[rational(AT) / fmpq(10) ** 200]],
    )  # beyond what floats tell
    assert factor_minimum_at(ExactData.of(BENT), large, small, "correlation", arb("1e-3")) is None


BOWL = AttentionData.of([[[1.0], [-1.0], [2.0], [-2.0]]], [[1.0]], scores=[[1.0, 1.0, 0.0, 0.0]])
"""The risk of the loss -u is least at 0, where it bends by 3/4."""


def test_weights_where_the_slopes_are_exactly_0_are_their_own_limit():
    one, zero = [[fmpq(1)]], [[fmpq(0)]]
    found = factor_minimum_at(ExactData.of(BOWL), one, zero, "correlation", arb("1e-3"))
    assert (found.near, found.radius) == (zero, 0)
    assert minimum_at(ExactData.of(BOWL), zero, zero, "correlation", arb("1e-3")).radius == 0


@pytest.mark.parametrize("far", [fmpq(0), fmpq(10) ** 3, fmpq(10) ** 400])
def test_maxima_and_what_floats_do_not_hold_are_not_claimed(far):
    """At 0 the slope is exactly 0 and the risk is greatest; far away nothing bends."""
    hill = AttentionData.of(BOWL.X, BOWL.Z, scores=-BOWL.gamma)
    for data in (hill, BOWL) if far else (hill,):
        exact = ExactData.of(data)
        assert minimum_at(exact, [[fmpq(0)]], [[far]], "correlation", arb("1e-3")) is None
        factors = [[fmpq(1)]], [[far]]
        assert factor_minimum_at(exact, *factors, "correlation", arb("1e-3")) is None


@given(st.integers(1, 16), st.integers(1, 128))
def test_descent_has_to_end_within_a_quarter_of_what_its_slopes_bend(k, q):
    """With rho = 4 g/(mu sqrt(nu)), 3 g <= rho mu (sqrt(nu) - rho) says rho <= sqrt(nu)/4."""
    exact = ExactData.of(BOWL)
    K, Q = [[fmpq(k, 128)]], [[fmpq(k, 128) * fmpq(q, 4096)]]
    frame, W = Frame.of(exact, "correlation"), [[K[0][0] * Q[0][0]]]
    _, mu = frame.proposal(W, W)
    [[g]] = gradient(exact, W, "correlation")
    square = frame.least_slopes(K, Q) ** 2
    found = factor_minimum_at(exact, K, Q, "correlation", arb("1e-3"))
    assert (found is not None) == bool(16 * abs(g) <= mu * square)


def test_equal_weights_that_tend_to_0_do_not_end_at_a_minimum_below_0():
    """The minimum is at -0.00065, and K Q stays above 0 where K = Q: the run ends at 0."""
    scores = [[1.0, 1.0, 0.0, 2.0**-10]]
    exact = ExactData.of(AttentionData.of(BOWL.X, BOWL.Z, scores=scores))
    for power in range(2, 9):
        K = [[fmpq(1, 2**power)]]
        assert factor_minimum_at(exact, K, K, "correlation", arb("1e-3")) is None
    [[slope]] = gradient(exact, [[fmpq(0)]], "correlation")
    assert slope > 0


@pytest.mark.parametrize("bits", [12, 24])
def test_rounding_is_enclosed_on_the_way_as_well(bits):
    """From K = Q = 1, so that both round alike, and of W from 1; truth is found with 400 bits."""
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    exact, one, step = ExactData.of(data), [[fmpq(1)]], fmpq(1, 10)

    def runs():
        factors = followed_factors(exact, one, one, "correlation", step, 12)
        return [M[0][0] for M in (*factors, followed(exact, one, "correlation", step, 12))]

    with ctx.workprec(400):
        truth = runs()
    with ctx.workprec(bits):
        found = runs()
    for ball, narrow in zip(found, truth, strict=True):
        assert ball.contains(narrow)
        assert ball.rad() < 2.0 ** (12 - bits)


@given(st.floats(0.5, 4.0))
def test_rounding_adds_to_what_the_start_leaves_open(size):
    """Whether the start is as wide as the rounding of twelve steps, or less, or more."""
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 0.0]])
    exact, step, width = ExactData.of(data), fmpq(1, 10), rational(size * 2.0**-20)
    with ctx.workprec(24):
        [[ball]] = followed(exact, [[arb(1, arb(width))]], "correlation", step, 12)
    for end in (1 - width, 1 + width):
        with ctx.workprec(400):
            [[narrow]] = followed(exact, [[end]], "correlation", step, 12)
        assert ball.contains(narrow)


def test_weights_of_two_rows_end_there_as_well():
    """At (K, Q) of the minimum in two coordinates, of which the steps of floats are enclosed."""
    exact, _, step, W = followed_near()
    K, Q = [[2 * row[0].mid()] for row in W], [[fmpq(1, 2)], [fmpq(0)]]
    found = factor_minimum_at(exact, K, Q, "correlation", arb(step) / 64)
    assert found.radius < 1e-3
    assert abs(found.near[1][0] - W[1][0]) <= found.radius
    start = [np.array([[1.0], [0.5]]), np.array([[-0.5], [2.0]])]
    ends = followed_factors(exact, *map(rationals, start), "correlation", fmpq(1, 8), 4)
    run = descend_kq(ENCLOSED.data, *start, "correlation", step=0.125, steps=4, record="all")
    for M, floats in zip(ends, (run.K, run.Q), strict=True):
        last = zip(M, floats[0, -1].tolist(), strict=True)
        assert all(abs(m - rational(x)) < 1e-12 for (m,), (x,) in last)


def test_the_angle_of_an_end_is_measured_where_it_is_proved():
    near, edge = [[fmpq(1), fmpq(1)]], [[fmpq(1), fmpq(0)]]
    assert abs(Minimum(near, arb("1e-30")).apart(edge) + fmpq(1, 2)) < 1e-12
    assert Minimum(near, arb("1e-30")).apart([[fmpq(-1), fmpq(0)]]) == -1
    assert Minimum(near, arb(2)).apart(edge) is None
    assert Minimum(near, arb("1e-30")).apart(near) is None


def test_two_inputs_of_one_score_move_nothing():
    data = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1.0, 1.0]])
    assert minimum_at(ExactData.of(data), [[fmpq(0)]], [[fmpq(0)]], "log-loss", arb(1)) is None
