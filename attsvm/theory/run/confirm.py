"""Evaluation of one instance by a part of a claim: hypotheses, conclusion, exact confirmation.

The judge re-evaluates an instance from its exact values before anything is called refuted. A
certificate returns a rational, whose sign is known, or a ball, whose sign may be undecided at the
current precision. The indeterminate ball `OPEN` means that this precision decides nothing. None
means that no precision can help. The precision is raised until the sign is decided or the budget of
bits is spent.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from flint import arb, ctx, fmpq
from hypothesis.errors import UnsatisfiedAssumption

from attsvm import _witness
from attsvm._types import Case, Json, JsonObject
from attsvm._witness import Witness
from attsvm.errors import AttsvmError, ClaimError, present
from attsvm.theory.arithmetic.entries import COPY_FIRST
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.judge import KINDS, PRECISIONS, Exact, judge
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.instance import codec
from attsvm.theory.run.asking import agree, ask, describe, ensure_unchanged, frozen, in_words
from attsvm.theory.run.bounded import within_bound


@dataclass(frozen=True, slots=True)
class Refuted:
    """A confirmed violation of a part, with the values that confirm it."""

    instance: Json
    slack: dict[str, str]
    evidence: str
    enclosure: tuple[str, str] | None
    method: str
    found_by: str

    @classmethod
    def read(cls, document: JsonObject) -> Refuted:
        """Return the violation stored in plain data."""
        bounds = document["enclosure"]
        return cls(**{**document, "enclosure": bounds and tuple(bounds)})


OPEN = arb("nan")
"""The ball that a certificate returns if it is undecided at this precision, but more bits may help.

All comparisons with it are False, so it is neither a violation nor a confirmation.
"""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The result of evaluating one instance exactly, or in higher precision.

    Attributes:
        refuted: True if the slack provably violates the conclusion, False if it provably does not,
            None if undecided.
        evidence: certified for balls and rationals, numeric for floats of higher precision.
        enclosure: lower and upper bound of the slack as decimal strings.
        method: how the answer was obtained.
        kind: the kind of the slack: inequality, strict or equality.
    """

    refuted: bool | None
    evidence: Evidence
    enclosure: tuple[str, str] | None
    method: str
    kind: str = "inequality"


@dataclass(frozen=True, slots=True)
class Examination:
    """The exact evaluation of all hypotheses on one instance and, if they hold, of the conclusion.

    Attributes:
        failed: names of the hypotheses that the instance violates.
        answer: the decision about the conclusion; None if a hypothesis fails.
        witness: the float proposals that the evaluation used; see `attsvm._witness`.
    """

    failed: tuple[str, ...]
    answer: Confirmation | None
    witness: Witness

    @property
    def refuted(self) -> bool:
        """Whether the instance refutes the claim."""
        return self.answer is not None and self.answer.refuted is True


def examine(claim: Claim, part: Part, case: Case, witness: Witness | None = None) -> Examination:
    """Return the exact decision on the hypotheses and the conclusion on one instance.

    The float code of the conclusion is not used.

    Args:
        claim: the claim.
        part: the reading, or a sibling of it.
        case: the instance; it must be immutable.
        witness: stored float proposals; they need not be trusted. None to compute the proposals in
            floats and record them.

    Raises:
        FileError: the witness does not fit.
        ClaimError: a hypothesis, conclusion or certificate does something forbidden.
    """
    if witness is not None:
        with _witness.reading(witness):
            return Examination(*_examined(claim, part, case), witness)
    with _witness.noting() as noted:
        return Examination(*_examined(claim, part, case), noted)


def _examined(claim: Claim, part: Part, case: Case) -> tuple[tuple[str, ...], Confirmation | None]:
    document, failed = _encoded(case), []
    for hypothesis in part.hypotheses:
        what = f"hypothesis {hypothesis.name!r}"
        # None, an open hypothesis, counts as failed: a refutation must not rest on a doubtful one
        if ask(claim.id, what, hypothesis.holds, case) is not True:
            failed.append(hypothesis.name)
        if document is not None:
            ensure_unchanged(claim.id, what, case, document)
    if failed:
        return tuple(failed), None
    measured = claim.formula.measured
    strict = measured is not None and measured.strict
    answer = confirm(claim, part.parameters, case, "strict" if strict else "inequality")
    if document is not None:
        ensure_unchanged(claim.id, "the certificate", case, document)
    return (), answer


def _encoded(case: Case) -> Json:
    """Return the encoded instance; None if its integers are too long for a file."""
    try:
        return codec.encode(case)
    except ClaimError:
        return None


def confirm(
    claim: Claim,
    parameters: Mapping[str, object],
    case: Case,
    kind: str,
    bits: int = PRECISIONS[-1],
) -> Confirmation:
    """Decide the sign of the slack of one instance without the conclusion's float code.

    Args:
        claim: the claim.
        parameters: the parameters of its conclusion.
        case: the instance.
        kind: the kind of a measured slack; 0 violates only a strict inequality.
        bits: the budget, as the highest of `PRECISIONS` that is tried. It is counted in bits and
            not in time, so that no verdict depends on the machine.

    Raises:
        ClaimError: the certificate returned neither ball, rational nor None, or the budget is below
            the lowest precision.
    """
    measured = claim.formula.measured
    if measured is None:
        return _judged(claim.formula, parameters, case)
    parameters = {**claim.formula.constants, **parameters}
    if measured.balls is None:
        return _again(claim, parameters, case)
    value: arb | fmpq | None = None
    for precision in (p for p in PRECISIONS if p <= bits):
        with ctx.workprec(precision):
            value = _certificate(claim, parameters, case)
            if value is None:
                return Confirmation(None, Evidence.NONE, None, "no certificate on this instance")
            violated = _violates(value, kind)
            if violated is not None:
                exact = isinstance(value, fmpq)
                method = "rationals" if exact else f"ball arithmetic at {precision} bits"
                bounds = decimal_bounds(value)
                return Confirmation(violated, Evidence.CERTIFIED, bounds, method, kind)
            spent = precision
    if value is None:
        raise ClaimError(
            "the budget of bits is below the lowest precision",
            value=bits,
            remedy=f"Allow at least {PRECISIONS[0]} bits.",
        )
    return Confirmation(
        None,
        Evidence.NONE,
        decimal_bounds(value),
        f"sign undecided at {spent} bits (if the slack is exactly 0, decide that in rationals)",
        kind,
    )


def _judged(formula: Formula, parameters: Mapping[str, object], case: Case) -> Confirmation:
    """Return the judge's decision on a formula; without bounds if it has several comparisons."""
    decision = judge(formula, parameters, case)
    refuted = None if decision.holds is None else not decision.holds
    evidence = Evidence.NONE if refuted is None else Evidence.CERTIFIED
    bounds, kind = decimal_bounds(decision.slack), KINDS[decision.kind]
    return Confirmation(refuted, evidence, bounds, decision.method, kind)


def _certificate(claim: Claim, parameters: Mapping[str, object], case: Case) -> arb | fmpq | None:
    measured = present(claim.formula.measured, "a measured conclusion")
    certify = present(measured.balls, "its form in balls")
    value = ask(claim.id, "the certificate", certify, case, **parameters)
    if value is not None and not isinstance(value, arb | fmpq):
        raise ClaimError(
            f"the certificate of {claim.id} returned neither a ball nor a rational",
            value=type(value).__name__,
            remedy="Return a flint.arb, a flint.fmpq or None.",
        )
    return value


def _violates(value: arb | fmpq, kind: str) -> bool | None:
    """Return whether a slack violates its conclusion; None if its sign is undecided.

    A comparison of a ball with 0 is True only if it is true for every number of the ball. Therefore
    `not value < 0` does not imply `value >= 0`, and both directions are tested.
    """
    strict = kind == "strict"
    if value < 0 or (strict and value <= 0):
        return True
    return False if value > 0 or (not strict and value >= 0) else None


def decimal_bounds(value: Exact) -> tuple[str, str]:
    """Return decimal bounds of about 20 digits, rounded outwards."""
    ball = arb(value)
    return _decimal(ball.lower(), -1), _decimal(ball.upper(), 1)


def _decimal(bound: arb, away: int) -> str:
    """Return a number as 20 digits, rounded down if `away` is -1 and up if it is 1."""
    with ctx.workprec(2 * PRECISIONS[-1]):
        text = str(bound.str(20, radius=False))
        if not bound.is_finite() or (arb(text) - bound) * away >= 0:
            return text
        # The decimals were rounded inwards. A step of 1e-18 outwards, relative to the number, is
        # larger than the errors of both roundings to 20 digits together.
        return str((bound + away * abs(bound) * arb("1e-18")).str(20, radius=False))


def _again(claim: Claim, parameters: Mapping[str, object], case: Case) -> Confirmation:
    measured = present(claim.formula.measured, "a measured conclusion")
    again = present(measured.again, "its form in higher precision")
    slack = ask(claim.id, "the evaluation in higher precision", again, case, **parameters)
    if slack.broken:
        raise ClaimError(
            f"the evaluation of {claim.id} in higher precision returned NaN",
            value=repr(slack),
            remedy="Return a Slack whose value and error are numbers.",
        )
    method = "second evaluation in higher precision"
    # an exact slack of 0 violates a strict inequality, though no error bound shows it below 0
    if slack.violated or (slack.kind == "strict" and slack.value <= 0.0 == slack.error):
        return Confirmation(True, Evidence.NUMERIC, _range(slack), method, slack.kind)
    refuted = False if slack.holds else None
    return Confirmation(refuted, Evidence.NUMERIC, _range(slack), method, slack.kind)


def _range(slack: Slack) -> tuple[str, str]:
    low, high = slack.range
    return repr(low), repr(high)


_ASKED = 8
"""Number of repetitions of a hypothesis that suddenly fails, to see whether its answers differ."""


_ANEW = 4
"""Number of repeated evaluations of the conclusion on a refuting instance. One repetition is not
enough: two random answers may agree by chance."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluator of a part of a claim that also compares repeated answers."""

    claim: Claim
    part: Part

    def named(self, hypothesis: Hypothesis, case: Case) -> bool:
        """Return whether a hypothesis holds on an ordinary instance.

        Raises:
            ClaimError: the hypothesis raised, or returned neither True nor False; the message names
                the hypothesis.
        """
        try:
            return self.decided(hypothesis, case)
        except (ClaimError, UnsatisfiedAssumption):
            raise
        except (Exception, SystemExit) as problem:
            formula = self.part.formula
            values = formula.values_of(case)
            at = ", ".join(f"{axis} = {values[axis]}" for axis in formula.axes)
            raise ClaimError(
                f"hypothesis {hypothesis.name!r} of {self.claim.id} raised {describe(problem)}"
                f"{at and f' at {at}'}",
                remedy="State it so that it is defined at every size, or exclude sizes by the "
                "bounds of their variables, such as Integer(2, 4)."
                if formula.batches
                else "Return True or False on every instance.",
            ) from problem

    def decided(self, hypothesis: Hypothesis, case: Case) -> bool:
        """Return whether a hypothesis holds.

        Raises:
            ClaimError: it returned neither True nor False.
        """
        name = f"hypothesis {hypothesis.name!r}"
        answer = within_bound(lambda: ask(self.claim.id, name, hypothesis.holds, case))
        if not isinstance(answer, bool):
            raise ClaimError(
                f"hypothesis {hypothesis.name!r} of {self.claim.id} is not decided",
                value=repr(answer),
                remedy="Return True or False.",
            )
        return answer

    def slack(self, case: Case) -> Slack:
        """Return the slack of the conclusion in floats.

        Raises:
            ClaimError: the conclusion returned no slack, or a slack that is NaN. Other exceptions
                of the conclusion get a note with the instance.
        """
        id, conclusion, parameters = self.claim.id, self.claim.conclusion, self.part.parameters
        try:
            slack = within_bound(lambda: ask(id, "the conclusion", conclusion, case, **parameters))
        except (AttsvmError, UnsatisfiedAssumption):
            raise
        except Exception as problem:
            problem.add_note(f"on {in_words(case)}")
            raise
        if not isinstance(slack, Slack) or slack.broken:
            raise ClaimError(
                f"the conclusion of {self.claim.id} returned no usable slack",
                value=repr(slack),
                remedy="Return a Slack whose value and error are numbers.",
            )
        return slack

    def ensure_unchanged(self, what: str, case: Case, document: Json) -> None:
        """Raise unless an instance still equals its encoded form.

        Raises:
            ClaimError: the instance has changed; `what` names the function that was called.
        """
        ensure_unchanged(self.claim.id, what, case, document)

    def confirmed(
        self, case: Case, slack: Slack, bits: int = PRECISIONS[-1], *, anew: bool = True
    ) -> tuple[Confirmation, Json]:
        """Return the exact decision on an instance whose conclusion floats do not confirm.

        The instance is first encoded and decoded, as its file would give it back. A refutation is
        kept only if hypotheses and conclusion give the same answers on that copy. `anew=False`
        skips the conclusion: use it while shrinking a counterexample that was already checked this
        way. The number of steps is not limited if floats see a violation.

        Returns:
            The decision, and the encoded instance to which it applies.
        """
        # The exact decision is about the instance that a file can hold. A counterexample that
        # changes when it is written and read back could not be replayed.
        again = frozen(codec.canonical(case, self.claim.instance_type))
        document = codec.encode(again)
        parameters = self.part.parameters
        confirming = functools.partial(confirm, self.claim, parameters, again, slack.kind, bits)
        answer = confirming() if slack.violated else within_bound(confirming)
        self.ensure_unchanged("the certificate", again, document)
        if answer.refuted:
            self._decide_again(again, document, slack if anew else None)
        return answer, document

    def _decide_again(self, again: Case, document: Json, slack: Slack | None) -> None:
        """Raise unless the copy of a refuting instance gets the same answers as the instance."""
        for hypothesis in self.part.hypotheses:
            what = f"hypothesis {hypothesis.name!r}"
            holds = self.decided(hypothesis, again)
            self.ensure_unchanged(what, again, document)
            # It held when the instance was accepted. If it holds in some repetition, its answers
            # are random; else the instance that it accepted was another one than its encoded form.
            if not holds and any(self.decided(hypothesis, again) for _ in range(_ASKED)):
                raise ClaimError(
                    f"{what} of {self.claim.id} gave two answers on one instance",
                    remedy="Let it depend on the instance alone, not on chance or on the number "
                    "of calls.",
                )
            if not holds:
                raise ClaimError(
                    f"a hypothesis or the conclusion of {self.claim.id} changed its instance, "
                    f"on which {what} held before",
                    remedy=COPY_FIRST,
                )
        if slack is None:
            return
        for _ in range(_ANEW):
            agree(self.claim.id, slack, self.slack(again), exactly=False)
            self.ensure_unchanged("the conclusion", again, document)
