"""Local convergence: started in the cone of a locally-optimal direction, descent follows it.

"Theorem (local conv): For locally-optimal alpha, if GD is initialized in the local cone with large
||W_0|| then W_k/||W_k||_F -> W^mm(alpha)/||W^mm(alpha)||_F." Neither the cone nor "large" is given.
Locally optimal is read with the support indices T_i, the tokens of margin 1 under W^mm(alpha):
those score below alpha (`tf/definition-2:literal-2`); with all tokens only the optimal ones would.

`literal-1` takes for the cone all W_0 at which every alpha_i has the largest logit, and falls at
every norm: one input, tokens 0, (-1, 0) and (-2, 1), head (1, 3), query (1, 0), so scores 0, -1, 1;
alpha = the first has W^mm(alpha) = (1, 0), margins 1 and 2. From w = (R, 2R - 1) the third token,
whose logit is 1 below, pulls hardest and is selected for ever; on R it depends by exp(-R) only.

`literal-2` says that there are an angle and a norm, both depending on alpha, and names them: with
w = max r_j/c_j of the module `pairs` (r_j is the part of A_j across W* = W^mm(alpha), and c_j the
margin of j under W*, less 1 for tokens beyond the margin that do not score below alpha) and
q = min(1/w, ||W*||)/2, the angle is arctan(q/||W*||), and the norm sqrt(||W*||^2 + q^2) times the
radius of the module `radius` at s = 1/2, a number of data, alpha, loss and step that is proved
there to suffice.

`sharp` gives the width: with W_0 = sigma W* + E, <E, W*> = 0, it is ||E|| r_j <= s sigma c_j for
all pairs j, any s < 1, and sigma at least the radius of s. No factor above 1 will do for all data:
with the third token at (-1 - g, 1) the start w = (R, (1 + g) R - 1) lies in (1 + g)/g times the
cone, and flees. The radius is of the right order: just below a quarter of it a start at the rim of
half of the cone flees (tokens 0, (-1, 0), (-3, 2), scores 0, -1, 4, start (21/8, 21/16)).

Where a support token scores higher, both are numbers all the same, and the direction is not
approached from any start: tokens 0, -1 with scores 0, 1.

The talk names no step. Here it is 1/L with L the smoothness of the risk; given another, the radius
depends on it. No radius serves all steps, as one long first step leaves any cone that does not hold
the gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import rationals
from attsvm.losses import LOSSES
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import direction_converges
from properties._support.descent_runs import or_more_bits
from properties._support.limit_certificates import certified_direction
from properties.tf import SOURCE
from properties.tf.local_convergence.cones import (
    Local,
    climbs_away,
    is_far,
    is_large,
    is_locally_optimal,
    is_long,
    is_near,
    is_share,
    selects,
    target,
    within,
)
from properties.tf.local_convergence.starts import (
    BETTER_SUPPORT,
    FALLS_BACK,
    far_out,
    fleeing,
    lengthened,
    on_the_line,
    placed_at,
    started,
    started_larger,
)

THEOREM: dict[str, Any] = {
    "source": SOURCE,
    "place": "Main results (simplified), local convergence",
    "cost": 8,
    "same_slack": False,
}


def certify(case: Local, towards: str = "alpha") -> arb | None:
    """Where descent goes, proved."""
    limit = target(case, towards)
    if limit is not None and climbs_away(case, limit):
        return arb(-1)
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
    data=started(0.875, 0.5).map(far_out),
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


NEAR = "W_0 is at an angle of at most arctan(q/N) to W^mm(alpha)"
LONG = "||W_0|| is at least the radius"
CONE = "||E|| r_j <= s sigma c_j"
LARGE = "sigma is at least the radius of s"


@claim(
    "tf/local-convergence:literal-2",
    **THEOREM,
    statement="alpha locally optimal, W_0 within some angle of W^mm(alpha) and of some norm at "
    "least, both depending on alpha: W_k/||W_k|| -> W^mm(alpha)/||W^mm(alpha)|| under descent",
    data=started(0.5).map(lengthened),
    ensemble=lambda generator: lengthened(started_larger(0.5)(generator)),
    hypotheses={
        "alpha is locally optimal": is_locally_optimal,
        NEAR: is_near,
        "||W_0|| is at least a fifth of the radius": lambda case: is_long(case, fmpq(1, 5)),
        LONG: is_long,
    },
    examples=[placed_at([0.0, -1.0, 1.0], (2.0, -1.0), 18.0, 9.0), on_the_line(64.0, -1.0)],
    certify=certify,
    expected="holds",
    siblings={
        **OTHER,
        "at any angle": sibling(drop=[NEAR], examples=[fleeing(2, 1024.0)]),
        "a fifth of the radius": sibling(drop=[LONG], examples=[FALLS_BACK]),
        "support tokens may score higher": sibling(
            drop=["alpha is locally optimal"], examples=[BETTER_SUPPORT]
        ),
    },
)
def in_some_cone(case: Local, towards: str = "alpha") -> Slack:
    """From every start near the ray that is far enough out."""
    return _follows(case, towards)


@claim(
    "tf/local-convergence:sharp",
    **THEOREM,
    statement="alpha locally optimal, s < 1, ||E|| r_j <= s sigma c_j for all pairs j, and sigma "
    "at least an explicit radius: W_k/||W_k|| -> W^mm(alpha)/||W^mm(alpha)|| under descent",
    data=started(0.5, 0.25, 0.875, 0.984375),  # the claim is sharpest where s is nearly 1
    ensemble=started_larger(0.5, 0.25, 0.9375, 0.984375),
    hypotheses={
        "alpha is locally optimal": is_locally_optimal,
        "0 < s < 1": is_share,
        "||E|| r_j <= 17/16 s sigma c_j": lambda case: within(case, 1.0625),
        CONE: within,
        "sigma is at least a fifth of the radius of s": lambda case: is_large(case, fmpq(1, 5)),
        LARGE: is_large,
    },
    examples=[placed_at([0.0, -1.0, 1.0], (2.0, -1.0), 18.0, 9.0), on_the_line(64.0, -1.0)],
    certify=certify,
    expected="holds",
    siblings={
        **OTHER,
        "17/16 of the cone": sibling(
            drop=[CONE],
            examples=[fleeing(33, 2.0**power, share=0.984375) for power in (13, 20)],
        ),
        "a fifth of the radius": sibling(drop=[LARGE], examples=[FALLS_BACK]),
        "support tokens may score higher": sibling(
            drop=["alpha is locally optimal"], examples=[BETTER_SUPPORT]
        ),
    },
)
def in_full_cone(case: Local, towards: str = "alpha") -> Slack:
    """With the width of the cone and the radius of each share of it."""
    return _follows(case, towards)


def _follows(case: Local, towards: str) -> Slack:
    """Descent from the start converges in direction to the target."""
    found = target(case, towards)
    if found is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    W = np.array([[float(arb(x)) for x in row] for row in found])
    return direction_converges(case.data, case.start, LOSSES[case.loss], W)
