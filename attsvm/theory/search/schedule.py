"""The schedule of a hunt: who gets a round's turns. Time goes where progress is; all get some."""

from __future__ import annotations

from collections.abc import Sequence

_TURNS = 8
"""Turns of a round at first."""

_DOUBLED = 4
"""Rounds after which rounds double: they get twice the turns, later turns of twice the budget."""

_WIDER, _LONGER = 2, 2
"""How often turns double in number, so that many workers have work, and then in budget."""

_EVEN = 0.4
"""The part of a round that is shared evenly; the rest goes by progress."""

_MEMORY = 0.7
"""What a turn leaves of the credit for earlier progress."""


class Schedule:
    """Shares rounds of turns among searchers by the progress that they made.

    The answers depend on the order of the calls alone, never on time.
    """

    def __init__(self, searchers: Sequence[str]) -> None:
        self._credit = dict.fromkeys(searchers, 1.0)
        self._due = dict.fromkeys(searchers, 0.0)

    def __contains__(self, searcher: str) -> bool:
        """Whether it takes part."""
        return searcher in self._credit

    @staticmethod
    def size(number: int) -> tuple[int, int]:
        """How many turns the round of that number has, and how many times the first budget."""
        doublings = number // _DOUBLED
        return _TURNS * 2 ** min(doublings, _WIDER), 2 ** min(max(doublings - _WIDER, 0), _LONGER)

    def plan(self, ready: Sequence[str], turns: int) -> list[str]:
        """Who takes the turns of the next round, of those that can work now."""
        total = sum(self._credit[s] for s in ready)
        for s in ready:
            even = 1 / len(ready)
            merit = self._credit[s] / total if total > 0 else even
            self._due[s] += turns * (_EVEN * even + (1 - _EVEN) * merit)
        chosen = []
        for _ in range(turns if ready else 0):
            first = max(ready, key=lambda s: self._due[s])
            self._due[first] -= 1.0
            chosen.append(first)
        return chosen

    def learn(self, searcher: str, progress: float) -> None:
        """Credit a turn: 1 for coming closer than anyone before, 0 for nothing new."""
        self._credit[searcher] = _MEMORY * self._credit[searcher] + (1 - _MEMORY) * progress
