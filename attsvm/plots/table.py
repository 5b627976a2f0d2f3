"""Tables with named columns of one length, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from attsvm._types import Array, Float, Shaped
from attsvm.errors import DataError

Cell = int | float | str | None
"""An entry in JSON; None if a number is not finite."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Columns of integers, floats or words, all of one length.

    Raises:
        DataError: columns have different lengths, unsupported types, or several axes.
    """

    columns: Mapping[str, Array]

    def __post_init__(self) -> None:
        arrays = {name: np.asarray(column) for name, column in self.columns.items()}
        for name, array in arrays.items():
            if array.ndim != 1 or array.dtype.kind not in "iufU":
                raise DataError(
                    f"column {name} is not one row of numbers or words",
                    value=f"shape {array.shape}, dtype {array.dtype}",
                )
        if len({len(array) for array in arrays.values()}) > 1:
            raise DataError(
                "columns differ in length", value={name: len(a) for name, a in arrays.items()}
            )
        object.__setattr__(self, "columns", MappingProxyType(arrays))

    @classmethod
    def of(cls, **columns: object) -> Table:
        """Return a table of arrays, each broadcast to the common shape and flattened row by row."""
        names, arrays = list(columns), np.broadcast_arrays(*columns.values())  # type: ignore[arg-type]
        return cls({name: a.ravel() for name, a in zip(names, arrays, strict=True)})

    @classmethod
    def join(cls, parts: Sequence[Table]) -> Table:
        """Return one table with the rows of all tables, which must have the same columns."""
        names = list(parts[0].columns)
        return cls({name: np.concatenate([part[name] for part in parts]) for name in names})

    def __getitem__(self, name: str) -> Shaped[Array, " rows"]:
        """Return a column."""
        return self.columns[name]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def where(self, **values: Cell) -> Table:
        """Return the rows whose named columns have these values."""
        kept = np.ones(len(self), dtype=np.bool_)
        for name, value in values.items():
            kept &= self[name] == value
        return Table({name: column[kept] for name, column in self.columns.items()})

    def distinct(self, name: str) -> list[Cell]:
        """Return the values of a column, each once, in the order of their first rows."""
        return list(dict.fromkeys(self.json()[name]))

    def stack(self, name: str, *columns: str) -> list[Float[Array, "B k"]]:
        """Return columns of numbers with one row for each value of `name`.

        NaN fills shorter rows.
        """
        parts = [self.where(**{name: value}) for value in self.distinct(name)]
        shape = len(parts), max(map(len, parts), default=0)
        stacked = [np.full(shape, np.nan) for _ in columns]
        for array, column in zip(stacked, columns, strict=True):
            for b, part in enumerate(parts):
                array[b, : len(part)] = part[column]
        return stacked

    def json(self) -> dict[str, list[Cell]]:
        """Return columns by name; null if a number is not finite."""
        return {name: _cells(a) for name, a in self.columns.items()}

    def csv(self) -> str:
        """Return a header and the rows.

        Floats have all their digits, entries that are not finite none.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = self.json()
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()


def _cells(column: Array) -> list[Cell]:
    values: list[Cell] = column.tolist()
    if column.dtype.kind != "f" or np.isfinite(column).all():
        return values
    return [x if math.isfinite(x) else None for x in column.tolist()]
