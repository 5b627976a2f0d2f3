"""Mistakes in sim's definitions 3.8 and 4.1, and in what it says of token sparsity."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import dot, rational, rationals
from attsvm.svm import att_svm_programme
from attsvm.theory import Slack
from benchmarks.power.planting import flipped, plant, strictly
from properties._support.descent_runs import answer
from properties._support.programmes import EPS, exactly
from properties.sim import definition_3_8, definition_4_1
from properties.sim.definition_3_8 import minimiser
from properties.sim.definition_3_8.instances import Classified, headed
from properties.sim.definition_4_1 import soft_margins as soft
from properties.sim.definition_4_1.soft_margins import Soft
from properties.sim.token_sparsity import SPARSITY, dropping

NEAREST, BOUNDED = definition_3_8.unique_minimiser, definition_3_8.bounded

nearest_strict = plant(
    NEAREST,
    "strict",
    "pythagoras",
    statement="||V - X^mm||^2 < ||V||^2 - ||X^mm||^2 for every feasible V",
    why="equal where V has margin 1 wherever a multiplier is positive, as at V = X^mm",
    conclusion=strictly(NEAREST),
    certify=definition_3_8.certify_nearer,
)
bounded_strict = plant(
    BOUNDED,
    "strict",
    "norm-bound",
    statement="where u^T z_i has the sign of y_i for every i, X^mm exists, and "
    "||X^mm|| < ||u|| ||v|| / min_it (gamma_opt - gamma_t) y_i u^T z_i",
    why="equal for one constraint along v u^T",
    conclusion=strictly(BOUNDED),
    certify=definition_3_8.certify_bounded,
)


def _short_head(case: Classified) -> Slack:
    """The largest entry of v in place of its length."""
    slack, v = BOUNDED.conclusion(case), case.data.v
    assert v is not None
    if slack.kind == "unknown":
        return slack
    less = float(case.u @ case.u) * (float(v @ v) - float(np.abs(v).max()) ** 2)
    return Slack(slack.value - less, slack.error + 1e-14 * float(case.u @ case.u) * float(v @ v))


def _short_head_ball(case: Classified) -> arb:
    assert case.data.v is not None
    u, v = rationals(case.u), rationals(case.data.v)
    less = dot(u, u) * (dot(v, v) - max(abs(x) for x in v) ** 2)
    ball = minimiser.exactly_bounded(case, 1.0)
    existing = exactly(case.data) is not None
    return ball - less if existing and less != 0 else ball


bounded_norm = plant(
    BOUNDED,
    "norm",
    "largest-entry",
    statement="where u^T z_i has the sign of y_i for every i, X^mm exists, and "
    "||X^mm|| <= ||u|| max |v_k| / min_it (gamma_opt - gamma_t) y_i u^T z_i",
    why="false for one constraint along v u^T where v has two entries",
    conclusion=_short_head,
    certify=_short_head_ball,
)
hull_sign = plant(
    definition_3_8.hull,
    "sign",
    "hull",
    statement="||sum_j s_j A_j|| ||X^mm|| <= 1 for all shares s >= 0 of sum 1",
    why="1/||X^mm|| is the least length in the hull, not the largest",
    **flipped(definition_3_8.hull),
)


def _same_labels(data: AttentionData) -> bool:
    assert data.y is not None
    return len(set(data.y.tolist())) == 1


exists_hypothesis = plant(
    definition_3_8.exists,
    "hypothesis",
    "shared-query",
    statement="with unique optimal tokens, equal labels and queries that are not 0 there is an "
    "X^mm",
    why="the queries must be one (or be classified): z and -z with the same tokens pull apart",
    data=headed().map(lambda case: case.data),
    hypotheses={
        "all labels agree": _same_labels,
        "no query is 0": lambda data: bool(data.Z.any(axis=1).all()),
    },
)

HARD, GROWTH = definition_4_1.amended, definition_4_1.sharp
soft_constant = plant(
    HARD,
    "constant",
    "three-percent",
    statement="on separable data X^mm minimises ||X|| + C sum of slacks for every C of at least "
    "0.97 max lambda / ||X^mm||",
    why="for one constraint C ||A|| < 1 makes 0 the minimiser",
    share=0.97,
)


def _unnormalised(case: Soft) -> Slack:
    """At C = max lambda, the price for the squared norm."""
    solved = answer(case.data)
    assert solved is not None
    return soft.against_hard(case, float(arb(max(solved.duals))), 4 * EPS)


def _unnormalised_ball(case: Soft) -> arb:
    solved = answer(case.data)
    assert solved is not None
    return soft.certify_hard(case, max(solved.duals), over_norm=False)


soft_norm = plant(
    HARD,
    "norm",
    "squared",
    statement="on separable data X^mm minimises ||X|| + C sum of slacks for every C of at least "
    "max lambda",
    why="that is the price for ||X||^2/2; where ||X^mm|| < 1 it is too low for the norm",
    conclusion=_unnormalised,
    certify=_unnormalised_ball,
)


def _longest_pull(case: Soft) -> Slack:
    """The longest A_j in place of the sum of all."""
    programme = att_svm_programme(case.data)
    left, _ = soft.above_zero(case, 1.0, 1.0)
    longest = float(programme.norms.max())
    right = (1.0 - case.C * longest) * float(np.linalg.norm(case.move))
    return Slack.at_most(right, left, soft.rounding(case))


def _longest_pull_ball(case: Soft) -> arb:
    C, V, rows = rational(case.C), rationals(case.move), soft._rows(case.data)
    rest = C * (soft._slacks(case.data, V) - len(rows))
    longest, square = max(dot(A, A) for A in rows), soft._square(V)
    if rest <= 0 and C * C * longest * square == rest * rest:
        return arb(0)
    return C * arb(longest).sqrt() * arb(square).sqrt() + arb(rest)


growth_norm = plant(
    GROWTH,
    "norm",
    "longest",
    statement="f_C(V) - f_C(0) >= (1 - C max_j ||A_j||) ||V|| for every V and C > 0",
    why="slacks fall together by <sum_j A_j, V>: two constraints alike fall twice as fast",
    conclusion=_longest_pull,
    certify=_longest_pull_ball,
)
growth_strict = plant(
    GROWTH,
    "strict",
    "growth",
    statement="f_C(V) - f_C(0) > (1 - C ||sum_j A_j||) ||V|| for every V that is not 0 and C > 0",
    why="equal for small V along sum_j A_j",
    hypotheses={"V is not zero": soft.moved},
    conclusion=strictly(GROWTH),
    certify=soft.certify_zero,
)

sparsity_constant = plant(
    SPARSITY.claim("sharp-2"),
    "constant",
    "two-percent",
    statement="where the A_j are independent, leaving out token j lowers ||X^mm||^2 by at least "
    "1.02 w_j^2 / (G^-1)_jj",
    why="equal where the other multipliers stay positive",
    factor="1.02",
)
sparsity_sign = plant(
    SPARSITY.claim("sharp-1"),
    "sign",
    "at-least",
    statement="leaving out any tokens J lowers ||X^mm||^2 by at least ||sum_J w_j A_j||^2",
    why="this is the most: other constraints take over where the A_j are not orthogonal",
    **flipped(SPARSITY.claim("sharp-1")),
)


def _moves(m: Any, data: AttentionData) -> Any:
    """X^mm moves when the first support token is left out."""
    whole, rest = dropping.solution(data), dropping.solution(data, dropping.named(data, "first"))
    return m.above(m.norm(m.values(whole.W) - m.values(rest.W)), m.exact(0))


sparsity_hypothesis = plant(
    SPARSITY.claim("literal-3"),
    "hypothesis",
    "multiplier",
    statement="leaving out a support token, one of margin 1, moves X^mm",
    why="only tokens with a multiplier hold it: repeated or idle tight tokens do not",
    conclusion=_moves,
)


sparsity_index = plant(
    SPARSITY.claim("sharp-3"),
    "index",
    "exponent",
    statement="from a start in the basin the share of a token of margin m under X^mm falls like "
    "k^-m",
    why="shares are taken of the whole gradient, which itself falls like 1/k",
    less=0,
)
