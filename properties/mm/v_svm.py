"""v-SVM: the least head that labels the selected token of every input.

"v(alpha) = argmin ||v|| s.t. Y_i v^T x_i,alpha_i >= 1, for all i".

As with the p-SVM no condition is listed, and none exists for one input whose selected token is 0,
or for two inputs that select one token under both labels. `amended`: v(alpha) exists, and is
unique, exactly where 0 is not in the convex hull of the Y_i x_i,alpha_i, and the label margin
Gamma = 1/||v(alpha)|| of assumption B is the distance of that hull from 0. `sharp-1`: no unit head
has a larger margin (<h, z> <= ||h|| Gamma for the point z of the hull nearest 0, and <h, z> is a
mean of margins), 0 standing for Gamma where there is no v(alpha). `sharp-2`: the inputs whose
margin is tight, the support vectors S of the joint programme, alone determine v(alpha); they are
never empty, for without them v would be 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import dot, rational, rationals
from attsvm.theory import Slack, claim, sibling
from properties.mm import SOURCE
from properties.mm._support import programmes
from properties.mm._support import torch_objectives as relaxed
from properties.mm._support.exact_programmes import exact_v, minus_distance, root, v_exists
from properties.mm._support.programmes import EPS, UNKNOWN, find_kept, find_v
from properties.mm._support.token_selections import (
    DUPLICATE,
    ONE_TOKEN,
    OPPOSED,
    PUBLISHED,
    Rival,
    Selection,
    gaussian,
    rivals,
    select,
    selections,
    separable,
)

SLIDE: dict[str, Any] = {"source": SOURCE, "place": "Attention SVMs, v-SVM", "cost": 2}
ZERO = select([[[0.0]]], [1], [0])
DIAGONAL = select([[[1.0, 1.0]]], [1], [0])


def certify_existence(case: Selection, share: float = 0.0, above: bool = True) -> arb:
    """The margin in rationals; where there is no v(alpha), Farkas multipliers prove it."""
    return exact_v(case).positive(share, above)


@claim(
    "mm/v-svm:literal",
    **SLIDE,
    statement="for all inputs, labels and choices alpha there is exactly one v(alpha)",
    data=selections(),
    examples=[ONE_TOKEN, *PUBLISHED, ZERO, OPPOSED],
    relaxed=relaxed.v_exists,
    certify=certify_existence,
    expected="refuted, certified",
    siblings={
        "there never is one": sibling(above=False, examples=[DIAGONAL]),
        "the margin is at most half of the shortest token's": sibling(
            share=0.5, above=False, examples=[DIAGONAL]
        ),
    },
)
def literal(case: Selection, share: float = 0.0, above: bool = True) -> Slack:
    """1/||v(alpha)||, 0 where there is no v(alpha), is above a share of the shortest token."""
    v = find_v(case)
    return UNKNOWN if v is None else programmes.positive(v, share, above)


def certify_distance(case: Selection, share: float = 1.0, of: str = "set") -> arb:
    """The same in rationals, the nearest point of the hull proved by its conditions."""
    return exact_v(case).nearest_point(share, of)


@claim(
    "mm/v-svm:amended",
    **SLIDE,
    statement="v(alpha) exists, and is unique, exactly where 0 is not in the convex hull of the "
    "Y_i x_i,alpha_i; Gamma = 1/||v(alpha)|| is the distance of the hull from 0",
    data=st.one_of(selections(), separable()),
    ensemble=lambda generator: gaussian(generator).chosen,
    examples=[ONE_TOKEN, *PUBLISHED, ZERO, OPPOSED, DUPLICATE],
    certify=certify_distance,
    expected="holds",
    siblings={
        "95% of the distance": sibling(share=0.95),
        "105% of the distance": sibling(share=1.05),
        "the shortest token in place of the hull": sibling(of="row"),
    },
)
def amended(case: Selection, share: float = 1.0, of: str = "set") -> Slack:
    """As an identity between a least norm and a distance, both sides 0 where there is no v."""
    v = find_v(case)
    return UNKNOWN if v is None else programmes.nearest_point(v, share, of)


def certify_best(case: Rival, share: float = 1.0, order: float = 2.0) -> arb:
    """The slack in rationals, exactly 0 where margin and bound agree."""
    v, h = exact_v(case.chosen), rationals(case.q)
    reached = min(dot(h, row) for row in v.rows)
    square = dot(h, h) if order == 2.0 else max(abs(x) for x in h) ** 2
    bound = rational(share) ** 2 * square * v.margin_square
    return arb(0) if reached >= 0 and bound == reached**2 else root(bound) - arb(reached)


@claim(
    "mm/v-svm:sharp-1",
    **SLIDE,
    statement="every head h has min_i Y_i h^T x_i,alpha_i <= Gamma ||h||, where Gamma = "
    "1/||v(alpha)||, or 0 without a v(alpha); no smaller constant will do",
    data=st.one_of(rivals("head"), rivals("any")),
    ensemble=gaussian,
    examples=[
        Rival(PUBLISHED[0], np.array([0.0, 1.0])),
        Rival(PUBLISHED[1], np.array([0.0, 1.0])),
        Rival(ZERO, np.ones(1)),
        Rival(OPPOSED, np.zeros(1)),
    ],
    relaxed=relaxed.best_head,
    certify=certify_best,
    expected="holds",
    siblings={
        "95% of Gamma": sibling(share=0.95),
        "half of Gamma": sibling(share=0.5),
        "the largest coordinate in place of the length": sibling(
            order=np.inf, examples=[Rival(DIAGONAL, np.ones(2))]
        ),
    },
)
def sharp_1(case: Rival, share: float = 1.0, order: float = 2.0) -> Slack:
    """Gamma is the largest label margin of all unit heads."""
    v, h = find_v(case.chosen), case.q
    if v is None or v.answer is None:
        return UNKNOWN
    values, errors = programmes.margins(v.answer.programme, h)
    length = float(np.linalg.norm(h, order))
    error = float(errors.max()) + share * length * (v.error + 4 * (len(h) + 4) * EPS * v.margin)
    return Slack.at_most(float(values.min()), share * v.margin * length, error)


def certify_support(case: Selection, keep: str = "tight") -> arb:
    """The same in rationals."""
    v = exact_v(case)
    return minus_distance(v.kept(keep).vector, v.vector)


@claim(
    "mm/v-svm:sharp-2",
    **SLIDE,
    statement="v(alpha) is unchanged when every input whose margin is not tight is dropped",
    data=separable(),
    ensemble=lambda generator: gaussian(generator).chosen,
    examples=[ONE_TOKEN, *PUBLISHED],
    hypotheses={"v(alpha) exists": v_exists},
    certify=certify_support,
    expected="holds",
    siblings={
        "the tight ones dropped instead": sibling(keep="loose"),
        "one tight input kept": sibling(keep="first"),
    },
)
def sharp_2(case: Selection, keep: str = "tight") -> Slack:
    """The inputs that support v alone determine it."""
    v = find_v(case)
    kept = None if v is None else find_kept(v, exact_v(case), keep)
    return UNKNOWN if v is None or kept is None else programmes.same(kept, v)
