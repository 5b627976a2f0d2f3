"""The joint regularisation path for the logistic loss l(x) = log(1 + exp(-x)), as in the abstract.

The abstract optimises "v and p simultaneously with logistic loss", and says that "the
regularization paths directionally converge to their respective hard-margin SVM solutions".
`mm/theorem-2` says what is true of the directions of any pair with a label margin near Gamma =
1/||v(alpha)||; its pairs (v_r, p_R) are those of exp(-x). Here is what the logistic loss changes.

The pair (v_r, p_R) minimises the risk. u_i are its margins Y_i v_r^T x_i^p, with the inputs x_i^p
attended to at p_R. w_i are those of another pair: the head r v(alpha)/||v(alpha)|| and the prompt R
p(alpha)/||p(alpha)||. With a constant c, min_i w_i >= r (Gamma - c exp(-R/||p(alpha)||)).

The risk of the path is at most that of any pair. So exp(-min u) <= (1 + exp(-min w))^n - 1
(`sharp`), with equality for n = 1, and nearly so if one input has all of the risk. If min w >=
ln(2 n), then min u >= min w - ln(2 n) (`amended-1`); for exp(-x) the same holds with ln n. Hence
min u/r, the label margin of v_r/r, tends to Gamma as r and R tend to infinity in any way, and v_r/r
to v(alpha)/||v(alpha)||, under the hypotheses of `mm/theorem-2:amended`.

For the prompt the risks have to agree up to a factor that tends to 1. They do: the mean of
log(1 + exp(-u_i)) is at most that of exp(-u_i), and at least that divided by 1 + exp(-min u)
(`amended-2`), which tends to 1 with exp(-r).

There is no literal reading of its own. The paths of `mm/theorem-2:literal-1`, with R fixed, have
one input. There all strictly decreasing losses have the same pairs (v_r, p_R), so the sentence
fails for the logistic loss, too.
"""

from fractions import Fraction

from attsvm.theory import Hypothesis, Integer, Near, Reading, Statement, Vector, changed, definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.mm import SOURCE


@definition(r"L({u})")
def risk(m: Namespace, u: Numbers, n: Number) -> Number:
    """Return the mean of log(1 + exp(-u_i))."""
    return m.sum(m.log1p(m.exp(-u))) / n


def not_behind(m: Namespace, v: Values, inputs: Number = 1) -> Comparison:
    """Return that min w <= min u + ln(k n), as exp(-min u) <= k n exp(-min w)."""
    return m.at_most(m.exp(-m.min(v.u)), inputs * v.n * m.exp(-m.min(v.w)))


def exactly(m: Namespace, v: Values) -> Comparison:
    """Return that exp(-min u) <= (1 + exp(-min w))^n - 1."""
    return m.at_most(m.exp(-m.min(v.u)), m.expm1(v.n * m.log1p(m.exp(-m.min(v.w)))))


def close(m: Namespace, v: Values, share: Number = 1) -> Relation:
    """Return that the risk lies between the mean of exp(-u_i) and a part of it."""
    mean = m.sum(m.exp(-v.u)) / v.n
    part = mean / (1 + share * m.exp(-m.min(v.u)))
    return m.all_of(m.at_most(part, risk(m, v.u, v.n)), m.at_most(risk(m, v.u, v.n), mean))


BETTER = Hypothesis(
    "L(u) <= L(w)",
    lambda m, v: m.at_most(risk(m, v.u, v.n), risk(m, v.w, v.n)),
    says="the margins u and w of two pairs, in n inputs, have risks L(u) <= L(w)",
)
LARGE = Hypothesis(
    "min w >= ln(2 n)",
    lambda m, v: m.at_most(2 * v.n * m.exp(-m.min(v.w)), m.exact(1)),
    says="2 n exp(-min w) <= 1",
)

ALONE = {"u": [0], "w": [0]}
SPREAD = {"u": [Fraction(3, 4), 40], "w": [Fraction(3, 2)] * 2}
"""One input has nearly all of the risk: exp(-3/4) is above 2 exp(-3/2)."""

PROOF = "symbolic.mm.logistic_joint_path"

PATH = Statement(
    "mm/logistic-joint-path",
    rests_on=("mm/theorem-2",),
    source=SOURCE,
    place="Abstract",
    printed="When optimizing v and p simultaneously with logistic loss, we identify conditions "
    "under which the regularization paths directionally converge to their respective hard-margin "
    "SVM solutions where v separates the input features based on their labels",
    variables={"n": Integer(1, 5), "u": Vector("n"), "w": Vector("n")},
    hypotheses=(BETTER, LARGE),
    conclusion=not_behind,
    readings={
        "amended-1": Reading(
            "proved",
            proof=PROOF + ":prove_doubled",
            constants={"inputs": 2},
            variables={"w": Vector("n", (2, 0, 4), least=0), "u": Near("w", powers=(0, -3))},
            examples=(SPREAD,),
            siblings={"ln n in place of ln(2 n)": changed(inputs=1, examples=[SPREAD])},
        ),
        "amended-2": Reading(
            "proved",
            proof=PROOF + ":prove_close",
            under=(),
            variables={"w": None},
            conclusion=close,
            examples=({"u": [0]}, {"u": [4, 8]}),
            siblings={"1 + exp(-min u)/4 in place of 1 + exp(-min u)": changed(share="0.25")},
        ),
        "sharp": Reading(
            "proved",
            proof=PROOF + ":prove",
            under=(BETTER,),
            conclusion=exactly,
            tight=True,
            examples=(ALONE, SPREAD),
        ),
    },
)
