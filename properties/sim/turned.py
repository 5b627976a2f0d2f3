"""Weights X with the query left of X, as definition 3.3 trains them, against the programme's.

Descent on X with logits z^T X x_t is, transposed, descent on W = X^T with logits x_t^T W z, which
the rest of the package follows.
"""

from __future__ import annotations

import numpy as np
from flint import arb

from attsvm.exact import rationals
from attsvm.exact.numbers import Matrix, transpose
from attsvm.losses import LOSSES
from attsvm.theory import Slack
from attsvm.theory.limits import direction_converges
from properties._support.descent_runs import Run, in_basin, max_margin, unique_optimum
from properties._support.growth_rates import arrives
from properties._support.limit_certificates import certified_direction

__all__ = ["arrives_turned", "starts_in_turned_basin", "trained", "turned"]

LOSS = "logistic-loss"


def turned(run: Run) -> Run:
    """The same data from the transposed start."""
    return Run(run.data, run.start.T)


def starts_in_turned_basin(run: Run) -> bool:
    """The risk gap of the start, its query on the left, is below the threshold."""
    return in_basin(turned(run), LOSS)


def _goal(run: Run, towards: str, transposed: bool) -> Matrix | None:
    """Where W = X^T has to go so that X, or its transpose, goes to the programme's target."""
    target = max_margin(run.data, towards)
    return target if target is None or transposed else transpose(target)


def trained(run: Run, towards: str, transposed: bool) -> Slack:
    """X(k), or its transpose, converges in direction to the target, by its rate."""
    goal = _goal(run, towards, transposed)
    if goal is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    W = np.array([[float(arb(x)) for x in row] for row in goal])
    return direction_converges(run.data, run.start.T, LOSSES[LOSS], W)


def arrives_turned(run: Run, towards: str, transposed: bool) -> arb | None:
    """The same by proof: 1 where it does, negative where it does not, None without one."""
    goal = _goal(run, towards, transposed)
    if goal is not None and not unique_optimum(run):
        return arrives(run.data, run.start.T, LOSS, goal)
    return certified_direction(run.data, transpose(rationals(run.start)), LOSS, goal)
