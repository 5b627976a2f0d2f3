"""Section 3.3, first bound: the exponentials of the logits are Lipschitz.

    ||exp(A x) - exp(A y)||_2 <= R exp(R^2) ||x - y||_2.

The section lists no condition on R (and the minus signs of its seven bounds are lost in our text).
literal-1 takes those of lemma 3.13, whose stepping stone it is: R >= 4 bounds ||A x||, ||A y||
and ||A||. literal-2 leaves out R >= 4, which this section does not print, and falls for blocks A of
A_1 kron A_2 (the others hold for any matrix): A = 1/2, x = 1, y = 0, R = 1/2 gives
exp(1/2) - 1 = 0.6487 against exp(1/4)/2 = 0.6420. `amended` has R >= 1, the least that will do:
A = R, x = 1, y -> 1 needs R exp(R).

Proof. e^a - e^b <= e^max(a, b) |a - b|, logits are at most R, and R <= R^2 from R = 1 on.

- sharp-1: on that domain ||A|| exp(R), for every R and ||A||; where both are above 0 no less will
  do, as A = ||A|| e_1 shows for x, y -> R / ||A||, with any number of tokens. So exp(R^2) should
  be exp(R).
- sharp-2: where ||x|| and ||y|| rather than ||A x|| and ||A y|| are bounded by R, logits reach R^2
  and the printed constant is right for every R, and the least for R > 0: A = R, x, y -> R.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from flint import arb

from attsvm.exact import dot, rational, rationals, spectral_norm
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.basics import (
    InBall,
    bounded_logits,
    bounded_matrix,
    in_ball,
    is_block,
    points,
    spectral,
)
from properties.sim.exponentials import at_the_edge, length_ball, length_slack, placed

BOUND: dict[str, Any] = {"source": SOURCE, "place": "Section 3.3, first bound"}


def printed(case: InBall, share: float, power: int) -> Slack:
    """R exp(R^power), or R alone."""
    return length_slack(case, share * case.R, case.R**power if power else 0.0)


def certify_printed(case: InBall, share: float = 1.0, power: int = 2) -> arb:
    """The slack with the printed constant as a ball."""
    R = arb(rational(case.R))
    return length_ball(case, R * rational(share), R**power if power else arb(0))


def certify_sharp(case: InBall, share: float = 1.0) -> arb:
    """The slack with ||A|| exp(R) as a ball."""
    size = spectral_norm(rationals(case.at.A))
    return length_ball(case, size * rational(share), arb(rational(case.R)))


def points_in_ball(case: InBall) -> bool:
    """||x|| and ||y|| are at most R, in rationals."""
    level = rational(case.R) ** 2
    return all(dot(v, v) <= level for v in (rationals(case.at.x), rationals(case.at.y)))


def next_to_one(generator: np.random.Generator) -> InBall:
    """One token with ||A|| = R at most 2, x = 1 and y below it."""
    R = float(generator.integers(1, 33)) / 16
    return placed([[R]], [1.0], [1.0 - 2.0 ** -int(generator.integers(1, 9))], R)


LOGITS = {"||A x||, ||A y|| <= R": lambda case: bounded_logits(case.at, case.R)}
BLOCK = {"A is a block of A_1 kron A_2": lambda case: is_block(case.at.A)}
MATRIX = {"||A|| <= R": lambda case: bounded_matrix(case.at.A, case.R)}
ONE = placed([[1.0]], [4.0], [3.0], 4.0)
SMALLEST = placed([[0.5]], [1.0], [0.0], 0.5)
STEEP = placed([[1.0]], [1.0], [255 / 256], 1.0)
STEEPER = placed([[1.0]], [1.0], [4095 / 4096], 1.0)
FAR = placed([[1.0]], [18.0], [17.0], 4.0)
WIDE = placed([[2.0**30]], [0.0], [2.0**-30], 4.0)
BEYOND = {
    "logits beyond R": sibling(drop=list(LOGITS), examples=[FAR]),
    "||A|| beyond R": sibling(drop=list(MATRIX), examples=[WIDE]),
}


@claim(
    "sim/basic-1:literal-1",
    **BOUND,
    statement="for R >= 4, ||A x||, ||A y||, ||A|| at most R (lemma 3.13): "
    "||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y||",
    data=points(0, -1).map(partial(in_ball, least=4.0)),
    hypotheses={"R >= 4": lambda case: case.R >= 4, **LOGITS, **MATRIX},
    examples=[ONE],
    certify=certify_printed,
    expected="proved",
    proof="symbolic.sim.basic_1:prove",
    siblings={
        **BEYOND,
        "R below 4": sibling(drop=["R >= 4"], examples=[SMALLEST]),
        "exp(R^2) left out": sibling(power=0),
    },
)
def literal_1(case: InBall, share: float = 1.0, power: int = 2) -> Slack:
    """In the domain of lemma 3.13."""
    return printed(case, share, power)


@claim(
    "sim/basic-1:literal-2",
    **BOUND,
    statement="for ||A x||, ||A y||, ||A|| at most R, A a block of A_1 kron A_2: "
    "||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y||",
    data=points(-1, -2, blocks=True).map(partial(in_ball, least=0.0)),
    hypotheses={**LOGITS, **MATRIX, **BLOCK},
    examples=[SMALLEST],
    ensemble=next_to_one,
    certify=certify_printed,
    expected="refuted",
    siblings={"exp(R^2) left out": sibling(power=0), "95% of it": sibling(share=0.95)},
)
def literal_2(case: InBall, share: float = 1.0, power: int = 2) -> Slack:
    """Without R >= 4, which section 3.3 does not list."""
    return printed(case, share, power)


@claim(
    "sim/basic-1:amended",
    **BOUND,
    statement="for R >= 1, ||A x||, ||A y||, ||A|| at most R: "
    "||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y||",
    data=points(0, -1, -2).map(partial(in_ball, least=1.0)),
    hypotheses={"R >= 1": lambda case: case.R >= 1, **LOGITS, **MATRIX},
    examples=[ONE, STEEP],
    certify=certify_printed,
    expected="proved",
    proof="symbolic.sim.basic_1:prove",
    siblings={
        **BEYOND,
        "R = 15/16": sibling(
            drop=["R >= 1"], examples=[placed([[15 / 16]], [1.0], [255 / 256], 15 / 16)]
        ),
        "95% of it": sibling(share=0.95),
    },
)
def amended(case: InBall, share: float = 1.0, power: int = 2) -> Slack:
    """With the least R that will do."""
    return printed(case, share, power)


@claim(
    "sim/basic-1:sharp-1",
    **BOUND,
    statement="for ||A x||, ||A y|| at most R: ||exp(A x) - exp(A y)|| <= ||A|| exp(R) ||x - y||; "
    "no less will do, whatever R, ||A|| > 0 are",
    data=points(0, -1).map(partial(in_ball, least=0.0)),
    hypotheses=LOGITS,
    examples=[ONE, STEEP],
    ensemble=at_the_edge,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.basic_1:prove",
    siblings={
        "logits beyond R": sibling(drop=list(LOGITS), examples=[FAR]),
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999, examples=[STEEPER]),
    },
)
def sharp_1(case: InBall, share: float = 1.0) -> Slack:
    """With the best constant on the domain of lemma 3.13."""
    return length_slack(case, share * spectral(case.at.A), case.R)


@claim(
    "sim/basic-1:sharp-2",
    **BOUND,
    statement="for ||x||, ||y||, ||A|| at most R: ||exp(A x) - exp(A y)|| <= R exp(R^2) ||x - y||; "
    "no less will do, whatever R > 0 is",
    data=points(0, -1).map(partial(in_ball, least=0.0, logits=False)),
    hypotheses={"||x||, ||y|| <= R": points_in_ball, **MATRIX},
    examples=[ONE, STEEP],
    ensemble=partial(at_the_edge, logits=False),
    certify=certify_printed,
    expected="proved",
    proof="symbolic.sim.basic_1:prove",
    siblings={
        "points beyond R": sibling(
            drop=["||x||, ||y|| <= R"], examples=[placed([[1.0]], [3.0], [2.0], 1.0)]
        ),
        "||A|| beyond R": sibling(
            drop=list(MATRIX), examples=[placed([[2.0**30]], [0.0], [2.0**-30], 1.0)]
        ),
        "exp(R) in place of exp(R^2)": sibling(power=1),
        "95% of it": sibling(share=0.95),
        "99.9% of it": sibling(share=0.999, examples=[STEEPER]),
    },
)
def sharp_2(case: InBall, share: float = 1.0, power: int = 2) -> Slack:
    """In the domain that the printed constant is made for."""
    return printed(case, share, power)
