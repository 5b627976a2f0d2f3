"""Synthetic causal languages with known token probabilities, and their data sets.

A sentence of n tokens has n - 1 sub-sequences. Each is a classification problem: predict the next
token, with the last one as the query. The output of attention is read by the embedding of the next
token, so that token t has score <e_next, e_t>. There are two conventions for the tokens of the
attention: those of the sub-sequence (`prefix_data`), or the whole vocabulary (`vocabulary_data`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from attsvm._types import Array, Float, Int
from attsvm._validate import ensure_array, ensure_count
from attsvm.data import AttentionData
from attsvm.errors import DataError

HEAVIEST = 9
"""Largest weight that a random language draws."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """V tokens with embeddings, and a table of the frequencies with which tokens follow each other.

    Attributes:
        first: weights of the first token of a sentence.
        follow: follow[a, b] is the weight of b after a: P(b | ... a) is follow[a, b] divided by
            the sum of row a, a rational number.
        embeddings: one vector per token.

    Raises:
        DataError: weights are negative or not integers, a row is zero, shapes do not fit, or inner
            products of embeddings are not finite.
    """

    first: Int[Array, " V"]
    follow: Int[Array, "V V"]
    embeddings: Float[Array, "V d"]

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        arrays = {"embeddings": ensure_array("embeddings", self.embeddings, ("V", "d"), sizes)}
        with np.errstate(over="ignore", invalid="ignore"):
            products = arrays["embeddings"] @ arrays["embeddings"].T
        if not np.isfinite(products).all():
            raise DataError(
                "inner products of the embeddings overflow float64",
                value=float(np.abs(arrays["embeddings"]).max()),
                remedy="Rescale the embeddings.",
            )
        V = sizes["V"]
        arrays["follow"] = _weights("follow", self.follow, (V, V))
        arrays["first"] = _weights("first", self.first, (V,))
        for name, array in arrays.items():
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def size(self) -> int:
        """Number V of tokens."""
        return len(self.first)

    @property
    def d(self) -> int:
        """Dimension of the embeddings."""
        return int(self.embeddings.shape[1])

    def probability(self, sentence: npt.ArrayLike) -> Fraction:
        """Return the exact probability of a sentence among all sentences of its length.

        Raises:
            DataError: the argument is not a row of tokens.
        """
        (tokens,) = _sentences(self, [sentence], 1).tolist()
        chance = Fraction(int(self.first[tokens[0]]), int(self.first.sum()))
        for a, b in itertools.pairwise(tokens):
            chance *= Fraction(int(self.follow[a, b]), int(self.follow[a].sum()))
        return chance

    def sample(self, generator: np.random.Generator, m: int, n: int) -> Int[Array, "m n"]:
        """Draw m independent sentences of n tokens, with exactly the probabilities of the table.

        Raises:
            DataError: `generator` is not a numpy generator, or m or n is not a positive integer.
        """
        generator = _generator(generator)
        m, n = ensure_count("m", m, 1), ensure_count("n", n, 1)
        sentences = np.empty((m, n), dtype=np.int64)
        rows = np.broadcast_to(self.first.cumsum(), (m, self.size))
        ends = self.follow.cumsum(axis=1)
        for j in range(n):
            drawn = generator.integers(rows[:, -1])
            sentences[:, j] = (rows <= drawn[:, None]).sum(axis=1)
            rows = ends[sentences[:, j]]
        return sentences


def random_language(generator: np.random.Generator, V: int, d: int, successors: int) -> Language:
    """Return a language with unit-norm Gaussian embeddings and random successors of each token.

    `successors` tokens are drawn among all tokens: a token may follow itself. Their weights are
    uniform in 1..9, and any token may be the first.

    Raises:
        DataError: `generator` is not a numpy generator, a size is not a positive integer, or there
            are more successors than tokens.
    """
    generator = _generator(generator)
    V, d = ensure_count("V", V, 1), ensure_count("d", d, 1)
    if ensure_count("successors", successors, 1) > V:
        raise DataError(
            f"a token of {V} has no more than {V} successors",
            value=successors,
            remedy="Ask for fewer successors or a larger vocabulary.",
        )
    follow = np.zeros((V, V), dtype=np.int64)
    for row in follow:
        row[generator.permutation(V)[:successors]] = generator.integers(
            1, HEAVIEST + 1, size=successors
        )
    embeddings = generator.normal(size=(V, d))
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    return Language(np.ones(V, dtype=np.int64), follow, embeddings)


def next_tokens(sentences: Int[Array, "m n"]) -> Int[Array, " p"]:
    """Return the token to predict in each of the p = m (n - 1) problems, sentence after sentence.

    Raises:
        DataError: no rows of at least two integers.
    """
    return _rows(sentences, 2)[:, 1:].reshape(-1)


def prefix_data(language: Language, sentences: Int[Array, "m n"]) -> AttentionData:
    """Return the p problems as inputs of n - 1 tokens; those after the sub-sequence are masked.

    The tokens of largest inner product with the next token are optimal. For embeddings of norm 1
    this is the next token itself if it occurs in the sub-sequence; it is tied if it occurs twice.

    Raises:
        DataError: the sentences do not have at least two tokens of this language.
    """
    chosen = _sentences(language, sentences, 2)
    m, n = chosen.shape
    tokens = np.repeat(chosen[:, None, :-1], n - 1, axis=1).reshape(-1, n - 1)
    mask = np.tile(np.tri(n - 1, dtype=np.bool_), (m, 1))
    E = language.embeddings
    scores = (E @ E.T)[next_tokens(chosen)[:, None], tokens]
    X = np.where(mask[..., None], E[tokens], 0.0)
    queries = E[chosen[:, :-1].reshape(-1)]
    return AttentionData(X, queries, scores=np.where(mask, scores, 0.0), mask=mask)


def vocabulary_data(language: Language, sentences: Int[Array, "m n"]) -> AttentionData:
    """Return the p problems as inputs of V tokens, the whole vocabulary.

    For embeddings of norm 1 the next token is optimal.

    Raises:
        DataError: the sentences do not have at least two tokens of this language.
    """
    chosen = _sentences(language, sentences, 2)
    E = language.embeddings
    p = chosen.shape[0] * (chosen.shape[1] - 1)
    X = np.broadcast_to(E, (p, *E.shape))
    return AttentionData(X, E[chosen[:, :-1].reshape(-1)], scores=(E @ E.T)[next_tokens(chosen)])


def _generator(value: object) -> np.random.Generator:
    if not isinstance(value, np.random.Generator):
        raise DataError(
            "random numbers must come from a numpy generator",
            value=value,
            remedy="Give numpy.random.default_rng(seed).",
        )
    return value


def _array(value: object) -> Array:
    """Return the value as an array.

    Rows of different lengths give an empty array, which every later check of a shape refuses.
    """
    try:
        return np.asarray(value)
    except ValueError:
        return np.empty(0)


def _weights(name: str, value: object, shape: tuple[int, ...]) -> Array:
    array = _array(value)
    if array.dtype.kind not in "iu" or array.shape != shape:
        raise DataError(
            f"{name} must be integers of shape {shape}, as many as there are embeddings",
            value=f"shape {array.shape}, dtype {array.dtype}",
            remedy="Give weights; probabilities are their shares of a row.",
        )
    if (array < 0).any() or (array > 2**32).any():
        raise DataError(
            f"{name} has a weight that is negative or above 2^32",
            value=int(array.min() if (array < 0).any() else array.max()),
            remedy="Only shares of a row matter: divide by a common factor.",
        )
    array = array.astype(np.int64)
    empty = np.flatnonzero(array.reshape(-1, shape[-1]).sum(axis=1) == 0)
    if empty.size:
        raise DataError(
            f"{name} has a row of zeros, so nothing can follow",
            value=int(empty[0]),
            remedy="Give every row a positive weight.",
        )
    return array


def _rows(value: object, least: int) -> Array:
    array = _array(value)
    if array.dtype.kind not in "iu" or array.ndim != 2 or not len(array) or array.shape[1] < least:
        raise DataError(
            f"sentences are rows of at least {least} integers, all of one length",
            value=f"shape {array.shape}, dtype {array.dtype}",
            remedy="Draw them with Language.sample.",
        )
    return array


def _sentences(language: Language, value: object, least: int) -> Array:
    array = _rows(value, least)
    if array.min() < 0 or array.max() >= language.size:
        raise DataError(
            f"a token of this language is one of 0..{language.size - 1}",
            value=int(array.min() if array.min() < 0 else array.max()),
            remedy="Count the tokens from 0.",
        )
    return array.astype(np.int64)
