"""The look of instances that a claim's author means: made-up ones are held against it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from attsvm._types import Case, Json
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import rebuilt
from attsvm.theory.instance.domain import Domain
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.refuted import Refuted
from attsvm.theory.run.sampling import DRAWN, ENSEMBLE, EXPLICIT, sample

_SAMPLES = 16
"""How many draws of the strategy tell what an instance looks like: how far its integers and lengths
go, which members there are and which axes belong together."""

_ENSEMBLE = 4
"""How many of the ensemble do, where the check has drawn none."""

_AUTHORS = frozenset((EXPLICIT, ENSEMBLE, DRAWN))
"""Searchers that draw from the author's own strategy."""


class Likeness:
    """Learn what instances of a part look like, and tell which made-up ones look so."""

    def __init__(self, claim: Claim, part: Part) -> None:
        self._claim = claim
        self._part = part
        self._domain = Domain()
        self._drawn: list[Any] = []
        self._learnt = False

    def see(self, case: Case, searcher: str) -> None:
        """Learn from an instance if it is as the claim's author meant it."""
        if searcher in _AUTHORS:
            self._domain.see(case)
            if searcher == DRAWN and len(self._drawn) < _SAMPLES:
                self._drawn.append(case)

    def learn(self, found: Refuted) -> None:
        """Learn from a find, if it is not made up."""
        case = codec.decode(found.instance, self._claim.instance_type)
        if found.found_by in _AUTHORS:
            self._domain.see(case)

    def made_up(self, document: Json) -> Any | None:
        """Return the instance that a searcher encoded.

        None unless `replay` would read it as an instance of the claim, and it looks like a drawn
        one.
        """
        case = rebuilt(self._claim, document)
        return None if case is None else self.like_drawn(frozen(case))

    def like_drawn(self, case: Case) -> Any | None:
        """Return the instance; None if it does not look like a drawn one."""
        if not self._learnt:
            self._learnt = True
            for ordinary in self._ordinary():
                self._domain.see(ordinary)
        return case if self._domain.holds(case) else None

    def samples(self) -> tuple[Any, ...]:
        """Return some encoded instances of the strategy: the first that were drawn, and others.

        Those that miss a hypothesis are among them.
        """
        drawn = [codec.encode(case) for case in self._drawn]
        return (*drawn, *sample(self._part.data, _SAMPLES - len(drawn))[0])

    def _ordinary(self) -> Iterator[Any]:
        """Yield instances as their author means them; draw only where few were examined."""
        yield from (*self._part.examples, *self._claim.examples)
        if len(self._drawn) == _SAMPLES:
            return
        for document in sample(self._part.data, _SAMPLES - len(self._drawn))[0]:
            yield codec.decode(document, self._claim.instance_type)
        if self._claim.ensemble is not None:
            generator = np.random.default_rng(0)
            yield from (self._claim.ensemble(generator) for _ in range(_ENSEMBLE))
