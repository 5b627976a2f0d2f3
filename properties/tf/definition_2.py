"""Definition 2: support indices and locally-optimal directions.

"Fix token indices alpha. Solve (Att-SVM) with opt replaced with alpha. We refer to (T_i) as
support indices. If alpha obeys gamma_i,alpha_i > gamma_it, indices alpha are called a
locally-optimal direction." The optimal tokens are to be one; "GD can select locally-optimal
tokens!"

The slide gives neither T_i nor the range of t. T_i is read as the tokens of margin 1 under
W^mm(alpha). With t over all tokens but alpha_i (`literal-1`, as printed) only the optimal tokens
can qualify, and no other is left for descent to select. With t over T_i (`literal-2`) others do:
tokens 1, 0, -1, scores 1, 0, 2 and query 1: alpha = the first has W^mm = 1 and T = {second}.
Either way the optimal tokens need not be one: tokens 1, 0 with query 0 have no W^mm, and with
tied scores none is above the other. `amended` asks for what is missing. T_i may be empty: of two
inputs with tokens 1, 0 and 2, 0, query 1, the second has margin 2, so that its choice is not
compared with anything, be it the worse one.

`sharp` says when a choice is locally optimal. Call rivals the tokens of at least the score of the
chosen one; without them alpha is the optimal choice, and W' its solution. If W' gives every rival
a margin of at least 1, it meets all constraints and is W^mm(alpha). If not, some rival has margin 1
under W^mm(alpha), or all rivals would have multiplier 0 and W^mm(alpha) would be W'. So alpha is
locally optimal exactly where the Att-SVM without its rivals keeps them beyond the margin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.strategies.data import attention_data
from attsvm.theory import Slack, claim, sibling
from properties.tf import SOURCE
from properties.tf._support.token_choices import (
    Choice,
    choices,
    choices_larger,
    exactly_least_rival_margin,
    exactly_locally_optimal,
    feasible,
    has_rival,
    least_rival_margin,
    locally_optimal,
    separable,
    separable_larger,
    separates,
    unique,
)

DEFINITION: dict[str, Any] = {"source": SOURCE, "place": "Definition 2", "cost": 2}
ZERO_QUERY = AttentionData.of([[[1.0], [0.0]]], [[0.0]], scores=[[1.0, 0.0]])
TIED = AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[0.0, 0.0]])
FAR = AttentionData.of([[[1.0], [0.0]], [[2.0], [0.0]]], [[1.0], [1.0]], scores=[[1.0, 0.0]] * 2)
ONE_TOKEN = AttentionData.of([[[1.0]]], [[0.0]], scores=[[0.0]])
OTHER = Choice(
    AttentionData.of([[[1.0], [0.0], [-1.0]]], [[1.0]], scores=[[1.0, 0.0, 2.0]]), np.array([0])
)


def certify_all(data: AttentionData, over: str = "all", worst: bool = False) -> arb:
    """The slack; exactly 0 with a Farkas certificate behind it."""
    return exactly_locally_optimal(data, over, worst)


@claim(
    "tf/definition-2:literal-1",
    **DEFINITION,
    statement="the optimal tokens are a locally-optimal direction: they have a W^mm, and "
    "gamma_opt > gamma_it for every other token t",
    data=attention_data(),
    examples=[ZERO_QUERY, TIED],
    certify=certify_all,
    expected="refuted",
    siblings={
        "the worst tokens are one": sibling(worst=True),
        "every input has a support index": sibling(over="each"),
    },
)
def over_all(data: AttentionData, over: str = "all", worst: bool = False) -> Slack:
    """As printed, with t over all tokens."""
    return locally_optimal(data, over, worst)


def certify_support(data: AttentionData, over: str = "support", worst: bool = False) -> arb:
    """The slack; exactly 0 with a Farkas certificate behind it."""
    return exactly_locally_optimal(data, over, worst)


@claim(
    "tf/definition-2:literal-2",
    **DEFINITION,
    statement="the optimal tokens are a locally-optimal direction: they have a W^mm, and "
    "gamma_opt > gamma_it for every t of margin 1",
    data=attention_data(),
    examples=[ZERO_QUERY, TIED],
    certify=certify_support,
    expected="refuted",
    siblings={
        "the worst tokens are one": sibling(worst=True),
        "every input has a support index": sibling(over="each"),
    },
)
def over_support(data: AttentionData, over: str = "support", worst: bool = False) -> Slack:
    """With t over the support indices."""
    return locally_optimal(data, over, worst)


@claim(
    "tf/definition-2:amended",
    **DEFINITION,
    statement="where optimal tokens are unique and Att-SVM is feasible, the optimal tokens are a "
    "locally-optimal direction, with t over all tokens and so over T_i",
    data=separable(),
    ensemble=separable_larger,
    examples=[ONE_TOKEN, FAR],
    hypotheses={"optimal tokens are unique": unique, "Att-SVM has a solution": feasible},
    certify=certify_all,
    expected="holds",
    siblings={
        "optimal tokens may be tied": sibling(
            drop=["optimal tokens are unique"], data=attention_data()
        ),
        "Att-SVM may have no solution": sibling(
            drop=["Att-SVM has a solution"], data=attention_data()
        ),
        "the worst tokens are one": sibling(worst=True),
        "every input has a support index": sibling(over="each"),
    },
)
def amended(data: AttentionData, over: str = "all", worst: bool = False) -> Slack:
    """Where there is one best choice and it can be selected."""
    return locally_optimal(data, over, worst)


def certify_sharp(
    case: Choice, floor: float = 1.0, thin: bool = True, greatest: bool = False
) -> arb | None:
    """Minus the distance of the two sides, in rationals."""
    return exactly_least_rival_margin(case, floor, thin, greatest)


@claim(
    "tf/definition-2:sharp",
    **DEFINITION,
    statement="with t over T_i: the least margin of rivals (gamma_it >= gamma_i,alpha_i) under "
    "W^mm(alpha) is the larger of 1 and that under the Att-SVM solution without them, and alpha is "
    "locally optimal exactly where it is above 1",
    data=choices(),
    ensemble=choices_larger,
    examples=[OTHER],
    hypotheses={"Local-SVM has a solution": separates, "some token is a rival": has_rival},
    certify=certify_sharp,
    expected="holds",
    siblings={
        "no choice with a rival is locally optimal": sibling(thin=False),
        "whatever the solution without rivals gives them": sibling(floor=0.0),
        "their greatest margin there": sibling(greatest=True),
    },
)
def sharp(case: Choice, floor: float = 1.0, thin: bool = True, greatest: bool = False) -> Slack:
    """The choices other than the optimal one that descent can select."""
    return least_rival_margin(case, floor, thin, greatest)
