"""Hypotheses of theorem 3.15: how far apart scores of rivals may be, and how short steps are."""

from attsvm.primitives.hypotheses import UNIQUE
from attsvm.theory import Hypothesis
from properties.sim.theorem_3_15 import nearly_equal_scores as nearly_equal

HALF = Hypothesis(
    "the step is at most 1/(2 L)",
    lambda run: run.step <= 0.5,
    says="the step is at most half of one over a Lipschitz constant of the gradient",
)
WITHIN = Hypothesis(
    "rivals' scores less than delta apart",
    nearly_equal.within,
    says="optimal tokens are unique, and the scores of the rivals of input i are less than "
    "g_i s_i/(1 - s_i) apart, with g_i the gap of its two best scores and s_i the attention of the "
    "start to its best token",
    implies=(UNIQUE,),
)
WITHIN_OTHERS = Hypothesis(
    "rivals' scores less than g_i s_i/(1 - s_i - s'_i) apart",
    nearly_equal.within_of_others,
    says="optimal tokens are unique, and the scores of the rivals of input i, if there are "
    "several, are less than g_i s_i/(1 - s_i - s'_i) apart, with g_i the gap of its two best "
    "scores and s_i, s'_i the attention of the start to its best token and to a rival of the "
    "second-best score",
    implies=(UNIQUE,),
)
