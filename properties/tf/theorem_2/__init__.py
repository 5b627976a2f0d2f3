"""Theorem 2: the regularisation path of W converges in direction to the Att-SVM solution.

"Suppose optimal indices (opt_i) are unique and (Att-SVM) is feasible. Let W^mm be the unique
solution of (Att-SVM) with Frobenius norm. Then lim_{R -> inf} W_R / R = W^mm / ||W^mm||_F", with
W_R = argmin_{||W||_F <= R} L(W); of the loss the talk says that it is strictly decreasing and
smooth.

That is not enough. l(u) = -u^3 is strictly decreasing and smooth, and flat at 0. Two inputs with
tokens (1, 0), 0 and (0, 1), 0, one query (1, 0), scores 1, 0 and 0, -1: the second input's part of
L - L_* is like the cube of the first one's, and W_R / R tends to (3, 1) / sqrt 10 in place of
(1, 1) / sqrt 2. And where every input has one token, 0 = W^mm has no direction and all W are
minimisers.

`amended`: with l' < 0 at the best scores and an input of two tokens, for every W of the ball that
is at least as good as the SVM point R U, U = W^mm / ||W^mm||, so for every minimiser,
||W / R - U||^2 <= 2 log(2 Gamma) / rho with rho = R / ||W^mm|| from log(2 Gamma) on, and Gamma a
constant of scores and loss. `sharp`: the best constant in place of log(2 Gamma) is the divergence
of the multipliers from the score gaps times slopes, up to what dies with rho. Both are proved in
`as_good`, and the limit itself is followed by its rate in `amended-2`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from flint import arb

from attsvm.theory import Slack, claim, sibling
from properties._support.hypothesis_violations import TIED_APART
from properties.tf import SOURCE
from properties.tf._support import regularisation_paths as regularised
from properties.tf._support.path_limits import certified_direction
from properties.tf._support.regularisation_paths import (
    FLAT_PULLS,
    ONE_TOKEN,
    PUBLISHED,
    UNEVEN,
    Path,
    follows,
)
from properties.tf.theorem_2 import near_optimal_points as as_good
from properties.tf.theorem_2.near_optimal_points import Candidate, certify_distance, distance_slack

THEOREM: dict[str, Any] = {"source": SOURCE, "place": "Theorem 2"}
LISTED = {
    "optimal tokens are unique": regularised.unique,
    "Att-SVM is feasible": regularised.feasible,
}
DIRECTIONS = {
    "direction of the worst tokens": sibling(towards="worst", examples=[PUBLISHED]),
    "mean of the constraints": sibling(towards="mean", examples=[PUBLISHED]),
    "W^mm turned by about a 64th": sibling(towards="turned", examples=[PUBLISHED]),
}


def certify_limit(case: Path, towards: str = "optimal") -> arb | None:
    """The exact limit held against the target."""
    return certified_direction(case, towards)


@claim(
    "tf/theorem-2:literal",
    **THEOREM,
    statement="W_R / R tends to W^mm / ||W^mm||_F, for l strictly decreasing and smooth",
    data=regularised.flat_paths(),
    hypotheses=LISTED,
    examples=[FLAT_PULLS, ONE_TOKEN],
    certify=certify_limit,
    same_slack=False,
    expected="refuted",
    siblings=DIRECTIONS,
    cost=4,
)
def literal(case: Path, towards: str = "optimal") -> Slack:
    """With the listed hypotheses alone."""
    return follows(case, towards)


@claim(
    "tf/theorem-2:amended-1",
    **THEOREM,
    statement="W_R / R tends to W^mm / ||W^mm||_F, where l' < 0 at the best scores and some input "
    "has two tokens",
    data=regularised.paths(),
    ensemble=regularised.protocol,
    hypotheses={
        **LISTED,
        "l' < 0 at the best scores": regularised.steep,
        "some input has two tokens": regularised.constrained,
    },
    examples=[PUBLISHED, UNEVEN],
    certify=certify_limit,
    same_slack=False,
    expected="holds",
    siblings={
        **DIRECTIONS,
        "l' may vanish at best scores": sibling(
            drop=["l' < 0 at the best scores"], examples=[FLAT_PULLS]
        ),
        "one token an input": sibling(drop=["some input has two tokens"], examples=[ONE_TOKEN]),
        "tied optimal tokens": sibling(
            drop=["optimal tokens are unique"], examples=[Path(TIED_APART.data, "log-loss")]
        ),
    },
    cost=8,
)
def amended_1(case: Path, towards: str = "optimal") -> Slack:
    """As found, by its rate."""
    return follows(case, towards)


SIMPLE: dict[str, Any] = {"simple": True, "share": 1.0, "power": 1.0, "even": False}
BEST = {**SIMPLE, "simple": False}
RATE: dict[str, Any] = {
    **THEOREM,
    "data": as_good.candidates(),
    "ensemble": as_good.extremal,
    "hypotheses": {
        "optimal tokens are unique": as_good.unique,
        "some input has two tokens": as_good.constrained,
        "Att-SVM is feasible": as_good.feasible,
        "rho is at least log(2 Gamma)": as_good.large,
        "W in the ball and as good as rho W^mm": as_good.good,
    },
    "cost": 4,
}


@claim(
    "tf/theorem-2:amended-2",
    **RATE,
    statement="every W in the ball with L(W) <= L(R U) has ||W / R - U||^2 <= 2 log(2 Gamma) / rho",
    certify=partial(certify_distance, **SIMPLE),
    expected="holds",
    siblings={
        "an eighth of it": sibling(share=0.125),
        "the square of the rate": sibling(power=2.0),
        "W as bad as it likes": sibling(
            drop=["W in the ball and as good as rho W^mm"], examples=[as_good.AT_ZERO]
        ),
        "rho of any size": sibling(
            drop=["rho is at least log(2 Gamma)"], examples=[as_good.OUTWEIGHED]
        ),
    },
)
def amended_2(case: Candidate, share: float = 1.0, power: float = 1.0) -> Slack:
    """A constant of scores and loss alone."""
    return distance_slack(case, True, share, power, False)


@claim(
    "tf/theorem-2:sharp",
    **RATE,
    statement="every W in the ball with L(W) <= L(R U) has ||W / R - U||^2 <= 2 kappa / rho, where "
    "kappa tends to the divergence of the multipliers from the score gaps times slopes",
    certify=partial(certify_distance, **BEST),
    expected="holds",
    siblings={
        "95% of it": sibling(share=0.95),
        "W as bad as it likes": sibling(
            drop=["W in the ball and as good as rho W^mm"], examples=[as_good.AT_ZERO]
        ),
        "the square of the rate": sibling(power=2.0),
        "all score gaps counted as one": sibling(even=True),
    },
)
def sharp(case: Candidate, share: float = 1.0, power: float = 1.0, even: bool = False) -> Slack:
    """The best constant."""
    return distance_slack(case, False, share, power, even)
