"""Section 3.3, third bound: the inverse of alpha is Lipschitz in alpha.

beta is not defined; read: a positive lower bound of both values. A bound of one of them will not
do (a sibling: n = 1, A = 1, x = 0, y = -1, beta = 1). On the right alpha has lost its indices.

literal-2 falls because one block may gain what another one loses. For A_1 = (1, -1), A_2 = (0, 1),
x = 1, y = -1 both sums are 2 + 2 cosh 1. sharp-1 is attained as alpha(x) = beta, alpha(y) -> beta.
sharp-2 has the best lower bound if ||A x||, ||A y|| <= R, beta = n exp(-R / sqrt n). It is attained
by A = -1_n, x = R / sqrt n, y -> x.

Proof (`symbolic.sim.basic_3`): 1/a - 1/b = (b - a) / (a b), and a b >= beta^2; alpha >= n exp(mean
of the logits), as e^s >= e^m (1 + s - m) for every s (the bound of basic-1), and the mean is at
least -R / sqrt n.
"""

from collections.abc import Callable
from fractions import Fraction

from attsvm.theory import Fitted, Hypothesis, Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.sim import SOURCE
from properties.sim._support.bounds import BLOCKS, POINTS, alpha
from properties.sim._support.entry import LOGITS, on_line

SAME = on_line([1, 0], x=1, y=1, beta=2)
CLOSE = on_line([1], x=0, y=Fraction(1, 4096), beta=1)
EDGE = on_line([-1] * 4, x=2, y=2 - Fraction(1, 2**14), R=4)
"""Four equal tokens with the smallest logits in the ball."""

ABOVE = (
    Hypothesis("0 < beta <= alpha(x)", lambda m, v: below_alpha(m, v, v.x)),
    Hypothesis("0 < beta <= alpha(y)", lambda m, v: below_alpha(m, v, v.y)),
)
ONE_SIDED = {
    f"beta bounds alpha({kept}) alone": changed(
        drop=[ABOVE[1 - k]], examples=[on_line([1], x=-k, y=k - 1, beta=1)]
    )
    for k, kept in enumerate("xy")
}


def below_alpha(m: Namespace, v: Values, point: Numbers) -> Relation:
    """Return that 0 < beta <= alpha at a point."""
    return m.all_of(m.above(v.beta, m.exact(0)), m.at_most(v.beta, alpha(m, v.A, point)))


def block_change(m: Namespace, v: Values) -> Number:
    """Return alpha(x) - alpha(y)."""
    return alpha(m, v.A, v.x) - alpha(m, v.A, v.y)


def whole_change(m: Namespace, v: Values) -> Number:
    """Return the change of the sums over all n^2 rows."""
    return m.sum(m.exp(v.whole @ v.x)) - m.sum(m.exp(v.whole @ v.y))


def inverse_bound(
    m: Namespace, v: Values, factor: Number, change: Callable[[Namespace, Values], Number]
) -> Comparison:
    """Return that |1/alpha(x) - 1/alpha(y)| <= factor |change|."""
    left = 1 / alpha(m, v.A, v.x) - 1 / alpha(m, v.A, v.y)
    return m.at_most(m.abs(left), factor * m.abs(change(m, v)))


def by_beta(
    m: Namespace,
    v: Values,
    power: int = 2,
    change: Callable[[Namespace, Values], Number] = block_change,
) -> Comparison:
    """Return that |1/alpha(x) - 1/alpha(y)| <= beta^-power |change|."""
    return inverse_bound(m, v, 1 / m.power(v.beta, power), change)


def by_radius(m: Namespace, v: Values) -> Comparison:
    """Return that |1/alpha(x) - 1/alpha(y)| <= exp(2 R / sqrt n)/n^2 |alpha(x) - alpha(y)|."""
    return inverse_bound(m, v, m.exp(2 * v.R / m.sqrt(m.exact(v.n))) / v.n**2, block_change)


BOUND = Statement(
    "sim/basic-3",
    source=SOURCE,
    place="Section 3.3, third bound",
    printed="|alpha(x)^-1 - alpha(y)^-1| <= beta^-2 |alpha(x) - alpha(y)|",
    variables={**POINTS, "beta": Fitted()},
    conclusion=by_beta,
    readings={
        "literal-1": Reading(
            "proved",
            read={"beta": "a lower bound of alpha(x) and alpha(y)"},
            proof="symbolic.sim.basic_3:prove",
            under=ABOVE,
            examples=(SAME, CLOSE),
            siblings={**ONE_SIDED, "beta^-3": changed(power=3), "beta^-1": changed(power=1)},
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={
                "beta": "a lower bound of alpha(x) and alpha(y)",
                "alpha(x) - alpha(y)": "the difference of the sums over all n^2 rows",
            },
            under=ABOVE,
            constants={"change": whole_change},
            variables=BLOCKS,
            examples=({"A_1": [[1], [-1]], "A_2": [[0], [1]], "X": [[1]], "Y": [[-1]], "beta": 1},),
            siblings={
                "beta^-1": changed(power=1),
                "95% of the right side": changed(tightened="0.95"),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.basic_3:prove",
            under=ABOVE,
            tight=True,
            examples=(SAME, CLOSE),
            siblings=ONE_SIDED,
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.basic_3:prove_in_ball",
            under=(LOGITS,),
            variables={"beta": None, "R": Fitted()},
            conclusion=by_radius,
            tight=True,
            examples=(on_line([1], x=0, y=1, R=1), EDGE),
        ),
    },
)
