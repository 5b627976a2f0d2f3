"""Theorem 2: (Att-SVM) with the Frobenius norm has one solution.

"Let W^mm be the unique solution of (Att-SVM) with Frobenius norm."

The constraints are <K_j, W> >= 1 with K_j = (x_i,opt - x_it) z_i^T. Matrices are written as vectors
of their entries, so that the Frobenius norm is the Euclidean one. If u and w meet the constraints,
so does their mean, and it is shorter than the longer one unless u = w (`literal`), by an exact
amount (`sharp`). So no two matrices have the least norm. If any matrix meets the constraints, one
has the least norm, as the feasible set is closed. `sim/definition-3.8` says when that is so.

With the nuclear norm, of theorem 3, the mean need not be shorter: that norm is the sum of the
absolute entries of a diagonal matrix, and diag(1, 0) and diag(0, 1) have the mean diag(1/2, 1/2).
The talk has a set of solutions there.
"""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.theory import Hypothesis, Integer, Matrix, Meeting, Reading, Statement, Vector, changed
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.tf import SOURCE


def square(m: Namespace, x: Numbers, norm: str = "Euclidean") -> Number:
    """Return the square of a norm: of the Euclidean one, or of the sum of absolute entries."""
    return m.dot(x, x) if norm == "Euclidean" else m.square(m.sum(m.abs(x)))


def shorter(m: Namespace, v: Values, norm: str = "Euclidean", least: Number = 1) -> Relation:
    """Return that the mean of u and w meets the constraints, and is shorter than u."""
    mean = (v.u + v.w) / 2
    return m.all_of(
        m.at_least(m.min(v.K @ mean), m.exact(1) * least),
        m.below(square(m, mean, norm), square(m, v.u, norm)),
    )


def by(m: Namespace, v: Values) -> Comparison:
    """Return that ||(u + w)/2||^2 + ||u - w||^2/4 <= ||u||^2."""
    mean = (v.u + v.w) / 2
    return m.at_most(square(m, mean) + square(m, v.u - v.w) / 4, square(m, v.u))


def met(K: Array, known: Mapping[str, Array]) -> Array:
    """Return the rows, moved until their products with u and w are at least 1 if possible."""
    u, w = known["u"], known["w"]
    sizes = [np.sqrt((x * x).sum(0)) for x in (u, w)]
    first, second = (np.where(size > 0, size, 1.0) for size in sizes)
    toward = u / first + w / second
    step = np.zeros(K.shape[:1] + K.shape[2:])
    for x in (u, w):
        have, gain = (K * x[None]).sum(1), (toward * x).sum(0)
        need = np.where(have < 1, 1.125 - have, 0.0)
        step = np.maximum(step, np.where(gain > 0.01, need / np.where(gain > 0.01, gain, 1.0), 0.0))
    return K + step[:, None] * toward[None]


MET = Hypothesis(
    "K_j u >= 1 and K_j w >= 1 for all j",
    lambda m, v: m.all_of(*(m.at_least(m.min(v.K @ x), m.exact(1)) for x in (v.u, v.w))),
    says="u and w meet the constraints <K_j, u> >= 1 and <K_j, w> >= 1 of (Att-SVM)",
)
NO_LONGER = Hypothesis("||w|| <= ||u||", lambda m, v: m.at_most(square(m, v.w), square(m, v.u)))
DIFFER = Hypothesis("u and w differ", lambda m, v: m.above(square(m, v.u - v.w), m.exact(0)))
HYPOTHESES = (MET, NO_LONGER, DIFFER)

CORNERS = {"K": [[1, 1]], "u": [1, 0], "w": [0, 1]}
"""Two solutions for the sum of absolute entries, with a mean that is no shorter."""
SAME = {"K": [[1]], "u": [1], "w": [1]}
LONGER = {"K": [[1]], "u": [1], "w": [4]}

SOLUTION = Statement(
    "tf/unique-solution",
    rests_on=("sim/definition-3.8",),
    source=SOURCE,
    place="Theorem 2",
    printed="Let W^mm be the unique solution of (Att-SVM) with Frobenius norm",
    variables={
        "J": Integer(1, 4),
        "D": Integer(1, 4),
        "u": Vector("D"),
        "w": Vector("D"),
        "K": Meeting(MET, Matrix("J", "D"), met),
    },
    conclusion=shorter,
    readings={
        "literal": Reading(
            "proved",
            proof="symbolic.tf.unique_solution:prove",
            under=HYPOTHESES,
            examples=(CORNERS,),
            siblings={
                "the sum of absolute entries in place of the norm": changed(
                    norm="sum", examples=[CORNERS]
                ),
                "margins of 9/8": changed(least="9/8", examples=[CORNERS]),
                "u = w": changed(drop=[DIFFER], examples=[SAME]),
                "w may be longer": changed(drop=[NO_LONGER], examples=[LONGER]),
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.unique_solution:prove_exact",
            conclusion=by,
            under=(NO_LONGER,),
            variables={"J": None, "K": None},
            tight=True,
            examples=({"u": [1, 0], "w": [0, 1]},),
        ),
    },
)
