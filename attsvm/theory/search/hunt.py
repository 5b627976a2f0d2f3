"""The hunt: searchers side by side on one claim until one finds or the time is up.

A round is a fixed number of turns. What the turns of round k are, with all their seeds and pools,
depends on what came of the rounds up to k - 2, so two rounds are under way at any time and the
answer is the same for any number of workers. As long as no instance is known, one round is under
way. The first find in the order of turns wins; it is then made smaller, until no move does, and
worse.
"""

from __future__ import annotations

import contextlib
import functools
import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attsvm.errors import UsageError, WorkerError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.run.tally import Refuted
from attsvm.theory.run.workers import HERE, Workers
from attsvm.theory.search import DRAWING, GUIDED, NEEDS, Elite, Pool, fits
from attsvm.theory.search.account import Effort, Hunt, Step
from attsvm.theory.search.integers import counts
from attsvm.theory.search.schedule import SCREENING, Schedule
from attsvm.theory.search.turn import Gain, Turn, searchers_of, take, turn_job, written

_BUDGET = 96
"""Instances of a turn in the first rounds, for a claim of cost 1."""

_ONCE = ("explicit", "every")
"""Who has one turn, in the first round."""

_TOLD_APART = 2**16
"""Different drawn instances that are remembered, so that equal ones are counted."""

_FIRST = 2
"""Maximum number of turns per searcher in a round, as long as no instance is known."""

_POLISH = 240
"""Instances of a turn that shrinks or worsens a find, for a claim of cost 1."""

_WORSE = 8
"""Turns that may be spent on worsening."""

_BROKEN = 3
"""Turns that may break before the hunt ends."""

_EARLY = 0.25
"""Maximum seconds by which turns stop before the time is up, for the account to be written."""

_GRACE = 0.04
"""Share of the time by which turns stop early at most, and for which late turns are waited for."""


def hunt(
    claim: Claim,
    *,
    part: str = "",
    seconds: float | None = 60.0,
    rounds: int | None = None,
    seed: int = 0,
    crew: Workers = HERE,
    searchers: Sequence[str] | None = None,
    known: bool = True,
    pool: Pool | None = None,
    named: Sequence[str] = (),
    progress: Callable[[Hunt], None] | None = None,
) -> Hunt:
    """Search until a counterexample is confirmed, then make it smaller and worse.

    Args:
        claim: what to refute.
        part: "" for the reading, or the name of a sibling.
        seconds: wall time, in which at least one round is begun; None for no limit.
        rounds: rounds of search; None for no limit. With rounds alone the answer is a function of
            the seed.
        seed: base seed.
        crew: who does the work.
        searchers: names, all that fit where None.
        known: whether the claim's explicit instances may be used.
        pool: instances of an earlier hunt to start from.
        named: packs that the user named.
        progress: called after every turn; it may raise KeyboardInterrupt to stop the hunt.

    Raises:
        UsageError: no limit at all, an unknown searcher, or one that the claim has nothing for.
    """
    if seconds is None and rounds is None:
        raise UsageError("a hunt needs an end", remedy="Give seconds or rounds.")
    there = searchers_of(claim, known=known)
    chosen = there if searchers is None else tuple(searchers)
    strange = sorted(set(chosen) - {*DRAWING, *GUIDED})
    if strange:
        raise UsageError(
            "there is no such searcher", value=", ".join(strange), remedy=f"Of {', '.join(there)}."
        )
    idle = sorted(name for name in set(chosen) if not fits(claim, name))
    if idle:
        needs = " ".join(f"{name} needs {NEEDS[name]}." for name in idle)
        raise UsageError(
            f"{claim.id} has nothing for a searcher", value=", ".join(idle), remedy=needs
        )
    chase = _Chase(
        Hunt(
            claim,
            part,
            absent=[
                name for name, guided in GUIDED.items() if guided.fits(claim) and not guided.there()
            ],
            pool=Pool() if pool is None else pool,
        ),
        crew=crew,
        seed=seed,
        named=named,
        searchers=[s for s in there if s in chosen],
        seconds=seconds,
        progress=progress,
    )
    try:
        chase.search(rounds)
        chase.polish()
    except KeyboardInterrupt:
        chase.hunt.interrupted = True
    except WorkerError as lost:
        chase.hunt.error = chase.hunt.error or str(lost)
    account = chase.hunt
    ended = account.error or account.interrupted or account.smallest
    if account.examples == 0 and pool is None and not ended:
        drawn = account.seen.ordinary
        account.idle = not drawn
        account.error = (
            f"none of the {drawn} instances drawn meets all hypotheses: give the reading examples "
            "that do, or variables that mostly do"
            if drawn
            else "no instance was looked at: name a searcher that draws, or give more seconds"
        )
    account.no_turn = [
        name
        for name in chase.searchers
        if name not in account.efforts and not account.seen.settled  # all has been looked at
    ]
    account.nothing_to_move = [name for name in account.no_turn if not chase.moves(name)]
    account.no_turn = [name for name in account.no_turn if chase.moves(name)]
    account.done = [name for name in chase.done if chase.done[name] == chase.pool.forms]
    account.seconds = time.time() - chase.started
    return account


class _Over(Exception):
    """The time is up."""


@dataclass
class _Chase:
    """A hunt under way."""

    hunt: Hunt
    crew: Workers
    seed: int
    named: Sequence[str]
    searchers: Sequence[str]
    seconds: float | None
    progress: Callable[[Hunt], None] | None

    def __post_init__(self) -> None:
        self.started, given = time.time(), self.seconds
        self.deadline = (
            None if given is None else self.started + given - min(given * _GRACE, _EARLY)
        )
        self.last = None if given is None else self.started + given * (1 + _GRACE)
        self.pool = self.hunt.pool
        formula = self.hunt.claim.formula
        self.first = "integers" if formula.batches and counts(formula) else ""
        taking = [s for s in self.searchers if s not in _ONCE]
        weights = {name: GUIDED[name].weight for name in taking if name in GUIDED}
        self.schedule = Schedule(taking, {*SCREENING, self.first}, weights)
        self.numbers = dict.fromkeys((*self.searchers, "shrink", "worsen"), 0)
        self.found: Refuted | None = None
        self.broken = 0
        self.done: dict[str, str] = {}  # who had no more to propose, and from what forms
        self.drawn: set[str] = set()

    def search(self, rounds: int | None) -> None:
        """Take rounds of turns until a find or an end.

        Two rounds are under way at a time. As long as no instance is known, it is only one round:
        most searchers need an instance for their first turn, and no second turn may come before.
        """
        under_way: deque[deque[tuple[str, Any]]] = deque()
        try:
            while self.found is None and self.broken < _BROKEN:
                while len(under_way) < 2 and self.hunt.rounds != rounds:
                    if (self.late and self.hunt.rounds > 0) or (under_way and not self.known):
                        break
                    under_way.append(deque(self._begin(self.hunt.rounds)))
                    self.hunt.rounds += 1
                if not any(under_way):  # no searcher can do more, or it is the end
                    return
                first = under_way[0]
                while first and self.found is None and self.broken < _BROKEN:
                    gain = self._result(first[0][1])
                    self._account(first.popleft()[0], gain)
                    self._tell(gain)
                    if self.hunt.seen.settled:  # there is nothing else to look at
                        return
                under_way.popleft()
        except _Over:
            self._gather(under_way)
            self._tell_of_deaths(under_way)
        except (KeyboardInterrupt, WorkerError):
            self._gather(under_way)
            raise
        finally:
            for _, job in (turn for each in under_way for turn in each):
                job.cancel()

    def _tell(self, gain: Gain) -> None:
        if self.progress is not None:
            self.progress(self.hunt)
        if gain.interrupted:
            raise KeyboardInterrupt

    @property
    def late(self) -> bool:
        """Whether no turn should begin."""
        return self.deadline is not None and time.time() > self.deadline

    def _gather(self, under_way: Iterable[Iterable[tuple[str, Any]]]) -> None:
        """Account for the turns that are done, up to a find: none of those is lost."""
        for searcher, job in (turn for each in under_way for turn in each):
            if self.found is None and job.done():
                with contextlib.suppress(WorkerError):
                    self._account(searcher, _read(job.result()))

    def _tell_of_deaths(self, under_way: Iterable[Iterable[tuple[str, Any]]]) -> None:
        """Say that turns are missing since worker processes died of them."""
        for searcher, job in (turn for each in under_way for turn in each):
            code = getattr(job, "died", None)
            if code is not None and not job.done():
                self.hunt.error = self.hunt.error or (
                    f"a worker process ended with exit code {code} within a turn of {searcher}, "
                    "which was not done again in time: code of a claim pack ended it, or it was "
                    "killed"
                )

    def _begin(self, number: int) -> list[tuple[str, Any]]:
        """Submit the turns of a round."""
        guided = [s for s in self.searchers if s in GUIDED and (self.known or self._fills(s))]
        forms = self.pool.forms
        ready = [s for s in guided if self.moves(s) and self.done.get(s) != forms]
        drawing = [s for s in self.searchers if s in ("ensemble", "drawn")]
        ready = sorted(drawing + ready, key=lambda s: s != self.first)
        turns, times = self.schedule.size(number)
        if not self.known:
            turns = min(turns, (_FIRST if number else 1) * len(ready))
        names = self.schedule.plan(ready, turns)
        if number == 0:
            names = [*self._once("explicit"), *names, *self._once("every")]
        pool = self.pool.text()
        return [(name, self._submit(name, _BUDGET * times, pool=pool)) for name in names]

    @property
    def known(self) -> bool:
        """Whether an instance is known from which guided searchers can start."""
        return bool(self.pool.templates)

    def _fills(self, searcher: str) -> bool:
        """Return whether the searcher fills batches, and so needs no instance to start from."""
        enumerates = searcher in ("integers", "sizes") and self.hunt.claim.formula.batches
        return searcher in SCREENING or enumerates

    def _once(self, searcher: str) -> list[str]:
        """Return the turn of a searcher that has one alone, if it takes part."""
        return [s for s in self.searchers if s == searcher]

    def moves(self, searcher: str) -> bool:
        """Whether there is something that the searcher can move."""
        if searcher not in GUIDED or not self.pool.templates:
            return True
        return any(GUIDED[searcher].moves(e.document) for e in self.pool.templates)

    def _submit(
        self,
        searcher: str,
        budget: int,
        *,
        pool: str = "[]",
        found: Refuted | None = None,
        resume: tuple[int, int] = (0, 0),
    ) -> Any:
        turn = Turn(
            claim=self.hunt.claim.id,
            part=self.hunt.part,
            searcher=searcher,
            number=self.numbers[searcher],
            seed=self.seed,
            budget=max(budget // self.hunt.claim.cost, 8),
            deadline=self.deadline,
            pool=pool,
            found=None if found is None else asdict(found),
            resume=resume,
        )
        self.numbers[searcher] += 1
        text = written(turn)
        if self.crew is HERE:  # the claim may belong to no pack
            return HERE.submit(functools.partial(_taken, self.hunt.claim), text)
        return self.crew.submit(turn_job, text, *self.named)

    def _result(self, job: Any) -> Gain:
        if self.crew is HERE:
            if self.late and self.hunt.examples > 0:
                raise _Over
            return _read(job.result())
        try:
            left = None if self.last is None else max(self.last - time.time(), 0.0)
            return _read(job.result(left))
        except TimeoutError as late:
            raise _Over from late

    def _account(self, searcher: str, gain: Gain) -> None:
        """Add what a turn came to."""
        account = self.hunt
        effort = account.efforts.setdefault(searcher, Effort())
        effort.turns += 1
        effort.accepted += gain.evaluated
        effort.rejected += gain.rejected + gain.refused
        effort.screened += gain.screened
        effort.seconds += gain.seconds
        account.seen.add(gain)
        before = self.pool.height
        for entry in gain.pool:
            self.pool.add(Elite.read(entry))
        closer = self.pool.height > before
        effort.closer += closer
        for key in gain.keys:
            account.repeated += key in self.drawn
            if len(self.drawn) < _TOLD_APART:
                self.drawn.add(key)
        for name, moved in gain.moved.items():
            effort.moved[name] = moved or effort.moved.get(name, False)
        if closer:
            account.closest, account.closest_by = self.pool.closest[0], searcher
            since = round(time.time() - self.started, 2)
            account.growth.append(
                Step(self.pool.height, account.examples, account.seen.screened, since)
            )
        if searcher in self.schedule:
            self.schedule.learn(searcher, float(closer))
            if gain.idle and gain.error is None:
                self.done[searcher] = gain.idle
        if gain.error is not None:
            self.broken += 1
            account.error = account.error or gain.error
        if gain.found is not None:
            self.found = account.smallest = account.worst = Refuted.read(gain.found)
            effort.found = True

    def polish(self) -> None:
        """Make the find smaller until it is minimal, and worse, while there is time."""
        if self.found is None or self.late:
            return
        now = {"shrink": self.found, "worsen": self.found}
        resume = {"shrink": (0, 0), "worsen": (0, 0)}
        ahead = {"shrink": None, "worsen": _WORSE}  # turns left; None is as many as it takes
        try:
            while any(left is None or left > 0 for left in ahead.values()):  # one may break
                jobs = []
                for name, left in ahead.items():
                    if left is None or left > 0:
                        job = self._submit(name, _POLISH, found=now[name], resume=resume[name])
                        jobs.append((name, job))
                for name, job in jobs:
                    gain = self._result(job)
                    if gain.withdrawn:  # no find of a claim at random is one
                        self.hunt.smallest = self.hunt.worst = None
                        self.hunt.minimal, self.hunt.error = False, gain.error
                        return
                    if gain.error is not None or gain.found is None:
                        self.hunt.error = self.hunt.error or gain.error
                        ahead[name] = 0
                        continue
                    found = Refuted.read(gain.found)
                    over = gain.minimal or (name == "worsen" and found == now[name])
                    now[name], resume[name] = found, (gain.resume[0], gain.resume[1])
                    left = ahead[name]
                    ahead[name] = 0 if over else left and left - 1
                    if name == "shrink":
                        self.hunt.smallest, self.hunt.minimal = found, gain.minimal
                    else:
                        self.hunt.worst = found
                    self._tell(gain)
        except _Over:
            return


def _read(gain: str) -> Gain:
    return Gain(**json.loads(gain))


def _taken(claim: Claim, turn: str) -> str:
    """A turn that this process takes when it is asked for the gain."""
    return written(take(claim, Turn(**json.loads(turn))))
