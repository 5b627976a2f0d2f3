"""Section 3.3, fourth bound: softmax attention is Lipschitz.

R_f is not defined. Bounds five and six have the constants R^2 and 1 times beta^-2 n exp(3 R^2),
which is therefore taken for R_f.

spread(A) = max ||A_i - A_j|| / sqrt 2. literal holds for every R, below 4 as well. sharp is
attained for any n >= 2 by two tokens of equal weight, x, y -> 0, with all other tokens far away.
For example: rows (1, 0), (-1, 0), (0, -1), ..., points (z, M) and (-z, M), z -> 0 and then M ->
infinity.

The steps are in `symbolic.sim.published` and `symbolic.sim.sharp`; the first of them gives the
smaller constant beta^-2 n exp(2 R) R. docs/proofs/lipschitz_of_softmax.md has both arguments.
"""

from attsvm.theory import Reading, Statement
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties.sim import SOURCE
from properties.sim._support import bounds


def change(m: Namespace, v: Values) -> Number:
    """Return ||f(x) - f(y)||."""
    return m.norm(bounds.f(m, v.A, v.x) - bounds.f(m, v.A, v.y))


def printed(m: Namespace, v: Values, exponential: bool = True) -> Comparison:
    """Return that ||f(x) - f(y)|| <= R_f ||x - y||, with the R_f that the next bounds imply."""
    return bounds.within(m, v, change(m, v), bounds.published(m, v, exponential=exponential))


def sharp(m: Namespace, v: Values) -> Comparison:
    """Return that ||f(x) - f(y)|| <= spread(A)/2 ||x - y||."""
    return bounds.within(m, v, change(m, v), bounds.softmax_constant(m) * m.spread(v.A))


BOUND = Statement(
    "sim/basic-4",
    rests_on=("sim/basic-1", "sim/basic-2", "sim/basic-3"),
    source=SOURCE,
    place="Section 3.3, fourth bound",
    printed="||f(x) - f(y)||_2 <= R_f ||x - y||_2",
    variables={**bounds.POINTS, **bounds.BOUNDS},
    hypotheses=bounds.LISTED,
    conclusion=printed,
    readings={
        "literal": Reading(
            "proved",
            read={"R_f": "n exp(3 R^2)/beta^2, as the next two bounds of the list imply"},
            proof="symbolic.sim.published:prove_fourth",
            examples=bounds.examples(),
            siblings=bounds.beyond(),
        ),
        "sharp": Reading(
            proof="symbolic.sim.sharp:prove_fourth",
            conclusion=sharp,
            **bounds.WHOLE_SPACE,
            examples=(bounds.ONE_TOKEN, bounds.BALANCED),
        ),
    },
)
