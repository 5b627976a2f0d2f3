"""A scout looks at instances for a guided searcher: it counts, remembers, and stops at a find."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attsvm._types import Case, Json
from attsvm.theory.run.bounded import TooLong, bounded
from attsvm.theory.run.probe import admits, probe

if TYPE_CHECKING:
    from attsvm.theory.run.pool import Pool
    from attsvm.theory.run.refuted import Refuted
    from attsvm.theory.run.tally import Tally

_PATIENCE = 20
"""Maximum number of proposals of a turn, refused ones included, as a multiple of its budget."""


_LARGEST = 2**15
"""Maximum number of numbers in an instance, unless a scout is given another one."""

_STEPS, _LONGS = 2**14, 2
"""Maximum number of steps of Python, times the cost of the claim, of an evaluation of a record with
other integers or lengths, and number of evaluations above it that ends a turn."""


class Stop(BaseException):
    """The turn of a searcher is over; passes through what catches mere exceptions."""


class Spent(Stop):
    """Its budget or its time is up."""


class Found(Stop):
    """A refutation was confirmed."""


class Scout:
    """What a guided searcher sees of the check: it proposes instances, it learns their heights.

    Attributes:
        tally: the tally of the part.
        name: what the searcher is called.
        budget: how many instances it may have examined.
        numbers: how many numbers an instance of a size beyond the drawn ones has at most.
        once: whether the searcher has this turn alone, as in a check.
        wide: whether larger batches are welcome, as in later turns of a hunt: an instance of them
            takes less time.
        spent, proposed: how many it has had examined; how many it proposed.
        found: the confirmed refutation, if any.
        long: records whose evaluation took too many steps; what follows on their line is left out.
        idle: whether it has nothing more to propose from these known instances.
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
    ) -> None:
        self.tally = tally
        self.name = name
        self.budget = budget
        self.deadline = deadline
        self.numbers = numbers
        self.once = once
        self.wide = wide
        self.spent = 0
        self.proposed = 0
        self.found: Refuted | None = None
        self.idle = False
        self.long: list[Any] = []
        self._seen: dict[str, float | None] = {}
        self._screened: set[str] = set()

    @property
    def pool(self) -> Pool:
        """Return the known instances."""
        return self.tally.pool

    def look(self, case: Case, *, reshaped: bool = False, owed: bool = False) -> float | None:
        """Examine an instance; its height, or None where the claim says nothing about it.

        Args:
            case: the instance.
            reshaped: whether it may be of a form that no strategy draws, so that an exception of
                the claim says no more than that.
            owed: whether it is examined even if the budget or the time is spent.

        Raises:
            Found: it refutes. Spent: there is no budget or time for it.
        """
        if not owed:
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
        """Examine an encoded instance; return the remembered height if it was examined before."""
        self.proposed += 1
        if self.proposed > _PATIENCE * self.budget:
            raise Spent
        self.ensure_time()
        key = json.dumps(document, sort_keys=True)
        if key not in self._seen:
            case = self.tally.likeness.made_up(document)
            self._seen[key] = None  # should the claim stop the search
            if case is not None:
                self._seen[key] = self.look(case, reshaped=reshaped)
        return self._seen[key]

    def screened(self, document: Json) -> Any | None:
        """Return the instance of an encoded one, to be evaluated in floats, if it is admissible.

        It is counted as screened; None for one that was seen before.
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
        """Evaluate a record of another form, for so many steps of Python at most; it is long else.

        Raises:
            Spent: there were too many of these in this turn.
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
        """Raise unless there is budget and time.

        Raises:
            Spent: there is none left.
        """
        if self.spent >= self.budget or (self.deadline is not None and time.time() > self.deadline):
            raise Spent
