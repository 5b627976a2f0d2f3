"""Over-parameterisation: how likely all tokens are support vectors, against the dimension.

"If all tokens are support vectors of Att-SVM ... This condition holds as d grows (explains blue
bars -> 1)". "If all tokens are support vectors in all Local-SVM's ... Holds as d becomes even
larger (explains red bars -> 1)". No law of the data is named, so that any is meant, n and T are
fixed, and "holds as d grows" is read as: its probability tends to 1.

It does not for every law: data that stay in three dimensions of the d, such as tokens 2, 1 and 0
along one axis, have in every dimension the support vectors that they have there. Nor does it on
the language of sim, whose default has every d at once (`sim/large-dimension`).

For Gaussian tokens the law is known (`sharp`). One input is a simplex. With h_t the affine function
that is 1 at token t and 0 at the others, the multiplier of t in the Local-SVM of s is
-<grad h_s, grad h_t>, so that all tokens are support vectors of all Local-SVMs exactly where no
dihedral angle is obtuse. Project the others, T - 2 of them, to one point c: the angle of s and t is
obtuse where <x_s - c, x_t - c> < 0, that is |u|^2 < |v|^2 for u = (x_s + x_t)/2 - c and
v = (x_s - x_t)/2. These are independent and Gaussian in m = d - T + 3 dimensions with variances
T/(2 (T - 2)) and 1/2, so that the probability is I_q(m/2, m/2), q = (T - 2)/(2 (T - 1)), I being
the regularised incomplete beta function, and at most (1 - 1/(T - 1)^2)^(m/2); where C(T, 2) of
these add up to more than 1 `amended-1` says nothing, its bound being 0. A triangle has one
obtuse angle at most, so that its three probabilities add up. At d = 2 it is the well-known 3/4.
With orthogonal queries inputs are independent problems.

More is said in `symbolic/tf/overparameterisation.py`.
"""

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives.counts import probability
from attsvm.primitives.hypotheses import all_tight
from attsvm.strategies.data import attention_data
from attsvm.theory import Hypothesis, Reading, Records, Slack, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace
from properties.sim._support import laws as signs
from properties.sim._support.laws import SEVERAL
from properties.tf import SOURCE
from properties.tf._support import token_choices as choices
from properties.tf.overparameterisation import laws
from properties.tf.overparameterisation.laws import Law

if TYPE_CHECKING:
    import sympy as sp

SAMPLES = 200
IN_LINE = AttentionData.of([[[2], [1], [0]]], [[1]], scores=[[1, 0, 0]])
"""In every dimension token 0 is beyond the margin."""

PLACE, HOLDS = (
    "Main results on large d",
    "This condition holds as d grows (explains blue bars -> 1)",
)


@stated(
    "$where, that is $formula",
    "P = 1",
    {
        "where": {
            "Att-SVM": "all tokens support the Att-SVM",
            "Local-SVMs": "every Local-SVM has a solution that all tokens support",
        }
    },
    where="P is the probability under the law that is this data set alone, whatever d is",
)
def certain(m: Namespace, data: AttentionData, where: str = "Att-SVM") -> Comparison:
    if where == "Att-SVM":
        return m.equal(m.exact(int(all_tight(data))), m.exact(1))
    holds = choices.all_solved(data) and choices.all_support_everywhere(data)
    return m.equal(m.exact(int(holds)), m.exact(1))


def obtuse(T: "sp.Expr", d: "sp.Expr", more: int = 0) -> tuple[Any, Any]:
    """The q and m of the chance I_q(m/2, m/2): (T - 2)/(2 (T - 1)) and d - T + 3."""
    return (T - 2) / (2 * (T - 1)), d - T + 3 + more


def base(T: Any) -> Any:
    """1 - 1/(T - 1)^2, of which the m/2-th power bounds that chance."""
    return 1 - 1 / (T - 1) ** 2


def least_chance(law: Law, power: int = 1) -> float:
    """max(0, 1 - C(T, 2) (1 - 1/(T - 1)^2)^(m/2))^n."""
    m = obtuse(law.T, law.d)[1]
    one = 1.0 - laws.pairs(law.T) * float(base(float(law.T))) ** (power * m / 2.0)
    return float(max(one, 0.0) ** law.n)


def chance(law: Law, angles: int = 3, more: int = 0) -> float:
    """(1 - 3 I_{1/4}(d/2, d/2))^n; at d = 1 that is 0, which rounding may bring below."""
    from scipy.special import betainc  # few commands need it

    q, m = obtuse(3, law.d, more)
    return float(max(1.0 - angles * betainc(m / 2.0, m / 2.0, q), 0.0)) ** law.n


def _again(law: Law) -> Law:
    return Law(law.n, law.T, law.d, law.seed + 10_000)


def _frequent(law: Law, power: int, tokens: str, samples: int) -> Slack:
    if law.T < 2 or law.d < law.T - 1:
        return Slack(-1.0, 0.0)  # there are no such powers
    high = laws.bracket(law, tokens, samples)[1]
    return Slack.at_most(least_chance(law, power), high, 0.0 if high == 1.0 else 1e-9)


def frequent(law: Law, power: int = 1, tokens: str = "gaussian") -> Slack:
    """At least that probability, by the upper end of a counted interval."""
    return _frequent(law, power, tokens, SAMPLES)


def frequent_again(law: Law, power: int = 1, tokens: str = "gaussian") -> Slack:
    """The same by other samples, four times as many."""
    return _frequent(_again(law), power, tokens, 4 * SAMPLES)


def _exactly(law: Law, angles: int, more: int, tokens: str, samples: int) -> Slack:
    low, high = laws.bracket(law, tokens, samples)
    found = chance(law, angles, more)
    below = Slack.at_most(found, high, 0.0 if high == 1.0 else 1e-9)
    above = Slack.at_most(low, found, 0.0 if low == 0.0 else 1e-9)
    return min(above, below, key=lambda side: side.value)


def exactly(law: Law, angles: int = 3, more: int = 0, tokens: str = "gaussian") -> Slack:
    """That probability lies in a counted interval."""
    return _exactly(law, angles, more, tokens, 3 * SAMPLES)


def exactly_again(law: Law, angles: int = 3, more: int = 0, tokens: str = "gaussian") -> Slack:
    """The same by other samples, four times as many."""
    return _exactly(_again(law), angles, more, tokens, 12 * SAMPLES)


def _spherically(law: Law, factor: int, tokens: str, samples: int) -> Slack:
    if law.T < 2:
        return Slack(-1.0, 0.0)  # k = 0, and the bound divides by it
    least = signs.least_chance(law, factor)
    return Slack.at_most(least, laws.bracket(law, tokens, samples)[1], 1e-9)


def spherically(law: Law, factor: int = 1, tokens: str = "spherical") -> Slack:
    """At least 1 - M exp(-factor d e^2/2), by the upper end of a counted interval."""
    return _spherically(law, factor, tokens, SAMPLES // 4)


def spherically_again(law: Law, factor: int = 1, tokens: str = "spherical") -> Slack:
    """The same by other samples, four times as many."""
    return _spherically(_again(law), factor, tokens, SAMPLES)


GAUSSIAN, SPHERICAL = ("tokens", "gaussian"), ("tokens", "spherical")
"""The law that is sampled: a constant of each conclusion."""
SAID = {
    "tokens": {
        "gaussian": "n inputs of T independent standard Gaussian tokens in R^d, with orthogonal "
        "queries, none 0,",
        "spherical": "n inputs of T tokens and a query, all independent and uniform on the unit "
        "sphere of R^d,",
    }
}
ALL = "that all tokens of $tokens support all Local-SVMs, "
BOUND = probability(
    ALL + "b = 1 - 1/(T - 1)^2, m = d - T + 3",
    r"\max\left(0, 1 - \frac{T (T - 1)}{2} b^{$power m/2}\right)^n",
    floats=frequent,
    again=frequent_again,
    symbols=SAID,
)
EXACT = probability(
    ALL + "I the regularised incomplete beta function, q = 1/4",
    r"\left(1 - $angles I_q\left(\frac{m}{2}, \frac{m}{2}\right)\right)^n, m = d + $more",
    "=",
    floats=exactly,
    again=exactly_again,
    symbols=SAID,
)
SPHERE = probability(
    ALL + signs.LETTERS,
    signs.NEARLY_ORTHOGONAL,
    floats=spherically,
    again=spherically_again,
    symbols=SAID,
)
SMALL, FLAT = Law(3, 4, 16), Law(1, 3, 2)

SOME = Hypothesis("d >= T - 1", lambda law: law.d >= law.T - 1)
TRIANGLE = Hypothesis("T = 3", lambda law: law.T == 3)

PROBABILITY = Statement(
    "tf/overparameterisation",
    source=SOURCE,
    place=PLACE,
    printed=f"If all tokens are support vectors of Att-SVM ... {HOLDS}. If all tokens are support "
    "vectors in all Local-SVM's ... Holds as d becomes even larger (explains red bars -> 1)",
    variables=Records(AttentionData, attention_data(T=(1, 3))),
    conclusion=certain,
    cost=4,
    violating={SOME: [Law(1, 4, 2)], SEVERAL: [Law(1, 1, 1)], TRIANGLE: [Law(1, 4, 16)]},
    readings={
        "literal-1": Reading(
            "refuted, certified",
            read={"as d grows": "for fixed n and T and any law of the data"},
            under=(),
            examples=(IN_LINE,),
            siblings={"of all Local-SVMs": changed(where="Local-SVMs")},
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={"as d becomes even larger": "for fixed n and T and any law of the data"},
            constants={"where": "Local-SVMs"},
            under=(),
            examples=(IN_LINE,),
            siblings={"of the Att-SVM": changed(where="Att-SVM")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.overparameterisation:prove_bound",
            under=(SOME, SEVERAL),
            variables=Records(Law, laws.drawn(2, (2, 4), (1, 48))),
            conclusion=BOUND,
            cost=20,
            examples=(SMALL, Law(1, 2, 1), Law(1, 3, 24), Law(2, 4, 64)),
            siblings={"a power 16 times as large": changed(power=16, examples=[SMALL, FLAT])},
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.overparameterisation:prove_sphere",
            under=(SEVERAL,),
            variables=Records(
                Law,
                st.one_of(laws.drawn(2, (2, 3), (8, 64)), laws.drawn(1, (2, 3), (240, 512))),
            ),  # of one input of three tokens the bound is above 0 from d = 230 on
            conclusion=SPHERE,
            cost=20,
            examples=(Law(1, 2, 64), Law(2, 2, 256), Law(1, 3, 512), Law(2, 3, 16)),
            siblings={
                "an exponent 64 times as large": changed(factor=64, examples=[Law(1, 8, 128)])
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.overparameterisation:prove_triangle",
            under=(TRIANGLE,),
            variables=Records(Law, laws.drawn(2, (3, 3), (2, 12)), fixed=("T",)),
            conclusion=EXACT,
            cost=60,
            examples=(FLAT, Law(1, 3, 1), Law(1, 3, 3), Law(2, 3, 4)),
            siblings={
                "two angles of three": changed(angles=2, examples=[FLAT]),
                "one dimension more": changed(more=1, examples=[FLAT]),
            },
        ),
    },
)
