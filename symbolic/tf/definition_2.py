"""Which token choices are locally optimal, by the solution without their rivals."""

from __future__ import annotations

from symbolic.least_points import (
    ensure_least_point,
    ensure_multipliers,
    ensure_multipliers_suffice,
)


def prove() -> str:
    """The rivals' least margin is the larger of 1 and that under the solution without them."""
    ensure_least_point("W^mm(alpha) meets them all, so those of the tokens that are no rivals")
    ensure_multipliers()
    ensure_multipliers_suffice()
    return (
        "for any n, T, d: where the solution W' without rivals gives them margins of 1 it is "
        "W^mm(alpha), being nearest in a larger set; else some rival is tight, or multipliers of "
        "the others alone would prove W^mm(alpha) to be W'"
    )
