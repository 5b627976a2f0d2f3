"""Hypothesis: draws instances as the claim's author means them, steered by heights, and shrinks."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable, UnsatisfiedAssumption

from attsvm.errors import ClaimError
from attsvm.theory.record import codec
from attsvm.theory.run.asking import frozen
from attsvm.theory.search.scout import Spent

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from attsvm.theory.run.tally import Refuted, Tally

DRAWN = "Hypothesis"
"""What the searcher is called that draws from the claim's strategy."""

EXPLICIT = "explicit instance"
ENSEMBLE = "seeded ensemble"
EVERY = "enumeration of the domain"


@contextlib.contextmanager
def same_pool() -> Iterator[None]:
    """Keep Hypothesis from drawing constants of the modules that happen to be loaded.

    It mixes literals of local source files into what it draws, so the same seed would give other
    instances in a process that has imported other modules.
    """
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.constants_ast import Constants

    original = providers._get_local_constants
    empty = Constants()
    providers._get_local_constants = lambda: empty
    providers.CONSTANTS_CACHE.cache.clear()
    try:
        yield
    finally:
        providers._get_local_constants = original
        providers.CONSTANTS_CACHE.cache.clear()


def _drawing(
    strategy: SearchStrategy[Any], seed: int, examples: int, *phases: Phase
) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Have a function called with instances of a strategy."""

    def decorate(body: Callable[[Any], None]) -> Callable[[], None]:
        settings = hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            derandomize=False,
            verbosity=Verbosity.quiet,
            print_blob=False,
            report_multiple_bugs=False,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        )
        return hypothesis.seed(seed)(settings(hypothesis.given(strategy)(body)))

    return decorate


@functools.lru_cache(maxsize=64)
def sample(strategy: SearchStrategy[Any], count: int) -> tuple[tuple[Any, ...], Exception | None]:
    """Some encoded instances of a strategy, always the same ones, and what it raised, if it did."""
    drawn: list[Any] = []
    if count == 0:
        return (), None

    @_drawing(strategy, 0, count, Phase.generate)
    def body(case: Any) -> None:
        drawn.append(codec.encode(case))

    try:
        with same_pool():
            body()
    except Unsatisfiable:
        pass
    except Exception as problem:
        return tuple(drawn), problem
    return tuple(drawn), None


class _FoundError(Exception):
    """Tells Hypothesis that an instance refutes, so that it shrinks it."""


class _Broken(BaseException):
    """Carries what a claim raised past Hypothesis, which would go on to shrink it."""

    def __init__(self, problem: BaseException) -> None:
        self.problem = problem


def draw(
    tally: Tally,
    examples: int,
    shrinks: int,
    seed: int,
    deadline: float | None = None,
    looks: int | None = None,
) -> Refuted | None:
    """Let Hypothesis draw and shrink; only confirmed refutations count as failures.

    Args:
        tally: where instances are examined.
        examples: instances that the strategy draws.
        shrinks: examinations that shrinking a find may spend; with 0 it stays as drawn.
        seed: of the draws.
        deadline: wall-clock time (`time.time`) after which it stops.
        looks: instances, admissible or not, after which it stops; None for as many as Hypothesis
            likes, which while it climbs are many times `examples` where most are rejected.
    """
    last: list[Refuted] = []
    seen: dict[str, tuple[bool, Refuted | None]] = {}
    spent, looked = 0, 0

    def examine(case: Any) -> tuple[bool, Refuted | None]:
        try:
            return tally.examine(case, DRAWN)
        except UnsatisfiedAssumption as problem:
            cause = f"{tally.claim.id} assumes or rejects where it evaluates an instance"
            remedy = "Name a hypothesis, or filter in the strategy."
            raise _Broken(ClaimError(cause, value=str(problem), remedy=remedy)) from problem
        except (Exception, SystemExit) as problem:
            raise _Broken(problem) from problem

    phases = [Phase.generate, Phase.target, *([Phase.shrink] if shrinks else [])]

    @_drawing(tally.part.data, seed, examples, *phases)
    def body(case: Any) -> None:
        nonlocal spent, looked
        if deadline is not None and time.time() > deadline:
            raise Spent
        key = ""
        if tally.counting and looks is not None:
            if looked >= looks:
                raise Spent
            looked += 1
        try:
            case = frozen(case)
        except ClaimError as problem:
            raise _Broken(problem) from problem
        if not tally.counting:  # shrinking: remember answers, stop exploring after the budget
            key = json.dumps(codec.encode(case), sort_keys=True)
            if key not in seen and spent >= shrinks:
                return
            spent += 1
        if key in seen:
            accepted, found = seen[key]
        else:
            accepted, found = examine(case)
        if key:
            seen[key] = accepted, found
        if found:
            if tally.counting:
                tally.counting = False
                seen[json.dumps(codec.encode(case), sort_keys=True)] = True, found
            last.append(found)
            raise _FoundError
        if not accepted:
            hypothesis.reject()
        if tally.counting and tally.best is not None and tally.best[1] is case:
            height = tally.best[0]
            if math.isfinite(height):
                hypothesis.target(height)

    broken: BaseException | None = None
    try:
        with same_pool():
            body()
    except _FoundError:
        return last[-1]
    except _Broken as stop:
        broken = stop.problem
    except (Unsatisfiable, Spent):
        return last[-1] if last else None
    if broken is not None:
        raise broken  # out here, it keeps the context that it was raised in
    return None
