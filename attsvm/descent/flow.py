"""The curves of descent, followed by arc length to any norm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.descent.batch import Trajectory, each, stack, starts, trajectory
from attsvm.descent.layer import layer_of, loss_number
from attsvm.errors import DataError
from attsvm.kernels import flow as loops
from attsvm.losses import LOSSES, Loss

__all__ = ["follow", "follow_w"]


def follow_w(
    data: AttentionData,
    W0: Float[Array, "d d"],
    loss: Loss,
    norms: Sequence[float],
    *,
    steps: int = 20000,
) -> Trajectory:
    """`follow` for one data set; fewer iterates where some norms were not passed."""
    (run,) = follow([data], W0, loss, norms, steps=steps)
    return run


def follow(
    sets: Sequence[AttentionData],
    W0: object,
    loss: Loss,
    norms: Sequence[float],
    *,
    steps: int = 20000,
    threads: int = 1,
) -> tuple[Trajectory, ...]:
    """Follow the curves of descent by arc length until the norms of W pass each of `norms`.

    Plain descent with a step of at most 1/smoothness moves ever more slowly along this curve, as
    the gradient dies exponentially in the norm; normalised steps in the log domain reach any
    norm. A step is halved and repeated where the direction turns by more than 8 degrees, and
    grows by 1.3 where it turns by less than 2.6, beyond a size that made it swing only by 0.1% a
    step; no step moves a margin by more than 1 until the norm itself allows a hundredth of it.

    Args:
        sets: data sets of one shape.
        W0: start (d, d), or one per data set.
        loss: the loss, one of this package.
        norms: increasing Frobenius norms to pass.
        steps: evaluations of the gradient after which to give up.
        threads: how many data sets to run side by side.

    Returns:
        One trajectory a data set: the start and the iterates that first passed each norm; fewer
        where the steps ran out or the gradient vanished.

    Raises:
        DataError: bad starts, or a loss that is not one of this package.
    """
    number = loss_number(loss)
    if number is None:
        raise DataError(
            "curves are followed for the losses of this package",
            value=loss.name,
            remedy=f"Use one of {', '.join(LOSSES)}, or descend_w.",
        )
    batch = stack(sets)
    B, _, _, d = batch.X.shape
    start = starts("W0", W0, ("d", "d"), {"B": B, "d": d})
    wanted = np.array(list(norms), dtype=np.float64)

    def run(b: int) -> Trajectory:
        X, Z = batch.X[b], batch.Z[b]
        reach = float(np.linalg.norm(X - X.mean(axis=1, keepdims=True), axis=2).max())
        unit = 0.5 / max(2.0 * reach * float(np.linalg.norm(Z, axis=1).max()), 1e-12)
        layer = layer_of(batch, b, batch.Z, start[b])
        moved, out = np.zeros(layer.size), np.empty((len(wanted), *layer.size))
        counts, times = np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted))
        constant = float((start[b] ** 2).sum())
        passed = loops.follow(
            layer.X, layer.rows, layer.Z, layer.gamma, layer.base, layer.short(start[b]),
            constant, moved, number, wanted, unit, steps, out, counts, times,
        )  # fmt: skip
        rows = np.concatenate([start[b][None], layer.long(out[:passed], start[b])])
        when = np.concatenate([[-np.inf], times[:passed]])
        taken = [0, *counts[:passed].tolist()]
        plain = trajectory(taken, rows[None])
        return Trajectory(plain.steps, plain.W, plain.norms, log_time=when)

    return tuple(each(run, B, threads))
