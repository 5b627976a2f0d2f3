"""The gate: it compares a run's ledger with the reviewed expectations, in both directions.

A run passes if all of this is true:

- its record is whole;
- it ran the code that is checked out;
- every claim is as it was reviewed;
- every verdict follows from the recorded outcomes of its parts;
- every verdict is the reviewed one.
"""

import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from functools import partial
from types import MappingProxyType

from attsvm._types import Entry
from attsvm._words import counted, printable
from attsvm.errors import AttsvmError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Truth, Verdict
from attsvm.theory.gate.expectations import UNREVIEWED, Expectation
from attsvm.theory.gate.reviewed import CODE, differences
from attsvm.theory.gate.scope import Checkout, absent, claim_of
from attsvm.theory.instance import codec
from attsvm.theory.instance.letters import letters_in_words
from attsvm.theory.record.counterexample import replay_instance
from attsvm.theory.record.runs import NOT_REPLAYED, Run
from attsvm.theory.run.sampling import PROFILES, profile_named
from attsvm.theory.verification.check import Outcome
from attsvm.theory.verification.verdicts import Task, conclude, plan
from attsvm.theory.verification.verify import Earlier

_NAMED = 5
"""Maximum number of files, or claims, that one reason names."""

_ODD = (TypeError, KeyError, ValueError, AttributeError)
"""Errors that reading a record of another form raises."""

_GONE = "reviewed, but the claim no longer exists"
"""Text of the reason that an expectation has no claim."""

_LISTED = 20
"""Maximum number of reasons of one rank in the short list."""


class Rank(IntEnum):
    """The subject of a reason; the most important rank first."""

    RUN = auto()
    VERDICT = auto()
    MISSING = auto()
    STATEMENT = auto()
    REVIEW = auto()
    COUNTEREXAMPLE = auto()


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why a run may not pass.

    Attributes:
        rank: its subject.
        about: the id of the claim, or the file; empty if the reason is about the run itself.
        text: a sentence.
    """

    rank: Rank
    about: str
    text: str

    def __str__(self) -> str:
        return printable(f"{self.about}: {self.text}" if self.about else self.text)


def hold(
    run: Run,
    expectations: Mapping[str, Expectation],
    today: datetime.date,
    checkout: Checkout | None = None,
    rest: Mapping[str, str] = MappingProxyType({}),
    *,
    profile: str = "quick",
    seed: int = 0,
) -> tuple[Reason, ...]:
    """Return every reason why the run may not pass, the most important first.

    A run without reasons passes.

    Args:
        run: the run as recorded.
        expectations: the reviewed verdicts.
        today: the date for expectations that lapse.
        checkout: the claims and code that are checked out; None judges the record alone.
        rest: by pack, the reviewed digest of files that no claim imports.
        profile: the profile that the run must have.
        seed: the seed that the run must have.
    """
    whole = list(_record(run, profile, seed))
    reasons = [*_verdicts(run, expectations, today, checkout), *_replays(run)]
    if checkout is not None:
        other = list(stale(run, checkout.code))
        whole += other
        if not other:  # this code cannot derive the verdicts of other code
            reasons += _recomputed(run, expectations, checkout)
        reasons += _unlike(run, expectations, checkout)
        reasons += (Reason(Rank.REVIEW, "", text) for text in changed_rest(rest, checkout.rest))
    every = [*(Reason(Rank.RUN, "", text) for text in whole), *reasons]
    return tuple(sorted(every, key=lambda reason: (reason.rank, reason.about)))


def _record(run: Run, profile: str, seed: int) -> Iterator[str]:
    """Yield the faults of the run as a whole."""
    are = "is" if run.damaged == 1 else "are"
    damaged = f"{counted(run.damaged, 'line')} of the run {are} damaged"
    if not run.finished:
        done = f"{len(run.verdicts)} of {counted(len(run.claims), 'claim')}"
        also = f", and {damaged}" if run.damaged else ""
        yield f"the run did not finish: {done} came to a verdict{also}"
    elif run.damaged:
        yield damaged
    yield from run.faults
    if not run.claims:
        yield "the run checked no claim"
    if (run.profile, run.seed) != (profile, seed):
        yield (
            f"the run is of profile {run.profile} and seed {run.seed}, not {profile} and {seed}; "
            "run `attsvm verify` again, or pass --profile and --seed to `attsvm gate`"
        )
    off = [n for n, v in run.verdicts.items() if v.get("as_expected") is not True]
    off += [file for file, result, _ in run.fallen if result != NOT_REPLAYED]
    # the last event repeats what the verdicts say; if they contradict it, one of them was edited
    if run.matched is not None and run.matched is bool(off):
        text = (
            f"that all verdicts matched, but {off[0]} did not"
            if off
            else "that some verdict did not match, but all did"
        )
        yield f"the last event of the run says {text}"


def _verdicts(
    run: Run,
    expectations: Mapping[str, Expectation],
    today: datetime.date,
    checkout: Checkout | None,
) -> Iterator[Reason]:
    """Yield the faults of the verdicts, claim by claim."""
    for claim in sorted(set(run.claims) | set(run.verdicts) | set(expectations)):
        expected = expectations.get(claim)
        got = run.verdicts.get(claim)
        if expected is None:
            text = "checked, but its expected verdict was never reviewed"
            yield Reason(Rank.MISSING, claim, text)
            continue
        if not expected.is_reviewed:
            text = (
                f'its reason in the expectations says "{UNREVIEWED}"; '
                "write there why its verdict is to be expected"
            )
            yield Reason(Rank.REVIEW, claim, text)
        if expected.until is not None and today > expected.until:
            text = f"the expectation lapsed on {expected.until}; review it"
            yield Reason(Rank.REVIEW, claim, text)
        if got is None:
            known = "skipped by the run" if claim in run.claims else "not part of the run"
            if run.finished:
                yield Reason(Rank.MISSING, claim, f"expected {expected.verdict}, {known}")
            continue
        for text in _compare(expected.verdict, got, partial(_refuting, run, claim, checkout)):
            yield Reason(Rank.VERDICT, claim, text)


def _compare(expected: Verdict, got: Entry, refuting: Callable[[], str]) -> Iterator[str]:
    """Yield how a verdict differs from the expected one, and why."""
    want, results = expected.json(), {axis: got.get(axis) for axis in expected.json()}
    changed = [axis for axis in want if results[axis] != want[axis]]
    if "truth" in changed and "evidence" in changed:
        changed.remove("evidence")  # another truth comes with its own evidence
    lines = ", ".join(
        f"{'' if axis == 'truth' else f'{axis} '}{want[axis]} -> {results[axis]}"
        for axis in changed
    )
    by = ""
    if changed == ["truth"] and results["truth"] == str(Truth.REFUTED):
        by = refuting()
    if by:
        lines += f" by {by}"
    elif changed:
        lines += f": {got.get('reason', '')}"
    if changed:
        yield lines
    declared = got.get("expected")
    if declared != want:
        words = declared
        if isinstance(declared, dict) and set(declared) == set(want):
            words = ", ".join(str(declared[axis]) for axis in want)
        yield (
            f"its file declares {words}; reviewed is {expected}. --update never changes a verdict: "
            "correct the file, or edit the entry of the expectations by hand"
        )
    siblings = [(str(s.get("name")), s.get("refuted")) for s in got.get("siblings", [])]
    shown = lines.partition("survived: ")[2].split("; ")
    survived = [name for name, refuted in siblings if refuted is not True and name not in shown]
    if survived:
        yield f"false siblings that were not refuted: {'; '.join(survived)}"
    elif not siblings:
        yield "it has no false sibling that was refuted"


def _refuting(run: Run, claim: str, checkout: Checkout | None) -> str:
    """Return the instance that refutes a claim, in plain words, and its file, if known."""
    file = run.verdicts[claim].get("counterexample")
    results = [o for o in run.parts if claim_of(o) == claim and not o.get("part")]
    words = ""
    if checkout is not None and claim in checkout.claims:
        try:
            refuted = next(o["refuted"] for o in results if o.get("refuted"))
            known = checkout.claims[claim]
            case = codec.decode(refuted["instance"], known.instance_type)
            words = letters_in_words(known.formula, case)
        except (AttsvmError, StopIteration, *_ODD):  # an outcome of another form is a reason itself
            pass
    return ", ".join(str(word) for word in (words, file) if word)


def _replays(run: Run) -> Iterator[Reason]:
    for file, result, why in run.fallen:
        if result != NOT_REPLAYED:
            text = f"the curated counterexample no longer stands: {result} ({why})"
            yield Reason(Rank.COUNTEREXAMPLE, file, text)
        elif run.finished:
            text = "the run did not replay this curated counterexample"
            yield Reason(Rank.COUNTEREXAMPLE, file, text)


def stale(run: Run, code: Mapping[str, str]) -> Iterator[str]:
    """Yield a reason if the run used other code than is checked out."""
    if not run.code:
        yield "the run does not say which code it ran"
        return
    names = sorted(n for n in set(run.code) | set(code) if run.code.get(n) != code.get(n))
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        differ = "1 file differs" if len(names) == 1 else f"{len(names)} files differ"
        yield (
            f"the run is of other code than is checked out: {differ}, {', '.join(names[:_NAMED])}"
            f"{more}"
        )


def _recomputed(
    run: Run, expectations: Mapping[str, Expectation], checkout: Checkout
) -> Iterator[Reason]:
    """Yield reasons if verdicts do not follow from recorded parts, or parts fit no claim.

    The verdicts are derived again from the outcomes in the ledger. A verdict that somebody edited
    therefore does not pass, even if the digests of the ledger were computed again.
    """
    for name in sorted((set(run.claims) | set(run.verdicts)) - set(checkout.claims)):
        yield Reason(Rank.MISSING, name, "in the run, but no pack that is loaded has this claim")
    for file in sorted(set(run.curated) ^ set(checkout.curated)):
        text = (
            "the run planned to replay this file, which is no curated counterexample of its claims"
            if file in run.curated
            else "the run did not plan to replay this curated counterexample"
        )
        yield Reason(Rank.COUNTEREXAMPLE, file, text)
    if run.profile not in PROFILES:
        yield Reason(Rank.RUN, "", f"there is no profile {run.profile}")
        return
    outcomes: dict[Task, Outcome] = {}
    for part, origin in zip(run.parts, run.origins, strict=True):
        try:
            outcome = Outcome.read(part)
        except TypeError:
            yield Reason(Rank.RUN, "", "an outcome of a part is of another form")
            continue
        task = Task(outcome.claim, outcome.part)
        if task in outcomes:
            yield Reason(Rank.VERDICT, task.claim, f"{_part(task)} is recorded twice")
        if origin and not _stands(checkout.earlier.get(task.claim), task.part, part, origin):
            text = (
                f"{_part(task)} is taken over from the run {origin}, but no complete run with this "
                "id in the ledger has that outcome for this code"
            )
            yield Reason(Rank.VERDICT, task.claim, text)
        outcomes[task] = outcome
    tasks = plan([checkout.claims[n] for n in run.verdicts if n in checkout.claims])
    if run.finished:
        for task in sorted(set(outcomes) - set(tasks), key=repr):
            text = f"{_part(task)} is recorded, but the claim has no such part or no verdict"
            yield Reason(Rank.VERDICT, task.claim, text)
    for name, got in run.verdicts.items():
        missing = [t for t in tasks if t.claim == name and t not in outcomes]
        if name not in checkout.claims:
            continue
        if missing:
            text = f"a verdict without an outcome of {_part(missing[0])} ({len(missing)} missing)"
            yield Reason(Rank.VERDICT, name, text)
            continue
        try:
            floor = _floor(expectations.get(name), got)
            for text in _follows(checkout.claims[name], got, outcomes, run.profile, floor):
                yield Reason(Rank.VERDICT, name, text)
        except (KeyError, AttsvmError):  # the outcomes speak of hypotheses that the claim lacks
            yield Reason(Rank.RUN, "", f"the outcomes of {name} are of another form")


def _stands(earlier: Earlier | None, part: str, outcome: object, origin: str) -> bool:
    """Return whether an outcome is the one that its run of origin evaluated."""
    return earlier is not None and earlier.run == origin and earlier.outcomes.get(part) == outcome


def _part(task: Task) -> str:
    return f"sibling {task.part!r}" if task.part else "the reading"


def _floor(expectation: Expectation | None, got: Entry) -> int:
    """Return the least number of instances for a verdict.

    The number is 0 if nothing was reviewed or the verdict is not the expected one: the gate reports
    both as separate differences.
    """
    if expectation is None or expectation.reviewed is None:
        return 0
    words = expectation.verdict.json()
    return expectation.reviewed.required if all(got.get(k) == words[k] for k in words) else 0


def _follows(
    claim: Claim, got: Entry, outcomes: Mapping[Task, Outcome], profile: str, floor: int
) -> Iterator[str]:
    """Yield how a recorded verdict differs from its parts, and parts with too few instances.

    The verdict is concluded again from the outcomes, and a counterexample is replayed. So an edited
    verdict or instance does not pass. Outcomes without a counterexample cannot be checked without
    another run; the number of instances is the only figure that bounds them.
    """
    checked = conclude(claim, outcomes, profile_named(profile))
    again = json.loads(json.dumps(checked.json()))  # as a ledger holds it: tuples become lists
    wrong = [key for key in again if key not in _APART and got.get(key) != again[key]]
    if wrong:
        key = wrong[0]
        yield (
            f"its verdict does not follow from its parts: {', '.join(wrong)} "
            f"({key} is {got.get(key)}, the parts say {again[key]})"
        )
    if checked.reading.refuted is not None:
        result = replay_instance(claim, checked.reading.refuted.instance)
        if not result.confirmed:
            yield f"its recorded counterexample does not refute it: {result.reason}"
    if checked.reading.examples < floor:
        looked = counted(checked.reading.examples, "instance")
        yield f"{looked} evaluated, at least {floor} are required"
    for part in checked.siblings:
        if part.refuted is not None and part.examples + part.probed < 1:
            yield f"sibling {part.part!r} is refuted without an instance"


_APART = frozenset(("seconds", "counterexample", "min_slack", "tightness", "warnings"))
"""Entries that the parts do not determine, or that JSON changes because they may be infinite."""


def _unlike(
    run: Run, expectations: Mapping[str, Expectation], checkout: Checkout
) -> Iterator[Reason]:
    """Yield reasons if the claims that are checked out are not the reviewed claims."""
    for claim in sorted(set(checkout.reviewed) | set(expectations)):
        now = checkout.reviewed.get(claim)
        expected = expectations.get(claim)
        if now is None:
            yield Reason(Rank.MISSING, claim, _GONE)
        elif expected is None:
            if claim not in run.claims:
                yield Reason(Rank.MISSING, claim, "this claim was never reviewed")
        elif expected.reviewed is None:
            yield Reason(Rank.REVIEW, claim, "its expectation records no review")
        else:
            if expected.reviewed.examples < 1:
                yield Reason(Rank.REVIEW, claim, "no run of it was reviewed")
            for text in differences(expected.reviewed, now):
                rank = Rank.STATEMENT if text.startswith("statement") else Rank.REVIEW
                rank = Rank.COUNTEREXAMPLE if text.startswith("curated") else rank
                yield Reason(rank, claim, text)


def changed_rest(reviewed: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each pack whose data files, or modules that no claim imports, changed.

    Args:
        reviewed: digests by pack, as reviewed.
        now: digests by pack, as checked out.
    """
    for name in sorted(reviewed.keys() | now.keys()):
        before, after = reviewed.get(name, "none"), now.get(name, "none")
        if before != after:
            text = "its data files, or modules that no claim imports, changed"
            yield f"{name}: {text} ({before} -> {after})"


def brief(
    run: Run, expectations: Mapping[str, Expectation], reasons: Sequence[Reason]
) -> tuple[Reason, ...]:
    """Return a shorter list of the reasons.

    Claims that are not part of the run are counted by source. Claims that no longer exist are
    named. If there are many reasons of one rank, the first are shown.
    """
    left = absent(run, expectations)
    sources = Counter(claim.partition("/")[0] for claim in left) if run.finished else Counter()
    reviewed = Counter(claim.partition("/")[0] for claim in expectations)
    shown: list[Reason] = []
    for rank in Rank:
        some = [r for r in reasons if r.rank is rank]
        if rank is Rank.MISSING:
            lines = (_counted_out(s, n, reviewed[s], left) for s, n in sources.items())
            shown += (Reason(rank, "", text) for text in lines)
            some = [r for r in some if r.about not in left or r.text == _GONE]
        code = [r for r in some if r.text.startswith(CODE)]
        if len(code) > _LISTED:  # one edit of a shared module changes the digests of many claims
            some = [r for r in some if r not in code]
            first = ", ".join(r.about for r in code[:_NAMED])
            shown.append(Reason(rank, "", f"{CODE}: {len(code)} claims, the first {first}"))
        shown += some[:_LISTED]
        if len(some) > _LISTED:
            more = f"{len(some) - _LISTED} more such reasons; --json lists them"
            shown.append(Reason(rank, "", more))
    return tuple(shown)


def _counted_out(source: str, number: int, reviewed: int, left: Sequence[str]) -> str:
    were = "is" if number == 1 else "are"
    first = next(c for c in left if c.startswith(f"{source}/"))
    return (
        f"{source}: {number} of {counted(reviewed, 'reviewed claim')} {were} not part "
        f"of the run, the first {first}"
    )
