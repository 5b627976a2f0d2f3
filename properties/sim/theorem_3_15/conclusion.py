"""The limit of theorem 3.15: the direction converges and the norm diverges."""

from dataclasses import replace

from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import reaches
from attsvm.primitives.steps import by_gradient_flow
from attsvm.theory import Slack
from properties.sim._support import training


@by_gradient_flow
def reaches_and_grows(run: Descent, towards: str = "optimal") -> Slack:
    """The direction converges and the norm diverges, whichever is closer to failing."""
    slacks = [reaches(run, towards), training.NORM.floats(run)]
    return min(slacks, key=lambda slack: (not slack.violated, slack.value - slack.error))


BOTH = replace(
    training.DIRECTION,  # every direction that is proved is that of a run whose margins diverge
    says="descent on $loss has a diverging norm, and $formula",
    floats=reaches_and_grows,
)
