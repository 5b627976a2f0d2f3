"""Mistakes in the gradient of the risk and in the Att-SVM."""

from __future__ import annotations

import numpy as np
from flint import arb, fmpq

from attsvm.data import AttentionData
from attsvm.exact import ExactData, rational, rationals
from attsvm.exact.numbers import dot
from attsvm.theory import Slack
from benchmarks.power.planting import by_balls, plant
from properties._support.gradient_coefficients import pulls, pushes
from properties._support.programmes import OPEN, exactly, optimum, solve
from properties.tf import all_support_no_stationary as stationary
from properties.tf import svm_rank
from properties.tf._support.descent_instances import Descent, descents

EPS = float(np.finfo(np.float64).eps)


def _transposed_gradient(case: Descent) -> Slack:
    """-grad L against its transpose."""
    found = pulls(case.data, case.start, case.loss)
    if not np.isfinite(found.lost):
        return OPEN
    return Slack.equal(float(np.abs(found.descent - found.descent.T).max()), 4 * found.lost)


def _transposed_gradient_ball(case: Descent) -> arb:
    parts, d = pushes(ExactData.of(case.data), rationals(case.start), case.loss), case.data.d
    worst = arb(0)
    for r in range(d):
        for c in range(r):
            gaps = [(p.factor, p.matrix[r * d + c] - p.matrix[c * d + r]) for p in parts]
            if any(gap != 0 for _, gap in gaps):
                worst = worst.max(abs(sum((f * gap for f, gap in gaps), arb(0))))
    return -worst


gradient_role = plant(
    stationary.sharp,
    "role",
    "gradient",
    family="plain/gradient",
    statement="grad L(W) = sum_it c_it z_i x_it^T, W acting as x^T W z",
    why="x_it z_i^T: query and key are swapped",
    drop=[h.name for h in stationary.sharp.hypotheses],
    data=descents(),
    conclusion=_transposed_gradient,
    certify=_transposed_gradient_ball,
)

SVM = svm_rank.literal_1


def _by_multipliers(data: AttentionData) -> arb:
    """Minus | ||W^mm|| - sum lambda |."""
    found = exactly(data)
    assert found is not None
    total = sum(found.duals.values(), fmpq(0))
    return arb(0) if total * total == found.square else -abs(arb(found.square).sqrt() - total)


def _least(data: AttentionData, share: float, most: bool) -> Slack:
    found = solve(data, optimum(data))
    if found is None or found.answer is None:
        return OPEN
    size, reach = float(np.linalg.norm(found.W)), 1.0 / found.answer.programme.norms
    error = found.error + 1e-13 * (size + float(reach.max()))
    bound = share * float(reach.max())
    return Slack.at_most(size, bound, error) if most else Slack.at_most(bound, size, error)


def _at_least_longest(data: AttentionData) -> Slack:
    """||W^mm|| >= 1.05 max 1/||A_j||."""
    return _least(data, 1.05, False)


def _at_most_longest(data: AttentionData) -> Slack:
    """||W^mm|| <= max 1/||A_j||."""
    return _least(data, 1.0, True)


def _longest_ball(data: AttentionData, share: float) -> arb:
    """||W^mm|| less a share of max 1/||A_j||."""
    found = exactly(data)
    assert found is not None
    reach = max(1 / dot(A, A) for A in found.A.values())
    if rational(share) ** 2 * reach == found.square:
        return arb(0)
    return arb(found.square).sqrt() - arb(rational(share)) * arb(reach).sqrt()


multipliers_norm = plant(
    SVM,
    "norm",
    "not-squared",
    family="plain/att-svm",
    statement="||W^mm||_F is the sum of its multipliers",
    why="its square is",
    **by_balls(_by_multipliers, AttentionData, "equality"),
)
longest_constant = plant(
    SVM,
    "constant",
    "five-percent",
    family="plain/att-svm",
    statement="||W^mm||_F >= 1.05 max_j 1/||A_j||",
    why="equal to 1/||A|| for one constraint",
    conclusion=_at_least_longest,
    certify=lambda data: _longest_ball(data, 1.05),
)
longest_sign = plant(
    SVM,
    "sign",
    "at-most",
    family="plain/att-svm",
    statement="||W^mm||_F <= max_j 1/||A_j||",
    why="this is the least it can be: constraints that pull apart ask for more",
    conclusion=_at_most_longest,
    certify=lambda data: -_longest_ball(data, 1.0),
)
