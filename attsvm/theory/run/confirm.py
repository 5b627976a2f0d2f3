"""The judge: re-evaluates an instance from its exact values before the word refuted is used.

A certificate answers with a rational, whose sign is known; with a ball, whose sign may be open at
this precision (an indeterminate one, `OPEN`, says nothing else); or with None, which says that no
precision would help. Precision grows until the sign is decided or the budget of bits ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx, fmpq

from attsvm import _witness
from attsvm._types import Case
from attsvm._witness import Witness
from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim, Part
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.judge import KINDS, PRECISIONS, judge
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.instance import codec
from attsvm.theory.run.asking import ask, ensure_unchanged

OPEN = arb("nan")
"""What a certificate returns where it cannot say at this precision, but might with more bits."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What exact or higher-precision evaluation says of one instance.

    Attributes:
        refuted: True where the slack is proved to violate the conclusion, False where it is
            proved not to, None where neither was reached.
        evidence: certified for balls, numeric for a run in higher precision.
        enclosure: bounds of the slack as decimal strings.
        method: how the answer was reached.
        kind: the kind of the slack: inequality, strict or equality.
    """

    refuted: bool | None
    evidence: Evidence
    enclosure: tuple[str, str] | None
    method: str
    kind: str = "inequality"


@dataclass(frozen=True, slots=True)
class Examination:
    """The exact evaluation of one instance: of all hypotheses, and then of the conclusion.

    Attributes:
        failed: the names of the hypotheses that the instance does not meet.
        answer: the decision about the conclusion; None if a hypothesis fails.
        witness: the proposals of floats that the evaluation used; see `attsvm._witness`.
    """

    failed: tuple[str, ...]
    answer: Confirmation | None
    witness: Witness

    @property
    def refuted(self) -> bool:
        """Whether the instance refutes what was examined."""
        return self.answer is not None and self.answer.refuted is True


def examine(claim: Claim, part: Part, case: Case, witness: Witness | None = None) -> Examination:
    """Decide the hypotheses and the conclusion of one instance without the conclusion's float code.

    Args:
        claim: the claim.
        part: the reading, or a sibling of it.
        case: the instance, which nobody can change.
        witness: what floats proposed before; nobody needs to trust it. None to ask floats, and to
            note what they propose.

    Raises:
        FileError: the witness does not fit. ClaimError: a hypothesis, a conclusion or a certificate
            does what none may.
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
        ensure_unchanged(claim.id, "what confirms a violation", case, document)
    return (), answer


def _encoded(case: Case) -> Any:
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
        parameters: those of its conclusion.
        case: the instance.
        kind: the kind of a measured slack: 0 violates a strict inequality and no other.
        bits: the budget: the highest of `PRECISIONS` that is tried. It is counted in bits, not
            in time, so that no verdict depends on the machine.

    Raises:
        ClaimError: the certificate returned something else; a budget below every precision.
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
                return Confirmation(violated, Evidence.CERTIFIED, _bounds(value), method, kind)
            spent = precision
    if value is None:
        raise ClaimError(
            "the budget is below every precision",
            value=bits,
            remedy=f"Allow at least {PRECISIONS[0]} bits.",
        )
    return Confirmation(
        None,
        Evidence.NONE,
        _bounds(value),
        f"sign open at {spent} bits (is it exactly 0? then decide that in rationals)",
        kind,
    )


def _judged(formula: Formula, parameters: Mapping[str, object], case: Case) -> Confirmation:
    """What the judge says of a formula; several comparisons have no one enclosure."""
    found = judge(formula, parameters, case)
    refuted = None if found.holds is None else not found.holds
    evidence = Evidence.NONE if refuted is None else Evidence.CERTIFIED
    bounds, kind = _bounds(found.slack), KINDS[found.kind]
    return Confirmation(refuted, evidence, bounds, found.method, kind)


def _certificate(claim: Claim, parameters: Mapping[str, object], case: Case) -> arb | fmpq | None:
    certify = claim.formula.measured.balls
    value = ask(claim.id, "the certificate", certify, case, **parameters)
    if value is not None and not isinstance(value, arb | fmpq):
        raise ClaimError(
            f"the certificate of {claim.id} is no ball",
            value=type(value).__name__,
            remedy="Return a flint.arb, a flint.fmpq or None.",
        )
    return value


def _violates(value: arb | fmpq, kind: str) -> bool | None:
    """Whether a slack violates its conclusion; None where its sign is open."""
    strict = kind == "strict"
    if value < 0 or (strict and value <= 0):
        return True
    return False if value > 0 or (not strict and value >= 0) else None


def _bounds(value: arb | fmpq) -> tuple[str, str]:
    """Bounds as decimals of about 20 digits, rounded outwards."""
    ball = arb(value)
    return _decimal(ball.lower(), -1), _decimal(ball.upper(), 1)


def _decimal(bound: arb, away: int) -> str:
    with ctx.workprec(2 * PRECISIONS[-1]):
        text = str(bound.str(20, radius=False))
        if not bound.is_finite() or (arb(text) - bound) * away >= 0:
            return text
        return str((bound + away * abs(bound) * arb("1e-18")).str(20, radius=False))


def _again(claim: Claim, parameters: Mapping[str, object], case: Case) -> Confirmation:
    again = claim.formula.measured.again
    slack = ask(claim.id, "the second evaluation", again, case, **parameters)
    if slack.broken:
        raise ClaimError(f"the second evaluation of {claim.id} returned NaN", value=repr(slack))
    method = "second evaluation in higher precision"
    if slack.violated or (slack.kind == "strict" and slack.value <= 0.0 == slack.error):
        return Confirmation(True, Evidence.NUMERIC, _range(slack), method, slack.kind)
    refuted = False if slack.holds else None
    return Confirmation(refuted, Evidence.NUMERIC, _range(slack), method, slack.kind)


def _range(slack: Slack) -> tuple[str, str]:
    low, high = slack.range
    return repr(low), repr(high)
