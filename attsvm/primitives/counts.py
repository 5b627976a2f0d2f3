"""What a count of successes says of their probability."""

from typing import Any

from attsvm.theory import Measured, Slack

RISK = 1e-9
"""How likely a confidence interval of a reading may be wrong, on either side."""


def interval(hits: int, runs: int, risk: float) -> tuple[float, float]:
    """The exact binomial confidence interval of Clopper and Pearson.

    Either end is wrong with probability at most `risk`.
    """
    from scipy.special import betaincinv  # few commands count

    low = float(betaincinv(hits, runs - hits + 1, risk)) if hits else 0.0
    high = float(betaincinv(hits + 1, runs - hits, 1.0 - risk)) if hits < runs else 1.0
    return low, high


def at_least(share: float, hits: int, runs: int) -> Slack:
    """The slack of a probability over a share, as counted; sure up to `RISK`."""
    low, high = interval(hits, runs, RISK)
    counted = hits / runs
    return Slack(counted - share, max(counted - low, high - counted))


def probability(
    event: str,
    bound: str,
    sign: str = r"\ge",
    **forms: Any,
) -> Measured:
    """That the probability P of an event is at least a bound, as counted.

    Args:
        event: what is counted, constants as `$share`.
        bound: in LaTeX, constants as `$share`.
        sign: of the comparison.
        forms: its floats, and the same once more by other samples (`again`).
    """
    return Measured(
        "", notation=f"P {sign} {bound}", where=f"P is the probability {event}", **forms
    )


HALF = r"\frac{1}{2}"
