"""A scout looks at instances for a guided searcher: it counts, remembers, and stops at a find."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from attsvm._types import Case, Json
from attsvm.theory.run.bounded import TooLong, bounded
from attsvm.theory.run.examining import admits, probe

if TYPE_CHECKING:
    from attsvm.theory.run.confirm import Refuted
    from attsvm.theory.run.tally import Pool, Tally

_PATIENCE = 20
"""Maximum number of proposals of a turn, including refused ones, as a multiple of its budget."""


_LARGEST = 2**15
"""Default maximum number of numbers in an instance."""

_STEPS, _LONGS = 2**14, 2
"""Maximum number of Python steps, times the claim's cost, of an evaluation of a record with other
integers or lengths; and number of longer evaluations that ends a turn."""


class Stop(BaseException):
    """An exception that ends a searcher's turn.

    It is a `BaseException`, so that a claim's `except Exception` does not catch it.
    """


class Spent(Stop):
    """The budget or the time of the turn is used up."""


class Found(Stop):
    """A refutation was confirmed."""


class Scout:
    """A guided searcher's access to the check: it proposes instances and learns their heights.

    Attributes:
        tally: the tally of the part.
        name: the name of the searcher.
        budget, before: maximum number of instances examined, and that of its earlier turns.
        numbers: maximum number of numbers in an instance larger than the drawn ones.
        once: whether the searcher has only this turn, as in a check.
        wide: whether to use larger batches, as in later turns of a hunt: they cost less per
            instance.
        spent, proposed: number of instances examined, and number proposed.
        found: the confirmed refutation, if any.
        long: records whose evaluation took too many steps; larger records of the series are
            skipped.
        idle: whether it has nothing more to propose from the known instances.
    """

    def __init__(
        self,
        tally: Tally,
        name: str,
        budget: int,
        deadline: float | None = None,
        numbers: int = _LARGEST,
        *,
        once: bool = False,
        wide: bool = False,
        before: int = 0,
    ) -> None:
        self.tally = tally
        self.name = name
        self.budget = budget
        self.deadline = deadline
        self.numbers = numbers
        self.once = once
        self.wide = wide
        self.before = before
        self.spent = 0
        self.proposed = 0
        self.found: Refuted | None = None
        self.idle = False
        self.long: list[Json] = []
        self._seen: dict[str, float | None] = {}
        self._screened: set[str] = set()

    @property
    def pool(self) -> Pool:
        """The known instances."""
        return self.tally.pool

    def look(self, case: Case, *, reshaped: bool = False, overdraw: bool = False) -> float | None:
        """Examine an instance; return its height, or None if the claim does not apply to it.

        Args:
            case: the instance.
            reshaped: whether its form may differ from all drawn instances; then an exception of the
                claim is no fault of the claim.
            overdraw: whether to examine it even if budget or time is spent, as for a proved
                violation.

        Raises:
            Found: the instance refutes the claim.
            Spent: budget or time is used up.
        """
        if not overdraw:
            self.ensure_time()
        self.spent += 1
        progress = self.spent / self.budget
        height, self.found = probe(
            self.tally, case, self.name, reshaped=reshaped, progress=progress
        )
        if self.found is not None:
            raise Found
        return height

    def look_at(self, document: Json, *, reshaped: bool = False) -> float | None:
        """Examine an encoded instance; return the remembered height if it was examined before.

        Raises:
            Found: the instance refutes the claim.
            Spent: budget or time is used up, or too many instances were proposed.
        """
        self.proposed += 1
        if self.proposed > _PATIENCE * self.budget:
            raise Spent
        self.ensure_time()
        key = json.dumps(document, sort_keys=True)
        if key not in self._seen:
            case = self.tally.likeness.made_up(document)
            self._seen[key] = None  # if the claim raises `Stop` itself
            if case is not None:
                self._seen[key] = self.look(case, reshaped=reshaped)
        return self._seen[key]

    def screened(self, document: Json) -> Case | None:
        """Return the decoded instance for evaluation in floats, if it is admissible and new.

        It is counted as screened; an instance seen before gives None.

        Raises:
            Spent: budget or time is used up, or too many instances were proposed.
        """
        self.proposed += 1
        if self.proposed > _PATIENCE * self.budget:
            raise Spent
        self.ensure_time()
        key = json.dumps(document, sort_keys=True)
        if key in self._seen or key in self._screened:
            return None
        self._screened.add(key)
        case, seen = self.tally.likeness.made_up(document), self.tally.seen
        broke = seen.broke
        if case is None or not admits(self.tally, case, self.name, reshaped=True):
            seen.refused += case is not None and seen.broke == broke
            return None
        seen.screened += 1
        self.tally.variety.see(case)
        return case

    @contextlib.contextmanager
    def bounded(self, document: Json) -> Iterator[None]:
        """Limit the Python steps in this context; end an evaluation that exceeds the limit.

        Its record is added to `long`.

        Raises:
            Spent: the turn had too many long records.
        """
        claim = self.tally.claim
        try:
            with bounded(_STEPS * claim.cost, claim.file):
                yield
        except TooLong:
            self.long.append(document)
            self.tally.seen.given_up += 1
            if len(self.long) >= _LONGS:
                raise Spent from None

    def ensure_time(self) -> None:
        """Raise unless budget and time are left.

        Raises:
            Spent: one of them is used up.
        """
        if self.spent >= self.budget or is_late(self.deadline):
            raise Spent


def is_late(deadline: float | None) -> bool:
    """Return whether a deadline (`time.time`) has passed; None never passes."""
    return deadline is not None and time.time() > deadline
