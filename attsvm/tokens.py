"""Token scores and optimal tokens, with ties reported."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float, Int
from attsvm._validate import ensure_index
from attsvm.data import AttentionData
from attsvm.errors import DataError, TiedTokensError


@dataclass(frozen=True, slots=True)
class OptimalTokens:
    """The tokens of highest score, input by input.

    Attributes:
        index: the first optimal token of each input.
        ties: all optimal tokens of each input.
        gap: distance from the best score to the next lower one; infinite if all tokens of an input
            are optimal.
    """

    index: Int[Array, " n"]
    ties: tuple[tuple[int, ...], ...]
    gap: Float[Array, " n"]

    @property
    def unique(self) -> bool:
        """Whether every input has exactly one optimal token."""
        return all(len(tied) == 1 for tied in self.ties)


def optimal_tokens(data: AttentionData) -> OptimalTokens:
    """Return the optimal tokens opt_i = argmax_t gamma_it with ties.

    Given scores are compared exactly. Scores computed from a head count as tied if they differ by
    no more than the rounding of the products v^T x.
    """
    gamma, best, tied = _tied(data)
    below = np.where(tied, -np.inf, gamma).max(axis=1)
    return OptimalTokens(
        index=tied.argmax(axis=1).astype(np.int64),
        ties=tuple(tuple(int(t) for t in np.flatnonzero(row)) for row in tied),
        gap=best[:, 0] - below,
    )


def _tied(data: AttentionData) -> tuple[Array, Array, Array]:
    """Return scores (-inf for absent tokens), best scores (n, 1), and which tokens are optimal."""
    gamma = data.gamma if data.mask is None else np.where(data.mask, data.gamma, -np.inf)
    best = gamma.max(axis=1, keepdims=True)
    if data.v is None:
        return gamma, best, gamma >= best
    # divide by a power of two so that sums of products do not overflow
    share = float(1 << (2 * data.d).bit_length())
    magnitude = np.abs(data.X) @ (np.abs(data.v) / share)
    top = np.take_along_axis(magnitude, gamma.argmax(axis=1)[:, None], axis=1)
    slack = share * data.d * np.finfo(np.float64).eps * (magnitude + top)
    return gamma, best, data.present & (gamma >= best - slack)


def target_tokens(data: AttentionData, targets: object = None) -> Int[Array, " n"]:
    """Return the token that each input should select: the optimal ones, or `targets` after a check.

    Raises:
        TiedTokensError: an input has several optimal tokens and no targets were given.
        DataError: targets are out of range or absent by the mask.
    """
    if targets is None:
        _, _, tied = _tied(data)
        several = tied.sum(axis=1) > 1
        if several.any():
            i = int(several.argmax())
            raise TiedTokensError(
                f"input {i} has {int(tied[i].sum())} optimal tokens",
                value=np.flatnonzero(tied[i]).tolist(),
                remedy="Name the tokens to select, one index per input (targets).",
            )
        first: Array = tied.argmax(axis=1).astype(np.int64)
        return first
    index = ensure_index("targets", targets, data.n, data.T)
    absent = np.flatnonzero(~data.present[np.arange(data.n), index])
    if absent.size:
        raise DataError(
            f"targets[{int(absent[0])}] names a token that the mask removes",
            value=int(index[absent[0]]),
            remedy="Choose a token that is present.",
        )
    return index
