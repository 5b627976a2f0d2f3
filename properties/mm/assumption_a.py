"""Assumption A: which losses meet it.

"Over any bounded interval: i) l is strictly decreasing. ii) l' is M_0-Lipschitz continuous and
|l'(u)| <= M_1." No loss is named there. Usual are -u, exp(-u) and log(1 + exp(-u)). For -u both
parts are plain, with M_0 = 0 and M_1 = 1. On [-R, R] exp(-u) has M_0 = M_1 = exp(R), which cannot
be less (`literal-1`). For log(1 + exp(-u)) M_0 = 1/4 and M_1 = 1 do for all u (`literal-2`).

The assumption does not give a negative slope, which proofs of theorem I need: -u^3 meets it, with
M_0 = 6 R and M_1 = 3 R^2, and has the slope 0 at u = 0 (`literal-3`). With it descent
(`tf/local-convergence`) and the regularisation path (`tf/theorem-2`) have other limits. The hinge
max(0, 1 - u) does not meet the assumption: it is constant from 1 on, and its slope jumps there.
"""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.theory import Hypothesis, Meeting, Near, Reading, Real, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Number, Relation, Values
from properties.mm import SOURCE


def of_power(m: Namespace, v: Values, share: Number = 1) -> Relation:
    """Return that exp(-u) falls from x to y, and how fast its slope changes on [-R, R]."""
    first, second, most = m.exp(-v.x), m.exp(-v.y), m.exp(v.R)
    return m.all_of(
        m.below(second, first),
        m.at_most(first - second, share * most * (v.y - v.x)),
        m.at_most(first, most),
    )


def of_log(m: Namespace, v: Values, share: Number = 1) -> Relation:
    """Return that log(1 + exp(-u)) falls from x to y, and how fast its slope -g(-u) changes."""
    first, second = m.logistic(-v.x), m.logistic(-v.y)
    return m.all_of(
        m.below(m.log1p(m.exp(-v.y)), m.log1p(m.exp(-v.x))),
        m.at_most(m.abs(first - second), share * (m.abs(v.y - v.x) / 4)),
        m.below(first, m.exact(1)),
    )


def of_cube(m: Namespace, v: Values, above: Number = 0) -> Comparison:
    """Return that the slope -3 x^2 of -u^3 at x has a size above a bound."""
    return m.below(m.exact(0) + above, 3 * v.x * v.x)


def covering(R: Array, known: Mapping[str, Array]) -> Array:
    """Return R, raised to the larger of |x| and |y|."""
    return np.maximum(R, np.maximum(abs(known["x"]), abs(known["y"])))


def behind(y: Array, known: Mapping[str, Array]) -> Array:
    """Return y, moved above x."""
    x = known["x"]
    return np.where(y > x, y, 2 * x - y + np.where(y == x, 0.125, 0.0))


ORDERED = Hypothesis("x < y", lambda m, v: m.below(v.x, v.y))
INSIDE = Hypothesis(
    "|x|, |y| <= R",
    lambda m, v: m.all_of(m.at_most(m.abs(v.x), v.R), m.at_most(m.abs(v.y), v.R)),
)

LEFT = {"x": -2, "y": -2 + 2.0**-8, "R": 2}
CENTRE = {"x": -(2.0**-5), "y": 2.0**-5}

LOSSES = Statement(
    "mm/assumption-a",
    source=SOURCE,
    place="Assumption A",
    printed="Over any bounded interval: i) l is strictly decreasing. ii) l' is M_0-Lipschitz "
    "continuous and |l'(u)| <= M_1",
    variables={
        "x": Real((0, 2)),
        "y": Meeting(ORDERED, Near("x", ()), behind),
        "R": Meeting(INSIDE, Real(), covering),
    },
    conclusion=of_power,
    readings={
        "literal-1": Reading(
            "proved",
            read={"l": "exp(-u)", "M_0": "exp(R) on [-R, R]", "M_1": "exp(R)"},
            proof="symbolic.mm.assumption_a:prove_power",
            under=(ORDERED, INSIDE),
            examples=(LEFT,),
            siblings={"half of M_0": changed(share="0.5", examples=[LEFT])},
        ),
        "literal-2": Reading(
            "proved",
            read={"l": "log(1 + exp(-u))", "M_0": "1/4", "M_1": "1"},
            proof="symbolic.mm.assumption_a:prove_log",
            conclusion=of_log,
            under=(ORDERED,),
            variables={"R": None},
            examples=(CENTRE,),
            siblings={"95% of M_0": changed(share="0.95", examples=[CENTRE])},
        ),
        "literal-3": Reading(
            "refuted",
            fairness="strained",
            read={
                "strictly decreasing": "with a negative slope everywhere, such as -3 x^2 of -u^3"
            },
            conclusion=of_cube,
            variables={"y": None, "R": None},
            examples=({"x": 0},),
            siblings={"a size above 1": changed(above=1)},
        ),
    },
)
