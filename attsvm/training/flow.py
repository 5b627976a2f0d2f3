"""The curves of gradient flow, followed by arc length to any norm.

The followed equation is dW/ds = -grad L / ||grad L||. Its solutions are curves of gradient flow,
not sequences of descent with some step size. With a step of at most 1/smoothness, descent stays
near such a curve if the flow contracts; it may pass a saddle on the other side. If the limit
direction is the same from all nearby points, both converge to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import numpy as np

from attsvm._types import Array, Float
from attsvm._validate import ensure_count
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.kernels.field import Field, norms_at
from attsvm.kernels.flow import follow as follow_field
from attsvm.losses import LOSSES, Loss, ensure_loss
from attsvm.training.batch import Batch, Starts, Trajectory, each, stack, starts
from attsvm.training.layer import Layer, loss_number, restored, split

_COARSER = (30.0, 100.0)  # factors of the tolerance in the companion runs
_LOCAL = 4.0  # number of single-step errors added, as a companion may share them by chance
_ROUNDING = 32.0 * float(np.finfo(np.float64).eps)  # relative rounding error of a point


class Limits(TypedDict, total=False):
    """Limits of a followed curve: length and accuracy; see `follow`."""

    steps: int
    tolerance: float
    threads: int
    measured: bool


def follow_w(
    data: AttentionData,
    W0: Float[Array, "d d"],
    loss: Loss | str,
    norms: Sequence[float],
    **limits: Unpack[Limits],
) -> Trajectory:
    """Return the curve of one data set; see `follow`.

    It has fewer iterates if some norms were not reached.
    """
    (run,) = follow([data], W0, loss, norms, **limits)
    return run


def follow(
    sets: Sequence[AttentionData] | AttentionData,
    W0: object,
    loss: Loss | str,
    norms: Sequence[float],
    **limits: Unpack[Limits],
) -> tuple[Trajectory, ...]:
    """Follow the curves of gradient flow on W by arc length until ||W|| passes each of `norms`.

    Made for norms up to 1e6; from about 1e7 on rounding ends most curves.

    Plain descent with a step of at most 1/smoothness moves ever more slowly along this curve:
    the gradient decays exponentially in the norm. By arc length, with directions from the log
    domain, any norm is reached. Explicit steps of third order are so short that deviations from
    the curve decay. Implicit steps of second order replace them if they would be far shorter
    than the norm. The local error of a step is at most `tolerance` times the norm that moves the
    difference of two logits by one; no step turns by more than 46 degrees. A curve that runs
    into a stationary point, or passes one nearer than 1e-9 of that norm, ends there.

    Args:
        sets: data sets of one shape.
        W0: start (d, d), or one per data set.
        loss: the loss, one of this package.
        norms: increasing Frobenius norms to pass.
        **limits: bounds that differ from the defaults.

    Limits:
        steps: maximum number of evaluations of the gradient, 20000 by default.
        tolerance: local error of a step, in units of the data, 1e-4 by default.
        threads: number of data sets to run side by side.
        measured: whether companions measure `error`, as by default; without them it is infinite,
            and the curves are the same.

    Returns:
        One trajectory for each data set: the start, and for each norm the first point of the curve
        with it. If the start exceeds a norm, it is the first point that exceeds the start's norm.
        There are fewer points if steps ran out or a stationary point was met. They do not depend
        on the other norms. `steps` counts evaluations, `log_time` is right to about 1e-3.
        `error` estimates the distance to the curve by companion runs with 30 and 100 times the
        tolerance and as many evaluations; it is infinite if one of them fell behind.

    Raises:
        DataError: bad starts, norms, counts or tolerance, or a loss that is not one of this
            package.
    """
    course, (start,) = _course(sets, loss, norms, {"W0": (W0, "dd")}, **limits)
    return course.each(lambda b: _matrix(course, b, start[b]))


def follow_p(
    sets: Sequence[AttentionData] | AttentionData,
    p0: object,
    loss: Loss | str,
    norms: Sequence[float],
    **limits: Unpack[Limits],
) -> tuple[Trajectory, ...]:
    """Follow the curves of a prompt p with logits X_i p; starts are (d,) or (B, d).

    Arguments, results and errors are those of `follow`; `W` has the prompts.
    """
    course, (start,) = _course(sets, loss, norms, {"p0": (p0, "d")}, **limits)
    course = replace(course, batch=course.batch.as_prompt())
    runs = course.each(lambda b: _matrix(course, b, start[b][:, None]))
    return tuple(replace(run, W=run.W[..., 0]) for run in runs)


def follow_kq(
    sets: Sequence[AttentionData] | AttentionData,
    K0: object,
    Q0: object,
    loss: Loss | str,
    norms: Sequence[float],
    **limits: Unpack[Limits],
) -> tuple[Trajectory, ...]:
    """Follow the curves of (K, Q): d(K, Q)/ds = -grad L(K, Q) / ||grad L||.

    Arguments, results and errors are those of `follow`, with the following differences. The inner
    dimension is arbitrary. `norms` are norms of W = K Q^T. Starts are (d, r) or (B, d, r); K = Q =
    0 is stationary. The unit of the tolerance is that of W over ||(K, Q)||, or ||(K, Q)|| itself if
    that is smaller. Implicit steps may have length ||(K, Q)||/100, as small singular values change
    like powers of the length. Small singular values may need more than the default `steps` on the
    way to 1e6: use 200000. `error` is the distance of K and Q together.
    """
    values = {"K0": (K0, "dr"), "Q0": (Q0, "dr")}
    course, (K, Q) = _course(sets, loss, norms, values, **limits)

    def run(b: int) -> Trajectory:
        layer = Layer.of(course.batch, b)
        (k, still_K), (q, still_Q) = split(K[b], layer.U), split(Q[b], layer.V)
        constant = float((still_K**2).sum() + (still_Q**2).sum())
        field = Field(
            layer.X, layer.rows, layer.Z, layer.gamma, layer.base, course.number, True,
            np.empty((0, 0)), constant, still_K.T @ still_K, still_Q.T @ still_Q,
        )  # fmt: skip
        points, chosen, times, error = _pair(course, field, np.concatenate([k, q]), _unit(layer))
        Ks = restored(points[:, : len(k)], K[b], layer.U)
        Qs = restored(points[:, len(k) :], Q[b], layer.V)
        W = np.matmul(Ks, np.swapaxes(Qs, -1, -2))
        return Trajectory(
            chosen, W[None], _size(W)[None], log_time=times, K=Ks[None], Q=Qs[None], error=error
        )

    return course.each(run)


@dataclass(frozen=True, slots=True)
class _Course:
    """Validated arguments of `follow`: data sets, code number of the loss, norms and limits."""

    batch: Batch
    number: int
    goals: Array
    steps: int
    tolerance: float
    threads: int
    measured: bool

    def each(self, run: Callable[[int], Trajectory]) -> tuple[Trajectory, ...]:
        """Return the curve of every data set."""
        return tuple(each(run, len(self.batch.X), self.threads))


def _course(
    sets: Sequence[AttentionData] | AttentionData,
    loss: Loss | str,
    norms: Sequence[float],
    start: Starts,
    *,
    steps: int = 20000,
    tolerance: float = 1e-4,
    threads: int = 1,
    measured: bool = True,
) -> tuple[_Course, list[Array]]:
    """Return the validated arguments and the starts.

    Raises:
        DataError: as `follow`.
    """
    loss = ensure_loss(loss)
    number = loss_number(loss)
    if number is None:
        raise DataError(
            "curves can be followed only for the losses of this package",
            value=loss.name,
            remedy=f"Use one of {', '.join(LOSSES)}, or descend_w.",
        )
    if np.ndim(norms) != 1:
        raise DataError("norms is not a list of norms", value=norms, remedy="Use e.g. [1e2, 1e4].")
    goals = np.array(list(norms), dtype=np.float64)
    if not (np.isfinite(goals).all() and (goals >= 0.0).all() and (np.diff(goals) >= 0.0).all()):
        raise DataError(
            "norms to pass must be finite, not negative and increasing",
            value=list(norms),
            remedy="Sort them.",
        )
    ensure_count("the number of steps", steps)
    if not isinstance(tolerance, float) or not 0.0 < tolerance <= 0.1:
        raise DataError(
            "the tolerance must be positive and at most 0.1", value=tolerance, remedy="Use 1e-4."
        )
    batch = stack(sets)
    begun = starts(start, batch.X.shape[3], len(batch.X))
    return _Course(batch, number, goals, steps, tolerance, threads, measured), begun


def _unit(layer: Layer) -> float:
    """Return a lower bound of the norm of W that changes the difference of two logits by one."""
    middle = layer.rows.mean(axis=1, keepdims=True)
    reach = float(np.sqrt(((layer.rows - middle) ** 2).sum(axis=2)).max())
    steepest = 2.0 * reach * float(np.sqrt((layer.Z**2).sum(axis=1)).max())
    return 1.0 / steepest if steepest > 0.0 else 1.0


def _size(points: Array) -> Array:
    sizes: Array = np.sqrt((points**2).sum(axis=(1, 2)))
    return sizes


def _matrix(course: _Course, b: int, start: Array) -> Trajectory:
    """Return the curve of one W (d, e)."""
    layer, none = Layer.of(course.batch, b, start), np.empty((0, 0))
    field = Field(
        layer.X, layer.rows, layer.Z, layer.gamma, layer.base, course.number, False,
        layer.short(start), float((start**2).sum()), none, none,
    )  # fmt: skip
    points, chosen, times, error = _pair(course, field, np.zeros(layer.size), _unit(layer))
    W = layer.long(points, start)
    return Trajectory(chosen, W[None], _size(W)[None], log_time=times, error=error)


def _pair(
    course: _Course, field: Field, start: Array, unit: float
) -> tuple[Array, Array, Array, Array]:
    """Return points (1 + k, ...) at the norms, steps, log times, and errors.

    The flow contracts or stretches the error of each step later on, so errors are measured. An
    error is the larger distance to companion runs of 30 and 100 times the tolerance, plus the error
    of a few single steps and the rounding of W.
    """
    runs, goals = [], course.goals
    for factor in (1.0, *(_COARSER if course.measured else ())):
        out = np.empty((len(goals), *start.shape))
        counts = np.zeros(len(goals), dtype=np.int64)
        times, single = np.zeros(len(goals)), np.zeros(len(goals))
        passed = follow_field(
            field, start.copy(), goals, unit, factor * course.tolerance, course.steps, out, counts,
            times, single,
        )  # fmt: skip
        runs.append((passed, out, counts, times, single))
    (passed, out, counts, times, single), *companions = runs
    points = np.concatenate([start[None], out[:passed]])
    error = np.full(1 + passed, np.inf)
    error[0] = 0.0
    compared = min(reached for reached, *_ in runs) if companions else 0
    for k in range(compared):
        size = norms_at(field, out[k])[1]
        apart = max(float(np.sqrt(((out[k] - rough[k]) ** 2).sum())) for _, rough, *_ in companions)
        error[k + 1] = apart + _LOCAL * single[k] + _ROUNDING * size
    return (
        points,
        np.concatenate([[0], counts[:passed]]).astype(np.int64),
        np.concatenate([[-np.inf], times[:passed]]),
        error,
    )
