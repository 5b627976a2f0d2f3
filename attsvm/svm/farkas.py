"""Proofs that exact Farkas multipliers exist near multipliers computed in floats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import fmpq

from attsvm._types import Array, Float
from attsvm.exact.deadline import Deadline
from attsvm.exact.svm import decide
from attsvm.svm.programme import Programme, subset

EPS = float(np.finfo(np.float64).eps)

LARGEST = 300
"""Maximum number of multipliers that rationals check if an enclosure proves nothing."""


def coprime_integers(weights: Sequence[fmpq]) -> list[fmpq]:
    """Return rationals, not all zero, as coprime integers in the same proportion."""
    below = math.lcm(*(int(w.q) for w in weights))
    above = math.gcd(*(int(w.p) * (below // int(w.q)) for w in weights))
    return [w * below / above for w in weights]


def exists(
    programme: Programme, weights: Float[Array, " m"], deadline: Deadline | None = None
) -> bool:
    """Return whether the rows with a nonzero multiplier provably have no solution."""
    used = weights != 0.0
    rows, carried = subset(programme, used), weights[used]
    plain = programme.keys is None and not rows.equal.any() and bool((rows.bound >= 0.0).all())
    if plain and (rows.bound > 0.0).any() and cancelling_multipliers(rows, carried) is not None:
        return True
    if len(carried) > LARGEST:
        return False
    return decide(rows, carried, deadline).status == "unseparable"


def cancelling_multipliers(
    rows: Programme, weights: Float[Array, " k"]
) -> Float[Array, " k"] | None:
    """Return positive multipliers near `weights` that provably cancel the rows exactly, or None.

    Let B have all rows but the last as columns, R near its inverse and beta = ||I - R B|| < 1. Then
    B is nonsingular. The multipliers that cancel the last row are within ||R (B w + a)|| / (1 -
    beta) of w, in the maximum norm. This needs one row more than W has entries. The returned
    multipliers are the float solution.
    """
    k = len(weights)
    size = rows.D.shape[1] * rows.Z.shape[1]
    if k != size + 1 or not (weights > 0.0).all():
        return None
    tops_D, tops_Z = np.abs(rows.D).max(axis=1), np.abs(rows.Z).max(axis=1)
    if not (tops_D.all() and tops_Z.all()):
        return None
    D, Z = rows.D / tops_D[:, None], rows.Z / tops_Z[:, None]
    A = (D[:, :, None] * Z[:, None, :]).reshape(k, size).T
    w = weights * tops_D * tops_Z
    w = w / w[-1]
    B, last, head = A[:, :-1], A[:, -1], w[:-1]
    try:
        R = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return None
    # every entry of A has at most 5 roundings; sums of k terms have at most k more
    gamma = 1.01 * (k + 8) * EPS
    sizes = np.abs(R) @ np.abs(B)
    beta = (np.abs(R @ B - np.eye(size)) + 2 * gamma * sizes).sum(axis=1).max()
    residual = np.abs(B @ head + last) + gamma * (np.abs(B) @ np.abs(head) + np.abs(last))
    distance = (np.abs(R) @ residual).max() * (1 + gamma) + 1e-150
    # beta < 1/2, so exact multipliers lie within 2 distance of `head`, and are positive
    if not (beta < 0.5 and (head > 2.02 * distance).all()):
        return None
    near: Array = np.append(-R @ last, 1.0) / (tops_D * tops_Z)
    scaled: Array = near / near.sum()
    return scaled
