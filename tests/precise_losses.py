"""The losses as functions of a number of mpmath."""

import mpmath

VALUES = {
    "logistic": lambda u: 1 / (1 + mpmath.exp(-u)),
    "logistic-loss": lambda u: 1 / (1 + mpmath.exp(u)),
    "log-loss": lambda u: mpmath.log(1 + mpmath.exp(-u)),
    "exponential": lambda u: mpmath.exp(-u),
    "correlation": lambda u: -u,
    "squared": lambda u: (1 - u) ** 2,
    "cubic": lambda u: -(u**3),
}
