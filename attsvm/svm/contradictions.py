"""Equal constraints and contradicting queries, found by comparing rows bit by bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Bool, Float, Int


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Constraints of equal queries that no W can meet, as their sum is 0.

    Two equal queries select different tokens, a and b, and each sees both:
    (x_a - x_b) z^T + (x_b - x_a) z^T = 0. One query alone is zero and sees two tokens.

    Attributes:
        queries: the two queries, or the zero query; the last one is set aside.
        tokens: the tokens a and b: the token that the first query selects, and its rival.
    """

    queries: tuple[int, ...]
    tokens: tuple[int, int]

    def rows(
        self, X: Float[Array, "S d"], Z: Float[Array, "n e"]
    ) -> tuple[tuple[Float[Array, " d"], Float[Array, " e"]], ...]:
        """Return the factors of the constraints whose sum is exactly 0."""
        a, b = self.tokens
        difference = X[a] - X[b]
        signs = (1.0, -1.0)[: len(self.queries)]
        return tuple((s * difference, Z[i]) for s, i in zip(signs, self.queries, strict=True))

    def __str__(self) -> str:
        a, b = self.tokens
        if len(self.queries) == 1:
            return f"query {self.queries[0]} is zero: its tokens {a} and {b} have the same logit"
        i, j = self.queries
        return f"queries {i} and {j} are equal, but select the tokens {a} and {b}"


def row_ids(rows: Float[Array, "n d"]) -> Int[Array, " n"]:
    """Return for each row the index of the first equal one; entries -0.0 must not occur."""
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(row.tobytes(), i) for i, row in enumerate(rows)], dtype=int)


def _groups(keys: Iterable[Hashable]) -> list[list[int]]:
    """Return the places of each key that occurs more than once."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for i, key in enumerate(keys):
        places[key].append(i)
    return [group for group in places.values() if len(group) > 1]


def own_constraints(
    ids: Int[Array, "B T"],
    owners: Int[Array, " n"],
    seen: Bool[Array, "n T"],
    targets: Int[Array, " n"],
) -> Bool[Array, "n T"]:
    """Return the constraints of each query by the first copy of each token, without its target."""
    rivals: Array = seen & (ids[owners, targets][:, None] != ids[owners])
    for b, own in enumerate(ids):
        if len(np.unique(own)) == len(own):
            continue
        rows = np.flatnonzero(owners == b)
        part = rivals[rows]
        for group in _groups(own.tolist()):
            before = part[:, group[0]].copy()
            # of equal tokens the first one that the query sees stays
            for t in group[1:]:
                again = part[:, t].copy()
                part[:, t] &= ~before
                before |= again
        rivals[rows] = part
    return rivals


def without_copies(
    Z: Float[Array, "n e"],
    ids: Int[Array, "B T"],
    owners: Int[Array, " n"],
    seen: Bool[Array, "n T"],
    targets: Int[Array, " n"],
) -> Bool[Array, "n T"]:
    """Return the constraints without repetitions, by the first copy of each token.

    Tokens that equal the target are no rivals. Of equal rivals of a query the first one stays; of
    equal queries that select equal tokens the first one keeps a rival that several of them have.
    """
    rivals = own_constraints(ids, owners, seen, targets)
    chosen = ids[owners, targets]
    for group in _groups(zip(row_ids(Z).tolist(), chosen.tolist(), strict=True)):
        had = np.zeros(ids.size, dtype=np.bool_)  # by the first copy of a token
        for i in group:
            own = ids[owners[i]]
            rivals[i] &= ~had[own]
            had[own[rivals[i]]] = True
    return rivals


def contradictions(
    Z: Float[Array, "n e"],
    ids: Int[Array, "B T"],
    owners: Int[Array, " n"],
    seen: Bool[Array, "n T"],
    targets: Int[Array, " n"],
) -> tuple[Contradiction, ...]:
    """Return zero queries with rivals, and contradicting queries.

    Each contradiction names last the query that is set aside: the one with most contradictions that
    remain, the later one on a tie. No two of the other queries contradict each other. Tokens are
    counted over all sequences.
    """
    pairs = []
    chosen, T = ids[owners, targets], ids.shape[1]
    stacked = (T * owners + targets).tolist()
    for i in np.flatnonzero(~Z.any(axis=1)).tolist():
        rivals = np.flatnonzero(seen[i] & (ids[owners[i]] != chosen[i]))
        if rivals.size:
            pairs.append(Contradiction((i,), (stacked[i], int(T * owners[i] + rivals[0]))))
    for group in _groups(row_ids(Z).tolist()):
        if not Z[group[0]].any() or len(set(chosen[group].tolist())) == 1:
            continue
        sees = np.zeros((len(group), len(group)), dtype=np.bool_)
        for k, i in enumerate(group):
            sees[k] = np.isin(chosen[group], ids[owners[i]][seen[i]])
        against = sees & sees.T & (chosen[group][:, None] != chosen[group])
        # set aside the query with most contradictions, until none is left
        while against.any():
            counts = against.sum(axis=1)
            last = len(group) - 1 - int(counts[::-1].argmax())
            other = int(against[last].argmax())
            i, j = group[other], group[last]
            pairs.append(Contradiction((i, j), (stacked[i], stacked[j])))
            against[last] = against[:, last] = False
    return tuple(pairs)
