"""Verdicts: what the outcomes of a claim's parts say about it, and the report of a whole run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attsvm._files import finite
from attsvm._types import JsonObject
from attsvm._words import counted
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.instances import domains
from attsvm.theory.declaration.judge import sides
from attsvm.theory.declaration.typesetting import typeset
from attsvm.theory.declaration.verdict import (
    BY_INSTANCES,
    IN_PROSE,
    SHARP,
    Evidence,
    Truth,
    Validity,
    Verdict,
    usual_evidence,
)
from attsvm.theory.instance import codec
from attsvm.theory.run.bounded import JUDGED_STEPS, SCREENED_STEPS
from attsvm.theory.run.coverage import warnings_of
from attsvm.theory.run.sampling import Profile
from attsvm.theory.verification.check import Outcome, with_siblings

if TYPE_CHECKING:
    from attsvm.theory.record.counterexample import Replay

_THIN = 0.2
"""Least share of the planned instances; a check that refuted nothing on fewer is thin."""

_SMALLER = "siblings with slightly smaller constants were refuted"
"""The evidence that no smaller constant will do, if no fact of the proof says so."""

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
    *("screened", "coverage", "proof", "linked", "steps"),
)
"""Fields of the reading's outcome that an entry copies unchanged."""


@dataclass(frozen=True, slots=True)
class Report:
    """All claims of a run, and the curated counterexamples that it replayed first."""

    profile: str
    seed: int
    checked: tuple[Checked, ...]
    replayed: tuple[Replay, ...] = ()

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
        return Verdict(truth, evidence, Validity.WEAK), (
            "no sibling was refuted, as it has none that must fall: write "
            "siblings={'a name': changed(constant=another)}, or tight=True"
        )
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
    proved = claim.proof is not None and reading.proof and reading.linked
    truth = Truth.UNDECIDED if reading.undecided else Truth.PROVED if proved else Truth.HOLDS
    return truth, usual_evidence(truth, measured=claim.formula.measured is not None)


def _reason(claim: Claim, reading: Outcome) -> str:
    if reading.refuted is not None:
        certificate = reading.refuted
        result = f"counterexample found by {certificate.found_by}, decided by {certificate.method}"
        formula = claim.formula
        if formula.measured or claim.expected.truth is Truth.REFUTED:
            return result
        case = codec.decode(reading.refuted.instance, claim.instance_type)
        text = sides(formula, {}, case)
        return f"{result}; the conclusion says {text} there, which is false"
    if reading.undecided:
        return f"{counted(reading.undecided, 'instance')} open: {reading.undecided_note}"
    if reading.proof and reading.linked:
        sharp = SHARP in claim.statement.lower()
        return f"proved: {reading.proof}{f'; {BY_INSTANCES}: {_SMALLER}' if sharp else ''}"
    return f"{_evaluated(claim, reading)}{_in_prose(reading)}"


def _evaluated(claim: Claim, reading: Outcome) -> str:
    """Return how many instances were evaluated, and how they were decided."""
    looked = counted(reading.examples, "instance")
    if claim.formula.measured is None:
        every = f"all {looked} that there are" if reading.settled else looked
        return f"{every}, each decided in rationals or balls{_left_out(reading)}"
    alone = _by_stand_in(claim, reading)
    text = f"{looked}, {reading.decided} of them decided by a certificate as well"
    return f"{text}, {alone} by {_stand_in(claim)} alone" if _stand_in(claim) else text


def _in_prose(reading: Outcome) -> str:
    """Return a note on a proof whose steps text connects; "" without such a proof."""
    if not reading.proof or reading.linked:
        return ""
    steps = counted(len(reading.steps), "step")
    return f"; {IN_PROSE}, {steps} executed and connected by text: {reading.proof}"


def _left_out(reading: Outcome) -> str:
    """Return a note on evaluations that took too many steps; "" if there are none."""
    if not reading.given_up_note:
        return ""
    return (
        f"; {counted(reading.given_up, 'evaluation')} left out, of more than {JUDGED_STEPS} steps "
        f"of Python ({SCREENED_STEPS} in all searches in floats), first {reading.given_up_note}"
    )


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
