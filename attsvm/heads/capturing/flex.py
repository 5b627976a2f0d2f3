"""Replacement of `flex_attention` while a module runs: modes of PyTorch do not see its calls."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from attsvm._types import Tensor
from attsvm.errors import DataError
from attsvm.heads.capturing.eager import shared
from attsvm.heads.capturing.recorder import Hidden, Recorder

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

NAME = "torch.nn.attention.flex_attention"

_LOCK = threading.RLock()
"""It is held while `flex_attention` is replaced, so that every thread finds the original."""


@contextmanager
def flex_watched(recorder: Recorder) -> Iterator[None]:
    """Report calls of `flex_attention` from every loaded module to a recorder.

    Calls of other threads are not recorded. A thread waits until captures of other threads end.
    """
    if NAME not in sys.modules:
        yield
        return
    with _LOCK:
        yield from _replaced(recorder)


def _replaced(recorder: Recorder) -> Iterator[None]:
    """Replace `flex_attention` until the generator resumes."""
    original = getattr(sys.modules[NAME], "flex_attention", None)
    if original is None:  # the module is being imported
        yield
        return
    thread = threading.get_ident()

    def watched(*args: object, **kwargs: object) -> object:
        if threading.get_ident() != thread:
            return original(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            _record(recorder, *args, **kwargs)  # type: ignore[arg-type]
            return original(*args, **kwargs)

    places = [
        (module, name)
        for module in list(sys.modules.values())
        for name, value in list(getattr(module, "__dict__", {}).items())
        if value is original
    ]
    for module, name in places:
        setattr(module, name, watched)
    try:
        yield
    finally:
        for module, name in places:
            setattr(module, name, original)


def _record(
    recorder: Recorder,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: object = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    *others: object,
    **named: object,
) -> None:
    """Record the arguments of a call, with its mask as a table.

    Raises:
        DataError: a function changes the logits.
    """
    hidden: list[Hidden] = []
    if recorder.wanted(recorder.count) and score_mod is not None:
        raise DataError(
            "flex_attention has a function that changes its logits",
            remedy="Choose other layers, or give queries and keys to capture_qk.",
        )
    if recorder.wanted(recorder.count) and block_mask is not None:
        from torch.nn.attention.flex_attention import create_mask

        (B, H, L), S = query.shape[:3], key.shape[2]
        mask = create_mask(block_mask.mask_mod, B, H, L, S, device=str(query.device))
        hidden.append((shared(mask), False))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    recorder.attention((query, key, value), scale, hidden, causal=False)
