"""The part of a matrix on which its margins depend, for queries that share tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.exact.deadline import Deadline
from attsvm.svm.shared_programme import Reduced, SharedProgramme
from attsvm.svm.support import conjugate_gradients


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """The part of a matrix on which its margins depend: the least matrix with the same margins.

    Attributes:
        W: an approximation in the span of the constraints.
        norm: a lower bound of its norm, which conjugate gradients approach from below.
        most: an upper bound: the norm of the part on the spans of tokens and queries.
        residual: the largest error of a margin of W, relative to the largest margin.
    """

    W: Float[Array, "d e"]
    norm: float
    most: float
    residual: float


def active_part(
    programme: SharedProgramme,
    own: Float[Array, "d e"],
    deadline: Deadline | None = None,
    *,
    tolerance: float = 1e-10,
    steps: int = 2000,
) -> Active:
    """Return the part of a matrix on which its margins depend, by conjugate gradients."""
    if not programme.count:
        return Active(np.zeros_like(own), 0.0, 0.0, 0.0)
    reduced = Reduced.of(programme)
    inner = reduced.inside(own)
    goal = reduced.images(inner)
    live = reduced.c > 0.0
    w = conjugate_gradients(
        reduced.operator, live, goal, np.zeros(len(goal)), tolerance, steps, deadline, listed=False
    )
    combined = reduced.combine(w)
    off = float(np.abs(reduced.images(combined) - goal).max())
    largest = float(np.abs(goal).max())
    size = float(np.linalg.norm(combined))
    most = float(np.linalg.norm(inner))
    # Cauchy-Schwarz: `combined` lies in the span on which the part is the projection
    low = float((combined * inner).sum()) / size if size > 0.0 else 0.0
    return Active(
        reduced.outside(combined), min(low, most), most, off / largest if largest else 0.0
    )
