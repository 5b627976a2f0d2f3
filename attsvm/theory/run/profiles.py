"""Profiles: how many instances a run looks at, and the seed of each of its shards."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from attsvm.errors import UsageError


@dataclass(frozen=True, slots=True)
class Profile:
    """Budgets for one claim at cost 1; a claim of cost c gets a c-th, at least a few.

    Attributes:
        name: quick or deep.
        shards: independent searches at most, one after the other until one refutes.
        examples: instances drawn by the strategy, a shard.
        ensemble: instances of the claim's seeded ensemble, a shard.
        guided: instances that guided searchers may make up, all together, a shard.
        audits: accepted instances that are re-evaluated exactly although floats found no fault.
        simplify: re-evaluations that shrinking may spend.
        numbers: numbers in an instance of a size beyond the drawn ones at most, whatever the cost.
    """

    name: str
    shards: int
    examples: int
    ensemble: int
    guided: int
    audits: int
    simplify: int
    numbers: int

    def scaled(self, cost: int) -> Profile:
        """Budgets for a claim of that cost."""
        return Profile(
            self.name,
            self.shards,
            max(self.examples // cost, 8),
            max(self.ensemble // cost, 4),
            max(self.guided // cost, 16),
            max(self.audits // cost, 2),
            max(self.simplify // cost, 40),
            self.numbers,
        )


PROFILES = {
    "quick": Profile("quick", 1, 75, 20, 100, 10, 400, 64),
    "deep": Profile("deep", 2, 500, 200, 1500, 60, 1000, 512),
}


def profile_named(name: str) -> Profile:
    """The profile of that name.

    Raises:
        UsageError: there is none.
    """
    try:
        return PROFILES[name]
    except KeyError as error:
        raise UsageError(
            "there is no such profile", value=name, remedy=f"Choose {', '.join(PROFILES)}."
        ) from error


def derive_seed(claim: str, shard: int | str, base: int) -> int:
    """A 64-bit seed from the identity of the work, the same in every process."""
    digest = hashlib.sha256(f"{claim}\x1f{shard}\x1f{base}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
