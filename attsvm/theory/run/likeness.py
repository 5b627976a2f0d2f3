"""A test of whether an instance made by a searcher resembles those of the author's strategy.

The test learns kinds and shapes of instances from the author's own draws. An axis whose length
never varies among the draws counts as fixed. A claim about two tokens always draws two; an array of
three has the same type, but is no instance of that claim.
"""

import dataclasses
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from attsvm._types import Case, Json
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import Path, rebuilt
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.sampling import DRAWN, ENSEMBLE, EXPLICIT, sample

_KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool", "O": "float"}
"""Kinds of numbers by the letters of numpy's kinds."""


class Domain:
    """Kinds, numbers of axes and fixed lengths of the numbers, arrays and tuples of an instance.

    A number counts as an array without axes, a tuple as an array of one axis. A place is free if
    only None was drawn there, as in an optional field.
    """

    def __init__(self) -> None:
        self._kinds: dict[Path, set[str]] = {}
        self._lengths: dict[Path, dict[int, list[set[int]]]] = {}

    def see(self, case: Case) -> None:
        """Add an instance of the author's strategy to the domain."""
        for path, kind, shape in _parts(case, ()):
            self._kinds.setdefault(path, set()).add(kind)
            axes = self._lengths.setdefault(path, {})
            for lengths, size in zip(
                axes.setdefault(len(shape), [set() for _ in shape]), shape, strict=True
            ):
                lengths.add(size)

    def holds(self, case: Case) -> bool:
        """Return whether an instance has kinds and axes that were seen, and their fixed lengths."""
        return all(self._fits(*part) for part in _parts(case, ()))

    def _fits(self, path: Path, kind: str, shape: tuple[int, ...]) -> bool:
        if path not in self._kinds:
            return True
        kinds = self._kinds[path]
        if kind not in kinds and not (
            kind in ("int", "fraction") and kinds & {"float", "fraction"}
        ):
            return False
        axes = self._lengths[path].get(len(shape))
        return axes is not None and all(
            len(lengths) > 1 or size in lengths for lengths, size in zip(axes, shape, strict=True)
        )


def _parts(case: Case, path: Path) -> Iterator[tuple[Path, str, tuple[int, ...]]]:
    """Yield the path, kind and shape of each number, array and tuple of an instance."""
    if isinstance(case, np.ndarray | np.generic):
        yield path, _KINDS.get(case.dtype.kind, case.dtype.kind), case.shape
    elif isinstance(case, bool | int | float):
        yield path, type(case).__name__, ()
    elif isinstance(case, Fraction):
        yield path, "fraction", ()
    elif isinstance(case, tuple):
        yield path, "tuple", (len(case),)
        for k, item in enumerate(case):
            yield from _parts(item, (*path, k))
    elif dataclasses.is_dataclass(case):
        name = type(case).__name__  # fields of another record are other places
        for field in dataclasses.fields(case):
            yield from _parts(getattr(case, field.name), (*path, name, field.name))


_SAMPLES = 16
"""Number of draws from the strategy that show what an instance looks like: the ranges of integers
and lengths, the members that occur, and the axes that have equal lengths."""

_ENSEMBLE = 4
"""Number of instances taken from the ensemble if the search has drawn none from it."""

_AUTHORS = frozenset((EXPLICIT, ENSEMBLE, DRAWN))
"""Searchers that draw from the author's own strategy."""


class Likeness:
    """The form of a part's ordinary instances, as learnt from some of them.

    An instance made by a searcher resembles them if it has the same form; see `Domain`.
    """

    def __init__(self, claim: Claim, part: Part) -> None:
        self._claim = claim
        self._part = part
        self._domain = Domain()
        self._drawn: list[Case] = []
        self._learnt = False

    def see(self, case: Case, searcher: str) -> None:
        """Learn from an instance if it comes from the author's strategy, ensemble or examples."""
        if searcher in _AUTHORS:
            self._domain.see(case)
            if searcher == DRAWN and len(self._drawn) < _SAMPLES:
                self._drawn.append(case)

    def learn(self, refuted: Refuted) -> None:
        """Learn from a counterexample if it comes from the author's strategy, ensemble or examples.

        The searcher that found it is stored with the counterexample.
        """
        case = codec.decode(refuted.instance, self._claim.instance_type)
        if refuted.found_by in _AUTHORS:
            self._domain.see(case)

    def made_up(self, document: Json) -> Case | None:
        """Return the instance that a searcher encoded, or None.

        The result is None unless `replay` would accept the document as an instance of the claim and
        the instance resembles a drawn one.
        """
        case = rebuilt(self._claim, document)
        return None if case is None else self.like_drawn(frozen(case))

    def like_drawn(self, case: Case) -> Case | None:
        """Return the instance; None if it does not resemble a drawn one."""
        if not self._learnt:
            self._learnt = True
            for ordinary in self._ordinary():
                self._domain.see(ordinary)
        return case if self._domain.holds(case) else None

    def samples(self) -> tuple[Json, ...]:
        """Return encoded instances of the strategy: the first drawn ones, filled up with new draws.

        Instances that violate a hypothesis are included.
        """
        drawn = [codec.encode(case) for case in self._drawn]
        return (*drawn, *sample(self._part.data, _SAMPLES - len(drawn))[0])

    def _ordinary(self) -> Iterator[Case]:
        """Yield instances of the author's strategy; draw new ones only if too few were seen."""
        yield from (*self._part.examples, *self._claim.examples)
        if len(self._drawn) == _SAMPLES:
            return
        for document in sample(self._part.data, _SAMPLES - len(self._drawn))[0]:
            yield codec.decode(document, self._claim.instance_type)
        if self._claim.ensemble is not None:
            generator = np.random.default_rng(0)
            yield from (self._claim.ensemble(generator) for _ in range(_ENSEMBLE))
