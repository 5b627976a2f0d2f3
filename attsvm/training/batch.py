"""Batches of data sets and starts, and the trajectories that runs on them return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int

from attsvm._types import Array
from attsvm._validate import ensure_array, ensure_count
from attsvm.data import AttentionData
from attsvm.errors import DataError


@dataclass(frozen=True, slots=True)
class Batch:
    """B data sets of one shape, stacked along a leading axis; labels where all have them."""

    X: Float[Array, "B n T d"]
    Z: Float[Array, "B n e"]
    gamma: Float[Array, "B n T"]
    mask: Bool[Array, "B n T"] | None
    y: Float[Array, "B n"] | None = None

    def repeated(self, count: int) -> Batch:
        """The one data set of this batch `count` times, without a copy."""

        def wide(array: Array | None) -> Array | None:
            return None if array is None else np.broadcast_to(array, (count, *array.shape[1:]))

        arrays = [wide(a) for a in (self.X, self.Z, self.gamma, self.mask, self.y)]
        return Batch(*arrays)  # type: ignore[arg-type]


def stack(sets: Sequence[AttentionData] | AttentionData) -> Batch:
    """Stack data sets of equal (n, T, d); a single one is a batch of one.

    Raises:
        DataError: no data set, or different shapes.
    """
    if isinstance(sets, AttentionData):
        sets = [sets]
    wrong = [type(s).__name__ for s in sets if not isinstance(s, AttentionData)]
    if wrong:
        raise DataError(
            "a batch holds something else than data sets",
            value=wrong[0],
            remedy="Use AttentionData.",
        )
    shapes = sorted({(s.n, s.T, s.d) for s in sets})
    if len(shapes) != 1:
        raise DataError(
            "a batch needs data sets of one shape (n, T, d)",
            value=shapes,
            remedy="Group the data sets by shape and call once per group.",
        )
    masked = any(s.mask is not None for s in sets)
    return Batch(
        X=np.stack([s.X for s in sets]),
        Z=np.stack([s.Z for s in sets]),
        gamma=np.stack([s.gamma for s in sets]),
        mask=np.stack([s.present for s in sets]) if masked else None,
        y=None if any(s.y is None for s in sets) else np.stack([s.y for s in sets]),  # type: ignore[misc]
    )


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Iterates at the recorded steps, one row per data set of the batch.

    Attributes:
        steps: recorded step numbers, the first is 0; of checkpoints at norms one row per data
            set, -1 where the norm was not reached and the iterates are NaN.
        W: iterates; of descent on (K, Q) the products K Q^T, of descent on p the prompts.
        norms: Frobenius norms of W.
        K, Q: the factors at the recorded steps, of descent on (K, Q); else None.
        v: the heads, of descent on v and p together; else None.
        log_time: of a curve followed by arc length, the logarithm of the time that gradient flow
            takes to each iterate, which is the number of plain steps times their size; else None.
        error: of a curve followed by arc length, an estimate of the distance of each iterate to
            the curve in Frobenius norm, of (K, Q) both factors together; else None.
    """

    steps: Int[Array, "*B k"]
    W: Float[Array, "B k *p"]
    norms: Float[Array, "B k"]
    log_time: Float[Array, " k"] | None = None
    K: Float[Array, "B k d r"] | None = None
    Q: Float[Array, "B k d r"] | None = None
    v: Float[Array, "B k d"] | None = None
    error: Float[Array, " k"] | None = None


def recorded(steps: int, record: Sequence[int] | None) -> list[int]:
    """The steps to keep, in order, with the first and the last; all where nothing is asked."""
    steps = ensure_count("the number of steps", steps)
    if record is None:
        return list(range(steps + 1))
    if np.ndim(record) != 1:
        raise DataError("record is not a list of steps", value=record, remedy="Use e.g. [10, 100].")
    chosen = sorted({int(k) for k in record} | {0, steps})
    if chosen[0] < 0 or chosen[-1] > steps or any(int(k) != k for k in record):
        raise DataError(
            f"recorded steps must lie in 0..{steps}",
            value=list(record),
            remedy="Record only steps that are taken.",
        )
    return chosen


def starts(name: str, value: object, axes: Sequence[str], sizes: dict[str, int]) -> Array:
    """One start for all data sets, or one for each, as an array with a leading batch axis."""
    if np.ndim(value) == len(axes) + 1:  # type: ignore[arg-type]
        return ensure_array(name, value, ("B", *axes), sizes)
    single = ensure_array(name, value, axes, sizes)
    return np.repeat(single[None], sizes["B"], axis=0)


def batch_size(sets: int, step: object, *given: tuple[object, int]) -> int:
    """How many runs data sets, step sizes and starts (each with its own dimension) make together.

    Raises:
        DataError: two of them come in different numbers, none of them one.
    """
    counts = [sets, np.size(step)]  # type: ignore[arg-type]
    counts += [len(value) for value, axes in given if np.ndim(value) == axes + 1]  # type: ignore
    several = sorted({count for count in counts if count != 1})
    if len(several) > 1:
        raise DataError(
            "data sets, starts and step sizes come in different numbers",
            value=", ".join(map(str, counts)),
            remedy="Give one of each, or as many as there are runs.",
        )
    return several[0] if several else 1


def step_sizes(value: object, count: int) -> Float[Array, " B"]:
    """Positive step sizes, one for all runs or one for each.

    Raises:
        DataError: one is not positive and finite.
    """
    many = np.asarray(value if np.ndim(value) else [value])  # type: ignore[arg-type]
    if many.dtype.kind not in "iuf":
        raise DataError("step is not a number", value=value, remedy="Use e.g. 0.1.")
    many = many.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(many) & (many > 0.0)))
    if many.ndim != 1 or wrong.size:
        raise DataError(
            "step must be positive and finite, one number or one per run",
            value=float(many[wrong[0]]) if many.ndim == 1 else f"shape {many.shape}",
            remedy="Use e.g. 0.1.",
        )
    array: Array = many
    return np.repeat(array, count) if len(array) == 1 else array.copy()


T = TypeVar("T")


def each(run: Callable[[int], T], count: int, threads: int) -> list[T]:
    """run(0), run(1), ... in order, on that many threads."""
    if ensure_count("the number of threads", threads, 1) == 1 or count == 1:
        return [run(b) for b in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(count)))
