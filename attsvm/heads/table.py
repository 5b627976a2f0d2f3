"""A table of many heads: which of them select tokens, and which tokens they select."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import overload

import numpy as np

from attsvm._files import write_whole
from attsvm._types import Array, Float, Int, JsonObject
from attsvm._words import counted
from attsvm.errors import DataError
from attsvm.heads.comparison import SELECTING
from attsvm.heads.head import Head
from attsvm.svm.certified import finite


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one head, over its queries that see at least two tokens.

    Attributes:
        name: the head.
        queries: the number of these queries.
        weight: the mean weight of the selected token.
        entropy: the mean entropy, as a share of that of equal weights on the same tokens.
        selecting: the share of queries whose selected token has at least half of the weight.
        first: the share of selecting queries that select the first token of the sequence.
        itself: the share of selecting queries that select the token at their own position, unless
            it is the first one.
        another: the share of selecting queries that select neither of these.
        gap: the median difference of the two largest logits.
        rounded: the number of queries for which half precision selects another token than W does;
            not counted, and 0, in single and double precision.
        notes: sentences on tokens, masks and precision.
    """

    name: str
    queries: int
    weight: float
    entropy: float
    selecting: float
    first: float
    itself: float
    another: float
    gap: float
    rounded: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of heads, which print as a table.

    Attributes:
        rows: the figures of each head.
        notes: sentences on what is not in the table.
    """

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def noted(self) -> dict[tuple[str, ...], list[str]]:
        """The names of the heads that have the same notes, by these notes."""
        names: dict[tuple[str, ...], list[str]] = {}
        for row in self.rows:
            names.setdefault(row.notes, []).append(row.name)
        return names

    def json(self) -> JsonObject:
        """Return the rows as a document; shares of no query are null."""
        plain: JsonObject = finite(
            {
                "heads": [asdict(row) for row in self.rows],
                "notes": list(self.notes),
            }
        )
        return plain

    def __str__(self) -> str:
        lines = [*self.notes]
        lines += [
            f"{counted(len(names), 'head')}, such as {names[0]}: {'; '.join(texts)}"
            for texts, names in self.noted.items()
        ]
        width = max(len(row.name) for row in self.rows)
        words = ("queries", "weight", "entropy", "select", "first", "itself", "another", "gap")
        lines.append(f"{'':<{width}}" + "".join(f"{word:>9}" for word in words))
        for row in self.rows:
            shares = (row.weight, row.entropy, row.selecting, row.first, row.itself, row.another)
            cells = "".join("        -" if np.isnan(s) else f"{s:9.3f}" for s in shares)
            lines.append(f"{row.name:<{width}}{row.queries:>9}{cells}{row.gap:9.3g}")
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Heads(Sequence[Head]):
    """Captured heads; their arrays are made when they are asked for.

    Attributes:
        heads: the heads.
        notes: sentences on attentions that were left out.
    """

    heads: tuple[Head, ...]
    notes: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Head: ...
    @overload
    def __getitem__(self, index: slice) -> Heads: ...
    def __getitem__(self, index: int | slice) -> Head | Heads:
        """Return a head, or some of them."""
        if isinstance(index, slice):
            return Heads(self.heads[index], self.notes)
        return self.heads[index]

    def __len__(self) -> int:
        return len(self.heads)

    def table(self) -> Table:
        """Return the figures of all heads, which takes about a tenth of a second for each."""
        return Table(tuple(map(_row, self.heads)), self.notes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an `.npz` file of queries, keys, values and masks, for `read_heads`.

        Numbers are in single precision if it holds them exactly. All queries of the chosen
        sequences are written, and notes on precision, on masks and on attentions left out.

        Raises:
            FileError: the place cannot be written.
            DataError: numbers are added to the logits of a head.
        """
        arrays: dict[str, Array] = {}
        layers: dict[str, list[Head]] = {}
        for head in self.heads:
            layers.setdefault(head.name.rpartition(", head ")[0], []).append(head)
        for name, heads in layers.items():
            parts = _parts(heads) | {
                "notes": _written([n for n in heads[0].notes if n.startswith(_KEPT)]),
                "left_out": _written(self.notes),
            }
            arrays |= {f"{name}.{part}": array for part, array in parts.items() if array.size}
        # numpy 2.0 would take allow_pickle for the name of an array
        write_whole(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        first = self.heads[0]
        text = f"{counted(len(self), 'head')}, the first one {first.name}"
        return f"<{'; '.join([text, *first.notes[:1], *self.notes])}>"


_KEPT = ("computed in", "mask values")
"""Beginnings of notes on queries and keys alone, which hold for any tokens."""


def _written(texts: Sequence[str]) -> Array:
    """Return texts as the bytes of a list in JSON; none if there are no texts."""
    content = json.dumps(texts).encode() if texts else b""
    return np.frombuffer(content, np.uint8)


def _parts(heads: Sequence[Head]) -> dict[str, Array]:
    """Return the arrays of the heads of one layer, as arguments of `capture_qk`.

    Raises:
        DataError: numbers are added to the logits of a head.
    """
    tables: dict[str, list[list[Array]]] = {part: [] for part in ("q", "k", "v", "mask")}
    scale = 1.0
    for head in heads:
        rows: dict[str, list[Array]] = {part: [] for part in tables}
        for b in head.sequences:
            factors = head.source.factors(b)
            if factors is None:
                raise DataError(
                    f"numbers are added to the logits of {head.name}",
                    remedy="Such a head cannot be written to a file.",
                )
            q, k, scale = factors
            mask = head.source.mask(b)
            seen = np.tri(len(q), len(k), dtype=np.bool_) if isinstance(mask, str) else mask
            for part, array in zip(tables, (q, k, head.source.values(b), seen), strict=True):
                rows[part].append(array)
        for part, several in rows.items():
            tables[part].append(several)
    arrays = {part: np.stack([*map(np.stack, table)], axis=1) for part, table in tables.items()}
    if (arrays["mask"] == np.tri(*arrays["mask"].shape[2:], dtype=np.bool_)).all():
        del arrays["mask"]
        arrays["causal"] = np.array(True)
    elif (arrays["mask"] == arrays["mask"][:, :1]).all():
        arrays["mask"] = arrays["mask"][:, :1]
    for part, array in arrays.items():
        if array.dtype == np.float64 and (array.astype(np.float32) == array).all():
            arrays[part] = array.astype(np.float32)
    numbers = [int(head.name.rpartition(", head ")[2]) for head in heads]
    return arrays | {"scale": np.array(scale), "heads": np.array(numbers)}


def _row(head: Head) -> Row:
    """Return the figures of a head, computed for one sequence at a time."""
    parts = [_figures(head.sequence(i)) for i in range(len(head.sequences))]
    weight, entropy, gap, chosen, place = map(np.concatenate, zip(*parts, strict=True))
    selects = weight >= SELECTING
    is_first = selects & (chosen == 0)
    is_itself = selects & (chosen == place) & ~is_first

    def share(of: Array, among: Array) -> float:
        return float(of[among].mean()) if among.any() else float("nan")

    every = np.ones(len(weight), np.bool_)
    half = any(note.startswith("computed in") for note in head.notes)
    return Row(
        head.name,
        len(weight),
        share(weight, every),
        share(entropy, every),
        share(selects, every),
        share(is_first, selects),
        share(is_itself, selects),
        share(~is_first & ~is_itself, selects),
        float(np.median(gap)) if len(gap) else float("nan"),
        head.rounded if half else 0,
        head.notes,
    )


def _figures(
    head: Head,
) -> tuple[
    Float[Array, " n"], Float[Array, " n"], Float[Array, " n"], Int[Array, " n"], Int[Array, " n"]
]:
    """Return weights, relative entropies, gaps, selected tokens and positions, query by query."""
    logits = head.logits
    count = np.isfinite(logits).sum(axis=1)
    free = count > 1
    if not free.all():
        logits, count = logits[free], count[free]
    rows, chosen = np.arange(len(logits)), logits.argmax(axis=1)
    below = logits - logits[rows, chosen][:, None]
    odds = np.exp(below)
    total = odds.sum(axis=1)
    below[~np.isfinite(below)] = 0.0
    nats = np.log(total) - np.einsum("ij,ij->i", odds, below) / total
    top = logits[rows, chosen]
    logits[rows, chosen] = -np.inf
    gap = top - logits.max(axis=1, initial=-np.inf)
    return 1.0 / total, np.maximum(nats, 0.0) / np.log(count), gap, chosen, head.positions[0][free]
