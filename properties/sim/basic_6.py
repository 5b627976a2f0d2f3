"""Section 3.3, sixth bound: the diagonal matrix of the attention weights is Lipschitz.

    ||diag f(x) - diag f(y)|| <= beta^-2 n exp(3 R^2) ||x - y||_2,

in the domain of lemma 3.13, beta a lower bound of alpha(x) and alpha(y). The norm on the left is
not named: literal-1 reads the spectral norm, max_t |f_t - g_t|, literal-2 the Frobenius norm,
||f - g||. Both hold, by the fourth bound; R >= 4 is not needed.

- sharp-1, spectral: sqrt(2)/4 spread(A) <= sqrt(2)/4 ||A||, with spread(A) = max ||A_i - A_j|| /
  sqrt 2. Proof as for the fourth bound: for the indicator of a set of weight P an entry of Df[s] is
  f_t (1-P) with f_t <= P, or f_t P with f_t <= 1-P, hence at most P (1-P) <= 1/4.
- sharp-2, Frobenius: spread(A)/2, the fourth bound itself.

Both are approached by two tokens of equal weight, x, y -> 0, others as in the fourth bound.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from flint import arb

from attsvm.exact import rational
from attsvm.exact.lipschitz import softmax_constant, softmax_entry_constant
from attsvm.lipschitz import SOFTMAX_ENTRY_LIPSCHITZ, SOFTMAX_LIPSCHITZ
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.basics import Domain, Points, domains, nearby, nearby_domain, points
from properties.sim.steepness import (
    BALANCED,
    EXAMPLES,
    LISTED,
    NEIGHBOURS,
    ONE_TOKEN,
    published_ball,
    sharp_ball,
    sharp_slack,
    slack,
)

BOUND: dict[str, Any] = {
    "source": SOURCE,
    "place": "Section 3.3, sixth bound",
}
PRINTED: dict[str, Any] = {
    "data": domains(4.0),
    "hypotheses": LISTED,
    "examples": EXAMPLES,
    "ensemble": nearby_domain,
    "expected": "proved",
    "siblings": NEIGHBOURS,
}
WORDS = (
    "for R >= 4, ||A x||, ||A y||, ||A|| at most R and 0 < beta <= alpha(x), alpha(y): "
    "||diag f(x) - diag f(y)|| <= beta^-2 n exp(3 R^2) ||x - y||"
)


@claim(
    "sim/basic-6:literal-1",
    **BOUND,
    **PRINTED,
    statement=f"{WORDS}, spectral norm",
    certify=partial(published_ball, kind="entry"),
    proof="symbolic.sim.basic_6:prove_published",
)
def literal_1(case: Domain, exponential: bool = True) -> Slack:
    """In the spectral norm."""
    return slack(case, "entry", 2, exponential)


@claim(
    "sim/basic-6:literal-2",
    **BOUND,
    **PRINTED,
    statement=f"{WORDS}, Frobenius norm",
    certify=partial(published_ball, kind="vector"),
    proof="symbolic.sim.basic_6:prove_published",
)
def literal_2(case: Domain, exponential: bool = True) -> Slack:
    """In the Frobenius norm."""
    return slack(case, "vector", 2, exponential)


def certify_spectral(case: Points, share: float = 1.0, kind: str = "entry") -> arb:
    """The slack in the spectral norm as a ball."""
    return sharp_ball(case, kind, softmax_entry_constant() * arb(rational(share)))


@claim(
    "sim/basic-6:sharp-1",
    **BOUND,
    statement="||diag f(x) - diag f(y)|| <= sqrt(2)/4 spread(A) ||x - y|| on the whole space, "
    "spectral norm, spread(A) = max ||A_i - A_j|| / sqrt 2 <= ||A||; no smaller constant will do",
    data=points(0, 1),
    examples=[ONE_TOKEN.at, BALANCED],
    ensemble=nearby,
    certify=certify_spectral,
    expected="proved",
    proof="symbolic.sim.basic_6:prove",
    siblings={
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999),
        "in the Frobenius norm": sibling(kind="vector"),
    },
)
def sharp_1(case: Points, share: float = 1.0, kind: str = "entry") -> Slack:
    """The largest change of a weight."""
    return sharp_slack(case, kind, share * SOFTMAX_ENTRY_LIPSCHITZ)


def certify_frobenius(case: Points, share: float = 1.0) -> arb:
    """The slack in the Frobenius norm as a ball."""
    return sharp_ball(case, "vector", softmax_constant() * arb(rational(share)))


@claim(
    "sim/basic-6:sharp-2",
    **BOUND,
    statement="||diag f(x) - diag f(y)||_F <= spread(A)/2 ||x - y|| on the whole space; "
    "no smaller constant will do",
    data=points(0, 1),
    examples=[ONE_TOKEN.at, BALANCED],
    ensemble=nearby,
    certify=certify_frobenius,
    expected="proved",
    proof="symbolic.sim.basic_6:prove",
    depends_on=["sim/basic-4:sharp"],
    siblings={
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999),
        "the spectral constant sqrt(2)/4": sibling(share=2 * SOFTMAX_ENTRY_LIPSCHITZ),
    },
)
def sharp_2(case: Points, share: float = 1.0) -> Slack:
    """The Frobenius norm of a diagonal is the length of its entries."""
    return sharp_slack(case, "vector", share * SOFTMAX_LIPSCHITZ)
