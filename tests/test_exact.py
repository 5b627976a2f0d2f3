"""Certified evaluation against fifty digits and fractions; its proofs against float runs."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.descent import descend_w, follow_w
from attsvm.errors import DataError
from attsvm.exact import (
    ExactData,
    certified_fate,
    decide,
    descend,
    dot,
    entry_gradient,
    entry_loss,
    norm,
    rational,
    rationals,
    risk_gap,
    softmax,
)
from attsvm.exact import lipschitz as exact_lipschitz
from attsvm.exact.attention import deficit, logistic_slope, loss_drop, loss_slope
from attsvm.exact.descent import gradient, threshold
from attsvm.exact.numbers import combine, is_positive_semidefinite, spectral_norm, subtract
from attsvm.exact.traps import is_stationary_start, moves_along_margins, trapped_at
from attsvm.lipschitz import entry_gradient as float_entry_gradient
from attsvm.lipschitz import entry_loss as float_entry_loss
from attsvm.lipschitz import risk_smoothness, softmax_gradient_constant
from attsvm.losses import LOG_LOSS, LOGISTIC_LOSS, LOSSES
from attsvm.risk import gradient_w
from attsvm.risk import risk_gap as float_risk_gap
from attsvm.svm import att_svm, att_svm_programme
from properties.sim.theorem_3_14 import PULLED_APART, TWO_TOKENS
from properties.strategies import arrays, attention_data, numbers, sizes

EPS = np.finfo(float).eps
NAMES = st.sampled_from(sorted(LOSSES))
DECREASING = ["log-loss", "logistic-loss", "exponential", "correlation"]
VALUE = {
    "logistic": lambda u: 1 / (1 + mpmath.exp(-u)),
    "logistic-loss": lambda u: 1 / (1 + mpmath.exp(u)),
    "log-loss": lambda u: mpmath.log(1 + mpmath.exp(-u)),
    "exponential": lambda u: mpmath.exp(-u),
    "correlation": lambda u: -u,
    "squared": lambda u: (1 - u) ** 2,
}


@pytest.fixture(autouse=True)
def precision():
    """Every test starts at, and leaves behind, 53 bits."""
    ctx.prec = 53
    yield
    ctx.prec = 53


def real(x):
    """The float x in mpmath, exactly."""
    return mpmath.mpf(float(x))


def encloses(ball, value):
    """Whether the ball meets the interval of relative width 1e-60 about a 100-digit value."""
    before = ctx.prec
    ctx.prec = 400
    try:
        truth = arb(mpmath.nstr(value, 100))
        return bool(ball.overlaps(truth + arb(0, 1) * abs(truth) * arb("1e-60")))
    finally:
        ctx.prec = before


def fractions(nested):
    """Nested lists of fmpq as fractions."""
    if isinstance(nested, list):
        return [fractions(x) for x in nested]
    return Fraction(int(nested.p), int(nested.q))


# numbers


@settings(max_examples=200, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.fractions())
def test_rationals_have_the_exact_value(x):
    value = rational(x)
    assert Fraction(int(value.p), int(value.q)) == Fraction(x)
    assert rational(value) is value


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_exact_value(x):
    with pytest.raises(DataError, match="no exact value"):
        rational(x)


@settings(max_examples=50, deadline=None)
@given(arrays(2, 3), arrays(2, 3))
def test_vector_arithmetic_is_that_of_fractions(a, b):
    x, y = rationals(a), rationals(b)
    assert fractions(x) == [[Fraction(v) for v in row] for row in a.tolist()]
    expected = [Fraction(p) - Fraction(q) for p, q in zip(a[0], b[0], strict=True)]
    assert fractions(subtract(x[0], y[0])) == expected
    inner = sum(Fraction(p) * Fraction(q) for p, q in zip(a[0], b[0], strict=True))
    assert fractions(dot(x[0], y[0])) == inner
    assert combine([fmpq(2), fmpq(-1, 3)], x) == [
        2 * p - q / 3 for p, q in zip(x[0], x[1], strict=True)
    ]
    with mpmath.workdps(110):
        assert encloses(norm(x[0]), mpmath.sqrt(sum(real(p) ** 2 for p in a[0])))


@settings(max_examples=80, deadline=None)
@given(attention_data(), st.data())
def test_exact_data_leave_out_absent_tokens(data, draw):
    mask = draw.draw(arrays(data.n, data.T)) >= 0
    mask[:, 0] |= ~mask.any(axis=1)
    data = AttentionData(data.X, data.Z, data.y, data.v, data.scores, mask)
    exact = ExactData.of(data)
    for i in range(data.n):
        kept = np.flatnonzero(mask[i]).tolist()
        assert exact.kept[i] == kept
        assert fractions(exact.X[i]) == [[Fraction(v) for v in data.X[i, t]] for t in kept]
        scores = [Fraction(data.gamma[i, t]) for t in kept]  # exact: the entries are dyadic
        assert fractions(exact.gamma[i]) == scores
        assert exact.optimal[i] == [t for t, g in enumerate(scores) if g == max(scores)]
    assert exact.unique == all(len(rows) == 1 for rows in exact.optimal)


def test_scores_from_a_head_are_exact_where_floats_round():
    data = AttentionData.of([[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]], np.ones((1, 3)), y=[1], v=[1] * 3)
    exact = ExactData.of(data)
    assert data.gamma[0, 0] != data.gamma[0, 1]
    assert exact.gamma[0][0] == exact.gamma[0][1] == rational(0.1) + rational(0.2) + rational(0.3)
    assert not exact.unique


# matrices


@st.composite
def integer_matrices(draw, rows=(1, 4), columns=(1, 4), top=5):
    shape = draw(sizes(*rows)), draw(sizes(*columns))
    size = shape[0] * shape[1]
    entries = draw(st.lists(st.integers(-top, top), min_size=size, max_size=size))
    return np.array(entries, dtype=float).reshape(shape)


@settings(max_examples=150, deadline=None)
@given(integer_matrices())
def test_positive_semidefiniteness_is_that_of_the_eigenvalues(B):
    symmetric = B @ B.T - 3.0 * np.diag(B[:, 0])
    least = np.linalg.eigvalsh(symmetric)[0]
    assume(abs(least) > 1e-6)
    assert is_positive_semidefinite(rationals(symmetric)) == (least > 0)


@settings(max_examples=150, deadline=None)
@given(integer_matrices(columns=(1, 2)), st.integers(0, 3))
def test_singular_matrices_are_on_the_edge_exactly(B, k):
    """B B^T is semidefinite; where it is singular, any decrease of the diagonal is too much."""
    gram = rationals(B @ B.T)
    assert is_positive_semidefinite(gram)
    tiny = fmpq(1, 10**40)
    shifted = [[x - (tiny if i == j else 0) for j, x in enumerate(r)] for i, r in enumerate(gram)]
    if len(B) > np.linalg.matrix_rank(B):
        assert not is_positive_semidefinite(shifted)
    else:
        assert is_positive_semidefinite(shifted)  # the least eigenvalue of integers is not 1e-40
    negated = [[-x for x in row] for row in gram]
    assert is_positive_semidefinite(negated) == (not B.any())


@settings(max_examples=80, deadline=None)
@given(integer_matrices(columns=(2, 2)), st.integers(-30, 30))
def test_the_spectral_norm_is_enclosed_to_40_bits(B, power):
    """Against the quadratic formula for two columns, and against numpy."""
    ball = spectral_norm(rationals(B * 2.0**power))
    (a, b), (_, c) = (B.T @ B).tolist()
    with mpmath.workdps(110):
        square = (a + c + mpmath.sqrt((real(a) - c) ** 2 + 4 * real(b) ** 2)) / 2
        assert encloses(ball, mpmath.sqrt(square) * real(2.0**power))
    assert ball.rad() <= abs(ball.mid()) * arb(2) ** -39
    largest = np.linalg.norm(B, 2) * 2.0**power
    assert abs(float(ball.mid()) - largest) <= (2.0**-39 + 8 * EPS) * largest


@settings(max_examples=60, deadline=None)
@given(integer_matrices(rows=(3, 5), columns=(3, 4)))
def test_the_spectral_norm_of_larger_matrices_is_numpys(B):
    ball = spectral_norm(rationals(B))
    assert ball.rad() <= abs(ball.mid()) * arb(2) ** -39
    assert abs(float(ball.mid()) - np.linalg.norm(B, 2)) <= 2.0**-38 * np.linalg.norm(B, 2)


# attention and losses


@settings(max_examples=80, deadline=None)
@given(sizes(1, 5), st.sampled_from([1.0, 64.0, 2.0**20]), st.data())
def test_softmax_balls_hold_the_softmax(T, size, draw):
    logits = size * draw.draw(arrays(T))
    balls = softmax(rationals(logits))
    with mpmath.workdps(110):
        powers = [mpmath.exp(real(a) - real(logits.max())) for a in logits]
        for ball, power in zip(balls, powers, strict=True):
            assert encloses(ball, power / sum(powers))
    assert all(b.rad() <= 1e-13 * b.mid() for b in balls)
    assert sum(balls, arb(0)).contains(1)


@settings(max_examples=150, deadline=None)
@given(NAMES, st.floats(-40.0, 40.0), st.floats(0.0, 80.0))
def test_loss_drops_and_slopes_hold_their_values(name, best, missing):
    """Where the difference of two losses has lost everything, too: deficits go down to zero."""
    with mpmath.workdps(500):
        b, d = real(best), real(missing)
        drop = VALUE[name](b - d) - VALUE[name](b)
    if missing > 1e-300:
        assert encloses(loss_drop(name, rational(best), rational(missing)), drop)
        # a relative accuracy that subtraction does not have; the square's drop may vanish
        ball = loss_drop(name, rational(best), rational(missing))
        assert name == "squared" or ball.rad() <= 1e-12 * abs(ball.mid())
    else:
        assert loss_drop(name, rational(best), rational(0.0)) == 0
    with mpmath.workdps(250):
        slope = mpmath.diff(VALUE[name], b)
    assert encloses(loss_slope(name, rational(best)), mpmath.mpf(slope))
    if name == "logistic":
        assert encloses(logistic_slope(rational(best)), mpmath.mpf(slope))


@pytest.mark.parametrize(
    "function", [lambda: loss_slope("hinge", 0), lambda: loss_drop("hinge", 0, 1)]
)
def test_losses_without_an_exact_form_are_named(function):
    with pytest.raises(DataError, match="no exact form") as caught:
        function()
    assert caught.value.value == "hinge"


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_the_risk_gap_holds_that_of_fifty_digits_and_of_floats(data, name, draw):
    W = draw.draw(arrays(data.d, data.d))
    exact = ExactData.of(data)
    ctx.prec = 300
    ball = risk_gap(exact, rationals(W), name)
    with mpmath.workdps(2000):
        total = mpmath.mpf(0)
        for X, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
            powers = [mpmath.exp(real(a)) for a in X @ W @ z]
            attended = sum(p * real(g) for p, g in zip(powers, gamma, strict=True)) / sum(powers)
            best = max(real(g) for g in gamma)
            total += VALUE[name](attended) - VALUE[name](best)
        total /= data.n
    if all(len(set(row)) == 1 for row in exact.gamma):
        assert ball == 0
        assert all(deficit(exact, i, [arb(1)] * data.T) == 0 for i in range(data.n))
    else:
        assert abs(ball - arb(mpmath.nstr(total, 150))) <= arb("1e-60")
    if name in DECREASING and np.abs(data.gamma).max() <= 4.0:
        truth = float(total)
        assert abs(float_risk_gap(data, W, LOSSES[name]) - truth) <= 1e-12 * truth + 1e-300


@st.composite
def small_entries(draw):
    n, D = draw(sizes(1, 4)), draw(sizes(1, 3))
    return draw(arrays(n, D)), draw(arrays(D)), draw(arrays(n)), draw(numbers())


@settings(max_examples=80, deadline=None)
@given(small_entries())
def test_entry_losses_and_gradients_hold_floats_and_derivatives(case):
    """Balls at 300 bits, numeric derivatives at 60 digits, floats to their rounding.

    A gradient's roundings: at most 16 n of numbers no larger than |b| |h| |A| / 4, and those of
    the argument b <f, h> of g', which the logits (|A x| eps) and |b h| eps move.
    """
    A, x, h, b = case
    exact = rationals(A), rationals(x), rationals(h), rational(b)
    ctx.prec = 300
    value, balls = entry_loss(*exact), entry_gradient(*exact)

    def true_loss(*point):
        logits = [sum(real(a) * p for a, p in zip(row, point, strict=True)) for row in A]
        powers = [mpmath.exp(a) for a in logits]
        mean = sum(p * real(g) for p, g in zip(powers, h, strict=True)) / sum(powers)
        return 1 / (1 + mpmath.exp(-real(b) * mean))

    size = abs(b) * np.abs(h).max()
    bound = 16 * len(A) * EPS * (1.0 + np.abs(A).sum() * np.abs(x).max() + size) * (size + EPS)
    with mpmath.workdps(110):
        point = [real(p) for p in x]
        assert encloses(value, true_loss(*point))
        assert abs(float_entry_loss(A, x, h, b) - float(value)) <= bound + EPS
        mine = float_entry_gradient(A, x, h, b)
        for j, ball in enumerate(balls):
            order = tuple(int(k == j) for k in range(len(x)))
            slope = mpmath.diff(true_loss, tuple(point), order)
            assert abs(ball - arb(mpmath.nstr(slope, 100))) <= arb("1e-40")
            assert abs(mine[j] - float(ball)) <= bound * (np.abs(A).max() + EPS)


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_exact_gradients_hold_those_of_fifty_digits(data, name, draw):
    """By the numeric derivative of the risk along a random axis."""
    W = draw.draw(arrays(data.d, data.d)) / 8
    r, c = (draw.draw(st.integers(0, data.d - 1)) for _ in range(2))
    ctx.prec = 400
    G = gradient(ExactData.of(data), rationals(W), name)

    def true_risk(t):
        total = mpmath.mpf(0)
        for X, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
            powers = [
                mpmath.exp(real(a) + t * real(p[r]) * real(z[c]))
                for a, p in zip(X @ W @ z, X, strict=True)
            ]
            attended = sum(p * real(g) for p, g in zip(powers, gamma, strict=True)) / sum(powers)
            total += VALUE[name](attended)
        return total / data.n

    with mpmath.workdps(110):
        slope = mpmath.diff(true_risk, 0)
        scale = max(abs(true_risk(0)), 1)
        error = abs(arb(G[r][c]) - arb(mpmath.nstr(slope, 100)))
        assert error <= arb("1e-40") * arb(mpmath.nstr(scale, 20))


# the programme


@st.composite
def programmes(draw, top=3):
    n, T, d = draw(st.integers(1, 3)), draw(st.integers(2, 3)), draw(st.integers(1, 3))

    def block(*shape):
        size = int(np.prod(shape))
        entries = draw(st.lists(st.integers(-top, top), min_size=size, max_size=size))
        return np.array(entries, dtype=float).reshape(shape)

    scores = np.zeros((n, T))
    scores[:, 0] = 1.0
    return AttentionData(block(n, T, d), block(n, d), scores=scores)


def proves(programme, answer):
    """The conditions of `ExactAnswer` in fractions, from the constraint matrices."""
    A = [
        [Fraction(a) * Fraction(b) for a in D for b in z]
        for D, z in zip(programme.D, programme.Z, strict=True)
    ]
    duals = fractions(answer.duals)
    W = [x for row in fractions(answer.W) for x in row]
    summed = [
        sum(w * a for w, a in zip(duals, column, strict=True)) for column in zip(*A, strict=True)
    ]
    margins = [sum(a * x for a, x in zip(row, W, strict=True)) for row in A]
    assert min(duals) >= 0
    assert summed == W
    assert fractions(answer.margins) == margins
    if answer.status == "unseparable":
        assert sum(duals) > 0
        assert not any(summed)
        assert not answer.all_tight
    else:
        assert min(margins) >= 1
        assert all(m == 1 for m, w in zip(margins, duals, strict=True) if w > 0)
        assert answer.all_tight == all(m == 1 for m in margins)


@settings(max_examples=150, deadline=None)
@given(programmes(), st.data())
def test_decisions_are_proved_in_fractions_and_agree_with_floats(data, draw):
    programme = att_svm_programme(data)
    answer = decide(programme)
    proves(programme, answer)
    floats = att_svm(data)
    assert floats.status == answer.status
    m = len(programme.D)
    guess = np.array(draw.draw(st.lists(st.integers(-1, 2), min_size=m, max_size=m)), dtype=float)
    for start in (guess, floats.duals[programme.input, programme.token], np.ones(m)):
        again = decide(programme, start)
        proves(programme, again)
        assert again.status == answer.status
        assert again.status == "unseparable" or again.W == answer.W  # the minimiser is unique


def test_a_separation_finer_than_rounding_is_decided():
    """D = 1 and D = -1 with queries that differ in the last bit only, in one more direction."""
    fine = np.array([[1.0, 0.0], [-1.0, 2.0**-200]])
    data = AttentionData(
        np.stack([fine, np.zeros((2, 2))], axis=1),
        np.ones((2, 2)),
        scores=np.eye(1, 2).repeat(2, 0),
    )
    programme = att_svm_programme(data)
    answer = decide(programme)
    proves(programme, answer)
    assert answer.status == "solved"
    opposed = AttentionData(data.X * [[[1.0, 0.0]]], data.Z, scores=data.scores)
    answer = decide(att_svm_programme(opposed))
    proves(att_svm_programme(opposed), answer)
    assert answer.status == "unseparable"


# constants


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([0, 1, 2, 5, -3, -10, -20]), st.integers(1, 255))
def test_the_enclosed_softmax_constant_holds_the_float_one(power, k):
    """The float search ends on a grid about the flat top: no error but rounding remains."""
    oscillation = k / 256 * 2.0**power
    ball = exact_lipschitz.softmax_gradient_constant(rational(oscillation))
    value = softmax_gradient_constant(oscillation)
    assert abs(ball - arb(value)) <= 64 * EPS * value
    assert ball.rad() <= 1e-12 * ball.mid()


def test_constants_without_oscillation_and_of_the_logistic_function():
    assert exact_lipschitz.softmax_gradient_constant(fmpq(0)) == 0
    with mpmath.workdps(110):
        assert encloses(exact_lipschitz.logistic_curvature(), 1 / (6 * mpmath.sqrt(3)))


# descent and its fate


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("seed", range(3))
def test_enclosed_iterates_hold_the_float_run(name, seed):
    """Six steps at 200 bits; the float run adds up some hundred roundings of numbers near 1."""
    generator = np.random.default_rng(seed)
    X, Z = generator.integers(-8, 9, size=(2, 3, 2)) / 8, generator.integers(-8, 9, size=(2, 2)) / 8
    data = AttentionData(X, Z, scores=generator.integers(-8, 9, size=(2, 3)) / 8)
    W0 = generator.integers(-8, 9, size=(2, 2)) / 8
    ctx.prec = 200
    ball = descend(ExactData.of(data), rationals(W0), name, rational(0.25), 6)
    run = descend_w([data], W0, LOSSES[name], step=0.25, steps=6).W[0, -1]
    for row, mine in zip(ball, run, strict=True):
        for x, w in zip(row, mine, strict=True):
            assert x.rad() <= 1e-50
            assert abs(x - arb(float(w))) <= 200 * EPS
    assert np.abs(run - W0).max() > 1e-3


def fate_of(run, name, steps=256):
    step = rational(1.0 / risk_smoothness(run.data, LOSSES[name]))
    return certified_fate(ExactData.of(run.data), rationals(run.start), name, step, steps)


@pytest.mark.parametrize("name", ["log-loss", "logistic-loss", "exponential"])
def test_an_easy_run_is_proved_to_reach_its_basin(name):
    fate = fate_of(TWO_TOKENS, name)
    assert fate.reason == "basin"
    assert fate.converges
    assert fate.selected == [0]


def test_the_basin_is_where_the_float_run_goes():
    """The risk gap is below the threshold from the proved step on, and the direction is W^mm's."""
    data = AttentionData.of(
        [[[0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0, -1.0]]
    )
    exact, zero = ExactData.of(data), np.zeros((2, 2))
    step = 1.0 / risk_smoothness(data, LOGISTIC_LOSS)
    fate = certified_fate(exact, rationals(zero), "logistic-loss", rational(step), 256)
    assert fate.converges
    bound = float(threshold(exact, "logistic-loss"))
    run = descend_w([data], zero, LOGISTIC_LOSS, step=step, steps=fate.step + 50)
    gaps = [float_risk_gap(data, W, LOGISTIC_LOSS) for W in run.W[0]]
    assert all(gap < bound for gap in gaps[fate.step :])
    assert gaps[0] >= bound or fate.step == 0
    far = follow_w(data, zero, LOGISTIC_LOSS, [1000.0])
    solution = att_svm(data)
    # ln 2 / sqrt 2 off the ray of W^mm, see the tests of descent
    assert (far.W[0, 1] * solution.W).sum() / (far.norms[0, 1] * solution.value) > 1.0 - 1e-6


def test_the_threshold_is_the_least_drop_to_a_second_score():
    data = AttentionData.of(
        np.zeros((3, 3, 1)), np.ones((3, 1)), scores=[[2, 1, 0], [1, 1, 0.5], [3, 3, 3]]
    )
    with mpmath.workdps(110):
        drops = [VALUE["log-loss"](b) - VALUE["log-loss"](a) for a, b in ((2, 1), (1, real(0.5)))]
        assert encloses(threshold(ExactData.of(data), "log-loss"), min(drops) / 3)
    flat = AttentionData.of(np.zeros((1, 2, 1)), np.ones((1, 1)), scores=[[1, 1]])
    assert threshold(ExactData.of(flat), "log-loss") is None
    assert certified_fate(ExactData.of(flat), [[fmpq(0)]], "log-loss", fmpq(1), 4) is None


def test_the_pulled_apart_run_is_proved_to_be_trapped():
    """Input 2 keeps its worse token for ever; a long float run and the far curve agree."""
    fate = fate_of(PULLED_APART, "logistic-loss")
    assert fate.reason == "trap"
    assert not fate.converges
    assert fate.selected == [0, 1]
    data = PULLED_APART.data
    step = 1.0 / risk_smoothness(data, LOGISTIC_LOSS)
    near = descend_w([data], PULLED_APART.start, LOGISTIC_LOSS, step=step, steps=fate.step + 500)
    far = follow_w(data, PULLED_APART.start, LOGISTIC_LOSS, [100.0, 1000.0])
    for W in [*near.W[0, fate.step :], *far.W[0, 1:]]:
        assert logits_of_w(data.X, data.Z, W).argmax(axis=1).tolist() == [0, 1]


SHAPES = [(1, 2, 1), (1, 3, 2), (1, 4, 2), (2, 2, 2), (2, 3, 3), (3, 3, 2)]


def ensemble(shape):
    """40 data sets of a shape, with starts at random or towards some token of each input."""
    generator = np.random.default_rng(shape)
    n, T, d = shape
    sets, starts = [], []
    for k in range(40):
        X = generator.integers(-4, 5, size=(n, T, d)) / 2
        Z = generator.integers(-4, 5, size=(n, d)) / 2
        sets.append(AttentionData(X, Z, scores=generator.integers(-4, 5, size=(n, T)) / 2))
        start = generator.integers(-4, 5, size=(d, d)) / 2
        if k % 2:
            lead = X[np.arange(n), generator.integers(0, T, size=n)] - X.mean(axis=1)
            start = np.round(4.0 * np.einsum("nd,ne->de", lead, Z)) / 2
        starts.append(float(generator.choice([0.5, 1.0, 4.0, 16.0])) * start)
    return sets, np.array(starts)


def selected(data, points):
    return [logits_of_w(data.X, data.Z, W).argmax(axis=-1).tolist() for W in points]


@pytest.mark.parametrize("name", ["log-loss", "logistic-loss"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_run_leaves_a_proved_trap(shape, name):
    """Not by small or large steps, not on the curve to norm 1000; both kinds of start occur."""
    sets, starts = ensemble(shape)
    record = [*range(10), *range(10, 101, 10)]
    runs = [
        descend_w(sets, starts, LOSSES[name], step=step, steps=100, record=record).W
        for step in (0.1, 5.0)
    ]
    proved, left = 0, 0
    for k, data in enumerate(sets):
        chosen = trapped_at(ExactData.of(data), rationals(starts[k]), name)
        met = selected(data, [W for run in runs for W in run[k]])
        if any(tokens != met[0] for tokens in met):
            left += 1
            assert chosen is None
        if chosen is not None:
            proved += 1
            assert met[0] == chosen
            if proved <= 3:
                norms = [2.0 * np.linalg.norm(starts[k]) + 1.0, 1000.0]
                far = follow_w(data, starts[k], LOSSES[name], norms, steps=500)
                assert selected(data, far.W[0]) == [chosen] * len(far.steps)
    assert proved >= 1
    assert left >= 3


def test_increasing_losses_and_undecided_starts_are_no_traps():
    exact = ExactData.of(TWO_TOKENS.data)
    far = [[fmpq(20)]]
    assert trapped_at(exact, far, "log-loss") == [0]
    assert trapped_at(exact, far, "logistic") is None
    assert trapped_at(exact, [[fmpq(0)]], "log-loss") is None  # no token leads
    wide = [[arb(20, 30)]]
    assert trapped_at(exact, wide, "log-loss") is None  # an enclosure that holds other starts


@settings(max_examples=60, deadline=None)
@given(attention_data(), st.sampled_from(["log-loss", "correlation"]))
def test_stationary_starts_are_those_of_zero_gradient(data, name):
    """At W = 0 attention is uniform: the float gradient is zero to rounding, and else is not.

    A nonzero gradient has denominators n T^2 2^30 at most here, times a slope above e^-49 / 4.
    """
    exact, zero = ExactData.of(data), np.zeros((data.d, data.d))
    G = gradient(exact, rationals(zero), name)
    balls = [arb(x) for row in G for x in row]
    if is_stationary_start(exact, rationals(zero)):
        assert all(x.contains(0) for x in balls)
        size = 1.0 + np.abs(data.gamma).max()
        assert np.abs(gradient_w(data, zero, LOSSES[name])).max() <= 2000 * EPS * size
    elif name == "correlation":  # for other losses groups of other means might cancel
        means = {sum(row, fmpq(0)) / len(row) for row in exact.gamma}
        assert len(means) > 1 or any(not x.contains(0) for x in balls)


def test_stationary_starts_by_hand():
    opposed = AttentionData.of(
        [[[1.0], [-1.0]], [[-1.0], [1.0]]], [[1.0], [1.0]], scores=[[1, 0], [1, 0]]
    )
    assert is_stationary_start(ExactData.of(opposed), [[fmpq(0)]])
    assert not is_stationary_start(ExactData.of(opposed), [[fmpq(1)]])
    other_mean = AttentionData.of(
        [[[1.0], [-1.0]], [[-1.0], [1.0]]], [[1.0], [1.0]], scores=[[1, 0], [2, 1]]
    )
    assert not is_stationary_start(ExactData.of(other_mean), [[fmpq(0)]])
    assert not is_stationary_start(ExactData.of(TWO_TOKENS.data), [[fmpq(0)]])
    run = descend_w([opposed], np.zeros((1, 1)), LOG_LOSS, step=1.0, steps=20)
    assert not run.W.any()


@st.composite
def level_rivals(draw):
    """Data with one score for the rivals of each input's first token."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(2, 3)), draw(sizes(1, 3))
    scores = np.repeat(-np.abs(draw(arrays(n, 1))), T, axis=1)
    scores[:, 0] = 0.5
    return AttentionData(draw(arrays(n, T, d)), draw(arrays(n, d)), scores=scores)


@settings(max_examples=80, deadline=None)
@given(level_rivals(), st.sampled_from(DECREASING), st.data())
def test_descent_climbs_along_margins_wherever_that_is_claimed(data, name, draw):
    """-<grad L(X), X^mm> is positive at any X, and its ball says so."""
    exact = ExactData.of(data)
    assert moves_along_margins(exact)
    answer = decide(att_svm_programme(data))
    assume(answer.status == "solved")
    X = rationals(draw.draw(arrays(data.d, data.d)))
    ctx.prec = 1000
    G = gradient(exact, X, name)
    inner = sum(
        (arb(g) * w for a, b in zip(G, answer.W, strict=True) for g, w in zip(a, b, strict=True)),
        arb(0),
    )
    assert inner < 0


def test_uneven_rivals_and_ties_are_not_claimed_to_climb():
    zeros = np.zeros((1, 3, 1))
    uneven = AttentionData.of(zeros, np.ones((1, 1)), scores=[[2, 1, 0]])
    tied = AttentionData.of(zeros, np.ones((1, 1)), scores=[[1, 1, 0]])
    single = AttentionData.of(zeros[:, :1], np.ones((1, 1)), scores=[[1]])
    assert not any(moves_along_margins(ExactData.of(data)) for data in (uneven, tied, single))
