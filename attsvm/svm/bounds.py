"""Brackets of least norms, proved by weak duality, with rounding errors included.

For multipliers w (nonnegative on inequalities), S = sum_j w_j A_j and any feasible V,

  sum_j w_j bound_j <= <S, V> <= ||S||_F ||V||_F   and   <= ||S||_op ||V||_*,

and the norm of a feasible V bounds the least norm from above. Each quantity is computed in floats
and moved outward by an a-priori bound of its rounding error. An inner product of k terms, in any
order of summation, is off by at most gamma(k) = k u / (1 - k u) times the product of the norms,
plus k times the smallest subnormal. The rows are those of the data: the rounding of a token
difference D_j (and of its product with the keys) is part of the error. A bound that cannot be
computed is infinite or zero; an array with NaN gives NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.svm.programme import Programme, changed

TOLERANCE = 1e-9
"""Maximum relative residual or gap of an answer with status `solved` or `unseparable`."""

TIGHT = 1e-7
"""Relative tolerance within which a margin counts as tight."""

UNIT = 2.0**-53
"""Unit roundoff u: maximum relative error of one rounded operation."""
TINY = 2.0**-1074
"""The smallest subnormal number: an upper bound of the error of a product that underflows."""
UP, DOWN = 1.0 + 8.0 * UNIT, 1.0 - 8.0 * UNIT
"""Factors that move a positive number past the rounding errors of up to six operations."""


def gamma(k: int) -> float:
    """Return an upper bound of the relative rounding error of k successive operations."""
    return UP * k * UNIT / (1.0 - k * UNIT)


def length_up(rows: Float[Array, "n k"]) -> Float[Array, " n"]:
    """Return upper bounds of the Euclidean norms of rows."""
    k = rows.shape[1]
    square: Array = np.einsum("nk,nk->n", rows, rows)
    lengths: Array = np.sqrt(square + k * TINY) * (1.0 + gamma(k + 8))
    return lengths


def size_up(array: Float[Array, " ..."]) -> float:
    """Return an upper bound of the Euclidean norm of a vector, or Frobenius norm of a matrix."""
    entries = length_up(array) if array.ndim == 2 else array
    k = entries.size
    return float(np.sqrt(float(entries @ entries) + k * TINY) * (1.0 + gamma(k + 8)))


def row_errors(programme: Programme) -> Float[Array, " m"]:
    """Return upper bounds of ||D_j - d_j||, where d_j is the exact difference of tokens or keys."""
    formed = programme.kept - programme.rival
    errors: Array = UNIT * length_up(formed)
    if programme.keys is not None:
        d, k = programme.keys.shape
        size = size_up(programme.keys)
        errors = gamma(k + 4) * size * length_up(formed) + d * k * TINY
        formed = formed @ programme.keys.T
    # rows that were not formed from `kept` and `rival` in floats differ from them by more
    strangers = programme.D - formed
    return (errors + length_up(strangers)) * UP if strangers.any() else errors


@np.errstate(over="ignore", invalid="ignore")
def certain_margins(
    D: Float[Array, "m d"], Z: Float[Array, "m e"], W: Float[Array, "d e"]
) -> Float[Array, " m"]:
    """Return lower bounds of the margins D_j^T W z_j; each D_j has one rounding per entry.

    A sum of products of k terms is off by at most gamma(k) times the sum of their absolute values.
    D adds one rounding, and the two sums add d + e. The last term covers underflow for entries of
    up to 1e140.
    """
    margins = ((D @ W) * Z).sum(axis=1)
    sizes = ((np.abs(D) @ np.abs(W)) * np.abs(Z)).sum(axis=1)
    lower: Array = margins - 1.01 * gamma(sum(W.shape) + 4) * sizes - 1e-150
    return lower


def margins_about(
    programme: Programme, W: Float[Array, "d e"], size: float
) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
    """Return margins d_j^T W z_j as floats and bounds of their errors; `size` bounds ||W||_F."""
    d, e = W.shape
    per_row = gamma(d + e + 4) * length_up(programme.D) + row_errors(programme)
    noise = (per_row * size + d * e * TINY) * length_up(programme.Z) + e * TINY
    return programme.margins(W), noise * UP


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Singular values of S = sum_j w_j A_j in floats, and a proved bound of the largest one.

    Attributes:
        U, values, V: left vectors, singular values and right vectors, as floats.
        top: an upper bound of ||S||_op for the exact rows.
    """

    U: Float[Array, "d q"]
    values: Float[Array, " q"]
    V: Float[Array, "e q"]
    top: float


@np.errstate(over="ignore", invalid="ignore")
def spectrum(programme: Programme, weights: Float[Array, " m"]) -> Spectrum:
    """Decompose sum_j weights_j A_j in coordinates of the queries.

    With S = sum_i E_i z_i^T over the queries, z_i = Q t_i + rest_i and K = sum_i E_i t_i^T, the
    norm is at most ||K||_op ||Q||_op + sum_i ||E_i|| ||rest_i||, for any Q and t_i.
    """
    d, e = programme.D.shape[1], programme.Z.shape[1]
    sums, queries, count = _sums(programme, weights)
    loads = np.abs(weights) * length_up(programme.D) * UP
    lengths = length_up(programme.Z)
    coordinates, Q, stretch, beyond = queries, None, 1.0, 0.0
    if len(queries) < e:
        Q = np.linalg.qr((queries / np.maximum(length_up(queries), TINY)[:, None]).T)[0]
        stretch, coordinates = _stretch(Q), queries @ Q
        q = Q.shape[1]
        rest = length_up(queries - coordinates @ Q.T) * UP
        rest += gamma(q + 2) * q * stretch * length_up(coordinates) + q * e * TINY
        beyond = _sum_up((length_up(sums) + gamma(count) * _sum_up(loads)) * rest) * UP
    K = sums.T @ coordinates
    if not np.isfinite(K).all():
        empty = np.full(K.shape[1], np.nan)
        return Spectrum(np.full_like(K, np.nan), empty, np.full((e, len(empty)), np.nan), np.inf)
    # The decomposition is not trusted: ||K|| <= ||U|| max(values) ||V|| + ||K - U values V^T||. The
    # norms of U and V follow from their distance to orthonormal columns. `away` collects the second
    # term and the rounding errors of all products, each by an a-priori bound.
    U, values, V = np.linalg.svd(K, full_matrices=False)
    away = size_up(K - (U * values) @ V) * UP
    turned = _stretch(U) * _stretch(V.T)
    away += gamma(len(values) + 4) * _sum_up(values) * turned
    away += gamma(count + 4) * _sum_up(loads * lengths) * stretch * UP
    away += len(loads) * d * e * TINY * (1.0 + _sum_up(lengths) * stretch)
    data = _sum_up(np.abs(weights) * row_errors(programme) * lengths)
    top = ((float(values.max()) * turned + away) * stretch + beyond + data) * UP * UP
    return Spectrum(U, values, V.T if Q is None else Q @ V.T, float(top))


def nuclear_up(L: Float[Array, "d r"], R: Float[Array, "e r"]) -> float:
    """Return an upper bound of the nuclear norm of the float product L R^T.

    The bound holds for any order of summation. The exact product is a sum of rank-one terms, of
    norm at most sum_i ||l_i|| ||r_i||. The rounding error E has ||E||_* <= sqrt(min(d, e)) ||E||_F.
    """
    (d, r), e = L.shape, R.shape[0]
    terms = _sum_up(length_up(L.T) * length_up(R.T))
    width = float(np.sqrt(min(d, e))) * UP
    return float((terms * (1.0 + width * gamma(r + 2)) + width * d * e * r * TINY) * UP)


@np.errstate(over="ignore", invalid="ignore")
def nuclear_bracket(
    programme: Programme,
    L: Float[Array, "d r"],
    R: Float[Array, "e r"],
    weights: Float[Array, " m"],
    top: float,
) -> tuple[float, float]:
    """Return bounds of min ||V||_* over feasible V, from the float product L R^T, scaled.

    `top` is an upper bound of ||sum_j weights_j A_j||_op, as returned by `spectrum`.
    """
    size = nuclear_up(L, R)
    upper = _scale_up(programme, _less(*margins_about(programme, L @ R.T, size))) * size * UP
    if not (weights >= 0.0).all():
        return 0.0, float(upper)
    return max(_gain_down(programme, weights) / max(top, TINY) * DOWN, 0.0), float(upper)


@np.errstate(over="ignore", invalid="ignore")
def frobenius_bracket(
    programme: Programme, W: Float[Array, "d e"], weights: Float[Array, " m"]
) -> tuple[float, float]:
    """Return bounds of min ||V||_F over feasible V, from a matrix W and multipliers.

    The upper bound is the norm of the multiple of W that provably meets every bound. No multiple
    provably meets an equality, or a tight bound of 0. Then the upper bound is ||W||_F plus a bound
    of the distance to a feasible matrix. Such a matrix exists if the rows in question are
    independent beyond rounding. If neither works, the bound is infinite. If squares of the
    constraints would leave float64, they are scaled by a power of two.
    """
    power, scaled = _balanced(programme)
    if power:
        low, high = frobenius_bracket(scaled, np.ldexp(W, power), weights)
        largest = float(np.finfo(np.float64).max)
        least = min(float(np.nextafter(np.ldexp(low, -power), 0.0)), largest)
        return least, float(np.nextafter(np.ldexp(high, -power), np.inf))
    (m, d), e = programme.D.shape, programme.Z.shape[1]
    weights = np.where(programme.equal, weights, np.maximum(weights, 0.0))
    heaviest = float(np.abs(weights).max())
    if not heaviest < np.inf:
        weights = np.zeros_like(weights)
    elif heaviest > 0.0:  # any multiple of the weights gives the same bound
        weights = np.ldexp(weights, -int(np.frexp(heaviest)[1]))
    lengths = length_up(programme.Z)
    sums, queries, count = _sums(programme, weights)
    S = sums.T @ queries
    per_row = gamma(count + 4) * length_up(programme.D) + row_errors(programme)
    away = _sum_up(np.abs(weights) * per_row * lengths)
    away += m * d * e * TINY * (1.0 + _sum_up(lengths))
    top = (size_up(S) + away) * UP
    lower = max(_gain_down(programme, weights) / max(top, TINY) * DOWN, 0.0)
    largest = float(np.abs(W).max())
    if not 0.0 < largest < np.inf:
        return lower, np.inf
    exponent = int(np.frexp(largest)[1])  # squares of W itself could overflow
    size = float(np.ldexp(size_up(np.ldexp(W, -exponent)) * UP, exponent))
    margins, noise = margins_about(programme, W, size)
    upper = _scale_up(programme, _less(margins, noise)) * size * UP
    if upper == np.inf:
        upper = (size + shift_up(programme, margins, noise)) * UP
    return lower, float(upper)


BALANCED = 400
"""Exponent limit: constraints of size 2^-BALANCED to 2^BALANCED have squares within float64."""


def _balanced(programme: Programme) -> tuple[int, Programme]:
    """Return an exponent k, and the programme with all constraints divided by 2^k.

    k is 0 if scaling is not needed, or if it would round an entry.
    """
    tops = [float(np.abs(side).max()) for side in (programme.D, programme.Z)]
    left, right = (int(np.frexp(top)[1]) if 0.0 < top < np.inf else 0 for top in tops)
    if abs(left + right) <= BALANCED:
        return 0, programme
    powers = {"D": left, "kept": left, "rival": left, "Z": right}
    scaled = {name: np.ldexp(getattr(programme, name), -k) for name, k in powers.items()}
    for name, k in powers.items():
        if (np.ldexp(scaled[name], k) != getattr(programme, name)).any():
            return 0, programme
    return left + right, changed(programme, **scaled)


def _sums(programme: Programme, weights: Array) -> tuple[Array, Array, int]:
    """Return E_i = sum_j weights_j D_j over each run of rows with one query z_i, the z_i, and k.

    Any product of sum_i E_i z_i^T with a matrix is off by at most gamma(k) times the sum of norms.
    """
    D, Z = programme.D, programme.Z
    breaks = np.flatnonzero((Z[1:] != Z[:-1]).any(axis=1)) + 1
    first = np.concatenate([[0], breaks])
    longest = int((np.concatenate([breaks, [len(Z)]]) - first).max())
    sums: Array = np.add.reduceat(D * weights[:, None], first, axis=0)
    return sums, Z[first], longest + len(first) + 2


def _sum_up(terms: Array) -> float:
    """Return an upper bound of a sum of nonnegative terms, each rounded once or twice."""
    return float(terms.sum() * (1.0 + gamma(terms.size + 4)) + terms.size * TINY)


def _stretch(Q: Array) -> float:
    """Return an upper bound of ||Q||_op, as ||Q||_op^2 = ||Q^T Q||_op <= 1 + ||Q^T Q - I||_F."""
    return float(np.sqrt(1.0 + defect_up(Q)) * UP)


def defect_up(Q: Array) -> float:
    """Return an upper bound of ||Q^T Q - I||_F."""
    k, q = Q.shape
    rounding = gamma(k + 4) * size_up(Q) ** 2 + k * q * TINY
    return float((size_up(Q.T @ Q - np.eye(q)) + rounding) * UP)


def _less(values: Array, noise: Array) -> Array:
    """Return lower bounds of values - noise."""
    low: Array = values - noise
    return low - 4.0 * UNIT * np.abs(low)


def _gain_down(programme: Programme, weights: Array) -> float:
    """Return a lower bound of sum_j weights_j bound_j; 0 on overflow, which proves nothing."""
    terms = weights * programme.bound
    size = float(np.abs(terms).sum()) * (1.0 + gamma(terms.size))
    if not size < np.inf:
        return 0.0
    return math.fsum(terms.tolist()) - gamma(4) * size - terms.size * TINY


def _scale_up(programme: Programme, margins: Array) -> float:
    """Return an upper bound of the least factor with which `margins` meet the bounds.

    It is infinite if no multiple provably meets them.
    """
    bound = programme.bound
    positive = bound > 0.0
    if programme.equal.any() or not (margins[positive] > 0.0).all():
        return np.inf
    factor = float((bound[positive] / margins[positive]).max(initial=0.0)) * UP
    others = margins[~positive]
    met = (others >= 0.0) | (factor * UP * others * UP >= bound[~positive])
    return factor if met.all() else np.inf


def shift_up(programme: Programme, margins: Array, noise: Array) -> float:
    """Return an upper bound of the distance from W to a feasible matrix; infinite without a proof.

    Let J be the rows that are equalities or not provably met. W + sum_J x_j A_j meets them exactly
    if their Gram matrix is regular. For unit rows this moves W by at most ||t|| / sqrt(lambda), t
    the missing margins and lambda the least eigenvalue. The other rows must stay met.
    """
    bound, equal = programme.bound, programme.equal
    vacuous = (programme.kept == programme.rival).all(axis=1) & ~programme.D.any(axis=1)
    hopeless = vacuous & np.where(equal, bound != 0.0, bound > 0.0)
    if hopeless.any() or not np.isfinite(margins + noise).all():
        return np.inf
    met = vacuous | (~equal & (_less(margins, noise) >= bound))
    J = np.flatnonzero(~met)
    if J.size == 0:
        return 0.0
    D, Z = programme.D[J], programme.Z[J]
    lengths_D, lengths_Z = length_up(D), length_up(Z)
    units_D, units_Z = D / lengths_D[:, None], Z / lengths_Z[:, None]
    # By Weyl's inequality the least eigenvalue of the exact Gram matrix is at least that of the
    # computed one, minus the norm of their difference: rounding of sums and of rows (`off` by
    # entry, J.size * off in norm), and what the computed decomposition misses (`rest`). Computed
    # eigenvectors are not orthonormal, which costs a factor 1 - defect.
    gram = (units_D @ units_D.T) * (units_Z @ units_Z.T)
    off = gamma(D.shape[1] + Z.shape[1] + 16)
    off += 4.0 * float((row_errors(programme)[J] / lengths_D).max())
    values, vectors = np.linalg.eigh(gram)
    rest = size_up(gram - (vectors * values) @ vectors.T)
    rest += 2.0 * gamma(J.size + 4) * _sum_up(np.abs(values))
    least = float(values[0]) * (1.0 - defect_up(vectors)) - (rest + J.size * off) * UP
    if not least > 0.0:
        return np.inf
    missing = (np.abs(bound[J] - margins[J]) + noise[J]) / (lengths_D * lengths_Z) * UP
    move = size_up(missing) / np.sqrt(least * DOWN) * UP
    others = met & ~vacuous
    loads = length_up(programme.D[others]) * length_up(programme.Z[others]) * UP
    kept = _less(margins[others], (noise[others] + loads * move) * UP) >= bound[others]
    return float(move) if kept.all() else np.inf
