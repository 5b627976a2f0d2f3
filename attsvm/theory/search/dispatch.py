"""Dispatch: turns go to this process or to workers, and their gains come back in time."""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from attsvm.theory.run.workers import HERE, Asked, Workers
from attsvm.theory.search import GUIDED
from attsvm.theory.search.turn import Gain, Turn, take, turn_job, written

if TYPE_CHECKING:
    from attsvm.theory.declaration.claim import Claim
    from attsvm.theory.run.confirm import Refuted

_EARLY = 0.25
"""Maximum number of seconds by which turns stop before the time limit, to leave time for the
report."""

_GRACE = 0.04
"""Share of the time limit: turns stop early by at most this share, and late turns are awaited for
as long."""


_LOADING = 4.0
"""Seconds that must be left for a searcher to load its library in this process."""


class OverError(Exception):
    """The time is up."""


class Dispatch:
    """Submits the turns of a hunt, and waits for their gains.

    Args:
        claim: the claim.
        part: "" for the reading, or the name of a sibling.
        crew: the workers.
        seed: base seed.
        named: packs that the user named.
        seconds: wall time; None for no limit.
    """

    def __init__(
        self,
        claim: Claim,
        part: str,
        crew: Workers,
        seed: int,
        named: Sequence[str],
        seconds: float | None,
    ) -> None:
        self._claim, self._part, self._crew = claim, part, crew
        self._seed, self._named = seed, named
        self._numbers: dict[str, int] = {}
        self._budgets: dict[str, int] = {}
        self.started = time.time()
        self._deadline = self._last = None
        if seconds is not None:
            self._deadline = self.started + seconds - min(seconds * _GRACE, _EARLY)
            self._last = self.started + seconds * (1 + _GRACE)

    @property
    def late(self) -> bool:
        """Whether the time is up, so that no further turn should begin."""
        return self._deadline is not None and time.time() > self._deadline

    def lacks_time_for(self, searcher: str) -> bool:
        """Return whether a searcher would load a large library here shortly before the end.

        Nothing interrupts this process, so the hunt would exceed its time limit.
        """
        library = GUIDED[searcher].library if searcher in GUIDED else ""
        if not library or library in sys.modules or self._crew is not HERE:
            return False
        return self._deadline is not None and time.time() + _LOADING > self._deadline

    def submit(
        self,
        searcher: str,
        budget: int,
        *,
        pool: str = "[]",
        counterexample: Refuted | None = None,
        resume: tuple[int, int] = (0, 0),
    ) -> Asked:
        """Submit the next turn of a searcher or of the shrinker, and return its job.

        Args:
            searcher: the searcher, `shrink` or `worsen`.
            budget: number of instances, for a claim of cost 1.
            pool: known instances, as returned by `Pool.text`.
            counterexample: the counterexample to shrink or worsen.
            resume: the position at which an earlier call stopped.
        """
        number = self._numbers.get(searcher, 0)
        self._numbers[searcher] = number + 1
        before = self._budgets.get(searcher, 0)
        budget = max(budget // self._claim.cost, 8)
        self._budgets[searcher] = before + budget
        turn = Turn(
            claim=self._claim.id,
            part=self._part,
            searcher=searcher,
            number=number,
            seed=self._seed,
            budget=budget,
            before=before,
            deadline=self._deadline,
            pool=pool,
            found=None if counterexample is None else asdict(counterexample),
            resume=resume,
        )
        text = written(turn)
        if self._crew is HERE:  # the claim may belong to no pack
            return HERE.submit(functools.partial(_written_gain, self._claim), text)
        return self._crew.submit(turn_job, text, *self._named)

    def gain(self, job: Asked, *, needed: bool) -> Gain:
        """Return the result of a turn.

        Args:
            job: the turn.
            needed: whether to run the turn even if the time is up, if this process does the work.

        Raises:
            OverError: the time is up.
        """
        if self._crew is HERE:
            if self.late and not needed:
                raise OverError
            return read_gain(job.result())
        try:
            left = None if self._last is None else max(self._last - time.time(), 0.0)
            return read_gain(job.result(left))
        except TimeoutError as late:
            raise OverError from late


def read_gain(text: str) -> Gain:
    """Return a gain from text."""
    return Gain(**json.loads(text))


def _written_gain(claim: Claim, turn: str) -> str:
    """Run a turn in this process and return its gain; turn and gain are text."""
    return written(take(claim, Turn(**json.loads(turn))))
