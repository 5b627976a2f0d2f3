"""Normalised descent on p follows the same direction as plain descent, faster.

p(k+1) = p(k) - s grad L / ||grad L||, beside plain steps of size 1/L; no size s is named.

`literal-1`, the same direction, falls from zero: tokens (-1, 3), 0 and (0, -1), 0 of scores 1, 0
and 3, 0, the loss -x. Plain descent reaches p(alpha) = (-4, -1); with s = 2 the first input is
thrown to its worse token, and kept there. `literal-2`, as far after every number of steps of one
size, falls where gradients are longer than 1: keys 3 and 0, scores 2 and 0, s = 1: plain descent
is at 3/2 after a step.

`amended-1`: with one input and equal scores of rivals every s leads to p(alpha), whatever the
oscillations, and 1 - cos falls like ln k / k; plain descent has 1 / (ln k)^2. For -grad L is
along g = sum_t q_t A_t, with A_t = k_alpha - k_t and the softmin q of their margins m. Write p*
for p(alpha), a = ||p*||, N = ||p(k)||, P = <p(k), p*>/a, B = max ||A_t||. As <A_t, p*> >= 1, P
grows by s / (||g|| a) at least, thus by s / (B a). As sum_t q_t m_t <= min m + ln J <= N/a + ln J
and ||g|| >= 1/a, N grows by s / (||g|| a) + (s a ln J + s^2/2) / N at most. From zero N - P is at
most s after a step, and N at least k s / (B a); the sum is the bound of the claim.

`sharp`: with several inputs, from any start and with any s, <p(k) - p(0), p*> >= k s / B still,
since the gradient is a nonnegative combination of all A_it: linear in k, where plain descent
grows like ln k; equality for one difference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb

from attsvm.errors import present
from attsvm.exact import ExactData, dot, norm, rational
from attsvm.losses import LOSSES
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import direction_converges
from properties.mm import SOURCE
from properties.mm._support.prompt_descent import (
    certify_limit,
    iterates,
    p_exists,
    prompt,
    rivals_alike,
    single_input,
    unique,
)
from properties.mm._support.prompt_instances import (
    PULLED,
    TRAPPED,
    TWO_KEYS,
    UNEVEN,
)
from properties.mm.normalised_descent.paced_runs import (
    AHEAD,
    OVERSTEPPED,
    Paced,
    bound,
    kept,
    levelled,
    longest,
    one_difference,
    paced,
    path,
    unit,
)

PLACE: dict[str, Any] = {
    "source": SOURCE,
    "place": "Convergence of GD on p, normalised descent",
    "cost": 4,
    "same_slack": False,
}
ONE_ALPHA = {
    "p(alpha) exists, alpha optimal": lambda run: p_exists(run.case),
    "optimal tokens are unique": lambda run: unique(run.case),
}
ALIKE = {"all rivals of an optimal token score the same": lambda run: rivals_alike(run.case)}
STEPS = 64
OPEN = arb("nan")
"""Where balls grew too wide: the next precision is tried."""
ROUNDING = 1e-9
"""Granted to a float path for a unit of length; exact paths are judged in balls."""


def certify_same(run: Paced, towards: str = "optimal") -> arb | None:
    """-1 where plain descent is proved to reach p(alpha) and normalised descent not to.

    For another target, -1 where plain descent is proved to go elsewhere.
    """
    plain = certify_limit(run.case, towards)
    if plain is None:
        return OPEN
    if towards != "optimal":
        return plain
    chosen = kept(run, 64) if plain > 0 else None
    best = ExactData.of(run.case.data).optimal
    if chosen is None:
        return OPEN if plain > 0 else None
    return arb(-1) if any(t not in ts for t, ts in zip(chosen, best, strict=True)) else None


@claim(
    "mm/normalised-descent:literal-1",
    **PLACE,
    statement="p(alpha) of the unique optimal tokens exists: from any p(0) and for any s plain "
    "descent with step 1/L and normalised descent with step s converge in direction to p(alpha), "
    "if one of them does",
    data=paced(),
    hypotheses=ONE_ALPHA,
    examples=[OVERSTEPPED],
    certify=certify_same,
    expected="refuted",
    siblings={
        "both to the worst tokens": sibling(towards="worst"),
        "both to the opposite direction": sibling(towards="opposite"),
    },
)
def literal_1(run: Paced, towards: str = "optimal") -> Slack:
    """With any step: the residual of the normalised path must not grow with its length."""
    u = unit(run.case, towards)
    if u is None:
        return Slack.unknown("there is no such target")
    target = np.zeros((len(u), len(u)))
    target[:, 0] = u
    plain = direction_converges(run.case.data, run.case.run.start, LOSSES[run.case.loss], target)
    if towards == "optimal" and not plain.holds:
        return Slack.unknown("plain descent goes elsewhere")
    early, late = path(run, STEPS)[[STEPS // 4, STEPS]]
    grown = float(np.linalg.norm(late - (late @ u) * u) - np.linalg.norm(early - (early @ u) * u))
    along = float((late - early) @ u)
    normalised = Slack(0.5 - float(np.arctan2(grown, along)), 0.1)
    return min(plain, normalised, key=lambda slack: slack.value)


def certify_ahead(run: Paced, share: float = 1.0) -> arb | None:
    """The least lead of normalised steps over four steps, in balls."""
    paths = [iterates(run.case, run.step, 4, normalised=flag) for flag in (True, False)]
    if paths[0] is None or paths[1] is None:
        return OPEN
    leads = [
        norm(left) - arb(rational(share)) * norm(right)
        for left, right in zip(paths[0][1:], paths[1][1:], strict=True)
    ]
    least = leads[0]
    for lead in leads:
        least = least.min(lead)
    return least


@claim(
    "mm/normalised-descent:literal-2",
    **PLACE,
    statement="from zero and with steps of one size s normalised descent is at least as far from "
    "zero as plain descent, after 1, 2, 3 and 4 steps",
    data=paced(zero=True),
    hypotheses={**ONE_ALPHA, "p(0) = 0": lambda run: not run.case.start.any()},
    examples=[AHEAD],
    certify=certify_ahead,
    expected="refuted",
    siblings={"twice as far": sibling(share=2.0), "1.05 times as far": sibling(share=1.05)},
)
def literal_2(run: Paced, share: float = 1.0) -> Slack:
    """As a race."""
    left, right = (
        np.linalg.norm(path(run, 4, normalised=flag)[1:], axis=1) for flag in (True, False)
    )
    error = ROUNDING * float(left.max() + right.max())
    return Slack(float((left - share * right).min()), error)


def certify_close(run: Paced, towards: str = "optimal") -> arb | None:
    """The least of bound minus N - P over the steps, in balls."""
    p = prompt(run.case, towards)
    if p is None or all(x == 0 for x in p):
        return None
    found = iterates(run.case, run.step, STEPS, normalised=True)
    if found is None:
        return OPEN
    size, s, slope = norm(p), arb(rational(run.step)), bound(run)
    least = arb("inf")
    for k, q in enumerate(found[1:], start=1):
        least = least.min(s + slope * (1 + arb(k).log()) - norm(q) + dot(q, p) / size)
    return least


@claim(
    "mm/normalised-descent:amended-1",
    **{**PLACE, "cost": 8},
    statement="a single input whose J rivals score the same, p* = p(alpha) exists, p(0) = 0: "
    "normalised descent has ||p(k)|| - <p(k), p*>/||p*|| <= "
    "s + B ||p*|| (||p*|| ln J + s/2) (1 + ln k) for every s and k, B = max ||k_alpha - k_t||",
    data=paced(zero=True),
    ensemble=lambda generator: levelled(generator, most=1),
    hypotheses={
        **ONE_ALPHA,
        **ALIKE,
        "there is a single input": lambda run: single_input(run.case),
        "p(0) = 0": lambda run: not run.case.start.any(),
    },
    examples=[
        Paced(TWO_KEYS, 1.0),
        *(Paced(replace(UNEVEN, start=np.zeros(2)), s) for s in (1.0, 8.0)),
    ],
    certify=certify_close,
    expected="holds",
    siblings={
        "the worst tokens' direction": sibling(towards="worst"),
        "the opposite direction": sibling(towards="opposite"),
        "the mean of the constraints": sibling(towards="mean"),
        "several inputs": sibling(drop=["there is a single input"], examples=[Paced(PULLED, 4.0)]),
        "rivals of any score": sibling(drop=[*ALIKE], examples=[Paced(TRAPPED, 1.0)]),
    },
)
def amended_1(run: Paced, towards: str = "optimal") -> Slack:
    """With one input, for every step, with a rate."""
    u = unit(run.case, towards)
    if u is None:
        return Slack.unknown("there is no such target")
    found = path(run, STEPS)[1:]
    left = np.linalg.norm(found, axis=1) - found @ u
    right = run.step + float(bound(run)) * (1.0 + np.log(np.arange(1, STEPS + 1)))
    k = int(np.argmax(left - right))
    return Slack.at_most(float(left[k]), float(right[k]), ROUNDING * float(right[k]))


def certify_progress(run: Paced, share: float = 1.0, normalised: bool = True) -> arb | None:
    """The progress after 16 steps, less the share of the bound; exact for one difference."""
    p = prompt(run.case)
    least = arb(rational(share)) * 16 * arb(rational(run.step)) / longest(run.case)
    if p is not None and normalised and share == 1.0 and one_difference(run.case):
        return arb(0)
    found = iterates(run.case, run.step, 16, normalised=normalised)
    if p is None or found is None:
        return None if p is None else OPEN
    return arb(dot(found[-1], p) - dot(found[0], p) - least) / norm(p)


@claim(
    "mm/normalised-descent:sharp",
    **PLACE,
    statement="rivals of an optimal token score the same, p* = p(alpha) exists: from any p(0) and "
    "for any s normalised descent has <p(k) - p(0), p*> >= k s / max ||k_alpha - k_t||, so that "
    "its norm grows linearly in k",
    data=paced(),
    ensemble=levelled,
    hypotheses={**ONE_ALPHA, **ALIKE},
    examples=[Paced(TWO_KEYS, 1.0), OVERSTEPPED],
    certify=certify_progress,
    expected="holds",
    siblings={
        "1.05 times as much": sibling(share=1.05),
        "plain descent with that step": sibling(normalised=False),
        "rivals of any score": sibling(drop=[*ALIKE], examples=[Paced(TRAPPED, 1.0)]),
    },
)
def sharp(run: Paced, share: float = 1.0, normalised: bool = True) -> Slack:
    """With the best rate."""
    p = present(prompt(run.case), "the direction p(alpha)")
    vector = np.array([float(arb(x)) for x in p])
    size = float(np.linalg.norm(vector))
    found = path(run, 16, normalised=normalised)
    made = float((found[-1] - found[0]) @ vector) / size
    least = share * 16 * run.step / (float(longest(run.case)) * size)
    far = float(np.abs(found).max())
    return Slack.at_most(least, made, ROUNDING * (least + far))
