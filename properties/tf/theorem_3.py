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

The limits of the amended reading are proved in `properties.tf._support.regularisation_paths`. The
same holds for any inner dimension that some solution's rank does not exceed.
"""

from __future__ import annotations

from fractions import Fraction

from attsvm.theory import Reading, Records, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import regularisation_paths as cases
from properties.tf._support.regularisation_paths import Path

OTHERS = {
    "K Q^T / (2 R)": changed(share=Fraction(1, 2), examples=[cases.PUBLISHED]),
    "solutions for the worst tokens": changed(target="worst", examples=[cases.PUBLISHED]),
}
FROBENIUS = {"the Frobenius solution": changed(target="frobenius", examples=[cases.TURNING])}

THEOREM = Statement(
    "tf/theorem-3",
    source=SOURCE,
    place="Theorem 3",
    printed="Suppose l is smooth and decreasing, optimal indices (opt_i) are unique, and (Att-SVM) "
    "is feasible. Let W_*^mm be the solution set of (Att-SVM*) achieving objective C_*. Then "
    "lim_{R -> inf} dist(K_R Q_R^T / R, W_*^mm / C_*) = 0, (K_R, Q_R) = "
    "argmin_{||K||_F^2 + ||Q||_F^2 <= 2R} L(K, Q)",
    variables=Records(Path, cases.paths(cases.turned()), cases.protocol),
    hypotheses=cases.HYPOTHESES,
    conclusion=cases.SET,
    cost=12,
    violating=cases.VIOLATING,
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
            expected="holds",
            examples=(cases.PUBLISHED, cases.TURNING),
            siblings={
                **OTHERS,
                **FROBENIUS,
                "inner dimension 1": changed(inner=1, examples=[cases.TURNING]),
            },
        ),
    },
)
