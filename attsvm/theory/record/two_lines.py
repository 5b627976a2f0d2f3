"""A refutation in two lines of plain text: the instance in small numbers, and how it is known."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

import numpy as np

from attsvm._words import printable
from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.record.snippets import ODD_BITS, leaves, rounded, scaled, short
from attsvm.theory.run.confirm import Confirmation, confirm

_LONGEST = 400
"""An instance of more letters is told by the sizes of its arrays."""

_DIGITS = 4
"""Of the bounds of a slack, which are rounded outwards."""


def refutation(claim: Claim, case: Any, names: Mapping[str, str]) -> tuple[str, str]:
    """The two lines on an instance that refutes a reading, which is confirmed anew.

    Raises:
        ClaimError: it does not refute the reading.
    """
    failed = [h.name for h in claim.hypotheses if h.holds(case) is not True]
    if failed:
        raise ClaimError(f"no counterexample to {claim.id}: it fails {', '.join(failed)}")
    kind = claim.conclusion(case).kind
    answer = confirm(claim, {}, case, kind)
    if answer.refuted is not True:
        raise ClaimError(f"no counterexample to {claim.id}: {answer.method} does not refute it")
    return in_words(case, names), _slack(answer, kind)


def in_words(case: Any, names: Mapping[str, str]) -> str:
    """An instance as equations of exact numbers, in one line."""
    parts = [(_joined(path[-1]), value) for path, value in leaves(case, names=names)]
    every = [_told(name, value) for name, value in parts]
    if sum(map(len, every)) > _LONGEST:
        sized = [(name, value) for name, value in parts if np.ndim(value)]
        every = [f"{name} of {' x '.join(map(str, np.shape(x)))}" for name, x in sized]
    return ", ".join(every)


def _told(name: str, value: Any) -> str:
    """An equation; of a field called "yes|no" the word that is true."""
    if isinstance(value, bool | np.bool_) and "|" in name:
        yes, _, no = name.partition("|")
        return yes if value else no
    return f"{name} = {_plain(value)}"


def _joined(name: str) -> str:
    """A name without the space before a number at its end."""
    return re.sub(r" (?=[0-9 ]+$)", "", name)


def _plain(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return (
            _plain(value.tolist()) if value.size else f"none ({' x '.join(map(str, value.shape))})"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if not isinstance(value, float | np.floating):
        return printable(str(value))
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    if short(number):
        return str(Fraction(number))
    odd, power = scaled(number)
    if odd.bit_length() > ODD_BITS:
        return repr(number)
    return {1: "", -1: "-"}.get(odd, f"{odd} * ") + f"2^{power}"


def _slack(answer: Confirmation, kind: str) -> str:
    """The slack, or what it is at most; how that is known where no certificate tells it."""
    known = "" if answer.evidence is Evidence.CERTIFIED else f", {answer.evidence}: {answer.method}"
    if answer.enclosure is None:
        return f"refuted{known}"
    low = _decimal(answer.enclosure[0], ROUND_FLOOR)
    high = _decimal(answer.enclosure[1], ROUND_CEILING)
    needed = ", not above 0" if kind == "strict" and high in ("0", "-0") else ""
    return f"slack {high if low == high else f'at most {high}'}{needed}{known}"


def _decimal(bound: str, rounding: str) -> str:
    """A decimal of few digits on that side of the bound."""
    value = rounded(bound, rounding, _DIGITS)
    if not value.is_finite():
        return str(value).lower()
    return f"{value:{'f' if -6 < value.adjusted() < 16 else 'e'}}"
