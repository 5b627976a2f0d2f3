"""First-order points of head and prompt: alternating descents, and Newton steps on both.

If the prompt selects single tokens, it changes log L only by about e^-R, and minimising in turns
converges fast. Otherwise the two depend on each other, and turns converge slowly. So head and
prompt are minimised in turns, the head on log L and the prompt on `LocalGap`. Newton steps on the
first-order equations of both complete the search.
"""

import math

import numpy as np

from attsvm._types import Array
from attsvm.attention import log_softmax, signed_sum
from attsvm.errors import present
from attsvm.losses import LOGISTIC_LOSS
from attsvm.paths.ball import minimise_on_ball
from attsvm.paths.drops import LOG_VALUES, curvature_ratio
from attsvm.paths.grades import on_sphere
from attsvm.paths.local import LocalGap, derivatives, of_margins, settled
from attsvm.paths.objective import GapObjective, Jet, differences
from attsvm.paths.pair import LARGEST, OptionalPoint, Pair, Point

_SWEEPS = 60
"""Maximum number of turns of head and prompt."""

_REDUCED = 60
"""Maximum number of Newton steps on min_v log L(v, p) in the prompt."""

_PLATEAUS = 20
"""Maximum number of times that the head leaves a plateau of the logistic loss."""

_SETTLED = 1e-12
"""Maximum residual at which the search ends."""


def descend(pair: Pair, v: Array, p: Array) -> Point:
    """Return a point reached from (v, p): stationary, or the last one at which the risk fell."""
    before = math.inf
    for turn in range(_SWEEPS):
        if pair.r > 0.0:
            both = turn > 0 and pair.R > 0.0
            v, p = _reduced(pair, v, p) if both else (_best_head(pair, v, p), p)
        if pair.R > 0.0:
            p = _best_prompt(pair, v, p)
        v, p = newton(pair, v, p)
        now = pair.log_risk(v, p)
        if max(pair.residuals(v, p)) <= _SETTLED or not now < before:
            break
        before = now
    return v, p


def _best_head(pair: Pair, v: Array, p: Array) -> Array:
    rows = pair.rows(p)
    rows = rows[rows.any(axis=1)]  # the other inputs add a constant
    if not len(rows):
        return v
    v = minimise_on_ball(
        lambda u: pair.head(rows, u), lambda u: pair.head(rows, u).value, v, pair.r
    )
    if pair.loss is not LOGISTIC_LOSS:
        return v
    for _ in range(_PLATEAUS):
        wrong = rows @ v < 0.0
        if not wrong.any() or pair.residuals(v, p)[0] <= _SETTLED:
            break
        before, v = v, _off_plateau(pair, rows, v, wrong)
        if np.array_equal(before, v):
            break
    return v


def _off_plateau(pair: Pair, rows: Array, v: Array, wrong: Array) -> Array:
    """Return the head after descent on log |L - k / n|, for k `wrong` inputs of loss near 1.

    Newton steps on log L alone see no curvature there.
    """

    def side(v: Array) -> float:
        values = LOG_VALUES[pair.loss.name][1](np.where(wrong, -1.0, 1.0) * (rows @ v))[0]
        return float(signed_sum(np.where(wrong, -1.0, 1.0), values)[0])

    current = side(v)
    if current == 0.0:
        return v

    def value(v: Array) -> float:
        return pair.head(rows, v, wrong).value if side(v) == current else -current * math.inf

    return minimise_on_ball(lambda v: pair.head(rows, v, wrong), value, v, pair.r)


def _best_prompt(pair: Pair, v: Array, p: Array) -> Array:
    whole = pair.gap(v)
    if whole is None:
        return p
    D, _ = differences(pair.scored(v), whole)

    def descend(gap: GapObjective | LocalGap, p: Array) -> Array:
        return minimise_on_ball(*of_margins(gap, D), p, pair.R)

    return settled(whole, p, lambda q: D @ q, descend, lambda q: pair.residuals(v, q)[1])


def _reduced(pair: Pair, v: Array, p: Array) -> Point:
    """Return the point after Newton steps in p on min_v log L(v, p).

    The Hessian is reduced by the head: it includes how the best head changes with p.
    """
    heads = [v]

    def value(q: Array) -> float:
        heads.append(_best_head(pair, heads[0], q))
        return pair.log_risk(heads[-1], q)

    def jet(q: Array) -> Jet:
        heads[:] = [_best_head(pair, heads[-1], q)]
        v, d = heads[0], len(q)
        own = pair.head(pair.rows(q), v)
        result = _prompt(pair, v, q, own.value)
        if result is None:
            return Jet(own.value, np.zeros(d), np.eye(d))
        # By the implicit function theorem the reduced Hessian is L_pp - L_pv L_vv^-1 L_vp. On the
        # sphere, L_vv is that of the Lagrangian, bordered by the constraint that v stays on it.
        of_p, twice, mixed = result
        mixed = mixed - np.outer(of_p, own.gradient)
        system = np.zeros((d + 1, d + 1))
        system[:d, :d], system[d, d] = own.hessian, 1.0
        if on_sphere(v, pair.r):
            system[:d, :d] -= float(own.gradient @ v) / pair.r**2 * np.eye(d)
            system[:d, d] = system[d, :d] = v / pair.r
            system[d, d] = 0.0
        answer = np.linalg.lstsq(system, np.vstack([mixed.T, np.zeros(d)]))[0][:d]
        H = twice - np.outer(of_p, of_p) - mixed @ answer
        return Jet(own.value, of_p, 0.5 * (H + H.T))

    p = minimise_on_ball(jet, value, p, pair.R, steps=_REDUCED)
    return _best_head(pair, heads[0], p), p


def newton(pair: Pair, v: Array, p: Array) -> Point:
    """Return the point after Newton steps on (v, p), as long as they halve the residual."""
    value, size = pair.log_risk(v, p), max(pair.residuals(v, p))
    while size > _SETTLED and (step := newton_step(pair, v, p)) is not None:
        after = _moved(v, step[0], pair.r), _moved(p, step[1], pair.R)
        rest, risk = max(pair.residuals(*after)), pair.log_risk(*after)
        if not (rest < 0.5 * size and risk <= value + 1e-13 * (1.0 + abs(value))):
            break
        (v, p), value, size = after, risk, rest
    return v, p


def _moved(y: Array, step: Array, radius: float) -> Array:
    """Return y + step, scaled to the sphere if y lies on it or if the sum leaves the ball."""
    after = y + step
    size = float(np.linalg.norm(after))
    if size > 0.0 and (size > radius or on_sphere(y, radius)):
        after = after * (radius / size)
    return after


def newton_step(pair: Pair, v: Array, p: Array) -> OptionalPoint:
    """Return the step of Newton's method for -grad = multiplier * point in both balls.

    The equations of v are those of log L, the equations of p those of L over |L - L_sel|. None if a
    ball is a point, L = L_sel, or a number is not finite.
    """
    if pair.r == 0.0 or pair.R == 0.0:
        return None
    own, d, log_gap = pair.head(pair.rows(p), v), len(v), _log_gap(pair, v, p)
    result = None if log_gap is None else _prompt(pair, v, p, log_gap)
    if result is None or log_gap is None:
        return None
    of_p, twice, mixed = result
    weight = math.exp(min(log_gap - own.value, LARGEST))
    system, right = np.zeros((2 * d + 2, 2 * d + 2)), np.zeros(2 * d + 2)
    system[:d, :d], system[d : 2 * d, d : 2 * d] = own.hessian, twice
    system[:d, d : 2 * d] = weight * (mixed.T - np.outer(own.gradient, of_p))
    system[d : 2 * d, :d] = mixed
    # Unknowns are the moves of v and p and of their multipliers. On a sphere: g + m y = 0 with m =
    # -<g, y>/radius^2, linearised, and <y, move> = 0. Inside a ball its multiplier stays 0.
    for k, (y, g, radius) in enumerate(((v, own.gradient, pair.r), (p, of_p, pair.R))):
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


def _prompt(pair: Pair, v: Array, p: Array, log_unit: float) -> tuple[Array, Array, Array] | None:
    """Return gradient and Hessian of L in p, and d/dp d/dv L, all divided by e^log_unit.

    None if each input has a single score.
    """
    whole = pair.gap(v)
    if whole is None:
        return None
    D, _ = differences(pair.scored(v), whole)
    log_s, u = whole.log_attention(D @ p), (pair.rows(p) @ v)[whole.rows]
    g, H = derivatives(whole, log_s, u, log_unit)
    return D.T @ g, D.T @ H @ D, _mixed(pair, v, p, log_unit)


def _log_gap(pair: Pair, v: Array, p: Array) -> float | None:
    """Return the logarithm of |L - L_sel|; None if the difference is zero."""
    whole = pair.gap(v)
    if whole is None:
        return None
    margins = differences(pair.scored(v), whole)[0] @ p
    gap = LocalGap.at(whole, margins)
    return None if gap is None else gap.signed(margins)[1]


def _mixed(pair: Pair, v: Array, p: Array, log_gap: float) -> Array:
    """Return d/dp d/dv L, divided by e^log_gap.

    It is the mean of l' y (C + (l''/l') C v row^T), where C is the covariance of the tokens under
    attention and row = y X^T s.
    """
    data, rows = pair.data, pair.rows(p)
    labels = present(data.y, "the labels y")
    log_s = log_softmax(data.X @ p, data.mask)
    u = rows @ v
    outer = pair.loss.log_slope(u) - math.log(data.n) - log_gap
    weights = outer[:, None, None] + log_s[:, :, None] + log_s[:, None, :]
    apart = data.X[:, :, None] - data.X[:, None, :]
    scaled = np.exp(np.minimum(weights, LARGEST))[..., None] * apart
    C = 0.5 * np.einsum("ntud,ntue->nde", scaled, apart)
    bent = curvature_ratio(pair.loss, u)[:, None] * rows
    change = C - np.einsum("nde,e,nf->ndf", C, v, bent)
    mixed: Array = -np.einsum("n,nde->de", labels, change)
    return mixed
