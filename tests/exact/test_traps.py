"""Traps: sets that no step leaves, where their proofs end, and runs that escape."""

from itertools import product

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, decide, dot, limit_certificate, rational, rationals, softmax
from attsvm.exact.cones import cone_at
from attsvm.exact.descent import gradient
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import combine, subtract
from attsvm.exact.traps import (
    Selection,
    decayed,
    is_stationary_start,
    moves_along_margins,
    trap_at,
    trapped_at,
)
from attsvm.losses import LOSSES
from attsvm.risk import gradient_w
from attsvm.strategies import arrays, sizes
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm_programme
from attsvm.training import descend_w, follow_w
from tests.exact.digits import DECREASING, EPS
from tests.exact.local_runs import LOG, STEPS, THREE, column, one_dimension, plane, selected, starts

BITS = 96


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
        inside = limit_certificate(exact, [[low - apart]], "correlation", fmpq(1, 4), 512)
        outside = limit_certificate(exact, [[high + apart]], "correlation", fmpq(1, 4), 512)
        straddling = [[arb((low + high) / 2, 2 * apart)]]
        open_ = limit_certificate(exact, straddling, "correlation", fmpq(1, 4), 512)
    assert (inside.selected, inside.converges, inside.settles) == ([2], False, True)
    assert inside.reason in ("trap", "cone")
    assert (outside.selected, outside.converges) == ([0], True)
    assert open_ is None


def test_a_tie_of_logits_selects_nothing():
    exact = ExactData.of(one_dimension([1.0, 0.0], scores=[[1.0, 0.0]]))
    assert Selection.at(exact, [[fmpq(0)]]) is None
    assert trap_at(exact, [[fmpq(0)]], "log-loss") is None
    assert trap_at(exact, [[fmpq(5)]], "log-loss") is not None


@pytest.mark.parametrize("power", [0, 1, 40])
def test_a_selection_is_sure_however_small_its_margins(power):
    exact = ExactData.of(one_dimension([1.0, 0.0], scores=[[1.0, 0.0]]))
    selection = Selection.at(exact, [[fmpq(1, 2**power)]])
    assert selection.tokens == [0]
    assert selection.margin[0, 1] == fmpq(1, 2**power)


def test_a_trap_closes_by_the_least_weights_of_selected_tokens():
    """Two inputs of small margins with opposed gradients: half a weight would not do."""
    data = AttentionData.of(
        [[[2, 0], [-1, 0]], [[2, 2], [-2, -2]]], [[1, 0]] * 2, scores=[[-3, -1], [0, 1]]
    )
    trap = trap_at(ExactData.of(data), [[fmpq(-1, 8), fmpq(0)], [fmpq(-1, 4), fmpq(0)]], "log-loss")
    assert (trap.selected, trap.converges) == ([1, 1], True)


def test_a_trap_does_not_always_settle():
    """A better token that never falls behind, and a slope of the loss that vanishes in the limit.

    The cone knows more about the first: the worse token of the same vector outweighs it.
    """
    twin = ExactData.of(one_dimension([0.0, -1.0, -1.0], scores=[[1.0, -1.0, 2.0]]))
    trap = trap_at(twin, [[fmpq(40)]], "log-loss")
    assert (trap.selected, trap.converges) == ([0], False)
    assert cone_at(twin, [[fmpq(40)]], "log-loss", fmpq(1)).selected == [0]
    flat = ExactData.of(one_dimension([0.0, -1.0], [0.0, -2.0], scores=[[0.5, 0.0], [1.0, 0.0]]))
    trap = trap_at(flat, [[fmpq(40)]], "squared")
    assert (trap.selected, trap.converges) == ([0, 0], False)
    assert cone_at(flat, [[fmpq(40)]], "squared", fmpq(1)) is None


def test_inputs_that_do_not_act_on_each_other_are_kept_at_margins_of_any_sizes():
    """Margins 12 and 48; the second input keeps its second-best token, the best one at 64."""
    X = [[[1.0, 0.0], [0.0, 0.0], [-3.0, 0.0]], [[0.0, 1.0], [0.0, 0.0], [0.0, -3.0]]]
    data = AttentionData.of(X, [[1.0, 0.0]] * 2, scores=[[3.0, -3.0, 0.0], [2.0, -3.0, 0.0]])
    exact, W = ExactData.of(data), column(12.0, -16.0)
    trap = trap_at(exact, rationals(W), "log-loss")
    assert (trap.selected, trap.converges) == ([0, 2], True)
    assert cone_at(exact, rationals(W), "log-loss", fmpq(1)) is None
    assert trap_at(exact, rationals(column(12.0, -0.25)), "log-loss") is None
    far = follow_w(data, W, LOG, [100.0, 1000.0]).W[0]
    assert selected(data, far) == [[0, 2]] * 3
    assert abs(far[-1][0, 0] + 3.0 * far[-1][1, 0]) < 8.0  # (1, -1/3) is the solution


@pytest.mark.parametrize(
    ("gaps", "start"),
    [
        ([(1.0, 0.0), (0.0, 1.0), (-1.0, 1.0)], (3.0, 4.0)),
        ([(2.0, 1.0), (1.0, 0.0), (-1.0, 2.0)], (3.0, 2.5)),
    ],
)
def test_a_third_input_that_acts_on_one_of_a_group_joins_it(gaps, start):
    """Without it the two are kept; it drags one of them back."""
    scores = [[1.0, 0.0], [1.0, 0.0], [0.0, -9.0]]
    two, three = (plane(*([g] for g in gaps[:n]), scores=scores[:n]) for n in (2, 3))
    W = column(*start)
    assert trap_at(ExactData.of(two), rationals(W), "log-loss").selected == [0, 0]
    assert trap_at(ExactData.of(three), rationals(W), "log-loss") is None
    run = descend_w([three], W, LOG, step=0.5, steps=100, record="all").W[0]
    margins = [[W[:, 0] @ gap for gap in gaps] for W in (run[0], run[-1])]
    assert min(b - a for a, b in zip(*margins, strict=True)) < -0.25


def test_one_group_that_does_not_settle_leaves_the_direction_open():
    """A better token of the same vector as a worse one never falls behind it."""
    gaps, scores = [[(1.0, 0.0)] * 2, [(0.0, 1.0)] * 2], [[1, -1, 2], [1, 0, 0]]
    for order in ([0, 1], [1, 0]):
        data = plane(*(gaps[i] for i in order), scores=[scores[i] for i in order])
        trap = trap_at(ExactData.of(data), rationals(column(40.0, 40.0)), "log-loss")
        assert (trap.selected, trap.converges) == ([0, 0], False)


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
    added = combine(p, A)
    return [dot(a, added) for a in A], dot(added, added).upper().sqrt()


def groups(exact, pairs, tokens):
    """Places of pairs in groups that are orthogonal to each other, input by input."""
    A = [
        [x * z for x in subtract(exact.X[i][tokens[i]], exact.X[i][t]) for z in exact.Z[i]]
        for i, t in pairs
    ]
    label = [i for i, _ in pairs]
    for j, k in product(range(len(pairs)), repeat=2):
        if dot(A[j], A[k]) != 0:
            label = [label[k] if x == label[j] else x for x in label]
    return [[j for j, x in enumerate(label) if x == name] for name in set(label)]


def grows_at_corners(exact, selection, trap, name):
    """Whether margins grow as claimed where the least one and the gaps to it are the start's.

    Or larger, group by group. The least margin grows, the others do not fall behind it, strictly
    so for better tokens where the trap settles.
    """
    start = [selection.margin[pair] for pair in selection.pairs]
    for mine in groups(exact, selection.pairs, trap.selected):
        least = min(mine, key=lambda j: float(start[j]))
        for base, gaps in all_corners(len(mine)):
            margins = list(start)
            for j, gap in zip(mine, gaps, strict=True):
                margins[j] += rational(base + (gap if j != least else 0))
            grown, size = increments(exact, selection.pairs, trap.selected, margins, name)
            if not grown[least] > 0:
                return False
            for j in mine:
                ahead = grown[j] - grown[least]
                if not ahead >= -size * rational(2.0**-60):
                    return False
                better = selection.lead[selection.pairs[j]] < 0
                if trap.converges and j != least and better and not ahead > 0:
                    return False
    return True


def all_corners(pairs):
    """The start, and every choice of margins that are the start's or large; then two inner ones."""
    gaps = list(product([0.0, 30.0], repeat=pairs))
    inner = [(0.25, (0.5,) * pairs), (1.0, (0.0,) * pairs)]
    return [(base, gap) for base in (0.0, 30.0) for gap in gaps] + inner


@pytest.mark.parametrize(
    ("name", "level"),
    [*((name, 0.0) for name in [*DECREASING, "squared", "logistic"]), ("logistic-loss", -4.0)],
)
def test_traps_close_only_where_margins_grow_in_all_of_the_set(name, level):
    """From margins of order 1 on, where every factor counts, and on the edge of closing.

    The lead over one token is scaled until the proof opens; a bound that is off by a little
    would move the edge past what the set allows.
    """
    edges, settled, apart = 0, 0, 0
    for seed in range(300):
        generator = np.random.default_rng(seed)
        n, T = int(generator.integers(1, 3)), int(generator.integers(2, 4))
        X, Z = generator.integers(-2, 3, size=(n, T, 2)), generator.integers(-2, 3, size=(n, 2))
        scores = level + generator.integers(-3, 4, size=(n, T)) / 2
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

        powers = [-4.0, 0.0, 4.0]
        found = [at(power)[2] is not None for power in powers]
        closed = [power for power, yes in zip(powers, found, strict=True) if yes][:1]
        for k in range(2):
            if found[k] == found[k + 1]:
                continue
            inside, outside = powers[k : k + 2] if found[k] else (powers[k + 1], powers[k])
            for _ in range(12):
                middle = (inside + outside) / 2
                inside, outside = (
                    (middle, outside) if at(middle)[2] is not None else (inside, middle)
                )
            closed.append(inside)
            edges += 1
        for power in closed:
            exact, now, trap = at(power)
            assert grows_at_corners(exact, now, trap, name)
            settled += trap.converges
            apart += len(groups(exact, now.pairs, trap.selected)) > 1
            if trap.converges:
                chosen = zip(exact.gamma, trap.selected, strict=True)
                assert all(loss_slope(name, gamma[own]) < 0 for gamma, own in chosen)
    assert edges >= (5 if name in DECREASING else 1)
    assert settled == 0 if name == "logistic" else settled >= 3


def test_a_selection_that_any_run_loses_is_never_proved():
    """Near solutions for random tokens: short, long, plain and normalised runs tell who stays."""
    lost, proved = 0, 0
    for data, exact, W, _ in starts(15):
        far = follow_w(data, W, LOG, [2 * np.linalg.norm(W), 1e4], steps=1000).W[0]
        runs = [far] + [
            descend_w([data], W, LOG, step=step, steps=40, normalised=normalised, record="all").W[0]
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
    assert lost >= 5
    assert proved >= 15


@pytest.mark.parametrize(
    "data",
    [
        one_dimension([1.0, 0.0], scores=[[1.0, 1.0]]),  # nothing to gain
        one_dimension([1.0, 1.0, 0.0], scores=[[1.0, 1.0, 0.0]]),  # the selected token twice
        one_dimension([1.0], scores=[[1.0]]),  # no rival
        AttentionData.of([[[1.0], [0.0]]], [[0.0]], scores=[[1.0, 0.0]]),  # a zero query
    ],
)
def test_ties_duplicates_and_zero_queries_are_no_traps(data):
    exact, point = ExactData.of(data), [[fmpq(50)]]
    assert trap_at(exact, point, "log-loss") is None
    assert cone_at(exact, point, "log-loss", fmpq(1)) is None


def test_an_increasing_loss_keeps_only_the_worst():
    exact = ExactData.of(one_dimension([1.0, 0.0], scores=[[1.0, 0.0]]))
    for w, name, kept in [(40, "logistic", None), (40, "log-loss", [0])]:
        assert trapped_at(exact, [[fmpq(w)]], name) == kept
        assert (cone_at(exact, [[fmpq(w)]], name, fmpq(1)) is not None) == (kept is not None)
    # the worse token is what an increasing loss selects; its lead is negative, nothing is claimed
    assert cone_at(exact, [[fmpq(-40)]], "logistic", fmpq(1)) is None


def test_an_enclosure_is_trapped_only_as_a_whole():
    exact = ExactData.of(THREE)
    assert trapped_at(exact, [[arb(-40, 1)]], "log-loss") == [2]
    assert cone_at(exact, [[arb(-40, 1)]], "log-loss", fmpq(1)).selected == [2]
    for ball in (arb(-40, 60), arb("nan"), arb(0, "inf")):
        assert trapped_at(exact, [[ball]], "log-loss") is None
        assert cone_at(exact, [[ball]], "log-loss", fmpq(1)) is None


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
    else:  # groups of inputs with other means might cancel
        means = {sum(row, fmpq(0)) / len(row) for row in exact.gamma}
        assert len(means) > 1 or any(not x.contains(0) for x in balls)


def test_gradients_that_cancel_at_means_of_one_numerator_are_not_stationary():
    """Mean scores 1/2 and 1/3, gradients 1/3 and -1/3: they cancel where l' is constant."""
    data = AttentionData.of(
        [[[1.0], [-1.0], [0.0]], [[-1.5], [0.0], [0.0]]],
        [[1.0], [1.0]],
        scores=[[1.0, 0.0, 0.5], [1.0, 0.0, 0.0]],
    )
    exact, zero = ExactData.of(data), [[fmpq(0)]]
    assert not is_stationary_start(exact, zero)
    assert gradient(exact, zero, "correlation")[0][0].contains(0)
    assert not gradient(exact, zero, "log-loss")[0][0].contains(0)


@pytest.mark.parametrize("margin", [arb(2), arb(2, 1), arb(0.5, 0.5)])
def test_ratios_are_enclosed_for_every_margin_of_a_ball_and_every_larger_one(margin):
    ball = decayed(margin)
    for m in (margin.lower(), margin.mid(), margin.upper(), arb(50)):
        assert ball.contains((-m).exp())
    assert ball.contains(0)
    assert ball.upper() < (-margin.lower()).exp() + 1e-6


@st.composite
def level_rivals(draw):
    """Data with one score for the rivals of each input's first token."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(2, 3)), draw(sizes(1, 3))
    scores = np.repeat(-np.abs(draw(arrays(n, 1))), T, axis=1)
    scores[:, 0] = 0.5
    return AttentionData(draw(arrays(n, T, d)), draw(arrays(n, d)), scores=scores)


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
