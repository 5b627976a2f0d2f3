"""Descent on p: instances, certificates and constants of the claims on prompts."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, rationals
from attsvm.exact.traps import is_stationary_start
from attsvm.losses import LOSSES
from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.hypotheses import exists, starts_in_basin, unique_optimum
from attsvm.primitives.losses import SLOPED
from attsvm.risk import gradient_p, gradient_w
from attsvm.strategies.data import attention_data
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.traces import TRACES
from attsvm.training import descend_p, descend_w
from benchmarks.least_failures import FLAT, QUADRILATERAL, independent, solved
from properties.mm import loss_choice, normalised_descent, w_p_equivalence
from properties.mm._support import prompt_descent as prompts
from properties.mm._support import prompt_instances as cases
from properties.mm._support import prompt_limits as limits
from properties.mm.general_data.conclusion import certified_separates
from properties.mm.normalised_descent import paced_runs
from properties.mm.normalised_descent.conclusion import close
from properties.mm.normalised_descent.paced_runs import Paced
from properties.mm.w_p_equivalence import models
from properties.mm.w_p_equivalence.conclusion import partner_run, weights_run


def with_queries(case):
    """The data of a model whose queries are all p."""
    return AttentionData(case.X, np.tile(case.p, (len(case.X), 1)), scores=case.scores)


def scored(case, scores, **changes):
    return replace(case, inputs=Keys(case.inputs.X, np.array(scores)), **changes)


def middle(vector):
    return np.array([float(arb(x)) for x in vector])


def in_balls(case, loss=None):
    """The gradient in p at the start."""
    keys, scores, start = map(BALLS.values, (case.inputs.X, case.inputs.scores, case.start))
    return prompts.prompt_gradient(BALLS, keys, scores, start, loss or case.loss)


@given(cases.promptings(attention_data()))
def test_descent_on_p_is_descent_on_the_first_column_of_w(case):
    loss = LOSSES[case.loss]
    on_p = descend_p([case.data], case.start, loss, step=0.25, steps=3, record="all").W[0]
    on_w = descend_w([case.data], case.W, loss, step=0.25, steps=3, record="all").W[0]
    np.testing.assert_allclose(on_w[:, :, 0], on_p, rtol=1e-9, atol=1e-9)
    assert not on_w[:, :, 1:].any()


@given(cases.promptings(attention_data()), st.sampled_from([*SLOPED, "logistic"]))
def test_the_gradient_in_balls_is_that_of_the_floats(case, loss):
    with ctx.workprec(128):
        exact = middle(in_balls(case, loss))
    scale = 1.0 + float(np.abs(LOSSES[loss].slope(case.inputs.scores)).max())
    np.testing.assert_allclose(
        exact, gradient_p(case.data, case.start, LOSSES[loss]), atol=1e-11 * scale
    )


@given(models.weighted())
def test_the_gradient_in_w_is_that_in_the_prompt_times_p(case):
    loss, data = LOSSES[case.loss], with_queries(case)
    in_w, in_q = gradient_w(data, case.W, loss), gradient_p(data, case.W @ case.p, loss)
    np.testing.assert_allclose(in_w, np.outer(in_q, case.p), rtol=1e-9, atol=1e-9)


def test_a_gradient_keeps_its_precision_where_weights_die():
    """At -256 the other weights are exp(-512) and less: sums by pairs know them with 64 bits."""
    with ctx.workprec(64):
        (slope,) = in_balls(replace(cases.TRAPPED, start=np.array([-256.0])))
        assert slope > 0
        assert slope.rel_accuracy_bits() > 40


@given(paced_runs.paced())
def test_a_path_in_balls_is_that_of_the_floats(run):
    assume(exists(run.case))  # else the gradient may be 0, and has no direction
    with ctx.workprec(256):
        exact = [middle(p) for p in paced_runs.path(BALLS, run, 3)]
    np.testing.assert_allclose(exact, paced_runs.float_path(run, 3), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", SLOPED)
def test_gradients_that_cancel_at_zero_do_so_for_every_loss(loss):
    case = replace(cases.STUCK, loss=loss)
    data = ExactData.of(case.data)
    assert is_stationary_start(data, rationals(case.W))
    assert prompts.prompt(case) == [fmpq(1)]
    assert limits.DIVERGENCE.balls(case) < 0
    for near in (-5.0, -3.0):
        moved = scored(case, np.array([[1.0, near, 0.0]]))
        assert not is_stationary_start(ExactData.of(moved.data), rationals(case.W))


@pytest.mark.parametrize("loss", ["correlation", "log-loss"])
def test_from_zero_the_worse_key_wins_and_a_score_higher_it_does_not(loss):
    with ctx.workprec(128):
        assert limits.certified(replace(cases.TRAPPED, loss=loss)) < 0
    saved = scored(cases.TRAPPED, np.array([[1.0, -3.0, 0.0]]), loss=loss)
    with ctx.workprec(128):
        assert limits.certified(saved) > 0


@given(cases.comparable(0), st.integers(0, 2**32 - 1))
def test_proper_starts_are_proper(drawn, seed):
    for case in (drawn, cases.gaussian(np.random.default_rng(seed))):
        if not (exists(case) and unique_optimum(case)):
            continue
        proper = prompts.properly_started(case)
        assert proper is not None
        with ctx.workprec(128):
            assert starts_in_basin(proper)
            assert limits.DIRECTION_FROM_PROPER.balls(case) > 0


def test_without_the_constant_a_start_along_p_alpha_need_not_be_proper():
    assert prompts.properly_started(prompts.prompting([[[0.0]]], [[1.0]])) is None
    many = prompts.prompting([[[1.0]] + [[0.0]] * 6], [[1.0, 0.0, *[-9.0] * 5]], [1.0], "log-loss")
    assert not starts_in_basin(many)
    assert starts_in_basin(prompts.properly_started(many))


def test_a_proper_start_minds_that_a_slope_may_peak_between_the_extreme_scores():
    keys, scores = [[[1.0], [0.0]]] * 3, [[8.0, 7.0], [0.5, -0.5], [-7.0, -8.0]]
    case = prompts.properly_started(prompts.prompting(keys, scores, [0.0], "logistic-loss"))
    assert starts_in_basin(case)


def test_where_the_first_input_is_tied_no_start_will_do():
    assert prompts.moves_aside(cases.ASIDE)
    assert prompts.prompt(cases.ASIDE) == [1, 1]
    assert not prompts.moves_aside(cases.SECOND_TRAPPED)
    assert not prompts.moves_aside(scored(cases.ASIDE, np.array([[1.0, 0.0], [1.0, 0.0]])))
    keys = [[[2.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]]
    inside = prompts.prompting(keys, cases.ASIDE.inputs.scores)
    assert not prompts.moves_aside(inside)
    assert limits.certified(cases.ASIDE) < 0
    for start in ([0.0, 0.0], [1.0, 1.0], [-3.0, 5.0]):
        run = paced_runs.path(
            BALLS, Paced(replace(cases.ASIDE, start=np.array(start)), 1.0), 3, "plain"
        )
        assert [float(arb(p[1])) for p in run] == [start[1]] * 4


def test_a_proper_start_that_fails_refutes_no_claim_on_some_start():
    with ctx.workprec(128):
        assert limits.DIRECTION_FROM_PROPER.balls(cases.THROWN) < 0
        assert limits.DIRECTION_FROM_SOME.balls(cases.THROWN) is None
        assert limits.DIRECTION_FROM_SOME.balls(cases.ASIDE) < 0
        assert limits.DIRECTION_FROM_SOME.balls(cases.TRAPPED) > 0
    assert limits.DIRECTION_FROM_SOME.floats(cases.ASIDE).violated
    assert not limits.DIRECTION_FROM_SOME.floats(cases.THROWN).violated
    # the argument takes l' < 0
    assert not prompts.moves_aside(replace(cases.ASIDE, loss="squared"))


def test_some_start_diverges_unless_nothing_ever_moves():
    assert limits.DIVERGENCE_FROM_SOME.balls(cases.TIED) < 0
    assert limits.DIVERGENCE_FROM_SOME.floats(cases.TIED).violated
    with ctx.workprec(128):
        assert limits.DIVERGENCE_FROM_SOME.balls(cases.STUCK) > 0
        assert not limits.DIVERGENCE_FROM_SOME.balls(replace(cases.STUCK, loss="logistic")) < 0


def test_nothing_moves_without_two_scores():
    assert prompts.never_moves(cases.TIED)
    assert not any(
        prompts.never_moves(c) for c in (cases.STUCK, cases.ASIDE, cases.OPPOSED, cases.TWO_KEYS)
    )
    assert limits.DIVERGENCE_FROM_PROPER.balls(cases.TIED) < 0
    assert limits.DIRECTION_FROM_PROPER.balls(cases.TIED) > 0  # started at p(alpha) it stays there


def test_one_path_for_one_input_and_not_for_two():
    one, two = (replace(x, loss="log-loss") for x in (cases.UNEVEN, cases.SECOND_TRAPPED))
    claim = loss_choice.CHOICE.claim("amended-2")
    assert claim.conclusion(one).holds
    assert claim.conclusion(two).violated
    assert claim.conclusion(one, length="same").violated
    assert claim.conclusion(replace(one, loss="correlation"), length="same").holds


@pytest.mark.parametrize(
    ("case", "one_ray"),
    [
        (loss_choice.TWO_KEYS_CENTRED, True),
        (prompts.prompting([[[1, 0], [0, 0], [1, -2]]], [[2, -1, -1]], loss="log-loss"), False),
    ],
)
def test_descent_on_two_losses_follows_one_ray_for_two_keys_and_not_for_three(case, one_ray):
    """The first steps have one direction in both cases."""
    with ctx.workprec(128):
        keys, scores, start = (
            BALLS.values(x) for x in (case.inputs.X, case.inputs.scores, case.start)
        )
        one, other = (
            prompts.descent(BALLS, keys, scores, start, loss, arb(1), 3)
            for loss in (case.loss, "correlation")
        )
        parted = [p[0] * q[1] - p[1] * q[0] for p in one[1:] for q in other[1:]]
        assert all(x.contains(0) for x in parted) == one_ray
        assert parted[0].contains(0)
        assert not one_ray or all(p[0] > 0 for p in one[1:] + other[1:])


def bound(run, k):
    """The right side of amended-1 after k steps."""
    with ctx.workprec(64):
        return float(arb(close(BALLS, run).parts[k - 1].right))


@given(st.integers(0, 2**32 - 1))
def test_the_bound_on_normalised_descent_holds_far_out(seed):
    run = paced_runs.levelled(np.random.default_rng(seed), most=1)
    u = middle(prompts.prompt(run.case))
    u /= np.linalg.norm(u)
    far = paced_runs.float_path(run, 2000)
    left = np.linalg.norm(far[-1]) - far[-1] @ u
    slope = bound(run, 1) - run.step
    assert left <= run.step + slope * (1.0 + np.log(2000.0))


def test_the_bound_needs_its_logarithm_of_rivals():
    case = prompts.prompting([[[1.0], [0.0]]], [[1.0, 0.0]])
    assert bound(Paced(case, 2.0), 1) == pytest.approx(2.0 + 1.0)
    three = prompts.prompting([[[4.0], [0.0], [0.0]]], [[1.0, 0.0, 0.0]])
    assert bound(Paced(three, 2.0), 1) == pytest.approx(2.0 + 1.0 + np.log(2.0) / 4.0)
    assert bound(Paced(case, 2.0), 2) == pytest.approx(2.0 + 1.0 + np.log(2.0))


@pytest.mark.parametrize("m", [BALLS, TRACES], ids=["balls", "traces"])
def test_progress_is_exact_where_all_differences_are_one(m):
    """Two keys of any distance, and two inputs with one difference of keys."""
    keys = [[[1.0, 1.0], [0.0, 0.0]], [[3.0, 2.0], [2.0, 1.0]]]
    twice = prompts.prompting(keys, [[1.0, 0.0], [5.0, 0.0]], [1.0, 1.0], "log-loss")
    claim = normalised_descent.DESCENT.claim("sharp")
    assert claim.conclusion(Paced(twice, 0.5)).value == 0.0
    assert claim.conclusion(Paced(twice, 0.5), share="1.001").violated
    with ctx.workprec(128):
        p = paced_runs.path(m, Paced(twice, 0.5), 16)[-1]
        moved = p[0] if m is BALLS else p[0].ball
        assert abs(float(arb(moved)) - 1.0 - 16 * 0.5 / np.sqrt(2.0)) < 1e-12


@given(models.isotropically())
def test_drawn_weights_are_isotropic(case):
    assert w_p_equivalence.isotropic(case)
    skewed = case.W + np.outer(np.eye(1, len(case.p))[0], np.ones(len(case.p)))
    assert not w_p_equivalence.isotropic(replace(case, W=skewed)) or len(case.p) == 1


@given(models.weighted(), st.booleans())
def test_both_runs_are_descents_of_the_code_in_floats(case, fixed):
    loss = LOSSES[case.loss]
    with ctx.workprec(128):
        left = [middle(p) for p in weights_run(BALLS, case, 2)]
        right = [middle(p) for p in partner_run(BALLS, case, 2, 3, "p" if fixed else "q")]
    on_w = (
        descend_w([with_queries(case)], case.W, loss, step=case.step, steps=2, record="all").W[0]
        @ case.p
    )
    keys, p = (case.X @ case.W, case.p) if fixed else (case.X, case.W @ case.p)
    data = Descent(Keys(keys, case.scores), p, case.loss).data
    on_p = descend_p([data], p, loss, step=3 * case.step, steps=2, record="all").W[0]
    for found, expected in ((left, on_w), (right, on_p @ case.W.T if fixed else on_p)):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(found).max())


@pytest.mark.parametrize(
    ("record", "change"),
    [
        (models.SKEWED, {"p": np.zeros(3)}),
        (cases.TWO_KEYS.inputs, {"scores": np.zeros((1, 3))}),
        (cases.TWO_KEYS, {"start": np.zeros(2)}),
        (cases.TWO_KEYS, {"loss": "none"}),
        (Paced(cases.TWO_KEYS, 1.0), {"step": 0.0}),
    ],
)
def test_parts_that_do_not_fit_are_refused(record, change):
    with pytest.raises(DataError):
        replace(record, **change)


ENDS = prompts.prompting(
    [[[-2, 2], [-1, 2]], [[1, 0], [-2, 0]]], [[2, -2], [0, -2]], [2, -1], "log-loss"
)
"""The inputs ask the first entry of p for opposite signs, and the second entry for nothing."""


def test_a_run_that_ends_at_a_finite_norm_in_no_direction_of_a_solution_separates_nothing():
    assert certified_separates(ENDS) < 0
    assert (
        descend_p(
            [ENDS.data], ENDS.start, LOSSES[ENDS.loss], step=0.1, steps=20000, record="all"
        ).norms.max()
        < 5
    )


def test_a_run_that_settles_at_worse_tokens_goes_to_their_solution():
    assert certified_separates(cases.TRAPPED) > 0
    assert limits.certified(cases.TRAPPED) < 0


def test_a_start_of_gradient_zero_keeps_its_direction():
    still = prompts.prompting([[[1, 0], [-1, 0]], [[1, 0], [-1, 0]]], [[1, 0], [0, 1]], [0, 1])
    for start, sign in (([0, 0], -1), ([0, 1], None)):
        found = certified_separates(replace(still, start=np.array(start, float)))
        assert found is None if sign is None else found < 0


def test_keys_of_a_quadrilateral_are_at_rest_though_every_choice_has_a_solution():
    for case in (QUADRILATERAL, FLAT):
        assert solved(case)
        assert certified_separates(case) < 0
        assert not independent(case)
    moved = scored(QUADRILATERAL, np.array([[1.0, -3.0, 4.0, -3.0]]))
    found = certified_separates(moved)
    assert found is None or found > 0
