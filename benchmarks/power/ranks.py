"""Mistakes in what tf says of ranks, support indices and the risk."""

from __future__ import annotations

import numpy as np
from flint import arb

from attsvm.data import AttentionData
from attsvm.exact import ExactData, norm, rationals
from attsvm.exact.attention import deficit, logits, loss_drop, softmax
from attsvm.exact.spectra import nuclear_norm
from attsvm.losses import LOSSES
from attsvm.risk import risk_gap
from attsvm.svm import att_svm
from attsvm.theory import Slack
from benchmarks.power.planting import by_balls, plant
from properties._support.descent_runs import answer
from properties._support.programmes import exactly, flat, without
from properties.tf import definition_2, lemma_2, svm_rank
from properties.tf._support import token_choices as choices
from properties.tf._support.token_choices import Choice
from properties.tf.lemma_2.weighted_data import Weighted
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

RISK = lemma_2.amended
risk_constant = plant(
    RISK,
    "constant",
    "five-percent",
    statement="L(W) - L_* is above 5% of the same gap at the worst tokens, for every W",
    why="L_* is the infimum on separable data",
    share=0.05,
)
risk_hypothesis = plant(
    RISK,
    "hypothesis",
    "two-tokens",
    statement="L(W) > L_* for every W, where some input has two tokens",
    why="they may score the same",
    drop=["some input has two different scores"],
    hypotheses={"some input has two tokens": lambda case: case.data.T > 1},
)


def _second(gamma: list[float]) -> float:
    return sorted(gamma)[-2] if len(gamma) > 1 else gamma[0]


def _above_second(case: Weighted) -> Slack:
    """L(W) above the mean loss at the second-best tokens."""
    slack = RISK.conclusion(case)
    rows = zip(case.data.gamma, case.data.present, strict=True)
    scores = [row[kept].tolist() for row, kept in rows]
    loss = LOSSES[case.loss]
    best, second = (np.array([f(row) for row in scores]) for f in (max, _second))
    gap = float(loss.drop(best, best - second).mean())
    value = risk_gap(case.data, case.W, loss) - gap
    return Slack(value, slack.error + 1e-13 * (abs(gap) + abs(value)), "strict")


def _above_second_ball(case: Weighted) -> arb:
    data, W, total = ExactData.of(case.data), rationals(case.W), arb(0)
    for i, tokens in enumerate(data.X):
        best, second = max(data.gamma[i]), _second(data.gamma[i])
        lost = deficit(data, i, softmax(logits(tokens, W, data.Z[i])))
        total += loss_drop(case.loss, best, lost)
        if second != best:
            total -= loss_drop(case.loss, best, best - second)
    return total / len(data.X)


risk_index = plant(
    RISK,
    "index",
    "second-best",
    statement="L(W) > (1/n) sum_i l(second-best score of input i) for every W",
    why="L_* is that of the best scores: a W that selects them is below",
    conclusion=_above_second,
    certify=_above_second_ball,
)
