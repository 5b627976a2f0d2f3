"""Theorem 1, first half: the norm of descent on p diverges.

"... the gradient descent iterates ... with proper eta and p(0) satisfies lim ||p(k)|| = infinity".

Read as in `theorem_1_direction`: v constant, alpha the optimal tokens, eta at most 1/L where it
matters. `literal-1` takes every p(0) and falls from zero: keys 1, 0, -2 of scores 1, -4, 0 have
p(alpha) = 1, but their pulls cancel at p = 0, for every loss. `literal-2` asks for some p(0) and
eta; with head 0 nothing ever moves.

`amended-1` holds for every start and every step: where each optimal token is alone and its rivals
score the same, or all keys are on the margin, <p(k), p(alpha)> grows at each step by eta times
sum_i |l'| s_alpha sum_t s_t (gamma_alpha - gamma_t) m_t / n, or more, with margins m_t >= 1; that
is bounded below on every ball. `amended-2`: some start always does, r p(alpha). `sharp`: from
a risk gap below the threshold ||p(k)|| / ln k -> ||p(alpha)||, because the direction converges, so
that the least margin is (1 + o(1)) ||p(k)|| / ||p(alpha)|| and the gradient exp(-that). Such a
start is needed: keys 1, 0, -2 of scores 1, -5, 0 have p(alpha) = 1 too, and from zero the rate 1/2,
that of the worse key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.errors import present
from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.traps import is_stationary_start
from attsvm.losses import LOSSES
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import norm_diverges, norm_grows_like_log
from properties._support.growth_rates import rate_error
from properties.mm import SOURCE
from properties.mm._support.prompt_descent import (
    Prompting,
    never_moves,
    p_exists,
    prompt,
    properly_started,
    separated,
    starts_in_basin,
    unique,
)
from properties.mm._support.prompt_instances import (
    ASIDE,
    OPPOSED,
    PULLED,
    STUCK,
    TIED,
    TRAPPED,
    TWO_KEYS,
    UNEVEN,
    comparable,
    gaussian,
    on_axes,
    unevenly,
)

PLACE: dict[str, Any] = {
    "source": SOURCE,
    "place": "Theorem I, convergence of GD, first item",
    "cost": 10,
    "same_slack": False,
}
EXISTS = {"p(alpha) exists, alpha optimal": p_exists}
ONE_ALPHA = {**EXISTS, "optimal tokens are unique": unique}
BASIN = "risk gap of the start below the threshold"
SEPARATED = "equal scores of rivals, or all keys on the margin"


def diverges(case: Prompting, bounded: bool) -> Slack:
    """The norm grows without bound, or, turned round, it does not."""
    slack = norm_diverges(case.data, case.run.start, LOSSES[case.loss])
    return Slack(-slack.value, slack.error) if bounded else slack


def certify(case: Prompting, bounded: bool = False) -> arb | None:
    """-1 where the start is exactly stationary; for bounded norms, where the proof applies."""
    if bounded:
        applies = separated(case) and unique(case) and p_exists(case)
        return arb(-1) if applies else None
    stays = is_stationary_start(ExactData.of(case.data), rationals(case.run.start))
    return arb(-1) if stays else None


def from_proper(case: Prompting, bounded: bool) -> Slack:
    """The same from the proper start; without one it fails where nothing moves."""
    proper = properly_started(case)
    if proper is not None:
        return diverges(proper, bounded)
    return Slack(-1.0, 0.0) if never_moves(case) else Slack.unknown("optimal tokens are tied")


def certify_proper(case: Prompting, bounded: bool = False) -> arb | None:
    """-1 where no start moves; for bounded norms, where the start is proved to be proper."""
    proper = properly_started(case)
    if proper is None:
        return arb(-1) if never_moves(case) else None
    return (arb(-1) if bounded else arb(1)) if starts_in_basin(proper) else None


@claim(
    "mm/theorem-1-norm:literal-1",
    **PLACE,
    statement="p(alpha) of the unique optimal tokens exists: descent on a decreasing loss from "
    "any p(0) with step at most 1/L has ||p(k)|| -> infinity",
    data=comparable(0, 2),
    hypotheses=ONE_ALPHA,
    examples=[STUCK],
    certify=certify,
    expected="refuted",
    siblings={
        "the norm stays bounded": sibling(bounded=True),
        "p(alpha) need not exist": sibling(
            drop=["p(alpha) exists, alpha optimal"], examples=[OPPOSED]
        ),
        "tied optimal tokens": sibling(drop=["optimal tokens are unique"], examples=[TIED]),
    },
)
def literal_1(case: Prompting, bounded: bool = False) -> Slack:
    """From every start."""
    return diverges(case, bounded)


@claim(
    "mm/theorem-1-norm:literal-2",
    **PLACE,
    statement="p(alpha) of optimal tokens exists: there are p(0) and eta with which descent on a "
    "decreasing loss has ||p(k)|| -> infinity",
    data=comparable(0),
    hypotheses=EXISTS,
    examples=[TIED],
    certify=certify_proper,
    expected="refuted",
    siblings={
        "the norm stays bounded": sibling(bounded=True),
        "p(alpha) need not exist": sibling(
            drop=["p(alpha) exists, alpha optimal"], data=comparable(0)
        ),
    },
)
def literal_2(case: Prompting, bounded: bool = False) -> Slack:
    """From some start: along p(alpha), and far enough."""
    return from_proper(case, bounded)


@claim(
    "mm/theorem-1-norm:amended-1",
    **PLACE,
    statement="p(alpha) of the unique optimal tokens exists, and the rivals of each score the "
    "same or all keys are on its margin: descent on a decreasing loss from any p(0) with any step "
    "has ||p(k)|| -> infinity",
    data=comparable(0, 2),
    ensemble=on_axes,
    hypotheses={**ONE_ALPHA, SEPARATED: separated},
    examples=[PULLED, TWO_KEYS],
    certify=certify,
    expected="holds",
    siblings={
        "rivals of any score and margin": sibling(drop=[SEPARATED], examples=[STUCK]),
        "tied optimal tokens": sibling(drop=["optimal tokens are unique"], examples=[TIED]),
        "p(alpha) need not exist": sibling(
            drop=["p(alpha) exists, alpha optimal"], examples=[OPPOSED]
        ),
        "the norm stays bounded": sibling(bounded=True),
    },
)
def amended_1(case: Prompting, bounded: bool = False) -> Slack:
    """Where pulls and margins have one order."""
    return diverges(case, bounded)


@claim(
    "mm/theorem-1-norm:amended-2",
    **PLACE,
    statement="p(alpha) of the unique optimal tokens exists: from p(0) = r p(alpha), r = R + 1 as "
    "in theorem-1-direction:amended-3, descent on a decreasing loss with step at most 1/L has "
    "||p(k)|| -> infinity",
    data=comparable(0) | unevenly(),
    ensemble=gaussian,
    hypotheses=ONE_ALPHA,
    examples=[TRAPPED, STUCK, PULLED, TWO_KEYS],
    certify=certify_proper,
    expected="holds",
    siblings={
        "tied optimal tokens": sibling(drop=["optimal tokens are unique"], examples=[TIED]),
        "the norm stays bounded": sibling(bounded=True),
    },
)
def amended_2(case: Prompting, bounded: bool = False) -> Slack:
    """From a start that is proper."""
    return from_proper(case, bounded)


def certify_rate(case: Prompting, share: float = 1.0) -> arb | None:
    """How far share ||p(alpha)|| is from the rate that is proved, over ||p(alpha)||, negated."""
    p = prompt(case)
    if p is None:
        return None
    return rate_error(case.data, case.run.start, case.loss, dot(p, p), share)


@claim(
    "mm/theorem-1-norm:sharp",
    **{**PLACE, "cost": 15},
    statement="p(alpha) of the unique optimal tokens exists, risk gap of p(0) below "
    "min_i [l(second) - l(best)]/n, step at most 1/L: ||p(k)|| / ln k -> ||p(alpha)||",
    data=comparable(0, 1),
    ensemble=lambda generator: (on_axes if generator.random() < 0.5 else gaussian)(generator),
    hypotheses={**ONE_ALPHA, BASIN: starts_in_basin},
    examples=[UNEVEN, TWO_KEYS],
    certify=certify_rate,
    expected="holds",
    siblings={
        "any start": sibling(
            drop=[BASIN], data=comparable(0) | unevenly(), examples=[TRAPPED, STUCK]
        ),
        "tied optimal tokens": sibling(drop=["optimal tokens are unique"], examples=[ASIDE]),
        "95% of the rate": sibling(share=0.95),
        "105% of the rate": sibling(share=1.05),
        "half of the rate": sibling(share=0.5),
    },
)
def sharp(case: Prompting, share: float = 1.0) -> Slack:
    """With the rate at which it diverges."""
    p = present(prompt(case), "the direction p(alpha)")
    rate = float(np.linalg.norm([float(arb(x)) for x in p]))
    return norm_grows_like_log(case.data, case.run.start, LOSSES[case.loss], share * rate)
