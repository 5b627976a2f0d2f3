"""The arrays of attention heads: tokens, queries and W, made in float64 when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Self

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm.attention import softmax
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.svm.contradictions import row_ids

_LARGEST = 1 << 31
"""Maximum size in bytes of the tokens of `HeadArrays.data`, which has a copy for each query."""


class Source(Protocol):
    """The arrays of a head, sequence by sequence, in float64."""

    @property
    def weights(self) -> Array | None:
        """W (d, e), the same for all sequences; None if no single W gives the logits."""

    def tokens(self, sequence: int) -> Array:
        """Return the tokens X (S, d) of a sequence."""

    def queries(self, sequence: int) -> Array:
        """Return the queries Z (L, e) of a sequence."""

    def values(self, sequence: int) -> Array:
        """Return the averaged vectors (S, v) of a sequence, one per token."""

    def logits(self, sequence: int, *, exact: bool = False) -> Array:
        """Return the logits (L, S) that attention got; entries of masked tokens are ignored.

        If `exact`, they are computed from tokens and W in float64, as far as W is known.
        """

    def mask(self, sequence: int) -> Array | Literal["causal"]:
        """Return the tokens (L, S) that each query sees."""

    def at(self, distance: int) -> Source | None:
        """Return the source with the W of a distance; None if W does not depend on it."""

    def factors(self, sequence: int) -> tuple[Array, Array, float] | None:
        """Return queries (L, e), keys (S, e) and the scale of their products in the logits.

        Return None if other numbers are added to the logits.
        """


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeadArrays:
    """A head that attends to the tokens of one or several sequences.

    Only references are kept. Each access makes an array anew in float64, so read it once. All
    sequences together have S tokens and L queries: tokens and queries of several sequences are
    stacked, and the mask hides tokens of other sequences. The logits are x^T W z. A bias of the
    query projection gives queries a last coordinate 1, so that e = d + 1; a bias of the keys
    cancels in the softmax.

    Attributes:
        name: the module and the index of the head, such as `transformer.h.3.attn, head 7`.
        source: the arrays, sequence by sequence.
        positions: the positions of the queries, for each sequence; every query sees a token.
        sequences: the index in `source` of each sequence.
        notes: sentences about the tokens that are used, and about anything that W does not explain.
    """

    name: str
    source: Source
    positions: tuple[Int[Array, " _"], ...]
    sequences: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def sequence(self, index: int) -> Self:
        """Return the head on one sequence alone."""
        one = slice(index, index + 1) if index >= 0 else slice(index, index + 1 or None)
        return replace(self, positions=self.positions[one], sequences=self.sequences[one])

    @property
    def weights(self) -> Float[Array, "d e"] | None:
        """W; None if no single W gives the logits, as with rotary positions."""
        return self.source.weights

    @property
    def tokens(self) -> Float[Array, "S d"]:
        """X: tokens."""
        return np.concatenate([self.source.tokens(b) for b in self.sequences])

    @property
    def queries(self) -> Float[Array, "L e"]:
        """Z: queries, in the order of sequences and positions."""
        pairs = zip(self.sequences, self.positions, strict=True)
        return np.concatenate([self.source.queries(b)[rows] for b, rows in pairs])

    @property
    def values(self) -> Float[Array, "S v"]:
        """The averaged vectors, one per token."""
        return np.concatenate([self.source.values(b) for b in self.sequences])

    @property
    def mask(self) -> Bool[Array, "L S"] | Literal["causal"]:
        """The tokens that each query sees, or "causal" if query i sees the tokens 0 to i."""
        if len(self.sequences) == 1:
            mask = self.source.mask(self.sequences[0])
            if isinstance(mask, str) and np.array_equal(self.positions[0], np.arange(self.width)):
                return "causal"
        return self.seen

    @property
    def seen(self) -> Bool[Array, "L S"]:
        """The mask as truth values."""
        pairs = zip(self.sequences, self.positions, strict=True)
        return _blocks([_seen(self.source.mask(b), rows, self.width) for b, rows in pairs], False)

    @property
    def logits(self) -> Float[Array, "L S"]:
        """The logits that attention got: minus infinity if the mask hides the token."""
        return logits_of(self)

    @property
    def attention(self) -> Float[Array, "L S"]:
        """The attention weights: the softmax of the logits."""
        return softmax(self.logits)

    @property
    def selected(self) -> Int[Array, " L"]:
        """The token of largest logit of each query; the first one on a tie."""
        index: Array = self.logits.argmax(axis=1).astype(np.int64)
        return index

    @property
    def entropy(self) -> Float[Array, " L"]:
        """Entropy of the attention of each query, in nats: 0 if one token has all the weight."""
        return entropies(self.attention)

    @property
    def width(self) -> int:
        """The number of tokens of a sequence."""
        return len(self.source.tokens(self.sequences[0]))

    @property
    def count(self) -> int:
        """The number of queries of all sequences."""
        return sum(map(len, self.positions))

    @property
    def owners(self) -> Int[Array, " L"]:
        """The index of the sequence of each query."""
        owners: Array = np.repeat(np.arange(len(self.sequences)), [*map(len, self.positions)])
        return owners

    @property
    def targets(self) -> Int[Array, " L"]:
        """The index of the selected token of each query within its own sequence, as in `data`."""
        targets: Array = self.selected - self.owners * self.width
        return targets

    def own(self, table: Array) -> Array:
        """Return the entries (L, T) of a table (L, S) that belong to each query's own sequence."""
        T = self.width
        entries: Array = np.take_along_axis(table, T * self.owners[:, None] + np.arange(T), axis=1)
        return entries

    @property
    def data(self) -> AttentionData:
        """The queries as a data set with the attention as scores: selected tokens are optimal.

        The tokens of a single sequence are kept once: all queries view the same array. Queries of
        several sequences get copies, as one axis of an array cannot step both between sequences and
        within them; `sequence(i).data` has no copies, and `compare` makes none. Copies of a
        selected token, which no W can distinguish from it, are masked. If d and e differ, the
        shorter of tokens and queries are padded with zeros.

        Raises:
            DataError: the copies take more than 2 GiB.
        """
        X, Z = squared(self.tokens, self.queries)
        n, d = Z.shape
        several = len(self.sequences) > 1
        if several and 8 * n * self.width * d > _LARGEST:
            raise DataError(
                f"{self.name} is too large for a data set, which has all tokens for each query",
                value=f"{n} queries, {self.width} tokens, dimension {d}",
                remedy="Choose queries or one sequence, or use compare.",
            )
        ids = row_ids(X + 0.0).reshape(-1, self.width)[self.owners]
        X = X.reshape(len(self.sequences), self.width, d)
        X = X[self.owners] if several else np.broadcast_to(X, (n, *X.shape[1:]))
        rows, targets = np.arange(n), self.targets
        copies = ids[rows, targets][:, None] == ids
        copies[rows, targets] = False
        mask = self.own(self.seen) & ~copies
        return AttentionData(X, Z, scores=self.own(self.attention), mask=mask)


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """A source of a head that is given by its arrays.

    Attributes:
        X: tokens of each sequence.
        Z: queries of each sequence.
        W: the logits are x^T W z.
        V: averaged vectors, one per token.
        seen: the tokens that each query sees.
    """

    X: Float[Array, "B S d"]
    Z: Float[Array, "B L e"]
    W: Float[Array, "d e"]
    V: Float[Array, "B S v"]
    seen: Bool[Array, "B L S"]

    @property
    def weights(self) -> Array:
        """W."""
        return self.W

    def tokens(self, sequence: int) -> Array:
        """Return the tokens of a sequence."""
        tokens: Array = self.X[sequence]
        return tokens

    def queries(self, sequence: int) -> Array:
        """Return the queries of a sequence."""
        queries: Array = self.Z[sequence]
        return queries

    def values(self, sequence: int) -> Array:
        """Return the averaged vectors of a sequence."""
        values: Array = self.V[sequence]
        return values

    def logits(self, sequence: int, *, exact: bool = False) -> Array:
        """Return the logits of a sequence."""
        logits: Array = self.Z[sequence] @ self.W.T @ self.X[sequence].T
        return logits

    def mask(self, sequence: int) -> Array:
        """Return the tokens that each query sees."""
        mask: Array = self.seen[sequence]
        return mask

    def at(self, distance: int) -> None:
        """Return None, as W is the same for all distances."""

    def factors(self, sequence: int) -> tuple[Array, Array, float]:
        """Return queries, keys and the factor of their products in the logits."""
        return self.Z[sequence] @ self.W.T, self.X[sequence], 1.0


def logits_of(head: HeadArrays, *, exact: bool = False) -> Float[Array, "L S"]:
    """Return the logits that attention got, or those of W in float64."""
    pairs = zip(head.sequences, head.positions, strict=True)
    logits = _blocks([head.source.logits(b, exact=exact)[rows] for b, rows in pairs], -np.inf)
    logits[~head.seen] = -np.inf
    return logits


def entropies(weights: Float[Array, "L S"]) -> Float[Array, " L"]:
    """Return the entropy of each row of weights, in nats."""
    logs = np.log(np.where(weights > 0.0, weights, 1.0))
    nats: Array = -(weights * logs).sum(axis=1)
    return np.maximum(nats, 0.0)


def _seen(mask: Array | Literal["causal"], rows: Array, width: int) -> Array:
    """Return the rows of a mask as truth values."""
    seen: Array = rows[:, None] >= np.arange(width) if isinstance(mask, str) else mask[rows]
    return seen


def squared(X: Array, Z: Array) -> tuple[Array, Array]:
    """Return tokens and queries of one dimension, the shorter ones padded with zeros."""
    d = max(X.shape[1], Z.shape[1])
    X, Z = (np.pad(a, ((0, 0), (0, d - a.shape[1]))) for a in (X, Z))
    return X, Z


def padded(W: Array, d: int) -> Array:
    """Return W padded with zeros to (d, d), for tokens and queries as `squared` gives them."""
    result: Array = np.pad(W, [(0, d - size) for size in W.shape])
    return result


def _blocks(parts: Sequence[Array], other: float) -> Array:
    """Return a table with these blocks on its diagonal and one value everywhere else."""
    rows, width = sum(map(len, parts)), parts[0].shape[1]
    table = np.full((rows, width * len(parts)), other, dtype=parts[0].dtype)
    start = 0
    for b, part in enumerate(parts):
        table[start : start + len(part), b * width : (b + 1) * width] = part
        start += len(part)
    return table
