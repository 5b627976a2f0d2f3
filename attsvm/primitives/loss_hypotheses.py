"""Hypotheses on the loss of a case; the field `loss` of a case has the name of its loss."""

from attsvm.exact import ExactData
from attsvm.exact.descent import decreases
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.primitives.losses import CONVEX, LOSSES
from attsvm.primitives.losses import SLOPED as NAMES
from attsvm.theory import Hypothesis
from attsvm.theory.types import Values


def sloped(case: Values) -> bool:
    """Return whether the slope of the loss is negative and continuous everywhere."""
    return case.loss in NAMES


def falling(case: Descent) -> bool:
    """Return whether the loss is differentiable with a negative slope everywhere.

    The slope need not be continuous, but all such losses here have a continuous one.
    """
    return sloped(case)


def strictly_decreasing(case: Values) -> bool:
    """Return whether the loss is strictly decreasing and smooth; its slope may be 0 somewhere.

    An example is -u^3. The smooth losses here have Lipschitz derivatives on bounded intervals, as
    Assumption A requires.
    """
    loss = LOSSES[case.loss]
    return loss.strictly_decreasing and loss.smooth


def smooth(case: Values) -> bool:
    """Return whether the loss has a continuous derivative."""
    return LOSSES[case.loss].smooth


def falls_strictly(case: Values) -> bool:
    """Return whether the loss is strictly decreasing, smooth or not."""
    return LOSSES[case.loss].strictly_decreasing


def falls_on_scores(case: Values) -> bool:
    """Return whether l' < 0 from the lowest to the highest score, for losses of known slope."""
    return sloped(case) or decreases(ExactData.of(case.data), case.loss)


def sloped_on_scores(case: Values) -> bool:
    """Return whether l' is continuous, and below 0 from the lowest to the highest score."""
    return smooth(case) and falls_on_scores(case)


def decreases_on_scores(case: Values) -> bool:
    """Return whether the loss is decreasing from the lowest to the highest score."""
    return LOSSES[case.loss].decreasing or falls_on_scores(case)


def convex(case: Values) -> bool:
    """Return whether the loss is convex, among those of negative slope."""
    return case.loss in CONVEX


SMOOTH_LOSS = Hypothesis(
    "l has a continuous derivative",
    smooth,
    proposition=letters.smooth_loss,
    checked="smooth(loss)",
)
DECREASING_LOSS = Hypothesis(
    "l is decreasing between the scores",
    decreases_on_scores,
    proposition=letters.decreasing_loss,
)
NEGATIVE_SLOPE = Hypothesis(
    "l' < 0 at all scores from the lowest to the highest",
    falls_on_scores,
    implies=(DECREASING_LOSS,),
    proposition=letters.negative_slope,
)
FALLING_LOSS = Hypothesis(
    "l is differentiable with l' < 0 everywhere",
    falling,
    says="the loss l is differentiable with l' < 0 everywhere",
    implies=(NEGATIVE_SLOPE,),
    proposition=letters.falling_loss,
)
SLOPED_LOSS = Hypothesis(
    "l' < 0 everywhere and continuous",
    sloped,
    says="the loss l has a derivative l' that is continuous and below 0 everywhere",
    implies=(SMOOTH_LOSS, NEGATIVE_SLOPE),
    checked="fact(loss in SLOPED)",
)
SLOPED_ON_SCORES = Hypothesis(
    "l' < 0 from the lowest to the highest score, both included",
    sloped_on_scores,
    says="the loss l has a continuous l', and l' < 0 from the lowest to the highest score",
    implies=(SMOOTH_LOSS, NEGATIVE_SLOPE),
)
STRICT_LOSS = Hypothesis(
    "l is strictly decreasing and smooth",
    strictly_decreasing,
    says="the loss l is strictly decreasing and smooth",
    checked="all_of(strictly_decreasing(loss), smooth(loss))",
)
CONVEX_LOSS = Hypothesis("l is convex", convex, proposition=letters.convex_loss)
STRICTLY_DECREASING = Hypothesis(
    "l is strictly decreasing, smooth or not",
    falls_strictly,
    says="the loss l decreases strictly",
    implies=(DECREASING_LOSS,),
    checked="strictly_decreasing(loss)",
)
