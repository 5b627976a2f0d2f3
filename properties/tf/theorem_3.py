"""Theorem 3: the regularisation path of (K, Q) converges to the solutions of Att-SVM*.

"Suppose l is smooth and decreasing, optimal indices (opt_i) are unique, and (Att-SVM) is feasible.
Let W_*^mm be the solution set of (Att-SVM*) achieving objective C_*. Then lim_{R -> inf}
dist(K_R Q_R^T / R, W_*^mm / C_*) = 0, (K_R, Q_R) = argmin_{||K||_F^2 + ||Q||_F^2 <= 2R} L(K, Q)."

L is the training risk at W = K Q^T with the loss l, and Att-SVM* asks for the least nuclear norm,
C_*, under the constraints of the Att-SVM. The scaling is right: ||K Q^T||_* is at most
(||K||_F^2 + ||Q||_F^2) / 2 <= R, with equality for balanced factors.

literal-1 falls as theorem 2 does: for l(u) = -u^3 on tokens (1, 0), 0 and (0, 1), 0 with one query,
where both norms agree, and for inputs of one token, where C_* = 0. literal-2 falls for any loss:
inputs with tokens 0, (-1, 0), (0, -1) and 0, (1, 0), (0, -1), queries (1, 0) and (0, 1), ask for
W_11, W_21, -W_12, W_22 >= 1, so that every feasible W has det W >= 2 while K Q^T has rank 1.

amended is proved for any inner dimension that the rank of some solution does not exceed, and for
no other, as limit points of products of rank r have rank r at most (`symbolic.tf.theorem_3`). With
inner dimension 1 (sharp) that is so where W^mm has rank 1, when it is the only solution. What
is approached is the set: where it is no point, whether the path has a limit in it stays open.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from attsvm.data import AttentionData
from attsvm.theory import Reading, Records, Statement, changed
from properties._support.att_svm import exact_att_svm
from properties.tf import SOURCE
from properties.tf._support import regularisation_paths as cases
from properties.tf._support.regularisation_paths import Path

OTHERS = {
    "K Q^T / (2 R)": changed(share=Fraction(1, 2), examples=[cases.PUBLISHED]),
    "solutions for the worst tokens": changed(target="worst", examples=[cases.PUBLISHED]),
}
RANK_ONE = "W^mm has rank 1"


def rank_one(case: Path) -> bool:
    """W^mm exists and has rank 1."""
    found = exact_att_svm(case.data)
    return found is not None and found.rank == 1


def first_input(case: Path) -> Path:
    """The path of the first input alone, whose W^mm has rank 1 or is 0."""
    data = case.data
    scores = np.where(data.present, data.gamma, 0.0)[:1]
    mask = None if data.mask is None else data.mask[:1]
    return replace(case, data=AttentionData(data.X[:1], data.Z[:1], scores=scores, mask=mask))


FROBENIUS = {"the Frobenius solution": changed(target="frobenius", examples=[cases.TURNING])}

THEOREM = Statement(
    "tf/theorem-3",
    rests_on=(
        "tf/definition-1",
        "tf/lemma-2",
    ),
    source=SOURCE,
    place="Theorem 3",
    printed="Suppose l is smooth and decreasing, optimal indices (opt_i) are unique, and (Att-SVM) "
    "is feasible. Let W_*^mm be the solution set of (Att-SVM*) achieving objective C_*. Then "
    "lim_{R -> inf} dist(K_R Q_R^T / R, W_*^mm / C_*) = 0, (K_R, Q_R) = "
    "argmin_{||K||_F^2 + ||Q||_F^2 <= 2R} L(K, Q)",
    variables=Records(Path, cases.paths(cases.turned()), cases.protocol),
    hypotheses={**cases.HYPOTHESES, RANK_ONE: rank_one},
    conclusion=cases.SET,
    cost=12,
    violating={**cases.VIOLATING, RANK_ONE: [cases.TURNING]},
    readings={
        "literal-1": Reading(
            "dist(K_R Q_R^T / R, W_*^mm / C_*) tends to 0 for K, Q in R^{d x d}, for l strictly "
            "decreasing and smooth",
            expected="refuted",
            under=(cases.UNIQUE, cases.FEASIBLE),
            variables=Records(Path, cases.flat_paths()),
            examples=(cases.FLAT_PULLS, cases.ONE_TOKEN),
            siblings={**OTHERS, **FROBENIUS},
        ),
        "literal-2": Reading(
            "dist(K_R Q_R^T / R, W_*^mm / C_*) tends to 0 for any inner dimension, one included",
            expected="refuted",
            constants={"inner": 1},
            under=(cases.UNIQUE, cases.FEASIBLE),
            variables=Records(Path, cases.paths(cases.turned())),
            examples=(cases.TURNING,),
            siblings=OTHERS,
        ),
        "amended": Reading(
            "dist(K_R Q_R^T / R, W_*^mm / C_*) tends to 0 for K, Q in R^{d x d}, where l' < 0 at "
            "the best scores and some input has two tokens",
            expected="proved",
            proof="symbolic.tf.theorem_3:prove",
            under=tuple(cases.HYPOTHESES),
            examples=(cases.PUBLISHED, cases.TURNING),
            siblings={
                **OTHERS,
                **FROBENIUS,
                "inner dimension 1": changed(inner=1, examples=[cases.TURNING]),
            },
        ),
        "sharp": Reading(
            "with inner dimension 1 it tends to 0 where W^mm has rank 1 and l' < 0 at the best "
            "scores",
            expected="proved",
            proof="symbolic.tf.theorem_3:prove",
            constants={"inner": 1},
            under=(cases.UNIQUE, cases.FALLING, RANK_ONE),
            variables=Records(Path, cases.paths().map(first_input)),
            examples=(cases.PUBLISHED, replace(cases.FLAT_PULLS, loss="log-loss")),
            siblings={
                "solutions for the worst tokens": OTHERS["solutions for the worst tokens"],
                "W^mm of any rank": changed(
                    drop=[RANK_ONE],
                    variables=Records(Path, cases.paths(cases.turned())),
                    examples=[cases.TURNING],
                ),
            },
        ),
    },
)
