"""Token separation and the shares of tokens: identities behind the claims, and their power."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from attsvm import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, descend, dot, rationals
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import exact_att_svm, exact_constraints, first_optimal, flat
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import runs
from attsvm.primitives.gradients import log_coefficients
from attsvm.primitives.hypotheses import exists
from attsvm.risk import gradient_w
from attsvm.strategies.data import separable_data
from attsvm.theory.arithmetic import BALLS
from attsvm.training import descend_w, follow_w
from properties._support.small_runs import PASSED_OVER, TWO_TOKENS
from properties.sim import PRINTED, REPAIRED, figure_2
from properties.sim._support import margins
from properties.sim._support.redundant_tokens import Dropped
from properties.sim.figure_2.conclusion import TORN, certified_convergence, converges
from properties.sim.token_sparsity import SPARSITY
from properties.sim.token_sparsity import gradient_shares as shares
from properties.sim.token_sparsity.instances import (
    FROM_BASIN,
    FROM_ZERO,
    THREE,
    TWO_INPUTS,
    redundant_basin,
)

STEP = fmpq(1, 8)


def margins_at(data, X):
    exact = ExactData.of(data)
    A = exact_constraints(exact, first_optimal(exact))
    return [dot(a, [x for row in X for x in row]) for a in A.values()]


def grown(run, of):
    """What a step of size 1 adds to the margins, or to their mean."""
    return [c.right for c in margins.growth(BALLS, run, of).parts]


@given(runs(separable_data(), 0))
def test_a_step_adds_its_size_times_the_growth_to_each_margin(run):
    with ctx.workprec(256):
        X = rationals(run.start)
        after = descend(ExactData.of(run.data), X, REPAIRED, STEP, 1)
        pairs = zip(margins_at(run.data, after), margins_at(run.data, X), strict=True)
        added = [arb(one - other) / arb(STEP) for one, other in pairs]
        assert added
        (mean,) = grown(run, "mean")
        assert arb(mean).overlaps(sum(added, arb(0)) / len(added))
        pairs = zip(grown(run, "least"), added, strict=True)
        assert all(arb(one).overlaps(other) for one, other in pairs)


@given(runs(separable_data().filter(exists), 0))
def test_what_the_solution_gains_is_the_mean_of_margins_weighted_by_its_multipliers(run):
    with ctx.workprec(256):
        found = exact_att_svm(run.data)
        gained, _ = margins.step_along_solution(BALLS, run)
        after = descend(ExactData.of(run.data), rationals(run.start), REPAIRED, STEP, 1)
        before = flat(rationals(run.start))
        moved = [arb(x - y) / arb(STEP) for x, y in zip(flat(after), before, strict=True)]
        weighted = sum((w * dot(found.A[t], moved) for t, w in found.duals.items()), arb(0))
        assert arb(gained).overlaps(weighted)


@pytest.mark.parametrize("run", [TWO_TOKENS, replace(TWO_TOKENS, start=np.array([[2.0]]))])
def test_where_the_printed_loss_ends_is_proved(run):
    with ctx.workprec(128):
        assert margins.certified_end(replace(run, loss=PRINTED), "least", "optimal") < 0
        assert margins.certified_end(run, "least", "optimal") > 0


def test_no_run_separates_what_no_matrix_does():
    data = AttentionData.of([[[1.0], [0.0]]] * 2, [[1.0], [-1.0]], scores=[[1.0, 0.0]] * 2)
    run = replace(TWO_TOKENS, inputs=data)
    assert margins.certified_end(run, "least", "optimal") < 0
    assert margins.certified_end(run, "largest", "optimal") < 0  # both margins stay 0


def test_a_margin_that_ends_at_a_finite_norm_is_not_above_every_bound():
    scores = [[1.0, 0.0], [1.5, 0.5]]
    held = AttentionData.of([[[1.0], [0.0]]] * 2, [[1.0], [-1.0]], scores=scores)  # at ln 3
    for run, beyond in ((replace(TWO_TOKENS, inputs=held), False), (TWO_TOKENS, True)):
        assert margins.certified_end(run, "largest", "optimal") > 0
        found = margins.certified_without_bound(run, "largest", "optimal")
        assert found > 0 if beyond else found < 0


def test_slopes_that_are_wrong_by_a_twentieth_are_seen():
    run = replace(TWO_TOKENS, start=np.array([[4.0]]))
    assert margins.slope(run, 1.0).holds
    assert margins.slope(run, 0.95).violated
    assert margins.slope(run, 1.05).violated


# shares


def share(data, X, token):
    sizes = log_coefficients(data, np.array([[X]]), REPAIRED)
    return sizes[0, token] - np.logaddexp.reduce(sizes[0])


@pytest.mark.parametrize("X", [10.0, 300.0, 5000.0, 1e6])
def test_the_share_of_a_token_is_its_closed_form_at_any_norm(X):
    # with e = exp(-X) the gradients are as e (1 - e^2), e^2 (2 + e), and their sum e (1 + 2 e)
    e, rounding = np.exp(-X), 1e-15 * X
    near = np.log1p(-(e**2)) - np.log(2) - np.log1p(2 * e)
    far = -X + np.log1p(e / 2) - np.log1p(2 * e)
    assert share(THREE, X, 1) == pytest.approx(near, rel=1e-13, abs=rounding)
    assert share(THREE, X, 2) == pytest.approx(far, rel=1e-13, abs=rounding)


def test_which_shares_vanish_is_proved_and_measured():
    cases = [
        (FROM_ZERO, PRINTED, "others", False),
        (FROM_ZERO, PRINTED, "optimal", True),
        (TWO_INPUTS, PRINTED, "others", True),
        (TWO_INPUTS, PRINTED, "optimal", False),
        (PASSED_OVER, REPAIRED, "others", False),
        (FROM_BASIN, REPAIRED, "others", True),
        (FROM_BASIN, REPAIRED, "support", False),
        (FROM_BASIN, REPAIRED, "optimal", False),
    ]
    for start, loss, which, vanishes in cases:
        run = replace(start, loss=loss)
        with ctx.workprec(128):
            assert bool(shares.certified_fading(run, which) > 0) is vanishes
        slack = shares.fades(run, which)
        assert slack.holds is vanishes
        assert slack.violated is not vanishes


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(redundant_basin(), st.sampled_from([0.95, 1.05]))
def test_exponents_are_measured_closely_enough_to_tell_others_from_them(run, factor):
    assume(all(h.holds(run) for h in SPARSITY.claim("sharp-3").hypotheses))
    right = shares.exponent(run, 1.0)
    assume(right.kind != "unknown")
    assert right.holds
    assert shares.exponent(run, factor).violated


def test_a_tight_token_without_multiplier_is_not_said_to_keep_its_share():
    """Gaps (1, 0), (1, 1): token 2 has margin 1 and multiplier 0; its share falls like 1/norm."""
    data = AttentionData.of(
        [[[0, 0], [-1, 0], [-1, -1], [-2, 5], [-5, 0]]], [[1, 0]], scores=[[0, -1, -1, 1, -1]]
    )
    run = replace(TWO_TOKENS, inputs=data, start=np.array([[24.0, 0.0], [0.0, 0.0]]))
    path = follow_w(data, run.start, LOSSES[REPAIRED], [1e3, 1e4, 1e5])
    sizes = [log_coefficients(data, W, REPAIRED)[0] for W in path.W[0, 1:]]
    share = [np.exp(s[2] - np.logaddexp.reduce(s)) for s in sizes]
    assert share[2] < 0.11 * share[1] < 0.011 * share[0]
    assert shares.certified_fading(run, "others") is None


def test_a_mask_of_dropped_tokens_fits_the_data():
    with pytest.raises(DataError, match="does not fit"):
        Dropped(THREE, np.zeros((1, 2), dtype=bool))


def test_margins_of_a_language_converge_only_where_its_sentences_hold_each_other():
    held, free = TORN, figure_2.SHORTEST
    for loss in (PRINTED, REPAIRED):
        for of in ("largest", "least"):
            assert converges(replace(held, loss=loss), of).holds
            assert certified_convergence(replace(held, loss=loss), of) > 0
            assert converges(replace(free, loss=loss), of).violated
            assert certified_convergence(replace(free, loss=loss), of) < 0


def test_the_margin_of_one_sentence_gains_the_same_with_every_tenfold_of_the_steps():
    data, record = figure_2.SHORTEST.data, [10**3, 10**4, 10**5]
    run = descend_w(
        [data], np.zeros((1, 1)), LOSSES[REPAIRED], step=1.0, steps=10**5, record=record
    )
    gained = np.diff(run.W[0, :, 0, 0][-3:])
    assert np.allclose(gained, np.log(10), rtol=0.02)


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("alike", [True, False])
def test_the_first_step_lowers_a_margin_as_much_as_said(n, alike):
    """The last input is opposed to all others: its gradient is as theirs, or tiny."""
    gap = 1.0 if alike else 1e-9
    scores = np.array([[0.5, -0.5]] * (n - 1) + [[gap / 2, -gap / 2]])
    X = np.array([[[2.0], [0.0]]] * (n - 1) + [[[-2.0], [0.0]]])
    run = Descent(AttentionData(X, np.ones((n, 1)), scores=scores), np.zeros((1, 1)))
    gained = (X[:, 0] - X[:, 1]) @ -gradient_w(run.data, run.start, LOSSES[REPAIRED])
    slope = -LOSSES[REPAIRED].slope(np.zeros(1))[0]
    said = margins.lowered(BALLS, run, alike)
    assert abs(float(said.left) + gained.min()) < 1e-12
    assert abs(float(said.right) - float(said.left)) < 1e-8
    assert abs(float(said.right) - slope * (1 - (1 + alike) / n)) < 1e-12  # ||A||^2 = 4
