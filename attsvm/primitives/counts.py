"""Bounds of a probability from a count of successes."""

from typing import Unpack

from attsvm.theory import Measured, Slack
from attsvm.theory.declaration.conclusions import Forms

RISK = 1e-9
"""Probability that one end of a confidence interval of a reading is wrong."""


def interval(hits: int, runs: int, risk: float) -> tuple[float, float]:
    """Return the exact binomial confidence interval of Clopper and Pearson.

    Each end is wrong with probability at most `risk`.
    """
    from scipy.special import betaincinv  # few commands count

    low = float(betaincinv(hits, runs - hits + 1, risk)) if hits else 0.0
    high = float(betaincinv(hits + 1, runs - hits, 1.0 - risk)) if hits < runs else 1.0
    return low, high


def at_least(share: float, hits: int, runs: int) -> Slack:
    """Return the slack of "the probability is at least `share`" from a count, with its error."""
    low, high = interval(hits, runs, RISK)
    counted = hits / runs
    return Slack(counted - share, max(counted - low, high - counted))


def probability(
    event: str,
    bound: str,
    sign: str = r"\ge",
    **forms: Unpack[Forms],
) -> Measured:
    """Return the conclusion that the probability P of an event is at least a bound, from counts.

    Args:
        event: the event, with constants as `$share`.
        bound: the bound in LaTeX, with constants as `$share`.
        sign: the comparison in LaTeX.
        forms: the float implementation, and a second one with other samples (`again`).
    """
    return Measured(
        "", notation=f"P {sign} {bound}", where=f"P is the probability {event}", **forms
    )


HALF = r"\frac{1}{2}"
"""One half in LaTeX."""
