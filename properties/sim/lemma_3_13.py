"""Lemma 3.13: the gradient of one entry of the loss is Lipschitz.

    |grad L(x) - grad L(y)| <= 3 n^3 R^7 exp(13 R^2) ||x - y||_2,  R >= 4,
    where ||A x|| <= R, ||A y|| <= R, ||A|| <= R (spectral norm) are all that is listed.

A is a block of A_1 kron A_2: d^2 columns, rows a kron r_t. `literal` asks for that, the others hold
for any matrix.

Nothing listed bounds b or h, and where b <f, h> is of order one the curvature grows like b^2: with
n = 2, A = (4, 0), h = (1, -1), R = 4 the bound fails between x = 0 and y = 2^-161 for b = 2^161; a
large head will do as well. It cannot fail before |b| (max h - min h) is 2.1e48, a little more than
2^160. (The second point is printed as y in the conditions and as x hat in the conclusion, which is
read as one; without a condition on x hat more is asked, and the same pair refutes it. Both are
printed as vectors of R^d although A has d^2 columns; read: two points of R^(d^2). L is said to be
that of definition 3.5, which has g alone; read definition 3.6.) `amended` adds |b| <= R and ||h||
<= R. `sharp` and `sharp-2` need no domain, no n and no exponential: with

    K(D) = 2 D max_{a, c in [0,1]} (1-c^2)(1-a^2)/16 (a + D c (1-a^2)/4),  D = |b| (max h - min h),

- `sharp`: ||grad L(x) - grad L(y)|| <= K(D) ||A||^2 ||x - y||, and no smaller K will do.
- `sharp-2`: even with max ||A_j - A_k||^2/2 in place of ||A||^2, the best for any two tokens.

Proof in `symbolic.sim.lemma_3_13`, step by step, the algebra of each step checked: the curvature
of L along u in the logits is at most that of two tokens, and K is their maximum. It runs the very
functions whose maximum the constants of `attsvm.lipschitz` and their enclosures take.

Where |b| and ||h|| are at most R too, D <= sqrt 2 R^2, and the printed constant is
93.0 + 3 log10 n decimal orders of magnitude above the sharp one at R = 4
(`attsvm.lipschitz.published_excess`): 1.06e95 n^3 against 99.7.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import norm, rational
from attsvm.exact.lipschitz import softmax_gradient_constant as exact_constant
from attsvm.exact.lipschitz import spread as exact_spread
from attsvm.exact.numbers import subtract
from attsvm.lipschitz import softmax_gradient_constant, spread
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE, relaxed
from properties.sim.basics import distance
from properties.sim.bounded import (
    ADDED,
    BLOCK,
    LISTED,
    TOO_SMALL,
    BoundedPair,
    bounded,
    fitted,
    published,
    published_ball,
)
from properties.sim.entries import (
    EntryPair,
    change,
    exact_change,
    exact_pair,
    levelled,
    pairs,
    spare,
)

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Lemma 3.13"}


ONE_TOKEN = EntryPair(np.array([[1.0]]), np.zeros(1), np.ones(1), np.ones(1), 1.0)
LARGE_LABEL = BoundedPair(
    EntryPair(
        np.array([[4.0], [0.0]]),
        np.zeros(1),
        np.array([2.0**-161]),
        np.array([1.0, -1.0]),
        2.0**161,
    ),
    4.0,
)


def _published(case: BoundedPair, power: int, share: float) -> Slack:
    left = change(case.pair)
    return published(len(case.pair.h), case.R, *left, distance(case.pair), power, share)


def certify_published(case: BoundedPair, power: int = 1, share: float = 1.0) -> arb | fmpq:
    """The slack as a ball, both sides divided by the constant."""
    e = exact_pair(case.pair)
    left, right = exact_change(case.pair), norm(subtract(e.x, e.y))
    return published_ball(len(e.h), case.R, left, right, power, share)


@claim(
    "sim/lemma-3.13:literal",
    **LEMMA,
    statement="for R >= 4, ||A x||, ||A y||, ||A|| at most R, A a block of A_1 kron A_2: "
    "||grad L(x) - grad L(y)|| <= 3 n^3 R^7 exp(13 R^2) ||x - y||",
    data=bounded(0, 8, 64, 512, blocks=True),
    hypotheses={**LISTED, **BLOCK},
    examples=[fitted(ONE_TOKEN, everything=False), LARGE_LABEL],
    relaxed=relaxed.published_change,
    certify=certify_published,
    expected="refuted",
    siblings=TOO_SMALL,
)
def literal(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With the listed conditions alone."""
    return _published(case, power, share)


@claim(
    "sim/lemma-3.13:amended",
    **LEMMA,
    statement="the printed bound holds where also |b| <= R and ||h|| <= R",
    data=bounded(0, everything=True),
    hypotheses={**LISTED, **ADDED},
    examples=[fitted(ONE_TOKEN, everything=True)],
    relaxed=relaxed.published_change,
    certify=certify_published,
    expected="proved",
    proof="symbolic.sim.lemma_3_13:prove_published",
    depends_on=["sim/lemma-3.13:sharp"],
    siblings={
        **TOO_SMALL,
        "b and h of any size": sibling(drop=list(ADDED), data=bounded(512)),
    },
)
def amended(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With b and h bounded by R too. Far from tight: see the sharp reading."""
    return _published(case, power, share)


def certify_sharp(
    case: EntryPair, share: float = 1.0, square: int = 2, wide: bool = True
) -> arb | fmpq:
    """The slack as a ball, the constant enclosed by branch and bound."""
    e = exact_pair(case)
    size = e.norm_A if wide else exact_spread(e.A)
    constant = exact_constant(e.oscillation) * size**square * arb(rational(share))
    return spare(constant * norm(subtract(e.x, e.y)), exact_change(case))


def certify_spread(case: EntryPair, share: float = 1.0, square: int = 2) -> arb | fmpq:
    """The same with max ||A_j - A_k|| / sqrt 2 in place of ||A||."""
    return certify_sharp(case, share, square, wide=False)


CLOSE = EntryPair(
    np.array([[1.0], [-1.0]]),
    np.array([0.65625]),
    np.array([0.6640625]),
    np.array([1.0, -1.0]) / 64,
    1.0,
)
SIBLINGS = {
    "95% of the constant": sibling(share=0.95),
    "99.9% of the constant": sibling(share=0.999),
}


@claim(
    "sim/lemma-3.13:sharp",
    **LEMMA,
    statement="||grad L(x) - grad L(y)|| <= ||A||^2 K(|b| (max h - min h)) ||x - y|| on the "
    "whole space, without n and without an exponential; no smaller K will do",
    data=pairs(0, 1),
    examples=[CLOSE],
    ensemble=levelled,
    relaxed=relaxed.sharp_change,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.lemma_3_13:prove",
    siblings={**SIBLINGS, "||A|| in place of its square": sibling(square=1)},
)
def sharp(case: EntryPair, share: float = 1.0, square: int = 2) -> Slack:
    """On the whole space, with the least constant of its kind."""
    return _slack(case, share * float(np.linalg.norm(case.A, 2)) ** square)


@claim(
    "sim/lemma-3.13:sharp-2",
    **LEMMA,
    statement="||grad L(x) - grad L(y)|| <= max ||A_j - A_k||^2/2 K(|b| (max h - min h)) ||x - y||",
    data=pairs(0, 1),
    examples=[CLOSE],
    ensemble=levelled,
    relaxed=relaxed.spread_change,
    certify=certify_spread,
    expected="proved",
    proof="symbolic.sim.lemma_3_13:prove",
    siblings={**SIBLINGS, "without the square": sibling(square=1)},
)
def sharp_2(case: EntryPair, share: float = 1.0, square: int = 2) -> Slack:
    """What moves all logits alike moves nothing: only differences of tokens count."""
    return _slack(case, share * spread(case.A) ** square)


def _slack(case: EntryPair, size: float) -> Slack:
    left, error = change(case)
    right = softmax_gradient_constant(case.oscillation) * size * distance(case)
    return Slack.at_most(left, right, error + 1e-9 * right)
