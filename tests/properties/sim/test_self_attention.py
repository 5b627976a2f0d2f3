"""Self-attention as inputs of `AttentionData`: the loss of the definitions, and what is proved."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given

from attsvm.errors import DataError
from attsvm.losses import LOSSES
from attsvm.primitives.descent_runs import max_margin
from attsvm.risk import gradient_w
from attsvm.theory.arithmetic import BALLS
from attsvm.training import descend_w
from properties.sim import PRINTED, REPAIRED
from properties.sim._support import self_attention as cases
from properties.sim._support.self_attention import decided, descending, sequences
from properties.sim.printed_loss.conclusion import OTHER_WAY, lowers, proved_rate, rate, turned

BOTH = "X(k) or X(k)^T"


def summed_loss(case, X, g):
    """The sum of g(b <f, h>) over sequences, positions and columns, by definitions 3.1 to 3.6."""
    total = 0.0
    m, n, _ = case.inputs.tokens.shape
    for l0 in range(m):
        A = case.inputs.tokens[l0]
        kronecker = np.kron(A, A)
        for j0 in range(n):
            there = slice(0, j0 + 1 if case.inputs.causal else n)
            u = np.exp(kronecker[j0 * n : (j0 + 1) * n] @ X.reshape(-1))[there]
            f = u / u.sum()
            for i0 in range(case.inputs.values.shape[1]):
                h = (A @ case.inputs.values[:, i0])[there]
                total += g(np.array([case.inputs.labels[l0, j0, i0] * (f @ h)]))[0]
    return total


@given(sequences(-2))
def test_descent_on_the_inputs_is_descent_on_the_sum_of_the_entries(case):
    loss = LOSSES[REPAIRED]
    data, d = case.data, len(case.start)
    gradient = data.n * gradient_w(data, case.start.T / 4, loss).T
    h, X = 2.0**-20, case.start / 4
    for place in np.ndindex(d, d):
        E = np.zeros((d, d))
        E[place] = h
        sides = [summed_loss(case, X + sign * E, loss.value) for sign in (1, -1)]
        slope = (sides[0] - sides[1]) / (2 * h)
        assert abs(slope - gradient[place]) <= 1e-6 * (1.0 + np.abs(gradient).max() * 64)


def test_which_of_x_and_its_transpose_is_judged():
    case = cases.SIDEWAYS
    balls = [decided(case, side=side) for side in ("X(k)", "X(k)^T", BOTH)]
    assert [bool(ball > 0) for ball in balls] == [False, True, True]


def test_causal_positions_do_not_see_later_tokens():
    case = cases.asking([[[1, 0], [2, 1], [5, 7]]], [[0, 1, 0]], causal=True)
    data = case.data
    assert data.present.tolist() == np.tri(3, dtype=bool).tolist()
    assert replace(case, inputs=replace(case.inputs, causal=False)).data.present.all()
    assert data.gamma[1].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.eye(3)},
        {"start": np.zeros((1, 1))},
        {"labels": np.zeros((1, 2, 2))},
        {"labels": np.full((1, 2, 2), 1 / 3), "values": np.full((2, 2), 0.1)},
    ],
)
def test_parts_that_do_not_fit_are_refused(change):
    case = cases.SENTENCE
    with pytest.raises(DataError):
        replace(case if "start" in change else case.inputs, **change)


def test_scores_are_labels_times_values():
    case = descending([[[1, 2], [3, 5]]], [[[2], [0]]], [[1], [-1]], causal=False)
    assert case.data.gamma.tolist() == [[-2.0, -4.0]]
    assert case.data.Z.tolist() == [[1.0, 2.0]]


@given(sequences(-2))
def test_the_printed_loss_is_the_decreasing_one_for_the_labels_turned_round(case):
    other = turned(case)
    printed, decreasing = (
        gradient_w(data, case.W, LOSSES[loss])
        for data, loss in ((case.data, PRINTED), (other.data, REPAIRED))
    )
    assert np.allclose(printed, decreasing, rtol=1e-12, atol=1e-300)


def test_the_rate_is_that_of_the_lowest_tokens_and_no_other():
    line = replace(cases.LINE, loss=PRINTED)
    for share, holds in ((1, True), (Fraction(19, 20), False), (Fraction(21, 20), False)):
        assert bool(proved_rate(line, Fraction(share)) >= 0) is holds
        found = rate(line, Fraction(share))
        assert found.holds is holds
    assert proved_rate(turned(cases.NO_QUERY)) < 0


@pytest.mark.parametrize("case", [cases.LINE, cases.SENTENCE, OTHER_WAY])
def test_a_step_lowers_the_inner_product_that_is_judged(case):
    target = max_margin(case.data, "optimal")
    W = np.array([[float(arb(x)) for x in row] for row in target])
    run = descend_w([case.data], case.W, LOSSES[PRINTED], step=0.5, steps=1, record="all")
    moved = run.W[0, -1] - case.W
    assert (moved * W).sum() < 0
    assert lowers(BALLS, replace(case, loss=PRINTED)).right > 0
