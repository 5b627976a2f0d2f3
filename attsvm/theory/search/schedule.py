"""The schedule of a hunt: which searchers take the turns of a round.

Every searcher has its first turn before any has its second. Later turns go to searchers that came
closer to a violation lately; searchers that screen batches share the larger part of the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

_SCREENED = 0.6
"""Share of the turns for searchers that screen batches, if no searcher comes closer."""

_TURNS = 8
"""Turns of a round at first."""

_DOUBLED = 4
"""Rounds after which rounds double: they get twice the turns, later turns of twice the budget."""

_WIDER, _LONGER = 2, 2
"""How often turns double in number, so that many workers have work, and then in budget."""

_EVEN = 0.4
"""Share of a round that does not depend on progress."""

_MEMORY = 0.7
"""Factor by which a turn reduces the credit for earlier progress."""

_HOPE = 0.1
"""Credit of a searcher without progress, where a turn with progress gives 1 - `_MEMORY`."""


class Schedule:
    """A plan that shares the turns of a round among searchers by their progress.

    The answers depend on the order of the calls alone, never on time.

    Args:
        searchers: those that take part.
        screening: those that share the part for searchers in batches.
        weights: how many times as long as others a turn takes; it counts as that many turns.
    """

    def __init__(
        self,
        searchers: Sequence[str],
        screening: Collection[str] = ("screen",),
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._screening = screening
        self._weights = weights or {}
        self._credit = dict.fromkeys(searchers, 0.0)
        self._due = dict.fromkeys(searchers, 0.0)
        self._begun: set[str] = set()

    def __contains__(self, searcher: str) -> bool:
        """Return whether the searcher takes part."""
        return searcher in self._credit

    @staticmethod
    def size(number: int) -> tuple[int, int]:
        """Return the number of turns of a round, and the factor for the first budget."""
        doublings = number // _DOUBLED
        return _TURNS * 2 ** min(doublings, _WIDER), 2 ** min(max(doublings - _WIDER, 0), _LONGER)

    def plan(self, ready: Sequence[str], turns: int) -> list[str]:
        """Return who takes the turns of the next round, first turns before all others.

        Args:
            ready: the searchers that can work now, in the order of their first turns.
            turns: the number of turns; there are more if more searchers have their first one.
        """
        chosen = [s for s in ready if s not in self._begun]
        self._begun.update(chosen)
        rest = max(turns - len(chosen), 0) if ready else 0
        shares = self._shares(ready)
        merits = {s: shares[s] * (_HOPE + self._credit[s]) for s in ready}
        total = sum(merits.values())
        for s in ready:
            self._due[s] += rest * (_EVEN * shares[s] + (1 - _EVEN) * merits[s] / total)
        for _ in range(rest):
            first = max(ready, key=lambda s: self._due[s])
            self._due[first] -= self._weights.get(first, 1.0)
            chosen.append(first)
        return chosen

    def learn(self, searcher: str, progress: float) -> None:
        """Credit a turn: 1 for coming closer than anyone before, 0 for nothing new."""
        self._credit[searcher] = _MEMORY * self._credit[searcher] + (1 - _MEMORY) * progress

    def _shares(self, ready: Sequence[str]) -> dict[str, float]:
        """Return the share of each searcher that can work, if none comes closer."""
        screening = [s for s in ready if s in self._screening]
        others = [s for s in ready if s not in self._screening]
        part = (_SCREENED if others else 1.0) if screening else 0.0
        return {
            **{s: part / len(screening) for s in screening},
            **{s: (1.0 - part) / len(others) for s in others},
        }
