"""Section 3.4, step 3: the gradient of step 2 in another form.

"We reform the gradient to dL/dx_i = g'(<f, h>) b (<f, v_1> - <f, v_2> <f, v_3>) where v_1 = h o
A_i, v_2 = h, v_3 = A_i." This is the formula of step 2, as g' = g (1 - g) and <f o A_i, h> is <f, h
o A_i> (`literal`). Whether step 2 has the gradient is another question: it lacks b inside g
(`sim/lemma-3.11`). The w(x) = <f, v_1> <f, v_2> <f, v_3> of lemma 3.13 is not this difference.
"""

from attsvm.theory import Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.sim import SOURCE
from properties.sim._support.entry import POINT


def reformed(m: Namespace, v: Values, product: bool = False, slope: str = "g'") -> Comparison:
    """Return that the formula of step 2 is that of step 3, for every column A_i of A."""
    f = m.softmax(v.A @ v.x)
    d = m.dot(f, v.h)
    g = m.logistic(d)
    step_2 = g * (1 - g) * v.b * (v.A.T @ (f * v.h) - d * (v.A.T @ f))
    first, other = (m.diagonal(v.h) @ v.A).T @ f, d * (v.A.T @ f)  # columns of A o h are h o A_i
    factor = g if slope == "g" else m.logistic_slope(d)
    return m.equal(step_2, factor * v.b * (first * other if product else first - other))


APART = {"A": [[1], [0]], "x": [0], "h": [1, 0], "b": 1}

STEP = Statement(
    "sim/step-3",
    rests_on=("sim/lemma-3.11",),
    source=SOURCE,
    place="Section 3.4, step 3",
    printed="We reform the gradient to dL/dx_i = g'(<f, h>) b (<f, v_1> - <f, v_2> <f, v_3>)",
    variables=POINT,
    conclusion=reformed,
    readings={
        "literal": Reading(
            "proved",
            read={"the gradient": "the formula of step 2, whether or not it is the gradient"},
            proof="symbolic.sim.step_3:prove",
            examples=(APART,),
            siblings={
                "<f, v_1> <f, v_2> <f, v_3>, the w(x) of lemma 3.13": changed(
                    product=True, examples=[APART]
                ),
                "g in place of g'": changed(slope="g", examples=[APART]),
            },
        ),
    },
)
