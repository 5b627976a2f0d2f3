"""Joint v- and p-SVMs: margins of p(alpha) relaxed to 0 where an input does not support v.

"p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1 for i in S, >= 0 for i not in S; S is
the set of indices that x_i,alpha_i is a support vector when solving v-SVM."

Neither programme need have a solution (`literal-1`: one input whose two tokens are equal), though
the relaxed one can have one where the p-SVM has none (example RESCUED). And S is ambiguous
(`literal-2`). It is a tight margin, or a multiplier that is positive, or, as multipliers need not
be unique, one that is positive whichever are taken: an input without which v(alpha) would change.
On the published inputs {0, (1,1)}, {0, (1,-1)}, {0, (0.5,1)} with labels 1, -1, 1 all margins of
v = (0, 1) are tight, but the multipliers (1/2, 1/2, 0) and (0, 1/3, 2/3) both prove it optimal.
So S is {1, 2, 3}, {1, 2}, {2, 3} or {2}, and p(alpha) is (4/3, 1/3), (1, 0), (4/3, 1/3) or
(2/3, -1/3): three directions. Where two inputs select one token under one label the last reading
leaves S empty and p(alpha) = 0, which has no direction.

With S the tight margins, S is not empty and, for D the differences of keys, p(alpha) exists, and
is unique, exactly where 0 is not in C = conv{D_it: i in S} + cone{D_it: i not in S}, at distance
1/||p(alpha)|| (`amended`). Relaxing only enlarges the feasible set, so the relaxed p is the nearer
to 0 and Pythagoras' inequality holds (`sharp-1`). Let p_S solve the programme of the inputs of S
alone. The relaxed p equals it where p_S ranks alpha_i first in all other inputs (`sharp-2`), and
only there, and p(alpha) without relaxation does where p_S has margin 1 in them as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import dot
from attsvm.theory import Slack, claim, sibling
from properties.mm import SOURCE
from properties.mm._support import programmes
from properties.mm._support.exact_programmes import (
    essential,
    exact_alone,
    exact_p,
    exact_relaxed,
    exact_v,
    minus_distance,
    p_exists,
    p_rows,
    root,
    v_exists,
)
from properties.mm._support.exact_programmes import pythagoras as exact_pythagoras
from properties.mm._support.programmes import UNKNOWN, find_alone, find_essential, find_joint
from properties.mm._support.token_selections import (
    DUPLICATE,
    ONE_TOKEN,
    OPPOSED,
    ORTHOGONAL,
    PUBLISHED,
    RESCUED,
    SEPARATED,
    TWICE,
    Selection,
    gaussian,
    relaxable,
    selections,
)

SLIDE: dict[str, Any] = {"source": SOURCE, "place": "Attention SVMs, joint v and p-SVMs", "cost": 3}


def certify_existence(case: Selection, share: float = 0.0, above: bool = True) -> arb:
    """The smaller of both margins in rationals; Farkas multipliers prove that one is 0."""
    v = exact_v(case)
    if not above:
        return exact_relaxed(case).positive(share, above) if v.exists else arb("inf")
    if not v.exists:
        return arb(0)
    p, label = exact_relaxed(case).positive(share), root(v.margin_square)
    return p.min(label) if p.is_finite() else label


@claim(
    "mm/joint-svm:literal-1",
    **SLIDE,
    statement="for all inputs, labels, keys and choices alpha there is exactly one v(alpha) and "
    "one p(alpha), the support vectors of v being those of tight margin",
    data=selections(),
    examples=[ONE_TOKEN, *PUBLISHED, RESCUED, DUPLICATE, OPPOSED],
    certify=certify_existence,
    expected="refuted, certified",
    siblings={
        "there never is a p(alpha)": sibling(above=False, examples=[SEPARATED]),
        "its margin is at most half of the nearest rival's": sibling(
            share=0.5, above=False, examples=[SEPARATED]
        ),
    },
)
def literal_1(case: Selection, share: float = 0.0, above: bool = True) -> Slack:
    """The smaller of 1/||v(alpha)|| and 1/||p(alpha)||, 0 where one is missing, is above 0."""
    found = find_joint(case)
    if found is None:
        return UNKNOWN
    if not above:
        missing = found.v.margin == 0.0
        return Slack(np.inf, 0.0) if missing else programmes.positive(found.p, share, above)
    v, p = programmes.positive(found.v, 0.0), programmes.positive(found.p, share)
    if found.v.margin == 0.0:
        return v
    return Slack(float(np.minimum(v.value, p.value)), v.error + p.error, "strict")


def certify_unambiguous(case: Selection, share: float = 1.0, against: str = "essential") -> arb:
    """The same in rationals."""
    one, other = exact_relaxed(case).vector, exact_p(case).vector
    if against == "essential":
        other = exact_p(case, [not flag for flag in essential(exact_v(case))]).vector
    return minus_distance(one, other, share)


@claim(
    "mm/joint-svm:literal-2",
    **SLIDE,
    statement="p(alpha) is the same whether a support vector of v is an input of tight margin, or "
    "one whose multiplier is positive whichever are taken, so that v(alpha) changes without it",
    data=relaxable(),
    examples=[ONE_TOKEN, PUBLISHED[1], PUBLISHED[0], TWICE],
    hypotheses={"v(alpha) exists": v_exists, "p(alpha) without relaxation exists": p_exists},
    certify=certify_unambiguous,
    expected="refuted, certified",
    siblings={
        "105% of it": sibling(share=1.05),
        "p(alpha) without relaxation": sibling(against="plain"),
    },
)
def literal_2(case: Selection, share: float = 1.0, against: str = "essential") -> Slack:
    """The distance of the two is 0."""
    found = find_joint(case)
    if found is None:
        return UNKNOWN
    if against == "plain":
        return programmes.same(found.p, found.plain, share)
    other = find_essential(case, found.v, found.plain)
    return UNKNOWN if other is None else programmes.same(found.p, other, share)


def certify_distance(case: Selection, share: float = 1.0, of: str = "set") -> arb:
    """The same in rationals, the nearest point of C proved by its conditions."""
    if not any(exact_v(case).tight):
        return arb(-1)
    return exact_relaxed(case).nearest_point(share, of)


@claim(
    "mm/joint-svm:amended",
    **SLIDE,
    statement="where v(alpha) exists some margin is tight; with S the tight ones p(alpha) exists, "
    "and is unique, exactly where 0 is not in C = conv{D_it, i in S} + cone{D_it, i not in S}, D "
    "the differences of keys; then ||p(alpha)|| dist(0, C) = 1",
    data=st.one_of(selections(), relaxable(duplicates=True)),
    ensemble=lambda generator: gaussian(generator).chosen,
    examples=[ONE_TOKEN, *PUBLISHED, RESCUED, DUPLICATE],
    hypotheses={"v(alpha) exists": v_exists},
    certify=certify_distance,
    expected="holds",
    siblings={
        "95% of the distance": sibling(share=0.95),
        "105% of the distance": sibling(share=1.05),
        "the shortest difference in place of C": sibling(of="row"),
    },
)
def amended(case: Selection, share: float = 1.0, of: str = "set") -> Slack:
    """As an identity between a least norm and a distance, both sides 0 where there is no p."""
    found = find_joint(case)
    if found is None:
        return UNKNOWN
    if not any(found.supporting):
        return Slack.equal(1.0, 0.0)
    return programmes.nearest_point(found.p, share, of, found.plain)


def certify_shorter(case: Selection, share: float = 1.0) -> arb:
    """The same in rationals."""
    return exact_pythagoras(exact_p(case).vector, exact_relaxed(case).vector, share)


@claim(
    "mm/joint-svm:sharp-1",
    **SLIDE,
    statement="relaxing shortens: ||p - p'||^2 <= ||p||^2 - ||p'||^2 for p(alpha) without and p' "
    "with relaxation; no constant above 1 will do",
    data=relaxable(),
    ensemble=lambda generator: gaussian(generator).chosen,
    examples=[ONE_TOKEN, *PUBLISHED, ORTHOGONAL],
    hypotheses={"v(alpha) exists": v_exists, "p(alpha) without relaxation exists": p_exists},
    certify=certify_shorter,
    expected="holds",
    siblings={
        "1.05 times the left side": sibling(share=1.05),
        "twice the left side": sibling(share=2.0),
    },
)
def sharp_1(case: Selection, share: float = 1.0) -> Slack:
    """By as much, at least, as p moves; not at all where every input supports v."""
    found = find_joint(case)
    if found is None:
        return UNKNOWN
    p, plain = found.p, found.plain
    return programmes.pythagoras(plain.vector, p.vector, plain.away, p.away, share)


def ranks(case: Selection) -> bool:
    """p_S exists and gives no other token of any input a larger logit than alpha_i."""
    p = exact_alone(case).vector
    return p is not None and all(dot(p, row) >= 0 for row in p_rows(case)[0])


def certify_alone(case: Selection, share: float = 1.0, against: str = "relaxed") -> arb:
    """The same in rationals."""
    other = exact_relaxed(case) if against == "relaxed" else exact_p(case)
    return minus_distance(other.vector, exact_alone(case).vector, share)


@claim(
    "mm/joint-svm:sharp-2",
    **SLIDE,
    statement="where the p-SVM of the inputs of S alone ranks alpha_i first, ties allowed, in the "
    "other inputs too, its solution is p(alpha)",
    data=relaxable(duplicates=True),
    ensemble=lambda generator: gaussian(generator).chosen,
    examples=[ONE_TOKEN, *PUBLISHED, RESCUED],
    hypotheses={
        "v(alpha) exists": v_exists,
        "p_S exists": lambda case: exact_alone(case).exists,
        "p_S ranks alpha_i first in all inputs": ranks,
    },
    certify=certify_alone,
    expected="holds",
    siblings={
        "105% of it": sibling(share=1.05),
        "p(alpha) without relaxation": sibling(against="plain"),
        "p_S may rank another token first": sibling(drop=["p_S ranks alpha_i first in all inputs"]),
    },
)
def sharp_2(case: Selection, share: float = 1.0, against: str = "relaxed") -> Slack:
    """Inputs that do not support v matter only where they would be lost."""
    found = find_joint(case)
    alone = None if found is None else find_alone(case, found.supporting)
    if found is None or alone is None:
        return UNKNOWN
    return programmes.same(found.plain if against == "plain" else found.p, alone, share)
