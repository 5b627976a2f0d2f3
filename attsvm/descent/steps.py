"""Plain and normalised descent on W, (K, Q) and p."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.descent.batch import (
    Batch,
    Trajectory,
    each,
    recorded,
    stack,
    starts,
    step_size,
    trajectory,
)
from attsvm.descent.layer import Layer, layer_of, loss_number
from attsvm.kernels import descent as loops
from attsvm.losses import Loss
from attsvm.risk import descent_direction

__all__ = ["descend_kq", "descend_p", "descend_w", "normalised_descent_w"]


def descend_w(
    sets: Sequence[AttentionData],
    W0: object,
    loss: Loss,
    *,
    step: float,
    steps: int,
    record: Sequence[int] | None = None,
    normalised: bool = False,
    threads: int = 1,
) -> Trajectory:
    """Gradient descent W(k+1) = W(k) - step * grad L(W(k)) (tf, GD-W; sim, definition 3.7).

    Args:
        sets: data sets of one shape.
        W0: start (d, d), or one start per data set (B, d, d).
        loss: the loss.
        step: step size, positive.
        steps: how many steps.
        record: which steps to keep (all by default); 0 and the last are always kept.
        normalised: divide every gradient by its Frobenius norm, in the log domain: each step has
            length `step` at any norm of W, and a stationary point is left where it is.
        threads: how many data sets to run side by side.

    Raises:
        DataError: bad start, step size, counts, or data sets of different shapes.
    """
    step = step_size("step", step)
    batch = stack(sets)
    B, _, _, d = batch.X.shape
    start = starts("W0", W0, ("d", "d"), {"B": B, "d": d})
    return _descend(batch, batch.Z, start, loss, step, steps, record, normalised, threads)


def normalised_descent_w(
    sets: Sequence[AttentionData],
    W0: object,
    loss: Loss,
    *,
    step: float,
    steps: int,
    record: Sequence[int] | None = None,
) -> Trajectory:
    """`descend_w` with normalised steps, W(k+1) = W(k) - step * grad L / ||grad L||_F."""
    return descend_w(sets, W0, loss, step=step, steps=steps, record=record, normalised=True)


def descend_p(
    sets: Sequence[AttentionData],
    p0: object,
    loss: Loss,
    *,
    step: float,
    steps: int,
    record: Sequence[int] | None = None,
    normalised: bool = False,
    threads: int = 1,
) -> Trajectory:
    """Gradient descent on a prompt p with logits X_i p (mm, theorem 1).

    Arguments and errors as in `descend_w`; the start is (d,) or (B, d).
    """
    step = step_size("step", step)
    batch = stack(sets)
    B, n, _, d = batch.X.shape
    start = starts("p0", p0, ("d",), {"B": B, "d": d})[..., None]
    queries = np.ones((B, n, 1))
    run = _descend(batch, queries, start, loss, step, steps, record, normalised, threads)
    return Trajectory(run.steps, run.W[..., 0], run.norms)


def _descend(
    batch: Batch,
    queries: Array,
    start: Array,
    loss: Loss,
    step: float,
    steps: int,
    record: Sequence[int] | None,
    normalised: bool,
    threads: int,
) -> Trajectory:
    kept, number = recorded(steps, record), loss_number(loss)
    wanted = np.array(kept, dtype=np.int64)

    def run(b: int) -> Array:
        if number is None:
            return _plain(batch, b, queries[b], start[b], loss, step, kept, normalised)
        layer = layer_of(batch, b, queries, start[b])
        moved, out = np.zeros(layer.size), np.empty((len(kept), *layer.size))
        loops.descend(
            layer.X, layer.rows, layer.Z, layer.gamma, layer.base, moved, number, step, steps,
            wanted, normalised, out,
        )  # fmt: skip
        return layer.long(out, start[b])

    return trajectory(kept, np.stack(each(run, len(start), threads)))


def _plain(
    batch: Batch,
    b: int,
    queries: Array,
    W: Array,
    loss: Loss,
    step: float,
    kept: Sequence[int],
    normalised: bool,
) -> Array:
    """The same loop in numpy, for any loss."""
    X, gamma = batch.X[b], batch.gamma[b]
    mask = None if batch.mask is None else batch.mask[b]
    rows, wanted = [], set(kept)
    for k in range(kept[-1] + 1):
        if k in wanted:
            rows.append(W)
        if k < kept[-1]:
            g = descent_direction(X, queries, gamma, W, loss, mask)
            size = float(np.sqrt((g.matrix**2).sum()))
            scale = float(np.exp(g.log_scale)) if not normalised else 1.0 / size if size else 0.0
            W = W + step * scale * g.matrix
    return np.stack(rows)


def descend_kq(
    sets: Sequence[AttentionData],
    K0: object,
    Q0: object,
    loss: Loss,
    *,
    step: float,
    steps: int,
    record: Sequence[int] | None = None,
    normalised: bool = False,
    threads: int = 1,
) -> Trajectory:
    """Gradient descent on L(K, Q) with W = K Q^T, of any inner dimension (tf, KQ-ERM).

    Arguments and errors as in `descend_w`; starts are (d, r) or (B, d, r). Normalised steps divide
    by the norm of both gradients together.
    """
    step = step_size("step", step)
    batch = stack(sets)
    B, n, T, d = batch.X.shape
    sizes = {"B": B, "d": d}
    K = starts("K0", K0, ("d", "r"), sizes)
    Q = starts("Q0", Q0, ("d", "r"), sizes)
    kept, number = recorded(steps, record), loss_number(loss)
    wanted = np.array(kept, dtype=np.int64)

    def run(b: int) -> tuple[Array, Array]:
        if number is None:
            return _plain_kq(batch, b, K[b], Q[b], loss, step, kept, normalised)
        layer = Layer.of(
            batch.X[b], batch.Z[b], batch.gamma[b],
            None if batch.mask is None else batch.mask[b], np.zeros((n, T)),
        )  # fmt: skip
        k, q = (
            np.array(side if basis is None else basis.T @ side)
            for side, basis in ((K[b], layer.U), (Q[b], layer.V))
        )
        p = len(k)
        out = np.empty((len(kept), p + len(q), k.shape[1]))
        loops.descend_factors(
            layer.X, layer.rows, layer.Z, layer.gamma, layer.base, k, q, number, step, steps,
            wanted, normalised, out,
        )  # fmt: skip
        return _restored(out[:, :p], K[b], layer.U), _restored(out[:, p:], Q[b], layer.V)

    pairs = each(run, B, threads)
    K_all, Q_all = np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    run_ = trajectory(kept, np.matmul(K_all, np.swapaxes(Q_all, -1, -2)))
    return Trajectory(run_.steps, run_.W, run_.norms, K=K_all, Q=Q_all)


def _restored(short: Array, start: Array, basis: Array | None) -> Array:
    """Factors from their coordinates and from what of the start is orthogonal to all, and stays."""
    if basis is None:
        return short
    restored: Array = start - basis @ (basis.T @ start) + basis @ short
    return restored


def _plain_kq(
    batch: Batch,
    b: int,
    K: Array,
    Q: Array,
    loss: Loss,
    step: float,
    kept: Sequence[int],
    normalised: bool,
) -> tuple[Array, Array]:
    """The same loop in numpy, for any loss; the pull on W = K Q^T comes from the log domain."""
    mask = None if batch.mask is None else batch.mask[b]
    rows, wanted = [], set(kept)
    for k in range(kept[-1] + 1):
        if k in wanted:
            rows.append((K, Q))
        if k < kept[-1]:
            g = descent_direction(batch.X[b], batch.Z[b], batch.gamma[b], K @ Q.T, loss, mask)
            in_k, in_q = g.matrix @ Q, g.matrix.T @ K
            size = float(np.sqrt((in_k**2).sum() + (in_q**2).sum()))
            scale = float(np.exp(g.log_scale)) if not normalised else 1.0 / size if size else 0.0
            K, Q = K + step * scale * in_k, Q + step * scale * in_q
    return np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows])
