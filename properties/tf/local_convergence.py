"""Local convergence: started in the cone of a locally-optimal direction, descent follows it.

"Theorem (local conv): For locally-optimal alpha, if GD is initialized in the local cone with large
||W_0|| then W_k/||W_k||_F -> W^mm(alpha)/||W^mm(alpha)||_F." Neither the cone nor "large" is given.
Locally optimal is read with the support indices T_i, the tokens of margin 1 under W^mm(alpha):
those score below alpha (`tf/definition-2:literal-2`); with all tokens only the optimal ones would.

`literal-1` takes for the cone all W_0 at which every alpha_i has the largest logit, and falls at
every norm: one input, tokens 0, (-1, 0) and (-2, 1), head (1, 3), query (1, 0), so scores 0, -1, 1;
alpha = the first has W^mm(alpha) = (1, 0), margins 1 and 2. From w = (R, 2R - 1) the third token,
whose logit is 1 below, pulls hardest and is selected for ever; on R it depends by exp(-R) only.

`literal-2` takes the cone about W^mm(alpha) of some angle, and a norm from some radius on, both
depending on alpha. It holds: the angle is that of half the width below; the radius is where balls
prove that the run never leaves a narrowing cone. `sharp` gives the width: with
W_0 = sigma W* + E, W* = W^mm(alpha) and <E, W*> = 0, it is ||E|| r_j < sigma c_j for all pairs j,
where r_j is the part of A_j across W*, and c_j the margin of j under W*, less 1 where the token
does not score below alpha. For every start in it some multiple closes: exp(-m_j) of the tokens
that pull away is below exp(-sigma) by a factor that dies as sigma grows, and the proof at
`attsvm.exact.cones` applies. No factor above 1 will do for all data: with the third token at
(-1 - g, 1) the start w = (R, (1 + g) R - 1) lies in (1 + g)/g times the cone, and flees.

The talk names no step. Given the step, the radius depends on it; no radius serves all steps, as
one long first step leaves any cone that does not hold the gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import rationals
from attsvm.losses import LOSSES
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import direction_converges
from properties.fates import certified_direction
from properties.runs import or_more_bits
from properties.tf import SOURCE
from properties.tf.local_cones import (
    Local,
    is_far,
    is_large,
    is_locally_optimal,
    selects,
    started,
    started_larger,
    target,
    within,
)

THEOREM: dict[str, Any] = {
    "source": SOURCE,
    "place": "Main results (simplified), local convergence",
    "cost": 8,
    "same_slack": False,
}


def fleeing(reach: int, R: float, away: float = 1.0) -> Local:
    """Tokens 0, (-1, 0), (-reach, 1) with scores 0, -1, 1, started at (R, reach R - away)."""
    data = AttentionData.of(
        [[[0.0, 0.0], [-1.0, 0.0], [-float(reach), 1.0]]],
        [[1.0, 0.0]],
        y=[1.0],
        v=[1.0, reach + 1.0],
    )
    start = np.array([[R, 0.0], [reach * R - away, 0.0]])
    return Local(data, np.array([0]), start, "correlation")


def on_the_ray(sigma: float, scores: list[float]) -> Local:
    """The tokens 0, (-1, 0), (-2, 1), started at sigma (1, 0); the solution if the first wins."""
    data = AttentionData.of([[[0.0, 0.0], [-1.0, 0.0], [-2.0, 1.0]]], [[1.0, 0.0]], scores=[scores])
    return Local(data, np.array([0]), np.array([[sigma, 0.0], [0.0, 0.0]]), "log-loss")


def certify(case: Local, towards: str = "alpha") -> arb | None:
    """Where descent goes, proved."""
    limit = target(case, towards)
    start = rationals(case.start)
    return or_more_bits(certified_direction(case.data, start, case.loss, limit))


OTHER = {
    "towards the optimal tokens": sibling(towards="optimal"),
    "W^mm(alpha) turned by about a 64th": sibling(towards="turned"),
    "the opposite direction": sibling(towards="opposite"),
}


@claim(
    "tf/local-convergence:literal-1",
    **THEOREM,
    statement="alpha locally optimal, alpha_i of largest logit in every input, "
    "||W_0|| >= 1024 ||W^mm(alpha)||: W_k/||W_k|| -> W^mm(alpha)/||W^mm(alpha)|| under descent",
    data=started((0.5, 1.0, 1.5)),
    hypotheses={
        "alpha is locally optimal": is_locally_optimal,
        "the start selects alpha": selects,
        "the norm of the start is large": is_far,
    },
    examples=[fleeing(2, 1024.0), fleeing(2, 2.0**20)],
    certify=certify,
    expected="refuted",
    siblings={
        "at any norm": sibling(drop=["the norm of the start is large"], examples=[fleeing(2, 2.0)]),
        "alpha need not be locally optimal": sibling(
            drop=["alpha is locally optimal"], examples=[fleeing(1, 1024.0)]
        ),
    },
)
def in_wide_cone(case: Local, towards: str = "alpha") -> Slack:
    """From every start that selects alpha."""
    return _follows(case, towards)


NARROW = {
    "alpha is locally optimal": is_locally_optimal,
    "the start lies in half of the cone": lambda case: within(case, 0.5),
    "the norm of the start is large": is_large,
}


@claim(
    "tf/local-convergence:literal-2",
    **THEOREM,
    statement="alpha locally optimal, W_0 within some angle of W^mm(alpha) and of some norm at "
    "least, both depending on alpha: W_k/||W_k|| -> W^mm(alpha)/||W^mm(alpha)|| under descent",
    data=started((0.45, 0.25)),
    ensemble=started_larger(0.45, 0.25),
    hypotheses=NARROW,
    examples=[on_the_ray(12.0, [0.0, -1.0, 1.0])],
    certify=certify,
    expected="holds",
    siblings={
        **OTHER,
        "every start that selects alpha": sibling(
            drop=list(NARROW)[1:], examples=[fleeing(2, 1024.0)]
        ),
        "a start of any norm": sibling(
            drop=["the norm of the start is large"],
            examples=[on_the_ray(1 / 64, [0.0, -1.0, 1.0])],
        ),
        "support tokens may score higher": sibling(
            drop=list(NARROW), examples=[on_the_ray(1.0, [0.0, 1.0, -1.0])]
        ),
    },
)
def in_some_cone(case: Local, towards: str = "alpha") -> Slack:
    """From every start near the ray that is far enough out."""
    return _follows(case, towards)


@claim(
    "tf/local-convergence:sharp",
    **THEOREM,
    statement="alpha locally optimal, ||E|| r_j < sigma c_j for all pairs j, and the norm of the "
    "start large: W_k/||W_k|| -> W^mm(alpha)/||W^mm(alpha)|| under descent",
    data=started((0.9, 0.5)),
    ensemble=started_larger(0.9, 0.5),
    hypotheses={
        "alpha is locally optimal": is_locally_optimal,
        "the start lies in 5/4 of the cone": lambda case: within(case, 1.25),
        "the start lies in the cone": within,
        "the norm of the start is large": is_large,
    },
    examples=[on_the_ray(12.0, [0.0, -1.0, 1.0])],
    certify=certify,
    expected="holds",
    siblings={
        **OTHER,
        "5/4 of the cone": sibling(
            drop=["the start lies in the cone", "the norm of the start is large"],
            examples=[fleeing(5, 1024.0), fleeing(5, 2.0**20)],
        ),
    },
)
def in_full_cone(case: Local, towards: str = "alpha") -> Slack:
    """With the width of the cone."""
    return _follows(case, towards)


def _follows(case: Local, towards: str) -> Slack:
    """Descent from the start converges in direction to the target."""
    found = target(case, towards)
    if found is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    W = np.array([[float(arb(x)) for x in row] for row in found])
    return direction_converges(case.data, case.start, LOSSES[case.loss], W)
