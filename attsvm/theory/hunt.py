"""A hunt: rounds of fresh seeds against one claim until a counterexample or the time is up."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attsvm.theory.check import Outcome, check_part
from attsvm.theory.claim import Claim
from attsvm.theory.profiles import PROFILES
from attsvm.theory.verify import Task, _work, finite, worker_pool

__all__ = ["Hunt", "hunt"]

PROFILE = "ci"
"""Budget of one round."""


@dataclass(frozen=True, slots=True)
class Hunt:
    """How a hunt ended.

    Attributes:
        claim: what was hunted.
        found: the outcome that holds a confirmed counterexample, if any.
        rounds, examples, undecided: how hard it was looked for.
        closest: the largest ratio or the least slack that a search came to.
        error: what broke, if anything.
        seconds: wall time.
    """

    claim: Claim
    found: Outcome | None
    rounds: int
    examples: int
    undecided: int
    tightness: float | None
    min_slack: float | None
    error: str | None
    seconds: float

    def json(self) -> dict[str, Any]:
        """As plain data, schema 1."""
        return {
            "schema": 1,
            "claim": self.claim.id,
            "found": self.found is not None,
            "rounds": self.rounds,
            "examples": self.examples,
            "undecided": self.undecided,
            "tightness": finite(self.tightness),
            "min_slack": finite(self.min_slack),
            "error": self.error,
            "seconds": round(self.seconds, 3),
        }


def hunt(
    claim: Claim,
    *,
    seconds: float,
    seed: int,
    workers: int,
    named: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Hunt:
    """Search until a counterexample is confirmed or the time is up; at least one round is run.

    Round k uses the seed of shard k; the lowest round that found one wins.
    """
    started = time.perf_counter()
    outcomes: list[Outcome] = []
    for outcome in _rounds(claim, started + seconds, seed, workers, named):
        outcomes.append(outcome)
        if progress is not None:
            progress(len(outcomes), sum(o.examples for o in outcomes))
        if outcome.refuted is not None or outcome.error is not None:
            break
    ratios = [o.tightness for o in outcomes if o.tightness is not None]
    slacks = [o.min_slack for o in outcomes if o.min_slack is not None]
    return Hunt(
        claim=claim,
        found=next((o for o in outcomes if o.refuted is not None), None),
        rounds=len(outcomes),
        examples=sum(o.examples for o in outcomes),
        undecided=sum(o.undecided for o in outcomes),
        tightness=max(ratios, default=None),
        min_slack=min(slacks, default=None),
        error=next((o.error for o in outcomes if o.error), None),
        seconds=time.perf_counter() - started,
    )


def _rounds(
    claim: Claim, deadline: float, seed: int, workers: int, named: Sequence[str]
) -> Iterator[Outcome]:
    if workers == 1:
        shard = 0
        while shard == 0 or time.perf_counter() < deadline:
            yield check_part(claim, claim.part(""), PROFILES[PROFILE], shard, seed)
            shard += 1
        return
    with worker_pool(workers, named) as pool:
        shard = 0
        while shard == 0 or time.perf_counter() < deadline:
            wave = [
                pool.submit(_work, Task(claim.id, "", shard + k), PROFILE, seed)
                for k in range(workers)
            ]
            for future in wave:
                yield Outcome.read(json.loads(future.result()))
            shard += workers
