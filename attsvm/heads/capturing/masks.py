"""Masks of attention: boolean, additive and causal ones, read head by head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from attsvm._types import Array, Tensor
from attsvm.heads.capturing.references import Kept

LOWEST = -1e4
"""Upper bound of the finite numbers that count as minus infinity if a mask adds them."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A tensor that hides tokens, or is added to logits; it broadcasts to (B, H, L, S).

    Attributes:
        kept: the tensor with four axes: truth values, or numbers.
        hides: whether true entries hide a token; otherwise they show it.
    """

    kept: Kept
    hides: bool = False

    @classmethod
    def of(cls, tensor: Tensor, *, hides: bool = False) -> Term:
        """Return a term of a tensor whose last axes are queries and tokens."""
        return cls(Kept.of(tensor.reshape((1,) * (4 - tensor.ndim) + tensor.shape)), hides)

    def at(self, sequence: int, head: int) -> Array:
        """Return the entries (L or 1, S or 1) of a head."""
        sizes = self.kept.tensor.shape
        return self.kept.array(sequence % sizes[0], head % sizes[1])


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """The tokens that each query sees, and the numbers that are added to logits.

    Attributes:
        sizes: the numbers L of queries and S of tokens.
        terms: tensors; a token is seen if all of them show it.
        causal: whether query i also sees no token after token i.
    """

    sizes: tuple[int, int]
    terms: tuple[Term, ...] = ()
    causal: bool = False

    @property
    def shared(self) -> bool:
        """Whether all heads see the same tokens."""
        return all(term.kept.tensor.shape[1] == 1 for term in self.terms)

    def seen(self, sequence: int, head: int) -> Array:
        """Return the tokens (L, S) that each query sees."""
        seen = np.tri(*self.sizes, dtype=np.bool_) if self.causal else np.ones(self.sizes, np.bool_)
        for term in self.terms:
            entries = term.at(sequence, head)
            if entries.dtype != np.bool_:
                seen &= entries > LOWEST
            else:
                seen &= entries != term.hides
        return seen

    def added(self, sequence: int, head: int) -> Array | None:
        """Return the numbers (L, S) that are added to logits; None if all are 0."""
        total: Array | None = None
        for term in self.terms:
            entries = term.at(sequence, head)
            if entries.dtype != np.bool_ and (kept := np.where(entries > LOWEST, entries, 0)).any():
                total = kept if total is None else total + kept
        return None if total is None else np.broadcast_to(total, self.sizes)

    def notes(self) -> tuple[str, ...]:
        """Return sentences on entries that are neither 0, minus infinity nor truth values."""
        notes = []
        for term in self.terms:
            tensor = term.kept.tensor
            if tensor.dtype == torch.bool:
                continue
            low = (tensor <= LOWEST) & (tensor > -torch.inf)
            if low.any():
                least = float(tensor[low].min())
                notes.append(f"mask values such as {least:.3g} count as minus infinity")
            if ((tensor > LOWEST) & (tensor != 0)).any():
                notes.append("numbers are added to the logits: W alone explains them only in part")
        return tuple(dict.fromkeys(notes))


def union(masks: Sequence[Term | None]) -> tuple[Term, ...]:
    """Return the terms that are not None."""
    return tuple(term for term in masks if term is not None)
