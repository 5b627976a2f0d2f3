"""The judge: re-evaluates an instance from its exact values before the word refuted is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

from attsvm.errors import ClaimError
from attsvm.theory.claim import Claim
from attsvm.theory.slack import Slack
from attsvm.theory.verdict import Evidence

__all__ = ["PRECISIONS", "Confirmation", "audit", "confirm"]

PRECISIONS = (64, 128, 256, 512, 1024, 2048)
"""Working precisions in bits, tried in turn until the sign of the slack is decided."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What exact or higher-precision evaluation says of one instance.

    Attributes:
        refuted: True where the slack is proved to violate the conclusion, False where it is
            proved not to, None where neither was reached.
        evidence: certified for balls, numeric for a run in higher precision.
        enclosure: bounds of the slack as decimal strings.
        method: how the answer was reached.
    """

    refuted: bool | None
    evidence: Evidence
    enclosure: tuple[str, str] | None
    method: str


def confirm(claim: Claim, parameters: Mapping[str, Any], case: Any, kind: str) -> Confirmation:
    """Decide the sign of the slack of one instance without the conclusion's float code."""
    if claim.certify is None:
        return _again(claim, parameters, case)
    ball: arb | None = None
    for precision in PRECISIONS:
        with ctx.workprec(precision):
            ball = _ball(claim, parameters, case)
            if ball is None:
                break
            violated = ball <= 0 if kind == "strict" else ball < 0
            satisfied = ball > 0 if kind == "strict" else ball >= 0
            if violated or satisfied:
                return Confirmation(
                    bool(violated),
                    Evidence.CERTIFIED,
                    _bounds(ball),
                    f"ball arithmetic at {precision} bits",
                )
    return Confirmation(
        None,
        Evidence.NONE,
        None if ball is None else _bounds(ball),
        "no certificate on this instance"
        if ball is None
        else f"sign open at {PRECISIONS[-1]} bits (is it exactly 0? then decide that in rationals)",
    )


def _ball(claim: Claim, parameters: Mapping[str, Any], case: Any) -> arb | None:
    assert claim.certify is not None
    ball = claim.certify(case, **parameters)
    if ball is not None and not isinstance(ball, arb):
        raise ClaimError(
            f"the certificate of {claim.id} is no ball",
            value=type(ball).__name__,
            remedy="Return a flint.arb or None.",
        )
    return ball


def _bounds(ball: arb) -> tuple[str, str]:
    return ball.lower().str(20, radius=False), ball.upper().str(20, radius=False)


def _again(claim: Claim, parameters: Mapping[str, Any], case: Any) -> Confirmation:
    assert claim.rerun is not None
    slack = claim.rerun(case, **parameters)
    if slack.broken:
        raise ClaimError(f"the second evaluation of {claim.id} returned NaN", value=repr(slack))
    method = "second evaluation in higher precision"
    if slack.violated or (slack.kind == "strict" and slack.value <= 0.0 == slack.error):
        return Confirmation(True, Evidence.NUMERIC, tuple(map(repr, slack.range)), method)  # type: ignore[arg-type]
    refuted = False if slack.holds else None
    return Confirmation(refuted, Evidence.NUMERIC, tuple(map(repr, slack.range)), method)  # type: ignore[arg-type]


def audit(claim: Claim, parameters: Mapping[str, Any], case: Any, slack: Slack) -> bool:
    """Hold a float slack that found no fault against the exact one; whether there was one.

    Raises:
        ClaimError: the exact slack is violated, or lies outside the float's error bound.
    """
    if claim.certify is None:
        return False
    with ctx.workprec(128):
        ball = _ball(claim, parameters, case)
        if ball is None or not ball.is_finite():
            return False
        low, high = slack.range
        wrong_sign = ball < 0 or (slack.kind == "strict" and ball <= 0)
        outside = claim.same_slack and bool(ball < arb(low) or ball > arb(high))
        if wrong_sign or outside:
            raise ClaimError(
                f"floats and exact arithmetic disagree on {claim.id}: the slack is "
                f"{_bounds(ball)[0]}..{_bounds(ball)[1]}, floats say {slack.value!r} within "
                f"{slack.error!r}",
                remedy="Correct the conclusion's error bound or the certificate.",
            )
        settled = ball > 0 or (ball >= 0 and slack.kind != "strict")
        return bool(settled or ball.rad() <= slack.error)
