"""Summary: W is biased to the Frobenius solution, (K, Q) to the nuclear one.

"Parameterization matters: W -> min Frob_norm, (K, Q) -> min Nuclear_norm bias." Read of gradient
descent, as the talk's pictures do; of regularisation paths it is theorems 2 and 3. The published
experiment is counted (literal-4), and drawn by `attsvm reproduce tf/parameterisation-bias`.

Descent on W may go to a local direction, be it from zero: tokens 4, 0, 3 of scores 1, 0, -3 and
query 1 (literal-1). Descent on (K, Q) goes nowhere from K = Q = 0, and for K = 1, Q = -1 on tokens
1, 0 and query 1 it keeps K = -Q, so that W is never above 0, where both solutions are 1
(literal-2). From the basin descent on W keeps the bias (amended).

The parameterisation does not matter to the solution where W^mm has rank 1, as for one input of two
tokens: every feasible V has ||V||_* >= ||V||_F >= ||W^mm||_F = ||W^mm||_*, with equality for V =
W^mm alone (literal-3; `tf/svm-rank:amended`, proved in `symbolic.tf.svm_rank`). On the data of
`tf/theorem-3:sharp-2`, whose nuclear solutions are (1, c; c, 1) with |c| <= 1, descent on (K, Q)
converges to one of them from nearly every start, with any step, and the start decides which: rows
of K + Q grow along themselves, those of K - Q fall behind, and c is the cosine of the rows of K + Q
(sharp). It is 0, as for W^mm, where these are orthogonal. On other data the bias is proved of the
regularisation path alone (`tf/theorem-3`), and counted here of descent: at random it ends nearer in
angle to the nuclear solution on (K, Q), and to the Frobenius one on W (literal-4). That is evidence
after 2000 steps, and says of no limit that it is there. Followed by gradient flow to a norm of 1e5,
K Q^T nears the set of nuclear solutions in each decade of the norm, as W does not (sharp-2). Why
this is counted, and not proved, is in `symbolic.tf.parameterisation_bias`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.counts import HALF, probability
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import BASIN, EXISTS, ONE_PAIR, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import ANY, SHORT, flattened, stepped
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.data import separable_data
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties._support.hypothesis_violations import PASSED_OVER
from properties.sim._support import factor_descent as factors
from properties.sim._support.factor_descent import NOWHERE, OPPOSED
from properties.tf import SOURCE
from properties.tf._support import biased_ends as ends
from properties.tf._support import descent_instances as cases
from properties.tf._support.biased_ends import Draws

WORST = {"the solution for the worst tokens": changed(towards="worst")}


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
            raise DataError("no such step size or number of steps", value=(self.step, self.steps))


@composite
def factor_rows(draw: st.DrawFn) -> Rows:
    """Rows of K and Q that are mostly near each other; none, one or both of them are the same."""
    K = draw(arrays(2, draw(sizes(1, 3))))
    Q = draw(st.sampled_from([1.0, 0.0])) * K + draw(arrays(*K.shape)) / 8
    same = draw(st.sampled_from([[], [0], [1], [0, 1]]))
    Q[same] = K[same]
    return Rows(K, Q, draw(st.sampled_from([1.0, 4.0, 64.0, 1024.0])), draw(st.integers(1, 3)))


def rows_after(m: Namespace, case: Rows) -> tuple[Any, Any]:
    """K + Q and K - Q after the steps: each takes row a_i to (1 + s_i) a_i, b_i to (1 - s_i) b_i.

    s_i is the step times minus the slope of the risk in (K Q^T)_ii = (|a_i|^2 - |b_i|^2) / 4. A
    row that is 0 stays exactly 0, in balls as well.
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
    """Minus the slope of the risk in the margin (K Q^T)_ii of an input."""
    return m.logistic(-m.logistic(margin)) * m.logistic_slope(margin) / 2


def allowed(a: Any, b: Any) -> Any:
    """How far 4 (K Q^T)_12 may be from c |a_1| |a_2|, by the lengths of the a_i and the b_i."""
    return a[0] * b[1] + b[0] * a[1] + b[0] * b[1]


def _margins(a: Numbers, b: Numbers) -> list[Any]:
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

    The left-hand side is the size of <b_1, a_2> - <a_1, b_2> - <b_1, b_2> in the end, with the
    first two turned round for (K Q^T)_21. Both sides are compared times |a_1| |a_2| at the start:
    where b_1 = b_2 = 0 all are exactly 0.
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


@stated("W^mm exists and $formula", r"\mathrm{rank} W^{mm} > $least")
def rank_above(m: Namespace, data: AttentionData, least: Number) -> Comparison:
    solved = exact_att_svm(data)
    return m.below(least, m.exact(0 if solved is None else solved.rank))


PUBLISHED = Records(
    Draws,
    st.builds(Draws, ends.seeds),
    lets="data be drawn by the published protocol (n = 6, T = 8, d = 10, unit-norm Gaussian "
    "tokens, queries and head, random labels), with the log-loss, Gaussian starts (K, Q) of "
    "deviation 0.01, and solutions for the tokens of largest weight in the end",
)

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


BIAS = Statement(
    "tf/parameterisation-bias",
    rests_on=("tf/theorem-2", "tf/theorem-3"),
    source=SOURCE,
    place="Summary",
    printed="Parameterization matters: W -> min Frob_norm, (K, Q) -> min Nuclear_norm bias",
    variables=stepped(Descent, cases.descents(), cases.started_right, steps=ANY),
    conclusion=cases.DIRECTION,
    cost=12,
    violating={
        **cases.VIOLATING,
        SUMS: [Rows(np.eye(2), -np.eye(2), 1.0, 1)],
        POSITIVE: [Rows(np.eye(2), np.zeros((2, 2)), -1.0, 1)],
        MOVED: [Rows(np.eye(2), np.zeros((2, 2)), 1.0, 0)],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            read={
                "min Frob_norm": "that descent on W converges in direction to the "
                "Frobenius solution W^mm"
            },
            under=(STRICT_LOSS,),
            variables=stepped(Descent, flattened(cases.descents()), cases.started_right, steps=ANY),
            examples=(cases.descent(PASSED_OVER), cases.TRAP, cases.ONE_TOKEN),
            siblings=WORST,
        ),
        "literal-2": Reading(
            "refuted",
            read={
                "min Nuclear_norm": "that descent on (K, Q) takes K Q^T in direction to a "
                "nuclear solution, which is X^mm for one input of two tokens"
            },
            fixed={"loss": "log-loss"},
            under=(ONE_PAIR,),
            variables=factors.factors(factors.pair_data()),
            conclusion=factors.FACTORED,
            examples=(NOWHERE, OPPOSED),
            siblings=WORST,
        ),
        "literal-3": Reading(
            "refuted, certified",
            read={
                "matters": "with a W^mm on all data that is never a nuclear solution, so of no "
                "rank below 2"
            },
            constants={"least": 1},
            under=(),
            variables=Records(AttentionData, separable_data()),
            conclusion=rank_above,
            examples=(
                cases.from_zero([[[1], [0]]], scores=[[1.0, 0.0]]).data,
                cases.ONE_TOKEN.data,
            ),
            siblings={"rank above 2": changed(least=2)},
        ),
        "literal-4": Reading(
            "holds",
            read={"bias": "the larger cosine in the end, with a probability of at least 1/2"},
            constants={"kq": "nuclear", "w": "Frobenius"},
            under=(),
            variables=PUBLISHED,
            conclusion=OFTEN,
            cost=400,
            examples=(Draws(0),),
            siblings={
                "both to the nuclear solution": changed(w="nuclear"),
                "both to the Frobenius solution": changed(kq="Frobenius"),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.basins:prove",
            under=(EXISTS, SLOPED_LOSS, UNIQUE, BASIN, SHORT),
            variables=stepped(Descent, cases.descents(), cases.started_right),
            siblings=WORST,
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.parameterisation_bias:prove",
            under=(SUMS, POSITIVE, MOVED),
            variables=Records(Rows, factor_rows()),
            conclusion=keeps_angle,
            examples=(
                Rows(np.eye(2), np.eye(2) / 2, 1.0, 2),
                Rows(np.array([[1.0], [1.0]]), np.array([[0.875], [0.875]]), 1.0, 3),
                Rows(
                    np.array([[1.0, 0.5], [0.1, 1.0]]), np.array([[1.0, 0.5], [0.1, 1.0]]), 64.0, 3
                ),
                Rows(np.array([[1.0], [0.0]]), np.array([[-0.5], [1.0]]), 1024.0, 2),
                Rows(np.ones((2, 1)), np.array([[1.0], [0.5]]), 4.0, 2),
            ),
            siblings={
                "the Frobenius solution, c = 0": changed(towards="frobenius"),
                "a third of the room": changed(share="0.333"),
            },
        ),
        "sharp-2": Reading(
            "holds",
            constants={"of": "(K, Q)", "law": "S"},
            under=(),
            variables=PUBLISHED,
            conclusion=NEARS,
            cost=400,
            examples=(Draws(0),),
            siblings={
                "distances of W in place of (K, Q)": changed(of="W"),
                "all singular values at one rate": changed(law="1"),
            },
        ),
    },
)
