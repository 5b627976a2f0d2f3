"""A run: every part of every claim is checked, on any number of workers, and gets a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attsvm._distribution import version
from attsvm._files import dump, finite, write_text
from attsvm._types import Entry, JsonObject
from attsvm._words import counted
from attsvm.errors import AttsvmError, LedgerError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.instances import domains
from attsvm.theory.declaration.judge import sides
from attsvm.theory.declaration.typesetting import typeset
from attsvm.theory.declaration.verdict import (
    Evidence,
    Truth,
    Validity,
    Verdict,
    usual_evidence,
)
from attsvm.theory.instance import codec
from attsvm.theory.packs.checkout import (
    checked_packs,
    circumstances,
    code_of,
    versions,
)
from attsvm.theory.packs.code_digests import Imports, digest_of_claim
from attsvm.theory.packs.packs import Pack, find_claims
from attsvm.theory.record import counterexample, curated
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.run.bounded import JUDGED_STEPS, SCREENED_STEPS
from attsvm.theory.run.coverage import warnings_of
from attsvm.theory.run.sampling import Profile, profile_named
from attsvm.theory.run.workers import HERE, Workers, known_claim
from attsvm.theory.verification.check import Outcome, check_part, with_siblings
from attsvm.theory.verification.reuse import Earlier, bases_of, evaluated, reused

_THIN = 0.2
"""Least share of the planned instances; a check that refuted nothing on fewer is thin."""

_DECIDED = 0.5
"""Least share of exactly decided instances, if floats follow a stand-in; with less, it is thin."""


@dataclass(frozen=True, slots=True)
class Task:
    """A part of a claim: the unit that is checked, counted and recorded."""

    claim: str
    part: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with all results of its check.

    `reused` is the id of the earlier run that evaluated the claim, None if this run did.
    """

    claim: Claim
    verdict: Verdict
    reading: Outcome
    siblings: tuple[Outcome, ...]
    reason: str
    counterexample: str | None = None
    reused: str | None = None

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one on all three axes."""
        return self.verdict == self.claim.expected.verdict

    @property
    def seconds(self) -> float:
        """Time spent on the reading and its siblings."""
        return self.reading.seconds + sum(o.seconds for o in self.siblings)

    @property
    def warnings(self) -> list[str]:
        """Warnings about blind spots of the search, if it did not refute the reading."""
        o = self.reading
        if o.refuted is not None or o.error is not None:
            return []
        ends = domains(self.claim.formula.variables).keys()
        settled = {name for s in self.claim.siblings for name in s.drop}
        settled |= {h.name for h in self.claim.formula.hypotheses.values() if h.setting}
        # a formula has no slack to warn of: the judge answers 0 for an equality that is true,
        # and floats screen by the residual
        slacks = self.claim.formula.measured is not None
        return warnings_of(
            o,
            slacks=slacks,
            stepped=self.claim.formula.stepped,
            undropped=frozenset(o.hypotheses) - settled - ends,
        )

    @property
    def _unneeded(self) -> dict[str, str]:
        """Hypotheses that the search could leave out, by the siblings that survived without them.

        A survivor is no fault of the check: the hypothesis may not be needed, or the search was
        too short to show that it is.
        """
        alone = {s.name: s.drop[0] for s in self.claim.siblings if s.automatic}
        return {o.part: alone[o.part] for o in self.siblings if o.part in alone and not o.refuted}

    @property
    def _needed(self) -> dict[str, JsonObject]:
        """Hypotheses that the reading needs, each with an instance that refutes it without them.

        Empty if the reading itself is refuted.
        """
        siblings = self.claim.siblings if self.reading.refuted is None else ()
        alone = {s.name: s.drop[0] for s in siblings if len(s.drop) == 1 and s.only_drops}
        return {
            alone[o.part]: {
                **{name: getattr(o.refuted, name) for name in ("evidence", "found_by", "instance")},
                "sibling": o.part,
            }
            for o in self.siblings
            if o.part in alone and o.refuted
        }

    def json(self) -> JsonObject:
        """Return one entry of `verify --json`."""
        o = self.reading
        return {
            "id": self.claim.id,
            "expected": self.claim.expected.verdict.json(),
            **self.verdict.json(),
            "as_expected": self.as_expected,
            "reason": self.reason,
            "statement": self.claim.statement,
            "formula": typeset(self.claim.formula).json(),
            "place": f"{self.claim.source}, {self.claim.place}",
            **{name: getattr(o, name) for name in _COPIED},
            "decided": _decided(self.claim, o),
            "stand_in": _stand_in(self.claim),
            "by_stand_in": _by_stand_in(self.claim, o),
            "min_slack": finite(o.min_slack),
            "tightness": finite(o.tightness),
            "variables": o.varied,
            "warnings": self.warnings,
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
                if s.part not in self._unneeded
            ],
            "needed": self._needed,
            "not_shown_to_be_needed": [
                *(() if self.verdict.validity is Validity.ERROR else self._unneeded.values())
            ],
            "seconds": round(self.seconds, 3),
            **({"reused": self.reused} if self.reused else {}),
        }


_COPIED = (
    *("examples", "rejected", "hypotheses", "undecided", "audited", "probed", "refused", "open"),
    *("distinct", "settled", "given_up", "given_up_note", "unexamined", "broke", "broke_note"),
    *("screened", "coverage", "proof", "steps"),
)
"""Fields of the reading's outcome that an entry copies unchanged."""


@dataclass(frozen=True, slots=True)
class Report:
    """All claims of a run, and the curated counterexamples that it replayed first."""

    profile: str
    seed: int
    checked: tuple[Checked, ...]
    replayed: tuple[counterexample.Replay, ...] = ()

    @property
    def matched(self) -> bool:
        """Whether every verdict is as expected and every curated counterexample stands."""
        stand = all(r.confirmed for r in self.replayed)
        return stand and all(c.as_expected for c in self.checked)

    def json(self) -> JsonObject:
        """Return the document of `verify --json`."""
        return {
            "schema": 1,
            "profile": self.profile,
            "seed": self.seed,
            "replayed": [r.json() for r in self.replayed],
            "claims": [c.json() for c in self.checked],
            "matched": self.matched,
        }

    def verdict_bytes(self) -> bytes:
        """Return the report without times: the same bytes for any number of workers."""
        document = self.json()
        for entry in document["claims"]:
            del entry["seconds"]
        return json.dumps(document, sort_keys=True).encode()


def plan(claims: Sequence[Claim]) -> list[Task]:
    """Return all tasks, in an order that depends on the claims alone."""
    return [Task(claim.id, part.name) for claim in claims for part in claim.parts()]


def _stand_in(claim: Claim) -> str:
    """Return the name of the stand-in that a claim's floats follow, "" if they follow the claim."""
    measured = claim.formula.measured
    return "" if measured is None else measured.stand_in


def _decided(claim: Claim, reading: Outcome) -> int:
    """Return the number of ordinary instances that were decided exactly.

    For a formula these are all instances that are not open: its judge decides exactly or not
    at all.
    """
    measured = claim.formula.measured
    return reading.examples - reading.undecided if measured is None else reading.decided


def _by_stand_in(claim: Claim, reading: Outcome) -> int:
    """Return the number of ordinary instances that only a stand-in in floats accepts."""
    left = reading.examples - reading.decided - reading.undecided
    return left if _stand_in(claim) else 0


def assess(
    claim: Claim, reading: Outcome, siblings: Sequence[Outcome], profile: Profile
) -> tuple[Verdict, str]:
    """Return the verdict on three axes and the sentence that gives its reason.

    Validity is that of the first defect in this order:

    - an error, or no instance that meets the hypotheses;
    - a sibling that survived;
    - too few instances, or too many that only a stand-in decided;
    - a conclusion, a variable or a hypothesis that was the same on every instance.

    If the reading is refuted, only errors and surviving siblings count: one counterexample is
    enough.
    """
    truth, evidence = _truth(claim, reading)
    broken = next((o for o in (reading, *siblings) if o.error), None)
    automatic = {s.name for s in claim.siblings if s.automatic}
    survivors = [o.part for o in siblings if o.refuted is None and o.part not in automatic]
    fallen = sum(o.refuted is not None for o in siblings)
    planned = profile.scaled(claim.cost).examples * profile.shards
    if broken is not None:
        where = f"sibling {broken.part!r}: " if broken.part else ""
        return Verdict(truth, evidence, Validity.ERROR), f"{where}{broken.error}"
    if reading.refuted is None and reading.examples == 0:
        never = [name for name, count in reading.hypotheses.items() if count == 0]
        text = f"never satisfied: {', '.join(never)}" if never else "no instance met all of them"
        return Verdict(Truth.UNDECIDED, Evidence.NONE, Validity.VACUOUS), (
            f"hypotheses {text} ({counted(reading.rejected, 'instance')}){_left_out(reading)}"
        )
    if survivors:
        text = f"survived: {'; '.join(survivors)}"
        if reading.refuted is not None and claim.expected.truth is not Truth.REFUTED:
            text = f"{_reason(claim, reading)}; siblings that {text}"
        return Verdict(truth, evidence, Validity.WEAK), text
    if siblings and not fallen:
        return Verdict(truth, evidence, Validity.WEAK), "no sibling was refuted"
    if reading.refuted is None and not reading.settled:
        formula = claim.formula.batches
        seen = reading.distinct if formula else reading.drawn
        if seen < _THIN * planned:
            instances = counted(seen, "different instance" if formula else "instance")
            how = "met the hypotheses and were judged" if formula else "drawn met the hypotheses"
            return Verdict(truth, evidence, Validity.THIN), (
                f"{instances} {how}, {planned} were planned{_left_out(reading)}"
            )
    alone = _by_stand_in(claim, reading)
    if reading.refuted is None and alone > (1.0 - _DECIDED) * reading.examples:
        looked = counted(reading.examples, "instance")
        text = f"{alone} of {looked} decided by {_stand_in(claim)} alone"
        return Verdict(truth, evidence, Validity.THIN), text
    if reading.refuted is None and reading.sides == 1 and reading.drawn > 1:
        text = "both sides of the conclusion are the same on every instance"
        return Verdict(truth, evidence, Validity.WEAK), text
    if reading.refuted is None and reading.unread:
        text = f"neither a hypothesis nor the conclusion reads: {', '.join(reading.unread)}"
        return Verdict(truth, evidence, Validity.THIN), text
    still = [name for name, values in reading.varied.items() if values < 2]
    if reading.refuted is None and still:
        return Verdict(truth, evidence, Validity.THIN), f"never varied: {', '.join(still)}"
    met = _never_violated(siblings)
    if reading.refuted is None and met:
        text = f"never violated, not even for the sibling that drops it: {', '.join(met)}"
        return Verdict(truth, evidence, Validity.THIN), text
    return Verdict(truth, evidence, Validity.EXERCISED), _reason(claim, reading)


def _never_violated(siblings: Sequence[Outcome]) -> list[str]:
    """Return the hypotheses that every instance satisfies, even if a sibling drops them."""
    names = dict.fromkeys(name for o in siblings for name in o.missed)
    return [n for n in names if not any(o.missed.get(n, 0) for o in siblings)]


def _truth(claim: Claim, reading: Outcome) -> tuple[Truth, Evidence]:
    if reading.refuted is not None:
        return Truth.REFUTED, Evidence.read(reading.refuted.evidence)
    if reading.error is not None:
        return Truth.UNDECIDED, Evidence.NONE
    proved = claim.proof is not None and reading.proof
    truth = Truth.UNDECIDED if reading.undecided else Truth.PROVED if proved else Truth.HOLDS
    return truth, usual_evidence(truth, measured=claim.formula.measured is not None)


def _reason(claim: Claim, reading: Outcome) -> str:
    if reading.refuted is not None:
        result = f"counterexample by {reading.refuted.found_by}, {reading.refuted.method}"
        formula = claim.formula
        if formula.measured or claim.expected.truth is Truth.REFUTED:
            return result
        case = codec.decode(reading.refuted.instance, claim.instance_type)
        text = sides(formula, {}, case)
        return f"{result}; the conclusion says {text} there, which is false"
    if reading.undecided:
        return f"{counted(reading.undecided, 'instance')} open: {reading.undecided_note}"
    if reading.proof:
        return f"proved: {reading.proof}"
    looked = counted(reading.examples, "instance")
    if claim.formula.measured is None:
        every = f"all {looked} that there are" if reading.settled else looked
        return f"{every}, each decided in rationals or balls{_left_out(reading)}"
    alone = _by_stand_in(claim, reading)
    text = f"{looked}, {reading.decided} of them decided by a certificate as well"
    return f"{text}, {alone} by {_stand_in(claim)} alone" if _stand_in(claim) else text


def _left_out(reading: Outcome) -> str:
    """Return a note on evaluations that took too many steps; "" if there are none."""
    if not reading.given_up_note:
        return ""
    return (
        f"; {counted(reading.given_up, 'evaluation')} left out, of more than {JUDGED_STEPS} steps "
        f"of Python ({SCREENED_STEPS} in all searches in floats), first {reading.given_up_note}"
    )


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
    code = code_of(checked_packs(packs, [c.id for c in claims]), ledger.path)
    return {
        "profile": profile,
        "seed": seed,
        "claims": [c.id for c in claims],
        "curated": [curated.shown(f, p) for f, p in curated.chosen(packs, claims).items()],
        "version": version(),
        "versions": versions(),
        "made": circumstances(packs[0].folder if packs else Path()),
        "code": code,
        "bases": bases_of(packs, claims, code),
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

    def replayed(self, replay: counterexample.Replay) -> counterexample.Replay:
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


def conclude(claim: Claim, outcomes: Mapping[Task, Outcome], profile: Profile) -> Checked:
    """Return the verdict of a claim from the outcomes of all its parts."""
    reading, *siblings = (outcomes[Task(claim.id, part.name)] for part in claim.parts())
    return concluded(claim, reading, siblings, profile)


def concluded(
    claim: Claim, reading: Outcome, siblings: Sequence[Outcome], profile: Profile
) -> Checked:
    """Return the verdict of a claim from the outcomes of its reading and of some siblings."""
    reading = with_siblings(reading, siblings)
    verdict, reason = assess(claim, reading, siblings, profile)
    return Checked(claim, verdict, reading, tuple(siblings), reason)


def _stored(done: Checked, folder: Path | None, imports: Imports | None = None) -> Checked:
    """Return the claim with its counterexample stored in the folder, if there are both."""
    if done.reading.refuted is None or folder is None:
        return done
    path = folder / counterexample.file_name(done.claim.id)
    if imports is None or not _is_there(path, done, imports):
        document = counterexample.document(done.claim, done.reading.refuted)
        write_text(path, dump(document) + "\n")
    return replace(done, counterexample=path.as_posix())


def _is_there(path: Path, done: Checked, imports: Imports) -> bool:
    """Return whether a file holds the counterexample of an outcome, found by the present code."""
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
