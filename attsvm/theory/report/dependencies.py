"""Dependencies between statements: which statements a refuted one affects.

A statement declares the statements that its sentence uses or is derived from in print
(`Statement.rests_on`). If one of them is refuted, the statement may still be true, but its printed
argument needs a repair.
"""

from collections.abc import Iterable, Mapping

from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim

Dependencies = Mapping[str, tuple[str, ...]]
"""By statement, the statements that it rests on."""


def dependencies(claims: Iterable[Claim]) -> dict[str, tuple[str, ...]]:
    """Return for each statement of these claims the statements it rests on, in their order."""
    results: dict[str, dict[str, None]] = {}
    for claim in claims:
        results.setdefault(claim.statement_id, {}).update(dict.fromkeys(claim.rests_on))
    return {statement: tuple(needed) for statement, needed in results.items()}


def resting_on(statement: str, rests: Dependencies) -> list[str]:
    """Return the statements that rest on one, directly or not, in the order of `rests`."""
    reached = {statement}
    while more := {s for s in rests if s not in reached and reached & set(rests[s])}:
        reached |= more
    return [s for s in rests if s in reached and s != statement]


def levels(rests: Dependencies) -> dict[str, int]:
    """Return the level of each statement: 0 if it rests on nothing, else one above its premises.

    Raises:
        ClaimError: statements rest on each other in a circle.
    """
    results: dict[str, int] = {}
    while len(results) < len(rests):
        open_ = {s: [n for n in rests[s] if n in rests] for s in rests if s not in results}
        ready = [s for s, needed in open_.items() if all(n in results for n in needed)]
        if not ready:
            raise ClaimError(
                "statements rest on each other in a circle",
                value=", ".join(sorted(open_)),
                remedy="Remove one of them from the `rests_on` of another.",
            )
        results |= {s: max((results[n] + 1 for n in open_[s]), default=0) for s in ready}
    return results
