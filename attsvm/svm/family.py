"""The programmes of the sources by name, solved by `solve_programme`.

If floats do not settle a Local-SVM, a p-SVM or a v-SVM, rationals do, from what floats propose.
Errors are those of the constructors in `attsvm.svm.programme` and of `solve_programme`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from attsvm._types import Array, Bool, Float
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact.deadline import Deadline
from attsvm.svm.answer import SECONDS, settle
from attsvm.svm.frobenius import FrobeniusAnswer, searched, solve_programme
from attsvm.svm.handed import LARGEST_GAP
from attsvm.svm.programme import (
    Programme,
    att_svm_programme,
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    v_svm_programme,
)


def local_svm(data: AttentionData, targets: object) -> FrobeniusAnswer:
    """Return W^mm(alpha): the Frobenius Att-SVM for any choice of tokens.

    Raises:
        DataError: no tokens are given, or they are not one index for each input.
    """
    if targets is None:
        raise DataError("a Local-SVM needs the tokens to select", remedy="Give one index an input.")
    return _settled(att_svm_programme(data, targets))


def p_svm(
    data: AttentionData, targets: object = None, W: Float[Array, "k d"] | None = None
) -> FrobeniusAnswer:
    """Return p(alpha): min ||p|| with p^T (k_target - k_t) >= 1 over the keys k = W x."""
    return _settled(p_svm_programme(data, targets, W))


def v_svm(data: AttentionData, targets: object = None) -> FrobeniusAnswer:
    """Return v(alpha): min ||v|| with y_i v^T x_target >= 1."""
    return _settled(v_svm_programme(data, targets))


def _settled(programme: Programme) -> FrobeniusAnswer:
    """Return the answer by floats, or by up to `SECONDS` of rationals if they do not settle it.

    The status is `bracketed` if the time ends.

    Raises:
        SolverError: the closest floats to the exact solution miss its margins by more than 1e-6.
    """
    search = searched(programme)
    if search.answer is not None:
        return search.answer
    answer = settle(programme, search, Deadline.after(SECONDS)).float_answer
    if answer.solved and not answer.primal_residual <= LARGEST_GAP:
        raise SolverError(
            "the closest floats to the exact solution miss its margins",
            value=answer.primal_residual,
            remedy="Bring tokens to similar sizes, or decide in rationals (attsvm.exact.decide).",
        )
    return cast("FrobeniusAnswer", answer)


@dataclass(frozen=True, slots=True, eq=False)
class JointAnswer:
    """The two programmes of joint training.

    Attributes:
        v: the v-SVM.
        p: the p-SVM with relaxed margins; None if the v-SVM has no solution.
        supporting: the inputs whose label margin is tight, to 1e-7.
    """

    v: FrobeniusAnswer
    p: FrobeniusAnswer | None
    supporting: Bool[Array, " n"]

    @property
    def solved(self) -> bool:
        """Whether both programmes have solutions."""
        return self.v.solved and self.p is not None and self.p.solved

    def __repr__(self) -> str:
        p = "no p-SVM, as the v-SVM has no solution" if self.p is None else f"p {self.p!r}"
        return f"<JointAnswer: v {self.v!r}, {p}>"


def joint_svm(
    data: AttentionData, targets: object = None, W: Float[Array, "k d"] | None = None
) -> JointAnswer:
    """Return v(alpha), and p(alpha) with margin 0 for inputs whose label margin is not tight.

    The p-SVM is not solved if the v-SVM has no solution.
    """
    v = v_svm(data, targets)
    if not v.solved:
        return JointAnswer(v, None, np.zeros(data.n, dtype=np.bool_))
    supporting = np.asarray(v.is_tight, dtype=np.bool_)
    p = solve_programme(joint_programme(data, supporting, targets, W))
    return JointAnswer(v, p, supporting)


def generalised_svm(data: AttentionData, selected: Bool[Array, "n T"]) -> FrobeniusAnswer:
    """Return the W of least norm with equal logits on selected tokens, and margin 1 to the rest."""
    return solve_programme(generalised_programme(data, selected))


def finite_part(
    data: AttentionData, selected: Bool[Array, "n T"], probabilities: Float[Array, "n T"]
) -> FrobeniusAnswer:
    """Return W_fin, of least norm, with these ratios of probabilities within each selection."""
    return solve_programme(finite_part_programme(data, selected, probabilities))
