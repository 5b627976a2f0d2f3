"""Definition 1: the optimal token has the largest score, and minimises the training loss.

"Suppose l is decreasing: W should maximize inner sum ... we can define optimal token which
minimizes the training loss L(W). Definition 1 (Optimal token). Given v, the optimal token for X_i
is the index opt_i in argmax_t Y_i v^T x_it."

gamma_t = Y_i v^T x_it are the scores of one input, whose label Y_i in {-1, 1} is a part of v below.
s is its attention, so that its part of the loss is l(<s, gamma>). Inputs add up, and an s of each
that is best is best for all. The weights of s are those that attention gives or tends to:
`tf/softmax-range` and `tf/lemma-2-limit` say whether some W brings them about.

"The" optimal token need not be one: tokens may be tied, as all are for v = 0 (literal-1). All of
them are optimal (literal-2): for every decreasing loss, strictly or not, no s has less than
l(best). That the converse fails for losses that are flat somewhere is literal-3: the hinge
max(0, 1 - u) is least for tokens of score 1 and 2 alike. For strictly decreasing losses the least
value is attained exactly by the s with no weight off the optimal tokens (amended).

sharp: with w the weight off the optimal tokens, best - <s, gamma> is at least w times the gap from
the best score to the next one, and at most w times that to the worst score. So l(<s, gamma>) tends
to l(best) exactly where w tends to 0, for strictly decreasing continuous losses.
"""

from typing import Any

from attsvm.primitives.losses import LOSSES
from attsvm.theory import (
    Choice,
    Defined,
    Integer,
    Reading,
    Statement,
    Tensor,
    Vector,
    changed,
    definition,
)
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.tf import SOURCE
from properties.tf._support.risk_formulas import DECREASES, DECREASING, family


def attention(m: Namespace, v: Values) -> Numbers:
    """Weights in proportion to the squares of a vector, equal where it is 0: any of sum 1."""
    square = m.square(v.w)
    share = square + m.is_zero(m.sum(square))
    return share / m.sum(share)


def optimal(m: Namespace, v: Values) -> Numbers:
    """1 for each optimal token and 0 for the others."""
    return m.is_zero(m.max(v.gamma) - v.gamma)


@definition("w_{{off}}")
def off(m: Namespace, v: Values) -> Number:
    """The weight off the optimal tokens."""
    return m.dot(v.s, 1 - optimal(m, v))


@definition(r"\left(l(\langle s, \gamma\rangle) - l(best)\right)")
def drop(m: Namespace, v: Values) -> Any:
    """What the loss of the attended score is above that of the best one."""
    best = m.max(v.gamma)
    return v.loss.drop(m, best, m.dot(v.s, best - v.gamma))


def few(m: Namespace, v: Values, most: Number) -> Comparison:
    """So many tokens are optimal at most; one is always."""
    return m.at_most(m.sum(optimal(m, v)), most)


def least(m: Namespace, v: Values, more: Number) -> Comparison:
    """The loss is at least that of the best score, and by a multiple of the weight off it."""
    return m.at_most(more * off(m, v), drop(m, v))


def only(m: Namespace, v: Values, most: Number) -> Relation:
    """The loss is above that of the best score wherever the weight off it is above a bound."""
    return m.any_of(m.at_most(off(m, v), most), m.below(m.exact(0), drop(m, v)))


@definition("next")
def next_gap(m: Namespace, v: Values) -> Number:
    """The gap from the best score to the next one."""
    best = m.max(v.gamma)
    gaps = best - v.gamma
    return m.min(gaps + (m.max(gaps) + 1) * optimal(m, v))


@definition(r"\left(l(best - w_{{off}} \, {gap}) - l(best)\right)")
def lost(m: Namespace, v: Values, gap: Number) -> Any:
    """What the loss is above that of the best score where the weight w loses a gap."""
    return v.loss.drop(m, m.max(v.gamma), off(m, v) * gap)


def between(m: Namespace, v: Values, share: Number) -> Relation:
    """The loss lies between those where the weight w loses the least gap and the largest one."""
    low, high = (lost(m, v, gap) for gap in (next_gap(m, v), m.oscillation(v.gamma)))
    return m.all_of(m.at_most(low, share * drop(m, v)), m.at_most(drop(m, v), share * high))


TIED = {"X": [[1], [1]], "v": [1], "w": [1, 0], "loss": "log-loss"}
APART = {"X": [[2], [1]], "v": [1], "w": [1, 1], "loss": "log-loss"}
HINGED = {**APART, "w": [0, 1], "loss": "hinge"}
FLAT = {**APART, "w": [0, 1], "loss": "squared-hinge"}
PROOF = "symbolic.tf.definition_1:prove"

DEFINITION = Statement(
    "tf/definition-1",
    source=SOURCE,
    place="Intuition, definition 1",
    printed="Suppose l is decreasing: W should maximize inner sum ... we can define optimal token "
    "which minimizes the training loss L(W). Definition 1 (Optimal token). Given v, the optimal "
    "token for X_i is the index opt_i in argmax_t Y_i v^T x_it",
    variables={
        "T": Integer(1, 5),
        "d": Integer(1, 3),
        "X": Tensor(("T", "d"), levels=3),
        "v": Vector("d"),
        "w": Vector("T"),
        "loss": Choice(LOSSES),
        "gamma": Defined(lambda m, v: v.X @ v.v),
        "s": Defined(attention),
    },
    conclusion=only,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            under=(),
            variables={"w": None, "loss": None, "s": None},
            conclusion=few,
            constants={"most": 1},
            examples=({key: TIED[key] for key in ("X", "v")},),
            siblings={"no three are optimal": changed(most=2)},
        ),
        "literal-2": Reading(
            "proved",
            proof=PROOF,
            constants={"more": 0},
            under=(DECREASES,),
            conclusion=least,
            examples=(TIED, APART, HINGED),
            siblings={
                "a loss that turns upwards": changed(
                    drop=[DECREASES],
                    variables=family("squared"),
                    examples=[{**APART, "loss": "squared"}],
                ),
                "a thousandth of the weight off the optimal tokens more": changed(
                    more="0.001", examples=[HINGED]
                ),
            },
        ),
        "literal-3": Reading(
            "refuted, certified",
            constants={"most": 0},
            under=(DECREASES,),
            examples=(HINGED, FLAT),
            siblings={"no weight above 1/4 off them": changed(most="1/4")},
        ),
        "amended": Reading(
            "proved",
            proof=PROOF,
            constants={"most": 0},
            under=(DECREASING,),
            examples=(TIED, APART),
            siblings={
                "increasing loss": changed(
                    drop=[DECREASING],
                    variables=family("logistic"),
                    examples=[{**APART, "loss": "logistic"}],
                )
            },
        ),
        "sharp": Reading(
            "proved",
            proof=PROOF,
            constants={"share": 1},
            under=(DECREASES,),
            conclusion=between,
            examples=(APART,),
            siblings={"99.9% of both": changed(share="0.999")},
        ),
    },
)
