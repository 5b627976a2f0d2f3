"""Definition 4.1 as printed: the queries of a sequence share the slack of a token.

The slack xi_{l0,t} has no index i, while its constraint is asked for every query i. With xi taken
out the objective is f_C(V) = ||V||_F + C sum_{l,t} max_i max(0, 1 - <A_{l,i,t}, V>).

literal-3: C = 10 is large enough, X^mm minimises f_10. False by tokens 1/16 and 0, query 1, where
slacks are not shared at all (`definition_4_1`). amended-2: the price that is enough for one slack a
constraint, max lambda / ||X^mm||, is enough. False: sharing makes slack cheaper. One sequence e_1,
e_2 that is its own queries, the second token optimal for both: X^mm = (-1, -1; 1, 1)/2 of norm 1
with multipliers 1/2, and at C = 1/2 f(0) = 1/2 < 1. amended-3, with the sum of lambda over the
queries that share a slack: let w = lambda / ||X^mm||, so that ||sum_j w_j A_j|| = 1 and the w_j of
a slack sum to C at most. Then f_C(V) >= <sum_j w_j A_j, V> + sum_j w_j (1 - <A_j, V>) = sum_j w_j =
||X^mm|| = f_C(X^mm). No smaller C will do for one token of one sequence.
"""

from __future__ import annotations

import numpy as np
from flint import arb, fmpq

from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import rational
from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import answer
from properties._support.programmes import EPS
from properties.sim.definition_4_1 import DEFINITION, single
from properties.sim.definition_4_1.soft_margins import (
    Queried,
    Soft,
    against_hard,
    certify_hard,
    queried,
    separable,
    shares,
    unique,
    whole_sequences,
)

ASSUMED = {
    "queries of a sequence have its tokens": whole_sequences,
    "optimal tokens are unique": lambda case: unique(case.soft),
    "Att-SVM is separable": lambda case: separable(case.soft),
}
ALONE = Queried(single(0.0625, 10.0, False, 0.0), np.array([0]))
E = np.eye(2)
OWN_QUERIES = Queried(
    Soft(AttentionData.of([E, E], E, scores=[[0.0, 1.0]] * 2), 0.5, False, np.zeros((2, 2))),
    np.array([0, 0]),
)
"""A sequence of two tokens, the queries; the second one is optimal for both."""


def price(case: Queried, together: bool) -> tuple[fmpq, fmpq]:
    """The largest multiplier, or sum of those that share a slack; and ||X^mm||^2."""
    solved = present(answer(case.soft.data), "the answer of the SVM")
    sums: dict[int, fmpq] = {}
    for k, (group, w) in enumerate(zip(shares(case).tolist(), solved.duals, strict=True)):
        key = group if together else k
        sums[key] = sums.get(key, fmpq(0)) + w
    return max(sums.values()), solved.square


def certify_ten(case: Queried, C: float = 10.0) -> arb:
    """With the printed price."""
    return certify_hard(case.soft, rational(C), over_norm=False, groups=shares(case))


def certify_price(case: Queried, share: float = 1.0, together: bool = True) -> arb:
    """With the price that the exact multipliers allow."""
    C, _ = price(case, together)
    return certify_hard(case.soft, rational(share) * C, over_norm=True, groups=shares(case))


def certify_apart(case: Queried, share: float = 1.0, together: bool = False) -> arb:
    """With the price that is enough for one slack a constraint."""
    return certify_price(case, share, together)


def _against(case: Queried, share: float, together: bool) -> Slack:
    C, square = price(case, together)
    threshold = float(arb(C) / arb(square).sqrt())
    return against_hard(case.soft, share * threshold, 4 * EPS, shares(case))


@claim(
    "sim/definition-4.1:literal-3",
    **DEFINITION,
    statement="one slack a token of a sequence, C = 10 is large enough: on separable data X^mm "
    "minimises ||X||_F + 10 sum of slacks",
    data=queried(),
    hypotheses=ASSUMED,
    examples=[ALONE],
    certify=certify_ten,
    expected="refuted",
    siblings={
        "C = 1/4": sibling(C=0.25, examples=[OWN_QUERIES]),
        "C = 1/64": sibling(C=0.015625, examples=[OWN_QUERIES]),
    },
)
def literal_3(case: Queried, C: float = 10.0) -> Slack:
    """Some rival has a smaller objective."""
    return against_hard(case.soft, C, groups=shares(case))


@claim(
    "sim/definition-4.1:amended-2",
    **DEFINITION,
    statement="one slack a token of a sequence: on separable data X^mm minimises ||X||_F + C sum "
    "of slacks for every C of at least max lambda / ||X^mm||, lambda any multipliers of X^mm",
    data=queried(),
    hypotheses=ASSUMED,
    examples=[OWN_QUERIES],
    certify=certify_apart,
    expected="refuted",
    siblings={
        "95% of that price": sibling(share=0.95, examples=[OWN_QUERIES]),
        "half of it": sibling(share=0.5, examples=[OWN_QUERIES]),
    },
)
def amended_2(case: Queried, share: float = 1.0, together: bool = False) -> Slack:
    """At the price that is enough for one slack a constraint."""
    return _against(case, share, together)


@claim(
    "sim/definition-4.1:amended-3",
    **DEFINITION,
    statement="one slack a token of a sequence: on separable data X^mm minimises ||X||_F + C sum "
    "of slacks for every C of at least max over slacks of sum lambda / ||X^mm||, lambda any "
    "multipliers of X^mm, summed over the queries that share the slack",
    data=queried(),
    hypotheses=ASSUMED,
    examples=[OWN_QUERIES],
    certify=certify_price,
    expected="holds",
    siblings={
        "95% of that price": sibling(share=0.95, examples=[OWN_QUERIES]),
        "half of it": sibling(share=0.5, examples=[OWN_QUERIES]),
        "the largest multiplier in place of sums": sibling(together=False, examples=[OWN_QUERIES]),
    },
)
def amended_3(case: Queried, share: float = 1.0, together: bool = True) -> Slack:
    """At the least price that the exact multipliers allow."""
    return _against(case, share, together)
