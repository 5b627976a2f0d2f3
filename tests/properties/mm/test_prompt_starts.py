"""Families of runs on a prompt p: each start has the risk gap and the limit that it is made for."""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st

from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import risk_gap
from attsvm.exact.descent import threshold
from attsvm.primitives.hypotheses import exists, lower_scores_equal, starts_in_basin, unique_optimum
from attsvm.primitives.losses import SLOPED
from properties.mm._support import prompt_instances as cases
from properties.mm._support.prompt_descent import prompt
from properties.mm._support.prompt_limits import certified
from properties.mm.loss_choice.conclusion import certified_one_limit


@given(cases.comparable(0), st.sampled_from(SLOPED), st.sampled_from([0.125, 0.5, 0.9375]))
def test_the_risk_gap_on_the_rim_is_that_share_of_its_bound(case, loss, share):
    start = cases.on_the_rim(case, loss, share)
    exact, bound = ExactData.of(case.data), threshold(ExactData.of(case.data), loss)
    assume(bound is not None and prompt(case) is not None)  # else see the next test
    assume(start is not case)  # else not even 64 p(alpha) will do
    ratio = risk_gap(exact, rationals(start.W), loss) / bound
    if start.start.any():
        assert abs(ratio - arb(share)) < 1e-6
        p = np.array([float(arb(x)) for x in prompt(case)])
        assert abs(start.start @ p - np.linalg.norm(start.start) * np.linalg.norm(p)) < 1e-9 * (
            start.start @ p
        )
    else:
        assert ratio < arb(share) + 1e-15  # at zero it may be just that, as a ball


@pytest.mark.parametrize("case", [cases.TIED, cases.OPPOSED])
def test_without_a_bound_or_a_direction_the_run_stays(case):
    assert cases.on_the_rim(case, "correlation", 0.5) is case


def test_a_start_of_low_gap_is_zero():
    """Two of three keys share the best place at half the gap: a share of 4 is met from zero on."""
    assert not cases.on_the_rim(cases.UNEVEN, "correlation", 4.0).start.any()


@given(cases.apart())
def test_levels_apart_are_in_the_basin_of_the_linear_loss_and_tell_losses_apart(case):
    assert len(case.inputs.X) == 2
    assert case.loss != "correlation"
    if exists(case) and unique_optimum(case):
        assert starts_in_basin(replace(case, loss="correlation"))


@given(cases.alone())
def test_one_input_of_rivals_alike(case):
    assert len(case.inputs.X) == 1
    assert lower_scores_equal(case)
    assert unique_optimum(case)


def smallest(strategy, wanted):
    return find(
        strategy,
        wanted,
        settings=settings(
            max_examples=300,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            derandomize=True,
        ),
    )


def _certified(case, certify):
    ball = certify(case)
    return ball is not None and ball < 0


def test_each_family_holds_what_it_is_for():
    """Losses that part, and a start within 2% of a bound from which the run is trapped."""
    assert smallest(cases.apart(), lambda case: _certified(case, certified_one_limit))

    def flees(case):
        data = ExactData.of(case.data)
        bound = threshold(data, case.loss)
        gap = risk_gap(data, rationals(case.W), case.loss) / bound
        return gap < fmpq(51, 50) and _certified(case, certified)

    assert smallest(cases.trapping(), flees)
