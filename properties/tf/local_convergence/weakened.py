"""Hypotheses of local convergence, weakened a little: siblings suppose them and must fail."""

from dataclasses import replace

from flint import fmpq

from attsvm.theory import Hypothesis
from properties._support import cones

FOUR_FIFTHS = fmpq(4, 5)
"""The share of the radius that does not suffice."""

NEARLY_LONG = Hypothesis(
    "||W_0|| is at least four fifths of the radius", lambda case: cones.is_long(case, FOUR_FIFTHS)
)
LONG_FOR_SHORT = Hypothesis(
    "||W_0|| is at least the radius of the step 1/L",
    lambda case: cones.is_long(replace(case, step=1.0)),
)
WIDER = Hypothesis("||E|| r_j <= 17/16 s sigma c_j", lambda case: cones.within(case, 1.0625))
NEARLY_LARGE = Hypothesis(
    "sigma is at least four fifths of the radius of s",
    lambda case: cones.is_large(case, FOUR_FIFTHS),
)
LARGE_FOR_SHORT = Hypothesis(
    "sigma is at least the radius of s for the step 1/L",
    lambda case: cones.is_large(replace(case, step=1.0)),
)
