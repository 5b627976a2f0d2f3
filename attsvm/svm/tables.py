"""Constraints (x_target - x_t)^T W z_i >= 1 of tokens that queries share, without a list of rows.

Multipliers form one table with a row for each query and a column for each token. With Omega = -w,
and the row sums of w added at the targets, sum_it w_it (x_target - x_t) z_i^T is X^T Omega^T Z.
Margins are differences within the rows of Z W^T X^T. A product therefore needs two matrix products,
and nothing of size n T d is formed.

A table is kept in one flat vector, as blocks of consecutive queries with the range of tokens that
they see. A causal mask halves it. A query has a row for the tokens of its own sequence alone. Short
sequences that follow each other, such as inputs with one query each, are one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from attsvm._types import Array, Bool, Float, Int
from attsvm.svm.support import Rows

FEWEST = 16
"""Minimum number of queries in a block that is divided."""

SAVING = 0.9
"""Blocks are divided if the halves have at most this share of the entries."""


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive queries of a sequence, or all queries of consecutive sequences.

    Attributes:
        sequences: the sequences, which have equally many of the queries.
        queries: the queries.
        tokens: the range of tokens that they see.
        flat: their place in a flat vector.
    """

    sequences: slice
    queries: slice
    tokens: slice
    flat: slice

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of sequences, of queries of a sequence, and of tokens."""
        count, queries, tokens = (
            s.stop - s.start for s in (self.sequences, self.queries, self.tokens)
        )
        return count, queries // count, tokens


def divided(rivals: Bool[Array, "n T"], owners: Int[Array, " n"]) -> tuple[Block, ...]:
    """Return blocks that contain all true entries of the table.

    Args:
        rivals: the table.
        owners: the sequence of each query.
    """
    some = rivals.any(axis=1)
    first = np.where(some, rivals.argmax(axis=1), rivals.shape[1])
    last = np.where(some, rivals.shape[1] - rivals[:, ::-1].argmax(axis=1), 0)

    def area(start: int, stop: int) -> int:
        width = int(last[start:stop].max() - first[start:stop].min())
        return (stop - start) * max(width, 0)

    def parts(start: int, stop: int) -> Iterator[tuple[int, int]]:
        middle = (start + stop) // 2
        if stop - start >= 2 * FEWEST:
            halves = area(start, middle) + area(middle, stop)
            if halves <= SAVING * area(start, stop):
                yield from parts(start, middle)
                yield from parts(middle, stop)
                return
        yield start, stop

    blocks, offset = [], 0
    for sequences, own in _runs(owners):
        several = sequences.stop - sequences.start > 1
        for start, stop in [(own.start, own.stop)] if several else parts(own.start, own.stop):
            size = area(start, stop)
            if size:
                tokens = slice(int(first[start:stop].min()), int(last[start:stop].max()))
                place = slice(offset, offset + size)
                blocks.append(Block(sequences, slice(start, stop), tokens, place))
                offset += size
    return tuple(blocks)


def _runs(owners: Int[Array, " n"]) -> list[tuple[slice, slice]]:
    """Return sequences and their consecutive queries; short ones of equal length are together."""
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    stops = np.append(starts[1:], len(owners))
    runs: list[tuple[slice, slice]] = []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        sequence, count = int(owners[start]), stop - start
        if runs and count < 2 * FEWEST:
            of, before = runs[-1]
            each, rest = divmod(before.stop - before.start, of.stop - of.start)
            if of.stop == sequence and (each, rest) == (count, 0):
                runs[-1] = slice(of.start, sequence + 1), slice(before.start, stop)
                continue
        runs.append((slice(sequence, sequence + 1), slice(start, stop)))
    return runs


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Left factors scale_it (x_target - x_t) of tokens that queries share.

    Attributes:
        X: tokens of each sequence.
        owners: the sequence of each query.
        kept: the target of each query.
        scale: factors in a flat vector; 0 for entries of the blocks that are no constraint.
        blocks: the places of the entries.
    """

    X: Float[Array, "B T d"]
    owners: Int[Array, " n"]
    kept: Float[Array, "n d"]
    scale: Float[Array, " m"]
    blocks: tuple[Block, ...]

    @classmethod
    def of(
        cls, X: Array, owners: Array, targets: Array, rivals: Array, scale: Array | None = None
    ) -> Tables:
        """Return the tables of constraints, with factors from a table or 1."""
        blocks = divided(rivals, owners)
        made = cls(X, owners, X[owners, targets], np.empty(0), blocks)
        factors = rivals.astype(np.float64) if scale is None else np.where(rivals, scale, 0.0)
        return replace(made, scale=made.flat(factors))

    def __len__(self) -> int:
        """Return the number of entries, including those that are no constraint."""
        return len(self.scale)

    def sums(self, w: Float[Array, " m"]) -> Float[Array, "n d"]:
        """Return sum_t w_it scale_it (x_target - x_t) for each query."""
        sums = np.zeros(self.kept.shape)
        for block in self.blocks:
            part = (w[block.flat] * self.scale[block.flat]).reshape(block.shape)
            own = sums[block.queries]
            np.multiply(part.sum(axis=2).reshape(-1, 1), self.kept[block.queries], out=own)
            own -= (part @ self.X[block.sequences, block.tokens]).reshape(own.shape)
        return sums

    def pair(self, V: Float[Array, "n d"]) -> Float[Array, " m"]:
        """Return scale_it (x_target - x_t)^T v_i for the vector v_i of each query."""
        products = np.empty(len(self.scale))
        for block in self.blocks:
            rows, out = V[block.queries], products[block.flat].reshape(block.shape)
            own = np.einsum("nd,nd->n", rows, self.kept[block.queries])
            tokens = self.X[block.sequences, block.tokens].transpose(0, 2, 1)
            np.matmul(rows.reshape(*block.shape[:2], -1), tokens, out=out)
            np.subtract(own.reshape(*block.shape[:2], 1), out, out=out)
        products *= self.scale
        return products

    def places(self, entries: Int[Array, " s"]) -> tuple[Int[Array, " s"], Int[Array, " s"]]:
        """Return the query and the token of entries of a flat vector."""
        starts = np.array([block.flat.start for block in self.blocks], dtype=np.int64)
        queries = np.array([block.queries.start for block in self.blocks], dtype=np.int64)
        tokens = np.array([block.tokens.start for block in self.blocks], dtype=np.int64)
        widths = np.array([block.shape[2] for block in self.blocks], dtype=np.int64)
        own = np.searchsorted(starts, entries, side="right") - 1
        row, column = np.divmod(entries - starts[own], widths[own])
        return queries[own] + row, tokens[own] + column

    def restricted(self, rows: Int[Array, " s"]) -> Rows:
        """Return some entries, given in rising order, as explicit rows."""
        queries, tokens = self.places(rows)
        D = (self.kept[queries] - self.X[self.owners[queries], tokens]) * self.scale[rows][:, None]
        return Rows(D, np.searchsorted(queries, np.arange(len(self.kept) + 1)))

    def ascend(
        self, V: Array, c: Array, equal: Array, u: Array, y: Array,
        rate: float, momentum: float, sums: Array,
    ) -> float:  # fmt: skip
        """Take a projected gradient step as `attsvm.kernels.ascent.ascend` does."""
        value = self.pair(V)
        np.subtract(c, value, out=value)
        value *= rate
        value += y
        np.maximum(value, 0.0, out=value, where=~equal)
        y -= value
        np.subtract(value, u, out=u)
        downwards = float(y @ u)
        u *= momentum
        np.add(value, u, out=y)
        u[:] = value
        sums[:] = self.sums(y)
        return downwards

    def flat(self, table: Array) -> Array:
        """Return the entries of a table (n, T) in the order of the flat vectors."""
        parts = [table[block.queries, block.tokens].ravel() for block in self.blocks]
        return np.concatenate(parts) if parts else np.empty(0, dtype=table.dtype)

    def table(self, values: Float[Array, " m"], fill: float) -> Float[Array, "n T"]:
        """Return a table (n, T) of a flat vector, with `fill` elsewhere."""
        table = np.full((len(self.kept), self.X.shape[1]), fill)
        for block in self.blocks:
            own = np.where(self.scale[block.flat] > 0.0, values[block.flat], fill)
            table[block.queries, block.tokens] = own.reshape(-1, block.shape[2])
        return table
