"""A run: every part of every claim on every shard, on any number of workers, to verdicts."""

from __future__ import annotations

import concurrent.futures
import contextlib
import importlib.metadata
import json
import math
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attsvm.theory import counterexample, files
from attsvm.theory.check import Outcome, check_part, merge
from attsvm.theory.claim import Claim
from attsvm.theory.ledger import Ledger
from attsvm.theory.packs import Pack, find_claims, load_packs
from attsvm.theory.profiles import Profile, profile_named
from attsvm.theory.verdict import Evidence, Truth, Validity, Verdict

__all__ = ["Checked", "Report", "Task", "assess", "finite", "plan", "run_tasks", "verify"]

_THIN = 0.2
"""Below this share of the planned instances a check that refuted nothing is called thin."""


@dataclass(frozen=True, slots=True)
class Task:
    """The unit of work: a part of a claim on one shard."""

    claim: str
    part: str
    shard: int


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with everything that its check came to."""

    claim: Claim
    verdict: Verdict
    reading: Outcome
    siblings: tuple[Outcome, ...]
    reason: str
    counterexample: str | None = None

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one on all three axes."""
        return self.verdict == self.claim.expected.verdict

    @property
    def seconds(self) -> float:
        """Time spent on the reading and its siblings."""
        return self.reading.seconds + sum(o.seconds for o in self.siblings)

    def json(self) -> dict[str, Any]:
        """One entry of `verify --json`."""
        o = self.reading
        return {
            "id": self.claim.id,
            "expected": self.claim.expected.verdict.json(),
            **self.verdict.json(),
            "as_expected": self.as_expected,
            "reason": self.reason,
            "examples": o.examples,
            "rejected": o.rejected,
            "hypotheses": o.hypotheses,
            "undecided": o.undecided,
            "audited": o.audited,
            "min_slack": finite(o.min_slack),
            "tightness": finite(o.tightness),
            "proof": o.proof,
            "counterexample": self.counterexample,
            "siblings": [
                {
                    "name": s.part,
                    "refuted": s.refuted is not None,
                    "evidence": s.refuted.evidence if s.refuted else "none",
                    "examples": s.examples,
                    "found_by": s.refuted.found_by if s.refuted else None,
                    "error": s.error,
                }
                for s in self.siblings
            ],
            "seconds": round(self.seconds, 3),
        }


def finite(value: float | None) -> float | None:
    """The value where JSON can hold it."""
    return value if value is not None and math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Report:
    """All claims of a run."""

    profile: str
    seed: int
    checked: tuple[Checked, ...]

    @property
    def matched(self) -> bool:
        """Whether every verdict is as expected."""
        return all(c.as_expected for c in self.checked)

    def json(self) -> dict[str, Any]:
        """The document of `verify --json`."""
        return {
            "schema": 1,
            "profile": self.profile,
            "seed": self.seed,
            "claims": [c.json() for c in self.checked],
            "matched": self.matched,
        }

    def verdict_bytes(self) -> bytes:
        """The report without times: the same bytes for any number of workers."""
        document = self.json()
        for entry in document["claims"]:
            del entry["seconds"]
        return json.dumps(document, sort_keys=True).encode()


def plan(claims: Sequence[Claim], profile: Profile) -> list[Task]:
    """All tasks, in an order that does not depend on anything but the claims."""
    return [
        Task(claim.id, part.name, shard)
        for claim in claims
        for part in claim.parts()
        for shard in range(profile.shards)
    ]


def assess(
    claim: Claim, reading: Outcome, siblings: Sequence[Outcome], profile: Profile
) -> tuple[Verdict, str]:
    """The verdict on three axes and the sentence that gives its reason."""
    truth, evidence = _truth(claim, reading)
    broken = next((o for o in (reading, *siblings) if o.error), None)
    survivors = [o.part for o in siblings if o.refuted is None]
    planned = profile.scaled(claim.cost).examples * profile.shards
    if broken is not None:
        where = f"sibling {broken.part!r}: " if broken.part else ""
        return Verdict(truth, evidence, Validity.ERROR), f"{where}{broken.error}"
    if reading.refuted is None and reading.examples == 0:
        never = [name for name, count in reading.hypotheses.items() if count == 0]
        said = f"never satisfied: {', '.join(never)}" if never else "no instance met all of them"
        return Verdict(Truth.UNDECIDED, Evidence.NONE, Validity.VACUOUS), (
            f"hypotheses {said} ({reading.rejected} instances)"
        )
    if survivors:
        return Verdict(truth, evidence, Validity.WEAK), f"survived: {'; '.join(survivors)}"
    if reading.refuted is None and reading.drawn < _THIN * planned:
        return Verdict(truth, evidence, Validity.THIN), (
            f"{reading.drawn} instances drawn met the hypotheses, {planned} were planned"
        )
    return Verdict(truth, evidence, Validity.EXERCISED), _reason(reading)


def _truth(claim: Claim, reading: Outcome) -> tuple[Truth, Evidence]:
    if reading.refuted is not None:
        return Truth.REFUTED, Evidence.read(reading.refuted.evidence)
    if reading.error is not None:
        return Truth.UNDECIDED, Evidence.NONE
    if reading.undecided:
        return Truth.UNDECIDED, Evidence.NUMERIC
    if claim.proof is not None and reading.proof:
        return Truth.PROVED, Evidence.SYMBOLIC
    return Truth.HOLDS, Evidence.NUMERIC


def _reason(reading: Outcome) -> str:
    if reading.refuted is not None:
        return f"counterexample by {reading.refuted.found_by}, {reading.refuted.method}"
    if reading.undecided:
        return f"{reading.undecided} instances open: {reading.undecided_note}"
    if reading.proof:
        return f"proved: {reading.proof}"
    return f"{reading.examples} instances, {reading.audited} of them re-evaluated exactly"


_loaded: dict[str, Claim] = {}


def _start_worker(named: tuple[str, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the controlling process ends its workers
    _loaded.update({c.id: c for pack in load_packs(named) for c in pack.claims})


def _work(task: Task, profile: str, seed: int) -> str:
    claim = _loaded[task.claim]
    part = claim.part(task.part)
    return json.dumps(check_part(claim, part, profile_named(profile), task.shard, seed).json())


def run_tasks(
    tasks: Sequence[Task],
    claims: Sequence[Claim],
    profile: Profile,
    seed: int,
    workers: int,
    named: Sequence[str] = (),
) -> Iterator[tuple[Task, Outcome]]:
    """Run the tasks here, or in fresh processes that load the packs themselves.

    Yields in order of completion; what each task yields depends on the task alone.
    """
    by_id = {c.id: c for c in claims}
    if workers == 1:
        for task in tasks:
            claim = by_id[task.claim]
            yield task, check_part(claim, claim.part(task.part), profile, task.shard, seed)
        return
    with worker_pool(workers, named) as pool:
        pending = {pool.submit(_work, task, profile.name, seed): task for task in tasks}
        for future in concurrent.futures.as_completed(pending):
            yield pending[future], Outcome.read(json.loads(future.result()))


@contextlib.contextmanager
def worker_pool(
    workers: int, named: Sequence[str]
) -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    """Fresh processes that load the packs themselves; left early, they are ended at once."""
    context = multiprocessing.get_context("spawn")
    pool = concurrent.futures.ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start_worker, initargs=(tuple(named),)
    )
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise


def verify(
    packs: Sequence[Pack],
    wanted: Sequence[str] = (),
    *,
    profile: str = "quick",
    seed: int = 0,
    workers: int = 1,
    named: Sequence[str] = (),
    ledger: Ledger | None = None,
    examples_folder: Path | None = None,
    progress: Callable[[int, int, Checked | None], None] | None = None,
) -> Report:
    """Check the wanted claims and their siblings.

    Args:
        packs: loaded claim packs.
        wanted: ids, statements or prefixes; empty for all.
        profile: name of the profile.
        seed: base seed.
        workers: processes; 1 runs in this one.
        named: packs that the user named, for the workers to load.
        ledger: where to record events.
        examples_folder: where to store counterexamples of readings; not stored where None.
        progress: called in this process with tasks done, tasks in all, and a claim when its
            last task is done.

    Raises:
        UnknownClaimError, UsageError: bad ids or profile.
        LedgerError, FileError: the ledger or a counterexample cannot be written.
    """
    claims = find_claims(packs, wanted)
    chosen = profile_named(profile)
    tasks = plan(claims, chosen)
    if ledger is not None:
        ledger.append(
            "run",
            profile=profile,
            seed=seed,
            claims=[c.id for c in claims],
            version=importlib.metadata.version("attsvm"),
        )
    outcomes: dict[Task, Outcome] = {}
    finished: dict[str, Checked] = {}
    remaining = {c.id: [t for t in tasks if t.claim == c.id] for c in claims}
    by_id = {c.id: c for c in claims}
    for task, outcome in run_tasks(tasks, claims, chosen, seed, workers, named):
        outcomes[task] = outcome
        if ledger is not None:
            ledger.append("part", shard=task.shard, outcome=_loggable(outcome))
        done = None
        if all(t in outcomes for t in remaining[task.claim]):
            claim = by_id[task.claim]
            done = _conclude(claim, outcomes, chosen, examples_folder)
            finished[claim.id] = done
            if ledger is not None:
                ledger.append("verdict", verdict=done.json())
        if progress is not None:
            progress(len(outcomes), len(tasks), done)
    report = Report(profile, seed, tuple(finished[c.id] for c in claims))
    if ledger is not None:
        ledger.append("finished", matched=report.matched)
    return report


def _loggable(outcome: Outcome) -> dict[str, Any]:
    document = outcome.json()
    document["min_slack"] = finite(outcome.min_slack)
    document["tightness"] = finite(outcome.tightness)
    return document


def _conclude(
    claim: Claim, outcomes: dict[Task, Outcome], profile: Profile, folder: Path | None
) -> Checked:
    merged = [
        merge([outcomes[Task(claim.id, part.name, k)] for k in range(profile.shards)])
        for part in claim.parts()
    ]
    verdict, reason = assess(claim, merged[0], merged[1:], profile)
    stored = None
    if merged[0].refuted is not None and folder is not None:
        path = folder / counterexample.file_name(claim.id)
        files.write_text(path, files.dump(counterexample.document(claim, merged[0])) + "\n")
        stored = path.as_posix()
    return Checked(claim, verdict, merged[0], tuple(merged[1:]), reason, stored)
