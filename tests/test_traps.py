"""Traps and cones: sets that no step leaves, where their proofs end, and runs that escape."""

from itertools import product

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.descent import descend_p, descend_w, follow_w
from attsvm.exact import (
    ExactData,
    certified_fate,
    descend,
    dot,
    rational,
    rationals,
    separate,
    softmax,
)
from attsvm.exact.attention import loss_slope
from attsvm.exact.cones import cone_at
from attsvm.exact.descent import as_prompt
from attsvm.exact.numbers import combine, subtract
from attsvm.exact.traps import Selection, trap_at, trapped_at
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOSSES
from attsvm.risk import normalised_gradient
from attsvm.theory.limits import as_matrices, prompted, residual_stays_bounded
from properties.sim.theorem_3_14 import PULLED_APART

DECREASING = ["log-loss", "logistic-loss", "exponential", "correlation"]
LOG = LOSSES["log-loss"]


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(96):
        yield


def floats(matrix):
    return np.array([[float(arb(x)) for x in row] for row in matrix])


def selected(data, points):
    return [logits_of_w(data.X, data.Z, W).argmax(axis=-1).tolist() for W in points]


def drawn(seed):
    """A data set of half integers and the solution for tokens at random, or None.

    Every third data set has scores at random; in the others tokens with a multiplier score below
    the selected one, and those off the margin at random, some of them better.
    """
    generator = np.random.default_rng(seed)
    n, T, d = (int(generator.integers(low, 4)) for low in (1, 2, 2))
    X, Z = generator.integers(-4, 5, size=(n, T, d)) / 2, generator.integers(-4, 5, size=(n, d)) / 2
    scores = generator.integers(-8, 9, size=(n, T)) / 4
    tokens = generator.integers(0, T, size=n)
    answer = separate(ExactData.of(AttentionData(X, Z, scores=scores)), tokens.tolist())
    if answer is None or answer.status != "solved":
        return None
    if seed % 3:
        pairs = [(i, t) for i in range(n) for t in range(T) if t != tokens[i]]
        scores[np.arange(n), tokens] = 0.0
        for (i, t), m in zip(pairs, answer.margins, strict=True):
            if m == 1:
                scores[i, t] = -0.25 - abs(scores[i, t])
    data = AttentionData(X, Z, scores=scores)
    return data, ExactData.of(data), floats(answer.W), generator


def starts(limit: int):
    """Points near the rays of local solutions of many data sets, at margins of 4 to 1024."""
    for seed in range(limit):
        case = drawn(seed)
        if case is None:
            continue
        data, exact, W, generator = case
        noise = generator.normal(size=W.shape) * np.linalg.norm(W)
        for factor in (4.0, 64.0, 1024.0):
            yield data, exact, np.round((factor * W + noise) * 64) / 64, generator


STEPS = [(0.125, False), (8.0, False), (0.5, True)]


def cones(limit: int, name: str = "log-loss"):
    for number, (data, exact, W, generator) in enumerate(starts(limit)):
        step, normalised = STEPS[number % 3]
        cone = cone_at(exact, rationals(W), name, rational(step), normalised=normalised)
        if cone is not None:
            yield data, W, step, normalised, cone, generator


def one_step(data, W, loss, step, normalised):
    """A step from the log domain: the plain gradient cancels where margins pass 36."""
    g = normalised_gradient(data.X, data.Z, data.gamma, W, loss)
    scale = 1.0 / np.linalg.norm(g.matrix) if normalised else np.exp(g.log_scale)
    return W + step * scale * g.matrix


def room(cone, W):
    """How far W lies inside a cone: what a exceeds a_0 by, and what is left for ||E||^2."""
    u = floats(cone.limit.W)
    u = u / np.linalg.norm(u)
    a = float((W * u).sum())
    E = W - a * u
    start, width, spread = (float(x) for x in (cone.along, cone.width, cone.spread))
    return a - start, width**2 + spread * (a - start) - float((E**2).sum())


@pytest.mark.parametrize("name", DECREASING)
def test_no_step_from_any_point_of_a_cone_leaves_it(name):
    """Points on the boundary, in random directions across u, at the tip and far out."""
    checked, several = 0, 0
    for data, _, step, normalised, cone, generator in cones(60, name):
        u = floats(cone.limit.W)
        u = u / np.linalg.norm(u)
        start, width, spread = (float(x) for x in (cone.along, cone.width, cone.spread))
        several += sum(w > 0 for w in cone.limit.duals) > 1
        for further in (0.0, 0.5, 5.0, 20.0):
            E = generator.normal(size=u.shape)
            if generator.random() < 0.5:  # towards or against one of the constraints
                i = generator.integers(data.n)
                gap = data.X[i, cone.selected[i]] - data.X[i, generator.integers(data.T)]
                E = generator.choice([-1.0, 1.0]) * np.outer(gap, data.Z[i]) + 0.01 * E
            for _ in range(2):  # once more for what is left by rounding
                E -= (E * u).sum() * u
                E /= np.linalg.norm(E)
            size = np.sqrt(width**2 + spread * further) * (1 - 1e-12)
            W = (start + further) * u + size * E
            assert selected(data, [W]) == [cone.selected]
            after = one_step(data, W, LOSSES[name], step, normalised)
            more, left = room(cone, after)
            assert more >= further - 1e-14 * np.linalg.norm(W)  # what is rounded in <W, u>
            assert left >= -1e-9 * (1.0 + size**2)
            checked += 1
    assert checked >= 100
    assert several >= 15


def test_runs_from_proved_cones_keep_their_tokens_and_converge_to_the_local_solution():
    proved, locally = 0, 0
    for data, W, step, normalised, cone, _ in cones(90):
        record = [*range(0, 40, 4), 400]
        run = descend_w(
            [data], W, LOG, step=step, steps=400, record=record, normalised=normalised
        ).W[0]
        assert selected(data, run) == [cone.selected] * len(run)
        assert all(min(room(cone, point)) >= -1e-6 for point in run)
        limit = floats(cone.limit.W)
        norms = (np.linalg.norm(W) * np.array([2.0, 20.0, 200.0])).tolist()
        far = follow_w(data, W, LOG, [*norms, max(1e4, 2 * norms[-1])], steps=4000).W[0]
        assert selected(data, far) == [cone.selected] * len(far)
        slack = residual_stays_bounded(
            data, far[1:4], LOG, limit, degenerate=bool(cone.limit.degenerate)
        )
        assert not slack.violated
        proved += slack.holds
        locally += cone.selected != data.gamma.argmax(axis=1).tolist()
    assert proved >= 35
    assert locally >= 10


def test_a_selection_that_any_run_loses_is_never_proved():
    """Near solutions for random tokens: short, long, plain and normalised runs tell who stays."""
    lost, proved = 0, 0
    for data, exact, W, _ in starts(30):
        far = follow_w(data, W, LOG, [2 * np.linalg.norm(W), 1e4], steps=1000).W[0]
        runs = [far] + [
            descend_w([data], W, LOG, step=step, steps=40, normalised=normalised).W[0]
            for step, normalised in STEPS
        ]
        loses = [any(s != selected(data, run)[0] for s in selected(data, run)) for run in runs]
        point = rationals(W)
        if any(loses):
            lost += 1
            assert trapped_at(exact, point, "log-loss") is None
        for (step, normalised), out in zip(STEPS, loses[1:], strict=True):
            cone = cone_at(exact, point, "log-loss", rational(step), normalised=normalised)
            proved += cone is not None
            assert cone is None or not (out or loses[0])
    assert lost >= 10
    assert proved >= 30


def one_dimension(tokens, scores, *more):
    X = [[[x] for x in row] for row in (tokens, *more)]
    return AttentionData.of(X, [[1.0]] * len(X), scores=scores)


THREE = one_dimension([1.0, 0.0, -1.0], [[2.0, 0.0, 1.0]])


def separatrix():
    """Where the slope of THREE in w changes sign: below, descent runs to token 2, above to 0."""
    low, high = fmpq(-8), fmpq(0)
    for _ in range(60):
        middle = (low + high) / 2
        (e,) = (arb(middle).exp(),)
        weights = [e * e, e, arb(1)]
        total = sum(weights, arb(0))
        x = (weights[0] - weights[2]) / total
        g = (2 * weights[0] + weights[2]) / total
        covariance = (2 * weights[0] - weights[2]) / total - x * g
        low, high = (middle, high) if covariance < 0 else (low, middle)
    return low, high


@pytest.mark.parametrize("apart", [fmpq(1, 10**3), fmpq(1, 10**9)])
def test_just_inside_and_just_outside_of_a_trap(apart):
    with ctx.workprec(1024):  # an enclosure loses about a bit a step
        low, high = separatrix()
        exact = ExactData.of(THREE)
        inside = certified_fate(exact, [[low - apart]], "correlation", fmpq(1, 4), 512)
        outside = certified_fate(exact, [[high + apart]], "correlation", fmpq(1, 4), 512)
        straddling = [[arb((low + high) / 2, 2 * apart)]]
        open_ = certified_fate(exact, straddling, "correlation", fmpq(1, 4), 512)
    assert (inside.selected, inside.converges, inside.settles) == ([2], False, True)
    assert inside.reason in ("trap", "cone")
    assert (outside.selected, outside.converges) == ([0], True)
    assert open_ is None


@pytest.mark.parametrize(
    "data",
    [
        one_dimension([1.0, 0.0], [[1.0, 1.0]]),  # nothing to gain
        one_dimension([1.0, 1.0, 0.0], [[1.0, 1.0, 0.0]]),  # the selected token twice
        one_dimension([1.0], [[1.0]]),  # no rival
        AttentionData.of([[[1.0], [0.0]]], [[0.0]], scores=[[1.0, 0.0]]),  # a zero query
    ],
)
def test_ties_duplicates_and_zero_queries_are_no_traps(data):
    exact, point = ExactData.of(data), [[fmpq(50)]]
    assert trap_at(exact, point, "log-loss") is None
    assert cone_at(exact, point, "log-loss", fmpq(1)) is None


def test_a_tie_of_logits_selects_nothing():
    exact = ExactData.of(one_dimension([1.0, 0.0], [[1.0, 0.0]]))
    assert Selection.at(exact, [[fmpq(0)]]) is None
    assert trap_at(exact, [[fmpq(0)]], "log-loss") is None
    assert trap_at(exact, [[fmpq(5)]], "log-loss") is not None


def test_a_trap_does_not_always_settle():
    """A better token that never falls behind, and a slope of the loss that vanishes in the limit.

    The cone knows more about the first: the worse token of the same vector outweighs it.
    """
    twin = ExactData.of(one_dimension([0.0, -1.0, -1.0], [[1.0, -1.0, 2.0]]))
    trap = trap_at(twin, [[fmpq(40)]], "log-loss")
    assert (trap.selected, trap.converges) == ([0], False)
    assert cone_at(twin, [[fmpq(40)]], "log-loss", fmpq(1)).selected == [0]
    flat = ExactData.of(one_dimension([0.0, -1.0], [[0.5, 0.0], [1.0, 0.0]], [0.0, -2.0]))
    trap = trap_at(flat, [[fmpq(40)]], "squared")
    assert (trap.selected, trap.converges) == ([0, 0], False)
    assert cone_at(flat, [[fmpq(40)]], "squared", fmpq(1)) is None


def test_masked_and_single_tokens_change_nothing():
    plain = ExactData.of(THREE)
    X = [[[1.0], [9.0], [0.0], [-1.0]], [[5.0], [0.0], [0.0], [0.0]]]
    mask = [[True, False, True, True], [True, False, False, False]]
    scores = [[2.0, 99.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.0]]
    data = AttentionData.of(X, [[1.0], [1.0]], scores=scores, mask=mask)
    for w in (-40, 40):
        point = [[fmpq(w)]]
        assert trapped_at(ExactData.of(data), point, "log-loss") == [
            *trapped_at(plain, point, "log-loss"), 0
        ]  # fmt: skip
        assert cone_at(ExactData.of(data), point, "log-loss", fmpq(1)).selected[1] == 0


def test_an_increasing_loss_keeps_only_the_worst():
    exact = ExactData.of(one_dimension([1.0, 0.0], [[1.0, 0.0]]))
    for w, name, kept in [(40, "logistic", None), (40, "log-loss", [0])]:
        assert trapped_at(exact, [[fmpq(w)]], name) == kept
        assert (cone_at(exact, [[fmpq(w)]], name, fmpq(1)) is not None) == (kept is not None)
    # the worse token is what an increasing loss selects; its lead is negative, nothing is claimed
    assert cone_at(exact, [[fmpq(-40)]], "logistic", fmpq(1)) is None


def test_the_square_is_trapped_only_where_it_falls():
    low = ExactData.of(one_dimension([1.0, 0.0], [[0.5, 0.0]]))
    high = ExactData.of(one_dimension([1.0, 0.0], [[2.0, 0.0]]))
    edge = ExactData.of(one_dimension([1.0, 0.0], [[1.0, 0.0]]))
    assert trap_at(low, [[fmpq(40)]], "squared").converges
    assert cone_at(low, [[fmpq(40)]], "squared", fmpq(1)) is not None
    for data in (high, edge):  # at 1 the slope vanishes with the missing score
        assert trap_at(data, [[fmpq(40)]], "squared") is None
        assert cone_at(data, [[fmpq(40)]], "squared", fmpq(1)) is None


def plane(*inputs, scores):
    """Inputs whose first token is 0 and whose rivals are minus the given gaps; z = e_1."""
    X = [[[0.0, 0.0], *[[-a for a in gap] for gap in gaps]] for gaps in inputs]
    return AttentionData.of(X, [[1.0, 0.0]] * len(X), scores=scores)


def column(*entries):
    return np.array([[x, 0.0] for x in entries])


def test_a_better_token_on_the_margin_is_an_escape():
    """Gaps (1, 0) and (1, 1), the second token is better and tight: it takes over."""
    data = plane([(1.0, 0.0), (1.0, 1.0)], scores=[[1.0, 0.0, 5.0]])
    W = column(20.0, 0.0)
    exact = ExactData.of(data)
    assert [m == 1 for m in separate(exact, [0]).margins] == [True, True]
    assert trap_at(exact, rationals(W), "log-loss") is None
    assert cone_at(exact, rationals(W), "log-loss", fmpq(1)) is None
    assert selected(data, follow_w(data, W, LOG, [400.0]).W[0]) == [[0], [2]]


@pytest.mark.parametrize(("tilt", "stays"), [(1.25, True), (0.75, False)])
def test_a_better_token_beyond_or_before_the_margin(tilt, stays):
    """Margins (1, tilt) along the ray: the better token returns exactly where tilt < 1."""
    data = plane([(1.0, 0.0), (tilt, 0.0)], scores=[[1.0, 0.0, 1.25]])
    exact = ExactData.of(data)
    far = selected(data, follow_w(data, column(40.0, 0.0), LOG, [2000.0]).W[0])
    assert (far == [[0], [0]]) == stays
    for proof in (
        trap_at(exact, rationals(column(40.0, 0.0)), "log-loss"),
        cone_at(exact, rationals(column(40.0, 0.0)), "log-loss", fmpq(1)),
    ):
        assert (proof is not None) == stays


def test_orthogonal_supports_need_the_cone():
    """Two constraints of equal margins: neither outruns the other, so only the cone closes."""
    data = plane([(1.0, 0.0)], [(0.0, 1.0)], scores=[[1.0, 0.0], [2.0, 0.0]])
    exact, point = ExactData.of(data), rationals(column(30.0, 31.0))
    assert trap_at(exact, point, "log-loss") is None
    cone = cone_at(exact, point, "log-loss", fmpq(1))
    assert cone.selected == [0, 0]
    assert cone.limit.W == [[1, 0], [1, 0]]


def test_a_long_step_needs_a_wider_cone_and_closes_only_further_out():
    data = plane([(1.0, 0.0)], [(-1.0, 2.0)], scores=[[1.0, 0.0], [2.0, 0.0]])
    exact, W = ExactData.of(data), separate(ExactData.of(data), [0, 0]).W
    least = []
    for step in (fmpq(1, 10), fmpq(100), fmpq(10**6)):
        for factor in range(1, 200):
            point = [[factor * x for x in row] for row in W]
            if cone_at(exact, point, "log-loss", step) is not None:
                least.append(factor)
                break
    assert least == sorted(least)
    assert least[0] < least[2]


def test_an_enclosure_is_trapped_only_as_a_whole():
    exact = ExactData.of(THREE)
    assert trapped_at(exact, [[arb(-40, 1)]], "log-loss") == [2]
    assert cone_at(exact, [[arb(-40, 1)]], "log-loss", fmpq(1)).selected == [2]
    for ball in (arb(-40, 60), arb("nan"), arb(0, "inf")):
        assert trapped_at(exact, [[ball]], "log-loss") is None
        assert cone_at(exact, [[ball]], "log-loss", fmpq(1)) is None


def test_no_step_from_any_point_of_a_trap_leaves_it():
    """Points of the set S, in exact margins, after steps of any size."""
    checked = 0
    for data, exact, W, generator in starts(40):
        trap = trap_at(exact, rationals(W), "log-loss")
        if trap is None:
            continue
        pairs = Selection.at(exact, rationals(W)).pairs
        rows = np.array(
            [np.outer(data.X[i, trap.selected[i]] - data.X[i, t], data.Z[i]) for i, t in pairs]
        ).reshape(len(pairs), -1)
        margins = rows @ W.ravel()
        least = int(margins.argmin())
        for _ in range(4):
            point = W + generator.normal(size=W.shape) * generator.choice([0.1, 1.0, 5.0])
            now = rows @ point.ravel()
            if now[least] < margins[least] or ((now - now[least]) < margins - margins[least]).any():
                continue
            after = rows @ (one_step(data, point, LOG, 1.0, True) - point).ravel()
            assert after[least] > 0.0
            assert (after - after[least] >= -1e-9).all()
            checked += 1
    assert checked >= 10


def increments(exact, pairs, tokens, margins, loss):
    """What a step of size one adds to each margin where the margins are the given ones."""
    p, A = [], []
    for i, own in enumerate(tokens):
        mine = {t: m for (k, t), m in zip(pairs, margins, strict=True) if k == i}
        gamma, rivals = exact.gamma[i], range(len(exact.X[i]))
        s = softmax([arb(0) if t == own else -arb(mine[t]) for t in rivals])
        slope = loss_slope(loss, dot(s, [arb(g) for g in gamma]))
        for t in mine:
            lead = dot(s, [arb(g - gamma[t]) for g in gamma])
            p.append(-slope * s[t] * lead / len(tokens))
            A.append([x * z for x in subtract(exact.X[i][own], exact.X[i][t]) for z in exact.Z[i]])
    pull = combine(p, A)
    return [dot(a, pull) for a in A], dot(pull, pull).upper().sqrt()


def grows_at_corners(exact, selection, trap, name, corners):
    """Whether margins grow as claimed where the least one and the gaps to it are the start's.

    Or larger by `corners`, pairs of both. The least margin grows, the others do not fall behind it,
    strictly so for better tokens where the trap settles.
    """
    start = [selection.margin[pair] for pair in selection.pairs]
    least = min(range(len(start)), key=lambda j: float(start[j]))
    for base, gaps in corners:
        more = [base + (gap if j != least else 0) for j, gap in enumerate(gaps)]
        margins = [m + rational(x) for m, x in zip(start, more, strict=False)]
        grown, size = increments(exact, selection.pairs, trap.selected, margins, name)
        if not grown[least] > 0:
            return False
        for j, pair in enumerate(selection.pairs):
            ahead = grown[j] - grown[least]
            if not ahead >= -size * rational(2.0**-60):
                return False
            if trap.converges and j != least and selection.lead[pair] < 0 and not ahead > 0:
                return False
    return True


def all_corners(pairs):
    """The start, and every choice of margins that are the start's or large; then two inner ones."""
    gaps = list(product([0.0, 30.0], repeat=pairs))
    inner = [(0.25, (0.5,) * pairs), (1.0, (0.0,) * pairs)]
    return [(base, gap) for base in (0.0, 30.0) for gap in gaps] + inner


@pytest.mark.parametrize("name", [*DECREASING, "squared", "logistic"])
def test_traps_close_only_where_margins_grow_in_all_of_the_set(name):
    """From margins of order 1 on, where every factor counts, and on the edge of closing.

    The lead over one token is scaled until the proof opens; a bound that is off by a little
    would move the edge past what the set allows.
    """
    edges, settled = 0, 0
    for seed in range(300):
        generator = np.random.default_rng(seed)
        n, T = int(generator.integers(1, 3)), int(generator.integers(2, 4))
        X, Z = generator.integers(-2, 3, size=(n, T, 2)), generator.integers(-2, 3, size=(n, 2))
        scores = generator.integers(-3, 4, size=(n, T)) / 2
        W = rationals(generator.integers(-8, 9, size=(2, 2)) / 4)
        selection = Selection.at(ExactData.of(AttentionData(X, Z, scores=scores)), W)
        if selection is None:
            continue

        i, t = selection.pairs[generator.integers(len(selection.pairs))]

        def at(power, X=X, Z=Z, scores=scores, W=W, i=i, t=t, own=selection.tokens[i]):
            scaled = np.array(scores)
            scaled[i, t] = scores[i, own] + 2.0**power * (scores[i, t] - scores[i, own])
            exact = ExactData.of(AttentionData(X, Z, scores=scaled))
            return exact, Selection.at(exact, W), trap_at(exact, W, name)

        powers = [-4.0, -1.0, 0.0, 1.0, 4.0]
        found = [at(power)[2] is not None for power in powers]
        closed = [power for power, yes in zip(powers, found, strict=True) if yes][:1]
        for k in range(4):
            if found[k] == found[k + 1]:
                continue
            inside, outside = powers[k : k + 2] if found[k] else (powers[k + 1], powers[k])
            for _ in range(10):
                middle = (inside + outside) / 2
                inside, outside = (
                    (middle, outside) if at(middle)[2] is not None else (inside, middle)
                )
            closed.append(inside)
            edges += 1
        for power in closed:
            exact, now, trap = at(power)
            assert grows_at_corners(exact, now, trap, name, all_corners(len(now.pairs)))
            settled += trap.converges
            if trap.converges:
                chosen = zip(exact.gamma, trap.selected, strict=True)
                assert all(loss_slope(name, gamma[own]) < 0 for gamma, own in chosen)
    assert edges >= (5 if name in DECREASING else 1)
    assert settled == 0 if name == "logistic" else settled >= 3


def test_traps_that_settle_converge_to_their_local_solution():
    fate = certified_fate(
        ExactData.of(PULLED_APART.data), rationals(PULLED_APART.start), "logistic-loss",
        rational(1.0 / risk_smoothness(PULLED_APART.data, LOSSES["logistic-loss"])), 256,
    )  # fmt: skip
    assert (fate.selected, fate.settles, fate.converges) == ([0, 1], True, False)
    held = 0
    for data, exact, W, _ in starts(60):
        trap = trap_at(exact, rationals(W), "log-loss")
        if trap is None or not trap.converges:
            continue
        answer = separate(exact, trap.selected)
        norms = (np.linalg.norm(W) * np.array([2.0, 20.0, 200.0])).tolist()
        far = follow_w(data, W, LOG, norms, steps=4000).W[0, 1:]
        held += residual_stays_bounded(
            data, far, LOG, floats(answer.W), degenerate=bool(answer.degenerate)
        ).holds
        assert selected(data, far) == [trap.selected] * len(far)
    assert held >= 5


def test_descent_on_a_prompt_is_descent_on_a_column():
    data = AttentionData.of(
        [[[1.0, 0.5], [0.0, 1.0], [-1.0, 0.0]], [[0.5, 0.5], [1.0, -1.0], [0.0, 0.0]]],
        [[7.0, 3.0], [0.0, 0.0]],
        scores=[[1.0, 0.0, 0.5], [2.0, 0.0, 1.0]],
    )
    exact = as_prompt(ExactData.of(data))
    p0 = np.array([0.25, -0.5])
    ball = descend(exact, [[rational(x)] for x in p0], "log-loss", fmpq(1, 2), 8)
    run = descend_p([data], p0, LOG, step=0.5, steps=8).W[0]
    same = descend_w([prompted(data)], as_matrices(p0[None])[0], LOG, step=0.5, steps=8).W[0]
    assert np.abs(as_matrices(run) - same).max() <= 1e-14
    assert all(abs(arb(float(x)) - row[0]) <= 1e-13 for x, row in zip(run[-1], ball, strict=True))
    assert np.abs(run[-1] - p0).max() > 0.1


def test_prompts_in_a_cone_keep_their_tokens():
    proved = 0
    for seed in range(40):
        case = drawn(seed)
        if case is None:
            continue
        data, exact, _, generator = case
        columns = as_prompt(exact)
        answer = separate(columns, generator.integers(0, data.T, size=data.n).tolist())
        if answer is None or answer.status != "solved":
            continue
        p0 = 256.0 * floats(answer.W)[:, 0]
        point = [[rational(x)] for x in p0]
        cone = cone_at(columns, point, "log-loss", fmpq(1, 2), normalised=True)
        if cone is None:
            continue
        proved += 1
        run = descend_p([data], p0, LOG, step=0.5, steps=2000, record=[1, 20, 200], normalised=True)
        for p in run.W[0]:
            assert (data.X @ p).argmax(axis=1).tolist() == cone.selected
        u = floats(cone.limit.W)[:, 0]
        assert (run.W[0, -1] @ u) / (run.norms[0, -1] * np.linalg.norm(u)) > 1.0 - 1e-3
    assert proved >= 5
