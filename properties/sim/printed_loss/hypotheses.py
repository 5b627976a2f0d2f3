"""Hypotheses of the statement on the printed loss, for the tokens of lowest score."""

from attsvm.primitives import hypotheses as scores
from attsvm.primitives.hypotheses import EQUAL_RIVALS, SEVERAL_TOKENS, starts_in_basin
from attsvm.theory import Hypothesis
from properties.sim.printed_loss.conclusion import pairs
from properties.sim.printed_loss.instances import turned

LOWEST = Hypothesis(
    "tokens of lowest score are unique", lambda case: scores.unique_optimum(turned(case))
)
NEAR = Hypothesis(
    "risk gap of the start below the threshold, for the tokens of lowest score",
    lambda case: starts_in_basin(turned(case)),
    says="the sum at the start exceeds its infimum by less than min [g(second lowest) - g(lowest)] "
    "over the entries",
    implies=(SEVERAL_TOKENS,),
)

LOW_EXISTS = Hypothesis("X^low exists", lambda case: scores.feasible(turned(case)))
LOW = Hypothesis(
    "X^low exists and is not 0",
    lambda case: scores.exists(turned(case)),
    implies=(LOW_EXISTS, SEVERAL_TOKENS),
)
PAIRS = Hypothesis("no entry has more than two tokens", pairs, implies=(EQUAL_RIVALS,))
