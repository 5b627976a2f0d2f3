"""The attention of PyTorch modules, captured head by head while a module runs.

The logits of a head are x^T W z, so that the theory's W can be read from the module.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from attsvm._types import Array, Tensor
from attsvm.attention import logits_of_w, softmax
from attsvm.errors import DataError, UsageError
from attsvm.transformer import Head


def capture(module: Any, *inputs: object, **keywords: object) -> tuple[Head, ...]:
    """Run a module, and return every attention that it computes, head by head.

    Captured are `torch.nn.MultiheadAttention`, whose tokens are the inputs of its key projection,
    and calls of `torch.nn.functional.scaled_dot_product_attention`, whose tokens are the keys
    themselves. Weights are recomputed in double precision, without dropout. Queries that see no
    token are left out.

    Args:
        module: a module, or any function that computes with tensors.
        inputs: its arguments.
        keywords: its keyword arguments.

    Raises:
        UsageError: PyTorch is missing.
        DataError: no attention was computed, or its logits do not depend on tokens and queries
            alone: biases are added to them, or a key belongs to no token.
    """
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError as error:
        raise UsageError(
            "attention of PyTorch modules is captured with PyTorch, which is missing",
            remedy="pip install 'attsvm[reference]'",
        ) from error
    F = torch.nn.functional
    heads: list[Head] = []
    several = inspect.signature(F.multi_head_attention_forward)
    plain = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")

    class Watch(TorchFunctionMode):
        """A recorder of the arguments of attention functions."""

        calls = 0

        def __torch_function__(
            self,
            func: Callable[..., object],
            types: object,
            args: Sequence[Any] = (),
            kwargs: dict[str, Any] | None = None,
        ) -> object:
            kwargs = kwargs or {}
            if func is F.multi_head_attention_forward:
                bound = several.bind(*args, **kwargs)
                bound.apply_defaults()
                heads.extend(_projected(bound.arguments, f"attention {self.calls}"))
                self.calls += 1
            elif func is F.scaled_dot_product_attention:
                arguments = dict(zip(plain, args, strict=False)) | kwargs
                heads.extend(_dot_products(arguments, f"attention {self.calls}"))
                self.calls += 1
            return func(*args, **kwargs)

    training = getattr(module, "training", False)
    if training:
        module.eval()
    try:
        with torch.no_grad(), Watch():
            module(*inputs, **keywords)
    finally:
        if training:
            module.train()
    if not heads:
        raise DataError(
            "the module computed no attention that can be captured",
            value=type(module).__name__,
            remedy="It must call torch.nn.MultiheadAttention or scaled_dot_product_attention.",
        )
    return tuple(heads)


def _numbers(tensor: Tensor) -> Array:
    array: Array = tensor.detach().cpu().double().numpy()
    return array


def _projected(arguments: Mapping[str, Any], name: str) -> list[Head]:
    """Return the heads of a multi-head attention, whose tensors are (tokens, batch, features)."""
    if arguments["bias_k"] is not None or arguments["add_zero_attn"]:
        raise DataError(
            f"{name} has a key that belongs to no token",
            remedy="Build it without add_bias_kv and add_zero_attn.",
        )
    query, key, value = (_numbers(arguments[n]) for n in ("query", "key", "value"))
    if query.ndim == 2:  # no batch
        query, key, value = query[:, None], key[:, None], value[:, None]
    h, E = int(arguments["num_heads"]), query.shape[2]
    if arguments["use_separate_proj_weight"]:
        maps = [_numbers(arguments[f"{n}_proj_weight"]) for n in "qkv"]
    else:
        maps = np.split(_numbers(arguments["in_proj_weight"]), 3)
    bias = arguments["in_proj_bias"]
    if bias is not None:
        shifts = np.split(_numbers(bias), 3)
        maps = [np.hstack([m, b[:, None]]) for m, b in zip(maps, shifts, strict=True)]
        query, key, value = (
            np.concatenate([a, np.ones((*a.shape[:2], 1))], axis=2) for a in (query, key, value)
        )
    if query.shape[2] != key.shape[2]:
        raise DataError(
            f"{name} has queries and keys of different dimensions",
            value=(E, int(arguments["key"].shape[-1])),
            remedy="The theory has one dimension for both: leave kdim out.",
        )
    L, S, B = len(query), len(key), query.shape[1]
    mask = _mask(arguments["attn_mask"], (B, h, L, S), name, hides=True)
    padding = arguments["key_padding_mask"]
    if padding is not None:
        mask &= _mask(padding.reshape(B, 1, 1, S), (B, h, L, S), name, hides=True)
    heads = []
    for j, (q, k, v) in enumerate(zip(*(np.split(m, h) for m in maps), strict=True)):
        W = k.T @ q / math.sqrt(len(q))
        X, Z, V = key.swapaxes(0, 1), query.swapaxes(0, 1), (value @ v.T).swapaxes(0, 1)
        heads.append(_head(f"{name}, head {j}", X, Z, V, W, mask[:, j]))
    return heads


def _dot_products(arguments: Mapping[str, Any], name: str) -> list[Head]:
    """Return the heads of a scaled dot product, whose tensors are (..., head, tokens, features)."""
    query, key, value = (_numbers(arguments[n]) for n in ("query", "key", "value"))
    if arguments.get("enable_gqa"):
        key, value = (np.repeat(a, query.shape[-3] // a.shape[-3], axis=-3) for a in (key, value))
    shape = (*query.shape[:-1], key.shape[-2])
    mask = _mask(arguments.get("attn_mask"), shape, name, hides=False)
    if arguments.get("is_causal"):
        mask &= np.tri(*shape[-2:], dtype=np.bool_)
    scale = arguments.get("scale")
    W = np.eye(query.shape[-1]) * (query.shape[-1] ** -0.5 if scale is None else float(scale))
    h = shape[-3] if len(shape) > 3 else 1

    def apart(array: Array) -> Array:
        split: Array = array.reshape(-1, h, *array.shape[-2:])
        return split

    X, Z, V, seen = map(apart, (key, query, value, mask))
    return [_head(f"{name}, head {j}", X[:, j], Z[:, j], V[:, j], W, seen[:, j]) for j in range(h)]


def _mask(mask: Tensor | None, shape: tuple[int, ...], name: str, *, hides: bool) -> Array:
    """Return the tokens that each query sees, from a boolean or additive mask of PyTorch."""
    if mask is None:
        return np.ones(shape, dtype=np.bool_)
    array: Array = mask.detach().cpu().numpy()
    if array.ndim == 3 and len(shape) == 4:  # a mask for each head of each batch entry
        array = array.reshape(shape)
    if array.dtype != np.bool_:
        odd = (array != 0.0) & (array != -np.inf)
        if odd.any():
            raise DataError(
                f"{name} adds numbers to its logits",
                value=float(array[odd][0]),
                remedy="Logits of the theory are x^T W z: a mask holds 0 and minus infinity.",
            )
        array, hides = array == 0.0, False
    seen: Array = np.broadcast_to(~array if hides else array, shape).copy()
    return seen


def _head(name: str, X: Array, Z: Array, V: Array, W: Array, mask: Array) -> Head:
    """Return a head from arrays (batch, ...): each query of the batch is an input of its own.

    Raises:
        DataError: no query sees a token.
    """
    B, L, S = mask.shape
    tokens, values = (
        np.broadcast_to(a[:, None], (B, L, *a.shape[1:])).reshape(B * L, *a.shape[1:])
        for a in (X, V)
    )
    mask, queries = mask.reshape(-1, S), Z.reshape(-1, Z.shape[-1])
    some = mask.any(axis=1)
    if not some.any():
        raise DataError(f"no query of {name} sees a token", remedy="Look at its masks.")
    tokens, values, mask, queries = tokens[some], values[some], mask[some], queries[some]
    weights = softmax(logits_of_w(tokens, queries, W), mask)
    return Head(name, tokens, queries, W, mask, values, weights)
