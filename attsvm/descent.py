"""Gradient descent and normalised descent on W, (K, Q) and p; one call runs a whole batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from attsvm._types import Array
from attsvm._validate import ensure_array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import Loss
from attsvm.risk import descent_direction, gradient_kq, gradient_p, normalised_gradient

__all__ = [
    "Batch",
    "Trajectory",
    "descend_kq",
    "descend_p",
    "descend_w",
    "follow_w",
    "normalised_descent_w",
    "stack",
]


@dataclass(frozen=True, slots=True)
class Batch:
    """B data sets of one shape, stacked along a leading axis."""

    X: Float[Array, "B n T d"]
    Z: Float[Array, "B n d"]
    gamma: Float[Array, "B n T"]
    mask: Bool[Array, "B n T"] | None


def stack(sets: Sequence[AttentionData]) -> Batch:
    """Stack data sets of equal (n, T, d).

    Raises:
        DataError: no data set, or different shapes.
    """
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
    )


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Iterates at the recorded steps, one row per data set of the batch.

    Attributes:
        steps: recorded step numbers, the first is 0.
        W: iterates; of descent on (K, Q) the products K Q^T, of descent on p the prompts.
        norms: Frobenius norms of W.
        log_time: of a curve followed by arc length, the logarithm of the time that gradient flow
            takes to each iterate, which is the number of plain steps times their size; else None.
    """

    steps: Int[Array, " k"]
    W: Float[Array, "B k *p"]
    norms: Float[Array, "B k"]
    log_time: Float[Array, " k"] | None = None


def _trajectory(steps: Sequence[int], rows: Sequence[Array]) -> Trajectory:
    W = np.stack(rows, axis=1)
    norms = np.sqrt((W**2).sum(axis=tuple(range(2, W.ndim))))
    return Trajectory(steps=np.array(steps, dtype=np.int64), W=W, norms=norms)


def _recorded(steps: int, record: Sequence[int] | None) -> list[int]:
    if steps < 0:
        raise DataError("the number of steps is negative", value=steps, remedy="Use 0 or more.")
    if record is None:
        return list(range(steps + 1))
    chosen = sorted({int(k) for k in record} | {0, steps})
    if chosen[0] < 0 or chosen[-1] > steps:
        raise DataError(
            f"recorded steps must lie in 0..{steps}",
            value=list(record),
            remedy="Record only steps that are taken.",
        )
    return chosen


def _starts(batch: Batch, W0: object) -> Array:
    d = batch.X.shape[-1]
    sizes = {"B": batch.X.shape[0], "d": d}
    if np.ndim(W0) == 3:  # type: ignore[arg-type]
        return ensure_array("W0", W0, ("B", "d", "d"), sizes)
    single = ensure_array("W0", W0, ("d", "d"), sizes)
    return np.repeat(single[None], sizes["B"], axis=0)


def _step_size(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise DataError(f"{name} must be positive and finite", value=value, remedy="Use e.g. 0.1.")
    return float(value)


def descend_w(
    sets: Sequence[AttentionData],
    W0: object,
    loss: Loss,
    *,
    step: float,
    steps: int,
    record: Sequence[int] | None = None,
) -> Trajectory:
    """Gradient descent W(k+1) = W(k) - step * grad L(W(k)) (tf, GD-W; sim, definition 3.7).

    Args:
        sets: data sets of one shape.
        W0: start (d, d), or one start per data set (B, d, d).
        loss: the loss.
        step: step size, positive.
        steps: how many steps.
        record: which steps to keep (all by default); 0 and the last are always kept.

    Raises:
        DataError: bad start, step size, counts, or data sets of different shapes.
    """
    step = _step_size("step", step)

    def increment(batch: Batch, W: Array) -> Array:
        g = normalised_gradient(batch.X, batch.Z, batch.gamma, W, loss, batch.mask)
        return step * np.exp(g.log_scale)[:, None, None] * g.matrix

    return _run(sets, W0, steps, record, increment)


def normalised_descent_w(
    sets: Sequence[AttentionData],
    W0: object,
    loss: Loss,
    *,
    step: float,
    steps: int,
    record: Sequence[int] | None = None,
) -> Trajectory:
    """Normalised descent W(k+1) = W(k) - step * grad L / ||grad L||_F, in the log domain.

    Each step has length `step` in the Frobenius norm at any norm of W; a stationary point is
    left where it is. Arguments and errors as in `descend_w`.
    """
    step = _step_size("step", step)

    def increment(batch: Batch, W: Array) -> Array:
        g = normalised_gradient(batch.X, batch.Z, batch.gamma, W, loss, batch.mask).matrix
        size = np.sqrt((g**2).sum(axis=(1, 2), keepdims=True))
        return step * g / np.where(size > 0, size, 1.0)

    return _run(sets, W0, steps, record, increment)


def _run(
    sets: Sequence[AttentionData],
    W0: object,
    steps: int,
    record: Sequence[int] | None,
    increment: Callable[[Batch, Array], Array],
) -> Trajectory:
    batch = stack(sets)
    W = _starts(batch, W0)
    kept = _recorded(steps, record)
    wanted, rows = set(kept), []
    for k in range(steps + 1):
        if k in wanted:
            rows.append(W)
        if k < steps:
            W = W + increment(batch, W)
    return _trajectory(kept, rows)


def descend_kq(
    data: AttentionData,
    K0: Float[Array, "d r"],
    Q0: Float[Array, "d r"],
    loss: Loss,
    *,
    step: float,
    steps: int,
) -> Trajectory:
    """Gradient descent on L(K, Q); records W = K Q^T after every step (tf, KQ-ERM)."""
    step = _step_size("step", step)
    sizes = {"d": data.d}
    K, Q = ensure_array("K0", K0, ("d", "r"), sizes), ensure_array("Q0", Q0, ("d", "r"), sizes)
    kept = _recorded(steps, None)
    rows = [K @ Q.T]
    for _ in range(steps):
        in_k, in_q = gradient_kq(data, K, Q, loss)
        K, Q = K - step * in_k, Q - step * in_q
        rows.append(K @ Q.T)
    return _trajectory(kept, [row[None] for row in rows])


def descend_p(
    data: AttentionData, p0: Float[Array, " d"], loss: Loss, *, step: float, steps: int
) -> Trajectory:
    """Gradient descent on a prompt p (mm, theorem 1); records p after every step."""
    step = _step_size("step", step)
    p = ensure_array("p0", p0, ("d",), {"d": data.d})
    kept = _recorded(steps, None)
    rows = [p]
    for _ in range(steps):
        p = p - step * gradient_p(data, p, loss)
        rows.append(p)
    return _trajectory(kept, [row[None] for row in rows])


def follow_w(
    data: AttentionData,
    W0: Float[Array, "d d"],
    loss: Loss,
    norms: Sequence[float],
    *,
    steps: int = 20000,
) -> Trajectory:
    """Follow the curve of descent by arc length until the norm of W passes each of `norms`.

    Plain descent with a step of at most 1/smoothness moves ever more slowly along this curve, as
    the gradient dies exponentially in the norm; normalised steps in the log domain reach any
    norm. A step is halved and repeated where the direction turns by more than 8 degrees, and
    grows by 1.3 where it turns by less than 2.6, beyond a size that made it swing only by 0.1% a
    step; no step moves a margin by more than 1 until the norm itself allows a hundredth of it.

    Args:
        data: one data set.
        W0: start.
        loss: the loss.
        norms: increasing Frobenius norms to pass.
        steps: evaluations of the gradient after which to give up.

    Returns:
        Start and the iterates that first passed each norm; fewer where the steps ran out or the
        gradient vanished.
    """
    batch = stack([data])
    reach = float(np.linalg.norm(data.X - data.X.mean(axis=1, keepdims=True), axis=2).max())
    unit = 0.5 / max(2.0 * reach * float(np.linalg.norm(data.Z, axis=1).max()), 1e-12)

    def direction(W: Array) -> tuple[Array, float]:
        """The unit step and log ||grad L||."""
        g = descent_direction(batch.X, batch.Z, batch.gamma, W[None], loss, batch.mask)
        size = float(np.sqrt((g.matrix[0] ** 2).sum()))
        if size == 0.0:
            return g.matrix[0], -np.inf
        return g.matrix[0] / size, float(g.log_scale[0]) + float(np.log(size))

    W = np.array(W0, dtype=float)
    (g, log_size), step, log_time = direction(W), unit, -np.inf
    ceiling = np.inf  # a step that made the direction swing is approached again only slowly
    rows, counts, times, wanted = [W], [0], [log_time], list(norms)
    for k in range(1, steps + 1):
        if not wanted or not g.any():
            break
        step = min(step, max(2.0 * unit, 0.01 * float(np.linalg.norm(W))))
        ahead = W + step * g
        turned, log_ahead = direction(ahead)
        cosine = float((g * turned).sum())
        if cosine < 0.99 and step > 1e-4 * unit:
            ceiling, step = 0.7 * step, 0.5 * step
            continue
        if not turned.any():
            break
        # dt = ds / ||grad L||, the logarithm of the norm being linear along the step
        fall = log_size - log_ahead
        spent = np.log(step) - log_size + (np.log(np.expm1(fall) / fall) if fall else 0.0)
        log_time = float(np.logaddexp(log_time, spent))
        W, g, log_size = ahead, turned, log_ahead
        ceiling *= 1.001
        if cosine > 0.999:
            step = min(1.3 * step, ceiling)
        size = float(np.linalg.norm(W))
        while wanted and size >= wanted[0] and size > float(np.linalg.norm(W0)):
            wanted.pop(0)
            rows.append(W)
            counts.append(k)
            times.append(log_time)
    run = _trajectory(counts, [row[None] for row in rows])
    return replace(run, log_time=np.array(times))
