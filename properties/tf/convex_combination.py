"""Recap of softmax: attention outputs a convex combination of the tokens.

"Attention outputs: x^att = X^T s where s = S(X W z). x^att is a convex combination of tokens of X.
... What if we want to output the k'th token i.e. x^att <- x_k: Then s_t = 1 if and only if t = k,
||W|| -> infinity." X holds the tokens x_t as rows, z is a query. The k-th token is the first here.

A point lies in the convex hull of the tokens exactly where <u, .> is nowhere above its largest
value over the tokens, for every vector u. The hull is never left (`literal-1`), and its relative
boundary is never reached: s_t > 0 for all t, so <u, x^att> lies strictly between the least and the
largest <u, x_t> unless all are one (`sharp`).

literal-2 and literal-3 may fall where x_1 lies in the hull of the others: tokens 0, 1, -1 put out
x_1 = 0 at W = 0, and two equal tokens do so at every W. Enough is a vector u with
<u, x_1> > <u, x_t> for all t > 1 (x_1 is a vertex of the hull and no other token): the difference
<u, x_1 - x^att> is sum_{t > 1} s_t <u, x_1 - x_t>, so it lies between (1 - s_1) times the least
and (1 - s_1) times the largest of the <u, x_1 - x_t>. So x_1 is put out exactly where s_1 = 1,
which no W brings about, and approached exactly where s_1 tends to 1. The odds (1 - s_1) / s_1 are
the sum of exp(-<x_1 - x_t, W z>) over t > 1, so by Jensen's inequality at least (T - 1) exp(-D
||W||) for D = ||x_1 - mean of the others|| ||z||, which is at most the largest ||x_1 - x_t|| ||z||.
That is attained (`sharp-2`): by tokens 1, 0, 0 at z = W = 1 the odds are 2 exp(-1).
"""

from attsvm.theory import Hypothesis, Integer, Matrix, Reading, Statement, Vector, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties._support.formulas import SEVERAL
from properties.tf import SOURCE


def weights(m: Namespace, v: Values) -> Numbers:
    """The attention s = S(X W z)."""
    return m.softmax(v.X @ (v.W @ v.z))


def output(m: Namespace, v: Values) -> Numbers:
    """x^att = X^T s."""
    return v.X.T @ weights(m, v)


OUTPUT = "s = softmax(X W z) and x^att = X^T s"


@stated("x^att is in the convex hull of the tokens, that is, for every u, $formula", where=OUTPUT)
def within(m: Namespace, v: Values) -> Comparison:
    """<u, x^att> minus the least <u, x_t> is at most the largest minus the least."""
    along = v.X @ v.u
    return m.at_most(m.dot(v.u, output(m, v)) - m.min(along), m.oscillation(along))


def inside(m: Namespace, v: Values, share: Number) -> Comparison:
    """<u, x^att> is below the largest <u, x_t> by more than a share of all that they differ by."""
    along = v.X @ v.u
    short = m.dot(weights(m, v), m.max(along) - along)
    return m.below(share * m.oscillation(along), short)


@stated("$formula", "s = (1, 0, ..., 0)", where=OUTPUT)
def selected(m: Namespace, v: Values) -> Comparison:
    return m.equal(weights(m, v), m.array([m.exact(int(t == 0)) for t in range(v.T)]))


@stated("x^att is x_1 at no W, that is $formula", where=OUTPUT)
def missed(m: Namespace, v: Values, least: Number) -> Comparison:
    """||x^att - x_1|| is above a bound."""
    return m.below(least, m.norm(output(m, v) - v.X[0]))


def differences(m: Namespace, v: Values) -> Numbers:
    """The <u, x_1 - x_t> for t > 1."""
    along = v.X @ v.u
    return along[0] - along[1:]


def exposed(m: Namespace, v: Values) -> Comparison:
    """<u, x_1> is above all other <u, x_t>, if there are any."""
    return m.below(-m.min(differences(m, v)) if v.T > 1 else m.exact(-1), m.exact(0))


@stated(
    "",
    r"0 < \langle u, x_1 - x^{att}\rangle \text{ and } (1 - s_1) \min_t \langle u, x_1 - "
    r"x_t\rangle \le $share \langle u, x_1 - x^{att}\rangle \text{ and } \langle u, x_1 - "
    r"x^{att}\rangle \le $share (1 - s_1) \max_t \langle u, x_1 - x_t\rangle",
    where=f"{OUTPUT}, and t > 1",
)
def short_of(m: Namespace, v: Values, share: Number) -> Relation:
    """<u, x_1 - x^att> is positive and between the least and largest (1 - s_1) <u, x_1 - x_t>."""
    if v.T == 1:
        return m.below(m.exact(0), m.exact(0))  # x^att = x_1
    s, others = weights(m, v), differences(m, v)
    short, rest = m.dot(s[1:], others), m.sum(s[1:])
    return m.all_of(
        m.below(m.exact(0), short),
        m.at_most(rest * m.min(others), share * short),
        m.at_most(short, share * rest * m.max(others)),
    )


@stated(
    "",
    r"(T - 1) \exp(-D \|W\|) \le \frac{1 - s_1}{s_1}",
    where=f"{OUTPUT}, and D = ||x_1 - mean of the other x_t|| ||z||",
)
def far(m: Namespace, v: Values) -> Comparison:
    """(T - 1) exp(-||x_1 - mean of x_t|| ||z|| ||W||) <= (1 - s_1) / s_1, the mean over t > 1."""
    if v.T == 1:
        return m.below(m.exact(0), m.exact(0))  # s_1 = 1
    s, apart = weights(m, v), v.X[0] - m.sums(v.X[1:].T) / (v.T - 1)
    D = m.sqrt(m.sum(m.square(apart)) * m.sum(m.square(v.z)) * m.sum(m.square(v.W)))
    return m.at_most((v.T - 1) * m.exp(-D), m.sum(s[1:]) / s[0])


INSIDE = {"X": [[0], [1], [-1]], "z": [1], "W": [[0]]}
EQUAL = {"X": [[1], [1]], "z": [1], "W": [[3]]}
PAIR = {"X": [[1], [0]], "z": [1], "W": [[1]], "u": [1]}
LED = {"X": [[1], [0], [0]], "z": [1], "W": [[1]]}

PUT_OUT = Hypothesis("x^att = x_1", lambda m, v: m.equal(output(m, v), v.X[0]))
EXPOSED = Hypothesis("<u, x_1> > <u, x_t> for all t > 1", exposed)
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
    conclusion=short_of,
    cost=3,
    readings={
        "literal-1": Reading(
            "proved",
            proof="symbolic.tf.convex_combination:prove_hull",
            under=(),
            conclusion=within,
            tight=True,
            examples=(PAIR,),
        ),
        "literal-2": Reading(
            "refuted, certified",
            under=(PUT_OUT,),
            variables={"u": None},
            conclusion=selected,
            examples=(EQUAL,),
            siblings={"s_t = 1 if and only if t = k, at every W": changed(drop=[PUT_OUT])},
        ),
        "literal-3": Reading(
            "refuted, certified",
            constants={"least": 0},
            under=(),
            variables={"u": None},
            conclusion=missed,
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
            proof="symbolic.tf.convex_combination:prove_inside",
            constants={"share": 0},
            under=(APART,),
            conclusion=inside,
            examples=(PAIR,),
            siblings={"by a thousandth of all that they differ by": changed(share="0.001")},
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.tf.convex_combination:prove_far",
            under=(SEVERAL,),
            variables={"u": None},
            conclusion=far,
            tight=True,
            examples=(LED,),
        ),
    },
)
