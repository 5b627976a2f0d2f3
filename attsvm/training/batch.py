"""Batches of data sets, their starts, and the trajectories that runs return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm._validate import ensure_array, ensure_count
from attsvm._words import counted
from attsvm.data import AttentionData
from attsvm.errors import DataError


@dataclass(frozen=True, slots=True)
class Batch:
    """B data sets of one shape, stacked along a leading axis; labels if all data sets have them."""

    X: Float[Array, "B n T d"]
    Z: Float[Array, "B n e"]
    gamma: Float[Array, "B n T"]
    mask: Bool[Array, "B n T"] | None
    y: Float[Array, "B n"] | None = None

    def map(self, change: Callable[[Array], Any]) -> Batch:
        """Return the batch with `change` applied to every array."""
        arrays = (self.X, self.Z, self.gamma, self.mask, self.y)
        return Batch(*(None if a is None else change(a) for a in arrays))  # type: ignore[arg-type]

    def as_prompt(self) -> Batch:
        """Return the batch with queries (1,), for which W is a prompt as a column (d, 1)."""
        return replace(self, Z=np.ones((*self.X.shape[:2], 1)))


def stack(sets: Sequence[AttentionData] | AttentionData | Batch) -> Batch:
    """Stack data sets of equal (n, T, d); a single one is a batch of one, a batch stays unchanged.

    Raises:
        DataError: there is no data set, or shapes differ.
    """
    if isinstance(sets, Batch):
        return sets
    sets = [sets] if isinstance(sets, AttentionData) else sets
    wrong = [type(s).__name__ for s in sets if not isinstance(s, AttentionData)]
    if wrong:
        raise DataError(
            "a batch contains something other than data sets",
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
        steps: recorded step numbers, the first is 0. For checkpoints at norms there is one row per
            data set; it has -1 if the norm was not reached, and the iterates are NaN.
        W: iterates; for descent on (K, Q) the products K Q^T, for descent on p the prompts.
        norms: Frobenius norms of W.
        K, Q: the factors at the recorded steps, for descent on (K, Q); else None.
        v: the heads, for descent on v and p together; else None.
        log_time: for a curve followed by arc length, the logarithm of the time of gradient flow to
            each iterate, which is the number of plain steps times their size; else None.
        error: for a curve followed by arc length, an estimate of the Frobenius distance of each
            iterate to the curve, for (K, Q) of both factors together; else None.
    """

    steps: Int[Array, "*B k"]
    W: Float[Array, "B k *p"]
    norms: Float[Array, "B k"]
    log_time: Float[Array, " k"] | None = None
    K: Float[Array, "B k d r"] | None = None
    Q: Float[Array, "B k d r"] | None = None
    v: Float[Array, "B k d"] | None = None
    error: Float[Array, " k"] | None = None

    def __repr__(self) -> str:
        first, last = np.min(self.steps), np.max(self.steps)
        norms = ", ".join(f"{norm:.4g}" for norm in self.norms[:_SHOWN, -1])
        more = ", ..." if self.norms.shape[0] > _SHOWN else ""
        return (
            f"Trajectory of {counted(self.norms.shape[0], 'run')}: "
            f"{counted(self.norms.shape[1], 'iterate')}, steps {first} to {last}, "
            f"last norms {norms}{more}"
        )


_SHOWN = 3
"""Number of runs shown by `repr` of a trajectory."""

Starts = Mapping[str, tuple[object, str]]
"""Starts by name, each with one letter per axis of a single start, such as "dd"."""


def starts(start: Starts, d: int, count: int) -> list[Array]:
    """Return the starts of `count` runs, stacked, from one start for all or one for each.

    Raises:
        DataError: a shape is wrong, or an entry is not finite.
    """
    sizes, made = {"B": count, "d": d}, []
    for name, (value, axes) in start.items():
        if np.ndim(value) == len(axes) + 1:  # type: ignore[arg-type]
            made.append(ensure_array(name, value, ("B", *axes), sizes))
        else:
            made.append(np.repeat(ensure_array(name, value, axes, sizes)[None], count, axis=0))
    return made


T = TypeVar("T")


def each(run: Callable[[int], T], count: int, threads: int) -> list[T]:
    """Return [run(0), ..., run(count - 1)], computed on that many threads."""
    if ensure_count("the number of threads", threads, 1) == 1 or count == 1:
        return [run(b) for b in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(count)))
