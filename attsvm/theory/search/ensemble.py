"""The ensemble searcher: explicit instances, and instances of the claim's seeded generator.

The author writes the generator, so that its instances are typical, but larger and more varied than
those of the strategy. An instance takes one function call.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from attsvm._types import Case
from attsvm.errors import present
from attsvm.theory.record.curated import STORED, known
from attsvm.theory.run.ordinary import examine_case
from attsvm.theory.run.sampling import ENSEMBLE, EXPLICIT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from attsvm.theory.run.confirm import Refuted
    from attsvm.theory.run.tally import Tally


def ensemble(
    tally: Tally, count: int, generator: np.random.Generator, deadline: float | None = None
) -> Refuted | None:
    """Examine instances of the claim's seeded generator; return the first refutation, or None.

    Args:
        tally: the tally that counts the instances.
        count: maximum number of instances.
        generator: source of all randomness.
        deadline: wall-clock time (`time.time`) at which to stop; None for no limit.
    """
    make = present(tally.claim.ensemble, "the claim's ensemble")
    return _first(tally, (make(generator) for _ in range(count)), ENSEMBLE, deadline)


def explicit(tally: Tally, deadline: float | None = None) -> Refuted | None:
    """Examine the stored counterexample and the examples; return the first refutation, or None."""
    result = _first(tally, known(tally.claim, tally.part.name), STORED, None)
    return result or _first(tally, tally.part.examples, EXPLICIT, deadline)


def _first(
    tally: Tally, cases: Iterable[Case], title: str, deadline: float | None
) -> Refuted | None:
    for case in cases:
        if deadline is not None and time.time() > deadline:
            return None
        result = examine_case(tally, case, title)[1]
        if result:
            return result
    return None
