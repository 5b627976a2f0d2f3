"""The record of gradient descent: its inputs, start, loss and step.

The type of the inputs says which parameter is trained. `AttentionData` trains W in the logits x_t^T
W z. `Factored` trains K and Q with W = K Q^T. `Keys` trains a prompt p in the logits k_t^T p.
`SelfAttention` trains X. Descent on p equals descent on the first column of W with all queries e_1.
Descent on X equals descent on W = X^T. Everything proved for W therefore holds for p and X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import LOGISTIC_LOSS, LOSSES
from attsvm.primitives.losses import LOSSES as FORMULAS
from attsvm.primitives.self_attention import SelfAttention
from attsvm.primitives.sentences import Sentences
from attsvm.primitives.steps import Stepped


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys (n, T, d) of tokens, and their scores (n, T): the inputs of descent on a prompt.

    Any keys and scores occur: they come from tokens (k, gamma), labels 1, a head that reads the
    last coordinate, and a matrix W that drops it.

    Raises:
        DataError: an axis is empty, or shapes do not fit.
    """

    X: Array
    scores: Array

    def __post_init__(self) -> None:
        shape = self.X.shape
        if len(shape) != 3 or self.scores.shape != shape[:2] or 0 in shape:
            raise DataError("keys and scores do not fit together", value=shape)

    @property
    def data(self) -> AttentionData:
        """The keys as tokens, with the query e_1 for every input."""
        n, _, d = self.X.shape
        return AttentionData(self.X, np.repeat(np.eye(1, d), n, axis=0), scores=self.scores)


@dataclass(frozen=True, slots=True)
class Factored:
    """The inputs of descent on K and Q, with attention by W = K Q^T."""

    data: AttentionData


@dataclass(frozen=True, slots=True)
class Descent(Stepped):
    """Gradient descent on the mean loss of the inputs, from a start.

    The start is W or X (d, d). For keys it is p (d,), for factored inputs it is K and Q (2, d, r).

    Raises:
        DataError: the start does not fit the inputs, or the loss has an unknown name.
    """

    inputs: AttentionData | Keys | Factored | SelfAttention | Sentences
    start: Array
    loss: str = LOGISTIC_LOSS.name

    def __post_init__(self) -> None:
        Stepped.__post_init__(self)
        shape, d = self.start.shape, self.data.d
        if isinstance(self.inputs, Factored):
            fits = len(shape) == 3 and shape[:2] == (2, d) and shape[2] > 0
        else:
            fits = shape == ((d,) if isinstance(self.inputs, Keys) else (d, d))
        if not fits:
            raise DataError("a start does not fit its inputs", value=self.start.shape)
        if self.loss not in LOSSES and self.loss not in FORMULAS:
            raise DataError("there is no loss of that name", value=self.loss)

    @classmethod
    def of(
        cls, X: ArrayLike, Z: ArrayLike, start: ArrayLike | None = None, **known: ArrayLike
    ) -> Descent:
        """Return descent on `AttentionData.of(X, Z, **known)`, from 0 unless a start is given."""
        data = AttentionData.of(X, Z, **known)
        zero = np.zeros((data.d, data.d))
        return cls(data, zero if start is None else np.array(start, dtype=np.float64))

    @property
    def data(self) -> AttentionData:
        """The inputs, each with one query."""
        return self.inputs if isinstance(self.inputs, AttentionData) else self.inputs.data

    @property
    def W(self) -> Array:
        """The matrix W at the start: the start itself, K Q^T, X^T, or with first column p."""
        if isinstance(self.inputs, Factored):
            K, Q = self.start
            product: Array = K @ Q.T
            return product
        if isinstance(self.inputs, SelfAttention):
            transpose: Array = self.start.T
            return transpose
        if not isinstance(self.inputs, Keys):
            return self.start
        column = np.zeros((len(self.start), len(self.start)))
        column[:, 0] = self.start
        return column
