"""Section 3.3, third bound: the inverse of alpha is Lipschitz in alpha.

    |alpha(x)^-1 - alpha(y)^-1| <= beta^-2 |alpha(x) - alpha(y)|.

beta is not defined; literal-1 reads a positive lower bound of both values, and a bound of one of
them will not do (a sibling: n = 1, A = 1, x = 0, y = -1, beta = 1). On the right alpha has lost its
indices: literal-1 reads those of the left side. literal-2 reads <exp(A x), 1> over all n^2 rows of
A_{l0}, and falls, because there one block may gain what another one loses: A_1 = (1, -1),
A_2 = (0, 1), x = 1, y = -1, where both sums are 2 + 2 cosh 1.

Proof. 1/a - 1/b = (b - a) / (a b), and a b >= beta^2.

- sharp-1: beta^-2 is the least factor for every beta: alpha(x) = beta, alpha(y) -> beta.
- sharp-2: where ||A x||, ||A y|| <= R, the best lower bound is beta = n exp(-R / sqrt n), which
  gives the factor exp(2 R / sqrt n) / n^2, for R > 0 the least for all n: A = -1_n, x = R / sqrt n,
  y -> x. Proof: alpha >= n exp(mean of the logits), as e^s >= e^m (1 + s - m) for every s (the
  bound of basic-1), and the mean is at least -R / sqrt n.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from attsvm.exact import rational
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.basics import (
    Domain,
    InBall,
    Points,
    alpha_at_least,
    bounded_logits,
    domains,
    exact_logits,
    exact_total,
    in_ball,
    just_below,
    points,
    powers,
)
from properties.sim.exponentials import (
    Blocks,
    blocks,
    domain_factor,
    inverse_ball,
    inverse_factor,
    inverse_slack,
    joined,
)

BOUND: dict[str, Any] = {"source": SOURCE, "place": "Section 3.3, third bound"}


def certify(case: Domain, share: float = 1.0, power: int = 2) -> arb:
    """The slack as a ball."""
    logits = exact_logits(case.at)
    return inverse_ball(logits, logits, arb(rational(share) / rational(case.beta) ** power))


def _above(k: int, case: Domain) -> bool:
    return alpha_at_least(exact_logits(case.at)[k], case.beta)


def domain(A: list[list[float]], x: float, y: float, beta: float) -> Domain:
    """One coordinate; R plays no part."""
    return Domain(Points(np.array(A), np.array([x]), np.array([y])), 4.0, beta)


ABOVE = {
    "0 < beta <= alpha(x)": partial(_above, 0),
    "0 < beta <= alpha(y)": partial(_above, 1),
}
ONE_TOKEN = domain([[1.0]], 0.0, 1 / 1024, 1.0)
CLOSER = domain([[1.0]], 0.0, 1 / 4096, 1.0)
SAME = domain([[1.0], [0.0]], 1.0, 1.0, 2.0)
AT_X = domain([[1.0]], 0.0, -1.0, 1.0)
AT_Y = domain([[1.0]], -1.0, 0.0, 1.0)
ONE_SIDED = {
    "beta bounds alpha(x) alone": sibling(drop=["0 < beta <= alpha(y)"], examples=[AT_X]),
    "beta bounds alpha(y) alone": sibling(drop=["0 < beta <= alpha(x)"], examples=[AT_Y]),
}


def close(generator: np.random.Generator) -> Domain:
    """Neighbouring points, beta just below both values."""
    n, D = int(generator.integers(1, 5)), int(generator.integers(1, 3))
    x = generator.integers(-64, 65, size=D) / 32
    at = Points(generator.integers(-2, 3, size=(n, D)) / 1.0, x, x + 2.0**-12)
    return Domain(at, 4.0, just_below(at))


def _printed(case: Domain, share: float, power: int) -> Slack:
    factor = share * float(inverse_factor(np.float64(case.beta), power))
    return inverse_slack(case.at, case.at, factor)


@claim(
    "sim/basic-3:literal-1",
    **BOUND,
    statement="for 0 < beta <= alpha(x), alpha(y): "
    "|alpha(x)^-1 - alpha(y)^-1| <= beta^-2 |alpha(x) - alpha(y)|",
    data=domains(0.0),
    hypotheses=ABOVE,
    examples=[SAME, ONE_TOKEN],
    certify=certify,
    expected="proved",
    proof="symbolic.sim.basic_3:prove",
    siblings={**ONE_SIDED, "beta^-3": sibling(power=3), "beta^-1": sibling(power=1)},
)
def literal_1(case: Domain, share: float = 1.0, power: int = 2) -> Slack:
    """A bound below both values."""
    return _printed(case, share, power)


def certify_whole(case: Blocks, share: float = 1.0, power: int = 2) -> arb:
    """The slack with the sums over all blocks on the right, beta the lesser alpha."""
    S, T = case.exact_logits()
    beta = exact_total(S[0]).min(exact_total(T[0]))
    return inverse_ball((S[0], T[0]), (joined(S), joined(T)), rational(share) / beta**power)


OPPOSED = Blocks(
    np.array([[1.0], [-1.0]]), np.array([[0.0], [1.0]]), np.ones((1, 1)), -np.ones((1, 1))
)


@claim(
    "sim/basic-3:literal-2",
    **BOUND,
    statement="for 0 < beta <= alpha(x), alpha(y), hence for the lesser of them, and sums over all "
    "n^2 rows of A_{l0}: |alpha(x)^-1 - alpha(y)^-1| <= beta^-2 |sum exp(A x) - sum exp(A y)|",
    data=blocks(),
    examples=[OPPOSED],
    certify=certify_whole,
    expected="refuted",
    siblings={"beta^-1": sibling(power=1), "95% of it": sibling(share=0.95)},
)
def literal_2(case: Blocks, share: float = 1.0, power: int = 2) -> Slack:
    """All blocks on the right; the greatest beta makes the bound strongest."""
    block = case.points(whole=False)
    beta = min(float(u.sum()) for u in powers(block))
    factor = share * float(inverse_factor(np.float64(beta), power))
    return inverse_slack(block, case.points(whole=True), factor)


@claim(
    "sim/basic-3:sharp-1",
    **BOUND,
    statement="for 0 < beta <= alpha(x), alpha(y): |alpha(x)^-1 - alpha(y)^-1| <= "
    "beta^-2 |alpha(x) - alpha(y)|; no smaller factor will do, whatever beta is",
    data=domains(0.0),
    hypotheses=ABOVE,
    examples=[SAME, ONE_TOKEN],
    ensemble=close,
    certify=certify,
    expected="proved",
    proof="symbolic.sim.basic_3:prove",
    siblings={
        **ONE_SIDED,
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999, examples=[CLOSER]),
    },
)
def sharp_1(case: Domain, share: float = 1.0, power: int = 2) -> Slack:
    """For a given lower bound."""
    return _printed(case, share, power)


def certify_domain(case: InBall, share: float = 1.0) -> arb:
    """The slack with the factor of the domain as a ball."""
    logits = exact_logits(case.at)
    factor = domain_factor(arb(len(logits[0])), arb(rational(case.R)), arb.sqrt, arb.exp)
    return inverse_ball(logits, logits, factor * arb(rational(share)))


def lowest(generator: np.random.Generator) -> InBall:
    """Equal tokens, four of them or one, whose logits are nearly the least of the ball."""
    n = int(generator.choice([1, 4]))
    R = float(generator.integers(1, 17)) / 4
    x = R / math.sqrt(n)
    return InBall(Points(-np.ones((n, 1)), np.array([x]), np.array([x - 2.0**-10])), R)


LOGITS = "||A x||, ||A y|| <= R"
EDGE = InBall(Points(-np.ones((4, 1)), np.array([2.0]), np.array([2.0 - 2.0**-10])), 4.0)
OUTSIDE = InBall(EDGE.at, 3.0)


@claim(
    "sim/basic-3:sharp-2",
    **BOUND,
    statement="for ||A x||, ||A y|| at most R: |alpha(x)^-1 - alpha(y)^-1| <= "
    "exp(2 R / sqrt n) / n^2 |alpha(x) - alpha(y)|; no smaller one will do, whatever n and R > 0",
    data=points(0, -1).map(partial(in_ball, least=0.0)),
    hypotheses={LOGITS: lambda case: bounded_logits(case.at, case.R)},
    examples=[InBall(ONE_TOKEN.at, 1.0), EDGE],
    ensemble=lowest,
    certify=certify_domain,
    expected="proved",
    proof="symbolic.sim.basic_3:prove",
    siblings={
        "logits beyond R": sibling(drop=[LOGITS], examples=[OUTSIDE]),
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999, examples=[InBall(CLOSER.at, 1 / 4096)]),
    },
)
def sharp_2(case: InBall, share: float = 1.0) -> Slack:
    """With the best beta of the domain of lemma 3.13."""
    n = len(case.at.A)
    if 2 * case.R / math.sqrt(n) > 600:
        return Slack.unknown("the constant overflows")
    return inverse_slack(case.at, case.at, share * domain_factor(n, case.R, math.sqrt, math.exp))
