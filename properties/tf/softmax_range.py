"""Recap of softmax: its entries lie strictly between 0 and 1, and saturate as the norm grows.

S(v)_t = exp(v_t) / sum_u exp(v_u), u = 1, ..., T. The formulas concern the first entry, which may
be any: softmax commutes with permutations.

literal-1 falls for T = 1: then S = 1 at every v. For T >= 2 a growing norm is the only way, as
printed (sharp-1, sharp-2). literal-2 is the converse: a growing norm always leads there. It falls
if largest entries are tied: S(r (1, 1)) = (1/2, 1/2) for every r.

Softmax saturates by the lead of v_1, that is v_1 - max_{u > 1} v_u, and not by the norm. The odds
(1 - S_1) / S_1 = sum_{u > 1} exp(v_u - v_1) lie between exp(-lead) and (T - 1) exp(-lead). So S_1
tends to 1 exactly if the lead tends to infinity. The norm only gives a bound. By Jensen's
inequality the odds are at least (T - 1) exp(mean of v_u - v_1), and mean - v_1 is an inner product
of v with a vector of norm sqrt(T / (T - 1)) (`sharp-1`). It is attained if the other entries are
equal and all add up to 0. No v_u - v_1 is above sqrt(2) ||v|| (`sharp-2`, attained for T = 2).
"""

from attsvm.theory import Hypothesis, Integer, Reading, Statement, Vector, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties._support.risk_formulas import SEVERAL
from properties.tf import SOURCE


@stated("the S(v)_t add up to 1 and lie strictly between 0 and 1, that is $formula")
def inside(m: Namespace, v: Values, margin: Number) -> Relation:
    """The entries of S(v) add up to 1, and lie strictly between `margin` and 1 - `margin`."""
    S = m.softmax(v.v)
    return m.all_of(
        m.equal(m.sum(S), m.exact(1)), m.below(margin, m.min(S)), m.below(margin, 1 - m.max(S))
    )


@stated("S(r v)_1 tends to $only or 1 as r tends to infinity")
def saturated(m: Namespace, v: Values, only: Number) -> Relation:
    """The limit of S(r v)_1 for r to infinity is `only` or 1.

    In the limit the largest entries of v share all weight equally.
    """
    largest = m.is_zero(m.max(v.v) - v.v)
    limit = largest[0] / m.sum(largest)
    return m.any_of(m.equal(limit, only), m.equal(limit, m.exact(1)))


def odds(m: Namespace, v: Values) -> Numbers:
    """Return (1 - S(v)_1) / S(v)_1."""
    S = m.softmax(v.v)
    return m.sum(S[1:]) / S[0]


@stated(
    "(1 - S(v)_1)/S(v)_1 is from exp(-lead) to (T - 1) exp(-lead), lead being that of v_1 over the "
    "largest other entry, that is $formula"
)
def by_lead(m: Namespace, v: Values, by: str = "lead", share: Number = 1) -> Relation:
    """exp(-lead) <= (1 - S_1) / S_1 <= (T - 1) exp(-lead) for the lead of v_1."""
    if v.T == 1:
        return m.below(m.exact(0), m.exact(0))  # there is no lead
    mean = m.sum(v.v[1:]) / (v.T - 1)
    lead = {"lead": v.v[0] - m.max(v.v[1:]), "norm": m.norm(v.v), "mean": v.v[0] - mean}[by]
    least, ratio = m.exp(-lead), odds(m, v)
    return m.all_of(m.at_most(least, share * ratio), m.at_most(ratio, share * (v.T - 1) * least))


def by_norm(m: Namespace, v: Values, side: str) -> Comparison:
    """Return the lower (`least`) or the upper bound of the odds (1 - S_1)/S_1 by the norm of v.

    The bounds are (T - 1) exp(-||v|| sqrt(T / (T - 1))) and (T - 1) exp(||v|| sqrt 2).
    """
    if v.T == 1:
        return m.below(m.exact(0), m.exact(0))  # S_1 is 1
    square, ratio = m.sum(m.square(v.v)), odds(m, v)
    if side == "least":
        return m.at_most((v.T - 1) * m.exp(-m.sqrt(square * v.T / (v.T - 1))), ratio)
    return m.at_most(ratio, (v.T - 1) * m.exp(m.sqrt(2 * square)))


TWO = {"T": Integer(2, 5)}
ONE, TIED, LED = {"v": [0]}, {"v": [1, 1]}, {"v": [2, -1, -1]}
INSIDE = {"entries between 1/1000 and 999/1000": changed(margin="0.001", variables=TWO)}

NOT_ZERO = Hypothesis("v is not 0", lambda m, v: m.below(m.exact(0), m.largest(v.v)))

RANGE = Statement(
    "tf/softmax-range",
    source=SOURCE,
    place="Recap: Softmax function",
    printed="Softmax implies sum_t S(v)_t = 1. For finite v: 1 > S(v)_t > 0. Only way to attain "
    "S(v)_t in {0,1} is ||v|| -> infinity",
    variables={"T": Integer(1, 5), "v": Vector("T", (0, 2, -2))},
    conclusion=by_lead,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            fairness="degenerate",
            constants={"margin": 0},
            under=(),
            conclusion=inside,
            examples=(ONE,),
            siblings=INSIDE,
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            read={"way": "that it leads there"},
            constants={"only": 0},
            under=(NOT_ZERO,),
            conclusion=saturated,
            examples=(TIED,),
            siblings={"S(r v)_1 tends to 1": changed(only=1, examples=[{"v": [0, 1]}])},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.softmax_range:prove_inside",
            constants={"margin": 0},
            under=(SEVERAL,),
            conclusion=inside,
            examples=(TIED, LED),
            siblings=INSIDE,
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.softmax_range:prove_lead",
            under=(SEVERAL,),
            examples=(TIED, LED),
            siblings={
                "99.9% of both bounds": changed(share="0.999"),
                "the norm in place of the lead": changed(by="norm"),
                "the lead over the mean of the others": changed(by="mean"),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.tf.softmax_range:prove_least",
            under=(SEVERAL,),
            conclusion=by_norm,
            constants={"side": "least"},
            tight=True,
            examples=(LED,),
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.tf.softmax_range:prove_most",
            under=(SEVERAL,),
            conclusion=by_norm,
            constants={"side": "most"},
            tight=True,
            examples=({"v": [-1, 1]},),
        ),
    },
)
