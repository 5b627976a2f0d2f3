"""Check one part of a claim on one shard: examine instances, keep the tally, stop at a find."""

from __future__ import annotations

import importlib
import json
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from typing import Any

from attsvm.errors import AttsvmError, ClaimError, DataError
from attsvm.theory import codec, search
from attsvm.theory.claim import Claim, Part
from attsvm.theory.confirm import Confirmation, audit, confirm
from attsvm.theory.profiles import Profile, derive_seed
from attsvm.theory.slack import Slack

__all__ = ["Outcome", "Refuted", "Tally", "check_part", "execute_proof", "merge"]


@dataclass(frozen=True, slots=True)
class Refuted:
    """A confirmed violation of a part, with the values that confirm it."""

    instance: Any
    slack: dict[str, str]
    evidence: str
    enclosure: tuple[str, str] | None
    method: str
    found_by: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What checking one part came to; plain data, the same for any number of workers.

    Attributes:
        claim, part: what was checked; part "" is the reading.
        examples: instances that met the hypotheses and were evaluated.
        drawn: those among them that the strategy drew.
        rejected: instances that did not meet them.
        hypotheses: how many instances satisfied each.
        min_slack: least float slack, None where there was none.
        tightness: largest ratio of left to right side.
        undecided: instances that could be settled neither way, with the first reason.
        audited: instances re-evaluated exactly although floats found no fault.
        refuted: the counterexample, if any.
        proof: what the symbolic proof proved.
        error: what broke, if anything.
    """

    claim: str
    part: str
    examples: int = 0
    rejected: int = 0
    hypotheses: dict[str, int] = field(default_factory=dict)
    min_slack: float | None = None
    tightness: float | None = None
    undecided: int = 0
    undecided_note: str = ""
    audited: int = 0
    refuted: Refuted | None = None
    proof: str | None = None
    error: str | None = None
    drawn: int = 0
    seconds: float = 0.0

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Outcome:
        """From plain data."""
        found = document.get("refuted")
        if found is not None:
            bounds = found["enclosure"]
            found = Refuted(**{**found, "enclosure": bounds and tuple(bounds)})
        return cls(**{**document, "refuted": found})


class Tally:
    """Examines instances of one part and counts what it sees."""

    def __init__(self, claim: Claim, part: Part, audits: int) -> None:
        self.claim = claim
        self.part = part
        self.audits = audits
        self.examples = 0
        self.rejected = 0
        self.satisfied = {h.name: 0 for h in part.hypotheses}
        self.min_slack: float | None = None
        self.tightness: float | None = None
        self.undecided = 0
        self.note = ""
        self.audited = 0
        self.shares: dict[str, int] = {}
        self.drawn = 0
        self.best: tuple[float, Any, Slack] | None = None
        self.counting = True

    def accepts(self, case: Any) -> bool:
        """Whether the instance meets every hypothesis; counts each by name."""
        verdicts = {}
        for hypothesis in self.part.hypotheses:
            answer = hypothesis.holds(case)
            if not isinstance(answer, bool):
                raise ClaimError(
                    f"hypothesis {hypothesis.name!r} of {self.claim.id} is not decided",
                    value=repr(answer),
                    remedy="Return True or False.",
                )
            verdicts[hypothesis.name] = answer
        accepted = all(verdicts.values())
        if self.counting:
            for name, answer in verdicts.items():
                self.satisfied[name] += answer
            self.examples += accepted
            self.rejected += not accepted
        return accepted

    def evaluate(self, case: Any, searcher: str) -> tuple[Slack, Confirmation | None]:
        """The slack of an accepted instance, confirmed where floats do not settle it."""
        slack = self.claim.conclusion(case, **self.part.parameters)
        if not isinstance(slack, Slack) or slack.broken:
            raise ClaimError(
                f"the conclusion of {self.claim.id} returned no usable slack",
                value=repr(slack),
                remedy="Return a Slack whose value and error are numbers.",
            )
        if slack.holds:
            if self.counting and self.audits > 0:
                self.audits -= 1
                self.audited += audit(self.claim, self.part.parameters, case, slack)
            return slack, None
        answer = confirm(self.claim, self.part.parameters, case, slack.kind)
        if answer.refuted is False and slack.violated and self.claim.same_slack:
            raise ClaimError(
                f"floats and exact arithmetic disagree on {self.claim.id}: floats see a slack of "
                f"{slack.value!r} within {slack.error!r}, {answer.method} sees none violated",
                remedy="Correct the conclusion's error bound or the certificate.",
            )
        return slack, answer

    def examine(self, case: Any, searcher: str) -> tuple[bool, Refuted | None]:
        """Examine one instance; returns whether it was accepted, and a confirmed refutation."""
        if not self.accepts(case):
            return False, None
        self.drawn += self.counting and searcher == search.DRAWN
        slack, answer = self.evaluate(case, searcher)
        if self.counting and slack.kind != "unknown":
            self._record(slack, case, answer is not None and answer.refuted is True)
        disagree = answer is not None and answer.refuted is False and slack.violated
        if answer is None or (answer.refuted is False and not disagree):
            return True, None
        if answer.refuted:
            return True, Refuted(
                instance=codec.encode(codec.canonical(case, self.claim.instance_type)),
                slack={"value": repr(slack.value), "error": repr(slack.error), "kind": slack.kind},
                evidence=str(answer.evidence),
                enclosure=answer.enclosure,
                method=answer.method,
                found_by=searcher,
            )
        if self.counting:
            self.undecided += 1
            where = json.dumps(codec.encode(case))
            said = slack.note or f"slack {slack.value!r}: {answer.method}"
            if disagree:
                said = (
                    f"floats see a slack of {slack.value!r} within {slack.error!r}, which "
                    f"{answer.method} contradicts"
                )
            self.note = self.note or f"{said}; first at {where[:300]}"
        return True, None

    def _record(self, slack: Slack, case: Any, refuted: bool) -> None:
        if self.min_slack is None or slack.value < self.min_slack:
            self.min_slack = slack.value
        if slack.ratio is not None:
            # above 1 without a refutation is within its own error
            ratio = slack.ratio if refuted else min(slack.ratio, 1.0)
            self.tightness = ratio if self.tightness is None else max(self.tightness, ratio)
        height = slack.ratio if slack.ratio is not None else -slack.value
        if self.best is None or height > self.best[0]:
            self.best = height, case, slack

    def audit_tightest(self) -> None:
        """Audit the instance that came closest, whichever searcher found it."""
        if self.best is not None and self.best[2].holds:
            _, case, slack = self.best
            self.audited += audit(self.claim, self.part.parameters, case, slack)

    def height(self, case: Any) -> float | None:
        """How close an instance comes to violation; None where it is not admissible."""
        try:
            if not all(h.holds(case) for h in self.part.hypotheses):
                return None
            slack = self.claim.conclusion(case, **self.part.parameters)
        except DataError:
            return None
        if slack.broken:
            raise ClaimError(
                f"the conclusion of {self.claim.id} returned no usable slack", value=repr(slack)
            )
        if slack.kind == "unknown":
            return None
        return slack.ratio if slack.ratio is not None else -slack.value


def check_part(claim: Claim, part: Part, profile: Profile, shard: int, base_seed: int) -> Outcome:
    """Check one part on one shard; nothing that a claim does escapes as an exception."""
    started = time.perf_counter()
    budget = profile.scaled(claim.cost)
    tally = Tally(claim, part, budget.audits)
    refuted: Refuted | None = None
    proof: str | None = None
    error: str | None = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no verdict hangs on what a program makes of warnings
            if claim.proof is not None and shard == 0 and part.name == "":
                proof = execute_proof(claim)
            seed = derive_seed(claim.id, shard, base_seed)
            refuted = search.run(tally, budget, seed, explicit=shard == 0)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # the claim may raise anything, SystemExit as well
        error = _describe(problem)
    return Outcome(
        claim=claim.id,
        part=part.name,
        examples=tally.examples,
        rejected=tally.rejected,
        hypotheses=tally.satisfied,
        min_slack=tally.min_slack,
        tightness=tally.tightness,
        undecided=tally.undecided,
        undecided_note=tally.note,
        audited=tally.audited,
        refuted=None if error else refuted,
        proof=proof,
        error=error,
        drawn=tally.drawn,
        seconds=time.perf_counter() - started,
    )


def _describe(problem: BaseException) -> str:
    if isinstance(problem, AttsvmError):
        return str(problem)
    last = traceback.extract_tb(problem.__traceback__)[-1]
    name = last.filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{type(problem).__name__}: {problem} ({name}:{last.lineno})"


def execute_proof(claim: Claim) -> str:
    """Run the symbolic proof that the claim names; returns what it proved.

    Raises:
        ClaimError: it cannot be found, or returned nothing. Whatever the proof raises.
    """
    module, _, name = (claim.proof or "").partition(":")
    try:
        prove = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as problem:
        raise ClaimError(f"the proof of {claim.id} cannot be found", value=claim.proof) from problem
    proved = prove()
    if not isinstance(proved, str) or not proved:
        raise ClaimError(f"the proof of {claim.id} does not say what it proved", value=proved)
    return proved


def merge(outcomes: list[Outcome]) -> Outcome:
    """One outcome of all shards of a part, in the order of the shards."""
    first = outcomes[0]
    slacks = [o.min_slack for o in outcomes if o.min_slack is not None]
    ratios = [o.tightness for o in outcomes if o.tightness is not None]
    return Outcome(
        claim=first.claim,
        part=first.part,
        examples=sum(o.examples for o in outcomes),
        rejected=sum(o.rejected for o in outcomes),
        hypotheses={k: sum(o.hypotheses.get(k, 0) for o in outcomes) for k in first.hypotheses},
        min_slack=min(slacks) if slacks else None,
        tightness=max(ratios) if ratios else None,
        undecided=sum(o.undecided for o in outcomes),
        undecided_note=next((o.undecided_note for o in outcomes if o.undecided_note), ""),
        audited=sum(o.audited for o in outcomes),
        drawn=sum(o.drawn for o in outcomes),
        refuted=next((o.refuted for o in outcomes if o.refuted), None),
        proof=next((o.proof for o in outcomes if o.proof), None),
        error=next((o.error for o in outcomes if o.error), None),
        seconds=sum(o.seconds for o in outcomes),
    )
