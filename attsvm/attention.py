"""Softmax attention: its weights, and the logits of its parametrisations W, (K, Q) and p."""

from __future__ import annotations

from types import ModuleType
from typing import TypeVar

import numpy as np

from attsvm._types import Array, Bool, Float, Floats


def log_softmax(logits: Array, mask: Array | None = None) -> Array:
    """Return the logarithm of the softmax along the last axis; -inf at masked tokens.

    The largest logit is subtracted first, so finite logits never overflow. Shapes are not checked,
    as loops with many small steps call this function.
    """
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
    shifted = _below_top(logits)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def _below_top(logits: Array) -> Array:
    with np.errstate(over="ignore"):  # a difference beyond float64 is -inf, of weight zero
        shifted: Array = logits - logits.max(axis=-1, keepdims=True)
    return shifted


def softmax(
    logits: Float[Array, "*b T"], mask: Bool[Array, "*b T"] | None = None
) -> Float[Array, "*b T"]:
    """Return the softmax along the last axis: positive entries of sum one."""
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
    weights = np.exp(_below_top(logits))
    result: Array = weights / weights.sum(axis=-1, keepdims=True)
    return result


_A = TypeVar("_A", bound="Floats")
"""Arrays, or tensors."""


def signed_sum(factors: _A, logs: _A, xp: ModuleType = np) -> tuple[_A, _A]:
    """Return signs and logarithms of sum factors * e^logs over the last axis, by numpy or `xp`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = xp.log(xp.abs(factors)) + logs
        top = xp.amax(sizes, -1)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        total = (xp.sign(factors) * xp.exp(sizes - top[..., None])).sum(-1)
        return xp.sign(total), top + xp.log(xp.abs(total))


def logits_of_w(
    X: Float[Array, "*b n T d"], Z: Float[Array, "*b n d"], W: Float[Array, "*b d d"]
) -> Float[Array, "*b n T"]:
    """Return the logits X_i W z_i of the combined weights."""
    projected = np.matmul(W[..., None, :, :], Z[..., None])
    result: Array = np.matmul(X, projected)[..., 0]
    return result


def logits_of_kq(
    X: Float[Array, "n T d"],
    Z: Float[Array, "n d"],
    K: Float[Array, "d r"],
    Q: Float[Array, "d r"],
) -> Float[Array, "n T"]:
    """Return the logits X_i K Q^T z_i of key and query weights with inner dimension r."""
    result: Array = np.einsum("ntr,nr->nt", X @ K, Z @ Q)
    return result


def logits_of_p(X: Float[Array, "n T d"], p: Float[Array, " d"]) -> Float[Array, "n T"]:
    """Return the logits X_i p of a tunable prompt p, keys equal to tokens."""
    return X @ p
