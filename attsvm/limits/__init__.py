"""Conclusions about limits of runs, strongest first; none is a fixed threshold at a fixed step.

- `proofs`: certificates in balls: the limit is a theorem about this run.
- `direction`: dual weights, gradients, residuals, gains, and the distance to a set of solutions, by
  their rates over two decades.
- `rates`: norm and margins against the logarithm of the number of steps.
- `settled`: when a run says nothing about its limit yet.
"""

from attsvm.limits.direction import (
    direction_converges,
    distance_falls,
    dual_weights_converge,
    gradient_aligns,
    residual_stays_bounded,
    unique_multipliers,
)
from attsvm.limits.growth import ALLOWANCE
from attsvm.limits.proofs import (
    direction_is_proved,
    finite_minimum,
    finite_minimum_of_factors,
    in_basin,
)
from attsvm.limits.rates import (
    margin_grows_like_log,
    norm_diverges,
    norm_grows_like_log,
)
from attsvm.limits.settled import as_matrices, as_prompt, dual_weights, unsettled

__all__ = [
    "ALLOWANCE",
    "as_matrices",
    "as_prompt",
    "direction_converges",
    "direction_is_proved",
    "distance_falls",
    "dual_weights",
    "dual_weights_converge",
    "finite_minimum",
    "finite_minimum_of_factors",
    "gradient_aligns",
    "in_basin",
    "margin_grows_like_log",
    "norm_diverges",
    "norm_grows_like_log",
    "residual_stays_bounded",
    "unique_multipliers",
    "unsettled",
]
