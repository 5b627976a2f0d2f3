"""Frequencies of all tokens supporting all Local-SVMs, and bounds of this probability."""

from typing import TYPE_CHECKING

from attsvm.data import AttentionData
from attsvm.primitives import run_programs
from attsvm.primitives.counts import probability
from attsvm.primitives.hypotheses import all_tight
from attsvm.theory import Slack, stated
from attsvm.theory.types import Comparison, Namespace
from properties._support import laws as signs
from properties._support import token_choices as choices
from properties.tf.overparameterisation import laws
from properties.tf.overparameterisation.laws import Law

if TYPE_CHECKING:
    import sympy as sp

SAMPLES = 200
"""Number of samples of a count; conclusions use multiples of it."""


@stated(
    "$where, that is $formula",
    "P = 1",
    {
        "where": {
            "Att-SVM": "all tokens support the Att-SVM",
            "Local-SVMs": "every Local-SVM has a solution that all tokens support",
        }
    },
    where="P is the probability if the random data are equal to one data set with probability 1",
    checked=run_programs.all_support,
)
def certain(m: Namespace, data: AttentionData, where: str = "Att-SVM") -> Comparison:
    if where == "Att-SVM":
        return m.equal(m.exact(int(all_tight(data))), m.exact(1))
    holds = choices.all_solved(data) and choices.all_support_everywhere(data)
    return m.equal(m.exact(int(holds)), m.exact(1))


def obtuse(T: "sp.Expr", d: "sp.Expr", more: int = 0) -> tuple["sp.Expr", "sp.Expr"]:
    """Return q and m of the probability I_q(m/2, m/2) that a dihedral angle is obtuse.

    They are (T - 2)/(2 (T - 1)) and d - T + 3; `more` is added to m.
    """
    return (T - 2) / (2 * (T - 1)), d - T + 3 + more


def base(T: "sp.Expr") -> "sp.Expr":
    """Return 1 - 1/(T - 1)^2, whose power m/2 bounds the probability of an obtuse angle."""
    return 1 - 1 / (T - 1) ** 2


def least_chance(law: Law, power: int = 1) -> float:
    """Return max(0, 1 - C(T, 2) (1 - 1/(T - 1)^2)^(power m/2))^n."""
    m = obtuse(law.T, law.d)[1]
    one = 1.0 - laws.pairs(law.T) * float(base(float(law.T))) ** (power * m / 2.0)
    return float(max(one, 0.0) ** law.n)


def chance(law: Law, angles: int = 3, more: int = 0) -> float:
    """Return (1 - angles I_{1/4}(m/2, m/2))^n with m = d + more; rounding is kept from below 0."""
    from scipy.special import betainc  # few commands need it

    q, m = obtuse(3, law.d, more)
    return float(max(1.0 - angles * betainc(m / 2.0, m / 2.0, q), 0.0)) ** law.n


def _again(law: Law) -> Law:
    return Law(law.n, law.T, law.d, law.seed + 10_000)


def _frequent(law: Law, power: int, tokens: str, samples: int) -> Slack:
    if law.T < 2 or law.d < law.T - 1:
        return Slack(-1.0, 0.0)  # the bound is not defined
    high = laws.bracket(law, tokens, samples)[1]
    return Slack.at_most(least_chance(law, power), high, 0.0 if high == 1.0 else 1e-9)


def frequent(law: Law, power: int = 1, tokens: str = "gaussian") -> Slack:
    """Return the slack of "the probability is at least `least_chance`", by a counted interval."""
    return _frequent(law, power, tokens, SAMPLES)


def frequent_again(law: Law, power: int = 1, tokens: str = "gaussian") -> Slack:
    """Return the slack of `frequent` by other samples, four times as many."""
    return _frequent(_again(law), power, tokens, 4 * SAMPLES)


def _exactly(law: Law, angles: int, more: int, tokens: str, samples: int) -> Slack:
    low, high = laws.bracket(law, tokens, samples)
    claimed = chance(law, angles, more)
    below = Slack.at_most(claimed, high, 0.0 if high == 1.0 else 1e-9)
    above = Slack.at_most(low, claimed, 0.0 if low == 0.0 else 1e-9)
    return min(above, below, key=lambda side: side.value)


def exactly(law: Law, angles: int = 3, more: int = 0, tokens: str = "gaussian") -> Slack:
    """Return the slack of "the probability is `chance`", by a counted interval."""
    return _exactly(law, angles, more, tokens, 3 * SAMPLES)


def exactly_again(law: Law, angles: int = 3, more: int = 0, tokens: str = "gaussian") -> Slack:
    """Return the slack of `exactly` by other samples, four times as many."""
    return _exactly(_again(law), angles, more, tokens, 12 * SAMPLES)


def _spherically(law: Law, factor: int, tokens: str, samples: int) -> Slack:
    if law.T < 2:
        return Slack(-1.0, 0.0)  # k = 0, by which the bound divides
    least = signs.least_chance(law, factor)
    return Slack.at_most(least, laws.bracket(law, tokens, samples)[1], 1e-9)


def spherically(law: Law, factor: int = 1, tokens: str = "spherical") -> Slack:
    """Return the slack of "at least 1 - M exp(-factor d e^2/2)", by a counted interval's end."""
    return _spherically(law, factor, tokens, SAMPLES // 4)


def spherically_again(law: Law, factor: int = 1, tokens: str = "spherical") -> Slack:
    """Return the slack of `spherically` by other samples, four times as many."""
    return _spherically(_again(law), factor, tokens, SAMPLES)


GAUSSIAN, SPHERICAL = ("tokens", "gaussian"), ("tokens", "spherical")
"""Constants that name the law to be sampled."""
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
