"""Profiles: the number of instances a run examines, and the seed of each shard."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from attsvm.errors import UsageError


@dataclass(frozen=True, slots=True)
class Profile:
    """The budgets of a claim of cost 1; a claim of cost c gets 1/c of them, or a minimum if larger.

    Attributes:
        name: quick or deep.
        shards: maximum number of independent searches, run in turn until one refutes.
        examples: number of instances drawn by the strategy, per shard.
        ensemble: number of instances of the claim's seeded ensemble, per shard.
        guided: number of instances that all guided searchers together may make, per shard.
        audits: number of accepted instances re-evaluated exactly although floats accept them.
        simplify: number of re-evaluations that shrinking may use.
        numbers: maximum count of numbers in an instance larger than the drawn ones; not scaled.
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
        """Return the budgets of a claim of this cost."""
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
    """Return the profile of this name.

    Raises:
        UsageError: there is no such profile.
    """
    try:
        return PROFILES[name]
    except KeyError as error:
        raise UsageError(
            "there is no such profile", value=name, remedy=f"Choose {', '.join(PROFILES)}."
        ) from error


def derive_seed(claim: str, shard: int | str, base: int) -> int:
    """Return a 64-bit seed derived from claim, shard and base; it is the same in every process."""
    digest = hashlib.sha256(f"{claim}\x1f{shard}\x1f{base}".encode()).digest()
    return int.from_bytes(digest[:8], "big")
