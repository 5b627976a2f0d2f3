"""Suspects: rows of a batch that may violate a claim, and the selection of rows to judge.

Floats propose suspects. Bounds for rounding errors clear most suspects that do not violate the
claim. The judge receives the rows that the bounds prove to violate it, up to a maximum per batch,
and a few rows that the bounds leave undecided. All other suspects are counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Array
from attsvm.errors import ClaimError
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.judge import violates_at_once
from attsvm.theory.declaration.variables import Integer, Known, Raw
from attsvm.theory.search.scout import Spent, is_late

if TYPE_CHECKING:
    from attsvm.theory.declaration.formula import Formula
    from attsvm.theory.search.scout import Scout

_CONTRADICTED = 8
"""Maximum number of rows per batch judged because bounds prove a violation. The judge confirms each
of them, unless a hypothesis stays undecided."""

_SIEVED = 2**12
"""Maximum number of open rows of integers that are decided in rationals in a series of batches."""

_SPARED = 8
"""Minimum ratio of the budget of a turn to the number of open rows that the judge sees."""

_PROVED = 2**16
"""Maximum number of rows per batch for which rounding errors are bounded."""

_AT_ONCE = 2**13
"""Maximum number of rows bounded at once: arrays of bounds then fit into a processor's cache."""

_HELD = 2**15
"""Maximum number of suspects that are held before they are examined."""

PROMISING = 1.0 - 1e-9
"""Minimum height at which rounding may hide a violation."""

_VIOLATED = 1.0 + 1e-10
"""Minimum height at which floats see a violation, except for rounding within the sides."""

_SEEN, _NEAR = 8, 2
"""Maximum number of records of a series that are examined because floats see a violation, and
because rounding may hide one."""


class Doubts:
    """The suspects among the records of a series: some are examined, the others are counted."""

    def __init__(self, scout: Scout) -> None:
        self._seen = scout.tally.seen
        self._left = [_NEAR, _SEEN]

    def wants(self, height: float) -> bool:
        """Return whether to examine a record of this height as a suspect; count it if not."""
        if height < PROMISING:  # False for NaN, so that such a record is a suspect
            return False
        kind = int(height > _VIOLATED)
        self._left[kind] -= 1
        self._seen.unjudged += self._left[kind] < 0
        return self._left[kind] >= 0


class _Sieve:
    """A filter for suspected rows: bounds, or one exact evaluation, decide without the judge.

    Attributes:
        formula: the formula of the part.
        parameters: the constants of the conclusion.
        left: number of further undecided rows of integers that may be decided in rationals.
        bounded: whether rounding errors of the formula can be bounded, as far as was tried.
    """

    def __init__(self, formula: Formula, parameters: Mapping[str, object]) -> None:
        self.formula = formula
        self.parameters = parameters
        self.left = _SIEVED
        self.bounded = True
        self._known: set[bytes] = set()
        self._unbounded: dict[str, bool] = {}  # by shape: whether the conclusion has no bound

    def new(self, few: Known, wanted: Array) -> Array:
        """Return which wanted rows are valid instances; for integers, only rows not seen before."""
        arrays = [x.reshape(-1, len(wanted)) for x in few.values() if isinstance(x, np.ndarray)]
        if not arrays:  # all rows are equal
            return np.asarray(wanted & (np.arange(len(wanted)) == 0))
        finite = np.all([np.isfinite(x).all(axis=0) for x in arrays], axis=0)
        wanted = wanted & finite
        if self.formula.stepped:
            rows = np.flatnonzero(wanted).tolist()
            for k, key in zip(rows, _keys(few, rows), strict=True):
                wanted[k] = key not in self._known
                self._known.add(key)
        return wanted

    def proved(self, few: Known, shape: Mapping[str, int], count: int) -> tuple[Array, Array]:
        """Return which rows provably violate the claim, and which are undecided.

        All rows are undecided if the conclusion calls functions that accept only floats.
        """
        # balls are faster for a single row
        if not any(isinstance(x, np.ndarray) for x in few.values()):
            return np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
        alike = [x for x in few.items() if not isinstance(x[1], np.ndarray)]
        parts, form = [], repr((sorted(shape.items()), alike))
        try:
            if form not in self._unbounded:
                lacks = batches.lacks_bounds(self.formula, few, shape, self.parameters)
                self._unbounded[form] = lacks
            for start in range(0, count, _AT_ONCE):
                some = fetched(few, np.arange(start, min(start + _AT_ONCE, count)))
                size = min(_AT_ONCE, count - start)
                parts.append(
                    batches.proved(
                        self.formula,
                        some,
                        shape,
                        size,
                        self.parameters,
                        unbounded=self._unbounded[form],
                    )
                )
        except (TypeError, LookupError, AttributeError, ClaimError):
            self.bounded = False
            return np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
        violate, open_ = zip(*parts, strict=True)
        return np.concatenate(violate), np.concatenate(open_)

    def at_once(self, few: Known, k: int) -> bool | None:
        """Return whether a row of integers violates the claim, by one exact evaluation.

        None if undecided. If all rows share an integer, the formula may count with it, so balls are
        used.
        """
        several = any(isinstance(x, np.ndarray) for x in few.values())
        if not self.formula.stepped or (several and self.left == 0):
            return None
        self.left -= several
        case, parameters = (
            batches.instance_at(self.formula, few, k),
            self.parameters,
        )
        counts = any(
            isinstance(variable, Integer) and not isinstance(few.get(name), np.ndarray)
            for name, variable in self.formula.variables.items()
        )
        try:
            return violates_at_once(self.formula, parameters, case, counts=counts)
        except Exception:  # the judge will meet the same error and report it
            return None


class Suspects:
    """The suspected rows of a series of batches of one formula.

    Attributes:
        scout: the searcher's access to the check.
        formula: the formula of the part.
        looks: number of further undecided rows that the judge may see.
    """

    def __init__(self, scout: Scout, formula: Formula, looks: int) -> None:
        self.scout = scout
        self.formula = formula
        # such looks rarely refute: keep most of a small budget for close instances
        self.looks = min(looks, scout.budget // _SPARED)
        self._sieve = _Sieve(formula, scout.tally.part.parameters)
        self._judged: set[bytes] = set()
        self._held: list[tuple[Raw, Array]] = []
        self._mistaken = False  # whether the judge found that a violation in floats was none

    @property
    def bounded(self) -> bool:
        """Whether rounding errors of the formula can be bounded, as far as was tried."""
        return self._sieve.bounded

    def was_judged(self, few: Known, lane: int) -> bool:
        """Return whether the judge saw an equal row of this series as a suspect."""
        return _keys(few, [lane])[0] in self._judged

    @contextlib.contextmanager
    def series(self, shape: Mapping[str, int]) -> Iterator[None]:
        """Examine rows that are still held at the end, also if the budget or the time is spent.

        If anything else ends the series, they are counted as not judged.
        """
        try:
            try:
                yield
            except Spent:
                self.settle(shape)
                raise
            self.settle(shape)
        finally:
            self.scout.tally.seen.unjudged += self._waiting

    @property
    def _waiting(self) -> int:
        """The number of held rows."""
        return sum(len(height) for _, height in self._held)

    def hold(self, fitted: Known, shape: Mapping[str, int], suspect: Array, height: Array) -> None:
        """Keep suspected rows until they are examined together with later ones, which is quicker.

        They are examined now if many wait, or if floats see a violation beyond rounding in one.
        After such a violation turned out to be none, the later ones wait like other rows.
        The arguments are those of `examine`; all batches have one shape.
        """
        lanes = np.flatnonzero(suspect)
        if len(lanes):
            self._held.append((fetched(fitted, lanes), height[lanes]))
            urgent = not self._mistaken and bool((height[lanes] > _VIOLATED).any())
            if urgent or self._waiting > _HELD:
                self.settle(shape)
                self._mistaken = self._mistaken or urgent

    def settle(self, shape: Mapping[str, int]) -> None:
        """Examine all held rows."""
        if not self._held:
            return
        parts, heights = zip(*self._held, strict=True)
        self._held = []
        rows = {
            name: np.concatenate([part[name] for part in parts], axis=-1)
            if isinstance(value, np.ndarray)
            else value
            for name, value in parts[0].items()
        }
        height = np.concatenate(heights)
        self.examine(rows, shape, np.ones(len(height), dtype=bool), height)

    def examine(
        self, fitted: Known, shape: Mapping[str, int], suspect: Array, height: Array
    ) -> set[int]:
        """Send suspected rows of a fitted batch to the judge, and return the rows it judged.

        A row with a proved violation is judged even if budget or time is spent.

        Args:
            fitted: values (..., batch) by name, or one value for all rows.
            shape: the length of each axis.
            suspect: for each row, whether it is suspected.
            height: for each row, how close it comes to a violation.

        Raises:
            Stop: the turn is over: a counterexample was found, or budget or time is spent.
        """
        lanes = np.flatnonzero(suspect)
        if not len(lanes):
            return set()
        left_out = max(len(lanes) - _PROVED, 0)
        # the highest ones are bounded first; NaN comes last
        high = np.nan_to_num(height[lanes], nan=-np.inf)
        lanes = lanes[np.argsort(-high, kind="stable")[:_PROVED]]
        few = fetched(fitted, lanes)
        violate, open_ = self._sieve.proved(few, shape, len(lanes))
        new = self._sieve.new(few, violate | open_)
        violate, open_ = violate & new, open_ & new
        judged: list[int] = []
        waiting = left_out + int(violate.sum() + open_.sum())
        try:
            # bounds prove these violations, so the judge confirms them unless a hypothesis is open
            for k in np.flatnonzero(violate)[:_CONTRADICTED].tolist():
                waiting -= self._look(few, k, overdraw=True) is not None
                judged.append(k)
            for k in np.flatnonzero(open_).tolist():
                if is_late(self.scout.deadline):
                    raise Spent
                answer = self._sieve.at_once(few, k)
                if answer is False:
                    waiting -= 1
                elif answer or self.looks > 0:
                    self.looks -= answer is None
                    # a hypothesis may stay open
                    waiting -= self._look(few, k, overdraw=bool(answer)) is not None
                    judged.append(k)
                elif self._sieve.left == 0 or not self.formula.stepped:
                    break  # nothing is left that could decide a further row: the rest is counted
        finally:
            self.scout.tally.seen.unjudged += waiting
            self._judged.update(_keys(few, judged))
        return {int(lanes[k]) for k in judged}

    def _look(self, few: Known, k: int, *, overdraw: bool) -> float | None:
        return self.scout.look(batches.instance_at(self.formula, few, k), overdraw=overdraw)


def fetched(raw: Known, lanes: Array) -> Raw:
    """Return some instances of a batch."""
    few = {n: value[..., lanes] for n, value in raw.items() if isinstance(value, np.ndarray)}
    return {**raw, **few}


def _keys(few: Known, rows: list[int]) -> list[bytes]:
    """Return a key for each of some rows of a batch; rows of equal numbers have equal keys."""
    alike = repr([x for x in few.values() if not isinstance(x, np.ndarray)]).encode()
    arrays = [
        x[..., rows].reshape(-1, len(rows)) + 0.0
        for x in few.values()
        if isinstance(x, np.ndarray) and rows
    ]
    if not arrays:
        return [alike] * len(rows)
    table = np.concatenate(arrays)
    return [alike + table[:, k].tobytes() for k in range(len(rows))]
