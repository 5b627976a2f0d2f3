"""Section 3.3, seventh bound: the outer product of the attention weights is Lipschitz.

    f(x) f(x)^T - f(y) f(y)^T <= 2 beta^-3 n^2 exp(5 R^2) ||x - y||_2,

in the domain of lemma 3.13, beta a lower bound of alpha(x) and alpha(y). As printed there is no
norm around the matrix on the left (and no transpose on its last f(y)): literal-1 reads the spectral
norm, which also bounds every entry and the matrix itself in the Loewner order, literal-2 the
Frobenius norm. Both hold; R >= 4 is not needed.

Proof. Either norm is at most (||f|| + ||g||) ||f - g||, where ||f|| <= sqrt(n) exp(R) / beta and
beta^2 ||f - g|| <= n exp(2 R) R ||x - y|| by the fourth bound; and R exp(3 R) < exp(5 R^2).

- sharp-1, spectral: 3^(-3/4) spread(A) <= 3^(-3/4) ||A||, spread(A) = max ||A_i - A_j|| / sqrt 2,
  approached by two tokens of weights (1 +- q)/2, q^2 = 2/sqrt 3 - 1, x -> y.
- sharp-2, Frobenius: spread(A)/2, approached by two tokens of equal weight, x, y -> 0.
With more tokens the weights of the others are sent to 0, as for the fourth bound.

Proof. As for the fourth bound indicators s of a set of weight P decide. With w = Df[s] the norm of
w f^T + f w^T is |<w, f>| + ||w|| ||f||, its Frobenius norm squared 2 ||w||^2 ||f||^2 + 2 <w, f>^2,
where <w, f> = (1-P) a - P b, ||w||^2 = (1-P)^2 a + P^2 b, ||f||^2 = a + b. Both grow with a and b:
the square is a polynomial with coefficients at least 0, the other as ||w|| / ||f|| + P^2 ||f|| /
||w|| >= 2 P. So a = P^2 and b = (1-P)^2: two tokens, and a maximum over one number.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from flint import arb

from attsvm.exact import rational
from attsvm.exact.lipschitz import softmax_constant, softmax_outer_constant
from attsvm.lipschitz import SOFTMAX_LIPSCHITZ, SOFTMAX_OUTER_LIPSCHITZ
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.basics import Domain, Points, domains, nearby, nearby_domain, points
from properties.sim.steepness import (
    BALANCED,
    EXAMPLES,
    LISTED,
    NEIGHBOURS,
    ONE_TOKEN,
    TILTED,
    published_ball,
    sharp_ball,
    sharp_slack,
    slack,
)

BOUND: dict[str, Any] = {"source": SOURCE, "place": "Section 3.3, seventh bound"}
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
    "||f(x) f(x)^T - f(y) f(y)^T|| <= 2 beta^-3 n^2 exp(5 R^2) ||x - y||"
)


@claim(
    "sim/basic-7:literal-1",
    **BOUND,
    **PRINTED,
    statement=f"{WORDS}, spectral norm",
    certify=partial(published_ball, kind="outer", power=3),
    proof="symbolic.sim.basic_7:prove_published",
)
def literal_1(case: Domain, exponential: bool = True) -> Slack:
    """In the spectral norm."""
    return slack(case, "outer", 3, exponential)


@claim(
    "sim/basic-7:literal-2",
    **BOUND,
    **PRINTED,
    statement=f"{WORDS}, Frobenius norm",
    certify=partial(published_ball, kind="outer-frobenius", power=3),
    proof="symbolic.sim.basic_7:prove_published",
)
def literal_2(case: Domain, exponential: bool = True) -> Slack:
    """In the Frobenius norm."""
    return slack(case, "outer-frobenius", 3, exponential)


def certify_spectral(case: Points, share: float = 1.0, kind: str = "outer") -> arb:
    """The slack in the spectral norm as a ball."""
    return sharp_ball(case, kind, softmax_outer_constant() * arb(rational(share)))


@claim(
    "sim/basic-7:sharp-1",
    **BOUND,
    statement="||f(x) f(x)^T - f(y) f(y)^T|| <= 3^(-3/4) spread(A) ||x - y|| on the whole space, "
    "spectral norm, spread(A) = max ||A_i - A_j|| / sqrt 2 <= ||A||; no smaller constant will do",
    data=points(0, 1),
    examples=[ONE_TOKEN.at, BALANCED, TILTED],
    ensemble=nearby,
    certify=certify_spectral,
    expected="proved",
    proof="symbolic.sim.basic_7:prove",
    siblings={
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999),
        "in the Frobenius norm": sibling(kind="outer-frobenius"),
    },
)
def sharp_1(case: Points, share: float = 1.0, kind: str = "outer") -> Slack:
    """In the spectral norm."""
    return sharp_slack(case, kind, share * SOFTMAX_OUTER_LIPSCHITZ)


def certify_frobenius(case: Points, share: float = 1.0) -> arb:
    """The slack in the Frobenius norm as a ball."""
    return sharp_ball(case, "outer-frobenius", softmax_constant() * arb(rational(share)))


@claim(
    "sim/basic-7:sharp-2",
    **BOUND,
    statement="||f(x) f(x)^T - f(y) f(y)^T||_F <= spread(A)/2 ||x - y|| on the whole space; "
    "no smaller constant will do",
    data=points(0, 1),
    examples=[ONE_TOKEN.at, BALANCED],
    ensemble=nearby,
    certify=certify_frobenius,
    expected="proved",
    proof="symbolic.sim.basic_7:prove",
    siblings={
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999),
        "the spectral constant 3^(-3/4)": sibling(share=2 * SOFTMAX_OUTER_LIPSCHITZ),
    },
)
def sharp_2(case: Points, share: float = 1.0) -> Slack:
    """In the Frobenius norm."""
    return sharp_slack(case, "outer-frobenius", share * SOFTMAX_LIPSCHITZ)
