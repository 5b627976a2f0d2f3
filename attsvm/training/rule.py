"""The options of a descent: loss, head, attention, step sizes, and recorded iterates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Required, TypedDict

import numpy as np

from attsvm._types import Array, Float, Int
from attsvm._validate import ensure_array, ensure_count
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import Loss, ensure_loss
from attsvm.prediction import Head, ReluHead, ensure_head
from attsvm.training.batch import Batch, Starts, stack, starts
from attsvm.training.layer import loss_number


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of descent for B runs.

    Attributes:
        loss: the loss.
        number: the code number of the loss in compiled loops, -1 if they do not implement it.
        step: step sizes.
        steps: number of steps.
        kept: steps at which iterates are recorded, unless there are goals.
        goals: increasing norms of W; the first iterate that passes each is recorded. Empty for
            none.
        normalised: whether gradients are divided by their norm.
        head: a nonlinear head, or None for the data's head.
        linear: whether attention is linear and not softmax.
        threads: number of groups of data sets that run in parallel.
        device: the device of tensors, or None for the loops on the processor.
    """

    loss: Loss
    number: int
    step: Float[Array, " B"]
    steps: int
    kept: Int[Array, " k"]
    goals: Float[Array, " m"]
    normalised: bool
    head: Head | ReluHead | None
    linear: bool
    threads: int
    device: str | None

    @property
    def rows(self) -> int:
        """The number of recorded iterates of a run."""
        return len(self.goals) if len(self.goals) else len(self.kept)

    @property
    def compiled(self) -> bool:
        """Whether the compiled loops can run this rule."""
        return self.device is None and self.number >= 0 and not isinstance(self.head, Head)

    def steps_taken(self, lanes: int) -> Int[Array, "k L"]:
        """Return the steps of the recorded iterates; -1 for goals, which are not yet reached."""
        if len(self.goals):
            return np.full((len(self.goals), lanes), -1, dtype=np.int64)
        return np.repeat(self.kept[:, None], lanes, axis=1)


class Options(TypedDict, total=False):
    """Options of every descent; see `attsvm.training.descend_w`."""

    step: Required[float | Sequence[float] | Float[Array, " B"]]
    steps: Required[int]
    record: Sequence[int] | Literal["all"] | None
    normalised: bool
    threads: int
    device: str | None


class WeightOptions(Options, total=False):
    """Options of descent on W, (K, Q) or p; see `attsvm.training.descend_w`."""

    norms: Sequence[float] | None
    head: Head | ReluHead | None
    attention: str


def prepared(
    sets: Sequence[AttentionData] | AttentionData | Batch,
    loss: Loss | str,
    start: Starts,
    *,
    step: float | Sequence[float] | Float[Array, " B"],
    steps: int,
    record: Sequence[int] | Literal["all"] | None = None,
    norms: Sequence[float] | None = None,
    normalised: bool = False,
    head: Head | ReluHead | None = None,
    attention: str = "softmax",
    threads: int = 1,
    device: str | None = None,
) -> tuple[Batch, Rule, list[Array]]:
    """Return the batch of all runs, their rule and their starts.

    Raises:
        DataError: an argument is invalid, or the numbers of data sets, starts and step sizes differ
            and none of them is one. The message says which and why.
    """
    batch = stack(sets)
    counts = [len(batch.X), np.size(step)]
    counts += [len(x) for x, axes in start.values() if np.ndim(x) == len(axes) + 1]  # type: ignore
    count = max(counts)
    if set(counts) - {1, count}:
        raise DataError(
            "data sets, starts and step sizes differ in number",
            value=", ".join(map(str, counts)),
            remedy="Give one of each, or one per run.",
        )
    batch = batch.map(lambda a: np.broadcast_to(a, (count, *a.shape[1:])))
    begun = starts(start, batch.X.shape[3], count)
    if attention not in ("softmax", "linear"):
        raise DataError(
            "attention is neither softmax nor linear", value=attention, remedy="Name one of them."
        )
    if record is not None and norms is not None:
        raise DataError(
            "iterates are kept at steps or at norms, not both",
            remedy="Give record or norms.",
        )
    goals = np.empty(0)
    if norms is not None:
        goals = ensure_array("norms", norms, ("m",))
        if not ((goals >= 0.0).all() and (np.diff(goals) > 0.0).all()):
            raise DataError(
                "norms must increase from 0 or more",
                value=goals.tolist(),
                remedy="Sort them and drop repetitions.",
            )
    if head is not None:
        head = ensure_head(head)
        ensure_labels(batch, "a nonlinear head needs labels")
        d = batch.X.shape[-1]
        if isinstance(head, ReluHead) and head.hidden.shape[1] != d:
            raise DataError(
                f"the head reads outputs of dimension {head.hidden.shape[1]}, tokens have {d}",
                remedy="Make the head's hidden weights (m, d).",
            )
    loss, threads = ensure_loss(loss), ensure_count("the number of threads", threads, 1)
    number = loss_number(loss)
    rule = Rule(
        loss=loss,
        number=-1 if number is None else number,
        step=_step_sizes(step, count),
        steps=steps,
        kept=np.array(_recorded(steps, record), dtype=np.int64),
        goals=goals,
        normalised=bool(normalised),
        head=head,
        linear=attention == "linear",
        threads=threads,
        device=device,
    )
    return batch, rule, begun


def ensure_labels(batch: Batch, cause: str) -> None:
    """Raise unless the data sets have labels.

    Raises:
        DataError: they have scores; `cause` begins the message.
    """
    if batch.y is None:
        raise DataError(
            cause,
            value="token scores",
            remedy="Give the data sets labels y and any head v.",
        )


def _recorded(steps: int, record: Sequence[int] | Literal["all"] | None) -> list[int]:
    """Return the steps to record, in order: 0, the last, and `record` or the powers of two.

    Raises:
        DataError: the number of steps is no count, or a recorded step is not among them.
    """
    steps = ensure_count("the number of steps", steps)
    if isinstance(record, str) and record == "all":
        return list(range(steps + 1))
    if record is None:
        record = [1 << j for j in range(steps.bit_length())]
    if np.ndim(record) != 1:
        raise DataError(
            "record is not a list of steps", value=record, remedy="Use [10, 100] or 'all'."
        )
    chosen = sorted({int(k) for k in record} | {0, steps})
    if chosen[0] < 0 or chosen[-1] > steps or any(int(k) != k for k in record):
        raise DataError(
            f"recorded steps must lie in 0..{steps}",
            value=list(record),
            remedy="Record only steps that are taken.",
        )
    return chosen


def _step_sizes(value: object, count: int) -> Float[Array, " B"]:
    """Return positive step sizes, one for all runs or one for each.

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
    return np.repeat(many, count) if len(many) == 1 else many
