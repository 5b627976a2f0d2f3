"""A run: every part of every claim is checked, on any number of workers, and gets a verdict.

A run may reuse outcomes that an earlier run recorded for claims whose code has not changed since. A
reused outcome keeps the id of the run that evaluated it. That run must be complete and in the same
ledger: `attsvm gate` looks the outcome up there, and refuses an outcome that is missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from attsvm._distribution import version
from attsvm._files import dump, finite, write_text
from attsvm._types import Entry, JsonObject
from attsvm.errors import AttsvmError, LedgerError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.checkout import (
    checked_packs,
    circumstances,
    code_of,
    file_beside,
    kept_contents,
    rest_of,
    versions,
)
from attsvm.theory.packs.code_digests import Imports, digest_of, digest_of_claim
from attsvm.theory.packs.code_digests import whole as whole_of
from attsvm.theory.packs.packs import Pack, find_claims, modules
from attsvm.theory.record import curated
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.run.sampling import Profile, profile_named
from attsvm.theory.run.workers import HERE, Workers, known_claim
from attsvm.theory.verification.check import Outcome, check_part
from attsvm.theory.verification.verdicts import Checked, Report, Task, conclude, plan

if TYPE_CHECKING:
    from attsvm.theory.record.counterexample import Replay


def check_job(claim: str, profile: str, seed: str, *named: str) -> str:
    """Check all parts of a claim in this process, and return the outcomes as text.

    All parts are one job, because they share proofs and draws, which a process caches.
    """
    result = known_claim(claim, named)
    budget = profile_named(profile)
    outcomes = [check_part(result, part, budget, int(seed)) for part in result.parts()]
    return json.dumps([outcome.json() for outcome in outcomes])


def run_tasks(
    claims: Sequence[Claim],
    profile: Profile,
    seed: int,
    crew: Workers,
    named: Sequence[str] = (),
) -> Iterator[tuple[Task, Outcome]]:
    """Start the checks of all parts; return an iterator over tasks with outcomes, as they finish.

    An outcome depends on its task alone. Workers start with this call; if this process does the
    work, it checks a part when the caller asks for the next one.
    """
    if crew is HERE:  # the claims may belong to no pack
        return (
            (Task(claim.id, part.name), check_part(claim, part, profile, seed))
            for claim in claims
            for part in claim.parts()
        )
    jobs = [
        crew.submit(check_job, claim.id, profile.name, str(seed), *named)
        for claim in sorted(claims, key=lambda c: -c.cost)  # an expensive last job delays the end
    ]
    return (
        (Task(outcome.claim, outcome.part), outcome)
        for job in crew.completed(jobs)
        for outcome in map(Outcome.read, json.loads(job.result()))
    )


def _silent(*_: object) -> None:
    """Do nothing."""


def verify(
    packs: Sequence[Pack],
    wanted: Sequence[str] = (),
    *,
    profile: str = "quick",
    seed: int = 0,
    crew: Workers | None = None,
    named: Sequence[str] = (),
    ledger: Ledger | None = None,
    examples_folder: Path | None = None,
    progress: Callable[[int, int, Checked | None], None] = _silent,
    replaying: Callable[[Path], None] = _silent,
    reuse: bool = False,
) -> Report:
    """Return the report of a run: curated counterexamples replayed, claims and siblings checked.

    Args:
        packs: loaded claim packs.
        wanted: ids, statements or prefixes; empty for all.
        profile: name of the profile.
        seed: base seed.
        crew: the workers; None for this process.
        named: packs that the user named, for the workers to load.
        ledger: the ledger that records events, if any.
        examples_folder: the folder for counterexamples of readings; None stores none.
        progress: called in this process with tasks done, tasks in all, and a claim when its
            last task is done; first when the counterexamples are replayed.
        replaying: called with each curated counterexample before it is replayed.
        reuse: whether to take over outcomes of an earlier whole run of the ledger, for claims
            with the same code, libraries, profile and seed.

    Raises:
        UnknownClaimError, UsageError: bad ids or profile.
        LedgerError, FileError: the ledger or a counterexample cannot be written.
    """
    claims = find_claims(packs, wanted)
    chosen = profile_named(profile)
    tasks = plan(claims)
    events = Events(ledger)
    head: JsonObject = {}
    earlier: dict[str, Earlier] = {}
    if ledger is not None and reuse:
        head = head_of(packs, claims, profile, seed, ledger)
        result = evaluated(ledger.path, profile, seed, head["bases"])
        earlier = {c.id: e for c in claims if (e := reused(c, result)) is not None}
    anew = [claim for claim in claims if claim.id not in earlier]
    checking = run_tasks(anew, chosen, seed, crew or HERE, named)
    if ledger is not None and not head:
        head = head_of(packs, claims, profile, seed, ledger)  # beside the crew
    events.begun(head)
    replays = curated.replays(packs, claims, replaying)
    replayed = [*map(events.replayed, replays)]  # beside the crew
    progress(0, len(tasks), None)
    outcomes: dict[Task, Outcome] = {}
    finished: dict[str, Checked] = {}
    remaining = {c.id: [t for t in tasks if t.claim == c.id] for c in claims}
    by_id = {c.id: c for c in claims}
    imports = Imports()
    for claim in claims:
        if claim.id not in earlier:
            continue
        before = earlier[claim.id]
        for document in before.outcomes.values():
            events.again(document, before.run)
            outcome = Outcome.read(document)
            outcomes[Task(outcome.claim, outcome.part)] = outcome
        again = replace(conclude(claim, outcomes, chosen), reused=before.run)
        finished[claim.id] = events.verdict(_stored(again, examples_folder, imports))
        progress(len(outcomes), len(tasks), finished[claim.id])
    for task, outcome in checking:
        outcomes[task] = events.part(outcome)
        done = None
        if all(t in outcomes for t in remaining[task.claim]):
            claim = by_id[task.claim]
            done = _stored(conclude(claim, outcomes, chosen), examples_folder)
            finished[claim.id] = events.verdict(done)
        progress(len(outcomes), len(tasks), done)
    report = Report(profile, seed, tuple(finished[c.id] for c in claims), tuple(replayed))
    if ledger is not None:
        checked = checked_packs(packs, [c.id for c in claims])
        ensure_same_code(checked, head["code"], ledger)
    return events.finished(report)


def head_of(
    packs: Sequence[Pack], claims: Sequence[Claim], profile: str, seed: int, ledger: Ledger
) -> JsonObject:
    """Return a ledger's record of the start of a run: the claims, the code and the machine."""
    with kept_contents(file_beside(ledger.path)):
        code = code_of(checked_packs(packs, [c.id for c in claims]), ledger.path)
        bases = bases_of(packs, claims, code)
    return {
        "profile": profile,
        "seed": seed,
        "claims": [c.id for c in claims],
        "curated": [curated.shown(f, p) for f, p in curated.chosen(packs, claims).items()],
        "version": version(),
        "versions": versions(),
        "made": circumstances(packs[0].folder if packs else Path()),
        "code": code,
        "bases": bases,
    }


def ensure_same_code(packs: Sequence[Pack], before: Mapping[str, str], ledger: Ledger) -> None:
    """Raise unless the code of packs is the same as at the start of their run.

    Raises:
        LedgerError: the code was changed; the record of the run stays unfinished.
    """
    if code_of(packs, ledger.path) != before:
        raise LedgerError(
            "the code was changed during the run, so the run does not count",
            value=str(ledger.path),
            remedy="Run it again.",
        )


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a run, each recorded as it happens; most methods return their argument.

    Attributes:
        ledger: the ledger that records events; None records none.
    """

    ledger: Ledger | None

    def begun(self, head: Entry) -> None:
        """Record that the run begins; see `head_of`."""
        self._append("run", lambda: dict(head))

    def replayed(self, replay: Replay) -> Replay:
        """Record that a curated counterexample was replayed, and return the replay."""
        self._append("replay", lambda: {"replay": replay.json()})
        return replay

    def part(self, outcome: Outcome, reused: str | None = None) -> Outcome:
        """Record the outcome of a part, of the earlier run `reused` if any, and return it."""

        def content() -> JsonObject:
            document = outcome.json()
            slacks = {k: finite(document[k]) for k in ("min_slack", "tightness", "max_slack")}
            origin = {"reused": reused} if reused else {}
            return {"outcome": document | slacks, **origin}

        self._append("part", content)
        return outcome

    def again(self, document: Mapping[str, object], run: str) -> None:
        """Record that an outcome of an earlier run is taken over unchanged."""
        self._append("part", lambda: {"outcome": document, "reused": run})

    def verdict(self, checked: Checked) -> Checked:
        """Record that all parts of a claim were checked, and return the claim's results."""
        self._append("verdict", lambda: {"verdict": checked.json()})
        return checked

    def finished(self, report: Report) -> Report:
        """Record that all claims were checked, and return the report."""
        self._append("finished", lambda: {"matched": report.matched})
        return report

    def _append(self, event: str, content: Callable[[], JsonObject]) -> None:
        if self.ledger is not None:  # build no document in vain: it costs time and may raise
            self.ledger.append(event, **content())


def record(ledger: Ledger, head: Entry, over: Report) -> None:
    """Record a completed run, as `verify` records its own while it lasts.

    Raises:
        LedgerError: the ledger cannot be written.
    """
    events = Events(ledger)
    events.begun(head)
    for replay in over.replayed:
        events.replayed(replay)
    for checked in over.checked:
        for outcome in (checked.reading, *checked.siblings):
            events.part(outcome, checked.reused)
        events.verdict(checked)
    events.finished(over)


def _stored(done: Checked, folder: Path | None, imports: Imports | None = None) -> Checked:
    """Return the claim with its counterexample stored in the folder, if there are both."""
    if done.reading.refuted is None or folder is None:
        return done
    path = folder / curated.file_name(done.claim.id)
    if imports is None or not _is_there(path, done, imports):
        from attsvm.theory.record import counterexample  # only for refuted claims

        document = counterexample.document(done.claim, done.reading.refuted)
        write_text(path, dump(document) + "\n")
    return replace(done, counterexample=path.as_posix())


def _is_there(path: Path, done: Checked, imports: Imports) -> bool:
    """Return whether a file holds the counterexample of an outcome, found by the present code."""
    from attsvm.theory.record import counterexample

    try:
        stored = counterexample.read(path)
    except AttsvmError:
        return False
    result = done.reading.refuted
    return (
        result is not None
        and (stored.get("claim"), stored.get("sibling")) == (done.claim.id, None)
        and (stored["instance"], stored.get("slack")) == (result.instance, result.slack)
        and stored.get("fingerprint") == digest_of_claim(done.claim, imports)
    )


@dataclass(frozen=True, slots=True)
class Earlier:
    """The outcomes of one claim that an earlier run evaluated.

    Attributes:
        run: the id of the run.
        outcomes: the recorded outcomes by part; part "" is the reading.
    """

    run: str
    outcomes: Mapping[str, JsonObject]


def bases_of(
    packs: Sequence[Pack], claims: Iterable[Claim], code: Mapping[str, str]
) -> dict[str, str]:
    """Return for each claim a digest of everything that its outcomes depend on.

    The digest covers:

    - the modules that the statement and the proof import;
    - data files and other modules of the pack;
    - all of attsvm, and the versions of Python and of libraries;
    - all other loaded packs, because their modules may change any module.

    It covers neither profile nor seed, which `evaluated` compares, nor files outside the packs that
    the code may read.

    Args:
        packs: the packs of the claims.
        claims: the claims.
        code: the digests of files, as `code_of` returns them.
    """
    imports = Imports()
    engine = [f"{name} {digest}" for name, digest in code.items() if name.startswith("attsvm/")]
    shared = [*sorted(engine), *(f"{name} {version}" for name, version in versions().items())]
    results: dict[str, str] = {}
    wanted = {claim.id for claim in claims}
    for pack in packs:
        chosen = [claim for claim in pack.claims if claim.id in wanted]
        if not chosen:  # other digests take a second
            continue
        others = [
            whole_of(module.__file__)
            for other in sorted(packs, key=lambda other: other.name)
            if other.name != pack.name
            for module in modules(other)
            if module.__file__
        ]
        rest = [*shared, *rest_of([pack]).values(), *others]
        for claim in chosen:
            results[claim.id] = digest_of("\n".join([digest_of_claim(claim, imports), *rest]))
    return results


def evaluated(
    path: str | os.PathLike[str], profile: str, seed: int, bases: Mapping[str, str]
) -> dict[str, Earlier]:
    """Return the outcomes of claims in the complete runs of a ledger, the latest for each claim.

    Args:
        path: the ledger; a missing file holds no run.
        profile: the profile of the runs; runs of other profiles are left out.
        seed: the seed of the runs; runs of other seeds are left out.
        bases: digests by claim, as `bases_of` returns them; outcomes of other code are left out.

    Raises:
        LedgerError: the file cannot be read, or is no ledger.
    """
    from attsvm.theory.record.runs import finished_runs  # only for outcomes that are taken over

    results: dict[str, Earlier] = {}
    for run in finished_runs(path, profile, seed) if os.path.isfile(path) else ():
        outcomes: dict[str, dict[str, JsonObject]] = {}
        for outcome, origin in zip(run.parts, run.origins, strict=True):
            # only what a run evaluated itself counts, so that no outcome is older than its run
            if not origin and isinstance(outcome, dict):
                outcomes.setdefault(str(outcome.get("claim")), {})[str(outcome.get("part"))] = (
                    outcome
                )
        for claim, parts in outcomes.items():
            if claim in bases and run.bases.get(claim) == bases[claim]:
                results[claim] = Earlier(run.id, parts)
    return results


def reused(claim: Claim, earlier: Mapping[str, Earlier]) -> Earlier | None:
    """Return the outcomes of a claim in an earlier run, if that run evaluated all its parts."""
    result = earlier.get(claim.id)
    whole = result is not None and {p.name for p in claim.parts()} == result.outcomes.keys()
    return result if whole else None
