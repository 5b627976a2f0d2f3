"""Frequencies of a correlation above a bound in the published experiment, with exact intervals.

Every run counts if its Gen-SVM has a solution. The public code leaves out others as well, by the
weights at the end (`properties.tf.figures.generalised_svm`).
"""

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np
from hypothesis import strategies as st

from attsvm.errors import DataError, NotExpressible
from attsvm.primitives.counts import at_least, probability
from attsvm.theory import Slack
from attsvm.theory.arithmetic.programs import Programs
from properties.tf.figures.generalised_svm import SIZES, public_ends

RUNS, AGAIN = 60, 120
"""Number of data sets drawn, at first and on repetition."""


@dataclass(frozen=True, slots=True)
class Published:
    """A seed of random data, and one of the published sizes."""

    seed: int
    d: int

    def __post_init__(self) -> None:
        if self.d not in SIZES:
            raise DataError("there is no such size in the experiment", value=self.d)


PROTOCOL = (
    "runs be made as by the public code, none left out whose Gen-SVM has a solution: n = 3, T = 4, "
    "d = 4, 6, 8, or 10, Gaussian tokens and queries divided by their norms, labels of 1 and -1 "
    "with one -1 at least, a head sum_k max(<a_k, x>, 0), k = 1, ..., d, with the a_k the rows of "
    "a Gaussian matrix divided by its Frobenius norm, log-loss, uniform W(0) in [-1, 1]/sqrt d, "
    "2001 steps of descent of -0.1 grad L/(||grad L|| + 2^-52) in floats, O_i the tokens of weight "
    "above 1e-3 in the end, and W_fin the least matrix with the logit differences of W within each "
    "O_i"
)
DRAWS = st.builds(Published, st.integers(0, 2**16), st.sampled_from(SIZES[::-1]))


@functools.lru_cache(maxsize=16)
def correlations(case: Published, runs: int, stream: int) -> tuple[float, ...]:
    """Return the correlation of W with W_fin + c W_svm at the end of each run that has both."""
    generator = np.random.default_rng([case.seed, case.d, stream, runs])
    ends = public_ends(generator, case.d, runs)[:, 0].tolist()
    return tuple(x for x in ends if not math.isnan(x))


def _often(case: Published, above: str, share: str, runs: int, stream: int) -> Slack:
    cosines = correlations(case, runs, stream)
    if not cosines:
        return Slack.unknown("no run has a Gen-SVM solution")
    k = sum(x > float(Fraction(above)) for x in cosines)
    return at_least(float(Fraction(share)), k, len(cosines))


def often(case: Published, above: str = "0.99", share: str = "1/2") -> Slack:
    """Return the slack of "the correlation exceeds `above` with probability at least `share`"."""
    return _often(case, above, share, RUNS, 0)


def often_again(case: Published, above: str = "0.99", share: str = "1/2") -> Slack:
    """Return the slack of `often` from other draws, twice as many."""
    return _often(case, above, share, AGAIN, 1)


def _written(m: Programs, case: Published, **_: str) -> NoReturn:
    """Refuse to write a program: no finite list of exact numbers proves this probability.

    Raises:
        NotExpressible: always.
    """
    raise NotExpressible("a probability over Gaussian data, of which only samples of runs speak")


OFTEN = probability(
    "that the correlation of W with W_fin + c W_svm, at the best c >= 0, is above $above",
    "$share",
    floats=often,
    again=often_again,
    checked=_written,
)
