"""Planted mistakes in mm's results on descent on a prompt and on normalised descent."""

from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import dot, rational, rationals
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.descent_runs import or_more_bits
from attsvm.primitives.hypotheses import BASIN, ONE_INPUT, ZERO_START, lower_scores_equal
from attsvm.primitives.limit_certificates import certified_direction
from attsvm.theory import Measured, Slack
from benchmarks.power.planting import floats, in_balls, plant
from benchmarks.power.targets import below_whole_threshold, one_short
from properties.mm import loss_choice, normalised_descent, theorem_1_direction, theorem_1_norm
from properties.mm import w_p_equivalence as equivalence
from properties.mm._support.prompt_descent import prompt
from properties.mm._support.prompt_instances import compared
from properties.mm._support.prompt_limits import RATE as GROWS_LIKE
from properties.mm.normalised_descent.paced_runs import paced
from properties.mm.w_p_equivalence import models
from properties.mm.w_p_equivalence.conclusion import one_trajectory
from properties.mm.w_p_equivalence.models import Weighted

RATE = theorem_1_norm.THEOREM.claim("sharp")


def _rate_is(case: Descent, square: fmpq) -> arb | None:
    """Return minus the relative distance of sqrt(square) from the rate ||p(alpha)||, if proved."""
    p, ball = prompt(case), GROWS_LIKE.balls(case)
    if p is None or ball is None or not ball >= 0:  # the rate ||p(alpha)|| is not proved
        return None
    true = dot(p, p)
    return arb(0) if square == true else -abs(arb(square / true).sqrt() - 1)


def _inverse_rate(case: Descent) -> arb | None:
    p = prompt(case)
    return None if p is None else _rate_is(case, 1 / dot(p, p))


rate_role = plant(
    RATE,
    "role margin-for-norm",
    statement="from a start in the basin ||p(k)|| / ln k -> 1/||p(alpha)||",
    why="1/||p(alpha)|| is the margin of a unit prompt; p grows by ||p(alpha)|| for a margin of 1",
    conclusion=in_balls(_inverse_rate, "inequality"),
)


def _short_rate(case: Descent) -> arb | None:
    """Return the slack of the rate ||p(alpha)|| for the data without each input's last token."""
    target = one_short(case.data)
    if target is None:
        return arb(1)
    entries = [x for row in target for x in row]
    return _rate_is(case, dot(entries, entries))


rate_index = plant(
    RATE,
    "index last-key",
    statement="from a start in the basin ||p(k)|| / ln k tends to the norm of the p(alpha) of all "
    "keys but the last",
    why="the last key may hold p(alpha)",
    conclusion=in_balls(_short_rate, "inequality"),
)

FROM_BASIN = theorem_1_direction.THEOREM.claim("amended-1")
SINGLE = theorem_1_direction.THEOREM.claim("amended-2")


def _below(case: Descent, factor: fmpq) -> bool:
    """Return whether the risk gap is below a factor of min_i [l(second) - l(best)]/n."""
    share = factor / len(case.inputs.X)
    return below_whole_threshold(case.data, case.W, case.loss, share)


basin_constant = plant(
    FROM_BASIN,
    "constant two-percent",
    statement="descent converges in direction to p(alpha) from every p(0) whose risk gap is below "
    "1.02 min_i [l(second) - l(best)]/n",
    why="keys 1, 0, -2 with scores 1, -5, 0 flee from p(0) = -3, 1.2% above the threshold",
    drop=[BASIN],
    hypotheses={"risk gap below 102% of that": lambda case: _below(case, fmpq(51, 50))},
)
basin_hypothesis = plant(
    FROM_BASIN,
    "hypothesis one-nth",
    statement="descent converges in direction to p(alpha) from every p(0) whose risk gap is below "
    "min_i [l(second) - l(best)]",
    why="the factor 1/n is missing: one input of two at its second-best key stays below",
    drop=[BASIN],
    hypotheses={
        "risk gap below min_i [l(second) - l(best)]": lambda case: _below(
            case, fmpq(len(case.inputs.X))
        )
    },
)


def _short_prompt(case: Descent) -> Slack:
    """Return the slack of "the direction converges to that of p(alpha) without the last key"."""
    target = one_short(case.data)
    if target is None:
        return Slack(1.0, 0.0)
    return direction_converges(case.data, case.W, LOSSES[case.loss], floats(target))


def _short_prompt_ball(case: Descent) -> arb | None:
    target = one_short(case.data)
    if target is None:
        return arb(1)
    start = rationals(case.W)
    return or_more_bits(certified_direction(case.data, start, case.loss, target, case.step))


single_index = plant(
    SINGLE,
    "index last-key",
    statement="a single input whose rivals score the same: descent on a decreasing loss converges "
    "in direction to the p(alpha) of all keys but the last",
    why="the last key may hold p(alpha)",
    conclusion=Measured(
        "p(k) converges in direction to the p(alpha) of all keys but the last",
        floats=_short_prompt,
        balls=_short_prompt_ball,
    ),
)

FREE = equivalence.EQUIVALENCE.claim("amended-1")
FIXED = equivalence.EQUIVALENCE.claim("amended-2")


def _by_sum(m: Any, case: Weighted) -> Any:
    """Return the equation of the two trajectories with the step rescaled by ||p||_1^2."""
    return one_trajectory(m, case, "q", m.square(m.sum(m.abs(m.values(case.p)))))


step_norm = plant(
    FREE,
    "norm sum-of-sizes",
    statement="W_k descends with p fixed and step eta, q_k on keys X from W_0 p with step "
    "eta ||p||_1^2: W_k p = q_k for every k",
    why="the factor is ||p||_2^2; the norms differ where p has two entries",
    conclusion=_by_sum,
)


def _one_ahead(m: Any, case: Weighted) -> Any:
    """Return the equation W_(k+1) p = q_k."""
    p = m.values(case.p)
    return one_trajectory(m, case, "q", p @ p, ahead=1)


step_index = plant(
    FREE,
    "index one-ahead",
    statement="W_k descends with p fixed and step eta, q_k on keys X from W_0 p with step "
    "eta ||p||^2: W_(k+1) p = q_k for every k",
    why="a step with a gradient that is not 0 moves W p",
    conclusion=_one_ahead,
)


def _rows_alike(case: Weighted) -> bool:
    """Return whether all rows of W have one length, not 0."""
    squares = {dot(row, row) for row in rationals(case.W)}
    return len(squares) == 1 and 0 not in squares


def _by_first_row(m: Any, case: Weighted) -> Any:
    """Return the equation W_k p_0 = W_0 p_k, with the first row's norm in the step on p."""
    p, row = m.values(case.p), m.values(case.W)[0]
    return one_trajectory(m, case, "p", (p @ p) / (row @ row))


def _signed(case: Weighted) -> Weighted:
    return replace(case, W=np.where(case.W < 0, -1.0, 1.0))


step_hypothesis = plant(
    FIXED,
    "hypothesis orthogonal-rows",
    statement="p not 0, all rows of W_0 of squared length c: W_k p_0 = W_0 p_k for every k, with "
    "step eta on W and eta ||p_0||^2 / c on p",
    why="W W^T = c I asks for orthogonal rows as well",
    drop=[equivalence.ISOTROPIC],
    data=models.weighted().map(_signed),
    hypotheses={"all rows of W have one length": _rows_alike},
    conclusion=_by_first_row,
)

LINEAR = normalised_descent.DESCENT.claim("sharp")
CLOSE = normalised_descent.DESCENT.claim("amended-1")
pace_constant = plant(
    LINEAR,
    "constant two-percent",
    statement="normalised descent has <p(k) - p(0), p*> >= 1.02 k s / max ||k_alpha - k_t||",
    why="equal for one difference of keys",
    share="1.02",
)
pace_index = plant(
    LINEAR,
    "index one-step-more",
    statement="normalised descent has <p(k) - p(0), p*> >= (k + 1) s / max ||k_alpha - k_t||",
    why="k steps are taken, and each may add no more than s / max ||k_alpha - k_t||",
    more=1,
)
close_hypothesis = plant(
    CLOSE,
    "hypothesis from-zero",
    statement="a single input whose J rivals score the same: from any p(0) normalised descent has "
    "||p(k)|| - <p(k), p*>/||p*|| <= s + B ||p*|| (||p*|| ln J + s/2) (1 + ln k)",
    why="a start far aside keeps its part across p*",
    drop=[ZERO_START],
    data=paced(),
    ensemble=None,
)

BOTH = loss_choice.CHOICE.claim("amended-1")
ONE_WAY = loss_choice.CHOICE.claim("amended-2")
other_basin = plant(
    BOTH,
    "hypothesis one-basin",
    statement="risk gap of p(0) below min_i [l(second) - l(best)]/n for the loss -x: descent on l "
    "and on -x converge in the direction of p(alpha)",
    why="exp(-x) is flat at high scores: in the basin of -x such an input loses its token",
    drop=[loss_choice.IN_BOTH],
    hypotheses={
        "risk gap of the start on -x below its threshold": lambda case: BASIN.holds(
            replace(case, loss="correlation")
        )
    },
)


def _same_best(case: Descent) -> bool:
    """Return whether all inputs have one best score."""
    return len({rational(x) for x in case.inputs.scores.max(axis=1).tolist()}) == 1


def _level(case: Descent) -> Descent:
    keys, scores = case.inputs.X, case.inputs.scores
    return replace(case, inputs=Keys(keys, scores - scores.max(axis=1, keepdims=True)))


level_hypothesis = plant(
    ONE_WAY,
    "hypothesis single-input",
    statement="rivals of one score, all best scores equal: at every p the gradient of every "
    "decreasing loss has the direction of that of -x",
    why="the attended scores of the inputs differ, and with them the slopes of the loss",
    drop=[ONE_INPUT],
    data=compared().map(_level),
    hypotheses={
        "all rivals of an optimal token score the same": lower_scores_equal,
        "all best scores are equal": _same_best,
    },
)
