"""Hypotheses of readings on cross-entropy."""

from attsvm.theory import Hypothesis
from properties.sim.cross_entropy.conclusion import low, one_wins

WINS = Hypothesis(
    "one token has the largest margins against all classes",
    one_wins,
    says="one token has the largest margins M_tc for the label, against all classes c",
)
BETWEEN = Hypothesis(
    "0 < N < M < 2 N",
    lambda m, v: m.all_of(
        m.above(m.min(v.N), m.exact(0)),
        m.above(m.min(v.M - v.N), m.exact(0)),
        m.above(m.min(2 * v.N - v.M), m.exact(0)),
    ),
    says="0 < N_c < M_c < 2 N_c for all c",
)
OPPOSED = Hypothesis(
    "(2 M - N) ||a||^2 < -(2 N - M) <a, b>",
    lambda m, v: m.below(
        m.max((2 * v.M - v.N) * m.dot(v.a, v.a) + (2 * v.N - v.M) * m.dot(v.a, v.b)), m.exact(0)
    ),
    says="(2 M_c - N_c) ||a||^2 < -(2 N_c - M_c) <a, b> for all c",
)
LOWER = Hypothesis("<a, x> <= 0", lambda m, v: m.at_most(m.dot(v.a, v.x), m.exact(0)))
AHEAD = Hypothesis("<b, x> >= 0", lambda m, v: m.at_least(m.dot(v.b, v.x), m.exact(0)))

BEST = Hypothesis(
    "M_c >= N_tc for all t and c",
    lambda m, v: m.at_least(m.min(v.M - v.N), m.exact(0)),
    says="the best token has the margins M_c >= N_tc of all rivals t against all classes c",
)
BASIN = Hypothesis(
    "E(x) - 1 - sum_c exp(-M_c) < exp(-S_c) - exp(-M_c) for all c",
    low,
    says="E(x) - 1 - sum_e exp(-M_e) < exp(-S_c) - exp(-M_c) for each class c, with the largest "
    "margin S_c of rivals",
)
