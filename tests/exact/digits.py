"""Values in mpmath with many digits, and checks that a ball encloses them."""

from fractions import Fraction

import mpmath
import numpy as np
from flint import arb, ctx
from hypothesis import strategies as st

from attsvm.losses import LOSSES

EPS = float(np.finfo(float).eps)
NAMES = st.sampled_from(sorted(LOSSES))
DECREASING = ["log-loss", "logistic-loss", "exponential", "correlation"]
VALUE = {
    "logistic": lambda u: 1 / (1 + mpmath.exp(-u)),
    "logistic-loss": lambda u: 1 / (1 + mpmath.exp(u)),
    "log-loss": lambda u: mpmath.log(1 + mpmath.exp(-u)),
    "exponential": lambda u: mpmath.exp(-u),
    "correlation": lambda u: -u,
    "squared": lambda u: (1 - u) ** 2,
    "cubic": lambda u: -(u**3),
}


def real(x):
    """The exact value of the float x in mpmath."""
    return mpmath.mpf(float(x))


def encloses(ball, value):
    """Whether the ball meets the interval of relative width 1e-60 about a 100-digit value."""
    with ctx.workprec(400):
        truth = arb(mpmath.nstr(value, 100))
        return bool(ball.overlaps(truth + arb(0, 1) * abs(truth) * arb("1e-60")))


def fractions(nested):
    """Nested lists of fmpq as fractions."""
    if isinstance(nested, list):
        return [fractions(x) for x in nested]
    return Fraction(int(nested.p), int(nested.q))


def attend(logits, values):
    """<softmax(logits), values> in mpmath."""
    powers = [mpmath.exp(a) for a in logits]
    return sum(p * v for p, v in zip(powers, values, strict=True)) / sum(powers)


def near(ball, value, digits=40):
    """Whether all of the ball is within 10^-digits of a value of many digits."""
    with ctx.workprec(500):
        return bool(abs(arb(ball) - arb(mpmath.nstr(value, 120))) <= arb(f"1e-{digits}"))
