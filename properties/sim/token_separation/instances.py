"""Instances of the statement on token separation, and siblings with a hypothesis dropped."""

from hypothesis import strategies as st

from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import rival_data, runs, tight_data, towards_solution
from attsvm.primitives.hypotheses import FEASIBLE, UNIQUE
from attsvm.primitives.steps import ANY, stepped
from attsvm.theory import changed
from properties._support.small_runs import NO_QUERY, NOT_ALIGNED, PASSED_OVER, TIED_APART
from properties.sim._support import training

OPPOSED = [
    Descent.of(
        [[[1, 0], [0, 0]]] * (n - 1) + [[[-1, 1 / 256], [0, 0]]],
        [[1, 0]] * n,
        scores=[[1, 0]] * (n - 1) + [[0.5 + 2.0**-14, 0.5]],
    )
    for n in (2, 5)
]
"""From zero the others move the last input, whose score gap is small, to its worse token."""
_EITHER_DATA = runs(st.one_of(tight_data(), rival_data()), 0, 1)
FROM_ANYWHERE = stepped(Descent, _EITHER_DATA, towards_solution, steps=ANY)
FROM_NEAR = stepped(Descent, _EITHER_DATA, training.near_solution)
"""Runs on data of part 1 or part 2 of assumption 3.10; larger ones start near X^mm."""

DROPPED_HYPOTHESES = {
    **training.any_start(PASSED_OVER, NOT_ALIGNED),
    "tied optimal tokens": changed(drop=[UNIQUE], examples=[TIED_APART]),
    "Att-SVM need not be feasible": changed(drop=[FEASIBLE], examples=[NO_QUERY]),
}
