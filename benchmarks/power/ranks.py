"""Mistakes in what tf says of ranks, support indices and the risk."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import norm
from attsvm.exact.spectra import nuclear_norm
from attsvm.svm import att_svm
from attsvm.theory import Slack
from benchmarks.power.planting import by_balls, plant
from properties._support.descent_runs import answer
from properties._support.programmes import exactly, flat, without
from properties.tf import definition_2, svm_rank
from properties.tf._support import token_choices as choices
from properties.tf._support.token_choices import Choice
from properties.tf.lemma_2 import LEMMA, TWO_SCORES, mean_drop, risk_gap
from properties.tf.svm_rank.rank_estimates import at_most

RANK = svm_rank.literal_1


def _rank_by_tokens(data: AttentionData) -> Slack:
    """T in place of n."""
    return at_most(svm_rank.frobenius_rank(data), min(data.T, data.d))


def _rank_by_tokens_ball(data: AttentionData) -> arb:
    solved = answer(data)
    assert solved is not None
    return arb(min(data.T, data.d) - solved.rank)


rank_role = plant(
    RANK,
    "role",
    "tokens-for-inputs",
    statement="the Frobenius solution has rank at most min(T, d)",
    why="each input adds one query, however few tokens it has: n inputs of two tokens reach n",
    conclusion=_rank_by_tokens,
    certify=_rank_by_tokens_ball,
)


def _nuclear_above(data: AttentionData) -> Slack:
    """||W^mm||_* > ||W^mm||_F."""
    sizes = np.linalg.svd(att_svm(data).W, compute_uv=False)
    error = 1e-7 * float(sizes.sum())
    return Slack(float(sizes.sum() - np.linalg.norm(sizes)), error, "strict")


def _nuclear_above_ball(data: AttentionData) -> arb:
    solved = answer(data)
    assert solved is not None
    if solved.rank == 1:
        return arb(0)
    return nuclear_norm(solved.W) - norm(flat(solved.W))


rank_strict = plant(
    RANK,
    "strict",
    "nuclear-norm",
    statement="||W^mm||_* > ||W^mm||_F for the Frobenius solution",
    why="equal for rank 1, one input for instance",
    conclusion=_nuclear_above,
    certify=_nuclear_above_ball,
)

LEAST = definition_2.sharp
definition_constant = plant(
    LEAST,
    "constant",
    "floor",
    statement="the least margin of rivals under W^mm(alpha) is the larger of 1.05 and that under "
    "the Att-SVM solution without them",
    why="rivals that hold the solution have margin 1",
    floor=1.05,
)


def _reduced_margin_is_one(case: Choice) -> bool:
    """Without rivals the solution gives every rival a margin of at least 1."""
    rest = exactly(without(case.data, choices.rivals(case)), case.alpha)
    whole = exactly(case.data, case.alpha)
    if rest is None or whole is None:
        return False
    mask, W = choices.rivals(case), flat(rest.W)
    return all(
        sum(a * b for a, b in zip(A, W, strict=True)) >= 1 for t, A in whole.A.items() if mask[t]
    )


def _beyond(case: Choice) -> arb | None:
    """The least margin of rivals under W^mm(alpha), less 1."""
    whole, mask = exactly(case.data, case.alpha), choices.rivals(case)
    if whole is None or not mask.any():
        return None
    return arb(min(m for t, m in whole.margins.items() if mask[t]) - 1)


definition_strict = plant(
    LEAST,
    "strict",
    "margin-one",
    statement="alpha is locally optimal, so that every rival has a margin above 1 under "
    "W^mm(alpha), where the Att-SVM without its rivals gives each a margin of at least 1",
    why="above 1 it must be: at 1 the rival is a support index",
    hypotheses={"margins of at least 1 without rivals": _reduced_margin_is_one},
    **by_balls(_beyond, Choice, "strict"),
)

RISK = LEMMA.claim("amended")
risk_constant = plant(
    RISK,
    "constant",
    "five-percent",
    statement="L(W) - L_* is above 5% of the same gap at the worst tokens, for every W",
    why="L_* is the infimum on separable data",
    share="0.05",
)
risk_hypothesis = plant(
    RISK,
    "hypothesis",
    "two-tokens",
    statement="L(W) > L_* for every W, where some input has two tokens",
    why="they may score the same",
    drop=[TWO_SCORES],
    hypotheses={"some input has two tokens": lambda m, v: m.at_least(m.exact(v.T), m.exact(2))},
)


def _second(m: Any, gamma: Any) -> Any:
    """The second-best score, the best one where it is alone."""
    pairs = [m.minimum(a, b) for a, b in itertools.combinations(gamma, 2)]
    return m.max(m.array(pairs or gamma))


def _above_second(m: Any, v: Any) -> Any:
    """L(W) above the mean loss at the second-best tokens."""
    second = mean_drop(m, v, [m.max(gamma) - _second(m, gamma) for gamma in v.gamma])
    return m.below(second - risk_gap(m, v), m.exact(0))


risk_index = plant(
    RISK,
    "index",
    "second-best",
    statement="L(W) > (1/n) sum_i l(second-best score of input i) for every W",
    why="L_* is that of the best scores: a W that selects them is below",
    conclusion=_above_second,
)
