"""Theorem 3: the regularisation path of (K, Q) converges to the solutions of Att-SVM*.

"Suppose l is smooth and decreasing, optimal indices (opt_i) are unique, and (Att-SVM) is feasible.
Let W_*^mm be the solution set of (Att-SVM*) achieving objective C_*. Then lim_{R -> inf} dist(K_R
Q_R^T / R, W_*^mm / C_*) = 0, (K_R, Q_R) = argmin_{||K||_F^2 + ||Q||_F^2 <= 2R} L(K, Q)."

L is the training risk at W = K Q^T with the loss l, and Att-SVM* asks for the least nuclear norm,
C_*, under the constraints of the Att-SVM. The scaling is right: ||K Q^T||_* is at most (||K||_F^2 +
||Q||_F^2) / 2 <= R, with equality for balanced factors.

literal-1 falls as theorem 2 does, for three kinds of data. First, a loss that even decreases
strictly: l(u) = -u^3 on tokens (1, 0), 0 and (0, 1), 0 with one query, for which both norms agree.
Second, inputs of one token: C_* = 0. Third, losses that are flat from some score on, such as max(0,
1 - u)^2 on tokens 1, 0 of scores 2, 0: W = 0 is a minimiser at every R. literal-2 falls for any
loss. Inputs with tokens 0, (-1, 0), (0, -1) and 0, (1, 0), (0, -1), queries (1, 0) and (0, 1), ask
for W_11, W_21, -W_12, W_22 >= 1. So every feasible W has det W >= 2 while K Q^T has rank 1.

amended is for any inner dimension r that is at least the rank of some solution. It fails for
every other r, because limit points of products of rank r have rank at most r (sharp). If W^mm has
rank 1, it is the only solution (`tf/svm-rank`). Some solution may have rank 1 although W^mm has
not: W_11 >= 1 and W_22 >= 1 have W^mm = I and the solution (1, 1) (1, 1)^T. With P the projection
on the span of the queries, W P is a solution if W is. So some rank is at most that of the queries,
and likewise at most that of the differences of tokens. More is in `symbolic/tf/theorem_3.py`.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from attsvm.primitives.hypotheses import FEASIBLE, LINEAR_HEAD, UNIQUE
from attsvm.theory import Integer, Matrix, Near, Reading, Records, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import path_certificates
from properties.tf._support import regularisation_paths as cases
from properties.tf._support.regularisation_paths import Path
from properties.tf.theorem_3.factored_paths import (
    DECREASING,
    LOW_RANK,
    OF_RANK,
    THREE,
    WIDE,
    Factored,
    factored,
    margins,
)

PRINTED: dict[str, Any] = {
    "source": SOURCE,
    "place": "Theorem 3",
    "printed": "Suppose l is smooth and decreasing, optimal indices (opt_i) are unique, and "
    "(Att-SVM) is feasible. Let W_*^mm be the solution set of (Att-SVM*) achieving objective C_*. "
    "Then lim_{R -> inf} dist(K_R Q_R^T / R, W_*^mm / C_*) = 0, (K_R, Q_R) = "
    "argmin_{||K||_F^2 + ||Q||_F^2 <= 2R} L(K, Q)",
}
OTHERS = {
    "K Q^T / (2 R)": changed(share=Fraction(1, 2), examples=[cases.OF_HEAD]),
    "solutions for the worst tokens": changed(target="worst", examples=[cases.OF_HEAD]),
}
FROBENIUS = {"the Frobenius solution": changed(target="frobenius", examples=[cases.SLANTED])}

THEOREM = Statement(
    "tf/theorem-3",
    rests_on=("tf/definition-1", "tf/lemma-2"),
    **PRINTED,
    variables=Records(Path, cases.paths(cases.turned()), cases.protocol),
    conclusion=path_certificates.SET,
    cost=12,
    violating={
        **cases.VIOLATING,
        UNIQUE: [
            *cases.VIOLATING[UNIQUE],
            *(Factored(path, 1) for path in cases.VIOLATING[UNIQUE]),
        ],
        cases.FALLING: [Factored(path, 1) for path in cases.VIOLATING[cases.FALLING]],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            under=(LINEAR_HEAD, UNIQUE, FEASIBLE, DECREASING),
            variables=Records(Path, cases.flat_paths(level=True)),
            examples=(cases.FLAT_SLOPE, cases.ONE_TOKEN, cases.FLAT_ABOVE),
            siblings={**OTHERS, **FROBENIUS},
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"K_R Q_R^T": "a product of factors of any number of columns, one included"},
            constants={"inner": 1},
            under=(LINEAR_HEAD, UNIQUE, FEASIBLE, DECREASING),
            variables=Records(Path, cases.flat_paths(cases.SEPARABLE | cases.turned(), level=True)),
            examples=(cases.TURNED_BY_LABELS, cases.ONE_TOKEN, cases.FLAT_ABOVE),
            siblings=OTHERS,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.tf.path_limits:prove_factored",
            under=cases.HYPOTHESES,
            examples=(cases.PUBLISHED, cases.TURNING, cases.FLAT_BELOW),
            siblings={
                **OTHERS,
                **FROBENIUS,
                "l may be flat at best scores": changed(
                    drop=[cases.FALLING],
                    under=[DECREASING],
                    examples=[cases.FLAT_ABOVE],
                ),
                "inner dimension 1": changed(inner=1, examples=[cases.TURNING]),
            },
        ),
        "sharp": Reading(
            "holds",
            strength="exact",
            proof="symbolic.tf.theorem_3:prove_rank",
            under=(UNIQUE, cases.FALLING, LOW_RANK),
            variables=Records(Factored, factored()),
            conclusion=OF_RANK,
            examples=(
                Factored(cases.PUBLISHED, 1),
                Factored(cases.UNEVEN, 1),
                Factored(replace(cases.FLAT_SLOPE, loss="log-loss"), 1),
                Factored(WIDE, 2),
            ),
            siblings={
                "solutions for the worst tokens": changed(
                    target="worst", examples=[Factored(cases.PUBLISHED, 1)]
                ),
                "solutions of any rank": changed(
                    drop=[LOW_RANK],
                    variables=Records(Factored, factored(known=False)),
                    examples=[Factored(cases.TURNING, 1), Factored(THREE, 2)],
                ),
            },
        ),
    },
)

FACTORS = Statement(
    "tf/theorem-3",
    **PRINTED,
    variables={"d": Integer(1, 3), "r": Integer(1, 3), "K": Matrix("d", "r"), "Q": Near("K")},
    conclusion=margins,
    readings={
        "sharp-2": Reading(
            "proved",
            proof="symbolic.tf.theorem_3:prove_margins",
            tight=True,
            siblings={"half of the right side": changed(share=Fraction(1, 2))},
        ),
    },
)
