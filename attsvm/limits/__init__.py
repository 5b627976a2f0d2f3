"""Conclusions about limits of runs, strongest first; none uses a fixed threshold at a fixed step.

- `proofs`: certificates in balls; the limit is then a theorem about this run.
- `direction`: residuals and gains, by their growth over two decades of the norm.
- `rates`: whether the norm diverges, and whether it grows like the logarithm of the steps.
- `settled`: tests that a run is long enough to judge its limit.
"""

from attsvm.limits.direction import direction_converges, residual_stays_bounded
from attsvm.limits.growth import ALLOWANCE
from attsvm.limits.proofs import (
    direction_is_proved,
    finite_minimum,
    finite_minimum_of_factors,
    in_basin,
)
from attsvm.limits.rates import norm_diverges, norm_grows_like_log
from attsvm.limits.settled import dual_weights, unsettled

__all__ = [
    "ALLOWANCE",
    "direction_converges",
    "direction_is_proved",
    "dual_weights",
    "finite_minimum",
    "finite_minimum_of_factors",
    "in_basin",
    "norm_diverges",
    "norm_grows_like_log",
    "residual_stays_bounded",
    "unsettled",
]
