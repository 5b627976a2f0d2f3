"""Growth rates over decades of the norm.

Three iterates are compared: the last one, and the last ones before a tenth and a hundredth of its
norm. A quantity that behaves like norm^e has the exponent e in each decade.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.theory.declaration.slack import Slack

ALLOWANCE = 0.1
"""Error bound of a growth exponent, as the run is finite and takes steps."""

_SHORT = 0.9
"""Minimum ratio of a decade in the norm to ten: a ninefold growth counts as a decade."""


@dataclass(frozen=True, slots=True)
class Decades:
    """Indices of three iterates whose norms grow at least ninefold from each to the next."""

    rows: tuple[int, int, int]
    norms: tuple[float, float, float]


def decades(norms: Float[Array, " k"]) -> Decades | None:
    """Return the last iterate and those one and two decades before; None if they do not exist."""
    if len(norms) < 3:
        return None
    last = len(norms) - 1
    rows = [last]
    for _ in range(2):
        early = np.flatnonzero(norms[: rows[-1]] <= norms[rows[-1]] / (10.0 * _SHORT))
        early = early[norms[early] > 0.0]
        if not early.size:
            return None
        rows.append(int(early[-1]))
    sizes = (float(norms[rows[2]]), float(norms[rows[1]]), float(norms[last]))
    return Decades((rows[2], rows[1], last), sizes)


def _exponents(values: Array, sizes: tuple[float, float, float]) -> tuple[float, float]:
    logs = np.log(values)
    steps = np.log(sizes)
    return (
        float((logs[1] - logs[0]) / (steps[1] - steps[0])),
        float((logs[2] - logs[1]) / (steps[2] - steps[1])),
    )


def stays_bounded(
    values: Float[Array, " 3"], sizes: tuple[float, float, float], floor: float
) -> Slack:
    """Judge whether a quantity stays bounded while the norm grows through two decades.

    The slack is 1/2 minus the growth exponent of the last decade: 0 for a bounded quantity, 1 for
    one that grows like the norm. Values below the floor count as the floor. The result is unknown
    if the growth ended only in the last decade, or if a value is not finite.
    """
    if not (np.isfinite(values).all() and (values >= 0.0).all()):
        return Slack.unknown("a value is not finite")
    before, now = _exponents(np.maximum(values, floor), sizes)
    if now < 0.5 - ALLOWANCE and not before < 0.5:
        return Slack.unknown(f"it grew with exponent {before:.2f} until a decade ago")
    return Slack(0.5 - now, ALLOWANCE)
