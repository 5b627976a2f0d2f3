"""Words for people."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context


def counted(number: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def rising(value: float) -> str:
    """`3.1e-16`: two digits, rounded up, so that a bound stays one."""
    if not math.isfinite(value):
        return str(value)
    digits = Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(value)
    return f"{float(digits):.1e}"
