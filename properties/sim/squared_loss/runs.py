"""A reading on runs of descent on the squared loss.

Its scores are at most 1/2 and the target is above them, so that the loss falls with the score, as
the theorems ask.
"""

from dataclasses import replace

import numpy as np

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LEAPING
from attsvm.primitives.hypotheses import BASIN, FEASIBLE, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_ON_SCORES
from attsvm.primitives.steps import SHORT, stepped
from attsvm.theory import Reading, Statement, changed
from properties._support import small_runs as small
from properties.sim import SOURCE
from properties.sim._support import trained_losses as conclusion
from properties.sim._support.training import OTHER_TARGETS

PRINTED = (
    "for the regression task such as sentiment analysis, we give the formulation of "
    "optimization problem of l2 loss"
)


def squared(run: Descent) -> Descent:
    """Return a run on the squared loss, with scores lowered to 1/2 at most."""
    data = run.data
    scores = data.gamma + 0.5 - data.gamma[data.present].max()
    return replace(run, inputs=AttentionData(data.X, data.Z, scores=scores), loss="squared")


BELOW = replace(squared(conclusion.BELOW), start=np.array([[4.0]]))
"""A start that selects the better token."""
DRAGGED = squared(small.NOT_ALIGNED)
"""From zero the first input, of the larger gap, drags the second one to its worse token."""

RUNS = Statement(
    "sim/squared-loss",
    source=SOURCE,
    place="Section 1",
    printed=PRINTED,
    variables=stepped(Descent, conclusion.trained(["squared"], near=True)),
    conclusion=conclusion.DIRECTION,
    cost=10,
    violating={
        UNIQUE: [squared(small.TIED_APART)],
        FEASIBLE: [squared(small.NO_QUERY)],
        SLOPED_ON_SCORES: [conclusion.TOP],
        SHORT: [squared(LEAPING)],
    },
    readings={
        "amended-3": Reading(
            "proved",
            proof="symbolic.basins:prove",
            constants={"towards": "optimal"},
            fixed={"loss": "squared"},
            under=(UNIQUE, FEASIBLE, SLOPED_ON_SCORES, BASIN, SHORT),
            examples=(BELOW,),
            siblings={
                **OTHER_TARGETS,
                "any start": changed(drop=[BASIN], examples=[DRAGGED]),
            },
        ),
    },
)
