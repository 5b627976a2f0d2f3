"""The decreasing loss changes the path of descent on p, not the max-margin direction it reaches.

Observed in the talk for -x, exp(-x) and log(1 + exp(-x)). `literal-1` takes it for any two of
them, from any p(0), and falls from zero with two inputs: tokens (1, 0), 0 and (-2, 1), 0, labels
1, head (4, 9), so scores 4, 0 and 1, 0. exp(-x) and log(1 + exp(-x)) slow the first input down,
whose score is high, and reach p(alpha) = (1, 3), from a start that cannot lose the optimal tokens;
-x does not, and drags the second input to its worse token for ever. `literal-2`, that paths differ,
falls with every single input: then grad L = |l'(u)| grad L_0, L_0 being the risk of -x and u the
attended score, so that the flows of all losses have one path (`amended-2`) at different speeds.
`amended-1`: the direction is p(alpha) for both where the risk gap of p(0) is below
min_i [l(second) - l(best)]/n for both (`attsvm.exact.descent.certified_fate`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.descent import follow_w
from attsvm.exact import ExactData, dot, rational, rationals, separate
from attsvm.losses import LOSSES, Loss
from attsvm.risk import gradient_p
from attsvm.theory import Slack, claim, sibling
from attsvm.theory.limits import direction_converges
from properties._support.descent_runs import max_margin
from properties.mm import SOURCE
from properties.mm._support import torch_objectives as relaxed
from properties.mm._support.adversarial_prompt_starts import apart
from properties.mm._support.prompt_descent import (
    Prompting,
    certify_limit,
    largest,
    p_exists,
    prompt_gradient,
    prompting,
    single_input,
    starts_in_basin,
    unique,
)
from properties.mm._support.prompt_instances import (
    PULLED,
    TRAPPED,
    TWO_KEYS,
    UNEVEN,
    comparable,
    compared,
    gaussian,
    on_axes,
)

PLACE: dict[str, Any] = {"source": SOURCE, "place": "Convergence of GD on p, figures"}
EPS = float(np.finfo(np.float64).eps)
FAR = 64.0

DIVIDED = prompting(
    [[[1.0, 0.0], [0.0, 0.0]], [[-2.0, 1.0], [0.0, 0.0]]], [[4.0, 0.0], [1.0, 0.0]],
    loss="exponential",
)  # fmt: skip


def one_limit(case: Prompting, other: str, towards: str) -> Slack:
    """Both runs converge in direction to p(alpha), alpha being what the case's loss selects.

    Or both to another target that is named.
    """
    start = case.run.start
    if towards == "selected":
        low = FAR * (1.0 + float(np.linalg.norm(start)))
        far = follow_w(case.data, start, LOSSES[case.loss], [low]).W[0, -1]
        chosen = [int(t) for t in (case.keys @ far[:, 0]).argmax(axis=1)]
        found = separate(ExactData.of(case.data), chosen)
        exact = None if found is None or found.status != "solved" else found.W
    else:
        exact = max_margin(case.data, towards)
    if exact is None:
        return Slack.unknown("no max-margin direction selects what the run selects")
    target = np.array([[float(arb(x)) for x in row] for row in exact])
    slacks = [
        direction_converges(case.data, start, LOSSES[loss], target) for loss in (case.loss, other)
    ]
    return min(slacks, key=lambda slack: (slack.kind != "unknown", slack.value))


def certify_one_limit(
    case: Prompting, other: str = "correlation", towards: str = "selected"
) -> arb | None:
    """1 where both are proved to reach p(alpha), -1 where one of them does and one does not.

    For another target, -1 where one of them is proved to go elsewhere.
    """
    target = "optimal" if towards == "selected" else towards
    balls = [certify_limit(replace(case, loss=loss), target) for loss in (case.loss, other)]
    if target != "optimal":
        return arb(-1) if any(ball is not None and ball < 0 for ball in balls) else None
    reached = [bool(ball > 0) for ball in balls if ball is not None]
    if len(reached) < 2 or not any(reached):
        return None
    return arb(1) if all(reached) else arb(-1)


ONE_ALPHA = {"p(alpha) exists, alpha optimal": p_exists, "optimal tokens are unique": unique}
BASINS = {
    "risk gap of the start below the threshold": starts_in_basin,
    "and that of -x as well": lambda case: starts_in_basin(replace(case, loss="correlation")),
}


@claim(
    "mm/loss-choice:literal-1",
    **PLACE,
    cost=15,
    same_slack=False,
    statement="p(alpha) of the unique optimal tokens exists: from any p(0) descent on l and on -x, "
    "steps at most 1/L, converge in one direction, l being exp(-x) or log(1 + exp(-x))",
    data=comparable(0, 2),
    hypotheses=ONE_ALPHA,
    examples=[DIVIDED],
    relaxed=relaxed.parted,
    certify=certify_one_limit,
    expected="refuted",
    siblings={
        "an increasing loss": sibling(other="logistic", examples=[TWO_KEYS]),
        "the direction of the worst tokens": sibling(towards="worst"),
        "the opposite direction": sibling(towards="opposite"),
    },
)
def literal_1(case: Prompting, other: str = "correlation", towards: str = "selected") -> Slack:
    """From every start."""
    return one_limit(case, other, towards)


@claim(
    "mm/loss-choice:amended-1",
    **PLACE,
    cost=15,
    same_slack=False,
    statement="p(alpha) of the unique optimal tokens exists, risk gap of p(0) below "
    "min_i [l(second) - l(best)]/n for l and for -x: descent on l and on -x, steps at most 1/L, "
    "converge in the direction of p(alpha)",
    data=st.one_of(comparable(0, 1), apart()),
    ensemble=lambda generator: (on_axes if generator.random() < 0.5 else gaussian)(generator),
    hypotheses={**ONE_ALPHA, **BASINS},
    examples=[UNEVEN, TWO_KEYS],
    relaxed=relaxed.parted,
    certify=certify_one_limit,
    expected="holds",
    siblings={
        "an increasing loss": sibling(other="logistic"),
        "in the basin of l alone": sibling(drop=["and that of -x as well"], examples=[DIVIDED]),
        "the direction of the worst tokens": sibling(towards="worst"),
        "the opposite direction": sibling(towards="opposite"),
    },
)
def amended_1(case: Prompting, other: str = "correlation", towards: str = "selected") -> Slack:
    """From where no optimal token can be lost."""
    return one_limit(case, other, towards)


def pulls(case: Prompting, loss: Loss) -> tuple[Array, float]:
    """The gradient in p at the start, and a bound on its rounding.

    Logits are off by (d + 2) EPS reach ||p||, weights by twice that and T EPS, attended scores by
    these times the range of the scores, and l' by a factor of 1 plus as much.
    """
    g = gradient_p(case.data, case.start, loss)
    n, T, d = case.keys.shape
    reach, wide = float(np.linalg.norm(case.keys, axis=2).max()), float(np.ptp(case.scores))
    top = float(np.abs(case.scores).max())
    logit = (d + 2) * reach * float(np.linalg.norm(case.start))
    relative = (4.0 + wide) * (2.0 * logit + T + 4.0) + (T + 2) * (top + 1.0) + n + 8.0
    steep = float(np.abs(loss.slope(np.array([case.scores.min(), case.scores.max()]))).max())
    return g, 2.0 * EPS * relative * steep * (wide + EPS * top) * reach * T


def one_direction(case: Prompting, other: str, factor: float | None) -> tuple[float, float]:
    """What the gradient of the loss leaves of the other's, at the start, and its rounding."""
    (a, error_a), (b, error_b) = (pulls(case, LOSSES[name]) for name in (case.loss, other))
    best = 1.0 if factor is None else factor
    if factor is None and b.any():
        size = float(np.abs(b).max())  # else squares underflow
        best = max(float(a @ (b / size)) / float((b / size) @ (b / size)), 0.0) / size
    return float(np.abs(a - best * b).max()), error_a + best * error_b


def exact_direction(case: Prompting, other: str, factor: float | None) -> arb:
    """The same residual in balls."""
    data, start = ExactData.of(case.data), rationals(case.start)
    a, b = (prompt_gradient(data, start, name) for name in (case.loss, other))
    best = arb(1) if factor is None else arb(rational(factor))
    if factor is None and not all(x.is_zero() for x in b):
        best = (dot(a, b) / dot(b, b)).max(arb(0))
    return largest([x - best * y for x, y in zip(a, b, strict=True)])


def certify_apart(case: Prompting, least: float = 0.0) -> arb | None:
    """What is left, less the least; exactly 0 with one input, where one gradient fits all."""
    left = arb(0) if single_input(case) else exact_direction(case, "correlation", None)
    return left - arb(rational(least))


@claim(
    "mm/loss-choice:literal-2",
    **PLACE,
    cost=3,
    statement="descent on exp(-x) or log(1 + exp(-x)) takes another path than descent on -x: their "
    "gradients differ in direction",
    data=comparable(0),
    hypotheses={"the loss is not -x": lambda case: case.loss != "correlation"},
    examples=[replace(UNEVEN, loss="log-loss")],
    certify=certify_apart,
    expected="refuted",
    siblings={
        "by a quarter at least": sibling(least=0.25),
        "by 1 at least": sibling(least=1.0),
    },
)
def literal_2(case: Prompting, least: float = 0.0) -> Slack:
    """At every start."""
    left, error = one_direction(case, "correlation", None)
    return Slack(left - least, error, "strict")


def certify_together(
    case: Prompting, other: str = "correlation", factor: float | None = None
) -> arb | None:
    """Minus what is left, in balls; None where floats could not tell it from 0."""
    left = exact_direction(case, other, factor)
    return None if 0 < left < one_direction(case, other, factor)[1] else -left


@claim(
    "mm/loss-choice:amended-2",
    **PLACE,
    cost=3,
    statement="a single input: at every p the gradient of every decreasing loss has the direction "
    "of that of -x, so that all curves of gradient flow are one",
    data=compared(),
    hypotheses={"there is a single input": single_input},
    examples=[UNEVEN, replace(TRAPPED, loss="log-loss"), TWO_KEYS],
    certify=certify_together,
    expected="holds",
    siblings={
        "several inputs": sibling(drop=["there is a single input"], examples=[PULLED]),
        "an increasing loss": sibling(other="logistic"),
        "even the speed is one": sibling(factor=1.0),
    },
)
def amended_2(case: Prompting, other: str = "correlation", factor: float | None = None) -> Slack:
    """With one input."""
    left, error = one_direction(case, other, factor)
    if not np.isfinite(left + error):
        return Slack.unknown("the gradient overflows")
    return Slack.equal(left, error)
