"""Check one part of a claim on one shard, and merge what its shards came to."""

from __future__ import annotations

import importlib
import time
import warnings
from dataclasses import asdict, dataclass, field
from typing import Any

from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.declaration.proof import recorded
from attsvm.theory.declaration.rehearsal import rehearse
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.record import forms
from attsvm.theory.run.asking import describe
from attsvm.theory.run.coverage import merged
from attsvm.theory.run.profiles import Profile, derive_seed
from attsvm.theory.run.tally import Refuted, Tally
from attsvm.theory.search import sequence

__all__ = ["Outcome", "Refuted", "check_part", "execute_proof", "merge"]

_REPEATS = 3
"""The first accepted instances whose conclusion is evaluated twice, at most."""

_SELDOM = 50
"""Of so many instances one is evaluated twice, so that a check takes hardly longer."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What checking one part came to; plain data, the same for any number of workers.

    Attributes:
        claim, part: what was checked; part "" is the reading.
        examples: ordinary instances that met the hypotheses and were evaluated.
        drawn: those among them that the strategy drew.
        rejected: instances that did not meet them.
        hypotheses: how many instances satisfied each.
        min_slack: least float slack, None where there was none.
        tightness: largest ratio of left to right side.
        undecided: instances that could be settled neither way, with the first reason.
        audited: instances re-evaluated exactly although floats found no fault.
        refuted: the counterexample, if any.
        proof: what the symbolic proof proved.
        steps: the steps of it that passed, by name and in their order, also where a later one
            failed.
        error: what broke, if anything.
        probed: instances that guided searchers made up and that were evaluated.
        refused: those that did not meet the hypotheses, or are no instances at all.
        open: those that were left open though floats see no violation in them.
        unexamined: those among them that exact evaluation was not asked about.
        screened: instances that were evaluated in batches of floats, to choose what is examined.
        varied: how many values each variable of a formula took among instances that were drawn,
            as far as `MANY`.
        sides: how many different sides of the conclusion of a formula were seen among these, 2
            for more.
        missed: of a sibling of a formula, for each hypothesis that it drops, 1 where an instance
            that was evaluated violates it, and 0 where none does.
        broke: made-up instances on which a hypothesis, the conclusion or what confirms a violation
            raised, with the first of them and who proposed it.
        max_slack: largest float slack.
        coverage: what the ordinary instances were like, counted by kind and word.
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
    probed: int = 0
    refused: int = 0
    open: int = 0
    unexamined: int = 0
    screened: int = 0
    varied: dict[str, int] = field(default_factory=dict)
    sides: int = 0
    missed: dict[str, int] = field(default_factory=dict)
    broke: int = 0
    broke_note: str = ""
    max_slack: float | None = None
    coverage: dict[str, dict[str, int]] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Outcome:
        """From plain data.

        Raises:
            TypeError: it is of another form.
        """
        lacks = forms.lacking(document, *_FORM)
        if lacks is not None:
            raise TypeError(f"an outcome lacks {lacks}")
        found = document.get("refuted")
        return cls(**{**document, "refuted": None if found is None else Refuted.read(found)})


_COUNTS = forms.values(forms.count)
_TEXTS = forms.each(forms.text)


def _slack(value: Any) -> bool:
    """A number, or None; between processes it may be infinite."""
    return value is None or isinstance(value, float) or forms.number(value)


_REFUTED = forms.record(
    {
        "instance": forms.anything,
        "slack": forms.values(forms.text),
        "evidence": lambda value: value in map(str, Evidence),
        **dict.fromkeys(("method", "found_by"), forms.text),
        "enclosure": lambda value: value is None or (_TEXTS(value) and len(value) == 2),
    }
)
_FORM = (
    {"claim": forms.text, "part": forms.text},
    {
        **dict.fromkeys(("examples", "rejected", "undecided", "audited", "drawn"), forms.count),
        **dict.fromkeys(("probed", "refused", "open", "unexamined", "screened"), forms.count),
        **dict.fromkeys(("sides", "broke"), forms.count),
        **dict.fromkeys(("hypotheses", "varied", "missed"), _COUNTS),
        **dict.fromkeys(("min_slack", "max_slack", "tightness"), _slack),
        **dict.fromkeys(("undecided_note", "broke_note"), forms.text),
        **dict.fromkeys(("proof", "error"), forms.maybe(forms.text)),
        "coverage": forms.values(_COUNTS),
        "refuted": forms.maybe(_REFUTED),
        "steps": _TEXTS,
        "seconds": forms.number,
    },
)
"""What the record of an outcome must have, and may have, with the form of each."""


def check_part(claim: Claim, part: Part, profile: Profile, shard: int, base_seed: int) -> Outcome:
    """Check one part on one shard; nothing that a claim does escapes as an exception."""
    started = time.perf_counter()
    budget = profile.scaled(claim.cost)
    tally = Tally(claim, part, budget.audits)
    tally.repeats = min(_REPEATS, max(budget.examples // _SELDOM, 1))
    refuted: Refuted | None = None
    proof: str | None = None
    error: str | None = None
    steps: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no verdict hangs on what a program makes of warnings
            if part.formula.batches:
                rehearse(claim.id, part.formula, part.parameters)
            if claim.proof is not None and shard == 0 and part.name == "":
                with recorded() as steps:
                    proof = execute_proof(claim)
            seed = derive_seed(claim.id, shard, base_seed)
            refuted = sequence.run(tally, budget, seed, explicit=shard == 0)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # the claim may raise anything, SystemExit as well
        refuted, error = tally.latest, describe(problem)  # what was confirmed stays so
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
        refuted=refuted,
        proof=proof,
        error=error,
        drawn=tally.drawn,
        probed=tally.probed,
        refused=tally.refused,
        open=tally.open,
        unexamined=tally.unexamined,
        screened=tally.screened,
        varied={name: len(values) for name, values in tally.varied.items()},
        sides=len(tally.sides),
        missed=tally.missed,
        broke=tally.broke,
        broke_note=tally.broke_note,
        max_slack=tally.max_slack,
        coverage=tally.coverage.json(),
        steps=steps,
        seconds=time.perf_counter() - started,
    )


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
        probed=sum(o.probed for o in outcomes),
        refused=sum(o.refused for o in outcomes),
        open=sum(o.open for o in outcomes),
        unexamined=sum(o.unexamined for o in outcomes),
        screened=sum(o.screened for o in outcomes),
        varied={k: max(o.varied.get(k, 0) for o in outcomes) for k in first.varied},
        sides=max(o.sides for o in outcomes),
        missed={k: max(o.missed[k] for o in outcomes) for k in first.missed},
        broke=sum(o.broke for o in outcomes),
        broke_note=next((o.broke_note for o in outcomes if o.broke_note), ""),
        max_slack=max((o.max_slack for o in outcomes if o.max_slack is not None), default=None),
        coverage=merged([o.coverage for o in outcomes]),
        refuted=next((o.refuted for o in outcomes if o.refuted), None),
        proof=next((o.proof for o in outcomes if o.proof), None),
        steps=next((o.steps for o in outcomes if o.steps), []),
        error=next((o.error for o in outcomes if o.error), None),
        seconds=sum(o.seconds for o in outcomes),
    )
