"""Planted mistakes in tf's results on regularisation paths and on gradients."""

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from attsvm.errors import present
from attsvm.limits import norm_grows_like_log
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.gradients import negative_gradient
from attsvm.primitives.hypotheses import TWO_SCORES, several_tokens
from attsvm.primitives.limit_certificates import agreement
from attsvm.svm import att_svm
from attsvm.theory import Measured, Slack
from benchmarks.power.planting import plant
from benchmarks.power.targets import Target, one_short, transposed
from properties.tf import all_support_divergence as divergence
from properties.tf import all_support_no_stationary as stationary
from properties.tf import theorem_2, theorem_3
from properties.tf._support.path_certificates import certified_set, limit_of
from properties.tf._support.regularisation_paths import Path, follows_ray, follows_set

PATH, RATE = theorem_2.PATH.claim("amended-1"), theorem_2.RATE.claim("sharp")
SET = theorem_3.THEOREM.claim("amended")


def _follows(make: Target) -> Measured:
    """Return the conclusion that paths follow the ray of a target, if there is one."""

    def conclusion(case: Path) -> Slack:
        target = make(case.data)
        return Slack(1.0, 0.0) if target is None else follows_ray(case, target)

    def certify(case: Path) -> arb | None:
        target, limit = make(case.data), limit_of(case)
        if target is None or limit is None:
            return None if limit is None else arb(1)
        return agreement(target, limit.W)

    return Measured("see the statement", floats=conclusion, balls=certify)


path_role = plant(
    PATH,
    "role transposed",
    statement="W_R / R tends to the direction of the transpose of W^mm",
    why="query and key are swapped",
    conclusion=_follows(transposed),
)
path_index = plant(
    PATH,
    "index last-token",
    statement="W_R / R tends to the direction of the W^mm of all tokens but the last",
    why="the last token may hold W^mm",
    conclusion=_follows(one_short),
)
path_constant = plant(
    RATE,
    "constant two-percent",
    statement="every W in the ball with L(W) <= L(R U) has ||W / R - U||^2 <= 0.98 * 2 kappa/rho",
    why="kappa is attained in the limit, along directions orthogonal to all A_j",
    share="0.98",
)


def _columns(case: Path) -> int:
    return max(case.data.d - 1, 1)


set_index = plant(
    SET,
    "index columns",
    statement="dist(K_R Q_R^T / R, W_*^mm / C_*) tends to 0 for K, Q of max(d - 1, 1) columns",
    why="every solution may have rank d, where single entries force a determinant not to be 0",
    conclusion=Measured(
        "see the statement",
        floats=lambda case: follows_set(case, inner=_columns(case)),
        balls=lambda case: certified_set(case, inner=_columns(case)),
    ),
)
set_constant = plant(
    SET,
    "constant scale",
    statement="dist(K_R Q_R^T / R, 1.05 W_*^mm / C_*) tends to 0",
    why="the limit has nuclear norm 1",
    share=Fraction(21, 20),
)

SCALE = divergence.THEOREM.claim("sharp")
_certified = present(SCALE.formula.measured.balls, "the proof of the rate")


def _inverse_rate(case: Descent) -> Slack:
    """Return the slack of "||W_k|| / ln k tends to 1/||W^mm||"."""
    rate = 1.0 / float(np.linalg.norm(att_svm(case.data).W))
    return norm_grows_like_log(case.data, case.start, LOSSES[case.loss], rate)


def _inverse_rate_ball(case: Descent) -> arb | None:
    solved, ball = exact_att_svm(case.data), _certified(case)
    if solved is None or ball is None or not ball >= 0:  # the rate ||W^mm|| is not proved
        return None
    return arb(1) if solved.square == 1 else -abs(1 / arb(solved.square) - 1)


rate_role = plant(
    SCALE,
    "role margin-for-norm",
    statement="from a start in the basin ||W_k|| / ln k -> 1/||W^mm||",
    why="1/||W^mm|| is the margin of a unit matrix; the norm must grow by ||W^mm|| for a margin "
    "of 1",
    conclusion=Measured("see the statement", floats=_inverse_rate, balls=_inverse_rate_ball),
)
divergence_hypothesis = plant(
    divergence.THEOREM.claim("amended"),
    "hypothesis two-tokens",
    statement="all tokens support vectors, some input with two tokens: ||W_k|| -> infinity",
    why="where all scores are tied the gradient is 0",
    drop=[TWO_SCORES],
    hypotheses={"some input has two tokens": several_tokens},
)

LENGTH = stationary.THEOREM.claim("sharp")
length_constant = plant(
    LENGTH,
    "constant two-percent",
    statement="||grad L(W)|| ||W^mm|| >= 1.02 (1/n) sum_i |l'| s_opt sum_t s_t (gamma_opt - "
    "gamma_t)",
    why="equal where the gradient points along W^mm",
    share="1.02",
)


def _operator_length(m: Any, case: Descent) -> Any:
    """Return the comparison D(W) <= ||grad L(W)||_op ||W^mm||_F."""
    down = negative_gradient(m, case.inputs, case.start, case.loss)
    return m.at_most(down.toward, m.spectral(down.matrix) * stationary.length(m, case.inputs))


length_norm = plant(
    LENGTH,
    "norm operator",
    statement="||grad L(W)||_op ||W^mm||_F >= (1/n) sum_i |l'| s_opt sum_t s_t (gamma_opt - "
    "gamma_t)",
    why="the dual of the operator norm is the nuclear one: false along a W^mm of rank 2",
    conclusion=_operator_length,
)
