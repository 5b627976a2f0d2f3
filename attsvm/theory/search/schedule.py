"""The schedule of a hunt: which searchers take the turns of a round.

Every searcher has its first turn before any has its second. Later turns go to searchers that
recently came closer to a violation; searchers that screen batches share the larger part of the
rest.
"""

from collections.abc import Collection, Mapping, Sequence

_SCREENED = 0.6
"""Share of the turns for searchers that screen batches, if no searcher comes closer."""

_TURNS = 8
"""Number of turns in the first round."""

_DOUBLED = 4
"""Number of rounds after which the size doubles: twice as many turns, later twice the budget."""

_WIDER, _LONGER = 2, 2
"""Maximum number of doublings: first of the number of turns, to occupy many workers, then of their
budget."""

_EVEN = 0.4
"""Share of a round that does not depend on progress."""

_MEMORY = 0.7
"""Factor by which each turn reduces the credit for earlier progress."""

_HOPE = 0.1
"""Weight of a searcher without progress; a turn with progress adds 1 - `_MEMORY`."""


class Schedule:
    """A plan that distributes the turns of a round among searchers by their progress.

    The plan depends on the order of calls alone, never on time.

    Args:
        searchers: the participating searchers.
        screening: the searchers that share the part for batches.
        weights: by searcher, how many turns one of its turns counts as, since it takes longer.
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
        """Return the searchers that take the turns of the next round; first turns come first.

        Args:
            ready: the searchers that can work now, in the order of their first turns.
            turns: the number of turns; it grows if more searchers are due for their first turn.
        """
        chosen = [s for s in ready if s not in self._begun]
        self._begun.update(chosen)
        for s in chosen:  # a first turn is taken on credit
            self._due[s] -= self._weights.get(s, 1.0)
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
        """Credit a searcher for a turn: 1 if it came closer than all turns before, else 0."""
        self._credit[searcher] = _MEMORY * self._credit[searcher] + (1 - _MEMORY) * progress

    def _shares(self, ready: Sequence[str]) -> dict[str, float]:
        """Return the share of the turns of each ready searcher, as long as none makes progress."""
        screening = [s for s in ready if s in self._screening]
        others = [s for s in ready if s not in self._screening]
        part = (_SCREENED if others else 1.0) if screening else 0.0
        return {
            **{s: part / len(screening) for s in screening},
            **{s: (1.0 - part) / len(others) for s in others},
        }
