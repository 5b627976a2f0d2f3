"""Where the selection is lost neither a trap nor a cone is proved, and what is no escape."""

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from attsvm.data import AttentionData
from attsvm.descent import descend_w, follow_w
from attsvm.exact import ExactData, rational, rationals, separate
from attsvm.exact.cones import cone_at
from attsvm.exact.traps import trap_at, trapped_at
from tests.exact.local_runs import LOG, STEPS, THREE, column, one_dimension, plane, selected, starts


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(96):
        yield


def test_a_selection_that_any_run_loses_is_never_proved():
    """Near solutions for random tokens: short, long, plain and normalised runs tell who stays."""
    lost, proved = 0, 0
    for data, exact, W, _ in starts(15):
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
    assert lost >= 5
    assert proved >= 15


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


def test_an_enclosure_is_trapped_only_as_a_whole():
    exact = ExactData.of(THREE)
    assert trapped_at(exact, [[arb(-40, 1)]], "log-loss") == [2]
    assert cone_at(exact, [[arb(-40, 1)]], "log-loss", fmpq(1)).selected == [2]
    for ball in (arb(-40, 60), arb("nan"), arb(0, "inf")):
        assert trapped_at(exact, [[ball]], "log-loss") is None
        assert cone_at(exact, [[ball]], "log-loss", fmpq(1)) is None
