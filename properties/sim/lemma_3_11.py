"""Lemma 3.11: the gradient of one entry of the loss in closed form.

f = softmax(A x), d = <f, h> and L(x) = g(b d), g the logistic function. A has n rows (tokens) and D
columns A_i, h are the values of the tokens, b is the label.

The chain rule puts b inside g' as well. As g' is even, labels in {-1, 0, 1} do not show this.
Smallest counterexample: A = (1, 0), x = 0, h = (1, 0), b = 2. The derivative is g'(1)/2, but the
formula gives g'(1/2)/2. The same slip is in step 2 of section 3.4. The derivative is taken by the
rules of calculus, independently of any closed form. Proof: `symbolic.sim.lemma_3_11`.
"""

from attsvm.theory import Hypothesis, Reading, Statement, changed, gradient
from attsvm.theory.types import Comparison, Namespace, Numbers, Values
from properties.sim import SOURCE
from properties.sim._support.entry import POINT
from properties.sim._support.entry_loss import loss

ONE_TOKEN = {"A": [[1]], "x": [1], "h": [1], "b": 1}
SMALLEST = {"A": [[1], [0]], "x": [0], "h": [1, 0], "b": 2}


def closed_form(
    m: Namespace, v: Values, inside: bool = True, outside: bool = True, second: int = 1
) -> Numbers:
    """Return the closed form of the gradient, as an array.

    The options are b inside g', b in front, and the factor of the second term.
    """
    f = m.softmax(v.A @ v.x)
    d = m.dot(f, v.h)
    g = m.logistic(v.b * d if inside else d)
    terms = v.A.T @ (f * v.h) - second * (d * (v.A.T @ f))
    return g * (1 - g) * (v.b * terms if outside else terms)


def derivative(
    m: Namespace, v: Values, inside: bool = True, outside: bool = True, second: int = 1
) -> Comparison:
    """Return that the gradient of L is the closed form, entry by entry."""
    true = gradient(m, lambda m, x: loss(m, v.A, x, v.h, v.b), v.x)
    return m.equal(true, closed_form(m, v, inside, outside, second))


OTHERS = {
    "second term with a plus": changed(second=-1),
    "second term left out": changed(second=0),
    "no factor b in front": changed(outside=False),
}
"""Siblings with other formulas."""

LABELS = Hypothesis("b is -1, 0 or 1", lambda m, v: m.equal(v.b * v.b * v.b, v.b))

LEMMA = Statement(
    "sim/lemma-3.11",
    rests_on=("sim/definition-3.3", "sim/definition-3.6"),
    source=SOURCE,
    place="Lemma 3.11",
    printed="dL/dx_i = g(<f, h>) (1 - g(<f, h>)) b (<f o A_i, h> - <f, h> <f, A_i>)",
    variables=POINT,
    hypotheses=(LABELS,),
    conclusion=derivative,
    readings={
        "literal": Reading(
            "refuted",
            constants={"inside": False},
            under=(),
            examples=(ONE_TOKEN, SMALLEST),
            siblings=OTHERS,
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_11:prove_labels",
            depends_on=("sim/lemma-3.11:amended-2",),
            constants={"inside": False},
            examples=(ONE_TOKEN,),
            siblings={"second term with a plus": changed(second=-1)},
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_11:prove",
            constants={"inside": True},
            under=(),
            examples=(ONE_TOKEN, SMALLEST),
            siblings={**OTHERS, "b left out of g'": changed(inside=False)},
        ),
    },
)
