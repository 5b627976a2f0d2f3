"""A test whether a run has settled: its growth rates imply no later change of its selection.

A run may seem to have found its direction while an input is stuck at a token that is not the best.
That input moves the run with a weight that is tiny now and large later. Such a run gives no
conclusion about its limit.
"""

from __future__ import annotations

import numpy as np

from attsvm._types import Array, Float
from attsvm.attention import log_softmax, logits_of_w, signed_sum
from attsvm.data import AttentionData
from attsvm.limits.growth import Decades, decades
from attsvm.losses import Loss
from attsvm.theory.declaration.slack import Slack

BEHIND = 1.01
"""Minimum ratio of the growth of margins over better tokens to the least over worse tokens."""

EVEN = 1.05
"""Maximum ratio of the growth of margins in the gradient to that of the least margin."""


def dual_weights(data: AttentionData, W: Float[Array, "d d"], loss: Loss) -> Float[Array, "n T"]:
    """Return the weights p of -grad L = scale * sum_it p_it (x_ia - x_it) z_i^T, sum |p| = 1.

    The token a of each input is the one of largest logit. All is computed in the log domain: p_it
    is proportional to |l'| s_t (<s, gamma> - gamma_t), positive if a token is pushed down. The
    weights are zero if the gradient is.
    """
    logits = logits_of_w(data.X, data.Z, W)
    log_s = log_softmax(logits, data.mask)
    gamma = data.gamma
    mean = (np.exp(log_s) * np.where(data.present, gamma, 0.0)).sum(axis=1)
    side, bracket = signed_sum(gamma[:, None, :] - gamma[:, :, None], log_s[:, None, :])
    size = log_s + bracket + loss.log_slope(mean)[:, None]
    moved = data.present & _matters(data, logits)
    size = np.where(moved, size, -np.inf)
    largest = size.max()
    if not np.isfinite(largest):
        return np.zeros_like(gamma)
    sign = -np.sign(loss.slope(mean)) if loss.direction == 0 else -float(loss.direction)
    weights = np.exp(size - largest) * side * np.reshape(sign, (-1, 1))
    result: Array = weights / np.abs(weights).sum()
    return result


def _chosen(data: AttentionData, logits: Array) -> Array:
    index: Array = np.where(data.present, logits, -np.inf).argmax(axis=1)
    return index


def _matters(data: AttentionData, logits: Array) -> Array:
    """Return which tokens have a nonzero constraint matrix (x_a - x_t) z^T."""
    lead = data.X[np.arange(data.n), _chosen(data, logits)][:, None, :]
    apart = (lead != data.X).any(axis=2) & (data.Z != 0.0).any(axis=1)[:, None]
    result: Array = apart & data.present
    return result


def _margins(
    data: AttentionData, before: Array, after: Array, loss: Loss
) -> tuple[Array, Array, Array]:
    """Return the growth of margins of the tokens selected at `after`, and which rivals score less.

    The third array says which rivals score more. For an increasing loss, more and less are swapped.
    """
    old, new = (logits_of_w(data.X, data.Z, W) for W in (before, after))
    chosen = _chosen(data, new)
    rows = np.arange(data.n)
    growth = (new[rows, chosen][:, None] - new) - (old[rows, chosen][:, None] - old)
    gamma = data.gamma
    best = gamma[rows, chosen]
    sign = -np.sign(loss.slope(best)) if loss.direction == 0 else np.full(data.n, -loss.direction)
    lead = sign[:, None] * (best[:, None] - gamma)
    matters = _matters(data, new)
    return growth, matters & (lead > 0.0), matters & (lead < 0.0)


def three_iterates(
    data: AttentionData,
    iterates: Float[Array, "k d d"],
    loss: Loss,
) -> tuple[Decades, Float[Array, "3 d d"]] | Slack:
    """Return the three iterates to compare with their norms, or an unknown slack with the reason.

    The result is unknown if an iterate is not finite, the norm did not grow tenfold twice, or the
    run has not settled over the last decade.
    """
    norms = np.sqrt((iterates**2).sum(axis=(1, 2)))
    if not np.isfinite(norms).all():
        return Slack.unknown("an iterate is not finite")
    result = decades(norms)
    if result is None:
        return Slack.unknown("the norm did not grow tenfold twice")
    chosen = iterates[list(result.rows)]
    reason = unsettled(data, chosen[1], chosen[2], loss)
    return Slack.unknown(reason) if reason else (result, chosen)


def unsettled(
    data: AttentionData, before: Float[Array, "d d"], after: Float[Array, "d d"], loss: Loss
) -> str | None:
    """Return why the limit of a run cannot be judged from two of its iterates; None if it can.

    In each input let a be the token of largest logit at `after`. A settled run has three
    properties. The margins of a over all worse tokens have grown. The margins over better ones have
    grown by more than the least of these: otherwise the weight exp(-margin) of a better token would
    dominate eventually, however small its factor. The margins, averaged with the weights of the
    gradient, have grown no faster than the least one: otherwise a slower margin with a tiny factor
    would dominate. These properties are necessary for a limit direction, as slopes of margins along
    it. A run without one of them has not reached its limit. Tokens of equal score are not
    distinguished.
    """
    growth, worse, better = _margins(data, before, after, loss)
    if not worse.any():
        return "no token is selected over a worse one"
    least = float(growth[worse].min())
    if not least > 0.0:
        return _named("the margin over token {} of input {} does not grow", growth, worse)
    if better.any() and not growth[better].min() > BEHIND * least:
        return _named("the better token {} of input {} may return", growth, better)
    shares = np.abs(dual_weights(data, after, loss)) * worse
    total = float(shares.sum())
    if not (total > 0.0 and float((shares * growth).sum()) <= EVEN * least * total):
        return _named("token {} of input {} does not count in the gradient yet", growth, worse)
    return None


def _named(text: str, growth: Array, kind: Array) -> str:
    """Return the text with the token and input of the least growth among those of `kind`."""
    place = int(np.where(kind, growth, np.inf).argmin())
    i, t = divmod(place, kind.shape[1])
    return text.format(t, i)
