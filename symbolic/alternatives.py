"""Facts that proofs suppose and that readings state in different ways.

A proof usually supposes the hypothesis object that its reading lists. For each fact below, readings
list different hypotheses, or state the fact by a constant, a variable or the conclusion.
"""

from typing import Any

from attsvm.primitives import descent_letters as letters
from attsvm.primitives import hypotheses as descent
from attsvm.primitives import loss_hypotheses as losses
from attsvm.primitives.steps import SHORT
from attsvm.theory import Supposed
from properties._support import risk_formulas
from properties.mm import loss_choice, nonlinear_head_path
from properties.sim import PRINTED, REPAIRED, orientation
from properties.sim.printed_loss import conclusion as printed_loss
from properties.sim.printed_loss.conclusion import RATE
from properties.tf import (
    all_local_unique,
    definition_2,
    generalised_svm,
    global_conjecture,
    nonlinear_head_several,
)
from properties.tf.theorem_3 import factored_paths

_HEAD_LOSS: Any = nonlinear_head_path.PATH.variables
_OF_ONE_LOSS = (
    _HEAD_LOSS["loss"],
    *(orientation.TRAINING.conclusion, RATE),
    *(("loss", PRINTED), ("loss", REPAIRED)),
)
"""Alternatives that fix a loss with a continuous slope below 0; the printed loss counts with its
sign reversed."""

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
TWICE_SMOOTH = Supposed("the slope of the loss is differentiable", (("loss", REPAIRED),))
DECREASING = Supposed(
    "the loss is decreasing, strictly where a comparison is",
    (
        losses.DECREASING_LOSS,
        *(risk_formulas.DECREASES, risk_formulas.DECREASING, _HEAD_LOSS["loss"]),
    ),
)
BENT_LOSS = Supposed(
    "l'' is continuous, as it is where its supremum enters the L that steps are compared with",
    (SHORT, global_conjecture.instances.SHORT_OR_FEW),
)
SOLUTION = Supposed(
    "W^mm exists, or X^low on the printed loss",
    (descent.FEASIBLE, printed_loss.LOW_EXISTS),
    letters.feasible,
)
NUCLEAR_SOLUTION = Supposed(
    "Att-SVM* has a solution of a rank of r at most, which r = d allows where it is feasible",
    (descent.FEASIBLE, factored_paths.LOW_RANK),
    letters.feasible,
)
CONVEX_PHI = Supposed("phi is convex", (risk_formulas.CONVEX_PHI, generalised_svm.BENT_UP))
RISING_UNITS = Supposed(
    "units have b_k >= 0, or heads of both signs are read each by itself",
    (nonlinear_head_several.RISING, nonlinear_head_path.RISING, nonlinear_head_path.SIGN),
)
WITHOUT_RIVALS = Supposed(
    "W^mm(alpha) exists, without which alpha is not locally optimal, and meets the constraints "
    "without rivals as well",
    (definition_2.SOLVED, all_local_unique.alone_exactly_if),
)
IN_BASIN = Supposed(
    "the risk gap of the start is below min_i [l(second) - l(best)]/n",
    (descent.BASIN, loss_choice.IN_BOTH, orientation.BASIN, printed_loss.NEAR),
    letters.basin,
)
UNIQUE_OPTIMUM = Supposed(
    "optimal tokens are unique",
    (descent.UNIQUE, printed_loss.LOWEST, nonlinear_head_path.STEEP),
    letters.unique,
)
