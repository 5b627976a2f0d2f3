"""Rotary positions: the rotation of each plane of a head by distance, read from numbers.

Position p turns plane j of queries and keys by an angle p w_j. So the logit of a query at position
i and of a token at position t depends on x_t, z_i and the distance i - t alone. The planes are
pairs of coordinates: neighbours, or those half of the turned coordinates apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attsvm._types import Array, Float, Int, Shaped
from attsvm.heads.capturing.references import Part

_CLOSE = 1e-3
"""Maximum error of norms of planes and of angles, relative to the largest norm and in radians."""

Planes = tuple[Int[Array, " r"], Int[Array, " r"]]
"""The first and the second coordinates of planes."""


def turned(rows: Float[Array, "e d"], planes: Planes, turns: Shaped[Array, " r"]) -> Array:
    """Return rows whose planes are turned, each by the angle of a complex number of modulus 1."""
    result, (a, b) = rows.copy(), planes
    plane = turns[:, None] * (rows[a] + 1j * rows[b])
    result[a], result[b] = plane.real, plane.imag
    return result


def turns_by(parts: tuple[Part, Part], distance: int) -> tuple[Planes, Array] | None:
    """Return planes, and the rotation of each between a query and a token a distance before it.

    All heads of the first sequence are used. Return None if their queries and keys are not
    rotations of their projections by one angle per position and plane.

    Args:
        parts: queries and keys, as many of one as of the other.
        distance: the position of the query minus that of the token, not negative.
    """
    held, made = (
        np.concatenate([_heads(part, exact=exact) for part in parts]) for exact in (False, True)
    )
    room = _CLOSE * float(np.linalg.norm(made, axis=2).max())
    for planes in _candidates(held, made, room):
        q, z = (
            (numbers[..., planes[0]] + 1j * numbers[..., planes[1]]) for numbers in (held, made)
        )
        sums = (q * z.conj()).sum(axis=0)  # by position and plane
        if not sums.all():
            continue
        by_position = sums / np.abs(sums)
        if (np.abs(q - by_position * z) > room).any():
            continue
        between = by_position[distance:] * by_position[: len(sums) - distance].conj()
        turn = between.mean(axis=0)
        if (np.abs(between - turn) <= _CLOSE).all():
            return planes, turn / np.abs(turn)
    return None


def _heads(part: Part, *, exact: bool) -> Array:
    """Return the numbers (H, T, e) of the first sequence, with each distinct head once."""
    count = part.held.tensor.shape[1] if part.held is not None else 0
    return np.stack([part.array(0, h * part.group, exact=exact) for h in range(count)])


def _candidates(held: Array, made: Array, room: float) -> Iterator[Planes]:
    """Yield planes of all coordinates, and of the first ones up to the last one that differs."""
    e = made.shape[2]
    differ = np.flatnonzero((np.abs(held - made) > room).any(axis=(0, 1)))
    last = e if not differ.size else int(differ[-1]) + 1
    for size in dict.fromkeys((e, last + last % 2)):
        half = np.arange(size // 2)
        yield half, half + size // 2
        yield 2 * half, 2 * half + 1
