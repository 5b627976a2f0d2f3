"""The open direction "convergence rates": how far W_k is from the ray of W^mm.

Let V = W^mm, and let descent from the basin have a constant step eta. So W_k/ln k tends to V. Is
the residual W_k - ln(k) V bounded? Exactly if V has multipliers that are above 0 for every tight
constraint <A_j, V> = 1 (proof: docs/proofs/bounded_residual.md). Then the direction is off by at
most a constant over ln k. The talk asserts nothing here, so there is no literal reading.

The proof compares the residual x with y at which V = sum_j c_j exp(-<A_j, y>) A_j over tight j,
where c_j = eta |l'(best)| gap_j/n. Such a y exists exactly if the multipliers can be above 0: it
is the least point of F(x) = sum_j c_j exp(-<A_j, x>) + <V, x>. In the time ln k the residual moves
by -grad F(x), up to terms whose sum is finite. As F is convex, such a move does not increase
the distance from y (`sharp`). The rows of A are the A_j, written as vectors.

`sharp-2` has a rate for all data, with constants: the least margin grows like ln k, and the squared
distance from the ray like <W_k, V> at most. So the sine of the angle between W_k and V is at most
a constant over the root of ln k (docs/proofs/direction_rate.md). With one rival the distance stays
bounded. The bound needs its term in <W_k, V>: without it, the instance `AWRY` violates the bound.
There the rival of lowest score has an A_j far from the ray of V, and pushes W_k off the ray.
"""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.primitives.hypotheses import UNIQUE
from attsvm.primitives.steps import ITERATED
from attsvm.theory import (
    Hypothesis,
    Integer,
    Matrix,
    Meeting,
    Reading,
    Records,
    Statement,
    Vector,
    changed,
    definition,
    gradient,
)
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.tf import SOURCE
from properties.tf.convergence_rates import distance
from properties.tf.convergence_rates.distance import CONVEX_FALLING, HALF_WAY, SHORT_STEP, Run


@definition(r"F({x})")
def potential(m: Namespace, v: Values, x: Numbers) -> Number:
    """Return sum_j c_j exp(-<A_j, x>) + sum_j c_j exp(-<A_j, y>) <A_j, x>."""
    pull = v.c * m.exp(-(v.A @ v.y))
    return m.dot(v.c, m.exp(-(v.A @ x))) + m.dot(pull, v.A @ x)


def approaches(m: Namespace, v: Values, share: Number = 1) -> Comparison:
    """Return that <grad F(x), x - y> is at least a share of F(x) - F(y)."""
    slope = gradient(m, lambda m, x: potential(m, v, x), v.x)
    gain = potential(m, v, v.x) - potential(m, v, v.y)
    return m.at_most(share * gain, m.dot(slope, v.x - v.y))


def positive(c: Array, _: Mapping[str, Array]) -> Array:
    """Return weights of at least 1/8."""
    return np.maximum(abs(c), 0.125)


WEIGHTS = Hypothesis(
    "c_j > 0 for all j",
    lambda m, v: m.above(m.min(v.c), m.exact(0)),
    says="the weights c_j are above 0",
)
CLOSE = {"A": [[1]], "c": [1], "y": [0], "x": [2.0**-6]}
SINGLE = {"A": [[1]], "c": [1], "y": [0], "x": [-4]}

PLACE, PRINTED = "Summary, future directions", "Convergence rates"

RATES = Statement(
    "tf/convergence-rates",
    rests_on=("tf/local-convergence",),
    source=SOURCE,
    place=PLACE,
    printed=PRINTED,
    variables={
        "J": Integer(1, 4),
        "D": Integer(1, 3),
        "A": Matrix("J", "D"),
        "c": Meeting(WEIGHTS, Vector("J"), positive),
        "x": Vector("D"),
        "y": Vector("D"),
    },
    hypotheses=(WEIGHTS,),
    conclusion=approaches,
    readings={
        "sharp": Reading(
            "proved",
            strength="better",
            proof="symbolic.tf.convergence_rates:prove",
            examples=(CLOSE, SINGLE),
            siblings={
                "2.5 times the gain": changed(share="2.5", examples=[CLOSE]),
                "weights of any sign": changed(drop=[WEIGHTS], examples=[{**SINGLE, "c": [-1]}]),
            },
        ),
    },
)

PAIR = AttentionData.of([[[1], [0]]], [[1]], scores=[[1, 0]])
TIED = AttentionData.of([[[1], [0], [-1]]], [[1]], scores=[[0, 0, -1]])
ASIDE = AttentionData.of(
    [[[0.0, 0.0], [-1.0, 2.0], [-1.0, -0.25]]], [[1, 0]], scores=[[0, -32, -1]]
)
AWRY = distance.started(ASIDE, np.array([[3, 0], [-1.5, 0]]))
FLAT_BELOW = distance.started(ASIDE, np.array([[3, 0], [-1.5, 0]]), "logistic-loss")
LEAPING = Run(ASIDE, "correlation", np.array([[6.0, 0], [0, 0]]), 2.0**16, 1)

RATE = Statement(
    "tf/convergence-rates",
    source=SOURCE,
    place=PLACE,
    printed=PRINTED,
    variables=Records(Run, distance.near_solution(), lets=ITERATED),
    conclusion=distance.stays_near,
    cost=8,
    violating={
        UNIQUE: [distance.started(TIED, np.array([[4.0]]))],
        CONVEX_FALLING: [FLAT_BELOW],
        HALF_WAY: [distance.started(PAIR, np.array([[-4.0]]))],
        SHORT_STEP: [LEAPING],
    },
    readings={
        "sharp-2": Reading(
            "holds",
            strength="better",
            proof="symbolic.tf.direction_rate:prove",
            under=(UNIQUE, CONVEX_FALLING, HALF_WAY, SHORT_STEP),
            examples=(AWRY, distance.started(PAIR, np.array([[2.0]]), "log-loss", 1.0, 4)),
            siblings={
                "a squared distance of at most D_0 + 2 eta G": changed(share=0, examples=[AWRY]),
                "half of n exp(m_k)": changed(
                    most="0.5", examples=[distance.started(PAIR, np.array([[2.0]]), steps=0)]
                ),
            },
        ),
    },
)
