"""Definition 3.8: Att-SVM is a convex programme and defines X^mm.

The formula is lost in print ("we defined the Att-SVM as the following:" is followed by the next
section). X^mm is read from assumption 3.10, definition 4.1 and tf's Att-SVM: the least ||X||_F
with <A_it, X> >= 1 for A_it = (x_opt - x_t) z_i^T, t != opt_i, scores by definition 3.9.

Optimal tokens are unique, as the text says "the optimal token"; tied ones ask 0 >= 1 of each other.
Convex it is (`literal-1`); an X^mm it need not define (`literal-2`). Tokens 1 and 0 in R^1, head 1,
label 1, query 0 ask 0 >= 1; without a zero query, these tokens in two inputs with query 1 and
labels 1, -1 ask X >= 1 and -X >= 1. The certificate is Farkas's: weights that are not negative
and sum the A_it to 0. `amended`: an X^mm exists wherever a vector u classifies the queries by
their labels, as v u^T gives token t the margin (gamma_opt - gamma_t) y_i u^T z_i. So one input
with z != 0 is always enough, and so are equal labels with one shared query.

`sharp-1`: with multipliers w >= 0, X^mm = sum_j w_j A_j and <V, X^mm> = sum_j w_j <A_j, V> >=
sum_j w_j = ||X^mm||^2 for every feasible V, with equality where V has margin 1 wherever w_j > 0.
A second minimiser would be at distance 0. `sharp-2`: <sum_j s_j A_j, X^mm> >= 1 for shares s, with
equality at s = w / sum_j w_j, where the sum is X^mm/||X^mm||^2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import rational
from attsvm.theory import Slack, claim, sibling
from properties._support.published_data import one_input
from properties.sim import SOURCE
from properties.sim._support import torch_objectives as relaxed
from properties.sim.definition_3_8 import minimiser
from properties.sim.definition_3_8.instances import (
    Classified,
    Pointed,
    Shared,
    anywhere,
    classified,
    classified_larger,
    classifies,
    headed,
    pointed,
    pointed_larger,
    shared,
    shared_larger,
)
from properties.sim.definition_3_8.minimiser import are_shares, meet, unique

DEFINITION: dict[str, Any] = {"source": SOURCE, "place": "Definition 3.8", "cost": 2}
UNIQUE = {"optimal tokens are unique": unique}
MEET = {"the matrices meet all constraints": meet}
SHARES = {"shares are not negative, nor all zero": are_shares}
CLASSIFIES = {"u classifies the queries by their labels": classifies}
ONE_TOKEN = AttentionData.of([[[1.0]]], [[0.0]], scores=[[0.0]])
CANCELLING = Shared(
    AttentionData.of([[[1.0], [0.0], [-1.0]]], [[1.0]], scores=[[1.0, 0.0, -1.0]]),
    np.array([[0.0, 2.0, -1.0]]),
)


def certify_convex(case: Pointed, weight: float = 0.5, lesser: bool = False) -> arb:
    """The slack, in rationals."""
    return minimiser.exactly_between(case, weight, lesser)


@claim(
    "sim/definition-3.8:literal-1",
    **DEFINITION,
    statement="Att-SVM is convex: half the sum of two feasible matrices is feasible, and its "
    "squared norm is at most the mean of theirs",
    data=pointed(2),
    ensemble=lambda generator: pointed_larger(generator, 2),
    examples=[Pointed(ONE_TOKEN, np.ones((2, 1, 1)))],
    hypotheses={**UNIQUE, **MEET},
    relaxed=relaxed.between,
    certify=certify_convex,
    expected="holds",
    siblings={
        "beyond the first matrix": sibling(weight=2.0),
        "norm at most the lesser one": sibling(lesser=True),
        "matrices anywhere": sibling(drop=list(MEET), data=anywhere(2)),
    },
)
def convex(case: Pointed, weight: float = 0.5, lesser: bool = False) -> Slack:
    """The feasible set and the objective."""
    return minimiser.between(case, weight, lesser)


def certify_exists(data: AttentionData, by_sum: bool = False, least: float = 0.0) -> arb:
    """1/||X^mm|| less what it should exceed, or 0 with a Farkas certificate behind it."""
    margin = minimiser.exact_sum_margin(data) if by_sum else minimiser.exact_unit_margin(data)
    return arb(margin - rational(least))


@claim(
    "sim/definition-3.8:literal-2",
    **DEFINITION,
    statement="Att-SVM defines an X^mm for every data set with unique optimal tokens: the largest "
    "least margin of unit matrices, 1/||X^mm||_F, is positive",
    data=headed().map(lambda case: case.data),
    hypotheses=UNIQUE,
    examples=[
        AttentionData.of([[[1.0], [0.0]]], [[0.0]], y=[1.0], v=[1.0]),
        AttentionData.of([[[1.0], [0.0]]] * 2, [[1.0], [1.0]], y=[1.0, -1.0], v=[1.0]),
    ],
    relaxed=relaxed.unit_margin,
    certify=certify_exists,
    expected="refuted",
    siblings={
        "the sum of the constraint matrices separates": sibling(by_sum=True),
        "1/||X^mm||_F is above 1/64": sibling(least=1 / 64),
        "optimal tokens may be tied": sibling(drop=list(UNIQUE)),
    },
)
def exists(data: AttentionData, by_sum: bool = False, least: float = 0.0) -> Slack:
    """With scores by labels and a head, as in definition 3.9."""
    margin = minimiser.sum_margin(data) if by_sum else minimiser.unit_margin(data)
    return replace(margin, value=margin.value - least)


def certify_bounded(case: Classified, share: float = 1.0) -> arb:
    """The slack, in rationals; -1 where there is no X^mm."""
    return minimiser.exactly_bounded(case, share)


@claim(
    "sim/definition-3.8:amended",
    **DEFINITION,
    statement="where u^T z_i has the sign of y_i for every i, X^mm exists, and "
    "||X^mm||_F <= ||u|| ||v|| / min over i and t != opt_i of (gamma_opt - gamma_t) y_i u^T z_i",
    data=classified(),
    ensemble=classified_larger,
    hypotheses={**UNIQUE, **CLASSIFIES},
    relaxed=relaxed.classified,
    certify=certify_bounded,
    expected="holds",
    siblings={
        "95% of the bound": sibling(share=0.95),
        "any u": sibling(drop=list(CLASSIFIES), data=headed()),
    },
)
def bounded(case: Classified, share: float = 1.0) -> Slack:
    """A condition under which the definition defines something; the bound is attained."""
    return minimiser.bounded(case, share)


def certify_nearer(case: Pointed, factor: float = 1.0, squared: bool = True) -> arb | None:
    """The slack, in rationals."""
    return minimiser.exactly_nearer(case, factor, squared)


@claim(
    "sim/definition-3.8:sharp-1",
    **DEFINITION,
    statement="||V - X^mm||_F^2 <= ||V||_F^2 - ||X^mm||_F^2 for every feasible V; X^mm is unique",
    data=pointed(),
    ensemble=pointed_larger,
    examples=[
        Pointed(ONE_TOKEN, np.ones((1, 1, 1))),
        Pointed(one_input(), np.array([[[0.0, 0.0], [1.0, 0.0]]])),
    ],
    hypotheses={**UNIQUE, **MEET},
    relaxed=relaxed.nearer,
    certify=certify_nearer,
    expected="holds",
    siblings={
        "1.05 times the left side": sibling(factor=1.05),
        "norms not squared": sibling(squared=False),
        "V anywhere": sibling(drop=list(MEET), data=anywhere()),
    },
)
def unique_minimiser(case: Pointed, factor: float = 1.0, squared: bool = True) -> Slack:
    """With the best constant."""
    return minimiser.nearer(case, factor, squared)


def certify_hull(case: Shared, factor: float = 1.0) -> arb | None:
    """The slack, in rationals."""
    return minimiser.exact_hull_point(case, factor)


@claim(
    "sim/definition-3.8:sharp-2",
    **DEFINITION,
    statement="||X^mm||_F is 1 over the distance of 0 from the hull of the A_j: "
    "||sum_j s_j A_j||_F ||X^mm||_F >= 1 for all shares s >= 0 of sum 1",
    data=shared(),
    ensemble=shared_larger,
    examples=[Shared(one_input(), np.ones((1, 3)))],
    hypotheses={**UNIQUE, **SHARES},
    relaxed=relaxed.hull_point,
    certify=certify_hull,
    expected="holds",
    siblings={
        "at least 1.05": sibling(factor=1.05),
        "shares of any sign": sibling(
            drop=list(SHARES), data=shared(signed=True), examples=[CANCELLING]
        ),
    },
)
def hull(case: Shared, factor: float = 1.0) -> Slack:
    """Equality at the multipliers over their sum."""
    return minimiser.hull_point(case, factor)
