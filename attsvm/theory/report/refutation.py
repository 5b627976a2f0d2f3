"""A refutation in plain text: the instance and its slack, both confirmed again."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR

from attsvm._types import Case
from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.instance.in_python import rounded
from attsvm.theory.instance.letters import letters_in_words
from attsvm.theory.record.curated import known_witness
from attsvm.theory.run.confirm import Confirmation, examine

_DIGITS = 4
"""Significant digits of the bounds of a slack, which are rounded outwards."""


def refutation(claim: Claim, case: Case, names: Mapping[str, str]) -> tuple[str, str]:
    """Return an instance that refutes a reading, and its slack, after confirming both again.

    The witness of a curated counterexample is read from its file.

    Raises:
        ClaimError: it does not refute the reading.
    """
    examined = examine(claim, claim.part(""), case, known_witness(claim, case))
    answer = examined.answer
    if answer is None:
        raise ClaimError(f"no counterexample to {claim.id}: it fails {', '.join(examined.failed)}")
    if not examined.refuted:
        raise ClaimError(f"no counterexample to {claim.id}: {answer.method} does not refute it")
    return letters_in_words(claim.formula, case, names), slack_words(answer)


def slack_words(answer: Confirmation) -> str:
    """Return the slack or an upper bound of it, and the method unless that is a certificate."""
    known = "" if answer.evidence is Evidence.CERTIFIED else f", {answer.evidence}: {answer.method}"
    if answer.enclosure is None:
        return f"refuted{known}"
    low = _decimal(answer.enclosure[0], ROUND_FLOOR)
    high = _decimal(answer.enclosure[1], ROUND_CEILING)
    needed = ", not above 0" if high in ("0", "-0") else ""
    return f"slack {high if low == high else f'at most {high}'}{needed}{known}"


def _decimal(bound: str, rounding: str) -> str:
    """Return a bound with few digits, rounded up or down as `rounding` says."""
    value = rounded(bound, rounding, _DIGITS)
    if not value.is_finite():
        return str(value).lower()
    return f"{value:{'f' if -6 < value.adjusted() < 16 else 'e'}}"
