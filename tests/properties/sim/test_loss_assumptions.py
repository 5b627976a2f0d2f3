"""Which losses a sentence on all losses is checked with, and what is decided of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings

from attsvm.exact import ExactData
from attsvm.losses import LOSSES as FOLLOWED
from attsvm.primitives.losses import LOSSES
from attsvm.training import descend_w
from properties._support.small_runs import TWO_TOKENS
from properties.sim import loss_assumptions as losses
from properties.sim._support.trained_losses import (
    ABOVE,
    BELOW,
    CUBIC,
    FAR,
    NEGATIVE,
    TOP,
    sloped,
    stays,
    trained,
)


@given(trained(NEGATIVE))
def test_sloped_says_whether_the_slope_is_negative_at_all_scores(case):
    gamma = case.data.gamma[case.data.present]
    flat = np.clip(0.0, gamma.min(), gamma.max())  # where -u^3 has a slope of 0
    between = np.append(np.linspace(gamma.min(), gamma.max(), 33), flat)
    negative = bool((FOLLOWED[case.loss].slope(between) < 0).all())
    assert sloped(case) is negative
    assert ExactData.of(case.data).gamma


CONVERGES = losses.THEOREM.conclusion


def test_the_losses_that_stand_break_what_is_relaxed():
    stand = [c for c in losses.THEOREM.claim("amended-1").examples if c is not FAR]
    assert {c.loss for c in stand} == {"exponential", "correlation", "cubic"}
    assert FOLLOWED["exponential"].lipschitz == FOLLOWED["exponential"].smoothness == np.inf
    assert (FOLLOWED["logistic-loss"].curvature(np.array([-1.0, 1.0])) * [1, -1] < 0).all()


@pytest.mark.parametrize("case", [CUBIC, TOP])
def test_a_flat_point_holds_the_run_and_its_neighbours_do_not(case):
    assert stays(case, "optimal")
    assert CONVERGES.floats(case).violated
    assert CONVERGES.balls(case) < 0
    assert not stays(replace(case, start=np.array([[0.5]])), "optimal")
    assert not stays(replace(case, loss="log-loss"), "optimal")


def test_cubic_is_strictly_decreasing_and_smooth_but_not_sloped():
    assert LOSSES["cubic"].strictly_decreasing
    assert LOSSES["cubic"].smooth
    assert not sloped(CUBIC)


@pytest.mark.parametrize("run", [BELOW, ABOVE])
def test_cubic_is_sloped_on_one_side_of_zero_and_reaches_its_limit_there(run):
    case = replace(run, loss="cubic")
    assert sloped(case)
    assert CONVERGES.balls(case) > 0
    assert CONVERGES.floats(case).holds
    assert CONVERGES.balls(case, towards="worst") < 0


@pytest.mark.parametrize("above", [False, True])
def test_cubic_is_drawn_on_either_side_of_zero(above):
    """Where the sentence speaks of it, among other scores."""

    def there(case):
        side = bool(case.data.gamma[case.data.present].min() > 0)
        return case.loss == "cubic" and sloped(case) and side is above

    once = settings(max_examples=400, phases=[Phase.generate])
    assert there(find(trained(NEGATIVE), there, settings=once))


@pytest.mark.parametrize("loss", losses.EVERYWHERE)
def test_two_tokens_reach_their_limit_with_every_such_loss(loss):
    case = replace(TWO_TOKENS, loss=loss)
    assert CONVERGES.balls(case) > 0
    assert CONVERGES.floats(case).holds
    run = descend_w([case.data], case.start, FOLLOWED[loss], step=0.5, steps=50, record="all")
    assert run.W[0, -1, 0, 0] > 1.0


def test_squares_above_one_end_at_a_finite_norm():
    case = replace(TOP, start=np.array([[0.5]]))
    run = descend_w([case.data], case.start, FOLLOWED["squared"], step=0.5, steps=400, record="all")
    assert abs(run.W[0, -1, 0, 0]) < 1e-6
    assert not sloped(case)
