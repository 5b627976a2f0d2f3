"""Descent on p: instances, certificates and constants of the claims on prompts."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.descent import descend_p, descend_w
from attsvm.errors import DataError
from attsvm.exact import ExactData, certified_fate, rational, rationals
from attsvm.exact.traps import is_stationary_start, trapped_at
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOSSES
from attsvm.risk import gradient_p, gradient_w
from attsvm.strategies.data import attention_data
from properties.mm import (
    loss_choice,
    normalised_descent,
    theorem_1_direction,
    theorem_1_norm,
    w_p_equivalence,
)
from properties.mm._support.prompt_descent import (
    DECREASING,
    Prompting,
    certify_limit,
    iterates,
    moves_aside,
    near_basin,
    never_moves,
    p_exists,
    prompt,
    prompt_gradient,
    properly_started,
    starts_in_basin,
    unique,
)
from properties.mm._support.prompt_instances import (
    ASIDE,
    OPPOSED,
    PULLED,
    STUCK,
    TIED,
    TRAPPED,
    TRAPPED_NEAR,
    TWO_KEYS,
    UNEVEN,
    comparable,
    gaussian,
    promptings,
)
from properties.mm.normalised_descent.paced_runs import (
    OVERSTEPPED,
    Paced,
    bound,
    kept,
    levelled,
    path,
)
from properties.mm.w_p_equivalence.paired_runs import (
    isotropic_square,
    isotropically,
    prompts_of,
    weighted,
)

QUICK = settings(max_examples=40, deadline=None)


def middle(vector):
    return np.array([float(arb(x)) for x in vector])


@QUICK
@given(promptings(attention_data()))
def test_descent_on_p_is_descent_on_the_first_column_of_w(case):
    loss = LOSSES[case.loss]
    on_p = descend_p([case.data], case.start, loss, step=0.25, steps=3).W[0]
    on_w = descend_w([case.data], case.run.start, loss, step=0.25, steps=3).W[0]
    np.testing.assert_allclose(on_w[:, :, 0], on_p, rtol=1e-9, atol=1e-9)
    assert not on_w[:, :, 1:].any()


@QUICK
@given(promptings(attention_data()))
def test_the_gradient_in_balls_is_that_of_the_floats(case):
    with ctx.workprec(128):
        exact = prompt_gradient(ExactData.of(case.data), rationals(case.start), case.loss)
    scale = 1.0 + float(np.abs(LOSSES[case.loss].slope(case.scores)).max())
    np.testing.assert_allclose(
        middle(exact), gradient_p(case.data, case.start, LOSSES[case.loss]), atol=1e-11 * scale
    )


@QUICK
@given(weighted())
def test_the_gradient_in_w_is_that_in_the_prompt_times_p(case):
    loss = LOSSES[case.loss]
    in_w, in_q = gradient_w(case.data, case.W, loss), gradient_p(case.data, case.W @ case.p, loss)
    np.testing.assert_allclose(in_w, np.outer(in_q, case.p), rtol=1e-9, atol=1e-9)


def test_a_run_keeps_its_precision_where_weights_die():
    """The lost weight is exp(-128): with 128 bits the pairs still know it, differences do not."""
    with ctx.workprec(256):
        last = iterates(TRAPPED, 1.0, 32, normalised=True)[-1]
        assert abs(last[0] + 32) < arb(2) ** -40


@pytest.mark.parametrize("loss", DECREASING)
def test_pulls_that_cancel_at_zero_do_so_for_every_loss(loss):
    case = replace(STUCK, loss=loss)
    data = ExactData.of(case.data)
    assert is_stationary_start(data, rationals(case.run.start))
    assert prompt(case) == [fmpq(1)]
    assert theorem_1_norm.certify(case) < 0
    for near in (-5.0, -3.0):
        moved = replace(case, scores=np.array([[1.0, near, 0.0]]))
        assert not is_stationary_start(ExactData.of(moved.data), rationals(case.run.start))


@pytest.mark.parametrize("loss", ["correlation", "log-loss"])
def test_from_zero_the_worse_key_wins_and_a_score_higher_it_does_not(loss):
    with ctx.workprec(128):
        assert certify_limit(replace(TRAPPED, loss=loss)) < 0
    saved = replace(TRAPPED, scores=np.array([[1.0, -3.0, 0.0]]), loss=loss)
    with ctx.workprec(128):
        assert certify_limit(saved) > 0


def test_the_threshold_is_between_100_and_105_percent():
    assert near_basin(TRAPPED_NEAR)
    assert not starts_in_basin(TRAPPED_NEAR)
    assert not near_basin(replace(TRAPPED_NEAR, start=np.array([-2.0])))
    with ctx.workprec(128):
        assert theorem_1_direction.certify(TRAPPED_NEAR) < 0


@QUICK
@given(comparable(0), st.integers(0, 2**32 - 1))
def test_proper_starts_are_proper(drawn, seed):
    for case in (drawn, gaussian(np.random.default_rng(seed))):
        if not (p_exists(case) and unique(case)):
            continue
        proper = properly_started(case)
        assert proper is not None
        with ctx.workprec(128):
            assert starts_in_basin(proper)
            assert theorem_1_direction.certify_proper(case) > 0


def test_without_the_constant_a_start_along_p_alpha_need_not_be_proper():
    wide = replace(TWO_KEYS, keys=np.zeros((1, 1, 1)), scores=np.array([[1.0]]))
    assert properly_started(wide) is None
    many = Prompting(
        np.array([[[1.0]] + [[0.0]] * 6]),
        np.array([[1.0, 0.0, *[-9.0] * 5]]),
        np.ones(1),
        "log-loss",
    )
    assert not starts_in_basin(many)
    assert starts_in_basin(properly_started(many))


def test_where_the_first_input_is_tied_no_start_will_do():
    assert moves_aside(ASIDE)
    assert prompt(ASIDE) == [1, 1]
    assert not moves_aside(PULLED)
    assert not moves_aside(replace(ASIDE, scores=np.array([[1.0, 0.0], [1.0, 0.0]])))
    inside = replace(ASIDE, keys=np.array([[[2.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]]))
    assert not moves_aside(inside)
    for start in ([0.0, 0.0], [1.0, 1.0], [-3.0, 5.0]):
        run = iterates(replace(ASIDE, start=np.array(start)), 1.0, 3)
        assert [float(arb(p[1])) for p in run] == [start[1]] * 4


def test_nothing_moves_without_two_scores():
    assert never_moves(TIED)
    assert not any(never_moves(c) for c in (STUCK, ASIDE, OPPOSED, TWO_KEYS))
    assert theorem_1_norm.certify_proper(TIED) < 0
    assert theorem_1_direction.certify_proper(TIED) > 0  # started at p(alpha) it stays there


@pytest.mark.parametrize(("loss", "reached"), [("correlation", -1), ("exponential", 1)])
def test_the_loss_decides_which_input_is_lost(loss, reached):
    with ctx.workprec(128):
        assert reached * certify_limit(replace(loss_choice.DIVIDED, loss=loss)) > 0


def test_one_path_for_one_input_and_not_for_two():
    one, two = replace(UNEVEN, loss="log-loss"), replace(PULLED, loss="log-loss")
    assert loss_choice.amended_2.conclusion(one).holds
    assert loss_choice.amended_2.conclusion(two).violated
    with ctx.workprec(128):
        assert loss_choice.exact_direction(one, "correlation", None) < arb(2) ** -60
        assert loss_choice.exact_direction(two, "correlation", None) > arb(2) ** -8


def test_a_step_of_length_two_is_thrown_where_plain_descent_is_not():
    data, start = ExactData.of(OVERSTEPPED.case.data), rationals(OVERSTEPPED.case.run.start)
    step = rational(1.0 / risk_smoothness(OVERSTEPPED.case.data, LOSSES["correlation"]))
    with ctx.workprec(256):
        fate = certified_fate(data, start, "correlation", step, 256)
        assert fate.converges
        assert fate.selected == [0, 0]
        assert kept(OVERSTEPPED, 64) == [1, 0]
        assert normalised_descent.certify_same(OVERSTEPPED) < 0
        third = iterates(OVERSTEPPED.case, 2.0, 2, normalised=True)[-1]
        again = replace(OVERSTEPPED.case, start=middle(third))
        assert trapped_at(data, rationals(again.run.start), "correlation") == [1, 0]


@QUICK
@given(st.integers(0, 2**32 - 1))
def test_the_bound_on_normalised_descent_holds_far_out_and_progress_is_linear(seed):
    run = levelled(np.random.default_rng(seed), most=1)
    p = prompt(run.case)
    u = middle(p) / np.linalg.norm(middle(p))
    far = path(run, 2000)
    left = np.linalg.norm(far[-1]) - far[-1] @ u
    assert left <= run.step + float(bound(run)) * (1.0 + np.log(2000.0))
    with ctx.workprec(512):
        assert normalised_descent.certify_progress(run) >= 0


def test_the_bound_needs_its_logarithm_of_rivals():
    case = Prompting(np.array([[[1.0], [0.0]]]), np.array([[1.0, 0.0]]), np.zeros(1), "correlation")
    assert float(bound(Paced(case, 2.0))) == pytest.approx(1.0)
    three = replace(
        case, keys=np.array([[[4.0], [0.0], [0.0]]]), scores=np.array([[1.0, 0.0, 0.0]])
    )
    assert float(bound(Paced(three, 2.0))) == pytest.approx(1.0 + np.log(2.0) / 4.0)


@QUICK
@given(isotropically())
def test_drawn_weights_are_isotropic_and_their_runs_agree(case):
    c = isotropic_square(case)
    assert c is not None
    skewed = case.W + np.outer(np.eye(1, len(case.p))[0], np.ones(len(case.p)))
    assert isotropic_square(replace(case, W=skewed)) is None or len(case.p) == 1
    if case.p.any():
        factor = float(case.p @ case.p) / float(arb(c))
        left, right, error = prompts_of(case, 4, factor, True)
        assert np.abs(left - right).max() <= error


def test_the_counterexamples_of_the_equivalence_are_certified():
    with ctx.workprec(128):
        assert w_p_equivalence.certify_fixed(w_p_equivalence.SKEWED) < 0
        assert w_p_equivalence.certify_free(w_p_equivalence.NO_PROMPT) < 0
        upright = replace(w_p_equivalence.SKEWED, W=np.eye(2))
        assert not w_p_equivalence.certify_fixed(upright) < 0


@pytest.mark.parametrize(
    "change", [{"scores": np.zeros((1, 3))}, {"start": np.zeros(2)}, {"loss": "hinge"}]
)
def test_parts_that_do_not_fit_are_refused(change):
    with pytest.raises(DataError):
        replace(TWO_KEYS, **change)


def test_a_step_must_be_positive():
    with pytest.raises(DataError):
        Paced(TWO_KEYS, 0.0)
