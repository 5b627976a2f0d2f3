"""Planted mistakes in the gradient of the risk and in the Att-SVM."""

from typing import Any

from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.primitives.att_svm import exact_att_svm, flat
from attsvm.primitives.descent import Descent
from attsvm.primitives.gradients import negative_gradient
from attsvm.primitives.hypotheses import ALL_TIGHT
from benchmarks.power.planting import plant
from properties.tf import svm_rank
from properties.tf._support.descent_instances import descents
from properties.tf.all_support_no_stationary import THEOREM


def _transposed_gradient(m: Any, case: Descent) -> Any:
    """Return the false equation of the gradient with its transpose."""
    result = negative_gradient(m, case.inputs, case.start, case.loss).matrix
    return m.equal(result, result.T)


gradient_role = plant(
    THEOREM.claim("sharp"),
    "role gradient",
    family="plain/gradient",
    statement="grad L(W) = sum_it c_it z_i x_it^T, W acting as x^T W z",
    why="x_it z_i^T: query and key are swapped",
    drop=[ALL_TIGHT],
    data=descents(),
    conclusion=_transposed_gradient,
)

SVM = svm_rank.RANK.claim("literal-1")


def _by_multipliers(m: Any, data: AttentionData) -> Any:
    """Return the false equation of ||W^mm|| with the sum of its multipliers."""
    result = present(exact_att_svm(data), "the answer of the SVM")
    return m.equal(m.norm(m.values(flat(result.W))), m.sum(m.values(list(result.duals.values()))))


def _sizes(m: Any, data: AttentionData) -> tuple[Any, Any]:
    """Return ||W^mm||, and the largest 1/||A_j||, or 0 if there are no rivals."""
    result = present(exact_att_svm(data), "the answer of the SVM")
    squares = [1 / m.dot(A, A) for A in (m.values(row) for row in result.A.values())]
    return m.norm(m.values(flat(result.W))), m.sqrt(m.max(m.array([m.exact(0), *squares])))


def _longer(m: Any, data: AttentionData) -> Any:
    size, most = _sizes(m, data)
    return m.at_most(m.exact("1.05") * most, size)


def _no_longer(m: Any, data: AttentionData) -> Any:
    return m.at_most(*_sizes(m, data))


multipliers_norm = plant(
    SVM,
    "norm not-squared",
    family="plain/att-svm",
    statement="||W^mm||_F is the sum of its multipliers",
    why="its square is",
    conclusion=_by_multipliers,
)
longest_constant = plant(
    SVM,
    "constant five-percent",
    family="plain/att-svm",
    statement="||W^mm||_F >= 1.05 max_j 1/||A_j||",
    why="equal to 1/||A|| for one constraint",
    conclusion=_longer,
)
longest_sign = plant(
    SVM,
    "sign at-most",
    family="plain/att-svm",
    statement="||W^mm||_F <= max_j 1/||A_j||",
    why="this is the least it can be: opposed constraints ask for more",
    conclusion=_no_longer,
)
