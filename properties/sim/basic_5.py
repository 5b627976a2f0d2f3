"""Section 3.3, fifth bound: the residual c is Lipschitz.

    ||c(x, z)_{l0,j0,i0} - c(y, z)_{l0,j0,i0}||_2 <= R^2 beta^-2 n exp(3 R^2) ||x - y||_2,

in the domain of lemma 3.13, beta a lower bound of alpha(x) and alpha(y). c is not defined. Its
indices are those of the loss, so literal-1 reads c(x, z) = <f(x), h(z)> - b, where b is of no
account, and A as the block of A_1 kron A_2 that it is. It falls, because nothing listed bounds h:
A = (1, 0), x = 0, y = 1, beta = 2, R = 4 and h = (2^75, 0). The norm is that of vectors, so
literal-2 reads c(x, z) = f(x) - z, which holds. It and what follows do for any matrix A.

`amended`: the factor R^2 is what ||A_3|| <= R and ||z|| <= R give for h = A_3 z, so ||h|| <= R^2 is
added; then it holds for every R > 0. Proof: by Cauchy and Schwarz from the fourth bound.

`sharp`: on the whole space, osc(h) = max h - min h and spread(A) = max ||A_i - A_j|| / sqrt 2,

    |c(x, z) - c(y, z)| <= sqrt(2)/4 osc(h) spread(A) ||x - y||,

at most ||h|| ||A|| / 2 times ||x - y||. No less will do: two tokens of equal weight, x, y -> 0,
others as in the fourth bound. Proof: along s the derivative is the covariance of h and s under f,
and a variance is at most a quarter of the squared range.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.basics import Domain, domain, domains, nearby_domain
from properties.sim.steepness import (
    BALANCED,
    EXAMPLES,
    LISTED,
    NEIGHBOURS,
    ONE_TOKEN,
    RAISED,
    placed,
)
from properties.sim.values import (
    BLOCK,
    HELD,
    LARGE,
    WITH_VALUES,
    Valued,
    certify_printed,
    certify_sharp,
    certify_vector,
    printed,
    printed_vector,
    sharp_slack,
    steep,
    valued,
    values_at_most,
    with_values,
)

BOUND: dict[str, Any] = {"source": SOURCE, "place": "Section 3.3, fifth bound"}
CONDITIONS = "for R >= 4, ||A x||, ||A y||, ||A|| at most R and 0 < beta <= alpha(x), alpha(y)"
BOUNDED = "||h|| <= R^2"
SMALL = placed([[1 / 8], [-1 / 8]], [0.0], [1.0], 2.0, 1 / 4)


@claim(
    "sim/basic-5:literal-1",
    **BOUND,
    statement=f"{CONDITIONS}, A a block of A_1 kron A_2: |c(x, z) - c(y, z)| <= "
    "R^2 beta^-2 n exp(3 R^2) ||x - y||, c(x, z) = <f(x), h(z)> - b",
    data=valued(0, 64, 128, blocks=True),
    hypotheses={**HELD, **BLOCK},
    examples=[WITH_VALUES[0], LARGE],
    certify=certify_printed,
    expected="refuted",
    siblings={
        "the exponential left out": sibling(exponential=False),
        "||A|| beyond R": sibling(
            drop=["||A|| <= R"],
            examples=[with_values(NEIGHBOURS["||A|| beyond R"].examples[0], 1.0, -1.0)],
        ),
    },
)
def literal_1(case: Valued, exponential: bool = True) -> Slack:
    """The residual of one entry of the output; any values."""
    return printed(case, exponential)


@claim(
    "sim/basic-5:literal-2",
    **BOUND,
    statement=f"{CONDITIONS}: ||c(x, z) - c(y, z)|| <= R^2 beta^-2 n exp(3 R^2) ||x - y||, "
    "c(x, z) = f(x) - z",
    data=domains(4.0),
    hypotheses=LISTED,
    examples=EXAMPLES,
    ensemble=nearby_domain,
    certify=certify_vector,
    expected="proved",
    proof="symbolic.sim.basic_5:prove_published",
    depends_on=["sim/basic-4:literal"],
    siblings={
        **{name: s for name, s in NEIGHBOURS.items() if s.drop},
        "the exponential left out": sibling(exponential=False, examples=[RAISED]),
        "R below 4": sibling(drop=["R >= 4"], examples=[SMALL]),
    },
)
def literal_2(case: Domain, exponential: bool = True) -> Slack:
    """The residual of the attention weights."""
    return printed_vector(case, exponential)


@claim(
    "sim/basic-5:amended",
    **BOUND,
    statement=f"{CONDITIONS}, ||h|| <= R^2: |c(x, z) - c(y, z)| <= "
    "R^2 beta^-2 n exp(3 R^2) ||x - y||, c(x, z) = <f(x), h(z)> - b",
    data=valued(0, 1),
    hypotheses={**HELD, BOUNDED: partial(values_at_most, power=2)},
    examples=WITH_VALUES,
    ensemble=steep,
    certify=certify_printed,
    expected="proved",
    proof="symbolic.sim.basic_5:prove_published",
    depends_on=["sim/basic-4:literal"],
    siblings={
        **{
            name: sibling(drop=s.drop, examples=[with_values(s.examples[0], 1.0, -1.0)])
            for name, s in NEIGHBOURS.items()
            if s.drop
        },
        "values beyond R^2": sibling(drop=[BOUNDED], examples=[LARGE]),
        "the exponential left out": sibling(exponential=False),
    },
)
def amended(case: Valued, exponential: bool = True) -> Slack:
    """With the values bounded as the printed R^2 has it."""
    return printed(case, exponential)


@claim(
    "sim/basic-5:sharp",
    **BOUND,
    statement="|c(x, z) - c(y, z)| <= sqrt(2)/4 (max h - min h) spread(A) ||x - y|| on the whole "
    "space, spread(A) = max ||A_i - A_j|| / sqrt 2 <= ||A||; no smaller constant will do",
    data=valued(0, 1),
    examples=[with_values(ONE_TOKEN, 1.0), with_values(domain(BALANCED, 4.0), 1.0, -1.0)],
    ensemble=steep,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.basic_5:prove",
    siblings={
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999),
        "max |h| in place of max h - min h": sibling(centred=True),
    },
)
def sharp(case: Valued, share: float = 1.0, centred: bool = False) -> Slack:
    """With the best constant."""
    return sharp_slack(case, share, centred)
