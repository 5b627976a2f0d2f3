"""Facts that proofs suppose and that readings state in different ways.

A proof usually supposes the hypothesis object that its reading lists. The facts below are stated by
different hypotheses, which list them in `implies`, or by a constant or a variable. This module
imports no statement: so an edit of one statement does not change the code of proofs of others.
"""

from attsvm.primitives import descent_letters as letters
from attsvm.primitives import hypotheses as descent
from attsvm.primitives import loss_hypotheses as losses
from attsvm.primitives.steps import SHORT
from attsvm.theory import Supposed
from properties._support import risk_formulas
from properties._support.risk_formulas import ONE_SLOPED_LOSS

_OF_ONE_LOSS = (ONE_SLOPED_LOSS, ("loss", "logistic"), ("loss", "logistic-loss"))
"""Alternatives that fix a loss with a continuous slope below 0. The printed loss, `logistic`,
counts with its sign reversed."""

SMOOTH_SLOPE = Supposed(
    "the slope of the loss is continuous",
    (losses.SMOOTH_LOSS, *_OF_ONE_LOSS),
    letters.smooth_loss,
)
FALLING = Supposed(
    "l' < 0 at all scores from the lowest to the highest",
    (losses.NEGATIVE_SLOPE, *_OF_ONE_LOSS),
    letters.negative_slope,
)
TWICE_SMOOTH = Supposed("the slope of the loss is differentiable", by=(("loss", "logistic-loss"),))
DECREASING = Supposed(
    "the loss is decreasing, strictly where a comparison is",
    (
        losses.DECREASING_LOSS,
        risk_formulas.DECREASES,
        risk_formulas.DECREASING,
        ONE_SLOPED_LOSS,
    ),
)
BENT_LOSS = Supposed(
    "l'' is continuous, as it is where its supremum enters the L that steps are compared with",
    (SHORT,),
)
SOLUTION = Supposed(
    "W^mm exists, or X^low on the printed loss", (descent.FEASIBLE,), letters.feasible
)
NUCLEAR_SOLUTION = Supposed(
    "Att-SVM* has a solution of a rank of r at most, which r = d allows where it is feasible",
    (descent.FEASIBLE,),
    letters.feasible,
)
CONVEX_PHI = Supposed("phi is convex", (risk_formulas.CONVEX_PHI,))
RISING_UNITS = Supposed("units have b_k >= 0, or heads of both signs are read each by itself")
IN_BASIN = Supposed(
    "the risk gap of the start is below min_i [l(second) - l(best)]/n",
    (descent.BASIN,),
    letters.basin,
)
UNIQUE_OPTIMUM = Supposed("optimal tokens are unique", (descent.UNIQUE,), letters.unique)
