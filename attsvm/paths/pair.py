"""Head v and prompt p, each in a ball of its own: descents in turn, and Newton steps on both.

Where attention is hard the prompt moves log L by e^-R only, and head and prompt decouple; where it
is soft they do not, and turns converge slowly. So the risk falls in turns, the head's on log L and
the prompt's on `LocalGap`, and Newton steps on the first-order equations of both end the search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from attsvm._types import Array, Float
from attsvm.attention import log_softmax, signed_sum
from attsvm.data import AttentionData
from attsvm.errors import DataError, present
from attsvm.losses import LOGISTIC_LOSS, Loss
from attsvm.paths.ball import minimise_on_ball
from attsvm.paths.drops import LOG_VALUES, curvature_ratio
from attsvm.paths.grades import on_sphere, stationarity
from attsvm.paths.local import LocalGap, derivatives, local_value, of_margins, settled
from attsvm.paths.objective import GapObjective, Jet, differences
from attsvm.risk import normalised_gradient

_SWEEPS = 60
_REDUCED = 60
_LARGEST = 300.0
_PLATEAUS = 20
_SETTLED = 1e-12

Point: TypeAlias = 'tuple[Float[Array, " d"], Float[Array, " d"]]'


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """min L(v, p) over ||v|| <= r and ||p|| <= R, for data with labels and a loss of infimum 0."""

    data: AttentionData
    loss: Loss
    r: float
    R: float

    def log_risk(self, v: Array, p: Array) -> float:
        """Log L(v, p)."""
        values = LOG_VALUES[self.loss.name][1](self._rows(p) @ v)[0]
        top = float(values.max())
        return top + math.log(float(np.exp(values - top).mean()))

    def residuals(self, v: Array, p: Array) -> tuple[float, float]:
        """First-order residuals of head and prompt; see `stationarity`."""
        rows = self._rows(p)
        with np.errstate(divide="ignore"):
            sizes = self.loss.log_slope(rows @ v) + np.log(np.linalg.norm(rows, axis=1))
        top = max(float(sizes.max()), -1e300)
        reach = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
        terms = rows * (np.exp(sizes - top) / reach)[:, None]
        of_v = stationarity(v, terms.sum(axis=0), self.r)
        X, one = self.data.X, np.ones((self.data.n, 1))
        gamma = self._scored(v).gamma
        direction = normalised_gradient(X, one, gamma, p[:, None], self.loss, self.data.mask)
        return of_v, stationarity(p, direction.matrix[:, 0], self.R)

    def local_value(self, v: Array, p: Array) -> float:
        """log(L - L_sel) for the tokens that p selects, at the head v."""
        whole = self._gap(v)
        if whole is None:
            return math.nan
        return local_value(whole, differences(self._scored(v), whole)[0] @ p)

    def descend(self, v: Array, p: Array) -> Point:
        """Return a first-order point from (v, p), or the point where progress ends."""
        before = math.inf
        for turn in range(_SWEEPS):
            if self.r > 0.0:
                both = turn > 0 and self.R > 0.0
                v, p = self._reduced(v, p) if both else (self._best_head(v, p), p)
            if self.R > 0.0:
                p = self._best_prompt(v, p)
            v, p = self._solved(v, p)
            now = self.log_risk(v, p)
            if max(self.residuals(v, p)) <= _SETTLED or not now < before:
                break
            before = now
        return v, p

    def _rows(self, p: Array) -> Array:
        """y_i X_i^T softmax(X_i p)."""
        s = np.exp(log_softmax(self.data.X @ p, self.data.mask))
        labels = present(self.data.y, "the labels y")
        rows: Array = labels[:, None] * np.einsum("nt,ntd->nd", s, self.data.X)
        return rows

    def _scored(self, v: Array) -> AttentionData:
        return replace(self.data, v=v, scores=None)

    def _gap(self, v: Array) -> GapObjective | None:
        """L - L_* of the prompt; None where all scores of each input are equal."""
        try:
            return GapObjective.of(self._scored(v), self.loss)
        except DataError:
            return None

    def _head(self, rows: Array, v: Array, wrong: Array | None = None) -> Jet:
        """Log L at fixed attention, or sign * log |L - wrong / n|.

        Of inputs that are `wrong` the logistic loss is counted from its supremum 1 downward.
        """
        u = rows @ v
        turned = np.zeros(len(u), dtype=bool) if wrong is None else wrong
        values = LOG_VALUES[self.loss.name][1](np.where(turned, -u, u))[0]
        side, size = signed_sum(np.where(turned, -1.0, 1.0), values)
        slope = np.exp(np.minimum(self.loss.log_slope(u) - size, _LARGEST))
        g, bent = -rows.T @ slope, slope * curvature_ratio(self.loss, u)
        H = (rows * bent[:, None]).T @ rows - side * np.outer(g, g)
        return Jet(float(side * (size - math.log(len(u)))), g, H)

    def _best_head(self, v: Array, p: Array) -> Array:
        rows = self._rows(p)
        rows = rows[rows.any(axis=1)]  # the others add a constant
        if not len(rows):
            return v
        v = minimise_on_ball(
            lambda u: self._head(rows, u), lambda u: self._head(rows, u).value, v, self.r
        )
        for _ in range(_PLATEAUS if self.loss is LOGISTIC_LOSS else 0):
            wrong = rows @ v < 0.0
            if not wrong.any() or self.residuals(v, p)[0] <= _SETTLED:
                break
            before, v = v, self._off_plateau(rows, v, wrong)
            if np.array_equal(before, v):
                break
        return v

    def _off_plateau(self, rows: Array, v: Array, wrong: Array) -> Array:
        """Descends on L - wrong / n, from either side of it."""

        def side(v: Array) -> float:
            values = LOG_VALUES[self.loss.name][1](np.where(wrong, -1.0, 1.0) * (rows @ v))[0]
            return float(signed_sum(np.where(wrong, -1.0, 1.0), values)[0])

        here = side(v)
        if here == 0.0:
            return v

        def value(v: Array) -> float:
            return self._head(rows, v, wrong).value if side(v) == here else -here * math.inf

        return minimise_on_ball(lambda v: self._head(rows, v, wrong), value, v, self.r)

    def _best_prompt(self, v: Array, p: Array) -> Array:
        whole = self._gap(v)
        if whole is None:
            return p
        D, _ = differences(self._scored(v), whole)

        def descend(gap: GapObjective | LocalGap, p: Array) -> Array:
            return minimise_on_ball(*of_margins(gap, D), p, self.R)

        return settled(whole, p, lambda q: D @ q, descend, lambda q: self.residuals(v, q)[1])

    def _solved(self, v: Array, p: Array) -> Point:
        """Newton steps on the first-order system, as long as they halve its residual."""
        value, size = self.log_risk(v, p), max(self.residuals(v, p))
        while size > _SETTLED and (step := self._step(v, p)) is not None:
            after = _moved(v, step[0], self.r), _moved(p, step[1], self.R)
            rest, risk = max(self.residuals(*after)), self.log_risk(*after)
            if not (rest < 0.5 * size and risk <= value + 1e-13 * (1.0 + abs(value))):
                break
            (v, p), value, size = after, risk, rest
        return v, p

    def _step(self, v: Array, p: Array) -> Point | None:
        """Return the step of Newton's method for -grad = multiplier * point in both balls.

        The equations of v are those of log L, the equations of p those of L over |L - L_sel|.
        """
        if self.r == 0.0 or self.R == 0.0:
            return None
        own, d, log_gap = self._head(self._rows(p), v), len(v), self._log_gap(v, p)
        found = None if log_gap is None else self._prompt(v, p, log_gap)
        if found is None or log_gap is None:
            return None
        of_p, twice, mixed = found
        weight = math.exp(min(log_gap - own.value, _LARGEST))
        system, right = np.zeros((2 * d + 2, 2 * d + 2)), np.zeros(2 * d + 2)
        system[:d, :d], system[d : 2 * d, d : 2 * d] = own.hessian, twice
        system[:d, d : 2 * d] = weight * (mixed.T - np.outer(own.gradient, of_p))
        system[d : 2 * d, :d] = mixed
        for k, (y, g, radius) in enumerate(((v, own.gradient, self.r), (p, of_p, self.R))):
            block, border = slice(k * d, (k + 1) * d), 2 * d + k
            multiplier = -float(g @ y) / radius**2 if on_sphere(y, radius) else 0.0
            right[block] = -g - multiplier * y
            if multiplier == 0.0:
                system[border, border] = 1.0
                continue
            system[block, block] += multiplier * np.eye(d)
            system[block, border] = system[border, block] = y / radius
        if not np.isfinite(system).all():
            return None
        step = np.linalg.lstsq(system, right)[0]
        return step[:d], step[d : 2 * d]

    def _log_gap(self, v: Array, p: Array) -> float | None:
        """Logarithm of |L - L_sel|; None where that is zero."""
        whole = self._gap(v)
        if whole is None:
            return None
        margins = differences(self._scored(v), whole)[0] @ p
        gap = LocalGap.at(whole, margins)
        return None if gap is None else gap.signed(margins)[1]

    def _prompt(self, v: Array, p: Array, log_unit: float) -> tuple[Array, Array, Array] | None:
        """Gradient and Hessian of L in p, and d/dp d/dv L, over e^log_unit."""
        whole = self._gap(v)
        if whole is None:
            return None
        D, _ = differences(self._scored(v), whole)
        log_s, u = whole.log_attention(D @ p), (self._rows(p) @ v)[whole.rows]
        g, H = derivatives(whole, log_s, u, log_unit)
        return D.T @ g, D.T @ H @ D, self._mixed(v, p, log_unit)

    def _reduced(self, v: Array, p: Array) -> Point:
        """Newton steps on min_v log L(v, p), in p: they see how the head answers."""
        heads = [v]

        def value(q: Array) -> float:
            heads.append(self._best_head(heads[0], q))
            return self.log_risk(heads[-1], q)

        def jet(q: Array) -> Jet:
            heads[:] = [self._best_head(heads[-1], q)]
            v, d = heads[0], len(q)
            own = self._head(self._rows(q), v)
            found = self._prompt(v, q, own.value)
            if found is None:
                return Jet(own.value, np.zeros(d), np.eye(d))
            of_p, twice, mixed = found
            mixed = mixed - np.outer(of_p, own.gradient)
            system = np.zeros((d + 1, d + 1))
            system[:d, :d], system[d, d] = own.hessian, 1.0
            if on_sphere(v, self.r):
                system[:d, :d] -= float(own.gradient @ v) / self.r**2 * np.eye(d)
                system[:d, d] = system[d, :d] = v / self.r
                system[d, d] = 0.0
            answer = np.linalg.lstsq(system, np.vstack([mixed.T, np.zeros(d)]))[0][:d]
            H = twice - np.outer(of_p, of_p) - mixed @ answer
            return Jet(own.value, of_p, 0.5 * (H + H.T))

        p = minimise_on_ball(jet, value, p, self.R, steps=_REDUCED)
        return self._best_head(heads[0], p), p

    def _mixed(self, v: Array, p: Array, log_gap: float) -> Array:
        """d/dp d/dv of L over e^log_gap: sum of l' y (C - b C v row^T), C the covariance."""
        data, rows = self.data, self._rows(p)
        labels = present(data.y, "the labels y")
        log_s = log_softmax(data.X @ p, data.mask)
        u = rows @ v
        outer = self.loss.log_slope(u) - math.log(data.n) - log_gap
        weights = outer[:, None, None] + log_s[:, :, None] + log_s[:, None, :]
        apart = data.X[:, :, None] - data.X[:, None, :]
        scaled = np.exp(np.minimum(weights, _LARGEST))[..., None] * apart
        C = 0.5 * np.einsum("ntud,ntue->nde", scaled, apart)
        bent = curvature_ratio(self.loss, u)[:, None] * rows
        change = C - np.einsum("nde,e,nf->ndf", C, v, bent)
        mixed: Array = -np.einsum("n,nde->de", labels, change)
        return mixed


def _moved(y: Array, step: Array, radius: float) -> Array:
    """Return the point y + step, on the sphere where y is, and in the ball."""
    after = y + step
    size = float(np.linalg.norm(after))
    if size > 0.0 and (size > radius or on_sphere(y, radius)):
        after = after * (radius / size)
    return after
