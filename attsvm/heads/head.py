"""Attention heads, which can be compared with their Att-SVM, and written to files."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attsvm._files import write_whole
from attsvm._types import Array, Int
from attsvm._words import counted
from attsvm.errors import DataError, UsageError
from attsvm.heads.arrays import Arrays, HeadArrays, logits_of, padded
from attsvm.heads.comparison import SECONDS, Comparison, Watcher, compare
from attsvm.svm.frobenius import FrobeniusAnswer
from attsvm.svm.nuclear import NuclearAnswer


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Head(HeadArrays):
    """A head that attends to the tokens of one or several sequences; see `HeadArrays`."""

    def compare(
        self,
        norm: Literal["fro", "nuc"] = "fro",
        answer: FrobeniusAnswer | NuclearAnswer | None = None,
        *,
        seconds: float | None = SECONDS,
        queries: Literal["all", "selecting"] | Int[Array, " k"] = "all",
        baseline: bool = True,
        watch: Watcher | None = None,
    ) -> Comparison:
        """Compare W with the Att-SVM that selects the same tokens; see `compare`."""
        return compare(
            self, norm, answer, seconds=seconds, queries=queries, baseline=baseline, watch=watch
        )

    def at_distance(self, distance: int) -> Head:
        """Return this head, which has rotary positions, with the W of one distance.

        This W gives the logits of tokens that lie `distance` places before their query. Logits,
        attention and selected tokens do not change.

        Raises:
            UsageError: no query has a token at this distance.
            DataError: W does not depend on the distance, as far as numbers show.
        """
        if distance not in range(self.width):
            raise UsageError(f"distances are 0 to {self.width - 1}", value=distance)
        source = self.source.at(distance)
        if source is None:
            raise DataError(
                f"{self.name} has no W that depends on the distance alone",
                remedy="Heads with rotary positions have one; capture others with tokens='keys'.",
            )
        places = counted(distance, "place")
        note = f"W is that of tokens {places} before their query, and compared for all"
        others = (note if "rotary" in text else text for text in self.notes)
        return replace(self, source=source, notes=tuple(others))

    @property
    def rounded(self) -> int:
        """The number of queries that select another token than W does in float64.

        Half precision moves nearly tied selections; see `notes` for the precision of a head. It is
        0 if no single W is known.
        """
        exact = logits_of(self, exact=True).argmax(axis=1)
        return int((exact != self.selected).sum())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an `.npz` file for `attsvm solve` and `read_head`; it has tokens as `data`.

        Raises:
            FileError: the place cannot be written.
            DataError: as `data`, or the head has no single W.
        """
        data = self.data
        if self.weights is None:
            raise DataError(f"{self.name} has no single W", remedy="Capture it with tokens='keys'.")
        values = self.values.reshape(len(self.sequences), self.width, -1)[self.owners]
        arrays = {
            "X": data.X,
            "Z": data.Z,
            "W": padded(self.weights, data.d),
            "values": values,
            "mask": self.own(self.seen),
        }
        # numpy 2.0 would take allow_pickle for the name of an array
        write_whole(path, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        d = self.source.tokens(self.sequences[0]).shape[1]
        lines = [
            f"{self.name}: {counted(self.count, 'query').replace('querys', 'queries')}, up to "
            f"{counted(self.width, 'token')} in dimension {d}, "
            f"mean entropy {self.entropy.mean():.4g}",
            *self.notes,
        ]
        return "<" + "; ".join(lines) + ">"


def head_of_arrays(name: str, arrays: Arrays, notes: tuple[str, ...] = ()) -> Head:
    """Return a head on all queries that see a token.

    Raises:
        DataError: no query sees a token.
    """
    positions = tuple(np.flatnonzero(seen.any(axis=1)) for seen in arrays.seen)
    if not any(map(len, positions)):
        raise DataError(f"no query of {name} sees a token", remedy="Look at its masks.")
    return Head(name, arrays, positions, tuple(range(len(positions))), notes)
