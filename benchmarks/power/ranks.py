"""Planted mistakes in tf's results on ranks, support indices and the risk."""

import itertools
from typing import Any

from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact.numbers import nuclear_norm
from attsvm.primitives.att_svm import exact_att_svm, flat
from attsvm.theory.arithmetic import BALLS
from benchmarks.power.planting import plant
from properties._support.risk_formulas import TWO_SCORES, mean_drop, risk_gap
from properties._support.token_choices import Choice
from properties.tf import definition_2, svm_rank
from properties.tf.definition_2 import conclusion
from properties.tf.lemma_2 import LEMMA

RANK = svm_rank.RANK.claim("literal-1")


def _rank_by_tokens(m: Any, data: AttentionData) -> Any:
    """Return the bound of the rank with T in place of n."""
    return svm_rank.at_most(m, data, min(data.T, data.d))


rank_role = plant(
    RANK,
    "role tokens-for-inputs",
    statement="the Frobenius solution has rank at most min(T, d)",
    why="each input adds one query, however few tokens it has: n inputs of two tokens reach n",
    conclusion=_rank_by_tokens,
)


def _nuclear_above(m: Any, data: AttentionData) -> Any:
    """Return the comparison ||W^mm||_* > ||W^mm||_F; for rank 1 both are the Frobenius norm."""
    solved = present(exact_att_svm(data), "the answer of the SVM")
    frobenius = m.norm(m.values(flat(solved.W)))
    if solved.rank == 1:
        return m.below(frobenius - frobenius, m.exact(0))
    return m.below(frobenius, m.values(nuclear_norm(solved.W)))


rank_strict = plant(
    RANK,
    "strict nuclear-norm",
    statement="||W^mm||_* > ||W^mm||_F for the Frobenius solution",
    why="equal for rank 1, one input for instance",
    conclusion=_nuclear_above,
)

LEAST = definition_2.DEFINITION.claim("sharp")
definition_constant = plant(
    LEAST,
    "constant floor",
    statement="the least margin of rivals under W^mm(alpha) is the larger of 1.05 and that under "
    "the Att-SVM solution without them",
    why="rivals that hold the solution have margin 1",
    floor="1.05",
)


def _reduced_margin_is_one(case: Choice) -> bool:
    """Return whether without rivals the solution gives every rival a margin of at least 1."""
    _, under = conclusion.margins_of_rivals(BALLS, case)
    return under is not None and bool(BALLS.min(under) >= 1)


def _beyond(m: Any, case: Choice) -> Any:
    """Return the comparison that the least margin of rivals under W^mm(alpha) exceeds 1."""
    return m.above(m.min(conclusion.margins_of_rivals(m, case)[0]), m.exact(1))


definition_strict = plant(
    LEAST,
    "strict margin-one",
    statement="alpha is locally optimal, so that every rival has a margin above 1 under "
    "W^mm(alpha), where the Att-SVM without its rivals gives each a margin of at least 1",
    why="above 1 it must be: at 1 the rival is a support index",
    hypotheses={"margins of at least 1 without rivals": _reduced_margin_is_one},
    conclusion=_beyond,
)

RISK = LEMMA.claim("amended")
risk_constant = plant(
    RISK,
    "constant five-percent",
    statement="L(W) - L_* is above 5% of the same gap at the worst tokens, for every W",
    why="L_* is the infimum on separable data",
    share="0.05",
)
risk_hypothesis = plant(
    RISK,
    "hypothesis two-tokens",
    statement="L(W) > L_* for every W, where some input has two tokens",
    why="they may score the same",
    drop=[TWO_SCORES],
    hypotheses={"some input has two tokens": lambda m, v: m.at_least(m.exact(v.T), m.exact(2))},
)


def _second(m: Any, gamma: Any) -> Any:
    """Return the second-best score, the best one if there is no other."""
    pairs = [m.minimum(a, b) for a, b in itertools.combinations(gamma, 2)]
    return m.max(m.array(pairs or gamma))


def _above_second(m: Any, v: Any) -> Any:
    """Return the comparison that L(W) exceeds the mean loss at the second-best tokens."""
    second = mean_drop(m, v, [m.max(gamma) - _second(m, gamma) for gamma in v.gamma])
    return m.below(second - risk_gap(m, v), m.exact(0))


risk_index = plant(
    RISK,
    "index second-best",
    statement="L(W) > (1/n) sum_i l(second-best score of input i) for every W",
    why="L_* is that of the best scores: a W that selects them is below",
    conclusion=_above_second,
)
