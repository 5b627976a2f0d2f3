"""A check's search: every searcher in turn, each with its share of the profile's budget."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.examining import audit_closest, ensure_stands, examine_case, repeat
from attsvm.theory.search import EXPLICIT, GUIDED, Found, Guided, Scout, Spent, draw
from attsvm.theory.search.ordinary import ensemble

if TYPE_CHECKING:
    from attsvm.theory.run.evaluation import Refuted
    from attsvm.theory.run.sampling import Profile
    from attsvm.theory.run.tally import Tally


def run(tally: Tally, budget: Profile, seed: int, *, explicit: bool) -> Refuted | None:
    """Return a refutation of the tally's part found by one searcher after another, or None.

    A counterexample of the reading is shrunk, unless it is an explicit instance, which stays as its
    author wrote it. A counterexample of a sibling is not shrunk: it only shows that the check can
    fail.
    """
    sibling = bool(tally.part.name)
    if explicit:
        for case in tally.part.examples:
            result = examine_case(tally, case, EXPLICIT)[1]
            if result:
                return result
    result = _search(tally, budget, 0 if sibling else budget.simplify, seed)
    if result and not sibling:
        from attsvm.theory.search.shrink import shrink

        result = shrink(tally, result, budget.simplify).found
        ensure_stands(tally, result)
    if result:
        return result
    repeat(tally)
    return audit_closest(tally)


def _search(tally: Tally, budget: Profile, shrinks: int, seed: int) -> Refuted | None:
    generator = np.random.default_rng(seed)
    if tally.claim.ensemble is not None:
        result = ensemble(tally, budget.ensemble, generator)
        if result:
            return result
    result = draw(tally, budget.examples, shrinks, seed)
    if result:
        return result
    for searcher in GUIDED.values():
        if not (searcher.quick or budget.name != "quick") or not searcher.works_on(tally.claim):
            continue
        looks = max(round(searcher.share * budget.guided), 3)
        scout = Scout(tally, searcher.title, looks, numbers=budget.numbers, once=True)
        result = guide(searcher, scout, generator)
        if result:
            return result
    return None


def guide(searcher: Guided, scout: Scout, generator: np.random.Generator) -> Refuted | None:
    """Run a guided searcher until it is stopped or done; return the refutation that it found."""
    with contextlib.suppress(Found, Spent):
        try:
            searcher.search(scout, generator)
        except TooLong:  # later instances of a turn are usually larger
            scout.tally.give_up(f"a batch of {searcher.title}")
    return scout.found
