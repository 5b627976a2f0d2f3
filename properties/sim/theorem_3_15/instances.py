"""Runs of theorem 3.15 on aligned inputs and on rivals of equal scores."""

from dataclasses import replace

from hypothesis import strategies as st

from attsvm.primitives.aligned_inputs import INPUTS_ALIGNED, together
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import opposed_data, runs
from attsvm.primitives.steps import stepped
from attsvm.strategies.adversarial_starts import trapping_data
from attsvm.theory import changed
from properties.sim.theorem_3_15 import nearly_equal_scores as nearly_equal

ALIGNED = stepped(
    Descent,
    runs(st.one_of(together(nearly_equal.SPREADS), trapping_data()), 0, 1, 3),
    nearly_equal.larger,
)

NEED_NOT_BE_ALIGNED = {
    "inputs need not be aligned": changed(
        drop=[INPUTS_ALIGNED], variables=stepped(Descent, runs(opposed_data(), 0))
    )
}
LEVEL = stepped(Descent, runs(nearly_equal.level_data(), 0, 2), steps=(0.5, 0.25))


def halved(run: Descent) -> Descent:
    """The same with the step 1/(2 L)."""
    return replace(run, step=0.5)
