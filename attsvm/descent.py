"""Gradient descent and normalised descent on W, (K, Q) and p; one call runs a whole batch.

Losses of this package run in compiled loops, one data set after the other, in coordinates whose
size does not grow with d; a data set's trajectory is the same to the last bit in any batch and for
any number of threads. Other losses run in numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int

from attsvm._types import Array
from attsvm._validate import ensure_array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.kernels import descent as loops
from attsvm.losses import LOSSES, Loss
from attsvm.risk import descent_direction

__all__ = [
    "Batch",
    "Trajectory",
    "descend_kq",
    "descend_p",
    "descend_w",
    "follow",
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
        K, Q: the factors at the recorded steps, of descent on (K, Q); else None.
        log_time: of a curve followed by arc length, the logarithm of the time that gradient flow
            takes to each iterate, which is the number of plain steps times their size; else None.
    """

    steps: Int[Array, " k"]
    W: Float[Array, "B k *p"]
    norms: Float[Array, "B k"]
    log_time: Float[Array, " k"] | None = None
    K: Float[Array, "B k d r"] | None = None
    Q: Float[Array, "B k d r"] | None = None


def _trajectory(steps: Sequence[int], W: Array) -> Trajectory:
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


def _starts(name: str, value: object, axes: Sequence[str], sizes: dict[str, int]) -> Array:
    """One start for all data sets, or one for each, as an array with a leading batch axis."""
    if np.ndim(value) == len(axes) + 1:  # type: ignore[arg-type]
        return ensure_array(name, value, ("B", *axes), sizes)
    single = ensure_array(name, value, axes, sizes)
    return np.repeat(single[None], sizes["B"], axis=0)


def _step_size(name: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0):
        raise DataError(f"{name} must be positive and finite", value=value, remedy="Use e.g. 0.1.")
    return float(value)


T = TypeVar("T")


def _each(run: Callable[[int], T], count: int, threads: int) -> list[T]:
    """run(0), run(1), ... in order, on that many threads."""
    if threads < 1:
        raise DataError("the number of threads is below 1", value=threads, remedy="Use 1 or more.")
    if threads == 1 or count == 1:
        return [run(b) for b in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(count)))


@dataclass(frozen=True, slots=True)
class _Layer:
    """One data set as the loops take it, tokens and queries in short coordinates.

    Attributes:
        X: tokens by input, transposed (n, p, T).
        rows: the same as they were (n, T, p).
        Z: queries (n, q).
        gamma: token scores (n, T).
        base: logits of what does not move (n, T), minus infinity at absent tokens.
        U, V: orthonormal columns with x = U (its coordinates), z = V (its coordinates), up to
            what is orthogonal to all; None for the identity.
    """

    X: Array
    rows: Array
    Z: Array
    gamma: Array
    base: Array
    U: Array | None
    V: Array | None

    @classmethod
    def of(cls, X: Array, Z: Array, gamma: Array, mask: Array | None, base: Array) -> _Layer:
        n, T, d = X.shape
        U = V = None
        if n * T < d:
            U = np.linalg.qr(X.reshape(n * T, d).T)[0]
            X = X @ U
        if n < Z.shape[1]:
            V = np.linalg.qr(Z.T)[0]
            Z = Z @ V
        if mask is not None:
            base = np.where(mask, base, -np.inf)
        tokens = np.ascontiguousarray(np.swapaxes(X, 1, 2))
        X, Z, gamma, base = (np.ascontiguousarray(a) for a in (X, Z, gamma, base))
        return cls(tokens, X, Z, gamma, base, U, V)

    def short(self, W: Array) -> Array:
        """The coordinates (q, p) of a matrix (d, e)."""
        left = W if self.U is None else self.U.T @ W
        both = left if self.V is None else left @ self.V
        return np.ascontiguousarray(both.T)

    def long(self, short: Array, start: Array) -> Array:
        """The matrices (k, d, e) that coordinates (k, q, p) make of a start (d, e)."""
        out = np.empty((len(short), *start.shape))
        none = np.empty((0, 0))
        U, V = none if self.U is None else self.U, none if self.V is None else self.V
        loops.expand(short, U, V, np.ascontiguousarray(start), out)
        return out

    @property
    def size(self) -> tuple[int, int]:
        """(q, p)."""
        return self.Z.shape[1], self.X.shape[1]


def _layer(batch: Batch, b: int, queries: Array, W0: Array) -> _Layer:
    """Data set b, with the logits of W0 (d, e) as the part that does not move."""
    X, Z = batch.X[b], queries[b]
    base = np.matmul(X, np.matmul(W0, Z[..., None]))[..., 0]
    return _Layer.of(X, Z, batch.gamma[b], None if batch.mask is None else batch.mask[b], base)


def _number(loss: Loss) -> int | None:
    """How the loops call a loss, or None where they do not know it."""
    known = LOSSES.get(loss.name) is loss
    return loops.LOSS_NUMBERS[loss.name] if known else None


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
    step = _step_size("step", step)
    batch = stack(sets)
    B, _, _, d = batch.X.shape
    start = _starts("W0", W0, ("d", "d"), {"B": B, "d": d})
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
    step = _step_size("step", step)
    batch = stack(sets)
    B, n, _, d = batch.X.shape
    start = _starts("p0", p0, ("d",), {"B": B, "d": d})[..., None]
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
    kept, number = _recorded(steps, record), _number(loss)
    wanted = np.array(kept, dtype=np.int64)

    def run(b: int) -> Array:
        if number is None:
            return _plain(batch, b, queries[b], start[b], loss, step, kept, normalised)
        layer = _layer(batch, b, queries, start[b])
        moved, out = np.zeros(layer.size), np.empty((len(kept), *layer.size))
        loops.descend(
            layer.X, layer.rows, layer.Z, layer.gamma, layer.base, moved, number, step, steps,
            wanted, normalised, out,
        )  # fmt: skip
        return layer.long(out, start[b])

    return _trajectory(kept, np.stack(_each(run, len(start), threads)))


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
    step = _step_size("step", step)
    batch = stack(sets)
    B, n, T, d = batch.X.shape
    sizes = {"B": B, "d": d}
    K = _starts("K0", K0, ("d", "r"), sizes)
    Q = _starts("Q0", Q0, ("d", "r"), sizes)
    kept, number = _recorded(steps, record), _number(loss)
    wanted = np.array(kept, dtype=np.int64)

    def run(b: int) -> tuple[Array, Array]:
        if number is None:
            return _plain_kq(batch, b, K[b], Q[b], loss, step, kept, normalised)
        layer = _Layer.of(
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

    pairs = _each(run, B, threads)
    K_all, Q_all = np.stack([pair[0] for pair in pairs]), np.stack([pair[1] for pair in pairs])
    run_ = _trajectory(kept, np.matmul(K_all, np.swapaxes(Q_all, -1, -2)))
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
    number = _number(loss)
    if number is None:
        raise DataError(
            "curves are followed for the losses of this package",
            value=loss.name,
            remedy=f"Use one of {', '.join(LOSSES)}, or descend_w.",
        )
    batch = stack(sets)
    B, _, _, d = batch.X.shape
    start = _starts("W0", W0, ("d", "d"), {"B": B, "d": d})
    wanted = np.array(list(norms), dtype=np.float64)

    def run(b: int) -> Trajectory:
        X, Z = batch.X[b], batch.Z[b]
        reach = float(np.linalg.norm(X - X.mean(axis=1, keepdims=True), axis=2).max())
        unit = 0.5 / max(2.0 * reach * float(np.linalg.norm(Z, axis=1).max()), 1e-12)
        layer = _layer(batch, b, batch.Z, start[b])
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
        plain = _trajectory(taken, rows[None])
        return Trajectory(plain.steps, plain.W, plain.norms, log_time=when)

    return tuple(_each(run, B, threads))
