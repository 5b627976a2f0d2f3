"""Sentences of a language with next tokens to predict, as inputs of descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import dot, rationals
from attsvm.exact.numbers import key_of, remembered_by
from attsvm.language import Language, prefix_data, vocabulary_data


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences and embeddings, which give prediction problems.

    With `whole`, the tokens of each problem are the whole vocabulary, else those before the next
    token.

    Raises:
        DataError: the embeddings are not a matrix, an inner product of embeddings is not exact in
            floats, or no problem has two tokens.
    """

    embeddings: Float[Array, "V d"]
    sentences: Int[Array, "m n"]
    whole: bool

    def __post_init__(self) -> None:
        E = np.asarray(self.embeddings)
        if E.ndim != 2:
            raise DataError("the embeddings are not a matrix", value=E.shape)
        rows, products = rationals(E), rationals(E @ E.T)
        if any(dot(a, b) != products[i][j] for i, a in enumerate(rows) for j, b in enumerate(rows)):
            raise DataError("an inner product of the embeddings is not exact in floats")
        if not (self.data.present.sum(axis=1) > 1).any():
            raise DataError("no problem has two tokens", value=self.sentences.shape)

    @property
    def data(self) -> AttentionData:
        """The prediction problems as attention data."""
        return _problems(self.embeddings, self.sentences, self.whole)


@remembered_by(lambda E, sentences, whole: (key_of(E), key_of(sentences), whole))
def _problems(E: Array, sentences: Array, whole: bool) -> AttentionData:
    V = len(E)
    language = Language(np.ones(V, np.int64), np.ones((V, V), np.int64), E)
    return (vocabulary_data if whole else prefix_data)(language, sentences)
