"""Section 3.4, step 1: the logistic function is Lipschitz.

Print writes logistic(.) for g(x) = 1 / (1 + exp(-x)), and x hat for y. Proof: g' = g (1 - g) is at
most 1/4, which is approached by x = -y -> 0; `symbolic.sim.logistic_lipschitz`.
"""

from fractions import Fraction

from attsvm.theory import Near, Reading, Real, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties.sim import SOURCE


def change(m: Namespace, v: Values, constant: Number) -> Comparison:
    """Return that |g(x) - g(y)| <= constant |x - y|."""
    return m.at_most(m.abs(m.logistic(v.x) - m.logistic(v.y)), constant * m.abs(v.x - v.y))


STEP = Statement(
    "sim/logistic-lipschitz",
    source=SOURCE,
    place="Section 3.4, step 1",
    printed="|logistic(x) - logistic(x^)| <= |x - x^|",
    variables={"x": Real((0, 3)), "y": Near("x", ())},
    conclusion=change,
    readings={
        "literal": Reading(
            "proved",
            read={"x^": "y"},
            proof="symbolic.sim.logistic_lipschitz:prove",
            constants={"constant": 1},
            siblings={
                "constant 0.2375": changed(constant="0.2375"),
                "constant 1/5": changed(constant=Fraction(1, 5)),
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.logistic_lipschitz:prove",
            constants={"constant": Fraction(1, 4)},
            tight=True,
            siblings={"the constant 0.0963 of g'": changed(constant="0.0963")},
        ),
    },
)
