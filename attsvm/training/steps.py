"""Plain and normalised descent on W, (K, Q), p and (v, p)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from attsvm._types import Array, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import Loss
from attsvm.training import compiled, general
from attsvm.training.batch import Batch, Trajectory
from attsvm.training.rule import Options, Rule, WeightOptions, ensure_labels, prepared


def descend_w(
    sets: Sequence[AttentionData] | AttentionData | Batch,
    W0: object,
    loss: Loss | str,
    **options: Unpack[WeightOptions],
) -> Trajectory:
    """Run gradient descent W(k+1) = W(k) - step * grad L(W(k)).

    Data sets, starts and step sizes may each be one, or one per run. A run is the same to the last
    bit in any batch and for any number of threads; on a device it agrees with that to rounding.

    Args:
        sets: data sets of one shape, stacked or not, or a single one.
        W0: start (d, d), or one start per run (B, d, d).
        loss: the loss, or its name.
        **options: `step` and `steps` are required, all others optional.

    Options:
        step: step size, positive, or one per run (B,).
        steps: number of steps.
        record: the steps to record, or `all`; by default the powers of two. 0 and the last step are
            always recorded.
        norms: instead of `record`, increasing Frobenius norms of W: the first iterate that reaches
            each is recorded, and the run ends early if all are reached.
        normalised: divide every gradient by its Frobenius norm, in the log domain: each step has
            length `step` at any norm of W, and a stationary point is never left.
        head: a nonlinear head instead of the linear one of the data (`attsvm.prediction`).
        attention: `softmax`, the default, or `linear`, the sum of the tokens weighted by their
            logits.
        threads: number of groups of data sets to run side by side.
        device: run as one batch of tensors there: `cpu`, `cuda`, `cuda:1`.

    Raises:
        DataError: bad start, step size, counts or norms, data sets of different shapes, a head
            without labels, a device that is not there.
    """
    batch, how, (start,) = prepared(sets, loss, {"W0": (W0, "dd")}, **options)
    return _trajectory(how, *_on_matrix(batch, start, how))


def descend_p(
    sets: Sequence[AttentionData] | AttentionData,
    p0: object,
    loss: Loss | str,
    **options: Unpack[WeightOptions],
) -> Trajectory:
    """Run gradient descent on a prompt p with logits X_i p.

    Arguments and errors as in `descend_w`; the start is (d,) or (B, d).
    """
    batch, how, (start,) = prepared(sets, loss, {"p0": (p0, "d")}, **options)
    W, chosen = _on_matrix(batch.as_prompt(), start[..., None], how)
    return _trajectory(how, W[..., 0], chosen)


def descend_kq(
    sets: Sequence[AttentionData] | AttentionData,
    K0: object,
    Q0: object,
    loss: Loss | str,
    **options: Unpack[WeightOptions],
) -> Trajectory:
    """Run gradient descent on L(K, Q) with W = K Q^T, of any inner dimension.

    Arguments and errors as in `descend_w`; starts are (d, r) or (B, d, r), norms are those of W.
    Normalised steps divide by the norm of both gradients together.
    """
    batch, how, (K, Q) = prepared(sets, loss, {"K0": (K0, "dr"), "Q0": (Q0, "dr")}, **options)
    if how.compiled:
        K, Q, chosen = compiled.descend_factors(batch, K, Q, how)
    else:
        (K, Q), chosen = _generally(batch, "KQ", (K, Q), how)
    with np.errstate(over="ignore", invalid="ignore"):
        W = np.matmul(K, np.swapaxes(Q, -1, -2))
    return _trajectory(how, W, chosen, K=K, Q=Q)


def descend_vp(
    sets: Sequence[AttentionData] | AttentionData,
    v0: object,
    p0: object,
    loss: Loss | str,
    **options: Unpack[Options],
) -> Trajectory:
    """Run gradient descent on the head v and a prompt p together, with scores y_i X_i v.

    Arguments and errors as in `descend_w`, without norms, heads and linear attention. Starts are
    (d,) or (B, d), and the data sets need labels; their own heads are ignored. `norms` of the
    trajectory are those of p. Normalised steps divide by the norm of both gradients together.
    """
    values = {"v0": (v0, "d"), "p0": (p0, "d")}
    batch, how, (v, start) = prepared(
        sets, loss, values, norms=None, head=None, attention="softmax", **options
    )
    ensure_labels(batch, "a head is trained on labels")
    batch, start = batch.as_prompt(), start[..., None]
    if how.compiled:
        v, W = compiled.descend_jointly(batch, v, start, how)
    else:
        (v, W), _ = _generally(batch, "joint", (v, start), how)
    return _trajectory(how, W[..., 0], how.kept, v=v)


def _on_matrix(batch: Batch, start: Array, how: Rule) -> tuple[Array, Int[Array, "B k"]]:
    """Run descent on W (d, e), or on prompts as columns; return iterates and their steps."""
    if how.compiled:
        return compiled.descend(batch, start, how)
    (W,), chosen = _generally(batch, "W", (start,), how)
    return W, chosen


def _generally(
    batch: Batch, kind: str, state: tuple[Array, ...], how: Rule
) -> tuple[tuple[Array, ...], Int[Array, "B k"]]:
    """Run descent for any head and loss: in numpy run by run, or as tensors on a device."""
    if how.device is not None:
        return general.on_device(batch, kind, state, how)
    parts, chosen = [], []
    for b in range(len(batch.X)):
        one = slice(b, b + 1)
        model = general.Model.of(np, batch.map(lambda a, one=one: a[one]), how, how.head)  # type: ignore[misc]
        kept, when = general.descend(
            model, kind, tuple(part[one] for part in state), how, how.step[one]
        )
        parts.append([np.asarray(part[:, 0]) for part in kept])
        chosen.append(when[:, 0])
    return tuple(np.stack(part) for part in zip(*parts, strict=True)), np.stack(chosen)


def _trajectory(how: Rule, W: Array, steps_of_goals: Array, **parts: Array) -> Trajectory:
    """Return the trajectory of these iterates.

    Raises:
        DataError: iterates overflowed, as happens with long steps on an unbounded loss.
    """
    steps = steps_of_goals if len(how.goals) else how.kept
    there = np.ones(W.shape[:2], dtype=bool) if steps.ndim == 1 else steps >= 0
    for array in (W, *parts.values()):
        lost = ~np.isfinite(array).all(axis=tuple(range(2, array.ndim))) & there
        if lost.any():
            b, r = (int(i) for i in np.argwhere(lost)[0])
            raise DataError(
                f"run {b} overflowed by step {int(np.broadcast_to(steps, lost.shape)[b, r])}",
                value=float(how.step[b]),
                remedy="Use smaller steps, or normalised ones.",
            )
    axes = tuple(range(2, W.ndim))
    largest = np.abs(W).max(axis=axes, keepdims=True)
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1)  # a power of 2, so that no square overflows
    norms = np.sqrt(((W / scale) ** 2).sum(axis=axes)) * scale.reshape(W.shape[:2])
    return Trajectory(steps=steps, W=W, norms=norms, **parts)
