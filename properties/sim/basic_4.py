"""Section 3.3, fourth bound: softmax attention is Lipschitz.

    ||f(x) - f(y)||_2 <= R_f ||x - y||_2.

R_f is defined nowhere; the constants of bounds five and six, R^2 and 1 times beta^-2 n exp(3 R^2),
give it back, and `literal` reads R_f = beta^-2 n exp(3 R^2): in the domain of lemma 3.13, beta a
lower bound of alpha(x) and alpha(y). It holds, and would for every R > 0: R >= 4 is not needed.

Proof. alpha(x) alpha(y) (f_t - g_t) = sum_r (e^(t_r + s_t) - e^(s_r + t_t)) for logits s and t;
the r-th term is c_tr ((s_t - t_t) - (s_r - t_r)) with c_tr = c_rt <= exp(2 R), the logarithmic mean
of the two exponentials. So the vector is a Laplacian with weights at most exp(2 R) applied to
s - t, and beta^2 ||f - g|| <= n exp(2 R) R ||x - y||, where R exp(2 R) < exp(3 R^2).

`sharp`: on the whole space R_f = spread(A)/2 <= ||A||/2, spread(A) = max ||A_i - A_j|| / sqrt 2,
and no less will do for any n >= 2: two tokens of equal weight, x, y -> 0, any others out of the
way: rows (1, 0), (-1, 0), (0, -1), ..., points (z, M) and (-z, M), z -> 0 and then M -> infinity.

Proof. Df[s] = (f_t (s_t - mean s)) has a norm that is convex in s and does not see its level, so it
is largest over max s - min s <= 1 where s is the indicator of a set of tokens. With P their weight,
||Df[s]||^2 = (1-P)^2 a + P^2 b, a <= P^2 and b <= (1-P)^2 the sums of f_t^2 in and out of the set:
at most 2 P^2 (1-P)^2 <= 1/8. And max A v - min A v <= sqrt 2 spread(A) ||v||.
"""

from __future__ import annotations

from typing import Any

from flint import arb

from attsvm.exact import rational
from attsvm.exact.lipschitz import softmax_constant
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

BOUND: dict[str, Any] = {"source": SOURCE, "place": "Section 3.3, fourth bound"}


def certify_literal(case: Domain, exponential: bool = True) -> arb:
    """The slack as a ball, both sides divided by R_f."""
    return published_ball(case, "vector", 2, exponential)


@claim(
    "sim/basic-4:literal",
    **BOUND,
    statement="for R >= 4, ||A x||, ||A y||, ||A|| at most R and 0 < beta <= alpha(x), alpha(y): "
    "||f(x) - f(y)|| <= R_f ||x - y||, R_f = beta^-2 n exp(3 R^2) as in bounds five and six",
    data=domains(4.0),
    hypotheses=LISTED,
    examples=EXAMPLES,
    ensemble=nearby_domain,
    certify=certify_literal,
    expected="proved",
    proof="symbolic.sim.basic_4:prove_published",
    siblings=NEIGHBOURS,
)
def literal(case: Domain, exponential: bool = True) -> Slack:
    """With the R_f that the next bounds imply."""
    return slack(case, "vector", 2, exponential)


def certify_sharp(case: Points, share: float = 1.0) -> arb:
    """The slack as a ball."""
    return sharp_ball(case, "vector", softmax_constant() * arb(rational(share)))


@claim(
    "sim/basic-4:sharp",
    **BOUND,
    statement="||f(x) - f(y)|| <= spread(A)/2 ||x - y|| on the whole space, spread(A) = max "
    "||A_i - A_j|| / sqrt 2 <= ||A||; no smaller constant than 1/2 will do",
    data=points(0, 1),
    examples=[ONE_TOKEN.at, BALANCED],
    ensemble=nearby,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.basic_4:prove",
    siblings={
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999),
        "the constant sqrt(2)/4 of bound six": sibling(share=2 * SOFTMAX_ENTRY_LIPSCHITZ),
    },
)
def sharp(case: Points, share: float = 1.0) -> Slack:
    """With the best constant."""
    return sharp_slack(case, "vector", share * SOFTMAX_LIPSCHITZ)
