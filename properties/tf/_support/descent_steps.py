"""Steps of descent on W as formulas."""

from dataclasses import dataclass

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.primitives.gradients import loss_slope
from attsvm.theory.types import Namespace, Number, Numbers, Relation


@dataclass(frozen=True, slots=True)
class Step:
    """A data set, a loss by its name, a start and the size of a step."""

    data: AttentionData
    loss: str
    start: Array
    size: float


def attention(m: Namespace, case: Step, W: Numbers) -> list[Numbers]:
    """Return the attention weights of each input."""
    exact = ExactData.of(case.data)
    inputs = zip(exact.X, exact.Z, strict=True)
    return [m.softmax(m.values(X) @ (W @ m.values(z))) for X, z in inputs]


def advanced(m: Namespace, case: Step, W: Numbers) -> Numbers:
    """Return the matrix after a step of descent from W."""
    exact, moved = ExactData.of(case.data), W
    inputs = zip(exact.X, exact.Z, exact.gamma, attention(m, case, W), strict=True)
    for X, z, scores, s in inputs:
        gamma = m.values(scores)
        u = m.dot(s, gamma)
        toward = m.values(X).T @ m.covariance(s, gamma)
        factor = -m.values(case.size) * loss_slope(m, case.loss, u) / case.data.n
        moved = moved + factor * m.outer(toward, m.values(z))
    return moved


def logarithmic(
    m: Namespace,
    grown: Number,
    k: Number,
    low: Number,
    high: Number,
    over: Number = 4,
    power: Number = 1,
    times: Number = 1,
) -> Relation:
    """Return that 0 < grown, and k low/over <= grown <= times k high exp(power high/4)."""
    return m.all_of(
        m.below(m.exact(0), grown),
        m.at_most(k * low / over, grown),
        m.at_most(grown, times * k * high * m.exp(power * high / 4)),
    )
