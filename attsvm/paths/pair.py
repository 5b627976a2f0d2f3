"""Head v and prompt p, each in a ball of its own: their risk and its first-order residuals."""

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from attsvm._types import Array, Float
from attsvm.attention import log_softmax, signed_sum
from attsvm.data import AttentionData
from attsvm.errors import DataError, present
from attsvm.losses import Loss
from attsvm.paths.drops import LOG_VALUES, curvature_ratio
from attsvm.paths.grades import stationarity
from attsvm.paths.local import local_value
from attsvm.paths.objective import GapObjective, Jet, differences
from attsvm.risk import normalised_gradient

LARGEST = 300.0
"""Maximum absolute value of exponents, so that no exponential overflows."""

Point: TypeAlias = 'tuple[Float[Array, " d"], Float[Array, " d"]]'
# an alias of its own: older versions of jaxtyping evaluate `Point | None` on the text above
OptionalPoint: TypeAlias = 'tuple[Float[Array, " d"], Float[Array, " d"]] | None'


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """min L(v, p) over ||v|| <= r and ||p|| <= R, for data with labels and a loss of infimum 0."""

    data: AttentionData
    loss: Loss
    r: float
    R: float

    def log_risk(self, v: Array, p: Array) -> float:
        """Return log L(v, p)."""
        values = LOG_VALUES[self.loss.name][1](self.rows(p) @ v)[0]
        top = float(values.max())
        return top + math.log(float(np.exp(values - top).mean()))

    def residuals(self, v: Array, p: Array) -> tuple[float, float]:
        """Return the first-order residuals of head and prompt; see `stationarity`."""
        rows = self.rows(p)
        with np.errstate(divide="ignore"):
            sizes = self.loss.log_slope(rows @ v) + np.log(np.linalg.norm(rows, axis=1))
        top = max(float(sizes.max()), -1e300)
        reach = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
        terms = rows * (np.exp(sizes - top) / reach)[:, None]
        of_v = stationarity(v, terms.sum(axis=0), self.r)
        X, one = self.data.X, np.ones((self.data.n, 1))
        gamma = self.scored(v).gamma
        direction = normalised_gradient(X, one, gamma, p[:, None], self.loss, self.data.mask)
        return of_v, stationarity(p, direction.matrix[:, 0], self.R)

    def local_value(self, v: Array, p: Array) -> float:
        """Return log(L - L_sel) for the tokens that p selects, at the head v."""
        whole = self.gap(v)
        if whole is None:
            return math.nan
        return local_value(whole, differences(self.scored(v), whole)[0] @ p)

    def rows(self, p: Array) -> Array:
        """Return the rows y_i X_i^T softmax(X_i p)."""
        s = np.exp(log_softmax(self.data.X @ p, self.data.mask))
        labels = present(self.data.y, "the labels y")
        rows: Array = labels[:, None] * np.einsum("nt,ntd->nd", s, self.data.X)
        return rows

    def scored(self, v: Array) -> AttentionData:
        """Return the data with v as their head."""
        return replace(self.data, v=v, scores=None)

    def gap(self, v: Array) -> GapObjective | None:
        """Return the objective of the prompt; None if all scores of each input are equal."""
        try:
            return GapObjective.of(self.scored(v), self.loss)
        except DataError:
            return None

    def head(self, rows: Array, v: Array, wrong: Array | None = None) -> Jet:
        """Return log L in v at fixed attention; with `wrong`, sign * log |L - sum(wrong) / n|.

        For inputs that are `wrong` the logistic loss is replaced by l - 1, its distance below its
        supremum. This shows progress on a plateau on which these inputs have loss 1 to rounding.
        """
        u = rows @ v
        turned = np.zeros(len(u), dtype=bool) if wrong is None else wrong
        values = LOG_VALUES[self.loss.name][1](np.where(turned, -u, u))[0]
        side, size = signed_sum(np.where(turned, -1.0, 1.0), values)
        slope = np.exp(np.minimum(self.loss.log_slope(u) - size, LARGEST))
        g, bent = -rows.T @ slope, slope * curvature_ratio(self.loss, u)
        H = (rows * bent[:, None]).T @ rows - side * np.outer(g, g)
        return Jet(float(side * (size - math.log(len(u)))), g, H)
