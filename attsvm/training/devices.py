"""Descent as one batch of tensors, on the processor or on a GPU."""

from __future__ import annotations

from typing import Any

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.heads import Head, ReluHead
from attsvm.losses import LOSSES
from attsvm.training import general
from attsvm.training.batch import Batch
from attsvm.training.rule import Rule


def _torch(device: str) -> Any:
    """The library, where it is installed and knows the device."""
    try:
        import torch
    except ImportError as error:
        raise DataError(
            "devices need torch, which is not installed",
            value=device,
            remedy="Install torch, or leave device out.",
        ) from error
    try:
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError) as error:
        raise DataError(
            "there is no such device, or it has no float64",
            value=device,
            remedy="Leave device out to run on the processor.",
        ) from error
    return torch


def _relu(torch: Any, hidden: Any, outer: Any) -> Head:
    """A ReLU head of tensors."""
    return Head(
        "relu",
        lambda x: torch.clamp(x @ hidden.T, min=0.0) @ outer,
        lambda x: torch.where(x @ hidden.T > 0.0, outer, 0.0 * outer) @ hidden,
    )


def on_device(
    batch: Batch, kind: str, state: tuple[Array, ...], how: Rule
) -> tuple[tuple[Array, ...], Array]:
    """Kept states (B, rows, ...) and steps (B, rows), see `general.descend`.

    Heads of one's own get tensors there.

    Raises:
        DataError: no such device, or a loss that tensors do not know.
    """
    torch = _torch(str(how.device))
    if LOSSES.get(how.loss.name) is not how.loss:
        raise DataError(
            "a loss of your own runs on the processor",
            value=how.loss.name,
            remedy=f"Leave device out, or use one of {', '.join(LOSSES)}.",
        )

    def sent(array: Array | None) -> Any:
        # a copy, as tensors refuse arrays that are read-only
        return None if array is None else torch.tensor(array, device=how.device)

    head = how.head
    if isinstance(head, ReluHead):
        head = _relu(torch, sent(head.hidden), sent(head.outer))
    model = general.Model(
        torch, sent(batch.X), sent(batch.Z), sent(batch.gamma), sent(batch.y), sent(batch.mask),
        how.loss, head, how.linear,
    ).masked()  # fmt: skip
    with torch.no_grad():
        kept, taken = general.descend(
            model, kind, tuple(sent(part) for part in state), how, sent(how.step)
        )
    return tuple(part.transpose(0, 1).cpu().numpy() for part in kept), taken.T
