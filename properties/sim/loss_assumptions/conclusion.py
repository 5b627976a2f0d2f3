"""Where a run stays for ever, and what the loss and attention do there."""

from dataclasses import replace

from attsvm.exact import ExactData
from attsvm.exact.descent import decreases
from attsvm.losses import LOSSES as FOLLOWED
from attsvm.primitives import descent_limits as limits
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_limits import limit
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.gradients import negative_gradient
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Namespace, Number, Relation, Values
from properties.sim._support import training

LETTERS = replace(training.LETTERS, says="")


def stays(case: Descent, towards: str) -> bool:
    """X(k) is 0 for ever, as the gradient at the start 0 is exactly 0, or there is no target."""
    if max_margin(case.data, towards) is None:
        return True
    found = negative_gradient(BALLS, case.data, case.start, case.loss).matrix
    return not case.start.any() and all(entry == 0 for entry in found.ravel())


DIRECTION = replace(limit(limits.DIRECTION, LETTERS, never=stays), tensors=None)


def sloped(case: Descent) -> bool:
    """L' < 0 at every score that attention may return; decided for the losses that are followed."""
    return case.loss in FOLLOWED and decreases(ExactData.of(case.data), case.loss)


def within(m: Namespace, v: Values, share: Number = 1) -> Relation:
    """Min h <= <softmax(s), h> <= min h + share (max h - min h)."""
    low, high, u = m.min(v.h), m.max(v.h), m.dot(m.softmax(v.s), v.h)
    return m.all_of(m.at_most(u - low, share * (high - low)), m.at_most(m.exact(0), u - low))
