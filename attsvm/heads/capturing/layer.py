"""The attention of one layer of a module, kept by reference, and its heads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch

from attsvm._types import Array
from attsvm._words import counted
from attsvm.heads.capturing.masks import Mask
from attsvm.heads.capturing.references import Kept, Part
from attsvm.heads.capturing.rotations import Planes, turned, turns_by
from attsvm.heads.head import Head

_CLOSE = {"float64": 1e-9, "float32": 1e-4, "float16": 0.03, "bfloat16": 0.2}
"""Maximum error of x^T W z as a share of the largest logit, by the type of the tensors."""

_SAMPLES = 8
"""Maximum number of queries and of tokens at which x^T W z is compared with the logits."""


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """The queries, keys, values and masks of one attention.

    Attributes:
        name: the module.
        sizes: the numbers of sequences and heads.
        queries, keys, values: the parts.
        scale: the factor of q^T k in the logits.
        mask: what queries see, and what is added to logits.
        inputs: whether tokens are the inputs of the layer; otherwise they are its keys.
        notes: sentences on all heads.
    """

    name: str
    sizes: tuple[int, int]
    queries: Part
    keys: Part
    values: Part
    scale: float
    mask: Mask
    inputs: bool
    notes: tuple[str, ...]

    @property
    def turned(self) -> bool:
        """Whether queries or keys only have the norms of their projections, as after rotation."""
        parts = (self.queries.projection, self.keys.projection)
        return any(part is not None and part.turned for part in parts)

    def kept(self) -> Iterator[Kept]:
        """Yield all tensors that the layer keeps."""
        for part in (self.queries, self.keys, self.values):
            made = part.projection
            tensors = (part.held, *((made.x, made.weight, made.bias) if made else ()))
            yield from (kept for kept in tensors if kept is not None)
        yield from (term.kept for term in self.mask.terms)


@dataclass(frozen=True, slots=True, eq=False)
class LayerHead:
    """The source of a head of a layer.

    Attributes:
        layer: the layer.
        head: the index of the head.
        turns: with rotary positions, the planes and turns of the distance whose W is asked for.
    """

    layer: Layer
    head: int
    turns: tuple[Planes, Array] | None = None

    @property
    def weights(self) -> Array | None:
        """W of the logits x^T W z; None if queries and keys are rotated after their projection."""
        layer, k = self.layer, self.head // self.layer.keys.group
        queries, keys = layer.queries.projection, layer.keys.projection
        if not layer.inputs or queries is None or keys is None:
            identity: Array = layer.scale * np.eye(layer.keys.array(0, self.head).shape[-1])
            return identity
        if layer.turned and self.turns is None:
            return None
        rows, shift = queries.rows(self.head), queries.shift(self.head)
        if shift is not None:
            rows = np.hstack([rows, shift[:, None]])
        if self.turns is not None:
            rows = turned(rows, *self.turns)
        weights: Array = layer.scale * (keys.rows(k).T @ rows)
        return weights

    def tokens(self, sequence: int) -> Array:
        """Return the inputs of the key projection, or the keys."""
        projection = self.layer.keys.projection
        if self.layer.inputs and projection is not None:
            return projection.inputs(sequence)
        return self.layer.keys.array(sequence, self.head)

    def queries(self, sequence: int) -> Array:
        """Return the inputs of the query projection, with a 1 for its bias, or the queries."""
        projection = self.layer.queries.projection
        if not self.layer.inputs or projection is None:
            return self.layer.queries.array(sequence, self.head)
        inputs = projection.inputs(sequence)
        if projection.bias is None or (self.layer.turned and self.turns is None):
            return inputs
        return np.hstack([inputs, np.ones((len(inputs), 1))])

    def at(self, distance: int) -> LayerHead | None:
        """Return the source with the W of a distance; None if W does not depend on it."""
        layer = self.layer
        if not (layer.inputs and layer.turned):
            return None
        turns = turns_by((layer.queries, layer.keys), distance)
        return None if turns is None else replace(self, turns=turns)

    def values(self, sequence: int) -> Array:
        """Return the values."""
        return self.layer.values.array(sequence, self.head)

    def logits(self, sequence: int, *, exact: bool = False) -> Array:
        """Return the products of queries and keys, scaled, with the numbers that are added."""
        layer = self.layer
        exact = exact and layer.inputs and not layer.turned
        queries, keys = (
            part.array(sequence, self.head, exact=exact) for part in (layer.queries, layer.keys)
        )
        logits: Array = (layer.scale * queries) @ keys.T
        added = layer.mask.added(sequence, self.head)
        return logits if added is None else logits + added

    def mask(self, sequence: int) -> Array | Literal["causal"]:
        """Return the tokens that each query sees."""
        mask = self.layer.mask
        if mask.causal and not mask.terms and mask.sizes[0] == mask.sizes[1]:
            return "causal"
        return mask.seen(sequence, self.head)

    def factors(self, sequence: int) -> tuple[Array, Array, float] | None:
        """Return queries, keys and the scale; None if numbers are added to the logits."""
        if self.layer.mask.added(sequence, self.head) is not None:
            return None
        parts = (self.layer.queries, self.layer.keys)
        queries, keys = (part.array(sequence, self.head) for part in parts)
        return queries, keys, self.layer.scale


def heads_of(
    layer: Layer, heads: Sequence[int] | None, sequences: Sequence[int], queries: Array
) -> Iterator[Head]:
    """Yield the heads of a layer that were asked for, on the queries that see a token.

    A head without such a query is left out.

    Args:
        layer: the layer.
        heads: the indices of the heads; None for all.
        sequences: the indices of the sequences.
        queries: the positions of the queries.
    """
    projection = layer.keys.projection if layer.inputs else None
    copied = None if projection is None else _copies([projection.inputs(b) for b in sequences])
    seeing: tuple[Array, ...] | None = None
    for h in range(layer.sizes[1]) if heads is None else heads:
        if seeing is None or not layer.mask.shared:
            seeing = tuple(queries[layer.mask.seen(b, h)[queries].any(axis=1)] for b in sequences)
        blind = len(queries) * len(sequences) - sum(map(len, seeing))
        source = LayerHead(layer, h)
        copies = copied if copied is not None else _copies([source.tokens(b) for b in sequences])
        notes = [*layer.notes, *copies]
        if blind:
            notes.append(f"{counted(blind, 'query').replace('querys', 'queries')} without a token")
        if blind < len(queries) * len(sequences):
            yield Head(f"{layer.name}, head {h}", source, seeing, tuple(sequences), tuple(notes))


def _copies(tokens: Sequence[Array]) -> tuple[str, ...]:
    """Return a sentence on tokens that are exact copies of an earlier one of their sequence."""
    count, first = 0, ""
    for b, X in enumerate(tokens):
        if len(np.unique(X[:, 0])) == len(X):
            continue
        places: dict[bytes, int] = {}
        for t, row in enumerate(X):
            same = places.setdefault((row + 0.0).tobytes(), t)
            if same != t:
                count += 1
                first = first or f"token {t} of sequence {b} is token {same}"
    return (f"{counted(count, 'exact copy').replace('copys', 'copies')}: {first}",) if count else ()


def is_explained(layer: Layer) -> bool:
    """Return whether the projections reproduce the logits of the attention up to rounding.

    Some queries and tokens of the first sequence are compared, for every head. With rotations, keys
    are compared with the query of the same position alone, for which rotations cancel.
    """
    parts = (layer.queries, layer.keys)
    if any(part.projection is None for part in parts):
        return False
    L, S = layer.mask.sizes
    if layer.queries.held is None or (layer.turned and L != S):
        return True
    kind = str(layer.queries.held.tensor.dtype).removeprefix("torch.")
    rows, columns = (torch.linspace(0, n - 1, min(n, _SAMPLES)).long() for n in layer.mask.sizes)
    (q, z), (k, x) = (part.samples(some) for part, some in zip(parts, (rows, columns), strict=True))
    got, made = q @ k.transpose(1, 2), z @ x.transpose(1, 2)
    if layer.turned:
        got, made = (table.diagonal(dim1=1, dim2=2) for table in (got, made))
    return bool((got - made).abs().max() <= _CLOSE[kind] * got.abs().max())
