"""Planted mistakes in sim's definitions 3.8 and 4.1, and in its results on token sparsity."""

from typing import Any

from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.primitives.att_svm import att_svm, constraints
from benchmarks.power.planting import flipped, plant, strictly
from properties.sim._support import dropping
from properties.sim.definition_3_8 import DEFINITION as DEFINITION_3_8
from properties.sim.definition_4_1 import DEFINITION as DEFINITION_4_1
from properties.sim.definition_4_1.conclusion import compared, slack_sum
from properties.sim.token_sparsity import SPARSITY

NEAREST, BOUNDED = (DEFINITION_3_8.claim(name) for name in ("sharp-1", "amended"))
HULL, EXISTS = (DEFINITION_3_8.claim(name) for name in ("sharp-2", "literal-2"))

nearest_strict = plant(
    NEAREST,
    "strict pythagoras",
    statement="||V - X^mm||^2 < ||V||^2 - ||X^mm||^2 for every feasible V",
    why="equal where V has margin 1 wherever a multiplier is positive, as at V = X^mm",
    conclusion=strictly(NEAREST),
)
bounded_strict = plant(
    BOUNDED,
    "strict norm-bound",
    statement="where u^T z_i has the sign of y_i for every i, X^mm exists, and "
    "||X^mm|| < ||u|| ||v|| / min_it (gamma_opt - gamma_t) y_i u^T z_i",
    why="equal for one constraint along v u^T",
    conclusion=strictly(BOUNDED),
)


def _short_head(m: Any, case: Any) -> Any:
    """Return the bound with the largest entry of v in place of its norm."""
    svm, u, v = att_svm(m, case.data), m.values(case.u), m.values(case.data.v)
    if not len(svm.rows):
        return m.above(svm.margin, 0)
    least = m.min(svm.rows @ m.vec(m.outer(v, u)))
    return m.at_most(least, m.norm(u) * m.largest(v) * svm.margin)


bounded_norm = plant(
    BOUNDED,
    "norm largest-entry",
    statement="where u^T z_i has the sign of y_i for every i, X^mm exists, and "
    "||X^mm|| <= ||u|| max |v_k| / min_it (gamma_opt - gamma_t) y_i u^T z_i",
    why="false for one constraint along v u^T where v has two entries",
    conclusion=_short_head,
)
hull_sign = plant(
    HULL,
    "sign hull",
    statement="||sum_j s_j A_j|| ||X^mm|| <= 1 for all shares s >= 0 of sum 1",
    why="1/||X^mm|| is the least length in the hull, not the largest",
    **flipped(HULL),
)


def _same_labels(data: AttentionData) -> bool:
    return len(set(present(data.y, "the labels y").tolist())) == 1


exists_hypothesis = plant(
    EXISTS,
    "hypothesis shared-query",
    statement="with unique optimal tokens, equal labels and queries that are not 0 there is an "
    "X^mm",
    why="the queries must be one (or be classified): z and -z with the same tokens have opposite "
    "constraints",
    hypotheses={
        "all labels agree": _same_labels,
        "no query is 0": lambda data: bool(data.Z.any(axis=1).all()),
    },
)

HARD, GROWTH = (DEFINITION_4_1.claim(name) for name in ("amended", "sharp"))
soft_constant = plant(
    HARD,
    "constant three-percent",
    statement="on separable data X^mm minimises ||X|| + C sum of slacks for every C of at least "
    "0.97 max lambda / ||X^mm||",
    why="for one constraint C ||A|| < 1 makes 0 the minimiser",
    share="0.97",
)


def _unnormalised(m: Any, case: Any) -> Any:
    """Return the conclusion at C = max lambda, the price for the squared norm."""
    svm, V, slack = compared(m, case)
    C = m.values(max(present(svm.exact, "X^mm").duals.values()))
    return m.at_most(m.norm(svm.vector), m.norm(V) + C * slack)


soft_norm = plant(
    HARD,
    "norm squared",
    statement="on separable data X^mm minimises ||X|| + C sum of slacks for every C of at least "
    "max lambda",
    why="that is the price for ||X||^2/2; where ||X^mm|| < 1 it is too low for the norm",
    conclusion=_unnormalised,
)


def _by_longest(m: Any, case: Any) -> Any:
    """Return the bound with the norm of the longest A_j in place of that of their sum."""
    A, V, C = constraints(m, case.data), m.vec(m.values(case.move)), m.values(case.C)
    longest = m.max(m.array([m.norm(a) for a in A])) if len(A) else m.exact(0)
    return m.at_most(C * (len(A) - slack_sum(m, A, V)), C * (longest * m.norm(V)))


growth_norm = plant(
    GROWTH,
    "norm longest",
    statement="f_C(V) - f_C(0) >= (1 - C max_j ||A_j||) ||V|| for every V and C > 0",
    why="slacks fall together by <sum_j A_j, V>: two constraints alike fall twice as fast",
    conclusion=_by_longest,
)
growth_strict = plant(
    GROWTH,
    "strict growth",
    statement="f_C(V) - f_C(0) > (1 - C ||sum_j A_j||) ||V|| for every V that is not 0 and C > 0",
    why="equal for small V along sum_j A_j",
    hypotheses={"V is not zero": lambda case: bool(case.move.any())},
    conclusion=strictly(GROWTH),
)

sparsity_constant = plant(
    SPARSITY.claim("sharp-2"),
    "constant two-percent",
    statement="where the A_j are independent, leaving out token j lowers ||X^mm||^2 by at least "
    "1.02 w_j^2 / (G^-1)_jj",
    why="equal where the other multipliers stay positive",
    factor="1.02",
)
sparsity_sign = plant(
    SPARSITY.claim("sharp-1"),
    "sign at-least",
    statement="leaving out any tokens J lowers ||X^mm||^2 by at least ||sum_J w_j A_j||^2",
    why="this is the most: other constraints take over where the A_j are not orthogonal",
    **flipped(SPARSITY.claim("sharp-1")),
)


def _moves(m: Any, data: AttentionData) -> Any:
    """Return the comparison that X^mm changes if the first support token is left out."""
    whole, rest = dropping.solution(data), dropping.solution(data, dropping.named(data, "first"))
    return m.above(m.norm(m.values(whole.W) - m.values(rest.W)), m.exact(0))


sparsity_hypothesis = plant(
    SPARSITY.claim("literal-3"),
    "hypothesis multiplier",
    statement="leaving out a support token, one of margin 1, moves X^mm",
    why="only tokens with a multiplier hold it: repeated or idle tight tokens do not",
    conclusion=_moves,
)


sparsity_index = plant(
    SPARSITY.claim("sharp-3"),
    "index exponent",
    statement="from a start in the basin the share of a token of margin m under X^mm falls like "
    "k^-m",
    why="shares are taken of the whole gradient, which itself falls like 1/k",
    less=0,
)
