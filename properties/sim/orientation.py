"""Orientation: the X that is trained is the transpose of the X of the programme.

Trained is the X of definition 3.3, with logits A_{j0} vec(X): by the tensor trick row j0 of A1 X
A2^T, so the logit of token t is a_{j0}^T X a_t, the query left of X (W-GD, definition 3.7). The
programme has the query right of X: (a_opt - a_t)^T X a_i >= 1 - xi in definition 4.1, (x_opt -
x_t)^T W^mm z = 1 in assumption 3.10; definition 3.8 has lost its formula. Section 4 compares both
"X(k) and X^mm". `literal-1` takes them for one matrix: the differences of the logits at X are the
left sides of the constraints at X. False for tokens (1, 0), (0, 1) and X = E_12; in R^1 there is
nothing to tell apart. `amended-2`: theorem 3.14 with the repairs that have nothing to do with it, a
decreasing loss and a start that cannot lose its optimal tokens, for the X that is trained. False:
tokens (1, 1) and (1, 0), scores 1 and 0, query (1, 0), X(0) = 0: X^mm = E_21, all X(k) are
multiples of E_12, and the programme's margin is 0 for ever. Both hold with one of the matrices
transposed (`amended-1`, proved; `amended-3`, the repaired theorem 3.14). What the mistake costs a
margin (`sharp`): with S = X - X^T,

    |z^T X D - D^T X z| = |z^T S D| <= ||S||_2 ||z|| ||D||,

attained by singular vectors of S; so the two agree for all tokens exactly where X is symmetric.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.strategies.data import separable_data
from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import (
    Run,
    feasible,
    pulling_data,
    runs,
    tight_data,
    unique_optimum,
)
from properties._support.hypothesis_violations import NO_QUERY, TIED_ASIDE
from properties.sim import SOURCE
from properties.sim.theorem_3_14 import LOCAL_TRAP
from properties.sim.turned import (
    Margin,
    Sentence,
    arrives_turned,
    cost_of_turning,
    exact_cost_of_turning,
    exact_mismatch,
    margins,
    mismatch,
    sentences,
    starts_in_turned_basin,
    trained,
    turned,
)

ORIENTATION: dict[str, Any] = {
    "source": SOURCE,
    "place": "Definitions 3.3 and 3.7 against 3.8, 4.1 and assumption 3.10",
}


def certify_margins(case: Sentence, turned: bool = False, sign: float = 1.0) -> fmpq:
    """Minus the largest difference, in rationals."""
    return exact_mismatch(case, turned, sign)


def certify_turned(case: Sentence, turned: bool = True, sign: float = 1.0) -> fmpq:
    """The same with another default."""
    return exact_mismatch(case, turned, sign)


TOLD_APART = Sentence(np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]]))


@claim(
    "sim/orientation:literal-1",
    **ORIENTATION,
    statement="(A_j vec(X))_opt - (A_j vec(X))_t = (a_opt - a_t)^T X a_j for all tokens",
    data=sentences(),
    examples=[TOLD_APART],
    certify=certify_margins,
    expected="refuted",
    siblings={
        "up to the sign": sibling(sign=-1.0),
        "transposed, up to the sign": sibling(turned=True, sign=-1.0),
    },
)
def literal_1(case: Sentence, turned: bool = False, sign: float = 1.0) -> Slack:
    """The trained X for the programme's."""
    return mismatch(case, turned, sign)


@claim(
    "sim/orientation:amended-1",
    **ORIENTATION,
    statement="(A_j vec(X))_opt - (A_j vec(X))_t = (a_opt - a_t)^T X^T a_j for all tokens",
    data=sentences(),
    examples=[TOLD_APART, Sentence(np.ones((1, 1)), np.ones((1, 1)))],
    certify=certify_turned,
    expected="proved",
    proof="symbolic.sim.tensor_trick:prove_orientation",
    depends_on=["sim/tensor-trick:literal"],
    siblings={
        "X as it is": sibling(turned=False, examples=[TOLD_APART]),
        "up to the sign": sibling(sign=-1.0),
    },
)
def amended_1(case: Sentence, turned: bool = True, sign: float = 1.0) -> Slack:
    """With the trained X transposed."""
    return mismatch(case, turned, sign)


TRAINING: dict[str, Any] = {
    **ORIENTATION,
    "data": runs(st.one_of(separable_data(), tight_data()), 0, 1).map(turned),
    "cost": 10,
    "same_slack": False,
}
UNIQUE, FEASIBLE = "optimal tokens are unique", "Att-SVM is feasible"
START = "risk gap of the start below the threshold"
ASSUMED = {UNIQUE: unique_optimum, FEASIBLE: feasible, START: starts_in_turned_basin}
SIDEWAYS = Run(
    AttentionData.of([[[1.0, 1.0], [1.0, 0.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0]]),
    np.zeros((2, 2)),
)
"""The second token is the query, and differs from the first across it."""
OTHER = {
    "direction of the worst tokens": sibling(towards="worst"),
    "opposite direction": sibling(towards="opposite"),
}


def certify_as_printed(run: Run, towards: str = "optimal", transposed: bool = False) -> arb | None:
    """Where X(k) goes, by proof."""
    return arrives_turned(run, towards, transposed)


@claim(
    "sim/orientation:amended-2",
    **TRAINING,
    statement="descent on g(-b <f, h>), f as in definition 3.3, with step at most 1/L_X from a "
    "start in the basin of the optimal tokens converges in direction to X^mm",
    hypotheses=ASSUMED,
    examples=[SIDEWAYS],
    certify=certify_as_printed,
    expected="refuted",
    siblings=OTHER,
)
def amended_2(run: Run, towards: str = "optimal", transposed: bool = False) -> Slack:
    """The trained X for the programme's."""
    return trained(run, towards, transposed)


def certify_transposed(run: Run, towards: str = "optimal", transposed: bool = True) -> arb | None:
    """Where the transpose of X(k) goes, by proof."""
    return arrives_turned(run, towards, transposed)


@claim(
    "sim/orientation:amended-3",
    **TRAINING,
    statement="descent on g(-b <f, h>), f as in definition 3.3, with step at most 1/L_X from a "
    "start in the basin of the optimal tokens converges in direction to the transpose of X^mm",
    hypotheses=ASSUMED,
    examples=[SIDEWAYS],
    certify=certify_transposed,
    expected="holds",
    siblings={
        **OTHER,
        "X^mm as it is": sibling(transposed=False, examples=[SIDEWAYS]),
        "tied optimal tokens": sibling(drop=[UNIQUE], examples=[TIED_ASIDE]),
        "Att-SVM need not be feasible": sibling(drop=[FEASIBLE], examples=[NO_QUERY]),
        "any start": sibling(
            drop=[START],
            data=runs(pulling_data(), 0).map(turned),
            examples=[turned(LOCAL_TRAP)],
        ),
    },
)
def amended_3(run: Run, towards: str = "optimal", transposed: bool = True) -> Slack:
    """With one of the two transposed."""
    return trained(run, towards, transposed)


def certify_cost(case: Margin, share: float = 1.0, of: str = "difference") -> arb | fmpq:
    """The slack as a ball, or 0."""
    return exact_cost_of_turning(case, share, of)


ACROSS = Margin(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))


@claim(
    "sim/orientation:sharp",
    **ORIENTATION,
    statement="|z^T X D - D^T X z| <= ||X - X^T||_2 ||z|| ||D||: the cost of a margin",
    data=margins(),
    examples=[ACROSS, Margin(np.ones((1, 1)), np.ones(1), np.ones(1))],
    certify=certify_cost,
    expected="holds",
    siblings={
        "95% of it": sibling(share=0.95),
        "||X||_2 ||z|| ||D||": sibling(
            of="X", examples=[Margin(ACROSS.X - ACROSS.X.T, ACROSS.z, ACROSS.D)]
        ),
    },
)
def sharp(case: Margin, share: float = 1.0, of: str = "difference") -> Slack:
    """By the skew part of the weights."""
    return cost_of_turning(case, share, of)
