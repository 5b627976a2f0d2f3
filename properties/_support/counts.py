"""What a count of successes says of their probability."""


def interval(hits: int, runs: int, risk: float) -> tuple[float, float]:
    """The exact binomial confidence interval of Clopper and Pearson.

    Either end is wrong with probability at most `risk`.
    """
    from scipy.special import betaincinv  # few commands count

    low = float(betaincinv(hits, runs - hits + 1, risk)) if hits else 0.0
    high = float(betaincinv(hits + 1, runs - hits, 1.0 - risk)) if hits < runs else 1.0
    return low, high
