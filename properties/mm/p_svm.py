"""p-SVM: the least prompt that separates the selected token of every input from the others.

"p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1, for all i, t != alpha_i"; K_i = X_i W^T

The slide defines p(alpha) without a condition. None exists where a selected token is repeated or
lies between the others: one input, tokens 1 and 1 in R^1. Nor need one exist where alpha are the
optimal tokens of a head v, which is how the talk introduces alpha: two inputs of tokens 1 and 0
with labels 1 and -1, head 1. By Farkas and strict convexity p(alpha) exists, and is unique,
exactly where 0 is not in the convex hull C of the differences, and then 1/||p(alpha)|| is the
distance of C from 0: the largest margin of a unit prompt (`amended-1`). A sufficient condition in
the terms of the talk is `amended-2`: optimal tokens unique, one label y for all inputs, and a head
v = W^T q that keys can express; then a multiple of y q separates.

`sharp-1` is uniqueness in numbers: p is the point of a convex set nearest 0, so <q - p, p> >= 0
for every q of the set. `sharp-2`: only tight constraints carry multipliers, so that they alone
prove p optimal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm.exact import dot, rational, rationals
from attsvm.exact.numbers import Number
from attsvm.theory import Slack, claim, sibling
from properties.mm import SOURCE
from properties.mm._support import programmes
from properties.mm._support import torch_objectives as relaxed
from properties.mm._support.exact_programmes import exact_p, minus_distance, p_exists, p_rows, root
from properties.mm._support.exact_programmes import pythagoras as exact_pythagoras
from properties.mm._support.programmes import EPS, UNKNOWN, find_kept, find_p, size
from properties.mm._support.token_selections import (
    DUPLICATE,
    INSIDE,
    ONE_TOKEN,
    OPPOSED,
    PUBLISHED,
    SEPARATED,
    Rival,
    Selection,
    along,
    gaussian,
    headed,
    one_sided,
    rivals,
    selections,
    separable,
)

SLIDE: dict[str, Any] = {"source": SOURCE, "place": "Attention SVMs, p-SVM", "cost": 2}


def otherwise(*examples: Selection | Rival) -> dict[str, Any]:
    """Statements of the contrary kind, false where a selection is separated."""
    return {
        "there never is one": sibling(above=False, examples=examples),
        "the margin is at most half of the nearest rival's": sibling(
            share=0.5, above=False, examples=examples
        ),
    }


def exists(case: Selection, share: float, above: bool) -> Slack:
    """1/||p(alpha)||, 0 where there is no p(alpha), is above a share of the shortest difference.

    Or at most that share.
    """
    p = find_p(case)
    return UNKNOWN if p is None else programmes.positive(p, share, above)


def certify_existence(case: Selection | Rival, share: float = 0.0, above: bool = True) -> arb:
    """The same in rationals; where there is no p(alpha), Farkas multipliers prove it."""
    return exact_p(case.chosen if isinstance(case, Rival) else case).positive(share, above)


def optimal(case: Rival) -> bool:
    """alpha_i has the highest score under the head q."""
    X, q, y = rationals(case.chosen.X), rationals(case.q), case.chosen.y.tolist()
    table = [[sign * dot(q, x) for x in tokens] for sign, tokens in zip(y, X, strict=True)]
    return all(row[a] == max(row) for row, a in zip(table, case.chosen.alpha.tolist(), strict=True))


@claim(
    "mm/p-svm:literal-1",
    **SLIDE,
    statement="for all inputs, keys and choices alpha there is exactly one p(alpha)",
    data=selections(),
    examples=[ONE_TOKEN, *PUBLISHED, DUPLICATE, INSIDE],
    relaxed=relaxed.p_exists,
    certify=certify_existence,
    expected="refuted, certified",
    siblings=otherwise(SEPARATED),
)
def literal_1(case: Selection, share: float = 0.0, above: bool = True) -> Slack:
    """For every choice of tokens."""
    return exists(case, share, above)


@claim(
    "mm/p-svm:literal-2",
    **SLIDE,
    statement="for all inputs, labels, keys and heads there is exactly one p(alpha) for the "
    "optimal tokens alpha",
    data=headed(),
    examples=[Rival(ONE_TOKEN, np.ones(1)), Rival(OPPOSED, np.ones(1))],
    hypotheses={"alpha_i has the highest score": optimal},
    relaxed=relaxed.p_exists,
    certify=certify_existence,
    expected="refuted, certified",
    siblings=otherwise(Rival(SEPARATED, np.ones(1))),
)
def literal_2(case: Rival, share: float = 0.0, above: bool = True) -> Slack:
    """For the optimal tokens of a head."""
    return exists(case.chosen, share, above)


def certify_distance(case: Selection, share: float = 1.0, of: str = "set") -> arb:
    """The same in rationals, the nearest point of C proved by its conditions."""
    return exact_p(case).nearest_point(share, of)


@claim(
    "mm/p-svm:amended-1",
    **SLIDE,
    statement="p(alpha) exists, and is unique, exactly where 0 is not in the convex hull C of the "
    "differences k_i,alpha - k_it; then ||p(alpha)|| dist(0, C) = 1",
    data=st.one_of(selections(), separable()),
    ensemble=lambda generator: gaussian(generator).chosen,
    examples=[ONE_TOKEN, *PUBLISHED, DUPLICATE, INSIDE, OPPOSED],
    certify=certify_distance,
    expected="holds",
    siblings={
        "95% of the distance": sibling(share=0.95),
        "105% of the distance": sibling(share=1.05),
        "the nearest difference in place of the hull": sibling(of="row"),
    },
)
def amended_1(case: Selection, share: float = 1.0, of: str = "set") -> Slack:
    """As an identity between a least norm and a distance, both sides 0 where there is no p."""
    p = find_p(case)
    return UNKNOWN if p is None else programmes.nearest_point(p, share, of)


def gap(case: Rival) -> Number | None:
    """The least lead of alpha_i under the head W^T q, exactly; None without another token."""
    q, (rows, inputs) = rationals(case.q), p_rows(case.chosen)
    leads = [int(case.chosen.y[i]) * dot(q, row) for row, i in zip(rows, inputs, strict=True)]
    return min(leads, default=None)


def alone(case: Rival) -> bool:
    """alpha_i alone scores best."""
    least = gap(case)
    return least is None or bool(least > 0)


def certify_bound(case: Rival, share: float = 1.0) -> arb:
    """The slack in rationals, exactly 0 where both sides agree; -1 without a p(alpha)."""
    p, least, q = exact_p(case.chosen), gap(case), rationals(case.q)
    if least is None:
        return arb("inf")
    if not p.exists:
        return arb(-1)
    left, square = rational(share) * least, dot(q, q) * p.margin_square
    return arb(0) if left >= 0 and left**2 == square else root(square) - arb(left)


@claim(
    "mm/p-svm:amended-2",
    **SLIDE,
    statement="for the optimal tokens alpha of a head v = W^T q, where they are unique and all "
    "labels agree, there is exactly one p(alpha); its norm is at most ||q|| over the least lead of "
    "alpha_i in score; no smaller constant will do",
    data=one_sided(),
    ensemble=along,
    examples=[Rival(ONE_TOKEN, np.ones(1)), Rival(ONE_TOKEN, np.zeros(1))],
    hypotheses={
        "alpha_i alone has the highest score": alone,
        "all labels agree": lambda case: len(set(case.chosen.y.tolist())) == 1,
    },
    relaxed=relaxed.lead,
    certify=certify_bound,
    expected="holds",
    siblings={
        "95% of the norm": sibling(share=1 / 0.95),
        "labels of both signs": sibling(drop=["all labels agree"], data=one_sided(2)),
        "tied optimal tokens": sibling(
            drop=["alpha_i alone has the highest score"], data=one_sided(lifts=(0.0,))
        ),
    },
)
def amended_2(case: Rival, share: float = 1.0) -> Slack:
    """The prompt y q, divided by the lead, separates."""
    p, length = find_p(case.chosen), size(case.q)
    if p is None or p.margin == 0.0:
        return UNKNOWN
    if p.answer is None:
        return Slack(np.inf, 0.0)
    values, errors = programmes.margins(p.answer.programme, case.q)
    leads = case.chosen.y[p.answer.programme.input] * values
    rounding = 4 * (len(case.q) + 4) * EPS * p.margin
    error = share * float(errors.max()) + length * (p.error + rounding)
    return Slack.at_most(share * float(leads.min()), p.margin * length, error)


def feasible(case: Rival) -> bool:
    """<q, k_i,alpha - k_it> >= 1 for all i and t."""
    q = rationals(case.q)
    return all(dot(q, row) >= 1 for row in p_rows(case.chosen)[0])


def certify_projection(case: Rival, share: float = 1.0) -> arb:
    """The same in rationals."""
    return exact_pythagoras(rationals(case.q), exact_p(case.chosen).vector, share)


@claim(
    "mm/p-svm:sharp-1",
    **SLIDE,
    statement="every q that meets the constraints has ||q - p(alpha)||^2 <= ||q||^2 - "
    "||p(alpha)||^2; no constant above 1 will do",
    data=rivals(),
    ensemble=gaussian,
    examples=[Rival(ONE_TOKEN, np.ones(1)), Rival(PUBLISHED[1], np.array([2.0, 0.0]))],
    hypotheses={
        "p(alpha) exists": lambda case: p_exists(case.chosen),
        "q meets every constraint": feasible,
    },
    relaxed=relaxed.projection,
    certify=certify_projection,
    expected="holds",
    siblings={
        "1.05 times the left side": sibling(share=1.05),
        "twice the left side": sibling(share=2.0),
        "any q": sibling(drop=["q meets every constraint"], data=rivals("any")),
    },
)
def sharp_1(case: Rival, share: float = 1.0) -> Slack:
    """What a prompt is longer than p(alpha) by bounds its distance."""
    p = find_p(case.chosen)
    if p is None:
        return UNKNOWN
    return programmes.pythagoras(case.q, p.vector, 0.0, p.away, share)


def certify_support(case: Selection, keep: str = "tight") -> arb:
    """The same in rationals."""
    p = exact_p(case)
    return minus_distance(p.kept(keep).vector, p.vector)


@claim(
    "mm/p-svm:sharp-2",
    **SLIDE,
    statement="p(alpha) is unchanged when every constraint that is not tight is dropped",
    data=separable(),
    ensemble=lambda generator: gaussian(generator).chosen,
    examples=[ONE_TOKEN, *PUBLISHED],
    hypotheses={"p(alpha) exists": p_exists},
    certify=certify_support,
    expected="holds",
    siblings={
        "the tight ones dropped instead": sibling(keep="loose"),
        "one tight constraint kept": sibling(keep="first"),
    },
)
def sharp_2(case: Selection, keep: str = "tight") -> Slack:
    """Tight constraints alone determine it."""
    p = find_p(case)
    kept = None if p is None else find_kept(p, exact_p(case), keep)
    return UNKNOWN if p is None or kept is None else programmes.same(kept, p)
