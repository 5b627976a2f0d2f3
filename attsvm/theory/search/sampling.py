"""Instances as their author means them, and what those are called who bring them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable

from attsvm.theory.record import codec

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["DRAWN", "ENSEMBLE", "EXPLICIT", "same_pool", "sample"]

DRAWN = "Hypothesis"
"""What the searcher is called that draws from the claim's strategy."""

EXPLICIT = "explicit instance"
ENSEMBLE = "seeded ensemble"


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


@functools.lru_cache(maxsize=64)
def sample(strategy: SearchStrategy[Any], count: int) -> tuple[tuple[Any, ...], Exception | None]:
    """Some encoded instances of a strategy, always the same ones, and what it raised, if it did."""
    drawn: list[Any] = []
    if count == 0:
        return (), None

    @hypothesis.seed(0)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(strategy)
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
