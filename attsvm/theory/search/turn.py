"""A turn: the work of one searcher on one part of a claim, from a pool, within a budget."""

import json
import time
import warnings
from dataclasses import asdict, dataclass, fields

import numpy as np

from attsvm._types import Json, JsonObject
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.run.asking import describe
from attsvm.theory.run.bounded import metered
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.coverage import Counts
from attsvm.theory.run.examining import audit_closest, ensure_stands
from attsvm.theory.run.sampling import derive_seed
from attsvm.theory.run.tally import Tally
from attsvm.theory.run.workers import known_claim
from attsvm.theory.search import GUIDED, Pool, Scout, Stop, draw, fits
from attsvm.theory.search.ordinary import ensemble, every, explicit
from attsvm.theory.search.shrink import shrink
from attsvm.theory.search.worsen import worsen

POLISHERS = {"shrink": shrink, "worsen": worsen}
"""Functions that make a counterexample smaller, or its violation larger."""

_SHRINKS = 100
"""Maximum number of examinations that Hypothesis spends on shrinking a find."""

_LOOKS = 3
"""Maximum number of instances that Hypothesis draws, as a multiple of the budget."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A request for a turn; plain data.

    Attributes:
        claim, part: the claim and the part to refute; part "" is the reading.
        searcher: `explicit`, `ensemble`, `drawn`, `every`, a guided searcher, `shrink` or `worsen`.
        number: the number of the turn among this searcher's turns, from 0; it enters the seed.
        seed: base seed.
        budget: maximum number of instances to examine.
        before: the sum of the budgets of this searcher's earlier turns.
        audits: number of instances to re-evaluate exactly although floats accept them.
        deadline: wall-clock time (`time.time`) at which to stop; None for no limit.
        pool: known instances, as returned by `Pool.text`.
        found: the counterexample to shrink or worsen; `resume` is the position to continue from.
    """

    claim: str
    part: str
    searcher: str
    number: int
    seed: int
    budget: int
    before: int = 0
    audits: int = 2
    deadline: float | None = None
    pool: str = "[]"
    found: JsonObject | None = None
    resume: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Gain(Counts):
    """The result of a turn; plain data.

    Attributes:
        searcher: the searcher.
        pool: new entries for the pool, as returned by `Elite.json`.
        moved: by variable, whether it differed among the instances evaluated or screened.
        keys: a short text for each instance drawn and evaluated; equal for equal instances.
        idle: the forms of the pool if the searcher has nothing more to propose from them, else "".
        found: the confirmed refutation, if any. `minimal` says whether polishing is complete,
            and `resume` the position at which it stopped.
        error: the error, if any.
        withdrawn: whether the polished counterexample did not refute when it was evaluated again.
        interrupted: whether the turn was stopped from outside after a counterexample was found.
        seconds: working time.
    """

    searcher: str
    pool: list[list[Json]]
    moved: dict[str, bool]
    keys: list[str]
    idle: str
    found: JsonObject | None
    minimal: bool
    resume: tuple[int, int]
    error: str | None
    withdrawn: bool
    interrupted: bool
    seconds: float


def searchers_of(claim: Claim, *, known: bool = True) -> tuple[str, ...]:
    """Return the names of the searchers that can work on a claim; `explicit` only if `known`."""
    ordinary = [name for name in ("ensemble", "drawn", "every") if fits(claim, name)]
    return (
        *["explicit"] * known,
        *ordinary,
        *(name for name, g in GUIDED.items() if g.works_on(claim)),
    )


def turn_job(turn: str, *named: str) -> str:
    """Run a turn in this process, and return its gain; turn and gain are text."""
    asked = Turn(**json.loads(turn))
    return written(take(known_claim(asked.claim, named), asked))


def written(record: Turn | Gain) -> str:
    """Return a turn or a gain as text; unlike `asdict`, without copies."""
    return json.dumps({f.name: getattr(record, f.name) for f in fields(record)})


def take(claim: Claim, turn: Turn) -> Gain:
    """Run a turn and return its gain; an exception of the claim is recorded in it, not raised.

    Raises:
        KeyboardInterrupt: the turn was interrupted before a counterexample was found.
    """
    started = time.perf_counter()
    tally = Tally(claim, claim.part(turn.part), turn.audits)
    tally.pool = Pool.read(turn.pool)
    tally.variety.keys = [] if turn.searcher in ("ensemble", "drawn") else None
    values = {(e.height, e.key) for e in tally.pool.elites()}
    result: Refuted | None = None
    minimal, interrupted, resume = False, False, (0, 0)
    error, idle, forms = None, False, tally.pool.forms
    try:
        with warnings.catch_warnings(), metered(tally.part.formula, claim.file):
            warnings.simplefilter("ignore")
            if turn.found is not None:
                tally.latest = Refuted.read(turn.found)
                where = (turn.resume[0], turn.resume[1])
                polish = POLISHERS[turn.searcher]
                done = polish(tally, tally.latest, turn.budget, turn.deadline, where)
                result, minimal, resume = done.refuted, done.minimal, done.resume
            elif turn.searcher in GUIDED:
                result, idle = _guided(tally, turn)
            else:
                result = _proposed(tally, turn)
    except Stop:
        result = tally.latest
    except BaseException as problem:  # the claim may raise any exception, even SystemExit
        result = tally.latest  # a confirmed refutation is kept
        interrupted = _is_interruption(problem)
        if not interrupted:
            error = describe(problem)
        elif result is None:
            raise KeyboardInterrupt from problem
    if error is None and result is None:
        try:
            result = audit_closest(tally)
        except Exception as problem:
            error = describe(problem)
    withdrawn = False
    if turn.found is not None and result is not None and not interrupted:
        try:
            ensure_stands(tally, result)
        except Exception as problem:
            result, error, withdrawn = None, describe(problem), True
    return Gain(
        searcher=turn.searcher,
        pool=[e.json() for e in tally.pool.elites() if (e.height, e.key) not in values],
        moved=tally.variety.moved,
        keys=tally.variety.keys or [],
        found=None if result is None else asdict(result),
        idle=forms if idle else "",
        minimal=minimal,
        resume=resume,
        error=error,
        withdrawn=withdrawn,
        interrupted=interrupted,
        seconds=time.perf_counter() - started,
        **tally.seen.shallow(),
    )


def _is_interruption(problem: BaseException | None) -> bool:
    """Return whether an exception is a KeyboardInterrupt, or was raised while handling one."""
    seen = []
    while problem is not None and problem not in seen:  # causes may form a cycle
        if isinstance(problem, KeyboardInterrupt):
            return True
        seen.append(problem)
        problem = problem.__cause__ or problem.__context__
    return False


def _seed(turn: Turn) -> int:
    return derive_seed(turn.claim, f"{turn.searcher} {turn.number}", turn.seed)


def _proposed(tally: Tally, turn: Turn) -> Refuted | None:
    """Return the counterexample of a searcher that needs no known instance."""
    if turn.searcher == "every":
        return every(tally, turn.deadline)
    if turn.searcher == "explicit":
        return explicit(tally, turn.deadline)
    if turn.searcher == "ensemble":
        return ensemble(tally, turn.budget, np.random.default_rng(_seed(turn)), turn.deadline)
    return draw(tally, turn.budget, _SHRINKS, _seed(turn), turn.deadline, _LOOKS * turn.budget)


def _guided(tally: Tally, turn: Turn) -> tuple[Refuted | None, bool]:
    """Return a guided searcher's counterexample, and whether it has no further proposals."""
    guided = GUIDED[turn.searcher]
    budget = max(turn.budget // guided.fewer, 8)
    first = turn.number == 0  # a short turn, as other searchers wait for their first one
    scout = Scout(tally, guided.title, budget, turn.deadline, wide=not first, before=turn.before)
    result = guided.guide(scout, np.random.default_rng(_seed(turn)))
    late = turn.deadline is not None and time.time() > turn.deadline
    return result, not late and (scout.idle or not tally.seen.looked)
