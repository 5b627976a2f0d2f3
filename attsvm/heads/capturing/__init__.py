"""The attention of PyTorch modules, captured head by head while a module runs.

The logits of a head are x^T W z, so that the theory's W can be read from the module.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np

from attsvm.errors import DataError, UsageError
from attsvm.heads.head import Head
from attsvm.heads.table import Heads


def capture(
    module: Callable[..., object],
    *inputs: object,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] | None = None,
    sequences: Sequence[int] | None = None,
    tokens: Literal["inputs", "keys"] = "inputs",
    **keywords: object,
) -> Heads:
    """Run a module, and return every attention that it computes, head by head.

    Recognised are calls of `torch.nn.MultiheadAttention`, `scaled_dot_product_attention`,
    `flex_attention`, and a softmax of scaled products of queries and keys that is followed by a
    product with values. Tensors are kept by reference, and arrays of a head are made when they are
    asked for. Dropout is off. Queries that see no token are left out; a note has their number. An
    attention with other logits, such as a tanh of products, is left out and not counted in
    `layers`; `notes` of the result names it.

    Args:
        module: a module, or any function that computes with tensors.
        inputs: its arguments.
        layers: the attentions to keep, by their order of computation from 0 on; all by default.
        heads: the heads of each attention to keep; all by default.
        queries: the positions of the queries to keep; all by default.
        sequences: the sequences of the batch to keep; all by default.
        tokens: "inputs" for the inputs of the layer, so that W is the matrix that was trained.
            They are used if the numbers of queries and keys are projections of them, and keys
            otherwise; the first note of a head says which. "keys" for the keys themselves, so that
            W is a multiple of the identity.
        keywords: keyword arguments of the module.

    Raises:
        UsageError: PyTorch is missing, `tokens` is neither of the two, or there is no such head,
            sequence or query.
        DataError: no attention was computed, a key belongs to no token, or no query sees a token.
    """
    if tokens not in ("inputs", "keys"):
        raise UsageError("no such tokens", value=tokens, remedy="Use inputs or keys.")
    try:
        import torch
    except ImportError as error:
        raise UsageError(
            "attention of PyTorch modules is captured with PyTorch, which is missing",
            remedy="pip install 'attsvm[reference]'",
        ) from error
    from attsvm.heads.capturing.flex import flex_watched
    from attsvm.heads.capturing.layer import heads_of
    from attsvm.heads.capturing.recorder import Recorder, left_out_notes
    from attsvm.heads.capturing.watch import Watch

    chosen = None if layers is None else {*layers}
    recorder = Recorder(
        _names(module), lambda i: chosen is None or i in chosen, inputs=tokens == "inputs"
    )
    with torch.no_grad(), _evaluating(module), flex_watched(recorder), Watch(recorder):
        module(*inputs, **keywords)
    if not recorder.layers:
        raise DataError(
            "the module computed no attention that can be captured",
            value="; ".join([type(module).__name__, *left_out_notes(recorder.left_out)]),
            remedy="It must call MultiheadAttention or scaled_dot_product_attention, or multiply "
            "queries and keys before a softmax; look at layers.",
        )
    result: list[Head] = []
    for layer in recorder.layers:
        _ensure_indices("heads", heads, layer.sizes[1], layer.name)
        _ensure_indices("sequences", sequences, layer.sizes[0], layer.name)
        _ensure_indices("queries", queries, layer.mask.sizes[0], layer.name)
        of = range(layer.sizes[0]) if sequences is None else sequences
        asked = np.arange(layer.mask.sizes[0]) if queries is None else np.array(queries, int)
        result.extend(heads_of(layer, heads, of, asked))
    if not result:
        raise DataError("no query sees a token", remedy="Look at the masks.")
    return Heads(tuple(result), left_out_notes(recorder.left_out))


def _ensure_indices(what: str, chosen: Sequence[int] | None, count: int, name: str) -> None:
    """Raise unless indices are integers from 0 to below a number.

    Raises:
        UsageError: there is another index.
    """
    for index in [] if chosen is None else chosen:
        if index not in range(count):
            raise UsageError(f"{name} has {what} 0 to {count - 1}", value=index)


def _names(module: object) -> dict[int, str]:
    """Return the modules of weights by the addresses of their storage."""
    import torch

    if not isinstance(module, torch.nn.Module):
        return {}
    names: dict[int, str] = {}
    for name, parameter in module.named_parameters():
        parts = name.split(".")[: -2 if name.endswith((".weight", ".bias")) else -1]
        place = parameter.untyped_storage().data_ptr()
        names.setdefault(place, ".".join(parts) or type(module).__name__)
    return names


@contextmanager
def _evaluating(module: object) -> Iterator[None]:
    """Switch dropout off while a module runs."""
    import torch

    parts = [*module.modules()] if isinstance(module, torch.nn.Module) else []
    trained = [part for part in parts if part.training]
    for part in trained:
        part.training = False
    try:
        yield
    finally:
        for part in trained:
            part.training = True
