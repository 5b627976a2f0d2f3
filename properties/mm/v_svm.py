"""v-SVM: the least head that labels the selected token of every input.

    v(alpha) = argmin ||v|| s.t. Y_i v^T x_i,alpha_i >= 1, for all i.

Y_i is the label of input i, x_it its tokens, and alpha_i the index of the selected one. The slide
lists no condition under which v(alpha) exists.

No v(alpha) exists for one input whose token is 0, nor for two inputs that select one token under
opposite labels. In `amended` Gamma = 1/||v(alpha)||, the label margin of assumption B of the talk,
is the distance of 0 from H, the hull of the Y_i x_i,alpha_i. If there is no v(alpha), both are 0.
`sharp-1` follows from the point z of H nearest to 0. The product <h, z> is at most ||h|| Gamma, and
it is a mean of the margins Y_i h^T x_i,alpha_i, whose least is no larger. `sharp-2` holds as
multipliers of margins that are not tight are 0. Some margin is tight, for otherwise a shorter head
would meet all constraints.
"""

import numpy as np
from hypothesis import strategies as st

from attsvm.theory import Reading, Records, Statement, changed, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation
from properties.mm import SOURCE
from properties.mm._support import max_margin as svm
from properties.mm._support import programme_letters as letters
from properties.mm._support import token_selections as cases
from properties.mm._support.max_margin import V_EXISTS
from properties.mm._support.token_selections import Rival, Selection

ZERO = cases.select([[[0.0]]], [1], [0])
DIAGONAL = cases.select([[[1.0, 1.0]]], [1], [0])


@concludes(letters.best)
@stated(
    "",
    r"\min_i Y_i \langle q, x_{i,\alpha_i}\rangle \le $share \Gamma $length",
    {"length": {"norm": r"\|q\|", "largest": r"\max_k |q_k|"}},
    where=f"Gamma is 1/||v(alpha)||, or 0 without a v(alpha), and {svm.V_MEANS}",
)
def best(m: Namespace, case: Rival, share: Number = 1, length: str = "norm") -> Comparison:
    """min_i Y_i h^T x_i,alpha_i <= Gamma ||h||."""
    v, h = svm.v_svm(m, case), m.values(case.q)
    size = m.norm(h) if length == "norm" else m.largest(h)
    return m.at_most(m.min(v.rows @ h), share * v.margin * size)


@stated(
    "there is a v(alpha), that is $formula",
    where="1/||v(alpha)|| is 0 if there is no v(alpha)",
    checked=svm.head_exists,
)
def exists(m: Namespace, case: Selection, share: Number = 0) -> Comparison:
    """Gamma = 1/||v(alpha)|| is above a share of the shortest token."""
    return svm.exceeds(m, svm.v_svm(m, case), share)


@concludes(letters.is_distance(letters.HEAD))
@stated("", where="1/||v(alpha)|| is 0 if there is no v(alpha)")
def distance(m: Namespace, case: Selection, share: Number = 1, of: str = "hull") -> Comparison:
    """Gamma = 1/||v(alpha)|| is the distance of the hull from 0."""
    return svm.is_distance(m, svm.v_svm(m, case), share, of)


@concludes(letters.unchanged(letters.HEAD, letters.TIGHT_HEAD))
def unchanged(m: Namespace, case: Selection, keep: str = "tight") -> Relation:
    """Return that v(alpha) of the constraints that are kept is v(alpha)."""
    return svm.supported(m, svm.v_svm(m, case), keep)


PROGRAMME = Statement(
    "mm/v-svm",
    source=SOURCE,
    place="Attention SVMs, v-SVM",
    printed="v(alpha) = argmin ||v|| s.t. Y_i v^T x_i,alpha_i >= 1, for all i",
    variables=Records(Selection, cases.separable(), cases.larger, lets=cases.SELECTED),
    conclusion=exists,
    cost=2,
    readings={
        "literal": Reading(
            "refuted, certified",
            fairness="strained",
            under=(),
            variables=Records(Selection, cases.selections(), lets=cases.SELECTED),
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, ZERO, cases.OPPOSED),
            siblings={
                "Gamma is above half of the shortest token": changed(
                    share="0.5", examples=[cases.NARROW]
                ),
                "Gamma is above the shortest token": changed(share=1),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_distance_of_head",
            variables=cases.ANY,
            conclusion=distance,
            under=(),
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, ZERO, cases.OPPOSED, cases.DUPLICATE),
            siblings={
                **svm.OTHER_DISTANCES,
                "the shortest token in place of the hull": changed(of="row"),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_largest_margin",
            variables=Records(
                Rival,
                st.one_of(cases.rivals("head"), cases.rivals("any")),
                cases.gaussian,
                lets=cases.WITH_Q,
            ),
            conclusion=best,
            under=(),
            tight=True,
            examples=(
                Rival(cases.PUBLISHED[0], np.array([0.0, 1.0])),
                Rival(cases.PUBLISHED[1], np.array([0.0, 1.0])),
                Rival(ZERO, np.ones(1)),
                Rival(cases.OPPOSED, np.zeros(1)),
            ),
            siblings={
                "half of Gamma": changed(share="0.5"),
                "the largest coordinate in place of the length": changed(
                    length="largest", examples=[Rival(DIAGONAL, np.ones(2))]
                ),
            },
        ),
        "sharp-2": Reading(
            "proved",
            strength="exact",
            proof="symbolic.mm.programmes:prove_supported_head",
            conclusion=unchanged,
            under=(V_EXISTS,),
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED),
            siblings={**svm.LOOSE_ONES, "one tight input kept": changed(keep="first")},
        ),
    },
    violating={V_EXISTS: [cases.OPPOSED]},
)
