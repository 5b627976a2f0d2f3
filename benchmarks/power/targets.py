"""False targets and thresholds of descent, and conclusions of convergence to a target."""

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import rationals
from attsvm.exact.attention import risk_gap
from attsvm.exact.descent import threshold
from attsvm.exact.numbers import ExactData, Matrix, transpose
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import exact_att_svm, first_optimal, without
from attsvm.primitives.descent_runs import or_more_bits
from attsvm.primitives.limit_certificates import certified_direction
from attsvm.theory import Measured, Slack
from benchmarks.power.planting import floats

Target = Callable[[AttentionData], Matrix | None]


def transposed(data: AttentionData) -> Matrix | None:
    """Return X^mm with queries and keys swapped; None if it does not exist or is 0."""
    result = exact_att_svm(data)
    return transpose(result.W) if result is not None and result.A else None


def one_short(data: AttentionData) -> Matrix | None:
    """Return X^mm of the data without each input's last token, unless that one is optimal.

    None if there is no solution, or no input has another token left.
    """
    best = first_optimal(ExactData.of(data))
    mask = np.zeros((data.n, data.T), dtype=np.bool_)
    mask[:, -1] = [row != data.T - 1 for row in best]
    result = exact_att_svm(without(data, mask & data.present))
    return result.W if result is not None and result.A else None


def towards(make: Callable[[Any], Matrix | None]) -> dict[str, Any]:
    """Return the argument `conclusion` of `plant`: convergence in direction to a target.

    If there is no target the conclusion holds.
    """

    def conclusion(case: Any) -> Slack:
        target = make(case)
        if target is None:
            return Slack(1.0, 0.0)
        return direction_converges(case.data, case.W, LOSSES[case.loss], floats(target))

    def certify(case: Any) -> arb | None:
        target = make(case)
        if target is None:
            return arb(1)
        start = rationals(case.W)
        return or_more_bits(certified_direction(case.data, start, case.loss, target, case.step))

    return {"conclusion": Measured("see the statement", floats=conclusion, balls=certify)}


def below_whole_threshold(data: AttentionData, start: Array, loss: str, factor: fmpq) -> bool:
    """Return whether the risk gap is below a factor of min_i [l(second) - l(best)], without 1/n."""
    exact = ExactData.of(data)
    bound = threshold(exact, loss)
    gap = risk_gap(exact, rationals(start), loss)
    return bound is not None and bool(gap < factor * len(exact.X) * bound)
