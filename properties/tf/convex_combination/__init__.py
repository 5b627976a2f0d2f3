"""Recap of softmax: attention outputs a convex combination of the tokens.

"Attention outputs: x^att = X^T s where s = S(X W z). x^att is a convex combination of tokens of X."
... "What if we want to output the k'th token i.e. x^att <- x_k: Then s_t = 1 if and only if t = k,
||W|| -> infinity." X holds the tokens x_t as rows, z is a query. The k-th token is the first here.

A point x lies in the convex hull of the tokens exactly if <u, x> <= max_t <u, x_t> for all vectors
u. The output never leaves the hull (`literal-1`), and never reaches its relative boundary: s_t > 0
for all t, so <u, x^att> lies strictly between the least and the largest <u, x_t> unless all are
equal (`sharp-1`).

literal-2 and literal-3 may fall if x_1 lies in the hull of the others. Tokens 0, 1, -1 output x_1 =
0 at W = 0, and two equal tokens do so at every W. It is enough to exclude this: let some u have <u,
x_1> > <u, x_t> for all t > 1, so that x_1 is a vertex of the hull and no other token. Now <u, x_1 -
x^att> is sum_{t > 1} s_t <u, x_1 - x_t>. So it lies between 1 - s_1 times the least and 1 - s_1
times the largest <u, x_1 - x_t>. Hence x_1 is output exactly if s_1 = 1, which no W reaches, and
approached exactly if s_1 tends to 1. The odds (1 - s_1)/s_1 are the sum of exp(-<x_1 - x_t, W z>)
over t > 1. By Jensen's inequality they are at least (T - 1) exp(-D ||W||), with D = ||x_1 - mean of
the others|| ||z||. This is attained (`sharp-2`): by tokens 1, 0, 0 at z = W = 1 the odds are 2
exp(-1).
"""

from attsvm.theory import Hypothesis, Integer, Matrix, Reading, Statement, Vector, changed
from properties._support.risk_formulas import SEVERAL
from properties.tf import SOURCE
from properties.tf.convex_combination import conclusion

INSIDE = {"X": [[0], [1], [-1]], "z": [1], "W": [[0]]}
EQUAL = {"X": [[1], [1]], "z": [1], "W": [[3]]}
PAIR = {"X": [[1], [0]], "z": [1], "W": [[1]], "u": [1]}
LED = {"X": [[1], [0], [0]], "z": [1], "W": [[1]]}

PUT_OUT = Hypothesis("x^att = x_1", lambda m, v: m.equal(conclusion.output(m, v), v.X[0]))
EXPOSED = Hypothesis("<u, x_1> > <u, x_t> for all t > 1", conclusion.exposed)
APART = Hypothesis(
    "two of the <u, x_t> differ", lambda m, v: m.below(m.exact(0), m.oscillation(v.X @ v.u))
)

COMBINATION = Statement(
    "tf/convex-combination",
    rests_on=("tf/softmax-range",),
    source=SOURCE,
    place="Recap: Softmax function",
    printed="x^att is a convex combination of tokens of X. What if we want to output the k'th "
    "token i.e. x^att <- x_k: Then s_t = 1 if and only if t = k; ||W|| -> infinity",
    variables={
        "T": Integer(1, 4),
        "d": Integer(1, 3),
        "X": Matrix("T", "d"),
        "z": Vector("d"),
        "W": Matrix("d", "d", (0, 4)),
        "u": Vector("d"),
    },
    conclusion=conclusion.short_of,
    cost=3,
    readings={
        "literal-1": Reading(
            "proved",
            proof="symbolic.tf.convex_combination:prove_hull",
            under=(),
            conclusion=conclusion.within,
            tight=True,
            examples=(PAIR,),
        ),
        "literal-2": Reading(
            "refuted, certified",
            fairness="strained",
            under=(PUT_OUT,),
            variables={"u": None},
            conclusion=conclusion.selected,
            examples=(EQUAL,),
            siblings={"s_t = 1 if and only if t = k, at every W": changed(drop=[PUT_OUT])},
        ),
        "literal-3": Reading(
            "refuted, certified",
            fairness="strained",
            constants={"least": 0},
            under=(),
            variables={"u": None},
            conclusion=conclusion.missed,
            examples=(INSIDE, EQUAL),
            siblings={
                "at a distance of more than 1/1000, T >= 2": changed(
                    least="0.001", variables={"T": Integer(2, 4)}
                )
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.convex_combination:prove_short",
            constants={"share": 1},
            under=(EXPOSED, SEVERAL),
            examples=(PAIR,),
            siblings={"99.9% of both bounds": changed(share="0.999")},
        ),
        "sharp-1": Reading(
            "proved",
            strength="least",
            proof="symbolic.tf.convex_combination:prove_inside",
            constants={"share": 0},
            under=(APART,),
            conclusion=conclusion.inside,
            examples=(PAIR,),
            siblings={"<softmax(X W z), max(X u) - X u> > osc(X u)/1000": changed(share="0.001")},
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.tf.convex_combination:prove_far",
            under=(SEVERAL,),
            variables={"u": None},
            conclusion=conclusion.far,
            tight=True,
            examples=(LED,),
        ),
    },
)
