"""Mistakes in what mm says of descent on a prompt and of its normalisation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.exact import norm, rational, rationals
from attsvm.exact.numbers import Matrix, subtract
from attsvm.losses import LOSSES
from attsvm.theory import Slack
from attsvm.theory.limits import direction_converges, norm_grows_like_log
from benchmarks.power.planting import floats, plant
from benchmarks.power.targets import below_whole_threshold, one_short
from properties._support.descent_runs import or_more_bits
from properties._support.limit_certificates import certified_direction
from properties.mm import loss_choice, normalised_descent
from properties.mm import theorem_1_direction as direction
from properties.mm import theorem_1_norm as growth
from properties.mm import w_p_equivalence as equivalence
from properties.mm._support.prompt_descent import Prompting, largest, prompt, rivals_alike
from properties.mm._support.prompt_instances import compared
from properties.mm.normalised_descent.paced_runs import paced
from properties.mm.w_p_equivalence import paired_runs as weighted
from properties.mm.w_p_equivalence.paired_runs import Weighted, balls, prompts_of

RATE = growth.sharp


def _inverse_rate(case: Prompting) -> Slack:
    """The rate 1/||p(alpha)||, which is the margin."""
    p = prompt(case)
    assert p is not None
    rate = 1.0 / float(np.linalg.norm([float(arb(x)) for x in p]))
    return norm_grows_like_log(case.data, case.run.start, LOSSES[case.loss], rate)


def _inverse_rate_ball(case: Prompting) -> arb | None:
    p, ball = prompt(case), growth.certify_rate(case)
    if p is None or ball is None or not ball >= 0:  # the rate ||p(alpha)|| is not proved
        return None
    square = sum((x * x for x in p), fmpq(0))
    return arb(1) if square == 1 else -abs(1 / arb(square) - 1)


rate_role = plant(
    RATE,
    "role",
    "margin-for-norm",
    statement="from a start in the basin ||p(k)|| / ln k -> 1/||p(alpha)||",
    why="1/||p(alpha)|| is the margin of a unit prompt; p grows by ||p(alpha)|| for a margin of 1",
    conclusion=_inverse_rate,
    certify=_inverse_rate_ball,
)


def _short_rate(case: Prompting) -> Slack:
    """The norm of the p(alpha) of all keys but the last."""
    target = one_short(case.data)
    if target is None:
        return Slack(1.0, 0.0)
    rate = float(np.linalg.norm(floats(target)))
    return norm_grows_like_log(case.data, case.run.start, LOSSES[case.loss], rate)


def _short_rate_ball(case: Prompting) -> arb | None:
    p, target, ball = prompt(case), one_short(case.data), growth.certify_rate(case)
    if target is None:
        return arb(1)
    if p is None or ball is None or not ball >= 0:  # the rate ||p(alpha)|| is not proved
        return None
    squares = [sum((x * x for x in v), fmpq(0)) for v in (p, [x for row in target for x in row])]
    return arb(1) if squares[0] == squares[1] else -abs(arb(squares[1] / squares[0]).sqrt() - 1)


rate_index = plant(
    RATE,
    "index",
    "last-key",
    statement="from a start in the basin ||p(k)|| / ln k tends to the norm of the p(alpha) of all "
    "keys but the last",
    why="the last key may hold p(alpha)",
    conclusion=_short_rate,
    certify=_short_rate_ball,
)

BASIN, SINGLE = direction.amended_1, direction.amended_2
LOST = ["below 105% of that", "risk gap of the start below min_i [l(second) - l(best)]/n"]


def _below(case: Prompting, factor: fmpq) -> bool:
    """The risk gap is below a factor of min_i [l(second) - l(best)]/n."""
    share = factor / len(case.keys)
    return below_whole_threshold(case.data, case.run.start, case.loss, share)


basin_constant = plant(
    BASIN,
    "constant",
    "two-percent",
    statement="descent converges in direction to p(alpha) from every p(0) whose risk gap is below "
    "1.02 min_i [l(second) - l(best)]/n",
    why="keys 1, 0, -2 with scores 1, -5, 0 flee from p(0) = -3, 1.2% above the threshold",
    drop=LOST,
    hypotheses={"risk gap below 102% of that": lambda case: _below(case, fmpq(51, 50))},
)
basin_hypothesis = plant(
    BASIN,
    "hypothesis",
    "one-nth",
    statement="descent converges in direction to p(alpha) from every p(0) whose risk gap is below "
    "min_i [l(second) - l(best)]",
    why="the factor 1/n is missing: one input of two at its second-best key stays below",
    drop=LOST,
    hypotheses={
        "risk gap below min_i [l(second) - l(best)]": lambda case: _below(
            case, fmpq(len(case.keys))
        )
    },
)


def _short_prompt(case: Prompting) -> Slack:
    """p(alpha) of all keys but the last."""
    target = one_short(case.data)
    if target is None:
        return Slack(1.0, 0.0)
    return direction_converges(case.data, case.run.start, LOSSES[case.loss], floats(target))


def _short_prompt_ball(case: Prompting) -> arb | None:
    target = one_short(case.data)
    if target is None:
        return arb(1)
    start = rationals(case.run.start)
    return or_more_bits(certified_direction(case.data, start, case.loss, target))


single_index = plant(
    SINGLE,
    "index",
    "last-key",
    statement="a single input whose rivals score the same: descent on a decreasing loss converges "
    "in direction to the p(alpha) of all keys but the last",
    why="the last key may hold p(alpha)",
    conclusion=_short_prompt,
    certify=_short_prompt_ball,
)

FREE, FIXED = equivalence.amended_1, equivalence.amended_2
STEPS = equivalence.STEPS


def _apart(left: Array, right: Array, error: float) -> Slack:
    return Slack.equal(float(np.abs(left - right).max()), error)


def _apart_ball(left: Matrix, right: Matrix, slack: Slack) -> arb | None:
    flat = [x for a, b in zip(left, right, strict=True) for x in subtract(a, b)]
    apart = largest(flat)
    # they may differ by less than floats can see
    return None if 0 < apart < slack.error else -apart


def _by_sum(case: Weighted) -> Slack:
    """The step rescaled by ||p||_1^2."""
    left, right, error = prompts_of(case, STEPS, float(np.abs(case.p).sum()) ** 2, False)
    return _apart(left, right, error)


def _by_sum_ball(case: Weighted) -> arb | None:
    total = sum((abs(x) for x in rationals(case.p)), fmpq(0))
    found = balls(case, STEPS, arb(total * total), False)
    return None if found is None else _apart_ball(*found, _by_sum(case))


step_norm = plant(
    FREE,
    "norm",
    "sum-of-sizes",
    statement="W_k descends with p fixed and step eta, q_k on keys X from W_0 p with step "
    "eta ||p||_1^2: W_k p = q_k for every k",
    why="the factor is ||p||_2^2; the norms differ where p has two entries",
    conclusion=_by_sum,
    certify=_by_sum_ball,
)


def _one_ahead(case: Weighted) -> Slack:
    """W_(k+1) p against q_k."""
    left, right, error = prompts_of(case, STEPS, float(case.p @ case.p), False)
    return _apart(left[1:], right[:-1], error)


def _one_ahead_ball(case: Weighted) -> arb | None:
    p = rationals(case.p)
    found = balls(case, STEPS, arb(sum((x * x for x in p), fmpq(0))), False)
    if found is None:
        return None
    return _apart_ball(found[0][1:], found[1][:-1], _one_ahead(case))


step_index = plant(
    FREE,
    "index",
    "one-ahead",
    statement="W_k descends with p fixed and step eta, q_k on keys X from W_0 p with step "
    "eta ||p||^2: W_(k+1) p = q_k for every k",
    why="a step with a gradient that is not 0 moves W p",
    conclusion=_one_ahead,
    certify=_one_ahead_ball,
)


def _first_row(case: Weighted) -> fmpq:
    return sum((x * x for x in rationals(case.W)[0]), fmpq(0))


def _rows_alike(case: Weighted) -> bool:
    """All rows of W have one length, not 0."""
    squares = {sum((x * x for x in row), fmpq(0)) for row in rationals(case.W)}
    return len(squares) == 1 and 0 not in squares


def _fixed_rows(case: Weighted) -> Slack:
    return equivalence.whole_way(case, True, 2, 1.0)


def _fixed_rows_ball(case: Weighted) -> arb | None:
    factor = norm(rationals(case.p)) ** 2 / arb(_first_row(case))
    found = balls(case, STEPS, factor, True)
    return None if found is None else _apart_ball(*found, _fixed_rows(case))


def _signed(case: Weighted) -> Weighted:
    return replace(case, W=np.where(case.W < 0, -1.0, 1.0))


step_hypothesis = plant(
    FIXED,
    "hypothesis",
    "orthogonal-rows",
    statement="p not 0, all rows of W_0 of squared length c: W_k p_0 = W_0 p_k for every k, with "
    "step eta on W and eta ||p_0||^2 / c on p",
    why="W W^T = c I asks for orthogonal rows as well",
    drop=["W W^T is a multiple of I"],
    data=weighted.weighted().map(_signed),
    hypotheses={"all rows of W have one length": _rows_alike},
    conclusion=_fixed_rows,
    certify=_fixed_rows_ball,
)

LINEAR, CLOSE = normalised_descent.sharp, normalised_descent.amended_1
pace_constant = plant(
    LINEAR,
    "constant",
    "two-percent",
    statement="normalised descent has <p(k) - p(0), p*> >= 1.02 k s / max ||k_alpha - k_t||",
    why="equal for one difference of keys",
    share=1.02,
)
pace_index = plant(
    LINEAR,
    "index",
    "one-step-more",
    statement="normalised descent has <p(k) - p(0), p*> >= (k + 1) s / max ||k_alpha - k_t||, "
    "k = 16",
    why="k steps are taken, and each may add no more than s / max ||k_alpha - k_t||",
    share=17 / 16,
)
close_hypothesis = plant(
    CLOSE,
    "hypothesis",
    "from-zero",
    statement="a single input whose J rivals score the same: from any p(0) normalised descent has "
    "||p(k)|| - <p(k), p*>/||p*|| <= s + B ||p*|| (||p*|| ln J + s/2) (1 + ln k)",
    why="a start far aside keeps its part across p*",
    drop=["p(0) = 0"],
    data=paced(),
    ensemble=None,
)

BOTH, ONE_WAY = loss_choice.amended_1, loss_choice.amended_2
other_basin = plant(
    BOTH,
    "hypothesis",
    "one-basin",
    statement="risk gap of p(0) below min_i [l(second) - l(best)]/n for the loss -x: descent on l "
    "and on -x converge in the direction of p(alpha)",
    why="in the basin of -x an input of high scores hardly pulls under exp(-x), and is dragged off",
    drop=["risk gap of the start below the threshold"],
)


def _same_best(case: Prompting) -> bool:
    """All inputs have one best score."""
    return len({rational(x) for x in case.scores.max(axis=1).tolist()}) == 1


def _level(case: Prompting) -> Prompting:
    return replace(case, scores=case.scores - case.scores.max(axis=1, keepdims=True))


level_hypothesis = plant(
    ONE_WAY,
    "hypothesis",
    "single-input",
    statement="rivals of one score, all best scores equal: at every p the gradient of every "
    "decreasing loss has the direction of that of -x",
    why="the attended scores of the inputs differ, and with them the slopes of the loss",
    drop=["there is a single input"],
    data=compared().map(_level),
    hypotheses={
        "all rivals of an optimal token score the same": rivals_alike,
        "all best scores are equal": _same_best,
    },
)
