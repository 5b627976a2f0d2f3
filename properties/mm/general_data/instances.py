"""Runs of descent on p: any, and from starts near p(alpha), as runs on W with queries e_1."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from attsvm.primitives.descent import Descent
from attsvm.primitives.steps import ANY, ITERATED, flattened, stepped
from attsvm.theory import Records
from properties._support import cone_starts as starts
from properties._support.cones import LONG, NEAR, OPTIMAL, Local
from properties.mm._support import prompt_instances as cases


def on_a_prompt(case: Local) -> Local:
    """Return the run with only the first column of its start: a run on p if all queries are e_1."""
    return starts.lengthened(replace(case, start=case.start * np.eye(1, case.data.d)))


COMPARABLE = stepped(Descent, cases.comparable(0, 2))
ANYTHING = stepped(Descent, flattened(cases.comparable(0, 2)), steps=ANY)
NEAR_SOLUTION = Records(
    Local,
    st.one_of(starts.started(0.5).map(on_a_prompt), starts.started(0.5).map(starts.lengthened)),
    lambda generator: on_a_prompt(starts.started_larger(0.5)(generator)),
    fixed=("share",),
    lets=ITERATED,
)

EXAMPLES = {
    "literal": (cases.TWO_KEYS, cases.STUCK, cases.TIED, cases.ONE_KEY),
    "amended": starts.ON_RAY,
}
"""Instances by reading."""
OUTSIDE = {
    OPTIMAL: [starts.BETTER_SUPPORT],
    NEAR: [starts.escaping_start(2, 1024.0)],
    LONG: [starts.FALLS_BACK],
}
"""Instances that violate a hypothesis, by hypothesis."""
