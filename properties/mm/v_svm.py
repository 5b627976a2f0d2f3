"""v-SVM: the least head that labels the selected token of every input.

"v(alpha) = argmin ||v|| s.t. Y_i v^T x_i,alpha_i >= 1, for all i".

As with the p-SVM no condition is listed, and none exists for one input whose selected token is 0,
or for two inputs that select one token under both labels. `amended`: v(alpha) exists, and is
unique, exactly where 0 is not in the convex hull of the Y_i x_i,alpha_i, and the label margin
Gamma = 1/||v(alpha)|| of assumption B is the distance of that hull from 0. `sharp-1`: no unit head
has a larger margin (<h, z> <= ||h|| Gamma for the point z of the hull nearest 0, and <h, z> is a
mean of margins), 0 standing for Gamma where there is no v(alpha). `sharp-2`: the inputs whose
margin is tight, the support vectors S of the joint programme, alone determine v(alpha); they are
never empty, for without them v would be 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support.exact_programmes import v_exists
from properties.mm._support.solved import least, v_svm
from properties.mm._support.token_selections import (
    DUPLICATE,
    ONE_TOKEN,
    OPPOSED,
    PUBLISHED,
    Rival,
    Selection,
    gaussian,
    rivals,
    select,
    selections,
    separable,
)

ZERO = select([[[0.0]]], [1], [0])
DIAGONAL = select([[[1.0, 1.0]]], [1], [0])
EXISTS = "v(alpha) exists"


def lengths(m: Any, rows: Any) -> Any:
    """The lengths of rows."""
    return m.array([m.norm(row) for row in rows])


def exists(m: Any, case: Any, share: Any = 0) -> Any:
    """Gamma, 0 where there is no v(alpha), is above a share of the shortest token."""
    v = v_svm(m, case)
    return m.above(v.margin, share * m.min(lengths(m, v.rows)))


def distance(m: Any, case: Any, share: Any = 1, of: str = "hull") -> Any:
    """Gamma is a share of the distance of the hull, or of the nearest row, from 0."""
    v = v_svm(m, case)
    nearest = m.sqrt(m.values(v.exact.hull_square)) if of == "hull" else m.min(lengths(m, v.rows))
    return m.equal(v.margin, share * nearest)


def best(m: Any, case: Any, share: Any = 1, length: str = "norm") -> Any:
    """min_i Y_i h^T x_i,alpha_i <= Gamma ||h||."""
    v, h = v_svm(m, case.chosen), m.values(case.q)
    size = m.norm(h) if length == "norm" else m.largest(h)
    return m.at_most(m.min(v.rows @ h), share * v.margin * size)


def supported(m: Any, case: Any, keep: str = "tight") -> Any:
    """v(alpha) of the inputs that are kept is v(alpha)."""
    v = v_svm(m, case)
    return m.equal(least(m, v.exact.kept(keep), case.X.shape[2]).vector, v.vector)


PROGRAMME = Statement(
    "mm/v-svm",
    source=SOURCE,
    place="Attention SVMs, v-SVM",
    printed="v(alpha) = argmin ||v|| s.t. Y_i v^T x_i,alpha_i >= 1, for all i",
    variables=Records(Selection, separable(), lambda generator: gaussian(generator).chosen),
    conclusion=exists,
    cost=2,
    readings={
        "literal": Reading(
            "for all inputs, labels and choices alpha there is exactly one v(alpha)",
            expected="refuted, certified",
            under=(),
            variables=Records(Selection, selections(), climbed=True),
            examples=(ONE_TOKEN, *PUBLISHED, ZERO, OPPOSED),
            siblings={
                "Gamma is above half of the shortest token": changed(
                    share="0.5", examples=[PUBLISHED[0]]
                ),
                "Gamma is above the shortest token": changed(share=1),
            },
        ),
        "amended": Reading(
            "v(alpha) exists, and is unique, exactly where 0 is not in the convex hull of the "
            "Y_i x_i,alpha_i; Gamma = 1/||v(alpha)|| is the distance of the hull from 0",
            expected="holds",
            variables=Records(
                Selection,
                st.one_of(selections(), separable()),
                lambda generator: gaussian(generator).chosen,
            ),
            conclusion=distance,
            under=(),
            examples=(ONE_TOKEN, *PUBLISHED, ZERO, OPPOSED, DUPLICATE),
            siblings={
                "95% of the distance": changed(share="0.95"),
                "105% of the distance": changed(share="1.05"),
                "the shortest token in place of the hull": changed(of="row"),
            },
        ),
        "sharp-1": Reading(
            "every head h has min_i Y_i h^T x_i,alpha_i <= Gamma ||h||, where Gamma = "
            "1/||v(alpha)||, or 0 without a v(alpha); no smaller constant will do",
            expected="holds",
            variables=Records(
                Rival, st.one_of(rivals("head"), rivals("any")), gaussian, climbed=True
            ),
            conclusion=best,
            under=(),
            tight=True,
            examples=(
                Rival(PUBLISHED[0], np.array([0.0, 1.0])),
                Rival(PUBLISHED[1], np.array([0.0, 1.0])),
                Rival(ZERO, np.ones(1)),
                Rival(OPPOSED, np.zeros(1)),
            ),
            siblings={
                "half of Gamma": changed(share="0.5"),
                "the largest coordinate in place of the length": changed(
                    length="largest", examples=[Rival(DIAGONAL, np.ones(2))]
                ),
            },
        ),
        "sharp-2": Reading(
            "v(alpha) is unchanged when every input whose margin is not tight is dropped",
            expected="holds",
            conclusion=supported,
            under=(EXISTS,),
            examples=(ONE_TOKEN, *PUBLISHED),
            siblings={
                "the tight ones dropped instead": changed(keep="loose"),
                "one tight input kept": changed(keep="first"),
            },
        ),
    },
    hypotheses={EXISTS: v_exists},
    violating={EXISTS: [OPPOSED]},
)
