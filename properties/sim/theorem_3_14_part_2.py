"""Theorem 3.14 under part 2 of assumption 3.10: all rivals of an optimal token score the same.

"Suppose assumption 3.10 ... hold. Then W-GD with step size eta <= 1/L_X and any starting point
satisfies lim X(k)/||X(k)||_F = X^mm/||X^mm||_F."

What print leaves open is read as in part 1: the programme of definition 3.8, the orientation of X,
L(X) and L_X. As printed it falls twice over. The loss of definition 3.6 increases in <f, h>, so
descent flees the tokens of highest score: <X, X^mm> falls at every step (see part 1). And nothing
asks that the Att-SVM has a solution: with a single token X^mm = 0 has no direction, with two inputs
that pull against each other there is no X^mm at all. `amended-1` takes the decreasing loss g(-u), a
feasible programme and one input with two tokens, and still falls from zero: the input with the
larger score gap can drag another one to its worse token for ever (`PULLED_APART`, two inputs of two
tokens in R^2). Three repairs are proved (`symbolic/basins.py`). `amended-3` starts with a risk gap
below min_i [l(second score) - l(best score)]/n, whatever rivals score. `amended-2` has a single
input, where every start does so, because attention to the optimal token is never 0. `amended-4`
starts from zero with two inputs of two tokens and the same two scores in both, none negative: zero
is on the edge of the basin, and the first step enters it. Three such inputs may fail from zero
(`OUTNUMBERED`), and so may two of three tokens (`THREE_EACH`).

Whether the scores of `amended-4` may be negative is open. Then g(-u) is concave and zero lies
outside of the basin, so that this proof has no start. But an input that is dragged first is not
lost as in `amended-1`: let a, b and -c be the inner products of A_1 and A_2, ab > c^2, and p_i >= 0
the pulls. A step of any size eta adds eta (ab - c^2) p_1 to b m_1 + c m_2, so that -m_1 <=
(c/b) m_2. The first input is dragged from zero where c > a, and then c < b: its pull exp(m_1)
outweighs exp(-m_2) in the end.
Steps longer than 1/L leap out of the basin of `amended-3` (`LEAPING`); `amended-2` and `amended-4`
were not seen to fail with them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.strategies import arrays, numbers, sizes
from attsvm.theory import Reading, Statement, changed
from properties._support.descent_runs import (
    LEAPING,
    Run,
    pulling_data,
    rival_data,
    runs,
    tight_data,
)
from properties._support.hypotheses import rivals_equal
from properties._support.hypothesis_violations import (
    ALL_TIED,
    NO_QUERY,
    PASSED_OVER,
    TIED_APART,
)
from properties._support.published_data import one_input
from properties._support.steps import SHORT, stepped
from properties.sim import SOURCE
from properties.sim._support import training
from properties.sim._support.training import BASIN, FEASIBLE, PRINTED, REPAIRED, TWO_TOKENS, UNIQUE

LEVEL, SINGLE = "all rivals of an optimal token score the same", "there is a single input"
OPPOSED = Run.of([[[1], [0]]] * 2, [[1], [-1]], scores=[[1, 0]] * 2)
FAR_START = replace(TWO_TOKENS, start=np.array([[-24.0]]))
OUTNUMBERED = Run.of(
    [[[3, 0], [0, 0]], [[3, 0], [0, 0]], [[-4, -1], [0, 0]]], [[1, 0]] * 3, scores=[[0.25, 0]] * 3
)
"""Two equal inputs drag the third one to its worse token."""
THREE_EACH = Run.of(
    [[[0, 0], [2, 1], [5, 1]], [[0, 0], [-3, -2], [0, -1]]],
    [[1, 0]] * 2,
    scores=[[0.25, 0.0, 0.0]] * 2,
)
REJOINED = Run.of([[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1, 0]] * 2, scores=[[0.25, 0.0]] * 2)
UNEVEN = Run.of(
    [[[1, 0], [0, 0]], [[-2, 1], [0, 0]]], [[1, 0]] * 2, scores=[[1.0, 0.0], [0.25, 0.0]]
)
BELOW = np.array([[0.0, -1.0]] * 2)
FAR_APART = replace(REJOINED, start=np.array([[16.0, 0.0], [0.0, 0.0]]))
SAME_RIVALS = Run.of([[[1], [0], [0]]], [[1]], scores=[[1, 0, 0]])

SAME, PAIRS = "optimal tokens share a score, all others another one", "two inputs of two tokens"
ZERO, NOT_NEGATIVE = "the start is zero", "no score is negative"


def scores_shared(run: Run) -> bool:
    """Every input has one token of the highest score of all, and others of one lower score."""
    exact = ExactData.of(run.data)
    return exact.unique and len({frozenset(row) for row in exact.gamma}) == 1 and rivals_equal(run)


@st.composite
def pairs(draw: st.DrawFn) -> Run:
    """Two inputs of two tokens with one query and the same two scores, from zero."""
    d, low = draw(sizes(2, 3)), abs(draw(numbers()))
    scores = [[low + draw(sizes(1, 16)) / 4, low]] * 2
    X = draw(arrays(2, 2, d))
    return Run(AttentionData.of(X, np.eye(1, d).repeat(2, 0), scores=scores), np.zeros((d, d)))


THEOREM = Statement(
    "sim/theorem-3.14-part-2",
    rests_on=(
        "sim/definition-3.6",
        "sim/definition-3.8",
        "sim/orientation",
        "sim/lemma-3.13",
    ),
    source=SOURCE,
    place="Theorem 3.14 with assumption 3.10",
    printed="Suppose assumption 3.10 ... hold. Then W-GD with step size eta <= 1/L_X and any "
    "starting point satisfies lim X(k)/||X(k)||_F = X^mm/||X^mm||_F",
    variables=stepped(Run, runs(rival_data(), 0, 2)),
    hypotheses={
        **training.HYPOTHESES,
        LEVEL: rivals_equal,
        SINGLE: lambda run: run.data.n == 1,
        SAME: scores_shared,
        PAIRS: lambda run: run.data.n == 2 and all(len(x) == 2 for x in ExactData.of(run.data).X),
        ZERO: lambda run: not run.start.any(),
        NOT_NEGATIVE: lambda run: all(g >= 0 for row in ExactData.of(run.data).gamma for g in row),
    },
    conclusion=training.DIRECTION,
    cost=10,
    violating={
        UNIQUE: [training.TIED_BESIDE, ALL_TIED, TIED_APART],
        training.TWO: [training.ONE_TOKEN],
        LEVEL: [PASSED_OVER, training.UNEVEN_SCORES],
        FEASIBLE: [NO_QUERY, OPPOSED],
        SAME: [UNEVEN],
        PAIRS: [OUTNUMBERED, THREE_EACH],
        ZERO: [FAR_APART],
        NOT_NEGATIVE: [replace(REJOINED, data=replace(REJOINED.data, scores=BELOW))],
        SHORT: [LEAPING, replace(REJOINED, step=256.0)],
    },
    readings={
        "literal": Reading(
            "equal scores of rivals: descent on g(b <f, h>) from any start converges in direction "
            "to X^mm",
            expected="refuted",
            constants={"loss": PRINTED},
            under=(UNIQUE, LEVEL, SHORT),
            examples=(TWO_TOKENS, training.ONE_TOKEN, OPPOSED),
            siblings={
                "any scores of rivals": changed(drop=[LEVEL], examples=[training.THREE_SCORES]),
                **training.OTHER_TARGETS,
            },
        ),
        "amended-1": Reading(
            "equal scores of rivals, Att-SVM feasible, some input with two tokens: descent on the "
            "decreasing loss g(-b <f, h>) from any start converges in direction to X^mm",
            expected="refuted",
            constants={"loss": REPAIRED},
            under=(UNIQUE, LEVEL, training.TWO, FEASIBLE, SHORT),
            variables=stepped(Run, runs(rival_data(), 0, 2), training.protocol),
            examples=(TWO_TOKENS, training.PULLED_APART),
            siblings={
                **training.OTHER_DIRECTIONS,
                "infeasible programme": changed(drop=[FEASIBLE], examples=[OPPOSED]),
            },
        ),
        "amended-2": Reading(
            "a single input with equal scores of rivals, two tokens at least, Att-SVM feasible: "
            "descent on the decreasing loss with step at most 1/L_X from any start converges in "
            "direction to X^mm",
            expected="proved",
            proof="symbolic.basins:prove_equal_rivals",
            constants={"loss": REPAIRED},
            under=(UNIQUE, LEVEL, training.TWO, FEASIBLE, SINGLE, SHORT),
            variables=stepped(Run, runs(rival_data(), 0, 2), partial(training.protocol, n=1)),
            examples=(TWO_TOKENS, FAR_START, SAME_RIVALS, Run(one_input(), np.zeros((2, 2)))),
            siblings={
                **training.OTHER_DIRECTIONS,
                "several inputs": changed(
                    drop=[SINGLE], variables=stepped(Run, runs(pulling_data(), 0))
                ),
            },
        ),
        "amended-3": Reading(
            "Att-SVM feasible, scores of rivals as they are: descent on the decreasing loss with "
            "step at most 1/L_X converges in direction to X^mm from every start whose risk gap is "
            "below min_i [l(second) - l(best)]/n",
            expected="proved",
            proof="symbolic.basins:prove",
            constants={"loss": REPAIRED},
            under=(UNIQUE, FEASIBLE, BASIN, SHORT),
            variables=stepped(
                Run, runs(st.one_of(rival_data(), tight_data()), 0, 1), training.near_solution
            ),
            examples=(TWO_TOKENS,),
            siblings={**training.OTHER_DIRECTIONS, **training.any_start()},
        ),
        "amended-4": Reading(
            "two inputs of two tokens with the same two scores, none negative, Att-SVM feasible: "
            "descent on the decreasing loss with step at most 1/L_X from X(0) = 0 converges in "
            "direction to X^mm",
            expected="proved",
            proof="symbolic.basins:prove_pair",
            constants={"loss": REPAIRED},
            under=(FEASIBLE, SAME, PAIRS, ZERO, NOT_NEGATIVE, SHORT),
            variables=stepped(Run, pairs(), fixed=("start",)),
            conclusion=training.PATIENTLY,
            examples=(REJOINED,),
            siblings={
                **training.OTHER_DIRECTIONS,
                "three inputs": changed(drop=[PAIRS], examples=[OUTNUMBERED]),
                "three tokens": changed(drop=[PAIRS], examples=[THREE_EACH]),
            },
        ),
    },
)
