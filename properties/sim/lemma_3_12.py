"""Lemma 3.12: the derivative of the logistic function is Lipschitz.

As printed it names q in its first sentence and g in its formula; both are read as the logistic
function of definition 3.5, g(x) = 1 / (1 + exp(-x)). The second point, x hat in print, is y here.

The best constant, 1/(6 sqrt 3) = 0.0962, is approached by pairs around ln(2 + sqrt 3). Proof by the
mean value theorem: `symbolic.sim.lemma_3_12` finds both suprema.
"""

from fractions import Fraction

from attsvm.theory import Near, Reading, Real, Statement, changed, definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim import SOURCE


@definition(r"\|g''\|_\infty")
def steepest(m: Namespace) -> Numbers:
    """Return the supremum of |g''|."""
    return 1 / (6 * m.sqrt(m.exact(3)))


def slope_change(m: Namespace, v: Values, constant: Number | None = None) -> Comparison:
    """Return that |g'(x) - g'(y)| <= constant |x - y|; by default the constant is sup |g''|."""
    change = m.logistic_slope(v.x) - m.logistic_slope(v.y)
    bound = steepest(m) if constant is None else constant
    return m.at_most(m.abs(change), bound * m.abs(v.x - v.y))


LEMMA = Statement(
    "sim/lemma-3.12",
    source=SOURCE,
    place="Lemma 3.12",
    printed="|g'(x) - g'(x^)| <= |x - x^|",
    variables={"x": Real((0, 3)), "y": Near("x", ())},
    conclusion=slope_change,
    readings={
        "literal": Reading(
            "proved",
            read={"x^": "y"},
            proof="symbolic.sim.lemma_3_12:prove",
            constants={"constant": 1},
            siblings={
                "constant 1/11": changed(constant=Fraction(1, 11)),
                "constant 1/16": changed(constant=Fraction(1, 16)),
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_12:prove",
            tight=True,
        ),
    },
)
