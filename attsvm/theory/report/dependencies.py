"""Statements that rest on each other: what a refuted one touches.

A statement declares what its sentence uses or is derived from in print (`Statement.rests_on`). A
statement that rests on a refuted one may be true all the same; a step of its printed argument has
to be read as repaired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim

Dependencies = Mapping[str, tuple[str, ...]]
"""By statement, the statements that it rests on."""


def dependencies(claims: Iterable[Claim]) -> dict[str, tuple[str, ...]]:
    """Return what each statement of these claims rests on, in their order."""
    found: dict[str, dict[str, None]] = {}
    for claim in claims:
        found.setdefault(claim.statement_id, {}).update(dict.fromkeys(claim.rests_on))
    return {statement: tuple(needed) for statement, needed in found.items()}


def resting_on(statement: str, rests: Dependencies) -> list[str]:
    """Return all that rest on a statement, directly or through others, in the order of `rests`."""
    reached = {statement}
    while more := {s for s in rests if s not in reached and reached & set(rests[s])}:
        reached |= more
    return [s for s in rests if s in reached and s != statement]


def levels(rests: Dependencies) -> dict[str, int]:
    """Return how many steps each statement is above statements that rest on nothing.

    Raises:
        ClaimError: statements rest on each other in a circle.
    """
    found: dict[str, int] = {}
    while len(found) < len(rests):
        open_ = {s: [n for n in rests[s] if n in rests] for s in rests if s not in found}
        ready = [s for s, needed in open_.items() if all(n in found for n in needed)]
        if not ready:
            raise ClaimError(
                "statements rest on each other in a circle", value=", ".join(sorted(open_))
            )
        found |= {s: max((found[n] + 1 for n in open_[s]), default=0) for s in ready}
    return found
