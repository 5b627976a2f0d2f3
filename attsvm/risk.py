"""The empirical risk of one attention layer and its closed-form gradients.

With s = softmax(logits) and scores gamma the risk is (1/n) sum_i l(<s_i, gamma_i>). One function,
the covariance s * (gamma - <s, gamma>), gives the gradient in the logits. The gradients of all
parametrisations follow by the chain rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from attsvm._types import Array, Bool, Float, Floats, Shaped
from attsvm.attention import (
    log_softmax,
    logits_of_kq,
    logits_of_p,
    logits_of_w,
    signed_sum,
    softmax,
)
from attsvm.data import AttentionData
from attsvm.losses import Loss


def covariance(s: Shaped[Array, "*b T"], gamma: Shaped[Array, "*b T"]) -> Shaped[Array, "*b T"]:
    """Return (diag(s) - s s^T) gamma, the derivative of <softmax(a), gamma> in the logits a.

    It works on any number type: the symbolic proofs run this function on symbols.
    """
    result: Array = s * (gamma - (s * gamma).sum(axis=-1, keepdims=True))
    return result


def _mean(s: Float[Array, "*b T"], gamma: Float[Array, "*b T"]) -> Float[Array, "*b"]:
    result: Array = (s * gamma).sum(axis=-1)
    return result


def logit_gradient(
    logits: Float[Array, "n T"],
    gamma: Float[Array, "n T"],
    loss: Loss,
    mask: Bool[Array, "n T"] | None = None,
) -> Float[Array, "n T"]:
    """Return the gradient of the risk in logits: (1/n) l'(<s, gamma>) (diag(s) - s s^T) gamma."""
    s = softmax(logits, mask)
    slope = loss.slope(_mean(s, gamma))
    result: Array = slope[:, None] * covariance(s, gamma) / logits.shape[0]
    return result


def risk(data: AttentionData, W: Float[Array, "d d"], loss: Loss) -> float:
    """Return the empirical risk L(W) = (1/n) sum_i l(<softmax(X_i W z_i), gamma_i>)."""
    s = softmax(logits_of_w(data.X, data.Z, W), data.mask)
    return float(loss.value(_mean(s, data.gamma)).mean())


def risk_gap(data: AttentionData, W: Float[Array, "d d"], loss: Loss) -> float:
    """Return L(W) - L_* without cancellation between the two risks.

    The deficit <s, gamma_opt - gamma> of each input is a sum of nonnegative terms, and each loss
    has a closed form for its increase over the deficit.
    """
    s = softmax(logits_of_w(data.X, data.Z, W), data.mask)
    gamma = np.where(data.present, data.gamma, -np.inf)
    best = gamma.max(axis=1)
    deficit = np.where(data.present, s * (best[:, None] - data.gamma), 0.0).sum(axis=1)
    return float(loss.drop(best, deficit).mean())


def gradient_w(data: AttentionData, W: Float[Array, "d d"], loss: Loss) -> Float[Array, "d d"]:
    """Return the gradient of L(W): sum over inputs of X_i^T (logit gradient) z_i^T."""
    G = logit_gradient(logits_of_w(data.X, data.Z, W), data.gamma, loss, data.mask)
    result: Array = np.einsum("ntd,nt,ne->de", data.X, G, data.Z)
    return result


def gradient_kq(
    data: AttentionData, K: Float[Array, "d r"], Q: Float[Array, "d r"], loss: Loss
) -> tuple[Float[Array, "d r"], Float[Array, "d r"]]:
    """Return the gradients of L(K, Q) in K and in Q, by the chain rule through W = K Q^T."""
    G = logit_gradient(logits_of_kq(data.X, data.Z, K, Q), data.gamma, loss, data.mask)
    in_w = np.einsum("ntd,nt,ne->de", data.X, G, data.Z)
    return in_w @ Q, in_w.T @ K


def gradient_p(data: AttentionData, p: Float[Array, " d"], loss: Loss) -> Float[Array, " d"]:
    """Return the gradient of the risk in a prompt p with logits X_i p; queries are ignored."""
    G = logit_gradient(logits_of_p(data.X, p), data.gamma, loss, data.mask)
    result: Array = np.einsum("ntd,nt->d", data.X, G)
    return result


@dataclass(frozen=True, slots=True)
class Direction:
    """A gradient as scale times a matrix of moderate size, so that nothing underflows.

    -grad L = exp(log_scale) * matrix.
    """

    matrix: Float[Array, "*b d e"]
    log_scale: Float[Array, "*b"]


def normalised_gradient(
    X: Float[Array, "*b n T d"],
    Z: Float[Array, "*b n e"],
    gamma: Float[Array, "*b n T"],
    W: Float[Array, "*b d e"],
    loss: Loss,
    mask: Bool[Array, "*b n T"] | None = None,
) -> Direction:
    """Return the descent direction -grad L(W) in the log domain, correct at any norm of W.

    With a the token of largest weight, -grad L is the sum over inputs and tokens t of (1/n) |l'|
    s_t (gamma_t - <s, gamma>) (x_t - x_a) z^T. The bracket is the sum over u of s_u (gamma_t -
    gamma_u), with its largest exponent factored out. The largest exponent of all terms that move W
    is factored out before summation. No large terms cancel, even if tokens are repeated. Leading
    axes are a batch. For a prompt p, take Z of ones with e = 1, and W = p as a column. An exactly
    stationary point gives a zero matrix and the scale -inf.
    """
    logits = np.matmul(X, np.matmul(W[..., None, :, :], Z[..., None]))[..., 0]
    log_s = log_softmax(logits, mask)
    mean = (np.exp(log_s) * gamma).sum(axis=-1)
    sign = np.full(mean.shape, loss.direction) if loss.direction else np.sign(loss.slope(mean))
    with np.errstate(divide="ignore"):
        matrix, top = log_domain_negative_gradient(X, Z, gamma, log_s, sign, loss.log_slope(mean))
    return Direction(matrix=matrix, log_scale=np.where(np.isfinite(top), top, -np.inf))


_A = TypeVar("_A", bound="Floats")
"""Arrays, or tensors."""


def log_domain_negative_gradient(
    X: _A,
    Z: _A,
    gamma: _A,
    log_s: _A,
    sign: _A,
    height: _A,
    xp: ModuleType = np,
) -> tuple[_A, _A]:
    """Return M and log_scale with -grad L = exp(log_scale) M, see `normalised_gradient`.

    Arrays may be numpy arrays, or tensors with `xp=torch`. A NaN scale stays NaN.

    Args:
        X: tokens (..., n, T, d).
        Z: queries (..., n, e).
        gamma: scores (..., n, T).
        log_s: logarithms of the attention weights (..., n, T).
        sign: signs of l' at the inputs (..., n).
        height: logarithms of |l'| at the inputs (..., n).
        xp: the module of the arrays, numpy or torch.
    """
    take: Any = np.take_along_axis if xp is np else xp.take_along_dim
    moved = X - take(X, log_s.argmax(-1)[..., None, None], -2)
    side, bracket = signed_sum(gamma[..., :, None] - gamma[..., None, :], log_s[..., None, :], xp)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = bracket + log_s + (height - np.log(X.shape[-3]))[..., None]
        effect = size + xp.log(xp.sqrt((moved**2).sum(-1) * (Z**2).sum(-1)[..., None]))
    top = xp.amax(xp.amax(effect, -1), -1)
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))[..., None, None]
    # tokens without effect may have any size; they are multiplied by zero differences
    capped = xp.exp(xp.clip(size - shift, None, 700.0))
    weights = xp.where(xp.isfinite(effect), -sign[..., None] * side * capped, xp.zeros_like(size))
    added = (weights[..., None, :] @ moved)[..., 0, :]
    return xp.swapaxes(added, -1, -2) @ Z, top
