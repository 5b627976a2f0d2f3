"""Evaluation of changed counterexamples, to shrink or worsen them; the counts stay unchanged."""

from __future__ import annotations

from attsvm._types import Case
from attsvm.errors import ClaimError
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.instance import codec
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.run.asking import agree, frozen
from attsvm.theory.run.bounded import TooLong
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.tally import Tally


def examine_again(
    tally: Tally, case: Case, searcher: str, *, exactly: bool
) -> tuple[bool, Refuted | None]:
    """Return whether a changed instance is accepted, and a confirmed refutation; count neither.

    Args:
        tally: the tally of the part. It keeps the latest refutation, and counts evaluations that
            are stopped after too many steps.
        case: the instance.
        searcher: the searcher that found the counterexample.
        exactly: whether to evaluate exactly an instance that floats accept.
    """
    case, evaluation = frozen(case), tally.evaluation
    try:
        if not all([evaluation.decided(h, case) for h in tally.part.hypotheses]):
            return False, None
        slack = evaluation.slack(case)
        if slack.holds and not exactly:
            return True, None
        answer, document = evaluation.confirmed(case, slack, anew=False)
    except TooLong:
        tally.give_up(in_words(case, {}))
        return False, None
    return True, tally.refutation(document, slack, answer, searcher) if answer.refuted else None


def holds_in_floats(tally: Tally, refuted: Refuted) -> bool:
    """Return whether floats accept the instance of a counterexample."""
    case = codec.decode(refuted.instance, tally.claim.instance_type)
    return tally.evaluation.slack(frozen(case)).holds


def height(tally: Tally, case: Case) -> float | None:
    """Return how close an instance comes to a violation in floats; None if it is not admissible."""
    case = frozen(case)
    try:
        if not all(tally.evaluation.decided(h, case) for h in tally.part.hypotheses):
            return None
        slack = tally.evaluation.slack(case)
    except TooLong:
        tally.give_up(in_words(case, {}))
        return None
    return None if slack.kind == "unknown" else slack.height


def ensure_stands(tally: Tally, refuted: Refuted) -> None:
    """Raise unless a second evaluation, from the stored values, confirms a counterexample.

    Raises:
        ClaimError: the result differs from the stored one.
    """
    case = frozen(codec.decode(refuted.instance, tally.claim.instance_type))
    value, error, kind = refuted.slack["value"], refuted.slack["error"], refuted.slack["kind"]
    slack = Slack(float(value), float(error), kind)  # type: ignore[arg-type]
    tally.latest = None
    answer, _ = tally.evaluation.confirmed(case, slack)
    if not answer.refuted:
        agree(tally.claim.id, slack, tally.evaluation.slack(case), exactly=False)
        raise ClaimError(
            f"the certificate of {tally.claim.id} gave two answers on one instance",
            value=answer.method,
            remedy="Let it depend on the instance alone: seed every random generator.",
        )
    tally.latest = refuted
