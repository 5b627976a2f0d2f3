"""Rows of K and Q under descent, ends of published runs, and ranks of W^mm."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.counts import HALF, probability
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Hypothesis, Records, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties.tf.parameterisation_bias import biased_ends as ends
from properties.tf.parameterisation_bias.biased_ends import Draws


@dataclass(frozen=True, slots=True)
class Rows:
    """K and Q of two rows, a step size, and a number of steps."""

    K: Array
    Q: Array
    step: float
    steps: int

    def __post_init__(self) -> None:
        if self.K.ndim != 2 or len(self.K) != 2 or self.K.shape != self.Q.shape:
            raise DataError("K and Q are not of two rows each", value=self.K.shape)
        if not (np.isfinite(self.step) and 0 <= self.steps <= 3):
            raise DataError(
                "a step is not finite, or steps are not 0 to 3", value=(self.step, self.steps)
            )


@composite
def factor_rows(draw: st.DrawFn) -> Rows:
    """Draw rows of K and Q that are mostly close; none, one or both of them agree."""
    K = draw(arrays(2, draw(sizes(1, 3))))
    Q = draw(st.sampled_from([1.0, 0.0])) * K + draw(arrays(*K.shape)) / 8
    same = draw(st.sampled_from([[], [0], [1], [0, 1]]))
    Q[same] = K[same]
    return Rows(K, Q, draw(st.sampled_from([1.0, 4.0, 64.0, 1024.0])), draw(st.integers(1, 3)))


def rows_after(m: Namespace, case: Rows) -> tuple[Numbers, Numbers]:
    """Return K + Q and K - Q after steps that map a_i to (1 + s_i) a_i, b_i to (1 - s_i) b_i.

    s_i is the step times minus the slope of the risk in (K Q^T)_ii = (|a_i|^2 - |b_i|^2) / 4. A row
    that is 0 stays exactly 0, in balls as well.
    """
    K, Q = m.values(case.K), m.values(case.Q)
    a, b = K + Q, K - Q
    for _ in range(case.steps):
        slopes = [m.values(case.step) * fall(m, x) for x in _margins(a, b)]
        a, b = (
            m.array([(1 + sign * slopes[i]) * A[i] for i in range(2)])
            for A, sign in ((a, 1), (b, -1))
        )
    return a, b


def fall(m: Namespace, margin: Number) -> Numbers:
    """Return minus the slope of the risk in the margin (K Q^T)_ii of an input."""
    return m.logistic(-m.logistic(margin)) * m.logistic_slope(margin) / 2


def allowed(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """Return the maximum distance of 4 (K Q^T)_12 from c |a_1| |a_2|."""
    return a[0] * b[1] + b[0] * a[1] + b[0] * b[1]


def _margins(a: Numbers, b: Numbers) -> list[Number]:
    return [(a[i] @ a[i] - b[i] @ b[i]) / 4 for i in range(2)]


@stated(
    "$formula, the same of (K Q^T)_21, each ||a_i|| has grown, and each ||b_i||/||a_i|| above 0 "
    "has fallen, with $towards",
    r"|4 (K Q^\top)_{12} - c \|a_1\| \|a_2\|| \le $share [(1 + q_1) (1 + q_2) - 1] \|a_1\| \|a_2\|",
    {"towards": {"start": "c the cosine of a_1 and a_2 at the start", "frobenius": "c = 0"}},
    where="K and Q are those after the steps of descent on both with the log-loss, a_i and b_i are "
    "the rows of K + Q and K - Q, q_i is ||b_i||/||a_i|| at the start, and the tokens are (1, 0), "
    "0 with query (1, 0) and (0, 1), 0 with query (0, 1), of scores 1, 0",
)
def keeps_angle(m: Namespace, case: Rows, share: Number = 1, towards: str = "start") -> Relation:
    """The rows of K + Q are a_i, those of K - Q are b_i, and q_i is |b_i|/|a_i| at the start.

    The left side is |<b_1, a_2> - <a_1, b_2> - <b_1, b_2>| in the end; for (K Q^T)_21 the first two
    terms change their sign. Both sides are multiplied by |a_1| |a_2| at the start. If b_1 = b_2 =
    0, all of it is exactly 0.
    """
    if not _sums(case):
        return m.below(m.exact(0), m.exact(0))  # there is no c
    K, Q = m.values(case.K), m.values(case.Q)
    long, lost = ([m.norm(row) for row in rows] for rows in (K + Q, K - Q))
    a, b = rows_after(m, case)
    longer, less = ([m.norm(row) for row in rows] for rows in (a, b))
    crossed = b[0] @ a[1] - a[0] @ b[1]
    aways = [sign * crossed - b[0] @ b[1] for sign in (1, -1)]
    if towards == "frobenius":
        aways = [away + a[0] @ a[1] for away in aways]
    room = share * longer[0] * longer[1] * allowed(long, lost)
    apart = np.flatnonzero((case.K != case.Q).any(axis=1))
    return m.all_of(
        *(m.at_most(m.abs(away) * long[0] * long[1], room) for away in aways),
        *(m.below(long[i], longer[i]) for i in range(2)),
        *(m.below(less[i] * long[i], lost[i] * longer[i]) for i in apart),
    )


def _sums(case: Rows) -> bool:
    return bool((case.K + case.Q).any(axis=1).all())


SUMS = Hypothesis("no row of K + Q is 0", _sums)
POSITIVE = Hypothesis("the step is above 0", lambda case: case.step > 0)
MOVED = Hypothesis("at least one step is made", lambda case: case.steps > 0)


@stated(
    "W^mm exists and $formula",
    r"\mathrm{rank} W^{mm} > $least",
    checked=lambda m, case, least: run_programs.support(
        m, case, f"below({least}, rank(matrix(target)))"
    ),
)
def rank_above(m: Namespace, data: AttentionData, least: Number) -> Comparison:
    solved = exact_att_svm(data)
    return m.below(least, m.exact(0 if solved is None else solved.rank))


PUBLISHED = Records(
    Draws,
    st.builds(Draws, ends.seeds),
    lets="data be drawn by the published protocol (n = 6, T = 8, d = 10, Gaussian tokens, queries "
    "and head, each divided by its norm, fair labels of 1 and -1), with the log-loss, Gaussian d x "
    "d starts K, Q of deviation 0.01 and W = 0, gradients divided by their norm, of K and Q "
    "together, before exponentials underflow, and solutions for the tokens of largest weight at "
    "the end of each run",
)
FIRST = Draws(0)
OFTEN = probability(
    "that 2000 steps of normalised descent of length 0.1 on (K, Q) end with a larger cosine with "
    "the $kq solution, and those on W from 0 with the $w one",
    HALF,
    floats=ends.often,
    again=ends.often_again,
)
NEARS = probability(
    "that, for $of, the distance of W/||W||_* to W_*/C_*, W_* the nuclear "
    "solutions and C_* their norm, falls in each decade of ||W|| from 1e2 to 1e5, and that d ln "
    "s_i/d ln s_1 is in the last one at most 1/5 from $law on the mean and nearer than in the "
    "first, s_i being the singular values of W",
    HALF,
    floats=ends.nears,
    again=ends.nears_again,
    symbols={
        "of": {
            "(K, Q)": "W = K Q^T of gradient flow on (K, Q)",
            "W": "W of gradient flow on W from 0",
        },
        "law": {
            "S": "those of S, the sum of the constraint matrices with the multipliers of their "
            "programme,"
        },
    },
)
