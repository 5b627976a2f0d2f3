"""Gamma of theorem 2: how much one part of the risk may outweigh another.

Gamma = max_i sum_j a_j Delta_j (T_j - 1) / (b_i delta_i) >= 1, with the least and the largest score
gap delta_i, Delta_i of input i and the least and the largest |l'| b_i, a_i between its worst and
its best score. The path has a direction to speak of from radii beyond log(2 Gamma) ||W^mm|| on.
"""

from __future__ import annotations

import math

import numpy as np

from attsvm._types import Array
from attsvm.paths.objective import GapObjective

__all__ = ["ends", "least_gaps", "log_spread"]


def ends(objective: GapObjective) -> tuple[Array, Array]:
    """Log |l'| at best and worst score."""
    best = objective.best
    worst = best - objective.delta.max(axis=1)
    return objective.loss.log_slope(best), objective.loss.log_slope(worst)


def least_gaps(objective: GapObjective) -> Array:
    """The least positive score gap of each input."""
    least: Array = np.where(objective.delta > 0, objective.delta, np.inf).min(axis=1)
    return least


def log_spread(objective: GapObjective, loss: str) -> float:
    """log(2 Gamma), to about 1e-13 of its largest term; infinite where l' vanishes at an end."""
    slopes, most = np.stack(ends(objective)), objective.delta.max(axis=1)
    peak = (loss == "logistic-loss") & (objective.best >= 0) & (objective.best <= most)
    steepest = np.where(peak, math.log(0.25), slopes.max(axis=0))
    rivals = np.bincount(objective.input, minlength=len(most))
    with np.errstate(divide="ignore"):  # an input of one token adds nothing
        whole = float(np.logaddexp.reduce(steepest + np.log(most) + np.log(rivals)))
    flattest = float((slopes.min(axis=0) + np.log(least_gaps(objective))).min())
    return math.log(2.0) + whole - flattest
