"""A small claim pack whose files are damaged: a claim that holds and one that is refuted."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import rational
from attsvm.theory import Hypothesis, Measured, Reading, Records, Slack, Statement, changed

SIBLINGS = {"100 less": changed(shift=100.0), "1000 less": changed(shift=1000.0)}
SMALL = st.integers(-1000, 1000).map(lambda k: k / 8)


@dataclass(frozen=True)
class Station:
    """One value of every kind that an instance may hold."""

    name: str
    at: Any
    share: Fraction
    count: int
    parts: tuple[float, bool, None]


def square(x: float, shift: float = 0.0) -> Slack:
    """Return the slack of "X^2 is at least 0"."""
    return Slack(x * x - shift, 1e-9)


def square_ball(x: float, shift: float = 0.0) -> arb:
    """Return x^2 - shift as a ball."""
    return arb(rational(x) ** 2 - rational(shift))


def near(case: Station, shift: float = 0.0) -> Slack:
    """Return the slack of "the first coordinate is at most 5"."""
    return Slack.at_most(float(case.at[0, 0]) + shift, 5.0, 0.0)


def near_ball(case: Station, shift: float = 0.0) -> arb:
    """Return 5 - x - shift as a ball, where x is the first coordinate."""
    return arb(5 - rational(float(case.at[0, 0])) - rational(shift))


STATIONS = st.builds(
    Station,
    st.sampled_from(["a", "b"]),
    SMALL.map(lambda x: np.array([[x, 1.0]])),
    st.just(Fraction(1, 3)),
    st.just(2),
    st.just((0.1, True, None)),
)

SQUARES = Statement(
    "fuzz/squares",
    source="fuzz",
    place="here",
    printed="x^2 >= 0",
    variables=Records(float, SMALL),
    conclusion=Measured("squares", square, square_ball),
    cost=6,
    readings={"literal": Reading("holds", siblings=SIBLINGS)},
)
NEAR = Statement(
    "fuzz/near",
    source="fuzz",
    place="there",
    printed="stations are near",
    variables=Records(Station, STATIONS),
    conclusion=Measured("near", near, near_ball),
    cost=6,
    readings={"literal": Reading("refuted", siblings=SIBLINGS)},
    hypotheses=(Hypothesis("it has a name", lambda case: bool(case.name)),),
)
