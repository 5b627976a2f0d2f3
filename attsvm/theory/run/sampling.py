"""Reproducible draws by Hypothesis: the same seed gives the same instances of a strategy.

Profiles say how many instances a run examines, and give the seed of each shard.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable

from attsvm._types import Case, Json
from attsvm.errors import UsageError
from attsvm.theory.instance import codec

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True, slots=True)
class Profile:
    """The budgets of a claim of cost 1; a claim of cost c gets 1/c of them, or a minimum if larger.

    Attributes:
        name: quick or deep.
        shards: maximum number of independent searches, run in turn until one refutes.
        examples: number of instances drawn by the strategy, per shard.
        ensemble: number of instances of the claim's seeded ensemble, per shard.
        guided: number of instances that all guided searchers together may make, per shard.
        audits: number of accepted instances re-evaluated exactly although floats accept them.
        simplify: number of re-evaluations that shrinking may use.
        numbers: maximum count of numbers in an instance larger than the drawn ones; not scaled.
    """

    name: str
    shards: int
    examples: int
    ensemble: int
    guided: int
    audits: int
    simplify: int
    numbers: int

    def scaled(self, cost: int) -> Profile:
        """Return the budgets of a claim of this cost."""
        return Profile(
            self.name,
            self.shards,
            max(self.examples // cost, 8),
            max(self.ensemble // cost, 4),
            max(self.guided // cost, 16),
            max(self.audits // cost, 2),
            max(self.simplify // cost, 40),
            self.numbers,
        )


PROFILES = {
    "quick": Profile("quick", 1, 75, 20, 100, 10, 400, 64),
    "deep": Profile("deep", 2, 500, 200, 1500, 60, 1000, 512),
}


def profile_named(name: str) -> Profile:
    """Return the profile of this name.

    Raises:
        UsageError: there is no such profile.
    """
    try:
        return PROFILES[name]
    except KeyError as error:
        raise UsageError(
            "there is no such profile", value=name, remedy=f"Choose {', '.join(PROFILES)}."
        ) from error


def derive_seed(claim: str, shard: int | str, base: int) -> int:
    """Return a 64-bit seed derived from claim, shard and base; it is the same in every process."""
    digest = hashlib.sha256(f"{claim}\x1f{shard}\x1f{base}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


DRAWN = "Hypothesis"
"""Name of the searcher that draws from the claim's strategy."""

EXPLICIT = "explicit instance"
"""Name of the searcher that evaluates the claim's examples."""

ENSEMBLE = "seeded ensemble"
"""Name of the searcher that draws from the claim's ensemble."""

EVERY = "enumeration of the domain"
"""Name of the searcher that evaluates every instance of a finite domain."""


@contextlib.contextmanager
def same_pool() -> Iterator[None]:
    """Keep Hypothesis from using constants of loaded modules.

    Hypothesis mixes literals of local source files into its draws. The same seed would then give
    other instances in a process that has imported other modules.
    """
    from hypothesis.internal.conjecture import providers
    from hypothesis.internal.constants_ast import Constants

    # there is no public setting for this; a change of Hypothesis makes this fail at the attribute
    original = providers._get_local_constants
    empty = Constants()
    providers._get_local_constants = lambda: empty
    providers.CONSTANTS_CACHE.cache.clear()
    try:
        with _begun_anew():
            yield
    finally:
        providers._get_local_constants = original
        providers.CONSTANTS_CACHE.cache.clear()


@contextlib.contextmanager
def _begun_anew() -> Iterator[None]:
    """Reset the shared random generators before each instance, as Hypothesis does.

    Hypothesis also saves and restores their states around each instance, which takes a third of the
    drawing time. Here they are restored once, at the end.
    """
    import hypothesis.core
    from hypothesis.internal import entropy

    core: Any = hypothesis.core
    original = core.deterministic_PRNG
    with original():  # on entry, it registers the generators of numpy and random
        shared = list(entropy.RANDOMS_TO_MANAGE.values())
        begun = [(generator, generator.getstate()) for generator in shared]
    before = [(generator, generator.getstate()) for generator in shared]

    @contextlib.contextmanager
    def anew() -> Iterator[None]:
        if len(entropy.RANDOMS_TO_MANAGE) != len(shared):  # a claim has registered its own
            with original():
                yield
            return
        for generator, state in begun:
            generator.setstate(state)
        yield

    core.deterministic_PRNG = anew
    try:
        yield
    finally:
        core.deterministic_PRNG = original
        for generator, state in before:
            generator.setstate(state)


def drawing(
    strategy: SearchStrategy[Case], seed: int, examples: int, *phases: Phase
) -> Callable[[Callable[[Case], None]], Callable[[], None]]:
    """Return a decorator: the decorated function takes no argument and runs on drawn instances.

    Args:
        strategy: the strategy of instances.
        seed: the seed of Hypothesis.
        examples: maximum number of instances.
        phases: the phases of Hypothesis, such as `Phase.generate`.
    """

    def decorate(body: Callable[[Case], None]) -> Callable[[], None]:
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

        # Hypothesis reads and parses the source of the function that it gets: give it a short one
        def called(case: Case) -> None:
            body(case)

        return hypothesis.seed(seed)(settings(hypothesis.given(strategy)(called)))

    return decorate


@functools.lru_cache(maxsize=64)
def sample(strategy: SearchStrategy[Case], count: int) -> tuple[tuple[Json, ...], Exception | None]:
    """Return encoded instances drawn with seed 0, and the exception that ended the draw, if any."""
    drawn: list[Json] = []
    if count == 0:
        return (), None

    @drawing(strategy, 0, count, Phase.generate)
    def body(case: Case) -> None:
        drawn.append(codec.encode(case))

    try:
        with same_pool():
            body()
    except Unsatisfiable:
        pass
    except Exception as problem:
        return tuple(drawn), problem
    return tuple(drawn), None
