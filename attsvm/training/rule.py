"""How an ensemble descends: loss, head, attention, step sizes, and what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from attsvm._types import Array
from attsvm._validate import ensure_array, ensure_count
from attsvm.errors import DataError
from attsvm.heads import Head, ReluHead, ensure_head
from attsvm.losses import Loss, ensure_loss
from attsvm.training.batch import Batch, recorded, step_sizes
from attsvm.training.layer import loss_number


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of descent for B runs.

    Attributes:
        loss: the loss; `number` is how compiled loops call it, -1 where they do not know it.
        step: step sizes.
        steps: how many steps.
        kept: steps at which iterates are kept, unless there are goals.
        goals: norms of W whose first passing is kept, increasing; empty for none.
        normalised: whether gradients are divided by their norm.
        head: a nonlinear head, or None for the one of the data.
        linear: linear instead of softmax attention.
        threads: how many groups of data sets run side by side.
        device: where tensors live, or None for the loops on the processor.
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
        """How many iterates are kept of a run."""
        return len(self.goals) if len(self.goals) else len(self.kept)

    @property
    def compiled(self) -> bool:
        """Whether the compiled loops know all of it."""
        return self.device is None and self.number >= 0 and not isinstance(self.head, Head)

    def steps_taken(self, lanes: int) -> Int[Array, "k L"]:
        """The steps of the kept iterates, -1 at goals before they are passed."""
        if len(self.goals):
            return np.full((len(self.goals), lanes), -1, dtype=np.int64)
        return np.repeat(self.kept[:, None], lanes, axis=1)


def rule(
    loss: Loss | str,
    count: int,
    batch: Batch,
    *,
    step: object,
    steps: int,
    record: Sequence[int] | None,
    norms: Sequence[float] | None,
    normalised: bool,
    head: Head | ReluHead | None,
    attention: str,
    threads: int,
    device: str | None,
) -> Rule:
    """Check the arguments of a run.

    Raises:
        DataError: one of them is not what it should be; the message says which and why.
    """
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
        if batch.y is None:
            raise DataError(
                "a nonlinear head needs labels",
                value="token scores",
                remedy="Give the data sets labels y and any head v.",
            )
        d = batch.X.shape[-1]
        if isinstance(head, ReluHead) and head.hidden.shape[1] != d:
            raise DataError(
                f"the head reads outputs of dimension {head.hidden.shape[1]}, tokens have {d}",
                remedy="Make the head's hidden weights (m, d).",
            )
    loss, threads = ensure_loss(loss), ensure_count("the number of threads", threads, 1)
    number = loss_number(loss)
    return Rule(
        loss=loss,
        number=-1 if number is None else number,
        step=step_sizes(step, count),
        steps=steps,
        kept=np.array(recorded(steps, record), dtype=np.int64),
        goals=goals,
        normalised=bool(normalised),
        head=head,
        linear=attention == "linear",
        threads=threads,
        device=device,
    )
