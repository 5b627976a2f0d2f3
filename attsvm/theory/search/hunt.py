"""The hunt: searchers work in parallel on one claim until one refutes it or the time is up.

A round is a fixed number of turns. The turns of round k, with their seeds and pools, depend only on
the results of the rounds up to k - 2. Two rounds can therefore run at a time, and the result is the
same for any number of workers. Until an instance is known, one round runs at a time. The first
counterexample in the order of turns wins; it is then shrunk until it is minimal, and worsened.
"""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from attsvm.errors import UsageError, WorkerError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.workers import HERE, Asked, Workers
from attsvm.theory.search import DRAWING, GUIDED, NEEDS, Elite, Pool, fits
from attsvm.theory.search.account import Effort, Hunt, Step
from attsvm.theory.search.dispatch import Dispatch, OverError, read_gain
from attsvm.theory.search.polish import polish
from attsvm.theory.search.schedule import Schedule
from attsvm.theory.search.screening import counts
from attsvm.theory.search.turn import Gain, searchers_of

_BUDGET = 96
"""Instances of a turn in the first rounds, for a claim of cost 1."""

_ONCE = ("explicit", "every")
"""Searchers that take only one turn, in the first round."""

_REMEMBERED = 2**16
"""Maximum number of drawn instances that are remembered to count repetitions."""

_FIRST = 2
"""Maximum number of turns per searcher in a round, as long as no instance is known."""

_BROKEN = 3
"""Number of broken turns that ends the hunt."""


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
    """Return the account of a search for a counterexample; a confirmed one is shrunk and worsened.

    Args:
        claim: the claim to refute.
        part: "" for the reading, or the name of a sibling.
        seconds: wall time; at least one round begins. None for no limit.
        rounds: number of rounds of search; None for no limit. With `rounds` alone the result is a
            function of the seed.
        seed: base seed.
        crew: the workers.
        searchers: names of searchers; None for all that fit.
        known: whether the claim's explicit instances may be used.
        pool: instances of an earlier hunt to start from.
        named: packs that the user named.
        progress: called after every turn; it may raise KeyboardInterrupt to stop the hunt.

    Raises:
        UsageError: there is no limit at all, a searcher is unknown, or it cannot work on the claim.
    """
    if seconds is None and rounds is None:
        raise UsageError("a hunt needs an end", remedy="Give seconds or rounds.")
    there = searchers_of(claim, known=known)
    chosen = there if searchers is None else tuple(searchers)
    strange = sorted(set(chosen) - {*DRAWING, *GUIDED})
    if strange:
        raise UsageError(
            "there is no such searcher",
            value=", ".join(strange),
            remedy=f"Choose from {', '.join(there)}.",
        )
    idle = sorted(name for name in set(chosen) if not fits(claim, name))
    if idle:
        needs = " ".join(f"{name} needs {NEEDS[name]}." for name in idle)
        raise UsageError(
            f"a searcher cannot work on {claim.id}", value=", ".join(idle), remedy=needs
        )
    dispatch = Dispatch(claim, part, crew, seed, named, seconds)
    chase = _Chase(
        Hunt(
            claim,
            part,
            absent=[
                name for name, guided in GUIDED.items() if guided.fits(claim) and not guided.there()
            ],
            pool=Pool() if pool is None else pool,
        ),
        dispatch,
        searchers=[s for s in there if s in chosen],
        progress=progress,
    )
    try:
        chase.search(rounds)
        if chase.found is not None and not dispatch.late:
            polish(dispatch, chase.hunt, chase.found, chase.tell)
    except KeyboardInterrupt:
        chase.hunt.interrupted = True
    except WorkerError as lost:
        chase.hunt.error = chase.hunt.error or str(lost)
    account = chase.hunt
    ended = account.error or account.interrupted or account.smallest
    drawn = account.seen.ordinary
    looked = account.examples > 0 or (account.seen.screened > 0 and not drawn)
    if not looked and pool is None and not ended:
        account.idle = not drawn
        account.error = (
            f"none of the {drawn} drawn instances is proved to meet all hypotheses: unless these "
            "contradict each other, give domains in which most instances meet them, or examples"
            if drawn
            else "no instance was examined: give more seconds, or name a searcher that draws"
        )
    account.no_turn = [
        name
        for name in chase.searchers
        if name not in account.efforts and not account.seen.settled  # every instance was examined
    ]
    account.nothing_to_move = [name for name in account.no_turn if not chase.moves(name)]
    account.no_turn = [name for name in account.no_turn if chase.moves(name)]
    account.done = [name for name in chase.done if chase.done[name] == chase.pool.forms]
    account.seconds = time.time() - dispatch.started
    return account


@dataclass
class _Chase:
    """A hunt under way."""

    hunt: Hunt
    dispatch: Dispatch
    searchers: Sequence[str]
    progress: Callable[[Hunt], None] | None

    def __post_init__(self) -> None:
        self.pool = self.hunt.pool
        formula = self.hunt.claim.formula
        self.first = "integers" if formula.batches and counts(formula) else ""
        taking = [s for s in self.searchers if s not in _ONCE]
        weights = {name: GUIDED[name].weight for name in taking if name in GUIDED}
        self.schedule = Schedule(taking, {"screen", self.first}, weights)
        self.found: Refuted | None = None
        self.broken = 0
        # searchers with nothing more to propose, and the forms of their pool
        self.done: dict[str, str] = {}
        self.drawn: set[str] = set()

    def search(self, rounds: int | None) -> None:
        """Run rounds of turns until a counterexample is found or a limit is reached.

        Two rounds run at a time, but only one until an instance is known. Most searchers need an
        instance for their first turn, and each must have its first turn before any has its second.
        """
        under_way: deque[deque[tuple[str, Asked]]] = deque()
        try:
            while self.found is None and self.broken < _BROKEN:
                while len(under_way) < 2 and self.hunt.rounds != rounds:
                    if (self.dispatch.late and self.hunt.rounds > 0) or (
                        under_way and not self.known
                    ):
                        break
                    under_way.append(deque(self._begin(self.hunt.rounds)))
                    self.hunt.rounds += 1
                if not any(under_way):  # no searcher has more to propose, or the time is up
                    return
                first = under_way[0]
                while first and self.found is None and self.broken < _BROKEN:
                    if self.dispatch.lacks_time_for(first[0][0]):
                        first.popleft()
                        continue
                    gain = self.dispatch.gain(first[0][1], needed=self.hunt.examples == 0)
                    self._account(first.popleft()[0], gain)
                    self.tell(gain)
                    if self.hunt.seen.settled:  # there is nothing else to examine
                        return
                under_way.popleft()
        except OverError:
            self._gather(under_way)
            _tell_of_deaths(self.hunt, under_way)
        except (KeyboardInterrupt, WorkerError):
            self._gather(under_way)
            raise
        finally:
            for _, job in (turn for each in under_way for turn in each):
                job.cancel()

    def tell(self, gain: Gain) -> None:
        """Report progress, and pass on an interruption.

        Raises:
            KeyboardInterrupt: the turn was interrupted.
        """
        if self.progress is not None:
            self.progress(self.hunt)
        if gain.interrupted:
            raise KeyboardInterrupt

    def _gather(self, under_way: Iterable[Iterable[tuple[str, Asked]]]) -> None:
        """Account for finished turns, up to a counterexample, so that no finished turn is lost."""
        for searcher, job in (turn for each in under_way for turn in each):
            if self.found is None and job.done():
                with contextlib.suppress(WorkerError):
                    self._account(searcher, read_gain(job.result()))

    def _begin(self, number: int) -> list[tuple[str, Asked]]:
        """Submit the turns of a round; return the searcher and the job of each."""
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
            before, after = ([s for s in self.searchers if s == name] for name in _ONCE)
            names = [*before, *names, *after]
        pool = self.pool.text()
        return [(name, self.dispatch.submit(name, _BUDGET * times, pool=pool)) for name in names]

    @property
    def known(self) -> bool:
        """Whether guided searchers have a known instance to start from."""
        return bool(self.pool.templates)

    def _fills(self, searcher: str) -> bool:
        """Return whether the searcher fills batches, and so needs no instance to start from."""
        enumerates = searcher in ("integers", "sizes") and self.hunt.claim.formula.batches
        return searcher in ("screen", "solver") or enumerates

    def moves(self, searcher: str) -> bool:
        """Return whether a known instance has something that the searcher can move."""
        if searcher not in GUIDED or not self.pool.templates:
            return True
        return any(GUIDED[searcher].moves(e.document) for e in self.pool.templates)

    def _account(self, searcher: str, gain: Gain) -> None:
        """Add the result of a searcher's turn to the account of the hunt."""
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
            if len(self.drawn) < _REMEMBERED:
                self.drawn.add(key)
        for name, moved in gain.moved.items():
            effort.moved[name] = moved or effort.moved.get(name, False)
        if closer:
            account.closest, account.closest_by = self.pool.closest[0], searcher
            since = round(time.time() - self.dispatch.started, 2)
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


def _tell_of_deaths(account: Hunt, under_way: Iterable[Iterable[tuple[str, Asked]]]) -> None:
    """Record an error if a worker process died during a turn that is not done."""
    for searcher, job in (turn for each in under_way for turn in each):
        deaths = getattr(job, "deaths", [])
        if deaths and not job.done():
            account.error = account.error or (
                f"a worker process {deaths[-1]} during a turn of {searcher}, and "
                "there was no time to repeat the turn: code of a claim pack ended the process, or "
                "it was killed"
            )
