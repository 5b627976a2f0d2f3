"""Theorem 2: the regularisation path of W converges in direction to the Att-SVM solution.

"Suppose optimal indices (opt_i) are unique and (Att-SVM) is feasible. Let W^mm be the unique
solution of (Att-SVM) with Frobenius norm. Then lim_{R -> inf} W_R / R = W^mm / ||W^mm||_F", with
W_R = argmin_{||W||_F <= R} L(W); of the loss l of the training risk L the talk says that it is
strictly decreasing and smooth.

The listed hypotheses are not enough. l(u) = -u^3 is strictly decreasing and smooth, and flat at 0.
Take two inputs with tokens (1, 0), 0 and (0, 1), 0, one query (1, 0), scores 1, 0 and 0, -1. The
second input's part of L - L_* is like the cube of the first one's, and W_R / R tends to (3, 1) /
sqrt 10 in place of (1, 1) / sqrt 2. If every input has one token, 0 = W^mm has no direction and all
W are minimisers.

Let U = W^mm / ||W^mm||_F, rho = R / ||W^mm||_F and Gamma a constant of scores and loss. Let W of
the ball be at least as good as the SVM point R U, as every minimiser is. Then ||W / R - U||^2 <= 2
log(2 Gamma) / rho if rho >= log(2 Gamma). The best constant in place of log(2 Gamma) is the
divergence of the multipliers from the score gaps times slopes, up to terms that vanish as rho
grows. They are shown in `symbolic.tf.near_points` and `symbolic.tf.theorem_2`, the limit
of the path in `symbolic.tf.path_limits`, and limits of other paths in
docs/proofs/regularisation_paths.md.
"""

from typing import Any

from attsvm.primitives.hypotheses import FEASIBLE, LINEAR_HEAD, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.loss_hypotheses import NEGATIVE_SLOPE, SLOPED_LOSS, SMOOTH_LOSS, STRICT_LOSS
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import path_certificates
from properties.tf._support import regularisation_paths as cases
from properties.tf._support.regularisation_paths import Path
from properties.tf.theorem_2 import near_optimal_points as points
from properties.tf.theorem_2.near_optimal_points import GOOD, LARGE, SMALL_COST, Candidate

PRINTED: dict[str, Any] = {
    "source": SOURCE,
    "place": "Theorem 2",
    "printed": "Suppose optimal indices (opt_i) are unique and (Att-SVM) is feasible. Let W^mm be "
    "the unique solution of (Att-SVM) with Frobenius norm. Then lim_{R -> inf} W_R / R = "
    "W^mm / ||W^mm||_F",
}
DIRECTIONS = {
    "direction of the worst tokens": changed(towards="worst", examples=[cases.OF_HEAD]),
    "mean of the constraints": changed(towards="mean", examples=[cases.OF_HEAD]),
    "W^mm turned by about a 64th": changed(towards="turned", examples=[cases.OF_HEAD]),
}

PATH = Statement(
    "tf/theorem-2",
    rests_on=("tf/definition-1", "tf/lemma-2"),
    **PRINTED,
    variables=Records(Path, cases.paths(), cases.protocol),
    conclusion=path_certificates.DIRECTION,
    cost=8,
    violating=cases.VIOLATING,
    readings={
        "literal": Reading(
            "refuted",
            under=(LINEAR_HEAD, UNIQUE, FEASIBLE, STRICT_LOSS),
            variables=Records(Path, cases.flat_paths()),
            examples=(cases.FLAT_SLOPE, cases.ONE_TOKEN),
            siblings=DIRECTIONS,
            cost=4,
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.tf.path_limits:prove",
            under=cases.HYPOTHESES,
            examples=(cases.PUBLISHED, cases.UNEVEN, cases.FLAT_BELOW),
            siblings=DIRECTIONS,
        ),
    },
)

CHEAP = Hypothesis(
    "l' is continuous and below 0, and n (L(R U) - L_*) < m_i d_i for every i",
    points.cheap,
    says="l' is continuous and below 0, and n (L(R U) - L_*) < m_i d_i for every input i",
    implies=(SMOOTH_LOSS, NEGATIVE_SLOPE, SMALL_COST),
)

RATE = Statement(
    "tf/theorem-2",
    **PRINTED,
    variables=Records(Candidate, points.candidates(), points.extremal),
    conclusion=points.close,
    cost=4,
    violating={
        UNIQUE: [points.TIED],
        FEASIBLE: [points.NO_SOLUTION],
        SEVERAL_TOKENS: [points.ONE_TOKEN],
        SLOPED_LOSS: [points.RISING],
        LARGE: [points.OUTWEIGHED],
        CHEAP: [points.OUTWEIGHED],
        GOOD: [points.AT_ZERO],
    },
    readings={
        "amended-2": Reading(
            "proved",
            proof="symbolic.tf.near_points:prove",
            siblings={
                "an eighth of the right side": changed(share="1/8"),
                "the square of the rate": changed(power=2),
            },
            under=(UNIQUE, FEASIBLE, SEVERAL_TOKENS, SLOPED_LOSS, LARGE, GOOD),
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.tf.nearest_points:prove",
            under=(UNIQUE, FEASIBLE, SEVERAL_TOKENS, GOOD, CHEAP),
            variables=Records(Candidate, points.candidates(4.0, 8.0), points.extremal),
            conclusion=points.closest,
            tight=True,
            siblings={
                "the square of the rate": changed(power=2),
                "all score gaps counted as one": changed(gaps="one"),
            },
        ),
    },
)
