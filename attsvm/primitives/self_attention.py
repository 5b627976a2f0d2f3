"""Self-attention over whole sequences, every token a query, as inputs of descent.

Sequence l0 has tokens A_{l0} in R^{n x d}, which are queries, keys and values alike. Position j0
attends with the logits a_{j0}^T X a_t of definition 3.3: to all tokens as printed there, or, for
causal attention, to the tokens up to j0. Column i0 of the values y gives the entry g(b_{l0,j0,i0}
<f_{l0,j0}, A_{l0} y_{i0}>) of the loss, and the loss is the sum of all entries. An entry of label 0
is constant and selects no token. With one-hot rows of labels, as in section 1, each position counts
once.

The reduction: an entry is one input of `AttentionData`, with query a_{j0}, the tokens that it
attends to, and the scores b A_{l0} y_{i0} of definition 3.9. The risk of `AttentionData` is the
mean over inputs and not the sum. This multiplies L_X and divides the step by the same number. Also
W = X^T, as its logits are x_t^T W z. Everything proved of descent on W with step 1/L is therefore
proved of X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import dot, rationals


@dataclass(frozen=True, slots=True)
class SelfAttention:
    """Sequences, values and labels: the inputs of descent on the sum of all entries of the loss.

    Raises:
        DataError: shapes do not fit, or every label is 0.
    """

    tokens: Float[Array, "m n d"]
    values: Float[Array, "d k"]
    labels: Float[Array, "m n k"]
    causal: bool

    def __post_init__(self) -> None:
        m, n, d = self.tokens.shape
        k = self.values.shape[1]
        shapes = self.values.shape, self.labels.shape
        if shapes != ((d, k), (m, n, k)):
            raise DataError("values or labels do not fit the tokens", value=shapes)
        if not self.labels.any():
            raise DataError("no label differs from 0, so that no entry of the loss depends on X")
        if _inexact(self):
            raise DataError("a score b <a_t, y_i0> is not representable as a float")

    @property
    def data(self) -> AttentionData:
        """One input for each entry that depends on X."""
        sequence, position, column = np.nonzero(self.labels)
        there = np.ones((len(sequence), self.tokens.shape[1]), dtype=np.bool_)
        if self.causal:
            there = np.tri(there.shape[1], dtype=np.bool_)[position]
        scores = self.scores[sequence, position, column]
        return AttentionData(
            np.where(there[..., None], self.tokens[sequence], 0.0),
            self.tokens[sequence, position],
            scores=np.where(there, scores, 0.0),
            mask=there,
        )

    @property
    def scores(self) -> Float[Array, "m n k n"]:
        """The score b_{l0,j0,i0} <a_t, y_{i0}> of each token for each entry."""
        scores: Array = np.einsum("mjk,mtd,dk->mjkt", self.labels, self.tokens, self.values)
        return scores


def _inexact(case: SelfAttention) -> bool:
    """Return whether a score is not representable as a float."""
    A, y, b = rationals(case.tokens), rationals(case.values.T), rationals(case.labels)
    scores = rationals(case.scores)
    return any(
        scores[i][j][k][t] != b[i][j][k] * dot(a, y[k])
        for i, tokens in enumerate(A)
        for j in range(len(tokens))
        for k in range(len(y))
        for t, a in enumerate(tokens)
    )
