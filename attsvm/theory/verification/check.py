"""The check of one part of a claim: shards in order, until one refutes it."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from attsvm._types import Json, JsonObject
from attsvm.errors import ClaimError
from attsvm.sources import full_name
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.declaration.hypotheses import ensure_same
from attsvm.theory.declaration.proof import Steps, executed, grants, recorded
from attsvm.theory.declaration.variables import Integer
from attsvm.theory.declaration.verdict import Evidence, Truth
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import rebuilt
from attsvm.theory.packs.code_digests import ensure_no_assert
from attsvm.theory.proof.linked import ensure_concluded, is_linked
from attsvm.theory.record import forms
from attsvm.theory.run.asking import describe, rehearse, unread
from attsvm.theory.run.bounded import JUDGED_STEPS, TooLong, metered
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.coverage import Counts
from attsvm.theory.run.examining import (
    audit_closest,
    ensure_stands,
    examine_case,
    probe,
    repeat,
    see_dropped,
)
from attsvm.theory.run.sampling import Profile, derive_seed, sample
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import EXPLICIT, GUIDED, Scout, draw
from attsvm.theory.search.ordinary import ensemble, fill_up

_REPEATS = 3
"""Maximum number of accepted instances per shard whose conclusion is evaluated twice."""

_SELDOM = 25
"""Number of planned instances for each one that is evaluated twice, at little extra time."""


@dataclass(slots=True)
class Outcome(Counts):
    """The result of the check of one part; plain data, the same for any number of workers.

    Attributes:
        claim, part: the ids of the checked part; part "" is the reading.
        refuted: the counterexample, if any.
        proof: the sentence that the symbolic proof proved.
        linked: whether facts link the proof from the hypotheses to the conclusion; otherwise it is
            a proof in prose.
        steps: names of the steps of the proof that passed, in order, even if a later step failed.
        reading_ratio: for a sibling, the ratio of left to right side of the reading's conclusion
            on the sibling's counterexample, if that instance meets the reading's hypotheses.
        refutes_reading: the counterexample of a sibling, if it refutes the reading as well.
        unread: variables of a reading that neither its hypotheses nor its conclusion read.
        error: a description of the error, if there was one.
        seconds: working time.
    """

    claim: str
    part: str
    refuted: Refuted | None = None
    reading_ratio: float | None = None
    refutes_reading: Refuted | None = None
    proof: str | None = None
    linked: bool = False
    steps: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    error: str | None = None
    seconds: float = 0.0

    def json(self) -> JsonObject:
        """Return the outcome as plain data."""
        return asdict(self)

    @classmethod
    def read(cls, document: JsonObject) -> Outcome:
        """Return the outcome that plain data hold.

        Raises:
            TypeError: the data have another form.
        """
        lacks = forms.lacking(document, *_FORM)
        if lacks is not None:
            raise TypeError(f"an outcome lacks {lacks}")
        names = ("refuted", "refutes_reading")
        results = {name: Refuted.read(document[name]) for name in names if document.get(name)}
        return cls(**{**document, **results})


_COUNTS = forms.values(forms.count)
_TEXTS, _COUNTED = forms.each(forms.text), forms.each(forms.count)

_ENDS = forms.values(lambda ends: _COUNTED(ends) and len(ends) == 2)


def _slack(value: object) -> bool:
    """Return whether a value is a number or None; between processes it may be infinite."""
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
        **dict.fromkeys(("examples", "rejected", "undecided", "audited", "decided"), forms.count),
        **dict.fromkeys(("probed", "refused", "open", "unexamined", "screened"), forms.count),
        **dict.fromkeys(("sides", "broke", "drawn", "settled", "given_up"), forms.count),
        **dict.fromkeys(("unjudged", "distinct"), forms.count),
        **dict.fromkeys(("hypotheses", "varied", "missed"), _COUNTS),
        **dict.fromkeys(("min_slack", "max_slack", "tightness", "reading_ratio"), _slack),
        **dict.fromkeys(("undecided_note", "broke_note"), forms.text),
        **dict.fromkeys(("proof", "error"), forms.maybe(forms.text)),
        "given_up_note": forms.text,
        "solver_note": forms.text,
        **dict.fromkeys(("exhausted", "inner"), _ENDS),
        "coverage": forms.values(_COUNTS),
        **dict.fromkeys(("refuted", "refutes_reading"), forms.maybe(_REFUTED)),
        **dict.fromkeys(("steps", "unread"), _TEXTS),
        "linked": forms.truth,
        "seconds": forms.number,
    },
)
"""Required and optional entries of a recorded outcome, each with its form."""


def check_shard(claim: Claim, part: Part, profile: Profile, shard: int, base_seed: int) -> Outcome:
    """Return the outcome of one part on one shard; it records every exception of the claim."""
    started = time.perf_counter()
    budget = profile.scaled(claim.cost)
    tally = Tally(claim, part, budget.audits)
    tally.repeats = min(_REPEATS, max(budget.examples // _SELDOM, 1))
    refuted: Refuted | None = None
    proof: str | None = None
    error: str | None = None
    linked = False
    steps = Steps()
    unused: list[str] = []
    try:
        with warnings.catch_warnings(), metered(part.formula, claim.file):
            warnings.simplefilter("ignore")  # warning filters must not change a verdict
            if part.name == "" and shard == 0:
                ensure_no_assert(claim)
            if part.formula.batches:
                _rehearsed(claim, part)
                if part.name == "":
                    unused = unread(part.formula, part.parameters)
            if claim.proof is not None and shard == 0 and part.name == "":
                with recorded() as steps:
                    proved = execute_proof(claim)
                linked = ensure_steps(claim, steps)
                proof = proved
            seed = derive_seed(claim.id, shard, base_seed)
            refuted = search(tally, budget, seed, explicit=shard == 0)
            if refuted is None and part.name == "":
                refuted = fill_up(tally, budget.examples)
            if part.dropped:
                see_dropped(tally, _chosen_without_floats(tally, refuted, budget.examples))
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # the claim may raise anything, SystemExit as well
        refuted, error = tally.latest, describe(problem)  # a confirmed counterexample stays
    return Outcome(
        claim=claim.id,
        part=part.name,
        refuted=refuted,
        proof=proof,
        linked=linked,
        steps=[*steps],
        unread=unused,
        error=error,
        seconds=time.perf_counter() - started,
        **tally.seen.shallow(),
    )


def search(tally: Tally, budget: Profile, seed: int, *, explicit: bool) -> Refuted | None:
    """Return a refutation of the tally's part found by one searcher after another, or None.

    A counterexample of the reading is shrunk, unless it is an explicit instance, which stays as its
    author wrote it. A counterexample of a sibling is not shrunk: it only shows that the check can
    fail.
    """
    sibling = bool(tally.part.name)
    if explicit:
        for case in tally.part.examples:
            result = examine_case(tally, case, EXPLICIT)[1]
            if result:
                return result
    result = _by_each_searcher(tally, budget, 0 if sibling else budget.simplify, seed)
    if result and not sibling:
        from attsvm.theory.search.shrink import shrink

        result = shrink(tally, result, budget.simplify).refuted
        ensure_stands(tally, result)
    if result:
        return result
    repeat(tally)
    return audit_closest(tally)


def _by_each_searcher(tally: Tally, budget: Profile, shrinks: int, seed: int) -> Refuted | None:
    generator = np.random.default_rng(seed)
    if tally.claim.ensemble is not None:
        result = ensemble(tally, budget.ensemble, generator)
        if result:
            return result
    result = draw(tally, budget.examples, shrinks, seed)
    if result:
        return result
    for searcher in GUIDED.values():
        if not (searcher.quick or budget.name != "quick") or not searcher.works_on(tally.claim):
            continue
        looks = max(round(searcher.share * budget.guided), 3)
        scout = Scout(tally, searcher.title, looks, numbers=budget.numbers, once=True)
        result = searcher.guide(scout, generator)
        if result:
            return result
    return None


def _chosen_without_floats(tally: Tally, refuted: Refuted | None, draws: int) -> Iterator[Json]:
    """Yield instances that show which dropped hypotheses are ever violated.

    They are the counterexample, explicit instances, and draws of the strategy that no height
    steers. So the rounding of floats does not change them, unless it changes the counterexample.
    """
    if refuted is not None:
        yield refuted.instance
    yield from map(codec.encode, tally.part.examples)
    yield from sample(tally.part.data, draws)[0]


def _rehearsed(claim: Claim, part: Part) -> None:
    """Evaluate the formulas of a part once; if that takes too many steps, at the least integers.

    Raises:
        ClaimError: one of them cannot be evaluated, or takes too many steps at the least sizes.
    """
    variables = part.formula.variables
    least = {n: replace(x, high=x.low) for n, x in variables.items() if isinstance(x, Integer)}
    try:
        try:
            rehearse(claim.id, part.formula, part.parameters)
        except TooLong:
            small = replace(part.formula, variables={**variables, **least})
            rehearse(claim.id, small, part.parameters)
    except TooLong as problem:
        raise ClaimError(
            f"a formula of {claim.id} takes more than {JUDGED_STEPS} steps of Python at small "
            "sizes",
            remedy="Make sure that its loops end, and lower the least value of each integer that "
            "they count with.",
        ) from problem


def found_proof(claim: Claim) -> Callable[[], object]:
    """Return the function that is the proof of a claim.

    Raises:
        ClaimError: the named module or function does not exist.
    """
    module, _, name = (claim.proof or "").partition(":")
    try:
        result: Callable[[], object] = getattr(
            importlib.import_module(full_name(module, Path(claim.file))), name
        )
    except (ImportError, AttributeError, ValueError) as problem:
        raise ClaimError(
            f"the proof of {claim.id} cannot be found",
            value=claim.proof,
            remedy="Write proof='module:function', with a module that Python can import.",
        ) from problem
    return result


def execute_proof(claim: Claim) -> str:
    """Run the symbolic proof that the claim names, and return the sentence that it proved.

    Raises:
        ClaimError: the proof cannot be found, or returned nothing.
        Exception: the proof raised it.
    """
    prove = found_proof(claim)
    proved = executed(prove)
    if not isinstance(proved, str) or not proved:
        raise ClaimError(
            f"the proof of {claim.id} returned no sentence on what it proved",
            value=repr(proved),
            remedy="Let the function return a sentence.",
        )
    return proved


def ensure_steps(claim: Claim, steps: Steps) -> bool:
    """Return whether a proof is linked; raise unless it took a step and supposed nothing extra.

    Only a linked proof makes a reading `proved`: its facts were compared here with the hypotheses
    and the conclusion of the reading.

    Raises:
        ClaimError: the proof took no step, supposed more than the reading has, went on after a
            failed step, or is declared to be linked and recorded no facts.
        ProofError: the facts of a linked proof do not end in the conclusion of the reading.
    """
    if steps.failed:
        raise ClaimError(
            f"the proof of {claim.id} went on after a step that failed: {steps.failed[0]}",
            value=claim.proof,
            remedy="Do not catch the error of a step. To show that an identity is false, use "
            "ensure_nonzero.",
        )
    connected = is_linked(claim.formula, found_proof(claim))
    if connected:
        if not steps.linked:
            raise ClaimError(
                f"the proof of {claim.id} is declared to be linked, but it recorded no facts",
                value=claim.proof,
                remedy="Make its facts by the rules inside a function under @linked.",
            )
        for whole in steps.linked:
            ensure_concluded(claim.formula, whole)
    if not steps:
        raise ClaimError(
            f"the proof of {claim.id} took no step, so it proves nothing",
            value=claim.proof,
            remedy="Take its steps by ensure_equal, ensure_true or others of "
            "attsvm.theory.declaration.proof, or by cite.",
        )
    for chosen in steps.supposed:
        if not grants(claim.formula, chosen):
            ensure_same(
                f"the proof of {claim.id} supposes", [chosen], claim.formula.hypotheses.values()
            )
            raise ClaimError(
                f"the proof of {claim.id} supposes a fact that the reading does not have: "
                f"{chosen.says}",
                value=claim.proof,
                remedy="Give the reading that hypothesis, or the proof a step that shows it.",
            )
    return connected


def check_part(claim: Claim, part: Part, profile: Profile, base_seed: int) -> Outcome:
    """Return the outcome of one part on the shards of a profile.

    Shards are checked in order, up to one that refutes the part or has an error.
    """
    total = Outcome(claim.id, part.name)
    # in order, and up to the first refutation: the outcome must not depend on which shard is faster
    for shard in range(profile.shards):
        total.add(check_shard(claim, part, profile, shard, base_seed))
        if total.refuted is not None or total.error is not None:
            break
    if part.name and total.refuted is not None:
        _lend(claim, total, total.refuted, profile)
    return total


def _lend(claim: Claim, sibling: Outcome, counterexample: Refuted, profile: Profile) -> None:
    """Evaluate the reading on the counterexample of a sibling, and record the result.

    Claims about records are left out: their strategy defines which records the reading is about.
    """
    if not claim.formula.batches or claim.expected.truth is Truth.REFUTED:
        return
    case = rebuilt(claim, counterexample.instance)
    if case is None:
        return
    tally = Tally(claim, claim.part(""), 0)
    budget = profile.scaled(claim.cost)
    try:
        _, refuted = probe(tally, case, f"sibling {sibling.part!r}", reshaped=True)
        if refuted is not None:
            from attsvm.theory.search.shrink import shrink

            refuted = shrink(tally, refuted, budget.simplify).refuted
            ensure_stands(tally, refuted)
    except Exception as problem:
        sibling.error = describe(problem)
        return
    sibling.reading_ratio, sibling.refutes_reading = tally.seen.tightness, refuted


def with_siblings(reading: Outcome, siblings: Sequence[Outcome]) -> Outcome:
    """Return a reading's outcome, completed by the counterexamples of its siblings.

    A sibling's counterexample may refute the reading, or come closer to equality than its own
    instances do.
    """
    if reading.refuted is not None or reading.error is not None:
        return reading
    results = next((s.refutes_reading for s in siblings if s.refutes_reading is not None), None)
    ratios = [r for r in (reading.tightness, *(s.reading_ratio for s in siblings)) if r is not None]
    return replace(reading, refuted=results, tightness=max(ratios, default=None))
